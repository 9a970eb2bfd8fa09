//! Quantisation of a tensor, for programs that use its elements.

use super::Header;
use super::reads::{Memo, Reads};
use crate::input::{Source, Span};
use crate::model::Tensor;
use crate::parse::{Reader, Stop};
use crate::rule::Halt;

/// The fields of a tensor and of its quantisation.
const SHAPE: u8 = 0;
const QUANTIZATION: u8 = 4;
const SCALES: u8 = 2;
const ZERO_POINTS: u8 = 3;
const DETAILS: u8 = 4;
const AXIS: u8 = 6;

/// Quantisation of a tensor: the value is `(element - zero point) × scale`
/// (schema, `QuantizationParameters`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantization {
    /// The axis of the scales; `None` if one scale applies to the whole tensor.
    pub axis: Option<u32>,
    /// Where the scales are stored, as little-endian `f32`.
    pub scales: Span,
    /// Where the zero points are stored, as little-endian `i64`.
    pub zero_points: Span,
}

impl Header {
    /// How the elements of a tensor represent real numbers; `None` if it has no scales of its own, or
    /// if their number breaks a rule. Those of a custom or blockwise quantisation are in other places,
    /// and are not returned.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: the tables on the way must be resident at the same time.
    pub fn quantization(
        &self,
        source: &Source<'_>,
        tensor: &Tensor,
    ) -> Result<Option<Quantization>, Stop> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        read(&mut r, tensor).map_err(|halt| r.stop(halt))
    }
}

fn read(r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Option<Quantization>, Halt> {
    let mut memo = Memo::NONE;
    let mut reads = Reads::new(r, &mut memo);
    let table = reads.table(tensor.offset)?;
    let shape = reads.vector(&table, SHAPE)?;
    let Some(table) = reads.inner(&table, QUANTIZATION)? else { return Ok(None) };
    let scales = reads.vector(&table, SCALES)?;
    let zero_points = reads.vector(&table, ZERO_POINTS)?;
    let details = reads.value(&table, DETAILS, 1)?;
    let axis = reads.value(&table, AXIS, 4)?;
    let paired = zero_points.count == 0 || zero_points.count == scales.count;
    if scales.count == 0 || details != 0 || !paired {
        return Ok(None);
    }
    let many = scales.count > 1;
    if many && axis >= shape.count {
        return Ok(None);
    }
    if many && reads.number(shape.place(axis, 4), 4)? != scales.count.into() {
        return Ok(None);
    }
    Ok(Some(Quantization {
        axis: many.then_some(axis),
        scales: scales.span(4),
        zero_points: zero_points.span(8),
    }))
}
