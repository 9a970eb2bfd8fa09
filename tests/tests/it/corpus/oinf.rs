//! OINF: facts about real files, and the rules that broken files break.

use crate::readback;
use serde_json::Value as Json;
use weighbridge_core::format::oinf::Header;
use weighbridge_core::{Element, Endianness, EntryKind, File, Format, Severity, Value};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{MetaFact, Survey, TensorFact, survey_whole};

fn read(path: &std::path::Path) -> (Vec<u8>, Survey) {
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::Oinf));
    (bytes, survey)
}

fn number(json: &Json) -> u64 {
    json.as_u64().unwrap_or_else(|| panic!("{json} is no count"))
}

fn numbers(json: &Json) -> Vec<u64> {
    json.as_array().unwrap().iter().map(number).collect()
}

/// Whether the corpus uses this name for a type.
fn is_type(dtype: weighbridge_core::DType, name: &str) -> bool {
    dtype.name() == if name == "f8" { "f8e5m2" } else { name }
}

fn check_element(element: Element, expected: &Json) {
    let same = match (element, expected) {
        (Element::Bool(value), Json::Bool(expected)) => value == *expected,
        (Element::Int(value), Json::Number(expected)) => value.to_string() == expected.to_string(),
        (Element::Uint(value), Json::Number(expected)) => value.to_string() == expected.to_string(),
        (float, Json::Number(expected)) => {
            let expected = expected.as_f64().unwrap();
            float.to_f64().to_bits() == expected.to_bits()
        }
        (float, Json::String(expected)) => {
            let value = float.to_f64();
            match expected.as_str() {
                "nan" => value.is_nan(),
                // The reference treats NaNs of F8 as infinities.
                "inf" => value == f64::INFINITY || value.is_nan(),
                "-inf" => value == f64::NEG_INFINITY || value.is_nan(),
                "-0.0" => value == 0.0 && value.is_sign_negative(),
                _ => false,
            }
        }
        _ => false,
    };
    assert!(same, "{element:?} where {expected} is right");
}

fn check_elements(dtype: weighbridge_core::DType, bytes: &[u8], expected: &Json) {
    for (i, expected) in (0..).zip(expected.as_array().into_iter().flatten()) {
        check_element(dtype.element(bytes, i, Endianness::Little).unwrap(), expected);
    }
}

fn check_metadata(file: &[u8], fact: &MetaFact, expected: &Json) {
    assert_eq!(fact.key, expected["key"].as_str().unwrap().as_bytes());
    assert_eq!(u64::from(fact.meta.tag), number(&expected["type"]));
    assert_eq!(fact.meta.stored.offset, number(&expected["offset"]));
    assert_eq!(fact.meta.stored.len, number(&expected["nbytes"]));
    let at = |span: weighbridge_core::Span| &file[span.offset as usize..][..span.len as usize];
    match fact.value.unwrap() {
        Value::Text(text) => {
            assert_eq!(at(text.span()), expected["value"].as_str().unwrap().as_bytes());
        }
        Value::Scalar { dtype, stored } => {
            assert!(is_type(dtype, expected["type_name"].as_str().unwrap()));
            check_element(
                dtype.element(at(stored), 0, Endianness::Little).unwrap(),
                &expected["value"],
            );
        }
        Value::Bits { count, stored } => {
            assert_eq!(count, number(&expected["bit_count"]));
            let hex: String = at(stored).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected["bytes_hex"].as_str().unwrap());
        }
        Value::Array { dtype, elements, stored, .. } => {
            assert!(is_type(dtype, expected["elem_name"].as_str().unwrap()));
            assert_eq!(elements, number(&expected["numel"]));
            check_elements(dtype, at(stored), &expected["values"]);
        }
        other => panic!("{other:?}"),
    }
}

fn check_tensor(file: &[u8], header: &Header, fact: &TensorFact, expected: &Json) {
    assert_eq!(fact.name, expected["name"].as_str().unwrap().as_bytes());
    assert!(is_type(fact.tensor.dtype, expected["dtype_name"].as_str().unwrap()));
    assert_eq!(fact.shape, numbers(&expected["dims"]));
    assert_eq!(fact.chunks.len(), usize::from(expected["has_data"].as_bool().unwrap()));
    if let Some(chunk) = fact.chunks.first() {
        assert_eq!(chunk.stored.offset, number(&expected["offset"]));
        assert_eq!(chunk.stored.len, number(&expected["nbytes"]));
        assert_eq!(fact.tensor.elements, number(&expected["numel"]));
        let data = &file[chunk.stored.offset as usize..][..chunk.stored.len as usize];
        check_elements(fact.tensor.dtype, data, &expected["values"]);
    }
    let has_quant = expected["has_quant"].as_bool().unwrap_or(false);
    let stored = header.quantization_span(&fact.tensor);
    assert_eq!(has_quant, !stored.is_empty());
    if has_quant {
        assert_eq!(stored.offset, number(&expected["quant_offset"]));
        assert_eq!(stored.len, number(&expected["quant_nbytes"]));
    }
}

fn check_facts(file: &[u8], survey: &Survey, json: &Json) {
    let Some(File::Oinf(header)) = survey.file else { panic!("{:?}", survey.file) };
    let version = File::Oinf(header).version().unwrap();
    assert_eq!(version.to_string(), json["version"].to_string());
    let is_sizevar = |fact: &&MetaFact| fact.meta.kind == EntryKind::SizeVar;
    let sizevars: Vec<_> = survey.metadata.iter().filter(is_sizevar).collect();
    let expected = json["sizevars"].as_array().unwrap();
    assert_eq!(sizevars.len(), expected.len());
    for (fact, expected) in sizevars.iter().zip(expected) {
        assert_eq!(fact.key, expected["name"].as_str().unwrap().as_bytes());
        assert_eq!(fact.value, Some(Value::Size(number(&expected["value"]))));
    }
    let metadata = &survey.metadata[sizevars.len()..];
    let expected = json["metadata"].as_array().unwrap();
    assert_eq!(metadata.len(), expected.len());
    for (fact, expected) in metadata.iter().zip(expected) {
        check_metadata(file, fact, expected);
    }
    let expected = json["tensors"].as_array().unwrap();
    assert_eq!(survey.tensors.len(), expected.len());
    for (fact, expected) in survey.tensors.iter().zip(expected) {
        check_tensor(file, &header, fact, expected);
    }
}

#[test]
fn oinf_valid_files_match_facts() {
    for path in corpus::files("oinf/valid", "oinf") {
        eprintln!("{}", path.display());
        let (bytes, survey) = read(&path);
        check_facts(&bytes, &survey, &corpus::json(&path.with_extension("json")));
        assert_eq!(survey.broken(), [""; 0]);
        // Our encoder reproduces every real model byte for byte.
        assert!(readback::oinf(&bytes, &survey).encode().bytes == bytes);
    }
}

#[test]
fn oinf_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let folder = folder.join("oinf/invalid");
    for facts in corpus::json(&folder.join("index.json")).as_array().unwrap() {
        let file = facts["file"].as_str().unwrap();
        let (_, survey) = read(&folder.join(file));
        let found = survey.broken();
        let rule = facts["rule"].as_str().unwrap();
        // An empty STRING value, which the guide permits.
        if file == "v1_meta_str_empty.oinf" {
            assert_eq!(found, [""; 0]);
            continue;
        }
        if rule == "CASCADE" {
            let strict = facts["strict_checker"].as_array().unwrap();
            let known = strict.iter().any(|rule| found.contains(&rule.as_str().unwrap()));
            assert!(known, "{file}: {found:?}, none of {strict:?}");
        } else {
            assert!(found.contains(&rule), "{file}: {found:?}, not {rule}");
        }
        if facts["seed"] != "silent" {
            assert!(!survey.is_valid(), "{file}: {found:?}");
        }
    }
}

/// Files that real tools wrote although they are faulty, or that are laid out as no tool does.
#[test]
fn oinf_quirks_have_expected_verdicts() {
    let expected: &[(&str, &[&str], Severity)] = &[
        ("canon_v1_names_unsorted", &[], Severity::Unchecked),
        ("canon_v1_payload_order", &[], Severity::Unchecked),
        ("canon_v2_names_unsorted", &[], Severity::Unchecked),
        ("canon_v2_payload_order", &[], Severity::Unchecked),
        ("enc_v2_duplicate_names", &["DUP-TENSOR"], Severity::Violation),
        ("gen_v1_t2_minus_two", &["META-T2", "TENSOR-T2"], Severity::Violation),
        ("gen_v2_t2_minus_two", &["META-T2", "TENSOR-T2"], Severity::Violation),
        ("gen_v2_name_newline", &["STR-CHARSET"], Severity::Violation),
        ("gen_v2_quant_scale_inf", &["QUANT-SCALE-FINITE"], Severity::Lint),
        ("gen_v2_quant_scale_nan", &["QUANT-SCALE-FINITE"], Severity::Lint),
        ("repo_text_prototype", &["HDR-MAGIC"], Severity::Fatal),
        ("repo_zero_page_0", &["HDR-SHORT"], Severity::Fatal),
    ];
    let Some(folder) = corpus::folder() else { return };
    for (file, rules, worst) in expected {
        let (_, survey) = read(&folder.join("oinf/quirks").join(format!("{file}.oinf")));
        assert_eq!((survey.broken(), survey.worst()), (rules.to_vec(), *worst), "{file}");
    }
    // The version 2 encoder places payloads elsewhere than it records.
    for file in ["enc_v2_quant_then_plain", "enc_v2_two_quant", "repo_example_v2_quantized_linear"]
    {
        let (_, survey) = read(&folder.join("oinf/quirks").join(format!("{file}.oinf")));
        assert_eq!(survey.worst(), Severity::Fatal, "{file}: {:?}", survey.broken());
    }
}

#[test]
fn oinf_files_in_windows_match_facts() {
    for folder in ["oinf/valid", "oinf/invalid", "oinf/quirks"] {
        for path in corpus::files(folder, "oinf") {
            super::check_in_parts(&path, Format::Oinf);
        }
    }
}
