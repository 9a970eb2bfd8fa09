//! What a scan has found: findings, with the names that they are about.

use super::globals::Globals;
use super::part::Part;
use crate::base::text::Text;
use crate::check::criteria::Criteria;
use crate::check::pickles::{Pickles, Said, is_of_pickles};
use crate::check::report::Collected;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::pickle::{Import, PickleEvent, PickleName, Standing};
use weighbridge_core::{EntryKind, Finding, Rule, Subject, general, limits};

/// The modules of torch's layers. A package of torch imports them, or modules of its own in their
/// place; either way it runs more than can be read here.
const LAYERS: &str = "torch.nn.modules.";

/// Collects what a scan finds.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) findings: Vec<Finding>,
    pub(crate) said: Vec<Said>,
    pub(crate) pickles: Pickles,
    /// The place of each name in the table of what they import.
    known: BTreeMap<Arc<str>, usize>,
}

/// An import that is not on the list.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) at: u64,
    len: u32,
    /// Its name, unless there are too many.
    name: Option<(u32, Arc<str>)>,
    pub(super) standing: Standing,
    called: bool,
}

/// The imports of one pickle, until it is known whether they are called.
#[derive(Debug, Default)]
pub(super) struct Imports {
    list: Vec<Pending>,
    named: usize,
    /// Listed functions, and those of them that become values.
    functions: Vec<(u32, Arc<str>)>,
    kept: Vec<(u64, Option<Arc<str>>)>,
    /// Whether one has the names that programmers give.
    pub(super) is_plausible: bool,
    pub(super) is_joblib: bool,
    globals: Globals,
}

impl Imports {
    /// Notes what is imported, called or kept. Offsets of the event count from `base`.
    pub(super) fn event(&mut self, event: &PickleEvent, base: u64, criteria: &Criteria) {
        match *event {
            PickleEvent::Import(import) => {
                self.add(&Import { at: import.at.saturating_add(base), ..import }, criteria);
            }
            PickleEvent::Call { number, .. } => self.call(number),
            PickleEvent::Kept { number, at } => self.keep(number, at.saturating_add(base)),
            _ => {}
        }
    }

    fn add(&mut self, import: &Import, criteria: &Criteria) {
        let (module, name) = (&import.module, &import.name);
        self.is_joblib |= module.as_str() == "joblib.numpy_pickle";
        self.is_plausible |= is_plausible(module) && is_plausible(name);
        let shown: Arc<str> = Text::from(format!("{module}.{name}")).to_string().into();
        self.globals.add(import, &shown);
        if import.standing == Standing::Function {
            if (self.functions.len() as u64) < limits::FINDINGS_RULE {
                self.functions.push((import.number, shown));
            }
            return;
        }
        let allowed = import.standing == Standing::Listed
            || module.is_whole()
                && name.is_whole()
                && criteria.allows_global(module.as_str(), name.as_str());
        if allowed {
            return;
        }
        let kept = (self.named as u64) < limits::FINDINGS_RULE;
        let name = kept.then_some((import.number, shown));
        self.named += usize::from(kept);
        let Import { at, len, standing, .. } = *import;
        self.list.push(Pending { at, len, name, standing, called: false });
    }

    fn call(&mut self, number: u32) {
        self.globals.call(number);
        let named = self.list.get_mut(..self.named).unwrap_or_default();
        let found = named.binary_search_by_key(&Some(number), |it| it.name.as_ref().map(|it| it.0));
        if let Some(pending) = found.ok().and_then(|at| named.get_mut(at)) {
            pending.called = true;
        }
    }

    /// Notes that a listed function becomes a value.
    fn keep(&mut self, number: u32, at: u64) {
        if (self.kept.len() as u64) < limits::FINDINGS_RULE {
            let found = self.functions.binary_search_by_key(&number, |(of, _)| *of);
            let name = found.ok().and_then(|at| self.functions.get(at)).map(|it| it.1.clone());
            self.kept.push((at, name));
        }
    }
}

/// The rule that an array of objects breaks, in a file or an archive.
pub(crate) const OBJECTS: &str = "NPY-OBJECT";

impl Results {
    /// Adds the findings to those of a file. What a reader of another format made of it does not
    /// matter if its pickles are unsafe: these findings take the place of those, if `instead`.
    pub(crate) fn enter(self, collected: &mut Collected, instead: bool) -> Pickles {
        if instead && self.findings.iter().any(|it| is_of_pickles(it.rule)) {
            let before = core::mem::take(collected);
            let kept = before.kept.iter().filter(|it| it.rule.id() == OBJECTS);
            kept.for_each(|finding| collected.push(*finding));
        }
        self.findings.iter().for_each(|finding| collected.push(*finding));
        collected.said = self.said;
        self.pickles
    }

    /// Reports the imports of a pickle.
    pub(super) fn imports(&mut self, part: &Part, imports: Imports) {
        for (at, name) in imports.kept {
            let name = name.unwrap_or_else(|| "a function".into());
            self.pickles.imports.get_or_insert_with(|| name.clone());
            self.pickles.others += 1;
            let message = format!(
                "loading the pickle would hand out {name}, which is allowed only to be called"
            );
            self.report(general::PICKLE_GLOBAL, part, at, 1, Some(message));
        }
        let mut of_package = None;
        for Pending { at, len, name, standing, called } in imports.list {
            let is_layer = |(_, name): &(u32, Arc<str>)| name.starts_with(LAYERS);
            if part.is_package && name.as_ref().is_some_and(is_layer) {
                of_package = of_package.or(Some((at, name)));
                continue;
            }
            let rule = match standing {
                Standing::Inert => general::PICKLE_INERT,
                _ => general::PICKLE_GLOBAL,
            };
            self.pickles.others += 1;
            let message = name.map(|(_, name)| {
                let first = match (standing, called) {
                    (Standing::Inert, _) => &mut self.pickles.inert,
                    (_, true) => &mut self.pickles.runs,
                    (_, false) => &mut self.pickles.imports,
                };
                first.get_or_insert_with(|| name.clone());
                match (standing, called) {
                    (Standing::Inert, _) => format!(
                        "loading the pickle would make {name}, which is known to be plain data; \
                         `--allow-global {name}` accepts it"
                    ),
                    (_, true) => format!("loading the pickle would run {name}"),
                    (_, false) => format!("loading the pickle would import {name}"),
                }
            });
            self.report(rule, part, at, len, message);
        }
        if let Some((at, Some((_, name)))) = of_package {
            let why = format!("torch.package would make {name} with modules of its own");
            self.left(part, at, &why);
        }
        imports.globals.join(part, &mut self.pickles, &mut self.known);
    }

    pub(super) fn fault(&mut self, part: &Part, at: u64, what: &str) {
        self.pickles.broken = true;
        self.report(
            general::PICKLE_FAULT,
            part,
            at,
            1,
            Some(format!("the pickle is broken: {what}")),
        );
    }

    /// Reports what was not read.
    pub(super) fn left(&mut self, part: &Part, at: u64, why: &str) {
        self.pickles.left = true;
        let message = format!("not all pickles were read: {why}");
        self.report(general::PICKLE_UNCHECKED, part, at, 1, Some(message));
    }

    /// Counts a pickle from `start` to `end`, and notes where it is.
    pub(super) fn count(&mut self, part: &Part, start: u64, end: u64) {
        self.pickles.count += 1;
        if (self.pickles.parts.len() as u64) < limits::FINDINGS_RULE {
            let noted = part.pickle(start, end);
            Arc::make_mut(&mut self.pickles.parts).push(noted);
        }
    }

    fn report(&mut self, rule: Rule, part: &Part, at: u64, len: u32, message: Option<String>) {
        let (offset, len, decoded) = part.bytes.place(at, len);
        let mut found = u64::MAX;
        if let Some(mut message) =
            message.filter(|_| self.said.len() as u64 <= limits::FINDINGS_FILE)
        {
            if let Some(at) = decoded {
                message += &format!(" (at byte {at} of its decoded data)");
            }
            let entry = part.name.as_ref().map(|name| Arc::new(Text::from(name.as_str())));
            found = self.said.len() as u64;
            self.said.push(Said { entry, message: message.into() });
        }
        let kind = EntryKind::File;
        let part = Subject::NO_PART;
        self.findings.push(Finding { offset, expected: 0, found, len, entry: 0, part, rule, kind });
    }
}

/// Whether this looks like a name in a program.
fn is_plausible(name: &PickleName) -> bool {
    name.as_str().split('.').all(|part| {
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        part.starts_with(|char: char| is_part(char) && !char.is_numeric())
            && part.chars().all(is_part)
    })
}
