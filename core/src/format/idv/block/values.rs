//! Validation of single values, and iteration over them.

use super::super::codec::{Item, Key};
use super::super::leb128::{LENGTH, Leb, least};
use super::super::rules;
use super::text::{Taken, Text, units};
use super::{Validated, Validator, Words, place};
use crate::base::widen;
use crate::model::{DType, Element, Endianness};

/// The last tick of the year 9999.
const LAST_TICK: i64 = 3_155_378_975_999_999_999;
/// Maximum offset of a local time from UTC, in minutes.
const MOST_MINUTES: i16 = 840;
/// Ticks per minute.
const MINUTE: i64 = 600_000_000;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Scalar<'b> {
    /// Missing: a key of 0, a text or `DvBool` marked as missing, and before version
    /// 1.1.1.6 the minimum of a signed integer or of ticks. Missing floats are NaN, and are
    /// returned as numbers.
    Missing,
    /// A number.
    Number(Element),
    /// A text.
    Text(Text<'b>),
    /// A Boolean.
    Bool(bool),
    /// A rank as stored, starting at 1.
    Key(u64),
    /// Ticks of 100 ns.
    TimeSpan(i64),
    /// Ticks of 100 ns since 0001-01-01.
    DateTime(i64),
    /// A local time with its offset.
    DateTimeOffset {
        /// Ticks of 100 ns since 0001-01-01, local time.
        ticks: i64,
        /// Minutes by which local time is ahead of UTC.
        minutes: i16,
    },
    /// A 128-bit number.
    RowId {
        /// The low 64 bits.
        low: u64,
        /// The high 64 bits.
        high: u64,
    },
}

/// The payload of single values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'b> {
    item: Item,
    sentinels: bool,
    /// Whether the values are items of vectors.
    nested: bool,
    count: usize,
    /// The bytes of values other than text.
    bytes: &'b [u8],
    ends: Words<'b>,
    joined: &'b str,
}

/// An iterator over values.
#[derive(Clone, Debug)]
pub struct Values<'b> {
    payload: Payload<'b>,
    next: usize,
    end: usize,
    taken: Taken,
}

impl<'b> Values<'b> {
    pub(super) fn all(payload: &Payload<'b>) -> Self {
        Values { payload: *payload, next: 0, end: payload.count, taken: Taken::default() }
    }

    /// Splits off the next `count` values.
    pub(super) fn split(&mut self, count: usize) -> Self {
        let end = self.next.saturating_add(count).min(self.end);
        let values = Values { end, ..self.clone() };
        if self.payload.item == Item::Text && end > self.next {
            let boundary = self.payload.boundary(end.saturating_sub(1));
            self.taken.next(self.payload.joined, boundary);
        }
        self.next = end;
        values
    }
}

impl<'b> Iterator for Values<'b> {
    type Item = Scalar<'b>;

    fn next(&mut self) -> Option<Scalar<'b>> {
        if self.next >= self.end {
            return None;
        }
        let i = self.next;
        self.next = i.saturating_add(1);
        if self.payload.item != Item::Text {
            return self.payload.get(i);
        }
        let text = self.taken.next(self.payload.joined, self.payload.boundary(i));
        let missing = self.payload.ends.get(i) < 0;
        Some(if missing { Scalar::Missing } else { Scalar::Text(text) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Values<'_> {}

impl<'b> Payload<'b> {
    /// End of text `i`, in UTF-16 units.
    fn boundary(&self, i: usize) -> u32 {
        position(self.ends.get(i))
    }

    /// Value `i`, if it is not text.
    fn get(&self, i: usize) -> Option<Scalar<'b>> {
        let ticks = |i| self.i64(i).map(|ticks| (ticks, self.sentinels && ticks == i64::MIN));
        Some(match self.item {
            Item::Unknown | Item::Text => return None,
            Item::Number(dtype) => self.number(dtype, i)?,
            Item::Key(key) => match self.element(key.stored, i)? {
                Element::Uint(0) => Scalar::Missing,
                Element::Uint(rank) => Scalar::Key(rank),
                _ => return None,
            },
            Item::Bit => Scalar::Bool(self.bits(i, 1)? == 1),
            Item::TwoBits => match self.bits(i, 2)? {
                2 => Scalar::Missing,
                bits => Scalar::Bool(bits == 1),
            },
            Item::TimeSpan => match ticks(i)? {
                (_, true) => Scalar::Missing,
                // Readers that do not support missing values read the mark as 0, except in
                // vectors, which they copy unchanged.
                (ticks, _) if self.nested => Scalar::TimeSpan(ticks),
                (ticks, _) => Scalar::TimeSpan(at_least_0(ticks)),
            },
            Item::DateTime => match ticks(i)? {
                (_, true) => Scalar::Missing,
                (ticks, _) => Scalar::DateTime(at_least_0(ticks)),
            },
            Item::DateTimeOffset => {
                let (ticks, minutes) = self.local(i)?;
                if self.sentinels && ticks == i64::MIN {
                    return Some(Scalar::Missing);
                }
                let minutes = if minutes == i16::MIN { 0 } else { minutes };
                Scalar::DateTimeOffset { ticks: at_least_0(ticks), minutes }
            }
            Item::RowId => {
                let i = i.checked_mul(2)?;
                let half = |i| self.chunk(i).map(u64::from_le_bytes);
                Scalar::RowId { low: half(i)?, high: half(i.checked_add(1)?)? }
            }
        })
    }

    fn number(&self, dtype: DType, i: usize) -> Option<Scalar<'b>> {
        let element = self.element(dtype, i)?;
        let least = match dtype {
            DType::I8 => i64::from(i8::MIN),
            DType::I16 => i64::from(i16::MIN),
            DType::I32 => i64::from(i32::MIN),
            _ => i64::MIN,
        };
        let missing = self.sentinels && element == Element::Int(least);
        Some(if missing { Scalar::Missing } else { Scalar::Number(element) })
    }

    fn element(&self, dtype: DType, i: usize) -> Option<Element> {
        dtype.element(self.bytes, widen(i), Endianness::Little)
    }

    /// The eight bytes of word `i`.
    fn chunk(&self, i: usize) -> Option<[u8; 8]> {
        self.bytes.as_chunks::<8>().0.get(i).copied()
    }

    fn i64(&self, i: usize) -> Option<i64> {
        self.chunk(i).map(i64::from_le_bytes)
    }

    /// Value `i`, of one or two bits; no value crosses a byte boundary.
    fn bits(&self, i: usize, width: usize) -> Option<u8> {
        let bit = i.checked_mul(width)?;
        let byte = self.bytes.get(bit >> 3)?;
        let mask = if width == 1 { 1 } else { 3 };
        Some((byte >> (bit & 7)) & mask)
    }

    /// Clock ticks and minutes of a local time.
    fn local(&self, i: usize) -> Option<(i64, i16)> {
        let (minutes, ticks) = self.bytes.split_at_checked(self.count.checked_mul(2)?)?;
        let minutes = minutes.as_chunks::<2>().0.get(i)?;
        let ticks = ticks.as_chunks::<8>().0.get(i)?;
        Some((i64::from_le_bytes(*ticks), i16::from_le_bytes(*minutes)))
    }
}

/// Maps the mark of missing ticks to 0, as readers that do not support missing values do.
fn at_least_0(ticks: i64) -> i64 {
    if ticks == i64::MIN { 0 } else { ticks }
}

/// A boundary without the mark of a missing text.
fn position(word: i32) -> u32 {
    (word & i32::MAX).unsigned_abs()
}

impl<'b> Validator<'b, '_> {
    /// Validates `count` values.
    pub(super) fn values(
        &mut self,
        item: Item,
        sentinels: bool,
        nested: bool,
        count: u64,
    ) -> Validated<Payload<'b>> {
        let start = self.at;
        let resident = usize::try_from(count).unwrap_or(usize::MAX);
        let mut payload = Payload {
            item,
            sentinels,
            nested,
            count: resident,
            bytes: &[],
            ends: Words::default(),
            joined: "",
        };
        let bytes = match item {
            Item::Unknown => return Ok(Payload { count: 0, ..payload }),
            Item::Text => return self.texts(payload, count),
            Item::Bit => count.saturating_add(7) >> 3,
            Item::TwoBits => (count.saturating_add(15) >> 4).saturating_mul(4),
            Item::Number(dtype) | Item::Key(Key { stored: dtype, .. }) => {
                count.saturating_mul(u64::from(dtype.bits() >> 3))
            }
            Item::TimeSpan | Item::DateTime => count.saturating_mul(8),
            Item::DateTimeOffset => count.saturating_mul(10),
            Item::RowId => count.saturating_mul(16),
        };
        payload.bytes = self.take(bytes)?;
        match item {
            Item::Bit => self.padding(payload.bytes, resident, start),
            Item::TwoBits => {
                self.pairs(&payload, start)?;
                self.padding(payload.bytes, resident.saturating_mul(2), start);
            }
            Item::Key(key) => self.ranks(&payload, &key, start),
            Item::DateTime => self.date_times(&payload, start),
            Item::DateTimeOffset => self.local_times(&payload, start),
            _ => {}
        }
        Ok(payload)
    }

    /// Validates that bits starting at `used` are 0.
    fn padding(&mut self, bytes: &[u8], used: usize, start: usize) {
        let first = used >> 3;
        let mask = u8::MAX.checked_shl(u32::try_from(used & 7).unwrap_or(0)).unwrap_or(0);
        let rest = bytes.get(first..).unwrap_or_default();
        let set = rest.iter().enumerate().position(|(i, byte)| {
            let unused = if i == 0 { byte & mask } else { *byte };
            unused != 0
        });
        if let Some(i) = set {
            let at = start.saturating_add(first).saturating_add(i);
            self.flag(rules::B_BOOL_PAD, at, 1, 0);
        }
    }

    /// Validates that no pair of bits is 11.
    fn pairs(&self, payload: &Payload<'_>, start: usize) -> Validated<()> {
        for (i, byte) in payload.bytes.iter().enumerate() {
            if byte & (byte >> 1) & 0x55 == 0 {
                continue;
            }
            let first = i.saturating_mul(4);
            let mut pairs = first..first.saturating_add(4).min(payload.count);
            if pairs.any(|pair| payload.bits(pair, 2) == Some(3)) {
                return Err(self.fault(rules::B_DVBOOL_3, start.saturating_add(i), 1, 2));
            }
        }
        Ok(())
    }

    /// Validates that ranks stay within the key's cardinality.
    fn ranks(&mut self, payload: &Payload<'_>, key: &Key, start: usize) {
        let Some(most) = key.count else { return };
        let over = |i: &usize| match payload.element(key.stored, *i) {
            Some(Element::Uint(rank)) => rank > most,
            _ => false,
        };
        if let Some(i) = (0..payload.count).find(over) {
            let width = key.stored.bits() >> 3;
            let before = i.saturating_mul(usize::try_from(width).unwrap_or(0));
            self.flag(rules::B_KEY_RANGE, start.saturating_add(before), u64::from(width), most);
        }
    }

    fn date_times(&mut self, payload: &Payload<'_>, start: usize) {
        let wrong = |i: &usize| payload.i64(*i).is_some_and(|ticks| !is_moment(ticks));
        if let Some(i) = (0..payload.count).find(wrong) {
            let at = start.saturating_add(i.saturating_mul(8));
            self.flag(rules::B_DT_RANGE, at, 8, LAST_TICK.unsigned_abs());
        }
    }

    /// Validates offsets, local times, and the resulting UTC times.
    fn local_times(&mut self, payload: &Payload<'_>, start: usize) {
        let ticks_at = start.saturating_add(payload.count.saturating_mul(2));
        let (mut offset, mut range) = (None, None);
        for i in 0..payload.count {
            let Some((ticks, minutes)) = payload.local(i) else { break };
            let sane = minutes == i16::MIN || (-MOST_MINUTES..=MOST_MINUTES).contains(&minutes);
            if !sane {
                offset = offset.or(Some(i));
                continue;
            }
            let ahead = if minutes == i16::MIN { 0 } else { i64::from(minutes) };
            let utc = at_least_0(ticks).saturating_sub(ahead.saturating_mul(MINUTE));
            if !is_moment(ticks) || !(0..=LAST_TICK).contains(&utc) {
                range = range.or(Some(i));
            }
        }
        if let Some(i) = offset {
            let at = start.saturating_add(i.saturating_mul(2));
            self.flag(rules::B_DTO_OFFSET, at, 2, u64::from(MOST_MINUTES.unsigned_abs()));
        }
        if let Some(i) = range {
            let at = ticks_at.saturating_add(i.saturating_mul(8));
            self.flag(rules::B_DTO_RANGE, at, 8, LAST_TICK.unsigned_abs());
        }
    }

    fn texts(&mut self, payload: Payload<'b>, count: u64) -> Validated<Payload<'b>> {
        let start = self.at;
        let found = self.word()?;
        if u64::try_from(found) != Ok(count) {
            return Err(self.fault(rules::B_TEXT_COUNT, start, 4, count));
        }
        let ends_at = self.at;
        let ends = self.words(count)?;
        let mut before = 0;
        for (i, word) in ends.iter().enumerate() {
            let end = position(word);
            let at = place(ends_at, i);
            if end < before {
                return Err(self.fault(rules::B_TEXT_ORDER, at, 4, u64::from(before)));
            }
            if word < 0 && end != before {
                return Err(self.fault(rules::B_TEXT_NA, at, 4, u64::from(before)));
            }
            before = end;
        }
        let length_at = self.at;
        let rest = self.bytes.get(length_at..).unwrap_or_default();
        let Some(length) = Leb::of(rest, LENGTH) else {
            return Err(self
                .take(widen(rest.len()).saturating_add(1))
                .err()
                .unwrap_or_else(|| self.fault(rules::B_SHORT, length_at, 0, 0)));
        };
        self.take(widen(length.len))?;
        if !length.shortest {
            let least = u64::from(least(length.value));
            self.flag(rules::B_TEXT_LEB, length_at, widen(length.len), least);
        }
        if !length.whole {
            return Err(self.fault(rules::B_TEXT_UTF8, length_at, widen(length.len), 0));
        }
        let at = self.at;
        let bytes = self.take(length.value)?;
        let joined = match core::str::from_utf8(bytes) {
            Ok(joined) => joined,
            Err(err) => {
                let at = at.saturating_add(err.valid_up_to());
                return Err(self.fault(rules::B_TEXT_UTF8, at, 1, 0));
            }
        };
        let total = units(joined);
        if total != u64::from(before) {
            let last = place(ends_at, ends.len()).saturating_sub(4);
            return Err(self.fault(rules::B_TEXT_TOTAL, last, 4, total));
        }
        Ok(Payload { ends, joined, ..payload })
    }
}

/// Whether ticks lie in the years 1 to 9999 or are the mark of a missing value.
fn is_moment(ticks: i64) -> bool {
    ticks == i64::MIN || (0..=LAST_TICK).contains(&ticks)
}
