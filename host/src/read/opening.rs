//! Opening a model from any source.

use crate::base::error::Error;
use crate::base::memory::Bytes;
use crate::check::access::Access;
use crate::check::diagnosis::Diagnosis;
use crate::check::options::{Goal, Options};
use crate::check::report::{Report, Verdict};
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::read::model::Model;
use crate::set::gate::report_with_others;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString as _;
use alloc::sync::Arc;
use weighbridge_core::Severity;

impl<'a> Model<'a> {
    /// Opens a file that is in memory.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor_count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotOpened`] with a sentence that says why, or what the file is instead.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, Error> {
        Model::from_bytes_with(bytes, &Options::new())
    }

    /// Like [`from_bytes`](Self::from_bytes), with the limits and the format given in
    /// `options`.
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
        Model::of(Access::whole(Bytes::Lent(bytes), options))
    }

    /// Like [`from_bytes_with`](Self::from_bytes_with), but the model owns the bytes, such as a
    /// vector or a mapped file. Only [`as_slice`](crate::Tensor::as_slice) requires borrowed
    /// bytes.
    ///
    /// ```
    /// use weighbridge::{Model, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = Model::from_buffer(bytes, &Options::new())?;
    /// assert_eq!(model.tensor("emb")?.to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_buffer(
        bytes: impl AsRef<[u8]> + Send + Sync + 'a,
        options: &Options,
    ) -> Result<Self, Error> {
        Model::of(Access::whole(Bytes::Kept(Arc::new(bytes)), options))
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

    /// Like [`open`](Self::open), with the limits and the format given in `options`.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// use weighbridge::{Model, Options};
    ///
    /// let model = Model::open_with(&path, &Options::new().buffer(64 << 20))?;
    /// assert_eq!(model.tensor("emb")?.to_vec::<f32>()?.len(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    #[cfg(feature = "std")]
    pub fn open_with(path: impl AsRef<std::path::Path>, options: &Options) -> Result<Self, Error> {
        let place = path.as_ref().to_path_buf();
        let input = crate::input::reader::FileInput::open(&place)?;
        let access = Access::at(Box::new(input), &place, options);
        #[cfg(feature = "onnx")]
        let access = crate::set::open_beside::attached(access, &place)?;
        Model::of(access)
    }

    /// Checks a file on disk, and opens it if possible, for programs that show both. Unlike
    /// [`check_path`](crate::check_path) it does not check at the end that the file is
    /// unchanged: call [`verify_unchanged`](Self::verify_unchanged) after the last read.
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
        let place = path.as_ref().to_path_buf();
        let input = crate::input::reader::FileInput::open(&place)?;
        Model::checked_at(input, &place, options)
    }

    /// Checks a file whose place is known, along with the files beside it that belong to it, as
    /// [`check_at`](crate::check_at) does, and opens it if possible.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// use weighbridge::{FileInput, Model, Options};
    ///
    /// let file = FileInput::open(&path)?;
    /// let (report, model) = Model::checked_at(&file, &path, &Options::new())?;
    /// assert!(report.findings().is_empty() && model.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn checked_at(
        input: impl Input + 'a,
        place: &dyn Place,
        options: &Options,
    ) -> Result<(Report, Option<Self>), Error> {
        let mut access = Access::at(Box::new(input), place, options);
        let mut report = report_with_others(&mut access, place, options.goal)?;
        report.name = access.name().cloned();
        let model = access.file().map(|file| Model { access, file });
        Ok((report, model))
    }

    /// Opens a seekable reader, from its first byte.
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
        Model::from_input(crate::input::reader::Seekable::new(reader)?)
    }

    /// Opens a file whose bytes are read as needed: see [`Input`].
    ///
    /// ```
    /// use weighbridge::{Input, Model, ReadError};
    ///
    /// struct Memory(Vec<u8>);
    ///
    /// impl Input for Memory {
    ///     fn len(&self) -> u64 {
    ///         self.0.len() as u64
    ///     }
    ///
    ///     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
    ///         buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = Model::from_input(Memory(bytes))?;
    /// assert_eq!(model.tensor("emb")?.slice::<f32>(4..6)?, [4.0, 5.0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_input(input: impl Input + 'a) -> Result<Self, Error> {
        Model::from_input_with(input, &Options::new())
    }

    /// Like [`from_input`](Self::from_input), with the limits and the format given in
    /// `options`.
    ///
    /// ```
    /// use weighbridge::{Input, Model, Options, ReadError};
    /// # struct Remote(Vec<u8>);
    /// # impl Input for Remote {
    /// #     fn len(&self) -> u64 { self.0.len() as u64 }
    /// #     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
    /// #         buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
    /// #         Ok(())
    /// #     }
    /// # }
    /// # let remote = Remote(weighbridge_tests::samples::safetensors());
    ///
    /// let options = Options::new().granule(64 << 10); // each request is a round trip
    /// let model = Model::from_input_with(remote, &options)?;
    /// assert_eq!(model.tensor_count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_input_with(input: impl Input + 'a, options: &Options) -> Result<Self, Error> {
        Model::of(Access::new(Box::new(input), None, options))
    }

    fn of(access: Access<'a>) -> Result<Self, Error> {
        access.run(Goal::Header)?;
        match access.file() {
            Some(file) => Ok(Model { access, file }),
            None => Err(not_opened(&access)),
        }
    }
}

/// The error for a file that could not be opened.
fn not_opened(access: &Access<'_>) -> Error {
    let report = access.with(|session| session.report());
    let unsupported = report.verdict_on_checked() == Verdict::Unsupported;
    let whole = |it: &&Diagnosis| it.is_other() || **it == Diagnosis::Empty;
    let fatal = report.findings().iter().find(|found| found.severity() == Severity::Fatal);
    let why = match (report.diagnosis().filter(whole), fatal) {
        (Some(other), _) => format!("cannot be opened: {other}"),
        (None, Some(it)) => format!("{} at {}: {}", it.rule(), it.offset(), it.message()),
        (None, None) => "cannot be opened".to_string(),
    };
    Error::NotOpened { why, unsupported }
}
