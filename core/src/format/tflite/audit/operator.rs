//! Subgraphs and their operators: the indices in them, and the order in which tensors are written
//! and read.
//!
//! Whether a tensor was written is marked for some tensors at a time; operators are passed once
//! for as many tensors of a subgraph as there are marks, and checked for everything else the first time.

use super::codes;
use super::graph::{self, found, is_inside};
use super::operators::{self, Calls};
use super::reads::{Reads, Table, Vector, offsets};
use super::tensor::Fields;
use super::{Cursor, Header, Shape, State, list, parts, rules};
use crate::format::Marks;
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// The steps of a subgraph.
const START: u8 = 0;
const INPUTS: u8 = 1;
const OUTPUTS: u8 = 2;
const CONSTANTS: u8 = 3;
const OPERATOR: u8 = 4;
const READS: u8 = 5;
const WRITES: u8 = 6;
const INTERNAL: u8 = 7;
const CALLED: u8 = 8;

/// Continues with the current subgraph.
pub(super) fn step(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    if c.state.audit.run.subgraph >= header.list(list::SUBGRAPHS).count {
        graph::over(c);
        return Ok(());
    }
    r.about(EntryKind::File, 0);
    match c.state.audit.run.step {
        START => subgraph(header, r, c, marks),
        CONSTANTS => constant(header, r, c, marks),
        INPUTS | OUTPUTS => ends(r, c, marks),
        OPERATOR => operator(header, r, c, marks),
        _ => indices(header, r, c, marks),
    }
}

/// Begins a subgraph.
fn subgraph(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = graph::subgraph(header, &mut reads, run.subgraph)?;
    let tensors = reads.vector(&table, 0)?;
    let inputs = reads.vector(&table, 1)?;
    let outputs = reads.vector(&table, 2)?;
    let operators = reads.vector(&table, 3)?;
    if run.base == 0 {
        let used = inputs.count > 0 || outputs.count > 0 || operators.count > 0;
        r.check(!used || tensors.count > 0, rules::G_TENSORS, table.span(), 1, 0);
        r.check(operators.is_present(), rules::G_OPERATORS, table.span(), 0, 0);
    }
    marks.clear(tensors.count.saturating_sub(run.base));
    c.state.place.tensors = tensors;
    c.state.memo.clear();
    run.operators = operators;
    run.go(INPUTS, inputs);
    // The outputs are checked once.
    run.number = if run.base == 0 { outputs.at.into() } else { 0 };
    run.previous = outputs.count.into();
    run.open = run.base == 0;
    Ok(())
}

/// Checks inputs or outputs of the subgraph, and marks inputs.
fn ends(r: &mut Reader<'_, '_>, c: &mut Cursor, marks: &mut dyn Marks) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let count = c.state.place.tensors.count;
    let rule = if run.step == INPUTS { rules::G_INPUT } else { rules::G_OUTPUT };
    let Some((bytes, at)) = run.items(r, 4)? else {
        let outputs = Vector {
            at: u32::try_from(run.number).unwrap_or(0),
            count: u32::try_from(run.previous).unwrap_or(0),
        };
        match run.step {
            INPUTS if run.open => run.go(OUTPUTS, outputs),
            _ => {
                run.entry = run.base;
                run.go(CONSTANTS, Vector::NONE);
            }
        }
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<4>();
    for (item, at) in items.iter().zip(offsets(at, 4)) {
        let index = i32::from_le_bytes(*item);
        let inside = is_inside(index, count);
        if run.open {
            r.check(inside, rule, Span::new(at, 4), count.into(), found(index));
        }
        if inside
            && run.step == INPUTS
            && let Some(place) =
                u32::try_from(index).ok().and_then(|index| run.marked(index, marks.most()))
        {
            marks.set(place);
        }
    }
    run.pass(items.len());
    Ok(())
}

/// Marks the next tensor if it has data, or is a constant without elements.
fn constant(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let State { run, other, .. } = &mut c.state.audit;
    let tensors = c.state.place.tensors;
    let place = run.marked(run.entry, marks.most()).filter(|_| run.entry < tensors.count);
    let Some(place) = place else {
        run.entry = 0;
        run.go(OPERATOR, Vector::NONE);
        return Ok(());
    };
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(tensors, run.entry)?;
    let fields = Fields::read(header, &mut reads, table)?;
    let filled = !fields.data().is_empty() || fields.external.value != 0;
    let mut is_set = filled || fields.variable;
    // A constant may have no elements, and then data of no bytes.
    if !is_set && fields.data().offset != 0 && fields.buffer.value != 0 {
        other.read(r, fields.shape, 0, 0)?;
        is_set = core::mem::replace(other, Shape::START).elements() == 0;
    }
    if filled {
        let input = marks.has(place) && !fields.variable;
        r.check(!input, rules::G_CONSTANT, table.span(), 0, run.entry.into());
    }
    if is_set {
        marks.set(place);
    }
    c.state.memo.clear();
    run.entry = run.entry.saturating_add(1);
    Ok(())
}

/// Begins an operator, or ends the pass.
fn operator(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if run.entry >= run.operators.count {
        c.state.memo.clear();
        run.go(START, Vector::NONE);
        run.entry = 0;
        run.base = run.base.saturating_add(marks.most());
        if run.base >= c.state.place.tensors.count {
            run.base = 0;
            run.subgraph = run.subgraph.saturating_add(1);
        }
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(run.operators, run.entry)?;
    let inputs = reads.vector(&table, 1)?;
    let outputs = reads.vector(&table, 2)?;
    let first = run.base == 0;
    if first {
        check(header, &mut reads, &table, inputs, outputs)?;
    }
    if !first {
        r.charge(4);
    }
    c.state.memo.clear();
    run.go(READS, inputs);
    run.open = first;
    Ok(())
}

/// Checks an operator, apart from lists of indices.
fn check(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    table: &Table,
    inputs: Vector,
    outputs: Vector,
) -> Result<(), Halt> {
    let index = reads.scalar(table, 0, 4, 0)?;
    let number = u32::try_from(index.value).unwrap_or(u32::MAX);
    let known = number < header.list(list::CODES).count;
    let code = if known { Some(codes::read(header, reads, number)?.number) } else { None };
    let kind = reads.scalar(table, 3, 1, 0)?;
    let mutating = reads.vector(table, 7)?;
    let custom = reads.vector(table, 5)?;
    let large = parts::large_options(reads, table)?;
    let place = table.span();
    let r = &mut *reads.r;
    r.check(known, rules::O_CODE, place, header.list(list::CODES).count.into(), index.value);
    if let Some(code) = code.and_then(|code| u32::try_from(code).ok()) {
        let own = operators::options(code);
        let known = code <= operators::LAST && code != operators::PLACEHOLDER;
        let fits = kind.value == 0 || !known || kind.value == own.into();
        r.check(fits, rules::O_OPTIONS, Span::new(kind.at, 1), own.into(), kind.value);
    }
    r.check(outputs.is_present(), rules::O_NO_OUTPUTS, place, 0, 0);
    let marks = mutating.count == 0 || mutating.count == inputs.count;
    let span = mutating.span(1);
    r.check(marks, rules::O_MUTATING, span, inputs.count.into(), mutating.count.into());
    if large.offset > 1 {
        let end = large.end().filter(|end| *end <= r.source().len());
        r.check(end.is_some(), rules::O_LARGE, place, large.offset, large.len);
        r.check(custom.count == 0, rules::O_LARGE_BOTH, place, 0, 0);
    } else {
        r.check(large.len == 0, rules::O_LARGE_OFFSET, place, 0, large.len);
    }
    Ok(())
}

/// Checks the lists of an operator: what it reads and writes, internal tensors, and subgraphs.
fn indices(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if let Some((bytes, at)) = run.items(r, 4)? {
        let (items, _) = bytes.as_chunks::<4>();
        for (item, at) in items.iter().zip(offsets(at, 4)) {
            index(header, r, c, marks, i32::from_le_bytes(*item), at);
        }
        c.state.audit.run.pass(items.len());
        return Ok(());
    }
    // The next list, from the operator's table.
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(run.operators, run.entry)?;
    let next = match run.step {
        READS => (WRITES, reads.vector(&table, 2)?),
        WRITES if run.open => (INTERNAL, reads.vector(&table, 8)?),
        INTERNAL => {
            let called = called(&mut reads, &table)?;
            match called {
                Called::Two(first, second) => {
                    for (number, at) in [first, second].into_iter().flatten() {
                        call(header, r, c, number, at);
                    }
                    (OPERATOR, Vector::NONE)
                }
                Called::List(list) => (CALLED, list),
            }
        }
        _ => (OPERATOR, Vector::NONE),
    };
    c.state.memo.clear();
    let run = &mut c.state.audit.run;
    run.go(next.0, next.1);
    if run.step == OPERATOR {
        run.entry = run.entry.saturating_add(1);
    }
    Ok(())
}

/// Checks one index of an operator.
fn index(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
    index: i32,
    at: u64,
) {
    let run = &c.state.audit.run;
    let count = c.state.place.tensors.count;
    let span = Span::new(at, 4);
    let mut inside = |rule: Rule| {
        let inside = is_inside(index, count);
        if run.open {
            r.check(inside, rule, span, count.into(), found(index));
        }
        u32::try_from(index)
            .ok()
            .filter(|_| inside)
            .and_then(|index| run.marked(index, marks.most()))
    };
    match run.step {
        // An optional input.
        READS if index == -1 => {}
        READS => {
            if let Some(place) = inside(rules::O_INPUT) {
                let written = marks.has(place);
                r.check(written, rules::O_UNPRODUCED, span, 0, found(index));
            }
        }
        WRITES => {
            if let Some(place) = inside(rules::O_OUTPUT) {
                let written = marks.has(place);
                r.check(!written, rules::O_WRITTEN, span, 0, found(index));
                marks.set(place);
            }
        }
        INTERNAL => {
            inside(rules::O_INTERMEDIATE);
        }
        _ => call(header, r, c, index, at),
    }
}

/// Checks the number of a subgraph that an operator calls.
fn call(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor, number: i32, at: u64) {
    let count = header.list(list::SUBGRAPHS).count;
    let inside = is_inside(number, count);
    r.check(inside, rules::O_SUBGRAPH, Span::new(at, 4), count.into(), found(number));
    let run = &mut c.state.audit.run;
    let later = u32::try_from(number).is_ok_and(|number| number > run.subgraph);
    run.backward |= inside && !later;
}

/// The numbers of subgraphs in an operator's options.
pub(super) enum Called {
    /// Up to two numbers, each with its offset.
    Two(Option<(i32, u64)>, Option<(i32, u64)>),
    List(Vector),
}

/// Reads which subgraphs an operator calls.
pub(super) fn called(reads: &mut Reads<'_, '_, '_, '_>, table: &Table) -> Result<Called, Halt> {
    let mut found = Called::Two(None, None);
    for union in operators::UNIONS {
        let kind = u8::try_from(reads.scalar(table, union, 1, 0)?.value).unwrap_or(0);
        let calls = operators::calls(union, kind);
        if calls == Calls::None {
            continue;
        }
        let Some(options) = reads.inner(table, union.wrapping_add(1))? else { continue };
        let mut number = |field: u8| -> Result<Option<(i32, u64)>, Halt> {
            let Scalar4 { value, at } = scalar(reads, &options, field)?;
            Ok(Some((value, at)))
        };
        found = match calls {
            Calls::None => continue,
            Calls::One(field) => Called::Two(number(field)?, None),
            Calls::Two(first, second) => Called::Two(number(first)?, number(second)?),
            Calls::Many(field) => Called::List(reads.vector(&options, field)?),
        };
    }
    Ok(found)
}

/// A signed number, and its offset: that of its table if it is absent, and so 0.
struct Scalar4 {
    value: i32,
    at: u64,
}

fn scalar(reads: &mut Reads<'_, '_, '_, '_>, table: &Table, field: u8) -> Result<Scalar4, Halt> {
    let found = reads.scalar(table, field, 4, 0)?;
    let value = u32::try_from(found.value).unwrap_or(0).cast_signed();
    Ok(Scalar4 { value, at: if found.at == 0 { table.at() } else { found.at } })
}
