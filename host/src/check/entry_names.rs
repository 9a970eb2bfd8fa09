//! The names of entries that findings are about.

use crate::base::span::within;
use crate::base::text::Text;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Cursor, EntryKind, File, Finding, Source, Stop};

/// Maximum number of bytes of a name shown with a finding: there may be as many findings as a
/// name has bytes.
pub(crate) const MOST_NAME: usize = 512;

/// The kind of an entry, and its position.
type Key = (EntryKind, u32);

/// The names of the entries that findings are about, sorted by entry.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    names: Vec<(Key, Arc<Text>)>,
    tensors: Wanted,
    others: Wanted,
}

/// Entries of one table whose names are wanted, the last first.
#[derive(Debug, Default)]
struct Wanted {
    left: Vec<Key>,
    cursor: Cursor,
}

/// The entry whose name is shown with a finding.
fn named_entry(finding: &Finding) -> Option<Key> {
    match finding.kind {
        EntryKind::File => None,
        EntryKind::Attribute => Some((EntryKind::Tensor, finding.entry)),
        kind => Some((kind, finding.entry)),
    }
}

impl Naming {
    /// Starts looking for the names that are still unknown.
    pub(crate) fn begin(&mut self, findings: &[Finding]) {
        let all = findings.iter().filter_map(named_entry);
        let mut unknown: Vec<Key> = all.filter(|key| self.place(*key).is_err()).collect();
        unknown.sort_unstable_by(|a, b| b.cmp(a));
        unknown.dedup();
        let (tensors, others) = unknown.iter().partition(|(kind, _)| *kind == EntryKind::Tensor);
        self.tensors = Wanted { left: tensors, cursor: Cursor::default() };
        self.others = Wanted { left: others, cursor: Cursor::default() };
    }

    fn place(&self, key: Key) -> Result<usize, usize> {
        self.names.binary_search_by_key(&key, |(known, _)| *known)
    }

    /// The name of the entry that a finding is about.
    pub(crate) fn of(&self, finding: &Finding) -> Option<Arc<Text>> {
        let place = self.place(named_entry(finding)?).ok()?;
        self.names.get(place).map(|(_, name)| name.clone())
    }

    /// Reads only tables that findings are about, and each only up to the last entry concerned.
    pub(crate) fn step(&mut self, file: &File, source: &Source<'_>) -> Result<(), Absent> {
        for is_tensor in [false, true] {
            let Naming { names, tensors, others } = self;
            let wanted = if is_tensor { tensors } else { others };
            let found = &mut |key, name| {
                let place = names.partition_point(|(known, _)| *known < key);
                names.insert(place, (key, Arc::new(name)));
            };
            match wanted.step(file, source, is_tensor, found) {
                Ok(()) => {}
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                // Nothing more can be read.
                Err(_) => wanted.left.clear(),
            }
        }
        Ok(())
    }
}

impl Wanted {
    fn step(
        &mut self,
        file: &File,
        source: &Source<'_>,
        is_tensor: bool,
        found: &mut dyn FnMut(Key, Text),
    ) -> Result<(), Stop> {
        while !self.left.is_empty() {
            let mut next = self.cursor;
            let entry = if is_tensor {
                let tensor = file.next_tensor(source, &mut next, &mut |_| {});
                // Progress within an entry that is stored in several places is kept.
                let tensor = tensor.inspect_err(|_| self.cursor = next)?;
                tensor.map(|entry| ((EntryKind::Tensor, entry.index), entry.tensor.name))
            } else {
                let meta = file.next_meta(source, &mut next, &mut |_| {});
                // Progress within a list is kept.
                meta.inspect_err(|_| self.cursor = next)?
                    .map(|entry| ((entry.kind, entry.index), entry.metadata.key))
            };
            let Some((key, name)) = entry else {
                self.left.clear();
                break;
            };
            if let Ok(i) = self.left.binary_search_by(|wanted| key.cmp(wanted)) {
                if within(source, name.span()) {
                    found(key, Text::start_of(&name.read(source)?, MOST_NAME));
                }
                self.left.remove(i);
            }
            self.cursor = next;
        }
        Ok(())
    }
}
