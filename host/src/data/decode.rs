//! Chunks decoded: piece by piece, or all at once.

use crate::access::Access;
use crate::error::Error;
use alloc::vec::Vec;
use weighbridge_core::codec::{self, Decoder, Fault, Size, Undecoded};
use weighbridge_core::{Absent, Chunk, Encoding, Source, Stop, limits};

/// Where in the buffer the next decoded bytes lie; `None` at the end.
pub(super) fn step(
    decoder: &mut Decoder,
    source: &Source<'_>,
    chunk: &Chunk,
    buffer: &mut [u8],
) -> Result<Result<Option<core::ops::Range<usize>>, Fault>, Absent> {
    loop {
        let at = chunk.stored.offset.saturating_add(decoder.read());
        let left = chunk.stored.len.saturating_sub(decoder.read());
        let run = source.run(at);
        let run = usize::try_from(left).ok().and_then(|left| run.get(..left)).unwrap_or(run);
        match decoder.step(run, buffer) {
            Err(fault) => return Ok(Err(fault)),
            Ok(step) if !step.written.is_empty() => return Ok(Ok(Some(step.written))),
            Ok(step) if step.done => return Ok(Ok(None)),
            Ok(step) if step.read == 0 => {
                let need = decoder.needs();
                return Err(Absent { offset: at, need, want: left.max(need) });
            }
            Ok(_) => {}
        }
    }
}

/// Decodes all of a tensor's data, which is in one piece, to where it is wanted.
pub(crate) fn fill(access: &Access<'_>, chunk: &Chunk, into: &mut [u8]) -> Result<(), Error> {
    if chunk.encoding == Encoding::Raw {
        return access.read(chunk.stored.offset, into);
    }
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, Size::Exactly(into.len() as u64));
    decoder.allow(access.options().work_of(access.len()));
    let filled = access.ask(|source| match decoder.fill(source, into) {
        Ok(_) => Ok(Ok(())),
        Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
        Err(Undecoded::Fault(fault)) => Ok(Err(fault)),
    })?;
    filled.map_err(Error::Undecodable)
}

/// Makes the buffer as large as what a chunk decodes to, within the limits of the
/// core; false if it cannot, or was before.
pub(super) fn grow(buffer: &mut Vec<u8>, chunk: &Chunk) -> bool {
    let most = chunk.stored.len.saturating_mul(limits::ZSTD_WHOLE_PER_BYTE);
    let most = most.clamp(limits::ZSTD_WHOLE, limits::BLOCK_BYTES);
    let decoded = chunk.decoded.filter(|decoded| *decoded <= most);
    let more = decoded.and_then(|decoded| usize::try_from(decoded).ok());
    let more = more.and_then(|decoded| decoded.checked_sub(buffer.len())).unwrap_or(0);
    let grows = more > 0 && buffer.try_reserve_exact(more).is_ok();
    if grows {
        buffer.resize(buffer.len() + more, 0);
    }
    grows
}

/// Why there are no decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// They are so many, and the limit is lower.
    TooLarge(u64),
    /// There is no memory for so many.
    NoMemory(u64),
    /// The stored bytes are not what their encoding says.
    Faulty,
}

/// All bytes of a chunk that becomes no more than `most` bytes.
pub(crate) fn decode(
    access: &Access<'_>,
    chunk: &Chunk,
    most: u64,
) -> Result<Result<Vec<u8>, Trouble>, Error> {
    // No more than can come of the stored bytes.
    let bound = codec::most(chunk.encoding, chunk.stored.len).unwrap_or(0);
    let len = chunk.decoded.unwrap_or(bound.min(most));
    if len > bound || !Decoder::decodes(chunk.encoding) {
        return Ok(Err(Trouble::Faulty));
    }
    if len > most {
        return Ok(Err(Trouble::TooLarge(len)));
    }
    let size = if chunk.decoded.is_some() { Size::Exactly(len) } else { Size::AtMost(len) };
    let mut buffer = Vec::new();
    let capacity = usize::try_from(len).unwrap_or(usize::MAX);
    if buffer.try_reserve_exact(capacity).is_err() {
        return Ok(Err(Trouble::NoMemory(len)));
    }
    buffer.resize(capacity, 0);
    let mut decoder = Decoder::new();
    decoder.start(chunk.encoding, chunk.stored, size);
    let filled = access.ask(|source| match decoder.fill(source, &mut buffer) {
        Ok(decoded) => Ok(Ok(decoded.len())),
        Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
        Err(Undecoded::Fault(_)) => Ok(Err(Trouble::Faulty)),
    })?;
    Ok(filled.map(|filled| {
        buffer.truncate(filled);
        buffer
    }))
}
