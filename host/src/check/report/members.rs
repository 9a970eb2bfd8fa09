//! Reports on archives, made of those on their members.

use super::{Found, Report, Unchecked};
use crate::base::text::Text;
use crate::check::diagnosis::Diagnosis;
use crate::check::finding::on_file;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::{Tally, general};

/// What is not checked of a pipeline: a pickle may be called `.txt`, and settings may name modules.
const UNSEARCHED: &str = "the archive's settings, texts and tokenizers were not searched for code";

impl Report {
    /// Whether this is an archive of models (DDUF) whose other members were not searched for code: what
    /// settings, texts and tokenizers make a program run.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// use weighbridge::{Options, Profile, Verdict, check_path};
    ///
    /// let mut report = check_path(&path, &Options::new())?;
    /// assert!(report.leaves_settings());
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    /// report.settings_searched();
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Valid);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn leaves_settings(&self) -> bool {
        self.unchecked.iter().any(|it| it.why == UNSEARCHED)
    }

    /// The kind of an archive of models, which is none of the [`Format`](crate::Format)s: `DDUF`;
    /// `None` if the file is no such archive.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("pipeline.dduf");
    /// # std::fs::write(&path, weighbridge_tests::samples::pipeline())?;
    /// let report = weighbridge::check_path(&path, &weighbridge::Options::new())?;
    /// assert_eq!((report.archive(), report.format()), (Some("DDUF"), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn archive(&self) -> Option<&'static str> {
        self.archive
    }

    /// Records that these members were searched, and none has code.
    /// [`search_settings`](Self::search_settings) does both.
    ///
    /// ```
    /// let bytes = weighbridge_tests::samples::safetensors();
    /// let mut report = weighbridge::check(&bytes)?;
    /// report.settings_searched(); // nothing changes: it is no archive
    /// assert!(report.unchecked().is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn settings_searched(&mut self) {
        self.unchecked.retain(|it| it.why != UNSEARCHED);
    }

    /// Records that a member makes a program run code, as this sentence says.
    pub(crate) fn runs_code(&mut self, why: String) {
        let finding = on_file(general::ARCHIVE_CODE, (0, 4), (0, 0));
        if self.tally.add(&finding) {
            self.findings.push(Found { finding, entry: None, said: Some(why.into()) });
        }
        self.sort();
    }

    /// Records that they were not searched yet.
    pub(crate) fn leave_settings(&mut self) {
        self.leave(Unchecked::new(None, UNSEARCHED, true));
    }

    /// The report on an archive that is not read as one file, to which its members are added.
    pub(crate) fn begin_members(&mut self, checked: &'static [&'static str]) {
        self.findings = Vec::new();
        self.unchecked = Vec::new();
        (self.unchecked_more, self.tally) = (0, Tally::default());
        (self.diagnosis, self.recognised) = (None, true);
        (self.checked, self.archive) = (checked, Some("DDUF"));
    }

    /// Says what a file is that holds the members, and is no model itself.
    pub(crate) fn holds_members(&mut self, what: &'static str) {
        self.diagnosis = Some(Diagnosis::Other(what));
    }

    /// Adds the report on a member, whose bytes begin at `base`.
    pub(crate) fn add_member(&mut self, report: Report, name: &Text, base: u64) {
        let named = |entry: &Option<Arc<Text>>| match entry {
            Some(entry) => Arc::new(Text::from(format!("{}: {}", name.lossy(), entry.lossy()))),
            None => Arc::new(name.clone()),
        };
        if let Some(diagnosis) = report.diagnosis() {
            self.leave(Unchecked::new(Some(name.clone()), format!("{diagnosis}"), false));
        }
        for Found { mut finding, entry, said } in report.findings {
            finding.offset = finding.offset.saturating_add(base);
            if self.tally.add(&finding) {
                self.findings.push(Found { finding, entry: Some(named(&entry)), said });
            }
        }
        for unchecked in report.unchecked {
            self.leave(Unchecked { entry: Some(named(&unchecked.entry)), ..unchecked });
        }
        self.unchecked_more = self.unchecked_more.saturating_add(report.unchecked_more);
    }
}
