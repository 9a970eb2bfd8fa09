//! IDV: facts about real files, and the rules that broken files break.

mod rows;

use serde_json::Value;
use std::path::Path;
use weighbridge_core::format::idv::{Codec, Header, Item};
use weighbridge_core::{DType, Encoding, File, Format, Severity, Source, Status};
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{MetaFact, Survey, TensorFact, survey_whole};

fn read(path: &Path) -> (Vec<u8>, Survey) {
    super::check_in_parts(path, Format::Idv);
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::Idv));
    (bytes, survey)
}

/// Checks a type against its name in the facts.
fn check_type(name: &str, codec: &Codec, shape: &[u64], expected: &Value) {
    if let Some(item) = expected.get("vector") {
        let vector = codec.vector.unwrap_or_else(|| panic!("{name}: no vector"));
        let dims: Vec<_> = expected["dims"].as_array().unwrap().iter().map(number).collect();
        assert_eq!(shape, dims, "{name}");
        assert_eq!(u64::from(vector.size), dims.iter().product::<u64>(), "{name}");
        return check_type(name, &Codec { vector: None, ..*codec }, &[], item);
    }
    assert_eq!(codec.vector, None, "{name}");
    assert!(shape.is_empty(), "{name}");
    let item = codec.item;
    if let Some(count) = expected.get("count") {
        let Item::Key(key) = item else { panic!("{name}: {item:?} is no key") };
        let stored = named(expected["key"].as_str().unwrap());
        assert_eq!(key.stored, stored, "{name}");
        let largest = u64::MAX >> (64 - stored.bits());
        assert_eq!(key.count.unwrap_or(largest), number(count), "{name}");
        return;
    }
    match expected.as_str().unwrap() {
        "Text" => assert_eq!(item, Item::Text, "{name}"),
        "Boolean" => assert!(matches!(item, Item::Bit | Item::TwoBits), "{name}: {item:?}"),
        "TimeSpan" => assert_eq!(item, Item::TimeSpan, "{name}"),
        "DateTime" => assert_eq!(item, Item::DateTime, "{name}"),
        "DateTimeOffset" => assert_eq!(item, Item::DateTimeOffset, "{name}"),
        "DataViewRowId" | "RowId" => assert_eq!(item, Item::RowId, "{name}"),
        number => assert_eq!(item, Item::Number(named(number)), "{name}"),
    }
}

fn named(number: &str) -> DType {
    match number {
        "SByte" => DType::I8,
        "Byte" => DType::U8,
        "Int16" => DType::I16,
        "UInt16" => DType::U16,
        "Int32" => DType::I32,
        "UInt32" => DType::U32,
        "Int64" => DType::I64,
        "UInt64" => DType::U64,
        "Single" => DType::F32,
        "Double" => DType::F64,
        other => panic!("a type named {other}"),
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

fn header(survey: &Survey) -> Header {
    match survey.file {
        Some(File::Idv(header)) => header,
        other => panic!("{other:?}"),
    }
}

fn check_column(name: &str, bytes: &[u8], survey: &Survey, fact: &TensorFact, expected: &Value) {
    let name = &format!("{name}, column {}", fact.tensor.index);
    let source = Source::whole(bytes);
    let header = header(survey);
    let codec = header.codec(&source, &fact.tensor).unwrap();
    let spelling = header.spelling(&source, &fact.tensor).unwrap();
    if let Some(column) = expected["name"].as_str() {
        assert_eq!(String::from_utf8_lossy(&fact.name), column, "{name}");
    }
    let loadname = expected["codec_raw"]["loadname"].as_str().unwrap();
    assert!(spelling.loadname() == *loadname, "{name}: {spelling}");
    assert_eq!(fact.shape[0], header.rows(), "{name}");
    let kind = match number(&expected["compression"]) {
        0 => Encoding::Raw,
        1 => Encoding::Deflate,
        2 => Encoding::Zlib,
        _ => Encoding::Unknown,
    };
    assert_eq!(fact.tensor.encoding, kind, "{name}");
    match expected.get("type").filter(|t| !t.is_null()) {
        Some(expected) => check_type(name, &codec, &fact.shape[1..], expected),
        None if expected["live"] == Value::Bool(false) => {
            // Like the loader, we cannot read it, except for row ids under their old names.
            let row_id = matches!(loadname, "RowId" | "UInt128");
            let dead = fact.tensor.status == Status::Unsupported;
            assert!(dead || row_id, "{name}: {:?}", fact.tensor.status);
        }
        None => {}
    }
    let blocks: Vec<_> = fact
        .chunks
        .iter()
        .map(|chunk| [chunk.stored.offset, chunk.stored.len, chunk.decoded.unwrap()])
        .collect();
    let listed = |key: &str| -> Option<Vec<[u64; 3]>> {
        expected.get(key).map(|blocks| serde_json::from_value(blocks.clone()).unwrap())
    };
    match listed("blocks") {
        Some(expected) => assert_eq!(blocks, expected, "{name}"),
        None => {
            // Only part of a long table is listed.
            let first = listed("first_blocks").unwrap();
            assert_eq!(blocks[..first.len()], first, "{name}");
            assert_eq!(blocks.len() as u64, number(&expected["block_count"]), "{name}");
        }
    }
    let rows: u64 = fact.chunks.iter().map(|chunk| chunk.elements).sum();
    assert_eq!(rows, header.rows(), "{name}");
    if let Some(annotations) = expected["metadata"].as_array() {
        assert_eq!(fact.attributes.len(), annotations.len(), "{name}");
        for (fact, expected) in fact.attributes.iter().zip(annotations) {
            check_annotation(name, bytes, &header, fact, expected);
        }
    }
}

fn check_annotation(name: &str, bytes: &[u8], header: &Header, fact: &MetaFact, expected: &Value) {
    assert_eq!(String::from_utf8_lossy(&fact.key), expected["kind"].as_str().unwrap(), "{name}");
    if let Some(offset) = expected.get("offset") {
        assert_eq!(fact.meta.stored.offset, number(offset), "{name}");
        assert_eq!(fact.meta.stored.len, number(&expected["size"]), "{name}");
    }
    assert_eq!(u64::from(fact.meta.tag & 0xFF), number(&expected["compression"]), "{name}");
    let value = &expected["value"];
    if expected["live"] != Value::Bool(false) {
        rows::check_annotation(name, bytes, header, &fact.meta, value);
    }
    match fact.value.unwrap_or_else(|| panic!("{name}: no value")) {
        weighbridge_core::Value::Text(at) => {
            let text = &bytes[at.offset as usize..][..at.len as usize];
            assert_eq!(std::str::from_utf8(text).unwrap(), value.as_str().unwrap(), "{name}");
        }
        weighbridge_core::Value::Scalar { dtype: DType::Bool, stored } => {
            assert_eq!(bytes[stored.offset as usize] == 1, value.as_bool().unwrap(), "{name}");
        }
        weighbridge_core::Value::Scalar { dtype, stored } => {
            assert_eq!(dtype.bytes(1), Some(stored.len), "{name}");
        }
        weighbridge_core::Value::Encoded { stored, .. } => {
            assert_eq!(stored, fact.meta.stored, "{name}")
        }
        other => panic!("{name}: {other:?}"),
    }
}

fn check_facts(name: &str, bytes: &[u8], survey: &Survey, columns: &Value) {
    let columns = columns.as_array().unwrap();
    assert_eq!(survey.tensors.len(), columns.len(), "{name}");
    for (fact, expected) in survey.tensors.iter().zip(columns) {
        check_column(name, bytes, survey, fact, expected);
    }
}

fn check_version(name: &str, survey: &Survey, expected: &Value) {
    let version = survey.file.and_then(|file| file.version()).map(|v| v.to_string());
    assert_eq!(version.as_deref(), expected.as_str(), "{name}");
}

#[test]
fn idv_valid_files_match_facts() {
    for path in corpus::files("idv/valid", "idv") {
        let name = path.display().to_string();
        let (bytes, survey) = read(&path);
        let json = corpus::json(&path.with_extension("json"));
        // All files from a real writer are canonical, except one with keys beyond their
        // cardinality, which no writer checks.
        let over: &[_] =
            if name.ends_with("keys_out_of_range.idv") { &["B.key.range"] } else { &[] };
        assert_eq!(survey.broken(), over, "{name}: {:?}", survey.findings);
        check_version(&name, &survey, &json["header"]["version"]);
        assert_eq!(header(&survey).rows(), number(&json["header"]["row_count"]), "{name}");
        check_facts(&name, &bytes, &survey, &json["columns"]);
        rows::check(&name, &bytes, &survey, &json);
        let old = &json["as_read_by_mlnet_0_1"]["rows"];
        if !old.is_null() {
            rows::check_old(&name, &bytes, &survey, old);
        }
    }
}

/// These files were legal when written; what later versions reject is a remark.
#[test]
fn idv_historic_files_are_read() {
    for path in corpus::files("idv/historic", "idv") {
        let name = path.display().to_string();
        let (bytes, survey) = read(&path);
        let json = corpus::json(&path.with_extension("json"));
        assert!(survey.worst() <= Severity::Lint, "{name}: {:?}", survey.findings);
        check_version(&name, &survey, &json["version"]);
        check_facts(&name, &bytes, &survey, &json["columns_by_reference_reader"]);
        for (fact, expected) in
            survey.tensors.iter().zip(json["columns_by_reference_reader"].as_array().unwrap())
        {
            let Some(old) = expected.get("old_key") else { continue };
            let codec = header(&survey).codec(&Source::whole(&bytes), &fact.tensor).unwrap();
            let Item::Key(key) = codec.item else { panic!("{name}: {codec:?}") };
            assert_eq!(key.min, number(&old["min"]), "{name}");
            assert_eq!(key.count.unwrap_or(0), number(&old["count"]), "{name}");
            assert_eq!(key.contiguous, old["contiguous"].as_bool().unwrap(), "{name}");
        }
    }
}

#[test]
fn idv_twins_are_valid() {
    for path in corpus::files("idv/twins", "idv") {
        let (_, survey) = read(&path);
        assert_eq!(survey.broken(), [""; 0], "{}: {:?}", path.display(), survey.findings);
    }
}

#[test]
fn idv_synthetic_files_are_read() {
    let Some(folder) = corpus::folder() else { return };
    for entry in corpus::json(&folder.join("idv/synthetic/index.json")).as_array().unwrap() {
        let name = entry["file"].as_str().unwrap();
        let (bytes, survey) = read(&folder.join("idv/synthetic").join(name));
        if entry["expect"] == "zlib-bad" {
            let expected = ["B.deflate", "T.comp.zlib"];
            assert_eq!(survey.broken(), expected, "{name}: {:?}", survey.findings);
            continue;
        }
        assert!(survey.worst() <= Severity::Lint, "{name}: {:?}", survey.findings);
        let facts = &entry["facts_by_reference_reader"];
        if facts.is_null() {
            continue;
        }
        check_version(name, &survey, &facts["version"]);
        assert_eq!(header(&survey).rows(), number(&facts["row_count"]), "{name}");
        check_facts(name, &bytes, &survey, &facts["columns"]);
        rows::check(name, &bytes, &survey, facts);
    }
}

/// Rules that the documents do not mention and that are remarks here, mapped to their names here.
fn remark(file: &str, rule: &str) -> Option<&'static str> {
    Some(match (file, rule) {
        ("key_not_contiguous.idv", _) => "T.codec.key.gaps",
        // The loader accepts overlong numbers.
        ("text_len_overlong.idv", _) => "B.text.leb",
        ("text_overlong_utf8.idv", _) => return None,
        (file, _) if file.ends_with("_overlong.idv") => "G.leb",
        (_, "T.codec.key.min") => "T.codec.key.min",
        (_, "H.compat.min") => "H.compat.min",
        (_, "H.trailing") => "H.trailing",
        (_, "R.gap") => "R.gap",
        _ => return None,
    })
}

#[test]
fn idv_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    for entry in corpus::json(&folder.join("idv/invalid/index.json")).as_array().unwrap() {
        let file = entry["file"].as_str().unwrap();
        let rule = entry["rule"].as_str().unwrap();
        let (_, survey) = read(&folder.join("idv/invalid").join(file));
        let broken = survey.broken();
        if let Some(rule) = remark(file, rule) {
            assert!(broken.contains(&rule), "{file}: {broken:?}, not {rule}");
            continue;
        }
        assert!(broken.contains(&rule), "{file}: {broken:?}, not {rule}");
        assert!(!survey.is_valid(), "{file}");
    }
}
