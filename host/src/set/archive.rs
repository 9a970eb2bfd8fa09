//! The members of an archive of models, as files of a folder.

use super::open_archive::{place, recognise};
use crate::base::error::{Error, ReadError};
use crate::base::text::Text;
use crate::check::access::Access;
use crate::check::options::Options;
use crate::input::place::Place;
use crate::input::reader::Input;
use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use std::io;
use weighbridge_core::Span;

/// An archive of models: a DDUF file, or a program with a GGUF model behind it. Its members are read
/// where they are.
///
/// ```
/// use weighbridge::{Archive, FileInput, Model, Options, Place, Profile};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("pipeline.dduf");
/// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
/// let file = FileInput::open(&path)?;
/// let archive = Archive::of(&file, &path)?.expect("it is named as DDUF");
/// let weights = archive.members().iter().find(|it| it.name().ends_with(".safetensors")).unwrap();
/// let member = archive.place(weights.name());
/// let (report, model) = Model::checked_at(member.open()?, &member, &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// assert_eq!(model.unwrap().tensor_count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Archive<'i> {
    input: Lent<'i>,
    name: Text,
    members: Vec<ArchiveMember>,
}

/// A member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveMember {
    name: String,
    data: Option<Span>,
}

/// The place of a member; members of the same folder lie beside it.
#[derive(Debug)]
pub struct MemberPlace<'a> {
    archive: &'a Archive<'a>,
    path: String,
}

/// An input that is lent.
#[derive(Clone, Copy)]
struct Lent<'i>(&'i dyn Input);

impl core::fmt::Debug for Lent<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Input").field("len", &self.0.len()).finish()
    }
}

impl<'i> Archive<'i> {
    /// Reads the directory of the file at a place; `None` if it is no archive of models.
    ///
    /// ```
    /// use weighbridge::{Archive, FileInput};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// assert!(Archive::of(&FileInput::open(&path)?, &path)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read.
    pub fn of(input: &'i dyn Input, at: &dyn Place) -> Result<Option<Self>, Error> {
        let name = at.name();
        let access = Access::new(Box::new(input), Some(name.clone()), &Options::new());
        let Some((_, directory)) = recognise(&access)? else { return Ok(None) };
        let mut members = Vec::new();
        for member in directory.members.iter().filter(|it| !it.name.ends_with('/')) {
            let is_stored = member.method == 0 && !member.encrypted;
            let data = place(&access, member)?.data.filter(|_| is_stored);
            members.push(ArchiveMember { name: member.name.clone(), data });
        }
        Ok(Some(Archive { input: Lent(input), name, members }))
    }

    /// The members, in the order of the directory.
    ///
    /// ```
    /// # use weighbridge::{Archive, FileInput};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// let file = FileInput::open(&path)?;
    /// let archive = Archive::of(&file, &path)?.unwrap();
    /// assert_eq!(archive.members()[0].name(), "model_index.json");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn members(&self) -> &[ArchiveMember] {
        &self.members
    }

    /// The place of the member of this name, whether it exists or not.
    ///
    /// ```
    /// # use weighbridge::{Archive, FileInput, Place};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// let file = FileInput::open(&path)?;
    /// let archive = Archive::of(&file, &path)?.unwrap();
    /// assert!(archive.place("vae/config.json").open().is_ok());
    /// assert!(archive.place("vae/none.json").open().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn place(&self, name: &str) -> MemberPlace<'_> {
        MemberPlace { archive: self, path: name.to_owned() }
    }
}

impl ArchiveMember {
    /// Its name, with its folder.
    ///
    /// ```
    /// # use weighbridge::{Archive, FileInput};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// # let file = FileInput::open(&path)?;
    /// # let archive = Archive::of(&file, &path)?.unwrap();
    /// assert!(archive.members().iter().any(|it| it.name() == "vae/config.json"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bytes in the archive; `None` if they are compressed or encrypted, or not in the file.
    ///
    /// ```
    /// # use weighbridge::{Archive, FileInput};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// # let file = FileInput::open(&path)?;
    /// # let archive = Archive::of(&file, &path)?.unwrap();
    /// assert!(archive.members().iter().all(|it| it.span().is_some()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn span(&self) -> Option<Span> {
        self.data
    }
}

impl Place for MemberPlace<'_> {
    fn name(&self) -> Text {
        Text::from(alloc::format!("{}: {}", self.archive.name.lossy(), self.path))
    }

    fn file_name(&self) -> Text {
        Text::from(self.path.rsplit('/').next().unwrap_or_default())
    }

    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
        let found = self.archive.members.iter().find(|it| it.name == self.path);
        let Some(member) = found else {
            return Err(ReadError::Io(io::ErrorKind::NotFound.into()));
        };
        let Some(span) = member.data else {
            return Err(ReadError::Other("the member is compressed, or not in the file".into()));
        };
        Ok(Box::new(Section { input: self.archive.input.0, span }))
    }

    fn beside(&self, name: &str) -> Box<dyn Place + '_> {
        let folder = self.path.rfind('/').map_or("", |at| &self.path[..=at]);
        let path = [folder, name].concat();
        Box::new(MemberPlace { archive: self.archive, path })
    }
}

/// Bytes of an input.
struct Section<'i> {
    input: &'i dyn Input,
    span: Span,
}

impl Input for Section<'_> {
    fn len(&self) -> u64 {
        self.span.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.input.read_at(self.span.offset.saturating_add(offset), buffer)
    }
}
