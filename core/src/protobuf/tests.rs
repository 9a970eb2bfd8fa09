use super::varint::{Varint, varint};
use super::*;
use crate::input::{Source, Window};
use crate::parse::Stop;
use crate::rule::general as g;
use std::vec::Vec;

/// Any seven rules that differ.
const RULES: Rules = Rules {
    varint: g::NAMES_UNCHECKED,
    overlong: g::COVERAGE_UNCHECKED,
    bits: g::DATA_UNCHECKED,
    number: g::PAYLOAD_UNCHECKED,
    wire: g::CHECKSUM_UNCHECKED,
    group: g::COORDINATES_UNCHECKED,
    end: g::SHARED_UNCHECKED,
};

fn read(bytes: &[u8]) -> (Result<Field, Option<Rule>>, Vec<Rule>) {
    let (source, mut found) = (Source::whole(bytes), Vec::new());
    let mut sink = |finding: crate::Finding| found.push(finding.rule);
    let mut r = Reader::whole(&source, &mut sink);
    r.region(0, source.len(), RULES.end);
    let field = Field::read(&mut r, &RULES);
    if let Ok(field) = &field {
        field.report(&mut r, &RULES);
    }
    (field.map_err(|halt| r.refuse(halt).rule()), found)
}

#[test]
fn varint_of_each_length_is_read() {
    for bits in 0..64 {
        let value = u64::MAX >> bits;
        let (mut stored, mut left) = (Vec::new(), value);
        while left >= 0x80 {
            stored.push(left as u8 | 0x80);
            left >>= 7;
        }
        stored.push(left as u8);
        let len = stored.len() as u8;
        let expected = Varint { value, len, overlong: false, bits: false };
        assert_eq!(varint(&stored, RULES.varint).unwrap(), (&[][..], expected));
        stored.pop();
        assert!(matches!(varint(&stored, RULES.varint), Err(nom::Err::Incomplete(_))));
    }
}

#[test]
fn overlong_varint_is_read_and_reported() {
    let (_, found) = varint(&[0x81, 0x80, 0], RULES.varint).unwrap();
    assert_eq!(found, Varint { value: 1, len: 3, overlong: true, bits: false });
    let (_, found) =
        varint(&[0xFF; 9].iter().copied().chain([3]).collect::<Vec<_>>(), RULES.varint)
            .map(|(rest, found)| (rest.len(), found))
            .unwrap();
    assert!(found.bits);
    assert_eq!(varint(&[0xFF; 11], RULES.varint), Err(nom::Err::Failure(RULES.varint)));
}

#[test]
fn field_of_each_wire_type_is_read() {
    for (bytes, wire, value, data) in [
        (&[0x08, 5][..], Wire::Varint, 5, Span::new(1, 1)),
        (&[0x09, 1, 0, 0, 0, 0, 0, 0, 0], Wire::Eight, 1, Span::new(1, 8)),
        (&[0x0A, 2, 7, 8], Wire::Bytes, 2, Span::new(2, 2)),
        (&[0x0D, 1, 0, 0, 0], Wire::Four, 1, Span::new(1, 4)),
    ] {
        let (field, found) = read(bytes);
        let field = field.unwrap();
        assert_eq!((field.number, field.wire, field.value, field.data), (1, wire, value, data));
        assert_eq!((field.end(), found), (bytes.len() as u64, Vec::new()));
    }
}

#[test]
fn broken_field_breaks_its_rule() {
    for (bytes, rule) in [
        (&[0x00, 1][..], RULES.number),
        (&[0x80, 0x80, 0x80, 0x80, 0x10, 1], RULES.number),
        (&[0x0B], RULES.group),
        (&[0x0C], RULES.group),
        (&[0x0E], RULES.wire),
        (&[0x0F], RULES.wire),
        (&[0x0A, 3, 1, 2], RULES.end),
        (&[0x08], RULES.end),
        (&[0x09, 1], RULES.end),
        (&[0xFF; 11], RULES.varint),
    ] {
        assert_eq!(read(bytes), (Err(Some(rule)), [rule].to_vec()), "{bytes:x?}");
    }
    assert_eq!(read(&[0x88, 0, 1]).1, [RULES.overlong]);
}

#[cfg(feature = "windows")]
#[test]
fn content_of_field_is_not_requested() {
    let bytes = [0x0A, 0xE8, 0x07];
    let windows = [Window { offset: 0, bytes: &bytes }];
    let source = Source::windows(1003, &windows);
    let mut sink = |finding| panic!("{finding:?}");
    let mut r = Reader::new(&source, &mut sink);
    r.region(0, 1003, RULES.end);
    assert_eq!(Field::read(&mut r, &RULES).unwrap().data, Span::new(3, 1000));
    let windows = [Window { offset: 0, bytes: &bytes[..2] }];
    let source = Source::windows(1003, &windows);
    let mut r = Reader::new(&source, &mut sink);
    r.region(0, 1003, RULES.end);
    let halt = Field::read(&mut r, &RULES).unwrap_err();
    assert!(matches!(r.stop(halt), Stop::NeedBytes(_)));
}
