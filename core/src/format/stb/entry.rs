//! Table entries: their faults, and the tensors they describe.

use super::{Header, field, is_aligned, rules};
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Layout, NameAt, NameEncoding, Status, Tensor, dims::product,
};
use crate::parse::{Reader, reader::Field};
use crate::rule::Subject;

/// The possible faults of an entry, one bit each. Dims beyond the rank have no bit, because
/// they do not affect the tensor.
mod fault {
    pub(super) const DTYPE: u32 = 1;
    pub(super) const LAYOUT: u32 = 1 << 1;
    pub(super) const RANK: u32 = 1 << 2;
    pub(super) const SIZE: u32 = 1 << 3;
    pub(super) const OFF_MIN: u32 = 1 << 4;
    pub(super) const END: u32 = 1 << 5;
    pub(super) const OFF_ALIGN: u32 = 1 << 6;
    /// The data extends past the end of the file. This is reported with the header unless the
    /// data exceeds the recorded length as well.
    pub(super) const CUT: u32 = 1 << 7;

    /// The data can be located, but its meaning is unknown.
    pub(super) const UNSUPPORTED: u32 = DTYPE | LAYOUT;
    /// The data cannot be used.
    pub(super) const BROKEN: u32 = RANK | SIZE | OFF_MIN | END | CUT;
}

/// The bytes of an entry (§4).
#[derive(Clone, Copy)]
pub(super) struct Entry<'a>(pub(super) &'a [u8; 32]);

impl Entry<'_> {
    #[inline(always)]
    fn byte(self, field: Field) -> u8 {
        let [byte] = field.of(self.0);
        byte
    }

    #[inline(always)]
    fn rank(self) -> u8 {
        self.byte(field::RANK)
    }

    /// Whether the dims are in the entry, not in a table outside the file.
    #[inline(always)]
    fn is_direct(self) -> bool {
        self.rank() <= field::DIRECT_RANK
    }

    /// Offset and length of the data.
    #[inline(always)]
    fn data(self) -> Span {
        Span {
            offset: u64::from_le_bytes(field::OFFSET.of(self.0)),
            len: u64::from_le_bytes(field::SIZE.of(self.0)),
        }
    }

    /// Length of an element in bytes, or 0 if its type is unknown.
    #[inline(always)]
    fn width(self) -> u64 {
        match self.byte(field::DTYPE) {
            0 | 3 => 4,
            1 => 2,
            2 => 1,
            _ => 0,
        }
    }

    /// Stored dim `i`, of three.
    #[inline(always)]
    fn extent(self, i: u8) -> u64 {
        u32::from_le_bytes(place_of(i).of(self.0)).into()
    }

    /// Number of elements: the product of the dims up to the rank, or the number of whole
    /// elements in the data if the shape is outside the file. `None` if the product of the
    /// three 32-bit dims exceeds `u64`.
    #[inline(always)]
    fn elements(self) -> Option<u64> {
        if self.is_direct() {
            let factor = |i| if i < self.rank() { self.extent(i) } else { 1 };
            // The product of two 32-bit dims fits.
            return product(factor(0).wrapping_mul(factor(1)), factor(2));
        }
        match self.width() {
            0 => Some(0),
            // For 4, 2 and 1, half the width is its logarithm.
            width => Some(self.data().len >> (width >> 1)),
        }
    }

    /// Total length of the elements in bytes, or `None` if it exceeds `u64`.
    #[inline(always)]
    fn size(self) -> Option<u64> {
        product(self.elements()?, self.width())
    }
}

/// Offset of dim `i`.
#[inline(always)]
fn place_of(i: u8) -> Field {
    Field::new(field::DIMS.at.wrapping_add(u32::from(i) << 2), 4)
}

impl Header {
    /// The faults of an entry in a file of `len` bytes, as bits of [`fault`].
    ///
    /// They are one number, so that reporting and the tensor's status share the same code.
    fn faults(&self, len: u64, entry: Entry<'_>) -> u32 {
        let (rank, width, data) = (entry.rank(), entry.width(), entry.data());
        let mut faults = 0;
        if width == 0 {
            faults |= fault::DTYPE;
        }
        if entry.byte(field::LAYOUT) > field::LAST_LAYOUT {
            faults |= fault::LAYOUT;
        }
        if rank > field::LARGEST_RANK {
            faults |= fault::RANK;
        } else if width != 0 && entry.size() != Some(data.len) {
            faults |= fault::SIZE;
        }
        let end = data.offset.saturating_add(data.len);
        if data.offset < self.data_offset {
            faults |= fault::OFF_MIN;
        } else if end > self.bound {
            faults |= fault::END;
        }
        if end > len {
            faults |= fault::CUT;
        }
        if !is_aligned(data.offset) {
            faults |= fault::OFF_ALIGN;
        }
        faults
    }

    /// Reports the faults of an entry.
    fn report(&self, r: &mut Reader<'_, '_>, faults: u32, entry: Entry<'_>) {
        let (rank, data) = (entry.rank(), entry.data());
        if faults & fault::DTYPE != 0 {
            r.fault(rules::T_DTYPE, field::DTYPE, 0, entry.byte(field::DTYPE).into());
        }
        if faults & fault::LAYOUT != 0 {
            r.fault(rules::T_LAYOUT, field::LAYOUT, 0, entry.byte(field::LAYOUT).into());
        }
        for i in rank..field::DIRECT_RANK {
            let extent = entry.extent(i);
            if extent != 0 {
                r.about_part(i.into());
                r.fault(rules::T_DIMS0, place_of(i), 0, extent);
            }
        }
        r.about_part(Subject::NO_PART);
        if faults & fault::RANK != 0 {
            let largest = field::LARGEST_RANK.into();
            r.fault(rules::T_RANK, field::RANK, largest, rank.into());
        }
        if faults & fault::SIZE != 0 {
            let size = entry.size().unwrap_or(u64::MAX);
            r.fault(rules::T_SIZE, field::SIZE, size, data.len);
        }
        if !entry.is_direct() && faults & (fault::BROKEN | fault::DTYPE) == 0 {
            r.fault(rules::T_SHAPE, field::DIMS, field::DIRECT_RANK.into(), rank.into());
        }
        let end = data.offset.saturating_add(data.len);
        if faults & fault::OFF_MIN != 0 {
            r.fault(rules::T_OFF_MIN, field::OFFSET, self.data_offset, data.offset);
        }
        if faults & fault::END != 0 {
            r.fault(rules::T_END, field::OFFSET, self.bound, end);
        }
        if faults & fault::OFF_ALIGN != 0 {
            r.fault(rules::T_OFF_ALIGN, field::OFFSET, field::ALIGN, data.offset);
        }
    }

    /// Validates the entry at `at`.
    pub(super) fn validate(&self, r: &mut Reader<'_, '_>, at: u64, entry: Entry<'_>) -> Tensor {
        let faults = self.faults(r.source().len(), entry);
        self.report(r, faults, entry);
        let (rank, direct, data) = (entry.rank(), entry.is_direct(), entry.data());
        // Built in the return slot, which saves a copy on the stack.
        let mut tensor = Tensor {
            index: r.subject().entry,
            offset: at,
            name: NameAt { offset: at, len: 1, encoding: NameEncoding::Number },
            dtype: match entry.byte(field::DTYPE) {
                0 => DType::F32,
                1 => DType::F16,
                2 => DType::I8,
                3 => DType::I32,
                _ => DType::Unknown,
            },
            layout: match entry.byte(field::LAYOUT) {
                0 => Layout::RowMajor,
                1 => Layout::ColumnMajor,
                2 => Layout::ChannelsLast,
                _ => Layout::Unknown,
            },
            dims: DimsAt {
                offset: at.wrapping_add(field::DIMS.at.into()),
                len: if direct { u32::from(rank) << 2 } else { 0 },
                rank: rank.into(),
                lead: None,
                encoding: if direct { DimEncoding::U32 } else { DimEncoding::External },
            },
            ..Tensor::default()
        };
        if faults & fault::RANK == 0 {
            tensor.elements = entry.elements().unwrap_or(0);
        }
        if faults & fault::UNSUPPORTED != 0 {
            tensor.status = Status::Unsupported;
        }
        if faults & fault::BROKEN != 0 {
            tensor.status = Status::Broken;
        } else {
            tensor.chunks = Chunks::One(data);
        }
        tensor
    }
}
