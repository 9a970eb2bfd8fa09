//! References into shards: each names a shard of the table, lies within its file, and shares no
//! byte with another unless both are the same.

use super::super::rules;
use super::Header;
use super::audit::Walk;
use super::node::{Node, Nodes};
use super::object::Object;
use super::shards::{self, LONGEST};
use crate::base::limits::{ZTENSOR_PARTS, ZTENSOR_SHARDS};
use crate::input::Span;
use crate::model::Name;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// Length of the footer of a shard.
const FOOTER: u64 = 40;
/// Number of different references that are kept for comparison.
const KEPT: usize = 16;

/// A name, copied: the table and the objects lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Copied {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Copied {
    const NONE: Copied = Copied { bytes: [0; LONGEST], len: 0 };

    /// A copy; `None` if the name is longer than any in the table.
    fn of(name: &Name<'_>) -> Option<Copied> {
        let mut copied = Copied::NONE;
        for byte in name.bytes() {
            *copied.bytes.get_mut(copied.len)? = byte;
            copied.len = copied.len.saturating_add(1);
        }
        Some(copied)
    }

    fn is(&self, name: &Name<'_>) -> bool {
        name.bytes().eq(self.bytes.iter().take(self.len).copied())
    }
}

/// Progress of the check: one pass over all objects for each shard, and one for names that are
/// not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct References {
    begun: bool,
    shards: u32,
    /// The current shard, its name and its size.
    shard: u32,
    loaded: bool,
    name: Copied,
    size: u64,
    walk: Walk,
    /// Number of references, and of those whose shard is in the table.
    all: u32,
    known: u32,
    /// The last different references into the shard, their number, and the range of all.
    kept: [(u64, u64); KEPT],
    count: usize,
    range: (u64, u64),
    unordered: bool,
    /// A reference whose name is looked for in the table, and the next in its object.
    sought: Option<Sought>,
    next: u32,
    owner: Span,
    owner_index: u32,
}

/// A reference whose name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sought {
    name: Option<Copied>,
    place: Span,
    entry: u32,
}

/// A reference into a shard.
struct Reference<'a> {
    shard: Node<'a>,
    blob: Node<'a>,
    entry: u32,
}

impl References {
    pub(super) const START: References = References {
        begun: false,
        shards: 0,
        shard: 0,
        loaded: false,
        name: Copied::NONE,
        size: 0,
        walk: Walk::START,
        all: 0,
        known: 0,
        kept: [(0, 0); KEPT],
        count: 0,
        range: (u64::MAX, 0),
        unordered: false,
        sought: None,
        next: 0,
        owner: Span { offset: 0, len: 0 },
        owner_index: 0,
    };

    /// One step; returns whether it was the last.
    pub(super) fn step(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        if header.shards().is_empty() {
            return Ok(true);
        }
        if !self.begun {
            let count = table(header, r)?.pairs().take(widened()).count();
            self.shards = u32::try_from(count).unwrap_or(u32::MAX);
            self.begun = true;
            if self.shards > ZTENSOR_SHARDS {
                r.about(EntryKind::File, 0);
                let Span { offset, len } = header.shards();
                r.flag(rules::SHARDS_MANY, offset, len, ZTENSOR_SHARDS.into(), self.shards.into());
                return Ok(true);
            }
            return Ok(false);
        }
        if self.shard < self.shards {
            if !self.loaded {
                self.load(header, r)?;
            } else if !self.pass(header, r)? {
                self.shard = self.shard.saturating_add(1);
                self.loaded = false;
            }
            return Ok(false);
        }
        if self.shards > 0 && self.known >= self.all {
            return Ok(true);
        }
        self.unknown(header, r)
    }

    /// Reads the current shard from the table.
    fn load(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let number = usize::try_from(self.shard).unwrap_or(usize::MAX);
        let (key, value) = table(header, r)?.pairs().nth(number).unwrap_or_default();
        let name = key.text().and_then(|name| Copied::of(&name));
        self.name = name.unwrap_or(Copied::NONE);
        self.size = shards::size(&value).unwrap_or(u64::MAX);
        self.walk = Walk::START;
        (self.count, self.range) = (0, (u64::MAX, 0));
        (self.unordered, self.loaded) = (false, true);
        Ok(())
    }

    /// Checks the references of the next object into the current shard; returns whether there is
    /// one.
    fn pass(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        let Some((object, index)) = self.walk.next(header, r)? else { return Ok(false) };
        for reference in references(&object, index) {
            self.all = self.all.saturating_add(u32::from(self.shard == 0));
            let name = reference.shard.text().unwrap_or_default();
            if self.name.is(&name) {
                self.known = self.known.saturating_add(1);
                r.about(EntryKind::Tensor, reference.entry);
                self.reference(r, &reference);
            }
        }
        Ok(true)
    }

    fn reference(&mut self, r: &mut Reader<'_, '_>, reference: &Reference<'_>) {
        let mut numbers = reference.blob.items().map(|number| number.uint());
        let (Some(Some(at)), Some(Some(len))) = (numbers.next(), numbers.next()) else { return };
        let place = reference.blob.span();
        let mut flag = |rule: Rule, expected, found| {
            r.flag(rule, place.offset, place.len, expected, found);
        };
        let end = at.saturating_add(len);
        let limit = self.size.saturating_sub(FOOTER);
        if end > limit {
            return flag(rules::SHARD_BOUNDS, limit, end);
        }
        let kept = self.kept.get(..self.count.min(KEPT)).unwrap_or(&self.kept);
        if len == 0 || kept.contains(&(at, end)) {
            return;
        }
        let (low, high) = self.range;
        if at < high && end > low {
            if let Some((_, other)) = kept.iter().find(|(from, to)| at < *to && end > *from) {
                flag(rules::SHARD_OVERLAP, *other, at);
            } else if self.count > KEPT && !self.unordered {
                self.unordered = true;
                flag(rules::SHARD_ORDER, high, at);
            }
        }
        let slot = self.kept.get_mut(self.count & KEPT.wrapping_sub(1));
        if let Some(slot) = slot {
            *slot = (at, end);
        }
        self.count = self.count.saturating_add(1);
        self.range = (low.min(at), high.max(end));
    }

    /// Looks for the name of one reference after the other; returns whether there was none left.
    fn unknown(&mut self, header: &Header, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        if let Some(Sought { name, place, entry }) = self.sought {
            let listed = match &name {
                Some(name) => {
                    let is = |(key, _): (Node<'_>, Node<'_>)| {
                        key.text().is_some_and(|key| name.is(&key))
                    };
                    table(header, r)?.pairs().any(is)
                }
                None => false,
            };
            if !listed {
                r.about(EntryKind::Tensor, entry);
                r.flag(rules::SHARD_UNKNOWN, place.offset, place.len, 0, 0);
            }
            self.sought = None;
            return Ok(false);
        }
        if self.owner.is_empty() {
            if self.loaded || self.shard > 0 {
                // After the passes for single shards, from the start.
                (self.walk, self.shard, self.loaded) = (Walk::START, 0, false);
                self.shards = 0;
            }
            let Some((object, index)) = self.walk.next(header, r)? else { return Ok(true) };
            self.owner = Span::between(object.key.at, object.end);
            (self.owner_index, self.next) = (index, 0);
            return Ok(false);
        }
        let object = Object::of(header.generation, r.get(self.owner)?, self.owner.offset);
        let number = usize::try_from(self.next).unwrap_or(usize::MAX);
        match references(&object, self.owner_index).nth(number) {
            Some(reference) => {
                let name = reference.shard.text().and_then(|name| Copied::of(&name));
                let (place, entry) = (reference.shard.span(), reference.entry);
                self.sought = Some(Sought { name, place, entry });
                self.next = self.next.saturating_add(1);
            }
            None => self.owner = Span::new(0, 0),
        }
        Ok(false)
    }
}

/// One more than the largest number of shards that are checked.
fn widened() -> usize {
    usize::try_from(ZTENSOR_SHARDS).unwrap_or(0).saturating_add(1)
}

/// The table of shards.
fn table<'a>(header: &Header, r: &mut Reader<'_, 'a>) -> Result<Node<'a>, Halt> {
    let bytes = r.get(header.shards())?;
    Ok(Nodes::new(bytes, header.shards().offset).next().unwrap_or_default())
}

/// The references of an object into shards, with the numbers of their entries.
fn references<'a>(
    object: &Object<'a>,
    index: u32,
) -> impl Iterator<Item = Reference<'a>> + use<'a> {
    let apart = object.has_entries();
    let most = usize::try_from(ZTENSOR_PARTS).unwrap_or(0);
    object.parts().take(most).zip(0_u32..).filter_map(move |((_, map), number)| {
        let shard = map.get("shard").filter(|shard| shard.text().is_some())?;
        let blob = map.get("blob")?;
        let after = number.saturating_add(1);
        let entry = if apart { index.saturating_add(after) } else { index };
        Some(Reference { shard, blob, entry })
    })
}
