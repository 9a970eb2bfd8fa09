//! The audit of methods: chains and their instructions.

use super::instruction::{DELEGATE, FREE, JUMP, KERNEL, MOVE};
use super::plan::{self, CHAINS, check_indices, found, is_inside, kind_of, leave};
use super::{LEAST, Run, operators};
use crate::format::executorch::open::place_of;
use crate::format::executorch::{Cursor, kind, rules};
use crate::format::flatbuffer::reads::{Reads, Table, Vector, get};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The steps of a chain.
const OUTPUTS: u8 = 11;
const INSTRUCTIONS: u8 = 12;
/// The values that an instruction passes.
const ARGUMENTS: u8 = 13;
/// The inputs of a chain.
const INPUTS: u8 = 14;

/// Continues with the current chain.
pub(super) fn step(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    match c.state.run.step {
        CHAINS => chain(r, c),
        INPUTS => values(r, c, OUTPUTS, rules::P_CHAIN),
        OUTPUTS => values(r, c, INSTRUCTIONS, rules::P_CHAIN),
        ARGUMENTS => values(r, c, INSTRUCTIONS, rules::I_VALUE),
        _ => instruction(r, c),
    }
}

/// Reads the next chain.
fn chain(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.part >= run.plan.chains.count {
        leave(run);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(run.plan.chains, run.part)?;
    let inputs = reads.vector(&table, 0)?;
    let instructions = reads.vector(&table, 2)?;
    c.state.memo.clear();
    r.check(instructions.is_present(), rules::P_INSTRUCTIONS, table.span(), 1, 0);
    (run.instructions, run.instruction) = (instructions, 0);
    r.charge(inputs.span(4).len.saturating_add(4));
    run.go(INPUTS, inputs);
    Ok(())
}

/// Checks a list of values, and moves to another step.
fn values(r: &mut Reader<'_, '_>, c: &mut Cursor, next: u8, rule: Rule) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if check_indices(r, run, rule)? {
        return Ok(());
    }
    let mut list = Vector::NONE;
    if next == OUTPUTS {
        let mut reads = Reads::new(r, &mut c.state.memo);
        let table = reads.item(run.plan.chains, run.part)?;
        list = reads.vector(&table, 1)?;
        c.state.memo.clear();
        r.charge(list.span(4).len);
    }
    run.go(next, list);
    Ok(())
}

/// A number of an instruction, and where it is.
struct Number {
    value: i32,
    place: Span,
}

impl Number {
    fn read(reads: &mut Reads<'_, '_, '_, '_>, table: &Table, field: u8) -> Result<Number, Halt> {
        let number = reads.small(table, field, 4)?;
        let place = place_of(number.at(), 4, table.span());
        Ok(Number { value: number.value.cast_signed(), place })
    }

    /// Reports the number unless it is below `count`.
    fn check(&self, r: &mut Reader<'_, '_>, count: u32, rule: Rule) {
        let inside = is_inside(self.value, count);
        r.check(inside, rule, self.place, count.into(), found(self.value));
    }

    /// The kind of the value with this number.
    fn kind(
        &self,
        reads: &mut Reads<'_, '_, '_, '_>,
        plan: &plan::Plan,
    ) -> Result<Option<u32>, Halt> {
        kind_of(reads, plan, found(self.value))
    }
}

/// Checks the next instruction.
fn instruction(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.run;
    if run.instruction >= run.instructions.count {
        run.part = run.part.saturating_add(1);
        run.go(CHAINS, Vector::NONE);
        return Ok(());
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(run.instructions, run.instruction)?;
    let kind = reads.small(&table, 0, 1)?.value;
    let has_value = reads.field(&table, 1)? != 0;
    let known = (KERNEL..=FREE).contains(&kind);
    let inner = if known { reads.inner(&table, 1)? } else { None };
    let list = match inner {
        Some(inner) => arguments(&mut reads, run, kind, &inner)?,
        None => {
            // One with a value and no kind has been reported, and one of an unknown kind.
            let none = kind == 0 && !has_value;
            r.check(!none, rules::I_KIND, table.span(), 0, 0);
            Vector::NONE
        }
    };
    c.state.memo.clear();
    r.charge(list.span(4).len.saturating_add(4));
    run.instruction = run.instruction.saturating_add(1);
    run.go(ARGUMENTS, list);
    Ok(())
}

/// Checks the numbers of an instruction, and returns the list of values that it passes.
fn arguments(
    reads: &mut Reads<'_, '_, '_, '_>,
    run: &Run,
    kind: u32,
    table: &Table,
) -> Result<Vector, Halt> {
    let plan = &run.plan;
    let values = plan.values.count;
    match kind {
        KERNEL => return kernel(reads, plan, table),
        DELEGATE => {
            let index = Number::read(reads, table, 0)?;
            let list = reads.vector(table, 1)?;
            index.check(reads.r, plan.delegates.count, rules::I_DELEGATE);
            return Ok(list);
        }
        MOVE => {
            let from = Number::read(reads, table, 0)?;
            let to = Number::read(reads, table, 1)?;
            from.check(reads.r, values, rules::I_VALUE);
            to.check(reads.r, values, rules::I_VALUE);
        }
        JUMP => {
            let on = Number::read(reads, table, 0)?;
            let to = Number::read(reads, table, 1)?;
            let kind = on.kind(reads, plan)?;
            on.check(reads.r, values, rules::I_CONDITION);
            let fits = kind.is_none_or(|kind| matches!(kind, kind::BOOL | kind::TENSOR));
            let other = kind.unwrap_or(0).into();
            reads.r.check(fits, rules::I_CONDITION_KIND, on.place, kind::BOOL.into(), other);
            // A jump to the end ends the chain.
            let count = run.instructions.count;
            let inside = is_inside(to.value, count.saturating_add(1));
            reads.r.check(inside, rules::I_JUMP, to.place, count.into(), found(to.value));
        }
        _ => {
            let value = Number::read(reads, table, 0)?;
            let kind = value.kind(reads, plan)?;
            value.check(reads.r, values, rules::I_VALUE);
            let fits = kind.is_none_or(|kind| matches!(kind, kind::TENSOR | kind::TENSORS));
            reads.r.check(
                fits,
                rules::I_FREE,
                value.place,
                kind::TENSOR.into(),
                kind.unwrap_or(0).into(),
            );
        }
    }
    Ok(Vector::NONE)
}

/// Checks the call of a kernel: its operator, and how many values it passes.
fn kernel(
    reads: &mut Reads<'_, '_, '_, '_>,
    plan: &plan::Plan,
    table: &Table,
) -> Result<Vector, Halt> {
    let index = Number::read(reads, table, 0)?;
    let list = reads.vector(table, 1)?;
    let mut expected = 0;
    if let Ok(at) = u32::try_from(index.value)
        && at < plan.operators.count
    {
        let operator = reads.item(plan.operators, at)?;
        let name = reads.vector(&operator, 0)?.span(1);
        let overload = reads.vector(&operator, 1)?.span(1);
        if name.len <= operators::LONGEST && overload.len <= operators::LONGEST {
            let first = reads.recall(|r| Ok(operators::first(get(r, name)?)))?;
            expected = reads.recall(|r| {
                let overload = get(r, overload)?;
                Ok(operators::values(first, overload).into())
            })?;
        }
    }
    index.check(reads.r, plan.operators.count, rules::I_OPERATOR);
    let passed = u64::from(list.count);
    let fits = match expected {
        0 => passed >= LEAST.into(),
        expected => passed == expected,
    };
    let expected = expected.max(LEAST.into());
    reads.r.check(fits, rules::I_COUNT, table.span(), expected, passed);
    Ok(list)
}
