//! Loads a small model from unmapped flash: checks the file through a driver and a small
//! buffer, finds its tensors by name, and copies their weights into memory.
//!
//! QEMU has no such flash: the driver reads what QEMU's loader put into memory.

#![no_std]
#![no_main]

use core::fmt::Write;
use cortex_m_rt::{entry, exception};
use embedded_storage::nor_flash::{ErrorType, NorFlashErrorKind, ReadNorFlash};
use weighbridge_core::heapless::Vec;
use weighbridge_core::{
    Audit, Findings, Flash, FlashError, Index, Name, Opening, Profile, Slot, Stop, Tensor,
};
use weighbridge_firmware::semihosting::{Console, leave};
use weighbridge_firmware::input::records;
use weighbridge_firmware::mlp::{HIDDEN, INPUTS, Mlp, OUTPUTS, TENSORS};

/// Bytes of the buffer, half for each of two windows.
const BUFFER: usize = 512;

/// Number of findings printed; the verdict counts all.
const FINDINGS: usize = 4;

/// A driver that reads whole words.
struct Spi<'a>(&'a [u8]);

impl ErrorType for Spi<'_> {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Spi<'_> {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        let offset = offset as usize;
        if offset % Self::READ_SIZE != 0 || bytes.len() % Self::READ_SIZE != 0 {
            return Err(NorFlashErrorKind::NotAligned);
        }
        // After the file, the flash is erased.
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = self.0.get(offset + i).copied().unwrap_or(0xFF);
        }
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len().next_multiple_of(Self::READ_SIZE)
    }
}

type Error = FlashError<NorFlashErrorKind>;

#[entry]
fn main() -> ! {
    let mut console = Console::open();
    let mut sound = true;
    for record in records() {
        let mut findings = Findings::new();
        let loaded = load(record.bytes, &mut findings);
        for finding in findings.iter() {
            let _ =
                writeln!(console, "{} at offset {}: {finding}", finding.rule.id(), finding.offset);
        }
        if findings.dropped() > 0 {
            let _ = writeln!(console, "and {} more", findings.dropped());
        }
        match loaded {
            Ok(Some(weights)) => weights.model().print(&mut console, "copied"),
            Ok(None) => sound = false,
            Err(error) => {
                let _ = writeln!(console, "{error:?}");
                sound = false;
            }
        }
    }
    console.exit(sound)
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// The weights of a valid file of this model; `None` if it is another model, or not valid,
/// in which case the findings say why.
fn load(bytes: &[u8], findings: &mut Findings<FINDINGS>) -> Result<Option<Weights>, Error> {
    let mut buffer = [0; BUFFER];
    let mut flash = Flash::new(Spi(bytes), 0, bytes.len() as u32, &mut buffer).windows::<2>();
    let mut opening = Opening::detect();
    let file = match flash.run(|source| opening.step(source, &mut |finding| findings.push(finding)))
    {
        Err(FlashError::Stop(Stop::Invalid(_))) => return Ok(None),
        file => file?,
    };
    let mut audit = Audit::new(file).structure_only();
    let mut slots = [Slot::EMPTY; 16];
    flash.run(|source| audit.step(source, &mut slots, &mut |finding| findings.push(finding)))?;
    if !findings.accepted(Profile::Strict) {
        return Ok(None);
    }

    let mut index: Index<Vec<Slot, { TENSORS.len() }>> = Index::bounded(0);
    match flash.run(|source| index.step(&file, source)) {
        Err(FlashError::Stop(Stop::NeedSlots { .. })) => return Ok(None),
        indexed => indexed?,
    }
    let mut weights = Weights::default();
    for (numbers, (name, id, shape)) in weights.all().into_iter().zip(TENSORS) {
        let mut named = |name: &str| {
            flash.run(|source| {
                let Some(tensor) = index.find(&file, source, &Name::from(name))? else {
                    return Ok(None);
                };
                let alike = tensor.dims(source)?.eq(shape.iter().copied());
                Ok(Some(tensor).filter(|_| alike))
            })
        };
        let tensor = match named(name)? {
            None => named(id)?,
            found => found,
        };
        let Some(tensor) = tensor else { return Ok(None) };
        if !copy(&mut flash, &tensor, numbers)? {
            return Ok(None);
        }
    }
    Ok(Some(weights))
}

/// Copies the elements of a tensor; returns false if they are not stored individually.
fn copy<const W: usize>(
    flash: &mut Flash<'_, Spi<'_>, W>,
    tensor: &Tensor,
    numbers: &mut [f32],
) -> Result<bool, Error> {
    let Some(span) = tensor.raw() else { return Ok(false) };
    let mut bytes = [0; 4 * HIDDEN * INPUTS];
    let Some(bytes) = bytes.get_mut(..span.len as usize) else { return Ok(false) };
    flash.read(span.offset, bytes)?;
    for (i, number) in numbers.iter_mut().enumerate() {
        match tensor.dtype.element(bytes, i as u64, tensor.endianness) {
            Some(element) => *number = element.to_f64() as f32,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The weights, in memory.
#[derive(Default)]
struct Weights {
    hidden_bias: [f32; HIDDEN],
    hidden_weight: [f32; HIDDEN * INPUTS],
    output_bias: [f32; OUTPUTS],
    output_weight: [f32; OUTPUTS * HIDDEN],
}

impl Weights {
    /// In the order of [`TENSORS`].
    fn all(&mut self) -> [&mut [f32]; 4] {
        [
            &mut self.hidden_bias,
            &mut self.hidden_weight,
            &mut self.output_bias,
            &mut self.output_weight,
        ]
    }

    fn model(&self) -> Mlp<'_> {
        Mlp([&self.hidden_bias, &self.hidden_weight, &self.output_bias, &self.output_weight])
    }
}
