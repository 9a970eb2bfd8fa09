//! Missing slots, in builds with these audits: both report the same findings for an STB file, and
//! request slots when they need them.

use super::{MappedAudit, NumberedAudit};
use crate::audit::Stage;
use crate::file::{File, Slot};
use crate::input::Source;
use crate::parse::Stop;
use crate::rule::{Finding, Severity, general};
use std::vec;
use std::vec::Vec;

/// Either audit. The second looks up ids, and compares data only with data.
enum Audit {
    Mapped(MappedAudit),
    Numbered(NumberedAudit),
}

impl Audit {
    fn new(file: File, numbered: bool) -> Self {
        match numbered {
            true => Audit::Numbered(NumberedAudit::new(file).unwrap()),
            false => Audit::Mapped(MappedAudit::new(file)),
        }
    }

    fn step(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        match self {
            Audit::Mapped(audit) => audit.step(source, slots, sink),
            Audit::Numbered(audit) => audit.step(source, slots, sink),
        }
    }

    fn skip(&mut self, sink: &mut dyn FnMut(Finding)) {
        match self {
            Audit::Mapped(audit) => audit.skip(sink),
            Audit::Numbered(audit) => audit.skip(sink),
        }
    }

    fn stage(&self) -> (Stage, u32) {
        match self {
            Audit::Mapped(audit) => (audit.stage(), audit.position()),
            Audit::Numbered(audit) => (audit.stage(), audit.position()),
        }
    }
}

/// An STB file of tensors with these ids, 64 bytes each, whose data lies at these multiples of 64
/// after the table.
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

/// The findings of an audit that gets more slots whenever it requests them, as rule, offset and
/// entry, and the number of slots at the end.
fn audited_by(bytes: &[u8], numbered: bool) -> (Vec<(&'static str, u64, u32)>, usize) {
    let source = Source::whole(bytes);
    let mut findings = Vec::new();
    let mut sink = |finding| findings.push(finding);
    let file = File::open(&source, &mut sink).unwrap();
    let mut audit = Audit::new(file, numbered);
    let mut slots = Vec::new();
    while let Err(stop) = audit.step(&source, &mut slots, &mut sink) {
        let Stop::NeedSlots { needed } = stop else { panic!("{stop}") };
        assert!(needed as usize > slots.len(), "it asks for what it has");
        slots.resize(needed as usize, Slot::EMPTY);
    }
    (findings.iter().map(|f| (f.rule.id(), f.offset, f.entry)).collect(), slots.len())
}

#[test]
fn ascending_entries_take_no_slots() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        assert_eq!(audited(&file(&[(1, 0), (5, 1), (9, 2)])), (Vec::new(), 0));
    }
}

#[test]
fn duplicate_name_is_reported_once() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        let (found, slots) = audited(&file(&[(9, 0), (5, 1), (9, 2), (9, 3)]));
        assert_eq!(found, [("T-ID-DUP", 96, 2), ("T-ID-DUP", 128, 3)]);
        assert_eq!(slots, if numbered { 0 } else { 4 });
    }
}

#[cfg(feature = "details")]
#[test]
fn duplicate_name_finding_has_first_entry() {
    for numbered in [false, true] {
        let bytes = file(&[(9, 0), (5, 1), (9, 2), (9, 3)]);
        let source = Source::whole(&bytes);
        let mut reported = Vec::new();
        let mut sink = |f: Finding| reported.push((f.expected, f.found, f.len, f.kind));
        let mut audit = Audit::new(File::open(&source, &mut sink).unwrap(), numbered);
        audit.step(&source, &mut [Slot::EMPTY; 8], &mut sink).unwrap();
        let kind = crate::rule::EntryKind::Tensor;
        assert_eq!(reported, [(0, 2, 1, kind), (2, 3, 1, kind)]);
    }
}

#[test]
fn parts_out_of_order_are_compared_with_slots() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        // Header, table, and three payloads, two of which are the same range.
        let (found, slots) = audited(&file(&[(1, 2), (2, 0), (3, 0)]));
        assert_eq!(found, [("T-ALIAS", 128, 2), ("D-GAP", 192, 0)]);
        assert_eq!(slots, if numbered { 3 } else { 5 });
    }
}

#[test]
fn entry_is_validated_once_despite_missing_slots() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        // The second entry has a reserved type and the last the id of the first.
        let mut bytes = file(&[(1, 2), (2, 0), (1, 1)]);
        bytes[32 + 32 + 1] = 9;
        let (found, _) = audited(&bytes);
        assert_eq!(found, [("T-DTYPE", 65, 1), ("T-ID-DUP", 96, 2)]);
    }
}

#[test]
fn bytes_of_no_tensor_are_found_in_any_order() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        for tensors in [&[(1, 0), (2, 2)][..], &[(2, 2), (1, 0)]] {
            let mut bytes = file(tensors);
            // Two tensors: the table ends where data begins, at 96 of 128.
            let gap = 128 + 64;
            assert_eq!(audited(&bytes).0, [("D-GAP", gap, 0)]);
            bytes[100] = 7;
            let found = audited(&bytes).0;
            assert_eq!(found, [("D-PAD", 100, 0), ("D-GAP", gap, 0)]);
            // The location of a broken tensor's bytes is unknown.
            bytes[32 + 2] = 9;
            let found = audited(&bytes).0;
            assert_eq!(found, [("T-RANK", 34, 0)]);
        }
    }
}

#[test]
fn empty_tensor_takes_no_bytes() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        // The empty tensor lies inside the previous tensor's data.
        let mut bytes = file(&[(1, 0), (2, 0), (3, 1)]);
        let second = 32 + 32;
        bytes[second + 12] = 0;
        bytes[second + 20] = 0;
        assert_eq!(audited(&bytes), (Vec::new(), 0));
    }
}

#[test]
fn truncated_table_is_reported_once() {
    for numbered in [false, true] {
        let audited = |bytes: &[u8]| audited_by(bytes, numbered);
        let mut bytes = file(&[(1, 0), (2, 1), (3, 2)]);
        bytes.truncate(32 + 32 + 31);
        assert_eq!(audited(&bytes), (vec![("H-FSIZE", 24, 0)], 0));
    }
}

#[test]
fn skipped_stage_is_reported_unchecked() {
    for numbered in [false, true] {
        let bytes = file(&[(9, 1), (5, 0)]);
        let source = Source::whole(&bytes);
        let mut findings = Vec::new();
        let mut sink = |finding: Finding| findings.push((finding.rule, finding.severity()));
        let mut audit = Audit::new(File::open(&source, &mut sink).unwrap(), numbered);
        let stages = [Stage::TensorNames, Stage::Coverage];
        let rules = [general::NAMES_UNCHECKED, general::COVERAGE_UNCHECKED];
        // Ids take no slots.
        let missing = usize::from(numbered)..;
        for stage in &stages[missing.clone()] {
            assert!(matches!(audit.step(&source, &mut [], &mut sink), Err(Stop::NeedSlots { .. })));
            assert_eq!(audit.stage(), (*stage, 0));
            audit.skip(&mut sink);
        }
        assert_eq!(audit.step(&source, &mut [], &mut sink), Ok(()));
        assert_eq!(audit.stage().0, Stage::Done);
        let unchecked: Vec<_> =
            rules[missing].iter().map(|rule| (*rule, Severity::Unchecked)).collect();
        assert_eq!(findings, unchecked);
    }
}
