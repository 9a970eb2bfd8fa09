//! Access to the data of one tensor.

mod canonical;
mod find;
mod numbers;
mod path;

use crate::base::error::Error;
use crate::base::text::Text;
use crate::check::file_audit::FileAudit;
use crate::check::options::Goal;
use crate::check::report::Collected;
use crate::list::entry::{Entry, Piece};
use crate::read::data;
use crate::read::metadata::{Entries, Meta};
use crate::read::model::Model;
use crate::read::particulars::Particulars;
use crate::read::values::{self, Shown};
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use weighbridge_core::codec::Decoder;
use weighbridge_core::{Audit, EntryKind, Finding, Format, Layout, Severity, Status};

/// Bytes of a chunk's entry, in files that have a table of chunks.
const CHUNK: u64 = 16;

/// A tensor of a [`Model`]: its [`Entry`] and its data.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let emb = model.tensor("emb")?;
/// let all: Vec<f32> = emb.to_vec()?;
/// let second_row: Vec<f32> = emb.rows(1..2)?;
/// assert_eq!(second_row, all[3..]);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor<'m, 'a> {
    pub(crate) model: &'m Model<'a>,
    pub(crate) entry: Entry,
}

impl fmt::Debug for Tensor<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entry.fmt(f)
    }
}

impl Deref for Tensor<'_, '_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entry
    }
}

impl<'m, 'a> Tensor<'m, 'a> {
    /// Calls `take` with the first `limit` elements in row-major order, rows of a column, or
    /// entries of a sparse tensor in file order.
    ///
    /// ```
    /// use weighbridge::{Error, Shown};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut shown = Vec::new();
    /// model.tensor("emb")?.values(2, |value: &Shown<'_>| {
    ///     shown.push(value.to_value().to_string());
    ///     Ok::<(), Error>(())
    /// })?;
    /// assert_eq!(shown, ["0.0", "1.0"]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `take`, and when the data cannot be read.
    pub fn values<E: From<Error>>(
        &self,
        limit: u64,
        mut take: impl FnMut(&Shown<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Model { access, file, .. } = self.model;
        values::first(access, file, &self.tensor, limit, &mut take)
    }

    /// Whether [`values`](Self::values) can show the first `limit` elements. Decodes encoded
    /// data to find out.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert!(emb.has_values(6)?);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn has_values(&self, limit: u64) -> Result<bool, Error> {
        values::can_show(&self.model.access, &self.model.file, &self.tensor, limit)
    }

    /// Calls `take` with the decoded bytes of all elements, in file order.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut sum = 0_u64;
    /// model.tensor("emb")?.stream(|piece| {
    ///     sum += piece.len() as u64;
    ///     Ok::<(), weighbridge::Error>(())
    /// })?;
    /// assert_eq!(sum, 12);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `take`, and when the data cannot be read.
    pub fn stream<E: From<Error>>(
        &self,
        take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let len = self.decoded_len()?;
        data::bytes(&self.model.access, &self.model.file, &self.tensor, len, take)
    }

    /// The number of bytes that the data decodes to.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::compressed();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let z = model.tensor("z")?; // zstd
    /// assert!(z.span().unwrap().len < 4000);
    /// assert_eq!(z.decoded_len()?, 4000);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the reason, if it cannot be decoded.
    pub fn decoded_len(&self) -> Result<u64, Error> {
        if self.chunk_count() == 0 && self.elements() == 0 && self.status() == Status::Sound {
            return Ok(0);
        }
        let unsupported = |why: &str| Err(Error::Unsupported(why.into()));
        match self.chunk_count() {
            0 => return unsupported("it has no data in the file"),
            1 => {}
            _ => return unsupported("its data is split across several chunks"),
        }
        if self.layout() == Layout::Strided {
            return self.bytes().ok_or(Error::Memory(u64::MAX));
        }
        let Model { access, file, .. } = self.model;
        let chunk = access.ask(|source| file.chunk(source, &self.tensor, 0))?;
        let Some(chunk) = chunk.filter(|chunk| Decoder::decodes(chunk.encoding)) else {
            let encoding = self.encoding().name();
            return unsupported(&format!(
                "its data is stored as {encoding}, which is not supported"
            ));
        };
        match data::len(&chunk) {
            Some(len) => Ok(len),
            None => unsupported("the length of its data is unknown"),
        }
    }

    /// The path of the file that the data is in, relative to the folder of the model; `None` if it
    /// is in the model's own file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(model.tensor("emb")?.file().is_none());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn file(&self) -> Option<&'m Text> {
        self.model.access.place(self.span()?.offset).0
    }

    /// The pieces in which the data is stored, at offsets in the [`file`](Self::file) that they are
    /// in.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let piece = model.tensor("emb")?.pieces().next().unwrap()?;
    /// assert_eq!((piece.stored, piece.decoded), (12, Some(12)));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn pieces(&self) -> impl Iterator<Item = Result<Piece, Error>> + use<'m, 'a> {
        let (model, tensor) = (self.model, self.tensor);
        let most = model.access.room() / CHUNK;
        let mut next = Some(0);
        core::iter::from_fn(move || {
            let i = next.take().filter(|i| *i <= most)?;
            let file = &model.file;
            let chunk = model.access.ask_or_end(|source| file.chunk(source, &tensor, i));
            model.access.show(CHUNK);
            let piece = chunk.transpose()?.map(|chunk| Piece {
                offset: model.access.place(chunk.stored.offset).1,
                stored: chunk.stored.len,
                decoded: chunk.decoded,
            });
            next = piece.is_ok().then_some(i + 1);
            Some(piece)
        })
    }

    /// Iterates over the metadata of this tensor.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::columns();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// for entry in model.tensor("x")?.metadata() {
    ///     let entry = entry?;
    ///     println!("{} = {}", entry.key(), entry.value());
    /// }
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn metadata(&self) -> impl Iterator<Item = Result<Meta, Error>> + use<'m, 'a> {
        Entries::new(&self.model.access, self.model.file, Some(self.tensor))
    }

    /// Format-specific properties: quantisation, checksum, codec.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::columns();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let particulars = model.tensor("x")?.particulars()?;
    /// assert_eq!(particulars.codec.as_deref(), Some("VBuffer(Int32, [3])"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the entry cannot be read.
    pub fn particulars(&self) -> Result<Particulars, Error> {
        let Model { access, file, .. } = self.model;
        let shared = access.room() > 0;
        let found =
            access.ask_or_end(|source| Particulars::read(source, file, &self.tensor, shared))?;
        access.show(found.shared());
        Ok(found)
    }

    /// Checks the data of this tensor alone, to its last byte. Returns the faults found, and
    /// findings about what was not checked.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(model.tensor("emb")?.verify()?.is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn verify(&self) -> Result<Vec<Finding>, Error> {
        let Model { access, file, .. } = self.model;
        let options = access.options();
        self.run(FileAudit::of_payload(*file, self.tensor.index, options), Goal::Payloads)
    }

    /// Why the tensor is broken: the fatal findings about it in the file's structure.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?; // a byte is missing at the end of the file
    /// assert_eq!(emb.status(), weighbridge::Status::Broken);
    /// assert_eq!(emb.faults()?[0].rule.id(), "OFFSET-BOUNDS");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn faults(&self) -> Result<Vec<Finding>, Error> {
        let Model { access, file, .. } = self.model;
        let audit = Audit::new(*file).structure_only();
        let mut found = self.run(FileAudit::of(audit, access.options()), Goal::Structure)?;
        found.retain(|finding| {
            let same = finding.kind == EntryKind::Tensor && finding.entry == self.tensor.index;
            same && finding.severity() == Severity::Fatal
        });
        Ok(found)
    }

    fn run(&self, mut running: FileAudit, goal: Goal) -> Result<Vec<Finding>, Error> {
        let access = &self.model.access;
        let mut found = Collected::default();
        access.ask(|source| {
            let sink = &mut |finding| found.push(finding);
            Ok(running.step(source, goal, access.options(), sink)?)
        })?;
        Ok(found.kept)
    }

    /// Whether this is a column of a data view, whose rows may vary in length.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::columns();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert!(model.tensor("x")?.is_column());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_column(&self) -> bool {
        self.model.format() == Format::Idv
    }
}
