//! Overlaps of the parts of a file, and the bytes between parts.

use super::Audit;
use crate::audit::overlaps::Cover;
use crate::base::widen;
use crate::file::Slot;
use crate::format::Fault;
use crate::parse::Reader;
use crate::rule::Halt;

/// Progress of the coverage check.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(super) struct Covering {
    /// A part whose gap to the previous part is still to be validated: the bytes of the gap need
    /// not be resident together with the part's entry.
    pending: Option<Slot>,
    cover: Cover,
    /// Whether the slots hold every part, unsorted.
    pub(super) listed: bool,
}

impl Audit {
    /// Checks whether the parts ascend. Needs no slots, and stores the parts while some are free.
    #[inline(never)]
    pub(super) fn order(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        while let Some(part) = self.next_part(r)? {
            let cover = &mut self.covering.cover;
            self.ordered &= part.key >= cover.end;
            cover.end = cover.end.max(part.end());
            self.counted = self.counted.wrapping_add(1);
            self.sorting.keep(slots, part);
        }
        self.covering.listed = !self.ordered && widen(self.sorting.filled) == self.counted.into();
        Ok(())
    }

    fn next_part(&mut self, r: &mut Reader<'_, '_>) -> Result<Option<Slot>, Halt> {
        self.file.next_part(r, &mut self.cursor, !self.unmeasured)
    }

    /// Reports overlaps, gaps and non-zero padding.
    #[inline(never)]
    pub(super) fn coverage(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(), Halt> {
        let is_proved = self.proved_end != 0;
        if is_proved {
            self.covering.cover.end = self.proved_end;
        } else if !self.ordered && !self.covering.listed {
            loop {
                // A cursor takes hundreds of bytes, so it is copied only if no slot is free.
                let full = self.sorting.filled >= slots.len();
                let before = full.then(|| (self.cursor, r.shared()));
                let Some(part) = self.next_part(r)? else { break };
                if let Err(halt) = self.sorting.push(r, slots, self.counted, part) {
                    if let Some((cursor, shared)) = before {
                        self.cursor = cursor;
                        r.set_shared(shared);
                    }
                    return Err(halt);
                }
            }
        }
        let slots = self.sorting.sorted(slots);
        let certain = !self.incomplete && !self.unmeasured;
        loop {
            if self.covering.pending.is_none() {
                self.covering.pending = match self.ordered {
                    _ if is_proved => None,
                    true => self.next_part(r)?,
                    false => self.sorting.current(slots),
                };
            }
            let Some(part) = self.covering.pending else { break };
            if certain && part.at != 0 {
                self.covering.cover.gap(&self.file, r, part.key, Fault::Gap)?;
            }
            self.covering.cover.place(&self.file, r, &part);
            self.covering.pending = None;
            self.sorting.pass();
        }
        if certain {
            let end = self.file.end(r.source());
            self.covering.cover.gap(&self.file, r, end, Fault::Trailing)?;
        }
        Ok(())
    }
}
