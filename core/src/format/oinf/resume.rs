//! The audit of values and quantisation if an entry and what it refers to need not be
//! resident together: the reader keeps what is known between steps.

use super::index::{Entry, settle};
use super::quant::{Parameters, not_finite};
use super::scan::{self, Scan};
use super::text::validate_padding;
use super::value::{Shape, content, mask, rest, shape};
use super::{Header, rules};
use crate::input::Span;
use crate::model::DType;
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt};

/// Steps of the audit of one entry, as phases of its cursor: first those of
/// metadata, then those of tensors.
mod phase {
    pub(super) const ENTRY: u8 = 0;
    pub(super) const SHAPE: u8 = 1;
    pub(super) const DATA: u8 = 2;
    pub(super) const END: u8 = 3;
    pub(super) const TENSOR: u8 = 4;
    /// Index of the next dim.
    pub(super) const AXIS: u8 = 5;
    pub(super) const EXTENT: u8 = 6;
    pub(super) const PARAMETERS: u8 = 7;
    pub(super) const SCALES: u8 = 8;
    pub(super) const PADDING: u8 = 9;
}

/// What is kept of a value while its bytes are checked.
#[derive(Clone, Copy)]
struct Held {
    data: Span,
    /// End of the value, padding included.
    end: u64,
    tag: u32,
    used: u32,
}

impl Held {
    fn pack(self, dtype: DType) -> [u64; 4] {
        // Only two properties of the element type matter from here on.
        let kind = match dtype {
            DType::Bool => 1,
            DType::T2 => 2,
            _ => 0,
        };
        let more = (u64::from(self.tag) << 16) | (kind << 8) | u64::from(self.used);
        [self.data.offset, self.data.len, self.end, more]
    }

    fn unpack([at, len, end, more]: [u64; 4]) -> (Self, DType) {
        let dtype = match (more >> 8) & 0xFF {
            1 => DType::Bool,
            2 => DType::T2,
            _ => DType::Unknown,
        };
        let tag = u32::try_from(more >> 16).unwrap_or(0);
        let used = u32::try_from(more & 0xFF).unwrap_or(0);
        (Held { data: Span::new(at, len), end, tag, used }, dtype)
    }
}

impl Header {
    /// One step of the audit.
    pub(super) fn audit_step(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let index = c.index.wrapping_sub(1);
        match c.phase {
            phase::ENTRY => self.audit_entry(r, c),
            phase::SHAPE..=phase::END => {
                r.about(EntryKind::Metadata, index);
                audit_value(r, c)
            }
            phase::TENSOR => self.audit_tensor(r, c),
            _ => {
                r.about(EntryKind::Tensor, index);
                audit_quant(r, c)
            }
        }
    }

    /// Reads the next entry, muted; returns whether there is one.
    fn listed<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        e: &mut Entry<'_, 'a>,
    ) -> Result<bool, Halt> {
        r.mute();
        let found = e.next(r, c);
        r.unmute();
        settle(r).map(|()| found)
    }

    fn audit_entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut e = Entry::of(self, EntryKind::Metadata);
        if !self.listed(r, c, &mut e)? {
            *c = Cursor { phase: phase::TENSOR, ..Cursor::default() };
        } else if e.sound {
            r.held = [e.data.offset, e.data.len, e.tag.into(), 0];
            r.charge(e.data.len);
            c.phase = phase::SHAPE;
        }
        Ok(())
    }

    fn audit_tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        let mut e = Entry::of(self, EntryKind::Tensor);
        if !self.listed(r, c, &mut e)? {
            c.finish();
        } else if !e.quant.is_empty() {
            let Span { offset: at, len } = e.quant;
            let dims = e.dims();
            r.held = [at, len, dims.offset, dims.rank()];
            r.charge(len);
            c.phase = phase::AXIS;
        }
        Ok(())
    }
}

fn audit_value(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if c.phase == phase::SHAPE {
        let [at, len, tag, _] = r.held;
        let stored = Span::new(at, len);
        let tag = u32::try_from(tag).unwrap_or(0);
        let mut found = Shape::default();
        // The entry ends with its size and its offset.
        match shape(r, tag, &stored, c.at.wrapping_sub(16), &mut found) {
            Ok(()) => {
                let end = stored.end().unwrap_or(u64::MAX);
                let held = Held { data: found.data(at), end, tag, used: found.used };
                r.held = held.pack(found.dtype);
                c.state = 0;
                c.phase = phase::DATA;
            }
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => c.phase = phase::ENTRY,
        }
        return Ok(());
    }
    let (held, dtype) = Held::unpack(r.held);
    if c.phase == phase::DATA { audit_data(r, c, held, dtype) } else { audit_end(r, c, held) }
}

/// Checks the bytes of a value whose type has invalid ones.
fn audit_data(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    held: Held,
    dtype: DType,
) -> Result<(), Halt> {
    let Held { data, tag, used, .. } = held;
    if let Some((rule, bad)) = content(tag, dtype) {
        let found = scan::step(r, c, data, 1, |run| run.iter().position(|byte| bad(*byte)))?;
        match found {
            Scan::More => return Ok(()),
            Scan::Clean => {}
            Scan::Bad(at) => {
                let byte = r.get(Span::new(at, 1))?.first().copied().unwrap_or(0);
                // Codes in the unused bits of the last byte are not elements.
                let last = Some(at) == data.end().and_then(|end| end.checked_sub(1));
                if !last || bad(byte & mask(used)) {
                    r.flag(rule, at, 1, 0, u64::from(byte));
                }
            }
        }
    }
    c.phase = phase::END;
    Ok(())
}

/// Checks the unused bits of the last byte, and the padding.
fn audit_end(r: &mut Reader<'_, '_>, c: &mut Cursor, held: Held) -> Result<(), Halt> {
    let Held { data, end, tag, used } = held;
    let data_end = data.end().unwrap_or(u64::MAX);
    let last = data_end.saturating_sub(u64::from(used != 0));
    let bytes = r.get(Span::between(last, end))?;
    let (tail, padding) = match bytes.split_first() {
        Some((first, rest)) if used != 0 => (first & !mask(used), rest),
        _ => (0, bytes),
    };
    let (tail_bits, pad) = rest(tag);
    r.check(tail == 0, tail_bits, Span::new(last, 1), 0, u64::from(tail));
    validate_padding(r, pad, data_end, padding);
    c.phase = phase::ENTRY;
    Ok(())
}

fn audit_quant(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let [at, len, third, fourth] = r.held;
    match c.phase {
        phase::AXIS => {
            let mut parameters = Parameters::default();
            parameters.read(r, &Span::new(at, len));
            r.settle()?;
            let axis = parameters.axis();
            let needed = parameters.is_per_channel() && axis < fourth;
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
            let mut parameters = Parameters::default();
            parameters.read(r, &Span::new(at, len));
            r.settle()?;
            let scales_at = r.at();
            let counted = parameters.validate(r, at, fourth, c.state);
            c.phase = phase::TENSOR;
            if let Some([scales, zero_points]) = parameters.lists(len) {
                let padding = scales_at.wrapping_add(scales).wrapping_add(zero_points);
                r.held = [scales_at, scales, padding, at.saturating_add(len)];
                c.state = 0;
                c.phase = phase::SCALES;
            } else if counted {
                // The entry ends with the size and the offset.
                let size_at = c.at.wrapping_sub(16);
                r.flag(rules::QUANT_SIZE, size_at, 8, parameters.size(), len);
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
            c.phase = phase::PADDING;
        }
        _ => {
            let bytes = r.get(Span::between(third, fourth))?;
            validate_padding(r, rules::QUANT_PAD, third, bytes);
            c.phase = phase::TENSOR;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::field;
    use super::*;

    #[test]
    fn what_is_held_survives_packing() {
        let held = Held { data: Span::new(77, 5), end: 88, tag: field::NDARRAY, used: 6 };
        let (back, dtype) = Held::unpack(held.pack(DType::T2));
        assert_eq!(dtype, DType::T2);
        assert_eq!((back.data, back.end, back.tag, back.used), (held.data, 88, field::NDARRAY, 6));
    }
}
