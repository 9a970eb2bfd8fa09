//! Decodes the zstd frames of zTensor files that QEMU's loader places in memory, with a
//! static state and buffer.

#![no_std]
#![no_main]

use core::fmt::Write;
use cortex_m_rt::{entry, exception};
use weighbridge_core::codec::{Decoder, Fault, Undecoded};
use weighbridge_core::{Cursor, File, Opening, Source, Tensor};
use weighbridge_firmware::semihosting::{Console, leave};
use weighbridge_firmware::input::records;
use weighbridge_firmware::{stack, ticks};

/// Room for a small tensor, or for the window of a large one and a block.
static mut BUFFER: [u8; 64 << 10] = [0; 64 << 10];

#[entry]
fn main() -> ! {
    // SAFETY: taken once.
    let buffer = unsafe { &mut *(&raw mut BUFFER) };
    let mut decoder = Decoder::new();
    let mut console = Console::open();
    ticks::start();
    let mut printed = writeln!(console, "state {}", size_of::<Decoder>());
    for record in records() {
        let source = Source::whole(record.bytes);
        let Ok(file) = Opening::of(None).step(&source, &mut |_| {}) else {
            console.exit(false);
        };
        let mut cursor = Cursor::default();
        while let Ok(Some(entry)) = file.next_tensor(&source, &mut cursor, &mut |_| {}) {
            let mut unpack = |each: &mut dyn FnMut(&[u8])| {
                unpack(&mut decoder, &source, &file, &entry.tensor, buffer, each)
            };
            let ((_, ticks), used) = stack::used(|| ticks::of(|| unpack(&mut |_| {})));
            let mut sum = Sum::default();
            printed = printed.and_then(|()| match unpack(&mut |piece| sum.add(piece)) {
                Ok(len) => write!(console, "bytes {len} sum {:08x}", sum.0),
                Err(stop) => write!(console, "{stop:?} sum {:08x}", sum.0),
            });
            let ticks = ticks.unwrap_or(0);
            printed = printed.and_then(|()| writeln!(console, " stack {used} ticks {ticks}"));
            console.flush();
        }
    }
    console.exit(printed.is_ok())
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// Decodes a tensor's data piece by piece; returns its length.
#[inline(never)]
fn unpack(
    decoder: &mut Decoder,
    source: &Source<'_>,
    file: &File,
    tensor: &Tensor,
    buffer: &mut [u8],
    each: &mut dyn FnMut(&[u8]),
) -> Result<u64, Undecoded> {
    let chunk = file.chunk(source, tensor, 0).ok().flatten().ok_or(Fault::Unsupported)?;
    decoder.start_chunk(&chunk)?;
    while let Some(piece) = decoder.next(source, buffer)? {
        each(piece);
    }
    Ok(decoder.written())
}

/// Computes FNV-1a, starting from 0.
#[derive(Default)]
struct Sum(u32);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}
