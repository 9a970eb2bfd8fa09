//! The fast path of the audit skips nothing that has a finding.

use weighbridge_core::{
    Audit, Cursor, EntryKind, Finding, Format, Opening, Severity, Slot, Source, Status, Stop,
};
use weighbridge_tests::encode::bintensors::{File, arbitrary};
use weighbridge_tests::encode::{gguf, safetensors, ztensor};
use weighbridge_tests::fixtures;

/// Rules about the whole list, which a single entry cannot break.
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

/// The findings about tensors from the structural audit, which sweeps.
fn audited(format: Format, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = Source::whole(bytes);
    let file = Opening::of(Some(format)).step(&source, &mut |_| {});
    let Ok(file) = file else { return findings };
    let mut audit = Audit::new(file).structure_only();
    // One region per tensor, and some for header, index and length.
    let mut slots = vec![Slot::EMPTY; file.tensor_count().min(1000) as usize + 64];
    match audit.step(&source, &mut slots, &mut |finding| findings.push(finding)) {
        Err(stop @ (Stop::NeedBytes(_) | Stop::NeedSlots { .. })) => panic!("{stop}"),
        _ => of_entries(format, findings),
    }
}

/// The findings of the format's own rules about single tensors.
fn of_entries(format: Format, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.retain(|f| f.kind == EntryKind::Tensor && f.rule.format() == Some(format));
    findings.retain(|f| !OF_THE_LIST.contains(&f.rule.id()));
    findings.sort_by_key(|f| (f.offset, f.rule, f.entry));
    findings
}

fn check(format: Format, name: &str, bytes: &[u8]) {
    assert_eq!(audited(format, bytes), one_by_one(format, bytes), "{name}");
}

#[test]
fn sweep_equals_careful_path_on_fixtures() {
    for fixture in fixtures::bintensors::all() {
        check(Format::BinTensors, fixture.name, &fixture.bytes);
    }
    for fixture in fixtures::safetensors::all() {
        check(Format::Safetensors, fixture.name, &fixture.bytes);
    }
    // Later generations have no fast path, and rules of more than one entry.
    let first = |bytes: &[u8]| bytes.starts_with(&ztensor::MAGIC);
    for fixture in fixtures::ztensor::all().into_iter().filter(|it| first(&it.bytes)) {
        check(Format::ZTensor, fixture.name, &fixture.bytes);
    }
    for fixture in fixtures::gguf::all() {
        check(Format::Gguf, fixture.name, &fixture.bytes);
        check_cover(fixture.name, &fixture.bytes);
    }
}

/// For a GGUF file with only sound entries, sorts the parts to check that they are in order with
/// only zeros between them. The audit must agree, although it may not have examined the parts after
/// listing the tensors.
fn check_cover(name: &str, bytes: &[u8]) {
    let source = Source::whole(bytes);
    let file = Opening::of(Some(Format::Gguf)).step(&source, &mut |_| {});
    let Ok(file @ weighbridge_core::File::Gguf(header)) = file else { return };
    let mut slots = vec![Slot::EMPTY; file.tensor_count().min(1000) as usize + 64];
    let mut findings = Vec::new();
    let mut audit = Audit::new(file).structure_only();
    if audit.step(&source, &mut slots, &mut |f| findings.push(f)).is_err() {
        return;
    }
    let mut cursor = Cursor::default();
    let mut tensors = 0;
    while let Ok(Some(tensor)) = file.next_tensor(&source, &mut cursor, &mut |_| {}) {
        tensors += 1;
        if tensor.status == Status::Broken {
            return;
        }
    }
    let ends = |f: &Finding| f.severity() == Severity::Fatal || f.rule.id() == "ARRAY-DEPTH";
    if tensors < file.tensor_count() || findings.iter().any(ends) {
        return;
    }
    let (mut parts, mut cursor) = (Vec::new(), Cursor::default());
    while let Ok(Some(region)) = file.next_region(&source, &mut cursor) {
        parts.push(region.span);
    }
    parts.sort();
    let (mut end, mut faults) = (0, 0);
    let alignment = u64::from(header.alignment().max(1));
    let mut between = |end: u64, at: u64| {
        let padded = end.next_multiple_of(alignment).min(at.max(end));
        let dirty = bytes[end as usize..padded as usize].iter().any(|byte| *byte > 0);
        faults += usize::from(dirty) + usize::from(padded < at);
    };
    let mut overlaps = 0;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if part.offset < end {
            overlaps += 1;
        } else {
            between(end, part.offset);
        }
        end = end.max(part.offset + part.len);
    }
    between(end, source.len());
    let count = |rules: &[&str]| findings.iter().filter(|f| rules.contains(&f.rule.id())).count();
    assert_eq!(count(&["OVERLAP", "ALIAS"]), overlaps, "{name}");
    assert_eq!(count(&["GAP", "TRAILING", "PADDING"]), faults, "{name}");
}

/// The findings of the structural audit when its slots take each size in `rooms` in turn, then the
/// size it asks for.
fn audited_in(bytes: &[u8], rooms: &[usize]) -> Vec<Finding> {
    let source = Source::whole(bytes);
    let file = Opening::of(Some(Format::Safetensors)).step(&source, &mut |_| {}).unwrap();
    let (mut audit, mut findings) = (Audit::new(file).structure_only(), Vec::new());
    let mut slots = Vec::new();
    let mut rooms = rooms.iter();
    loop {
        if let Some(room) = rooms.next() {
            slots.resize(*room, Slot::EMPTY);
        }
        match audit.step(&source, &mut slots, &mut |finding| findings.push(finding)) {
            Ok(()) => break,
            Err(Stop::NeedSlots { needed }) => slots.resize(needed as usize, Slot::EMPTY),
            Err(stop) => panic!("{stop}"),
        }
    }
    findings.sort_by_key(|f| (f.offset, f.rule, f.entry));
    findings
}

/// Equal names are found by a hash table, which takes one slot per name, or by sorting that has
/// already begun, whatever lies between the members that a sweep skips.
#[test]
fn equal_names_among_members_of_all_forms() {
    let count = 14;
    let among = [None, Some(0), Some(1), Some(6), Some(count - 1)];
    for (first, second) in (0..count).flat_map(|second| (0..=second).map(move |i| (i, second))) {
        for (metadata, spaced) in among.iter().flat_map(|m| among.map(move |s| (*m, s))) {
            let mut members = Vec::new();
            for i in 0..count {
                // Unsorted, and of several lengths.
                let mut name = if i == second { first } else { i } * 5 % count;
                name += if name > 9 { 1000 } else { 0 };
                if metadata == Some(i) {
                    members.push(r#""__metadata__":{"}":"\"]}"}"#.to_string());
                }
                let (space, at) = (if spaced == Some(i) { " " } else { "" }, 4 * i);
                let fields = format!(r#""shape":[],"data_offsets":[{at},{}]"#, at + 4);
                members.push(format!(r#""t{name}":{space}{{"dtype":"F32",{fields}}}"#));
            }
            let header = format!("{{{}}}", members.join(","));
            let bytes = safetensors::raw(header.as_bytes(), &vec![0; 4 * count]);
            let findings = audited_in(&bytes, &[1000]);
            let equal = findings.iter().filter(|f| f.rule.id() == "NAME-DUPLICATE").count();
            assert_eq!(equal, usize::from(first != second), "{header}");
            for rooms in [&[][..], &[1], &[0, count], &[5, 3000], &[count]] {
                assert_eq!(audited_in(&bytes, rooms), findings, "{header}");
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn damaged_one_by_one(
        files in proptest::collection::vec(arbitrary(), 3),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
    ) {
        // Long enough for a sweep to be running when it reaches the damage.
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
    fn damaged_entries_and_data(
        file in gguf::arbitrary(),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
        cut in 0_usize..40,
        more: bool,
    ) {
        let sound = file.encode();
        let tables = sound.tensors.first().copied().unwrap_or(24);
        let len = sound.bytes.len();
        check_cover("sound", &sound.bytes);
        let mut bytes = sound.bytes.clone();
        if tables < len {
            bytes[tables + at.index(len - tables)] = value;
        }
        check(Format::Gguf, "damaged", &bytes);
        check_cover("damaged", &bytes);
        // With a different length.
        let mut bytes = sound.bytes;
        bytes.resize(if more { len + cut } else { len - cut.min(len - tables) }, 0);
        check(Format::Gguf, "cut", &bytes);
        check_cover("cut", &bytes);
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
