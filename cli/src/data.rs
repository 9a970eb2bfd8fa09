//! The data of a tensor: decoded, if it is stored encoded, and piece by piece.

use crate::session::{Halt, Session};
use crate::tensors;
use weighbridge_core::codec::{Decoder, Fault, Size, Undecoded};
use weighbridge_core::{
    Chunk, Encoding, File, Layout, Source, Sparse, Status, Stop, Tensor, limits,
};

/// Bytes that are decoded at a time: a power of two.
const PIECE: usize = 256 << 10;
/// Bytes of elements that are put in order at a time.
const ORDERED: usize = 16 << 20;
/// What is read at once of elements that lie apart.
const PAGE: usize = 4 << 10;
/// Most bytes of a sparse tensor that are decoded to show some of its entries:
/// of compressed rows, pointers, columns and values lie apart.
const SPARSE: u64 = 64 << 20;

/// Whether the data of a tensor are an array: every element, one after the
/// other. For an unknown layout the size is unknown.
pub(crate) fn is_dense(tensor: &Tensor) -> bool {
    matches!(tensor.layout, Layout::RowMajor | Layout::ColumnMajor | Layout::ChannelsLast)
}

/// Whether the elements of a tensor can be read one after the other.
pub(crate) fn is_plain(tensor: &Tensor) -> bool {
    let dense = is_dense(tensor);
    let stored =
        tensor.elements == 0 || tensor.chunks.count() == 1 && Decoder::decodes(tensor.encoding);
    let sound = tensor.status == Status::Sound;
    sound && dense && stored && tensor.dtype.is_numeric()
}

/// In which order the elements of a dense tensor are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As they are counted, the last axis fastest; or in an order of which no
    /// format says what it means, which is left as it is.
    Rows,
    /// The first axis fastest; with the extents.
    Columns(Vec<u64>),
    /// The first axis fastest, but nothing tells the extents.
    Unknown,
}

/// In which order the elements of a tensor that [`is_dense`] are stored.
pub(crate) fn order(session: &mut Session<'_>, tensor: &Tensor) -> Result<Order, Halt> {
    if tensor.layout != Layout::ColumnMajor || tensor.elements < 2 {
        return Ok(Order::Rows);
    }
    let extents = session.ask(|source| tensors::shape(source, tensor))?;
    let Some(extents) = extents.into_iter().collect::<Option<Vec<u64>>>() else {
        return Ok(Order::Unknown);
    };
    let whole = tensor.dtype.unit().is_some_and(|(count, _)| count == 1);
    match extents.iter().filter(|extent| **extent != 1).count() {
        0 | 1 => Ok(Order::Rows),
        _ if whole && tensor.raw().is_some() => Ok(Order::Columns(extents)),
        _ => Ok(Order::Unknown),
    }
}

/// As [`elements`], in row-major order; nothing where the order is unknown.
pub(crate) fn ordered<E: From<Halt>>(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    match (order(session, tensor)?, tensor.raw()) {
        (Order::Rows, _) => elements(session, file, tensor, count, take),
        (Order::Columns(extents), Some(span)) => {
            let width = tensor.dtype.unit().map_or(1, |(_, width)| u64::from(width));
            let columns = Columns { at: span.offset, width, extents: &extents };
            columns.read(session, tensor.elements.min(count), take)
        }
        _ => Ok(()),
    }
}

/// Elements that are stored with the first axis fastest.
struct Columns<'e> {
    /// Absolute offset of the first.
    at: u64,
    /// Bytes of one.
    width: u64,
    /// None is 0.
    extents: &'e [u64],
}

impl Columns<'_> {
    /// Calls `take` with the first `count` elements in row-major order. Of as many
    /// rows as fit into memory, each run along the first axis is read at once.
    fn read<E: From<Halt>>(
        &self,
        session: &mut Session<'_>,
        count: u64,
        mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((first, others)) = self.extents.split_first() else { return Ok(()) };
        let row: u64 = others.iter().product();
        let room = (ORDERED as u64 / self.width).max(1);
        let mut near = Near::default();
        let mut done = 0;
        while done < count {
            let (at, column) = (done / row, done % row);
            let wanted = (count - done).div_ceil(row);
            let rows = if row <= room { (room / row).min(first - at).min(wanted) } else { 1 };
            let columns = if rows > 1 { row } else { room.min(row - column).min(count - done) };
            let width = self.width as usize;
            let mut piece = vec![0; (rows * columns) as usize * width];
            let mut run = vec![0; rows as usize * width];
            for k in 0..columns {
                let place = (column_major(column + k, others) * first + at) * self.width;
                near.read(session, self.at + place, &mut run)?;
                let cells = piece.chunks_exact_mut(columns as usize * width);
                for (cells, bytes) in cells.zip(run.chunks_exact(width)) {
                    cells[k as usize * width..][..width].copy_from_slice(bytes);
                }
            }
            let here = (rows * columns).min(count - done);
            take(&piece[..here as usize * width], here)?;
            done += here;
        }
        Ok(())
    }
}

/// Where an element lies that is number `at` with the last axis fastest, if the
/// first is fastest.
fn column_major(mut at: u64, extents: &[u64]) -> u64 {
    let indices = extents.iter().rev().map(|extent| {
        let index = at % extent;
        at /= extent;
        (index, extent)
    });
    // From the last axis to the first, which is how they nest.
    indices.fold(0, |place, (index, extent)| place * extent + index)
}

/// A page of the file, for short runs that follow one another.
#[derive(Default)]
struct Near {
    at: u64,
    bytes: Vec<u8>,
}

impl Near {
    fn read(&mut self, session: &mut Session<'_>, at: u64, into: &mut [u8]) -> Result<(), Halt> {
        if into.len() >= PAGE {
            return session.read(at, into);
        }
        let held = |near: &Near| {
            let from = usize::try_from(at.checked_sub(near.at)?).ok()?;
            Some(from..from.checked_add(into.len())?).filter(|it| it.end <= near.bytes.len())
        };
        if held(self).is_none() {
            let len = (session.len() - at).min(PAGE as u64);
            self.bytes.resize(len as usize, 0);
            self.at = at;
            session.read(at, &mut self.bytes)?;
        }
        if let Some(range) = held(self) {
            into.copy_from_slice(&self.bytes[range]);
        }
        Ok(())
    }
}

/// Calls `take` with the bytes of the first `count` elements of a tensor that
/// [`is_plain`] in the order of the file, piece by piece, and how many elements each
/// piece holds.
pub(crate) fn elements<E: From<Halt>>(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    mut take: impl FnMut(&[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    // Data is cut between units: elements, bytes of packed ones, blocks.
    let (unit, width) = tensor.dtype.unit().unwrap_or((1, 1));
    let (unit, width) = (u64::from(unit), width as usize);
    let mut left = count;
    // A unit that lies in two pieces.
    let mut carry: Vec<u8> = Vec::new();
    let len = count.div_ceil(unit).saturating_mul(width as u64);
    bytes(session, file, tensor, len, |mut piece| {
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

/// Calls `take` with the first `len` decoded bytes of a tensor, piece by piece.
pub(crate) fn bytes<E: From<Halt>>(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    len: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let chunk = session.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|_| len > 0) else { return Ok(()) };
    if chunk.encoding == Encoding::Raw {
        let len = len.min(chunk.stored.len);
        return session.stream(chunk.stored.offset, len, take);
    }
    let size = chunk.decoded.map_or(Size::AtMost(len), Size::Exactly);
    let mut decoder = Decoder::new();
    let mut buffer = vec![0; PIECE];
    decoder.start(chunk.encoding, chunk.stored, size);
    let mut left = len;
    // Who takes all of it wants to know that the stream ends well.
    let whole = chunk.decoded == Some(len);
    while left > 0 || whole {
        let mut taken = Ok(());
        let more = session.ask(|source| match decoder.next(source, &mut buffer) {
            Ok(Some(piece)) => {
                let here = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
                left -= here as u64;
                taken = take(&piece[..here]);
                Ok(Ok(true))
            }
            Ok(None) => Ok(Ok(false)),
            Err(Undecoded::Absent(absent)) => Err(Stop::NeedBytes(absent)),
            Err(Undecoded::Fault(fault)) => Ok(Err(fault)),
        })?;
        taken?;
        match more {
            Ok(true) => {}
            Ok(false) => break,
            // The window of the frame that begins does not fit.
            Err(Fault::Buffer) if decoder.buffer() > buffer.len() as u64 => {
                buffer.resize(usize::try_from(decoder.buffer()).unwrap_or(usize::MAX), 0);
            }
            // Nothing was decoded yet, and what comes may fit as a whole.
            Err(Fault::Window) if left == len && grow(&mut buffer, &chunk) => {
                decoder.start(chunk.encoding, chunk.stored, size);
            }
            Err(fault) => return Err(Halt::Fault(fault).into()),
        }
    }
    Ok(())
}

/// Makes the buffer as large as what a chunk decodes to, within the limits of the
/// core; false if it cannot, or was before.
fn grow(buffer: &mut Vec<u8>, chunk: &Chunk) -> bool {
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

/// How many decoded and how many stored bytes it takes to look at the first
/// `count` elements or entries of a tensor, whose only chunk has `stored` bytes
/// and `decoded` ones.
pub(crate) fn extent(tensor: &Tensor, count: u64, decoded: Option<u64>, stored: u64) -> (u64, u64) {
    let most = decoded.unwrap_or(stored);
    let decoded = match tensor.dtype.unit() {
        Some((unit, width)) if is_dense(tensor) => {
            let units = count.min(tensor.elements).div_ceil(unit.into());
            units.saturating_mul(width.into()).min(most)
        }
        _ if count == 0 => 0,
        // The parts of a sparse one lie apart.
        _ => most,
    };
    (decoded, stored.min(decoded))
}

/// All decoded bytes of a tensor, how many it has; `None` if nothing tells.
pub(crate) fn len(chunk: &Chunk) -> Option<u64> {
    chunk.decoded.or((chunk.encoding == Encoding::Raw).then_some(chunk.stored.len))
}

/// Calls `give` with the coordinates and the value of the first `count` entries of a
/// sparse tensor; `false` if it is not sparse or too large.
pub(crate) fn entries<E: From<Halt>>(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    count: u64,
    mut give: impl FnMut(&[u64], weighbridge_core::Element) -> Result<(), E>,
) -> Result<bool, E> {
    let sparse = matches!(tensor.layout, Layout::Coo | Layout::Csr);
    let chunk = session.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|_| sparse && tensor.status == Status::Sound) else {
        return Ok(false);
    };
    let extents = session.ask(|source: &Source<'_>| tensors::shape(source, tensor))?;
    let Some(extents) = extents.into_iter().collect::<Option<Vec<u64>>>() else {
        return Ok(false);
    };
    // The entries of COO come one after the other.
    let entry = 8 * extents.len() as u64 + u64::from(tensor.dtype.bits() / 8);
    let wanted = match tensor.layout {
        Layout::Coo => count.saturating_mul(entry),
        _ => u64::MAX,
    };
    let wanted = len(&chunk).map_or(wanted, |len| len.min(wanted)).min(SPARSE);
    let mut held = Vec::new();
    let whole = len(&chunk).is_none_or(|len| len <= SPARSE) || tensor.layout == Layout::Coo;
    if !whole || !Decoder::decodes(tensor.encoding) {
        return Ok(false);
    }
    bytes(session, file, tensor, wanted, |piece| {
        held.extend_from_slice(piece);
        Ok::<(), Halt>(())
    })?;
    let Some(sparse) = Sparse::new(tensor, extents, &held) else { return Ok(false) };
    let shown = usize::try_from(count).map_or(sparse.len(), |count| count.min(sparse.len()));
    let mut row = 0;
    for i in 0..shown {
        let place: Vec<u64> = if tensor.layout == Layout::Coo {
            (0..sparse.rank()).filter_map(|axis| sparse.coordinate(i, axis)).collect()
        } else {
            while row < sparse.rows() && sparse.pointer(row + 1).is_some_and(|end| end <= i as u64)
            {
                row += 1;
            }
            [Some(row), sparse.column(i)].into_iter().flatten().collect()
        };
        match sparse.value(i) {
            Some(value) => give(&place, value)?,
            None => break,
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_column_major_elements() {
        let places: Vec<_> = (0..6).map(|at| column_major(at, &[2, 3])).collect();
        assert_eq!(places, [0, 2, 4, 1, 3, 5]);
        let places: Vec<_> = (0..8).map(|at| column_major(at, &[2, 1, 2, 2])).collect();
        assert_eq!(places, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(column_major(0, &[]), 0);
    }
}
