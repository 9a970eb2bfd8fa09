//! The tensors of a file, packed: what every row of a table shows.

use crate::text;
use crate::words::Words;
use alloc::vec::Vec;
use weighbridge_core::{
    Absent, Chunks, DimEncoding, Layout, Name, NameEncoding, Part, Region, Source, Span, Stop,
    Tensor,
};

/// Stands for "none" in columns of 64 bits, and for an extent that varies.
pub const NONE: u64 = u64::MAX;

/// Most bytes that the index may take in memory, names and extents included.
pub const MOST_BYTES: usize = 1 << 30;

/// All tensors, in the order of the index.
#[derive(Debug, Default)]
pub struct Table {
    /// As the parser handed them out.
    pub tensors: Vec<Tensor>,
    /// Codes of their types.
    pub dtypes: Vec<u16>,
    /// Stored bytes of all their chunks.
    pub stored: Vec<u64>,
    /// Where their first chunk lies.
    pub offsets: Vec<u64>,
    names: Arena<u8>,
    dims: Arena<u64>,
}

/// Slices of different lengths, one after the other.
#[derive(Debug)]
struct Arena<T> {
    items: Vec<T>,
    ends: Vec<u32>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Arena { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Arena<T> {
    fn end(&mut self) {
        self.ends.push(u32::try_from(self.items.len()).unwrap_or(u32::MAX));
    }

    #[cfg(feature = "full")]
    fn extend(&mut self, other: &Arena<T>)
    where
        T: Copy,
    {
        let first = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.extend_from_slice(&other.items);
        self.ends.extend(other.ends.iter().map(|end| end.saturating_add(first)));
    }

    fn get(&self, i: usize) -> &[T] {
        let end = |i: usize| self.ends.get(i).map_or(0, |end| *end as usize);
        let from = i.checked_sub(1).map_or(0, end);
        self.items.get(from..end(i)).unwrap_or_default()
    }
}

impl Table {
    /// How many tensors there are.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Bytes that the table takes.
    pub fn memory(&self) -> usize {
        self.tensors.len() * (size_of::<Tensor>() + 26)
            + self.names.items.len()
            + self.dims.items.len() * 8
    }

    /// Makes room for so many more tensors, if there is memory.
    pub fn reserve(&mut self, more: usize) {
        let more = more.min(MOST_BYTES / (2 * size_of::<Tensor>()));
        let Table { tensors, dtypes, stored, offsets, names, dims } = self;
        // Without it, room is made bit by bit.
        let _ = tensors.try_reserve_exact(more).is_ok()
            && dtypes.try_reserve_exact(more).is_ok()
            && stored.try_reserve_exact(more).is_ok()
            && offsets.try_reserve_exact(more).is_ok()
            && names.ends.try_reserve_exact(more).is_ok()
            && dims.ends.try_reserve_exact(more).is_ok();
    }

    /// Adds a tensor; nothing happens when bytes are missing.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn push(
        &mut self,
        tensor: Tensor,
        source: &Source<'_>,
        words: &mut Words,
    ) -> Result<(), Stop> {
        // What a broken entry points at need not be in the file.
        let name = read(source, tensor.name.span(), || tensor.name(source))?;
        let dims = read(source, tensor.dims.span(), || tensor.dims(source))?;
        text::push_bytes(&name, &mut self.names.items);
        self.names.end();
        if tensor.dims.encoding == DimEncoding::External {
            // Formats that do so have one byte for the rank.
            self.dims.items.extend((0..tensor.dims.rank().min(255)).map(|_| NONE));
        } else {
            // After its rows, an extent of 0 of a column varies.
            let fixed = if tensor.layout == Layout::Blocks { 1 } else { usize::MAX };
            let extents = dims.enumerate();
            let shown = extents.map(|(i, n)| if i >= fixed && n == 0 { NONE } else { n });
            self.dims.items.extend(shown);
        }
        self.dims.end();
        self.dtypes.push(words.code(tensor.dtype.name()));
        let (offset, stored) = match tensor.chunks {
            Chunks::One(span) => (span.offset, span.len),
            // Their sum is known once the regions were listed.
            _ => (NONE, 0),
        };
        self.offsets.push(offset);
        self.stored.push(stored);
        self.tensors.push(tensor);
        Ok(())
    }

    /// Adds the tensors of a file that begins at `base`, with words of its own.
    #[cfg(feature = "full")]
    pub fn extend(&mut self, other: &Table, base: u64, words: &mut Words, theirs: &Words) {
        let codes: Vec<u16> = theirs.all().iter().map(|word| words.code(word)).collect();
        let code = |code: &u16| codes.get(usize::from(*code)).copied().unwrap_or(0);
        self.tensors.extend_from_slice(&other.tensors);
        self.dtypes.extend(other.dtypes.iter().map(code));
        self.stored.extend_from_slice(&other.stored);
        let at = |at: &u64| if *at == NONE { NONE } else { at.saturating_add(base) };
        self.offsets.extend(other.offsets.iter().map(at));
        self.names.extend(&other.names);
        self.dims.extend(&other.dims);
    }

    /// Takes the place of a tensor's data into account, if it is in pieces.
    pub fn locate(&mut self, region: &Region) {
        let i = region.entry as usize;
        let Some(tensor) = self.tensors.get(i) else { return };
        if region.part != Part::Payload || !matches!(tensor.chunks, Chunks::Table { .. }) {
            return;
        }
        if let (Some(offset), Some(stored)) = (self.offsets.get_mut(i), self.stored.get_mut(i)) {
            *offset = (*offset).min(region.span.offset);
            *stored = stored.saturating_add(region.span.len);
        }
    }

    /// The decoded bytes of a name.
    pub fn name_bytes(&self, i: usize) -> &[u8] {
        self.names.get(i)
    }

    /// The name; its bytes are decoded already.
    pub fn name(&self, i: usize) -> Name<'_> {
        Name::new(self.names.get(i), NameEncoding::Plain)
    }

    /// The extents; [`NONE`] where one varies.
    pub fn dims(&self, i: usize) -> &[u64] {
        self.dims.get(i)
    }

    /// A tensor; an empty one where there is none.
    pub fn tensor(&self, i: u32) -> Tensor {
        self.tensors.get(i as usize).copied().unwrap_or_default()
    }
}

/// What lies in `span`; nothing where that is not inside the file.
///
/// # Errors
/// [`Stop::NeedBytes`], passed on from `read`.
pub fn read<T: Default>(
    source: &Source<'_>,
    span: Span,
    read: impl FnOnce() -> Result<T, Absent>,
) -> Result<T, Stop> {
    match span.end() {
        Some(end) if end <= source.len() => Ok(read()?),
        _ => Ok(T::default()),
    }
}
