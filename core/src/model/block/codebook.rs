//! Blocks whose codes index tables: each entry holds four or eight elements, with or without
//! their signs.

use super::grids::{IQ1_S, IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS};
use super::{Decoded, Fields, NONE, each};
use crate::model::decode::half;
use crate::model::{DType, Endianness};

/// The values of the digits in table entries.
const TWO: [f32; 4] = [8.0, 25.0, 43.0, 0.0];
const XXS: [f32; 8] = [4.0, 12.0, 20.0, 28.0, 36.0, 44.0, 52.0, 62.0];
const THREE: [f32; 8] = [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0];
/// The values for `iq1_s` and `iq1_m`, shifted up or down by an eighth.
const UP: [f32; 4] = [-0.875, 0.125, 1.125, 0.0];
const DOWN: [f32; 4] = [-1.125, -0.125, 0.875, 0.0];

/// As [`super::decode`], for the types of this module.
pub(super) fn decode<T: Decoded>(
    dtype: DType,
    endianness: Endianness,
    bytes: &[u8],
    out: &mut [T],
) -> Option<usize> {
    let e = endianness;
    Some(match dtype {
        DType::Iq1S => each::<50, 256, T>(bytes, out, |b, out| iq1_s(&mut Fields(b, e), out)),
        DType::Iq1M => each::<56, 256, T>(bytes, out, |b, out| iq1_m(&mut Fields(b, e), out)),
        DType::Iq2Xxs => each::<66, 256, T>(bytes, out, |b, out| iq2_xxs(&mut Fields(b, e), out)),
        DType::Iq2Xs => each::<74, 256, T>(bytes, out, |b, out| iq2_xs(&mut Fields(b, e), out)),
        DType::Iq2S => each::<82, 256, T>(bytes, out, |b, out| iq2_s(&mut Fields(b, e), out)),
        DType::Iq3Xxs => each::<98, 256, T>(bytes, out, |b, out| iq3_xxs(&mut Fields(b, e), out)),
        DType::Iq3S => each::<110, 256, T>(bytes, out, |b, out| iq3_s(&mut Fields(b, e), out)),
        _ => return None,
    })
}

/// An entry of a table.
fn entry(grid: &[u8], code: u16) -> u16 {
    grid.as_chunks().0.get(usize::from(code)).map_or(0, |word| u16::from_le_bytes(*word))
}

/// Decodes the eight elements of an entry of 2-bit digits; elements whose bit is set in `signs`
/// are negative.
fn eight<T: Decoded>(out: &mut [T; 8], scale: f32, entry: u16, levels: &[f32; 4], signs: u8) {
    for (i, to) in out.iter_mut().enumerate() {
        let level = levels.get(usize::from((entry >> (i << 1)) & 3)).copied().unwrap_or(0.0);
        *to = T::of(scale, signed(level, signs >> i), NONE);
    }
}

/// Decodes the eight elements of two entries of 3-bit digits.
fn twice_four<T: Decoded>(
    out: &mut [T; 8],
    scale: f32,
    entries: [u16; 2],
    levels: &[f32; 8],
    signs: u8,
) {
    let [low, high] = entries.map(u32::from);
    let digits = low | (high << 12);
    for (i, to) in (0_u32..).zip(out.iter_mut()) {
        let [digit, ..] = (digits >> i.wrapping_mul(3)).to_le_bytes();
        let level = levels.get(usize::from(digit & 7)).copied().unwrap_or(0.0);
        *to = T::of(scale, signed(level, signs >> i), NONE);
    }
}

/// A level, negative if the lowest bit of `sign` is set.
#[inline(always)]
fn signed(level: f32, sign: u8) -> f32 {
    f32::from_bits(level.to_bits() ^ (u32::from(sign & 1) << 31))
}

/// The signs of eight elements, seven of them stored: the number of negative elements is even.
fn even(seven: u32) -> u8 {
    let [seven, ..] = (seven & 0x7F).to_le_bytes();
    seven | if seven.count_ones() & 1 == 0 { 0 } else { 0x80 }
}

/// A number in the lower or the upper half of a byte.
fn nibble(byte: u8, upper: bool) -> f32 {
    f32::from(if upper { byte >> 4 } else { byte & 0xF })
}

fn byte(bytes: &[u8], i: usize) -> u8 {
    bytes.get(i).copied().unwrap_or(0)
}

fn iq2_xxs<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    for out in out.as_chunks_mut::<32>().0 {
        let (codes, signs) = (b.take::<4>(), b.flags());
        let [.., top] = signs.to_le_bytes();
        let d = d * (0.5 + nibble(top, true)) * 0.25;
        for ((out, code), shift) in out.as_chunks_mut().0.iter_mut().zip(codes).zip([0, 7, 14, 21])
        {
            eight(out, d, entry(&IQ2_XXS, (*code).into()), &TWO, even(signs >> shift));
        }
    }
}

fn iq2_xs<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let codes: [u16; 32] = core::array::from_fn(|_| b.short());
    let scales = b.take::<8>();
    for (i, (out, code)) in out.as_chunks_mut().0.iter_mut().zip(codes).enumerate() {
        let d = d * (0.5 + nibble(byte(scales, i >> 2), i & 2 != 0)) * 0.25;
        eight(out, d, entry(&IQ2_XS, code & 0x1FF), &TWO, even((code >> 9).into()));
    }
}

fn iq2_s<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let (codes, signs) = (b.take::<32>(), b.take::<32>());
    let (high, scales) = (b.take::<8>(), b.take::<8>());
    for (i, (out, (code, signs))) in
        out.as_chunks_mut().0.iter_mut().zip(codes.iter().zip(signs)).enumerate()
    {
        let d = d * (0.5 + nibble(byte(scales, i >> 2), i & 2 != 0)) * 0.25;
        let high = (byte(high, i >> 2) >> ((i & 3) << 1)) & 3;
        eight(out, d, entry(&IQ2_S, u16::from_le_bytes([*code, high])), &TWO, *signs);
    }
}

fn iq3_xxs<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let codes = b.take::<64>();
    for (out, codes) in out.as_chunks_mut::<32>().0.iter_mut().zip(codes.as_chunks::<8>().0) {
        let signs = b.flags();
        let [.., top] = signs.to_le_bytes();
        let d = d * (0.5 + nibble(top, true)) * 0.5;
        let pairs = codes.as_chunks::<2>().0;
        for ((out, pair), shift) in out.as_chunks_mut().0.iter_mut().zip(pairs).zip([0, 7, 14, 21])
        {
            let entries = pair.map(|code| entry(&IQ3_XXS, code.into()));
            twice_four(out, d, entries, &XXS, even(signs >> shift));
        }
    }
}

fn iq3_s<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let (codes, high) = (b.take::<64>(), b.take::<8>());
    let (signs, scales) = (b.take::<32>(), b.take::<4>());
    for (i, (out, (pair, signs))) in
        out.as_chunks_mut().0.iter_mut().zip(codes.as_chunks::<2>().0.iter().zip(signs)).enumerate()
    {
        let d = d * (1.0 + 2.0 * nibble(byte(scales, i >> 3), i & 4 != 0));
        let high = byte(high, i >> 2) >> ((i & 3) << 1);
        let [first, second] = *pair;
        let entries = [[first, high & 1], [second, (high >> 1) & 1]];
        let entries = entries.map(|code| entry(&IQ3_S, u16::from_le_bytes(code)));
        twice_four(out, d, entries, &THREE, *signs);
    }
}

fn iq1_s<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let d = b.half();
    let codes = b.take::<32>();
    for (out, codes) in out.as_chunks_mut::<32>().0.iter_mut().zip(codes.as_chunks::<4>().0) {
        let high = b.short();
        let [_, top] = high.to_le_bytes();
        let d = d * odd((top >> 4) & 7);
        let levels = if top & 0x80 == 0 { &UP } else { &DOWN };
        for ((out, code), shift) in out.as_chunks_mut().0.iter_mut().zip(codes).zip([0, 3, 6, 9]) {
            let code = u16::from(*code) | (((high >> shift) & 7) << 8);
            eight(out, d, entry(&IQ1_S, code), levels, 0);
        }
    }
}

fn iq1_m<T: Decoded>(b: &mut Fields<'_>, out: &mut [T; 256]) {
    let (codes, high) = (b.take::<32>(), b.take::<16>());
    let scales: [u16; 4] = core::array::from_fn(|_| b.short());
    // The block's scale is in the upper bits of its parts' scales.
    let d = half(scales.iter().rev().fold(0, |bits, scale| (bits << 4) | (scale >> 12)));
    for (i, (out, code)) in out.as_chunks_mut().0.iter_mut().zip(codes).enumerate() {
        let part = i >> 1;
        let scales = scales.get(part >> 2).copied().unwrap_or(0);
        let [scale, _] = (scales >> (part & 3).wrapping_mul(3)).to_le_bytes();
        let high = byte(high, part) >> ((i & 1) << 2);
        let levels = if high & 8 == 0 { &UP } else { &DOWN };
        let code = u16::from_le_bytes([*code, high & 7]);
        eight(out, d * odd(scale & 7), entry(&IQ1_S, code), levels, 0);
    }
}

/// The odd number that a code stands for.
fn odd(code: u8) -> f32 {
    1.0 + 2.0 * f32::from(code)
}
