//! The results of checking a file.

mod beside;
mod counts;
mod found;
#[cfg(feature = "serde")]
mod json;
#[cfg(all(feature = "formats", feature = "std"))]
mod members;
mod open;
mod pickles;

pub use found::{Found, NotListed, Unchecked, Verdict};
#[cfg(feature = "serde")]
pub use json::SCHEMA_CHECK;

use crate::base::text::Text;
use crate::check::criteria::Criteria;
use crate::check::diagnosis::Diagnosis;
use crate::check::entry_names::Naming;
use crate::check::options::Options;
use crate::check::pickles::Pickles;
use crate::check::pickles::Said;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::{File, Finding, Format, Profile, Severity, Tally, Version, limits};

/// The result of checking a file: a verdict, and the findings it is based on.
///
/// ```
/// use weighbridge::{Verdict, weighbridge_core::Profile};
///
/// # let mut bytes = weighbridge_tests::samples::safetensors();
/// # bytes.pop();
/// let report = weighbridge::check(&bytes)?; // its last byte is missing
/// assert_eq!(report.verdict(Profile::Strict), Verdict::Invalid);
/// let finding = &report.findings()[0];
/// assert_eq!((finding.rule(), finding.entry().unwrap().as_str()), ("OFFSET-BOUNDS", Some("emb")));
/// assert_eq!(
///     report.diagnosis().unwrap().to_string(),
///     "1 byte short; 1 tensor reaches past the end: download it again"
/// );
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// With the feature `serde` it serialises to the object that `weighbridge check --json`
/// prints.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) name: Option<Text>,
    size: u64,
    format: Option<Format>,
    pub(crate) file: Option<File>,
    checked: &'static [&'static str],
    unchecked: Vec<Unchecked>,
    /// Number of unchecked items that are neither listed nor counted in `tally`.
    unchecked_more: u64,
    /// The findings that are kept, in file order.
    findings: Vec<Found>,
    /// Counts of all findings.
    pub(crate) tally: Tally,
    criteria: Criteria,
    diagnosis: Option<Diagnosis>,
    /// The pickles of a file that was opened.
    pickles: Option<Pickles>,
    /// Whether the format was chosen, not recognised.
    chosen: bool,
    /// Whether the format was chosen, or the file's content or name identifies it.
    recognised: bool,
    /// Whether the file has a program that is not read.
    has_program: bool,
    /// The kind of an archive of models.
    archive: Option<&'static str>,
}

/// Collects findings: all are counted, and those to be listed are kept.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) kept: Vec<Finding>,
    pub(crate) tally: Tally,
    /// What findings on pickles say, in the order of their `found`.
    pub(crate) said: Vec<Said>,
}

/// How far a check came, and what it found.
#[derive(Debug)]
pub(crate) struct Outcome<'c> {
    /// Length of the file in bytes.
    pub(crate) size: u64,
    pub(crate) format: Option<Format>,
    pub(crate) file: Option<File>,
    /// Whether the file could not be opened.
    pub(crate) refused: bool,
    /// Whether it is open, and has a program that is not read.
    pub(crate) has_program: bool,
    pub(crate) checked: &'static [&'static str],
    pub(crate) diagnosis: Option<Diagnosis>,
    /// The pickles of a file that was opened.
    pub(crate) pickles: Option<&'c Pickles>,
    pub(crate) collected: &'c Collected,
}

impl Collected {
    pub(crate) fn push(&mut self, finding: Finding) {
        if self.tally.add(&finding) {
            self.kept.push(finding);
        }
    }
}

impl Report {
    pub(crate) fn new(outcome: Outcome<'_>, names: &Naming, options: &Options) -> Self {
        let Outcome { size, format, file, checked, diagnosis, pickles, collected, .. } = outcome;
        let magic = format.is_some_and(Format::has_magic) || pickles.is_some();
        let recognised = options.format.is_some() || options.named.is_some() || magic;
        let unknown = options.criteria.unknown && !recognised;
        let mut report = Report {
            name: None,
            size,
            format,
            file,
            checked,
            unchecked: Vec::new(),
            unchecked_more: 0,
            findings: Vec::new(),
            tally: collected.tally,
            criteria: options.criteria.clone(),
            diagnosis: diagnosis.or(unknown.then_some(Diagnosis::Unknown)),
            pickles: pickles.cloned(),
            chosen: options.format.is_some(),
            recognised,
            has_program: outcome.has_program,
            archive: None,
        };
        if outcome.refused {
            report.unchecked.push(Unchecked::new(None, "the file could not be opened", true));
        }
        report.enter(collected, names);
        if report.file.is_some_and(|file| file.format() == Format::Shards) {
            let why = "the files it lists were not checked";
            report.unchecked.push(Unchecked::new(None, why, true));
        }
        report
    }

    /// Sorts findings by place, and adds the names of their entries. What was not checked
    /// is also listed separately.
    fn enter(&mut self, collected: &Collected, names: &Naming) {
        let mut findings = collected.kept.clone();
        findings.sort_by_key(|finding| (finding.offset, finding.kind, finding.entry, finding.part));
        for finding in findings {
            let (mut entry, mut said) = (names.of(&finding), None);
            if let Some(found) = collected.said(&finding) {
                (entry, said) = (found.entry.clone(), Some(found.message.clone()));
            }
            if finding.severity() == Severity::Unchecked {
                let why =
                    said.as_ref().map_or_else(|| finding.to_string(), |said| said.to_string());
                let asked = !self.criteria.ignores(finding.rule);
                self.unchecked.push(Unchecked { entry: entry.clone(), why, asked, ignored: false });
                if self.criteria.accepts(finding.rule) {
                    continue;
                }
            }
            self.findings.push(Found { finding, entry, said });
        }
    }

    /// The verdict under a profile, including what the options deny.
    ///
    /// ```
    /// use weighbridge::{Profile, Verdict};
    ///
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Invalid);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn verdict(&self, profile: Profile) -> Verdict {
        let criteria = self.criteria.under(profile);
        let left = self.unchecked_more > 0 || self.unchecked.iter().any(|it| it.asked);
        match self.without_gaps(&criteria) {
            Verdict::Valid if left => Verdict::Unchecked,
            verdict => verdict,
        }
    }

    /// The verdict on what was checked, under the profile of the options. Never
    /// [`Verdict::Unchecked`].
    ///
    /// ```
    /// use weighbridge::{Options, Profile, Verdict, check_with};
    ///
    /// # let bytes = weighbridge_tests::samples::unsorted();
    /// let report = check_with(&bytes, &Options::new().memory(0))?; // names are not compared
    /// assert_eq!(report.verdict_on_checked(), Verdict::Valid);
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn verdict_on_checked(&self) -> Verdict {
        self.without_gaps(&self.criteria)
    }

    fn without_gaps(&self, criteria: &Criteria) -> Verdict {
        let pickle = self.diagnosis.as_ref().is_some_and(Diagnosis::is_pickle);
        let is_denied = criteria.deny_pickle && self.pickles.is_some();
        if is_denied || self.breaks_pickle_rules(criteria) {
            Verdict::Invalid
        } else if self.is_unsupported() && !(pickle && criteria.deny_pickle) {
            Verdict::Unsupported
        } else if !criteria.passes(&self.tally) {
            Verdict::Invalid
        } else if self.has_program {
            Verdict::Unsupported
        } else {
            Verdict::Valid
        }
    }

    fn is_unsupported(&self) -> bool {
        if self.criteria.unknown && !self.recognised {
            return true;
        }
        let other = self.diagnosis.as_ref().is_some_and(Diagnosis::is_unsupported);
        self.file.is_none() && other && !self.chosen
    }

    /// Whether the format was chosen, or the file's content or name identifies it.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// assert!(weighbridge::check(&bytes)?.is_recognised());
    /// assert!(!weighbridge::check(b"# A model\n")?.is_recognised());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_recognised(&self) -> bool {
        self.recognised
    }

    /// Whether a finding makes the file invalid, under the profile of the options and what they
    /// deny.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert!(report.findings().iter().all(|found| report.counts(found)));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn counts(&self, found: &Found) -> bool {
        !self.criteria.accepts(found.finding.rule)
    }

    /// Returns the report with a file name, for bytes that had none.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?.with_name("upload.safetensors");
    /// assert_eq!(report.name().unwrap(), "upload.safetensors");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Text>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The diagnosis, if the file is not what it should be.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let diagnosis = report.diagnosis().unwrap().to_string();
    /// assert!(diagnosis.contains("1 byte"), "{diagnosis}");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
    }

    /// The file's name, if it has one.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.safetensors");
    /// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
    /// use weighbridge::{Options, check_path};
    ///
    /// let report = check_path(&path, &Options::new())?;
    /// assert_eq!(report.name().unwrap().as_str(), path.to_str());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(&self) -> Option<&Text> {
        self.name.as_ref()
    }

    /// Length of the file in bytes.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.size(), bytes.len() as u64);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The format, if known.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.format(), Some(weighbridge::Format::Safetensors));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The version that the file states.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::words();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.version().unwrap().to_string(), "3"); // GGUF
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn version(&self) -> Option<Version> {
        self.file.as_ref().and_then(File::version)
    }

    /// The opened file, if it could be opened.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.file().unwrap().tensor_count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The parts that were checked: `structure`, `payloads`.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert_eq!(report.checked(), ["structure", "payloads"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn checked(&self) -> &'static [&'static str] {
        self.checked
    }

    /// What was not checked, with reasons.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// for left in report.unchecked() {
    ///     println!("not checked: {}", left.why());
    /// }
    /// # assert!(report.unchecked().is_empty());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// The breaches of rules, in file order. At most 1,000 findings are listed per rule;
    /// [`tally`](Self::tally) counts all.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// for found in report.findings() {
    ///     println!("{} at byte {}: {}", found.rule(), found.offset(), found.message());
    /// }
    /// # assert_eq!(report.findings().len(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn findings(&self) -> &[Found] {
        &self.findings
    }

    /// Adds something that was not checked, or counts it if enough are listed.
    pub(crate) fn leave(&mut self, unchecked: Unchecked) {
        if (self.unchecked.len() as u64) < limits::FINDINGS_FILE {
            self.unchecked.push(unchecked);
        } else {
            self.unchecked_more += 1;
        }
    }

    /// The final report of a [`Session`](crate::Session) that checks nothing more, with the
    /// file's name.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let options = Options::new().goal(Goal::Structure);
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, options);
    /// session.poll(Goal::Structure)?;
    /// let report = session.report().closed(Some("s3://bucket/model.safetensors".into()));
    /// assert_eq!(report.name().unwrap(), &"s3://bucket/model.safetensors");
    /// assert_eq!(report.unchecked()[0].why(), "payloads not asked for");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn closed(mut self, name: Option<Text>) -> Self {
        self.name = name;
        if self.checked == ["structure"] {
            self.leave(Unchecked::new(None, "payloads not asked for", false));
        }
        self
    }
}

#[cfg(all(any(feature = "gguf", feature = "onnx", feature = "shards"), feature = "std"))]
impl Report {
    /// Whether the file and all findings so far pass.
    pub(crate) fn passes(&self) -> bool {
        self.file.is_some() && self.criteria.passes(&self.tally)
    }

    /// Withdraws the note that the listed files were not examined.
    #[cfg(feature = "shards")]
    pub(crate) fn begin_shards(&mut self) {
        self.unchecked.pop();
    }

    /// Adds a finding, whose name is only made if it is listed.
    pub(crate) fn find(&mut self, finding: Finding, entry: impl FnOnce() -> Option<Text>) {
        if self.tally.add(&finding) {
            let entry = entry().map(Arc::new);
            self.findings.push(Found { finding, entry, said: None });
        }
    }

    /// Returns a sink for findings on a set.
    pub(crate) fn taker(&mut self) -> impl FnMut(Finding, &dyn Fn() -> Option<Text>) {
        |finding, entry| self.find(finding, entry)
    }

    /// Counts unchecked items in another file that are not listed there.
    pub(crate) fn leave_more(&mut self, more: u64) {
        self.unchecked_more += more;
    }

    /// Records that only `most` of `gone` files were looked for; those could not be read.
    pub(crate) fn leave_missing(&mut self, gone: usize, most: usize) {
        if gone > most {
            let files = crate::base::text::plural((gone - most) as u64, "more file");
            let most = crate::base::text::thousands(most as u64);
            let why = format!("{files} not looked for: {most} could not be read");
            self.leave(Unchecked::new(None, why, true));
        }
    }

    /// Why requested checks were not done, for the report on a set of files.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let asked = self.unchecked.iter().filter(|it| it.was_asked_for());
        let reason = |it: &Unchecked| match it.entry() {
            Some(entry) => format!("\"{entry}\": {}", it.why()),
            None => it.why().into(),
        };
        asked.map(reason).collect()
    }

    /// Number of findings that do not count, listed or not.
    pub(crate) fn ignored_count(&self) -> u64 {
        self.ignored().iter().map(|ignored| ignored.count).sum()
    }

    /// Notes that findings in another file of a set do not count.
    pub(crate) fn note_ignored(&mut self, file: Option<Text>, count: u64) {
        if count > 0 {
            let why = format!("{} ignored", crate::base::text::plural(count, "finding"));
            self.leave(Unchecked { ignored: true, ..Unchecked::new(file, why, false) });
        }
    }

    /// Sorts the findings of other files in with the rest, in the order of a single file.
    pub(crate) fn sort(&mut self) {
        self.findings.sort_by_key(|Found { finding, .. }| {
            (finding.offset, finding.kind, finding.entry, finding.part)
        });
    }
}
