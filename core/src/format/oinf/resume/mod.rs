//! The audit of values and quantisation for partially resident files. An entry and
//! the bytes it refers to need not be resident together, so state is kept between steps.

mod scan;

use super::entry::{Entry, settle};
use super::quant::{Parameters, not_finite};
use super::text::validate_padding;
use super::value::{Shape, content, mask, rest, shape};
use super::{Cursor, Header, rules};
use crate::input::Span;
use crate::model::DType;
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use scan::Scan;

/// Steps of the audit of one entry, as phases of the cursor: first those for
/// metadata, then those for tensors.
mod phase {
    pub(super) const ENTRY: u8 = 0;
    pub(super) const SHAPE: u8 = 1;
    pub(super) const DATA: u8 = 2;
    pub(super) const END: u8 = 3;
    pub(super) const TENSOR: u8 = 4;
    /// Finds the axis of the scales; the next step reads its extent.
    pub(super) const AXIS: u8 = 5;
    pub(super) const EXTENT: u8 = 6;
    pub(super) const PARAMETERS: u8 = 7;
    pub(super) const SCALES: u8 = 8;
    pub(super) const PADDING: u8 = 9;
}

/// State of an entry, kept while the bytes it refers to are scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The value or the quantisation.
    stored: Span,
    /// The part to scan: the elements of the value, or the scales.
    data: Span,
    /// Number of bytes scanned so far.
    pub(super) scanned: u64,
    /// The padding of the quantisation.
    padding: Span,
    /// Types of the value and of its elements.
    tag: u32,
    dtype: DType,
    /// Number of used bits in the last byte of the data; 0 if all are used.
    used: u32,
    /// Offset and number of the tensor's extents.
    dims: (u64, u64),
    /// The axis of the quantisation, then its extent.
    axis: u64,
}

impl parse::State for State {
    const START: State = State {
        stored: Span::new(0, 0),
        data: Span::new(0, 0),
        scanned: 0,
        padding: Span::new(0, 0),
        tag: 0,
        dtype: DType::Unknown,
        used: 0,
        dims: (0, 0),
        axis: 0,
    };
}

impl Header {
    /// Takes one step of the audit.
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
            (c.state.stored, c.state.tag) = (e.data, e.tag);
            r.charge(e.data.len);
            c.phase = phase::SHAPE;
        }
        Ok(())
    }

    fn audit_tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if self.skip_unquantised(r, c) {
            return Ok(());
        }
        let mut e = Entry::of(self, EntryKind::Tensor);
        if !self.listed(r, c, &mut e)? {
            c.finish();
        } else if !e.quant.is_empty() {
            let dims = e.dims();
            (c.state.stored, c.state.dims) = (e.quant, (dims.offset, dims.rank()));
            r.charge(e.quant.len);
            c.phase = phase::AXIS;
        }
        Ok(())
    }
}

fn audit_value(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let State { stored, tag, .. } = c.state;
    match c.phase {
        phase::SHAPE => {
            let mut found = Shape::default();
            // The entry ends with its size and its offset.
            match shape(r, tag, &stored, c.at.wrapping_sub(16), &mut found) {
                Ok(()) => {
                    let data = found.data(stored.offset);
                    let (dtype, used) = (found.dtype, found.used);
                    c.state = State { data, scanned: 0, dtype, used, ..c.state };
                    c.phase = phase::DATA;
                }
                Err(halt) if halt.is_absent() => return Err(halt),
                Err(_) => c.phase = phase::ENTRY,
            }
            Ok(())
        }
        phase::DATA => audit_data(r, c),
        _ => audit_end(r, c),
    }
}

/// Scans the bytes of a value, if its type does not allow every byte.
fn audit_data(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let State { data, tag, dtype, used, .. } = c.state;
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

/// Validates the unused bits of the last byte, and the padding.
fn audit_end(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let State { stored, data, tag, used, .. } = c.state;
    let end = stored.end().unwrap_or(u64::MAX);
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
    let State { stored, dims: (dims_at, rank), .. } = c.state;
    match c.phase {
        phase::AXIS => {
            let mut parameters = Parameters::default();
            parameters.read(r, &stored);
            r.settle()?;
            let axis = parameters.axis();
            let needed = parameters.is_per_channel() && axis < rank;
            c.state.axis = if needed { axis } else { 0 };
            c.phase = if needed { phase::EXTENT } else { phase::PARAMETERS };
        }
        phase::EXTENT => {
            let extent_at = dims_at.saturating_add(c.state.axis.saturating_mul(8));
            let bytes = r.get(Span::new(extent_at, 8))?;
            c.state.axis = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            c.phase = phase::PARAMETERS;
        }
        phase::PARAMETERS => {
            let mut parameters = Parameters::default();
            parameters.read(r, &stored);
            r.settle()?;
            let scales_at = r.at();
            let counted = parameters.validate(r, stored.offset, rank, c.state.axis);
            c.phase = phase::TENSOR;
            if let Some([scales, zero_points]) = parameters.lists(stored.len) {
                let padding = scales_at.wrapping_add(scales).wrapping_add(zero_points);
                let padding = Span::between(padding, stored.offset.saturating_add(stored.len));
                let data = Span::new(scales_at, scales);
                c.state = State { data, scanned: 0, padding, ..c.state };
                c.phase = phase::SCALES;
            } else if counted {
                // The entry ends with the size and the offset.
                let size_at = c.at.wrapping_sub(16);
                r.flag(rules::QUANT_SIZE, size_at, 8, parameters.size(), stored.len);
            }
        }
        phase::SCALES => {
            let scales = c.state.data;
            match scan::step(r, c, scales, 4, not_finite)? {
                Scan::More => return Ok(()),
                Scan::Clean => {}
                Scan::Bad(bad) => {
                    let channel = bad.wrapping_sub(scales.offset) >> 2;
                    r.flag(rules::QUANT_SCALE_FINITE, bad, 4, 0, channel);
                }
            }
            c.phase = phase::PADDING;
        }
        _ => {
            let padding = c.state.padding;
            let bytes = r.get(padding)?;
            validate_padding(r, rules::QUANT_PAD, padding.offset, bytes);
            c.phase = phase::TENSOR;
        }
    }
    Ok(())
}
