//! The index while it is being made.

use crate::base::hash::hash;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::{
    Flaw, Indices, Item, Pair, Storage, Summary, WORDS,
};
use weighbridge_core::format::pytorch::{FLAWS, rules};
use weighbridge_core::{Rule, Span, limits};

/// No storage, and no tensor.
pub(super) const NONE: u64 = u64::MAX;

/// A storage as the pickle names it.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) key: Arc<[u8]>,
    /// It lies where the code of a program looks for tensors; the key has the folder.
    pub(super) is_constant: bool,
    /// The number of the type of its elements; `None` if it counts bytes of any type.
    pub(super) class: Option<u64>,
    /// Its number of elements, and of bytes.
    pub(super) count: u64,
    pub(super) size: u64,
    /// The offset of the operation that names it.
    pub(super) at: u64,
}

/// The place of a tensor whose parts come after it.
#[derive(Clone, Copy)]
pub(super) struct Open {
    pub(super) number: u64,
    flaws: usize,
    indices: usize,
}

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) items: Vec<Item>,
    pub(super) pairs: Vec<Pair>,
    pub(super) flaws: Vec<Flaw>,
    pub(super) indices: Vec<Indices>,
    pub(super) storages: Vec<Named>,
    keys: BTreeMap<(bool, Arc<[u8]>), usize>,
    /// Names, texts and numbers.
    heap: Vec<u8>,
    /// Entries were left out.
    is_full: bool,
}

impl Draft {
    /// Keeps bytes, and returns where they are.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> u64 {
        let at = self.heap.len() as u64;
        self.heap.extend_from_slice(bytes);
        at
    }

    /// Keeps a path and which of its bytes are dots between keys, and returns where it is.
    pub(super) fn path(&mut self, path: &[u8], dots: &[usize]) -> u64 {
        let at = self.keep(path);
        let bits = self.heap.len();
        self.heap.resize(bits + path.len().div_ceil(8), 0);
        for dot in dots.iter().filter(|dot| **dot < path.len()) {
            self.heap[bits + dot / 8] |= 1 << (dot % 8);
        }
        at
    }

    /// Keeps numbers, and returns where they are.
    pub(super) fn numbers(&mut self, numbers: impl Iterator<Item = u64>) -> u64 {
        let at = self.heap.len() as u64;
        numbers.for_each(|number| self.heap.extend_from_slice(&number.to_le_bytes()));
        at
    }

    /// One of the numbers kept at `at`; 0 past the end.
    pub(super) fn number(&self, at: u64, index: u64) -> u64 {
        let from = index.checked_mul(8).and_then(|skip| skip.checked_add(at));
        let from = from.and_then(|from| usize::try_from(from).ok());
        let bytes = from.and_then(|from| self.heap.get(from..)).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Keeps the key of a storage, and returns where it is and its length.
    pub(super) fn key(&mut self, number: usize) -> (u64, u64) {
        let at = self.heap.len() as u64;
        let key = self.storages.get(number).map_or(&[][..], |named| &*named.key);
        self.heap.extend_from_slice(key);
        (at, key.len() as u64)
    }

    /// Opens a place for a tensor.
    pub(super) fn open(&mut self) -> Open {
        let number = self.items.len() as u64;
        self.items.push(Item::default());
        Open { number, flaws: self.flaws.len(), indices: self.indices.len() }
    }

    /// Fills a place, or takes it away if its parts stand for the tensor.
    pub(super) fn close(&mut self, place: Open, item: Option<Item>) {
        let Ok(at) = usize::try_from(place.number) else { return };
        match (item, self.items.get_mut(at)) {
            (Some(item), Some(to)) => *to = item,
            (None, Some(_)) => {
                self.items.remove(at);
                let later = self.flaws.get_mut(place.flaws..).unwrap_or_default();
                for flaw in later.iter_mut().filter(|it| it.tensor != NONE) {
                    flaw.tensor -= u64::from(flaw.tensor > place.number);
                }
                for indices in self.indices.get_mut(place.indices..).unwrap_or_default() {
                    indices.tensor -= u64::from(indices.tensor > place.number);
                }
            }
            _ => {}
        }
    }

    /// Reports tensors whose paths are written alike.
    pub(super) fn compare_names(&mut self) {
        let Draft { items, heap, .. } = self;
        let name = |item: &Item| {
            let from = usize::try_from(item.name).unwrap_or(usize::MAX);
            heap.get(from..).and_then(|rest| rest.get(..usize::try_from(item.name_len).ok()?))
        };
        let mut seen = BTreeMap::new();
        let mut found = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let name = name(item);
            let key = (name.map(hash), name);
            let first = *seen.entry(key).or_insert(number);
            if first != number {
                found.push((first as u64, number as u64, Span::new(item.at, item.at_len)));
            }
        }
        for (first, number, span) in found {
            self.flaw(rules::T_DUPLICATE, span, Some(number)).expected = first;
        }
    }

    /// Whether another entry may be added.
    pub(super) fn has_room(&mut self) -> bool {
        let count = self.items.len() + self.pairs.len();
        self.is_full |= count >= limits::CHECKPOINT_ENTRIES;
        !self.is_full
    }

    /// Takes no more entries.
    pub(super) fn fill(&mut self) {
        self.is_full = true;
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Notes a fault at `span` of the file.
    pub(super) fn flaw(&mut self, rule: Rule, span: Span, tensor: Option<u64>) -> &mut Flaw {
        let number = FLAWS.iter().position(|it| *it == rule).unwrap_or(FLAWS.len()) as u64;
        let tensor = tensor.unwrap_or(NONE);
        let Span { offset: at, len } = span;
        self.flaws.push(Flaw { rule: number, at, len, expected: 0, found: 0, tensor });
        let last = self.flaws.len() - 1;
        &mut self.flaws[last]
    }

    /// The number of the storage with this key, which is added at its first mention.
    pub(super) fn storage(&mut self, new: Named) -> (usize, bool) {
        let next = self.storages.len();
        let number = *self.keys.entry((new.is_constant, new.key.clone())).or_insert(next);
        match self.storages.get_mut(number) {
            None => {
                self.storages.push(new);
                (number, true)
            }
            Some(known) => {
                let fits = known.size == new.size
                    && (known.class == new.class || known.class.is_none() || new.class.is_none());
                known.class = known.class.or(new.class);
                (number, fits)
            }
        }
    }

    /// The number of the storage with this key.
    pub(super) fn storage_of(&self, key: &[u8]) -> Option<usize> {
        self.keys.get(&(false, key.into())).copied()
    }

    /// The index, with the storages as they were found in the file.
    pub(super) fn encode(mut self, mut summary: Summary, storages: &[Storage]) -> Vec<u8> {
        summary.magic = Summary::MAGIC;
        summary.storages = storages.len() as u64;
        summary.tensors = self.items.len() as u64;
        summary.pairs = self.pairs.len() as u64;
        summary.flaws = self.flaws.len() as u64;
        summary.indices = self.indices.len() as u64;
        let words = WORDS.concat();
        let heap = words.len() as u64
            + Summary::LEN
            + summary.storages * Storage::LEN
            + summary.tensors * Item::LEN
            + summary.pairs * Pair::LEN
            + summary.flaws * Flaw::LEN
            + summary.indices * Indices::LEN;
        summary.len = heap + self.heap.len() as u64;
        let mut tensors = alloc::vec![0_u64; storages.len()];
        let place = |item: &Item| usize::try_from(item.storage).unwrap_or(usize::MAX);
        for item in &self.items {
            if let Some(count) = tensors.get_mut(place(item)) {
                *count += 1;
            }
        }
        for item in &mut self.items {
            if tensors.get(place(item)).is_some_and(|count| *count > 1) {
                item.marks |= Item::SHARED;
            }
            item.name += heap;
            item.dims += heap;
            item.quantiser += heap;
        }
        for pair in &mut self.pairs {
            pair.key += heap;
            pair.value += heap;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(summary.len).unwrap_or(0));
        let mut put = |word: [u8; 8]| bytes.extend_from_slice(&word);
        summary.write(&mut put);
        for it in storages {
            Storage { key: it.key + heap, ..*it }.write(&mut put);
        }
        self.items.iter().for_each(|it| it.write(&mut put));
        self.pairs.iter().for_each(|it| it.write(&mut put));
        self.flaws.iter().for_each(|it| it.write(&mut put));
        for it in &self.indices {
            let bound = it.bound + if it.rule == Indices::BELOW { heap } else { 0 };
            Indices { bound, ..*it }.write(&mut put);
        }
        bytes.extend_from_slice(words.as_bytes());
        bytes.extend_from_slice(&self.heap);
        bytes
    }
}
