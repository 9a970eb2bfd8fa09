//! Metadata with lists, and types that exist only in GGUF.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::gguf::{File, Tensor, Value as Meta};

fn model(metadata: &[(&str, Meta)], tensors: Vec<Tensor>) -> File {
    let own = |(key, value): &(&str, Meta)| (key.as_bytes().to_vec(), value.clone());
    File { metadata: metadata.iter().map(own).collect(), tensors, ..File::default() }
}

#[test]
fn metadata_of_every_type_in_both_byte_orders() {
    let folder = Folder::new();
    let lists = Meta::Array(
        9,
        vec![Meta::texts(&["a", "b"]), Meta::Array(3, vec![Meta::Number(3, 0xFFFF)])],
    );
    let file = model(
        &[
            ("general.name", Meta::text("x\u{202e}y")),
            ("a.count", Meta::u32(7)),
            ("a.scale", Meta::Number(6, 1.5_f32.to_bits().into())),
            ("a.flag", Meta::Number(7, 1)),
            ("a.shape", Meta::Array(10, vec![Meta::Number(10, 3), Meta::Number(10, u64::MAX)])),
            ("a.tokens", Meta::texts(&["<s>", "", "é"])),
            ("a.lists", lists),
        ],
        vec![Tensor::new("w", 25, &[3, 2])],
    );
    let mut first = None;
    for big in [false, true] {
        folder.write("a.gguf", &File { big, ..file.clone() }.encode().bytes);
        let mut shown = run(&folder, &["inspect", "a.gguf", "--values", "2", "--json"]).json();
        assert_eq!(shown["format"], "gguf");
        assert_eq!(shown["version"], "3");
        assert_eq!(shown["findings"][0]["rule"], "ARRAY-NESTED");
        let metadata = shown["metadata"].take();
        assert_eq!(
            metadata,
            json!([
                {"key": "general.name", "type": "string", "value": "x\u{202e}y"},
                {"key": "a.count", "type": "u32", "value": 7},
                {"key": "a.scale", "type": "f32", "value": 1.5},
                {"key": "a.flag", "type": "bool", "value": true},
                {"key": "a.shape", "type": "ndarray", "dtype": "u64", "shape": [2],
                 "value": [3, u64::MAX]},
                {"key": "a.tokens", "type": "ndarray", "dtype": "text", "shape": [3],
                 "value": ["<s>", "", "é"]},
                {"key": "a.lists", "type": "ndarray", "dtype": "ndarray", "shape": [2],
                 "value": [["a", "b"], [-1]]},
            ])
        );
        let tensor = &shown["tensors"][0];
        assert_eq!(tensor["shape"], json!([2, 3]), "outermost first");
        assert_eq!(tensor["endianness"], if big { "big" } else { "little" });
        // The bytes are the same in both byte orders, so the values differ.
        let values = tensor["values"].clone();
        assert_ne!(first.replace(values.clone()), Some(values));
    }
}

/// A vocabulary of several megabytes is skipped over, and up to 64 KiB are shown.
#[test]
fn long_vocabulary_is_truncated() {
    let folder = Folder::new();
    let tokens: Vec<_> = (0..150_000).map(|i| format!("token{i}")).collect();
    let file = model(
        &[("tokenizer.ggml.tokens", Meta::texts(&tokens)), ("z.last", Meta::u32(1))],
        vec![Tensor::new("w", 24, &[3])],
    );
    folder.write("a.gguf", &file.encode().bytes);
    let report = run(&folder, &["check", "a.gguf", "--json"]);
    assert_eq!((report.code, &report.json()["verdict"]), (0, &json!("valid")));
    let shown = run(&folder, &["inspect", "a.gguf", "--json", "--full"]).json();
    let vocabulary = &shown["metadata"][0];
    assert_eq!(vocabulary["shape"], json!([150_000]));
    assert_eq!(vocabulary["truncated"], true);
    let texts = vocabulary["value"].as_array().expect("an array");
    assert!(texts.len() > 1000 && texts.len() < 10_000, "{}", texts.len());
    assert_eq!(texts[999], "token999");
    assert_eq!(shown["metadata"][1]["key"], "z.last");
    assert_eq!(shown["tensors"][0]["name"], "w");
}

#[test]
fn unknown_tensor_type_keeps_other_tensors() {
    let folder = Folder::new();
    let tensors = vec![
        Tensor::new("known", 1, &[4]),
        Tensor::new("new", 24, &[40]),
        Tensor::new("last", 0, &[2]),
    ];
    let mut encoded = model(&[], tensors).encode();
    let at = encoded.extent(1, 1);
    encoded.set(at, 4, 99);
    folder.write("a.gguf", &encoded.bytes);
    let strict = run(&folder, &["check", "a.gguf", "--json"]);
    assert_eq!(strict.code, 3, "a later ggml may have it");
    assert_eq!(strict.json()["findings"], json!([]));
    assert_eq!(strict.json()["unchecked"][0]["entry"], "new");
    let shown = run(&folder, &["inspect", "a.gguf", "--lenient", "--values", "9", "--json"]).json();
    let tensors = &shown["tensors"];
    assert_eq!(tensors[1]["dtype"], "unknown");
    assert_eq!(tensors[1]["dtype_raw"], 99);
    assert_eq!(tensors[1]["chunks"][0]["stored"], 64, "up to the next tensor's data");
    assert_eq!(tensors[0]["values"].as_array().map(Vec::len), Some(4));
    assert_eq!(tensors[2]["values"].as_array().map(Vec::len), Some(2));
}

#[test]
fn summary_describes_model() {
    let folder = Folder::new();
    let settings = [
        ("general.architecture", Meta::text("llama\u{202e}")),
        ("llama\u{202e}.block_count", Meta::u32(1)),
        ("llama\u{202e}.context_length", Meta::u32(1024)),
        ("llama\u{202e}.embedding_length", Meta::u32(32)),
        ("llama\u{202e}.attention.head_count", Meta::u32(4)),
    ];
    let tensors = ["attn_q", "attn_k", "attn_v"];
    let tensors = tensors.map(|name| Tensor::new(&format!("blk.0.{name}.weight"), 8, &[32, 32]));
    folder.write("a.gguf", &model(&settings, tensors.into()).encode().bytes);
    let shown = run(&folder, &["inspect", "a.gguf", "--summary", "--json"]);
    let summary = shown.json()["summary"].take();
    let all = json!({"tensors": 3, "parameters": 3072, "bytes": 3264});
    assert_eq!(summary["all"], all);
    let attention = json!({"name": "attention", "tensors": 3, "parameters": 3072, "bytes": 3264});
    assert_eq!(summary["parts"], json!([attention]));
    assert_eq!(summary["blocks"][0]["parts"], json!({"attention": 3072}));
    let groups = json!([{"layers": 1, "elements": 64, "window": null}]);
    assert_eq!(summary["cache"]["groups"], groups);
    let shown = run(&folder, &["inspect", "a.gguf", "--summary"]).out;
    assert!(shown.contains("3,072 in 3 tensors"), "{shown}");
    assert!(shown.contains("(128.0 KiB) for the KV cache of 1,024 positions in f16"), "{shown}");
    assert!(!shown.contains('\u{202e}') && !shown.contains("blk.0"), "{shown}");
    // A layer that keeps 3 columns of 8 elements and a state of 16 × 8, in f32, and no keys.
    let settings = [
        ("general.architecture", Meta::text("mamba")),
        ("mamba.block_count", Meta::u32(2)),
        ("mamba.ssm.conv_kernel", Meta::u32(4)),
        ("mamba.ssm.inner_size", Meta::u32(8)),
        ("mamba.ssm.state_size", Meta::u32(16)),
    ];
    folder.write("c.gguf", &model(&settings, Vec::new()).encode().bytes);
    let shown = run(&folder, &["inspect", "c.gguf", "--summary", "--json"]);
    let state = json!({"layers": 2, "elements": 152});
    assert_eq!(shown.json()["summary"]["cache"]["state"], state);
    let shown = run(&folder, &["inspect", "c.gguf", "--summary"]).out;
    assert!(shown.contains("1,216 bytes (1.2 KiB) for the state of 2 layers"), "{shown}");
    assert!(!shown.contains("KV cache of"), "{shown}");
    // A file without any of this still has a summary.
    folder.write("b.gguf", &model(&[], Vec::new()).encode().bytes);
    let shown = run(&folder, &["inspect", "b.gguf", "--summary", "--json"]);
    assert_eq!(shown.json()["summary"]["cache"], json!(null));
}
