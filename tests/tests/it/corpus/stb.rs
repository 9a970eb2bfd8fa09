//! STB: facts about real files, and the rules that broken files break.

use serde_json::Value;
use weighbridge_core::{Endianness, Format, Severity};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, survey_whole};

fn read(path: &std::path::Path) -> (Vec<u8>, Survey) {
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::Stb));
    (bytes, survey)
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, json: &Value) {
    let tensors = json["tensors"].as_array().unwrap();
    assert_eq!(survey.tensors.len(), tensors.len(), "{name}");
    for (fact, expected) in survey.tensors.iter().zip(tensors) {
        assert_eq!(fact.name, expected["tensor_id"].to_string().into_bytes(), "{name}");
        let dtype = match expected["dtype_name"].as_str().unwrap() {
            "float32" => "f32",
            "float16" => "f16",
            "int8" => "i8",
            "int32" => "i32",
            other => panic!("{name}: {other}"),
        };
        assert_eq!(fact.tensor.dtype.name(), dtype, "{name}");
        if let Some(shape) = expected["shape"].as_array() {
            let shape: Vec<_> = shape.iter().map(|d| d.as_u64().unwrap()).collect();
            assert_eq!(fact.shape, shape, "{name}");
        }
        let chunk = fact.chunks[0].stored;
        assert_eq!(chunk.offset, expected["offset"].as_u64().unwrap(), "{name}");
        assert_eq!(chunk.len, expected["size_bytes"].as_u64().unwrap(), "{name}");
        let bits = expected["bits"].as_array().or(expected["bits_first8"].as_array());
        let payload = &bytes[chunk.offset as usize..][..chunk.len as usize];
        let width = fact.tensor.dtype.bits() as usize / 8;
        for (i, bits) in bits.into_iter().flatten().enumerate() {
            let stored = u32::from_str_radix(bits.as_str().unwrap(), 16).unwrap();
            assert_eq!(&stored.to_le_bytes()[..width], &payload[i * width..][..width], "{name}");
            let element = fact.tensor.dtype.element(payload, i as u64, Endianness::Little).unwrap();
            let value = &expected["values"][i];
            if let Some(value) = value.as_f64() {
                assert_eq!(element.to_f64(), value, "{name}");
            }
        }
    }
}

#[test]
fn stb_valid_files_match_facts() {
    for path in corpus::files("stb/valid", "stb") {
        let name = path.display().to_string();
        let (bytes, survey) = read(&path);
        let json = corpus::json(&path.with_extension("json"));
        check_facts(&name, &bytes, &survey, &json);
        let unaligned = json["violates_alignment_rule"].as_bool().unwrap();
        let broken: &[&str] = if unaligned { &["T-OFF-ALIGN"] } else { &[] };
        let found: Vec<_> =
            survey.broken().into_iter().filter(|id| !id.starts_with("D-")).collect();
        assert_eq!(found, broken, "{name}");
        assert!(survey.worst() < Severity::Fatal, "{name}");
    }
}

#[test]
fn stb_ambiguous_files_have_expected_verdicts() {
    for path in corpus::files("stb/ambiguous", "stb") {
        let name = path.display().to_string();
        let (bytes, survey) = read(&path);
        check_facts(&name, &bytes, &survey, &corpus::json(&path.with_extension("json")));
        assert!(survey.worst() < Severity::Fatal, "{name}");
    }
}

#[test]
fn stb_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let index = corpus::json(&folder.join("stb/invalid/index.json"));
    for (file, facts) in index["files"].as_object().unwrap() {
        let (_, survey) = read(&folder.join("stb/invalid").join(file));
        let rule = facts["rule"].as_str().unwrap();
        // Reserved values are unsupported (§7), which does not break a rule.
        let unsupported = matches!(rule, "T-DTYPE" | "T-LAYOUT");
        assert!(survey.findings.iter().any(|f| f.rule.id() == rule), "{file}: not {rule}");
        assert_eq!(survey.is_valid(), unsupported, "{file}");
    }
}
