//! Metadata entries of tensors, and whether two of one tensor have one key.

use super::{Audit, Pause};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::hash;
use crate::index::{Slot, room, sort};
use crate::name::{NameAt, Twins};
use crate::read::Reader;
use crate::tensor::{Meta, Tensor};

/// Where the check stands within one tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    tensor: Option<Tensor>,
    cursor: Cursor,
    /// Its entries were judged; now equal keys are looked for.
    judged: bool,
    /// Whether its keys came in ascending order so far.
    unordered: bool,
    /// How many entries it has.
    counted: u32,
    previous: NameAt,
    /// Slots that are filled.
    filled: usize,
    sorted: bool,
    /// The slot that is compared with those of equal hash before it.
    next: usize,
    /// How many of those were compared.
    back: usize,
    /// The comparison, once begun.
    twins: Option<Twins>,
}

impl Audit {
    pub(super) fn attributes(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        loop {
            let Some(tensor) = self.attributes.tensor else {
                if self.cursor.done {
                    return Ok(());
                }
                let mut next = self.cursor;
                r.mute();
                let tensor = self.file.tensor(r, &mut next);
                r.unmute();
                self.attributes = Attributes { tensor: tensor?, ..Attributes::default() };
                self.cursor = next;
                continue;
            };
            if !self.attributes.judged {
                while let Some(meta) =
                    self.file.attribute(r, &tensor, &mut self.attributes.cursor)?
                {
                    self.attributes.count(r, &meta);
                }
                self.attributes.judged = true;
                self.attributes.cursor = Cursor::START;
            }
            if self.attributes.unordered {
                r.mute();
                let result = self.equal_keys(r, &tensor, slots);
                r.unmute();
                result?;
            }
            self.attributes.tensor = None;
        }
    }

    fn equal_keys(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        let here = &mut self.attributes;
        while !here.cursor.done {
            let mut next = here.cursor;
            if let Some(meta) = self.file.attribute(r, tensor, &mut next)? {
                let key = meta.key.read(r.source()).map_err(|absent| r.lack(absent))?;
                let Some(slot) = slots.get_mut(here.filled) else {
                    return Err(Pause::Room(room(u64::from(here.counted), here.filled)));
                };
                *slot = Slot {
                    key: hash::name(self.seed, 0, &key),
                    at: meta.key.at,
                    who: Slot::pack(meta.index, meta.key.len),
                };
                here.filled = here.filled.saturating_add(1);
            }
            here.cursor = next;
        }
        let slots = slots.get_mut(..here.filled).unwrap_or_default();
        if !here.sorted {
            sort(slots);
            here.sorted = true;
        }
        while let Some(slot) = slots.get(here.next) {
            // Equal hashes of different keys are next to impossible, so the
            // first comparison nearly always settles it.
            let first = here.next.checked_sub(here.back.saturating_add(1));
            let twin = first.and_then(|i| slots.get(i)).filter(|other| other.key == slot.key);
            let Some(other) = twin else {
                here.next = here.next.saturating_add(1);
                here.back = 0;
                continue;
            };
            let (index, len) = slot.unpack();
            let (earlier, other_len) = other.unpack();
            let (a, b) = (plain(other.at, other_len), plain(slot.at, len));
            let mut twins = here.twins.take().unwrap_or_else(|| Twins::new(a, b));
            let equal = twins.equal(r.source());
            if equal.is_err() {
                here.twins = Some(twins);
            }
            if equal.map_err(|absent| r.lack(absent))? {
                if let Some(rule) = self.file.policy().duplicate_attribute {
                    r.unmute();
                    r.about(Kind::Attribute, tensor.index);
                    r.about_part(index);
                    let len = u64::from(len);
                    r.flag(rule, slot.at, len, u64::from(earlier), u64::from(index));
                    r.mute();
                }
                here.next = here.next.saturating_add(1);
                here.back = 0;
            } else {
                here.back = here.back.saturating_add(1);
            }
        }
        Ok(())
    }
}

impl Attributes {
    /// Takes note of an entry, and of whether keys still ascend.
    fn count(&mut self, r: &Reader<'_, '_>, meta: &Meta) {
        if self.counted > 0 && !self.unordered {
            let before = self.previous.read(r.source());
            let key = meta.key.read(r.source());
            self.unordered = !matches!((before, key), (Ok(a), Ok(b)) if a.precedes(&b));
        }
        self.previous = meta.key;
        self.counted = self.counted.saturating_add(1);
    }
}

fn plain(at: u64, len: u32) -> NameAt {
    NameAt::plain(at, u64::from(len))
}
