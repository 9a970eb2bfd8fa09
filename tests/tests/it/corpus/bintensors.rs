//! BinTensors: facts about real files, and the rules that broken files break.

use serde_json::Value as Json;
use weighbridge_core::{Endianness, Format, Severity, Status, Value};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, survey_whole};

fn read(path: &std::path::Path) -> (Vec<u8>, Survey) {
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::BinTensors));
    (bytes, survey)
}

fn numbers(json: &Json) -> Vec<u64> {
    json.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
}

fn check_metadata(name: &str, bytes: &[u8], survey: &Survey, json: &Json) {
    let Some(Some(expected)) = json.get("metadata").map(Json::as_object) else {
        assert!(survey.metadata.is_empty(), "{name}");
        return;
    };
    assert_eq!(survey.metadata.len(), expected.len(), "{name}");
    for fact in &survey.metadata {
        let Some(Value::Text(text)) = fact.value else { panic!("{name}: {fact:?}") };
        let value = &bytes[text.offset as usize..][..text.len as usize];
        let key = std::str::from_utf8(&fact.key).unwrap();
        assert_eq!(expected[key].as_str().unwrap().as_bytes(), value, "{name}: {key}");
    }
}

fn check_values(
    name: &str,
    survey_dtype: weighbridge_core::DType,
    payload: &[u8],
    values: &[Json],
) {
    for (i, value) in (0..).zip(values) {
        let element = survey_dtype.element(payload, i, Endianness::Little).unwrap();
        let text = match value {
            Json::String(text) => text.to_lowercase().replace("infinity", "inf"),
            Json::Bool(truth) => {
                assert_eq!(element.to_f64() != 0.0, *truth, "{name}");
                continue;
            }
            Json::Number(number) => number.to_string(),
            other => panic!("{name}: {other}"),
        };
        let number = element.to_f64();
        let expected: f64 = text.parse().unwrap();
        let same = number == expected || (number.is_nan() && expected.is_nan());
        assert!(same, "{name}: element {i} is {number}, not {text}");
    }
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, json: &Json) {
    let Some(weighbridge_core::File::BinTensors(header)) = survey.file else { panic!("{name}") };
    assert_eq!(header.data_at(), json["data_start"].as_u64().unwrap(), "{name}");
    check_metadata(name, bytes, survey, json);
    let tensors = json["tensors"].as_array().unwrap();
    assert_eq!(survey.tensors.len(), tensors.len(), "{name}");
    for (fact, expected) in survey.tensors.iter().zip(tensors) {
        assert_eq!(fact.name, expected["name"].as_str().unwrap().as_bytes(), "{name}");
        let dtype = expected["dtype"].as_str().unwrap().to_lowercase().replace('_', "");
        assert_eq!(fact.tensor.dtype.name(), dtype, "{name}");
        assert_eq!(fact.tensor.status, Status::Sound, "{name}");
        assert_eq!(fact.shape, numbers(&expected["shape"]), "{name}");
        let offsets = numbers(&expected["data_offsets"]);
        let chunk = fact.chunks[0].stored;
        assert_eq!(chunk.offset, header.data_at() + offsets[0], "{name}");
        assert_eq!(chunk.len, offsets[1] - offsets[0], "{name}");
        let payload = &bytes[chunk.offset as usize..][..chunk.len as usize];
        if let Some(hex) = expected["data_hex"].as_str() {
            let stored: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(stored, hex, "{name}");
        }
        if let Some(values) = expected["values"].as_array() {
            check_values(name, fact.tensor.dtype, payload, values);
        }
    }
}

#[test]
fn bintensors_valid_files_match_facts() {
    for path in corpus::files("bintensors/valid", "bt") {
        let name = path.display().to_string();
        let (bytes, survey) = read(&path);
        assert_eq!(survey.findings, [], "{name}");
        check_facts(&name, &bytes, &survey, &corpus::json(&path.with_extension("json")));
        assert_eq!(Format::of_head(&bytes[..9], bytes.len() as u64), Some(Format::BinTensors));
    }
}

/// Files that the published reader accepts have at most violations, and those it rejects are
/// invalid. Only V4 and C1 leave a file valid.
#[test]
fn bintensors_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let index = corpus::json(&folder.join("bintensors/invalid/index.json"));
    for (file, facts) in index["files"].as_object().unwrap() {
        let (_, survey) = read(&folder.join("bintensors/invalid").join(file));
        let rule = facts["rule"].as_str().unwrap();
        assert!(survey.broken().contains(&rule), "{file}: {:?}, not {rule}", survey.broken());
        assert_eq!(survey.is_valid(), ["V4", "C1"].contains(&rule), "{file}");
        let accepted = facts["crate"].as_str() == Some("accepted");
        if accepted {
            assert!(survey.worst() < Severity::Fatal, "{file}: {:?}", survey.findings);
        } else {
            assert!(!survey.is_valid(), "{file}");
        }
    }
}
