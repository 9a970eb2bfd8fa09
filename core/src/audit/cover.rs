//! Whether the parts of a file are disjoint, and what lies between them.

use super::Audit;
use crate::finding::Kind;
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::slot::Slot;
use crate::source::Span;

/// Where the coverage check stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cover {
    /// A part whose distance from the one before is not judged yet: its bytes
    /// need not be resident together with its entry.
    pending: Option<Slot>,
    /// Where the bytes end that belong to something.
    end: u64,
    /// The part that reaches furthest, to tell two equal ones.
    widest: Span,
}

impl Audit {
    /// Looks whether the parts ascend, without slots.
    #[inline(never)]
    pub(super) fn order(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        while let Some(part) = self.next_part(r)? {
            self.ordered &= part.key >= self.cover.end;
            self.cover.end = self.cover.end.max(part_end(&part));
            self.counted = self.counted.wrapping_add(1);
        }
        Ok(())
    }

    /// The next part that has bytes: its offset, its length, and whose it is.
    /// Once a value is not what its entry says, only parts that the index itself
    /// measures are compared.
    #[inline(never)]
    fn next_part(&mut self, r: &mut Reader<'_, '_>) -> Result<Option<Slot>, Halt> {
        while let Some(region) = self.file.region(r, &mut self.cursor)? {
            let unsure = self.unmeasured && region.part.is_value();
            if !region.span.is_empty() && !unsure {
                let who = Slot::pack(region.entry, region.kind.code());
                return Ok(Some(Slot::part(region.span, who)));
            }
        }
        Ok(None)
    }

    /// Reports overlaps, gaps and padding that is not zero.
    #[inline(never)]
    pub(super) fn coverage(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Halt> {
        if !self.ordered {
            loop {
                let before = (self.cursor, r.shared());
                let Some(part) = self.next_part(r)? else { break };
                if let Err(halt) = self.sorting.push(r, slots, self.counted, part) {
                    self.cursor = before.0;
                    r.set_shared(before.1);
                    return Err(halt);
                }
            }
        }
        let slots = self.sorting.sorted(slots);
        loop {
            if self.cover.pending.is_none() {
                self.cover.pending = match self.ordered {
                    true => self.next_part(r)?,
                    false => self.sorting.current(slots),
                };
            }
            let Some(part) = self.cover.pending else { break };
            self.gap(r, part.key, self.file.policy().gap)?;
            self.place(r, &part);
            self.cover.pending = None;
            self.sorting.pass();
        }
        let len = r.source().len();
        let end = self.file.recorded_len().map_or(len, |recorded| recorded.min(len));
        self.gap(r, end, self.file.policy().trailing)
    }

    /// Adds a part to what is covered, and reports if some of it was before.
    #[inline(never)]
    fn place(&mut self, r: &mut Reader<'_, '_>, part: &Slot) {
        let span = part.span();
        let covered = self.cover.end;
        if span.at < covered {
            let policy = self.file.policy();
            let rule = if span == self.cover.widest { policy.alias } else { policy.overlap };
            if let Some(rule) = rule {
                let (entry, kind) = part.unpack();
                r.about(Kind::of(kind), entry);
                let len = covered.wrapping_sub(span.at).min(span.len);
                r.report(rule, span.at, len, covered, span.at);
            }
        }
        let end = part_end(part);
        if end > covered {
            self.cover.end = end;
            self.cover.widest = span;
        }
    }

    /// Judges what lies between the bytes before and `at`.
    #[inline(never)]
    fn gap(&self, r: &mut Reader<'_, '_>, at: u64, rule: Option<Rule>) -> Result<(), Halt> {
        let policy = self.file.policy();
        let gap = Span::between(self.cover.end, at);
        if gap.is_empty() || self.incomplete || self.unmeasured {
            return Ok(());
        }
        if gap.len >= self.file.alignment() {
            if let Some(rule) = rule {
                r.about(Kind::File, 0);
                r.report(rule, gap.at, gap.len, 0, gap.len);
            }
        } else if let Some(rule) = policy.padding
            && let Some((first, byte)) = (0_u64..).zip(r.get(gap)?).find(|(_, byte)| **byte != 0)
        {
            r.about(Kind::File, 0);
            let at = gap.at.wrapping_add(first);
            r.report(rule, at, gap.len.wrapping_sub(first), 0, u64::from(*byte));
        }
        Ok(())
    }
}

fn part_end(part: &Slot) -> u64 {
    part.key.saturating_add(part.at)
}
