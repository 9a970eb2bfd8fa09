//! Cases that need a format with names and metadata: OINF.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::oinf::{
    Model, Quant, Scales, Type, Value as Meta, ZeroPoints, metadata, sizevar, tensor,
};

fn model(tensors: Vec<weighbridge_tests::encode::oinf::Tensor>) -> Model {
    Model { version: 2, sizevars: Vec::new(), metadata: Vec::new(), tensors }
}

/// A file with one tensor, named by these bytes.
fn named(name: &[u8]) -> Vec<u8> {
    let placeholder = "n".repeat(name.len());
    let mut file = model(vec![tensor(&placeholder, Type::U8, &[2], &[1, 2])]).encode();
    let at = file.tensors[0].name + 4;
    file.put(at, name);
    file.bytes
}

#[test]
fn hostile_tensor_name_is_escaped_and_found() {
    let folder = Folder::new();
    let hostile = "w\u{1b}]0;x\u{7}\n\u{202e}../../etc/passwd";
    folder.write("a.oinf", &named(hostile.as_bytes()));
    let human = run(&folder, &["inspect", "a.oinf", "--lenient"]);
    let json = run(&folder, &["inspect", "a.oinf", "--json", "--lenient"]);
    for text in [&human.out, &json.out] {
        assert!(
            !text.contains(|c| weighbridge::weighbridge_core::is_hidden(c) && c != '\n'),
            "{text:?}"
        );
    }
    assert!(human.out.contains("w\\u{1b}]0;x\\u{7}\\u{a}\\u{202e}../../etc/passwd"));
    assert_eq!(json.json()["tensors"][0]["name"], hostile);
    assert!(json.json()["tensors"][0].get("name_hex").is_none());

    assert_eq!(run(&folder, &["extract", "a.oinf", hostile]).code, 0);
    assert_eq!(folder.names(), ["a.oinf", "tensor.npy"], "no path comes from a name");
}

#[cfg(unix)]
#[test]
fn non_utf8_name_is_shown_with_its_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    folder.write("a.oinf", &named(b"w\xFF\xFE1"));
    let json = run(&folder, &["inspect", "a.oinf", "--json"]).json();
    assert_eq!(json["tensors"][0]["name"], "w\u{fffd}\u{fffd}1");
    assert_eq!(json["tensors"][0]["name_hex"], "77fffe31");
    assert_eq!(json["findings"][0]["entry_hex"], "77fffe31");
    assert!(run(&folder, &["inspect", "a.oinf"]).out.contains("w\\xff\\xfe1"));
    let mut command = command(&folder, &["extract", "a.oinf"]);
    command.arg(std::ffi::OsStr::from_bytes(b"w\xFF\xFE1"));
    assert_eq!(finish(command).code, 0);
}

#[test]
fn metadata_of_every_kind() {
    let folder = Folder::new();
    let mut model = model(Vec::new());
    model.sizevars = vec![sizevar("rows", u64::MAX)];
    let values = [
        ("a", Meta::Scalar(Type::I64, i64::MIN.to_le_bytes().to_vec())),
        ("b", Meta::Scalar(Type::F32, f32::NAN.to_le_bytes().to_vec())),
        ("c", Meta::Scalar(Type::Bool, vec![1])),
        ("d", Meta::Text("fast".to_owned())),
        ("e", Meta::Bits(3, vec![0b101])),
        ("f", Meta::Array(Type::I4, vec![1, 3], vec![0xF2, 0x07])),
    ];
    model.metadata = values.into_iter().map(|(key, value)| metadata(key, value)).collect();
    folder.write("a.oinf", &model.encode().bytes);
    let json = run(&folder, &["inspect", "a.oinf", "--json"]).json();
    assert_eq!(
        json["metadata"],
        json!([
            {"key": "rows", "type": "sizevar", "value": u64::MAX},
            {"key": "a", "type": "i64", "value": i64::MIN},
            {"key": "b", "type": "f32", "value": "NaN"},
            {"key": "c", "type": "bool", "value": true},
            {"key": "d", "type": "string", "value": "fast"},
            {"key": "e", "type": "bitset", "value": [true, false, true]},
            {"key": "f", "type": "ndarray", "dtype": "i4", "shape": [1, 3], "value": [2, -1, 7]},
        ])
    );
}

#[test]
fn long_value_is_marked_truncated() {
    let folder = Folder::new();
    let mut model = model(Vec::new());
    model.metadata = vec![
        metadata("long", Meta::Array(Type::U16, vec![50_000], vec![7; 100_000])),
        metadata("text", Meta::Text("x".repeat(70_000))),
    ];
    folder.write("a.oinf", &model.encode().bytes);
    let json = run(&folder, &["inspect", "a.oinf", "--json"]).json();
    let [array, text] = [&json["metadata"][0], &json["metadata"][1]];
    assert_eq!(array["value"].as_array().map(Vec::len), Some(32 << 10));
    assert_eq!(text["value"].as_str().map(str::len), Some(64 << 10));
    assert_eq!([&array["truncated"], &text["truncated"]], [&json!(true); 2]);
}

#[test]
fn quantization_is_shown() {
    let folder = Folder::new();
    let mut quantized = tensor("q", Type::U8, &[2, 2], &[0, 1, 2, 255]);
    quantized.quant = Some(Quant {
        asymmetric: true,
        scales: Scales::PerChannel(1, vec![0.5, 0.25]),
        zero_points: ZeroPoints::PerChannel(vec![-3, 128]),
    });
    folder.write("a.oinf", &model(vec![quantized]).encode().bytes);
    let json = run(&folder, &["inspect", "a.oinf", "--json"]).json();
    assert_eq!(
        json["tensors"][0]["quantization"],
        json!({"scheme": "asymmetric", "axis": 1, "scales": [0.5, 0.25], "zero_points": [-3, 128]})
    );
}

#[test]
fn packed_tensor_is_unpacked_with_note() {
    let folder = Folder::new();
    let tensors = vec![
        tensor("i4", Type::I4, &[3], &[0x8F, 0x07]),
        tensor("bf16", Type::Bf16, &[1], &[0xC0, 0x3F]),
        tensor("bool", Type::Bool, &[2], &[1, 0]),
    ];
    folder.write("a.oinf", &model(tensors).encode().bytes);
    let data = |name: &str| {
        let run = run(&folder, &["extract", "a.oinf", name, "-o", "out.npy"]);
        assert_eq!(run.code, 0, "{run:?}");
        let npy = std::fs::read(folder.path().join("out.npy")).expect("it was written");
        (npy[128..].to_vec(), String::from_utf8_lossy(&npy[10..20]).into_owned(), run.err)
    };
    let (bytes, _, note) = data("i4");
    assert_eq!(bytes, [0xFF, 0xF8, 7]);
    assert!(note.contains("i4 elements are written as |i1"), "{note}");
    let (bytes, _, note) = data("bf16");
    assert_eq!(bytes, 1.5_f32.to_le_bytes());
    assert!(note.contains("bf16 elements are written as <f4"), "{note}");
    assert_eq!(data("bool").0, [1, 0]);
}
