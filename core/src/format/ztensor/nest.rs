//! Skips data items with their content.

use super::cbor::{OPEN, OPEN_MAP, OPEN_VALUE, Pull, odd};
use super::head::{Head, major};
use super::keys::Keys;
use crate::base::limits::CBOR_DEPTH;

impl<'a> Pull<'_, '_, 'a> {
    /// Skips the rest of the current item, on level `depth`.
    pub(super) fn skip(&mut self, depth: usize) {
        self.skip_with(depth, None);
    }

    /// Does the same; `keys` receives the keys of maps.
    pub(super) fn skip_with(&mut self, depth: usize, keys: Option<&mut Keys<'a>>) {
        if self.head.is_container() {
            self.skip_nested(depth, keys);
        } else {
            self.skip_leaf();
        }
    }

    #[inline]
    fn skip_leaf(&mut self) {
        let Head { at, info, argument, .. } = self.head;
        if self.head.is_string() {
            self.string();
        } else if self.head.major == major::OTHER && self.custom {
            let usual = matches!(info, 20..=22 | 25..=27);
            let malformed = info == 24 && argument < 32;
            if !usual && !malformed {
                self.note(odd::CUSTOM_SIMPLE, at);
            }
        }
    }

    #[inline(never)]
    fn skip_nested(&mut self, depth: usize, mut keys: Option<&mut Keys<'a>>) {
        // Number of data items left in each open array or map.
        let mut levels = [0_u32; CBOR_DEPTH];
        let mut used = 0_usize;
        loop {
            if self.head.is_container() {
                let map = self.head.major == major::MAP;
                let left = self.open();
                // `item` has checked that the level exists.
                if let Some(slot) = levels.get_mut(used) {
                    *slot = left;
                    used = used.wrapping_add(1);
                }
                if let Some(keys) = &mut keys {
                    keys.begin(used, map);
                }
            } else {
                self.skip_leaf();
            }
            loop {
                let Some(top) = used.checked_sub(1).and_then(|top| levels.get_mut(top)) else {
                    return;
                };
                let left = *top;
                if left > 0 {
                    // A map of indefinite length alternates between keys and values.
                    *top = match left {
                        OPEN => OPEN,
                        OPEN_VALUE.. => left ^ OPEN_MAP ^ OPEN_VALUE,
                        _ => left.wrapping_sub(1),
                    };
                    // In a map of definite length, a key is next if an even number is left.
                    let is_key = if left >= OPEN_VALUE { left == OPEN_MAP } else { left & 1 == 0 };
                    if let Some(keys) = &mut keys
                        && !is_key
                    {
                        keys.add(used);
                    }
                    self.item(depth.wrapping_add(used), left >= OPEN_MAP);
                    if !self.head.is_break() {
                        if let Some(keys) = &mut keys
                            && is_key
                        {
                            keys.start(used, self.head.start);
                        }
                        break;
                    }
                }
                if let Some(keys) = &mut keys {
                    keys.end(used);
                }
                used = used.wrapping_sub(1);
            }
        }
    }

    /// Returns the state of a new level for the current array or map.
    #[inline]
    fn open(&mut self) -> u32 {
        let map = self.head.major == major::MAP;
        let left = self.count_resident();
        if left < OPEN {
            return left;
        }
        self.note(odd::INDEFINITE, self.head.at);
        if map { OPEN_MAP } else { OPEN }
    }
}
