//! The blocks of columns, and the values of their annotations.
//!
//! If only a payload's length matters, it is decoded through the buffer as a window. Text,
//! vectors, truth values, keys and date-times are validated as a whole block: in place if raw and
//! resident, otherwise in the buffer. A block that does not fit is first decoded to its end
//! through the window, so that a larger buffer is requested only for data that exists. It is then
//! decoded again, to the same length.

use super::super::Audit;
use super::Pause;
use super::Work;
use super::stream::ScratchIn;
use crate::base::{limits, widen};
use crate::codec::{self, Decoder, Size, Step};
use crate::file::{Cursor, File};
use crate::format::idv::{Codec, Header, annotation::has_payload, blocks::Measure, rules};
use crate::input::{Absent, Span};
use crate::model::{Chunk, Encoding, Status, Tensor};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, general};
use core::ops::DerefMut;

/// Length of a block's entry in the lookup table.
const ENTRY: u64 = 16;

/// Progress within the blocks of the current column.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Progress {
    /// The codec of its values.
    codec: Option<Codec>,
    /// Number of blocks passed.
    passed: u64,
    /// Number of annotations passed.
    attributes: Cursor,
    /// Start of the last annotation if it is still to be checked, otherwise 0: its value
    /// need not be resident together with its entry.
    annotation: u64,
    current: Option<Payload>,
    /// A payload was not decoded; this is reported once.
    unchecked: bool,
}

/// A block, or the value of an annotation.
#[derive(Clone, Copy, Debug, Hash)]
struct Payload {
    chunk: Chunk,
    codec: Codec,
    kind: EntryKind,
    part: u32,
    state: State,
    /// The fault after which all of its data was decoded nevertheless, from then on.
    fault: Option<codec::Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Not started.
    Fresh,
    /// Decoding.
    Decoding,
    /// It decodes to this many bytes, but the buffer was too small.
    Proved(u64),
}

impl<B: DerefMut<Target = [u8]>> ScratchIn<B> {
    /// Checks blocks and annotations of a column.
    pub(super) fn blocks(
        &mut self,
        audit: &mut Audit,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<(), Pause> {
        let File::Idv(header) = audit.file else { return Ok(()) };
        let (mut p, mut work) = (audit.payload.current.blocks, audit.payload.work);
        let result = self.all(audit, &header, (&mut p, &mut work), r, tensor);
        (audit.payload.current.blocks, audit.payload.work) = (p, work);
        result
    }

    fn all(
        &mut self,
        audit: &Audit,
        header: &Header,
        (p, work): (&mut Progress, &mut Work),
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<(), Pause> {
        loop {
            let mut payload = match p.current {
                Some(payload) => payload,
                None => match next(audit, header, p, r, tensor)? {
                    Some(payload) => payload,
                    None => return Ok(()),
                },
            };
            r.about(payload.kind, tensor.index);
            r.about_part(payload.part);
            let result = self.payload(header, &mut payload, work, r);
            p.current = Some(payload);
            if !result? && !p.unchecked {
                r.about(EntryKind::Tensor, tensor.index);
                r.flag(general::PAYLOAD_UNCHECKED, tensor.offset, 0, 0, 0);
                p.unchecked = true;
            }
            p.current = None;
        }
    }

    /// Checks one payload; returns whether that was possible or was reported as too much work.
    fn payload(
        &mut self,
        header: &Header,
        payload: &mut Payload,
        work: &mut Work,
        r: &mut Reader<'_, '_>,
    ) -> Result<bool, Pause> {
        let Chunk { stored, decoded: recorded, encoding, .. } = payload.chunk;
        let wanted = payload.is_wanted();
        if encoding == Encoding::Raw {
            if !wanted {
                return Ok(true);
            }
            if let Ok(bytes) = r.source().get(stored) {
                payload.validate(header, r, bytes);
                return Ok(true);
            }
        }
        let most = payload.most();
        if !Decoder::decodes(encoding) || (encoding == Encoding::Raw && stored.len > most) {
            return Ok(false);
        }
        let room = widen(self.buffer.len());
        if payload.state != State::Decoding {
            let known = match (payload.state, encoding) {
                (State::Proved(len), _) => Some(len),
                (_, Encoding::Raw) => Some(stored.len),
                _ => None,
            };
            if let Some(needed) = known.filter(|len| *len > room) {
                return Err(Pause::Buffer(needed));
            }
            let size = match known.or(recorded) {
                Some(len) => Size::Exactly(len),
                None => Size::AtMost(most),
            };
            let Some(rest) = work.rest(r) else { return Ok(true) };
            self.decoder.start(encoding, stored, size);
            self.decoder.allow(rest);
            payload.state = State::Decoding;
        }
        let decoded = self.decode(r, stored)?;
        if work.charge(self.decoder.work(), decoded.err()) {
            return Ok(true);
        }
        let len = self.decoder.written();
        // Decoded again to its known length, a stream without an end looks too long.
        let fault = payload.fault.or(decoded.err());
        if let Some(fault) = fault
            && !(wanted && payload.is_readable(fault, len))
        {
            return Ok(payload.flag_stream(r, fault, len));
        }
        if !wanted {
            return Ok(true);
        }
        // Only the end of a larger payload is in the buffer.
        if len > room {
            if len > most {
                if let Some(fault) = fault {
                    payload.flag_stream(r, fault, len);
                }
                return Ok(false);
            }
            (payload.state, payload.fault) = (State::Proved(len), fault);
            return Err(Pause::Buffer(len));
        }
        if let Some(fault) = fault {
            payload.flag_stream(r, fault, len);
        }
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        payload.validate(header, r, self.buffer.get(..len).unwrap_or_default());
        Ok(true)
    }

    /// Decodes to the end of the stored bytes.
    fn decode(
        &mut self,
        r: &mut Reader<'_, '_>,
        stored: Span,
    ) -> Result<Result<(), codec::Fault>, Pause> {
        loop {
            let read = self.decoder.read();
            let at = stored.offset.saturating_add(read);
            let left = stored.len.saturating_sub(read);
            let run = r.source().run(at);
            let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
            match self.decoder.step(run, &mut self.buffer) {
                Ok(Step { done: true, .. }) => return Ok(Ok(())),
                Ok(Step { read: 0, written, .. }) if written.is_empty() => {
                    return Err(r.lack(Absent { offset: at, need: 1, want: left.max(1) }).into());
                }
                Ok(_) => {}
                Err(fault) => return Ok(Err(fault)),
            }
        }
    }
}

impl Audit {
    /// Whether a block or an annotation of a column has bytes that must be decoded or
    /// validated.
    pub(super) fn has_blocks(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
    ) -> Result<bool, Pause> {
        let File::Idv(header) = self.file else { return Ok(false) };
        let mut p = self.payload.current.blocks;
        loop {
            let found = next(self, &header, &mut p, r, tensor);
            self.payload.current.blocks = p;
            match found? {
                Some(payload)
                    if payload.chunk.encoding == Encoding::Raw && !payload.is_wanted() => {}
                payload => return Ok(payload.is_some()),
            }
        }
    }
}

/// The next block of a column or, after the last, the next readable annotation.
fn next(
    audit: &Audit,
    header: &Header,
    p: &mut Progress,
    r: &mut Reader<'_, '_>,
    tensor: &Tensor,
) -> Result<Option<Payload>, Pause> {
    let codec = match p.codec {
        Some(codec) => codec,
        None => {
            let codec = header.codec(r.source(), tensor).map_err(|absent| r.lack(absent))?;
            *p.codec.insert(codec)
        }
    };
    // Blocks whose codec is unknown were reported as unchecked.
    while tensor.status == Status::Sound && p.passed < tensor.chunks.count() {
        let chunk = audit.file.chunk_of(r, tensor, p.passed)?;
        let part = u32::try_from(p.passed).unwrap_or(u32::MAX.saturating_sub(1));
        p.passed = p.passed.saturating_add(1);
        if !charge(r, chunk.map_or(0, |chunk| chunk.stored.len)) {
            return Ok(None);
        }
        // Contradictory lengths were reported with the structure.
        let sound = |chunk: &Chunk| {
            chunk.encoding != Encoding::Raw || chunk.decoded == Some(chunk.stored.len)
        };
        if let Some(chunk) = chunk.filter(sound) {
            let kind = EntryKind::Tensor;
            return Ok(Some(Payload {
                chunk,
                codec,
                kind,
                part,
                state: State::Fresh,
                fault: None,
            }));
        }
    }
    loop {
        r.mute();
        let found = next_annotation(&audit.file, header, p, r, tensor);
        r.unmute();
        let Some((part, annotation)) = found? else { return Ok(None) };
        if !charge(r, annotation.map_or(0, |(_, chunk)| chunk.stored.len)) {
            return Ok(None);
        }
        if let Some((codec, chunk)) = annotation {
            let kind = EntryKind::Attribute;
            return Ok(Some(Payload {
                chunk,
                codec,
                kind,
                part,
                state: State::Fresh,
                fault: None,
            }));
        }
    }
}

/// Charges a payload and its entry; returns whether it may be read.
fn charge(r: &mut Reader<'_, '_>, len: u64) -> bool {
    r.charge(len.saturating_add(ENTRY));
    !r.is_spent()
}

/// The position of the next annotation, with its codec and payload if it is valid.
#[allow(clippy::type_complexity, reason = "used once")]
fn next_annotation(
    file: &File,
    header: &Header,
    p: &mut Progress,
    r: &mut Reader<'_, '_>,
    tensor: &Tensor,
) -> Result<Option<(u32, Option<(Codec, Chunk)>)>, Halt> {
    if p.annotation == 0 {
        match file.attribute(r, tensor, &mut p.attributes)? {
            Some(meta) if has_payload(&meta) => p.annotation = meta.offset,
            meta => return Ok(meta.map(|meta| (meta.index, None))),
        }
    }
    let payload = header.payload_at(r, p.annotation)?;
    p.annotation = 0;
    Ok(Some((p.attributes.index().saturating_sub(1), payload)))
}

impl Payload {
    /// Whether its bytes are validated, in addition to their number.
    fn is_wanted(&self) -> bool {
        let Some(len) = self.chunk.decoded else { return true };
        // A payload that is too short was reported with the structure.
        let least = Measure::of(&self.codec).least(self.chunk.elements);
        self.codec.has_rules() && least.is_none_or(|least| len >= least)
    }

    /// Most bytes that it may decode to if they are validated.
    fn most(&self) -> u64 {
        match self.kind {
            EntryKind::Attribute if self.chunk.encoding != Encoding::Raw => {
                limits::ANNOTATION_BYTES
            }
            _ => limits::BLOCK_BYTES,
        }
    }

    /// Validates the decoded bytes.
    fn validate(&self, header: &Header, r: &mut Reader<'_, '_>, bytes: &[u8]) {
        let Chunk { stored, decoded, encoding, elements, .. } = self.chunk;
        // Surplus bytes were reported with the structure, if a length was recorded there.
        let measured = decoded.is_some() && Measure::of(&self.codec).is_exact();
        let mut report = |fault: crate::format::idv::block::Fault| {
            if measured && fault.rule == rules::B_STRAY {
                return;
            }
            let stray = fault.rule == rules::B_STRAY;
            let found = if stray { widen(bytes.len()) } else { fault.offset };
            let Span { offset: at, len } = match encoding {
                Encoding::Raw => Span::new(stored.offset.saturating_add(fault.offset), fault.len),
                _ => stored,
            };
            r.flag(fault.rule, at, len, fault.expected, found);
        };
        header.validate_block(&self.codec, elements, bytes, &mut report);
    }

    /// Whether a stream with this fault has all of its `written` bytes, which are then validated:
    /// ML.NET reads them.
    fn is_readable(&self, fault: codec::Fault, written: u64) -> bool {
        match fault {
            codec::Fault::Trailing => true,
            codec::Fault::Truncated => self.chunk.decoded.is_none_or(|len| written >= len),
            _ => false,
        }
    }

    /// Reports a stream that is not sound, if the file is at fault.
    fn flag_stream(&self, r: &mut Reader<'_, '_>, fault: codec::Fault, written: u64) -> bool {
        let rule: Rule = match fault {
            codec::Fault::Unsupported | codec::Fault::Buffer => return false,
            // A stream without a recorded length is decoded no further.
            codec::Fault::Long if self.chunk.decoded.is_none() => return false,
            codec::Fault::Truncated if self.is_readable(fault, written) => rules::B_DEFLATE_END,
            codec::Fault::Truncated | codec::Fault::Short | codec::Fault::Long => {
                rules::B_DECOMP_LEN
            }
            codec::Fault::Trailing => rules::B_DEFLATE_TRAIL,
            _ => rules::B_DEFLATE,
        };
        let found = written.saturating_add(u64::from(fault == codec::Fault::Long));
        let Span { offset: at, len } = self.chunk.stored;
        r.flag(rule, at, len, self.chunk.decoded.unwrap_or(written), found);
        true
    }
}
