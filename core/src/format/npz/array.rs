//! Reading a member: its local header and its array header, which is stored uncompressed or
//! at the start of a deflate stream.

use super::{SUFFIX, State, rules};
use crate::base::{limits, widen};
use crate::codec::{Decoder, Fault, Size, Step};
use crate::format::archive::{Local, Member, Visit};
use crate::format::npy::{
    self, Place, Prelude, UNKNOWN,
    rules::{NPY_DATA, NPY_LENGTH},
};
use crate::input::{Source, Span};
#[cfg(feature = "payloads")]
use crate::model::texts::Texts;
use crate::model::{Chunks, DimEncoding, Encoding, NameAt, Status, Tensor, dims::Packed};
use crate::parse::Reader;
use crate::rule::Halt;

/// Number of bytes decoded first: enough for the header of an unstructured array.
const FIRST: usize = 128;

/// Reads the member of `state`, from its local header on; members end at or before `limit`.
/// Returns the tensor, if the member is an array, and the number of bytes read so far from
/// members that may share them. Above a limit, the tensor only has a name and a location.
pub(super) fn read(
    r: &mut Reader<'_, '_>,
    state: &State,
    limit: u64,
) -> Result<(Option<Tensor>, u64), Halt> {
    let State { visit: Visit { member, .. }, is_array, .. } = state;
    let local = member.local(r, limit, rules::zip)?;
    let head = local.data.offset.saturating_sub(member.offset);
    let read = head.saturating_add(member.stored.min(limits::NPY_HEADER));
    let shared = state.visit.shared.saturating_add(read);
    let spent = state.visit.shared > r.allowance();
    if !*is_array {
        // NumPy reads what begins like an array under any name, and runs objects in it.
        match member.method {
            _ if spent => {}
            Member::STORED if begins_stored(r, member, local.data)? => {
                stored(r, member, &local)?;
            }
            Member::DEFLATED if may_begin_deflated(r, local.data)? => {
                deflated(r, member, &local)?;
            }
            _ => member.compare(r, &local, rules::zip),
        }
        return Ok((None, shared));
    }
    let mut tensor = match member.method {
        method if spent => unread(local.data, encoding(method), Status::Unsupported),
        Member::STORED => stored(r, member, &local)?,
        Member::DEFLATED => deflated(r, member, &local)?,
        method => {
            member.compare(r, &local, rules::zip);
            unread(local.data, encoding(method), Status::Unsupported)
        }
    };
    // The name in the local header is near the shape; the audit compares it with the
    // directory's.
    let len = u64::from(local.name.len).saturating_sub(widen(SUFFIX.len()));
    tensor.name = NameAt::plain(local.name.offset, len);
    Ok((Some(tensor), shared))
}

/// Whether stored data begins like an array. It is read together with the local header.
fn begins_stored(r: &mut Reader<'_, '_>, member: &Member, data: Span) -> Result<bool, Halt> {
    let magic = widen(npy::field::MAGIC.len());
    let head = Span::between(member.offset, data.offset.wrapping_add(magic));
    Ok(data.len >= magic && r.get(head)?.ends_with(&npy::field::MAGIC))
}

/// Whether a stream decodes to bytes that begin like an array, or to none within the limit.
fn may_begin_deflated(r: &mut Reader<'_, '_>, stream: Span) -> Result<bool, Halt> {
    if !Decoder::decodes(Encoding::Deflate) {
        return Ok(false);
    }
    let mut bytes = [0; npy::field::MAGIC.len()];
    let head = decode(r, stream, &mut bytes)?;
    let unknown = head.end.is_none() && head.written < bytes.len();
    Ok(unknown || bytes == npy::field::MAGIC)
}

/// The encoding of a member with this compression method.
fn encoding(method: u16) -> Encoding {
    match method {
        Member::STORED => Encoding::Raw,
        Member::DEFLATED => Encoding::Deflate,
        _ => Encoding::Unknown,
    }
}

/// Reads an array that is stored uncompressed.
fn stored(r: &mut Reader<'_, '_>, member: &Member, local: &Local<'_>) -> Result<Tensor, Halt> {
    let data = local.data;
    let end = data.offset.wrapping_add(data.len);
    r.limit(end, NPY_LENGTH);
    let header = Prelude::read(r).and_then(|prelude| Ok((prelude, r.take(prelude.text)?)));
    if let Err(halt) = header
        && halt.is_absent()
    {
        return Err(halt);
    }
    member.compare(r, local, rules::zip);
    let mut tensor = Tensor::default();
    let place = Place::here(data.offset);
    let array = header.and_then(|(prelude, text)| npy::read(r, place, prelude, text, &mut tensor));
    let array = match array {
        Ok(array) => array,
        Err(halt) => {
            r.refuse(halt);
            return Ok(broken());
        }
    };
    let elements = Span::between(array.offset, end);
    fit(r, &mut tensor, array.len, elements, elements.len);
    tensor.extra = Span::between(data.offset, array.offset);
    Ok(tensor)
}

/// Reads a deflated array, and decodes only its header.
fn deflated(r: &mut Reader<'_, '_>, member: &Member, local: &Local<'_>) -> Result<Tensor, Halt> {
    let stream = local.data;
    if !Decoder::decodes(Encoding::Deflate) {
        member.compare(r, local, rules::zip);
        r.flag(rules::NPZ_INFLATE, stream.offset, stream.len, 0, 0);
        return Ok(unread(stream, Encoding::Deflate, Status::Unsupported));
    }
    let mut buffer = [0; limits::NPZ_HEADER];
    let mut head = decode(r, stream, buffer.get_mut(..FIRST).unwrap_or_default())?;
    // All decoding happens before anything is reported.
    let prelude = r.quietly(|r| prelude(r, stream, &buffer));
    let total = prelude.map_or(0, |prelude| prelude.total());
    let short = head.written < Prelude::LEAST;
    if head.end.is_none()
        && widen(head.written) < total
        && let Some(room) = usize::try_from(total).ok().and_then(|len| buffer.get_mut(..len))
    {
        head = decode(r, stream, room)?;
    }
    member.compare(r, local, rules::zip);
    let most = widen(limits::NPZ_HEADER);
    if short || (widen(head.written) < total && total <= most) {
        let (rule, status) = match head.end {
            Some(Fault::Short) => (NPY_LENGTH, Status::Broken),
            Some(fault) => (rules::stream(fault), Status::Broken),
            None => (rules::NPZ_STREAM_LIMIT, Status::Unsupported),
        };
        let expected = total.max(widen(Prelude::LEAST));
        r.flag(rule, stream.offset, stream.len, expected, widen(head.written));
        return Ok(unread(stream, Encoding::Deflate, status));
    }
    let (mut tensor, mut header) = (Tensor::default(), &[][..]);
    let array = self::prelude(r, stream, &buffer).and_then(|prelude| {
        let Some(whole) = usize::try_from(total).ok().and_then(|total| buffer.get(..total)) else {
            r.flag(rules::NPZ_HEADER_LIMIT, stream.offset, stream.len, most, total);
            return Ok(None);
        };
        header = whole;
        let text = header.get(prelude.len..).unwrap_or_default();
        npy::read(r, Place::decoded(stream), prelude, text, &mut tensor).map(Some)
    });
    let array = match array {
        Ok(Some(array)) => array,
        Ok(None) => return Ok(unread(stream, Encoding::Deflate, Status::Unsupported)),
        Err(halt) => {
            r.refuse(halt);
            return Ok(broken());
        }
    };
    // The text of the shape is not in the file.
    let mut packed = Packed::default();
    let extents = tensor.dims.read(&Source::whole(header)).unwrap_or_default();
    extents.for_each(|extent| packed.push(extent));
    (tensor.offset, tensor.dims) = (stream.offset, packed.dims());
    if tensor.dims.encoding == DimEncoding::External {
        r.flag(rules::NPZ_SHAPE_LIMIT, stream.offset, stream.len, 0, tensor.dims.rank.into());
    }
    let Some(left) = member.size.checked_sub(array.offset) else {
        let rule = rules::ZIP_DEFLATE_SIZE;
        r.flag(rule, stream.offset, stream.len, member.size, array.offset);
        return Ok(broken());
    };
    fit(r, &mut tensor, array.len, stream, left);
    if tensor.status != Status::Broken {
        tensor.chunks = Chunks::One(stream);
    }
    tensor.encoding = Encoding::Deflate;
    tensor.extra = Span::new(stream.offset, array.offset);
    Ok(tensor)
}

/// The text in the fields of an element, from the array header, which is read again.
#[cfg(feature = "payloads")]
pub(super) fn texts(r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Texts, Halt> {
    let mut buffer = [0; limits::NPZ_HEADER];
    let Span { offset, len } = tensor.extra;
    let header = match (tensor.encoding, tensor.chunks) {
        (Encoding::Deflate, Chunks::One(stream)) => {
            r.region(offset, offset.saturating_add(stream.len), NPY_LENGTH);
            let room = usize::try_from(len).ok().and_then(|len| buffer.get_mut(..len));
            let room = room.unwrap_or_default();
            decode(r, stream, room)?;
            &*room
        }
        _ => r.get(tensor.extra)?,
    };
    let prelude = prelude(r, tensor.extra, header)?;
    npy::texts(r, prelude, header.get(prelude.len..).unwrap_or_default())
}

/// Reads the prelude from the decoded bytes of a stream.
fn prelude(r: &mut Reader<'_, '_>, stream: Span, bytes: &[u8]) -> Result<Prelude, Halt> {
    let (head, rest) = bytes.split_first_chunk().unwrap_or((&[0; 10], &[]));
    Prelude::of(r, Place::decoded(stream), head, |_, len| {
        Ok(usize::try_from(len).ok().and_then(|len| rest.get(..len)).unwrap_or_default())
    })
}

/// Completes the tensor with its data of `len` bytes, at the start of `place`; it is broken unless
/// that takes exactly the `left` bytes available. Findings refer to `place`.
fn fit(r: &mut Reader<'_, '_>, tensor: &mut Tensor, len: u64, place: Span, left: u64) {
    tensor.index = r.subject().entry;
    if tensor.status == Status::Broken {
        return;
    }
    let len = if len == UNKNOWN { left } else { len };
    if len == left {
        tensor.chunks = Chunks::One(Span::new(place.offset, len));
    } else {
        let rule = if len > left { NPY_DATA } else { rules::NPZ_SIZE };
        r.flag(rule, place.offset, place.len, len, left);
        tensor.status = Status::Broken;
    }
}

/// The tensor of a member whose array header is unknown.
fn unread(stored: Span, encoding: Encoding, status: Status) -> Tensor {
    let chunks = if status == Status::Broken { Chunks::None } else { Chunks::One(stored) };
    Tensor { encoding, status, chunks, ..Tensor::default() }
}

/// The tensor of a member whose array is invalid.
fn broken() -> Tensor {
    Tensor { status: Status::Broken, ..Tensor::default() }
}

/// The decoded start of a stream.
struct Head {
    written: usize,
    /// Why decoding ended early; `None` if the output was filled or the limit was reached.
    end: Option<Fault>,
}

/// Decodes a stream until the output is full or the stream ends.
fn decode(r: &mut Reader<'_, '_>, stream: Span, output: &mut [u8]) -> Result<Head, Halt> {
    let most = stream.len.min(limits::NPZ_STREAM);
    let run = r.resident();
    let input = usize::try_from(stream.len).ok().and_then(|len| run.get(..len)).unwrap_or(run);
    let input = usize::try_from(most).ok().and_then(|len| input.get(..len)).unwrap_or(input);
    let mut decoder = Decoder::new();
    decoder.start(Encoding::Deflate, stream, Size::AtMost(widen(output.len())));
    let mut rest = input;
    let (written, end) = loop {
        let written = usize::try_from(decoder.written()).unwrap_or(0);
        if written == output.len() {
            break (written, None);
        }
        match decoder.step(rest, output) {
            Ok(Step { done: true, .. }) => {
                break (usize::try_from(decoder.written()).unwrap_or(0), Some(Fault::Short));
            }
            Ok(Step { read: 0, written, .. }) if written.is_empty() => {
                let have = widen(input.len());
                if have < most {
                    r.require(have.saturating_mul(2).max(limits::NPZ_AHEAD).min(most))?;
                }
                break (usize::try_from(decoder.written()).unwrap_or(0), None);
            }
            Ok(Step { read, .. }) => rest = rest.get(read..).unwrap_or_default(),
            Err(Fault::Trailing) => break (written, Some(Fault::Short)),
            Err(fault) => break (written, Some(fault)),
        }
    };
    Ok(Head { written, end })
}
