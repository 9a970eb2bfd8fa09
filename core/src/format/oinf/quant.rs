//! Quantisation (version 2).
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 4 | scheme: 1 symmetric, 2 asymmetric |
//! | 4 | 4 | scale mode: 1 per tensor, 2 per channel |
//! | 8 | 4 | zero point mode: 0 none, 1 per tensor, 2 per channel |
//! | 12 | 4 | reserved, 0 |
//! | 16 | 16 | axis and number of the scales |
//! | 32 | 16 | axis and number of the zero points |
//! | 48 | | `f32` scales, `i32` zero points, zeros up to a multiple of 8 |

use super::index::padded;
#[cfg(not(feature = "windows"))]
use super::index::{Entry, judge_padding};
use super::{Header, rules};
use crate::read::{BYTES_CHANGED, Reader};
use crate::rule::Rule;
use crate::slot::{Word, place, wide, word};
#[cfg(not(feature = "windows"))]
use crate::source::widen;
use crate::source::{Absent, Source, Span};
use crate::tensor::Tensor;

/// Bytes before the scales.
pub(super) const FIXED: u64 = 48;

/// How the elements of a tensor stand for numbers: `(element - zero point) ×
/// scale` (guide 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantization {
    /// Whether the scheme is symmetric: there are no zero points.
    pub symmetric: bool,
    /// The axis along which scales differ; `None` if one holds for the whole
    /// tensor.
    pub axis: Option<u64>,
    /// Where the scales are stored, as little-endian `f32`.
    pub scales: Span,
    /// Whether there are zero points.
    pub has_zero_points: bool,
    /// Where the zero points are stored, as little-endian `i32`: as many as there
    /// are scales, or none.
    pub zero_points: Span,
}

/// The fixed fields, as they are stored.
#[derive(Clone, Copy, Default)]
pub(super) struct Parameters {
    /// Scheme, scale mode, zero point mode, and 0.
    modes: [u32; 4],
    /// Axis and number of the scales and of the zero points.
    axes: [u64; 4],
}

/// Where an axis and a number are stored, of the scales and of the zero points.
const SCALE_AXIS: u64 = 16;
const SCALE_COUNT: u64 = 24;
const ZP_AXIS: u64 = 32;
const ZP_COUNT: u64 = 40;

impl Parameters {
    /// The fixed fields; zeros where `bytes` end.
    #[inline(always)]
    fn of(bytes: &[u8]) -> Self {
        let mut fields = Parameters::default();
        let (modes, axes) = bytes.split_at_checked(16).unwrap_or_default();
        for (field, bytes) in fields.modes.iter_mut().zip(modes.as_chunks().0) {
            *field = u32::from_le_bytes(*bytes);
        }
        for (field, bytes) in fields.axes.iter_mut().zip(axes.as_chunks().0) {
            *field = u64::from_le_bytes(*bytes);
        }
        fields
    }

    /// The fixed fields of the quantisation at `stored`; zeros where they are
    /// lacking.
    #[cfg_attr(not(feature = "windows"), inline(always))]
    pub(super) fn read(r: &mut Reader<'_, '_>, stored: &Span) -> Self {
        let end = stored.at.wrapping_add(stored.len);
        r.region(stored.at, end, BYTES_CHANGED);
        r.read_ahead(end);
        Parameters::of(r.bytes(word(FIXED)))
    }

    /// The axis of the scales.
    pub(super) fn axis(&self) -> u64 {
        let [axis, ..] = self.axes;
        axis
    }

    /// Whether scales differ along that axis.
    pub(super) fn is_per_channel(&self) -> bool {
        let [_, scale_mode, ..] = self.modes;
        scale_mode == 2
    }

    /// How many bytes the scales and the zero points have, if they fill a payload of `len`
    /// bytes.
    pub(super) fn lists(&self, len: u64) -> Option<[Word; 2]> {
        // Words behind the fixed fields, of which one may be padding.
        let room = word(len >> 2).wrapping_sub(12);
        let [_, scales, _, zero_points] = self.axes.map(place);
        let left = room.checked_sub(scales)?;
        (left >= zero_points && left.wrapping_sub(zero_points) <= 1)
            .then_some([scales << 2, zero_points << 2])
    }

    /// The size that the counts ask for.
    pub(super) fn size(&self) -> u64 {
        let [_, scales, _, zero_points] = self.axes;
        let words = scales.saturating_add(zero_points);
        padded(words.saturating_mul(4).saturating_add(FIXED))
    }

    /// Checks the fields against each other and against the tensor's `rank` and
    /// the `extent` of the axis of the scales. Whether the counts hold.
    #[cfg_attr(not(feature = "windows"), inline(always))]
    pub(super) fn judge(&self, r: &mut Reader<'_, '_>, at: u64, rank: u64, extent: u64) -> bool {
        let [scheme, scale_mode, zp_mode, reserved] = self.modes;
        let [scale_axis, scale_count, zp_axis, zp_count] = self.axes;
        let flag = |r: &mut Reader<'_, '_>, rule: Rule, from: u64, expected: u64, found: u64| {
            let len = if from < SCALE_AXIS { 4 } else { 8 };
            r.flag(rule, at.wrapping_add(from), len, expected, found);
        };
        if reserved != 0 {
            flag(r, rules::QUANT_RESERVED, 12, 0, reserved.into());
        }
        if !matches!(scheme, 1 | 2) {
            flag(r, rules::QUANT_SCHEME, 0, 2, scheme.into());
        }
        let scales = match scale_mode {
            1 if scale_axis != 0 => (rules::QUANT_SCALE_PT, SCALE_AXIS, 0, scale_axis),
            1 if scale_count != 1 => (rules::QUANT_SCALE_PT, SCALE_COUNT, 1, scale_count),
            2 if scale_axis >= rank => (rules::QUANT_SCALE_AXIS, SCALE_AXIS, rank, scale_axis),
            2 if scale_count != extent => {
                (rules::QUANT_SCALE_COUNT, SCALE_COUNT, extent, scale_count)
            }
            1 | 2 => NO_FAULT,
            mode => (rules::QUANT_SCALEMODE, 4, 2, mode.into()),
        };
        if zp_mode == 0 && zp_axis != 0 {
            flag(r, rules::QUANT_ZP_NONE_AXIS, ZP_AXIS, 0, zp_axis);
        }
        let zero_points = match (zp_mode, scale_mode) {
            (0, _) if zp_count != 0 => (rules::QUANT_ZP_NONE, ZP_COUNT, 0, zp_count),
            (1, 2) | (2, 1) => (rules::QUANT_ZP_MIX, 8, scale_mode.into(), zp_mode.into()),
            (1, 1) if zp_axis != 0 => (rules::QUANT_ZP_PT, ZP_AXIS, 0, zp_axis),
            (1, 1) if zp_count != 1 => (rules::QUANT_ZP_PT, ZP_COUNT, 1, zp_count),
            (2, 2) if zp_axis != scale_axis => (rules::QUANT_ZP_AXIS, ZP_AXIS, scale_axis, zp_axis),
            (2, 2) if scale_axis < rank && zp_count != extent => {
                (rules::QUANT_ZP_COUNT, ZP_COUNT, extent, zp_count)
            }
            // What the zero points should be like is unknown when the scale
            // mode is.
            (0..=2, _) => NO_FAULT,
            (mode, _) => (rules::QUANT_ZPMODE, 8, 2, mode.into()),
        };
        let mut counted = true;
        for (rule, from, expected, found) in [scales, zero_points] {
            if from < FIXED {
                flag(r, rule, from, expected, found);
                counted &= !matches!(from, SCALE_COUNT | ZP_COUNT);
            }
        }
        if scheme == 1 && matches!(zp_mode, 1 | 2) {
            flag(r, rules::QUANT_SYM_ZP, 8, 0, zp_mode.into());
        }
        counted
    }
}

/// Stands for no fault: no field is there.
const NO_FAULT: (Rule, u64, u64, u64) = (BYTES_CHANGED, FIXED, 0, 0);

/// Judges the quantisation of an entry.
#[cfg(not(feature = "windows"))]
#[inline(never)]
pub(super) fn audit(r: &mut Reader<'_, '_>, e: &Entry<'_>) {
    let stored = &e.quant;
    let parameters = Parameters::read(r, stored);
    let axis = usize::try_from(parameters.axis()).unwrap_or(usize::MAX);
    let extent = e.extents.as_chunks().0.get(axis).map_or(0, |extent| u64::from_le_bytes(*extent));
    let counted = parameters.judge(r, stored.at, e.rank().into(), extent);
    if let Some([scales, zero_points]) = parameters.lists(stored.len) {
        let at = r.here();
        if let Some(i) = not_finite(r.bytes(scales)) {
            let channel = widen(i >> 2);
            r.flag(rules::QUANT_SCALE_FINITE, wide(at).wrapping_add(widen(i)), 4, 0, channel);
        }
        r.bytes(zero_points);
        judge_padding(r, rules::QUANT_PAD, r.here(), r.resident());
    } else if counted {
        r.flag(rules::QUANT_SIZE, e.quant_at(), 8, parameters.size(), stored.len);
    }
}

impl Header {
    /// How the elements of a tensor stand for numbers; `None` if it is not
    /// quantised, or if its quantisation is broken, which the audit reports.
    ///
    /// # Errors
    /// [`Absent`] when the parameters are not resident.
    pub fn quantization(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Quantization>, Absent> {
        let stored = tensor.extra;
        if stored.len < FIXED || stored.len & 7 != 0 {
            return Ok(None);
        }
        let parameters = Parameters::of(source.get(Span::new(stored.at, FIXED))?);
        let Some(lists) = parameters.lists(stored.len) else { return Ok(None) };
        let [scales, zero_points] = lists.map(wide);
        let [scheme, _, zp_mode, _] = parameters.modes;
        let at = stored.at.wrapping_add(FIXED);
        Ok(Some(Quantization {
            symmetric: scheme == 1,
            axis: parameters.is_per_channel().then_some(parameters.axis()),
            scales: Span::new(at, scales),
            has_zero_points: zp_mode != 0,
            zero_points: Span::new(at.wrapping_add(scales), zero_points),
        }))
    }
}

/// The position of the first scale that is infinite or not a number.
pub(super) fn not_finite(run: &[u8]) -> Option<usize> {
    let scales = run.as_chunks::<4>().0;
    // By the exponent.
    let scale = scales.iter().position(|scale| (u32::from_le_bytes(*scale) << 1) >> 24 == 255)?;
    Some(scale.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(scales: u64, zero_points: u64, len: u64) -> Option<[Word; 2]> {
        Parameters { modes: [2, 2, 2, 0], axes: [0, scales, 0, zero_points] }.lists(len)
    }

    #[test]
    fn lists_fill_the_payload_or_are_none() {
        assert_eq!(lists(3, 2, 72), Some([12, 8]));
        assert_eq!(lists(4, 2, 72), Some([16, 8]));
        assert_eq!(lists(0, 0, 48), Some([0, 0]));
        assert_eq!(lists(3, 2, 64), None);
        assert_eq!(lists(3, 2, 80), None);
        // Counts whose products, or whose sum, would wrap to something small.
        assert_eq!(lists(1 << 62, 0, 48), None);
        assert_eq!(lists(1 << 61, 1 << 61, 48), None);
        assert_eq!(lists(u64::MAX >> 2, 1, 48), None);
        assert_eq!(lists(u64::MAX, 1, 48), None);
    }

    #[test]
    fn scales_that_are_no_numbers_are_found() {
        let bytes = |scales: &[f32]| -> std::vec::Vec<u8> {
            scales.iter().flat_map(|scale| scale.to_le_bytes()).collect()
        };
        assert_eq!(not_finite(&bytes(&[0.0, -1.0, f32::MAX, 1e-45])), None);
        assert_eq!(not_finite(&bytes(&[1.0, f32::NEG_INFINITY])), Some(4));
        assert_eq!(not_finite(&bytes(&[1.0, 2.0, f32::NAN, f32::NAN])), Some(8));
    }
}
