//! The structure of Zstandard frames (RFC 8878), without decoding them.
//!
//! Only headers are read, so a frame costs three bytes per block, whatever its size. The decoded
//! size is bounded from both sides: raw and repeated blocks record their size, and compressed
//! ones decode to at most 128 KiB.

use super::frame::{
    BLOCK, BlockHeader, COMPRESSED, Descriptor, Header, Kind, MAGIC, SKIPPABLE, window,
};
use crate::base::limits;
use crate::input::{Span, leaf::array};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Length of a checksum.
const CHECKSUM: u64 = 4;

/// A fault of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The data does not begin with a frame.
    Magic,
    /// The data ends inside a frame.
    Truncated,
    /// A reserved bit is set.
    Reserved,
    /// A dictionary is needed.
    Dictionary,
    /// The window is larger than the limit.
    Window,
    /// The window is larger than many decoders take.
    Wide,
    /// A block is of the reserved type.
    BlockType,
    /// A block is larger or smaller than a block may be.
    BlockSize,
    /// Bytes follow the last frame.
    Trailing,
    /// The recorded content sizes do not add up to the expected size.
    ContentSize,
    /// The blocks cannot decode to the expected size.
    DecodedSize,
    /// There is not exactly one plain frame.
    Frames,
}

/// Progress through the frames of one piece of data: plain numbers, kept between calls.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Walk {
    /// Number of bytes passed.
    passed: u64,
    /// Total size of the blocks that record it.
    least: u64,
    /// Most bytes that the compressed blocks decode to.
    beyond: u64,
    /// Sum of the recorded content sizes.
    stated: u64,
    /// Largest block of the current frame.
    block_max: u64,
    frames: u32,
    /// Inside a frame, between two blocks.
    inside: bool,
    /// The current frame ends with a checksum.
    checksum: bool,
    /// A frame does not record its size.
    unstated: bool,
    skippable: bool,
    /// A frame exceeds what this build decodes.
    limited: bool,
    /// Largest window of a frame.
    window: u64,
}

/// Why a walk ended early.
enum End {
    Halt(Halt),
    /// A fault, its location, and the numbers of its finding.
    Fault(Fault, Span, u64, u64),
}

impl From<Halt> for End {
    fn from(halt: Halt) -> Self {
        End::Halt(halt)
    }
}

impl Walk {
    /// The largest window of the frames.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Follows the frames in `data` and reports their faults. `expected` is their decoded size,
    /// if known; several of them are reported only if there is a rule for it.
    ///
    /// Returns `false` after a fault, which ends the walk, and at the end if the frames are
    /// valid but cannot be decoded here.
    pub(crate) fn run(
        &mut self,
        r: &mut Reader<'_, '_>,
        data: Span,
        expected: Option<u64>,
        rule: &impl Fn(Fault) -> Rule,
        several: Option<Rule>,
    ) -> Result<bool, Halt> {
        match self.follow(r, data, expected, rule) {
            Ok(()) => {
                if let Some(several) = several
                    && (self.frames > 1 || self.skippable)
                {
                    r.flag(several, data.offset, data.len, 1, u64::from(self.frames));
                }
                Ok(!self.limited)
            }
            Err(End::Fault(fault, at, expected, found)) => {
                r.flag(rule(fault), at.offset, at.len, expected, found);
                Ok(false)
            }
            Err(End::Halt(halt)) => {
                // The only rule whose breach the reader itself detects.
                let Some(broken) = halt.unreported() else { return Err(halt) };
                let end = data.end().unwrap_or(u64::MAX);
                let rest = Span::between(r.at().min(end), end);
                r.flag(broken, rest.offset, rest.len, rest.len.saturating_add(1), rest.len);
                Ok(false)
            }
        }
    }

    fn follow(
        &mut self,
        r: &mut Reader<'_, '_>,
        data: Span,
        expected: Option<u64>,
        rule: &impl Fn(Fault) -> Rule,
    ) -> Result<(), End> {
        let end = data.end().unwrap_or(u64::MAX);
        loop {
            let at = data.offset.saturating_add(self.passed);
            r.region(at, end, rule(Fault::Truncated));
            let mut next = *self;
            if self.inside {
                next.block(r, expected)?;
            } else if at < end {
                next.frame(r, expected, rule)?;
            } else {
                break;
            }
            next.passed = r.at().saturating_sub(data.offset);
            *self = next;
        }
        let Some(expected) = expected else { return Ok(()) };
        if !self.unstated && !self.skippable && self.stated != expected {
            return Err(End::Fault(Fault::ContentSize, data, expected, self.stated));
        }
        let most = self.least.saturating_add(self.beyond);
        if most < expected {
            return Err(End::Fault(Fault::DecodedSize, data, expected, most));
        }
        Ok(())
    }

    /// Reads the start of a frame.
    fn frame(
        &mut self,
        r: &mut Reader<'_, '_>,
        expected: Option<u64>,
        rule: &impl Fn(Fault) -> Rule,
    ) -> Result<(), End> {
        let at = r.at();
        let left = r.left();
        if left < 4 && self.frames > 0 {
            return Err(End::Fault(Fault::Trailing, Span::new(at, left), 0, left));
        }
        let magic = r.u32()?;
        if magic & !0xF == SKIPPABLE {
            let size = r.u32()?;
            r.skip(u64::from(size))?;
            self.frames = self.frames.saturating_add(1);
            self.skippable = true;
            return Ok(());
        }
        if magic != MAGIC {
            let fault = if self.frames == 0 { Fault::Magic } else { Fault::Trailing };
            let found = if self.frames == 0 { u64::from(magic.swap_bytes()) } else { left };
            return Err(End::Fault(fault, Span::new(at, left), 0, found));
        }
        let header = header(r)?;
        let span = Span::between(at, r.at());
        if header.reserved {
            return Err(End::Fault(Fault::Reserved, span, 0, 1));
        }
        match header.content {
            Some(size) => self.stated = self.stated.saturating_add(size),
            None => self.unstated = true,
        }
        if let Some(expected) = expected
            && self.stated > expected
        {
            return Err(End::Fault(Fault::ContentSize, span, expected, self.stated));
        }
        // In a single segment the window is the content, whose size is recorded.
        let window = header.reach();
        self.window = self.window.max(window);
        // No rule is broken so far, and all bytes read after this are resident.
        if header.dictionary != 0 {
            self.limited = true;
            r.flag(rule(Fault::Dictionary), at, span.len, 0, header.dictionary);
        } else if window > limits::ZSTD_WINDOW
            && (expected.is_none() || header.window >= Some(limits::ZSTD_WINDOW_END))
        {
            self.limited = true;
            r.flag(rule(Fault::Window), at, span.len, limits::ZSTD_WINDOW, window);
        } else if header.window > Some(limits::ZSTD_WINDOW_COMMON) {
            r.flag(rule(Fault::Wide), at, span.len, limits::ZSTD_WINDOW_COMMON, window);
        }
        self.block_max = window.min(BLOCK.into());
        self.frames = self.frames.saturating_add(1);
        self.checksum = header.checked;
        self.inside = true;
        Ok(())
    }

    /// Reads the header of a block and skips its data.
    fn block(&mut self, r: &mut Reader<'_, '_>, expected: Option<u64>) -> Result<(), End> {
        let at = Span::new(r.at(), 3);
        let header = BlockHeader::of(r.parse(array::<3>)?);
        let size = u64::from(header.size);
        if header.kind == Kind::Reserved {
            return Err(End::Fault(Fault::BlockType, at, 0, 3));
        }
        if size > self.block_max {
            return Err(End::Fault(Fault::BlockSize, at, self.block_max, size));
        }
        if header.kind == Kind::Compressed {
            let least = u64::from(COMPRESSED);
            if size < least {
                return Err(End::Fault(Fault::BlockSize, at, least, size));
            }
            self.beyond = self.beyond.saturating_add(self.block_max);
        }
        r.skip(header.stored().into())?;
        if header.kind != Kind::Compressed {
            self.least = self.least.saturating_add(size);
        }
        if let Some(expected) = expected
            && self.least > expected
        {
            return Err(End::Fault(Fault::DecodedSize, at, expected, self.least));
        }
        if header.last {
            if self.checksum {
                r.skip(CHECKSUM)?;
            }
            self.inside = false;
        }
        Ok(())
    }
}

/// Reads a frame header after the magic.
fn header(r: &mut Reader<'_, '_>) -> Result<Header, Halt> {
    let Descriptor { single, reserved, checked, dictionary, size } = Descriptor::of(r.u8()?);
    // Field by field, so that a truncated frame is reported at the missing field.
    let window = if single { None } else { Some(window(r.u8()?)) };
    let dictionary = match dictionary {
        0 => 0,
        1 => r.u8()?.into(),
        2 => r.u16()?.into(),
        _ => r.u32()?.into(),
    };
    let content = match size {
        0 => None,
        1 => Some(r.u8()?.into()),
        2 => Some(u64::from(r.u16()?).saturating_add(256)),
        4 => Some(r.u32()?.into()),
        _ => Some(r.u64()?),
    };
    Ok(Header { window, content, dictionary, checked, reserved })
}
