//! The fast path of the audit passes over nothing that has a finding.

use weighbridge::{Audit, Cursor, Finding, Format, Kind, Opening, Slot, Source, Stop};
use weighbridge_tests::encode::bintensors::{File, arbitrary};
use weighbridge_tests::encode::{safetensors, ztensor};
use weighbridge_tests::fixtures;

/// Rules of the whole list, which entries on their own cannot break.
const OF_THE_LIST: [&str; 7] =
    ["T6", "C1", "NAME-DUPLICATE", "BLOB-OVERLAP", "BLOB-SHARED", "OVERLAP", "ALIAS"];

fn one_by_one(format: Format, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = Source::whole(bytes);
    let file = Opening::of(Some(format)).step(&source, &mut |_| {});
    let Ok(file) = file else { return findings };
    let mut cursor = Cursor::default();
    let mut sink = |finding| findings.push(finding);
    while let Ok(Some(_)) = file.next_tensor(&source, &mut cursor, &mut sink) {}
    of_entries(format, findings)
}

/// What the structural audit, which sweeps, finds in tensors.
fn audited(format: Format, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = Source::whole(bytes);
    let file = Opening::of(Some(format)).step(&source, &mut |_| {});
    let Ok(file) = file else { return findings };
    let mut audit = Audit::new(file).structure_only();
    // A region for each tensor, and some for header, index and length.
    let mut slots = vec![Slot::EMPTY; file.tensor_count().min(1000) as usize + 8];
    match audit.step(&source, &mut slots, &mut |finding| findings.push(finding)) {
        Err(stop @ (Stop::Absent(_) | Stop::Room { .. })) => panic!("{stop}"),
        _ => of_entries(format, findings),
    }
}

/// The findings of the format's own rules about single tensors.
fn of_entries(format: Format, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|f| f.kind == Kind::Tensor && f.rule.format() == Some(format));
    findings.retain(|f| !OF_THE_LIST.contains(&f.rule.id()));
    findings.sort_by_key(|f| (f.at, f.rule, f.entry));
    findings
}

fn check(format: Format, name: &str, bytes: &[u8]) {
    assert_eq!(audited(format, bytes), one_by_one(format, bytes), "{name}");
}

#[test]
fn fixtures_one_by_one() {
    for fixture in fixtures::bintensors::all() {
        check(Format::BinTensors, fixture.name, &fixture.bytes);
    }
    for fixture in fixtures::safetensors::all() {
        check(Format::Safetensors, fixture.name, &fixture.bytes);
    }
    for fixture in fixtures::ztensor::all() {
        check(Format::ZTensor, fixture.name, &fixture.bytes);
    }
}

proptest::proptest! {
    #[test]
    fn damaged_one_by_one(
        files in proptest::collection::vec(arbitrary(), 3),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
    ) {
        // Long enough for a sweep to be under way when it meets the damage.
        let mut tensors: Vec<_> = files.into_iter().flat_map(|file| file.tensors).collect();
        for (i, tensor) in tensors.iter_mut().enumerate() {
            tensor.name.push_str(&i.to_string());
        }
        let mut bytes = File { metadata: None, tensors }.sorted().encode();
        let header = 8 + usize::from(bytes[0]) + (usize::from(bytes[1]) << 8);
        bytes[at.index(header - 8) + 8] = value;
        check(Format::BinTensors, "damaged", &bytes);
    }

    #[test]
    fn damaged_members_one_by_one(
        file in safetensors::arbitrary(),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
    ) {
        let mut bytes = file.encode();
        let header = usize::from(bytes[0]) + (usize::from(bytes[1]) << 8);
        bytes[at.index(header) + 8] = value;
        check(Format::Safetensors, "damaged", &bytes);
    }

    #[test]
    fn damaged_maps_one_by_one(
        files in proptest::collection::vec(ztensor::random::arbitrary(), 2),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
    ) {
        let mut tensors: Vec<_> = files.into_iter().flat_map(|file| file.tensors).collect();
        for (i, tensor) in tensors.iter_mut().enumerate() {
            tensor.name = format!("{i:03}");
        }
        let file = ztensor::File { tensors };
        let (mut bytes, index) = (file.encode(), file.draft().index_bytes());
        let index_at = bytes.len() - 8 - index.len();
        bytes[index_at + at.index(index.len())] = value;
        check(Format::ZTensor, "damaged", &bytes);
    }
}
