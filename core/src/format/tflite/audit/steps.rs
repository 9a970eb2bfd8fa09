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
}

/// Continues the validation of everything that listing leaves out.
pub(in crate::format::tflite) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    reads::steps(r, c, |r, c| graph::step(header, r, c))
}
