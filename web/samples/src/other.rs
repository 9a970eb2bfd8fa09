//! Samples of the other weight formats.

use weighbridge_tests::encode::bintensors::{self, Dtype};
use weighbridge_tests::encode::npy::Npy;
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::encode::oinf::{self, Model, Quant, Scales, Type, Value, ZeroPoints};
use weighbridge_tests::encode::safetensors;
use weighbridge_tests::encode::stb::{self, Stb};

use crate::Sample;
use crate::data::{bf16_bytes, f32_bytes, ramp, special, weights};

const LAYERS: usize = 4;
const WIDTH: usize = 96;

pub(crate) fn model() -> Model {
    let mut tensors = vec![oinf::tensor(
        "embed.weight",
        Type::F32,
        &[256, WIDTH as u64],
        &f32_bytes(&weights(1, 256, WIDTH)),
    )];
    for layer in 0..LAYERS {
        let parts = [
            ("attn.q", WIDTH),
            ("attn.k", WIDTH),
            ("attn.v", WIDTH),
            ("attn.out", WIDTH),
            ("mlp.up", 2 * WIDTH),
        ];
        for (i, (part, rows)) in parts.into_iter().enumerate() {
            let data = weights((10 * layer + i) as u64 + 2, rows, WIDTH);
            let name = format!("layers.{layer}.{part}.weight");
            tensors.push(oinf::tensor(
                &name,
                Type::Bf16,
                &[rows as u64, WIDTH as u64],
                &bf16_bytes(&data),
            ));
        }
        let norm: Vec<f32> =
            weights(100 + layer as u64, 1, WIDTH).iter().map(|x| 1.0 + x).collect();
        tensors.push(oinf::tensor(
            &format!("layers.{layer}.norm.weight"),
            Type::F32,
            &[WIDTH as u64],
            &f32_bytes(&norm),
        ));
    }
    let codes: Vec<u8> = weights(50, 64, WIDTH)
        .iter()
        .map(|x| (x * 1000.0).clamp(-127.0, 127.0) as i8 as u8)
        .collect();
    let mut head = oinf::tensor("head.weight", Type::I8, &[64, WIDTH as u64], &codes);
    head.quant = Some(Quant {
        asymmetric: false,
        scales: Scales::PerChannel(0, (0..64).map(|i| 0.001 + i as f32 * 0.0001).collect()),
        zero_points: ZeroPoints::None,
    });
    tensors.push(head);
    tensors.push(oinf::tensor("test.ramp", Type::F32, &[8, 12], &f32_bytes(&ramp(96))));
    tensors.push(oinf::tensor("test.special", Type::F32, &[16], &f32_bytes(&special())));
    tensors.push(oinf::tensor(
        "test.cube",
        Type::I32,
        &[3, 4, 5],
        &(0..60_i32).flat_map(i32::to_le_bytes).collect::<Vec<_>>(),
    ));
    tensors.push(oinf::declared("test.declared", Type::F16, &[4]));
    Model {
        version: 2,
        sizevars: vec![
            oinf::sizevar("width", WIDTH as u64),
            oinf::sizevar("layers", LAYERS as u64),
        ],
        metadata: vec![
            oinf::metadata("model.name", Value::Text("tiny-lm".into())),
            oinf::metadata(
                "model.layers",
                Value::Scalar(Type::U32, (LAYERS as u32).to_le_bytes().to_vec()),
            ),
            oinf::metadata(
                "rope.frequencies",
                Value::Array(
                    Type::F32,
                    vec![8],
                    f32_bytes(&(0..8).map(|i| 0.5_f32.powi(i)).collect::<Vec<_>>()),
                ),
            ),
        ],
        tensors,
    }
}

pub(crate) fn sample(
    format: &'static str,
    title: &'static str,
) -> impl Fn(&'static str, &'static str, bool, &'static str, Vec<u8>) -> Sample {
    move |id, file, sound, what, bytes| Sample {
        id,
        file,
        format,
        title,
        sound,
        what,
        bytes,
        beside: Vec::new(),
    }
}

pub(crate) fn oinf() -> Vec<Sample> {
    let make = sample("oinf", "OINF");
    let sound = model().encode();
    let mut broken = sound.clone();
    // Two entries that share bytes, one that declares too few, one past the end.
    let [first, second] = [2, 3].map(|i| broken.get_u64(broken.tensors[i].data_offset));
    broken.put_u64(broken.tensors[3].data_offset, first + (second - first) / 2 / 8 * 8);
    broken.put_u64(broken.tensors[5].data_nbytes, 1000);
    let len = broken.bytes.len() as u64;
    broken.put_u64(broken.tensors[9].data_offset, len.next_multiple_of(8) + 64);
    vec![
        make(
            "oinf",
            "tiny-lm.oinf",
            true,
            "A small language model: names in a tree, bf16, quantisation",
            sound.bytes,
        ),
        make(
            "oinf-broken",
            "tiny-lm-broken.oinf",
            false,
            "Overlapping data, a wrong size, data beyond the end",
            broken.bytes,
        ),
    ]
}

pub(crate) fn bintensors() -> Vec<Sample> {
    let make = sample("bintensors", "BinTensors");
    let tensor = |name: &str, dtype, shape: &[u64], data| bintensors::Tensor {
        name: name.into(),
        dtype,
        shape: shape.to_vec(),
        data,
    };
    let file = || bintensors::File {
        metadata: Some(vec![("author".into(), "unknown".into()), ("licence".into(), "CC0".into())]),
        tensors: vec![
            tensor("conv1.weight", Dtype::F32, &[16, 3, 5, 5], f32_bytes(&weights(60, 48, 25))),
            tensor("conv1.bias", Dtype::F32, &[16], f32_bytes(&weights(61, 1, 16))),
            tensor("fc.weight", Dtype::F32, &[10, 400], f32_bytes(&weights(62, 10, 400))),
            tensor("fc.bias", Dtype::F32, &[10], f32_bytes(&weights(63, 1, 10))),
            tensor("labels", Dtype::I64, &[10], (0..10_i64).flat_map(i64::to_le_bytes).collect()),
        ],
    };
    let sound = file().sorted().encode();
    let mut broken = sound.clone();
    broken.extend_from_slice(b"<<these bytes belong to nothing>>");
    vec![
        make("bintensors", "digits.bt", true, "A small convolutional network", sound),
        make("bintensors-broken", "digits-broken.bt", false, "Bytes after the last tensor", broken),
    ]
}

pub(crate) fn npy() -> Vec<Sample> {
    let array = |seed, descr: &str, rows: usize, columns: usize| Npy {
        data: f32_bytes(&weights(seed, rows, columns)),
        ..Npy::new(descr, 4, &[rows as u64, columns as u64])
    };
    let make = sample("npy", "NPY");
    let one = array(90, "'<f4'", 48, 32);
    let mut broken = one.clone();
    let text = String::from_utf8_lossy(&broken.dictionary).replace("(48, 32)", "(48L, 33)");
    broken.dictionary = text.into_bytes();
    let mut samples = vec![
        make("npy", "embedding.npy", true, "One NumPy array", one.encode()),
        make(
            "npy-broken",
            "embedding-broken.npy",
            false,
            "A Python 2 integer, and less data than the shape requires",
            broken.encode(),
        ),
    ];
    let make = sample("npz", "NPZ");
    let file = || {
        let ids = Npy::new("'<i8'", 8, &[16]);
        Npz::new(vec![
            Member::new("weight", &array(91, "'<f4'", 32, 16)).deflated(),
            Member::new("bias", &array(92, "'<f4'", 1, 32)).deflated(),
            Member::new("ids", &ids),
            Member::new("mask", &Npy::new("'|b1'", 1, &[4])),
        ])
    };
    let mut broken = file();
    broken.members[0].said.crc = Some(0x1234_5678);
    broken.members[1].said.name = Some(b"../bias.npy".to_vec());
    broken.members[2].local.name = Some(b"idx.npy".to_vec());
    broken.comment = b"exported by hand".to_vec();
    samples.extend([
        make("npz", "classifier.npz", true, "Four NumPy arrays, two compressed", file().encode()),
        make(
            "npz-broken",
            "classifier-broken.npz",
            false,
            "A wrong CRC, a name that points outside the folder, contradictory headers",
            broken.encode(),
        ),
    ]);
    samples
}

pub(crate) fn stb() -> Vec<Sample> {
    let make = sample("stb", "STB");
    let tensor = |id, rows: usize, columns: usize| stb::Tensor {
        payload: f32_bytes(&weights(u64::from(id) + 80, rows, columns)),
        ..stb::Tensor::new(id, 0, &[rows as u32, columns as u32])
    };
    let file = || {
        Stb::new(vec![
            tensor(1, 32, 16),
            tensor(2, 1, 32),
            tensor(3, 10, 32),
            stb::Tensor::new(4, 2, &[10]),
        ])
    };
    let mut broken = file();
    broken.tensors[1].id = 1;
    broken.tensors[2].size = Some(1276);
    broken.align = 4;
    broken.tensors[3].payload.truncate(9);
    vec![
        make("stb", "micro.stb", true, "Four tensors for a microcontroller", file().encode()),
        make(
            "stb-broken",
            "micro-broken.stb",
            false,
            "A duplicate id, wrong sizes",
            broken.encode(),
        ),
    ]
}

pub(crate) fn safetensors() -> Vec<Sample> {
    let make = sample("safetensors", "safetensors");
    let tensor = |name: &str, dtype, shape: &[u64], data| safetensors::Tensor {
        data,
        ..safetensors::Tensor::new(name, dtype, shape)
    };
    let adapter = |name: &str, seed, rows: usize, columns: usize| {
        let data = bf16_bytes(&weights(seed, rows, columns));
        tensor(name, "BF16", &[rows as u64, columns as u64], data)
    };
    let file = || safetensors::File {
        metadata: Some(vec![
            ("format".into(), "pt".into()),
            ("base_model".into(), "tiny-lm".into()),
            ("rank".into(), "8".into()),
        ]),
        tensors: vec![
            adapter("layers.0.attn.q.lora_A.weight", 90, 8, 96),
            adapter("layers.0.attn.q.lora_B.weight", 91, 96, 8),
            adapter("layers.0.attn.v.lora_A.weight", 92, 8, 96),
            adapter("layers.0.attn.v.lora_B.weight", 93, 96, 8),
            tensor("scaling", "F32", &[2], f32_bytes(&[16.0, 0.125])),
            tensor("steps", "I64", &[], 12_000_i64.to_le_bytes().to_vec()),
        ],
    };
    // A duplicate name, an unknown type, and an end offset that leaves bytes over.
    let broken = || {
        let mut file = file();
        file.tensors[3].name = file.tensors[1].name.clone();
        file.tensors[2].dtype = "Q7_Z";
        file.tensors[5].shape = vec![2];
        file
    };
    vec![
        make("safetensors", "adapter.safetensors", true, "A LoRA adapter", file().encode()),
        make(
            "safetensors-broken",
            "adapter-broken.safetensors",
            false,
            "A duplicate name, an unknown type, a shape that does not fit",
            broken().encode(),
        ),
    ]
}
