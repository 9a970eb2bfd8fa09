//! Proves with a hash table that all names differ.
//!
//! In nearly every file all tensor names differ. This is proved without sorting: the caller's
//! slots hold three words per name, as a hash table filled to a third. Otherwise the names are
//! sorted to find the equal ones.
//!
//! Names with different hashes differ, whatever the hash. Here it need not withstand attacks:
//! names made to collide only have to be sorted, by a hash that does.

use super::Audit;
use crate::audit::Stage;
use crate::base::widen;
use crate::file::Slot;
use crate::model::Name;
use crate::parse::Reader;

impl Audit {
    /// Whether the names of all tensors are resident and have different hashes. If not, the slots
    /// hold nothing useful.
    ///
    /// Not tried once names have been stored, because it would start again whenever bytes arrive.
    pub(super) fn are_distinct(&self, r: &mut Reader<'_, '_>, slots: &mut [Slot]) -> bool {
        let begun = self.cursor.index() > 0 || self.sorting.filled > 0;
        if self.stage != Stage::TensorNames || begun {
            return false;
        }
        let len = usize::try_from(self.counted).unwrap_or(usize::MAX);
        let Some(slots) = slots.get_mut(..len) else { return false };
        // A host with a small window may take many calls to reach the first name, and each
        // would clear all slots.
        if self.named(r, &mut { self.cursor }).is_err() {
            return false;
        }
        let mut seen = Seen::among(slots);
        let mut next = self.cursor;
        let mut fresh = true;
        loop {
            self.swept.again(&self.file, r, &mut next, &mut |glance| {
                fresh = seen.is_new(hash(self.seed, &glance.name));
                fresh
            });
            if !fresh {
                return false;
            }
            let entry = match self.named(r, &mut next) {
                Ok(Some(entry)) => entry,
                end => return matches!(end, Ok(None)),
            };
            if entry.is_named() {
                let name = r.name(&entry.name);
                if !name.is_ok_and(|name| seen.is_new(hash(self.seed, &name))) {
                    return false;
                }
            }
        }
    }
}

/// A fast hash; 0 if the name is not stored as it reads.
#[inline(always)]
fn hash(seed: u64, name: &Name<'_>) -> u64 {
    /// 2^64 divided by the golden ratio.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let Some(bytes) = name.as_bytes() else { return 0 };
    let (words, tail) = bytes.as_chunks::<8>();
    let mut hash = seed ^ widen(bytes.len());
    let mut add = |word: u64| {
        hash = (hash ^ word).wrapping_mul(FACTOR);
        hash ^= hash >> 32;
    };
    words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
    add(match bytes.last_chunk() {
        // Overlaps the last word.
        Some(last) => u64::from_le_bytes(*last),
        None => tail.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)),
    });
    hash.wrapping_mul(FACTOR)
}

/// The hashes seen, each in the slot that its upper bits select or in a following one; 0 marks a
/// free word.
struct Seen<'s> {
    slots: &'s mut [Slot],
    /// Number of occupied slots that may still be passed. An attacker who knows the seed
    /// can choose names that all select the same slot; this bounds the search.
    patience: usize,
}

impl<'s> Seen<'s> {
    fn among(slots: &'s mut [Slot]) -> Self {
        slots.fill(Slot::EMPTY);
        let patience = slots.len();
        Seen { slots, patience }
    }

    /// Adds `hash`; false if it was seen before, or if the search gave up.
    #[inline(always)]
    fn is_new(&mut self, hash: u64) -> bool {
        let len = widen(self.slots.len());
        let home = (hash >> 32).wrapping_mul(len) >> 32;
        let mut at = usize::try_from(home).unwrap_or(usize::MAX);
        loop {
            let Some(slot) = self.slots.get_mut(at) else {
                return false;
            };
            let Slot { key: a, at: b, who: c } = *slot;
            if a == hash || b == hash || c == hash || hash == 0 {
                return false;
            }
            if c == 0 {
                // The first free word, without an unpredictable branch.
                slot.key = if a == 0 { hash } else { a };
                slot.at = if a != 0 && b == 0 { hash } else { b };
                slot.who = if b != 0 { hash } else { c };
                return true;
            }
            let Some(patience) = self.patience.checked_sub(1) else { return false };
            self.patience = patience;
            at = at.wrapping_add(1);
            if at == self.slots.len() {
                at = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Two tensors with unordered names.
    #[cfg(feature = "safetensors")]
    const UNORDERED: &[u8] = br#"{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;

    #[cfg(feature = "safetensors")]
    #[test]
    fn slots_are_untouched_before_first_name() {
        use crate::input::{Source, Window};
        use crate::parse::Stop;

        let mut bytes = widen(UNORDERED.len()).to_le_bytes().to_vec();
        bytes.extend_from_slice(UNORDERED);
        bytes.extend_from_slice(b"\0\0");
        let whole = Source::whole(&bytes);
        let mut sink = |finding| panic!("{finding:?}");
        let file = crate::File::open(&whole, &mut sink).unwrap();
        let mut audit = Audit::new(file).structure_only();
        assert!(matches!(audit.step(&whole, &mut [], &mut sink), Err(Stop::NeedSlots { .. })));
        assert_eq!(audit.stage(), Stage::TensorNames);

        let kept = [Slot { key: 7, at: 7, who: 7 }; 2];
        let mut slots = kept;
        for len in 0..60 {
            let windows = [Window { offset: 0, bytes: bytes.get(..len).unwrap_or_default() }];
            let source = Source::windows(whole.len(), &windows);
            assert!(matches!(audit.step(&source, &mut slots, &mut sink), Err(Stop::NeedBytes(_))));
            assert_eq!(slots, kept, "{len}");
        }
        assert_eq!(audit.step(&whole, &mut slots, &mut sink), Ok(()));
        assert_ne!(slots, kept);
    }

    #[test]
    fn hashes_of_common_names_differ_and_spread() {
        use crate::model::NameEncoding;
        let patterns: [fn(u64) -> std::string::String; 5] = [
            |i| std::format!("{i}"),
            |i| std::format!("w{i:07}"),
            |i| std::format!("model.layers.{}.mlp.experts.{}.down_proj.weight", i >> 6, i & 63),
            |i| std::format!("{i:08}blk.attn_q.weight"),
            |i| std::format!("blk.{i:016}"),
        ];
        for (pattern, seed) in patterns.iter().zip([0, 1, u64::MAX, 7 << 40, 3]) {
            let mut slots = std::vec![Slot::EMPTY; 50_000];
            let mut seen = Seen::among(&mut slots);
            for i in 0..50_000 {
                let name = pattern(i);
                let hash = hash(seed, &Name::new(name.as_bytes(), NameEncoding::Plain));
                assert!(seen.is_new(hash), "{name}");
            }
            // A random function takes 1,000 extra steps.
            assert!(seen.patience > 48_000, "{seed}: {}", seen.patience);
        }
    }

    #[cfg(feature = "safetensors")]
    #[test]
    fn colliding_names_are_compared() {
        use crate::input::Source;
        use crate::model::NameEncoding;

        const FORGED: [&str; 2] = ["aaaaaaaaaaaaaaaaaaaaaaaa", "`jlgclomn~FS[?MAaaaaaaaa"];
        let of = |name: &str| hash(0, &Name::new(name.as_bytes(), NameEncoding::Plain));
        assert_eq!(of(FORGED[0]), of(FORGED[1]));
        let findings = |names: &[&str]| {
            let entries = names.iter().enumerate().map(|(i, name)| {
                let end = i + 1;
                std::format!(r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[{i},{end}]}}"#)
            });
            let header = std::format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
            let mut bytes = widen(header.len()).to_le_bytes().to_vec();
            bytes.extend_from_slice(header.as_bytes());
            bytes.resize(bytes.len() + names.len(), 0);
            let (whole, mut count) = (Source::whole(&bytes), 0);
            let mut sink = |_| count += 1;
            let file = crate::File::open(&whole, &mut sink).unwrap();
            let mut slots = std::vec![Slot::EMPTY; names.len()];
            Audit::new(file).structure_only().step(&whole, &mut slots, &mut sink).unwrap();
            count
        };
        assert_eq!(findings(&FORGED), 0);
        assert_eq!(findings(&[FORGED[0], FORGED[1], FORGED[0]]), 1);
    }

    /// Number of these hashes that are new before the first that is not.
    fn new(slots: usize, hashes: &[u64]) -> usize {
        let mut slots = std::vec![Slot { key: 7, at: 7, who: 7 }; slots];
        let mut seen = Seen::among(&mut slots);
        hashes.iter().take_while(|hash| seen.is_new(**hash)).count()
    }

    #[test]
    fn second_of_two_equal_hashes_is_found() {
        for len in 1..40_u64 {
            let hashes: Vec<_> = (1..=len).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            assert_eq!(new(hashes.len(), &hashes), hashes.len());
            for first in 0..hashes.len() {
                for second in first + 1..hashes.len() {
                    let mut hashes = hashes.clone();
                    hashes[second] = hashes[first];
                    assert_eq!(new(hashes.len(), &hashes), second);
                }
            }
        }
    }

    #[test]
    fn full_table_reports_no_new_name() {
        assert_eq!(new(0, &[1]), 0);
        assert_eq!(new(4, &[0]), 0);
        // All select the last slot: the following slots hold some of them, then the search
        // gives up.
        let last: Vec<_> = (0..100).map(|i| u64::MAX - i).collect();
        assert_eq!(new(1, &last), 3);
        assert_eq!(new(2, &last), 5);
        assert_eq!(new(100, &last), 26);
    }
}
