//! Entries of the tensor table.

use super::index::{Place, Text, judge_text};
use super::{Header, Table, element_type, field, rules};
use crate::cursor::Cursor;
use crate::dims::{DimEncoding, Dims, DimsAt};
use crate::dtype::DType;
use crate::finding::Kind;
use crate::read::{Halt, Reader};
use crate::source::Span;
use crate::tensor::{Chunks, Status, Tensor};

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

impl Header {
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
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => return Ok(None),
        };
        c.advance(end);
        judge_text(r, &entry.name);
        let tensor = self.judge_tensor(r, &entry);
        slack.judge(r);
        Ok(Some(tensor))
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
        let len = u64::from(rank).wrapping_mul(8);
        match u32::try_from(len) {
            Ok(len) if u64::from(rank) <= room && r.left() >= trailer => {
                Ok(DimsAt { at: r.at(), len, rank, lead: None, encoding: DimEncoding::U64 })
            }
            _ => {
                let span = Span::new(fields.wrapping_add(4), 4);
                self.overrun(r, table, rules::TENSOR_NDIM, span, [room, u64::from(rank)])
            }
        }
    }

    fn judge_tensor(&self, r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> Tensor {
        let Entry { fields, tag, flags, data, .. } = *entry;
        let has_data = flags & field::HAS_DATA != 0;
        let has_quant = entry.quant.is_some() && flags & field::HAS_QUANT != 0;
        let known =
            if self.version == 1 { field::HAS_DATA } else { field::HAS_DATA | field::HAS_QUANT };
        let unknown = u64::from(flags & !known);
        let flags_at = Span::new(fields.wrapping_add(8), 4);
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
        let data_at = entry.dims.at.wrapping_add(u64::from(entry.dims.len));
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
                offset_at: data_at.wrapping_add(8),
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
                let quant_at = data_at.wrapping_add(16);
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
