//! Opening: the offsets of the lists and the data.

use super::{Cursor, Header, field, fields, low, rules};
use crate::base::{place, wide, word};
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

impl Header {
    /// Skips the metadata. Between calls the cursor stands before a metadata
    /// entry.
    pub(super) fn open_steps(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        let mut header = Header::NONE;
        #[cfg(not(feature = "windows"))]
        header.front(r)?;
        #[cfg(feature = "windows")]
        if c.phase == 0 {
            header.front(r)?;
            r.settle()?;
            c.at = r.at();
            c.state.header = header;
            c.phase = 1;
        } else {
            header = c.state.header;
        }
        while c.index < header.meta_count {
            #[cfg(feature = "windows")]
            r.region(c.at, header.data_at(), rules::F4);
            r.about(EntryKind::Metadata, c.index);
            fields::pass_pair(r)?;
            c.advance(r.at());
        }
        #[cfg(feature = "windows")]
        r.region(c.at, header.data_at(), rules::F4);
        r.about(EntryKind::File, 0);
        header.count = fields::count(r, field::ENTRY, rules::T1);
        header.list_at = low(r.here());
        r.settle()?;
        let data = header.data_len(r);
        if header.count == 0 && data > 0 && r.source().is_exact() {
            r.flag(rules::B1, header.data_at(), data, 0, data);
        }
        Ok(header)
    }

    /// Reads up to the first metadata entry or, without metadata, up to the
    /// tensor count.
    fn front(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let len = word(r.source().len());
        r.region(0, field::LENGTH, rules::F1);
        let (length, longest) = (fields::fixed(r), word(field::LONGEST));
        r.settle()?;
        let data_at = place(length).saturating_add(word(field::LENGTH));
        let (mut rule, mut at, mut most, mut found) = (rules::F3, 0, wide(data_at), wide(len));
        if place(length) > longest {
            (rule, most, found) = (rules::F2, field::LONGEST, length);
        } else if data_at <= len {
            self.data_at = low(data_at);
            // Starts again, so that the length and what follows are requested together: a
            // host may hold no more than the latest request.
            r.region(0, wide(data_at), rules::F4);
            fields::fixed(r);
            match r.bytes(1).first().copied().unwrap_or(field::NONE) {
                field::NONE => return Ok(()),
                field::SOME => {
                    self.meta_count = fields::count(r, field::PAIR, rules::M2);
                    self.meta_at = low(r.here());
                    return Ok(());
                }
                tag => (rule, at, most, found) = (rules::M1, field::LENGTH, 0, tag.into()),
            }
        }
        let bytes = if at == 0 { field::LENGTH } else { 1 };
        r.flag(rule, at, bytes, most, found);
        Err(Halt::refused(rule))
    }
}
