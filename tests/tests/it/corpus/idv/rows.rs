//! The rows of columns and the values of annotations, compared with the facts.

use serde_json::{Value, json};
use weighbridge_core::codec::{Decoder, Size};
use weighbridge_core::format::idv::block::{Row, Scalar, Text};
use weighbridge_core::format::idv::{Codec, Header, Item};
use weighbridge_core::{Chunk, DType, Element, Metadata, Source, Status};
use weighbridge_tests::survey::Survey;

/// The reader that produced the facts: newer readers have no missing values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Old,
    New,
}

fn decode(source: &Source<'_>, chunk: &Chunk) -> Vec<u8> {
    let size = chunk.decoded.map_or(Size::AtMost(1 << 20), Size::Exactly);
    let mut buffer = vec![0; chunk.decoded.unwrap_or(1 << 20) as usize];
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, size);
    decoder.fill(source, &mut buffer).unwrap();
    buffer.truncate(decoder.written() as usize);
    buffer
}

fn text(text: &Text<'_>) -> Value {
    match text.as_str() {
        Some(text) => text.into(),
        None => json!({"utf16": text.utf16().collect::<Vec<_>>()}),
    }
}

fn number(element: Element) -> Value {
    match element {
        Element::Int(value) => value.into(),
        Element::Uint(value) => value.into(),
        Element::F32(value) => format!("{:#010x}", value.to_bits()).into(),
        Element::F64(value) => format!("{:#018x}", value.to_bits()).into(),
        other => panic!("{other:?}"),
    }
}

/// The value that newer readers return for a missing value.
fn instead(codec: &Codec) -> Value {
    match codec.item {
        Item::Number(DType::I8) => i8::MIN.into(),
        Item::Number(DType::I16) => i16::MIN.into(),
        Item::Number(DType::I32) => i32::MIN.into(),
        Item::Number(_) => i64::MIN.into(),
        Item::Text => "".into(),
        Item::TwoBits => false.into(),
        Item::TimeSpan if codec.vector.is_some() => i64::MIN.into(),
        Item::DateTimeOffset => json!([0, 0]),
        _ => 0.into(),
    }
}

fn scalar(scalar: &Scalar<'_>, codec: &Codec, reader: Reader) -> Value {
    match scalar {
        Scalar::Missing if matches!(codec.item, Item::Key(_)) => 0.into(),
        Scalar::Missing if reader == Reader::New => instead(codec),
        Scalar::Missing => Value::Null,
        Scalar::Number(element) => number(*element),
        Scalar::Text(it) => text(it),
        Scalar::Bool(value) => (*value).into(),
        Scalar::Key(rank) => (*rank).into(),
        Scalar::TimeSpan(ticks) | Scalar::DateTime(ticks) => (*ticks).into(),
        Scalar::DateTimeOffset { ticks, minutes } => json!([ticks, minutes]),
        Scalar::RowId { low, high } => json!([low, high]),
        other => panic!("{other:?}"),
    }
}

fn row(row: &Row<'_>, codec: &Codec, reader: Reader) -> Value {
    let vector = match row {
        Row::Scalar(it) => return scalar(it, codec, reader),
        Row::Vector(vector) => vector,
    };
    let values: Vec<_> = vector.values().map(|it| scalar(&it, codec, reader)).collect();
    match vector.indices() {
        None => values.into(),
        Some(indices) => {
            let indices: Vec<_> = indices.collect();
            json!({"len": vector.len(), "idx": indices, "val": values})
        }
    }
}

/// Compares all rows listed in the facts, which may be only the first few.
fn check_against(
    name: &str,
    bytes: &[u8],
    survey: &Survey,
    rows: &Value,
    reader: Reader,
    has_cells: &dyn Fn(usize) -> bool,
) {
    let source = Source::whole(bytes);
    let header = super::header(survey);
    let Some(expected) = rows.as_array() else {
        assert!(survey.tensors.is_empty(), "{name}: no rows");
        return;
    };
    // Columns that the reference reader could not read have no cells.
    let listed = survey.tensors.iter().enumerate().filter(|(column, _)| has_cells(*column));
    for (column, (_, fact)) in listed.enumerate() {
        if let Some(row) = expected.first() {
            assert!(row.get(column).is_some(), "{name}: no cell {column} in {row}");
        }
        if fact.tensor.status != Status::Sound {
            continue;
        }
        let codec = header.codec(&source, &fact.tensor).unwrap();
        let mut rows = expected.iter().enumerate();
        for chunk in &fact.chunks {
            if rows.len() == 0 {
                break;
            }
            let decoded = decode(&source, chunk);
            let block = header.block(&codec, chunk.elements, &decoded).unwrap();
            for (found, (i, expected)) in block.rows().zip(rows.by_ref().take(block.len() as usize))
            {
                let found = row(&found, &codec, reader);
                assert_eq!(found, expected[column], "{name}: column {column}, row {i}");
            }
        }
        assert_eq!(rows.len(), 0, "{name}: column {column} has too few rows");
    }
}

pub(super) fn check(name: &str, bytes: &[u8], survey: &Survey, json: &Value) {
    let has_cells = |column: usize| json["columns"][column]["alive"] == true;
    check_against(name, bytes, survey, &json["rows"], Reader::New, &has_cells);
}

pub(super) fn check_old(name: &str, bytes: &[u8], survey: &Survey, rows: &Value) {
    check_against(name, bytes, survey, rows, Reader::Old, &|_| true);
}

pub(super) fn check_annotation(
    name: &str,
    bytes: &[u8],
    header: &Header,
    meta: &Metadata,
    expected: &Value,
) {
    let source = Source::whole(bytes);
    let (codec, chunk) = header.annotation_payload(&source, meta).unwrap().unwrap();
    let decoded = decode(&source, &chunk);
    let block = header.block(&codec, 1, &decoded).unwrap();
    let found = row(&block.rows().next().unwrap(), &codec, Reader::New);
    assert_eq!(&found, expected, "{name}: annotation {}", meta.index);
}
