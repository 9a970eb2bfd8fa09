//! zTensor: facts about real files, later generations, and the rules that broken files break.

use serde_json::Value;
use weighbridge_core::format::ztensor::{Item, Items};
use weighbridge_core::{Endianness, File, Format, Name, Source, Span, Sparse, Stop};
use weighbridge_tests::codec::decoded;
use weighbridge_tests::corpus;
use weighbridge_tests::survey::{Survey, TensorFact, survey_whole};

fn read(path: &std::path::Path) -> (Vec<u8>, Survey) {
    let bytes = std::fs::read(path).unwrap();
    let survey = survey_whole(&bytes, Some(Format::ZTensor));
    (bytes, survey)
}

/// A CBOR data item in the corpus's notation.
fn to_json(items: &mut Items<'_>) -> Option<Value> {
    let text = |name: Name<'_>| String::from_utf8(name.bytes().collect()).unwrap();
    Some(match items.next()? {
        Item::Uint(n) if n > i64::MAX as u64 => Value::from(n.to_string()),
        Item::Uint(n) => Value::from(n),
        Item::Nint(n) => Value::from(-1 - i64::try_from(n).unwrap()),
        Item::Bytes(bytes) => {
            let hex: String = bytes.bytes().map(|b| format!("{b:02x}")).collect();
            serde_json::json!({ "$bytes": hex })
        }
        Item::Text(name) => Value::from(text(name)),
        Item::Array(Some(n)) => (0..n).map(|_| to_json(items).unwrap()).collect(),
        // Maps are lists of pairs, because keys need not be text.
        Item::Map(Some(n)) => (0..n)
            .map(|_| Value::from(vec![to_json(items).unwrap(), to_json(items).unwrap()]))
            .collect(),
        Item::Simple(20) => Value::from(false),
        Item::Simple(21) => Value::from(true),
        Item::Simple(22) => Value::Null,
        Item::Float(x) => Value::from(x),
        other => panic!("{other:?} in a real file"),
    })
}

fn attribute(bytes: &[u8], fact: &TensorFact, key: &str) -> Option<Value> {
    let attribute = fact.attributes.iter().find(|a| a.key == key.as_bytes())?;
    let Span { offset: at, len } = attribute.meta.stored;
    to_json(&mut Items::new(&bytes[at as usize..][..len as usize]))
}

fn check_tensor(name: &str, bytes: &[u8], survey: &Survey, fact: &TensorFact, expected: &Value) {
    let source = Source::whole(bytes);
    let Some(File::ZTensor(header)) = survey.file else { panic!("{name}: {:?}", survey.file) };
    let text = |field| {
        let text: Result<_, Stop> = header.text(&source, &fact.tensor, field).map_err(Stop::from);
        text.unwrap().map(|text| text.to_string())
    };
    let wanted = |field: &str| expected[field].as_str().map(str::to_owned);
    assert_eq!(fact.name, expected["name"].as_str().unwrap().as_bytes(), "{name}");
    assert_eq!(text("dtype"), wanted("dtype"), "{name}");
    assert_eq!(text("encoding"), wanted("encoding"), "{name}");
    assert_eq!(text("layout"), wanted("layout_string"), "{name}");
    assert_eq!(text("checksum"), wanted("checksum"), "{name}");
    assert_eq!(text("data_endianness"), wanted("data_endianness"), "{name}");
    let shape: Vec<_> =
        expected["shape"].as_array().unwrap().iter().map(|d| d.as_u64().unwrap()).collect();
    assert_eq!(fact.shape, shape, "{name}");
    let chunk = fact.chunks[0];
    assert_eq!(chunk.stored.offset, expected["offset"].as_u64().unwrap(), "{name}");
    assert_eq!(chunk.stored.len, expected["size"].as_u64().unwrap(), "{name}");
    if let (Some(decoded), Some(len)) = (chunk.decoded, expected["decoded_len"].as_u64()) {
        assert_eq!(decoded, len, "{name}");
    }
    for (key, value) in expected["custom_fields"].as_object().into_iter().flatten() {
        assert_eq!(attribute(bytes, fact, key).as_ref(), Some(value), "{name}: {key}");
    }
    let decoded = decoded(bytes, &chunk);
    if let Some(hex) = expected["decoded_hex"].as_str() {
        let mut decoded = decoded.clone();
        if fact.tensor.endianness == Endianness::Big {
            decoded.chunks_mut(fact.tensor.dtype.bits() as usize / 8).for_each(<[u8]>::reverse);
        }
        let found: String = decoded.iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, hex, "{name}");
    }
    if let Some(values) = expected["values"].as_array() {
        for (i, value) in (0..).zip(values) {
            let element = fact.tensor.dtype.element(&decoded, i, fact.tensor.endianness).unwrap();
            if let Some(value) = value.as_f64() {
                assert_eq!(element.to_f64(), value, "{name}: element {i}");
            }
        }
    }
    check_sparse(name, fact, &decoded, &expected["sparse"]);
}

fn check_sparse(name: &str, fact: &TensorFact, decoded: &[u8], expected: &Value) {
    let numbers = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    let sparse = || Sparse::new(&fact.tensor, fact.shape.iter().copied(), decoded).unwrap();
    let check_values = |sparse: &Sparse<'_>, expected: &Value| {
        for (i, value) in expected["values"].as_array().unwrap().iter().enumerate() {
            assert_eq!(sparse.value(i).unwrap().to_f64(), value.as_f64().unwrap(), "{name}");
        }
        assert_eq!(sparse.len(), expected["values"].as_array().unwrap().len(), "{name}");
        assert_eq!(sparse.value(sparse.len()), None, "{name}");
    };
    if let Some(coo) = expected.get("coo") {
        let sparse = sparse();
        check_values(&sparse, coo);
        for (i, indices) in coo["indices"].as_array().unwrap().iter().enumerate() {
            let found = (0..sparse.rank()).map(|axis| sparse.coordinate(i, axis).unwrap());
            assert_eq!(found.collect::<Vec<_>>(), numbers(indices), "{name}");
        }
    }
    if let Some(csr) = expected.get("csr") {
        let sparse = sparse();
        check_values(&sparse, csr);
        let pointers = (0..=sparse.rows()).map(|row| sparse.pointer(row).unwrap());
        assert_eq!(pointers.collect::<Vec<_>>(), numbers(&csr["indptr"]), "{name}");
        let columns = (0..sparse.len()).map(|i| sparse.column(i).unwrap());
        assert_eq!(columns.collect::<Vec<_>>(), numbers(&csr["indices"]), "{name}");
    }
}

#[test]
fn ztensor_valid_files_match_facts() {
    for path in corpus::files("ztensor/valid", "zt") {
        let name = path.display().to_string();
        let json = corpus::json(&path.with_extension("json"));
        let (bytes, survey) = read(&path);
        if json["generation"].as_str() != Some("0.1") {
            // Files of later generations have a test of their own.
            continue;
        }
        assert!(survey.is_valid(), "{name}: {:?}", survey.findings);
        let Some(File::ZTensor(header)) = survey.file else { panic!("{name}") };
        assert_eq!(header.index().offset, json["index_offset"].as_u64().unwrap(), "{name}");
        assert_eq!(header.index().len, json["index_size"].as_u64().unwrap(), "{name}");
        let tensors = json["tensors"].as_array().unwrap();
        assert_eq!(survey.tensors.len(), tensors.len(), "{name}");
        for (fact, expected) in survey.tensors.iter().zip(tensors) {
            check_tensor(&name, &bytes, &survey, fact, expected);
        }
    }
}

/// Values that the specification leaves to future versions: the tensor is not checked, but the file
/// can be read.
const EXTENSIBLE: &[&str] = &[
    "dtype is one of 13 names",
    "layout is dense or sparse",
    "layout spelling",
    "an unknown encoding in one tensor",
    "checksum algorithm is crc32c or sha256",
    "sparse_format is csr or coo (open list)",
];

/// Limits of readers: what exceeds ours is reported as unchecked.
const LIMITED: &[&str] = &["i35_custom_depth_130.zt", "y15_window_3_75_tib.zt"];

/// A window larger than the data, which is decoded in one piece.
const WIDE: &[&str] = &["y16_window_256_mib.zt"];

/// Null instead of the specified text, which the published reader accepts.
const NULL: &[&str] = &["f30_endianness_null.zt", "f32_checksum_null.zt"];

#[test]
fn ztensor_broken_files_are_refused() {
    let Some(folder) = corpus::folder() else { return };
    let index = corpus::json(&folder.join("ztensor/invalid/index.json"));
    for facts in index.as_array().unwrap() {
        let file = facts["file"].as_str().unwrap();
        let (_, survey) = read(&folder.join("ztensor/invalid").join(file));
        let rule = facts["rule"].as_str().unwrap();
        let class = facts["cls"].as_str().unwrap();
        if EXTENSIBLE.contains(&rule) {
            assert!(survey.is_valid(), "{file}: {:?}", survey.findings);
            assert!(!survey.findings.is_empty(), "{file} must not pass as checked");
        } else if NULL.contains(&file) {
            assert!(survey.broken().contains(&"FIELD-NULL"), "{file}: {:?}", survey.findings);
            assert!(!survey.is_valid(), "{file}");
        } else if WIDE.contains(&file) {
            assert!(survey.is_valid(), "{file}: {:?}", survey.findings);
        } else if LIMITED.contains(&file) {
            assert!(!survey.findings.is_empty(), "{file} must not pass as checked");
        } else if matches!(class, "violates-seed" | "violates-cbor" | "attack") {
            assert!(!survey.is_valid(), "{file} ({rule}): {:?}", survey.findings);
        } else if facts["suggestion"] == "accept" {
            assert!(survey.is_valid(), "{file} ({rule}): {:?}", survey.findings);
        } else {
            assert!(!survey.broken().is_empty(), "{file} ({rule}) passes without a word");
        }
    }
}
