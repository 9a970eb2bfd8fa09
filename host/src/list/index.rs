//! The tensors of a file, for programs that keep them.

use crate::base::span::within;
use crate::base::text::{Text, push_bytes};
use crate::list::entry::{Entry, Shape, read_extents};
use alloc::vec::Vec;
use weighbridge_core::{
    Chunks, Name, NameEncoding, Part, Region, Source, Span, Status, Stop, Tensor, limits,
};

/// Marks data whose place is unknown.
const NOWHERE: u64 = u64::MAX;

/// All tensors of a file, or of several files in sequence, in file order. Names and shapes are
/// stored together, so a tensor needs no allocation of its own.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let index = model.index()?;
/// assert_eq!(index.len(), 1);
/// assert_eq!(index.name(0).as_str(), Some("emb"));
/// assert_eq!(index.shape(0), [Some(2), Some(3)]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Index {
    tensors: Vec<Tensor>,
    /// Stored bytes of each tensor's data, all pieces together.
    stored: Vec<u64>,
    /// Offset of the first piece.
    offsets: Vec<u64>,
    names: Slices<u8>,
    extents: Slices<Option<u64>>,
    /// A bit for each byte of a name: 1 for a dot between two keys of its path. Empty for names without
    /// a path.
    dots: Slices<u8>,
}

/// Slices of different lengths, stored contiguously.
#[derive(Clone, Debug)]
struct Slices<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Slices<T> {
    fn default() -> Self {
        Slices { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Slices<T> {
    /// Ends the slice that was appended to the items.
    fn end(&mut self) {
        self.ends.push(self.items.len());
    }

    /// Adds empty slices, until there are this many.
    fn pad(&mut self, count: usize) {
        self.ends.resize(count.max(self.ends.len()), self.items.len());
    }

    fn extend(&mut self, other: &Slices<T>) {
        let first = self.items.len();
        self.items.extend_from_slice(&other.items);
        self.ends.extend(other.ends.iter().map(|end| first + end));
    }

    fn get(&self, at: usize) -> &[T] {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or_default();
        let start = at.checked_sub(1).map_or(0, end);
        self.items.get(start..end(at)).unwrap_or_default()
    }
}

impl Index {
    /// Number of tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.len(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there are no tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(!model.index()?.is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The tensor at a position, as the core represents it.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.tensor(0).elements, 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such tensor.
    pub fn tensor(&self, at: usize) -> &Tensor {
        &self.tensors[at]
    }

    /// All tensors, as the core represents them.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let elements: u64 = model.index()?.tensors().iter().map(|tensor| tensor.elements).sum();
    /// assert_eq!(elements, 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The name of the tensor at a position; empty if there is none.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.name(0).to_string(), "emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name(&self, at: usize) -> Name<'_> {
        Name::new(self.name_bytes(at), NameEncoding::Plain)
    }

    /// The decoded bytes of a tensor's name, which should be UTF-8.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.name_bytes(0), b"emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name_bytes(&self, at: usize) -> &[u8] {
        self.names.get(at)
    }

    /// Whether byte `byte` of a tensor's name is a dot in a key, as the names of checkpoints have them, and
    /// no dot between two keys. Of other names that is not known: `false`.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let index = weighbridge::Model::from_bytes(&bytes)?.index()?;
    /// assert_eq!(index.name(0).to_string(), "model.w");
    /// assert!(!index.is_in_key(0, 5)); // {"model": {"w": …}}
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_in_key(&self, at: usize, byte: usize) -> bool {
        let bits = self.dots.get(at).get(byte / 8);
        bits.is_some_and(|bits| bits >> (byte % 8) & 1 == 0)
    }

    /// Whether the keys of the path of a tensor are known.
    pub(crate) fn has_path(&self, at: usize) -> bool {
        !self.dots.get(at).is_empty()
    }

    /// The extents of the tensor at a position, outermost first; `None` for one that varies or
    /// is not in the file. Empty if there is no such tensor.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.shape(0), [Some(2), Some(3)]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn shape(&self, at: usize) -> &[Option<u64>] {
        self.extents.get(at)
    }

    /// Number of bytes that a tensor's data takes in the file. Of several pieces, only
    /// [noted](Self::note) ones count.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.stored(0), 12);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn stored(&self, at: usize) -> u64 {
        self.stored.get(at).copied().unwrap_or(0)
    }

    /// The offset of a tensor's data, if it is known. Of several pieces, the lowest offset of a
    /// [noted](Self::note) one.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.offset(0), Some(bytes.len() as u64 - 12));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn offset(&self, at: usize) -> Option<u64> {
        self.offsets.get(at).copied().filter(|offset| *offset != NOWHERE)
    }

    /// Whether the tensor at a position has elements but no data in the file, such as an
    /// activation. The data of a broken tensor may be there.
    pub(crate) fn lacks_data(&self, at: usize) -> bool {
        self.tensors.get(at).is_some_and(|tensor| {
            let empty = match tensor.chunks {
                Chunks::One(span) => span.len == 0,
                chunks => chunks.count() == 0,
            };
            empty && tensor.elements > 0 && tensor.status != Status::Broken
        })
    }

    /// Number of elements of the tensor at a position that has data; otherwise 0.
    pub(crate) fn elements(&self, at: usize) -> u64 {
        let tensor = self.tensors.get(at).filter(|_| !self.lacks_data(at));
        tensor.map_or(0, |tensor| tensor.elements)
    }

    /// The entry at a position, for [`Model::tensor_of`](crate::Model::tensor_of).
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.index()?.entry(0);
    /// assert_eq!(model.tensor_of(&entry).to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is no such tensor.
    pub fn entry(&self, at: usize) -> Entry {
        let name = Text::from(self.name(at));
        Entry { tensor: *self.tensor(at), name, shape: Shape(self.shape(at).to_vec()) }
    }

    /// Bytes of memory that the index takes.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(model.index()?.memory() < 500);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn memory(&self) -> usize {
        let each = size_of::<Tensor>() + 2 * size_of::<u64>() + 2 * size_of::<usize>();
        let bytes = self.names.items.len() + self.dots.items.len();
        let dots = self.dots.ends.len() * size_of::<usize>();
        self.len() * each + bytes + dots + size_of_val(self.extents.items.as_slice())
    }

    /// Reserves room for this many more tensors, if there is enough memory.
    ///
    /// ```
    /// let mut index = weighbridge::Index::default();
    /// index.reserve(1 << 60);
    /// assert!(index.is_empty());
    /// ```
    pub fn reserve(&mut self, more: u64) {
        let more = usize::try_from(more).unwrap_or_default();
        let Index { tensors, stored, offsets, names, extents, .. } = self;
        // If this fails, the vectors grow bit by bit.
        let _ = tensors.try_reserve_exact(more).is_ok()
            && stored.try_reserve_exact(more).is_ok()
            && offsets.try_reserve_exact(more).is_ok()
            && names.ends.try_reserve_exact(more).is_ok()
            && extents.ends.try_reserve_exact(more).is_ok();
    }

    /// Adds a tensor.
    ///
    /// ```
    /// use weighbridge::{Goal, Index, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Header);
    /// let (mut index, mut cursor) = (Index::default(), Default::default());
    /// session.ask(|file, source| {
    ///     while let Some(entry) = file.next_tensor(source, &mut cursor, &mut |_| {})? {
    ///         index.push(source, entry.tensor)?;
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(index.len(), 1);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; then nothing is added.
    pub fn push(&mut self, source: &Source<'_>, tensor: Tensor) -> Result<(), Stop> {
        // A broken entry may point outside the file.
        let inside = within(source, tensor.name.span());
        let name = if inside { tensor.name(source)? } else { Name::default() };
        read_extents(source, &tensor, &mut self.extents.items)?;
        self.extents.end();
        push_bytes(&name, &mut self.names.items);
        self.names.end();
        let dots = if inside { path_dots(source, tensor.name.span()) } else { &[] };
        if !dots.is_empty() {
            self.dots.pad(self.tensors.len());
            self.dots.items.extend_from_slice(dots);
            self.dots.end();
        }
        let (offset, stored) = match tensor.chunks {
            Chunks::One(span) => (span.offset, span.len),
            _ => (NOWHERE, 0),
        };
        self.offsets.push(offset);
        self.stored.push(stored);
        self.tensors.push(tensor);
        Ok(())
    }

    /// Records where a piece of a tensor's data lies, for data in several pieces.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{Part, Region};
    /// use weighbridge::{Model, Span};
    ///
    /// # let bytes = weighbridge_tests::samples::columns();
    /// let mut index = Model::from_bytes(&bytes)?.index()?; // of a data view, in blocks
    /// assert_eq!((index.offset(0), index.stored(0)), (None, 0));
    /// for span in [Span::new(500, 10), Span::new(400, 20)] {
    ///     index.note(&Region { part: Part::Payload, span, ..Region::default() });
    /// }
    /// assert_eq!((index.offset(0), index.stored(0)), (Some(400), 30));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn note(&mut self, region: &Region) {
        let at = region.entry as usize;
        let Some(tensor) = self.tensors.get(at) else { return };
        if region.part != Part::Payload || !matches!(tensor.chunks, Chunks::Table { .. }) {
            return;
        }
        if let (Some(offset), Some(stored)) = (self.offsets.get_mut(at), self.stored.get_mut(at)) {
            *offset = (*offset).min(region.span.offset);
            *stored = stored.saturating_add(region.span.len);
        }
    }

    /// Appends the tensors of a file that begins at `base`, as if the files were concatenated.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let part = weighbridge::Model::from_bytes(&bytes)?.index()?;
    /// let mut index = part.clone();
    /// index.join(&part, 1000);
    /// assert_eq!(index.len(), 2);
    /// assert_eq!(index.name_bytes(1), b"emb");
    /// assert_eq!(index.shape(1), [Some(2), Some(3)]);
    /// assert_eq!(index.offset(1), Some(1000 + index.offset(0).unwrap()));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn join(&mut self, other: &Index, base: u64) {
        let at = |at: &u64| if *at == NOWHERE { NOWHERE } else { at.saturating_add(base) };
        let before = self.tensors.len();
        self.tensors.extend_from_slice(&other.tensors);
        self.stored.extend_from_slice(&other.stored);
        self.offsets.extend(other.offsets.iter().map(at));
        self.names.extend(&other.names);
        self.extents.extend(&other.extents);
        if !other.dots.ends.is_empty() {
            self.dots.pad(before);
            self.dots.extend(&other.dots);
        }
    }
}

/// Which bytes of a name are dots between two keys of its path. In an index that was made for a file,
/// this follows each name.
fn path_dots<'a>(source: &Source<'a>, name: Span) -> &'a [u8] {
    let end = name.end().filter(|_| name.offset >= limits::INDEX);
    let bits = end.map(|end| Span::new(end, name.len.div_ceil(8)));
    bits.and_then(|bits| source.get(bits).ok()).unwrap_or_default()
}
