//! Tensors: views of storages.

use super::index::{BASE, Index, Item, Storage};
use super::storage::{Type, dtype};
use super::{Header, rules};
use crate::base::limits::CHECKPOINT_RANK;
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Encoding, Endianness, Layout, NameAt, Status, Tensor, Width,
};
use crate::parse::Reader;
use crate::rule::Rule;

/// A fault of a tensor: the rule, what it expects, and what was found.
struct Fault(Rule, u64, u64);

/// Reads and validates tensor number `index`.
pub(super) fn read(header: &Header, r: &mut Reader<'_, '_>, item: &Item, index: u32) -> Tensor {
    let place = BASE.saturating_add(item.dims);
    let mut tensor = Tensor {
        index,
        offset: item.at,
        name: NameAt::plain(BASE.saturating_add(item.name), item.name_len),
        status: Status::Broken,
        endianness: match header.index.summary.is_big {
            0 => Endianness::Little,
            _ => Endianness::Big,
        },
        ..Tensor::NONE
    };
    let len = item.rank.saturating_mul(8);
    if let (Ok(rank), Ok(short)) = (u32::try_from(item.rank), u32::try_from(len))
        && item.rank <= CHECKPOINT_RANK
    {
        let encoding = DimEncoding::U64;
        tensor.dims = DimsAt { offset: place, len: short, rank, lead: None, encoding };
        tensor.extra = Span::new(place.saturating_add(len), len);
    }
    let kind = dtype(item.dtype);
    if let Some(kind) = kind {
        tensor.dtype = kind.dtype;
        if kind.dtype == DType::Void {
            tensor.width = Width::new(kind.width.into());
        }
    }
    if item.is_flawed != 0 {
        return tensor;
    }
    match view(header, r, item, kind, &mut tensor) {
        Ok(()) => {}
        Err(Fault(rule, expected, found)) => {
            r.flag(rule, item.at, item.at_len, expected, found);
            tensor.status = match rule.severity() {
                crate::rule::Severity::Unchecked => Status::Unsupported,
                _ => Status::Broken,
            };
            tensor.chunks = Chunks::None;
        }
    }
    tensor
}

/// Places the tensor in its storage.
fn view(
    header: &Header,
    r: &mut Reader<'_, '_>,
    item: &Item,
    kind: Option<Type>,
    tensor: &mut Tensor,
) -> Result<(), Fault> {
    let Some(kind) = kind else { return Err(Fault(rules::T_DTYPE, 0, 0)) };
    if item.rank > CHECKPOINT_RANK {
        return Err(Fault(rules::T_RANK_LIMIT, CHECKPOINT_RANK, item.rank));
    }
    let source = *r.source();
    let strides = item.dims.saturating_add(item.rank.saturating_mul(8));
    let (Some(extents), Some(strides)) = (
        Index::numbers(&source, item.dims, item.rank),
        Index::numbers(&source, strides, item.rank),
    ) else {
        return Err(Fault(rules::T_RANK, item.rank, 0));
    };
    let wide = Fault(rules::T_PRODUCT, 0, 0);
    let Some(elements) = product(extents.clone()) else { return Err(wide) };
    let width = u64::from(kind.width);
    let packed = u64::from(kind.packed);
    let Some(bytes) = groups(elements, packed).checked_mul(width) else { return Err(wide) };
    tensor.elements = elements;
    let Some(storage) = header.index.storage(&source, item.storage) else {
        // A tensor on the device "meta" has a shape and no data.
        tensor.status = Status::Sound;
        return Ok(());
    };
    check_storage(header, &source, &storage)?;
    let pairs = || extents.clone().zip(strides.clone());
    let last = match elements {
        0 => Some(0),
        _ => last_of(pairs(), item.first),
    };
    let end = last.and_then(|last| groups(last, packed).checked_mul(width));
    let Some(end) = end.filter(|end| *end <= storage.size) else {
        return Err(Fault(rules::T_RANGE, storage.size, end.unwrap_or(u64::MAX)));
    };
    tensor.status = Status::Sound;
    if item.marks & (Item::CONJUGATE | Item::NEGATIVE) != 0 {
        r.flag(rules::T_STORED, item.at, item.at_len, 0, 0);
    }
    if elements == 0 {
        tensor.chunks = Chunks::One(Span::new(storage.offset, 0));
        return Ok(());
    }
    tensor.layout = layout(pairs);
    if packed > 1 && (tensor.layout != Layout::RowMajor || !item.first.is_multiple_of(packed)) {
        return Err(Fault(rules::T_DTYPE, 0, 0));
    }
    let from = item.first.checked_div(packed).unwrap_or(0).saturating_mul(width);
    if storage.is_deflated != 0 {
        if tensor.layout != Layout::RowMajor || from != 0 || bytes != storage.size {
            return Err(Fault(rules::T_DEFLATED, 0, 0));
        }
        tensor.encoding = Encoding::Deflate;
        tensor.chunks = Chunks::One(Span::new(storage.offset, storage.stored));
        return Ok(());
    }
    if tensor.layout == Layout::Strided && elements > storage.size.max(1).saturating_mul(EXPANDED) {
        let size = storage.size.checked_div(width).unwrap_or(0);
        r.flag(rules::T_EXPANDED, item.at, item.at_len, size, elements);
    }
    let span = Span::new(storage.offset.saturating_add(from), end.saturating_sub(from));
    tensor.chunks = Chunks::One(span);
    Ok(())
}

/// The groups of `packed` elements that hold this many.
fn groups(elements: u64, packed: u64) -> u64 {
    let whole = elements.checked_div(packed).unwrap_or(0);
    whole.saturating_add(u64::from(!elements.is_multiple_of(packed)))
}

/// A tensor with more elements for each byte of its storage is remarked on.
const EXPANDED: u64 = 1 << 10;

/// Checks a storage against the pickle and the file.
fn check_storage(
    header: &Header,
    source: &crate::input::Source<'_>,
    storage: &Storage,
) -> Result<(), Fault> {
    if storage.size != storage.stated {
        return Err(Fault(rules::S_SIZE, storage.stated, storage.size));
    }
    let end = storage.offset.checked_add(storage.stored);
    let limit = match header.is_archive() {
        true => header.directory.offset,
        false => source.len(),
    };
    match end.filter(|end| *end <= limit) {
        Some(_) => Ok(()),
        None => Err(Fault(rules::S_RANGE, limit, end.unwrap_or(u64::MAX))),
    }
}

/// The product of the extents. As with [`Dims::product`](crate::model::Dims::product), an extent of
/// 0 does not hide that the others are too large.
fn product(extents: impl Iterator<Item = u64>) -> Option<u64> {
    let (mut product, mut is_empty) = (1_u64, false);
    for extent in extents {
        is_empty |= extent == 0;
        product = product.checked_mul(extent.max(1))?;
    }
    Some(if is_empty { 0 } else { product })
}

/// The position after the last element of a view without extents of 0.
fn last_of(pairs: impl Iterator<Item = (u64, u64)>, first: u64) -> Option<u64> {
    let mut last = first;
    for (extent, stride) in pairs {
        last = extent.checked_sub(1)?.checked_mul(stride)?.checked_add(last)?;
    }
    last.checked_add(1)
}

/// The order of elements with these extents and strides.
fn layout<I: DoubleEndedIterator<Item = (u64, u64)> + ExactSizeIterator>(
    pairs: impl Fn() -> I,
) -> Layout {
    if follows(pairs().rev()) {
        Layout::RowMajor
    } else if follows(pairs()) {
        Layout::ColumnMajor
    } else {
        Layout::Strided
    }
}

/// Whether each stride is the product of the extents before. An extent of 1 has any stride.
fn follows(pairs: impl Iterator<Item = (u64, u64)>) -> bool {
    let mut expected = 1_u64;
    for (extent, stride) in pairs {
        if extent != 1 && stride != expected {
            return false;
        }
        expected = expected.saturating_mul(extent);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extents: &[u64], strides: &[u64]) -> Layout {
        layout(|| extents.iter().copied().zip(strides.iter().copied()))
    }

    #[test]
    fn layouts_are_told_by_their_strides() {
        assert_eq!(of(&[], &[]), Layout::RowMajor);
        assert_eq!(of(&[4, 3], &[3, 1]), Layout::RowMajor);
        assert_eq!(of(&[4, 3], &[1, 4]), Layout::ColumnMajor);
        assert_eq!(of(&[4, 1], &[1, 77]), Layout::RowMajor);
        assert_eq!(of(&[4, 3], &[0, 1]), Layout::Strided);
        assert_eq!(of(&[2, 3, 4], &[12, 1, 3]), Layout::Strided);
        assert_eq!(of(&[2], &[2]), Layout::Strided);
    }

    #[test]
    fn the_last_element_is_found_with_checked_arithmetic() {
        assert_eq!(last_of([(4, 3), (3, 1)].into_iter(), 5), Some(17));
        assert_eq!(last_of([(2, u64::MAX)].into_iter(), 1), None);
        assert_eq!(last_of([(3, 1 << 63)].into_iter(), 0), None);
        assert_eq!(product([0, 1 << 32, 1 << 32].into_iter()), None);
    }
}
