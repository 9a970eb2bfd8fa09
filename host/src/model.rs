//! An open file with tensors to read by name.

use crate::access::Access;
use crate::entry::{Catalog, Entry};
use crate::error::Error;
use crate::gate::report_on;
use crate::index::Index;
use crate::metadata::{Entries, Meta};
use crate::options::Goal;
use crate::report::Report;
use crate::tensor::Tensor;
use crate::text::Text;
use core::fmt;
use weighbridge_core::{Cursor, File, Format, Name, NameEncoding, Stop, Version};

/// In most formats the entry of a tensor with a name, a type and a shape takes at least this
/// many bytes. It limits the memory reserved for the tensors that a file declares.
const SHORTEST_ENTRY: u64 = 32;

/// An open file with its metadata and its tensors.
///
/// If the file is not in memory, only the requested parts are read. A model is not a verdict:
/// it can also read a file that breaks a rule elsewhere, and [`check`](Self::check) or
/// [`weighbridge::check`](crate::check) reports the breach.
///
/// ```
/// use weighbridge::Model;
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = Model::from_bytes(&bytes)?;
/// for tensor in model.tensors() {
///     let tensor = tensor?;
///     println!("{} {} {}", tensor.name(), tensor.dtype().name(), tensor.shape());
/// }
/// let weights: Vec<f32> = model.tensor("emb")?.to_vec()?;
/// # assert_eq!(weights.len(), 6);
/// # Ok::<(), weighbridge::Error>(())
/// ```
pub struct Model<'a> {
    pub(crate) access: Access<'a>,
    pub(crate) file: File,
}

impl fmt::Debug for Model<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("access", &self.access).field("file", &self.file).finish()
    }
}

impl<'a> Model<'a> {
    /// The format.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.format().name(), "safetensors");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn format(&self) -> Format {
        self.file.format()
    }

    /// The version that the file states.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::words();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.version().unwrap().to_string(), "3"); // GGUF
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn version(&self) -> Option<Version> {
        self.file.version()
    }

    /// Length of the file in bytes.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.len(), bytes.len() as u64);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "the length of the file in bytes")]
    pub fn len(&self) -> u64 {
        self.access.len()
    }

    /// Number of tensors that the file declares. A broken file may have fewer.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor_count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensor_count(&self) -> u64 {
        self.file.tensor_count()
    }

    /// The file, as the core represents it.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// use weighbridge::core::File;
    ///
    /// assert!(matches!(model.file(), File::Safetensors(_)));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Checks the file up to `goal`.
    ///
    /// ```
    /// use weighbridge::{Goal, Model, core::Profile};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = Model::from_bytes(&bytes)?;
    /// assert!(model.check(Goal::Payloads)?.verdict(Profile::Strict).is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read.
    pub fn check(&self, goal: Goal) -> Result<Report, Error> {
        let mut report = report_on(&self.access, None, goal)?;
        report.name = self.access.name().cloned();
        Ok(report)
    }

    /// The file's metadata entries, in order.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// for entry in model.metadata() {
    ///     let entry = entry?;
    ///     println!("{} = {}", entry.key(), entry.value());
    /// }
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn metadata(&self) -> impl Iterator<Item = Result<Meta, Error>> + '_ {
        Entries::new(&self.access, self.file, None)
    }

    /// The tensors, in index order. None is kept, so memory does not grow with their number.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut largest = 0;
    /// for tensor in model.tensors() {
    ///     largest = largest.max(tensor?.elements());
    /// }
    /// assert_eq!(largest, 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors(&self) -> impl Iterator<Item = Result<Tensor<'_, 'a>, Error>> + '_ {
        Tensors { model: self, cursor: Cursor::default(), over: false }
    }

    /// The tensor with this name, or with this number if tensors have numbers. If there are
    /// several, the first.
    ///
    /// The first call reads the index; after that, the time of a lookup does not depend on the
    /// number of tensors.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("emb")?.shape(), [2, 3]);
    /// assert_eq!(model.tensor("emd").unwrap_err().to_string(), "there is no tensor \"emd\"");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoTensor`], or when the index cannot be read.
    pub fn tensor(&self, name: impl Into<Text>) -> Result<Tensor<'_, 'a>, Error> {
        let name = name.into();
        self.access.reach(Goal::Index)?;
        let found = self.access.with(|session| session.catalog()?.find(&name).cloned());
        match found {
            Some(entry) => Ok(Tensor { model: self, entry }),
            None => Err(Error::NoTensor(name)),
        }
    }

    /// All tensors, for programs that keep them. A broken file may have fewer than it declares.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.index()?.shape(0), [Some(2), Some(3)]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Memory`] if they take more memory than the options allow.
    pub fn index(&self) -> Result<Index, Error> {
        let most = self.access.options().memory / Catalog::ENTRY;
        let expected = self.tensor_count().min(self.len() / SHORTEST_ENTRY).min(most);
        let (mut index, mut cursor) = (Index::default(), Cursor::default());
        index.reserve(expected);
        self.access.ask_or_end(|source| {
            let mut next = cursor;
            while let Some(found) = self.file.next_tensor(source, &mut next, &mut |_| {})? {
                let count = index.len() as u64 + 1;
                if count > most {
                    return Err(Stop::NeedBuffer { needed: count * Catalog::ENTRY });
                }
                index.push(source, found.tensor)?;
                cursor = next;
            }
            Ok(())
        })?;
        Ok(index)
    }

    /// The tensor of an entry from this model.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let kept: weighbridge::Entry = (*model.tensor("emb")?).clone();
    /// assert_eq!(model.tensor_of(&kept).to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensor_of(&self, entry: &Entry) -> Tensor<'_, 'a> {
        Tensor { model: self, entry: entry.clone() }
    }

    /// All tensors with this name; there should be only one. Reads the entries in order and
    /// keeps none.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensors_named("emb").count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors_named(
        &self,
        name: impl Into<Text>,
    ) -> impl Iterator<Item = Result<Tensor<'_, 'a>, Error>> + '_ {
        let name = name.into();
        let mut cursor = Cursor::default();
        let mut over = false;
        core::iter::from_fn(move || {
            if over {
                return None;
            }
            let wanted = Name::new(name.as_bytes(), NameEncoding::Plain);
            let found = self.access.ask_or_end(|source| {
                let mut next = cursor;
                let found =
                    self.file.find(source, &wanted, &mut next).inspect_err(|_| cursor = next);
                let entry = found?.map(|tensor| Entry::new(source, tensor)).transpose()?;
                cursor = next;
                Ok(entry)
            });
            let found = found.map(|entry| entry.map(|entry| Tensor { model: self, entry }));
            over = !matches!(found, Ok(Some(_)));
            found.transpose()
        })
    }

    /// Resets the count of bytes that were looked at to show entries, for a second pass over
    /// them. The count is limited, because many entries may share one table, value or payload.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.left_out(), None);
    /// model.rewind();
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn rewind(&self) {
        self.access.rewind();
    }

    /// Why no more payloads, values or rows are shown, as a sentence; `None` below the limit.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// for tensor in model.tensors() {
    ///     tensor?.stats()?;
    /// }
    /// assert_eq!(model.left_out(), None);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn left_out(&self) -> Option<&'static str> {
        self.access.spent()
    }

    /// Whether entries share so many tables or values that not all of them are shown.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entries = model.metadata().count();
    /// assert!(entries == 1 && !model.is_cut());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_cut(&self) -> bool {
        self.access.room() == 0
    }

    /// Fails if the file was written to since it was opened.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// let model = weighbridge::Model::open(&path)?;
    /// let weights = model.tensor("emb")?.to_vec::<f32>()?;
    /// model.verify_unchanged()?; // the weights are those of one file
    /// # assert_eq!(weights.len(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ReadError::Changed`](crate::ReadError::Changed).
    pub fn verify_unchanged(&self) -> Result<(), Error> {
        self.access.verify_unchanged()
    }
}

/// The tensors of a model, in order.
struct Tensors<'m, 'a> {
    model: &'m Model<'a>,
    cursor: Cursor,
    over: bool,
}

impl<'m, 'a> Iterator for Tensors<'m, 'a> {
    type Item = Result<Tensor<'m, 'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let Tensors { model, cursor, .. } = self;
        let found = model.access.ask_or_end(|source| {
            let mut next = *cursor;
            let Some(found) = model.file.next_tensor(source, &mut next, &mut |_| {})? else {
                return Ok(None);
            };
            let entry = Entry::new(source, found.tensor)?;
            *cursor = next;
            Ok(Some(entry))
        });
        let found = found.map(|entry| entry.map(|entry| Tensor { model, entry })).transpose();
        self.over = !matches!(found, Some(Ok(_)));
        found
    }
}
