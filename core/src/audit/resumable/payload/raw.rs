//! Invalid bits of raw elements: Boolean bytes, ternary codes, unused bits.

use super::super::Audit;
use super::Pause;
use super::points::{LAST, Points};
use crate::base::widen;
use crate::file::File;
use crate::format::Fault;
use crate::input::{Absent, Span};
use crate::model::{DType, Tensor};
use crate::parse::Reader;
use crate::rule::Rule;

impl Audit {
    /// Checks raw elements, in the pieces that the windows provide.
    pub(super) fn values_of(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        span: Span,
    ) -> Result<(), Pause> {
        let Some(last) = span.len.checked_sub(1) else {
            return Ok(());
        };
        let used = used_bits(tensor);
        let element = self.file.rule(Fault::Element(tensor.dtype));
        if let (DType::Utf32, Some(rule)) = (tensor.dtype, element) {
            return self.text_of(r, tensor, span, rule);
        }
        while let Some(rule) = element
            && self.payload.current.done < span.len
        {
            let at = span.offset.saturating_add(self.payload.current.done);
            let left = span.len.saturating_sub(self.payload.current.done);
            let run = r.source().run(at);
            let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
            if run.is_empty() {
                return Err(r.lack(Absent { offset: at, need: 1, want: left }).into());
            }
            let bad = match tensor.dtype {
                DType::Bool => run.iter().position(|byte| *byte > 1),
                _ => run.iter().position(|byte| forbidden_ternary(*byte) != 0),
            };
            if let Some(bad) = bad {
                let byte = run.get(bad).copied().unwrap_or(0);
                let at = at.saturating_add(widen(bad));
                // Codes in the unused bits of the last byte are not elements.
                let mask = if at == span.offset.saturating_add(last) {
                    used.unwrap_or(0xFF)
                } else {
                    0xFF
                };
                let wrong = match tensor.dtype {
                    DType::Bool => byte,
                    _ => forbidden_ternary(byte) & mask,
                };
                flag_byte(r, rule, at, byte, wrong);
                if wrong != 0 {
                    // One finding is enough, and must not be repeated if the last byte is
                    // not resident.
                    self.payload.current.done = span.len;
                    break;
                }
            }
            self.payload.current.done = self.payload.current.done.saturating_add(widen(run.len()));
        }
        if let (Some(rule), Some(used)) = (self.file.rule(Fault::TailBits), used) {
            let at = span.offset.saturating_add(last);
            let byte = r.get(Span::new(at, 1))?.first().copied().unwrap_or(0);
            flag_byte(r, rule, at, byte, byte & !used);
        }
        Ok(())
    }
}

impl Audit {
    /// Checks raw code points, in the pieces that the windows provide.
    fn text_of(
        &mut self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        span: Span,
        rule: Rule,
    ) -> Result<(), Pause> {
        let done = &mut self.payload.current.done;
        while *done < span.len {
            let at = span.offset.saturating_add(*done);
            let left = span.len.saturating_sub(*done);
            let run = r.source().run(at);
            let run = run.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(run);
            let mut points = Points::new(0, tensor.endianness);
            let bad = points.feed(run);
            // A number that the windows divide is read again.
            let passed = widen(run.len()) & !3;
            if let Some((place, found)) = bad {
                r.flag(rule, at.saturating_add(place), 4, LAST.into(), found.into());
                *done = span.len;
            } else if widen(run.len()) == left {
                *done = span.len;
            } else if passed > 0 {
                *done = done.saturating_add(passed);
            } else {
                return Err(r.lack(Absent { offset: at, need: left.min(4), want: left }).into());
            }
        }
        Ok(())
    }
}

/// Whether raw elements have rules.
pub(super) fn has_rules(file: &File, tensor: &Tensor) -> bool {
    let has_rule = |fault| file.rule(fault).is_some();
    tensor.raw().is_some_and(|span| !span.is_empty())
        && (has_rule(Fault::Element(tensor.dtype))
            || has_rule(Fault::TailBits) && used_bits(tensor).is_some())
}

/// Reports a byte if any `wrong` bit is set.
fn flag_byte(r: &mut Reader<'_, '_>, rule: Rule, at: u64, byte: u8, wrong: u8) {
    if wrong != 0 {
        r.flag(rule, at, 1, 0, u64::from(byte));
    }
}

/// A mask of the used bits in the last byte of packed data; `None` if all are used.
fn used_bits(tensor: &Tensor) -> Option<u8> {
    if !tensor.dtype.is_packed() {
        return None;
    }
    let bits = tensor.elements.wrapping_mul(u64::from(tensor.dtype.bits())) & 7;
    let shift = u32::try_from(bits).ok().filter(|bits| *bits != 0)?;
    Some(1_u8.checked_shl(shift)?.wrapping_sub(1))
}

/// The upper bits of all two-bit codes 10 in a byte.
fn forbidden_ternary(byte: u8) -> u8 {
    byte & 0xAA & !((byte & 0x55) << 1)
}
