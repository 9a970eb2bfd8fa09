//! A tensor's data, read piece by piece and decoded if it is stored encoded.

mod columns;
mod decode;
mod sparse;
mod stream;
mod strided;

pub use columns::column_major;
pub use decode::{Block, Decoding, Trouble};
pub(crate) use decode::{answered, decode, fill};
pub use sparse::{sparse_entries, sparse_len};
pub use stream::ChunkStream;
pub use strided::strided;

use crate::base::error::Error;
use crate::check::access::Access;
use crate::list::entry::Shape;
use alloc::vec::Vec;
use columns::Columns;
use weighbridge_core::codec::Decoder;
use weighbridge_core::{Chunk, Chunks, Element, Encoding, File, Layout, Span, Status, Tensor};

/// Maximum number of bytes decoded to show some entries of a sparse tensor. In compressed rows,
/// the pointers, columns and values of an entry lie apart.
const SPARSE: u64 = 64 << 20;

/// Maximum number of decoded bytes that are kept to reorder them: elements of a row lie apart.
const REORDERED: u64 = 1 << 30;

/// Whether a tensor's data is an array that holds every element in sequence. An unknown layout
/// has an unknown size.
pub(crate) fn is_dense(tensor: &Tensor) -> bool {
    matches!(
        tensor.layout,
        Layout::RowMajor | Layout::ColumnMajor | Layout::ChannelsLast | Layout::Strided
    )
}

/// Whether a tensor's elements can be read sequentially.
pub(crate) fn is_plain(tensor: &Tensor) -> bool {
    is_sequential(tensor) && tensor.dtype.is_numeric()
}

/// Whether the bytes of a tensor's elements can be read sequentially, whatever their type.
pub(crate) fn is_sequential(tensor: &Tensor) -> bool {
    let stored =
        tensor.elements == 0 || tensor.chunks.count() == 1 && Decoder::decodes(tensor.encoding);
    tensor.status == Status::Sound && is_dense(tensor) && stored
}

/// The order in which a dense tensor's elements are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Row-major; or an order that no format defines, which is kept as stored.
    Rows,
    /// The first axis fastest, with the extents.
    Columns(Vec<u64>),
    /// The first axis fastest, with unknown extents.
    Unknown,
}

/// The storage order of a tensor that [`is_dense`].
pub(crate) fn order(access: &Access<'_>, tensor: &Tensor) -> Result<Order, Error> {
    if tensor.layout != Layout::ColumnMajor || tensor.elements < 2 {
        return Ok(Order::Rows);
    }
    let shape = access.ask(|source| Shape::read(source, tensor))?;
    let Some(extents) = shape.known() else { return Ok(Order::Unknown) };
    let whole = tensor.unit().is_some_and(|(count, _)| count == 1);
    let stored = tensor.raw().is_some() || Decoder::decodes(tensor.encoding);
    match extents.iter().filter(|extent| **extent != 1).count() {
        0 | 1 => Ok(Order::Rows),
        _ if whole && stored => Ok(Order::Columns(extents)),
        _ => Ok(Order::Unknown),
    }
}

/// Like [`elements`], in row-major order. Does nothing if the order is unknown.
pub(crate) fn ordered<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let extents = match order(access, tensor)? {
        Order::Rows => return elements(access, file, tensor, count, take),
        Order::Columns(extents) => extents,
        Order::Unknown => return Ok(()),
    };
    let width = tensor.unit().map_or(1, |(_, width)| u64::from(width));
    let columns = Columns { width, extents: &extents };
    let count = tensor.elements.min(count);
    if let Some(span) = tensor.raw() {
        return columns.read(access, span.offset, count, take);
    }
    // A stream is decoded from its start, so its elements are kept to be reordered.
    let len = tensor.elements.saturating_mul(width);
    if len > REORDERED {
        return Err(Error::Memory(len).into());
    }
    let mut decoded = Vec::new();
    bytes(access, file, tensor, len, |piece| {
        decoded.extend_from_slice(piece);
        Ok::<(), E>(())
    })?;
    columns.turn(&decoded, count, take)
}

/// Calls `take` for each piece of a tensor that [`is_plain`], in file order, with the bytes and
/// the number of elements in them. Stops after the first `count` elements.
pub(crate) fn elements<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    // Pieces end between units: elements, bytes of packed elements, or blocks.
    let (unit, width) = tensor.unit().unwrap_or((1, 1));
    let (unit, width) = (u64::from(unit), width as usize);
    let mut left = count;
    // A unit that spans two pieces.
    let mut carry: Vec<u8> = Vec::new();
    let len = count.div_ceil(unit).saturating_mul(width as u64);
    bytes(access, file, tensor, len, |mut piece| {
        let mut give = |bytes: &[u8]| {
            let here = ((bytes.len() / width) as u64 * unit).min(left);
            left -= here;
            take(bytes, here)
        };
        if !carry.is_empty() {
            let missing = (width - carry.len()).min(piece.len());
            carry.extend_from_slice(&piece[..missing]);
            piece = &piece[missing..];
            if carry.len() < width {
                return Ok(());
            }
            give(&carry)?;
            carry.clear();
        }
        let whole = piece.len() / width * width;
        carry.extend_from_slice(&piece[whole..]);
        if whole > 0 { give(&piece[..whole]) } else { Ok(()) }
    })
}

/// Like [`elements`], for the elements in a range. `take` receives the bytes, the number of
/// elements in them before the range, and the number within it. Raw data outside it is not read.
pub(crate) fn range<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    range: core::ops::Range<u64>,
    mut take: impl FnMut(&[u8], u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    let (unit, width) = tensor.unit().unwrap_or((1, 1));
    let (mut part, mut at) = (*tensor, 0);
    if let Some(span) = tensor.raw() {
        // Starts at the unit that contains the first element.
        let units = range.start / u64::from(unit);
        let skipped = units.saturating_mul(width.into()).min(span.len);
        part.chunks = Chunks::One(Span::new(span.offset + skipped, span.len - skipped));
        at = units * u64::from(unit);
    }
    elements(access, file, &part, range.end - at, |bytes, here| {
        let skip = range.start.saturating_sub(at).min(here);
        at += here;
        if skip < here { take(bytes, skip, here - skip) } else { Ok(()) }
    })
}

/// Calls `take` with the first `len` decoded bytes of a tensor, piece by piece.
pub(crate) fn bytes<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    len: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if tensor.layout == Layout::Strided {
        return strided::bytes(access, tensor, len, take);
    }
    if let Some(stored) = tensor.raw() {
        return access.stream(stored.offset, len.min(stored.len), take);
    }
    let chunk = access.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|_| len > 0) else { return Ok(()) };
    if chunk.encoding == Encoding::Raw {
        return access.stream(chunk.stored.offset, len.min(chunk.stored.len), take);
    }
    let work = access.options().work_of(access.len());
    let mut decoding = Decoding::within(chunk, len, work);
    let mut left = len;
    // A caller that takes everything wants the end of the stream checked too.
    let whole = chunk.decoded == Some(len);
    while left > 0 || whole {
        let more = access.ask(|source| answered(decoding.step(source)))?;
        if !more.map_err(Error::Undecodable)? {
            break;
        }
        let piece = decoding.piece();
        let here = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        left -= here as u64;
        take(&piece[..here])?;
    }
    Ok(())
}

/// The number of decoded and of stored bytes needed for the first `count` elements or entries
/// of a tensor, whose only chunk has `stored` stored and `decoded` decoded bytes.
pub(crate) fn extent(tensor: &Tensor, count: u64, decoded: Option<u64>, stored: u64) -> (u64, u64) {
    let most = decoded.unwrap_or(stored);
    let decoded = match tensor.unit() {
        Some((unit, width)) if is_dense(tensor) => {
            let units = count.min(tensor.elements).div_ceil(unit.into());
            units.saturating_mul(width.into()).min(most)
        }
        _ if count == 0 => 0,
        // The parts of a sparse tensor lie apart.
        _ => most,
    };
    (decoded, stored.min(decoded))
}

/// The size of a chunk's decoded data in bytes, or `None` if it is unknown.
pub(crate) fn len(chunk: &Chunk) -> Option<u64> {
    chunk.decoded.or((chunk.encoding == Encoding::Raw).then_some(chunk.stored.len))
}

/// Calls `give` with the coordinates and the value of the first `count` entries of a sparse
/// tensor. Returns `false` if it is not sparse or is too large.
pub(crate) fn entries<E: From<Error>>(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    mut give: impl FnMut(&[u64], Element) -> Result<(), E>,
) -> Result<bool, E> {
    let sparse = matches!(tensor.layout, Layout::Coo | Layout::Csr);
    let chunk = access.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|_| sparse && tensor.status == Status::Sound) else {
        return Ok(false);
    };
    let shape = access.ask(|source| Shape::read(source, tensor))?;
    let Some(extents) = shape.known() else { return Ok(false) };
    let whole = len(&chunk).is_none_or(|len| len <= SPARSE) || tensor.layout == Layout::Coo;
    if !whole || !Decoder::decodes(tensor.encoding) {
        return Ok(false);
    }
    let wanted = sparse_len(tensor, extents.len(), count);
    let wanted = len(&chunk).map_or(wanted, |len| len.min(wanted)).min(SPARSE);
    let mut held = Vec::new();
    bytes(access, file, tensor, wanted, |piece| {
        held.extend_from_slice(piece);
        Ok::<(), Error>(())
    })?;
    let Some(mut entries) = sparse_entries(tensor, &extents, &held, 0..count) else {
        return Ok(false);
    };
    entries.try_for_each(|(place, value)| give(&place, value)).map(|()| true)
}
