//! Samples of DDUF: a pipeline of diffusers in one archive.

use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::encode::safetensors::{File, Tensor};

use crate::Sample;
use crate::data::{bf16_bytes, weights};
use crate::other::sample;

/// Name, rows and columns of a component's tensors.
type Sizes = [(&'static str, usize, usize)];

const TEXT_ENCODER: &Sizes =
    &[("embeddings.token.weight", 256, 64), ("layers.0.fc1.weight", 128, 64)];
const UNET: &Sizes = &[("down.0.conv.weight", 64, 72), ("up.0.conv.weight", 32, 144)];

fn model(sizes: &Sizes, seed: u64) -> Vec<u8> {
    let tensors = (seed..).zip(sizes).map(|(seed, &(name, rows, columns))| Tensor {
        data: bf16_bytes(&weights(seed, rows, columns)),
        ..Tensor::new(name, "BF16", &[rows as u64, columns as u64])
    });
    File { metadata: None, tensors: tensors.collect() }.encode()
}

pub(crate) fn samples() -> Vec<Sample> {
    let make = sample("dduf", "DDUF");
    let file = |broken: bool| {
        let index = br#"{"_class_name": "StableDiffusionPipeline", "text_encoder": ["transformers", "CLIPTextModel"], "unet": ["diffusers", "UNet2DConditionModel"]}"#;
        let mut unet = model(UNET, 340);
        if broken {
            unet.truncate(unet.len() - 2000);
        }
        Npz::new(vec![
            Member::of("model_index.json", index.to_vec()),
            Member::of(
                "text_encoder/config.json",
                br#"{"model_type": "clip_text_model"}"#.to_vec(),
            ),
            Member::of("text_encoder/model.safetensors", model(TEXT_ENCODER, 330)),
            Member::of("unet/config.json", br#"{"_class_name": "UNet2DConditionModel"}"#.to_vec()),
            Member::of("unet/diffusion_pytorch_model.safetensors", unet),
        ])
        .encode()
    };
    vec![
        make("dduf", "pipeline.dduf", true, "A pipeline with two models in one file", file(false)),
        make(
            "dduf-broken",
            "pipeline-broken.dduf",
            false,
            "A pipeline whose second model is cut",
            file(true),
        ),
    ]
}
