//! Accumulators of streamed elements.

use super::{dtype, endianness};
use crate::blocks;
use crate::pack::Pack;
use alloc::vec;
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::heatmap::{Heatmap, Slice};
use weighbridge::{Difference, Outline};
use weighbridge_core::{DType, Histogram, Quant, Stats, Summary};

/// Statistics of elements that stream by, with a histogram.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawStatistics {
    dtype: DType,
    stats: Stats,
    words: Vec<u64>,
}

#[wasm_bindgen]
impl RawStatistics {
    /// Of elements of this type; `undefined` when they are no numbers.
    pub fn of(name: &str, big: bool, elements: u64) -> Option<RawStatistics> {
        let dtype = dtype(name);
        let stats = Stats::new(dtype, endianness(big), 0, elements)?;
        Some(RawStatistics { dtype, stats, words: vec![0; Histogram::WORDS] })
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.stats.add(bytes, Histogram::new(self.dtype, &mut self.words).as_mut());
    }

    /// What was found.
    pub fn summary(&self) -> Uint8Array {
        let stats = self.stats.summary();
        let mut pack = Pack::default();
        for number in
            [stats.count(), stats.zeros(), stats.subnormals(), stats.nans(), stats.infinities()]
        {
            pack.u64(number);
        }
        spread(&stats, &mut pack);
        pack.done()
    }

    /// Counts by magnitude.
    pub fn magnitudes(&mut self) -> Vec<f64> {
        self.counts(2 * Histogram::MAGNITUDES, |histogram, bins| histogram.magnitudes(bins))
    }

    /// Counts in equal steps.
    pub fn steps(&mut self, low: f64, high: f64, bins: u32) -> Vec<f64> {
        let bins = (bins as usize).clamp(1, 1 << 20);
        self.counts(bins, |histogram, bins| histogram.steps(low, high, bins))
    }

    fn counts(&mut self, bins: usize, count: impl FnOnce(&Histogram<'_>, &mut [u64])) -> Vec<f64> {
        let mut bins = vec![0; bins];
        if let Some(histogram) = Histogram::new(self.dtype, &mut self.words) {
            count(&histogram, &mut bins);
        }
        bins.iter().map(|count| *count as f64).collect()
    }

    /// What these shares of the finite elements are below; NaN where there are none.
    pub fn quantiles(&mut self, shares: Vec<f64>) -> Vec<f64> {
        let histogram = Histogram::new(self.dtype, &mut self.words);
        let quantile = |share| histogram.as_ref()?.quantile(share);
        shares.iter().map(|share| quantile(*share).unwrap_or(f64::NAN)).collect()
    }
}

/// Packs the positions of the first non-finite elements, the extremes, mean and deviation.
pub(super) fn spread(stats: &Summary, pack: &mut Pack) {
    pack.optional(stats.first_nan());
    pack.optional(stats.first_infinity());
    for number in [
        stats.min().map(|least| least.to_f64()),
        stats.max().map(|greatest| greatest.to_f64()),
        stats.mean(),
        stats.deviation(),
    ] {
        pack.f64(number.unwrap_or(f64::NAN));
    }
}

/// A picture of a slice.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawHeatmap {
    inner: Heatmap,
}

#[wasm_bindgen]
impl RawHeatmap {
    /// `undefined` when the elements are no numbers, or there is no such
    /// slice.
    #[allow(clippy::too_many_arguments, reason = "the fields of a slice")]
    pub fn of(
        name: &str,
        big: bool,
        shape: Vec<u64>,
        row_axis: u32,
        column_axis: u32,
        fixed: Vec<u64>,
        height: u32,
        width: u32,
        window: Vec<u64>,
        scales: bool,
    ) -> Option<RawHeatmap> {
        let window = match window[..] {
            [top, bottom, left, right] => Some((top..bottom, left..right)),
            _ => None,
        };
        let (row_axis, column_axis) = (row_axis as usize, column_axis as usize);
        let slice = Slice { shape, row_axis, column_axis, fixed, window, scales };
        let (height, width) = (height.into(), width.into());
        let inner = Heatmap::new(dtype(name), endianness(big), &slice, height, width)?;
        Some(RawHeatmap { inner })
    }

    /// First element, element after the last, height, width, and where the bytes
    /// of these elements begin and end in the data.
    pub fn size(&self) -> Vec<u64> {
        let map = &self.inner;
        [map.from, map.to, map.height, map.width, map.first_byte, map.last_byte].to_vec()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.inner.push(bytes);
    }

    /// Means, least, greatest, and numbers of what is not finite.
    pub fn cells(&self) -> Uint8Array {
        let cells = || self.inner.cells();
        let mut pack = Pack::default();
        pack.words(cells().map(|cell| cell.mean.to_bits()));
        pack.words(cells().map(|cell| cell.least.to_bits()));
        pack.words(cells().map(|cell| cell.greatest.to_bits()));
        pack.words(cells().map(|cell| cell.bad));
        pack.done()
    }
}

/// The elements of runs of blocks, as `grid` of a document returns them; `undefined` for types
/// whose blocks are not decoded.
#[wasm_bindgen(js_name = rawBlocks)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_blocks(name: &str, big: bool, bytes: &[u8], runs: &[u32]) -> Option<Uint8Array> {
    let numbers = blocks::decode(dtype(name), endianness(big), bytes, runs)?;
    let mut pack = Pack::default();
    pack.numbers(&numbers);
    Some(pack.done())
}

/// What the elements of one block are made of: scales, quants, minima, and the values;
/// nothing for types without blocks.
#[wasm_bindgen(js_name = rawBlock)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_block(name: &str, big: bool, bytes: &[u8]) -> Uint8Array {
    let mut quants = [Quant::default(); 256];
    let count = dtype(name).decode_quants(endianness(big), bytes, &mut quants).unwrap_or(0);
    let quants = quants.get(..count).unwrap_or_default();
    let mut pack = Pack::default();
    pack.items(4, quants, |it| it.scale.to_bits().into());
    pack.items(4, quants, |it| it.quant.to_bits().into());
    pack.items(4, quants, |it| it.min.to_bits().into());
    pack.items(4, quants, |it| (it.scale * it.quant + it.min).to_bits().into());
    pack.done()
}

/// Two tensors that stream by.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawDifference {
    inner: Difference,
}

#[wasm_bindgen]
impl RawDifference {
    /// `undefined` when the elements are no numbers.
    pub fn of(a: &str, big_a: bool, b: &str, big_b: bool, elements: u64) -> Option<RawDifference> {
        let a = (dtype(a), endianness(big_a));
        let b = (dtype(b), endianness(big_b));
        Some(RawDifference { inner: Difference::new(a, b, elements)? })
    }

    /// It with the rows of heads of a side in another order; `undefined` if there is none.
    pub fn reordered(self, side: u32, row: u32, rows: u32) -> Option<RawDifference> {
        Some(RawDifference {
            inner: self.inner.reordered(side as usize, row as usize, rows as usize)?,
        })
    }

    /// Takes the next bytes of side 0 or 1.
    pub fn push(&mut self, side: u32, bytes: &[u8]) {
        self.inner.push(side as usize, bytes);
    }

    /// What was found.
    pub fn summary(&self) -> Uint8Array {
        let sums = &self.inner;
        let mut pack = Pack::default();
        pack.u64(sums.count);
        pack.u64(sums.different);
        pack.u64(sums.finite);
        pack.u64(sums.nans[0]);
        pack.u64(sums.nans[1]);
        pack.optional(sums.nan_at);
        pack.optional(sums.max_at);
        pack.f64(sums.max);
        pack.f64(sums.cosine());
        pack.f64(sums.relative_rms());
        let (power, counts) = sums.magnitudes();
        pack.f64(power.into());
        pack.items(8, &counts, |count| *count);
        pack.done()
    }
}

/// The names that a tensor of `transformers` may have in GGUF, a line each.
#[wasm_bindgen(js_name = rawGgufNames)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_gguf_names(name: &str) -> alloc::string::String {
    weighbridge::gguf_names(name).join("\n")
}

/// Pairs the tensors of two digests by name.
#[wasm_bindgen(js_name = rawCompare)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_compare(a: &[u8], b: &[u8]) -> Uint8Array {
    let pairs = Outline::read(a).pairs(&Outline::read(b));
    let mut pack = Pack::default();
    pack.items(4, &pairs, |pair| pair.a.unwrap_or(u32::MAX).into());
    pack.items(4, &pairs, |pair| pair.b.unwrap_or(u32::MAX).into());
    pack.items(1, &pairs, |pair| pair.differs.into());
    pack.done()
}
