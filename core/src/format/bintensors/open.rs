//! Opening: where the lists and the data begin.

use super::{Header, field, fields, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::read::{Halt, Reader};
use crate::slot::wide;

impl Header {
    /// Passes over the metadata. Between calls the cursor is before one of its
    /// entries, `state` keeps the number of them above the offset of the data, and
    /// `extra` where they begin.
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        let mut header = Header { data_at: 0, meta_at: 0, list_at: 0, meta_count: 0, count: 0 };
        if cfg!(not(feature = "windows")) || c.phase == 0 {
            header.front(r)?;
            c.at = r.at();
        } else {
            let low = |n: u64| u32::try_from(n & 0xFFFF_FFFF).unwrap_or(0);
            (header.data_at, header.meta_count) = (low(c.state), low(c.state >> 32));
            header.meta_at = low(c.extra);
        }
        if cfg!(feature = "windows") {
            c.phase = 1;
            c.state = header.data_at() | (u64::from(header.meta_count) << 32);
            c.extra = header.meta_at.into();
        }
        loop {
            // Nothing else needs an entry of its own where all bytes are there.
            if cfg!(feature = "windows") {
                r.region(c.at, header.data_at(), rules::F4);
            }
            if c.index >= header.meta_count {
                break;
            }
            r.about(Kind::Metadata, c.index);
            fields::pass_pair(r)?;
            c.advance(r.at());
        }
        r.about(Kind::File, 0);
        header.count = fields::count(r, field::ENTRY, rules::T1)?;
        header.list_at = low(r);
        let data = header.data_len(r);
        if header.count == 0 && data > 0 && r.source().is_exact() {
            r.flag(rules::B1, header.data_at(), wide(data), 0, wide(data));
        }
        Ok(header)
    }

    /// Reads up to the first metadata entry or, if there is no metadata, up to
    /// the number of tensors.
    fn front(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let len = r.source().len();
        r.region(0, field::LENGTH, rules::F1);
        let length = r.u64()?;
        if length > field::LONGEST {
            r.flag(rules::F2, 0, field::LENGTH, field::LONGEST, length);
            return Err(Halt::refused(rules::F2));
        }
        let data_at = length.wrapping_add(field::LENGTH);
        if data_at > len {
            r.flag(rules::F3, 0, field::LENGTH, data_at, len);
            return Err(Halt::refused(rules::F3));
        }
        self.data_at = u32::try_from(data_at).unwrap_or(0);
        // From the start again, so that both are asked for together: a host may
        // hold no more than it is asked for.
        r.region(0, data_at, rules::F4);
        r.skip(field::LENGTH)?;
        let tag = r.u8()?;
        match tag {
            field::NONE => {}
            field::SOME => {
                self.meta_count = fields::count(r, field::PAIR, rules::M2)?;
                self.meta_at = low(r);
            }
            _ => {
                r.flag(rules::M1, field::LENGTH, 1, 0, u64::from(tag));
                return Err(Halt::refused(rules::M1));
            }
        }
        Ok(())
    }
}

/// Where the reader stands, in the header.
fn low(r: &Reader<'_, '_>) -> u32 {
    u32::try_from(r.at()).unwrap_or(0)
}
