//! What the programs must print: the same as `c/tests/survey.c`, from the core with all features.

use crate::cases::Case;
use std::fmt::Write as _;
use weighbridge_core::{
    Audit, Cursor, Encoding, File, Finding, Name, Opening, Severity, Slot, Source, Stop, Tensor,
};
use weighbridge_tests::facts::is_for_hosts;

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
    let source = match case.region {
        true => Source::whole(&case.bytes).as_region(),
        false => Source::whole(&case.bytes),
    };
    let mut findings: Vec<Finding> = Vec::new();
    let opened = Opening::of(Some(case.format)).step(&source, &mut |f| findings.push(f));
    let Ok(file) = opened else {
        return format!("open {}{}", verdict(&findings), put_findings(&findings));
    };
    let mut slots = vec![Slot::EMPTY; SLOTS];
    let mut audit = Audit::new(file).structure_only();
    let mut sink = |finding| findings.push(finding);
    while let Err(Stop::NeedSlots { .. }) = audit.step(&source, &mut slots, &mut sink) {
        audit.skip(&mut sink);
    }
    findings.retain(|finding| !is_for_hosts(finding));
    let verdict = verdict(&findings);
    let (format, count) = (file.format() as u8, file.tensor_count());
    let (findings, tensors) = (put_findings(&findings), put_tensors(&file, &source));
    format!("open {OK} check {verdict}{findings} format {format} count {count}{tensors}")
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
