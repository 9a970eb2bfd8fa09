//! ExecuTorch: facts about real files, and what broken files are refused for.

use super::check_in_parts;
use super::manifest::{agrees, verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::Path;
use weighbridge_core::{Chunks, File, Format};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};

/// The lint on data that is in another file. The manifest takes a program for valid that says so.
const EXTERNAL: &str = "T-EXTERNAL";

/// A remark on old files, whose numbers of four bytes are read as eight today.
const WIDER: &str = "F-FIELD-TABLE";

/// A remark on random bytes as truth values.
const BOOLS: &str = "T-BOOL";

/// What is said about the delegate that each broken file has, if it has one. The manifest takes it
/// for unchecked in sound files, and leaves it out where something else is wrong.
const DELEGATE: &str = "D-UNCHECKED";

fn dtype(name: &str) -> &str {
    match name {
        "float16" => "f16",
        "float32" => "f32",
        "float64" => "f64",
        "bfloat16" => "bf16",
        "bool" => "bool",
        "int8" => "i8",
        "int16" => "i16",
        "int32" => "i32",
        "int64" => "i64",
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
    let len = expected["data_length"].as_u64();
    if let Some(own) = expected["dtype"].as_str() {
        assert_eq!(fact.tensor.dtype.name(), dtype(own), "{what}");
        let extents = expected["sizes"].as_array().into_iter().flatten();
        let shape: Vec<_> = extents.map(|extent| extent.as_u64().unwrap()).collect();
        assert_eq!(fact.shape, shape, "{what}");
    } else {
        assert_eq!(fact.tensor.dtype.name(), "u8", "{what}");
        assert_eq!(fact.shape, [len.unwrap()], "{what}");
    }
    let Some(hash) = expected["data_sha256"].as_str() else {
        assert_eq!(fact.tensor.chunks, Chunks::None, "{what}");
        return;
    };
    let Chunks::One(span) = fact.tensor.chunks else { panic!("{what}") };
    assert_eq!(Some(span.offset), expected["data_offset"].as_u64(), "{what}");
    assert_eq!(Some(span.len), len, "{what}");
    let data = &bytes[span.offset as usize..][..span.len as usize];
    let found: String = Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(found, hash, "{what}");
}

/// The lists with this name of all methods, one after the other.
fn of<'v>(json: &'v Value, part: &'static str) -> impl Iterator<Item = &'v Value> {
    let methods = json["methods"].as_array().into_iter().flatten();
    methods.flat_map(move |method| method[part].as_array().into_iter().flatten())
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, json: &Value) {
    let file = survey.file.unwrap_or_else(|| panic!("{name}: {:#?}", survey.findings));
    let File::ExecuTorch(header) = file else { panic!("{name}") };
    assert_eq!(file.version().unwrap().to_string(), json["version"].to_string(), "{name}");
    let is_program = json["identifier"] == "ET12";
    assert_eq!(header.is_program(), is_program, "{name}");
    let count = |part: &str| json[part].as_array().map_or(0, Vec::len);
    assert_eq!(header.methods() as usize, count("methods"), "{name}");
    assert_eq!(header.segments() as usize, count("segments"), "{name}");
    assert_eq!(header.operators() as usize, of(json, "operators").count(), "{name}");
    assert_eq!(header.delegates() as usize, of(json, "delegates").count(), "{name}");
    let data = json["tensors"].as_array().into_iter().flatten();
    let tensors: Vec<_> = of(json, "tensors").chain(data.clone()).collect();
    assert_eq!(survey.tensors.len(), tensors.len(), "{name}");
    for (fact, expected) in survey.tensors.iter().zip(tensors) {
        check_tensor(name, bytes, fact, expected);
    }
    let text = |value: &Value, key: &str| value[key].as_str().unwrap().to_owned();
    let methods = json["methods"].as_array().into_iter().flatten();
    let mut keys: Vec<_> = methods.map(|method| text(method, "name")).collect();
    let named = json["named_data"].as_array().into_iter().flatten();
    keys.extend(named.map(|own| text(own, "key")));
    keys.extend(data.map(|own| text(own, "name")));
    keys.extend(of(json, "delegates").map(|own| text(own, "id")));
    keys.extend(of(json, "operators").map(|own| {
        let whole = own.as_str().unwrap();
        whole.split_once('.').map_or(whole, |(name, _)| name).to_owned()
    }));
    let found: Vec<_> = survey.metadata.iter().map(|fact| fact.key.clone()).collect();
    assert_eq!(found, keys.iter().map(|key| key.as_bytes().to_vec()).collect::<Vec<_>>(), "{name}");
}

fn findings(survey: &Survey) -> Vec<String> {
    survey.findings.iter().map(|f| format!("{}@{} {f}", f.rule.id(), f.offset)).collect()
}

#[test]
fn executorch_valid_files_match_facts() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("executorch/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["valid"].as_array().unwrap() {
        let name = row["file"].as_str().unwrap();
        let path = folder.join("executorch").join(name);
        let bytes = std::fs::read(&path).unwrap();
        let survey = survey_whole(&bytes, None);
        if survey.file.is_some() {
            check_facts(name, &bytes, &survey, &corpus::json(&path.with_extension("json")));
        }
        let found = verdict(&survey, &[EXTERNAL, WIDER, BOOLS]);
        if !agrees(row, found) {
            failed.push(format!("{name}: {found}, {:?}", findings(&survey)));
        }
        check_in_parts(&path, Format::ExecuTorch);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn executorch_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let manifest = corpus::json(&folder.join("executorch/manifest.json"));
    let mut failed = Vec::new();
    for row in manifest["invalid"].as_array().unwrap() {
        let path = folder.join("executorch").join(row["file"].as_str().unwrap());
        let stem = Path::new(&path).file_stem().unwrap().to_str().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let survey = survey_whole(&bytes, Some(Format::ExecuTorch));
        let found = verdict(&survey, &[]);
        let ways = [&[][..], &[DELEGATE], &[EXTERNAL]];
        if !ways.iter().any(|aside| agrees(row, verdict(&survey, aside))) {
            failed.push(format!("{stem}: {found}, {}, {:?}", row["fault"], findings(&survey)));
        }
        check_in_parts(&path, Format::ExecuTorch);
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
