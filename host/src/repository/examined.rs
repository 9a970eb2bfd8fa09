//! The class of a file, and what it is.

use super::agree::Contradiction;
use crate::check::diagnosis::Diagnosis;
use crate::check::folders::{self as rules, rule};
use crate::check::report::Verdict;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::Severity;

pub(super) const PICKLE: &str = "pickle";

/// What kind of file of a repository this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// Settings, texts, tokenizers, media: data that its reader cannot take for code.
    Companion,
    /// Code, or something that loads it.
    Code,
    /// Something else, which nobody examined.
    Unknown,
    /// A file whose download has not ended, or that stands for another.
    Download,
    /// A piece of a file that was split by bytes, checked as a whole with its first piece.
    Piece,
}

impl Class {
    /// The name in JSON.
    ///
    /// ```
    /// assert_eq!(weighbridge::repository::Class::Code.name(), "code");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Class::Companion => "companion",
            Class::Code => "code",
            Class::Unknown => "unknown",
            Class::Download => "download",
            Class::Piece => "piece",
        }
    }
}

/// What a file of a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examined {
    /// Its class.
    pub class: Class,
    /// What it is, in a word or two, to count it with others: `Python`, `image`.
    pub kind: &'static str,
    /// What it is or would do, as a sentence; empty if the kind says all.
    pub why: String,
    /// Whether loading the model would run it.
    pub runs: bool,
    /// The id of the [rule](super::RULES) that the file breaks.
    pub rule: Option<&'static str>,
    /// The ids of further rules that it breaks, none of them more severe.
    pub also: Vec<&'static str>,
    /// Whether it must not be skipped: it may be dangerous, or could not be read.
    pub danger: bool,
}

impl Examined {
    pub(super) fn new(class: Class, kind: &'static str) -> Self {
        Examined {
            class,
            kind,
            why: String::new(),
            runs: false,
            rule: match class {
                Class::Code => Some(rules::CODE),
                Class::Download => Some(rules::DOWNLOAD),
                Class::Companion | Class::Unknown | Class::Piece => None,
            },
            also: Vec::new(),
            danger: !matches!(class, Class::Companion | Class::Piece),
        }
    }

    pub(super) fn companion(kind: &'static str) -> Self {
        Examined::new(Class::Companion, kind)
    }

    /// Whether nothing but bytes of no known format was found.
    #[cfg(all(feature = "onnx", feature = "std"))]
    pub(super) fn may_be_data(&self) -> bool {
        matches!(self.kind, "unknown format" | "zeros" | "empty file")
    }

    pub(super) fn because(self, why: impl Into<String>) -> Self {
        Examined { why: why.into(), ..self }
    }

    pub(super) fn runs(self) -> Self {
        Examined { runs: true, rule: Some(rules::CODE_LOADED), ..self }
    }

    /// A pointer: the bytes are known to be those of no model.
    pub(super) fn stands_for_another(self) -> Self {
        Examined { rule: Some(rules::POINTER), ..self }
    }

    pub(super) fn harmless(self) -> Self {
        Examined { danger: false, ..self }
    }

    /// Settings that contradict the weights beside them, unless there are no contradictions.
    pub(super) fn contradicted(self, mut found: Vec<Contradiction>) -> Self {
        found.sort_by_key(|it| core::cmp::Reverse(rule(it.rule).map(|rule| rule.severity)));
        let mut rules = found.iter().map(|it| it.rule);
        let Some(first) = rules.next() else { return self };
        let also = rules.collect();
        let why: Vec<_> = found.iter().map(|it| it.why.as_str()).collect();
        Examined { kind: "settings", rule: Some(first), also, ..self }.because(why.join("; "))
    }

    /// The ids of all rules that the file breaks, the most severe first.
    ///
    /// ```
    /// let found = weighbridge::repository::examine_bytes("run.py", b"print()");
    /// assert_eq!(found.rules().collect::<Vec<_>>(), ["CODE"]);
    /// ```
    pub fn rules(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.rule.into_iter().chain(self.also.iter().copied())
    }

    /// A file that the check of tensor files found to be a pickle, or to have some. A pickle
    /// that imports nothing off the list of `torch.load(weights_only=True)` runs no code, unless
    /// pickles are `denied`.
    ///
    /// ```
    /// use weighbridge::{Verdict, repository::Examined};
    ///
    /// let report = weighbridge::check(b"\x80\x02}q\0.")?;
    /// let found = |denied| Examined::pickle(report.diagnosis().unwrap(), denied);
    /// assert_eq!(found(false).verdict(), Verdict::Unsupported);
    /// assert_eq!(found(true).verdict(), Verdict::Invalid);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn pickle(diagnosis: &Diagnosis, denied: bool) -> Self {
        let found = Examined::new(Class::Code, PICKLE).because(diagnosis.to_string());
        let is_safe = diagnosis.pickles().is_some_and(|pickles| !pickles.can_run_code());
        if is_safe && !denied { found } else { found.runs() }
    }

    /// A piece of the whole file of this name that is checked with the piece `first`: its place, counted
    /// from 1, and the number of all pieces.
    ///
    /// ```
    /// use weighbridge::repository::{Class, Examined};
    ///
    /// let piece = Examined::piece("x.gguf", 2, 3, "x.gguf.part1of3");
    /// assert_eq!(piece.class, Class::Piece);
    /// assert_eq!(piece.why, "piece 2 of 3 of x.gguf, checked with x.gguf.part1of3");
    /// ```
    pub fn piece(whole: &str, place: usize, count: usize, first: &str) -> Self {
        let why = format!("piece {place} of {count} of {whole}, checked with {first}");
        Examined::new(Class::Piece, "piece of a file").because(why)
    }

    /// A file whose name is another digest than that of its bytes.
    ///
    /// ```
    /// use weighbridge::{Verdict, repository::Examined};
    ///
    /// let damaged = Examined::damaged();
    /// assert_eq!((damaged.verdict(), damaged.rule), (Verdict::Invalid, Some("BLOB-DIGEST")));
    /// ```
    pub fn damaged() -> Self {
        let why = "its name is the digest of other bytes: download it again";
        let found = Examined::new(Class::Download, "damaged blob").because(why);
        Examined { rule: Some(rules::BLOB_DIGEST), ..found }
    }

    /// The verdict: code is invalid if loading the model runs it, and otherwise unsupported, as
    /// unknown files are. Companions are valid.
    ///
    /// ```
    /// use weighbridge::{Verdict, repository::examine_bytes};
    ///
    /// let verdict = |name, bytes: &[u8]| examine_bytes(name, bytes).verdict();
    /// assert_eq!(verdict("README.md", b"# A model"), Verdict::Valid);
    /// assert_eq!(verdict("run.py", b"print()"), Verdict::Unsupported);
    /// let config = br#"{"auto_map": {"AutoModel": "modeling_x.Model"}}"#;
    /// assert_eq!(verdict("config.json", config), Verdict::Invalid);
    /// ```
    pub fn verdict(&self) -> Verdict {
        match self.class {
            _ if self.severity() >= Some(Severity::Violation) => Verdict::Invalid,
            Class::Companion | Class::Piece => Verdict::Valid,
            Class::Code | Class::Unknown => Verdict::Unsupported,
            Class::Download => Verdict::Unchecked,
        }
    }

    /// The severity of the rule that the file breaks.
    ///
    /// ```
    /// use weighbridge::{Severity, repository::examine_bytes};
    ///
    /// assert_eq!(examine_bytes("run.py", b"print()").severity(), Some(Severity::Unchecked));
    /// assert_eq!(examine_bytes("README.md", b"# A model").severity(), None);
    /// ```
    pub fn severity(&self) -> Option<Severity> {
        Some(rule(self.rule?)?.severity)
    }

    /// What it is, in one sentence.
    ///
    /// ```
    /// let found = weighbridge::repository::examine_bytes("x.so", b"\x7FELF\x02\x01\x01");
    /// assert_eq!(found.sentence(), "native code (ELF)");
    /// ```
    pub fn sentence(&self) -> String {
        match &*self.why {
            "" => self.kind.to_owned(),
            why if self.kind == PICKLE => why.to_owned(),
            why => format!("{}: {why}", self.kind),
        }
    }
}
