//! What the other members of an archive of models make a program run.

use super::{Class, Repository};
use crate::base::error::ReadError;
use crate::check::report::Report;
use crate::input::reader::Input;

impl Report {
    /// Searches the settings, texts and tokenizers of an archive of models (DDUF) for code, and records
    /// what was found: `ARCHIVE-CODE`, or that nothing is left to search. Reports on other files stay
    /// as they are. `name` is that of the archive.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// use weighbridge::{FileInput, Options, Profile, check_at};
    ///
    /// let file = FileInput::open(&path)?;
    /// let mut report = check_at(&file, &path, &Options::new())?;
    /// report.search_settings(&file, "pipeline.dduf")?;
    /// assert!(report.verdict(Profile::Strict).is_valid());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When bytes cannot be read.
    pub fn search_settings(&mut self, input: &dyn Input, name: &str) -> Result<(), ReadError> {
        if !self.leaves_settings() {
            return Ok(());
        }
        let found = Repository::default().examine(input, name, None, true)?;
        if found.class == Class::Code {
            self.settings_searched();
            self.runs_code(found.sentence());
        } else if !found.danger {
            self.settings_searched();
        }
        Ok(())
    }
}
