//! Files in flash that the processor cannot address, such as SPI flash.

use crate::base::widen;
use crate::input::{Absent, Source, Window};
use crate::parse::Stop;
use embedded_storage::nor_flash::ReadNorFlash;

/// A file in flash, read piece by piece into a buffer of the caller.
///
/// A call that needs more bytes is repeated after they were read. So everything that takes
/// a [`Source`] works, as long as each entry of the file fits in the buffer.
///
/// ```
/// # fn demo<F: embedded_storage::nor_flash::ReadNorFlash>(driver: F) -> Result<(), weighbridge_core::FlashError<F::Error>> {
/// use weighbridge_core::{Audit, Flash, Opening, Slot};
/// let mut buffer = [0; 512];
/// let mut flash = Flash::new(driver, 0x10_0000, 0x4_0000, &mut buffer);
/// let mut opening = Opening::detect();
/// let file = flash.run(|source| opening.step(&source.as_region(), &mut |_| {}))?;
/// let mut audit = Audit::new(file).structure_only();
/// let mut slots = [Slot::EMPTY; 64];
/// flash.run(|source| audit.step(&source.as_region(), &mut slots, &mut |_| {}))?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Flash<'b, F> {
    driver: F,
    start: u32,
    len: u32,
    buffer: &'b mut [u8],
    /// Offset of the held bytes in the file.
    at: u64,
    /// Their range in the buffer.
    from: usize,
    to: usize,
}

/// Why a call on [`Flash`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FlashError<E> {
    /// The driver failed.
    Driver(E),
    /// An entry does not fit in the buffer.
    WindowTooSmall {
        /// Number of bytes that the buffer needs.
        needed: u64,
    },
    /// The file extends past the end of the flash.
    OutOfBounds,
    /// What was called came back with this, which is not
    /// [`Stop::NeedBytes`](crate::Stop::NeedBytes).
    Stop(Stop),
}

impl<'b, F: ReadNorFlash> Flash<'b, F> {
    /// The `len` bytes at address `start` of the flash.
    ///
    /// Reads begin and end at multiples of the driver's `READ_SIZE`; the buffer needs room
    /// for that in addition to an entry.
    pub fn new(driver: F, start: u32, len: u32, buffer: &'b mut [u8]) -> Self {
        Flash { driver, start, len, buffer, at: 0, from: 0, to: 0 }
    }

    /// Repeats `call` until it needs no more bytes.
    ///
    /// # Errors
    /// Any error of `call` except missing bytes, and errors of reading those.
    pub fn run<T>(
        &mut self,
        mut call: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, FlashError<F::Error>> {
        loop {
            let bytes = self.buffer.get(self.from..self.to).unwrap_or_default();
            let windows = [Window { offset: self.at, bytes }];
            let source = Source::windows(u64::from(self.len), &windows);
            match call(&source) {
                Ok(result) => return Ok(result),
                // Requesting resident bytes again would never end.
                Err(Stop::NeedBytes(absent))
                    if widen(source.run(absent.offset).len()) < absent.need =>
                {
                    self.fetch(absent)?;
                }
                Err(stop) => return Err(FlashError::Stop(stop)),
            }
        }
    }

    /// The driver, and the buffer.
    pub fn release(self) -> (F, &'b mut [u8]) {
        (self.driver, self.buffer)
    }

    /// Reads the missing bytes, and as many of the wanted ones as fit.
    fn fetch(&mut self, absent: Absent) -> Result<(), FlashError<F::Error>> {
        (self.from, self.to) = (0, 0);
        let unit = widen(F::READ_SIZE.max(1));
        let below = |n: u64| n.saturating_sub(n.checked_rem(unit).unwrap_or(0));
        let above = |n: u64| below(n.saturating_add(unit.saturating_sub(1)));
        let address = u64::from(self.start).saturating_add(absent.offset);
        let begin = below(address);
        let before = address.saturating_sub(begin);
        let needed = above(before.saturating_add(absent.need));
        let room = below(widen(self.buffer.len()));
        if needed > room {
            return Err(FlashError::WindowTooSmall { needed });
        }
        let capacity = below(widen(self.driver.capacity()).saturating_sub(begin));
        if needed > capacity {
            return Err(FlashError::OutOfBounds);
        }
        let len = above(before.saturating_add(absent.want)).min(room).min(capacity);
        let (Ok(begin), Ok(before), Ok(len)) =
            (u32::try_from(begin), usize::try_from(before), usize::try_from(len))
        else {
            return Err(FlashError::OutOfBounds);
        };
        let bytes = self.buffer.get_mut(..len).unwrap_or_default();
        self.driver.read(begin, bytes).map_err(FlashError::Driver)?;
        (self.at, self.from, self.to) = (absent.offset, before, len);
        Ok(())
    }
}
