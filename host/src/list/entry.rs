//! Tensor entries of an index, and lookup by name.

use crate::base::span::within;
use crate::base::text::Text;
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::{
    Chunks, Cursor, DType, DimEncoding, Encoding, Endianness, File, Layout, Source, Span, Status,
    Stop, Tensor,
};

/// A tensor's entry in the index: its name, type and shape, and where its data lies.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(crate) tensor: Tensor,
    pub(crate) name: Text,
    pub(crate) shape: Shape,
}

impl Entry {
    pub(crate) fn new(source: &Source<'_>, tensor: Tensor) -> Result<Self, Stop> {
        let name = if within(source, tensor.name.span()) {
            Text::from(tensor.name(source)?)
        } else {
            Text::default()
        };
        Ok(Entry { tensor, name, shape: Shape::read(source, &tensor)? })
    }

    /// Its name, or its number in decimal if tensors have numbers.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.name(), "emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// The type of its elements.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.dtype(), weighbridge::DType::BF16);
    /// assert_eq!(emb.dtype().name(), "bf16");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        self.tensor.dtype
    }

    /// Its extents.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.shape(), [2, 3]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of elements, or of rows if rows vary in length.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.elements(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn elements(&self) -> u64 {
        self.tensor.elements
    }

    /// Number of bytes of its decoded elements, if the type has a fixed width.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.bytes(), Some(12));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn bytes(&self) -> Option<u64> {
        self.tensor.bytes()
    }

    /// Whether its data may be used.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.status(), weighbridge::Status::Sound);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn status(&self) -> Status {
        self.tensor.status
    }

    /// The order of its elements.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.layout(), weighbridge::Layout::RowMajor);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn layout(&self) -> Layout {
        self.tensor.layout
    }

    /// How its data is stored.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.encoding(), weighbridge::Encoding::Raw);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn encoding(&self) -> Encoding {
        self.tensor.encoding
    }

    /// The byte order of its elements.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.endianness(), weighbridge::Endianness::Little);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn endianness(&self) -> Endianness {
        self.tensor.endianness
    }

    /// Position in the index.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// for (i, tensor) in model.tensors().enumerate() {
    ///     assert_eq!(tensor?.index() as usize, i);
    /// }
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn index(&self) -> u32 {
        self.tensor.index
    }

    /// The span of its data in the file, encoded or not, if it is in one piece. Data in a file
    /// beside the model counts as behind the model: its offset is at least the model's length.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let span = model.tensor("emb")?.span().unwrap();
    /// assert_eq!(bytes[span.offset as usize..].len() as u64, span.len);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn span(&self) -> Option<Span> {
        match self.tensor.chunks {
            Chunks::One(span) => Some(span),
            _ => None,
        }
    }

    /// Number of pieces that its data is stored in.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.chunk_count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn chunk_count(&self) -> u64 {
        self.tensor.chunks.count()
    }
}

/// The extents of a tensor, outermost first. An extent that varies or is not in the file is
/// unknown.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let emb = model.tensor("emb")?;
/// assert_eq!(emb.shape(), [2, 3]);
/// assert_eq!(emb.shape().to_string(), "[2, 3]");
/// assert_eq!(emb.shape().known(), Some(vec![2, 3]));
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Shape(pub(crate) Vec<Option<u64>>);

impl Shape {
    pub(crate) fn read(source: &Source<'_>, tensor: &Tensor) -> Result<Self, Stop> {
        let mut shape = Shape(Vec::new());
        read_extents(source, tensor, &mut shape.0)?;
        Ok(shape)
    }

    /// Number of extents.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.shape().rank(), 2);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Each extent.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.shape().extents(), [Some(2), Some(3)]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn extents(&self) -> &[Option<u64>] {
        &self.0
    }

    /// The extents, if all are known.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// let product: u64 = emb.shape().known().unwrap().iter().product();
    /// assert_eq!(product, emb.elements());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn known(&self) -> Option<Vec<u64>> {
        self.0.iter().copied().collect()
    }
}

/// Appends the extents of a tensor to `extents`.
///
/// # Errors
/// [`Stop::NeedBytes`]; then nothing is added.
pub(crate) fn read_extents(
    source: &Source<'_>,
    tensor: &Tensor,
    extents: &mut Vec<Option<u64>>,
) -> Result<(), Stop> {
    let dims = &tensor.dims;
    if dims.encoding == DimEncoding::External {
        // Formats with external extents store the rank in one byte.
        extents.extend((0..dims.rank().min(255)).map(|_| None));
    } else if within(source, dims.span()) {
        // A column has its number of rows, then the extents of one row, where 0 stands for one
        // that varies.
        let rows = if tensor.layout == Layout::Blocks { 1 } else { usize::MAX };
        let found = tensor.dims(source)?.enumerate();
        extents.extend(found.map(|(i, n)| (i < rows || n > 0).then_some(n)));
    }
    Ok(())
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, extent) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            match extent {
                Some(extent) => write!(f, "{extent}")?,
                None => f.write_str("?")?,
            }
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq<[u64]> for Shape {
    fn eq(&self, other: &[u64]) -> bool {
        self.0.iter().copied().eq(other.iter().copied().map(Some))
    }
}

impl<const N: usize> PartialEq<[u64; N]> for &Shape {
    fn eq(&self, other: &[u64; N]) -> bool {
        **self == other[..]
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Shape {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

/// Where a piece of a tensor's data lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Piece {
    /// Absolute offset of the first stored byte.
    pub offset: u64,
    /// Number of stored bytes.
    pub stored: u64,
    /// Number of decoded bytes, if the file states it.
    pub decoded: Option<u64>,
}

/// All tensors of a file, by position and by name.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    entries: Vec<Entry>,
    /// Positions by name; the first if several have the same name.
    #[cfg(feature = "std")]
    by_name: std::collections::HashMap<Text, u32>,
    /// Positions sorted by name, once the index has been read.
    #[cfg(not(feature = "std"))]
    by_name: Vec<u32>,
    cursor: Cursor,
    done: bool,
}

impl Catalog {
    /// Memory that an entry takes, including a short name.
    pub(crate) const ENTRY: u64 = size_of::<Entry>() as u64 + 128;

    /// Reads as much of the index as is in memory.
    pub(crate) fn step(
        &mut self,
        file: &File,
        source: &Source<'_>,
        memory: u64,
    ) -> Result<(), Stop> {
        while !self.done {
            let mut next = self.cursor;
            let found = file.next_tensor(source, &mut next, &mut |_| {});
            // Progress within an entry that is stored in several places is kept.
            let Some(found) = found.inspect_err(|_| self.cursor = next)? else {
                self.end();
                break;
            };
            let count = self.entries.len() as u64 + 1;
            if count * Self::ENTRY > memory {
                return Err(Stop::NeedSlots { needed: u32::try_from(count).unwrap_or(u32::MAX) });
            }
            let entry = Entry::new(source, found.tensor)?;
            #[cfg(feature = "std")]
            self.by_name.entry(entry.name.clone()).or_insert(self.entries.len() as u32);
            self.entries.push(entry);
            self.cursor = next;
        }
        Ok(())
    }

    /// Ends the index: nothing more can be read.
    pub(crate) fn end(&mut self) {
        self.done = true;
        #[cfg(not(feature = "std"))]
        {
            let name = |i: &u32| self.entries.get(*i as usize).map(Entry::name);
            self.by_name = (0..self.entries.len() as u32).collect();
            self.by_name.sort_by(|a, b| name(a).cmp(&name(b)));
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The first tensor of this name.
    pub(crate) fn find(&self, name: &Text) -> Option<&Entry> {
        #[cfg(feature = "std")]
        let at = self.by_name.get(name)?;
        #[cfg(not(feature = "std"))]
        let at = {
            let entry = |i: u32| self.entries.get(i as usize);
            let before = |i: &u32| entry(*i).is_some_and(|entry| entry.name < *name);
            let place = self.by_name.partition_point(before);
            self.by_name.get(place).filter(|i| entry(**i).is_some_and(|it| it.name == *name))?
        };
        self.entries.get(*at as usize)
    }
}
