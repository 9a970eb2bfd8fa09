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

use super::index::{Place, judge_padding, padded};
use super::scan::{self, Scan};
use super::{Header, field, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::leaf::{Parsed, le_u32, le_u64};
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::{Absent, Source, Span};
use crate::tensor::{Status, Tensor};

/// Bytes before the scales.
const FIXED: u64 = 48;

/// Steps of the audit of one tensor's quantisation, as phases of its cursor.
mod phase {
    pub(super) const ENTRY: u8 = 4;
    /// Which extent is needed.
    pub(super) const AXIS: u8 = 5;
    pub(super) const EXTENT: u8 = 6;
    pub(super) const PARAMETERS: u8 = 7;
    pub(super) const SCALES: u8 = 8;
    pub(super) const END: u8 = 9;
}

/// Where the audit of quantisation begins.
pub(super) const FIRST_PHASE: u8 = phase::ENTRY;

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
#[derive(Clone, Copy)]
struct Parameters {
    scheme: u32,
    scale_mode: u32,
    zp_mode: u32,
    reserved: u32,
    scale_axis: u64,
    scale_count: u64,
    zp_axis: u64,
    zp_count: u64,
}

impl Parameters {
    fn parse(input: &[u8]) -> Parsed<'_, Self> {
        let (rest, scheme) = le_u32(input)?;
        let (rest, scale_mode) = le_u32(rest)?;
        let (rest, zp_mode) = le_u32(rest)?;
        let (rest, reserved) = le_u32(rest)?;
        let (rest, scale_axis) = le_u64(rest)?;
        let (rest, scale_count) = le_u64(rest)?;
        let (rest, zp_axis) = le_u64(rest)?;
        let (rest, zp_count) = le_u64(rest)?;
        Ok((
            rest,
            Parameters {
                scheme,
                scale_mode,
                zp_mode,
                reserved,
                scale_axis,
                scale_count,
                zp_axis,
                zp_count,
            },
        ))
    }

    /// The fixed fields of the quantisation at `stored`.
    fn read(r: &mut Reader<'_, '_>, stored: Span) -> Result<Self, Halt> {
        r.region(stored.at, stored.end().unwrap_or(0), BYTES_CHANGED);
        r.read_ahead(stored.end().unwrap_or(0));
        r.parse(Parameters::parse)
    }

    /// Scales and zero points, if they fit `stored` to the byte.
    fn lists(&self, stored: Span) -> Option<[Span; 2]> {
        let scales = self.scale_count.checked_mul(4)?;
        let zero_points = self.zp_count.checked_mul(4)?;
        let size = FIXED.checked_add(scales)?.checked_add(zero_points)?;
        if size.checked_next_multiple_of(field::ALIGN)? != stored.len {
            return None;
        }
        let at = stored.at.checked_add(FIXED)?;
        Some([Span::new(at, scales), Span::new(at.checked_add(scales)?, zero_points)])
    }

    /// The size that the counts ask for.
    fn size(&self) -> u64 {
        let words = self.scale_count.saturating_add(self.zp_count);
        padded(words.saturating_mul(4).saturating_add(FIXED))
    }

    /// Checks the fields against each other and against the tensor's `rank` and
    /// the `extent` of the axis of the scales. Whether the counts hold.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    fn judge(&self, r: &mut Reader<'_, '_>, at: u64, rank: u64, extent: u64) -> bool {
        let mut sound = true;
        let flag = |r: &mut Reader<'_, '_>, rule: Rule, from: u64, len, expected, found| {
            r.flag(rule, at.wrapping_add(from), len, expected, found);
        };
        if self.reserved != 0 {
            flag(r, rules::QUANT_RESERVED, 12, 4, 0, u64::from(self.reserved));
        }
        if !matches!(self.scheme, 1 | 2) {
            flag(r, rules::QUANT_SCHEME, 0, 4, 2, u64::from(self.scheme));
        }
        match self.scale_mode {
            1 if self.scale_axis != 0 => {
                flag(r, rules::QUANT_SCALE_PT, 16, 8, 0, self.scale_axis);
            }
            1 if self.scale_count != 1 => {
                flag(r, rules::QUANT_SCALE_PT, 24, 8, 1, self.scale_count);
                sound = false;
            }
            2 if self.scale_axis >= rank => {
                flag(r, rules::QUANT_SCALE_AXIS, 16, 8, rank, self.scale_axis);
            }
            2 if self.scale_count != extent => {
                flag(r, rules::QUANT_SCALE_COUNT, 24, 8, extent, self.scale_count);
                sound = false;
            }
            1 | 2 => {}
            mode => flag(r, rules::QUANT_SCALEMODE, 4, 4, 2, u64::from(mode)),
        }
        match (self.zp_mode, self.scale_mode) {
            (0, _) => {
                if self.zp_count != 0 {
                    flag(r, rules::QUANT_ZP_NONE, 40, 8, 0, self.zp_count);
                    sound = false;
                }
                if self.zp_axis != 0 {
                    flag(r, rules::QUANT_ZP_NONE_AXIS, 32, 8, 0, self.zp_axis);
                }
            }
            (1, 2) | (2, 1) => {
                let expected = u64::from(self.scale_mode);
                flag(r, rules::QUANT_ZP_MIX, 8, 4, expected, u64::from(self.zp_mode));
            }
            (1, 1) if self.zp_axis != 0 => {
                flag(r, rules::QUANT_ZP_PT, 32, 8, 0, self.zp_axis);
            }
            (1, 1) if self.zp_count != 1 => {
                flag(r, rules::QUANT_ZP_PT, 40, 8, 1, self.zp_count);
                sound = false;
            }
            (2, 2) if self.zp_axis != self.scale_axis => {
                flag(r, rules::QUANT_ZP_AXIS, 32, 8, self.scale_axis, self.zp_axis);
            }
            (2, 2) if self.scale_axis < rank && self.zp_count != extent => {
                flag(r, rules::QUANT_ZP_COUNT, 40, 8, extent, self.zp_count);
                sound = false;
            }
            // What the zero points should be like is unknown when the scale
            // mode is.
            (1 | 2, _) => {}
            (mode, _) => flag(r, rules::QUANT_ZPMODE, 8, 4, 2, u64::from(mode)),
        }
        if self.scheme == 1 && matches!(self.zp_mode, 1 | 2) {
            flag(r, rules::QUANT_SYM_ZP, 8, 4, 0, u64::from(self.zp_mode));
        }
        sound
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
        if stored.len < FIXED {
            return Ok(None);
        }
        let bytes = source.get(Span::new(stored.at, FIXED))?;
        let Ok((_, parameters)) = Parameters::parse(bytes) else { return Ok(None) };
        let Some([scales, zero_points]) = parameters.lists(stored) else { return Ok(None) };
        let per_channel = parameters.scale_mode == 2;
        Ok(Some(Quantization {
            symmetric: parameters.scheme == 1,
            axis: per_channel.then_some(parameters.scale_axis),
            scales,
            has_zero_points: parameters.zp_mode != 0,
            zero_points,
        }))
    }

    /// Checks what a tensor entry says of its quantisation, in fields at `at`.
    pub(super) fn judge_quant_place(
        &self,
        r: &mut Reader<'_, '_>,
        stored: Span,
        at: u64,
        has_quant: bool,
        has_data: bool,
    ) -> bool {
        if !has_quant {
            let found = if stored.len != 0 { stored.len } else { stored.at };
            r.check(stored == Span::default(), rules::QUANT_NONE, Span::new(at, 16), 0, found);
            return true;
        }
        r.check(has_data, rules::QUANT_NODATA, Span::new(at, 16), 0, stored.len);
        let size = padded(stored.len.max(FIXED));
        let sized = size == stored.len;
        r.check(sized, rules::QUANT_SIZE, Span::new(at, 8), size, stored.len);
        let place = Place {
            stored,
            offset_at: at.wrapping_add(8),
            align: rules::QUANT_ALIGN,
            before: rules::QUANT_BEFORE,
            bounds: rules::QUANT_BOUNDS,
            overflow: rules::QUANT_OVERFLOW,
        };
        place.judge(r, self, sized)
    }

    /// One step of the audit of quantisation.
    ///
    /// The entry, the parameters and the lists need not be resident together,
    /// so what is known is held in the reader.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn audit_quant(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if c.phase == phase::ENTRY {
            return self.audit_tensor(r, c);
        }
        r.about(Kind::Tensor, c.index.wrapping_sub(1));
        let [at, len, third, fourth] = r.held;
        match c.phase {
            phase::AXIS => {
                let parameters = Parameters::read(r, Span::new(at, len))?;
                let axis = parameters.scale_axis;
                let needed = parameters.scale_mode == 2 && axis < fourth;
                c.state = if needed { axis } else { 0 };
                c.phase = if needed { phase::EXTENT } else { phase::PARAMETERS };
            }
            phase::EXTENT => {
                let extent_at = third.saturating_add(c.state.saturating_mul(8));
                let bytes = r.get(Span::new(extent_at, 8))?;
                c.state = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                c.phase = phase::PARAMETERS;
            }
            phase::PARAMETERS => {
                let stored = Span::new(at, len);
                let parameters = Parameters::read(r, stored)?;
                let counted = parameters.judge(r, at, fourth, c.state);
                c.phase = phase::ENTRY;
                match parameters.lists(stored) {
                    Some([scales, zero_points]) => {
                        let end = stored.end().unwrap_or(u64::MAX);
                        let padding = zero_points.end().unwrap_or(u64::MAX);
                        r.held = [scales.at, scales.len, padding, end];
                        c.state = 0;
                        c.phase = phase::SCALES;
                    }
                    // The entry ends with the size and the offset.
                    None if counted => {
                        let size_at = c.at.wrapping_sub(16);
                        r.flag(rules::QUANT_SIZE, size_at, 8, parameters.size(), len);
                    }
                    None => {}
                }
            }
            phase::SCALES => {
                match scan::step(r, c, Span::new(at, len), 4, not_finite)? {
                    Scan::More => return Ok(()),
                    Scan::Clean => {}
                    Scan::Bad(bad) => {
                        let channel = bad.wrapping_sub(at) >> 2;
                        r.flag(rules::QUANT_SCALE_FINITE, bad, 4, 0, channel);
                    }
                }
                c.phase = phase::END;
            }
            _ => {
                let bytes = r.get(Span::between(third, fourth))?;
                judge_padding(r, rules::QUANT_PAD, third, bytes);
                c.phase = phase::ENTRY;
            }
        }
        Ok(())
    }

    fn audit_tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut next = *c;
        r.mute();
        let tensor = self.tensor_entry(r, &mut next);
        r.unmute();
        let Some(tensor) = tensor? else {
            c.finish();
            return Ok(());
        };
        *c = next;
        if tensor.status == Status::Sound && !tensor.extra.is_empty() {
            let Span { at, len } = tensor.extra;
            r.held = [at, len, tensor.dims.at, tensor.dims.rank()];
            r.charge(len);
            c.phase = phase::AXIS;
        }
        Ok(())
    }
}

/// The position of the first scale that is infinite or not a number.
fn not_finite(run: &[u8]) -> Option<usize> {
    let scales = run.as_chunks::<4>().0;
    let scale = scales.iter().position(|scale| !f32::from_le_bytes(*scale).is_finite())?;
    Some(scale.saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(scale_count: u64, zp_count: u64) -> Parameters {
        Parameters {
            scheme: 2,
            scale_mode: 2,
            zp_mode: 2,
            reserved: 0,
            scale_axis: 0,
            scale_count,
            zp_axis: 0,
            zp_count,
        }
    }

    #[test]
    fn lists_fill_the_payload_or_are_none() {
        let stored = |len| Span::new(1000, len);
        let [scales, points] = counts(3, 2).lists(stored(72)).unwrap();
        assert_eq!((scales, points), (Span::new(1048, 12), Span::new(1060, 8)));
        assert_eq!(counts(0, 0).lists(stored(48)), Some([Span::new(1048, 0); 2]));
        assert_eq!(counts(3, 2).lists(stored(64)), None);
        assert_eq!(counts(3, 2).lists(stored(80)), None);
        // Counts whose products, or whose sum, would wrap to something small.
        assert_eq!(counts(1 << 62, 0).lists(stored(48)), None);
        assert_eq!(counts(1 << 61, 1 << 61).lists(stored(48)), None);
        assert_eq!(counts(u64::MAX >> 2, 1).lists(stored(48)), None);
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
