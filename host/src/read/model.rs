//! An open file: its metadata, its index, its layout.

use crate::base::error::Error;
use crate::check::access::Access;
use crate::check::options::Goal;
use crate::check::report::Report;
use crate::list::areas::FileMap;
use crate::list::entry::Catalog;
use crate::list::index::Index;
use crate::read::metadata::{Entries, Meta};
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::{Cursor, File, Format, Stop, Version};

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
        self.access.own_len()
    }

    /// Length in bytes of the file and of its data files.
    pub(crate) fn len_of_all(&self) -> u64 {
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
    /// use weighbridge::weighbridge_core::File;
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
    /// use weighbridge::{Goal, Model, weighbridge_core::Profile};
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
        let mut report = self.access.report(goal)?;
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
        let (mut index, mut cursor, mut at_hand) = (Index::default(), Cursor::default(), None);
        index.reserve(expected);
        self.access.ask_or_end(|source| {
            loop {
                // Not read again when its name is missing: a cursor before it would be a large copy.
                if let Some(tensor) = at_hand {
                    let count = index.len() as u64 + 1;
                    if count > most {
                        return Err(Stop::NeedBuffer { needed: count * Catalog::ENTRY });
                    }
                    index.push(source, tensor)?;
                    at_hand = None;
                }
                match self.file.next_tensor(source, &mut cursor, &mut |_| {})? {
                    Some(found) => at_hand = Some(found.tensor),
                    None => return Ok(()),
                }
            }
        })?;
        Ok(index)
    }

    /// The layout of the file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let map = model.map()?;
    /// let last = map.areas().last().unwrap();
    /// assert_eq!(last.at + last.len, bytes.len() as u64);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn map(&self) -> Result<FileMap, Error> {
        let (mut regions, mut cursor) = (Vec::new(), Cursor::default());
        self.access.ask_or_end(|source| {
            let mut next = cursor;
            while regions.len() < FileMap::MOST
                && let Some(region) =
                    self.file.next_region(source, &mut next).inspect_err(|_| cursor = next)?
            {
                // Data in another file has no place in this one.
                if !region.span.is_empty() && region.span.offset < self.len() {
                    regions.push(region);
                }
                cursor = next;
            }
            Ok(())
        })?;
        Ok(FileMap::of(&regions, self.len()))
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
