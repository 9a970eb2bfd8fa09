//! Proves that a tensor is sound: its type, extents, data, name, shape signature and quantisation.

use super::super::audit::{ALIGN, fits, is_inside};
use super::super::list;
use super::super::tensor::{LAST, RESOURCE, VARIANT, bytes, dtype};
use super::{Proof, items};
use crate::base::{limits::TFLITE_TEXT, utf8, widen};
use crate::format::Memory;
use crate::format::flatbuffer::Found;
use crate::model::DType;

/// Most extents of a shape that is proved, and most digits of them all.
const RANK: usize = 16;
const DIGITS: u32 = 32;

impl<M: Memory> Proof<'_, '_, M> {
    /// Proves the next tensor of the current subgraph.
    pub(super) fn tensor(&mut self, found: &Found<'_>) -> Option<()> {
        let file = self.bytes;
        let (number, entry) = (self.tensor, self.entry);
        (self.tensor, self.entry) = (number.wrapping_add(1), entry.wrapping_add(1));
        let shape = file.items::<4>(file.vector(found.field(0))?)?;
        let elements = elements(shape)?;
        let code = u32::from(file.byte(found.field(1))?);
        let buffer = file.number(found.field(2))?;
        let buffers = self.header.list(list::BUFFERS);
        let is_special = found.field(6) != 0 || file.number(found.field(10))? != 0;
        if code > LAST || buffer >= buffers.count || is_special {
            return None;
        }
        let place = usize::try_from(buffer).ok()?;
        let stored = file.open(file.table(items(buffers), place)?)?;
        let data = self.data([stored.field(0), stored.field(1), stored.field(2)])?;
        let is_variable = file.byte(found.field(5))? != 0;
        let len = bytes(code, elements)?;
        if data.count > 0 {
            let has_data = !matches!(code, TEXT | RESOURCE | VARIANT);
            if !has_data || is_variable || len != widen(data.count) {
                return None;
            }
            let at = widen(data.at);
            if at & ALIGN.wrapping_sub(1) != 0 && self.misaligned.is_none() {
                self.misaligned = Some((entry, at));
            }
        }
        self.mark(self.used, place)?;
        // A constant may have no elements, and then data of no bytes.
        let is_empty = data.at != 0 && buffer != 0 && elements == 0;
        if data.count > 0 || is_variable || is_empty {
            let is_input = self.mark(self.written, number)?;
            if is_input && data.count > 0 {
                return None;
            }
        }
        self.name(found.field(3))?;
        self.signature(found.field(7), shape)?;
        match found.field(4) {
            0 => Some(()),
            field => self.quantisation(field, code, shape),
        }
    }

    fn name(&self, field: usize) -> Option<()> {
        let text = self.bytes.vector(field)?;
        let name = self.bytes.items::<1>(text)?.as_flattened();
        let is_short = widen(name.len()) <= TFLITE_TEXT;
        (is_short && (name.is_ascii() || utf8::is(name))).then_some(())
    }

    /// The shape signature has the extents, or -1 in their place.
    #[inline]
    fn signature(&self, field: usize, shape: &[[u8; 4]]) -> Option<()> {
        if field == 0 {
            return Some(());
        }
        let signature = self.bytes.items::<4>(self.bytes.vector(field)?)?;
        let mut pairs = signature.iter().zip(shape);
        let agrees = pairs.all(|(extent, own)| extent == own || *extent == [u8::MAX; 4]);
        (signature.is_empty() || signature.len() == shape.len() && agrees).then_some(())
    }

    /// Scales and zero points that are in the table itself.
    fn quantisation(&self, field: usize, code: u32, shape: &[[u8; 4]]) -> Option<()> {
        let file = self.bytes;
        let table = file.open(file.target(field)?)?;
        let scales = file.vector(table.field(2))?;
        let zeros = file.vector(table.field(3))?;
        let kind = file.byte(table.field(4))?;
        let axis = file.number(table.field(6))?.cast_signed();
        let is_plain = kind == 0 && axis >= 0;
        if !is_plain || scales.count != zeros.count {
            return None;
        }
        if scales.count > 1 {
            let rank = u32::try_from(shape.len()).ok()?;
            let extent = shape.get(usize::try_from(axis).ok()?)?;
            let extent = usize::try_from(u32::from_le_bytes(*extent)).ok()?;
            if !is_inside(axis, rank) || extent != scales.count {
                return None;
            }
        }
        let are_scales = file.items::<4>(scales)?.iter().all(|scale| {
            let scale = f32::from_le_bytes(*scale);
            scale.is_finite() && scale > 0.0
        });
        let dtype = dtype(code).unwrap_or(DType::Unknown);
        let mut zeros = file.items::<8>(zeros)?.iter();
        let fit = are_scales && zeros.all(|zero| fits(dtype, i64::from_le_bytes(*zero)));
        fit.then_some(())
    }
}

/// Number of the type of texts.
const TEXT: u32 = 5;

/// Number of elements.
#[inline]
fn elements(shape: &[[u8; 4]]) -> Option<u64> {
    if shape.len() > RANK {
        return None;
    }
    let (mut product, mut is_empty, mut digits) = (1_u64, false, 0_u32);
    for extent in shape {
        let extent = u32::from_le_bytes(*extent);
        if extent > i32::MAX.cast_unsigned() {
            return None;
        }
        // Digits of three bits, as a tensor keeps them.
        let bits = u32::BITS.wrapping_sub((extent | 1).leading_zeros());
        digits = digits.wrapping_add(bits.wrapping_add(2).checked_div(3)?);
        is_empty |= extent == 0;
        product = product.checked_mul(extent.max(1).into())?;
    }
    (digits <= DIGITS).then_some(if is_empty { 0 } else { product })
}
