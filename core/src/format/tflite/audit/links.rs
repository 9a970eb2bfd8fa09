//! What refers to whole subgraphs: signatures, and operators that call them.

use super::graph::{self, BITS};
use super::operator::{Called, called};
use super::reads::{Reads, Vector};
use super::{Cursor, Header, list, rules, tensor};
use crate::format::Marks;
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Continues with the current signature: each named input is looked up among the inputs of its
/// subgraph, and each output among the outputs.
pub(super) fn signatures(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if run.entry >= header.list(list::SIGNATURES).count {
        graph::over(c);
        return Ok(());
    }
    r.about(EntryKind::Metadata, header.signature(run.entry));
    if run.open {
        return look_up(r, c);
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.list(list::SIGNATURES), run.entry)?;
    let subgraph = reads.scalar(&table, 4, 4, 0)?.value;
    let subgraph = u32::try_from(subgraph).unwrap_or(u32::MAX);
    // A number that is outside has been reported.
    if run.step > 1 || subgraph >= header.list(list::SUBGRAPHS).count {
        c.state.memo.clear();
        run.next_entry();
        return Ok(());
    }
    let names = reads.vector(&table, run.step)?;
    if run.level >= names.count {
        c.state.memo.clear();
        run.level = 0;
        run.go(run.step.wrapping_add(1), Vector::NONE);
        return Ok(());
    }
    let name = reads.item(names, run.level)?;
    let text = reads.vector(&name, 0)?;
    let tensor = reads.scalar(&name, 1, 4, 0)?;
    let table = reads.item(header.list(list::SUBGRAPHS), subgraph)?;
    let list = reads.vector(&table, run.step.wrapping_add(1))?;
    tensor::read_name(r, text, rules::M_NAME_UTF8)?;
    r.check(text.is_present(), rules::K_NAME, name.span(), 0, 0);
    c.state.memo.clear();
    r.charge(list.span(4).len);
    run.go(run.step, list);
    run.number = tensor.value;
    run.previous = if tensor.at == 0 { name.at() } else { tensor.at };
    run.open = true;
    Ok(())
}

/// Looks for the current tensor in the list.
fn look_up(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let items = run.items(r, 4)?;
    if let Some((bytes, _)) = items {
        let (items, _) = bytes.as_chunks::<4>();
        let own = |item: &[u8; 4]| u64::from(u32::from_le_bytes(*item)) == run.number;
        if !items.iter().any(own) {
            run.pass(items.len());
            return Ok(());
        }
    } else {
        r.flag(rules::K_TENSOR, run.previous, 4, 0, run.number);
    }
    run.open = false;
    run.level = run.level.saturating_add(1);
    Ok(())
}

/// Looks for subgraphs that call themselves. If each call leads to a later subgraph, there are
/// none. Otherwise subgraphs are marked that call only marked ones, until no further one is found.
pub(super) fn calls(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    r.about(EntryKind::File, 0);
    let count = header.list(list::SUBGRAPHS).count;
    if !run.backward {
        graph::over(c);
        return Ok(());
    }
    if count > BITS {
        r.flag(
            rules::O_UNCHECKED,
            header.list(list::SUBGRAPHS).at.into(),
            4,
            BITS.into(),
            count.into(),
        );
        graph::over(c);
        return Ok(());
    }
    if run.level == 0 {
        marks.clear(count);
        run.level = 1;
    }
    if run.subgraph >= count {
        return end_of_pass(header, r, c, marks);
    }
    if marks.has(run.subgraph) {
        run.subgraph = run.subgraph.saturating_add(1);
        return Ok(());
    }
    if run.step == 1 {
        return listed(r, c, marks, count);
    }
    let mut reads = Reads::new(r, &mut c.state.memo);
    let table = reads.item(header.list(list::SUBGRAPHS), run.subgraph)?;
    let operators = reads.vector(&table, 3)?;
    if run.entry >= operators.count {
        if !run.open {
            marks.set(run.subgraph);
            run.moved = true;
        }
        c.state.memo.clear();
        (run.entry, run.open) = (0, false);
        run.subgraph = run.subgraph.saturating_add(1);
        return Ok(());
    }
    let table = reads.item(operators, run.entry)?;
    let found = called(&mut reads, &table)?;
    c.state.memo.clear();
    r.charge(4);
    run.entry = run.entry.saturating_add(1);
    match found {
        Called::Two(first, second) => {
            for (number, _) in [first, second].into_iter().flatten() {
                run.open |= is_open(marks, number, count);
            }
        }
        Called::List(list) => run.go(1, list),
    }
    Ok(())
}

/// Whether a call leads to a subgraph that is not marked.
fn is_open(marks: &dyn Marks, number: i32, count: u32) -> bool {
    u32::try_from(number).is_ok_and(|number| number < count && !marks.has(number))
}

/// Looks at the subgraphs in a list.
fn listed(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &dyn Marks,
    count: u32,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let Some((bytes, _)) = run.items(r, 4)? else {
        run.go(0, Vector::NONE);
        return Ok(());
    };
    let (items, _) = bytes.as_chunks::<4>();
    for item in items {
        run.open |= is_open(marks, i32::from_le_bytes(*item), count);
    }
    run.pass(items.len());
    Ok(())
}

/// Begins another pass, or reports the first subgraph that is left.
fn end_of_pass(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    let count = header.list(list::SUBGRAPHS).count;
    let left = (0..count).find(|subgraph| !marks.has(*subgraph));
    let Some(left) = left else {
        graph::over(c);
        return Ok(());
    };
    if run.moved {
        (run.subgraph, run.moved) = (0, false);
        return Ok(());
    }
    let place = Span::new(header.list(list::SUBGRAPHS).place(left, 4), 4);
    r.flag(rules::O_CYCLE, place.offset, place.len, 0, left.into());
    graph::over(c);
    Ok(())
}
