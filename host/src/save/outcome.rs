//! The result of a conversion.

use super::lost::{LeftOut, Tied};

use crate::check::report::{Report, Verdict};
use alloc::string::String;
use alloc::vec::Vec;
use std::path::PathBuf;

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Saved {
    /// Where it is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub len: u64,
    /// Number of tensors in it.
    pub tensors: u64,
}

/// The result of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Converted {
    pub(super) report: Report,
    pub(super) verdict: Verdict,
    pub(super) files: Vec<Saved>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) metadata_left_out: Vec<LeftOut>,
    pub(super) tied: Vec<Tied>,
    pub(super) notes: Vec<String>,
}

impl Converted {
    /// The report on the file that was named, or on that of its files that has the verdict.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert_eq!(done.report().format(), Some(weighbridge::Format::Gguf));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Whether the model was written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// assert!(weighbridge::save::Convert::new().run(&from, &to)?.is_written());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_written(&self) -> bool {
        !self.files.is_empty()
    }

    /// The verdict: `Valid` if all was written, `Unchecked` if a tensor cannot be written or not
    /// all of the input could be checked; otherwise why the input was refused.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert_eq!(done.verdict(), weighbridge::Verdict::Valid);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The files that were written, the index last; empty if nothing was.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert_eq!(done.files()[0].len, std::fs::metadata(&to)?.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(&self) -> &[Saved] {
        &self.files
    }

    /// All tensors that cannot be written.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert!(done.left_out().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Metadata that is not kept, because it is not text.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert_eq!(done.metadata_left_out()[0].why, "it is not text"); // a list
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn metadata_left_out(&self) -> &[LeftOut] {
        &self.metadata_left_out
    }

    /// Names whose elements are written under another name.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert!(done.tied().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tied(&self) -> &[Tied] {
        &self.tied
    }

    /// What a reader of the files should know, in sentences.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("a.gguf"), folder.path().join("b"));
    /// # std::fs::write(&from, weighbridge_tests::samples::words())?;
    /// let done = weighbridge::save::Convert::new().run(&from, &to)?;
    /// assert!(done.notes().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
