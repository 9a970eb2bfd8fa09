//! The parts of a report.

use crate::text::Text;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use weighbridge_core::{Finding, Severity};

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
    pub const fn is_valid(self) -> bool {
        matches!(self, Verdict::Valid)
    }

    /// The name that reports use.
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
    pub fn rule(&self) -> &'static str {
        self.finding.rule.id()
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.finding.severity()
    }

    /// Offset of the bytes concerned.
    pub fn offset(&self) -> u64 {
        self.finding.offset
    }

    /// How many bytes are concerned.
    #[allow(clippy::len_without_is_empty, reason = "a finding is never empty")]
    pub fn len(&self) -> u32 {
        self.finding.len
    }

    /// The tensor or the metadata entry that it is about.
    pub fn entry(&self) -> Option<&Text> {
        self.entry.as_deref()
    }

    /// What is wrong, as a sentence.
    pub fn message(&self) -> String {
        self.finding.to_string()
    }

    /// The rule itself, with the section of the specification.
    pub fn spec(&self) -> &'static str {
        self.finding.rule.info().spec
    }

    /// The finding as the core reports it.
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
        Unchecked { entry: entry.map(Arc::new), why: why.into(), asked }
    }

    /// The tensor or the file concerned; `None` for the file itself.
    pub fn entry(&self) -> Option<&Text> {
        self.entry.as_deref()
    }

    /// Why it was not checked, as a sentence.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// Whether it was asked for; else the verdict does not suffer.
    pub fn was_asked_for(&self) -> bool {
        self.asked
    }
}

/// Findings of a rule that are counted but not listed.
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
