//! Which findings make a file invalid.

use crate::check::folders;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{Format, Profile, Rule, RuleInfo, Severity, Tally, general};

/// Which findings make a file invalid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Criteria {
    pub(crate) profile: Profile,
    /// Every lint counts.
    deny_lint: bool,
    /// These rules count, whatever their severity.
    deny: Vec<&'static str>,
    /// Pickles count as invalid.
    pub(crate) deny_pickle: bool,
    /// Names that pickles may import, with their modules.
    allow: Vec<(String, String)>,
    /// These rules do not count, unless they are fatal or denied.
    ignore: Vec<&'static str>,
    /// Files that nothing identifies are unsupported.
    pub(crate) unknown: bool,
}

impl Criteria {
    pub(crate) const fn new(profile: Profile) -> Self {
        Criteria {
            profile,
            deny_lint: false,
            deny: Vec::new(),
            deny_pickle: false,
            allow: Vec::new(),
            ignore: Vec::new(),
            unknown: false,
        }
    }

    /// The same criteria under another profile.
    pub(crate) fn under(&self, profile: Profile) -> Self {
        Criteria { profile, ..self.clone() }
    }

    pub(crate) fn deny(&mut self, what: &str) -> Result<(), String> {
        if what == "lint" {
            self.deny_lint = true;
        } else if what == "pickle" {
            self.deny_pickle = true;
        } else {
            self.deny.extend(called(what)?.map(|rule| rule.id));
        }
        Ok(())
    }

    pub(crate) fn ignore(&mut self, id: &str) -> Result<(), String> {
        let mut found = called(id)?.filter(|rule| rule.severity != Severity::Fatal).peekable();
        if found.peek().is_none() {
            return Err(format!("the rule {id:?} is fatal and cannot be ignored"));
        }
        self.ignore.extend(found.map(|rule| rule.id));
        Ok(())
    }

    /// Lets pickles import the name after the last dot from the module before it.
    pub(crate) fn allow_global(&mut self, what: &str) -> Result<(), String> {
        let is_name = |part: &str| {
            let is_part = |char: char| char.is_alphanumeric() || char == '_';
            !part.is_empty() && part.chars().all(is_part)
        };
        let found = what.rsplit_once('.').filter(|_| what.split('.').all(is_name));
        let Some((module, name)) = found else {
            return Err(format!("{what:?} is no MODULE.NAME, such as argparse.Namespace"));
        };
        let first = module.split('.').next().unwrap_or_default();
        if SYSTEM.contains(&first) {
            return Err(format!("{what:?} is of a module that no pickle may import"));
        }
        self.allow.push((module.into(), name.into()));
        Ok(())
    }

    /// Whether pickles may import this name from this module.
    pub(crate) fn allows_global(&self, module: &str, name: &str) -> bool {
        self.allow.iter().any(|(of, known)| of == module && known == name)
    }

    /// Whether breaches of this rule are ignored.
    pub(crate) fn ignores(&self, rule: Rule) -> bool {
        let id = rule.id();
        rule.severity() != Severity::Fatal && self.ignore.contains(&id) && !self.deny.contains(&id)
    }

    /// Whether a file that breaks this rule is still valid.
    pub(crate) fn accepts(&self, rule: Rule) -> bool {
        let severity = rule.severity();
        let denied = self.deny_lint && severity == Severity::Lint
            || self.deny_pickle && may_be_pickle(rule)
            || self.deny.contains(&rule.id());
        (self.profile.accepts(severity) && !denied) || self.ignores(rule)
    }

    /// Whether a file with all these findings, including those not listed, is valid.
    pub(crate) fn passes(&self, tally: &Tally) -> bool {
        tally.rules().all(|count| self.accepts(count.rule))
    }
}

/// Modules that torch.load refuses even if a user allows them.
const SYSTEM: [&str; 4] = ["nt", "os", "posix", "sys"];

/// Whether a file that breaks this rule is a pickle as well, or may have one.
fn may_be_pickle(rule: Rule) -> bool {
    rule == general::PICKLE_POLYGLOT || MAY_BE_OBJECTS.contains(&rule)
}

/// Rules of which a breach leaves open whether an array is one of objects. No writer of NumPy's
/// makes such arrays.
const MAY_BE_OBJECTS: &[Rule] = &[
    #[cfg(feature = "npy")]
    weighbridge_core::format::npy::rules::NPY_DESCR_FORM,
    #[cfg(feature = "npz")]
    weighbridge_core::format::npz::rules::NPZ_HEADER_LIMIT,
    #[cfg(feature = "npz")]
    weighbridge_core::format::npz::rules::NPZ_STREAM_LIMIT,
    #[cfg(feature = "npz")]
    weighbridge_core::format::npz::rules::ZIP_METHOD,
];

/// The rules with this id, which several formats may share.
fn called(id: &str) -> Result<impl Iterator<Item = &'static RuleInfo>, String> {
    let of_formats = Format::ALL.iter().flat_map(|format| format.rules());
    let rules = of_formats.chain(general::RULES).chain(folders::RULES);
    let found: Vec<_> = rules.filter(|rule| rule.id.eq_ignore_ascii_case(id)).collect();
    if found.is_empty() {
        return Err(format!("no rule has the id {id:?}"));
    }
    Ok(found.into_iter())
}
