//! What loading the pickles of a file would do, in one sentence.

use crate::base::text::Text;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use weighbridge_core::pickle::PICKLE_LIST;
use weighbridge_core::{Rule, general};

/// The pickles of a file, and what loading them would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pickles {
    pub(crate) count: u64,
    /// The first name that would be run, and the first that would be imported.
    pub(crate) runs: Option<Arc<str>>,
    pub(crate) imports: Option<Arc<str>>,
    pub(crate) inert: Option<Arc<str>>,
    pub(crate) others: u64,
    pub(crate) broken: bool,
    pub(crate) left: bool,
}

impl Pickles {
    /// Number of pickles.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert_eq!(report.pickles().unwrap().count(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether loading them would import or run what `torch.load(weights_only=True)` refuses, or
    /// one is broken.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert!(report.pickles().unwrap().are_unsafe());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn are_unsafe(&self) -> bool {
        self.runs.is_some() || self.imports.is_some() || self.inert.is_some() || self.broken
    }

    /// Whether loading them may run code: they are unsafe, or were not followed to their ends.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert!(!report.pickles().unwrap().can_run_code());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn can_run_code(&self) -> bool {
        self.are_unsafe() || self.left
    }

    /// What loading them would do, as the end of a sentence on the file.
    ///
    /// ```
    /// let report = weighbridge::check(b"cposix\nsystem\n(S'true'\ntR.")?;
    /// assert_eq!(report.pickles().unwrap().sentence(), "which would run posix.system");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn sentence(&self) -> String {
        let more = match self.others {
            0 | 1 => String::new(),
            n => format!(" and {} more", crate::base::text::plural(n - 1, "name")),
        };
        match (&self.runs, &self.imports, &self.inert) {
            (Some(name), ..) => format!("which would run {name}{more}"),
            (_, Some(name), _) => format!("which would import {name}{more}"),
            _ if self.broken => "which is broken".into(),
            (.., Some(name)) => format!("which would make {name}{more}, known to be plain data"),
            _ if self.left => "which can run code when it is loaded: not all of it was read".into(),
            _ => format!("which imports nothing off the list of torch.load ({PICKLE_LIST})"),
        }
    }
}

/// What a finding says beyond its rule.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    /// The member of an archive.
    pub(crate) entry: Option<Arc<Text>>,
    pub(crate) message: Arc<str>,
}

/// Whether a rule is about what a pickle would do.
pub(crate) fn is_of_pickles(rule: Rule) -> bool {
    [general::PICKLE_GLOBAL, general::PICKLE_INERT, general::PICKLE_FAULT].contains(&rule)
}
