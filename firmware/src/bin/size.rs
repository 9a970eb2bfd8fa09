//! The smallest useful program: opens a file, audits its structure and finds
//! one tensor. Its code and constants are what a reader costs.

#![no_std]
#![no_main]

#[path = "../mem.rs"]
mod mem;

use weighbridge::{Audit, Cursor, File, Finding, Name, Severity, Slot, Source, Span};

/// Where the tensor `name` of a valid file lies; an empty span if there is
/// none, or the file is not valid.
#[unsafe(no_mangle)]
pub fn entry(bytes: &[u8], name: &str, slots: &mut [Slot]) -> Span {
    find(bytes, name, slots).unwrap_or_default()
}

fn find(bytes: &[u8], name: &str, slots: &mut [Slot]) -> Option<Span> {
    let source = Source::whole(bytes);
    let mut valid = true;
    let mut sink = |finding: Finding| valid &= finding.severity() < Severity::Violation;
    let file = File::open(&source, &mut sink).ok()?;
    Audit::new(file).structure_only().step(&source, slots, &mut sink).ok()?;
    if !valid {
        return None;
    }
    file.find(&source, &Name::from(name), &mut Cursor::default()).ok()??.raw()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
