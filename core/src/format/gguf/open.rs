//! Opening: the header, and where the tables end.
//!
//! Neither table records its length, and the data begins after the second, so both are
//! skipped. Faults of an entry are reported when it is listed; here a fatal one ends the
//! scan.

use super::head::{self, u64};
use super::tensor;
use super::{Header, field, rules};
use crate::base::{division::padding, wide, word};
use crate::parse::{Cursor, Reader};
use crate::rule::Halt;

/// What the scan is before.
mod step {
    pub(super) const HEADER: u8 = 0;
    pub(super) const METADATA: u8 = 1;
    pub(super) const TENSORS: u8 = 2;
}

/// In `state`.
const BIG: u64 = 1 << 8;

impl Header {
    /// The cursor: `index` counts entries; `state` keeps version and byte order; `extra`
    /// keeps the alignment below the position of its entry; the last of `inner` keeps both
    /// counts, and the first, which lists in the metadata use before, the start of the
    /// tensors.
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        if c.phase == step::HEADER {
            header(r, c)?;
            c.phase = step::METADATA;
        }
        let big = c.state & BIG != 0;
        let [.., counts] = c.inner;
        let (count, metas) = (low(counts), high(counts));
        r.mute();
        if c.phase == step::METADATA {
            let passed = metadata(r, c, metas, big);
            if passed.is_err_and(Halt::is_absent) {
                return Err(Halt::ABSENT);
            }
            let at = if passed.is_ok() { c.at } else { 0 };
            let [first, ..] = &mut c.inner;
            *first = at;
            (c.index, c.within, c.phase) = (0, 0, step::TENSORS);
        }
        let [tensors_at, ..] = c.inner;
        let (tensors_at, mut tables_end) = (word(tensors_at), 0);
        if tensors_at != 0 {
            match tensors(r, c, count, big) {
                Ok(()) => tables_end = word(c.at),
                Err(halt) if halt.is_absent() => return Err(halt),
                Err(_) => {}
            }
        }
        r.unmute();
        let (alignment, align_entry) = (low(c.extra), high(c.extra));
        // The end saturates; then no tensor fits.
        let data_at = match (tables_end, alignment) {
            (0, _) | (_, 0) => 0,
            _ => tables_end.saturating_add(word(padding(wide(tables_end), alignment.into()))),
        };
        let version = u8::try_from(c.state & 0xFF).unwrap_or(0);
        Ok(Header {
            tensors_at,
            tables_end,
            data_at,
            metas,
            count,
            alignment,
            align_entry,
            version,
            big,
            #[cfg(feature = "sweep")]
            longest: super::lists::longest::of(c),
        })
    }
}

fn low(n: u64) -> u32 {
    u32::try_from(n & 0xFFFF_FFFF).unwrap_or(0)
}

fn high(n: u64) -> u32 {
    u32::try_from(n >> 32).unwrap_or(0)
}

fn pack(low: u32, high: u32) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

/// The fixed header.
fn header(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let len = r.source().len();
    r.region(0, len, rules::HEADER_LENGTH);
    r.read_ahead(head::AHEAD);
    r.require(len.min(field::HEADER))?;
    // Missing bytes of a shorter file read as 0, and are not validated.
    let magic = r.bytes(4);
    let stored = head::u32(r, false);
    // No version is so high that its lower half is zero in its own byte order.
    let big = stored != 0 && stored & 0xFFFF == 0;
    let version = if big { stored.swap_bytes() } else { stored };
    let (tensors, metas) = (u64(r, big), u64(r, big));
    // A 32-bit count times so little does not wrap.
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let (few, few_metas) = (small(tensors), small(metas));
    let table = u64::from(few_metas).wrapping_mul(field::LEAST_META);
    let needs = table.wrapping_add(u64::from(few).wrapping_mul(field::LEAST_TENSOR));
    let left = r.left();
    let room = |left, least| head::room(left, least).min(u32::MAX.into());
    let (rule, at, expected, found) = if magic != field::MAGIC {
        (rules::MAGIC, 0, 0, 0)
    } else if len < field::HEADER {
        (rules::HEADER_LENGTH, 0, field::HEADER, len)
    } else if version == 1 {
        (rules::VERSION_1, 4, 3, 1)
    } else if !matches!(version, 2 | 3) {
        (rules::VERSION, 4, 3, version.into())
    } else if table > left || metas != few_metas.into() {
        (rules::COUNT_METADATA, 16, room(left, field::LEAST_META), metas)
    } else if needs > left || tensors != few.into() {
        let left_after = left.wrapping_sub(table);
        (rules::COUNT_TENSORS, 8, room(left_after, field::LEAST_TENSOR), tensors)
    } else {
        if big && version == 2 {
            r.flag(rules::VERSION_BIG, 4, 4, 3, version.into());
        }
        let [.., counts] = &mut c.inner;
        *counts = pack(few, few_metas);
        c.at = field::HEADER;
        c.state = u64::from(version) | if big { BIG } else { 0 };
        c.extra = pack(field::ALIGNMENT, u32::MAX);
        return Ok(());
    };
    let field = match at {
        0 if rule == rules::MAGIC => len.min(4),
        0 => len,
        4 => 4,
        _ => 8,
    };
    r.flag(rule, at, field, expected, found);
    Err(Halt::refused(rule))
}

/// Skips the metadata, and keeps the alignment.
fn metadata(r: &mut Reader<'_, '_>, c: &mut Cursor, metas: u32, big: bool) -> Result<(), Halt> {
    while c.index < metas || c.within != 0 {
        head::pass(r, c, big)?;
        #[cfg(feature = "sweep")]
        super::lists::longest::leave(c);
        if c.index >= metas {
            break;
        }
        c.step(|c| {
            let mut entry = head::Entry::default();
            head::entry(r, c, big, &mut entry)?;
            if high(c.extra) == u32::MAX && entry.key == field::ALIGNMENT_KEY {
                let sound = entry.tag == field::UINT32 && field::aligns(entry.number);
                c.extra = pack(if sound { entry.number } else { 0 }, c.index);
            }
            c.index = c.index.wrapping_add(1);
            #[cfg(feature = "sweep")]
            super::lists::longest::enter(c);
            Ok(())
        })?;
    }
    Ok(())
}

/// Skips the entries of tensors.
fn tensors(r: &mut Reader<'_, '_>, c: &mut Cursor, count: u32, big: bool) -> Result<(), Halt> {
    while c.index < count {
        head::go(r, c.at);
        #[cfg(feature = "sweep")]
        {
            let (skimmed, rest) =
                super::sweep::skim(r.resident(), count.wrapping_sub(c.index), big);
            if skimmed > 0 {
                r.pass(rest);
                (c.at, c.index) = (r.at(), c.index.saturating_add(skimmed));
                continue;
            }
        }
        tensor::entry(r, big, &mut tensor::Entry::default())?;
        c.advance(r.at());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::head::u32;
    use super::*;

    #[test]
    fn two_numbers_in_one() {
        let both = pack(7, u32::MAX);
        assert_eq!((low(both), high(both)), (7, u32::MAX));
    }

    #[test]
    fn numbers_of_either_order() {
        let bytes = [0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9];
        let source = crate::input::Source::whole(&bytes);
        let mut sink = |_| {};
        let mut r = Reader::new(&source, &mut sink);
        assert_eq!(u32(&mut r, true), 3);
        assert_eq!(u64(&mut r, true), 9);
        assert_eq!(r.settle(), Ok(()));
        assert_eq!(u32(&mut r, true), 0);
        assert!(r.settle().is_err());
    }
}
