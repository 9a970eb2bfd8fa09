//! The tensors of a file, for programs that keep them.

use crate::access::within;
use crate::entry::{Entry, Shape, read_extents};
use crate::text::Text;
use alloc::vec::Vec;
use weighbridge_core::{Name, NameEncoding, Source, Stop, Tensor};

/// All tensors of a file, in its order. Names and shapes lie together, so that a tensor has no
/// memory of its own.
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
    rows: Vec<Row>,
    names: Vec<u8>,
    extents: Vec<Option<u64>>,
}

/// A tensor, and where its name and its shape end.
#[derive(Clone, Copy, Debug)]
struct Row {
    tensor: Tensor,
    name_end: usize,
    shape_end: usize,
}

impl Index {
    /// How many tensors there are.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.len(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(!model.index()?.is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The tensor at a position, as the core has it.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.tensor(0).elements, 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is none.
    pub fn tensor(&self, at: usize) -> &Tensor {
        &self.rows[at].tensor
    }

    /// The name of the tensor at a position.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.name(0).to_string(), "emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is none.
    pub fn name(&self, at: usize) -> Name<'_> {
        let start = self.before(at).map_or(0, |row| row.name_end);
        Name::new(&self.names[start..self.rows[at].name_end], NameEncoding::Plain)
    }

    /// The extents of the tensor at a position, outermost first; `None` for one that varies or
    /// is not in the file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.shape(0), [Some(2), Some(3)]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Panics
    /// If there is none.
    pub fn shape(&self, at: usize) -> &[Option<u64>] {
        let start = self.before(at).map_or(0, |row| row.shape_end);
        &self.extents[start..self.rows[at].shape_end]
    }

    /// The entry at a position, which [`Model::tensor_of`](crate::Model::tensor_of) takes.
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
    /// If there is none.
    pub fn entry(&self, at: usize) -> Entry {
        let name = Text::from(self.name(at));
        Entry { tensor: *self.tensor(at), name, shape: Shape(self.shape(at).to_vec()) }
    }

    /// None yet, with memory for `expected` tensors if there is as much.
    pub(crate) fn of(expected: u64) -> Self {
        let mut index = Index::default();
        let expected = usize::try_from(expected).unwrap_or_default();
        // Without it there is less to be gained, and nothing lost.
        let _ = index.rows.try_reserve_exact(expected);
        index
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; then nothing is added.
    pub(crate) fn push(&mut self, source: &Source<'_>, tensor: Tensor) -> Result<(), Stop> {
        let inside = within(source, tensor.name.span());
        let name = if inside { tensor.name(source)? } else { Name::default() };
        read_extents(source, &tensor, &mut self.extents)?;
        match name.as_bytes() {
            Some(bytes) => self.names.extend_from_slice(bytes),
            None => self.names.extend(name.bytes()),
        }
        let (name_end, shape_end) = (self.names.len(), self.extents.len());
        self.rows.push(Row { tensor, name_end, shape_end });
        Ok(())
    }

    fn before(&self, at: usize) -> Option<&Row> {
        self.rows.get(at.checked_sub(1)?)
    }
}
