//! The parts of a report.

use crate::text::Text;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use weighbridge_core::{Finding, Rule, Severity};

/// The verdict on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// All that was asked for was checked, and nothing is wrong.
    Valid,
    /// The file breaks a rule that counts.
    Invalid,
    /// The file is of a format or a generation that this build does not read.
    Unsupported,
    /// Nothing is wrong as far as was checked, but something was not.
    Unchecked,
}

impl Verdict {
    /// Whether it is [`Verdict::Valid`]: the only answer that lets a file pass.
    ///
    /// ```
    /// use weighbridge::{Profile, Verdict};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check(&bytes)?;
    /// assert!(report.verdict(Profile::Strict).is_valid());
    /// assert!(!Verdict::Unchecked.is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub const fn is_valid(self) -> bool {
        matches!(self, Verdict::Valid)
    }

    /// The name that reports use.
    ///
    /// ```
    /// assert_eq!(weighbridge::Verdict::Unsupported.name(), "unsupported");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Invalid => "invalid",
            Verdict::Unsupported => "unsupported",
            Verdict::Unchecked => "unchecked",
        }
    }
}

/// A finding, and the name of the entry that it is about.
#[derive(Clone, Debug)]
pub struct Found {
    pub(super) finding: Finding,
    pub(super) entry: Option<Arc<Text>>,
}

impl Found {
    /// The id of the rule.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.findings()[0].rule(), "OFFSET-BOUNDS");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn rule(&self) -> &'static str {
        self.finding.rule.id()
    }

    /// How much it matters.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.findings()[0].severity(), weighbridge::Severity::Fatal);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn severity(&self) -> Severity {
        self.finding.severity()
    }

    /// Offset of the bytes concerned.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let found = &report.findings()[0];
    /// let end = found.offset() as usize + found.len() as usize;
    /// assert!(end <= bytes.len());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn offset(&self) -> u64 {
        self.finding.offset
    }

    /// How many bytes are concerned.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let found = &report.findings()[0];
    /// let from = found.offset() as usize;
    /// assert_eq!(&bytes[from..from + found.len() as usize], b"[0,12]");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "a finding is never empty")]
    pub fn len(&self) -> u32 {
        self.finding.len
    }

    /// The tensor or the metadata entry that it is about.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.findings()[0].entry().unwrap(), "emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn entry(&self) -> Option<&Text> {
        self.entry.as_deref()
    }

    /// What is wrong, as a sentence.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.findings()[0].message(), "the data ends at 12, beyond the buffer's 11 bytes");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn message(&self) -> String {
        self.finding.to_string()
    }

    /// The rule itself, with the section of the specification.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// println!("{}", report.findings()[0].spec());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn spec(&self) -> &'static str {
        self.finding.rule.info().spec
    }

    /// The finding as the core reports it.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// let finding = report.findings()[0].finding();
    /// assert_eq!((finding.expected, finding.found), (11, 12));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn finding(&self) -> &Finding {
        &self.finding
    }
}

/// Something that was not checked, and why.
#[derive(Clone, Debug)]
pub struct Unchecked {
    pub(super) entry: Option<Arc<Text>>,
    pub(super) why: String,
    pub(super) asked: bool,
    /// It says that findings of another file do not count.
    pub(super) ignored: bool,
}

impl Unchecked {
    /// Something of `entry`, or of the file, that was `asked` for and not checked.
    ///
    /// ```
    /// use weighbridge::Unchecked;
    ///
    /// let left = Unchecked::new(Some("emb".into()), "its values were not asked for", false);
    /// assert_eq!(left.why(), "its values were not asked for");
    /// ```
    pub fn new(entry: Option<Text>, why: impl Into<String>, asked: bool) -> Self {
        Unchecked { entry: entry.map(Arc::new), why: why.into(), asked, ignored: false }
    }

    /// The tensor or the file concerned; `None` for the file itself.
    ///
    /// ```
    /// use weighbridge::{Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check_with(&bytes, &Options::new().goal(Goal::Structure))?;
    /// assert!(report.unchecked()[0].entry().is_none()); // it is about the whole file
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn entry(&self) -> Option<&Text> {
        self.entry.as_deref()
    }

    /// Why it was not checked, as a sentence.
    ///
    /// ```
    /// use weighbridge::{Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check_with(&bytes, &Options::new().goal(Goal::Structure))?;
    /// assert_eq!(report.unchecked()[0].why(), "payloads not asked for");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether it was asked for; else the verdict does not suffer.
    ///
    /// ```
    /// use weighbridge::{Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let report = weighbridge::check_with(&bytes, &Options::new().goal(Goal::Structure))?;
    /// assert!(!report.unchecked()[0].was_asked_for());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn was_asked_for(&self) -> bool {
        self.asked
    }

    /// Whether it says that findings of another file, a shard or a part, were ignored.
    ///
    /// ```
    /// use weighbridge::Unchecked;
    ///
    /// assert!(!Unchecked::new(None, "payloads not asked for", false).is_ignored());
    /// ```
    pub fn is_ignored(&self) -> bool {
        self.ignored
    }
}

/// Findings of a rule that are counted, because they are not listed or do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NotListed {
    /// The id of the rule.
    pub rule: &'static str,
    /// The name of its severity.
    pub severity: &'static str,
    /// How many there are.
    pub count: u64,
}

impl NotListed {
    pub(super) fn new(rule: Rule, count: u64) -> Self {
        NotListed { rule: rule.id(), severity: rule.severity().name(), count }
    }
}
