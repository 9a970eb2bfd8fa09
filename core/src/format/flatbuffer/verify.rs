//! Verifies a flatbuffer, and counts what a format asks for.

use super::{Fault, Object, Rules, Schema, Walk, strings_of};
use crate::base::features::WINDOWS;
use crate::parse::Reader;
use crate::rule::{Halt, Rule, Severity};
use core::cell::Cell;

/// What verifying has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    /// The root table; 0 before it was found.
    pub(crate) root: u64,
    /// Number of objects of each kind that the schema [counts](Schema::counted).
    pub(crate) counted: [u32; 3],
    /// The first fatal fault.
    pub(crate) broken: Option<Rule>,
}

impl Counts {
    pub(crate) const START: Counts = Counts { root: 0, counted: [0; 3], broken: None };

    /// Counts an object; `by` is the number of the table that leads to it.
    fn add(&mut self, object: Object, schema: &Schema, by: impl FnOnce() -> u8) {
        let kind = match object {
            Object::Table { number: 0, place, .. } => {
                self.root = place.span().offset;
                return;
            }
            Object::Table { number, .. } => number,
            Object::String(_) => strings_of(by()),
            Object::Vector(_) => return,
        };
        for (count, counted) in self.counted.iter_mut().zip(&schema.counted) {
            if kind == *counted {
                *count = count.saturating_add(1);
            }
        }
    }
}

/// Verifies every object, and counts.
pub(crate) fn verify(
    r: &mut Reader<'_, '_>,
    walk: &mut Walk,
    counts: &mut Counts,
    schema: &Schema,
) -> Result<(), Halt> {
    if walk.is_counted(r, schema, counts) {
        return Ok(());
    }
    let fatal = Cell::new(None);
    let rule = |fault: Fault| {
        let rule = (schema.rules)(fault);
        if rule.severity() == Severity::Fatal {
            fatal.set(Some(rule));
        }
        rule
    };
    // A walk through memory ends at a fatal fault.
    let rules: Rules<'_> = if WINDOWS { &rule } else { &schema.rules };
    loop {
        let found = walk.next(r, schema, rules);
        if WINDOWS {
            counts.broken = counts.broken.or(fatal.get());
        }
        let Some(object) = found? else { return Ok(()) };
        counts.add(object, schema, || walk.path().last().map_or(0, |top| top.number()));
    }
}
