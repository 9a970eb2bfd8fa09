//! The zstd decoder by itself: its code and constants are what decoding costs.

#![no_std]
#![no_main]

#[path = "../mem.rs"]
mod mem;

use weighbridge_core::codec::{Decoder, Size};
use weighbridge_core::{Encoding, Span};

/// Decodes frames of `size` bytes, into a buffer for all of them or a ring; returns whether
/// they are sound.
#[unsafe(no_mangle)]
pub fn entry(decoder: &mut Decoder, stored: &[u8], size: u64, buffer: &mut [u8]) -> bool {
    *decoder = Decoder::new();
    decoder.start(Encoding::Zstd, Span::new(0, stored.len() as u64), Size::Exactly(size));
    let mut rest = stored;
    loop {
        match decoder.step(rest, buffer) {
            Ok(step) if step.done => return true,
            Ok(step) => rest = rest.get(step.read..).unwrap_or_default(),
            Err(_) => return false,
        }
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
