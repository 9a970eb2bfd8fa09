//! Skips data items with their content.
//!
//! Open arrays and maps share one stack of small cells with the keys that are kept for
//! comparison. The innermost level is not on it: the keys of that level are on top.

use super::cbor::{OPEN, Pull, odd};
use super::keys::state;
use crate::base::cbor::{Head, major};
use crate::base::features::WINDOWS;
use crate::base::limits::{CBOR_DEPTH, CBOR_KEYS};
use crate::base::word::Cell;
use crate::base::{Word, word};

/// Number of cells, of which a level takes one, another if several of its keys are kept, and
/// another if its number of items takes more than [`BITS`].
const CELLS: usize = CBOR_DEPTH + CBOR_KEYS + if WINDOWS { 2 * CBOR_DEPTH } else { 24 };
/// Number of those others, from which on the keys of maps are given up. Hosts have room for all.
const CROWDED: usize = CELLS - CBOR_DEPTH - CBOR_KEYS - 1;

/// What lies below a cell of a level: its highest bits.
mod below {
    /// Nothing; the level is an array, or a map whose keys are not compared.
    pub(super) const NOTHING: Word = 0;
    /// The only key of a map.
    pub(super) const KEY: Word = 1;
    /// The state of the keys of a map.
    pub(super) const STATE: Word = 2;
    /// The lower bits of the number of items.
    pub(super) const LOWER: Word = 3;

    use super::Word;
}

/// Number of the other bits of a cell.
const BITS: u32 = Cell::BITS - 2;

/// Replaces the number of items if a break ends an array; or a map, before a key and before a
/// value. As in other maps, the number is even before a key.
const ARRAY: Word = Word::MAX;
const MAP: Word = ARRAY - 1;
const MAP_VALUE: Word = MAP - 1;

/// The open arrays and maps, and the kept keys of all open maps.
#[derive(Debug)]
// The largest field is last, so that instructions reach the others without an address.
#[repr(C)]
pub(super) struct Levels<'a> {
    /// Offset of the first data item.
    pub(super) at: Word,
    /// The bytes from there on.
    pub(super) run: &'a [u8],
    /// State of the keys of a new map; 0 if keys are not compared.
    new: Cell,
    /// Number of data items left on the innermost level.
    left: Word,
    /// State of the keys on the innermost level; 0 if it is an array.
    pub(super) keys: Cell,
    pub(super) used: usize,
    /// Number of used cells that are not keys.
    others: usize,
    pub(super) cells: [Cell; CELLS],
}

impl<'a> Levels<'a> {
    /// Returns the level of a map whose first key is at `at`, where the bytes `run` begin. Keys are
    /// compared only if `compared`.
    pub(super) fn new(at: Word, run: &'a [u8], compared: bool) -> Self {
        let new = if compared { state::NEW } else { 0 };
        Levels { run, at, new, left: 0, keys: new, cells: [0; CELLS], used: 0, others: 0 }
    }

    /// Opens an array or a map on top; returns whether there was room.
    fn open(&mut self, left: Word, map: bool) -> bool {
        let before = self.used;
        let mut below = match self.keys {
            0 => below::NOTHING,
            state::ONE => below::KEY,
            keys => {
                self.push(keys);
                below::STATE
            }
        };
        // Of the replacements, each fits a cell.
        let mut number = self.left.wrapping_sub(MAP_VALUE);
        let fits = loop {
            let low = number & ((1 << BITS) - 1);
            let fits = self.push(Cell::try_from(below << BITS | low).unwrap_or(0));
            number >>= BITS;
            below = below::LOWER;
            if number == 0 {
                break fits;
            }
        };
        self.others = self.others.wrapping_add(self.used.wrapping_sub(before));
        self.left = left;
        self.keys = if map { self.new } else { 0 };
        fits
    }

    /// Whether there is no room for the state of the keys, on level `depth`.
    fn is_crowded(&self, depth: usize) -> bool {
        self.keys != 0 && self.keys != state::ONE && self.others >= depth.wrapping_add(CROWDED)
    }

    /// Closes the innermost level.
    fn close(&mut self) {
        self.drop_keys();
        let before = self.used;
        let mut number = 0;
        let below = loop {
            let cell = Word::from(self.pop());
            number = number << BITS | cell & ((1 << BITS) - 1);
            if cell >> BITS != below::LOWER {
                break cell >> BITS;
            }
        };
        self.keys = match below {
            below::NOTHING => 0,
            below::KEY => state::ONE,
            _ => self.pop(),
        };
        self.others = self.others.wrapping_sub(before.wrapping_sub(self.used));
        self.left = number.wrapping_add(MAP_VALUE);
    }

    /// Number of keys that are kept.
    pub(super) fn kept(&self) -> usize {
        self.used.wrapping_sub(self.others)
    }

    /// Pushes a cell; returns whether there was room.
    #[inline(never)]
    pub(super) fn push(&mut self, cell: Cell) -> bool {
        let Some(top) = self.cells.get_mut(self.used) else { return false };
        *top = cell;
        self.used = self.used.wrapping_add(1);
        true
    }

    /// Pops a cell.
    #[inline(never)]
    pub(super) fn pop(&mut self) -> Cell {
        self.used = self.used.wrapping_sub(1);
        self.cells.get(self.used).copied().unwrap_or(0)
    }
}

impl<'a> Pull<'_, '_, 'a> {
    /// Skips the rest of the current item, on level `depth`.
    pub(super) fn skip(&mut self, depth: usize) {
        if self.head.is_container() {
            self.skip_nested(depth, &mut Levels::new(0, &[], false));
        } else {
            self.skip_leaf();
        }
    }

    /// Does the same, and compares the keys of maps in `levels`.
    pub(super) fn skip_with(&mut self, depth: usize, levels: &mut Levels<'a>) {
        if self.head.is_container() {
            self.skip_nested(depth, levels);
        } else {
            self.skip_leaf();
        }
    }

    #[inline]
    fn skip_leaf(&mut self) {
        let Head { info, argument, .. } = self.head;
        if self.head.is_string() {
            self.string();
        } else if self.head.major == major::OTHER && self.custom {
            let usual = matches!(info, 20..=22 | 25..=27);
            let malformed = info == 24 && argument < 32;
            if !usual && !malformed {
                self.note(odd::CUSTOM_SIMPLE, self.head_at);
            }
        }
    }

    #[inline(never)]
    fn skip_nested(&mut self, depth: usize, levels: &mut Levels<'a>) {
        let mut level = depth;
        loop {
            if self.head.is_container() {
                let map = self.head.major == major::MAP;
                let left = self.open();
                if levels.is_crowded(level) {
                    self.note(odd::KEYS, self.start);
                    levels.give_up();
                }
                if !levels.open(left, map) {
                    self.too_deep();
                }
                level = level.wrapping_add(1);
            } else {
                self.skip_leaf();
            }
            loop {
                if level == depth {
                    return;
                }
                let left = levels.left;
                if left > 0 {
                    let is_key = left & 1 == 0;
                    if !is_key {
                        levels.end_key(&mut self.seen);
                    }
                    levels.left = match left {
                        ARRAY => ARRAY,
                        MAP_VALUE => MAP,
                        _ => left.wrapping_sub(1),
                    };
                    self.item(level, left >= MAP);
                    if !self.head.is_break() {
                        if is_key {
                            levels.start_key(self.start, &mut self.seen);
                        }
                        break;
                    }
                }
                levels.close();
                level = level.wrapping_sub(1);
            }
        }
    }

    /// Number of items in the current array or map, or its replacement.
    #[inline]
    fn open(&mut self) -> Word {
        let map = self.head.major == major::MAP;
        let left = self.count_resident();
        if left != OPEN {
            return word(left.into());
        }
        self.note(odd::INDEFINITE, self.head_at);
        if map { MAP } else { ARRAY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::MappedAudit;
    use crate::file::{File, Slot};
    use crate::input::Source;
    use std::vec::Vec;

    /// The findings in a file whose only tensor has a custom field with this value: rules, and
    /// offsets from the value's start.
    fn findings(value: &[u8]) -> Vec<(&'static str, u64)> {
        let mut bytes = b"ZTEN0001".to_vec();
        bytes.resize(68, 0);
        let index = bytes.len();
        bytes.extend(b"\x81\xBF\x64name\x61w\x66offset\x18\x40\x64size\x04\x65dtype\x67float32");
        bytes.extend(b"\x66layout\x65dense\x65shape\x81\x01\x68encoding\x63raw");
        bytes.extend(b"\x6Fdata_endianness\x66little\x61x");
        let start = bytes.len() as u64;
        bytes.extend(value);
        bytes.push(0xFF);
        bytes.extend((bytes.len() as u64 - index as u64).to_le_bytes());
        let source = Source::whole(&bytes);
        let mut found = Vec::new();
        let mut sink = |f: crate::rule::Finding| found.push((f.rule.id(), f.offset - start));
        let file = File::open(&source, &mut sink).unwrap();
        let _ = MappedAudit::new(file).step(&source, &mut [Slot::EMPTY; 8], &mut sink);
        found
    }

    /// `count` items that begin with `head` and end with `tail`, one inside the other, around
    /// `innermost`.
    fn nested(count: usize, head: &[u8], innermost: &[u8], tail: &[u8]) -> Vec<u8> {
        [&head.repeat(count), innermost, &tail.repeat(count)].concat()
    }

    /// The rules of `findings` on hosts and in mapped flash.
    fn assert_found(value: &[u8], on_hosts: &[&str], in_flash: &[&str]) {
        let found: Vec<_> = findings(value).iter().map(|found| found.0).collect();
        assert_eq!(found, if WINDOWS { on_hosts } else { in_flash });
    }

    const TWICE: &str = "CBOR-KEY-DUPLICATE";
    const KEYS: &str = "CBOR-KEYS";

    /// Number of open maps with several keys that are compared in mapped flash.
    const MAPS: usize = 23;

    #[test]
    fn keys_of_many_open_maps() {
        // Of each map, the first key follows again after a value that is a map.
        let again = |count| nested(count, b"\xA3\x00\x00\x01", b"\x00", b"\x00\x00");
        let at = |count: usize| 4 * count as u64 + 1;
        assert_eq!(findings(&again(1)), [(TWICE, at(1))]);
        assert_eq!(findings(&again(MAPS)), [(TWICE, at(MAPS))]);
        assert_found(&again(60), &[TWICE], &[TWICE, KEYS]);
        // The keys of the outermost map are compared, those of a map between others are not.
        let others = nested(30, b"\xA2\x00\x00\x01", b"\x00", b"");
        let between = nested(1, b"\xA3\x00\x00\x01", &others, b"\x00\x00");
        assert_found(&between, &[TWICE], &[TWICE, KEYS]);
        let between = nested(30, b"\xA2\x00\x00\x01", &between, b"");
        assert_found(&between, &[TWICE], &[KEYS]);
        // A map with one key takes no room.
        let single = nested(60, b"\xA1\x00", &again(MAPS), b"");
        assert_eq!(findings(&single), [(TWICE, 120 + at(MAPS))]);
    }

    #[test]
    fn maps_in_keys() {
        let in_keys = |count| nested(count, b"\xA2\x00\x00", b"\x01", b"\x00");
        assert_found(&in_keys(MAPS), &[], &[]);
        assert_found(&in_keys(60), &[], &[KEYS]);
        // What follows is read as on hosts.
        let twice = [b"\x82", &in_keys(60)[..], b"\xA2\x05\x00\x05\x00"].concat();
        assert_found(&twice, &[TWICE], &[TWICE, KEYS]);
    }

    #[test]
    fn keys_far_into_an_entry() {
        let far = |maps: &[u8]| [b"\x82\x59\xFF\xFF", &[0; 0xFFFF][..], maps].concat();
        assert_found(&far(b"\xA1\x05\x00"), &[], &[]);
        assert_found(&far(b"\xA2\x05\x00\x05\x00"), &[TWICE], &[KEYS]);
    }

    #[test]
    fn many_open_arrays_with_many_items() {
        const WIDE: usize = 16_400;
        let arrays = |count| nested(count, b"\x99\x40\x10", b"\x00", &[0; WIDE - 1]);
        assert_found(&arrays(60), &[], &[]);
        // Kept keys leave room for fewer.
        let mut map = b"\xB8\x7E".to_vec();
        for key in 0..0x7D_u8 {
            map.extend([0x18, 0x18 + (key.wrapping_mul(0x25) & 0x7F), 0]);
        }
        map.extend([0x18, 0xFF]);
        let with = |count| {
            let narrow = nested(100 - count, b"\x81", &arrays(count), b"");
            [&map[..], &narrow].concat()
        };
        assert_found(&with(20), &[], &[]);
        assert_found(&with(60), &[], &["CBOR-DEPTH"]);
    }
}
