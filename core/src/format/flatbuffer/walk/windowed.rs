//! The walk through a file of which a host may hold only one place at a time: it stops when bytes
//! are missing, and goes on after a fault.

mod table;

use super::{Object, Place};
use crate::base::{Word, limits, wide, word};
use crate::format::flatbuffer::{Extent, Fault, Rules, Schema, Type};
use crate::parse::Reader;
use crate::rule::{Halt, general::BYTES_CHANGED};
use core::ops::{Deref, DerefMut};
use table::Table;

/// A step from an enclosing table toward the current object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// Position of the table.
    table: Word,
    /// Position of the next item of its current vector.
    item: Word,
    /// Number of items left.
    left: u32,
    /// Number of items passed, the current one included.
    passed: u32,
    /// Its number in the schema.
    number: u8,
    /// The field after the current one.
    next: u8,
}

impl Step {
    const NONE: Step = Step { table: 0, item: 0, left: 0, passed: 0, number: 0, next: 0 };

    /// The table's number in the schema.
    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// The current field.
    pub(crate) fn field(&self) -> u8 {
        self.next.saturating_sub(1)
    }

    /// Index of the current item in the vector of that field; 0 for other fields.
    #[cfg(test)]
    pub(crate) fn item(&self) -> u32 {
        self.passed.saturating_sub(1)
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// First, so that a new walk is all zeros.
    Over,
    /// The table at `target`: its vtable offset.
    Enter,
    /// Its vtable.
    Load,
    /// The fields of the innermost table that is open.
    Fields,
    /// The byte at `target`, a union's kind.
    Kind,
    /// The offset at `target`, of the current field or item.
    Follow,
    /// The count or the length at `target`.
    Counted,
    /// The last byte of the string at `target`.
    StringEnd,
}

/// State of opening and listing that outlasts missing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kept<T>(T);

impl<T> Kept<T> {
    /// Keeps a value.
    pub(crate) const fn new(value: T) -> Self
    where
        T: Copy,
    {
        Kept(value)
    }

    /// The value that was kept; one that is local to a call is for files in memory.
    pub(crate) fn of<'k>(&'k mut self, _: &'k mut T) -> &'k mut T {
        &mut self.0
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The state of a walk: plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Walk {
    extent: Extent,
    phase: Phase,
    /// Number of open tables.
    depth: u8,
    /// Number in the schema of the table at `target`.
    number: u8,
    /// The kind of the current union, and its position.
    kind: u8,
    kind_at: Word,
    target: Word,
    vtable: Word,
    /// Length of the current string.
    len: u32,
    /// Bytes of the offsets that were followed.
    charged: u64,
    /// The innermost table, if it was the last one to be loaded.
    table: Table,
    open: [Step; limits::FLATBUFFER_DEPTH],
}

impl Walk {
    /// A walk over nothing.
    pub(crate) const NONE: Walk = Walk {
        extent: Extent::NONE,
        phase: Phase::Over,
        depth: 0,
        number: 0,
        kind: 0,
        kind_at: 0,
        target: 0,
        vtable: 0,
        len: 0,
        charged: 0,
        table: Table::NONE,
        open: [Step::NONE; limits::FLATBUFFER_DEPTH],
    };

    /// A walk from the table at `root`, whose four bytes are known to be inside.
    pub(crate) fn new(extent: Extent, root: Word) -> Self {
        Walk { extent, phase: Phase::Enter, target: root, ..Walk::NONE }
    }

    /// The bytes and the root of a walk that has not begun.
    #[cfg(feature = "sweep")]
    pub(crate) fn start(&self) -> Option<(Extent, Word)> {
        let begun = self.phase != Phase::Enter || self.depth != 0 || self.charged != 0;
        (!begun).then_some((self.extent, self.target))
    }

    /// The open tables, outermost first; findings are about the object to which they lead.
    pub(crate) fn path(&self) -> &[Step] {
        self.open.get(..usize::from(self.depth)).unwrap_or_default()
    }

    /// Continues to the next object, and reports faults on the way; `None` after the last.
    ///
    /// If bytes are missing, the walk keeps what it has done and reports nothing twice.
    pub(crate) fn next(
        &mut self,
        r: &mut Reader<'_, '_>,
        schema: &Schema,
        rules: Rules<'_>,
    ) -> Result<Option<Object>, Halt> {
        loop {
            let object = match self.phase {
                Phase::Enter => self.enter(r, rules)?,
                Phase::Load => self.load(r, rules)?,
                Phase::Fields => self.fields(r, schema, rules),
                Phase::Kind => self.union_kind(r)?,
                Phase::Follow => self.follow(r, schema, rules)?,
                Phase::Counted => self.counted(r, schema, rules)?,
                Phase::StringEnd => self.string_end(r, rules)?,
                Phase::Over => return Ok(None),
            };
            if object.is_some() {
                return Ok(object);
            }
        }
    }

    /// The innermost open table.
    fn top(&mut self) -> Option<&mut Step> {
        self.open.get_mut(usize::from(self.depth).checked_sub(1)?)
    }

    /// Whether the table at `target` is open already, and returned to.
    fn is_open(&self) -> bool {
        self.path().last().is_some_and(|top| top.table == self.target)
    }

    /// Goes on after an object: with the next item of the vector, or the next field of the
    /// innermost table.
    fn resume(&mut self) {
        let loaded = self.table.at;
        let Some(top) = self.top() else {
            self.phase = Phase::Over;
            return;
        };
        let Step { table, item, left, .. } = *top;
        if let Some(rest) = left.checked_sub(1) {
            (top.left, top.item) = (rest, item.wrapping_add(4));
            top.passed = top.passed.wrapping_add(1);
            (self.target, self.phase) = (item, Phase::Follow);
        } else if table == loaded {
            self.phase = Phase::Fields;
        } else {
            (self.target, self.phase) = (table, Phase::Enter);
        }
    }

    fn enter(&mut self, r: &mut Reader<'_, '_>, rules: Rules<'_>) -> Result<Option<Object>, Halt> {
        let (extent, at) = (self.extent, self.target);
        let found = match self.is_open() {
            true => r.quietly(|r| Table::vtable_of(r, extent, at, rules))?,
            false => Table::vtable_of(r, extent, at, rules)?,
        };
        match found {
            Some(vtable) => (self.vtable, self.phase) = (vtable, Phase::Load),
            None => self.abandon(r),
        }
        Ok(None)
    }

    /// Leaves the table at `target`, which cannot be read.
    fn abandon(&mut self, r: &mut Reader<'_, '_>) {
        // An open table was readable before.
        if self.is_open() {
            r.flag(BYTES_CHANGED, wide(self.target), 4, 0, 0);
            self.depth = self.depth.saturating_sub(1);
        }
        self.resume();
    }

    fn load(&mut self, r: &mut Reader<'_, '_>, rules: Rules<'_>) -> Result<Option<Object>, Halt> {
        let (extent, at, vtable) = (self.extent, self.target, self.vtable);
        let again = self.is_open();
        let found = match again {
            true => r.quietly(|r| Table::load(r, extent, at, vtable, rules))?,
            false => Table::load(r, extent, at, vtable, rules)?,
        };
        let Some(table) = found else {
            self.abandon(r);
            return Ok(None);
        };
        if again {
            (self.table, self.phase) = (table, Phase::Fields);
            return Ok(None);
        }
        let number = self.number;
        let Some(free) = self.open.get_mut(usize::from(self.depth)) else {
            let limit = u64::try_from(limits::FLATBUFFER_DEPTH).unwrap_or_default();
            r.flag(rules(Fault::Depth), wide(at), 4, limit, limit.wrapping_add(1));
            self.resume();
            return Ok(None);
        };
        *free = Step { table: at, number, ..Step::NONE };
        self.depth = self.depth.wrapping_add(1);
        (self.table, self.phase) = (table, Phase::Fields);
        Ok(Some(Object::Table {
            number,
            place: Place { at, len: table.len.into() },
            vtable: Place { at: vtable, len: table.vtable_len.into() },
        }))
    }

    /// Verifies the places of fields, up to the next one whose bytes are needed.
    fn fields(
        &mut self,
        r: &mut Reader<'_, '_>,
        schema: &Schema,
        rules: Rules<'_>,
    ) -> Option<Object> {
        let (extent, table) = (self.extent, self.table);
        while let Some(top) = self.top()
            && let index = top.next
            && let Some(kind) = schema.field(top.number, index)
        {
            top.next = index.wrapping_add(1);
            top.passed = 0;
            let (width, phase) = match kind {
                Type::Unused => continue,
                Type::Scalar(width) => (width, Phase::Fields),
                Type::Kind => (1, Phase::Kind),
                _ => (4, Phase::Follow),
            };
            let place = table.field(r, extent, index, width, rules);
            let faulty = place.is_none() && table.has(index);
            match kind {
                // Without its kind, the value in the next field means nothing.
                Type::Kind if faulty => top.next = index.wrapping_add(2),
                Type::Kind => self.kind = 0,
                Type::Union(_) if place.is_none() && !faulty && self.kind != 0 => {
                    let (rule, kind) = (rules(Fault::UnionValue), self.kind.into());
                    r.flag(rule, wide(self.kind_at), 1, 0, kind);
                }
                _ => {}
            }
            if let Some(place) = place
                && phase != Phase::Fields
            {
                (self.target, self.phase) = (place, phase);
                return None;
            }
        }
        self.depth = self.depth.saturating_sub(1);
        self.resume();
        None
    }

    fn union_kind(&mut self, r: &mut Reader<'_, '_>) -> Result<Option<Object>, Halt> {
        let kind = self.extent.get(r, self.target, 1)?.first().copied().unwrap_or(0);
        (self.kind, self.kind_at, self.phase) = (kind, self.target, Phase::Fields);
        Ok(None)
    }

    /// Type of the current field; `None` for a union whose value is not followed.
    fn current(&self, r: &mut Reader<'_, '_>, schema: &Schema, rules: Rules<'_>) -> Option<Type> {
        let top = self.path().last()?;
        let current = schema.field(top.number, top.field())?;
        let Type::Union(union) = current else { return Some(current) };
        let value = schema.value(union, self.kind);
        if value.is_none() {
            let (fault, at, len) = match self.kind {
                0 => (Fault::UnionKind, self.target, 4),
                _ => (Fault::UnionUnknown, self.kind_at, 1),
            };
            r.flag(rules(fault), wide(at), len, 0, self.kind.into());
        }
        value
    }

    fn follow(
        &mut self,
        r: &mut Reader<'_, '_>,
        schema: &Schema,
        rules: Rules<'_>,
    ) -> Result<Option<Object>, Halt> {
        let (extent, at) = (self.extent, self.target);
        let offset = extent.u32(r, at)?;
        self.charged = self.charged.saturating_add(4);
        if self.charged > r.allowance() {
            r.flag(rules(Fault::Shared), wide(at), 4, r.allowance(), self.charged);
            self.phase = Phase::Over;
            return Ok(None);
        }
        let fault = match extent.forward(at, offset) {
            None => Fault::Offset,
            Some(target) if !extent.aligns(target, 4) => Fault::Unaligned,
            Some(target) => {
                let current = self.current(r, schema, rules);
                self.target = target;
                match current {
                    None => self.resume(),
                    Some(Type::Table(number)) => (self.number, self.phase) = (number, Phase::Enter),
                    Some(Type::Tables(number)) if self.is_item() => {
                        (self.number, self.phase) = (number, Phase::Enter);
                    }
                    Some(_) => self.phase = Phase::Counted,
                }
                return Ok(None);
            }
        };
        r.flag(rules(fault), wide(at), 4, wide(extent.left(at)), offset.into());
        self.resume();
        Ok(None)
    }

    /// Whether the current object is an item of a vector.
    fn is_item(&self) -> bool {
        self.path().last().is_some_and(|top| top.passed != 0)
    }

    fn counted(
        &mut self,
        r: &mut Reader<'_, '_>,
        schema: &Schema,
        rules: Rules<'_>,
    ) -> Result<Option<Object>, Halt> {
        let (extent, at, item) = (self.extent, self.target, self.is_item());
        let count = extent.u32(r, at)?;
        let top = self.path().last().copied().unwrap_or(Step::NONE);
        let mut current = schema.field(top.number, top.field()).unwrap_or(Type::Unused);
        if let Type::Union(union) = current {
            current = schema.value(union, self.kind).unwrap_or(Type::Unused);
        }
        let left = wide(extent.left(at).saturating_sub(4));
        let width = match current {
            Type::String => 0,
            Type::Strings if item => 0,
            Type::Vector(width) => width,
            _ => 4,
        };
        if width == 0 {
            if u64::from(count) >= left {
                r.flag(rules(Fault::StringBounds), wide(at), 4, left, count.into());
                self.resume();
            } else {
                (self.len, self.phase) = (count, Phase::StringEnd);
            }
            return Ok(None);
        }
        // 32 bits times 8 do not wrap in 64.
        let len = u64::from(count).wrapping_mul(width.into());
        if len > left {
            r.flag(rules(Fault::VectorBounds), wide(at), 4, left, len);
            self.resume();
            return Ok(None);
        }
        let items = at.wrapping_add(4);
        if count != 0 && !extent.aligns(items, width) {
            r.flag(rules(Fault::VectorUnaligned), wide(items), len, width.into(), wide(items));
        }
        if matches!(current, Type::Tables(_) | Type::Strings)
            && let Some(top) = self.top()
        {
            (top.item, top.left) = (items, count);
        }
        self.resume();
        Ok(Some(Object::Vector(Place { at, len: word(len.wrapping_add(4)) })))
    }

    fn string_end(
        &mut self,
        r: &mut Reader<'_, '_>,
        rules: Rules<'_>,
    ) -> Result<Option<Object>, Halt> {
        let (extent, at, len) = (self.extent, self.target, u64::from(self.len));
        let end = at.wrapping_add(word(len)).wrapping_add(4);
        let byte = extent.get(r, end, 1)?.first().copied().unwrap_or(0);
        if byte != 0 {
            r.flag(rules(Fault::StringEnd), wide(end), 1, 0, byte.into());
        }
        self.resume();
        Ok(Some(Object::String(Place { at, len: word(len.wrapping_add(5)) })))
    }
}
