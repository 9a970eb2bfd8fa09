//! The decoded payload of a block: rows of one column, or the single row of an annotation.
//!
//! | codec | payload of n values |
//! |---|---|
//! | numbers, ticks, row ids, keys | n values packed |
//! | `Boolean` | one bit each, lowest first; the last byte is padded with 0 |
//! | `DvBool` | two bits each, lowest first; the last 32-bit word is padded with 0 |
//! | `DateTimeOffset` | n × i16 minutes, then n × i64 ticks |
//! | `TextSpan` | n as i32, n × i32 end position, one string with all texts |
//! | `VBuffer` | n as i32, size word i32, lengths n × i32 if the size word is 0, counts n × i32, index count i32, indices i32, the payload of all stored items |
//!
//! End positions count UTF-16 units, so one may lie inside a four-byte character; the
//! highest bit marks a missing text. A vector's count is -1 if it is dense, otherwise the
//! number of stored items.
//!
//! `Block::validate` validates the whole payload, in time proportional to its length and
//! without allocating; reading it afterwards needs no further checks. Sparse vectors are
//! never made dense.

mod rows;
mod text;
mod values;
mod vectors;

pub use rows::{Row, Rows, VectorRow};
pub use text::Text;
pub use values::{Scalar, Values};

use super::codec::Codec;
use super::rules;
use crate::base::widen;
use crate::rule::Rule;

/// A fault of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The broken rule.
    pub rule: Rule,
    /// Offset inside the decoded payload.
    pub offset: u64,
    /// Number of bytes concerned.
    pub len: u64,
    /// The expected number, if the rule's message has one.
    pub expected: u64,
}

/// A decoded, validated payload.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    rows: usize,
    vectors: Option<vectors::Vectors<'b>>,
    values: values::Payload<'b>,
}

impl<'b> Block<'b> {
    /// Validates that `bytes` are the payload of `rows` rows of `codec`, and reports
    /// faults; returns `None` if the rows cannot be read.
    ///
    /// With `sentinels`, the minimum of a signed integer or of ticks stands for a missing
    /// value, as it does before version 1.1.1.6. Each rule is reported once, where it is
    /// first broken.
    pub(super) fn validate(
        codec: &Codec,
        sentinels: bool,
        rows: u64,
        bytes: &'b [u8],
        report: &mut dyn FnMut(Fault),
    ) -> Option<Self> {
        let mut validator = Validator { bytes, at: 0, report };
        match validator.block(codec, sentinels, rows) {
            Ok(block) => Some(block),
            Err(fault) => {
                (validator.report)(fault);
                None
            }
        }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        widen(self.rows)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns an iterator over the rows.
    pub fn rows(&self) -> Rows<'b> {
        Rows::new(self)
    }
}

/// The validated payload, or the fault that makes it unreadable.
type Validated<T> = Result<T, Fault>;

/// Validates a payload from its first byte to its last.
struct Validator<'b, 'j> {
    bytes: &'b [u8],
    at: usize,
    report: &'j mut dyn FnMut(Fault),
}

impl<'b> Validator<'b, '_> {
    fn block(&mut self, codec: &Codec, sentinels: bool, rows: u64) -> Validated<Block<'b>> {
        let (vectors, count) = match &codec.vector {
            Some(vector) => {
                let (vectors, count) = self.vectors(vector, rows)?;
                (Some(vectors), count)
            }
            None => (None, rows),
        };
        let values = self.values(codec.item, sentinels, vectors.is_some(), count)?;
        if self.at < self.bytes.len() {
            let left = widen(self.bytes.len().saturating_sub(self.at));
            self.flag(rules::B_STRAY, self.at, left, widen(self.at));
        }
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Ok(Block { rows, vectors, values })
    }

    /// Takes the next `len` bytes.
    fn take(&mut self, len: u64) -> Validated<&'b [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match usize::try_from(len).ok().and_then(|len| rest.get(..len)) {
            Some(taken) => {
                self.at = self.at.saturating_add(taken.len());
                Ok(taken)
            }
            None => {
                let expected = widen(self.at).saturating_add(len);
                Err(Fault {
                    rule: rules::B_SHORT,
                    offset: widen(self.bytes.len()),
                    len: 0,
                    expected,
                })
            }
        }
    }

    /// Takes the next `count` 32-bit words.
    fn words(&mut self, count: u64) -> Validated<Words<'b>> {
        // A product that saturates exceeds the number of bytes.
        let bytes = self.take(count.saturating_mul(4))?;
        Ok(Words(bytes.as_chunks::<4>().0))
    }

    fn word(&mut self) -> Validated<i32> {
        Ok(self.words(1)?.get(0))
    }

    fn fault(&self, rule: Rule, at: usize, len: u64, expected: u64) -> Fault {
        Fault { rule, offset: widen(at), len, expected }
    }

    /// Reports a fault after which the rest is still readable.
    fn flag(&mut self, rule: Rule, at: usize, len: u64, expected: u64) {
        let fault = self.fault(rule, at, len, expected);
        (self.report)(fault);
    }
}

/// Little-endian 32-bit words.
#[derive(Clone, Copy, Debug, Default)]
struct Words<'b>(&'b [[u8; 4]]);

impl Words<'_> {
    /// Word `i`; 0 after the last.
    fn get(self, i: usize) -> i32 {
        self.0.get(i).map_or(0, |word| i32::from_le_bytes(*word))
    }

    fn len(self) -> usize {
        self.0.len()
    }

    fn iter(self) -> impl Iterator<Item = i32> {
        self.0.iter().map(|word| i32::from_le_bytes(*word))
    }
}

/// Offset of word `i` after `start`.
fn place(start: usize, i: usize) -> usize {
    start.saturating_add(i.saturating_mul(4))
}
