//! The audit of methods: memory plans and values.

use super::{MOST, Run, call};
use crate::format::executorch::{Cursor, Header, field, kind, rules};
use crate::format::flatbuffer::reads::{Reads, Vector, offsets};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule};

/// The lists of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Plan {
    pub(super) values: Vector,
    inputs: Vector,
    outputs: Vector,
    pub(super) chains: Vector,
    pub(super) operators: Vector,
    pub(super) delegates: Vector,
    sizes: Vector,
    devices: Vector,
}

impl Plan {
    pub(super) const NONE: Plan = Plan {
        values: Vector::NONE,
        inputs: Vector::NONE,
        outputs: Vector::NONE,
        chains: Vector::NONE,
        operators: Vector::NONE,
        delegates: Vector::NONE,
        sizes: Vector::NONE,
        devices: Vector::NONE,
    };
}

/// The steps of a method.
const ENTER: u8 = 0;
const SIZES: u8 = 1;
const DEVICES: u8 = 2;
const INPUTS: u8 = 3;
const OUTPUTS: u8 = 4;
pub(super) const VALUES: u8 = 5;
/// A list of values that is a value.
const ITEMS: u8 = 6;
const DELEGATES: u8 = 7;
/// The first step of instructions.
pub(super) const CHAINS: u8 = 10;

/// Continues with the current method.
pub(super) fn step(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.step == ENTER && run.entry >= header.plans.count {
        c.next_phase();
        return Ok(());
    }
    r.about(EntryKind::Metadata, run.entry);
    match run.step {
        ENTER => enter(header, r, c),
        SIZES => sizes(r, c),
        DEVICES => devices(r, c),
        INPUTS => indices(r, c, rules::P_INPUT),
        OUTPUTS => indices(r, c, rules::P_OUTPUT),
        VALUES => value(r, c),
        ITEMS => items(r, c),
        DELEGATES => delegate(r, c),
        _ => call::step(r, c),
    }
}

/// Moves past the method.
pub(super) fn leave(run: &mut Run) {
    let entry = run.entry.saturating_add(1);
    *run = Run { entry, ..Run::START };
}

/// Reads the lists of the method.
fn enter(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.plans, run.entry)?;
    let mut all = [Vector::NONE; 8];
    let fields = [field::VALUES, 3, 4, 5, field::OPERATORS, field::DELEGATES, field::SIZES, 9];
    for (vector, field) in all.iter_mut().zip(fields) {
        *vector = reads.vector(&table, field)?;
    }
    let [values, inputs, outputs, chains, operators, delegates, sizes, devices] = all;
    c.state.memo.clear();
    run.plan = Plan { values, inputs, outputs, chains, operators, delegates, sizes, devices };
    r.check(chains.count > 0, rules::P_CHAINS, table.span(), 1, 0);
    r.charge(sizes.span(8).len);
    run.go(SIZES, sizes);
    Ok(())
}

/// Checks the sizes of memory buffers.
fn sizes(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let Some((bytes, at)) = run.items(r, 8)? else {
        run.go(DEVICES, Vector::NONE);
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<8>();
    for (item, at) in items.iter().zip(offsets(at, 8)) {
        let size = i64::from_le_bytes(*item);
        let (place, found) = (Span::new(at, 8), size.cast_unsigned());
        if size < 0 {
            r.flag(rules::M_SIZE, at, 8, 0, found);
        } else if run.passed == 0 {
            r.check(size == 0, rules::M_ZERO, place, 0, found);
        } else {
            r.check(size <= MOST, rules::M_HUGE, place, MOST.cast_unsigned(), found);
        }
        run.pass(1);
    }
    Ok(())
}

/// Checks which buffers are on devices.
fn devices(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let Plan { devices, inputs, sizes, .. } = run.plan;
    if run.part >= devices.count {
        run.part = 0;
        r.charge(inputs.span(4).len);
        run.go(INPUTS, inputs);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(devices, run.part)?;
    let index = reads.int(&table, 0, 0)?;
    c.state.memo.clear();
    r.charge(4);
    run.part = run.part.saturating_add(1);
    let inside = index > 0 && is_inside(index, sizes.count);
    r.check(inside, rules::M_DEVICE, table.span(), sizes.count.into(), found(index));
    Ok(())
}

/// Whether an index is below a count.
pub(super) fn is_inside(index: i32, count: u32) -> bool {
    u32::try_from(index).is_ok_and(|index| index < count)
}

/// A signed index, as findings have it.
pub(super) fn found(index: i32) -> u64 {
    i64::from(index).cast_unsigned()
}

/// Checks the next indices of values in a list of the method, a chain or an instruction; false
/// after the last.
pub(super) fn check_indices(
    r: &mut Reader<'_, '_>,
    run: &mut Run,
    rule: Rule,
) -> Result<bool, Halt> {
    let Some((bytes, at)) = run.items(r, 4)? else { return Ok(false) };
    let count = run.plan.values.count;
    let (items, _) = bytes.as_chunks::<4>();
    for (item, at) in items.iter().zip(offsets(at, 4)) {
        let index = i32::from_le_bytes(*item);
        let inside = is_inside(index, count);
        r.check(inside, rule, Span::new(at, 4), count.into(), found(index));
    }
    run.pass(items.len());
    Ok(true)
}

/// Checks inputs or outputs.
fn indices(r: &mut Reader<'_, '_>, c: &mut Cursor, rule: Rule) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if check_indices(r, run, rule)? {
        return Ok(());
    }
    if run.step == INPUTS {
        let outputs = run.plan.outputs;
        r.charge(outputs.span(4).len);
        run.go(OUTPUTS, outputs);
    } else {
        run.go(VALUES, Vector::NONE);
    }
    Ok(())
}

/// The kind of value `index` of the method; `None` if there is no such value.
pub(super) fn kind_of(
    reads: &mut Reads<'_, '_, '_, '_>,
    plan: &Plan,
    index: u64,
) -> Result<Option<u32>, Halt> {
    let index = u32::try_from(index).ok().filter(|index| *index < plan.values.count);
    let Some(index) = index else { return Ok(None) };
    let table = reads.item(plan.values, index)?;
    Ok(Some(reads.small(&table, 0, 1)?.value))
}

/// Checks the next value. Tensors are validated when they are listed.
fn value(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let values = run.plan.values;
    if run.part >= values.count {
        run.part = 0;
        run.go(DELEGATES, Vector::NONE);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(values, run.part)?;
    let kind = reads.small(&table, 0, 1)?.value;
    let is_list = (kind::TEXT..=kind::OPTIONAL_TENSORS).contains(&kind);
    let inner = if is_list { reads.inner(&table, 1)? } else { None };
    let list = match &inner {
        Some(inner) => reads.vector(inner, 0)?,
        None => Vector::NONE,
    };
    let has_value = reads.field(&table, 1)? != 0;
    c.state.memo.clear();
    r.charge(4);
    run.part = run.part.saturating_add(1);
    // One with a value and no kind has been reported.
    r.check(kind != 0 || has_value, rules::V_KIND, table.span(), 0, 0);
    let whole = inner.map_or(table.span(), |inner| inner.span());
    let missing = is_list && inner.is_some() && !list.is_present();
    r.check(!missing, rules::V_MISSING, whole, 0, kind.into());
    if matches!(kind, kind::INTS | kind::TENSORS | kind::OPTIONAL_TENSORS) {
        run.kind = kind;
        r.charge(list.span(if kind == kind::INTS { 8 } else { 4 }).len);
        run.go(ITEMS, list);
    }
    Ok(())
}

/// Checks the next item of a list: an index of a value of the right kind.
fn items(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.passed >= run.list.count {
        run.go(VALUES, Vector::NONE);
        return Ok(());
    }
    let width = if run.kind == kind::INTS { 8 } else { 4 };
    let at = run.list.place(run.passed, width);
    let mut reads = Reads::new(r, &mut c.state.memo);
    let item = reads.number(at, width)?;
    let item = match width {
        8 => item,
        _ => found(u32::try_from(item).unwrap_or(0).cast_signed()),
    };
    let found = kind_of(&mut reads, &run.plan, item)?;
    c.state.memo.clear();
    run.pass(1);
    let optional = run.kind == kind::OPTIONAL_TENSORS;
    // No tensor.
    if optional && item == u64::MAX {
        return Ok(());
    }
    let place = Span::new(at, width.into());
    let count = run.plan.values.count.into();
    r.check(found.is_some(), rules::V_ITEM, place, count, item);
    let expected = if run.kind == kind::INTS { kind::INT } else { kind::TENSOR };
    // A value without a kind has been reported.
    let fits = |found| found == expected || found == 0 || optional && found == kind::NULL;
    let fits = found.is_none_or(fits);
    r.check(fits, rules::V_ITEM_KIND, place, expected.into(), found.unwrap_or(0).into());
    Ok(())
}

/// Checks the next setting of a delegate. Its name and its data are validated when it is listed.
fn delegate(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    let delegates = run.plan.delegates;
    if run.part >= delegates.count {
        (run.part, run.passed) = (0, 0);
        run.go(CHAINS, Vector::NONE);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(delegates, run.part)?;
    let settings = reads.vector(&table, 2)?;
    if run.passed >= settings.count {
        c.state.memo.clear();
        r.check(settings.is_present(), rules::D_SETTING, table.span(), 0, 0);
        run.part = run.part.saturating_add(1);
        run.passed = 0;
        return Ok(());
    }
    let table = reads.item(settings, run.passed)?;
    let named = reads.field(&table, 0)? != 0 && reads.field(&table, 1)? != 0;
    c.state.memo.clear();
    r.charge(4);
    r.check(named, rules::D_SETTING, table.span(), 0, 0);
    run.pass(1);
    Ok(())
}
