//! The header: its length, the keys of its dictionary, and its padding.

use super::literal::Literal;
use super::{descr, field, rules};
use crate::base::{Word, limits, wide, widen, word};
use crate::input::Span;
#[cfg(feature = "payloads")]
use crate::model::texts::Texts;
use crate::model::{DimEncoding, DimsAt, Layout, Tensor, dims::times};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Location of a header's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Absolute offset of the first byte.
    at: Word,
    /// The stored bytes, if they must be decoded first. Findings then refer to all of them.
    stream: Option<Span>,
}

impl Place {
    /// A header stored uncompressed at `at`.
    pub(crate) const fn here(at: u64) -> Self {
        Place { at: word(at), stream: None }
    }

    /// A header at the start of an encoded stream.
    pub(crate) const fn decoded(stream: Span) -> Self {
        Place { at: 0, stream: Some(stream) }
    }

    /// Reports that the `len` bytes at `at` break `rule`.
    pub(super) fn flag(
        &self,
        r: &mut Reader<'_, '_>,
        rule: Rule,
        (at, len): (usize, usize),
        (expected, found): (u64, u64),
    ) {
        let encoded = self.stream.filter(|_| DimEncoding::Packed.is_used());
        let span = encoded.unwrap_or(Span::new(self.absolute(at), widen(len)));
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

    /// The absolute offset of position `at`, or that in the encoded stream.
    pub(super) fn absolute(&self, at: usize) -> u64 {
        wide(self.at.wrapping_add(word(widen(at))))
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

    /// Reads and validates the prelude at the reader's position.
    pub(crate) fn read(r: &mut Reader<'_, '_>) -> Result<Prelude, Halt> {
        let place = Place::here(r.at());
        let head = r.array()?;
        Prelude::of(r, place, head, |r, len| r.take(len))
    }

    /// Length in bytes of the prelude and the header text.
    pub(crate) fn total(&self) -> u64 {
        widen(self.len).wrapping_add(self.text)
    }

    /// Validates the first ten bytes, and the two that `more` returns in versions that have them.
    pub(crate) fn of<'r, 'a, 'm>(
        r: &mut Reader<'r, 'a>,
        place: Place,
        head: &[u8; 10],
        more: impl FnOnce(&mut Reader<'r, 'a>, u64) -> Result<&'m [u8], Halt>,
    ) -> Result<Prelude, Halt> {
        let [.., major, minor, low, high] = *head;
        if head.first_chunk() != Some(&field::MAGIC) {
            return Err(place.refuse(r, rules::NPY_MAGIC, (0, 6), (0, 0)));
        }
        let extra = if matches!(major, 2 | 3) { 2 } else { 0 };
        let more = more(r, extra)?;
        if !matches!((major, minor), (1..=3, 0)) {
            let found = u64::from(major) << 48 | u64::from(minor) << 32;
            return Err(place.refuse(r, rules::NPY_VERSION, (6, 2), (0, found)));
        }
        let [third, fourth] = *more.first_chunk().unwrap_or(&[0; 2]);
        let text = u64::from(u32::from_le_bytes([low, high, third, fourth]));
        let len = Prelude::LEAST.wrapping_add(more.len());
        if text > limits::NPY_HEADER {
            let values = (limits::NPY_HEADER, text);
            return Err(place.refuse(r, rules::NPY_HEADER_LIMIT, (8, len.wrapping_sub(8)), values));
        }
        Ok(Prelude { major, len, text })
    }
}

/// The keys of the dictionary, in alphabetic order.
const KEYS: [&[u8]; 3] = [b"descr", b"fortran_order", b"shape"];

/// The length of data whose elements have an unknown width.
pub(crate) const UNKNOWN: u64 = u64::MAX;

/// Reads and validates the header `text` into `tensor`, without chunks; the text of `descr` is
/// its extra. Returns the span of the data. Offsets of an encoded header count from the start of
/// its stream.
pub(crate) fn read(
    r: &mut Reader<'_, '_>,
    mut place: Place,
    prelude: Prelude,
    text: &[u8],
    tensor: &mut Tensor,
) -> Result<Span, Halt> {
    let magic = place;
    place.at = place.at.wrapping_add(word(widen(prelude.len)));
    tensor.offset = place.absolute(0);
    let mut l = Literal::new(r, place, prelude.major, text, tensor);
    l.start();
    let len = dictionary(&mut l);
    l.finish()?;
    padding(r, magic, prelude);
    Ok(Span::new(place.absolute(text.len()), len))
}

/// The text in the fields of an element, from a header that has been validated.
#[cfg(feature = "payloads")]
pub(crate) fn texts(r: &mut Reader<'_, '_>, prelude: Prelude, text: &[u8]) -> Result<Texts, Halt> {
    let mut tensor = Tensor::default();
    let mut l = Literal::new(r, Place::here(0), prelude.major, text, &mut tensor);
    l.start();
    dictionary(&mut l);
    let texts = l.texts;
    l.finish()?;
    Ok(texts.of_width(tensor.width.get()))
}

/// Reads the dictionary; returns the length of the data.
fn dictionary(l: &mut Literal<'_, '_, '_>) -> u64 {
    let (mut seen, mut shape_at) = (0_u32, 0);
    let (mut width, mut product) = (0, 0);
    l.expect(b'{');
    let mut more = !l.eat(b'}');
    while more {
        let name = l.string();
        let key = KEYS.iter().position(|key| *key == name).unwrap_or(KEYS.len());
        let bit = 1_u32 << (key & 3);
        if key == KEYS.len() {
            l.refuse(rules::NPY_KEY_UNKNOWN, l.token, 0, 0);
        }
        if seen >= bit {
            let again = seen & bit != 0;
            let rule = if again { rules::NPY_KEY_TWICE } else { rules::NPY_KEY_ORDER };
            l.flag(rule, l.token, 0, 0);
        }
        seen |= bit;
        l.expect(b':');
        match key {
            0 => width = descr::read(l),
            1 => {
                l.peek();
                let fortran = l.word(b"True");
                if !fortran && !l.word(b"False") {
                    l.refuse(rules::NPY_FORTRAN, l.token, 0, 0);
                }
                l.tensor.layout = if fortran { Layout::ColumnMajor } else { Layout::RowMajor };
            }
            _ => {
                shape_at = l.at;
                product = shape(l, shape_at);
            }
        }
        more = l.more(b'}');
    }
    if seen != 7 {
        l.refuse(rules::NPY_KEY_MISSING, 0, 0, seen.count_ones().into());
    }
    if times(product, if l.unknown { 1 } else { width.max(1).into() }) > i64::MAX.unsigned_abs() {
        l.refuse(rules::NPY_SHAPE_SIZE, shape_at, 0, 0);
    }
    if l.unknown { UNKNOWN } else { l.tensor.elements.wrapping_mul(width.into()) }
}

/// Reads the tuple of extents, before which the reader is at `start`. Returns the product of those
/// that are not 0.
fn shape(l: &mut Literal<'_, '_, '_>, start: usize) -> u64 {
    if !l.eat(b'(') {
        l.refuse(rules::NPY_SHAPE, start, 0, 0);
    }
    let (at, offset) = (l.at, l.here());
    let product = l.extents();
    let rank = l.rank;
    // One number in brackets is not a tuple without a comma.
    if rank == 1 && !l.comma {
        l.refuse(rules::NPY_SHAPE, start, 0, 0);
    }
    l.check_rank(start);
    l.tensor.elements = if l.zero { 0 } else { product };
    let len = u32::try_from(l.at.wrapping_sub(at)).unwrap_or(0);
    l.tensor.dims = DimsAt { offset, len, rank, lead: None, encoding: DimEncoding::Decimal };
    product
}

/// Checks the length and alignment of the header.
fn padding(r: &mut Reader<'_, '_>, place: Place, prelude: Prelude) {
    let total = prelude.total();
    let field = (8, prelude.len.wrapping_sub(8));
    if prelude.text > field::HEADER_LONG {
        let values = (field::HEADER_LONG, prelude.text);
        place.flag(r, rules::NPY_HEADER_LONG, field, values);
    }
    let align = if prelude.major == 1 { field::ALIGN_OLD } else { field::ALIGN };
    if total & align.wrapping_sub(1) != 0 {
        place.flag(r, rules::NPY_ALIGN, field, (field::ALIGN, total));
    }
}
