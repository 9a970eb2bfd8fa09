//! What was found out about files, as other programs read it: SARIF, annotations of GitHub
//! Actions, JUnit.
//!
//! Each is written file by file, so that none is in memory as a whole.

pub mod github;
pub mod junit;
pub mod sarif;

use crate::report::{NotListed, Report, Unchecked, Verdict};
use alloc::vec::Vec;
use core::fmt;

/// What became of a file.
#[derive(Clone, Copy)]
pub enum Seen<'a> {
    /// It was checked. The function gives the reason why breaches of a rule, which is named by
    /// its id, do not count.
    Checked(&'a Report, &'a dyn Fn(&str) -> Option<&'a str>),
    /// It was not looked into, because it is this.
    Aside(&'a str),
    /// It could not be read, for this reason.
    Failed(&'a str),
}

impl fmt::Debug for Seen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Checked(report, _) => f.debug_tuple("Checked").field(report).finish(),
            Seen::Aside(what) => f.debug_tuple("Aside").field(what).finish(),
            Seen::Failed(why) => f.debug_tuple("Failed").field(why).finish(),
        }
    }
}

/// The verdict under the profile of the options.
fn verdict(report: &Report) -> Verdict {
    report.verdict(report.profile())
}

/// What was asked for of a file that opened and could not be checked.
fn unchecked(report: &Report) -> impl Iterator<Item = &Unchecked> {
    let open = report.file().is_some();
    report.unchecked().iter().filter(move |it| open && it.was_asked_for())
}

/// What was found and does not count, with the reason.
fn ignored<'a>(
    report: &Report,
    why: &dyn Fn(&str) -> Option<&'a str>,
) -> Vec<(NotListed, &'a str)> {
    report.ignored().into_iter().filter_map(|it| Some((it, why(it.rule)?))).collect()
}
