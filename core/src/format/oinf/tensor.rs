//! Entries of the tensor table.

use super::entry::{Entry, PlaceRules, Size};
use super::quant::FIXED;
use super::text::padded;
use super::{element_type, field, rules, size_of};
use crate::base::{Word, wide, widen, word};
use crate::input::Span;
use crate::model::{Chunks, DType, DimEncoding, DimsAt, Tensor, dims};
use crate::parse::Reader;

/// Offset of the dims from the fields: they follow the type, the rank and the flags.
const EXTENTS: Word = 12;

static DATA: PlaceRules = PlaceRules {
    align: rules::TENSOR_ALIGN,
    before: rules::TENSOR_BEFORE,
    bounds: rules::TENSOR_BOUNDS,
    overflow: rules::TENSOR_OVERFLOW,
    unused: rules::TENSOR_NODATA,
    quant: false,
};

static QUANT: PlaceRules = PlaceRules {
    align: rules::QUANT_ALIGN,
    before: rules::QUANT_BEFORE,
    bounds: rules::QUANT_BOUNDS,
    overflow: rules::QUANT_OVERFLOW,
    unused: rules::QUANT_NONE,
    quant: true,
};

impl Entry<'_, '_> {
    /// Offset of the dims.
    fn dims_at(&self) -> Word {
        self.fields.wrapping_add(EXTENTS)
    }

    /// Offset of the fields with the data's size and offset.
    fn data_at(&self) -> Word {
        self.dims_at().wrapping_add(word(widen(self.extents.len())))
    }

    /// Number of dims.
    pub(super) fn rank(&self) -> u32 {
        u32::try_from(self.extents.len() >> 3).unwrap_or(0)
    }

    /// Location of the dims.
    pub(super) fn dims(&self) -> DimsAt {
        DimsAt {
            offset: wide(self.dims_at()),
            len: self.rank() << 3,
            rank: self.rank(),
            lead: None,
            encoding: DimEncoding::U64,
        }
    }

    /// Offset of the fields with the quantisation's size and offset.
    pub(super) fn quant_at(&self) -> Word {
        self.data_at().wrapping_add(16)
    }

    /// Whether the tensor has usable data.
    pub(super) fn has_data(&self) -> bool {
        self.sound && self.flags & field::HAS_DATA != 0
    }

    /// The public form of a tensor.
    pub(super) fn tensor(&self) -> Tensor {
        Tensor {
            index: self.index,
            offset: wide(self.at),
            name: self.name(),
            dtype: element_type(self.tag).unwrap_or(DType::Unknown),
            status: self.status(),
            dims: self.dims(),
            elements: self.elements,
            chunks: if self.has_data() { Chunks::One(self.data) } else { Chunks::None },
            extra: self.quant,
            ..Tensor::default()
        }
    }

    pub(super) fn validate_tensor(&mut self, r: &mut Reader<'_, '_>) {
        let fields = wide(self.fields);
        let quantised = self.header.version > 1;
        let known = if quantised { field::HAS_DATA | field::HAS_QUANT } else { field::HAS_DATA };
        let unknown = self.flags & !known;
        if unknown != 0 {
            r.flag(rules::TENSOR_FLAGS, fields.wrapping_add(8), 4, 0, unknown.into());
        }
        let dtype = element_type(self.tag).unwrap_or(DType::Unknown);
        self.sound = dtype != DType::Unknown;
        if !self.sound {
            r.flag(rules::TENSOR_DTYPE, fields, 4, 25, self.tag.into());
        }
        if !count(self.extents, &mut self.elements) {
            let len = widen(self.extents.len());
            r.flag(rules::TENSOR_NUMEL, wide(self.dims_at()), len, u64::MAX, u64::MAX);
            self.sound = false;
        }
        let at = self.data_at();
        let has_data = self.flags & field::HAS_DATA != 0;
        let mut size = if has_data { Size::Right } else { Size::None };
        // The size of a broken tensor is unknown.
        if has_data && self.sound {
            let (expected, found) = (size_of(dtype, self.elements), self.data.len);
            if expected != found {
                r.flag(rules::TENSOR_SIZE, wide(at), 8, expected, found);
                size = Size::Wrong;
            }
        }
        self.validate_place(r, at, &DATA, size);
        if quantised {
            let at = self.quant_at();
            let Span { len, .. } = self.quant;
            let mut size = Size::None;
            if self.flags & field::HAS_QUANT != 0 {
                size = Size::Right;
                if !has_data {
                    r.flag(rules::QUANT_NODATA, wide(at), 16, 0, len);
                }
                if len < FIXED || len & 7 != 0 {
                    r.flag(rules::QUANT_SIZE, wide(at), 8, padded(len.max(FIXED)), len);
                    size = Size::Wrong;
                }
            }
            self.validate_place(r, at, &QUANT, size);
        }
        if !self.sound {
            self.quant = Span::default();
        }
    }
}

/// Multiplies the dims into `elements`: 1 for rank 0, and 0 if a dim is 0. Returns whether
/// the product of the nonzero dims fits 64 bits, so that the result does not depend on their
/// order; if it does not fit, `elements` is 0.
pub(super) fn count(extents: &[u8], elements: &mut u64) -> bool {
    let (mut product, mut zero) = (1_u64, false);
    *elements = 0;
    for extent in extents.as_chunks().0 {
        let extent = u64::from_le_bytes(*extent);
        if extent == 0 {
            zero = true;
            continue;
        }
        match dims::product(product, extent) {
            Some(next) => product = next,
            None => return false,
        }
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
    fn element_count_does_not_depend_on_dim_order() {
        assert_eq!(product(&[]), Some(1));
        assert_eq!(product(&[3, 5]), Some(15));
        assert_eq!(product(&[0, 1 << 40]), Some(0));
        assert_eq!(product(&[u64::MAX]), Some(u64::MAX));
        assert_eq!(product(&[1 << 32, 1 << 32]), None);
        assert_eq!(product(&[0, 1 << 32, 1 << 32]), None);
        assert_eq!(product(&[1 << 32, 1 << 32, 0]), None);
    }
}
