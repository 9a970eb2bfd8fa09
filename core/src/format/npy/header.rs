//! The header: its length, the keys of its dictionary, and its padding.

use super::literal::Literal;
use super::{descr, field, rules};
use crate::base::{limits, utf8, widen};
use crate::input::Span;
use crate::model::{DType, DimEncoding, DimsAt, Endianness, Status, dims::Packed, dims::product};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// An array as described by its header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Array {
    /// Absolute offset of the dictionary.
    pub(crate) at: u64,
    /// Type of its elements.
    pub(crate) dtype: DType,
    /// Width of an element in bytes; `None` if unknown.
    pub(crate) width: Option<u32>,
    pub(crate) endianness: Endianness,
    /// Whether the first extent varies fastest.
    pub(crate) columns: bool,
    pub(crate) status: Status,
    /// The text of `descr`.
    pub(crate) descr: Span,
    pub(crate) dims: DimsAt,
    /// Number of elements.
    pub(crate) elements: u64,
    /// Start of the data: an absolute offset, or one in the decoded stream.
    pub(crate) data: u64,
}

/// Location of a header's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Absolute offset of the magic string.
    at: u64,
    /// The stored bytes, if they must be decoded first. Findings then refer to all of them.
    stream: Option<Span>,
}

impl Place {
    /// A header stored uncompressed at `at`.
    pub(crate) const fn here(at: u64) -> Self {
        Place { at, stream: None }
    }

    /// A header at the start of an encoded stream.
    pub(crate) const fn decoded(stream: Span) -> Self {
        Place { at: 0, stream: Some(stream) }
    }

    /// Whether the header is encoded; the shape then has no plain text in the file.
    pub(super) const fn is_decoded(&self) -> bool {
        self.stream.is_some()
    }

    /// Reports that the `len` bytes at `at` break `rule`.
    #[inline(never)]
    pub(super) fn flag(
        &self,
        r: &mut Reader<'_, '_>,
        rule: Rule,
        (at, len): (usize, usize),
        (expected, found): (u64, u64),
    ) {
        let span = self.stream.unwrap_or(Span::new(self.at.wrapping_add(widen(at)), widen(len)));
        r.flag(rule, span.offset, span.len, expected, found);
    }

    /// Reports that `rule` is broken, and ends validation.
    #[cold]
    pub(super) fn refuse(
        &self,
        r: &mut Reader<'_, '_>,
        rule: Rule,
        place: (usize, usize),
        values: (u64, u64),
    ) -> Halt {
        self.flag(r, rule, place, values);
        Halt::refused(rule)
    }

    /// The absolute offset of position `at` in the header, or the stream's offset if the
    /// header is encoded.
    pub(super) fn absolute(&self, at: usize) -> u64 {
        self.stream.map_or(self.at.wrapping_add(widen(at)), |stream| stream.offset)
    }
}

/// The fixed fields before the header text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prelude {
    pub(crate) major: u8,
    /// Length of the prelude in bytes.
    pub(crate) len: usize,
    /// Length of the header text in bytes.
    pub(crate) text: u64,
}

impl Prelude {
    /// Minimum length in bytes.
    pub(crate) const LEAST: usize = 10;

    /// Maximum length in bytes.
    const MOST: usize = 12;

    /// Reads and validates the prelude at the reader's position.
    pub(crate) fn read(r: &mut Reader<'_, '_>) -> Result<Prelude, Halt> {
        let place = Place::here(r.at());
        let head: [u8; 10] = *r.array()?;
        let mut more = [0; 2];
        if Prelude::is_wide(&head) {
            more = *r.array()?;
        }
        Prelude::of(r, place, &head, more)
    }

    /// Length in bytes of the prelude and the header text.
    pub(crate) fn total(&self) -> u64 {
        widen(self.len).wrapping_add(self.text)
    }

    /// Whether the header length takes four bytes.
    fn is_wide(head: &[u8; 10]) -> bool {
        let [.., major, _, _, _] = *head;
        head.starts_with(&field::MAGIC) && matches!(major, 2 | 3)
    }

    /// Validates the first ten bytes, and two more in versions that have them.
    pub(crate) fn of(
        r: &mut Reader<'_, '_>,
        place: Place,
        head: &[u8; 10],
        more: [u8; 2],
    ) -> Result<Prelude, Halt> {
        let [.., major, minor, low, high] = *head;
        if !head.starts_with(&field::MAGIC) {
            return Err(place.refuse(r, rules::NPY_MAGIC, (0, 6), (0, 0)));
        }
        if !matches!((major, minor), (1..=3, 0)) {
            let found = u64::from(major) << 48 | u64::from(minor) << 32;
            return Err(place.refuse(r, rules::NPY_VERSION, (6, 2), (0, found)));
        }
        let wide = Prelude::is_wide(head);
        let [third, fourth] = if wide { more } else { [0; 2] };
        let text = u64::from(u32::from_le_bytes([low, high, third, fourth]));
        let len = if wide { Prelude::MOST } else { Prelude::LEAST };
        if text > limits::NPY_HEADER {
            let values = (limits::NPY_HEADER, text);
            return Err(place.refuse(r, rules::NPY_HEADER_LIMIT, (8, len.wrapping_sub(8)), values));
        }
        Ok(Prelude { major, len, text })
    }
}

/// The keys of the dictionary, in alphabetic order.
const KEYS: [&[u8]; 3] = [b"descr", b"fortran_order", b"shape"];

/// Reads and validates the header `text`.
pub(crate) fn read(
    r: &mut Reader<'_, '_>,
    place: Place,
    prelude: Prelude,
    text: &[u8],
) -> Result<Array, Halt> {
    let mut array = Array { at: place.absolute(prelude.len), ..Array::default() };
    if let Some(at) = text.iter().position(|byte| !byte.is_ascii()) {
        let found = text.get(at).copied().unwrap_or(0).into();
        let at = prelude.len.wrapping_add(at);
        if prelude.major < 3 {
            place.flag(r, rules::NPY_ASCII, (at, 1), (0, found));
        } else if !utf8::is(text) {
            return Err(place.refuse(r, rules::NPY_UTF8, (at, 1), (0, found)));
        }
    }
    let mut literal = Literal::new(r, place, prelude, text);
    let mut seen = 0_u32;
    literal.expect(b'{')?;
    loop {
        if literal.eat(b'}')? {
            break;
        }
        let at = literal.at();
        let name = literal.string()?;
        let Some(key) = KEYS.iter().position(|key| *key == name) else {
            return Err(literal.refuse(rules::NPY_KEY_UNKNOWN, at, 0));
        };
        let bit = 1_u32 << (key & 3);
        if seen & bit != 0 {
            literal.flag(rules::NPY_KEY_TWICE, at, 0, 0);
        } else if seen > bit {
            literal.flag(rules::NPY_KEY_ORDER, at, 0, 0);
        }
        seen |= bit;
        literal.expect(b':')?;
        match key {
            0 => descr::read(&mut literal, &mut array)?,
            1 => array.columns = literal.boolean(rules::NPY_FORTRAN)?,
            _ => shape(&mut literal, &mut array)?,
        }
        if !literal.eat(b',')? {
            literal.expect(b'}')?;
            break;
        }
    }
    if seen != 7 {
        let found = seen.count_ones().into();
        return Err(literal.refuse(rules::NPY_KEY_MISSING, prelude.len, found));
    }
    let width = array.width.unwrap_or(1).max(1);
    let bytes = literal.product.and_then(|elements| product(elements, width.into()));
    if bytes.is_none_or(|bytes| bytes > i64::MAX.unsigned_abs()) {
        return Err(literal.refuse(rules::NPY_SHAPE_SIZE, literal.shape, 0));
    }
    literal.finish()?;
    padding(r, place, prelude);
    array.data = array.at.wrapping_add(prelude.text);
    if place.stream.is_some() {
        array.data = prelude.total();
        array.descr = Span::default();
    }
    Ok(array)
}

/// Checks the length and alignment of the header.
fn padding(r: &mut Reader<'_, '_>, place: Place, prelude: Prelude) {
    let total = prelude.total();
    if prelude.text > field::HEADER_LONG {
        let values = (field::HEADER_LONG, prelude.text);
        place.flag(r, rules::NPY_HEADER_LONG, (8, prelude.len.wrapping_sub(8)), values);
    }
    let old = prelude.major == 1 && total & field::ALIGN_OLD.wrapping_sub(1) == 0;
    if total & field::ALIGN.wrapping_sub(1) != 0 && !old {
        let at = (8, prelude.len.wrapping_sub(8));
        place.flag(r, rules::NPY_ALIGN, at, (field::ALIGN, total));
    }
}

/// Reads the tuple of extents.
fn shape(literal: &mut Literal<'_, '_, '_>, array: &mut Array) -> Result<(), Halt> {
    literal.shape = literal.at();
    literal.product = Some(1);
    array.elements = 1;
    literal.packed = Packed::default();
    let start = literal.at();
    if !literal.eat(b'(')? {
        return Err(literal.refuse(rules::NPY_SHAPE, start, 0));
    }
    let at = literal.at();
    let mut rank = 0_u32;
    let mut comma = true;
    while !literal.eat(b')')? {
        if !comma {
            return Err(literal.unexpected());
        }
        let extent = literal.extent()?;
        let factor = extent.filter(|extent| *extent <= i64::MAX.unsigned_abs());
        literal.product = literal
            .product
            .zip(factor)
            .and_then(|(elements, factor)| product(elements, factor.max(1)));
        if extent == Some(0) {
            array.elements = 0;
        }
        if DimEncoding::Packed.is_used() {
            literal.packed.push(extent.unwrap_or(0));
        }
        rank = rank.saturating_add(1);
        comma = literal.eat(b',')?;
    }
    // One number in brackets is not a tuple without a comma.
    if rank == 1 && !comma {
        return Err(literal.refuse(rules::NPY_SHAPE, start, 0));
    }
    if rank > field::RANK {
        let most = field::RANK.into();
        literal.flag(rules::NPY_RANK, start, most, rank.into());
        return Err(Halt::refused(rules::NPY_RANK));
    }
    if rank > field::RANK_OLD {
        literal.flag(rules::NPY_RANK_32, start, field::RANK_OLD.into(), rank.into());
    }
    let len = literal.at().wrapping_sub(at);
    array.elements = array.elements.wrapping_mul(literal.product.unwrap_or(0));
    array.dims = DimsAt {
        offset: literal.place.absolute(at),
        len: u32::try_from(len).unwrap_or(0),
        rank,
        lead: None,
        encoding: DimEncoding::Decimal,
    };
    if DimEncoding::Packed.is_used() && literal.place.is_decoded() {
        array.dims = literal.packed.dims();
    }
    Ok(())
}
