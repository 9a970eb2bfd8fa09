//! TensorFlow Lite: facts about real files, and what broken files are refused for.

use super::check_in_parts;
use super::manifest::{agrees, verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use weighbridge_core::{Chunks, File, Format};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};

/// The lint on data that is not aligned, which the manifest takes for valid: TensorFlow's own
/// converter does not align.
const ALIGN: &str = "B-ALIGN";

/// What is said about the custom operator that every broken file has. The manifest takes it for
/// unchecked in sound files, and leaves it out for these.
const CUSTOM: &str = "C-CUSTOM";

/// A model whose old operator code was changed, and so the options that belong to it.
const OTHER_CODE: &str = "code_fields_differ";

fn dtype(name: &str) -> &str {
    match name {
        "float16" => "f16",
        "float32" => "f32",
        "float64" => "f64",
        "bfloat16" => "bf16",
        "float8_e4m3fn" => "f8e4m3",
        "float8_e5m2" => "f8e5m2",
        "complex64" => "c64",
        "complex128" => "c128",
        "string" => "text",
        "resource" | "variant" => "unknown",
        "bool" => "bool",
        "int2" => "i2",
        "int4" => "i4",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
        "uint4" => "u4",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        other => panic!("{other}"),
    }
}

/// Compares a tensor with its facts.
fn check_tensor(name: &str, bytes: &[u8], fact: &TensorFact, expected: &Value) {
    let what = format!("{name} {expected}");
    assert_eq!(fact.name, expected["name"].as_str().unwrap_or("").as_bytes(), "{what}");
    assert_eq!(fact.tensor.dtype.name(), dtype(expected["dtype"].as_str().unwrap()), "{what}");
    let extents = expected["shape"].as_array().into_iter().flatten();
    let shape: Vec<_> = extents.map(|extent| extent.as_u64().unwrap()).collect();
    assert_eq!(fact.shape, shape, "{what}");
    let Some(hash) = expected["data_sha256"].as_str() else {
        assert_eq!(fact.tensor.chunks, Chunks::None, "{what}");
        return;
    };
    if fact.tensor.dtype.name() == "text" {
        return;
    }
    let Chunks::One(span) = fact.tensor.chunks else { panic!("{what}") };
    assert_eq!(Some(span.offset), expected["data_offset"].as_u64(), "{what}");
    assert_eq!(Some(span.len), expected["data_length"].as_u64(), "{what}");
    let data = &bytes[span.offset as usize..][..span.len as usize];
    let found: String = Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, hash, "{what}");
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, json: &Value) {
    let file = survey.file.unwrap_or_else(|| panic!("{name}: {:#?}", survey.findings));
    let File::Tflite(header) = file else { panic!("{name}") };
    assert_eq!(file.version().unwrap().to_string(), json["schema_version"].to_string(), "{name}");
    let subgraphs = json["subgraphs"].as_array().unwrap();
    assert_eq!(header.subgraphs() as usize, subgraphs.len(), "{name}");
    let of = |part: &'static str| {
        subgraphs.iter().flat_map(move |graph| graph[part].as_array().into_iter().flatten())
    };
    assert_eq!(header.operators() as usize, of("operators").count(), "{name}");
    let custom = json["operator_codes"].as_array().into_iter().flatten();
    let custom = custom.filter(|code| code["custom"].as_str().is_some()).count();
    assert_eq!(header.custom_codes() as usize, custom, "{name}");
    assert_eq!(survey.tensors.len(), of("tensors").count(), "{name}");
    for (fact, expected) in survey.tensors.iter().zip(of("tensors")) {
        check_tensor(name, bytes, fact, expected);
    }
    let entries = |part: &str| json[part].as_array().map_or(0, Vec::len);
    assert_eq!(survey.metadata.len(), entries("metadata") + entries("signatures"), "{name}");
}

fn findings(survey: &Survey) -> Vec<String> {
    survey.findings.iter().map(|f| format!("{}@{} {f}", f.rule.id(), f.offset)).collect()
}

#[test]
fn tflite_valid_files_match_facts() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("tflite/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["valid"].as_array().unwrap() {
        let name = row["file"].as_str().unwrap();
        let path = folder.join("tflite").join(name);
        let bytes = std::fs::read(&path).unwrap();
        let survey = survey_whole(&bytes, None);
        if survey.file.is_some() {
            check_facts(name, &bytes, &survey, &corpus::json(&path.with_extension("json")));
        }
        let found = verdict(&survey, &[ALIGN]);
        if !agrees(row, found) {
            failed.push(format!("{name}: {found}, {:?}", findings(&survey)));
        }
        check_in_parts(&path, Format::Tflite);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn tflite_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("tflite/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["invalid"].as_array().unwrap() {
        let path = folder.join("tflite").join(row["file"].as_str().unwrap());
        let stem = Path::new(&path).file_stem().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let survey = survey_whole(&bytes, Some(Format::Tflite));
        let options = if stem == OTHER_CODE { "O-OPTIONS" } else { ALIGN };
        // A file made for its alignment is one that the lint is about.
        let ways = [&[ALIGN, options][..], &[CUSTOM], &[ALIGN, CUSTOM, options]];
        let [found, ..] = ways.map(|aside| verdict(&survey, aside));
        if !ways.iter().any(|aside| agrees(row, verdict(&survey, aside))) {
            failed.push(format!("{stem}: {found}, {}, {:?}", row["fault"], findings(&survey)));
        }
        check_in_parts(&path, Format::Tflite);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
