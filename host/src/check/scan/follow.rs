//! Follows the pickles of one part, one after another.

use super::found::{Imports, Results};
use super::memory::Memory;
use super::part::{Part, Sequence};
use crate::check::criteria::Criteria;
use alloc::string::ToString as _;
use weighbridge_core::pickle::{PickleEnd, PickleEvent, PickleScan};
use weighbridge_core::{Absent, Source, Span, limits};

/// Pickles at the start of a file that torch 0.2 to 1.5 wrote.
pub(in crate::check) const LEGACY: u32 = 5;
/// The number that such a file begins with, as a pickle has it: without the bytes before, which
/// depend on the protocol.
pub(in crate::check) const MAGIC: &[u8] = b"\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
/// The same in protocol 0.
const MAGIC_TEXT: &[u8] = b"L119547037146038801333356L\n";

/// A sound pickle that has been followed to its end: what it imports.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The part of the file that it begins.
    span: Span,
    end: u64,
    imports: Imports,
}

impl Followed {
    /// A pickle at the start of a part of the file.
    pub(in crate::check) fn new(span: Span) -> Self {
        Followed { span, end: span.offset, imports: Imports::default() }
    }

    /// Notes an event, whose offset counts from the start of the pickle.
    pub(in crate::check) fn event(&mut self, event: &PickleEvent, criteria: &Criteria) {
        self.imports.event(event, self.span.offset, criteria);
    }

    /// Notes how many bytes the pickle has.
    pub(in crate::check) fn stops(&mut self, at: u64) {
        self.end = self.span.offset.saturating_add(at);
    }

    /// Whether this is the pickle that a part begins with.
    pub(super) fn is_of(&self, part: &Part) -> bool {
        let is_alike = part.sequence == Sequence::Plain && !part.in_array;
        is_alike && !part.bytes.is_decoded() && part.bytes.span == self.span
    }
}

/// The pickles of one part.
#[derive(Debug)]
pub(super) struct Follow {
    part: Part,
    scan: PickleScan,
    start: u64,
    /// Pickles followed so far.
    done: u32,
    /// How many there are, if the first ones say so.
    wanted: Option<u32>,
    /// The bytes of an element of the last class of storages.
    item: Option<u64>,
    imports: Imports,
    fault: Option<(u64, alloc::string::String)>,
    /// The first pickle, if it has been followed before.
    known: Option<Followed>,
    /// Whether the bytes may be no pickle at all.
    is_tentative: bool,
    ready: bool,
}

impl Follow {
    /// `is_certain`: if the first is no sound pickle, that is a fault.
    pub(super) fn new(part: Part, is_certain: bool) -> Self {
        let span = part.bytes.span;
        Follow {
            scan: machine(&part, span.offset),
            part,
            start: span.offset,
            done: 0,
            wanted: None,
            item: None,
            imports: Imports::default(),
            fault: None,
            is_tentative: !is_certain,
            known: None,
            ready: false,
        }
    }

    /// The pickles of a part that is one, the first of which may be known.
    pub(super) fn knowing(part: Part, known: Option<Followed>) -> Self {
        Follow { known, ..Follow::new(part, true) }
    }

    /// Follows them to the last. Returns how many bytes that took.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(super) fn step(
        &mut self,
        file: &Source<'_>,
        memory: &mut Memory,
        criteria: &Criteria,
        results: &mut Results,
        most: u64,
    ) -> Result<u64, Absent> {
        let span = self.part.bytes.span;
        if !self.ready {
            let head = self.part.bytes.get(file, 0, span.len.min(64))?;
            let has = |magic: &[u8]| head.windows(magic.len()).any(|here| here == magic);
            if has(MAGIC) || has(MAGIC_TEXT) {
                self.wanted = Some(LEGACY);
            }
            self.ready = true;
        }
        let end = span.end().unwrap_or(u64::MAX);
        loop {
            let ended = self.one(file, memory, criteria)?;
            let is_sound = matches!(ended, PickleEnd::Stopped(_));
            // A line may have been searched for its end before the fault.
            let searched = if is_sound { 0 } else { span.len.min(limits::PICKLE_LINE) };
            let position = match ended {
                PickleEnd::Stopped(at) => at,
                _ => self.scan.position(),
            };
            let spent = position.saturating_sub(span.offset).saturating_add(searched);
            let Some(at) = self.settle(ended, results) else { return Ok(spent) };
            let next = match self.part.sequence {
                Sequence::Plain if self.wanted.is_some_and(|wanted| self.done >= wanted) => None,
                Sequence::Plain => {
                    self.is_tentative |= self.wanted.is_none();
                    Some(at)
                }
                sequence => self.after(sequence, file, at)?,
            };
            let Some(next) = next.filter(|next| *next < end) else { return Ok(spent) };
            if spent > most {
                results.left(
                    &self.part,
                    next,
                    "they share more bytes than a file of this size has",
                );
                return Ok(spent);
            }
            self.scan = machine(&self.part, next);
            self.start = next;
            self.imports = Imports::default();
        }
    }

    /// Follows one pickle to its end.
    fn one(
        &mut self,
        file: &Source<'_>,
        memory: &mut Memory,
        criteria: &Criteria,
    ) -> Result<PickleEnd, Absent> {
        if let Some(known) = self.known.take() {
            self.imports = known.imports;
            return Ok(PickleEnd::Stopped(known.end));
        }
        let Follow { part, scan, start, imports, fault, item, .. } = self;
        let source = part.bytes.source(file);
        if scan.position() == *start && scan.operations() == 0 {
            memory.clear();
        }
        loop {
            let ended = scan.step(&source, memory.room(), &mut |event| match event {
                PickleEvent::Fault { at, fault: what } => {
                    fault.get_or_insert_with(|| (at, what.to_string()));
                }
                event => {
                    if let PickleEvent::Import(import) = &event {
                        *item = size_of_item(import.name.as_str()).or(*item);
                    }
                    imports.event(&event, 0, criteria);
                }
            });
            match ended {
                Ok(end) => return Ok(end),
                Err(stop) => memory.make(stop)?,
            }
        }
    }

    /// Reports what the last pickle had, and returns where the next may begin.
    fn settle(&mut self, ended: PickleEnd, results: &mut Results) -> Option<u64> {
        let imports = core::mem::take(&mut self.imports);
        let fault = self.fault.take();
        let stopped = match ended {
            PickleEnd::Stopped(at) => Some(at),
            _ => None,
        };
        if self.is_tentative && stopped.is_none() && !imports.is_plausible {
            return None;
        }
        let end = self.part.bytes.span.end().unwrap_or(u64::MAX);
        results.count(&self.part, self.start, stopped.unwrap_or(end));
        self.done += 1;
        let (is_joblib, is_cut) = (imports.is_joblib, self.part.is_cut);
        results.imports(&self.part, imports);
        match (ended, fault) {
            (_, Some((at, _))) if is_joblib => {
                results.left(&self.part, at, "joblib stores arrays between the operations");
            }
            (_, Some((at, _))) if is_cut => {
                results.left(&self.part, at, "the rest of its compressed data was not decoded");
            }
            (_, Some((at, _))) if self.part.is_encrypted => {
                results.left(&self.part, at, "it is encrypted");
            }
            (_, Some((at, what))) => results.fault(&self.part, at, &what),
            (PickleEnd::Unchecked(at), None) => {
                results.left(&self.part, at, "it takes more memory than this reader gives");
            }
            _ => {}
        }
        stopped
    }

    /// Where the next pickle begins after the data that follows one in a file of torch 0.1.
    fn after(
        &mut self,
        sequence: Sequence,
        file: &Source<'_>,
        at: u64,
    ) -> Result<Option<u64>, Absent> {
        // The first pickle is the number of the others.
        if self.done == 1 {
            return Ok(Some(at));
        }
        let from = at.saturating_sub(self.part.bytes.span.offset);
        let left = self.part.bytes.len().saturating_sub(from);
        let number = |bytes: &[u8], len: usize| {
            bytes.iter().take(len).rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte))
        };
        self.is_tentative = true;
        let len = match (sequence, self.item) {
            (Sequence::Storages, Some(item)) if left >= 8 => {
                let count = number(self.part.bytes.get(file, from, 8)?, 8);
                count.checked_mul(item).and_then(|len| len.checked_add(8))
            }
            (Sequence::Tensors, _) if left >= 8 => {
                let rank = number(self.part.bytes.get(file, from, 8)?, 4);
                rank.checked_mul(16).and_then(|len| len.checked_add(16))
            }
            _ => None,
        };
        let len = len.filter(|len| *len <= left);
        // The list of views, at the end, may come at once.
        Ok(Some(at.saturating_add(len.unwrap_or(0))))
    }

    pub(super) fn part(&self) -> &Part {
        &self.part
    }
}

fn machine(part: &Part, at: u64) -> PickleScan {
    let end = part.bytes.span.end().unwrap_or(u64::MAX);
    let scan = PickleScan::of(Span::between(at, end));
    if part.in_array { scan.in_array() } else { scan }
}

/// The bytes of an element of a class of storages.
fn size_of_item(class: &str) -> Option<u64> {
    Some(match class {
        "DoubleStorage" | "LongStorage" => 8,
        "FloatStorage" | "IntStorage" => 4,
        "HalfStorage" | "ShortStorage" => 2,
        "CharStorage" | "ByteStorage" => 1,
        _ => return None,
    })
}
