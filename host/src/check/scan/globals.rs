//! The table of what pickles import.

use super::part::Part;
use crate::check::pickles::{Global, Pickles};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::limits;
use weighbridge_core::pickle::Import;

/// No entry of the table.
const NONE: u16 = u16::MAX;

/// What one pickle imports, each name once.
#[derive(Debug, Default)]
pub(super) struct Globals {
    list: Vec<Global>,
    known: BTreeMap<Arc<str>, u16>,
    /// The entry of each import, by its number.
    entries: Vec<u16>,
    is_cut: bool,
}

impl Globals {
    /// Adds an import, and returns its name as it is shown.
    pub(super) fn add(&mut self, import: &Import, shown: &Arc<str>) {
        let known = self.known.get(shown).copied();
        let entry = match known {
            Some(entry) => entry,
            None if (self.list.len() as u64) < limits::FINDINGS_RULE => {
                let entry = self.list.len() as u16;
                self.known.insert(shown.clone(), entry);
                self.list.push(Global {
                    name: shown.clone(),
                    offset: import.at,
                    standing: import.standing,
                    called: false,
                    decoded: None,
                    part: 0,
                });
                entry
            }
            None => {
                self.is_cut = true;
                NONE
            }
        };
        self.entries.push(entry);
    }

    /// Marks the import of this number as called.
    pub(super) fn call(&mut self, number: u32) {
        let entry = self.entries.get(number as usize).copied().unwrap_or(NONE);
        if let Some(global) = self.list.get_mut(usize::from(entry)) {
            global.called = true;
        }
    }

    /// Adds the table to that of all pickles of a file, whose names are `known`.
    pub(super) fn join(
        self,
        part: &Part,
        pickles: &mut Pickles,
        known: &mut BTreeMap<Arc<str>, usize>,
    ) {
        pickles.more_globals |= self.is_cut;
        let number = pickles.count.saturating_sub(1);
        let all = Arc::make_mut(&mut pickles.globals);
        for global in self.list {
            let next = all.len();
            let place = known.get(&global.name).copied().unwrap_or(next);
            if let Some(known) = all.get_mut(place) {
                known.called |= global.called;
            } else if (next as u64) < limits::FINDINGS_RULE {
                known.insert(global.name.clone(), next);
                let (offset, _, decoded) = part.bytes.place(global.offset, 1);
                all.push(Global { offset, decoded, part: number, ..global });
            } else {
                pickles.more_globals = true;
            }
        }
    }
}
