//! The audit of a program that is wholly in memory: one pass, with less code than the steps in
//! `steps.rs`, for boards.
//!
//! It has the rules on which the runtime relies: every index, every instruction, memory plans, and the
//! offsets of constants. What it leaves out, it names: overlaps, gaps and equal names, how many values
//! each operator takes, and the data of delegates. Lints are for hosts.

use super::instruction::{DELEGATE, JUMP, KERNEL, MOVE};
use super::{LEAST, MOST};
use crate::base::{Word, limits, place, word};
use crate::format::executorch::segment::Segments;
use crate::format::executorch::tensor::check_name;
use crate::format::executorch::{Cursor, Header, field, kind, rules};
use crate::format::flatbuffer::reads::{Memo, Reads, Table, Vector};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::general::{COVERAGE_UNCHECKED, NAMES_UNCHECKED, SHARED_UNCHECKED};
use crate::rule::{EntryKind, Halt, Rule};

/// What the audit keeps between steps: it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::format::executorch) struct Run;

impl Run {
    pub(in crate::format::executorch) const START: Run = Run;
}

/// The audit of a program.
struct Check<'c, 'r, 'a> {
    header: &'c Header,
    r: &'c mut Reader<'r, 'a>,
    memo: Memo,
    /// The values of the current method.
    values: Vector,
    /// Number of items of lists that may still be read.
    left: Word,
}

/// What a list of indices may lead to.
#[derive(Clone, Copy)]
struct Items {
    /// The rule for an index without a value.
    rule: Rule,
    /// Bytes of an index.
    width: u8,
    /// The kind of all values; 0 for any.
    kind: u8,
}

impl Items {
    /// Any values, by indices of four bytes.
    const fn any(rule: Rule) -> Self {
        Items { rule, width: 4, kind: 0 }
    }
}

/// The kinds of values in lists, by the kind of the list.
const LISTS: [(u32, u8, u8); 3] =
    [(kind::INTS, 8, INT), (kind::TENSORS, 4, TENSOR), (kind::OPTIONAL_TENSORS, 4, OPTIONAL)];
const INT: u8 = 2;
const TENSOR: u8 = 5;
/// A tensor, or nothing.
const OPTIONAL: u8 = 0x80 | TENSOR;

/// Of each kind of instruction: the list of the method into which its first number leads, and the
/// rule for one that leads nowhere.
const FIRST: [(u8, Rule); 5] = [
    (field::OPERATORS, rules::I_OPERATOR),
    (field::DELEGATES, rules::I_DELEGATE),
    (field::VALUES, rules::I_VALUE),
    (field::VALUES, rules::I_CONDITION),
    (field::VALUES, rules::I_VALUE),
];

/// Validates everything that listing leaves out.
pub(in crate::format::executorch) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<(), Halt> {
    c.finish();
    // Four bytes each, of as many as entries may refer to.
    let left = place(r.source().len()).saturating_add(word(limits::SHARED >> 2));
    Check { header, r, memo: Memo::NONE, values: Vector::NONE, left }.all()
}

impl<'r, 'a> Check<'_, 'r, 'a> {
    fn reads(&mut self) -> Reads<'_, '_, 'r, 'a> {
        self.memo.clear();
        Reads::new(self.r, &mut self.memo)
    }

    #[inline(always)]
    fn check(&mut self, holds: bool, rule: Rule, at: u64) {
        self.r.check(holds, rule, Span::new(at, 4), 0, 0);
    }

    fn all(&mut self) -> Result<(), Halt> {
        let header = self.header;
        self.r.about(EntryKind::File, 0);
        self.offsets(header.offsets, header.constant, header.constant_at.into())?;
        for index in 0..header.mutable.count {
            let mut reads = self.reads();
            let table = reads.item(header.mutable, index)?;
            let segment = reads.value(&table, 0, 4)?;
            let offsets = reads.vector(&table, 1)?;
            self.offsets(offsets, segment, table.at())?;
        }
        for index in 0..header.plans.count {
            self.r.about(EntryKind::Metadata, index);
            let table = self.reads().item(header.plans, index)?;
            self.plan(table)?;
        }
        self.r.about(EntryKind::File, 0);
        self.check(self.left > 0, SHARED_UNCHECKED, 0);
        self.check(false, NAMES_UNCHECKED, 0);
        self.check(false, COVERAGE_UNCHECKED, 0);
        Ok(())
    }

    /// Number of items of a list that are read: all, or none if lists are shared too much.
    #[inline(never)]
    fn charge(&mut self, list: Vector) -> u32 {
        let items = place(list.count.into()).saturating_add(1);
        self.left = self.left.saturating_sub(items);
        if self.left == 0 { 0 } else { list.count }
    }

    /// Checks the offsets of constants, or of the values of mutable tensors, in a segment.
    fn offsets(&mut self, list: Vector, segment: u32, at: u64) -> Result<(), Halt> {
        // A single offset stands for no data, and its segment is not read.
        if list.count < 2 {
            return Ok(());
        }
        let header = self.header;
        let count = self.charge(list);
        let mut reads = self.reads();
        let Some(Span { len, .. }) = Segments::find(header, &mut reads, segment)?.span() else {
            self.check(false, rules::C_SEGMENT, at);
            return Ok(());
        };
        for index in 0..count {
            let at = list.place(index, 8);
            let offset = self.reads().number(at, 8)?;
            let (most, rule) =
                if index == 0 { (0, rules::C_FIRST) } else { (len, rules::C_OFFSET) };
            self.check(offset <= most, rule, at);
        }
        Ok(())
    }

    /// Checks a name, which must not be empty.
    fn name(&mut self, table: Table, rule: Rule) -> Result<(), Halt> {
        let name = self.reads().vector(&table, 0)?;
        check_name(self.r, name)?;
        self.check(name.count > 0, rule, table.at());
        Ok(())
    }

    /// Checks an operator. How many values it takes is for hosts, which know the common ones.
    fn operator(&mut self, table: Table) -> Result<(), Halt> {
        self.name(table, rules::O_NAME)?;
        let overload = self.reads().vector(&table, 1)?;
        check_name(self.r, overload)?;
        self.check(false, rules::O_UNKNOWN, table.at());
        Ok(())
    }

    /// Checks a delegate: its name, and that it has data, which is not read.
    fn delegate(&mut self, table: Table) -> Result<(), Halt> {
        let header = self.header;
        self.name(table, rules::D_ID)?;
        let mut reads = self.reads();
        let Some(processed) = reads.inner(&table, 1)? else {
            self.check(false, rules::D_DATA, table.at());
            return Ok(());
        };
        let location = reads.value(&processed, 0, 1)?;
        let index = reads.value(&processed, 1, 4)?;
        let (count, rule) = match location {
            0 => (header.inline.count, rules::D_INDEX),
            1 => (header.segments.list.count, rules::D_INDEX),
            _ => (0, rules::D_LOCATION),
        };
        let rule = if index < count { rules::D_UNCHECKED } else { rule };
        self.check(false, rule, processed.at());
        Ok(())
    }

    /// Checks a method.
    #[inline(never)]
    fn plan(&mut self, table: Table) -> Result<(), Halt> {
        let mut reads = self.reads();
        self.values = reads.vector(&table, field::VALUES)?;
        let mut reads = self.reads();
        let chains = reads.vector(&table, 5)?;
        let operators = reads.vector(&table, field::OPERATORS)?;
        let delegates = reads.vector(&table, field::DELEGATES)?;
        let sizes = reads.vector(&table, field::SIZES)?;
        let devices = reads.vector(&table, 9)?;
        self.check(chains.count > 0, rules::P_CHAINS, table.at());
        for index in 0..self.charge(sizes) {
            let at = sizes.place(index, 8);
            let size = self.reads().number(at, 8)?.cast_signed();
            let rule = if size < 0 { rules::M_SIZE } else { rules::M_HUGE };
            let fits = (0..=MOST).contains(&size) || (index == 0 && size > 0);
            self.check(fits, rule, at);
        }
        for index in 0..devices.count {
            let mut reads = self.reads();
            let device = reads.item(devices, index)?;
            let buffer = reads.value(&device, 0, 4)?;
            let inside = buffer != 0 && buffer < sizes.count;
            self.check(inside, rules::M_DEVICE, device.at());
        }
        self.items(table, 3, Items::any(rules::P_INPUT))?;
        self.items(table, 4, Items::any(rules::P_OUTPUT))?;
        for index in 0..self.values.count {
            self.value(index)?;
        }
        for index in 0..operators.count {
            let operator = self.reads().item(operators, index)?;
            self.operator(operator)?;
        }
        for index in 0..delegates.count {
            let delegate = self.reads().item(delegates, index)?;
            self.delegate(delegate)?;
        }
        for index in 0..chains.count {
            let mut reads = self.reads();
            let chain = reads.item(chains, index)?;
            let instructions = reads.vector(&chain, 2)?;
            self.check(instructions.is_present(), rules::P_INSTRUCTIONS, chain.at());
            for field in 0..2 {
                self.items(chain, field, Items::any(rules::P_CHAIN))?;
            }
            for place in 0..instructions.count {
                self.instruction(table, instructions, place)?;
            }
        }
        Ok(())
    }

    /// The kind of a value of the method.
    fn kind_of(&mut self, index: u32) -> Result<u32, Halt> {
        let values = self.values;
        let mut reads = self.reads();
        let value = reads.item(values, index)?;
        reads.value(&value, 0, 1)
    }

    /// Checks a list of indices of values.
    #[inline(never)]
    fn items(&mut self, table: Table, field: u8, of: Items) -> Result<(), Halt> {
        let list = self.reads().vector(&table, field)?;
        let (optional, kind) = (of.kind > TENSOR, of.kind & 0x7F);
        for index in 0..self.charge(list) {
            let at = list.place(index, of.width);
            let number = self.reads().number(at, of.width)?;
            // In lists of numbers of four bytes, -1 is 0xFFFF_FFFF.
            if optional && number == u32::MAX.into() {
                continue;
            }
            let value = u32::try_from(number).ok().filter(|value| *value < self.values.count);
            let Some(value) = value else {
                self.check(false, of.rule, at);
                continue;
            };
            if kind == 0 {
                continue;
            }
            let found = self.kind_of(value)?;
            // A value without a kind has been reported.
            let fits = found == kind.into() || found == 0 || optional && found == kind::NULL;
            self.check(fits, rules::V_ITEM_KIND, at);
        }
        Ok(())
    }

    /// Reports a union without a value.
    fn no_value(&mut self, kind: u32, rule: Rule, table: Table) {
        let rule = if kind == 0 { rule } else { rules::F_UNION_VALUE };
        self.check(false, rule, table.at());
    }

    /// Checks a value. Tensors are validated when they are listed.
    fn value(&mut self, index: u32) -> Result<(), Halt> {
        let values = self.values;
        let mut reads = self.reads();
        let table = reads.item(values, index)?;
        let kind = reads.value(&table, 0, 1)?;
        let Some(inner) = reads.inner(&table, 1)? else {
            self.no_value(kind, rules::V_KIND, table);
            return Ok(());
        };
        if (kind::TEXT..=kind::OPTIONAL_TENSORS).contains(&kind) {
            let list = reads.vector(&inner, 0)?;
            self.check(list.is_present(), rules::V_MISSING, inner.at());
        }
        for &(list, width, of) in &LISTS {
            if list == kind {
                self.items(inner, 0, Items { rule: rules::V_ITEM, width, kind: of })?;
            }
        }
        Ok(())
    }

    /// Checks an instruction.
    #[inline(never)]
    fn instruction(&mut self, plan: Table, list: Vector, index: u32) -> Result<(), Halt> {
        let mut reads = self.reads();
        let table = reads.item(list, index)?;
        let kind = reads.value(&table, 0, 1)?;
        let Some(inner) = reads.inner(&table, 1)? else {
            self.no_value(kind, rules::I_KIND, table);
            return Ok(());
        };
        // One of an unknown kind has been reported.
        let place = usize::try_from(kind).unwrap_or(0).wrapping_sub(1);
        let Some((field, rule)) = FIRST.get(place).copied() else { return Ok(()) };
        let first = reads.value(&inner, 0, 4)?;
        let second = reads.value(&inner, 1, 4)?;
        let count = reads.vector(&plan, field)?.count;
        let passed = if kind <= DELEGATE { reads.vector(&inner, 1)?.count } else { 0 };
        let at = inner.at();
        self.check(first < count, rule, at);
        let (holds, rule) = match kind {
            KERNEL => (passed >= LEAST, rules::I_COUNT),
            // A jump to the end ends the chain.
            JUMP => (second <= list.count, rules::I_JUMP),
            _ => (kind != MOVE || second < count, rules::I_VALUE),
        };
        self.check(holds, rule, at);
        if kind <= DELEGATE {
            return self.items(inner, 1, Items::any(rules::I_VALUE));
        }
        if kind == MOVE || first >= count {
            return Ok(());
        }
        let (other, rule) = match kind {
            JUMP => (kind::BOOL, rules::I_CONDITION_KIND),
            _ => (kind::TENSORS, rules::I_FREE),
        };
        let found = self.kind_of(first)?;
        self.check(found == kind::TENSOR || found == other, rule, at);
        Ok(())
    }
}
