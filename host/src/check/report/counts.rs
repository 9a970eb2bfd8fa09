//! Counts of what a report does not list.

use super::{Collected, NotListed, Report};
use alloc::vec::Vec;
use weighbridge_core::{Count, Finding, Severity, Source, Tally};

impl Collected {
    /// Adds a finding of a reader, with the text that its message quotes.
    pub(crate) fn take(&mut self, source: &Source<'_>, mut finding: Finding) {
        if self.tally.add(&finding) {
            finding.quote(source);
            self.kept.push(finding);
        }
    }
}

impl Report {
    /// The profile of the options.
    #[cfg(feature = "output")]
    pub(crate) fn profile(&self) -> weighbridge_core::Profile {
        self.criteria.profile
    }

    /// Counts of all findings.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let rules: Vec<_> = report.tally().rules().map(|count| count.rule.id()).collect();
    /// assert_eq!(rules, ["OFFSET-BOUNDS"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The findings that are not listed, counted by rule.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// for more in report.findings_not_listed() {
    ///     println!("{} more of {}", more.count, more.rule);
    /// }
    /// # assert!(report.findings_not_listed().is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn findings_not_listed(&self) -> Vec<NotListed> {
        let left = self.tally.rules().filter(|count| count.found > count.kept);
        left.map(|count| NotListed::new(count.rule, count.found - count.kept)).collect()
    }

    /// The number of unchecked items that are neither listed nor counted by rule.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.unchecked_beyond(), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn unchecked_beyond(&self) -> u64 {
        self.unchecked_more
    }

    /// The number of findings, listed or not.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.total(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn total(&self) -> u64 {
        self.findings.len() as u64 + self.dropped(false)
    }

    /// The number of unchecked items that are not listed.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.unchecked_not_listed(), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn unchecked_not_listed(&self) -> u64 {
        self.unchecked_more + self.dropped(true)
    }

    /// The number of findings not listed, either of the rules about unchecked items or of all
    /// others.
    fn dropped(&self, unchecked: bool) -> u64 {
        let of = |count: &Count| (count.rule.severity() == Severity::Unchecked) == unchecked;
        self.tally.rules().filter(of).map(|count| count.found - count.kept).sum()
    }

    /// The findings that the options [ignore](crate::Options::ignore), counted by rule.
    ///
    /// ```
    /// use weighbridge::{Options, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = check_with(&bytes, &Options::new())?;
    /// assert!(report.ignored().is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn ignored(&self) -> Vec<NotListed> {
        let ignored = self.tally.rules().filter(|count| self.criteria.ignores(count.rule));
        ignored.map(|count| NotListed::new(count.rule, count.found)).collect()
    }

    /// Changes where findings are.
    #[cfg(all(feature = "onnx", feature = "std"))]
    pub(crate) fn relocate(&mut self, change: impl Fn(&mut Finding)) {
        self.findings.iter_mut().for_each(|found| change(&mut found.finding));
    }
}
