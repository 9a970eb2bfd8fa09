//! ONNX: facts about real files, and what broken files are refused for.

use super::check_in_parts;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use weighbridge::{Options, Profile, Report, Verdict, check_with};
use weighbridge_core::codec::{Decoder, Size};
use weighbridge_core::{Chunks, Format, Source};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};

/// Models of which something is unchecked here and not in the manifest: the file with external
/// data, which is not opened, values in several pieces, which are not read, and training information.
const UNREAD: [&str; 8] = [
    "ext_basepath",
    "ext_checksum",
    "ext_file_short",
    "ext_length_past",
    "ext_offset_past",
    "training_info",
    "typed_mixed_packing",
    "typed_split",
];

/// Models whose facts leave out the tensors of sparse attributes and of training information, with
/// their number.
const MORE: [(&str, usize); 2] = [("constant_sparse_node", 2), ("training_info", 1)];

/// The report on a model, and its verdict in the manifest's words.
fn checked(bytes: &[u8]) -> (Report, &'static str) {
    let options = Options::new().format(Format::Onnx).seed(1);
    let report = check_with(bytes, &options).unwrap();
    let verdict = match report.verdict(Profile::Strict) {
        Verdict::Invalid => "invalid",
        _ if !report.unchecked().is_empty() => "unchecked",
        _ if !report.findings().is_empty() => "lint",
        _ => "valid",
    };
    (report, verdict)
}

/// The findings of a report.
fn findings(report: &Report) -> Vec<String> {
    let all = report.findings().iter();
    all.map(|found| format!("{} at {}: {}", found.rule(), found.offset(), found.message()))
        .collect()
}

fn dtype(name: &str) -> &str {
    match name {
        "float" => "f32",
        "double" => "f64",
        "float16" => "f16",
        "bfloat16" => "bf16",
        "string" => "text",
        "complex64" => "c64",
        "complex128" => "c128",
        "float8e4m3fn" => "f8e4m3",
        "float4e2m1" => "f4e2m1",
        "bool" => "bool",
        _ if name.starts_with("float") => match name {
            "float6e2m3" => "f6e2m3",
            "float6e3m2" => "f6e3m2",
            "float8e4m3fnuz" => "f8e4m3fnuz",
            "float8e5m2" => "f8e5m2",
            "float8e5m2fnuz" => "f8e5m2fnuz",
            "float8e8m0" => "f8e8m0",
            other => panic!("{other}"),
        },
        _ if name.starts_with("uint") => match &name[4..] {
            "2" => "u2",
            "4" => "u4",
            "8" => "u8",
            "16" => "u16",
            "32" => "u32",
            _ => "u64",
        },
        _ => match &name[3..] {
            "2" => "i2",
            "4" => "i4",
            "8" => "i8",
            "16" => "i16",
            "32" => "i32",
            _ => "i64",
        },
    }
}

/// The decoded elements of a tensor.
fn elements(bytes: &[u8], fact: &TensorFact) -> Vec<u8> {
    let Some(chunk) = fact.chunks.first() else { return Vec::new() };
    let source = Source::whole(bytes);
    let mut decoder = Decoder::new();
    let len = chunk.decoded.unwrap();
    decoder.start(chunk.encoding, chunk.stored, Size::Exactly(len));
    let mut buffer = vec![0; len as usize];
    decoder.fill(&source, &mut buffer).unwrap().to_vec()
}

/// Compares a tensor with its facts, apart from its place.
fn check_tensor(name: &str, bytes: &[u8], fact: &TensorFact, expected: &Value) {
    let what = format!("{name} {expected}");
    match expected["where"].as_str() {
        Some("graph/initializer") => {
            assert_eq!(fact.name, expected["name"].as_str().unwrap().as_bytes(), "{what}");
        }
        // By the output of its node.
        Some(place) if place.contains("Constant/value") => assert!(!fact.name.is_empty(), "{what}"),
        _ => {}
    }
    assert_eq!(fact.tensor.dtype.name(), dtype(expected["dtype"].as_str().unwrap()), "{what}");
    let shape: Vec<_> =
        expected["dims"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap()).collect();
    assert_eq!(fact.shape, shape, "{what}");
    let Some(hash) = expected["elements_sha256"].as_str() else { return };
    if fact.tensor.dtype.name() == "text" || expected["stored"] == "external" {
        assert_eq!(fact.tensor.chunks, Chunks::None, "{what}");
        return;
    }
    let found: String =
        Sha256::digest(elements(bytes, fact)).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, hash, "{what}");
    if let (Some(at), Chunks::One(span)) = (expected["raw_offset"].as_u64(), fact.tensor.chunks) {
        assert_eq!(span.offset, at, "{what}");
    }
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, json: &Value) {
    let file = survey.file.unwrap_or_else(|| panic!("{name}: {:#?}", survey.findings));
    let ir = json["ir_version"].as_u64().unwrap();
    assert_eq!(file.version().unwrap().to_string(), ir.to_string(), "{name}");
    // Facts list dense tensors first; files, in the order of their fields.
    let dense = json["tensors"].as_array().unwrap().iter();
    let sparse = json["sparse"].as_array().unwrap().iter();
    let mut expected: Vec<&Value> = dense.collect();
    expected
        .extend(sparse.flat_map(|it| [&it["values"], &it["indices"]]).filter(|it| !it.is_null()));
    let more = MORE.iter().find(|(stem, _)| name.contains(stem)).map_or(0, |(_, more)| *more);
    assert_eq!(survey.tensors.len(), expected.len() + more, "{name}");
    let place = |value: &Value| value["raw_offset"].as_u64();
    let mut left: Vec<_> = survey.tensors.iter().collect();
    for expected in expected {
        let own = |fact: &&TensorFact| match (place(expected), fact.tensor.chunks) {
            (Some(at), Chunks::One(span)) => span.offset == at,
            (Some(_), _) => false,
            _ => {
                let name = expected["name"].as_str().unwrap_or_default().as_bytes();
                fact.name == name || fact.name.is_empty()
            }
        };
        let own = left.iter().position(own).unwrap_or_else(|| panic!("{name}: no {expected}"));
        check_tensor(name, bytes, left.remove(own), expected);
    }
}

#[test]
fn onnx_valid_files_match_facts() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("onnx/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["valid"].as_array().unwrap() {
        let path = folder.join("onnx").join(row["file"].as_str().unwrap());
        let name = row["file"].as_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let survey = survey_whole(&bytes, Some(Format::Onnx));
        check_facts(name, &bytes, &survey, &corpus::json(&path.with_extension("json")));
        let detected = survey_whole(&bytes, None).file.map(|file| file.format());
        assert_eq!(detected, Some(Format::Onnx), "{name}");
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let unread = name.contains("external_") || UNREAD.contains(&stem);
        let (report, found) = checked(&bytes);
        if !agrees(row, found, unread) {
            failed.push(format!("{name}: {found}: {:?}", findings(&report)));
        }
        check_in_parts(&path, Format::Onnx);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Whether a verdict is one that the manifest takes for right.
fn agrees(row: &Value, found: &str, external: bool) -> bool {
    let or = row["or"].as_array().into_iter().flatten();
    let mut right = or.chain([&row["verdict"]]).map(|verdict| verdict.as_str().unwrap());
    external && found == "unchecked" || right.any(|verdict| verdict == found)
}

#[test]
fn onnx_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("onnx/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["invalid"].as_array().unwrap() {
        let file = row["file"].as_str().unwrap();
        let path = folder.join("onnx").join(file);
        let bytes = std::fs::read(&path).unwrap();
        let (report, found) = checked(&bytes);
        let stem = Path::new(file).file_stem().unwrap().to_str().unwrap();
        if !agrees(row, found, UNREAD.contains(&stem)) {
            let findings = findings(&report);
            failed.push(format!("{stem}: {found}, not {}: {findings:?}", row["verdict"]));
        }
        check_in_parts(&path, Format::Onnx);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
