//! The header.

use super::entry::{refuse, settle};
use super::text::first;
use super::{Header, field, rules};
use crate::base::{Word, place, wide, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

impl Header {
    /// Reads the header and validates its fields (guide, FileHeader).
    #[inline(always)]
    pub(super) fn read(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let len = r.source().len();
        r.region(0, field::HEADER, rules::HDR_SHORT);
        let magic = r.bytes(word(len.min(5)));
        settle(r)?;
        if !field::MAGIC.starts_with(magic) {
            return refuse(r, rules::HDR_MAGIC, Span::new(0, len.min(5)), 0, 0);
        }
        if len < field::HEADER {
            return refuse(r, rules::HDR_SHORT, Span::new(0, len), field::HEADER, len);
        }
        self.version = r.next_u32();
        let flags = r.next_u32();
        let [sizevars, metadata, tensors, _] = &mut self.sections;
        sizevars.count = r.next_u32();
        metadata.count = r.next_u32();
        tensors.count = r.next_u32();
        let reserved = r.next_u32();
        let mut offsets = [0; 4];
        for offset in &mut offsets {
            *offset = r.next_u64();
        }
        let size = r.next_u64();
        let padding = r.bytes(3);
        settle(r)?;

        if !matches!(self.version, 1 | 2) {
            let span = Span::new(field::AT_VERSION, 4);
            return refuse(r, rules::HDR_VERSION, span, 2, self.version.into());
        }
        if flags != 0 {
            r.flag(rules::HDR_FLAGS, field::AT_FLAGS, 4, 0, flags.into());
        }
        if reserved != 0 {
            r.flag(rules::HDR_RESERVED, field::AT_RESERVED, 4, 0, reserved.into());
        }
        if first(padding, |byte| byte != 0).is_some() {
            r.flag(rules::HDR_PAD, field::AT_PADDING, 3, 0, 0);
        }
        self.file_size = size;
        self.bound = size;
        let mut whole = size <= len;
        if r.source().is_exact() {
            self.bound = size.max(len);
            whole = size == len;
        }
        if !whole {
            r.flag(rules::HDR_FILESIZE, field::AT_FILE_SIZE, 8, size, len);
        } else if size & 7 != 0 {
            r.flag(rules::FILE_TAIL_ALIGN, field::AT_FILE_SIZE, 8, field::ALIGN, size);
        }
        let mut at = field::AT_OFFSETS;
        for (section, offset) in self.sections.iter_mut().zip(offsets) {
            // Start of the previous section.
            let least = self.data;
            if offset < least || offset > self.bound {
                let limit = if offset < least { least } else { self.bound };
                return refuse(r, rules::HDR_ORDER, Span::new(at, 8), limit, offset);
            }
            if offset & 7 != 0 {
                r.flag(rules::HDR_ALIGN, at, 8, field::ALIGN, offset);
            }
            self.data = offset;
            section.at = place(offset);
            at = at.wrapping_add(8);
        }
        Ok(())
    }

    /// Reports bytes before the first section, and bytes in sections without
    /// entries.
    #[inline(always)]
    pub(super) fn validate_gaps(&self, r: &mut Reader<'_, '_>) {
        const HEADER: Word = word(field::HEADER);
        let [first, ..] = self.sections;
        if first.at < HEADER {
            r.flag(rules::HDR_OVERLAP, field::AT_OFFSETS, 8, field::HEADER, wide(first.at));
        }
        let len = word(r.source().len());
        let (mut rule, mut from, mut count) = (rules::START_GAP, HEADER, 0);
        for section in &self.sections {
            let gap = wide(section.at.min(len).saturating_sub(from));
            if count == 0 && gap >= field::ALIGN {
                r.flag(rule, wide(from), gap, 0, gap);
            }
            (rule, from, count) = (rules::TABLE_GAP, section.at.max(HEADER), section.count);
        }
    }
}
