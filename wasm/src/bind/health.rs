//! Measures weights and reports what is noteworthy about them.

use super::compute::spread;
use super::{dtype, endianness};
use crate::pack::Pack;
use crate::text::Texts;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::{Gauge, Health, Sign, Signs};

/// Measures elements that stream by.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawGauge {
    inner: Gauge,
}

#[wasm_bindgen]
impl RawGauge {
    /// Of elements of this type in `rows` rows, 0 if they have none; `undefined` when they
    /// are no numbers.
    pub fn of(name: &str, big: bool, elements: u64, rows: u64, seed: u64) -> Option<RawGauge> {
        let rows = Some(rows).filter(|rows| *rows > 0);
        let inner = Gauge::new(dtype(name), endianness(big), elements, rows, seed)?;
        Some(RawGauge { inner })
    }

    /// The data begins at this offset of its file and has rows of this many bytes.
    pub fn placed(self, offset: u64, row: u64) -> RawGauge {
        RawGauge { inner: self.inner.placed(offset, row) }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.inner.push(bytes);
    }

    /// What was found.
    pub fn weights(&self) -> Uint8Array {
        let weights = self.inner.weights();
        let stats = weights.stats();
        let mut pack = Pack::default();
        let (rows, zero_rows) = weights.rows();
        for number in
            [stats.count(), stats.zeros(), stats.nans(), stats.infinities(), rows, zero_rows]
        {
            pack.f64(number as f64);
        }
        spread(stats, &mut pack);
        pack.f64(weights.outlier().unwrap_or(f64::NAN));
        pack.u32(weights.signs().bits().into());
        let digest = weights.digest().map(|[high, low]| {
            let mut text = high.to_string();
            text.push('-');
            text + &low.to_string()
        });
        pack.optional_text(digest.as_deref());
        let hole = weights.hole();
        pack.optional(hole.map(|hole| hole.offset));
        pack.u64(hole.map_or(0, |hole| hole.len));
        pack.u32(hole.is_some_and(|hole| hole.zeros).into());
        pack.done()
    }
}

/// The signs by their bits, the least first: name, and whether it is a fault.
#[wasm_bindgen(js_name = rawSigns)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_signs() -> Uint8Array {
    let mut texts = Texts::default();
    for sign in Sign::ALL {
        let mut row = String::from(sign.name());
        row.push_str(if sign.is_fault() { "\tfault" } else { "\tnote" });
        texts.push(&row);
    }
    let mut pack = Pack::default();
    pack.texts(&texts);
    pack.done()
}

/// What the signs of all tensors come to, in a sentence; whether there is a fault.
#[wasm_bindgen(js_name = rawHealth)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_health(signs: Vec<u8>, skipped: u32) -> Uint8Array {
    let mut health = Health::default();
    signs.into_iter().for_each(|bits| health.add(Signs::from_bits(bits)));
    (0..skipped).for_each(|_| health.skip());
    let mut pack = Pack::default();
    pack.text(&health.to_string());
    pack.u32(health.is_faulty().into());
    pack.done()
}
