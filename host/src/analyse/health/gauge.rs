//! Measures the elements of tensors.

use super::holes::{Hole, Holes};
use super::{Sign, Signs};
use crate::base::error::Error;
use crate::check::access::Access;
use crate::check::page_tail;
use crate::list::entry::Shape;
use crate::read::data;
use core::hash::Hasher as _;
use siphasher::sip128::{Hasher128 as _, SipHasher13};
use weighbridge_core::{DType, Element, Endianness, File, Layout, Stats, Tensor};

/// Bytes summed, hashed and searched for zeros in turn, while they are in the cache.
const PIECE: usize = 64 << 10;

/// An outlier accounts for at least a quarter of the variance, and lies at least this many
/// standard deviations from the mean: none of 10^50 normal deviates does.
const OUTLIER_LEAST: f64 = 16.0;
/// This many suffice, however many elements there are.
const OUTLIER_MOST: f64 = 100.0;

/// Measures a tensor's elements, whose bytes arrive in pieces of any length.
///
/// ```
/// use weighbridge::{DType, Endianness, Gauge, Sign};
///
/// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 2, None, 0).unwrap();
/// gauge.push(&1.0_f32.to_le_bytes());
/// gauge.push(&f32::NAN.to_le_bytes());
/// assert!(gauge.weights().signs().has(Sign::Nan));
/// ```
#[derive(Clone, Debug)]
pub struct Gauge {
    stats: Stats,
    rows: Option<Rows>,
    hasher: SipHasher13,
    holes: Option<Holes>,
}

impl Gauge {
    /// Creates a gauge for `elements` elements, in `rows` rows of equal length if known; `None`
    /// for types that are not numbers. Digests are comparable if made with the same seed.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// assert!(Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).is_some());
    /// assert!(Gauge::new(DType::Text, Endianness::Little, 4, None, 0).is_none());
    /// ```
    pub fn new(
        dtype: DType,
        endianness: Endianness,
        elements: u64,
        rows: Option<u64>,
        seed: u64,
    ) -> Option<Self> {
        let stats = Stats::new(dtype, endianness, 0, elements)?;
        let mut hasher = SipHasher13::new_with_keys(seed, 0);
        hasher.write(dtype.name().as_bytes());
        hasher.write_u64(elements);
        // Elements of at most one byte have no byte order.
        let turned = endianness == Endianness::Big && !matches!(dtype.bits(), 1..=8);
        hasher.write_u8(turned.into());
        let rows = rows.and_then(|rows| Rows::new(dtype, endianness, elements, rows));
        Some(Gauge { stats, rows, hasher, holes: None })
    }

    /// Looks for zeros and copies of one page that cut the data, which begins at this offset of its
    /// file and has rows of this many bytes.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge, Sign};
    ///
    /// let mut data = vec![7; 40_000];
    /// data[8092..16_284].fill(0); // pages, in a file where the data begins at 100
    /// let gauge = Gauge::new(DType::U8, Endianness::Little, 40_000, None, 0).unwrap();
    /// let mut gauge = gauge.placed(100, 40_000);
    /// gauge.push(&data);
    /// assert_eq!(gauge.weights().hole().map(|it| (it.offset, it.len)), Some((8192, 8192)));
    /// assert!(gauge.weights().signs().has(Sign::Cut));
    /// ```
    #[must_use]
    pub fn placed(mut self, offset: u64, row: u64) -> Self {
        self.holes = Some(Holes::new(offset, row));
        self
    }

    /// Adds the next bytes.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert_eq!(gauge.weights().stats().count(), 4);
    /// ```
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            self.stats.add(piece, None);
            self.hasher.write(piece);
            if let Some(rows) = &mut self.rows {
                rows.push(piece);
            }
            if let Some(holes) = &mut self.holes {
                holes.push(piece);
            }
        }
    }

    /// The measurements so far.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert_eq!(gauge.weights().stats().zeros(), 4);
    /// ```
    pub fn weights(&self) -> Weights {
        let (rows, zero_rows) = self.rows.as_ref().map_or((0, 0), |it| (it.count, it.zero));
        let hash = self.hasher.finish128();
        let (stats, digest) = (self.stats.summary(), [hash.h1, hash.h2]);
        let hole = self.holes.clone().and_then(Holes::finish);
        Weights { stats, rows, zero_rows, digest, hole }
    }
}

/// Finds rows of zeros.
#[derive(Clone, Debug)]
struct Rows {
    /// Bytes per element.
    width: u64,
    /// Bytes per row.
    len: u64,
    /// Which byte of an element holds its sign, counted from 1; 0 if zero has no sign.
    sign: u64,
    /// Position in the row.
    at: u64,
    /// Whether a byte of the row is not zero.
    live: bool,
    count: u64,
    zero: u64,
}

impl Rows {
    /// `None` if rows are single elements, or share bytes or scales.
    fn new(dtype: DType, endianness: Endianness, elements: u64, rows: u64) -> Option<Self> {
        let Some((1, width)) = dtype.unit() else { return None };
        let width = u64::from(width);
        let columns = elements.checked_div(rows).filter(|n| *n > 1 && rows > 1)?;
        let sign = match dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => match endianness {
                Endianness::Little => width,
                Endianness::Big => 1,
            },
            DType::F8E5M2 | DType::F8E4M3 => 1,
            _ => 0,
        };
        let len = columns.checked_mul(width)?;
        Some(Rows { width, len, sign, at: 0, live: false, count: 0, zero: 0 })
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
            let (row, rest) = bytes.split_at(left.min(bytes.len()));
            if !self.live {
                let mut at = self.at % self.width;
                self.live = row.iter().any(|byte| {
                    at += 1;
                    let mask = if at == self.sign { 0x7F } else { 0xFF };
                    at %= self.width;
                    byte & mask != 0
                });
            }
            self.at += row.len() as u64;
            if self.at == self.len {
                self.count += 1;
                self.zero += u64::from(!self.live);
                (self.at, self.live) = (0, false);
            }
            bytes = rest;
        }
    }
}

/// Measurements of a tensor's elements: [`Tensor::weights`](crate::Tensor::weights).
#[derive(Clone, Debug)]
pub struct Weights {
    stats: weighbridge_core::Summary,
    rows: u64,
    zero_rows: u64,
    digest: [u64; 2],
    hole: Option<Hole>,
}

impl Weights {
    /// Where zeros, or copies of one page, cut the data at the edges of pages of 4,096 bytes, inside a
    /// row: the first such run in the file. `None` if there is none, or if the data is not stored in one piece.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("emb")?.weights(0)?.unwrap().hole(), None);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn hole(&self) -> Option<Hole> {
        self.hole
    }

    /// Counts, extremes, mean and deviation.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert_eq!(gauge.weights().stats().mean(), Some(0.0));
    /// ```
    pub fn stats(&self) -> &weighbridge_core::Summary {
        &self.stats
    }

    /// The number of rows (parts along the first axis) examined, and how many of them are all
    /// zeros.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert_eq!(gauge.weights().rows(), (2, 2));
    /// ```
    pub fn rows(&self) -> (u64, u64) {
        (self.rows, self.zero_rows)
    }

    /// How many standard deviations the farthest element lies from the mean; `None` if the
    /// deviation is 0 or exceeds the range of a double.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// for value in [-1.0_f32, 1.0, -1.0, 1.0] {
    ///     gauge.push(&value.to_le_bytes());
    /// }
    /// assert_eq!(gauge.weights().outlier(), Some(1.0));
    /// ```
    pub fn outlier(&self) -> Option<f64> {
        let mean = self.stats.mean()?;
        let std = self.stats.deviation().filter(|std| std.is_finite())?;
        let ends = [self.stats.min()?, self.stats.max()?].map(Element::to_f64);
        let far = ends.into_iter().map(|end| (end - mean).abs()).fold(0.0, f64::max);
        Some(far / std).filter(|ratio| ratio.is_finite())
    }

    /// A digest for finding equal tensors. It covers type, byte order, number of elements and
    /// their bytes, and depends on the seed. `None` if all elements are equal, because a match
    /// would mean nothing.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert_eq!(gauge.weights().digest(), None);
    /// ```
    pub fn digest(&self) -> Option<[u64; 2]> {
        (self.stats.count() > 1 && !self.is_constant()).then_some(self.digest)
    }

    fn is_constant(&self) -> bool {
        let stats = &self.stats;
        let ends = stats.min().zip(stats.max());
        stats.finite() == stats.count() && ends.is_some_and(|(min, max)| min == max)
    }

    /// Everything noteworthy about the elements. Nothing else decides this, except for
    /// duplicates, which are found by comparing [`digest`](Self::digest)s.
    ///
    /// ```
    /// use weighbridge::{DType, Endianness, Gauge, Sign};
    ///
    /// let mut gauge = Gauge::new(DType::F32, Endianness::Little, 4, Some(2), 0).unwrap();
    /// gauge.push(&[0; 16]);
    /// assert!(gauge.weights().signs().has(Sign::Zero));
    /// ```
    pub fn signs(&self) -> Signs {
        let stats = &self.stats;
        let many = stats.count() > 1;
        let zero = many && stats.zeros() == stats.count();
        // The squares are compared, because none of n elements lies farther out than √n.
        let share = stats.finite() as f64 / 4.0;
        let far = share.clamp(OUTLIER_LEAST * OUTLIER_LEAST, OUTLIER_MOST * OUTLIER_MOST);
        // Only elements beyond 10^150 have such squares.
        let vast = stats.deviation().is_some_and(f64::is_infinite);
        let found = [
            (Sign::Nan, stats.nans() > 0),
            (Sign::Infinite, stats.infinities() > 0),
            (Sign::Zero, zero),
            (Sign::Constant, many && !zero && self.is_constant()),
            (Sign::ZeroRows, !zero && self.zero_rows > 0),
            (Sign::Cut, self.hole.is_some()),
            (Sign::Outlier, vast || self.outlier().is_some_and(|ratio| ratio * ratio >= far)),
        ];
        let mut signs = Signs::default();
        found.iter().filter(|(_, there)| *there).for_each(|(sign, _)| signs.add(*sign));
        signs
    }
}

/// Measures a tensor; `None` unless its elements are numbers stored in sequence.
pub(crate) fn of(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    seed: u64,
) -> Result<Option<Weights>, Error> {
    if !data::is_plain(tensor) {
        return Ok(None);
    }
    let shape = access.ask(|source| Shape::read(source, tensor))?;
    let rows = shape.extents().first().copied().flatten();
    let rows = rows.filter(|_| tensor.layout == Layout::RowMajor && shape.rank() > 1);
    let gauge = Gauge::new(tensor.dtype, tensor.endianness, tensor.elements, rows, seed);
    let Some(mut gauge) = gauge else { return Ok(None) };
    if let Some(span) = tensor.raw()
        && let Some(row) = access.ask(|source| page_tail::row(source, tensor, span.len))?
    {
        gauge = gauge.placed(span.offset, row);
    }
    data::elements(access, file, tensor, tensor.elements, |bytes, _| {
        gauge.push(bytes);
        Ok::<(), Error>(())
    })?;
    Ok(Some(gauge.weights()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Measures elements, pushing one byte at a time.
    fn measured(dtype: DType, order: Endianness, rows: u64, bytes: &[u8]) -> Weights {
        let elements = bytes.len() as u64 * 8 / u64::from(dtype.bits());
        let mut gauge = Gauge::new(dtype, order, elements, Some(rows), 7).unwrap();
        bytes.iter().for_each(|byte| gauge.push(&[*byte]));
        gauge.weights()
    }

    fn doubles(values: &[f64]) -> Weights {
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        measured(DType::F64, Endianness::Little, 1, &bytes)
    }

    #[test]
    fn rows_of_negative_zeros_are_rows_of_zeros_in_both_byte_orders() {
        let values = [1.0_f32, 2.0, -0.0, 0.0, 3.0, 4.0];
        let little: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let big: Vec<u8> = values.iter().flat_map(|it| it.to_be_bytes()).collect();
        assert_eq!(measured(DType::F32, Endianness::Little, 3, &little).rows(), (3, 1));
        assert_eq!(measured(DType::F32, Endianness::Big, 3, &big).rows(), (3, 1));
        // 2^-149 differs from zero in one bit, at the other end.
        let least = [0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(measured(DType::F32, Endianness::Big, 2, &least).rows(), (2, 0));
    }

    #[test]
    fn sign_bit_counts_only_in_signed_types() {
        let bytes = [0x38, 0x38, 0x80, 0x00];
        let dead = |dtype| measured(dtype, Endianness::Little, 2, &bytes).rows();
        assert_eq!(dead(DType::F8E4M3), (2, 1));
        assert_eq!(dead(DType::F8E5M2), (2, 1));
        // The same byte is NaN in one type and a number in the other.
        assert_eq!(dead(DType::F8E4M3Fnuz), (2, 0));
        assert_eq!(dead(DType::U8), (2, 0));
    }

    #[test]
    fn byte_order_changes_digest() {
        let bytes = [0, 1, 2, 3, 4, 5, 6, 7];
        let digest = |dtype, order| measured(dtype, order, 2, &bytes).digest().unwrap();
        let differ = |dtype| digest(dtype, Endianness::Little) != digest(dtype, Endianness::Big);
        assert!(differ(DType::F16) && differ(DType::F32) && !differ(DType::U8));
    }

    #[test]
    fn close_wide_integers_are_not_constant() {
        let bytes: Vec<u8> =
            [u64::MAX, u64::MAX - 1].iter().flat_map(|it| it.to_le_bytes()).collect();
        let of = |bytes| measured(DType::U64, Endianness::Little, 1, bytes);
        assert_eq!(of(&bytes).signs(), Signs::default());
        assert!(of(&bytes).digest().is_some());
        assert!(of(&bytes[..8].repeat(2)).signs().has(Sign::Constant));
        assert!(doubles(&[0.5, 0.5]).signs().has(Sign::Constant));
    }

    #[test]
    fn a_deviation_beyond_all_doubles_is_an_outlier() {
        let mut values = vec![0.5; 100];
        values[7] = 1e200;
        assert_eq!(doubles(&values).stats().deviation(), Some(f64::INFINITY));
        assert_eq!(doubles(&values).outlier(), None);
        assert!(doubles(&values).signs().has(Sign::Outlier));
    }
}
