//! A member: its local header (4.3.7), data, and optional data descriptor (4.3.9).

use super::directory::{Extra, flag};
use super::{Fault, Member, Rules, refuse, u16_at, u32_at, u64_at};
use crate::base::{limits::METADATA_AHEAD, widen};
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::rule::Halt;

const SIGNATURE: [u8; 4] = *b"PK\x03\x04";
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
/// Length of a local header without name and extra fields.
pub(crate) const LEN: u64 = 30;
/// Length of the longest data descriptor.
const DESCRIPTOR_LEN: u64 = 24;

/// A local header as stored.
#[derive(Clone, Copy)]
pub(crate) struct Local<'a> {
    head: &'a [u8; 30],
    extra: &'a [u8],
    pub(crate) name: NameAt,
    /// Whether the name is ASCII, which every reader decodes alike.
    ascii: bool,
    /// The stored bytes.
    pub(crate) data: Span,
}

impl Member {
    /// Reads the local header, and leaves the reader at the data. Members end at or before
    /// `limit`.
    pub(crate) fn local<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        limit: u64,
        rules: Rules,
    ) -> Result<Local<'a>, Halt> {
        r.region(self.offset, limit, rules(Fault::LocalTruncated));
        // The host may read ahead, to include an array header at the start of the data.
        r.read_ahead(self.offset.saturating_add(METADATA_AHEAD).min(limit));
        let head: &[u8; 30] = r.array()?;
        if !head.starts_with(&SIGNATURE) {
            let span = Span::new(self.offset, 4);
            return Err(refuse(r, rules(Fault::LocalSignature), span, 0, 0));
        }
        let name = NameAt::plain(r.at(), u16_at(head, 26).into());
        let ascii = r.take(name.len.into())?.is_ascii();
        let extra = r.take(u16_at(head, 28).into())?;
        let data = Span::new(r.at(), self.stored);
        if data.end().is_none_or(|end| end > limit) {
            let found = data.end().unwrap_or(u64::MAX);
            let span = Span::between(data.offset, limit);
            return Err(refuse(r, rules(Fault::DataEnd), span, limit, found));
        }
        Ok(Local { head, extra, name, ascii, data })
    }

    /// Reports where a local header differs from the directory.
    pub(crate) fn compare(&self, r: &mut Reader<'_, '_>, local: &Local<'_>, rules: Rules) {
        let Local { head, extra, .. } = *local;
        let mut check = |holds: bool, fault, at: u64, len, expected: u64, found: u64| {
            if !holds {
                r.flag(rules(fault), self.offset.wrapping_add(at), len, expected, found);
            }
        };
        let (flags, method, crc) = (u16_at(head, 6), u16_at(head, 8), u32_at(head, 14));
        // Under two encodings, the same bytes are two names.
        let renamed = !local.ascii && (flags ^ self.flags) & flag::UTF8 != 0;
        let fault = if renamed { Fault::LocalName } else { Fault::LocalFlags };
        check(flags == self.flags, fault, 6, 2, self.flags.into(), flags.into());
        let expected = self.method.into();
        check(method == self.method, Fault::LocalMethod, 8, 2, expected, method.into());
        // With a descriptor, CRC and sizes are zero unless they were filled in later.
        let open = |stated: u64| self.has_descriptor() && stated == 0;
        let same = crc == self.crc || open(crc.into());
        check(same, Fault::LocalCrc, 14, 4, self.crc.into(), crc.into());
        let parts = Extra::of(extra);
        let at = LEN.wrapping_add(u16_at(head, 26).into());
        let len = widen(extra.len());
        check(!parts.cut, Fault::LocalExtra, at, len, 0, 0);
        check(!parts.rest, Fault::ExtraRest, at, len, 0, 0);
        check(!parts.names, Fault::NameAgain, at, len, 0, 0);
        if parts.many > 1 {
            return check(false, Fault::Zip64Excess, at, len, 16, u64::from(parts.many) << 4);
        }
        let wrong = |stored, size| {
            let fits = |stated, known| stated == known || open(stated);
            match (fits(stored, self.stored), fits(size, self.size)) {
                (false, _) => Some((self.stored, stored)),
                (true, false) => Some((self.size, size)),
                (true, true) => None,
            }
        };
        let (stored, size) = (u64::from(u32_at(head, 18)), u64::from(u32_at(head, 22)));
        let (large_size, large_stored) = parts.sizes().unwrap_or((size, stored));
        let full = u64::from(u32::MAX);
        let or = |short, large| if short == full { large } else { short };
        // Some readers take the first number for the only size that is all ones.
        let next = if parts.many > 0 && size != full { large_size } else { large_stored };
        let taken = wrong(or(stored, large_stored), or(size, large_size))
            .or_else(|| wrong(or(stored, next), or(size, large_size)));
        if let Some((expected, found)) = taken {
            check(false, Fault::LocalSizes, 18, 8, expected, found);
        } else if let Some((expected, found)) = wrong(large_stored, large_size) {
            check(false, Fault::LocalSizes, at, len, expected, found);
        }
    }

    /// The length of the name in the local header, and the header's length; `None` if there
    /// is no local header, or its data ends after `limit`.
    pub(crate) fn head(
        &self,
        r: &mut Reader<'_, '_>,
        limit: u64,
    ) -> Result<Option<(u16, u32)>, Halt> {
        let head = match self.offset.checked_add(LEN) {
            Some(end) if end <= limit => r.get(Span::new(self.offset, LEN))?,
            _ => return Ok(None),
        };
        let (name, extra) = (u16_at(head, 26), u16_at(head, 28));
        let len = 30_u32.wrapping_add(name.into()).wrapping_add(extra.into());
        let end = self.offset.saturating_add(len.into()).saturating_add(self.stored);
        let found = head.starts_with(&SIGNATURE) && end <= limit;
        Ok(found.then_some((name, len)))
    }

    /// Location of the name in the local header, if it has the same length there.
    pub(crate) fn local_name(&self) -> NameAt {
        NameAt::plain(self.offset.wrapping_add(LEN), self.name_len.into())
    }

    /// End of the data. The length of the local header must be known.
    pub(crate) fn data_end(&self) -> u64 {
        self.offset.wrapping_add(self.head.into()).wrapping_add(self.stored)
    }

    /// Whether CRC and sizes follow the data.
    pub(crate) const fn has_descriptor(&self) -> bool {
        self.flags & flag::DESCRIPTOR != 0
    }

    /// Whether the sizes in the data descriptor have 8 bytes: the local header has a zip64 field
    /// (4.3.9.2), or they do not fit in 4. The length of the local header must be known.
    pub(crate) fn is_wide(&self, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        let header = r.get(Span::new(self.offset, self.head.into()))?;
        let name = usize::from(u16_at(header, 26));
        let extra = header.get(30..).and_then(|rest| rest.get(name..)).unwrap_or_default();
        Ok(Extra::of(extra).many > 0 || self.stored.max(self.size) > u32::MAX.into())
    }

    /// The length of the data descriptor, in the one of its four forms that agrees with the
    /// directory, and whether its sizes have 8 bytes; `None` if none does.
    pub(crate) fn descriptor(
        &self,
        r: &mut Reader<'_, '_>,
        limit: u64,
    ) -> Result<Option<(u64, bool)>, Halt> {
        let at = self.data_end();
        let span = Span::between(at, at.saturating_add(DESCRIPTOR_LEN).min(limit));
        let bytes = r.get(span)?;
        let mut forms = [Some(bytes), bytes.strip_prefix(&DESCRIPTOR)];
        forms.reverse();
        for (form, before) in forms.into_iter().zip([4, 0]) {
            let Some(form) = form.filter(|form| form.len() >= 12) else { continue };
            let wide =
                form.len() >= 20 && (u64_at(form, 4), u64_at(form, 12)) == (self.stored, self.size);
            let narrow = (u64::from(u32_at(form, 4)), u64::from(u32_at(form, 8)))
                == (self.stored, self.size);
            if u32_at(form, 0) == self.crc && (wide || narrow) {
                return Ok(Some((if wide { 20_u64 } else { 12 }.wrapping_add(before), wide)));
            }
        }
        Ok(None)
    }
}
