//! Where the tensors of a program in memory are: each number is checked where it is read.

use crate::base::{place, wide, word};
use crate::format::executorch::segment::Segments;
use crate::format::executorch::tensor::flag;
use crate::format::executorch::{Header, rules};
use crate::format::flatbuffer::reads::{Memo, Reads, Table, Vector};
use crate::input::Span;
use crate::model::{Chunks, Tensor};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The fields that say where a tensor is.
pub(in crate::format::executorch) struct Fields<'h> {
    header: &'h Header,
    table: Table,
    /// The sizes of the method's memory buffers.
    sizes: Vector,
    extra: Option<Table>,
    pub(in crate::format::executorch) name: Vector,
}

/// Numbers of a tensor that must not exceed a limit: field, width and limit.
const LIMITS: [(u8, u8, u8, Rule); 3] =
    [(1, 4, 0, rules::T_STORAGE), (7, 1, 0, rules::T_LAYOUT), (8, 1, 1, rules::T_DYNAMISM)];

impl<'h> Fields<'h> {
    #[inline(always)]
    pub(in crate::format::executorch) fn read(
        header: &'h Header,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: &Table,
        sizes: Vector,
    ) -> Result<Self, Halt> {
        let extra = reads.inner(table, 9)?;
        let name = match &extra {
            Some(extra) => reads.vector(extra, 1)?,
            None => Vector::NONE,
        };
        Ok(Fields { header, table: *table, sizes, extra, name })
    }

    /// Checks them for a tensor of this many bytes, of elements of this width.
    #[inline(always)]
    pub(in crate::format::executorch) fn check(
        &self,
        r: &mut Reader<'_, '_>,
        (bytes, width): (u64, u32),
        alone: bool,
        tensor: &mut Tensor,
    ) -> Option<()> {
        self.checked(r, bytes, width, alone, tensor).ok().flatten()
    }

    #[inline(never)]
    fn checked(
        &self,
        r: &mut Reader<'_, '_>,
        bytes: u64,
        width: u32,
        alone: bool,
        tensor: &mut Tensor,
    ) -> Result<Option<()>, Halt> {
        let Fields { header, table, .. } = *self;
        let (mut memo, whole) = (Memo::NONE, table.span());
        let mut reads = Reads::new(r, &mut memo);
        for &(field, width, most, rule) in &LIMITS {
            let number = reads.value(&table, field, width)?;
            reads.r.check(number <= most.into(), rule, whole, 0, 0);
        }
        let (mut location, mut list) = (0, 0);
        if let Some(extra) = self.extra {
            location = reads.value(&extra, 2, 1)?;
            list = reads.long(&extra, 0)?;
        }
        if location > 1 {
            return Ok(flag(reads.r, rules::T_LOCATION, whole, 0, 0));
        }
        let planned = reads.inner(&table, 6)?;
        if let Some(planned) = planned
            && !alone
            && self.planned(&mut reads, &planned, bytes)?.is_none()
        {
            return Ok(None);
        }
        let index = reads.value(&table, 5, 4)?;
        if location == 1 {
            reads.r.check(self.name.count > 0, rules::T_KEY, whole, 0, 0);
            return Ok(Some(()));
        }
        if index == 0 {
            return Ok(Some(()));
        }
        let (mut segment, mut offsets) = (header.constant, header.offsets);
        if planned.is_some() {
            let Some(list) = u32::try_from(list).ok().filter(|list| *list < header.mutable.count)
            else {
                return Ok(flag(reads.r, rules::T_MUTABLE, whole, 0, 0));
            };
            let list = reads.item(header.mutable, list)?;
            segment = reads.value(&list, 0, 4)?;
            offsets = reads.vector(&list, 1)?;
        } else if header.buffers.count > 0 {
            offsets = header.buffers;
        }
        if index >= offsets.count {
            return Ok(flag(reads.r, rules::T_INDEX, whole, 0, 0));
        }
        let need = place(bytes);
        let (at, left, rule);
        if planned.is_none() && header.buffers.count > 0 {
            let buffer = reads.item(offsets, index)?;
            let stored = reads.vector(&buffer, 0)?.span(1);
            (at, left, rule) = (word(stored.offset), word(stored.len), rules::T_SHORT);
            reads.r.check(left <= need, rules::T_LONG, whole, 0, 0);
        } else {
            let offset = place(reads.number(offsets.place(index, 8), 8)?);
            // A number or an offset that is outside is reported with the list of offsets.
            let Some(Span { offset: start, len }) =
                Segments::find(header, &mut reads, segment)?.span()
            else {
                return Ok(None);
            };
            let Some(rest) = word(len).checked_sub(offset) else { return Ok(None) };
            (at, left, rule) = (word(start).wrapping_add(offset), rest, rules::T_RANGE);
        }
        if left < need {
            return Ok(flag(reads.r, rule, whole, 0, 0));
        }
        tensor.chunks = Chunks::One(Span::new(wide(at), bytes));
        // A width is a power of two.
        let odd = at & word(width.into()).wrapping_sub(1);
        reads.r.check(odd == 0 || need == 0, rules::T_ALIGN, whole, 0, 0);
        Ok(Some(()))
    }

    /// Checks that this many bytes fit into planned memory; `None` if they do not.
    fn planned(
        &self,
        reads: &mut Reads<'_, '_, '_, '_>,
        table: &Table,
        bytes: u64,
    ) -> Result<Option<()>, Halt> {
        let id = reads.value(table, 0, 4)?;
        let low = reads.value(table, 1, 4)?;
        let high = reads.value(table, 2, 4)?;
        let whole = table.span();
        if id == 0 || id >= self.sizes.count {
            return Ok(flag(reads.r, rules::T_MEMORY, whole, 0, 0));
        }
        let size = reads.number(self.sizes.place(id, 8), 8)?;
        let offset = u64::from(low) | u64::from(high) << 32;
        let end = offset.checked_add(bytes).filter(|end| *end <= size);
        // A negative size is reported with the memory plan.
        if end.is_none() && size.cast_signed() >= 0 {
            return Ok(flag(reads.r, rules::T_PLANNED, whole, 0, 0));
        }
        Ok(Some(()))
    }
}
