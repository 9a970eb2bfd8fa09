//! Streams with two faults: a violation hides no fatal fault of the same stream.

use std::collections::BTreeSet;
use weighbridge_core::Severity;
use weighbridge_tests::encode::idv::{self, Block, Cell, Codec, Column, Compression, Content};
use weighbridge_tests::encode::npy::Npy;
use weighbridge_tests::encode::npz::{Member, Npz, Said, crc};
use weighbridge_tests::survey::survey_whole;

/// The rules that a file breaks: the fatal ones, and the violations.
fn broken(bytes: &[u8]) -> [BTreeSet<&'static str>; 2] {
    let survey = survey_whole(bytes, None);
    [Severity::Fatal, Severity::Violation].map(|severity| {
        let rules = survey.findings.iter().map(|finding| finding.rule);
        rules.filter(|rule| rule.severity() == severity).map(|rule| rule.id()).collect()
    })
}

/// A stream of stored blocks without a last one, so that it has no end.
fn endless(bytes: &[u8]) -> Vec<u8> {
    let len = u16::try_from(bytes.len()).unwrap();
    [&[0][..], &len.to_le_bytes(), &(!len).to_le_bytes(), bytes].concat()
}

/// A member whose stream decodes to `decoded`, followed by `rest`. The directory describes
/// `content`.
fn member(content: &[u8], decoded: &[u8], rest: &[u8], wrong_sum: bool) -> Vec<u8> {
    let stream = miniz_oxide::deflate::compress_to_vec(decoded, 6);
    let mut member = Member::of("a.npy", content.to_vec()).deflated();
    member.data = Some([&stream[..], rest].concat());
    if wrong_sum {
        member.said = Said { crc: Some(crc(content) ^ 1), ..Said::default() };
    }
    Npz::new(vec![member]).encode()
}

#[test]
fn npz_bytes_after_stream_hide_no_fatal_fault() {
    let content = Npy::new("'<f4'", 4, &[5, 7]).encode();
    let longer = [&content[..], &[7; 9]].concat();
    let object = Npy::new("'|O'", 8, &[2]).encode();
    let other = Npy { magic: *b"NUMPY!", ..Npy::new("'<f4'", 4, &[2]) }.encode();
    let mut faults = vec![("sum", content.clone(), content.clone(), true)];
    // From no data at all to all but the last byte.
    for len in [0, 1, 9, 10, 60, 127, 128, 129, 200, content.len() - 1] {
        faults.push(("short", content.clone(), content[..len].to_vec(), false));
    }
    faults.push(("long", content.clone(), longer, false));
    faults.push(("object", object.clone(), object, false));
    faults.push(("magic", other.clone(), other, false));
    for (fault, content, decoded, wrong_sum) in faults {
        let [alone, _] = broken(&member(&content, &decoded, &[], wrong_sum));
        assert!(!alone.is_empty(), "{fault}, {} bytes", decoded.len());
        for rest in [&[0][..], &[0; 2], &[0xFF; 40], &[3, 0]] {
            let [both, _] = broken(&member(&content, &decoded, rest, wrong_sum));
            assert_eq!(both, alone, "{fault}, {} bytes, {rest:?}", decoded.len());
        }
    }
}

/// A payload with a fault, and how many bytes it should have.
struct Faulty {
    codec: Codec,
    rows: i64,
    bytes: Vec<u8>,
    recorded: i32,
}

/// Blocks that break each kind of rule on content, and blocks that are too short.
fn blocks() -> Vec<Faulty> {
    let text = idv::payload(&Codec::Text, &["ab", "", "cd"].map(Cell::text));
    let number = Codec::Number(idv::Number::Int32);
    let key = Codec::key(idv::Number::Byte, 5);
    let faulty = |codec: &Codec, rows, bytes: Vec<u8>| Faulty {
        codec: codec.clone(),
        rows,
        recorded: bytes.len() as i32,
        bytes,
    };
    let changed = |at: usize, to: u8| {
        let mut bytes = text.clone();
        bytes[at] = to;
        faulty(&Codec::Text, 3, bytes)
    };
    let mut all = vec![
        // The count, a boundary, the total and the text.
        changed(0, 4),
        changed(4, 9),
        changed(12, 9),
        changed(20, 0xFF),
        faulty(&key, 3, vec![1, 6, 2]),
        faulty(&Codec::Boolean, 3, vec![0]),
    ];
    for len in [0, 1, 4, 11] {
        all.push(Faulty { recorded: 12, ..faulty(&number, 3, vec![0; len]) });
    }
    for len in [0, 3, text.len() - 1] {
        let recorded = text.len() as i32;
        all.push(Faulty { recorded, ..faulty(&Codec::Text, 3, text[..len].to_vec()) });
    }
    all
}

/// A column with one block.
fn column(faulty: &Faulty, stored: Vec<u8>) -> Vec<u8> {
    let mut column = Column::new("c", faulty.codec.clone(), vec![]);
    column.compression = Compression::Deflate;
    column.rows_per_block = 3;
    column.content = Content::Blocks(vec![Block { decoded: faulty.recorded, stored }]);
    idv::encode(&idv::File::new(faulty.rows, vec![column])).bytes
}

/// An annotation with the same payload, whose decoded length is recorded nowhere.
fn annotation(faulty: &Faulty, stored: Vec<u8>) -> Vec<u8> {
    let mut annotation = idv::Annotation::new("Kind", faulty.codec.clone(), Cell::Bits(0));
    annotation.compression = Compression::Deflate;
    annotation.content = Content::Blocks(vec![Block { decoded: 0, stored }]);
    let cells = vec![Cell::Bits(1); 3];
    let mut column = Column::new("c", Codec::Number(idv::Number::Int32), cells);
    column.rows_per_block = 3;
    idv::encode(&idv::File::new(3, vec![column.annotated(annotation)])).bytes
}

#[test]
fn idv_faults_of_stream_hide_no_fatal_fault_of_content() {
    let mut compared = 0;
    for faulty in blocks() {
        for file in [column, annotation] {
            let stream = Compression::Deflate.apply(&faulty.bytes);
            let [alone, _] = broken(&file(&faulty, stream.clone()));
            let what = format!("{:?}, {} bytes", faulty.codec, faulty.bytes.len());
            if alone.is_empty() {
                // Three keys or texts in the place of one are stray bytes, a violation.
                continue;
            }
            for rest in [&[0][..], &[0xFF; 40]] {
                let [both, violations] = broken(&file(&faulty, [&stream[..], rest].concat()));
                assert_eq!(both, alone, "{what} and more");
                let short = both.contains("B.decomp.len");
                assert_eq!(violations.contains("B.deflate.trail"), !short, "{what} and more");
            }
            let [both, violations] = broken(&file(&faulty, endless(&faulty.bytes)));
            assert_eq!(both, alone, "{what} without end");
            let short = both.contains("B.decomp.len");
            assert_eq!(violations.contains("B.deflate.end"), !short, "{what} without end");
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}
