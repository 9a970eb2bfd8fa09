//! Opening: the header, and the ends of the tables.
//!
//! Neither table records its length, and the data begins after the second, so both are
//! skipped entry by entry. Faults in an entry are reported when it is listed; here a fatal
//! fault ends the scan.

use super::head::{self, u64};
use super::{Cursor, Header, fast, field, rules, tensor};
use crate::base::{division::padding, wide, word};
use crate::parse::Reader;
use crate::rule::Halt;

/// Steps of the scan.
mod step {
    pub(super) const HEADER: u8 = 0;
    pub(super) const METADATA: u8 = 1;
    pub(super) const TENSORS: u8 = 2;
}

impl Header {
    /// Opens the file. The cursor counts entries, and keeps the header as far as it is known.
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        if c.phase == step::HEADER {
            header(r, c)?;
            c.phase = step::METADATA;
        }
        let Header { count, metas, big, .. } = c.state.header;
        r.mute();
        if c.phase == step::METADATA {
            let passed = metadata(r, c, metas, big);
            if passed.is_err_and(Halt::is_absent) {
                return Err(Halt::ABSENT);
            }
            c.state.header.tensors_at = if passed.is_ok() { word(c.at) } else { 0 };
            (c.index, c.state.within, c.phase) = (0, 0, step::TENSORS);
        }
        let mut tables_end = 0;
        if c.state.header.tensors_at != 0 {
            match tensors(r, c, count, big) {
                Ok(()) => tables_end = word(c.at),
                Err(halt) if halt.is_absent() => return Err(halt),
                Err(_) => {}
            }
        }
        r.unmute();
        let mut header = c.state.header;
        header.tables_end = tables_end;
        // The end saturates; no tensor fits after it.
        header.data_at = match (tables_end, header.alignment) {
            (0, _) | (_, 0) => 0,
            (end, alignment) => end.saturating_add(word(padding(wide(end), alignment.into()))),
        };
        header.longest = c.state.swept.longest();
        Ok(header)
    }
}

/// Reads and validates the fixed header.
fn header(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let len = r.source().len();
    r.region(0, len, rules::HEADER_LENGTH);
    r.read_ahead(head::AHEAD);
    r.require(len.min(field::HEADER))?;
    // If the file is shorter, missing bytes read as 0 and are not validated.
    let magic = r.bytes(4);
    let stored = head::u32(r, false);
    // No real version has a lower half of zero in its own byte order.
    let big = stored != 0 && stored & 0xFFFF == 0;
    let version = if big { stored.swap_bytes() } else { stored };
    let (tensors, metas) = (u64(r, big), u64(r, big));
    // A 32-bit count times an entry's minimum length does not wrap.
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
        c.at = field::HEADER;
        let version = if version == 2 { 2 } else { 3 };
        let (alignment, align_entry) = (field::ALIGNMENT, u32::MAX);
        c.state.header = Header {
            count: few,
            metas: few_metas,
            alignment,
            align_entry,
            version,
            big,
            ..Header::NONE
        };
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

/// Skips the metadata, and records the alignment.
fn metadata(r: &mut Reader<'_, '_>, c: &mut Cursor, metas: u32, big: bool) -> Result<(), Halt> {
    while c.index < metas || c.state.within != 0 {
        head::pass(r, c, big)?;
        c.state.leave(c.at);
        if c.index >= metas {
            break;
        }
        c.step(|c| {
            let mut entry = head::Entry::default();
            head::entry(r, c, big, &mut entry)?;
            let known = &mut c.state.header;
            if known.align_entry == u32::MAX && entry.key == field::ALIGNMENT_KEY {
                let sound = entry.tag == field::UINT32 && field::aligns(entry.number);
                known.alignment = if sound { entry.number } else { 0 };
                known.align_entry = c.index;
            }
            c.index = c.index.wrapping_add(1);
            c.state.enter(c.at);
            Ok(())
        })?;
    }
    Ok(())
}

/// Skips the tensor entries.
fn tensors(r: &mut Reader<'_, '_>, c: &mut Cursor, count: u32, big: bool) -> Result<(), Halt> {
    while c.index < count {
        head::go(r, c.at);
        let (skimmed, rest) = fast::skim(r.resident(), count.wrapping_sub(c.index), big);
        if skimmed > 0 {
            r.pass(rest);
            (c.at, c.index) = (r.at(), c.index.saturating_add(skimmed));
            continue;
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
    fn counts_are_read_in_both_byte_orders() {
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
