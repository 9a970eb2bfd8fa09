//! zTensor 1.0 to 2: facts about real files, and files of the conformance suite of generation 2.

use serde_json::Value;
use sha2::{Digest, Sha256};
use weighbridge_core::{DType, File, Finding, Format, Severity, Source, Status};
use weighbridge_tests::codec::decoded;
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};

/// The sound file with an object of a layout that only its vendor knows.
const VENDOR: &str = "v2_rs2.1.1_sparse_csr.zt";

fn read(path: &std::path::Path) -> (Vec<u8>, Survey) {
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::ZTensor));
    (bytes, survey)
}

/// The type that elements are reported as.
fn dtype(part: &Value, object: &Value) -> Option<DType> {
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let word = word(&part["type"]).or(word(&part["dtype"])).or(word(&object["dtype"]))?;
    let long = [("float", "f"), ("bfloat", "bf"), ("uint", "u"), ("int", "i")];
    let short = long.iter().find_map(|(long, short)| {
        let rest = word.strip_prefix(long)?;
        Some(format!("{short}{rest}"))
    });
    let word = match word.as_str() {
        "f8_e4m3fn" => "f8e4m3".to_owned(),
        other => short.unwrap_or_else(|| other.to_owned()),
    };
    DType::by_name(&word)
}

fn check_part(name: &str, bytes: &[u8], file: &File, fact: &TensorFact, part: &Value) {
    let blob = |key: &str, at: usize| {
        part["blob"].get(at).or(part.get(key)).and_then(Value::as_u64).unwrap()
    };
    let chunk = fact.chunks[0];
    assert_eq!(chunk.stored.offset, blob("offset", 0), "{name}");
    assert_eq!(chunk.stored.len, blob("length", 1), "{name}");
    if fact.tensor.status != Status::Sound {
        return;
    }
    let decoded = decoded(bytes, &chunk);
    assert_eq!(decoded.len() as u64, part["decoded_len"].as_u64().unwrap(), "{name}");
    let sum: String = Sha256::digest(&decoded).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(sum, part["decoded_sha256"].as_str().unwrap(), "{name}");
    let digest = part["digest"].as_str();
    let found = file.checksum(&Source::whole(bytes), &fact.tensor).unwrap();
    assert_eq!(found.is_some(), digest.is_some(), "{name}: {digest:?}");
}

/// The entry with this name, which is removed. Names are in the order of encoded bytes, which in
/// generation 2 puts short ones first.
fn taken(facts: &mut Vec<TensorFact>, name: &str) -> TensorFact {
    let at = facts.iter().position(|fact| fact.name == name.as_bytes());
    facts.remove(at.unwrap_or_else(|| panic!("no entry {name}")))
}

fn check_object(
    name: &str,
    bytes: &[u8],
    file: &File,
    facts: &mut Vec<TensorFact>,
    object: &Value,
) {
    let fact = taken(facts, object["name"].as_str().unwrap());
    let name = format!("{name}: {}", object["name"]);
    let shape: Vec<_> =
        object["shape"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap()).collect();
    assert_eq!(fact.shape, shape, "{name}");
    let parts = object.get("components").or(object.get("parts")).unwrap().as_object().unwrap();
    let layout = object.get("format").or(object.get("layout")).unwrap().as_str().unwrap();
    if layout == "dense" {
        assert_eq!(fact.tensor.status, Status::Sound, "{name}");
        assert_eq!(Some(fact.tensor.dtype), dtype(&parts["data"], object), "{name}");
        check_part(&name, bytes, file, &fact, &parts["data"]);
        return;
    }
    assert!(fact.chunks.is_empty(), "{name}");
    for (role, part) in parts {
        let full = format!("{}.{role}", object["name"].as_str().unwrap());
        let fact = taken(facts, &full);
        let known = dtype(part, &Value::Null);
        assert!(known.is_none_or(|dtype| dtype == fact.tensor.dtype), "{name}: {known:?}");
        check_part(&full, bytes, file, &fact, part);
    }
}

#[test]
fn ztensor_later_files_match_facts() {
    let mut seen = 0;
    for path in corpus::files("ztensor/valid", "zt") {
        let name = path.display().to_string();
        let json = corpus::json(&path.with_extension("json"));
        let generation = json["generation"].as_str().unwrap();
        if generation == "0.1" {
            continue;
        }
        seen += 1;
        let (bytes, survey) = read(&path);
        assert!(survey.is_valid(), "{name}: {:?}", survey.findings);
        assert_eq!(survey.broken(), [""; 0], "{name}: {:?}", survey.findings);
        let unchecked = |finding: &Finding| finding.severity() == Severity::Unchecked;
        let is_whole = !survey.findings.iter().any(unchecked);
        assert_eq!(is_whole, !name.ends_with(VENDOR), "{name}: {:?}", survey.findings);
        let file = survey.file.unwrap();
        let version = file.version().unwrap().to_string();
        let stated = json["manifest_version"].as_str().unwrap_or("2");
        assert!(stated.starts_with(&version), "{name}: {version} for {stated}");
        let mut facts = survey.tensors.clone();
        for object in json["tensors"].as_array().unwrap() {
            check_object(&name, &bytes, &file, &mut facts, object);
        }
        assert!(facts.is_empty(), "{name}: {facts:?}");
    }
    assert!(seen > 0 || corpus::folder().is_none());
}

#[test]
fn ztensor_2_conformance_files_are_accepted_or_refused() {
    let Some(folder) = corpus::folder() else { return };
    let index = corpus::json(&folder.join("ztensor-v2/index.json"));
    for case in index.as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let (_, survey) = read(&folder.join("ztensor-v2").join(file));
        let valid = case["expect"] != "reject";
        assert_eq!(survey.is_valid(), valid, "{file}: {:?}", survey.findings);
    }
}
