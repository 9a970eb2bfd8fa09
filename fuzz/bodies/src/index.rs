//! Insufficient slots, and lookup by name.

use crate::walk::{Tally, grow};
use crate::{Tail, format_of};
use weighbridge_core::{
    Audit, Cursor, Entry, File, Finding, Format, Index, Slot, Source, Stop, general,
};

/// An audit and an index with few slots: they request more or give up, and
/// never report anything that they would not report with enough.
pub fn index(input: &[u8]) {
    let mut tail = Tail::new(input);
    let (format, few) = (format_of(tail.byte()), usize::from(tail.byte() % 8));
    let source = Source::whole(tail.rest);
    let mut tally = Tally::new(tail.rest.len());
    let Ok(file) = File::open_as(format, &source, &mut |f| tally.note(&f)) else { return };
    let full = audit(file, &source, few, true);
    let partial = audit(file, &source, few, false);
    let unchecked = [general::NAMES_UNCHECKED, general::COVERAGE_UNCHECKED];
    for finding in partial.iter().filter(|f| !unchecked.contains(&f.rule)) {
        assert!(full.contains(finding), "only with {few} slots: {finding:?}");
    }
    if !partial.iter().any(|f| unchecked.contains(&f.rule)) {
        assert_eq!(partial, full, "with {few} slots");
    }
    lookup(&file, &source, few);
}

/// The findings of a structure audit, sorted. If slots are missing, they are
/// added, or the stage is skipped.
fn audit(file: File, source: &Source<'_>, few: usize, give: bool) -> Vec<Finding> {
    let mut tally = Tally::new(source.len() as usize);
    let mut findings = Vec::new();
    let mut slots = vec![Slot::EMPTY; few];
    let mut audit = Audit::new(file).structure_only();
    loop {
        let mut sink = |finding: Finding| {
            tally.note(&finding);
            findings.push(finding);
        };
        match audit.step(source, &mut slots, &mut sink) {
            Ok(()) | Err(Stop::Invalid(_)) => break,
            Err(Stop::NeedSlots { needed }) if give => grow(&mut slots, needed, source),
            Err(Stop::NeedSlots { needed }) => {
                assert!(needed as usize > few);
                audit.skip(&mut sink);
            }
            Err(stop) => panic!("{stop:?}"),
        }
    }
    findings.sort_by_key(|f| (f.offset, f.rule, f.kind, f.entry, f.part, f.len, f.found));
    findings
}

/// Every tensor is found by its name, by index and by search.
fn lookup(file: &File, source: &Source<'_>, few: usize) {
    let mut slots = vec![Slot::EMPTY; few];
    let mut index = Index::new(&mut slots[..], 1);
    let built = index.step(file, source);
    let index = match built {
        Ok(()) => index,
        Err(Stop::NeedSlots { needed }) => {
            assert!(needed as usize > few);
            grow(&mut slots, needed, source);
            let mut index = Index::new(&mut slots[..], 1);
            match index.step(file, source) {
                Ok(()) => index,
                // A file may contain more than it declares.
                Err(_) => return,
            }
        }
        Err(_) => return,
    };
    let mut cursor = Cursor::default();
    let mut seen = 0;
    while let Ok(Some(Entry { name, .. })) = file.next_tensor(source, &mut cursor, &mut |_| {}) {
        seen += 1;
        // A constant of ONNX has a name only beside its graph, and is not looked up by it; a tensor
        // of TensorFlow Lite or ExecuTorch needs none.
        let unnamed = matches!(file.format(), Format::ExecuTorch | Format::Onnx | Format::Tflite);
        let nameless = unnamed && name.is_empty();
        if seen > 64 || nameless {
            continue;
        }
        let found = index.find(file, source, &name).expect("all is resident");
        let found = found.unwrap_or_else(|| panic!("{name} is not in the index"));
        assert!(found.name(source).expect("all is resident") == name);
        let first = file.find(source, &name, &mut Cursor::default()).expect("all is resident");
        assert_eq!(Some(found), first, "{name}");
    }
    assert_eq!(index.len(), seen);
}
