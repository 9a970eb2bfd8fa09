//! Metadata entries of tensors, and whether two of one tensor have one key.

use super::names::Search;
use super::{Audit, Pause};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::hash;
use crate::index::{Slot, room, sort};
use crate::name::NameAt;
use crate::read::Reader;
use crate::tensor::{Meta, Tensor};
use crate::twins::Twins;

/// Where the check stands within one tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    cursor: Cursor,
    /// The entries were judged; now equal keys are looked for.
    judged: bool,
}

impl Audit {
    pub(super) fn attributes(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        loop {
            let tensor = match self.payload.tensor {
                Some(tensor) => tensor,
                None => {
                    r.mute();
                    let tensor = self.file.tensor(r, &mut self.cursor);
                    r.unmute();
                    let Some(tensor) = tensor? else { return Ok(()) };
                    self.attributes = Attributes::default();
                    self.search = Search::default();
                    self.ordered = true;
                    self.counted = 0;
                    *self.payload.tensor.insert(tensor)
                }
            };
            if !self.attributes.judged {
                while let Some(meta) =
                    self.file.attribute(r, &tensor, &mut self.attributes.cursor)?
                {
                    self.count(r, &meta);
                }
                self.attributes = Attributes { judged: true, ..Attributes::default() };
            }
            if !self.ordered {
                r.mute();
                let result = self.equal_keys(r, &tensor, slots);
                r.unmute();
                result?;
            }
            self.payload.tensor = None;
        }
    }

    /// Takes note of an entry, and of whether keys still ascend.
    fn count(&mut self, r: &Reader<'_, '_>, meta: &Meta) {
        if meta.kind != Kind::Attribute {
            return;
        }
        if self.counted > 0 && self.ordered {
            let before = self.previous.read(r.source());
            let key = meta.key.read(r.source());
            self.ordered = matches!((before, key), (Ok(a), Ok(b)) if a.precedes(&b));
        }
        self.previous = meta.key;
        self.counted = self.counted.saturating_add(1);
    }

    /// Sorts the keys of one tensor by hash and compares those of equal hash.
    fn equal_keys(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        while !self.attributes.cursor.done {
            let mut next = self.attributes.cursor;
            let meta = self.file.attribute(r, tensor, &mut next);
            if meta.is_err() {
                // What it found out on the way is worth keeping.
                self.attributes.cursor = next;
            }
            if let Some(meta) = meta? {
                let key = meta.key.read(r.source()).map_err(|absent| r.lack(absent))?;
                let Some(slot) = slots.get_mut(self.search.filled) else {
                    return Err(Pause::Room(room(u64::from(self.counted), self.search.filled)));
                };
                *slot = Slot {
                    key: hash::name(self.seed, 0, &key),
                    at: meta.key.at,
                    who: Slot::pack(meta.index, meta.key.len),
                };
                self.search.filled = self.search.filled.saturating_add(1);
            }
            self.attributes.cursor = next;
        }
        let slots = slots.get_mut(..self.search.filled).unwrap_or_default();
        if !self.search.sorted {
            sort(slots);
            self.search.sorted = true;
        }
        while let Some(slot) = slots.get(self.search.next) {
            // Equal hashes of different keys are next to impossible, so the
            // first comparison nearly always settles it.
            let back = self.search.other.saturating_add(1);
            let other = self.search.next.checked_sub(back).and_then(|i| slots.get(i));
            let settled = match other.filter(|other| other.key == slot.key) {
                Some(other) => self.compare_keys(r, tensor, other, slot)?,
                None => true,
            };
            self.search.twins = None;
            self.search.other = if settled { 0 } else { back };
            self.search.next = self.search.next.saturating_add(usize::from(settled));
        }
        Ok(())
    }

    /// Compares two keys, and reports if they are equal.
    fn compare_keys(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        first: &Slot,
        second: &Slot,
    ) -> Result<bool, Pause> {
        let plain = |slot: &Slot| NameAt::plain(slot.at, u64::from(slot.unpack().1));
        let mut twins = self.search.twins.unwrap_or(Twins::new(plain(first), plain(second)));
        let equal = twins.equal(r.source());
        self.search.twins = Some(twins);
        if !equal.map_err(|absent| r.lack(absent))? {
            return Ok(false);
        }
        if let Some(rule) = self.file.policy().duplicate_attribute {
            let ((earlier, _), (index, len)) = (first.unpack(), second.unpack());
            r.unmute();
            r.about(Kind::Attribute, tensor.index);
            r.about_part(index);
            r.flag(rule, second.at, u64::from(len), u64::from(earlier), u64::from(index));
            r.mute();
        }
        Ok(true)
    }
}
