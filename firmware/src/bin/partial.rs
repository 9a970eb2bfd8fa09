//! Uses a model in unmapped flash one tensor at a time, through a driver with DMA and a buffer of 512
//! bytes: checks the file, and then reads all weights in three ways. Prints what each costs.
//!
//! Findings, the index and the places of tensors are in memory of fixed size (`heapless`); the buffer
//! holds two windows of the file.

#![no_std]
#![no_main]

use core::cell::Cell;
use core::fmt::Write;
use cortex_m_rt::{entry, exception};
use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use weighbridge_core::heapless::Vec;
use weighbridge_core::{
    Audit, File, Findings, Flash, FlashError, Index, Name, Opening, Profile, Slot, Span, Tensor,
};
use weighbridge_firmware::input::records;
use weighbridge_firmware::semihosting::{Console, leave};
use weighbridge_firmware::{stack, ticks};

/// Number of tensors in the model.
const TENSORS: usize = 25;

/// Bytes of the largest tensor.
const LARGEST: usize = 2000;

/// What the driver's DMA transfers: whole units, to and from multiples of a unit. A cache line of a
/// Cortex-M7 has as many bytes.
const UNIT: usize = 32;

/// A buffer that DMA may write to.
#[repr(align(32))]
struct Aligned([u8; 512]);

/// What the driver was asked for.
#[derive(Clone, Copy, Default)]
struct Counts {
    calls: u32,
    bytes: u32,
    /// Calls that do not go on where the last one ended.
    jumps: u32,
    end: u32,
}

/// A driver that transfers whole units between aligned places, and refuses anything else.
struct Spi<'a> {
    bytes: &'a [u8],
    counts: &'a Cell<Counts>,
}

impl ErrorType for Spi<'_> {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Spi<'_> {
    const READ_SIZE: usize = UNIT;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let from = offset as usize;
        let places = [from, bytes.len(), bytes.as_ptr().addr()];
        if places.iter().any(|place| place % UNIT != 0) {
            return Err(NorFlashErrorKind::NotAligned);
        }
        // After the file, the flash is erased.
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = self.bytes.get(from + i).copied().unwrap_or(0xFF);
        }
        let Counts { calls, bytes: read, jumps, end } = self.counts.get();
        self.counts.set(Counts {
            calls: calls + 1,
            bytes: read + bytes.len() as u32,
            jumps: jumps + u32::from(end != offset),
            end: offset + bytes.len() as u32,
        });
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len().next_multiple_of(UNIT)
    }
}

type Error = FlashError<NorFlashErrorKind>;
type Window<'b, 'a> = Flash<'b, Spi<'a>, 2>;
type Names = Index<Vec<Slot, TENSORS>>;

#[entry]
fn main() -> ! {
    let mut console = Console::open();
    ticks::start();
    let sound = records().all(|record| run(&mut console, record.bytes).is_ok_and(|sound| sound));
    console.exit(sound)
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// Checks a file and reads it in each way; returns false for a file that is not valid.
fn run(console: &mut Console, bytes: &[u8]) -> Result<bool, Error> {
    let counts = Cell::new(Counts::default());
    let mut buffer = Aligned([0; 512]);
    let driver = Spi { bytes, counts: &counts };
    let mut flash = Flash::new(driver, 0, bytes.len() as u32, &mut buffer.0).windows::<2>();
    let checked = measure(console, "check", &counts, || check(&mut flash))?;
    let _ = writeln!(console);
    let Some((file, names)) = checked else { return Ok(false) };
    let ways: [(&str, Way); 3] = [("copied", copied), ("pieces", pieces), ("ordered", ordered)];
    for (title, way) in ways {
        let sum = measure(console, title, &counts, || way(&mut flash, &file, &names))?;
        let _ = writeln!(console, " sum {sum:08x}");
    }
    Ok(true)
}

/// Runs a step and prints what it costs.
fn measure<T>(
    console: &mut Console,
    title: &str,
    counts: &Cell<Counts>,
    mut step: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    counts.set(Counts::default());
    let ((result, ticks), stack) = stack::used(|| ticks::of(&mut step));
    let Counts { calls, bytes, jumps, .. } = counts.get();
    let _ = write!(
        console,
        "{title} ticks {} stack {stack} calls {calls} bytes {bytes} jumps {jumps}",
        ticks.unwrap_or(0)
    );
    result
}

/// The file and an index of its names, if it is valid.
#[inline(never)]
fn check(flash: &mut Window<'_, '_>) -> Result<Option<(File, Names)>, Error> {
    let mut findings = Findings::<4>::new();
    let mut opening = Opening::detect();
    let file = flash.run(|source| opening.step(source, &mut |finding| findings.push(finding)))?;
    let mut audit = Audit::new(file).structure_only();
    let mut slots = [Slot::EMPTY; TENSORS];
    flash.run(|source| audit.step(source, &mut slots, &mut |finding| findings.push(finding)))?;
    let mut names = Index::bounded(0);
    flash.run(|source| names.step(&file, source))?;
    Ok(findings.accepted(Profile::Strict).then_some((file, names)))
}

type Way = fn(&mut Window<'_, '_>, &File, &Names) -> Result<u32, Error>;

/// Each tensor in the order in which the network uses it, copied to memory of its own.
#[inline(never)]
fn copied(flash: &mut Window<'_, '_>, file: &File, names: &Names) -> Result<u32, Error> {
    let mut total = 0_u32;
    let mut weights = [0; LARGEST];
    for i in 0..TENSORS {
        let span = place(flash, file, names, i)?;
        let Some(weights) = weights.get_mut(..span.len as usize) else { continue };
        flash.read(span.offset, weights)?;
        total = total.wrapping_add(fold(0, weights));
    }
    Ok(total)
}

/// The same, but each tensor is used where the buffer has it.
#[inline(never)]
fn pieces(flash: &mut Window<'_, '_>, file: &File, names: &Names) -> Result<u32, Error> {
    let mut total = 0_u32;
    for i in 0..TENSORS {
        let span = place(flash, file, names, i)?;
        let mut sum = 0;
        flash.each_piece(span, &mut |bytes| sum = fold(sum, bytes))?;
        total = total.wrapping_add(sum);
    }
    Ok(total)
}

/// The same in the order of the file, as far as the network allows it: every place is looked up first.
#[inline(never)]
fn ordered(flash: &mut Window<'_, '_>, file: &File, names: &Names) -> Result<u32, Error> {
    let mut places: Vec<Span, TENSORS> = Vec::new();
    for i in 0..TENSORS {
        let span = place(flash, file, names, i)?;
        // There is room for every tensor.
        let _ = places.push(span);
    }
    places.sort_unstable_by_key(|span| span.offset);
    let mut total = 0_u32;
    for span in places {
        let mut sum = 0;
        flash.each_piece(span, &mut |bytes| sum = fold(sum, bytes))?;
        total = total.wrapping_add(sum);
    }
    Ok(total)
}

/// The place of the tensor that the network uses as number `i`; empty if there is none.
fn place(flash: &mut Window<'_, '_>, file: &File, names: &Names, i: usize) -> Result<Span, Error> {
    let mut name = *b"layers.000.weight";
    let number = i * 7 % TENSORS;
    name[8] = b'0' + (number / 10) as u8;
    name[9] = b'0' + (number % 10) as u8;
    let name = Name::from(core::str::from_utf8(&name).unwrap_or_default());
    let found = flash.run(|source| names.find(file, source, &name))?;
    Ok(found.as_ref().and_then(Tensor::raw).unwrap_or_default())
}

/// Stands for a computation that takes the weights in order.
fn fold(sum: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()))
}
