//! Marks the bytes of a file that have an owner, to prove that no two objects share some.
//!
//! Objects start at even offsets, so two bytes share three bits: they have an owner; an object starts
//! there; an object ends between them. Together the bits give each object back, and one that is
//! marked twice is recognised.
//!
//! Most of a large file is the inside of a few long objects. So the file is cut into pages of 512
//! bytes. A directory says of each that it is free, or owned as a whole by a long object, or where
//! its bits are.

/// Three words in the caller's memory: bits, or three entries of the directory.
pub(crate) struct Words<'w> {
    /// Bytes that have an owner; or other marks.
    pub(crate) marks: &'w mut u64,
    /// Bytes at which an object starts.
    pub(crate) starts: &'w mut u64,
    /// Bytes between which an object ends.
    pub(crate) odd: &'w mut u64,
}

/// The caller's memory, with any contents.
pub(crate) trait Memory {
    /// The words at a place; `None` behind the last.
    fn words(&mut self, place: usize) -> Option<Words<'_>>;
}

/// Bytes of a page.
const PAGE: u64 = 512;
/// Number of places for the bits of a page.
pub(crate) const BLOCK: u64 = 4;

/// What the directory says of a page. Larger numbers are the places of its bits.
const FREE: u64 = 0;
const OWNED: u64 = 1;

/// Number of pages of a file of `len` bytes.
pub(crate) fn pages(len: u64) -> u64 {
    len.saturating_add(PAGE.wrapping_sub(1)) >> 9
}

/// Number of places for the directory of a file of `len` bytes.
pub(crate) fn directory(len: u64) -> u64 {
    // One page more, behind the end, is free.
    pages(len).checked_div(3).unwrap_or(0).saturating_add(1)
}

/// The owned bytes of a file.
pub(crate) struct Taken<'m, M> {
    pub(crate) memory: &'m mut M,
    /// Where the last object ends.
    pub(crate) end: usize,
    /// The place for the bits of another page.
    next: usize,
    /// The page that was looked up last, and the place of its bits.
    known: (usize, usize),
}

impl<'m, M: Memory> Taken<'m, M> {
    /// The directory is at the start of the memory, and bits are stored from place `free` on. All in
    /// between is cleared.
    pub(crate) fn new(memory: &'m mut M, free: usize) -> Option<Self> {
        for place in 0..free {
            clear(memory, place)?;
        }
        // Places 0 and 1 would be taken for what a page may be.
        Some(Taken { memory, end: 0, next: free.max(2), known: (usize::MAX, 0) })
    }

    /// Marks an object of at least one byte. `None` if it begins at an odd offset, or shares bytes
    /// with another object and is not the same, or if the memory is full.
    #[inline(always)]
    pub(crate) fn take(&mut self, at: usize, len: usize) -> Option<()> {
        let end = at.wrapping_add(len);
        self.end = self.end.max(end);
        let (first, last) = (at >> 1, end.wrapping_sub(1) >> 1);
        if at & 1 != 0 || first >> 6 != last >> 6 {
            return self.take_far(at, end);
        }
        let words = self.bits(first >> 6)?;
        let mask = ones(first, last);
        if *words.marks & mask != 0 {
            return self.is_same(at, end);
        }
        *words.marks |= mask;
        *words.starts |= bit(first);
        if end & 1 != 0 {
            *words.odd |= bit(last);
        }
        Some(())
    }

    /// The same for an object whose bits are in several words.
    #[inline(never)]
    fn take_far(&mut self, at: usize, end: usize) -> Option<()> {
        if at & 1 != 0 {
            return None;
        }
        let (first, last) = (at >> 1, end.wrapping_sub(1) >> 1);
        let (from, to) = (first >> 6, last >> 6);
        let mut word = from;
        while word <= to {
            // The first word and the last one say where the object starts and ends.
            if word & 3 == 0 && word > from && word.wrapping_add(3) < to {
                self.own(word >> 2, to >> 2)?;
                word = to & !3;
                continue;
            }
            let mask = part(word, first, last);
            let words = self.bits(word)?;
            if *words.marks & mask != 0 {
                // If it is the same, its first bytes are owned already.
                return if word == from { self.is_same(at, end) } else { None };
            }
            *words.marks |= mask;
            if word == from {
                *words.starts |= bit(first);
            }
            if word == to && end & 1 != 0 {
                *words.odd |= bit(last);
            }
            word = word.wrapping_add(1);
        }
        Some(())
    }

    /// Marks the pages before `to` as owned.
    fn own(&mut self, from: usize, to: usize) -> Option<()> {
        let mut page = from;
        while page < to {
            if let Some(place) = page.checked_div(3)
                && place.wrapping_mul(3) == page
                && page.wrapping_add(3) <= to
            {
                // Three pages at a time.
                let words = self.memory.words(place)?;
                if (*words.marks, *words.starts, *words.odd) != (FREE, FREE, FREE) {
                    return None;
                }
                (*words.marks, *words.starts, *words.odd) = (OWNED, OWNED, OWNED);
                page = page.wrapping_add(3);
                continue;
            }
            let entry = self.entry(page)?;
            if *entry != FREE {
                return None;
            }
            *entry = OWNED;
            page = page.wrapping_add(1);
        }
        Some(())
    }

    /// Whether exactly these bytes are one object. A long one is not recognised.
    #[inline(never)]
    fn is_same(&mut self, at: usize, end: usize) -> Option<()> {
        let (first, last) = (at >> 1, end.wrapping_sub(1) >> 1);
        let (from, to) = (first >> 6, last >> 6);
        for word in from..=to {
            let words = self.bits(word)?;
            let mask = part(word, first, last);
            let start = if word == from { bit(first) } else { 0 };
            let odd = if word == to && end & 1 != 0 { bit(last) } else { 0 };
            if (*words.marks & mask, *words.starts & mask, *words.odd & mask) != (mask, start, odd)
            {
                return None;
            }
        }
        // It may go on.
        let next = last.wrapping_add(1);
        let goes_on = match *self.entry(next >> 8)? {
            FREE => false,
            OWNED => true,
            _ => {
                let words = self.bits(next >> 6)?;
                *words.marks & bit(next) != 0 && *words.starts & bit(next) == 0
            }
        };
        (!goes_on).then_some(())
    }

    /// What the directory says of a page.
    fn entry(&mut self, page: usize) -> Option<&mut u64> {
        let place = page.checked_div(3)?;
        let Words { marks, starts, odd } = self.memory.words(place)?;
        Some(match page.wrapping_sub(place.wrapping_mul(3)) {
            0 => marks,
            1 => starts,
            _ => odd,
        })
    }

    /// A word of bits.
    #[inline(always)]
    fn bits(&mut self, word: usize) -> Option<Words<'_>> {
        let (page, block) = self.known;
        let block = if page == word >> 2 { block } else { self.block(word >> 2)? };
        self.memory.words(block.wrapping_add(word & 3))
    }

    /// The place of the bits of a page; `None` if the page is owned as a whole.
    #[inline(never)]
    fn block(&mut self, page: usize) -> Option<usize> {
        let next = self.next;
        let entry = self.entry(page)?;
        let block = match *entry {
            OWNED => return None,
            FREE => {
                *entry = u64::try_from(next).ok()?;
                let after = next.checked_add(usize::try_from(BLOCK).ok()?)?;
                for place in next..after {
                    clear(self.memory, place)?;
                }
                self.next = after;
                next
            }
            place => usize::try_from(place).ok()?,
        };
        self.known = (page, block);
        Some(block)
    }
}

fn clear(memory: &mut impl Memory, place: usize) -> Option<()> {
    let words = memory.words(place)?;
    (*words.marks, *words.starts, *words.odd) = (0, 0, 0);
    Some(())
}

fn bit(place: usize) -> u64 {
    1 << (place & 63)
}

/// The bits from `first` to `last`, which are in one word.
fn ones(first: usize, last: usize) -> u64 {
    (u64::MAX << (first & 63)) & (u64::MAX >> (63_usize.wrapping_sub(last & 63) & 63))
}

/// Those of the bits from `first` to `last` that are in this word.
fn part(word: usize, first: usize, last: usize) -> u64 {
    ones(if word == first >> 6 { first } else { 0 }, if word == last >> 6 { last } else { 63 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Bytes of the file.
    const LEN: u64 = 8192;

    impl Memory for Vec<[u64; 3]> {
        fn words(&mut self, place: usize) -> Option<Words<'_>> {
            let [marks, starts, odd] = self.get_mut(place)?;
            Some(Words { marks, starts, odd })
        }
    }

    /// Whether objects can all be marked, with bits for this many pages.
    fn fits_in(pages: usize, objects: &[(usize, usize)]) -> bool {
        let free = directory(LEN) as usize;
        let mut memory = std::vec![[u64::MAX; 3]; free + pages * BLOCK as usize];
        let mut taken = Taken::new(&mut memory, free).unwrap();
        objects.iter().all(|(at, len)| taken.take(*at, *len).is_some())
    }

    fn fits(objects: &[(usize, usize)]) -> bool {
        fits_in(pages(LEN) as usize, objects)
    }

    /// Every pair of objects around the ends of words and of pages.
    #[test]
    fn objects_share_no_byte_or_are_the_same() {
        let starts =
            [0, 2, 4, 6, 120, 126, 128, 130, 250, 256, 258, 400, 510, 512, 514, 1022, 1024, 1026];
        let lens = [1, 2, 3, 4, 5, 8, 126, 127, 128, 129, 130, 256, 510, 511, 512, 514, 1024, 2049];
        let all = || starts.iter().flat_map(|at| lens.iter().map(|len| (*at, *len)));
        for first in all() {
            for second in all() {
                let from = first.0.max(second.0);
                let fit = from >= (first.0 + first.1).min(second.0 + second.1);
                let found = fits(&[first, second]);
                // A long object is refused when it comes again.
                let same = first == second && (first.1 < 512 || found);
                assert_eq!(found, fit || same, "{first:?} {second:?}");
            }
        }
    }

    #[test]
    fn neighbours_do_not_make_one_object() {
        assert!(fits(&[(0, 10), (10, 10), (0, 10), (10, 10)]));
        for whole in [(0, 20), (0, 6), (0, 14), (4, 6), (10, 4), (2, 10)] {
            assert!(!fits(&[(0, 10), (10, 10), whole]), "{whole:?}");
        }
        assert!(fits(&[(0, 9), (10, 9), (0, 9)]) && !fits(&[(0, 9), (10, 9), (0, 10)]));
        assert!(fits(&[(120, 8), (128, 8), (120, 8)]));
        assert!(!fits(&[(120, 8), (128, 8), (120, 16)]));
    }

    #[test]
    fn inside_of_a_long_object_belongs_to_it() {
        let long = (500, 5000);
        for inner in [(500, 12), (508, 4), (512, 4), (600, 2), (1024, 512), (5496, 4), (500, 524)] {
            assert!(!fits(&[long, inner]) && !fits(&[inner, long]), "{inner:?}");
        }
        assert!(fits(&[long, (496, 4), (5500, 4)]) && fits(&[(496, 4), (5500, 4), long]));
    }

    #[test]
    fn object_at_an_odd_offset_or_behind_the_memory_is_refused() {
        assert!(!fits(&[(1, 2)]) && !fits(&[(127, 2)]));
        assert!(fits(&[(8190, 2)]) && !fits(&[(LEN as usize + 1024, 4)]));
        // The bits of two pages find room, those of a third do not.
        assert!(fits_in(2, &[(0, 4), (600, 4), (8, 4)]));
        assert!(!fits_in(2, &[(0, 4), (600, 4), (1200, 4)]));
    }
}
