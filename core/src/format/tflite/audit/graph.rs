//! The phases of the audit, each over one table, and what they share.

use super::codes;
use super::reads::{Reads, Table, Vector};
pub(super) use super::{BITS, found, is_inside};
use super::{Cursor, Header, external, links, list, operator, quant, rules, tensor, unused};
use crate::format::Marks;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// Where the audit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    /// Number of the current subgraph, and of the current entry.
    pub(super) subgraph: u32,
    pub(super) entry: u32,
    /// The operators of the current subgraph.
    pub(super) operators: Vector,
    /// The current step within it.
    pub(super) step: u8,
    /// The list that is read, and the number of its items passed.
    pub(super) list: Vector,
    pub(super) passed: u32,
    /// The first entry that is marked.
    pub(super) base: u32,
    /// The current part of an entry: a dimension of a sparse tensor, a name of a signature.
    pub(super) level: u32,
    /// Width of the items of the list.
    pub(super) width: u8,
    /// Scales, or zero points, of quantisation in other tensors.
    pub(super) entry_part: u8,
    /// Numbers that a step keeps for the next.
    pub(super) number: u64,
    pub(super) previous: u64,
    /// Elements of a block along the current dimension of a sparse tensor.
    pub(super) block: u64,
    /// A buffer that is not aligned was reported.
    pub(super) misaligned: bool,
    /// A subgraph calls itself or an earlier one.
    pub(super) backward: bool,
    /// Tensors, operators and the use of buffers are proved to be sound.
    pub(super) proved: bool,
    /// Something was marked in this pass, a scale of 0 was reported, or an external buffer was found.
    pub(super) moved: bool,
    /// Something of the current entry is not marked.
    pub(super) open: bool,
}

impl Run {
    pub(super) const START: Run = Run {
        subgraph: 0,
        entry: 0,
        operators: Vector::NONE,
        step: 0,
        list: Vector::NONE,
        passed: 0,
        base: 0,
        level: 0,
        width: 0,
        entry_part: 0,
        number: 0,
        previous: 0,
        block: 1,
        misaligned: false,
        backward: false,
        proved: false,
        moved: false,
        open: false,
    };

    /// Moves to a step, in which `list` is read.
    pub(super) fn go(&mut self, step: u8, list: Vector) {
        (self.step, self.list, self.passed) = (step, list, 0);
    }

    /// Moves to the first step of the next entry.
    pub(super) fn next_entry(&mut self) {
        self.entry = self.entry.saturating_add(1);
        (self.level, self.open) = (0, false);
        self.go(0, Vector::NONE);
    }

    /// The place of an index that is marked now, if `most` are at a time; `None` if others are.
    pub(super) fn marked(&self, index: u32, most: u32) -> Option<u32> {
        index.checked_sub(self.base).filter(|place| *place < most)
    }

    /// The next items of the list, as far as they are resident, `width` bytes each, and the offset
    /// of the first; none after the last. The caller passes them.
    pub(super) fn items<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        width: u8,
    ) -> Result<Option<(&'a [u8], u64)>, Halt> {
        self.list.items(r, self.passed, width)
    }

    /// Passes items.
    pub(super) fn pass(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.passed = self.passed.saturating_add(count);
    }
}

/// Continues the audit.
pub(super) fn step(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    marks: &mut dyn Marks,
) -> Result<(), Halt> {
    match c.phase {
        0 => code(header, r, c),
        phase @ (1 | 2 | 5) if c.state.audit.run.proved => {
            if phase == 5 {
                // As `unused` does.
                r.charge(u64::from(header.tensors).wrapping_mul(4));
            }
            over(c);
            Ok(())
        }
        1 => quant::step(header, r, c),
        2 => operator::step(header, r, c, marks),
        3 => links::signatures(header, r, c),
        4 => links::calls(header, r, c, marks),
        5 => unused::step(header, r, c, marks),
        6 => unused::old_metadata(header, r, c),
        7 => external::buffers(header, r, c),
        8 => external::groups(header, r, c),
        _ => {
            c.finish();
            Ok(())
        }
    }
}

/// Validates the next code.
fn code(header: &Header, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let run = &mut c.state.audit.run;
    if run.entry >= header.list(list::CODES).count {
        over(c);
        return Ok(());
    }
    r.about(EntryKind::File, 0);
    let mut reads = Reads::new(r, &mut c.state.memo);
    let code = codes::read(header, &mut reads, run.entry)?;
    let name = reads.vector(&code.table, codes::NAME)?;
    tensor::read_name(r, name, rules::M_NAME_UTF8)?;
    codes::check(r, &code);
    c.state.memo.clear();
    run.next_entry();
    Ok(())
}

/// Moves to the next phase.
pub(super) fn over(c: &mut Cursor) {
    let Run { backward, proved, .. } = c.state.audit.run;
    c.next_phase();
    (c.state.audit.run.backward, c.state.audit.run.proved) = (backward, proved);
}

/// The table of a subgraph, read with what is remembered.
pub(super) fn subgraph(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: u32,
) -> Result<Table, Halt> {
    reads.r.about(EntryKind::File, 0);
    reads.item(header.list(list::SUBGRAPHS), index)
}
