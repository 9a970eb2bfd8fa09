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

use super::entry::Entry;
use super::text::padded;
use super::text::validate_padding;
use super::{Header, rules};
use crate::base::widen;
use crate::base::{Word, place, wide, word};
use crate::input::{Absent, Source, Span};
use crate::model::Tensor;
use crate::parse::Reader;
use crate::rule::Rule;

/// Bytes before the scales.
pub(super) const FIXED: u64 = 48;

/// Quantisation of a tensor: the value is `(element - zero point) × scale` (guide 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantization {
    /// Whether the scheme is symmetric, that is, without zero points.
    pub symmetric: bool,
    /// The axis of the scales; `None` if one scale applies to the whole tensor.
    pub axis: Option<u64>,
    /// Where the scales are stored, as little-endian `f32`.
    pub scales: Span,
    /// Whether there are zero points.
    pub has_zero_points: bool,
    /// Where the zero points are stored, as little-endian `i32`: one per scale, or none.
    pub zero_points: Span,
}

/// The fixed fields as stored. Values that exceed a word are saturated: no payload is that
/// long, and no tensor has such an axis.
#[derive(Clone, Copy, Default)]
pub(super) struct Parameters {
    /// Scheme, scale mode, zero point mode, and 0.
    modes: [Word; 4],
    /// Axis and number of the scales, and of the zero points.
    lists: [[Word; 2]; 2],
}

impl Parameters {
    /// Reads the fixed fields of the quantisation at `stored`, as zeros if they are missing,
    /// and leaves the reader before the scales.
    pub(super) fn read(&mut self, r: &mut Reader<'_, '_>, stored: &Span) {
        r.within(place(stored.offset), place(stored.len));
        for mode in &mut self.modes {
            *mode = word(r.next_u32().into());
        }
        for field in self.lists.as_flattened_mut() {
            *field = place(r.next_u64());
        }
    }

    /// The axis of the scales.
    pub(super) fn axis(&self) -> Word {
        let [[axis, _], _] = self.lists;
        axis
    }

    /// Whether scales vary along that axis.
    pub(super) fn is_per_channel(&self) -> bool {
        let [_, scale_mode, ..] = self.modes;
        scale_mode == 2
    }

    /// Lengths of the scales and the zero points in bytes, if they fill a payload of `len`
    /// bytes.
    pub(super) fn lists(&self, len: u64) -> Option<[Word; 2]> {
        // Words after the fixed fields; one of them may be padding.
        let room = word(len >> 2).wrapping_sub(12);
        let [[_, scales], [_, zero_points]] = self.lists;
        let padding = room.checked_sub(scales)?.checked_sub(zero_points)?;
        (padding <= 1).then_some([scales << 2, zero_points << 2])
    }

    /// The size that follows from the counts.
    pub(super) fn size(&self) -> u64 {
        let [[_, scales], [_, zero_points]] = self.lists;
        let words = wide(scales).saturating_add(wide(zero_points));
        padded(words.saturating_mul(4).saturating_add(FIXED))
    }

    /// Checks the fields against each other, the tensor's `rank` and the `extent` of the
    /// scale axis. Returns whether the counts are valid.
    pub(super) fn validate(
        &self,
        r: &mut Reader<'_, '_>,
        at: Word,
        rank: Word,
        extent: Word,
    ) -> bool {
        let [scheme, scale_mode, zp_mode, reserved] = self.modes;
        let [[axis, count], _] = self.lists;
        if reserved != 0 {
            r.flag(rules::QUANT_RESERVED, wide(at).wrapping_add(12), 4, 0, wide(reserved));
        }
        if !matches!(scheme, 1 | 2) {
            r.flag(rules::QUANT_SCHEME, wide(at), 4, 2, wide(scheme));
        } else if scheme == 1 && matches!(zp_mode, 1 | 2) {
            r.flag(rules::QUANT_SYM_ZP, wide(at).wrapping_add(8), 4, 0, wide(zp_mode));
        }
        let scales = match scale_mode {
            1 if axis != 0 => Some((rules::QUANT_SCALE_PT, SCALE_AXIS, 0, axis)),
            1 if count != 1 => Some((rules::QUANT_SCALE_PT, SCALE_COUNT, 1, count)),
            2 if axis >= rank => Some((rules::QUANT_SCALE_AXIS, SCALE_AXIS, rank, axis)),
            2 if count != extent => Some((rules::QUANT_SCALE_COUNT, SCALE_COUNT, extent, count)),
            1 | 2 => None,
            _ => Some((rules::QUANT_SCALEMODE, 4, 2, scale_mode)),
        };
        report(r, at, scales) & self.validate_zero_points(r, at, rank, extent)
    }

    /// Does the same for the zero points.
    fn validate_zero_points(
        &self,
        r: &mut Reader<'_, '_>,
        at: Word,
        rank: Word,
        extent: Word,
    ) -> bool {
        let [_, scale_mode, zp_mode, _] = self.modes;
        let [[scale_axis, _], [axis, count]] = self.lists;
        if zp_mode == 0 && axis != 0 {
            let at = wide(at.wrapping_add(ZP_AXIS));
            r.flag(rules::QUANT_ZP_NONE_AXIS, at, 8, 0, wide(axis));
        }
        let fault = match zp_mode {
            0 if count != 0 => Some((rules::QUANT_ZP_NONE, ZP_COUNT, 0, count)),
            0 => None,
            3.. => Some((rules::QUANT_ZPMODE, 8, 2, zp_mode)),
            // Without a valid scale mode, the zero points cannot be checked.
            _ if !matches!(scale_mode, 1 | 2) => None,
            _ if zp_mode != scale_mode => Some((rules::QUANT_ZP_MIX, 8, scale_mode, zp_mode)),
            1 if axis != 0 => Some((rules::QUANT_ZP_PT, ZP_AXIS, 0, axis)),
            1 if count != 1 => Some((rules::QUANT_ZP_PT, ZP_COUNT, 1, count)),
            1 => None,
            _ if axis != scale_axis => Some((rules::QUANT_ZP_AXIS, ZP_AXIS, scale_axis, axis)),
            _ if axis < rank && count != extent => {
                Some((rules::QUANT_ZP_COUNT, ZP_COUNT, extent, count))
            }
            _ => None,
        };
        report(r, at, fault)
    }
}

/// Offsets of the axis and count fields of the scales and the zero points.
const SCALE_AXIS: Word = 16;
const SCALE_COUNT: Word = 24;
const ZP_AXIS: Word = 32;
const ZP_COUNT: Word = 40;

/// Reports a fault of the quantisation at `at`: the rule, the field, the expected and the
/// found value. Returns whether the counts are valid.
#[inline(always)]
fn report(r: &mut Reader<'_, '_>, at: Word, fault: Option<(Rule, Word, Word, Word)>) -> bool {
    let Some((rule, from, expected, found)) = fault else { return true };
    let len = if from < SCALE_AXIS { 4 } else { 8 };
    r.flag(rule, wide(at.wrapping_add(from)), len, wide(expected), wide(found));
    !matches!(from, SCALE_COUNT | ZP_COUNT)
}

/// Validates the quantisation of an entry.
#[inline(never)]
pub(super) fn audit(r: &mut Reader<'_, '_>, e: &Entry<'_, '_>) {
    let stored = e.quant;
    let mut parameters = Parameters::default();
    parameters.read(r, &stored);
    #[allow(clippy::useless_conversion, reason = "a word is wider with windows")]
    let axis = usize::try_from(parameters.axis()).unwrap_or(usize::MAX);
    let extent = e.extents.as_chunks().0.get(axis);
    let extent = extent.map_or(0, |extent| place(u64::from_le_bytes(*extent)));
    let counted = parameters.validate(r, word(stored.offset), word(e.rank().into()), extent);
    if let Some([scales, zero_points]) = parameters.lists(stored.len) {
        let at = r.here();
        if let Some(i) = not_finite(r.bytes(scales)) {
            r.flag(rules::QUANT_SCALE_FINITE, wide(at).wrapping_add(widen(i)), 4, 0, widen(i >> 2));
        }
        r.bytes(zero_points);
        validate_padding(r, rules::QUANT_PAD, r.here(), r.resident());
    } else if counted {
        r.flag(rules::QUANT_SIZE, wide(e.quant_at()), 8, parameters.size(), stored.len);
    }
}

impl Header {
    /// Where the parameters of a tensor's quantisation are stored; empty if it has none.
    pub const fn quantization_span(&self, tensor: &Tensor) -> Span {
        tensor.extra
    }

    /// The quantisation of a tensor; `None` if it is missing, or broken, which the audit
    /// reports.
    ///
    /// # Errors
    /// [`Absent`] when the parameters are not resident.
    pub fn quantization(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Quantization>, Absent> {
        let stored = self.quantization_span(tensor);
        if stored.len < FIXED || stored.len & 7 != 0 {
            return Ok(None);
        }
        source.get(Span::new(stored.offset, FIXED))?;
        let mut sink = |_| {};
        let mut parameters = Parameters::default();
        parameters.read(&mut Reader::new(source, &mut sink), &stored);
        let Some(lists) = parameters.lists(stored.len) else { return Ok(None) };
        let [scales, zero_points] = lists.map(wide);
        let [scheme, _, zp_mode, _] = parameters.modes;
        let at = stored.offset.wrapping_add(FIXED);
        Ok(Some(Quantization {
            symmetric: scheme == 1,
            axis: parameters.is_per_channel().then_some(wide(parameters.axis())),
            scales: Span::new(at, scales),
            has_zero_points: zp_mode != 0,
            zero_points: Span::new(at.wrapping_add(scales), zero_points),
        }))
    }
}

/// The position of the first scale that is infinite or not a number.
pub(super) fn not_finite(run: &[u8]) -> Option<usize> {
    let scales = run.as_chunks::<4>().0;
    // All exponent bits are set.
    let scale = scales.iter().position(|scale| (u32::from_le_bytes(*scale) << 1) >> 24 == 255)?;
    Some(scale.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(scales: u64, zero_points: u64, len: u64) -> Option<[Word; 2]> {
        let lists = [[0, place(scales)], [0, place(zero_points)]];
        Parameters { modes: [2, 2, 2, 0], lists }.lists(len)
    }

    #[test]
    fn quant_lists_fill_their_payload() {
        assert_eq!(lists(3, 2, 72), Some([12, 8]));
        assert_eq!(lists(4, 2, 72), Some([16, 8]));
        assert_eq!(lists(0, 0, 48), Some([0, 0]));
        assert_eq!(lists(3, 2, 64), None);
        assert_eq!(lists(3, 2, 80), None);
        // Counts whose product or sum would wrap to a small number.
        assert_eq!(lists(1 << 62, 0, 48), None);
        assert_eq!(lists(1 << 61, 1 << 61, 48), None);
        assert_eq!(lists(u64::MAX >> 2, 1, 48), None);
        assert_eq!(lists(u64::MAX, 1, 48), None);
    }

    #[test]
    fn non_finite_scale_is_found() {
        let bytes = |scales: &[f32]| -> std::vec::Vec<u8> {
            scales.iter().flat_map(|scale| scale.to_le_bytes()).collect()
        };
        assert_eq!(not_finite(&bytes(&[0.0, -1.0, f32::MAX, 1e-45])), None);
        assert_eq!(not_finite(&bytes(&[1.0, f32::NEG_INFINITY])), Some(4));
        assert_eq!(not_finite(&bytes(&[1.0, 2.0, f32::NAN, f32::NAN])), Some(8));
    }
}
