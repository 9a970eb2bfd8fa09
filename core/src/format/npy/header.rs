//! The header: how long it is, the keys of its dictionary, and how it is padded.

use super::literal::Literal;
use super::{descr, field, rules};
use crate::base::{limits, utf8, widen};
use crate::input::Span;
use crate::model::{DType, DimEncoding, DimsAt, Endianness, Status, dims::Packed, dims::product};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// What a header says of its array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Array {
    /// Absolute offset of the dictionary.
    pub(crate) at: u64,
    /// Type of its elements.
    pub(crate) dtype: DType,
    /// Bytes of an element; `None` if nothing tells.
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
    /// Where the data begins: as an absolute offset, or in the decoded stream.
    pub(crate) data: u64,
}

/// Where the bytes of a header lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Absolute offset of the magic string.
    at: u64,
    /// The stored bytes, if they have to be decoded first: then findings are about
    /// all of them.
    stream: Option<Span>,
}

impl Place {
    /// A header that is stored as it is.
    pub(crate) const fn here(at: u64) -> Self {
        Place { at, stream: None }
    }

    /// A header that a stream begins with.
    pub(crate) const fn decoded(stream: Span) -> Self {
        Place { at: 0, stream: Some(stream) }
    }

    /// Whether the bytes of the shape are not in the file as such.
    pub(super) const fn is_decoded(&self) -> bool {
        self.stream.is_some()
    }

    /// Reports that `rule` is broken by the `len` bytes from `at`.
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

    /// The same, and nothing follows.
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

    /// Offset `at` of the header as an absolute one; that of the stream, if it is in one.
    pub(super) fn absolute(&self, at: usize) -> u64 {
        self.stream.map_or(self.at.wrapping_add(widen(at)), |stream| stream.offset)
    }
}

/// What comes before the header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prelude {
    pub(crate) major: u8,
    /// Its bytes.
    pub(crate) len: usize,
    /// Bytes of the header.
    pub(crate) text: u64,
}

impl Prelude {
    /// Bytes that it takes at least.
    pub(crate) const LEAST: usize = 10;

    /// Bytes that it takes at most.
    const MOST: usize = 12;

    /// Reads it from where the reader stands, and whether the header has a length
    /// that is read.
    pub(crate) fn read(r: &mut Reader<'_, '_>) -> Result<Prelude, Halt> {
        let place = Place::here(r.at());
        let head: [u8; 10] = *r.array()?;
        let mut more = [0; 2];
        if Prelude::is_wide(&head) {
            more = *r.array()?;
        }
        Prelude::of(r, place, &head, more)
    }

    /// Its bytes and those of the header.
    pub(crate) fn total(&self) -> u64 {
        widen(self.len).wrapping_add(self.text)
    }

    /// Whether the length of the header takes four bytes.
    fn is_wide(head: &[u8; 10]) -> bool {
        let [.., major, _, _, _] = *head;
        head.starts_with(&field::MAGIC) && matches!(major, 2 | 3)
    }

    /// Takes it apart: the first ten bytes, and two more for versions that have them.
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

/// Reads `text`, a header.
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

/// Looks how long the header is.
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
    // One number in brackets is no tuple without its comma.
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
