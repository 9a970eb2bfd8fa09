//! Entries of the tensor table.

use super::index::{Entry, PlaceRules};
use super::{Header, element_type, field, rules, size_of};
use crate::dims::{DimEncoding, DimsAt};
use crate::dtype::DType;
use crate::read::Reader;
use crate::rule::Rule;
use crate::slot::wide;
use crate::source::{Span, widen};
use crate::tensor::{Chunks, Tensor};

/// Where extents begin, behind the type, the rank and the flags.
const EXTENTS: u64 = 12;

static PLACE: PlaceRules =
    [rules::TENSOR_ALIGN, rules::TENSOR_BEFORE, rules::TENSOR_BOUNDS, rules::TENSOR_OVERFLOW];

static PLACE_QUANT: PlaceRules =
    [rules::QUANT_ALIGN, rules::QUANT_BEFORE, rules::QUANT_BOUNDS, rules::QUANT_OVERFLOW];

impl Entry<'_> {
    /// Where the extents begin.
    fn dims_at(&self) -> u64 {
        wide(self.fields).wrapping_add(EXTENTS)
    }

    /// Number of extents.
    pub(super) fn rank(&self) -> u32 {
        u32::try_from(self.extents.len() >> 3).unwrap_or(0)
    }

    /// Where the extents lie.
    pub(super) fn dims(&self) -> DimsAt {
        DimsAt {
            at: self.dims_at(),
            len: self.rank() << 3,
            rank: self.rank(),
            lead: None,
            encoding: DimEncoding::U64,
        }
    }

    /// Where the size and the offset of the quantisation are recorded.
    pub(super) fn quant_at(&self) -> u64 {
        self.dims_at().wrapping_add(widen(self.extents.len())).wrapping_add(16)
    }

    /// Whether it has data that may be used.
    pub(super) fn has_data(&self) -> bool {
        self.sound && self.flags & field::HAS_DATA != 0
    }

    /// It as what is handed out of tensors.
    pub(super) fn tensor(&self) -> Tensor {
        Tensor {
            index: self.index,
            at: wide(self.at),
            name: self.name(),
            dtype: self.dtype,
            status: self.status(),
            dims: self.dims(),
            elements: self.elements,
            chunks: if self.has_data() { Chunks::One(self.data) } else { Chunks::None },
            extra: self.quant,
            ..Tensor::default()
        }
    }
}

impl Header {
    #[cfg_attr(not(feature = "windows"), inline(always))]
    pub(super) fn judge_tensor(&self, r: &mut Reader<'_, '_>, e: &mut Entry<'_>) {
        let fields = wide(e.fields);
        let quantised = self.version > 1;
        let known = if quantised { field::HAS_DATA | field::HAS_QUANT } else { field::HAS_DATA };
        let unknown = e.flags & !known;
        if unknown != 0 {
            r.flag(rules::TENSOR_FLAGS, fields.wrapping_add(8), 4, 0, unknown.into());
        }
        e.dtype = element_type(e.tag).unwrap_or(DType::Unknown);
        e.sound = e.dtype != DType::Unknown;
        if !e.sound {
            r.flag(rules::TENSOR_DTYPE, fields, 4, 25, e.tag.into());
        }
        let len = widen(e.extents.len());
        if !count(e.extents, &mut e.elements) {
            r.flag(rules::TENSOR_NUMEL, e.dims_at(), len, u64::MAX, u64::MAX);
            e.sound = false;
        }
        let at = e.dims_at().wrapping_add(len);
        let has_data = e.flags & field::HAS_DATA != 0;
        if has_data {
            let mut sized = true;
            // Of what is broken already, the size is not known.
            if e.sound {
                let size = size_of(e.dtype, e.elements);
                sized = size == e.data.len;
                if !sized {
                    r.flag(rules::TENSOR_SIZE, at, 8, size, e.data.len);
                }
            }
            e.sound &= self.judge_place(r, &e.data, at.wrapping_add(8), &PLACE, sized);
        } else {
            judge_unused(r, rules::TENSOR_NODATA, at, &e.data);
        }
        if quantised {
            let at = e.quant_at();
            let Span { len, .. } = e.quant;
            if e.flags & field::HAS_QUANT != 0 {
                if !has_data {
                    r.flag(rules::QUANT_NODATA, at, 16, 0, len);
                }
                let sized = len >= super::quant::FIXED && len & 7 == 0;
                if !sized {
                    let size = super::index::padded(len.max(super::quant::FIXED));
                    r.flag(rules::QUANT_SIZE, at, 8, size, len);
                }
                e.sound &= self.judge_place(r, &e.quant, at.wrapping_add(8), &PLACE_QUANT, sized);
            } else {
                judge_unused(r, rules::QUANT_NONE, at, &e.quant);
                e.quant = Span::default();
            }
        }
        if !e.sound {
            e.quant = Span::default();
        }
    }
}

/// Reports `rule` if a payload that there is none of has a size or an offset, which
/// are recorded at `at`.
#[cfg_attr(not(feature = "windows"), inline(never))]
fn judge_unused(r: &mut Reader<'_, '_>, rule: Rule, at: u64, stored: &Span) {
    if (stored.len | stored.at) != 0 {
        let found = if stored.len != 0 { stored.len } else { stored.at };
        r.flag(rule, at, 16, 0, found);
    }
}

/// Multiplies the extents: 1 for rank 0, and 0 as soon as one extent is 0. Whether
/// the product of the other extents fits 64 bits, even beside a 0, so that the
/// answer does not depend on their order; the product is 0 if not.
#[cfg_attr(not(feature = "windows"), inline(never))]
pub(super) fn count(extents: &[u8], elements: &mut u64) -> bool {
    let (mut product, mut zero) = (1_u64, false);
    *elements = 0;
    for extent in extents.as_chunks().0 {
        let extent = u64::from_le_bytes(*extent);
        zero |= extent == 0;
        let (next, exceeds) = product.overflowing_mul(extent.max(1));
        if exceeds {
            return false;
        }
        product = next;
    }
    if !zero {
        *elements = product;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(extents: &[u64]) -> Option<u64> {
        let bytes: std::vec::Vec<u8> = extents.iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut elements = 7;
        count(&bytes, &mut elements).then_some(elements)
    }

    #[test]
    fn elements_do_not_depend_on_the_order_of_extents() {
        assert_eq!(product(&[]), Some(1));
        assert_eq!(product(&[3, 5]), Some(15));
        assert_eq!(product(&[0, 1 << 40]), Some(0));
        assert_eq!(product(&[u64::MAX]), Some(u64::MAX));
        assert_eq!(product(&[1 << 32, 1 << 32]), None);
        assert_eq!(product(&[0, 1 << 32, 1 << 32]), None);
        assert_eq!(product(&[1 << 32, 1 << 32, 0]), None);
    }
}
