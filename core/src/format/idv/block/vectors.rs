//! The part of a vector block before the items.

use super::super::codec::Vector;
use super::super::rules;
use super::{Validated, Validator, Words, place};
use crate::base::widen;

/// Lengths, counts and indices of the vectors of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vectors<'b> {
    /// The length of all vectors, or 0 if `lengths` has one for each.
    size: i32,
    lengths: Words<'b>,
    counts: Words<'b>,
    pub(super) indices: Words<'b>,
}

impl Vectors<'_> {
    /// The length of vector `row`, and its number of stored items if it is sparse.
    pub(super) fn row(&self, row: usize) -> (i32, Option<i32>) {
        let len = if self.size > 0 { self.size } else { self.lengths.get(row) };
        let count = self.counts.get(row);
        (len, (count >= 0).then_some(count))
    }
}

impl<'b> Validator<'b, '_> {
    /// Validates everything before the items and counts the items.
    pub(super) fn vectors(&mut self, vector: &Vector, rows: u64) -> Validated<(Vectors<'b>, u64)> {
        let count = self.word()?;
        if u64::try_from(count) != Ok(rows) {
            return Err(self.fault(rules::B_VEC_COUNT, 0, 4, rows));
        }
        let size = self.word()?;
        let fixed = vector.size > 0;
        let fits = if fixed { u32::try_from(size) == Ok(vector.size) } else { size >= 0 };
        if !fits {
            return Err(self.fault(rules::B_VEC_SIZE, 4, 4, u64::from(vector.size)));
        }
        let at = self.at;
        let lengths = if size == 0 { self.words(rows)? } else { Words::default() };
        if let Some(row) = lengths.iter().position(|len| len < 0) {
            return Err(self.fault(rules::B_VEC_LEN, place(at, row), 4, 0));
        }
        self.multiples(vector, size, lengths, at);
        let counts_at = self.at;
        let counts = self.words(rows)?;
        let vectors = Vectors { size, lengths, counts, indices: Words::default() };
        let (stored, indexed) = self.counts(&vectors, counts_at)?;
        let indices_at = self.at;
        let found = self.word()?;
        let Ok(found) = u64::try_from(found) else {
            return Err(self.fault(rules::B_VEC_NI, indices_at, 4, indexed));
        };
        let indices = self.words(found)?;
        if found != indexed {
            return Err(self.fault(rules::B_VEC_INDICES, indices_at, 4, indexed));
        }
        let vectors = Vectors { indices, ..vectors };
        self.indices(&vectors, place(indices_at, 1))?;
        Ok((vectors, stored))
    }

    /// Checks, if only some dims vary, that lengths are multiples of the other dims.
    fn multiples(&mut self, vector: &Vector, size: i32, lengths: Words<'_>, at: usize) {
        if vector.unit <= 1 || vector.size > 0 {
            return;
        }
        let odd = |len: i32| {
            let len = u64::try_from(len).unwrap_or(0);
            len.checked_rem(vector.unit).is_some_and(|rest| rest != 0)
        };
        let found = match size {
            0 => lengths.iter().position(odd).map(|row| place(at, row)),
            size => odd(size).then_some(4),
        };
        if let Some(found) = found {
            self.flag(rules::B_VEC_MULTIPLE, found, 4, vector.unit);
        }
    }

    /// Validates the counts; returns the number of stored items, and of those with an index.
    fn counts(&self, vectors: &Vectors<'_>, at: usize) -> Validated<(u64, u64)> {
        let (mut stored, mut indexed) = (0_u64, 0_u64);
        for (row, count) in vectors.counts.iter().enumerate() {
            let (len, _) = vectors.row(row);
            let at = place(at, row);
            if count < -1 {
                return Err(self.fault(rules::B_VEC_DENSE, at, 4, 0));
            }
            if count >= len {
                let most = u64::try_from(len).unwrap_or(0);
                return Err(self.fault(rules::B_VEC_SPARSECOUNT, at, 4, most));
            }
            let items = if count < 0 { len } else { count };
            stored = stored.saturating_add(u64::try_from(items).unwrap_or(0));
            indexed = indexed.saturating_add(u64::try_from(count).unwrap_or(0));
            let most = u64::from(i32::MAX.unsigned_abs());
            if stored > most {
                return Err(self.fault(rules::B_VEC_TOTAL, at, 4, most));
            }
        }
        Ok((stored, indexed))
    }

    /// Validates that the indices of each vector ascend and are below its length.
    fn indices(&self, vectors: &Vectors<'_>, at: usize) -> Validated<()> {
        let mut i = 0_usize;
        for row in 0..vectors.counts.len() {
            let (len, Some(count)) = vectors.row(row) else { continue };
            let mut least = 0;
            for _ in 0..count {
                let index = vectors.indices.get(i);
                let at = place(at, i);
                if index < 0 || index >= len {
                    let most = widen(usize::try_from(len).unwrap_or(0));
                    return Err(self.fault(rules::B_VEC_INDEXRANGE, at, 4, most));
                }
                if index < least {
                    let least = u64::try_from(least).unwrap_or(0);
                    return Err(self.fault(rules::B_VEC_INDEXORDER, at, 4, least));
                }
                least = index.saturating_add(1);
                i = i.saturating_add(1);
            }
        }
        Ok(())
    }
}
