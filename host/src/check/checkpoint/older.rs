//! Checkpoints of torch 0.2 to 1.5: five pickles, then the storages in the order of a list of keys.

use super::draft::Draft;
use super::object::{Form, Place, Walk};
use super::records::operations;
use super::values::{Id, Value, Values};
use crate::check::scan::follow::{LEGACY, MAGIC};
use crate::check::scan::memory::Memory;
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::{Storage, Summary};
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::pickle::{PickleEnd, PickleScan};
use weighbridge_core::{Absent, Source, Span, limits};

/// The protocol in the second.
const PROTOCOL: i64 = 1001;
/// The number of pickles, and the positions of the object and of the list of keys.
const PICKLES: usize = LEGACY as usize;
const OBJECT: usize = 3;
const KEYS: usize = 4;

/// Whether a file that begins with these bytes is of this form.
pub(super) fn begins(head: &[u8]) -> bool {
    let [0x80, 2..=5, rest @ ..] = head else { return false };
    // From protocol 4 on, a frame comes first.
    let framed = rest.strip_prefix(b"\x95").and_then(|rest| rest.get(8..));
    framed.unwrap_or(rest).starts_with(MAGIC)
}

/// A checkpoint of this form, while its index is made.
#[derive(Debug, Default)]
pub(crate) struct Older {
    /// Where the pickles end that were followed so far.
    ends: Vec<u64>,
    scan: Option<PickleScan>,
    memory: Memory,
    draft: Option<Draft>,
    /// The storages in the order of the file, by their numbers in the draft.
    order: Vec<usize>,
    /// The storages found, each with its number, and where the next begins.
    found: Vec<(usize, Storage)>,
    next: u64,
}

impl Older {
    pub(super) fn step(&mut self, file: &Source<'_>) -> Result<Option<Vec<u8>>, Absent> {
        while self.ends.len() < PICKLES {
            match self.follow(file)? {
                Some(true) => {}
                Some(false) => return Ok(self.cut(file.len())),
                None => return Ok(None),
            }
        }
        if self.draft.is_none() && !self.object(file)? {
            return Ok(None);
        }
        self.storages(file)?;
        Ok(self.finish(file.len()))
    }

    /// The index of a file that ends before the object.
    fn cut(&mut self, len: u64) -> Option<Vec<u8>> {
        let mut draft = Draft::default();
        let at = self.ends.last().copied().unwrap_or(0).min(len);
        draft.flaw(rules::P_EMPTY, Span::new(at, len - at), None);
        Some(draft.encode(Summary { kind: 1, pickles_end: len, ..Summary::default() }, &[]))
    }

    /// Finds the end of the next pickle; false if it is broken, `None` if it takes too much memory.
    fn follow(&mut self, file: &Source<'_>) -> Result<Option<bool>, Absent> {
        let from = self.ends.last().copied().unwrap_or(0);
        let scan = self.scan.get_or_insert_with(|| {
            self.memory.clear();
            PickleScan::of(Span::between(from, file.len()))
        });
        loop {
            match scan.step(file, self.memory.room(), &mut |_| {}) {
                Ok(PickleEnd::Stopped(end)) => {
                    self.ends.push(end);
                    self.scan = None;
                    return Ok((end <= limits::PICKLE_DECODED).then_some(true));
                }
                Ok(PickleEnd::Broken(_)) => return Ok(Some(false)),
                Ok(_) => return Ok(None),
                Err(stop) => self.memory.make(stop)?,
            }
        }
    }

    /// Follows the pickles again and builds what they describe; false if that is too much.
    fn object(&mut self, file: &Source<'_>) -> Result<bool, Absent> {
        let end = self.ends.last().copied().unwrap_or(0);
        let bytes = file.get(Span::new(0, end))?;
        let mut starts = [0; PICKLES];
        for (to, end) in starts.iter_mut().skip(1).zip(&self.ends) {
            *to = *end;
        }
        let pickles: Option<Vec<Values>> =
            starts.iter().map(|from| Values::of(bytes, *from, &mut |_| {})).collect();
        let Some(pickles) = pickles else { return Ok(false) };
        let place = Place { at: 0, is_deflated: false };
        let mut draft = Walk::new(&pickles[OBJECT], bytes, place, Form::Older).run();
        draft.compare_names();
        pickles.iter().for_each(|values| operations(&mut draft, values, place));
        system(&mut draft, &pickles, bytes, place);
        let keys = Walk::new(&pickles[KEYS], bytes, place, Form::Older);
        let items: &[Id] = match pickles[KEYS].root().map(|root| pickles[KEYS].get(root)) {
            Some(Value::List(items)) => items,
            _ => {
                draft.flaw(rules::L_KEYS, place.of(starts[KEYS]), None);
                &[]
            }
        };
        let mut named = alloc::vec![false; draft.storages.len()];
        for id in items {
            let number = keys.text(*id).and_then(|key| draft.storage_of(key));
            let new = number.filter(|number| !core::mem::replace(&mut named[*number], true));
            match new {
                Some(number) => self.order.push(number),
                // What lies there has an unknown length.
                None => {
                    draft.flaw(rules::L_KEYS, place.of(pickles[KEYS].place(*id)), None);
                    break;
                }
            }
        }
        if let Some(number) = named.iter().position(|is_named| !is_named) {
            let at = draft.storages[number].at;
            draft.flaw(rules::L_KEYS, Span::new(at, 1), None);
        }
        (self.draft, self.next) = (Some(draft), end);
        Ok(true)
    }

    /// Finds the storages, each after its number of elements.
    fn storages(&mut self, file: &Source<'_>) -> Result<(), Absent> {
        let Some(draft) = self.draft.as_mut() else { return Ok(()) };
        while let Some(number) = self.order.get(self.found.len()).copied() {
            let (size, count, at) = {
                let named = &draft.storages[number];
                (named.size, named.count, named.at)
            };
            let start = self.next;
            let offset = start.saturating_add(8);
            let stated = match offset <= file.len() {
                true => file.get(Span::new(start, 8))?.first_chunk().copied(),
                false => None,
            };
            let stated = stated.map(u64::from_le_bytes);
            if stated != Some(count) {
                let from = start.min(file.len());
                let span = Span::new(from, (file.len() - from).min(8));
                let flaw = draft.flaw(rules::L_COUNT, span, None);
                (flaw.expected, flaw.found) = (count, stated.unwrap_or(0));
            }
            let left = file.len().saturating_sub(offset);
            let (key, key_len) = draft.key(number);
            let storage = Storage {
                key,
                key_len,
                offset: offset.min(file.len()),
                stored: size.min(left),
                size: if stated == Some(count) { size.min(left) } else { 0 },
                stated: size,
                start: start.min(file.len()),
                at,
                ..Storage::default()
            };
            self.found.push((number, storage));
            self.next = offset.saturating_add(size);
        }
        Ok(())
    }

    /// The storages in the order of the file, and the tensors that refer to them.
    fn finish(&mut self, len: u64) -> Option<Vec<u8>> {
        let mut draft = self.draft.take()?;
        let mut places = alloc::vec![usize::MAX; draft.storages.len()];
        for (place, (number, _)) in self.found.iter().enumerate() {
            places[*number] = place;
        }
        let mut storages: Vec<Storage> = self.found.iter().map(|(_, storage)| *storage).collect();
        // One that the list lacks has no data.
        for (number, place) in places.iter_mut().enumerate().filter(|(_, it)| **it == usize::MAX) {
            *place = storages.len();
            let (key, key_len) = draft.key(number);
            let named = &draft.storages[number];
            let (offset, stated, at) = (self.next.min(len), named.size, named.at);
            let start = offset;
            storages.push(Storage {
                offset,
                start,
                stated,
                at,
                key,
                key_len,
                ..Storage::default()
            });
        }
        for item in &mut draft.items {
            let place = usize::try_from(item.storage).ok().and_then(|at| places.get(at));
            item.storage = place.map_or(item.storage, |place| *place as u64);
        }
        for indices in &mut draft.indices {
            let place = usize::try_from(indices.storage).ok().and_then(|at| places.get(at));
            indices.storage = place.map_or(indices.storage, |place| *place as u64);
        }
        let pickles_end = self.ends.last().copied().unwrap_or(0);
        let summary = Summary { kind: 1, pickles_end, ..Summary::default() };
        Some(draft.encode(summary, &storages))
    }
}

/// Checks the three pickles before the object.
fn system(draft: &mut Draft, pickles: &[Values], bytes: &[u8], place: Place) {
    let [magic, protocol, system, ..] = pickles else { return };
    let root = |values: &Values| values.root().unwrap_or(Id::MAX);
    let fits = [
        matches!(magic.get(root(magic)), Value::Long),
        matches!(protocol.get(root(protocol)), Value::Int(PROTOCOL)),
    ];
    for (fits, values) in fits.iter().zip([magic, protocol]) {
        if !fits {
            draft.flaw(rules::L_MAGIC, place.of(values.place(root(values))), None);
        }
    }
    let walk = Walk::new(system, bytes, place, Form::Older);
    let Value::Dict(pairs) = system.get(root(system)) else { return };
    for (key, value) in pairs {
        let is_order = walk.text(*key) == Some(b"little_endian");
        if is_order && !matches!(system.get(*value), Value::Bool(true)) {
            draft.flaw(rules::L_ORDER, place.of(system.place(*value)), None);
        }
    }
}
