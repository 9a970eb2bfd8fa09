//! The smallest useful program by itself: its code and constants are what a
//! reader costs.

#![no_std]
#![no_main]

#[path = "../mem.rs"]
mod mem;

#[path = "../smallest.rs"]
mod smallest;

use weighbridge_core::{Name, Slot, Span};

/// Where the tensor `name` of a valid file lies; an empty span if there is
/// none, or the file is not valid.
#[cfg(not(feature = "told"))]
#[unsafe(no_mangle)]
pub fn entry(bytes: &[u8], name: &str, slots: &mut [Slot]) -> Span {
    smallest::find(None, bytes, &Name::from(name), slots, |_| {}).unwrap_or_default()
}

/// The same, for a caller that is told of each finding.
#[cfg(feature = "told")]
#[unsafe(no_mangle)]
pub fn entry(
    bytes: &[u8],
    name: &str,
    slots: &mut [Slot],
    told: &mut dyn FnMut(weighbridge_core::Finding),
) -> Span {
    smallest::find(None, bytes, &Name::from(name), slots, told).unwrap_or_default()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
