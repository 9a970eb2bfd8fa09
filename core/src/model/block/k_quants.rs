//! Blocks of 256 elements whose parts have their own scales, of 4, 6 or 8 bits.

use super::{Decoded, Fields, NONE, fill, number, run};

/// The bytes that hold the 2-bit codes of a run of 16 elements, and their shift: each run of 32
/// bytes holds 32 elements in its lowest bits, then as many in the next bits, and so on.
pub(super) fn pairs(bytes: &[u8; 64], i: usize) -> (&[u8; 16], usize) {
    (run(bytes, ((i >> 2) & 2) | (i & 1)), i & 6)
}

pub(super) fn q2_k<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (scales, q) = (b.take::<16>(), b.take());
    let (d, min) = (b.half(), b.half());
    for (i, (out, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let (d, min) = (d * number(scale & 0xF), min * number(scale >> 4));
        let (q, shift) = pairs(q, i);
        fill(out, *q, |q| T::of(d, number((q >> shift) & 3), -min));
    }
}

pub(super) fn q3_k<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (mask, q, scales) = (b.take::<32>(), b.take(), b.take::<12>());
    let d = b.half();
    let byte = |i: usize| scales.get(i).copied().unwrap_or(0);
    for (i, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = byte(i & 7) >> ((i >> 3) << 2);
        let high = byte(8 | (i & 3)) >> ((i >> 2) << 1);
        let d = d * number(((low & 0xF) | ((high & 3) << 4)).wrapping_sub(32));
        let (q, shift) = pairs(q, i);
        for (to, (q, mask)) in out.iter_mut().zip(q.iter().zip(run::<16>(mask, i & 1))) {
            // If the bit is not set, 4 is subtracted.
            let bit = (mask >> (i >> 1)) & 1;
            let q = ((q >> shift) & 3).wrapping_sub((bit ^ 1) << 2);
            *to = T::of(d, number(q), NONE);
        }
    }
}

pub(super) fn q4_k<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (scales, q) = (b.scales(), b.take::<128>());
    for (i, (out, (d, min))) in out.as_chunks_mut::<32>().0.iter_mut().zip(scales).enumerate() {
        let shift = (i & 1) << 2;
        fill(out, *run(q, i >> 1), |q| T::of(d, number((q >> shift) & 0xF), -min));
    }
}

pub(super) fn q5_k<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (scales, high, q) = (b.scales(), b.take::<32>(), b.take::<128>());
    for (i, (out, (d, min))) in out.as_chunks_mut::<32>().0.iter_mut().zip(scales).enumerate() {
        let shift = (i & 1) << 2;
        for (to, (q, high)) in out.iter_mut().zip(run::<32>(q, i >> 1).iter().zip(high)) {
            let q = ((q >> shift) & 0xF) | (((high >> i) & 1) << 4);
            *to = T::of(d, number(q), -min);
        }
    }
}

pub(super) fn q6_k<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (low, high, scales) = (b.take::<128>(), b.take(), b.take::<16>());
    let d = b.half();
    for (i, (out, scale)) in out.as_chunks_mut::<16>().0.iter_mut().zip(scales).enumerate() {
        let d = d * number(*scale);
        // Runs of 64 bytes hold 64 elements in their lower halves, then as many in their upper
        // halves.
        let low = run::<16>(low, ((i >> 1) & 4) | (i & 3));
        let shift = i & 4;
        let (high, up) = pairs(high, i);
        for (to, (low, high)) in out.iter_mut().zip(low.iter().zip(high)) {
            let q = ((low >> shift) & 0xF) | (((high >> up) & 3) << 4);
            *to = T::of(d, number(q.wrapping_sub(32)), NONE);
        }
    }
}
