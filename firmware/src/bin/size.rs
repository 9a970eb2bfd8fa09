//! The smallest useful program by itself: its code and constants are what a
//! reader costs.

#![no_std]
#![no_main]

#[path = "../mem.rs"]
mod mem;

#[path = "../smallest.rs"]
mod smallest;

use weighbridge_core::{Name, Slot, Span};

/// The span of tensor `name` in a valid file; empty if there is no such tensor,
/// or the file is not valid.
#[cfg(not(feature = "findings"))]
#[unsafe(no_mangle)]
pub fn entry(bytes: &[u8], name: &str, slots: &mut [Slot]) -> Span {
    smallest::find(None, bytes, &Name::from(name), slots, |_| {}).unwrap_or_default()
}

/// The same, for a caller that receives each finding.
#[cfg(feature = "findings")]
#[unsafe(no_mangle)]
pub fn entry(
    bytes: &[u8],
    name: &str,
    slots: &mut [Slot],
    report: &mut dyn FnMut(weighbridge_core::Finding),
) -> Span {
    smallest::find(None, bytes, &Name::from(name), slots, report).unwrap_or_default()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
