//! What the programs must print: the same as `c/tests/survey.c`, from the core with all features.

use crate::cases::Case;
use std::fmt::Write as _;
use weighbridge_core::{
    Audit, Cursor, Encoding, File, Finding, Name, Opening, Severity, Slot, Source, Stop, Tensor,
};
use weighbridge_tests::facts::{is_left_out, is_uncertain, opens_otherwise};

/// Those of the programs.
const SLOTS: usize = 70_000;
const ROOM: usize = 256;
const LOOKUPS: u64 = 40;
const NAME: usize = 255;
const EXTENTS: usize = 8;

const OK: i32 = 0;
const UNCHECKED: i32 = -1;
const INVALID: i32 = -2;

/// The line for a file.
pub(crate) fn line(case: &Case) -> String {
    let source = source_of(case);
    let (file, findings) = audited(case, &source);
    let Some(file) = file else {
        return format!("open {}{}", verdict(&findings), put_findings(&findings));
    };
    let verdict = verdict(&findings);
    let found = put_findings(&findings);
    format!("open {OK} check {verdict}{found}{}", put_file(&file, &source))
}

fn source_of(case: &Case) -> Source<'_> {
    match case.region {
        true => Source::whole(&case.bytes).as_region(),
        false => Source::whole(&case.bytes),
    }
}

/// The file, if it can be opened, and all findings about it.
fn audited(case: &Case, source: &Source<'_>) -> (Option<File>, Vec<Finding>) {
    let mut findings: Vec<Finding> = Vec::new();
    let opened = Opening::of(Some(case.format)).step(source, &mut |f| findings.push(f));
    let Ok(file) = opened else { return (None, findings) };
    let mut slots = vec![Slot::EMPTY; SLOTS];
    let mut audit = Audit::new(file).structure_only();
    let mut sink = |finding| findings.push(finding);
    while let Err(Stop::NeedSlots { .. }) = audit.step(source, &mut slots, &mut sink) {
        audit.skip(&mut sink);
    }
    (Some(file), findings)
}

fn put_file(file: &File, source: &Source<'_>) -> String {
    let (format, count) = (file.format() as u8, file.tensor_count());
    format!(" format {format} count {count}{}", put_tensors(file, source))
}

/// Compares the line for a file of a format of which the library leaves some rules to hosts. It
/// reports what it does not check, every rule that it does check, and no other.
pub(crate) fn compare_in_part(case: &Case, line: &str) {
    let source = source_of(case);
    let (file, findings) = audited(case, &source);
    let name = &case.name;
    let rules: Vec<&str> =
        line.split(' ').filter_map(|word| Some(word.split_once('@')?.0)).collect();
    assert!(offsets(line).all(|offset| offset <= case.bytes.len() as u64), "{name}: {line}");
    if findings.iter().any(opens_otherwise) {
        let refused = [format!("open {INVALID} "), format!("open {OK} check {INVALID} ")];
        assert!(refused.iter().any(|start| line.starts_with(start)), "{name}: {line}");
        return;
    }
    // It compares no operator with the list of known ones.
    let own = |rule: &&str| rule.ends_with("-UNCHECKED") || *rule == "O-UNKNOWN";
    let known = |rule: &&str| findings.iter().any(|finding| finding.rule.id() == *rule);
    // A host does not look behind each fatal fault.
    let is_fatal = findings.iter().any(|finding| finding.severity() == Severity::Fatal);
    let other = rules.iter().find(|rule| !own(rule) && !known(rule));
    assert!(other.is_none() || is_fatal, "{name}: only in C: {other:?} {line}");
    let Some(file) = file else {
        // The first fatal fault ends the opening, where a host goes on.
        assert!(line.starts_with(&format!("open {INVALID} findings ")), "{name}: {line}");
        return;
    };
    for finding in findings.iter().filter(|f| !is_left_out(f) && !is_uncertain(f)) {
        let rule = finding.rule.id();
        assert!(rules.contains(&rule) || findings.len() > ROOM, "{name}: {rule} not in C: {line}");
    }
    assert!(
        rules.len() > ROOM || rules.iter().filter(|rule| own(rule)).count() >= 2,
        "{name}: {line}"
    );
    // A host shows fewer extents, none below 0, and no name of 64 KiB.
    let differs =
        |finding: &Finding| ["T-DIM", "T-PRODUCT", "T-RANK", "T-TEXT"].contains(&finding.rule.id());
    if !findings.iter().any(differs) {
        let expected = put_file(&file, &source);
        assert!(line.ends_with(&expected), "{name}: {line}, and in Rust{expected}");
    }
}

/// Where the findings of a line are.
fn offsets(line: &str) -> impl Iterator<Item = u64> {
    let places = line.split(' ').filter_map(|word| Some(word.split_once('@')?.1));
    places.map(|place| place.split_once('/').unwrap().0.parse().unwrap())
}

fn verdict(findings: &[Finding]) -> i32 {
    match findings {
        found if found.iter().any(|f| f.severity() >= Severity::Violation) => INVALID,
        found if found.iter().any(|f| f.severity() == Severity::Unchecked) => UNCHECKED,
        _ => OK,
    }
}

fn put_findings(findings: &[Finding]) -> String {
    let count = |severity| findings.iter().filter(|f| f.severity() == severity).count();
    let worst = findings.iter().map(Finding::severity).max().unwrap_or(Severity::Unchecked);
    let mut text = format!(
        " findings {} unchecked {} worst {}",
        findings.len(),
        count(Severity::Unchecked),
        worst as u8
    );
    if findings.len() > ROOM {
        return text;
    }
    let mut sorted = findings.to_vec();
    sorted.sort_by_key(|f| (f.rule.code(), f.offset, f.kind, f.entry));
    for f in sorted {
        let (kind, severity) = (f.kind as u8, f.severity() as u8);
        write!(text, " {}@{}/{kind}/{}/{severity}", f.rule.id(), f.offset, f.entry).unwrap();
    }
    text
}

fn put_tensors(file: &File, source: &Source<'_>) -> String {
    let (mut count, mut lookups, mut state) = (0, 0, 0xCBF2_9CE4_8422_2325);
    let mut cursor = Cursor::default();
    while let Ok(Some(entry)) = file.next_tensor(source, &mut cursor, &mut |_| {}) {
        count += 1;
        let name: Vec<u8> = entry.name.bytes().collect();
        let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
        state = digest(state, &entry.tensor, &text[..text.len().min(NAME)], source);
        if count <= LOOKUPS && name.len() <= NAME {
            let text = Name::new(text, weighbridge_core::NameEncoding::Plain);
            let found = file.find(source, &text, &mut Cursor::default());
            lookups += u64::from(matches!(found, Ok(Some(_))));
        }
    }
    format!(" tensors {count} {state} lookups {lookups}")
}

fn digest(mut state: u64, tensor: &Tensor, name: &[u8], source: &Source<'_>) -> u64 {
    // An empty tensor may lie past the end, where C must have no pointer.
    let raw = tensor.raw().filter(|span| span.offset <= source.len()).unwrap_or_default();
    let numbers = [
        tensor.index.into(),
        tensor.dtype as u64,
        tensor.status as u64,
        tensor.layout as u64,
        match tensor.encoding {
            Encoding::Raw => 0,
            Encoding::Deflate => 1,
            Encoding::Zlib => 2,
            Encoding::Zstd => 3,
            _ => 4,
        },
        tensor.endianness as u64,
        tensor.dims.rank(),
        tensor.elements,
        raw.offset,
        raw.len,
    ];
    let each = |state: u64, bytes: &[u8]| {
        bytes.iter().fold(state, |state, byte| {
            (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
        })
    };
    for number in numbers {
        state = each(state, &number.to_le_bytes());
    }
    state = each(state, name);
    let mut extents = [0; EXTENTS];
    for (place, extent) in extents.iter_mut().zip(tensor.dims(source).unwrap()) {
        *place = extent;
    }
    extents.iter().fold(state, |state, extent| each(state, &extent.to_le_bytes()))
}
