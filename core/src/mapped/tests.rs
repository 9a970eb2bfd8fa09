//! Slots that are lacking, in the one build that has this audit.

use super::*;
use crate::rule::Severity;
use std::vec::Vec;

/// An STB file of tensors with these ids, of 64 bytes each, whose data lies at
/// these multiples of 64 behind the table.
fn file(tensors: &[(u8, u64)]) -> Vec<u8> {
    let table = 32 + 32 * tensors.len();
    let data = table.next_multiple_of(64) as u64;
    let end = data + 64 * (tensors.iter().map(|tensor| tensor.1).max().unwrap() + 1);
    let mut bytes = b"STB0\x01\0".to_vec();
    bytes.extend((tensors.len() as u16).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend(data.to_le_bytes());
    bytes.extend(end.to_le_bytes());
    for (id, place) in tensors {
        bytes.extend([*id, 2, 1, 0]);
        bytes.extend((data + 64 * place).to_le_bytes());
        bytes.extend(64_u64.to_le_bytes());
        bytes.extend([64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    bytes.resize(end as usize, 0);
    bytes
}

/// What an audit reports that is given more slots whenever it asks for them, and
/// how many it was given at last.
fn audited(bytes: &[u8]) -> (Vec<Finding>, usize) {
    let source = Source::whole(bytes);
    let mut findings = Vec::new();
    let mut sink = |finding| findings.push(finding);
    let file = File::open(&source, &mut sink).unwrap();
    let mut audit = Audit::new(file);
    let mut slots = Vec::new();
    while let Err(stop) = audit.step(&source, &mut slots, &mut sink) {
        let Stop::Room { needed } = stop else { panic!("{stop}") };
        assert!(needed as usize > slots.len(), "it asks for what it has");
        slots.resize(needed as usize, Slot::EMPTY);
    }
    (findings, slots.len())
}

#[test]
fn what_is_in_order_takes_no_slots() {
    assert_eq!(audited(&file(&[(1, 0), (5, 1), (9, 2)])), (Vec::new(), 0));
}

#[test]
fn equal_names_are_found_with_slots_and_reported_once() {
    let (findings, slots) = audited(&file(&[(9, 0), (5, 1), (9, 2), (9, 3)]));
    let found: Vec<_> = findings.iter().map(|f| (f.rule.id(), f.at, f.entry)).collect();
    assert_eq!(found, [("T-ID-DUP", 96, 2), ("T-ID-DUP", 128, 3)]);
    assert_eq!(slots, 4);
}

#[test]
fn parts_out_of_order_are_compared_with_slots() {
    // Header, table, and three payloads of which two are one range.
    let (findings, slots) = audited(&file(&[(1, 2), (2, 0), (3, 0)]));
    let found: Vec<_> = findings.iter().map(|f| (f.rule.id(), f.at)).collect();
    assert_eq!(found, [("T-ALIAS", 128), ("D-GAP", 192)]);
    assert_eq!(slots, 5);
}

#[test]
fn what_is_given_up_is_reported_as_not_checked() {
    let bytes = file(&[(9, 1), (5, 0)]);
    let source = Source::whole(&bytes);
    let mut findings = Vec::new();
    let mut sink = |finding: Finding| findings.push((finding.rule, finding.severity()));
    let mut audit = Audit::new(File::open(&source, &mut sink).unwrap());
    for stage in [Stage::TensorNames, Stage::Coverage] {
        assert!(matches!(audit.step(&source, &mut [], &mut sink), Err(Stop::Room { .. })));
        assert_eq!(audit.stage(), stage);
        audit.skip(&mut sink);
    }
    assert_eq!(audit.step(&source, &mut [], &mut sink), Ok(()));
    assert_eq!(audit.stage(), Stage::Done);
    let unchecked = [general::NAMES_UNCHECKED, general::COVERAGE_UNCHECKED];
    assert_eq!(findings, unchecked.map(|rule| (rule, Severity::Unchecked)));
}
