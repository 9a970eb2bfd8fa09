//! What lies where in the file.

use crate::sort;
use crate::words::Words;
use alloc::vec::Vec;
use weighbridge::FileMap;
use weighbridge_core::{EntryKind, Part, Region};

/// The parts of a file.
#[derive(Debug, Default)]
pub struct Layout {
    regions: Vec<Region>,
    /// In file order, once they are all known.
    pub map: FileMap,
}

impl Layout {
    /// Takes note of a region.
    pub fn push(&mut self, region: Region) {
        if self.regions.len() < FileMap::MOST && !region.span.is_empty() {
            self.regions.push(region);
        }
    }

    /// Puts the regions of a file of `len` bytes in order.
    pub fn settle(&mut self, len: u64) {
        let regions = core::mem::take(&mut self.regions);
        let key = |i: u32| regions.get(i as usize).map(|region| region.span);
        let order = sort::sorted(regions.len(), &mut |a, b| key(a) < key(b));
        self.map = FileMap::of(order.iter().filter_map(|i| regions.get(*i as usize)), len);
    }
}

/// What an area is called.
pub fn part_word(part: Option<Part>, words: &mut Words) -> u16 {
    words.code(part.map_or("gap", Part::name))
}

/// What a kind of entry is called.
pub fn kind_word(kind: EntryKind, words: &mut Words) -> u16 {
    words.code(match kind {
        EntryKind::Tensor => "tensor",
        EntryKind::Metadata => "metadata",
        EntryKind::SizeVar => "sizevar",
        EntryKind::Attribute => "attribute",
        _ => "file",
    })
}
