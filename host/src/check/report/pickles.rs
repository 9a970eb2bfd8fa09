//! What a report says about pickles.

use super::{Collected, Report};
use crate::check::criteria::Criteria;
use crate::check::diagnosis::Diagnosis;
use crate::check::pickles::{Pickles, Said, is_of_pickles};
use weighbridge_core::{Finding, general};

impl Report {
    /// The pickles of a file that is no tensor file, and what loading them would do.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert!(report.pickles().unwrap().are_unsafe());
    /// assert_eq!(report.findings()[0].message(), "loading the pickle would run posix.system");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn pickles(&self) -> Option<&Pickles> {
        self.pickles.as_ref().or_else(|| self.diagnosis.as_ref()?.pickles())
    }

    /// Whether findings are about what the file is, and not about what it was read as: a file of
    /// another kind breaks every rule of a format. Findings on pickles always are.
    ///
    /// ```
    /// assert!(!weighbridge::check(b"PAR1")?.has_own_findings());
    /// assert!(weighbridge::check(b"cposix\nsystem\n(tR.")?.has_own_findings());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn has_own_findings(&self) -> bool {
        let is_other = self.diagnosis.as_ref().is_some_and(Diagnosis::is_other);
        !is_other || self.file.is_some() || self.pickles().is_some_and(Pickles::are_unsafe)
    }

    /// Whether the file is an archive whose pickles have been followed; other members have not.
    ///
    /// ```
    /// assert!(!weighbridge::check(b"\x80\x02}.")?.is_scanned_archive());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_scanned_archive(&self) -> bool {
        matches!(&self.diagnosis, Some(Diagnosis::Scanned(what, _)) if what.contains("archive"))
    }

    /// Whether the file has a program beside its tensors, which is not read.
    #[cfg(feature = "std")]
    pub(crate) fn has_program(&self) -> bool {
        self.has_program
    }

    /// Whether a pickle breaks a rule that counts.
    pub(super) fn breaks_pickle_rules(&self, criteria: &Criteria) -> bool {
        self.tally.rules().any(|it| is_of_pickles(it.rule) && !criteria.accepts(it.rule))
    }
}

impl Collected {
    /// What a finding on a pickle says.
    pub(super) fn said(&self, finding: &Finding) -> Option<&Said> {
        let is_said = is_of_pickles(finding.rule) || finding.rule == general::PICKLE_UNCHECKED;
        self.said.get(usize::try_from(finding.found).ok().filter(|_| is_said)?)
    }
}
