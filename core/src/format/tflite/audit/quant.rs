//! The parts of a tensor that listing leaves out: alignment, shape signature, quantisation,
//! sparsity, texts, external data. Each is a step or several.

use super::graph::{self, found, is_inside};
use super::reads::{Reads, Table, Vector, offsets};
use super::shape::Shape;
use super::tensor::{self, Fields};
use super::{ALIGN, Cursor, Header, Memo, external, fits, rules, sparse, texts};
use crate::input::Span;
use crate::model::DType;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// The steps of a tensor.
const START: u8 = 0;
const SIGNATURE: u8 = 1;
const SCALES: u8 = 2;
const ZERO_POINTS: u8 = 3;
const DETAILS: u8 = 4;
const EXTENTS: u8 = 5;
const COUNTS: u8 = 6;
pub(super) const SPARSE: u8 = 8;
const TEXTS: u8 = 32;
const EXTERNAL: u8 = 40;
pub(super) const PASS: u8 = 60;

/// Kinds of quantisation details.
const CUSTOM: u64 = 1;
const BLOCKWISE: u64 = 2;
const MULTI_AXIS: u64 = 3;

/// What the steps know about a tensor.
pub(super) struct Known {
    pub(super) fields: Fields,
    pub(super) dtype: DType,
    /// Number of reads that this took.
    count: u8,
}

impl Known {
    /// Continues to read the tensor.
    pub(super) fn reads<'m, 'w, 'r, 'a>(
        &self,
        r: &'w mut Reader<'r, 'a>,
        memo: &'m mut Memo,
    ) -> Reads<'m, 'w, 'r, 'a> {
        Reads::after(r, memo, self.count)
    }
}

/// Continues with the current tensor.
pub(super) fn step(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if c.state.audit.run.step == PASS {
        tensor::pass(c);
        c.state.audit.run.next_entry();
        return Ok(());
    }
    if tensor::table(header, r, c)?.is_none() {
        graph::over(c);
        return Ok(());
    }
    r.about(EntryKind::Tensor, c.index);
    let place = c.state.place;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(place.tensors, place.passed)?;
    let fields = Fields::read(header, &mut reads, table)?;
    let dtype = tensor::dtype(fields.code.value).unwrap_or(DType::Unknown);
    let known = Known { fields, dtype, count: reads.count() };
    c.state.memo.share(known.count);
    match c.state.audit.run.step {
        START => start(r, c, &known),
        SIGNATURE => signature(r, c, &known),
        EXTENTS => extents(r, c, &known),
        COUNTS => counts(r, c, &known),
        SCALES => scales(r, c, &known),
        ZERO_POINTS => zero_points(r, c, &known),
        DETAILS => details(r, c, &known),
        TEXTS..EXTERNAL => texts::step(r, c, &known),
        EXTERNAL..PASS => external::step(header, r, c, &known),
        _ => sparse::step(r, c, &known),
    }
}

/// Moves to another step, for which the fields of the tensor are remembered.
pub(super) fn go(c: &mut Cursor, step: u8, list: Vector) {
    c.state.memo.step();
    c.state.audit.run.go(step, list);
}

/// The step after quantisation and sparsity.
pub(super) fn rest(c: &mut Cursor, known: &Known) {
    let texts = known.dtype == DType::Text && !known.fields.data().is_empty();
    match (texts, known.fields.external.value) {
        (true, _) => go(c, TEXTS, Vector::NONE),
        (_, 0) => go(c, PASS, Vector::NONE),
        _ => go(c, EXTERNAL, Vector::NONE),
    }
}

/// Reads the shape, and checks the alignment. A tensor that listing has refused is passed.
fn start(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let fields = &known.fields;
    let mut reads = known.reads(r, &mut c.state.memo);
    let is_signed = reads.field(&fields.table, 7)? != 0;
    let quantised = reads.inner(&fields.table, 4)?;
    let axis = match &quantised {
        Some(quantised) => reads.int(quantised, 6, 0)?,
        None => 0,
    };
    let axis = u32::try_from(axis).unwrap_or(u32::MAX);
    c.state.shape.read(r, fields.shape, 0, axis)?;
    let shape = c.state.shape;
    let sound = fields.code.value <= 22 && shape.negative.is_none() && !shape.overflows;
    let inside = fields.data().end().is_some_and(|end| end <= r.source().len());
    if !sound || !inside || fields.stored.is_none() {
        go(c, PASS, Vector::NONE);
        return Ok(());
    }
    let data = fields.data();
    let past = data.offset & ALIGN.wrapping_sub(1);
    if past != 0 && !data.is_empty() && !c.state.audit.run.misaligned {
        r.flag(rules::B_ALIGN, data.offset, 1, ALIGN, past);
        c.state.audit.run.misaligned = true;
    }
    match (is_signed, quantised) {
        (true, _) => go(c, SIGNATURE, Vector::NONE),
        (_, Some(_)) => go(c, COUNTS, Vector::NONE),
        _ if fields.sparse => go(c, SPARSE, Vector::NONE),
        _ => rest(c, known),
    }
    Ok(())
}

/// Checks the rank of the shape signature.
fn signature(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let vector = known.reads(r, &mut c.state.memo).vector(&known.fields.table, 7)?;
    let (count, rank) = (vector.count, c.state.shape.rank);
    let same = count == 0 || count == rank;
    r.check(same, rules::T_SIGNATURE_RANK, vector.span(4), rank.into(), count.into());
    go(c, if count == rank { EXTENTS } else { COUNTS }, Vector::NONE);
    Ok(())
}

/// Extents that are compared in a step.
const COMPARED: u32 = 8;

/// Compares the next extents of the shape signature with those of the shape; the first wrong one is
/// reported.
fn extents(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let mut reads = known.reads(r, &mut c.state.memo);
    let vector = reads.vector(&known.fields.table, 7)?;
    let end = vector.count.min(run.passed.saturating_add(COMPARED));
    for i in run.passed..end {
        let extent = reads.signed(vector.place(i, 4))?;
        let own = reads.signed(known.fields.shape.place(i, 4))?;
        if extent != -1 && extent != own {
            let at = vector.place(i, 4);
            r.flag(rules::T_SIGNATURE_DIM, at, 4, found(own), found(extent));
            go(c, COUNTS, Vector::NONE);
            return Ok(());
        }
    }
    run.passed = end;
    c.state.memo.step();
    if end == vector.count {
        go(c, COUNTS, Vector::NONE);
    }
    Ok(())
}

/// Counts scales and zero points.
fn counts(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let mut reads = known.reads(r, &mut c.state.memo);
    let quantised = reads.inner(&known.fields.table, 4)?;
    let (mut counted, mut kind) = ([Vector::NONE; 2], 0);
    let mut axis = 0;
    if let Some(quantised) = &quantised {
        counted = [reads.vector(quantised, 2)?, reads.vector(quantised, 3)?];
        kind = reads.scalar(quantised, 4, 1, 0)?.value;
        axis = reads.int(quantised, 6, 0)?;
    }
    let rank = c.state.shape.rank;
    let Some(quantised) = quantised else {
        go(c, SPARSE, Vector::NONE);
        return Ok(());
    };
    let place = quantised.span();
    if kind != 0 {
        go(c, DETAILS, Vector::NONE);
        return Ok(());
    }
    let [scales, zero_points] = counted;
    let (many, zeros) = (u64::from(scales.count), u64::from(zero_points.count));
    r.check(many == zeros, rules::Q_COUNT, place, many, zeros);
    let inside = axis >= 0 && (scales.count <= 1 || is_inside(axis, rank));
    r.check(inside, rules::Q_AXIS, place, rank.into(), found(axis));
    let extent = c.state.shape.chosen;
    let fits = !inside || scales.count <= 1 || scales.count == extent;
    r.check(fits, rules::Q_CHANNELS, scales.span(4), extent.into(), many);
    go(c, SCALES, scales);
    Ok(())
}

/// Checks the scales; the first that is 0 and the first that is wrong are reported.
fn scales(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if let Some((bytes, at)) = run.items(r, 4)? {
        let (items, _) = bytes.as_chunks::<4>();
        for (item, at) in items.iter().zip(offsets(at, 4)) {
            let scale = f32::from_le_bytes(*item);
            if scale.is_finite() && scale > 0.0 {
                continue;
            }
            if scale == 0.0 {
                r.check(run.moved, rules::Q_SCALE_ZERO, Span::new(at, 4), 0, 0);
                run.moved = true;
                continue;
            }
            r.flag(rules::Q_SCALE, at, 4, 0, scale.to_bits().into());
            run.passed = run.list.count;
            return Ok(());
        }
        run.pass(items.len());
        return Ok(());
    }
    let mut reads = known.reads(r, &mut c.state.memo);
    let zero_points = match reads.inner(&known.fields.table, 4)? {
        Some(quantised) => reads.vector(&quantised, 3)?,
        None => Vector::NONE,
    };
    c.state.audit.run.moved = false;
    go(c, ZERO_POINTS, zero_points);
    Ok(())
}

/// Checks the zero points; the first wrong one is reported.
fn zero_points(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let Some((bytes, at)) = run.items(r, 8)? else {
        go(c, SPARSE, Vector::NONE);
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<8>();
    for (item, at) in items.iter().zip(offsets(at, 8)) {
        let zero = i64::from_le_bytes(*item);
        if !fits(known.dtype, zero) {
            r.flag(rules::Q_ZERO_POINT, at, 8, 0, zero.cast_unsigned());
            run.passed = run.list.count;
            return Ok(());
        }
    }
    run.pass(items.len());
    Ok(())
}

/// Checks quantisation whose scales are in other tensors.
fn details(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let mut reads = known.reads(r, &mut c.state.memo);
    let Some(quantised) = reads.inner(&known.fields.table, 4)? else { return over(c) };
    let kind = reads.scalar(&quantised, 4, 1, 0)?.value;
    if !matches!(kind, CUSTOM | BLOCKWISE | MULTI_AXIS) {
        // The verifier has reported the kind, and has not verified the value.
        return over(c);
    }
    let axis = reads.int(&quantised, 6, 0)?;
    let Some(table) = reads.inner(&quantised, 5)? else { return over(c) };
    let place = table.span();
    if kind == CUSTOM {
        r.flag(rules::Q_CUSTOM, place.offset, place.len, 0, 0);
        return over(c);
    }
    let scales = reads.int(&table, 0, 0)?;
    let zero_points = reads.int(&table, 1, 0)?;
    let block = reads.int(&table, 2, 0)?;
    let axes = if kind == MULTI_AXIS { reads.vector(&table, 3)? } else { Vector::NONE };
    let shape = c.state.shape;
    let parts = Parts { table, axis, block, axes };
    let Some(blocks) = blocks(&mut reads, known, &shape, &parts, kind)? else { return over(c) };
    let (first, second) = match c.state.audit.run.entry_part {
        0 => (scales, false),
        _ => (zero_points, true),
    };
    // Zero points may be absent.
    let absent = second && first == -1;
    let tensors = c.state.place.tensors;
    let own = c.state.place.passed;
    let inside = is_inside(first, tensors.count);
    let itself = u32::try_from(first) == Ok(own);
    if absent || !inside || itself {
        let count = tensors.count.into();
        reads.r.check(absent || inside, rules::Q_TENSOR, place, count, found(first));
        reads.r.check(!itself, rules::Q_SELF, place, 0, found(first));
        return part_over(c, second);
    }
    let other = reads.item(tensors, u32::try_from(first).unwrap_or(0))?;
    let extents = reads.vector(&other, 0)?;
    let code = reads.small(&other, 1, 1)?.value;
    c.state.audit.other.read(r, extents, 0, 0)?;
    let elements = c.state.audit.other.elements();
    let same = elements == blocks && c.state.audit.other.negative.is_none();
    r.check(same, rules::Q_SHAPE, place, blocks, elements);
    let float = matches!(tensor::dtype(code), Some(DType::F32 | DType::F16 | DType::BF16));
    r.check(float || second, rules::Q_TYPE, place, 0, code.into());
    part_over(c, second)
}

/// Ends the check of scales, or of zero points.
fn part_over(c: &mut Cursor, second: bool) -> Result<(), Halt> {
    c.state.audit.other = Shape::START;
    if second {
        return over(c);
    }
    c.state.memo.clear();
    c.state.audit.run.entry_part = 1;
    Ok(())
}

/// Ends the check of the details.
fn over(c: &mut Cursor) -> Result<(), Halt> {
    c.state.audit.run.entry_part = 0;
    c.state.audit.other = Shape::START;
    go(c, SPARSE, Vector::NONE);
    Ok(())
}

/// The details of blockwise or multi-axis quantisation.
struct Parts {
    table: Table,
    axis: i32,
    block: i32,
    axes: Vector,
}

/// Most axes of multi-axis quantisation.
const AXES: u32 = 4;

/// Number of scales that the shape asks for; `None` after a fault, which is reported.
fn blocks(
    reads: &mut Reads<'_, '_, '_, '_>,
    known: &Known,
    shape: &Shape,
    parts: &Parts,
    kind: u64,
) -> Result<Option<u64>, Halt> {
    let place = parts.table.span();
    let rank = shape.rank;
    let refuse = |r: &mut Reader<'_, '_>, rule: Rule, expected: u64, found: u64| {
        r.flag(rule, place.offset, place.len, expected, found);
        Ok(None)
    };
    let block = u32::try_from(parts.block).unwrap_or(0);
    if kind == BLOCKWISE {
        if !is_inside(parts.axis, rank) {
            return refuse(reads.r, rules::Q_AXIS, rank.into(), found(parts.axis));
        }
        let elements = shape.elements();
        if elements.checked_rem(block.into()) != Some(0) {
            return refuse(reads.r, rules::Q_BLOCK, elements, found(parts.block));
        }
        return Ok(elements.checked_div(block.into()));
    }
    if parts.axes.count > rank || parts.axes.count > AXES {
        return refuse(reads.r, rules::Q_AXIS, rank.into(), parts.axes.count.into());
    }
    let (mut product, mut seen) = (1_u64, 0_u64);
    for i in 0..parts.axes.count {
        let axis = reads.number(parts.axes.place(i, 4), 4)?;
        let axis = u32::try_from(axis).unwrap_or(0).cast_signed();
        let bit = 1_u64.checked_shl(axis.cast_unsigned()).unwrap_or(0);
        if !is_inside(axis, rank) || seen & bit != 0 {
            return refuse(reads.r, rules::Q_AXIS, rank.into(), found(axis));
        }
        seen |= bit;
        let place = known.fields.shape.place(u32::try_from(axis).unwrap_or(0), 4);
        product = product.saturating_mul(reads.number(place, 4)?);
    }
    if parts.block == 0 {
        return Ok(Some(product));
    }
    match product.checked_rem(block.into()) {
        Some(0) => Ok(product.checked_div(block.into())),
        _ => refuse(reads.r, rules::Q_BLOCK, product, found(parts.block)),
    }
}
