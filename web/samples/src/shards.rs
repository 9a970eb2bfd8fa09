//! A sharded checkpoint, and an index that does not match it.

use weighbridge_tests::encode::safetensors::{File, Tensor};
use weighbridge_tests::encode::shards::Index;

use crate::Sample;
use crate::data::{bf16_bytes, weights};
use crate::other::sample;

const SHARDS: usize = 3;
const WIDTH: usize = 64;

fn name_of(shard: usize, count: usize) -> String {
    format!("tiny-llama-{shard:05}-of-{count:05}.safetensors")
}

/// The tensors of a shard, counted from 1: one layer, plus those before or after all layers.
fn tensors(shard: usize) -> Vec<Tensor> {
    let layer = shard - 1;
    let matrix = |name: &str, part: usize, rows: usize, columns: usize| {
        let data = weights((100 * shard + part) as u64, rows, columns);
        Tensor {
            data: bf16_bytes(&data),
            ..Tensor::new(name, "BF16", &[rows as u64, columns as u64])
        }
    };
    let norm = |name: &str, part: usize| {
        let data: Vec<f32> =
            weights((100 * shard + part) as u64, 1, WIDTH).iter().map(|x| 1.0 + x).collect();
        Tensor { data: bf16_bytes(&data), ..Tensor::new(name, "BF16", &[WIDTH as u64]) }
    };
    let within = |part: &str| format!("model.layers.{layer}.{part}.weight");
    let mut all = Vec::new();
    if shard == 1 {
        all.push(matrix("model.embed_tokens.weight", 0, 256, WIDTH));
    }
    all.push(norm(&within("input_layernorm"), 1));
    for (i, part) in ["q_proj", "k_proj", "v_proj", "o_proj"].into_iter().enumerate() {
        all.push(matrix(&within(&format!("self_attn.{part}")), 2 + i, WIDTH, WIDTH));
    }
    all.push(norm(&within("post_attention_layernorm"), 6));
    all.push(matrix(&within("mlp.gate_proj"), 7, 2 * WIDTH, WIDTH));
    all.push(matrix(&within("mlp.up_proj"), 8, 2 * WIDTH, WIDTH));
    all.push(matrix(&within("mlp.down_proj"), 9, WIDTH, 2 * WIDTH));
    if shard == SHARDS {
        all.push(norm("model.norm.weight", 10));
        all.push(matrix("lm_head.weight", 11, 256, WIDTH));
    }
    all
}

pub(crate) fn samples() -> Vec<Sample> {
    let mut beside = Vec::new();
    let mut map = Vec::new();
    let mut total = 0;
    for shard in 1..=SHARDS {
        let tensors = tensors(shard);
        let name = name_of(shard, SHARDS);
        map.extend(tensors.iter().map(|tensor| (tensor.name.clone(), name.clone())));
        total += tensors.iter().map(|tensor| tensor.data.len() as u64).sum::<u64>();
        beside.push((name, File { metadata: None, tensors }.encode()));
    }
    let sound = Index { total: Some(total), map };
    // A tensor stored in another shard, and a missing shard.
    let mut broken = sound.clone();
    broken.map[1].1 = name_of(2, SHARDS);
    broken.map.push(("model.layers.3.mlp.up_proj.weight".to_owned(), name_of(4, 4)));
    let make = sample("shards", "safetensors");
    [
        make(
            "shards",
            "tiny-llama.safetensors.index.json",
            true,
            "A model in three shards, with their index",
            sound.encode(),
        ),
        make(
            "shards-broken",
            "tiny-llama-broken.safetensors.index.json",
            false,
            "An index with a tensor in the wrong shard, and a shard that is missing",
            broken.encode(),
        ),
    ]
    .map(|one| Sample { beside: beside.clone(), ..one })
    .into()
}
