//! Sparse tensors: dimensions in the order of traversal, each dense or compressed.

use super::graph::{Run, found, is_inside};
use super::quant::{Known, SPARSE, go, rest};
use super::reads::{Reads, Table, Vector, get, offsets};
use super::{Cursor, rules};
use crate::input::Span;
use crate::model::DType;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The steps of a sparse tensor, from [`SPARSE`] on.
const LEVEL: u8 = SPARSE + 1;
const SEGMENTS: u8 = SPARSE + 2;
const INDICES: u8 = SPARSE + 3;
const MAP: u8 = SPARSE + 4;
const BLOCKS: u8 = SPARSE + 5;

/// Most dimensions, those of blocks included.
const LEVELS: u32 = 64;

/// The parameters of a sparse tensor.
struct Parameters {
    table: Table,
    order: Vector,
    map: Vector,
    levels: Vector,
}

impl Parameters {
    /// The dimension at a position of the traversal order: those of blocks follow those of the shape.
    fn dimension(&self, reads: &mut Reads<'_, '_, '_, '_>, index: u32) -> Result<u32, Halt> {
        let number = reads.number(self.order.place(index, 4), 4)?;
        Ok(u32::try_from(number).unwrap_or(0))
    }
}

/// Continues with the current tensor.
pub(super) fn step(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    if !known.fields.sparse {
        rest(c, known);
        return Ok(());
    }
    let mut reads = known.reads(r, &mut c.state.memo);
    let Some(table) = reads.inner(&known.fields.table, 6)? else {
        rest(c, known);
        return Ok(());
    };
    let order = reads.vector(&table, 0)?;
    let map = reads.vector(&table, 1)?;
    let levels = reads.vector(&table, 2)?;
    let parameters = Parameters { table, order, map, levels };
    match c.state.audit.run.step {
        LEVEL if c.state.audit.run.level < order.count => {
            let run = &c.state.audit.run;
            let level = Level::read(&mut reads, known, &parameters, run.level, run.block)?;
            dimension(r, c, known, &level)
        }
        LEVEL => finish(r, c, known),
        BLOCKS => {
            let run = &c.state.audit.run;
            // Blocks have none of their own.
            if run.level >= c.state.shape.rank || run.passed >= map.count {
                go(c, LEVEL, Vector::NONE);
                return Ok(());
            }
            let block = Block::read(&mut reads, known, &parameters, run)?;
            multiply(r, c, known, block.as_ref())
        }
        SEGMENTS | INDICES => {
            let run = &c.state.audit.run;
            let level = Level::read(&mut reads, known, &parameters, run.level, run.block)?;
            match c.state.audit.run.step {
                SEGMENTS => segments(r, c, known, &level),
                _ => indices(r, c, known, &level),
            }
        }
        MAP => check_map(r, c, known, &parameters),
        _ => check_order(r, c, known, &parameters),
    }
}

/// Gives up a sparse tensor after a fault.
fn refuse(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    rule: Rule,
    span: Span,
    numbers: (u64, u64),
) -> Result<(), Halt> {
    r.flag(rule, span.offset, span.len, numbers.0, numbers.1);
    (c.state.audit.run.level, c.state.audit.run.number) = (0, 0);
    rest(c, known);
    Ok(())
}

/// Checks the traversal order.
fn check_order(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    p: &Parameters,
) -> Result<(), Halt> {
    let rank = c.state.shape.rank;
    let all = rank.saturating_add(p.map.count);
    let order = p.order.span(4);
    if p.order.count != all || all > LEVELS {
        let numbers = (all.into(), p.order.count.into());
        return refuse(r, c, known, rules::Z_ORDER, order, numbers);
    }
    let numbers = numbers_of(get(r, order)?);
    // The dimensions first, then those of blocks, each once.
    let mut seen = 0_u64;
    for (i, number) in (0..).zip(numbers) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let bit = 1_u64.checked_shl(number).unwrap_or(0);
        let half = if i < rank { number < rank } else { (rank..all).contains(&number) };
        if !half || seen & bit != 0 {
            let place = Span::new(p.order.place(i, 4), 4);
            return refuse(r, c, known, rules::Z_ORDER, place, (all.into(), number.into()));
        }
        seen |= bit;
    }
    go(c, MAP, Vector::NONE);
    Ok(())
}

/// Checks the block map, and the number of dimensions.
fn check_map(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    p: &Parameters,
) -> Result<(), Halt> {
    let rank = c.state.shape.rank;
    let all = rank.saturating_add(p.map.count);
    if p.map.count > 0 {
        for (i, number) in (0..).zip(numbers_of(get(r, p.map.span(4))?)) {
            if !is_inside(number, rank) {
                let place = Span::new(p.map.place(i, 4), 4);
                return refuse(r, c, known, rules::Z_MAP, place, (rank.into(), found(number)));
            }
        }
    }
    if p.levels.count != all {
        let place = p.table.span();
        let numbers = (all.into(), p.levels.count.into());
        return refuse(r, c, known, rules::Z_LEVELS, place, numbers);
    }
    (c.state.audit.run.number, c.state.audit.run.level) = (1, 0);
    start_level(c);
    Ok(())
}

/// Little-endian numbers of four bytes, as they are in memory.
fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes))
}

/// A dimension.
struct Level {
    table: Table,
    format: u64,
    size: i32,
    segments: Numbers,
    indices: Numbers,
    /// Number of blocks along a dimension of the shape, or of elements along one of a block.
    extent: u64,
}

/// A vector of numbers, each of `width` bytes.
#[derive(Clone, Copy)]
struct Numbers {
    vector: Vector,
    width: u8,
    /// The kind of the vector is known. If not, it was not verified.
    known: bool,
}

impl Numbers {
    /// Reads the place of a vector from the union whose kind is in `field`.
    fn read(reads: &mut Reads<'_, '_, '_, '_>, table: &Table, field: u8) -> Result<Self, Halt> {
        let kind = reads.scalar(table, field, 1, 0)?.value;
        let width = match kind {
            1 => 4,
            2 => 2,
            3 => 1,
            // No kind, and no value; or a kind that the verifier has reported.
            _ => return Ok(Numbers { vector: Vector::NONE, width: 4, known: kind == 0 }),
        };
        let vector = match reads.inner(table, field.wrapping_add(1))? {
            Some(inner) => reads.vector(&inner, 0)?,
            None => Vector::NONE,
        };
        Ok(Numbers { vector, width, known: true })
    }
}

/// The numbers in `bytes`, each of `width` bytes; those of four bytes are signed.
fn each(bytes: &[u8], width: u8) -> impl Iterator<Item = i32> {
    let mut rest = bytes;
    core::iter::from_fn(move || {
        let (number, after) = rest.split_at_checked(width.into())?;
        rest = after;
        match number {
            [a, b, c, d] => Some(i32::from_le_bytes([*a, *b, *c, *d])),
            [a, b] => Some(u16::from_le_bytes([*a, *b]).into()),
            [a] => Some((*a).into()),
            _ => None,
        }
    })
}

impl Level {
    /// Reads dimension `index` in the order of traversal, whose blocks have `block` elements.
    fn read(
        reads: &mut Reads<'_, '_, '_, '_>,
        known: &Known,
        p: &Parameters,
        index: u32,
        block: u64,
    ) -> Result<Level, Halt> {
        let dimension = p.dimension(reads, index)?;
        let whole = match dimension < known.fields.shape.count {
            true => Some(reads.number(known.fields.shape.place(dimension, 4), 4)?),
            false => None,
        };
        let table = reads.item(p.levels, index)?;
        let format = reads.scalar(&table, 0, 1, 0)?.value;
        let size = reads.int(&table, 1, 0)?;
        let segments = Numbers::read(reads, &table, 2)?;
        let indices = Numbers::read(reads, &table, 4)?;
        let extent = match whole {
            Some(whole) => whole.checked_div(block).unwrap_or(0),
            None => u64::try_from(size).unwrap_or(0),
        };
        Ok(Level { table, format, size, segments, indices, extent })
    }

    /// Whether a dense dimension may have its size.
    fn fits(&self) -> bool {
        self.size > 0 && u64::try_from(self.size) == Ok(self.extent)
    }
}

/// A dimension of a block.
struct Block {
    table: Table,
    size: i32,
    /// The extent that it divides.
    whole: u64,
}

impl Block {
    /// Reads the next dimension of a block, if it belongs to the current dimension of the shape.
    fn read(
        reads: &mut Reads<'_, '_, '_, '_>,
        known: &Known,
        p: &Parameters,
        run: &Run,
    ) -> Result<Option<Block>, Halt> {
        let rank = known.fields.shape.count;
        let own = p.dimension(reads, run.level)?;
        let index = rank.saturating_add(run.passed);
        let place = p.dimension(reads, index)?.saturating_sub(rank);
        if reads.number(p.map.place(place, 4), 4)? != own.into() {
            return Ok(None);
        }
        let whole = reads.number(known.fields.shape.place(own, 4), 4)?;
        let table = reads.item(p.levels, index)?;
        let size = reads.int(&table, 1, 0)?;
        Ok(Some(Block { table, size, whole: whole.checked_div(run.block).unwrap_or(0) }))
    }
}

/// Multiplies the sizes of the blocks of the current dimension, one at a time.
fn multiply(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    block: Option<&Block>,
) -> Result<(), Halt> {
    if let Some(block) = block {
        let size = u64::try_from(block.size).unwrap_or(0);
        if block.whole.checked_rem(size) != Some(0) {
            let numbers = (block.whole, found(block.size));
            return refuse(r, c, known, rules::Z_DENSE, block.table.span(), numbers);
        }
        let run = &mut c.state.audit.run;
        run.block = run.block.saturating_mul(size);
    }
    c.state.memo.step();
    r.charge(4);
    c.state.audit.run.pass(1);
    Ok(())
}

/// Checks a dimension: multiplies by its size, or goes to its segments.
fn dimension(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    level: &Level,
) -> Result<(), Halt> {
    let place = level.table.span();
    let number = c.state.audit.run.number;
    match level.format {
        0 => {
            if !level.fits() {
                let numbers = (level.extent, found(level.size));
                return refuse(r, c, known, rules::Z_DENSE, place, numbers);
            }
            let size = u64::try_from(level.size).unwrap_or(0);
            c.state.audit.run.number = number.saturating_mul(size);
            next_level(c);
        }
        1 if !level.segments.known || !level.indices.known => {
            (c.state.audit.run.level, c.state.audit.run.number) = (0, 0);
            rest(c, known);
        }
        1 => {
            let count = u64::from(level.segments.vector.count);
            if count != number.saturating_add(1) {
                let numbers = (number, count);
                return refuse(r, c, known, rules::Z_SEGMENTS, place, numbers);
            }
            c.state.audit.run.previous = 0;
            go(c, SEGMENTS, level.segments.vector);
        }
        other => return refuse(r, c, known, rules::Z_FORMAT, place, (1, other)),
    }
    Ok(())
}

/// Goes to the next dimension.
fn next_level(c: &mut Cursor) {
    c.state.audit.run.level = c.state.audit.run.level.saturating_add(1);
    start_level(c);
}

/// Starts a dimension.
fn start_level(c: &mut Cursor) {
    c.state.audit.run.block = 1;
    go(c, BLOCKS, Vector::NONE);
}

/// Checks segments: from 0 on, in ascending order.
fn segments(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    level: &Level,
) -> Result<(), Halt> {
    let width = level.segments.width;
    let mut run = c.state.audit.run;
    let Some((bytes, at)) = run.items(r, width)? else {
        let count = u64::from(level.indices.vector.count);
        if count != run.previous {
            let numbers = (run.previous, count);
            return refuse(r, c, known, rules::Z_INDICES, level.table.span(), numbers);
        }
        go(c, INDICES, level.indices.vector);
        return Ok(());
    };
    let mut count = 0_usize;
    for (number, at) in each(bytes, width).zip(offsets(at, width)) {
        let value = u64::try_from(number).ok();
        let first = run.passed == 0 && count == 0;
        match value {
            Some(value) if value >= run.previous && (!first || value == 0) => run.previous = value,
            _ => {
                let numbers = (run.previous, found(number));
                let place = Span::new(at, width.into());
                return refuse(r, c, known, rules::Z_SEGMENTS, place, numbers);
            }
        }
        count = count.saturating_add(1);
    }
    run.pass(count);
    c.state.audit.run = run;
    Ok(())
}

/// Checks indices: within the extent of their dimension.
fn indices(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    known: &Known,
    level: &Level,
) -> Result<(), Halt> {
    let width = level.indices.width;
    let run = c.state.audit.run;
    let Some((bytes, at)) = run.items(r, width)? else {
        c.state.audit.run.number = level.indices.vector.count.into();
        next_level(c);
        return Ok(());
    };
    let mut count = 0_usize;
    for (number, at) in each(bytes, width).zip(offsets(at, width)) {
        if !u64::try_from(number).is_ok_and(|index| index < level.extent) {
            let numbers = (level.indices.vector.count.into(), found(number));
            let place = Span::new(at, width.into());
            return refuse(r, c, known, rules::Z_INDICES, place, numbers);
        }
        count = count.saturating_add(1);
    }
    c.state.audit.run.pass(count);
    Ok(())
}

/// Compares the length of the data with the indices.
fn finish(r: &mut Reader<'_, '_>, c: &mut Cursor, known: &Known) -> Result<(), Halt> {
    let data = known.fields.data();
    let bytes = match known.dtype {
        DType::Text | DType::Unknown => None,
        dtype => dtype.bytes(c.state.audit.run.number),
    };
    let expected = bytes.unwrap_or(u64::MAX);
    if data.len != expected && !data.is_empty() {
        return refuse(r, c, known, rules::Z_VALUES, data, (expected, data.len));
    }
    (c.state.audit.run.level, c.state.audit.run.number) = (0, 0);
    rest(c, known);
    Ok(())
}
