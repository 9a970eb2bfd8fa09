//! Indices of checkpoints as a host never makes them: the core trusts none.

use std::vec::Vec;
use weighbridge_core::format::pytorch::index::{BASE, Item, Storage, Summary, WORDS};
use weighbridge_core::{Audit, Format, Opening, Slot, Source, Stop, Window};

/// Most steps of an audit of such an index.
const STEPS: usize = 1 << 16;

/// The file that the index is of; of the older form, all of it may be storages.
const FILE: [u8; 1 << 10] = [1; 1 << 10];

/// Reads a file with these bytes as its index.
///
/// # Panics
/// If an audit does not end, or a tensor lies outside the file.
pub fn index(input: &[u8]) {
    let windows = [Window { offset: 0, bytes: &FILE }, Window { offset: BASE, bytes: input }];
    let len = FILE.len() as u64;
    let source = Source::windows(len, &windows);
    let Ok(opened) = Opening::of(Some(Format::PyTorch)).step(&source, &mut |_| {}) else { return };
    let mut cursor = Default::default();
    for _ in 0..STEPS {
        match opened.next_tensor(&source, &mut cursor, &mut |_| {}) {
            Ok(Some(entry)) => {
                let span = entry.tensor.raw().unwrap_or_default();
                assert!(span.end().is_some_and(|end| end <= len), "{span:?}");
            }
            _ => break,
        }
    }
    let mut audit = Audit::new(opened).structure_only();
    let mut slots = Vec::new();
    for _ in 0..STEPS {
        match audit.step(&source, &mut slots, &mut |_| {}) {
            Err(Stop::NeedSlots { needed }) if needed < 1 << 16 => {
                slots.resize(needed as usize, Slot::EMPTY);
            }
            _ => return,
        }
    }
    panic!("the audit never ends");
}

/// An index of one tensor, and the same with each of its numbers in turn too large.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut put = |word: [u8; 8]| bytes.extend(word);
    let words = WORDS.concat();
    let tables = Summary::LEN + Storage::LEN + Item::LEN;
    let names = tables + words.len() as u64;
    let summary = Summary {
        magic: Summary::MAGIC,
        kind: 1,
        pickles_end: 500,
        storages: 1,
        tensors: 1,
        len: names + 17,
        ..Summary::default()
    };
    summary.write(&mut put);
    let storage =
        Storage { offset: 600, stored: 24, size: 24, stated: 24, start: 592, ..Storage::default() };
    storage.write(&mut put);
    let item = Item { name: names, name_len: 1, dims: names + 1, rank: 1, ..Item::default() };
    item.write(&mut put);
    bytes.extend(words.as_bytes());
    bytes.push(b'w');
    bytes.extend(6_u64.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    let mut seeds = Vec::from([("one-tensor".to_owned(), bytes.clone())]);
    for at in (0..tables as usize).step_by(8) {
        let mut changed = bytes.clone();
        changed[at..at + 8].fill(0xFF);
        seeds.push((format!("number-at-{at}"), changed));
    }
    seeds
}
