//! GGUF samples.

use weighbridge_tests::encode::gguf::{File, Tensor, Value};

use crate::Sample;
use crate::data::{f32_bytes, weights};

const WIDTH: usize = 64;
const F32: u32 = 0;
const Q8_0: u32 = 8;

/// Blocks of 32 elements: a 16-bit scale, here a power of two, and an 8-bit integer per element.
fn q8_0(values: &[f32]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in values.chunks(32) {
        let most = block.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let exponent = (most / 127.0).max(1e-4).log2().ceil() as i32;
        let scale = (exponent as f32).exp2();
        bytes.extend((((exponent + 15) as u16) << 10).to_le_bytes());
        bytes.extend(block.iter().map(|x| (x / scale).round() as i8 as u8));
    }
    bytes
}

fn file() -> File {
    let words = ["<unk>", "<s>", "</s>", "weigh", "bridge", "Ġten", "sor", "é", "語"];
    let matrix = |name: &str, seed, rows: usize| Tensor {
        data: q8_0(&weights(seed, rows, WIDTH)),
        ..Tensor::new(name, Q8_0, &[WIDTH as u64, rows as u64])
    };
    let norm = |name: &str, seed| Tensor {
        data: f32_bytes(&weights(seed, 1, WIDTH).iter().map(|x| 1.0 + x).collect::<Vec<_>>()),
        ..Tensor::new(name, F32, &[WIDTH as u64])
    };
    let list = |tag: u32, of: fn(usize) -> u32| {
        Value::Array(tag, (0..words.len()).map(|i| Value::Number(tag, of(i).into())).collect())
    };
    let entries = [
        ("general.architecture", Value::text("llama")),
        ("general.name", Value::text("tiny-lm")),
        ("llama.block_count", Value::u32(2)),
        ("llama.context_length", Value::u32(2048)),
        ("llama.embedding_length", Value::u32(WIDTH as u32)),
        ("llama.attention.head_count", Value::u32(8)),
        ("llama.attention.head_count_kv", Value::u32(8)),
        ("tokenizer.ggml.model", Value::text("gpt2")),
        ("tokenizer.ggml.tokens", Value::texts(&words)),
        ("tokenizer.ggml.scores", list(6, |i| (-(i as f32)).to_bits())),
        (
            "tokenizer.ggml.token_type",
            list(5, |i| if i == 0 { 2 } else { 1 + 2 * u32::from(i < 3) }),
        ),
        ("tokenizer.ggml.bos_token_id", Value::u32(1)),
        ("tokenizer.ggml.eos_token_id", Value::u32(2)),
    ];
    let mut tensors = vec![matrix("token_embd.weight", 110, words.len())];
    for block in 0..2 {
        for (i, part) in ["attn_q", "attn_k", "attn_v", "attn_output"].into_iter().enumerate() {
            let seed = 120 + 10 * block + i as u64;
            tensors.push(matrix(&format!("blk.{block}.{part}.weight"), seed, WIDTH));
        }
        tensors.push(norm(&format!("blk.{block}.attn_norm.weight"), 150 + block));
    }
    File {
        metadata: entries.map(|(key, value)| (key.as_bytes().to_vec(), value)).to_vec(),
        tensors,
        ..File::default()
    }
}

pub(crate) fn samples() -> Vec<Sample> {
    let mut broken = file();
    broken.tensors[3].name = broken.tensors[2].name.clone();
    let mut broken = broken.encode();
    // An extent that ends the row within a block.
    let at = broken.extent(4, 0);
    broken.set(at, 8, WIDTH as u64 - 1);
    let make = |id, file, sound, what, bytes| Sample {
        id,
        file,
        format: "gguf",
        title: "GGUF",
        sound,
        what,
        bytes,
        beside: Vec::new(),
    };
    vec![
        make("gguf", "tiny-lm.gguf", true, "Quantised blocks, a vocabulary", file().encode().bytes),
        make(
            "gguf-broken",
            "tiny-lm-broken.gguf",
            false,
            "A duplicate name, rows that end within a block",
            broken.bytes,
        ),
    ]
}
