//! The audit of files whose tensors have one-byte ids instead of names, for readers of STB alone.
//!
//! A table of 256 entries finds duplicate ids, so no ids are sorted. Opening has proved that all
//! data lies after the index, so data is compared only with other data.

use crate::audit::{Stage, overlaps::Cover};
use crate::base::word;
use crate::file::{Cursor, File, Slot, slot::shell_sort};
use crate::format::Fault;
use crate::input::Source;
use crate::model::{Chunks, Status, Tensor};
use crate::parse::{Reader, Stop};
use crate::rule::{EntryKind, Finding, Halt, general};

/// Validates the structure of a file that is wholly in memory and whose tensors are named by
/// one-byte numbers; plain numbers.
#[derive(Clone, Copy, Debug)]
pub struct NumberedAudit {
    file: File,
    stage: Stage,
    /// Some entry is broken, so uncovered bytes may belong to it.
    incomplete: bool,
}

impl NumberedAudit {
    /// An audit of the structure of `file`; `None` if its tensors may have names.
    pub fn new(file: File) -> Option<Self> {
        file.index_end()?;
        Some(NumberedAudit { file, stage: Stage::Tensors, incomplete: false })
    }

    /// Has no effect: this audit never checks payloads.
    #[must_use]
    pub fn structure_only(self) -> Self {
        self
    }

    /// Has no effect: nothing is hashed here.
    #[must_use]
    pub fn seeded(self, _seed: u64) -> Self {
        self
    }

    /// The current stage, or the one for which slots were missing.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Always 0: each stage runs as a whole.
    pub fn position(&self) -> u32 {
        0
    }

    /// Continues until the audit is complete or slots are missing.
    ///
    /// Findings go to `sink` in no particular order, each once however often `step` is
    /// called.
    ///
    /// # Errors
    /// [`Stop::NeedSlots`]: call again with more slots, or give up this stage with
    /// [`skip`](Self::skip).
    pub fn step(
        &mut self,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        if self.stage == Stage::Done {
            return Ok(());
        }
        let mut r = Reader::whole(source, sink);
        self.step_stages(&mut r, slots).map_err(|halt| r.stop(halt))
    }

    /// Gives up the stage for which slots were missing, and reports it as unchecked.
    pub fn skip(&mut self, sink: &mut dyn FnMut(Finding)) {
        if self.stage == Stage::Coverage {
            sink(Finding::on_file(general::COVERAGE_UNCHECKED));
            self.stage = Stage::Done;
        }
    }

    fn step_stages(&mut self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> Result<(), Halt> {
        let (parts, ordered) = self.entries(r, slots)?;
        self.stage = Stage::Coverage;
        self.coverage(r, slots, parts, ordered)?;
        self.stage = Stage::Done;
        Ok(())
    }

    /// Validates the entries and checks whether two have the same id; muted if that was done
    /// before. Stores the data of as many tensors as there are slots. Returns the number of parts
    /// and whether they are in order.
    fn entries(
        &mut self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
    ) -> Result<(usize, bool), Halt> {
        if self.stage == Stage::Coverage {
            r.mute();
        }
        // The last entry with each id, counted from 1.
        let mut users = [0_u16; 256];
        let (mut cursor, mut cover) = (Cursor::START, Cover::default());
        let (mut parts, mut ordered) = (0_usize, true);
        while let Some(tensor) = &self.file.tensor(r, &mut cursor)? {
            self.incomplete |= tensor.status == Status::Broken;
            let id = r.source().run(tensor.name.offset).first().copied().unwrap_or(0);
            if let Some(user) = users.get_mut(usize::from(id)) {
                let index = u64::from(tensor.index);
                if let (Some(earlier), Some(rule)) =
                    (user.checked_sub(1), self.file.rule(Fault::Duplicate(EntryKind::Tensor)))
                {
                    r.flag(rule, tensor.name.offset, 1, earlier.into(), index);
                }
                // There are fewer than 2^16 entries.
                *user = u16::try_from(index.wrapping_add(1)).unwrap_or(0);
            }
            if let Some(part) = part_of(tensor) {
                ordered &= part.key >= cover.end;
                cover.end = part.end();
                if let Some(slot) = slots.get_mut(parts) {
                    *slot = part;
                }
                parts = parts.wrapping_add(1);
            }
        }
        // If the file ends inside the table, no bytes after it can be uncovered.
        Ok((parts, ordered))
    }

    /// Reports overlaps, gaps and non-zero padding. Slots are needed only if parts are
    /// unordered.
    fn coverage(
        &self,
        r: &mut Reader<'_, '_>,
        slots: &mut [Slot],
        parts: usize,
        ordered: bool,
    ) -> Result<(), Halt> {
        let certain = !self.incomplete;
        let mut cover = Cover::default();
        cover.end = word(self.file.index_end().unwrap_or(0));
        if ordered {
            // Parts in order do not overlap.
            r.mute();
            let mut cursor = Cursor::START;
            while let Some(tensor) = &self.file.tensor(r, &mut cursor)? {
                if let Some(part) = part_of(tensor) {
                    if certain {
                        cover.gap(&self.file, r, part.key, Fault::Gap)?;
                    }
                    cover.end = part.end();
                }
            }
        } else {
            let needed = u32::try_from(parts).unwrap_or(u32::MAX);
            let slots = slots.get_mut(..parts).ok_or_else(|| r.short_of(needed))?;
            shell_sort(slots, &Slot::precedes);
            for part in slots {
                if certain {
                    cover.gap(&self.file, r, part.key, Fault::Gap)?;
                }
                cover.place(&self.file, r, part);
            }
        }
        if certain {
            cover.gap(&self.file, r, self.file.end(r.source()), Fault::Trailing)?;
        }
        Ok(())
    }
}

/// The data of a tensor as a part of the file, if it has any bytes.
fn part_of(tensor: &Tensor) -> Option<Slot> {
    match tensor.chunks {
        Chunks::One(span) if span.len != 0 => {
            Some(Slot::part(span, Slot::pack(tensor.index, EntryKind::Tensor.code())))
        }
        _ => None,
    }
}
