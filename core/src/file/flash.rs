//! Files in flash that the processor cannot address, such as SPI flash.

use crate::base::widen;
use crate::input::{Absent, Source, Span, Window};
use crate::parse::Stop;
use embedded_storage::nor_flash::ReadNorFlash;
use heapless::Vec;

/// A file in flash, read piece by piece into the caller's buffer.
///
/// A call that needs more bytes is repeated once they are read, so everything that takes a
/// [`Source`] works, as long as each entry of the file fits in the buffer.
///
/// The buffer holds up to `W` [windows](Self::windows) of the file, by default one.
///
/// ```
/// # fn demo<F: embedded_storage::nor_flash::ReadNorFlash>(driver: F) -> Result<(), weighbridge_core::FlashError<F::Error>> {
/// use weighbridge_core::{Audit, Flash, Opening, Slot};
/// let mut buffer = [0; 512];
/// let mut flash = Flash::new(driver, 0x10_0000, 0x4_0000, &mut buffer).windows::<2>();
/// let mut opening = Opening::detect();
/// let file = flash.run(|source| opening.step(&source.as_region(), &mut |_| {}))?;
/// let mut audit = Audit::new(file).structure_only();
/// let mut slots = [Slot::EMPTY; 64];
/// flash.run(|source| audit.step(&source.as_region(), &mut slots, &mut |_| {}))?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Flash<'b, F, const W: usize = 1> {
    driver: F,
    start: u32,
    len: u32,
    buffer: &'b mut [u8],
    held: Vec<Held, W>,
    /// Index of the buffer part to fill next.
    next: usize,
}

/// Bytes of the file that are in the buffer.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Offset of the first byte in the file.
    offset: u64,
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
    /// The call stopped for a reason other than missing bytes, or requested resident bytes again.
    Stop(Stop),
}

impl<'b, F: ReadNorFlash> Flash<'b, F> {
    /// The `len` bytes at address `start` of the flash.
    ///
    /// Reads begin and end at multiples of the driver's `READ_SIZE`; the buffer needs room
    /// for that in addition to an entry.
    pub fn new(driver: F, start: u32, len: u32, buffer: &'b mut [u8]) -> Self {
        Flash { driver, start, len, buffer, held: Vec::new(), next: 0 }
    }

    /// The same file with up to `N` windows, each an equal part of the buffer.
    ///
    /// A reader that goes back and forth, between a table and names or between entries of
    /// an index, then reads fewer bytes, though more often. An entry longer than a part
    /// takes the whole buffer.
    #[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
    pub fn windows<const N: usize>(self) -> Flash<'b, F, N> {
        const { assert!(N > 0, "a file is read through one window at least") };
        let Flash { driver, start, len, buffer, .. } = self;
        Flash { driver, start, len, buffer, held: Vec::new(), next: 0 }
    }
}

impl<'b, F: ReadNorFlash, const W: usize> Flash<'b, F, W> {
    /// Repeats `call` until it needs no more bytes.
    ///
    /// # Errors
    /// Errors of `call` other than missing bytes, and errors of reading those bytes.
    pub fn run<T>(
        &mut self,
        mut call: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, FlashError<F::Error>> {
        loop {
            let window = |held: &Held| Window {
                offset: held.offset,
                bytes: self.buffer.get(held.from..held.to).unwrap_or_default(),
            };
            let windows: [Window<'_>; W] =
                core::array::from_fn(|i| self.held.get(i).map(window).unwrap_or_default());
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

    /// Passes the bytes of `span`, such as a tensor's data, to `use_piece`, in order and as they lie in
    /// the buffer: a tensor of any size needs no memory of its own.
    ///
    /// A piece is as long as a window, or shorter. In flash, each but the first begins at a multiple of
    /// the driver's `READ_SIZE`, so elements are whole in each piece if `span` begins at a multiple of
    /// their size.
    ///
    /// # Errors
    /// [`FlashError::OutOfBounds`] if the file ends before `span` does, and errors of reading.
    pub fn each_piece(
        &mut self,
        span: Span,
        use_piece: &mut dyn FnMut(&[u8]),
    ) -> Result<(), FlashError<F::Error>> {
        let Some(end) = span.end().filter(|end| *end <= u64::from(self.len)) else {
            return Err(FlashError::OutOfBounds);
        };
        let mut offset = span.offset;
        while offset < end {
            let want = end.saturating_sub(offset);
            let used = self.run(|source| {
                let bytes = source.run(offset);
                if bytes.is_empty() {
                    return Err(Stop::NeedBytes(Absent { offset, need: 1, want }));
                }
                let len = usize::try_from(want).unwrap_or(usize::MAX).min(bytes.len());
                use_piece(bytes.get(..len).unwrap_or_default());
                Ok(len)
            })?;
            offset = offset.saturating_add(widen(used));
        }
        Ok(())
    }

    /// Copies the file's bytes from `offset`, such as a tensor's data, into `out`, which may be
    /// larger than the buffer.
    ///
    /// # Errors
    /// As [`each_piece`](Self::each_piece).
    pub fn read(&mut self, offset: u64, out: &mut [u8]) -> Result<(), FlashError<F::Error>> {
        let mut rest = out.iter_mut();
        let span = Span::new(offset, widen(rest.len()));
        self.each_piece(span, &mut |bytes| {
            // In this order, so that the end of a piece takes no place from the next.
            for (from, to) in bytes.iter().zip(rest.by_ref()) {
                *to = *from;
            }
        })
    }

    /// The driver, and the buffer.
    pub fn release(self) -> (F, &'b mut [u8]) {
        (self.driver, self.buffer)
    }

    /// Reads the missing bytes, and as many of the wanted ones as fit.
    fn fetch(&mut self, absent: Absent) -> Result<(), FlashError<F::Error>> {
        let unit = widen(F::READ_SIZE.max(1));
        let below = |n: u64| n.saturating_sub(n.checked_rem(unit).unwrap_or(0));
        let above = |n: u64| below(n.saturating_add(unit.saturating_sub(1)));
        let address = u64::from(self.start).saturating_add(absent.offset);
        let begin = below(address);
        let before = address.saturating_sub(begin);
        let needed = above(before.saturating_add(absent.need));
        let whole = below(widen(self.buffer.len()));
        if needed > whole {
            return Err(FlashError::WindowTooSmall { needed });
        }
        let capacity = below(widen(self.driver.capacity()).saturating_sub(begin));
        if needed > capacity {
            return Err(FlashError::OutOfBounds);
        }
        let part = below(whole.checked_div(widen(W)).unwrap_or(whole));
        let (place, room) = match needed <= part {
            true => (widen(self.next).saturating_mul(part), part),
            false => (0, whole),
        };
        let len = above(before.saturating_add(absent.want)).min(room).min(capacity);
        let (Ok(begin), Ok(before), Ok(place), Ok(room), Ok(len)) = (
            u32::try_from(begin),
            usize::try_from(before),
            usize::try_from(place),
            usize::try_from(room),
            usize::try_from(len),
        ) else {
            return Err(FlashError::OutOfBounds);
        };
        let (end, to) = (place.saturating_add(room), place.saturating_add(len));
        self.held.retain(|held| held.to <= place || held.from >= end);
        let bytes = self.buffer.get_mut(place..to).unwrap_or_default();
        self.driver.read(begin, bytes).map_err(FlashError::Driver)?;
        let from = place.saturating_add(before);
        // Parts of the buffer do not overlap, so there is room for every window.
        let _ = self.held.push(Held { offset: absent.offset, from, to });
        self.next = self.next.saturating_add(1).checked_rem(W).unwrap_or(0);
        Ok(())
    }
}
