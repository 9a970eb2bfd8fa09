//! Statistics of a tensor's elements in one pass and fixed memory.

mod block;
mod histogram;
mod summary;

pub use histogram::Histogram;
pub use summary::Summary;

use crate::base::widen;
use crate::model::decode::{bf16, half};
use crate::model::{DType, Element, Endianness, element::WIDEST};
use block::{Block, doubles, ends, ends_of_codes, huge, shorts, singles};

/// Number of elements summed together; half as many if they have 64 bits. This number, not how
/// the bytes arrive, determines how sums are rounded.
const BLOCK: usize = 1024;
/// Most bytes of a block.
const BYTES: usize = 4096;
/// Number of bytes counted together, which 32 bits can count.
const PIECE: usize = 1 << 20;
/// Number of elements summed together in double precision.
const CHUNK: usize = 512;

/// Sums the elements of a tensor, or of a part of it, whose bytes arrive in pieces of any size.
/// The result does not depend on how they were split.
///
/// Counts, positions and extremes are exact. Mean and deviation are double-precision sums of
/// blocks. Blocks of `f32`, `bf16`, `f16` and quantised types are summed in single precision,
/// sixteen values at a time: the mean is off by at most 2^-18 deviations and the deviation by at
/// most 2^-17 of itself, and by a thousandth of that in data not made to be hard. In all other
/// types, and where the range of single precision does not suffice, both are accurate to 2^-40.
/// The deviation of doubles is infinite where squared deviations overflow, from about 2^510.
///
/// ```
/// use weighbridge_core::{DType, Endianness, Stats};
///
/// let values = [1.0_f32, 3.0, f32::NAN, 0.0, f32::INFINITY];
/// let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
/// let mut stats = Stats::new(DType::F32, Endianness::Little, 0, 5).unwrap();
/// stats.add(&bytes[..7], None); // the second element is cut in two
/// stats.add(&bytes[7..], None);
/// let summary = stats.summary();
/// assert_eq!((summary.count(), summary.finite(), summary.zeros()), (5, 3, 1));
/// assert_eq!((summary.nans(), summary.first_nan(), summary.infinities()), (1, Some(2), 1));
/// assert!((summary.mean().unwrap() - 4.0 / 3.0).abs() < 1e-15);
/// assert_eq!(summary.max().unwrap().to_f64(), 3.0);
/// ```
#[derive(Clone, Debug)]
pub struct Stats {
    dtype: DType,
    endianness: Endianness,
    /// Position of the next element to be summed.
    next: u64,
    /// Position after the last element.
    end: u64,
    /// Number of bytes still to come.
    left: u64,
    /// The first bytes of an incomplete block.
    held: [u8; BYTES],
    /// Number of bytes in `held`.
    len: usize,
    /// Number of bytes in `held` that a histogram has counted.
    counted: usize,
    /// Number of occurrences of each byte, if elements take at most one: the rest follows from
    /// these counts.
    codes: [u64; 256],
    /// The sums of all complete blocks.
    sums: Summary,
}

impl Stats {
    /// Statistics of `count` elements starting at element `first` of the tensor; `None` for types
    /// that are not numbers.
    pub fn new(dtype: DType, endianness: Endianness, first: u64, count: u64) -> Option<Self> {
        dtype.element(&[0; WIDEST], 0, endianness)?;
        let (per, len) = dtype.unit()?;
        let whole = count.checked_div(per.into())?;
        let more = u64::from(count.checked_rem(per.into())? > 0);
        Some(Stats {
            dtype,
            endianness,
            next: first,
            end: first.saturating_add(count),
            left: whole.saturating_add(more).saturating_mul(len.into()),
            held: [0; BYTES],
            len: 0,
            counted: 0,
            codes: [0; 256],
            sums: Summary::new(dtype),
        })
    }

    /// Adds the next bytes; bytes after the last element are ignored. The histogram must have the
    /// same type, and be the same for all bytes.
    pub fn add(&mut self, bytes: &[u8], mut histogram: Option<&mut Histogram<'_>>) {
        let len = memory(self.left).min(bytes.len());
        let mut bytes = bytes.get(..len).unwrap_or_default();
        self.left = self.left.saturating_sub(widen(len));
        if self.dtype.bits() <= 8 && self.dtype.block().is_none() {
            return self.codes(bytes, &mut histogram);
        }
        let elements = if self.dtype.bits() == 64 { CHUNK } else { BLOCK };
        let Some(size) = bytes_of(self.dtype, elements) else { return };
        while !bytes.is_empty() {
            if self.len == 0
                && let Some((block, rest)) = bytes.split_at_checked(size)
            {
                if let Some(histogram) = &mut histogram {
                    histogram.count(self.endianness, block);
                }
                self.take(block, elements);
                bytes = rest;
                continue;
            }
            let free = self.held.get_mut(self.len..size).unwrap_or_default();
            let (head, rest) = bytes.split_at_checked(free.len()).unwrap_or((bytes, &[]));
            free.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
            self.len = self.len.saturating_add(head.len());
            bytes = rest;
            self.count_held(&mut histogram);
            if self.len == size {
                let held = self.held;
                self.take(held.get(..size).unwrap_or_default(), elements);
                (self.len, self.counted) = (0, 0);
            }
        }
    }

    /// Sums up a whole block.
    fn take(&mut self, block: &[u8], elements: usize) {
        let most = self.end.saturating_sub(self.next);
        sum_up(&mut self.sums, self.endianness, self.next, block, most);
        self.next = self.next.saturating_add(widen(elements)).min(self.end);
    }

    /// Counts the complete elements that wait for their block.
    fn count_held(&mut self, histogram: &mut Option<&mut Histogram<'_>>) {
        let Some(histogram) = histogram else { return };
        let Some(unit) = self.dtype.unit().and_then(|(_, len)| usize::try_from(len).ok()) else {
            return;
        };
        let whole = self.len.saturating_sub(self.len.checked_rem(unit).unwrap_or(0));
        let new = self.held.get(self.counted..whole).unwrap_or_default();
        histogram.count(self.endianness, new);
        self.counted = whole;
    }

    /// Adds elements of at most a byte.
    fn codes(&mut self, bytes: &[u8], histogram: &mut Option<&mut Histogram<'_>>) {
        let per = 8_u64.checked_div(self.dtype.bits().into()).unwrap_or(1);
        let most = self.end.saturating_sub(self.next).checked_div(per).unwrap_or(0);
        let most = memory(most).min(bytes.len());
        let (whole, last) = bytes.split_at_checked(most).unwrap_or((bytes, &[]));
        let here = occurrences(whole);
        let (dtype, next) = (self.dtype, self.next);
        for (code, (all, count)) in (0..=u8::MAX).zip(self.codes.iter_mut().zip(here)) {
            if count == 0 {
                continue;
            }
            *all = all.saturating_add(count);
            // Types with several elements per byte have no NaN.
            let at = || whole.iter().position(|byte| *byte == code).map(widen);
            for value in values(dtype, code) {
                if value.is_nan() {
                    self.sums.add_nans(0, at().map(|at| next.saturating_add(at)));
                } else if value.is_infinite() {
                    self.sums.add_infinities(0, at().map(|at| next.saturating_add(at)));
                }
                if let Some(histogram) = histogram {
                    histogram.value(value, count);
                }
            }
        }
        self.next = self.next.saturating_add(widen(most).saturating_mul(per));
        // The last byte may hold fewer elements.
        let Some(last) = last.first() else { return };
        let left = memory(self.end.saturating_sub(self.next));
        for value in values(dtype, *last).take(left) {
            self.sums.add(&alike(dtype, value, 1));
            if let Some(histogram) = histogram {
                histogram.value(value, 1);
            }
        }
        self.next = self.end;
    }

    /// The statistics of all complete elements so far.
    pub fn summary(&self) -> Summary {
        let mut sums = self.sums;
        for (code, count) in (0..=u8::MAX).zip(self.codes) {
            if count == 0 {
                continue;
            }
            for value in values(self.dtype, code) {
                if value.is_nan() {
                    sums.add_nans(count, None);
                } else if value.is_infinite() {
                    sums.add_infinities(count, None);
                } else {
                    sums.add(&alike(self.dtype, value, count));
                }
            }
        }
        let held = self.held.get(..self.len).unwrap_or_default();
        let most = self.end.saturating_sub(self.next);
        sum_up(&mut sums, self.endianness, self.next, held, most);
        sums
    }
}

/// The count as `usize`, saturated.
fn memory(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Number of bytes of this many elements, which fill blocks.
fn bytes_of(dtype: DType, elements: usize) -> Option<usize> {
    usize::try_from(dtype.bytes(widen(elements))?).ok()
}

/// Splits bytes into pieces of `len`; the last may be shorter.
fn pieces(mut bytes: &[u8], len: usize) -> impl Iterator<Item = &[u8]> {
    core::iter::from_fn(move || {
        let (head, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        bytes = rest;
        (!head.is_empty()).then_some(head)
    })
}

/// Number of occurrences of each byte. Four tables keep equal bytes in a row from waiting for
/// each other.
fn occurrences(bytes: &[u8]) -> [u64; 256] {
    let mut all = [0_u64; 256];
    for piece in pieces(bytes, PIECE) {
        let mut parts = [[0_u32; 256]; 4];
        let (words, rest) = piece.as_chunks::<8>();
        for word in words {
            // One load for eight bytes.
            let word = u64::from_le_bytes(*word).to_le_bytes();
            for four in word.as_chunks::<4>().0 {
                parts.iter_mut().zip(four).for_each(|(part, byte)| count(part, *byte));
            }
        }
        let [first, ..] = &mut parts;
        rest.iter().for_each(|byte| count(first, *byte));
        for part in parts {
            all.iter_mut().zip(part).for_each(|(all, more)| *all = all.wrapping_add(more.into()));
        }
    }
    all
}

fn count(counts: &mut [u32; 256], byte: u8) {
    if let Some(count) = counts.get_mut(usize::from(byte)) {
        *count = count.wrapping_add(1);
    }
}

/// The elements in a byte.
fn values(dtype: DType, byte: u8) -> impl Iterator<Item = f64> {
    (0..).map_while(move |i| dtype.element(&[byte], i, Endianness::Little)).map(Element::to_f64)
}

/// The block of `count` elements with one finite value.
fn alike(dtype: DType, value: f64, count: u64) -> Block {
    let small = value.abs() < smallest_normal(dtype);
    Block {
        count,
        mean: value,
        squares: 0.0,
        least: value,
        greatest: value,
        zeros: if value == 0.0 { count } else { 0 },
        subnormals: if small && value != 0.0 { count } else { 0 },
    }
}

/// Adds the elements in `bytes`: at most `most`, starting at element `at`.
fn sum_up(sums: &mut Summary, endianness: Endianness, at: u64, bytes: &[u8], most: u64) {
    match fast(sums.dtype(), endianness, bytes, memory(most)) {
        Some(block) => sums.add(&block),
        None => careful(sums, endianness, at, bytes, most),
    }
}

/// The sums of a block of a common type, if it is whole and holds nothing special.
fn fast(dtype: DType, endianness: Endianness, bytes: &[u8], most: usize) -> Option<Block> {
    let normal = f32::MIN_POSITIVE;
    // For wasm, compilers vectorise these sums only if values are copied first.
    let direct = !cfg!(target_arch = "wasm32");
    if (dtype, endianness) == (DType::F32, Endianness::Little) && direct {
        let (values, float) = (bytes.as_chunks().0, f32::from_le_bytes);
        return singles(values, ends(values, float), |value| [float(value)], normal);
    }
    if (dtype, endianness) == (DType::BF16, Endianness::Little) {
        // Two per word take fewer steps than one at a time.
        let floats = |word| {
            let word = u32::from_le_bytes(word);
            [f32::from_bits(word << 16), f32::from_bits(word & 0xFFFF_0000)]
        };
        let (words, []) = bytes.as_chunks() else { return None };
        return singles(words, ends_of_codes(bytes.as_chunks().0, bf16), floats, normal);
    }
    if matches!(dtype, DType::I16 | DType::U16) && endianness == Endianness::Little {
        // Unsigned integers are offset by 2^15.
        let zero = if dtype == DType::U16 { i16::MIN } else { 0 };
        let codes = bytes.as_chunks().0;
        let codes = codes.get(..most).unwrap_or(codes);
        return shorts(codes, zero);
    }
    let tiny = match dtype {
        DType::F32 | DType::BF16 => normal,
        DType::F16 => HALF,
        _ if dtype.block().is_some() => 0.0,
        _ => return None,
    };
    let mut values = [0.0; BLOCK];
    let count = dtype.decode_f32(endianness, bytes, &mut values)?;
    let values = values.get(..count.min(most))?;
    let ends = match (dtype, endianness) {
        (DType::F16, Endianness::Little) => ends_of_codes(bytes.as_chunks().0, half),
        _ => ends(values, |value| value),
    };
    singles(values, ends, |value| [value], tiny)
}

/// Adds elements of any type and value in double precision.
fn careful(sums: &mut Summary, endianness: Endianness, mut at: u64, bytes: &[u8], mut most: u64) {
    let dtype = sums.dtype();
    let Some(len) = bytes_of(dtype, CHUNK) else { return };
    let mut values = [0.0; CHUNK];
    for head in pieces(bytes, len) {
        let count = dtype.decode_f64(endianness, head, &mut values).unwrap_or(0);
        let count = count.min(memory(most));
        if matches!(dtype, DType::I64 | DType::U64) {
            sums.add_keys(head.as_chunks().0.get(..count).unwrap_or_default(), endianness);
        }
        let all = values.get_mut(..count).unwrap_or_default();
        let tiny = smallest_normal(dtype);
        let block = doubles(all, tiny).unwrap_or_else(|| {
            let kept = without_special(sums, at, all);
            let finite = all.get(..kept).unwrap_or_default();
            doubles(finite, tiny).unwrap_or_else(|| huge(finite, tiny))
        });
        sums.add(&block);
        at = at.saturating_add(widen(count));
        most = most.saturating_sub(widen(count));
    }
}

/// Moves finite values to the front and returns their number. Adds the others to `sums`.
fn without_special(sums: &mut Summary, at: u64, values: &mut [f64]) -> usize {
    let mut kept = 0_usize;
    for i in 0..values.len() {
        let value = values.get(i).copied().unwrap_or(0.0);
        let position = at.saturating_add(widen(i));
        if value.is_nan() {
            sums.add_nans(1, Some(position));
        } else if value.is_infinite() {
            sums.add_infinities(1, Some(position));
        } else if let Some(to) = values.get_mut(kept) {
            *to = value;
            kept = kept.saturating_add(1);
        }
    }
    kept
}

/// The least positive normal `f16`.
const HALF: f32 = 1.0 / 16_384.0;

/// The least positive normal value of a type; 0 for types without subnormals.
fn smallest_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F32 | DType::BF16 => f64::from(f32::MIN_POSITIVE),
        DType::F16 | DType::F8E5M2 => f64::from(HALF),
        DType::F8E4M3 => 1.0 / 64.0,
        _ => 0.0,
    }
}
