//! Whether the parts of a file are disjoint, and what lies between them.

use super::{Audit, Pause};
use crate::finding::Kind;
use crate::index::{Slot, room, sort};
use crate::read::Reader;
use crate::rule::Rule;
use crate::source::Span;
use crate::tensor::Region;

/// Where the coverage check stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cover {
    /// Slots that are filled.
    filled: usize,
    sorted: bool,
    /// The slot that is looked at.
    next: usize,
    /// A region whose distance from the one before is not judged yet.
    pending: Option<Span>,
    /// Where the bytes end that belong to something.
    end: u64,
    /// The region that reaches furthest, to tell two equal ones.
    widest: Span,
}

impl Audit {
    /// Looks whether the regions ascend, without slots.
    pub(super) fn order(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Pause> {
        while let Some(region) = self.next_region(r)? {
            self.ordered &= region.span.at >= self.cover.end;
            self.cover.end = region.span.end().unwrap_or(u64::MAX).max(self.cover.end);
            self.counted = self.counted.saturating_add(1);
        }
        Ok(())
    }

    /// The next region that has bytes. Once a value is not what its entry says,
    /// only parts that the index itself measures are compared.
    fn next_region(&mut self, r: &mut Reader<'_, '_>) -> Result<Option<Region>, Pause> {
        r.mute();
        let result = loop {
            match self.file.region(r, &mut self.cursor) {
                Ok(Some(region)) if region.span.is_empty() => {}
                Ok(Some(region)) if self.unmeasured && region.part.is_value() => {}
                result => break result,
            }
        };
        r.unmute();
        Ok(result?)
    }

    /// Reports overlaps, gaps and padding that is not zero.
    pub(super) fn coverage(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Pause> {
        if self.ordered {
            loop {
                // The bytes before a region need not be resident together with
                // its entry, so the region is kept until they were judged.
                let region = match self.cover.pending {
                    Some(region) => region,
                    None => match self.next_region(r)? {
                        Some(region) => *self.cover.pending.insert(region.span),
                        None => break,
                    },
                };
                self.gap(r, region.at, self.file.policy().gap)?;
                self.cover.end = region.end().unwrap_or(u64::MAX);
                self.cover.pending = None;
            }
        } else {
            self.fill(r, slots)?;
            let slots = slots.get_mut(..self.cover.filled).unwrap_or_default();
            if !self.cover.sorted {
                sort(slots);
                self.cover.sorted = true;
            }
            while let Some(slot) = slots.get(self.cover.next) {
                let span = Span::new(slot.key, slot.at);
                self.gap(r, span.at, self.file.policy().gap)?;
                if span.at < self.cover.end {
                    self.overlap(r, slot, span);
                }
                let end = span.end().unwrap_or(u64::MAX);
                if end > self.cover.end {
                    self.cover.end = end;
                    self.cover.widest = span;
                }
                self.cover.next = self.cover.next.saturating_add(1);
            }
        }
        let end = match self.file.recorded_len() {
            Some(len) => len.min(r.source().len()),
            None => r.source().len(),
        };
        self.gap(r, end, self.file.policy().trailing)
    }

    fn fill(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Pause> {
        loop {
            let before = self.cursor;
            let Some(region) = self.next_region(r)? else {
                return Ok(());
            };
            let Some(slot) = slots.get_mut(self.cover.filled) else {
                self.cursor = before;
                return Err(Pause::Room(room(u64::from(self.counted), self.cover.filled)));
            };
            *slot = Slot {
                key: region.span.at,
                at: region.span.len,
                who: Slot::pack(region.entry, kind_code(region.kind)),
            };
            self.cover.filled = self.cover.filled.saturating_add(1);
        }
    }

    fn overlap(&self, r: &mut Reader<'_, '_>, slot: &Slot, span: Span) {
        let policy = self.file.policy();
        let rule = if span == self.cover.widest { policy.alias } else { policy.overlap };
        let Some(rule) = rule else { return };
        let (entry, kind) = slot.unpack();
        r.about(kind_of(kind), entry);
        let len = self.cover.end.saturating_sub(span.at).min(span.len);
        r.flag(rule, span.at, len, self.cover.end, span.at);
    }

    /// Judges what lies between the bytes before and `at`.
    fn gap(&self, r: &mut Reader<'_, '_>, at: u64, rule: Option<Rule>) -> Result<(), Pause> {
        let policy = self.file.policy();
        let gap = Span::between(self.cover.end, at);
        if gap.is_empty() || self.incomplete || self.unmeasured {
            return Ok(());
        }
        if gap.len >= policy.align {
            if let Some(rule) = rule {
                r.about(Kind::File, 0);
                r.flag(rule, gap.at, gap.len, 0, gap.len);
            }
        } else if let Some(rule) = policy.padding {
            let bytes = r.get(gap)?;
            if let Some(first) = bytes.iter().position(|byte| *byte != 0) {
                let first = crate::source::widen(first);
                let value = bytes.iter().copied().find(|byte| *byte != 0).unwrap_or(0);
                r.about(Kind::File, 0);
                r.flag(
                    rule,
                    gap.at.saturating_add(first),
                    gap.len.saturating_sub(first),
                    0,
                    u64::from(value),
                );
            }
        }
        Ok(())
    }
}

/// A kind of entry as a number that fits a slot.
fn kind_code(kind: Kind) -> u32 {
    match kind {
        Kind::File => 0,
        Kind::Tensor => 1,
        Kind::Metadata => 2,
        Kind::SizeVar => 3,
        Kind::Attribute => 4,
        Kind::Slot => 5,
    }
}

fn kind_of(code: u32) -> Kind {
    match code {
        1 => Kind::Tensor,
        2 => Kind::Metadata,
        3 => Kind::SizeVar,
        4 => Kind::Attribute,
        5 => Kind::Slot,
        _ => Kind::File,
    }
}
