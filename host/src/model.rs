//! An open file, whose tensors are read by name.

use crate::access::Access;
use crate::diagnosis::Diagnosis;
use crate::entry::Entry;
use crate::error::Error;
use crate::gate::report_on;
use crate::input::Input;
use crate::metadata::{Entries, Meta};
use crate::options::{Goal, Options};
use crate::report::{Report, Verdict};
use crate::tensor::Tensor;
use crate::text::Text;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString as _;
use core::fmt;
use weighbridge_core::{Cursor, File, Format, Name, NameEncoding, Severity, Version};

/// A file that is open: its metadata and its tensors.
///
/// Of a file that is not in memory only the parts that are asked for are read. A model is
/// not a verdict: what breaks a rule elsewhere in the file may still be read here, and
/// [`check`](Self::check) or [`weighbridge::check`](crate::check) says so.
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
    /// Opens a file that is in memory.
    ///
    /// # Errors
    /// [`Error::NotOpened`] with a sentence that says why, or what the file is instead.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        Model::from_bytes_with(bytes, &Options::new())
    }

    /// The same within other limits, or as a format that is chosen.
    ///
    /// ```
    /// use weighbridge::{Format, Model, Options};
    ///
    /// let options = Options::new().format(Format::Gguf);
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let error = Model::from_bytes_with(&bytes, &options).unwrap_err();
    /// assert_eq!(error.to_string(), "MAGIC at 0: the file does not begin with GGUF");
    /// ```
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_bytes_with(bytes: &'a [u8], options: &Options) -> Result<Self, Error> {
        Model::of(Access::whole(bytes, options))
    }

    /// Opens a file on disk. Its header is read now, the rest when it is needed.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// let model = weighbridge::Model::open(&path)?;
    /// assert_eq!(model.format(), weighbridge::Format::Safetensors);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and when the file cannot be read.
    #[cfg(feature = "std")]
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, Error> {
        Model::open_with(path, &Options::new())
    }

    /// The same within other limits, or as a format that is chosen.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(feature = "std")]
    pub fn open_with(path: impl AsRef<std::path::Path>, options: &Options) -> Result<Self, Error> {
        Model::of(Access::open(path.as_ref(), options)?)
    }

    /// Checks a file on disk as [`check_path`](crate::check_path) does, and opens it if that
    /// can be: for who shows both.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// use weighbridge::{Goal, Model, Options};
    ///
    /// let options = Options::new().goal(Goal::Structure);
    /// let (report, model) = Model::open_checked(&path, &options)?;
    /// assert!(report.findings().is_empty() && model.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    #[cfg(feature = "std")]
    pub fn open_checked(
        path: impl AsRef<std::path::Path>,
        options: &Options,
    ) -> Result<(Report, Option<Self>), Error> {
        let access = Access::open(path.as_ref(), options)?;
        let mut report = report_on(&access, Some(path.as_ref()), options.goal)?;
        report.name = access.name().cloned();
        let model = access.file().map(|file| Model { access, file });
        Ok((report, model))
    }

    /// Opens a reader that seeks, from its first byte.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_reader(std::io::Cursor::new(bytes))?;
    /// assert_eq!(model.tensor("emb")?.to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(feature = "std")]
    pub fn from_reader(
        reader: impl std::io::Read + std::io::Seek + Send + 'a,
    ) -> Result<Self, Error> {
        Model::from_input(crate::input::Seekable::new(reader)?)
    }

    /// Opens a file whose bytes are read as they are needed: see [`Input`].
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_input(input: impl Input + 'a) -> Result<Self, Error> {
        Model::from_input_with(input, &Options::new())
    }

    /// The same within other limits, or as a format that is chosen.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_input_with(input: impl Input + 'a, options: &Options) -> Result<Self, Error> {
        Model::of(Access::new(Box::new(input), None, options))
    }

    fn of(access: Access<'a>) -> Result<Self, Error> {
        access.reach(Goal::Header)?;
        match access.file() {
            Some(file) => Ok(Model { access, file }),
            None => Err(not_opened(&access)),
        }
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.file.format()
    }

    /// The version that the file states.
    pub fn version(&self) -> Option<Version> {
        self.file.version()
    }

    /// Length of the file in bytes.
    #[allow(clippy::len_without_is_empty, reason = "of the file, not of the tensors")]
    pub fn len(&self) -> u64 {
        self.access.len()
    }

    /// How many tensors the file declares. Fewer may follow if it is broken.
    pub fn tensor_count(&self) -> u64 {
        self.file.tensor_count()
    }

    /// The file as the core has it.
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

    /// The metadata of the file, entry by entry.
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

    /// The tensors, in the order of the index. None is kept: memory does not grow with
    /// their number.
    pub fn tensors(&self) -> impl Iterator<Item = Result<Tensor<'_, 'a>, Error>> + '_ {
        Tensors { model: self, cursor: Cursor::default(), over: false }
    }

    /// The tensor of this name: its number, where tensors have numbers. If the file has
    /// several, the first.
    ///
    /// The first call reads the index; from then on a lookup takes the same time however
    /// many tensors there are.
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

    /// All tensors of this name, which should be one: by reading one entry after the other,
    /// so that none is kept.
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

    /// How many bytes of the file are looked at for what is shown of it is bounded,
    /// because many entries may share one table, value or payload: this begins anew, for
    /// a second pass over the same entries.
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

    /// Why no more payloads, values or rows are shown, if so: a sentence.
    pub fn left_out(&self) -> Option<&'static str> {
        self.access.spent()
    }

    /// Whether entries share tables or values so much that not all of them are shown.
    pub fn is_cut(&self) -> bool {
        self.access.room() == 0
    }

    /// Fails if the file was written to since it was opened.
    ///
    /// # Errors
    /// [`ReadError::Changed`](crate::ReadError::Changed).
    pub fn verify_unchanged(&self) -> Result<(), Error> {
        self.access.verify_unchanged()
    }
}

/// Why a file could not be opened.
fn not_opened(access: &Access<'_>) -> Error {
    let report = access.with(|session| session.report());
    let unsupported = report.verdict_on_checked() == Verdict::Unsupported;
    let whole = |it: &&Diagnosis| it.is_other() || **it == Diagnosis::Empty;
    let fatal = report.findings().iter().find(|found| found.severity() == Severity::Fatal);
    let why = match (report.diagnosis().filter(whole), fatal) {
        (Some(other), _) => format!("is not opened: {other}"),
        (None, Some(it)) => format!("{} at {}: {}", it.rule(), it.offset(), it.message()),
        (None, None) => "cannot be opened".to_string(),
    };
    Error::NotOpened { why, unsupported }
}

/// The tensors of a model, one after the other.
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
