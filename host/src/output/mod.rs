//! Reports about files in formats for other programs: SARIF, GitHub Actions annotations, JUnit.
//!
//! Each is written file by file, so that no output is held in memory as a whole.

pub mod github;
pub mod junit;
pub mod sarif;

use crate::check::report::{NotListed, Report, Unchecked, Verdict};
use crate::repository::Examined;
use alloc::vec::Vec;
use core::fmt;

/// The outcome for a file.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// It was checked. The function takes a rule id and returns the reason why breaches of that
    /// rule do not count.
    Checked(&'a Report, &'a dyn Fn(&str) -> Option<&'a str>),
    /// It is no tensor file, but another file of a repository, with this verdict, and the reason
    /// if its rules do not count.
    Sorted(&'a Examined, Verdict, Option<&'a str>),
    /// It was skipped. The text says what it is.
    Aside(&'a str),
    /// It could not be read. The text says why.
    Failed(&'a str),
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Checked(report, _) => f.debug_tuple("Checked").field(report).finish(),
            Seen::Sorted(examined, verdict, ignored) => {
                f.debug_tuple("Sorted").field(examined).field(verdict).field(ignored).finish()
            }
            Seen::Aside(what) => f.debug_tuple("Aside").field(what).finish(),
            Seen::Failed(why) => f.debug_tuple("Failed").field(why).finish(),
        }
    }
}

/// The verdict under the profile in the options.
fn verdict(report: &Report) -> Verdict {
    report.verdict(report.profile())
}

/// The requested checks that were not possible, for a file that opened.
fn unchecked(report: &Report) -> impl Iterator<Item = &Unchecked> {
    let open = report.file().is_some();
    report.unchecked().iter().filter(move |it| open && it.was_asked_for())
}

/// The findings that do not count, with the reason.
fn ignored<'a>(
    report: &Report,
    why: &dyn Fn(&str) -> Option<&'a str>,
) -> Vec<(NotListed, &'a str)> {
    report.ignored().into_iter().filter_map(|it| Some((it, why(it.rule)?))).collect()
}
