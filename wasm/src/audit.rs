//! The audit of a document, and what it works in.

use crate::document::{Document, Step};
use alloc::vec::Vec;
use weighbridge_core::{Audit, Finding, Slot, Source, Stage, Stop};

/// The most slots that an audit gets: 384 MiB of them.
const MOST_SLOTS: usize = 16 << 20;

/// Slots that any tensor gets for its entries; more take a file in which they
/// could be written down.
const MOST_ENTRIES: u64 = 1 << 20;

/// Memory to decode payloads in.
#[cfg(feature = "full")]
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    buffer: Vec<u8>,
    paused: Option<weighbridge_core::Paused>,
}

/// The formats of the small module store all data as it is.
#[cfg(not(feature = "full"))]
#[derive(Debug, Default)]
pub(crate) struct Workspace;

#[cfg(feature = "full")]
impl Workspace {
    /// Bytes that are decoded at a time.
    const PIECE: usize = 256 << 10;

    fn step(
        &mut self,
        audit: &mut Audit,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        let Workspace { buffer, paused } = self;
        if buffer.is_empty() {
            buffer.resize(Self::PIECE, 0);
        }
        let mut scratch = match paused.take() {
            Some(paused) => paused.resume(buffer),
            None => weighbridge_core::Scratch::new(buffer),
        };
        let result = audit.step_with(source, slots, &mut scratch, sink);
        *paused = Some(scratch.pause());
        result
    }

    /// Makes the buffer larger; `false` if that cannot be.
    fn grow(&mut self, needed: u64) -> bool {
        let more = usize::try_from(needed).unwrap_or(usize::MAX).saturating_sub(self.buffer.len());
        let grows = more > 0 && self.buffer.try_reserve_exact(more).is_ok();
        if grows {
            self.buffer.resize(self.buffer.len() + more, 0);
        }
        // Either way the tensor is begun anew.
        self.paused = None;
        grows
    }
}

#[cfg(not(feature = "full"))]
impl Workspace {
    fn step(
        &mut self,
        audit: &mut Audit,
        source: &Source<'_>,
        slots: &mut [Slot],
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        audit.step(source, slots, sink)
    }

    fn grow(&mut self, _: u64) -> bool {
        false
    }
}

impl Document {
    pub(crate) fn audit(&mut self, next: Step) -> Result<Step, Stop> {
        let Document { store, findings, slots, seed, workspace, .. } = self;
        let Some(file) = self.file else { return Ok(Step::Done) };
        let mut audit = match self.audit {
            Some(audit) => audit,
            None => Audit::new(file).seeded(*seed).structure_only(),
        };
        if next == Step::Done {
            audit = audit.with_payloads();
        }
        let result = store.ask(|source| {
            workspace.step(&mut audit, source, slots, &mut |finding| findings.push(finding))
        });
        self.audit = Some(audit);
        result?;
        self.slots = Vec::new();
        self.workspace = Workspace::default();
        Ok(next)
    }

    /// Gives the audit more slots, or gives up what it wants them for.
    pub(crate) fn make_room(&mut self, needed: u32) {
        let stage = self.audit.map(|audit| audit.stage());
        let needed = needed as usize;
        let bomb = stage == Some(Stage::Payloads)
            && needed as u64 > MOST_ENTRIES.max(self.store.len() / 8);
        let more = needed.saturating_sub(self.slots.len());
        let room = needed <= MOST_SLOTS && more > 0 && !bomb;
        if room && self.slots.try_reserve_exact(more).is_ok() {
            self.slots.resize(needed, Slot::EMPTY);
        } else {
            self.give_up();
        }
    }

    /// Gives the audit a larger buffer, or gives up the tensor that wants it.
    pub(crate) fn make_buffer(&mut self, needed: u64) {
        if !self.workspace.grow(needed) {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        let Document { audit, findings, .. } = self;
        let Some(audit) = audit else { return };
        let before = audit.stage();
        audit.skip(&mut |finding| findings.push(finding));
        // Of payloads, only the current one is given up.
        if audit.stage() == before && before != Stage::Payloads {
            self.step = Step::Done;
        }
    }
}
