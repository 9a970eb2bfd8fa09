//! The audit of files in windows.

mod external;
mod graph;
mod links;
mod operator;
mod quant;
mod sparse;
mod texts;
mod unused;

use super::{ALIGN, BITS, Bits, fits, found, is_inside};
use crate::format::Marks;
use crate::format::flatbuffer::{reads, shape};
use crate::format::tflite::{
    Cursor, Header, Memo, Place, codes, list, operators, parts, rules, tensor,
};
use crate::parse::Reader;
use crate::rule::Halt;
use graph::Run;
use shape::Shape;

/// What the audit keeps between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::tflite) struct State {
    run: Run,
    bits: Bits,
    /// The extents of another tensor, or of a shape signature.
    other: Shape,
}

impl State {
    pub(in crate::format::tflite) const START: State =
        State { run: Run::START, bits: Bits::NONE, other: Shape::START };

    /// Leaves out what was proved: tensors, operators, and that buffers are used.
    #[cfg(feature = "sweep")]
    pub(in crate::format::tflite) fn leave_out_proved(&mut self) {
        self.run.proved = true;
    }
}

impl Marks for Bits {
    fn most(&self) -> u32 {
        BITS
    }

    fn has(&self, entry: u32) -> bool {
        Bits::has(self, entry)
    }

    fn set(&mut self, entry: u32) {
        Bits::set(self, entry);
    }

    fn clear(&mut self, _: u32) {
        *self = Bits::NONE;
    }
}

/// Continues the validation of everything that listing leaves out.
pub(in crate::format::tflite) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    let mut bits = c.state.audit.bits;
    audit_marking(header, r, c, &mut bits)?;
    c.state.audit.bits = bits;
    Ok(())
}

/// The same, with other memory for marks.
pub(in crate::format::tflite) fn audit_marking(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    reads::steps(r, c, |r, c| graph::step(header, r, c, marks))
}
