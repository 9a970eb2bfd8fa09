//! What `c/tests/size.c` does, in Rust: opens a file, checks it and finds a tensor, by three calls
//! from different places of a program, so that none is inlined into another. It learns the same: the
//! first findings if it wants them, a verdict that tells unchecked from invalid, and how many slots
//! are missing. The difference between the two programs is what the interface to C costs.

#![no_std]
#![no_main]

#[path = "../mem.rs"]
mod mem;

#[path = "../smallest.rs"]
#[allow(dead_code, reason = "only the type of the audit is used")]
mod smallest;

use weighbridge_core::{
    Cursor, File, Finding, Format, Name, NameEncoding, Opening, Severity, Slot, Source, Stop,
    Tensor,
};

/// The caller's array of findings.
pub struct Found<'a> {
    kept: &'a mut [Option<Finding>],
    count: u32,
    unchecked: u32,
    worst: Option<Severity>,
    /// Number of slots that a complete check takes, if there were too few.
    needed: u32,
}

/// What findings say about the file; the higher, the worse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Valid,
    Unchecked,
    Invalid,
}

impl Verdict {
    fn of(severity: Severity) -> Verdict {
        match severity {
            Severity::Unchecked => Verdict::Unchecked,
            Severity::Lint => Verdict::Valid,
            Severity::Violation | Severity::Fatal => Verdict::Invalid,
        }
    }

    /// That of a file that cannot be read further.
    fn of_stopped(self) -> Verdict {
        match self {
            Verdict::Valid => Verdict::Invalid,
            verdict => verdict,
        }
    }
}

/// Receives findings: what they say about the verdict, and the caller's array, if there is one.
struct Sink<'s, 'f> {
    found: Option<&'s mut Found<'f>>,
    verdict: Verdict,
}

impl Sink<'_, '_> {
    /// Counts a finding, and keeps it if there is room.
    fn push(&mut self, finding: Finding) {
        let severity = finding.severity();
        self.verdict = self.verdict.max(Verdict::of(severity));
        let Some(found) = &mut self.found else { return };
        if let Some(place) = found.kept.get_mut(found.count as usize) {
            *place = Some(finding);
        }
        found.count = found.count.saturating_add(1);
        found.unchecked = found.unchecked.saturating_add((severity == Severity::Unchecked).into());
        found.worst = found.worst.max(Some(severity));
    }
}

/// An open file and its bytes.
pub struct Model<'a> {
    source: Source<'a>,
    file: File,
    /// The verdict of opening.
    verdict: Verdict,
}

/// The data of tensor `name` in a valid file, if it is stored in place.
#[unsafe(no_mangle)]
pub fn entry<'a>(
    bytes: &'a [u8],
    format: Option<Format>,
    whole: bool,
    name: &[u8],
    slots: &mut [Slot],
    mut found: Option<&mut Found<'_>>,
) -> Option<&'a [u8]> {
    let model = open(bytes, format, whole, found.as_deref_mut()).ok()?;
    if check(&model, slots, found) != Verdict::Valid {
        return None;
    }
    find(&model, name).map(|(_, data)| data)
}

/// Opens a whole file, or one in a region, as `format` or the format of its first bytes.
#[inline(never)]
fn open<'a>(
    bytes: &'a [u8],
    format: Option<Format>,
    whole: bool,
    found: Option<&mut Found<'_>>,
) -> Result<Model<'a>, Verdict> {
    let mut source = Source::whole(bytes);
    if !whole {
        source = source.as_region();
    }
    let format = format.filter(|format| format.is_available());
    let mut sink = Sink { found, verdict: Verdict::Valid };
    match Opening::of(format).step(&source, &mut |finding| sink.push(finding)) {
        Ok(file) => Ok(Model { source, file, verdict: sink.verdict }),
        Err(_) => Err(sink.verdict.of_stopped()),
    }
}

/// Checks the structure; what has no slots is reported as unchecked.
#[inline(never)]
fn check(model: &Model<'_>, slots: &mut [Slot], found: Option<&mut Found<'_>>) -> Verdict {
    let Some(mut audit) = smallest::audit(model.file) else { return Verdict::Invalid };
    let (mut sink, mut most) = (Sink { found, verdict: model.verdict }, 0);
    let mut report = |finding| sink.push(finding);
    let complete = loop {
        match audit.step(&model.source, slots, &mut report) {
            Ok(()) => break true,
            Err(Stop::NeedSlots { needed }) => {
                most = needed.max(most);
                audit.skip(&mut report);
            }
            Err(_) => break false,
        }
    };
    if let Some(found) = &mut sink.found {
        found.needed = found.needed.max(most);
    }
    if complete { sink.verdict } else { sink.verdict.of_stopped() }
}

/// A tensor and its data in place.
#[inline(never)]
fn find<'a>(model: &Model<'a>, name: &[u8]) -> Option<(Tensor, &'a [u8])> {
    let name = Name::new(name, NameEncoding::Plain);
    match &model.file.find(&model.source, &name, &mut Cursor::default()) {
        Ok(Some(tensor)) => Some((*tensor, model.source.get(tensor.raw()?).ok()?)),
        _ => None,
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
