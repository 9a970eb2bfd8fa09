//! What `c/tests/size.c` does, in Rust: opens a file, checks it and finds a tensor, by three calls
//! from different places of a program, so that none is inlined into another. The difference between
//! the two programs is what the interface to C costs.

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
}

impl Found<'_> {
    /// Counts a finding, and keeps it if there is room.
    fn push(&mut self, finding: Finding) {
        if let Some(place) = self.kept.get_mut(self.count as usize) {
            *place = Some(finding);
        }
        let severity = finding.severity();
        self.count = self.count.saturating_add(1);
        self.unchecked = self.unchecked.saturating_add((severity == Severity::Unchecked).into());
        self.worst = self.worst.max(Some(severity));
    }

    /// Whether no rule is broken, and everything was checked.
    fn sound(&self) -> bool {
        self.worst < Some(Severity::Violation) && self.unchecked == 0
    }
}

/// An open file and its bytes.
pub struct Model<'a> {
    source: Source<'a>,
    file: File,
}

/// The data of tensor `name` in a valid file, if it is stored in place.
#[unsafe(no_mangle)]
pub fn entry<'a>(
    bytes: &'a [u8],
    format: Option<Format>,
    whole: bool,
    name: &[u8],
    slots: &mut [Slot],
    found: &mut Found<'_>,
) -> Option<&'a [u8]> {
    let model = open(bytes, format, whole, found)?;
    if !check(&model, slots, found) {
        return None;
    }
    find(&model, name).map(|(_, data)| data)
}

/// Opens a whole file, or one in a region, as `format` or the one that its first bytes indicate.
#[inline(never)]
fn open<'a>(
    bytes: &'a [u8],
    format: Option<Format>,
    whole: bool,
    found: &mut Found<'_>,
) -> Option<Model<'a>> {
    let mut source = Source::whole(bytes);
    if !whole {
        source = source.as_region();
    }
    let format = format.filter(|format| format.is_available());
    let file = Opening::of(format).step(&source, &mut |finding| found.push(finding)).ok()?;
    Some(Model { source, file })
}

/// Checks the structure; what has no slots is reported as unchecked.
#[inline(never)]
fn check(model: &Model<'_>, slots: &mut [Slot], found: &mut Found<'_>) -> bool {
    let Some(mut audit) = smallest::audit(model.file) else { return false };
    let mut sink = |finding| found.push(finding);
    loop {
        match audit.step(&model.source, slots, &mut sink) {
            Ok(()) => return found.sound(),
            Err(Stop::NeedSlots { .. }) => audit.skip(&mut sink),
            Err(_) => return false,
        }
    }
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
