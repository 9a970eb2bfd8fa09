//! Files in flash that the processor cannot address, such as SPI flash.

use crate::base::widen;
use crate::input::{Absent, Source, Window};
use crate::parse::Stop;
use embedded_storage::nor_flash::ReadNorFlash;

/// A file in flash, of which one piece at a time is in a buffer of the caller.
///
/// A call that lacks bytes is made again when they were read, so everything
/// that takes a [`Source`] works, as long as each entry of the file fits into
/// the buffer.
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
    /// Offset of what is held, in the file.
    at: u64,
    /// Where in the buffer it lies.
    from: usize,
    to: usize,
}

/// Why a call on [`Flash`] came back without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum FlashError<E> {
    /// The driver failed.
    Driver(E),
    /// An entry does not fit into the buffer.
    WindowTooSmall {
        /// How many bytes the buffer must have.
        needed: u64,
    },
    /// The file ends beyond the flash.
    OutOfBounds,
    /// What was called came back with this, which is not
    /// [`Stop::NeedBytes`](crate::Stop::NeedBytes).
    Stop(Stop),
}

impl<'b, F: ReadNorFlash> Flash<'b, F> {
    /// The `len` bytes from address `start` of the flash.
    ///
    /// Reads begin and end at multiples of the driver's `READ_SIZE`, which the
    /// buffer should have room for beside an entry.
    pub fn new(driver: F, start: u32, len: u32, buffer: &'b mut [u8]) -> Self {
        Flash { driver, start, len, buffer, at: 0, from: 0, to: 0 }
    }

    /// Calls `call` until it lacks no bytes.
    ///
    /// # Errors
    /// What `call` returns but for absent bytes, and what keeps these from
    /// being read.
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
                // Asking again for what is there would never end.
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

    /// Reads what is missing, and as much after it as is wanted and fits.
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
