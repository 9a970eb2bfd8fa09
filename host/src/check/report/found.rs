//! Verdicts and findings, the parts of a report.

use crate::base::text::Text;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use weighbridge_core::{Finding, Rule, Severity};

/// The verdict on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Everything asked for was checked, and nothing is wrong.
    Valid,
    /// The file breaks a rule that counts.
    Invalid,
    /// This build does not read the file's format or generation.
    Unsupported,
    /// Nothing wrong was found, but something was not checked.
    Unchecked,
}

impl Verdict {
    /// Whether this is [`Verdict::Valid`], the only verdict that lets a file pass.
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

    /// The name used in reports.
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

/// A finding and the name of its entry.
#[derive(Clone, Debug)]
pub struct Found {
    pub(super) finding: Finding,
    pub(super) entry: Option<Arc<Text>>,
    /// The message, if it is more than that of the rule.
    pub(super) said: Option<Arc<str>>,
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

    /// The severity of the finding.
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

    /// Offset of the affected bytes.
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

    /// Number of affected bytes.
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

    /// The tensor or metadata entry affected.
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

    /// The fault, as a sentence.
    ///
    /// ```
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let report = weighbridge::check(&bytes)?; // a byte is missing at the end
    /// assert_eq!(report.findings()[0].message(), "the data ends at 12, beyond the buffer's 11 bytes");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn message(&self) -> String {
        self.said.as_ref().map_or_else(|| self.finding.to_string(), |said| String::from(&**said))
    }

    /// The specification's section for the rule.
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

/// Something that was not checked, with the reason.
#[derive(Clone, Debug)]
pub struct Unchecked {
    pub(super) entry: Option<Arc<Text>>,
    pub(super) why: String,
    pub(super) asked: bool,
    /// Whether it says that findings of another file do not count.
    pub(super) ignored: bool,
}

impl Unchecked {
    /// Creates an entry for something in `entry`, or in the file, that was not checked.
    /// `asked`: the caller asked for it.
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

    /// The tensor or file affected; `None` for the checked file itself.
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

    /// The reason, as a sentence.
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

    /// Whether it was asked for. If not, it does not affect the verdict.
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

/// The number of a rule's findings that are not listed, or that do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NotListed {
    /// The id of the rule.
    pub rule: &'static str,
    /// The name of its severity.
    pub severity: &'static str,
    /// Number of findings.
    pub count: u64,
}

impl NotListed {
    pub(super) fn new(rule: Rule, count: u64) -> Self {
        NotListed { rule: rule.id(), severity: rule.severity().name(), count }
    }
}
