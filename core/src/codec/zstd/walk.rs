//! The structure of Zstandard frames (RFC 8878), without decoding them.
//!
//! Only headers are read, so a frame of any size costs three bytes a block.
//! What the blocks decode to is bounded from both sides: raw and repeated
//! blocks tell their size, compressed ones decode to at most 128 KiB.

use super::frame::{
    BLOCK, BlockHeader, COMPRESSED, Descriptor, Header, Kind, MAGIC, SKIPPABLE, window,
};
use crate::base::limits;
use crate::input::{Span, leaf::array};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Bytes of a checksum.
const CHECKSUM: u64 = 4;

/// What is wrong with frames.
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
    /// A block is of the reserved type.
    BlockType,
    /// A block is larger than a block may be, or too small to be one.
    BlockSize,
    /// Bytes follow the last frame.
    Trailing,
    /// The content sizes that are stated do not add up to the expected size.
    ContentSize,
    /// The blocks cannot decode to the expected size.
    DecodedSize,
    /// There is more than one plain frame.
    Frames,
}

/// How far the frames of one piece of data were followed: plain numbers, kept
/// between calls.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Walk {
    /// Bytes that were passed.
    passed: u64,
    /// Size of the blocks that tell it.
    least: u64,
    /// What the compressed blocks decode to at most.
    beyond: u64,
    /// Sum of the content sizes that are stated.
    stated: u64,
    /// Largest block of the current frame.
    block_max: u64,
    frames: u32,
    /// Inside a frame, between two blocks.
    inside: bool,
    /// The current frame ends with a checksum.
    checksum: bool,
    /// A frame does not state its size.
    unstated: bool,
    skippable: bool,
    /// A frame is beyond what is decoded here.
    limited: bool,
    /// Largest window of a frame.
    window: u64,
}

/// Why a walk ended before the end of the data.
enum End {
    Halt(Halt),
    /// A fault, where it lies, and the numbers of its finding.
    Fault(Fault, Span, u64, u64),
}

impl From<Halt> for End {
    fn from(halt: Halt) -> Self {
        End::Halt(halt)
    }
}

impl Walk {
    /// The largest window that a frame asks for.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Follows the frames that `data` holds and reports what is wrong with
    /// them. `expected` is the size of what they decode to, if that is known.
    ///
    /// A fault ends the walk; the answer then is `false`. So it is, at the end, when
    /// the frames are sound and yet not to be decoded.
    pub(crate) fn run(
        &mut self,
        r: &mut Reader<'_, '_>,
        data: Span,
        expected: Option<u64>,
        rule: fn(Fault) -> Rule,
    ) -> Result<bool, Halt> {
        match self.follow(r, data, expected, rule) {
            Ok(()) => {
                if self.frames > 1 || self.skippable {
                    r.flag(rule(Fault::Frames), data.offset, data.len, 1, u64::from(self.frames));
                }
                Ok(!self.limited)
            }
            Err(End::Fault(fault, at, expected, found)) => {
                r.flag(rule(fault), at.offset, at.len, expected, found);
                Ok(false)
            }
            Err(End::Halt(halt)) => {
                // The only rule that a reader finds broken by itself.
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
        rule: fn(Fault) -> Rule,
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
        rule: fn(Fault) -> Rule,
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
        // In a single segment the window is the content, of known size.
        let window = header.reach();
        self.window = self.window.max(window);
        // Nothing was broken, and nothing is read after this that may be missing.
        if header.dictionary != 0 {
            self.limited = true;
            r.flag(rule(Fault::Dictionary), at, span.len, 0, header.dictionary);
        } else if window > limits::ZSTD_WINDOW
            && (expected.is_none() || header.window >= Some(limits::ZSTD_WINDOW_END))
        {
            self.limited = true;
            r.flag(rule(Fault::Window), at, span.len, limits::ZSTD_WINDOW, window);
        }
        self.block_max = window.min(BLOCK.into());
        self.frames = self.frames.saturating_add(1);
        self.checksum = header.checked;
        self.inside = true;
        Ok(())
    }

    /// Reads the header of a block and passes over its data.
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

/// The header of a frame, after the magic.
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
