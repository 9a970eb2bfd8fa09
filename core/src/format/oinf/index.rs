//! The three tables, entry by entry.

use super::{Header, Place, Table, element_type, field, rules};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, Dims, DimsAt};
use crate::dtype::DType;
use crate::finding::Kind;
use crate::name::NameAt;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::{Span, widen};
use crate::tensor::{Chunks, Meta, Status, Tensor};

/// A string with its padding, taken but not judged.
pub(super) struct Text<'a> {
    at: NameAt,
    bytes: &'a [u8],
    padding: &'a [u8],
}

/// What follows the last entry of a table.
enum Slack<'a> {
    /// Another entry, or nothing.
    None,
    /// Padding, and where it lies.
    Padding(u64, &'a [u8]),
    /// More than padding.
    Gap(Span),
}

impl Header {
    /// The next sizevar; `None` behind the last one.
    pub(super) fn sizevar_entry(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let table = self.sizevars;
        if !self.enter(r, c, table, Kind::SizeVar) {
            return Ok(None);
        }
        let index = c.index;
        let at = r.at();
        let broken =
            Meta { kind: Kind::SizeVar, index, at, status: Status::Broken, ..Meta::default() };
        let taken = self.string(r, table).and_then(|name| {
            self.require(r, table, 8)?;
            let stored = Span::new(r.at(), 8);
            r.u64()?;
            let end = r.at();
            Ok((name, stored, end, self.slack(r, c, table)?))
        });
        let (name, stored, end, slack) = match taken {
            Ok(taken) => taken,
            Err(Halt::Absent) => return Err(Halt::Absent),
            Err(_) if is_cut(r, table) => return Ok(None),
            Err(_) => {
                c.next_phase();
                return Ok(Some(broken));
            }
        };
        c.advance(end);
        judge_text(r, &name);
        slack.judge(r);
        Ok(Some(Meta { key: name.at, status: Status::Sound, stored, ..broken }))
    }

    /// The next metadata entry; `None` behind the last one, and where the table
    /// cannot be read on.
    pub(super) fn metadata_entry(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let table = self.metadata;
        if !self.enter(r, c, table, Kind::Metadata) {
            return Ok(None);
        }
        let index = c.index;
        let at = r.at();
        let taken = self.string(r, table).and_then(|key| {
            self.require(r, table, 24)?;
            let fields = r.at();
            let (tag, flags) = (r.u32()?, r.u32()?);
            let (nbytes, offset) = (r.u64()?, r.u64()?);
            let end = r.at();
            let slack = self.slack(r, c, table)?;
            Ok((key, fields, tag, flags, Span::new(offset, nbytes), end, slack))
        });
        let (key, fields, tag, flags, stored, end, slack) = match taken {
            Ok(taken) => taken,
            Err(Halt::Absent) => return Err(Halt::Absent),
            Err(_) => return Ok(None),
        };
        c.advance(end);
        judge_text(r, &key);
        let mut sound = true;
        let flags_at = Span::new(fields.saturating_add(4), 4);
        r.check(flags == 0, rules::META_FLAGS, flags_at, 0, u64::from(flags));
        let scalar = element_type(tag);
        let known = scalar.is_some() || matches!(tag, field::BITSET..=field::NDARRAY);
        if !known {
            r.flag(rules::META_TYPE, fields, 4, 25, u64::from(tag));
            sound = false;
        }
        let place = Place {
            stored,
            offset_at: fields.saturating_add(16),
            align: rules::META_ALIGN,
            before: rules::META_BEFORE,
            bounds: rules::META_BOUNDS,
            overflow: rules::META_OVERFLOW,
        };
        let placed = place.judge(r, self, true);
        if let Some(size) = scalar.and_then(|dtype| dtype.bytes(1))
            && placed
            && size != stored.len
        {
            r.flag(rules::META_SIZE, fields.saturating_add(8), 8, size, stored.len);
            sound = false;
        }
        slack.judge(r);
        let status = if sound && placed { Status::Sound } else { Status::Broken };
        Ok(Some(Meta { kind: Kind::Metadata, index, at, key: key.at, tag, status, stored }))
    }

    /// The next tensor; `None` behind the last one, and where the table cannot
    /// be read on.
    pub(super) fn tensor_entry(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Tensor>, Halt> {
        let table = self.tensors;
        if !self.enter(r, c, table, Kind::Tensor) {
            return Ok(None);
        }
        let at = r.at();
        let taken = self.string(r, table).and_then(|name| {
            self.require(r, table, 12)?;
            let fields = r.at();
            let (tag, rank, flags) = (r.u32()?, r.u32()?, r.u32()?);
            let dims = self.dims(r, table, fields, rank)?;
            let extents = r.take(u64::from(dims.len))?;
            let nbytes = r.u64()?;
            let data = Span::new(r.u64()?, nbytes);
            let quant = if self.version == 1 {
                None
            } else {
                let nbytes = r.u64()?;
                Some(Span::new(r.u64()?, nbytes))
            };
            let end = r.at();
            let slack = self.slack(r, c, table)?;
            Ok((Entry { at, name, fields, tag, flags, dims, extents, data, quant }, end, slack))
        });
        let (entry, end, slack) = match taken {
            Ok(taken) => taken,
            Err(Halt::Absent) => return Err(Halt::Absent),
            Err(_) => return Ok(None),
        };
        c.advance(end);
        judge_text(r, &entry.name);
        let tensor = self.judge_tensor(r, &entry);
        slack.judge(r);
        Ok(Some(tensor))
    }

    /// Empty sections that are not empty.
    pub(super) fn judge_empty_tables(&self, r: &mut Reader<'_, '_>) {
        for table in [self.sizevars, self.metadata, self.tensors] {
            let gap = Span::between(table.at.max(field::HEADER), table.end.min(r.source().len()));
            if table.count == 0 && gap.len >= field::ALIGN {
                r.flag(rules::TABLE_GAP, gap.at, gap.len, 0, gap.len);
            }
        }
    }

    /// Goes to the entry that the cursor stands before; `false` if there is
    /// none.
    fn enter(&self, r: &mut Reader<'_, '_>, c: &Cursor, table: Table, kind: Kind) -> bool {
        r.region(c.at.max(table.at), table.end, BYTES_CHANGED);
        // The tables lie next to each other and are read in order.
        r.read_ahead(self.data);
        r.about(kind, c.index);
        c.index < table.count
    }

    /// Reports that what follows does not fit into the table's section, unless
    /// that is because the file is cut off.
    #[cold]
    fn overrun<O>(
        &self,
        r: &mut Reader<'_, '_>,
        table: Table,
        rule: Rule,
        span: Span,
        [expected, found]: [u64; 2],
    ) -> Result<O, Halt> {
        if !is_cut(r, table) {
            r.flag(rule, span.at, span.len, expected, found);
        }
        Err(Halt::Refused(rule))
    }

    /// The section has `len` bytes left.
    fn require(&self, r: &mut Reader<'_, '_>, table: Table, len: u64) -> Result<(), Halt> {
        let left = r.left();
        if len > left {
            let span = Span::new(r.at(), left);
            return self.overrun(r, table, rules::TABLE_OVERRUN, span, [len, left]);
        }
        Ok(())
    }

    /// A string and its padding.
    fn string<'a>(&self, r: &mut Reader<'_, 'a>, table: Table) -> Result<Text<'a>, Halt> {
        self.require(r, table, 8)?;
        let len_at = Span::new(r.at(), 4);
        let len = u64::from(r.u32()?);
        let padded = padded(len.saturating_add(4)).saturating_sub(4);
        let left = r.left();
        if padded > left {
            return self.overrun(r, table, rules::STR_LEN, len_at, [left, len]);
        }
        let at = NameAt::plain(r.at(), len);
        let bytes = r.take(len)?;
        let padding = r.take(padded.saturating_sub(len))?;
        Ok(Text { at, bytes, padding })
    }

    /// Where the extents of an entry lie, whose fixed fields are at `fields`.
    fn dims(
        &self,
        r: &mut Reader<'_, '_>,
        table: Table,
        fields: u64,
        rank: u32,
    ) -> Result<DimsAt, Halt> {
        let trailer = if self.version == 1 { 16 } else { 32 };
        let room = r.left().saturating_sub(trailer) >> 3;
        let len = u64::from(rank).saturating_mul(8);
        match u32::try_from(len) {
            Ok(len) if u64::from(rank) <= room && r.left() >= trailer => {
                Ok(DimsAt { at: r.at(), len, rank, lead: None, encoding: DimEncoding::U64 })
            }
            _ => {
                let span = Span::new(fields.saturating_add(4), 4);
                self.overrun(r, table, rules::TENSOR_NDIM, span, [room, u64::from(rank)])
            }
        }
    }

    /// What lies between the entry that was just taken and the next section.
    fn slack<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &Cursor,
        table: Table,
    ) -> Result<Slack<'a>, Halt> {
        if c.index.saturating_add(1) < table.count || is_cut(r, table) {
            return Ok(Slack::None);
        }
        let at = r.at();
        let left = r.left();
        if left >= field::ALIGN {
            return Ok(Slack::Gap(Span::new(at, left)));
        }
        Ok(Slack::Padding(at, r.take(left)?))
    }

    fn judge_tensor(&self, r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> Tensor {
        let Entry { fields, tag, flags, data, .. } = *entry;
        let has_data = flags & field::HAS_DATA != 0;
        let has_quant = entry.quant.is_some() && flags & field::HAS_QUANT != 0;
        let known =
            if self.version == 1 { field::HAS_DATA } else { field::HAS_DATA | field::HAS_QUANT };
        let unknown = u64::from(flags & !known);
        let flags_at = Span::new(fields.saturating_add(8), 4);
        r.check(unknown == 0, rules::TENSOR_FLAGS, flags_at, 0, unknown);

        let mut sound = true;
        let dtype = element_type(tag).unwrap_or(DType::Unknown);
        if dtype == DType::Unknown {
            r.flag(rules::TENSOR_DTYPE, fields, 4, 25, u64::from(tag));
            sound = false;
        }
        let product = Dims::new(entry.extents, entry.dims.rank, DimEncoding::U64).product();
        if product.is_none() {
            let DimsAt { at, len, .. } = entry.dims;
            r.flag(rules::TENSOR_NUMEL, at, u64::from(len), u64::MAX, u64::MAX);
            sound = false;
        }
        let data_at = entry.dims.at.saturating_add(u64::from(entry.dims.len));
        if has_data {
            let mut sized = true;
            if let (Some(count), true) = (product, dtype != DType::Unknown) {
                let size = dtype.bytes(count);
                if size != Some(data.len) {
                    r.flag(rules::TENSOR_SIZE, data_at, 8, size.unwrap_or(u64::MAX), data.len);
                    sized = false;
                }
            }
            let place = Place {
                stored: data,
                offset_at: data_at.saturating_add(8),
                align: rules::TENSOR_ALIGN,
                before: rules::TENSOR_BEFORE,
                bounds: rules::TENSOR_BOUNDS,
                overflow: rules::TENSOR_OVERFLOW,
            };
            sound &= place.judge(r, self, sized);
        } else if data != Span::default() {
            let found = if data.len != 0 { data.len } else { data.at };
            r.flag(rules::TENSOR_NODATA, data_at, 16, 0, found);
        }
        let extra = match entry.quant {
            Some(stored) => {
                let quant_at = data_at.saturating_add(16);
                sound &= self.judge_quant_place(r, stored, quant_at, has_quant, has_data);
                if has_quant { stored } else { Span::default() }
            }
            None => Span::default(),
        };
        Tensor {
            index: r.subject().entry,
            at: entry.at,
            name: entry.name.at,
            dtype,
            status: if sound { Status::Sound } else { Status::Broken },
            dims: entry.dims,
            elements: product.unwrap_or(0),
            chunks: if sound && has_data { Chunks::One(data) } else { Chunks::None },
            extra: if sound { extra } else { Span::default() },
            ..Tensor::default()
        }
    }
}

/// One entry of the tensor table, as it is stored.
struct Entry<'a> {
    at: u64,
    name: Text<'a>,
    /// Where the type is; rank and flags follow it.
    fields: u64,
    tag: u32,
    flags: u32,
    dims: DimsAt,
    extents: &'a [u8],
    data: Span,
    quant: Option<Span>,
}

impl Slack<'_> {
    fn judge(&self, r: &mut Reader<'_, '_>) {
        r.about(Kind::File, 0);
        match *self {
            Slack::None => {}
            Slack::Gap(gap) => r.flag(rules::TABLE_GAP, gap.at, gap.len, 0, gap.len),
            Slack::Padding(at, bytes) => judge_padding(r, rules::TABLE_SLACK, at, bytes),
        }
    }
}

/// Whether the file ends before the table's section does, which was reported
/// with the header.
fn is_cut(r: &Reader<'_, '_>, table: Table) -> bool {
    table.end > r.source().len()
}

/// `len` rounded up to a multiple of 8; all callers add to 32-bit lengths.
pub(super) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(field::ALIGN).unwrap_or(u64::MAX)
}

/// Rules of every string (guide, Strings).
fn judge_text(r: &mut Reader<'_, '_>, text: &Text<'_>) {
    let NameAt { at, len, .. } = text.at;
    if len == 0 {
        r.flag(rules::STR_EMPTY, at.saturating_sub(4), 4, 1, 0);
    }
    if let Some((i, byte)) = text.bytes.iter().enumerate().find(|(_, byte)| !is_name_byte(**byte)) {
        r.flag(rules::STR_CHARSET, at.saturating_add(widen(i)), 1, 0, u64::from(*byte));
    }
    judge_padding(r, rules::STR_PAD, at.saturating_add(u64::from(len)), text.padding);
}

/// Reports `rule` from the first byte on that is not zero.
pub(super) fn judge_padding(r: &mut Reader<'_, '_>, rule: Rule, at: u64, bytes: &[u8]) {
    if let Some((i, byte)) = bytes.iter().enumerate().find(|(_, byte)| **byte != 0) {
        let len = widen(bytes.len().saturating_sub(i));
        r.flag(rule, at.saturating_add(widen(i)), len, 0, u64::from(*byte));
    }
}

/// The alphabet of names and string values.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}
