//! Rules: what is checked, how severe a breach is, and where the specification says so.

mod finding;
#[cfg(feature = "heapless")]
mod findings;
pub mod general;
mod halt;

use core::num::NonZeroU16;

pub use finding::{EntryKind, Finding, Subject};
#[cfg(feature = "heapless")]
pub use findings::Findings;
pub(crate) use halt::Halt;

/// How severe a broken rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Severity {
    /// Not a breach: something could not be checked.
    Unchecked = 0,
    /// Legal, but no real writer does it, or it hides bytes.
    Lint = 1,
    /// The specification forbids it; the data is still readable.
    Violation = 2,
    /// The data cannot be read safely, or would be misread.
    Fatal = 3,
}

impl Severity {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Unchecked => "unchecked",
            Severity::Lint => "lint",
            Severity::Violation => "violation",
            Severity::Fatal => "fatal",
        }
    }

    /// The severity as a number, in ascending order.
    pub(crate) const fn bits(self) -> u16 {
        match self {
            Severity::Unchecked => 0,
            Severity::Lint => 1,
            Severity::Violation => 2,
            Severity::Fatal => 3,
        }
    }
}

/// Which breaches make a file invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Profile {
    /// The specification as written: violations and fatal findings make a file invalid.
    #[default]
    Strict,
    /// Anything that can be read safely is valid: only fatal findings make a file invalid.
    Lenient,
}

impl Profile {
    /// Whether a file with a finding of this severity is still valid.
    pub const fn accepts(self, severity: Severity) -> bool {
        match severity {
            Severity::Unchecked | Severity::Lint => true,
            Severity::Violation => matches!(self, Profile::Lenient),
            Severity::Fatal => false,
        }
    }
}

/// The basis of a rule in the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Basis {
    /// The specification states it.
    Stated,
    /// The specification implies it.
    Implied,
    /// The specification is silent; the rule follows from what real writers do, or from what a
    /// reader needs to be safe.
    Silent,
}

impl Basis {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Basis::Stated => "stated",
            Basis::Implied => "implied",
            Basis::Silent => "silent",
        }
    }
}

/// An entry of a rule catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Stable identifier, unique within its format.
    pub id: &'static str,
    /// How severe a breach is.
    pub severity: Severity,
    /// The basis in the specification.
    pub basis: Basis,
    /// The fault, as a sentence. `{found}`, `{expected}`, `{missing}` (expected minus found),
    /// `{surplus}` (found minus expected) and `{part}` stand for the finding's numbers;
    /// `{found:#x}` is hexadecimal, `{found:i}` and `{found:i32}` are signed numbers of 64 and 32
    /// bits, `{found:v}` is a version of four parts, and `{found:t}` the name of a value type.
    /// `{quoted}` and the space behind it stand for the text at the place of the finding, if a host
    /// [kept](Finding::quote) it.
    pub message: &'static str,
    /// The rule itself, with the section of the specification.
    pub spec: &'static str,
    /// The reason for the rule or its severity, where the specification leaves it open: what
    /// readers and writers in use do.
    pub why: Option<&'static str>,
}

/// A rule in two bytes: its format, severity and number.
///
/// Only [`info`](Rule::info) reads the texts, so a program that prints none does not link them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule(NonZeroU16);

const SEVERITY_SHIFT: u32 = 9;
const FORMAT_SHIFT: u32 = 11;
const NUMBER_MASK: u16 = 0x1FF;

impl Rule {
    /// Rule `number` (below 511) of the format with this code; code 0 means no format.
    pub(crate) const fn new(format: u16, severity: Severity, number: u16) -> Self {
        // Numbers are stored from 1, so that a rule is never 0.
        let number = number.saturating_add(1) & NUMBER_MASK;
        let code = (format << FORMAT_SHIFT) | (severity.bits() << SEVERITY_SHIFT) | number;
        match NonZeroU16::new(code) {
            Some(code) => Rule(code),
            None => Rule(NonZeroU16::MIN),
        }
    }

    /// The number of the rule, which is never 0.
    pub(crate) const fn number(self) -> NonZeroU16 {
        self.0
    }

    /// The rule with this [`code`](Self::code), which must come from the same release; `None` for 0.
    pub const fn from_code(code: u16) -> Option<Rule> {
        match NonZeroU16::new(code) {
            Some(code) => Some(Rule(code)),
            None => None,
        }
    }

    /// The number of the rule's format, as `Format as u16` is; 0 for rules that belong to none.
    pub const fn format_code(self) -> u16 {
        self.code() >> FORMAT_SHIFT
    }

    /// The position of the rule in its catalogue.
    pub const fn position(self) -> u16 {
        (self.code() & NUMBER_MASK).saturating_sub(1)
    }

    /// The number of the rule, two bytes. It is stable within a release only; ids never
    /// change.
    pub const fn code(self) -> u16 {
        self.0.get()
    }

    /// The severity.
    pub const fn severity(self) -> Severity {
        match (self.code() >> SEVERITY_SHIFT) & 3 {
            0 => Severity::Unchecked,
            1 => Severity::Lint,
            2 => Severity::Violation,
            _ => Severity::Fatal,
        }
    }
}

/// Declares a catalogue: a constant [`Rule`] for each entry, and the table
/// `RULES` in the same order. With `after`, it continues a catalogue of that many rules.
macro_rules! rules {
    ($format:expr $(, after $before:expr)?; $($name:ident = $id:literal, $severity:ident, $basis:ident, $message:literal, $spec:literal $(, why $why:literal)?;)*) => {
        /// Number of rules before the first.
        #[allow(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "the length of a catalogue"
        )]
        const BEFORE: u16 = 0_u16$(.wrapping_add($before as u16))?;
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Number { $($name),* }
        $(
            #[allow(clippy::as_conversions, reason = "the discriminant of a field-less enum")]
            #[allow(rustdoc::broken_intra_doc_links, reason = "specifications have brackets")]
            #[doc = concat!("`", $id, "`: ", $spec)]
            pub const $name: $crate::rule::Rule = $crate::rule::Rule::new(
                $format, $crate::rule::Severity::$severity,
                (Number::$name as u16).wrapping_add(BEFORE));
        )*
        /// The catalogue, in documentation order. A static, so that a program contains its texts
        /// only once.
        pub static RULES: &[$crate::rule::RuleInfo] = &[$(
            $crate::rule::RuleInfo {
                id: $id,
                severity: $crate::rule::Severity::$severity,
                basis: $crate::rule::Basis::$basis,
                message: $message,
                spec: $spec,
                why: {
                    let why: &[&str] = &[$($why)?];
                    why.first().copied()
                },
            }),*];
    };
}
pub(crate) use rules;
