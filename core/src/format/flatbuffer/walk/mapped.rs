//! The walk through a file that is wholly in memory. It ends at the first fatal fault, after which no
//! model is used, looks up again what it needs of an open table, and leaves lints to hosts.

use super::{Object, Place};
use crate::base::features::DETAILS;
use crate::base::{Word, limits, place, wide, word};
use crate::format::flatbuffer::reads::entry::{small, vtable_of};
use crate::format::flatbuffer::schema::code;
use crate::format::flatbuffer::{Extent, Fault, Rules, Schema};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};
use core::marker::PhantomData;

/// A step from an enclosing table toward the current object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// Position of the table.
    table: Word,
    /// Position of the next item of its current vector.
    item: Word,
    /// Number of items left.
    left: u32,
    /// Its number in the schema.
    number: u8,
    /// The field after the current one.
    next: u8,
}

impl Step {
    const NONE: Step = Step { table: 0, item: 0, left: 0, number: 0, next: 0 };

    /// The table's number in the schema.
    pub(crate) fn number(&self) -> u8 {
        self.number
    }

    /// The current field.
    pub(crate) fn field(&self) -> u8 {
        self.next.wrapping_sub(1)
    }
}

/// What was visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Seen {
    Nothing,
    Table,
    Vector,
    String,
}

/// State of opening and listing that outlasts missing bytes. Here none are missing, so none is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kept<T>(PhantomData<T>);

impl<T> Kept<T> {
    /// Keeps nothing.
    pub(crate) const fn new(_: T) -> Self
    where
        T: Copy,
    {
        Kept(PhantomData)
    }

    /// The value that is local to a call.
    pub(crate) fn of<'k>(&'k mut self, local: &'k mut T) -> &'k mut T {
        local
    }
}

/// The state of a walk: plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Walk {
    extent: Extent,
    /// The root table, before it is entered; 0 afterwards.
    root: Word,
    /// Number of open tables.
    depth: u8,
    /// The kind of the current union.
    kind: u8,
    /// Number of the last table in the schema.
    number: u8,
    /// Number of offsets that may still be followed.
    left: Word,
    /// The object that was visited last: which it is, its bytes, and a table's vtable.
    seen: Seen,
    place: Place,
    vtable: Place,
    open: [Step; limits::FLATBUFFER_DEPTH],
}

impl Walk {
    /// A walk over nothing.
    pub(crate) const NONE: Walk = Walk {
        extent: Extent::NONE,
        root: 0,
        depth: 0,
        kind: 0,
        number: 0,
        left: 0,
        seen: Seen::Nothing,
        place: Place { at: 0, len: 0 },
        vtable: Place { at: 0, len: 0 },
        open: [Step::NONE; limits::FLATBUFFER_DEPTH],
    };

    /// A walk from the table at `root`, whose four bytes are known to be inside.
    pub(crate) fn new(extent: Extent, root: Word) -> Self {
        // Four bytes each, of as many as entries may refer to.
        let left = extent.end.saturating_add(word(limits::SHARED >> 2));
        Walk { extent, root, left, ..Walk::NONE }
    }

    /// The open tables, outermost first.
    pub(crate) fn path(&self) -> &[Step] {
        self.open.get(..usize::from(self.depth)).unwrap_or_default()
    }

    /// Continues to the next object, and reports faults on the way; `None` after the last.
    #[inline(always)]
    pub(crate) fn next(
        &mut self,
        r: &mut Reader<'_, '_>,
        schema: &Schema,
        _: Rules<'_>,
    ) -> Result<Option<Object>, Halt> {
        self.step(r, schema)?;
        let Walk { place, vtable, number, .. } = *self;
        Ok(match self.seen {
            Seen::Nothing => None,
            Seen::Table => Some(Object::Table { number, place, vtable }),
            Seen::Vector => Some(Object::Vector(place)),
            Seen::String => Some(Object::String(place)),
        })
    }

    /// The same; the object is in `self`.
    #[inline(never)]
    fn step(&mut self, r: &mut Reader<'_, '_>, schema: &Schema) -> Result<(), Halt> {
        let mut at = core::mem::take(&mut self.root);
        if at != 0 {
            return self.enter(r, at, 0, schema);
        }
        self.seen = Seen::Nothing;
        loop {
            let open = usize::from(self.depth).wrapping_sub(1);
            let Some(top) = self.open.get_mut(open) else { return Ok(()) };
            let mut kind;
            if let Some(left) = top.left.checked_sub(1) {
                (top.left, at) = (left, top.item);
                top.item = at.wrapping_add(4);
                // Tables become a table, and strings a string.
                kind = match schema.field_code(top.number, top.field()) {
                    code::STRINGS => code::STRING,
                    tables => tables & !code::TABLES,
                };
            } else {
                let index = top.next;
                kind = schema.field_code(top.number, index);
                if kind == code::END {
                    self.depth = self.depth.wrapping_sub(1);
                    continue;
                }
                top.next = index.wrapping_add(1);
                let width = match kind {
                    code::UNUSED => continue,
                    code::SCALAR..code::VECTOR | code::KIND => kind & 0x0F,
                    _ => 4,
                };
                at = field(r, self.extent, top.table, index, width, schema)?;
            }
            match kind {
                code::SCALAR..code::VECTOR => continue,
                code::KIND => {
                    let kind = if at == 0 { 0 } else { small(r, at, 1) };
                    self.kind = u8::try_from(kind & 0xFF).unwrap_or(0);
                    continue;
                }
                _ => {}
            }
            if at == 0 {
                continue;
            }
            let Some(left) = self.left.checked_sub(1) else {
                return Err(refuse(r, schema, Fault::Shared, at, shown(place(r.allowance()), 0)));
            };
            self.left = left;
            let offset = small(r, at, 4);
            let numbers = shown(self.extent.left(at), word(offset.into()));
            let Some(target) = self.extent.forward(at, offset) else {
                return Err(refuse(r, schema, Fault::Offset, at, numbers));
            };
            if !self.extent.aligns(target, 4) {
                return Err(refuse(r, schema, Fault::Unaligned, at, numbers));
            }
            if (code::UNION..code::STRING).contains(&kind) {
                kind = schema.value_code(kind & 0x0F, self.kind);
                if kind == code::END {
                    let unknown = self.kind != 0;
                    let which = if unknown { Fault::UnionUnknown } else { Fault::UnionKind };
                    flag(r, schema, which, at, shown(0, self.kind.into()));
                    continue;
                }
            }
            return match kind {
                ..code::TABLES => self.enter(r, target, kind, schema),
                _ => self.counted(r, target, kind, schema),
            };
        }
    }

    /// Opens the table at `at`.
    fn enter(
        &mut self,
        r: &mut Reader<'_, '_>,
        at: Word,
        number: u8,
        schema: &Schema,
    ) -> Result<(), Halt> {
        let extent = self.extent;
        let vtable = vtable_of(r, at);
        if !extent.holds(vtable, 4) || !extent.aligns(vtable, 2) {
            return Err(refuse(r, schema, Fault::Vtable, at, shown(extent.end, vtable)));
        }
        let vtable_len = small(r, vtable, 2);
        if vtable_len < 4 || vtable_len & 1 != 0 || !extent.holds(vtable, word(vtable_len.into())) {
            let numbers = shown(extent.left(vtable), word(vtable_len.into()));
            return Err(refuse(r, schema, Fault::VtableLength, vtable, numbers));
        }
        let len = small(r, vtable.wrapping_add(2), 2);
        if len < 4 || !extent.holds(at, word(len.into())) {
            let numbers = shown(extent.left(at), word(len.into()));
            flag(r, schema, Fault::TableLength, vtable.wrapping_add(2), numbers);
        }
        match self.open.get_mut(usize::from(self.depth)) {
            Some(free) => *free = Step { table: at, number, ..Step::NONE },
            None => {
                let limit = limits::FLATBUFFER_DEPTH;
                return Err(refuse(
                    r,
                    schema,
                    Fault::Depth,
                    at,
                    shown(limit, limit.wrapping_add(1)),
                ));
            }
        }
        self.depth = self.depth.wrapping_add(1);
        self.place = Place { at, len: word(len.into()) };
        self.vtable = Place { at: vtable, len: word(vtable_len.into()) };
        (self.seen, self.number) = (Seen::Table, number);
        Ok(())
    }

    /// Verifies the vector or the string at `at`.
    fn counted(
        &mut self,
        r: &mut Reader<'_, '_>,
        at: Word,
        kind: u8,
        schema: &Schema,
    ) -> Result<(), Halt> {
        let extent = self.extent;
        let count = small(r, at, 4);
        let items = at.wrapping_add(4);
        let (width, bounds) = match kind {
            code::STRING => (0, Fault::StringBounds),
            code::VECTOR..code::UNION => (kind & 0x0F, Fault::VectorBounds),
            _ => (4, Fault::VectorBounds),
        };
        let string = width == 0;
        let extra = Word::from(string);
        // A string has a byte more.
        let len = count.checked_mul(width.max(1).into()).map_or(Word::MAX, |len| word(len.into()));
        let left = extent.left(items);
        if len > left || extra > left.wrapping_sub(len) {
            return Err(refuse(r, schema, bounds, at, shown(left, len)));
        }
        self.place = Place { at, len: len.wrapping_add(4).wrapping_add(extra) };
        if string {
            let end = items.wrapping_add(len);
            let byte = small(r, end, 1);
            if byte != 0 {
                flag(r, schema, Fault::StringEnd, end, shown(0, word(byte.into())));
            }
            self.seen = Seen::String;
            return Ok(());
        }
        if count != 0 && !extent.aligns(items, width) {
            return Err(refuse(
                r,
                schema,
                Fault::VectorUnaligned,
                items,
                shown(width.into(), items),
            ));
        }
        if matches!(kind, code::TABLES..code::SCALAR | code::STRINGS)
            && let Some(top) = self.open.get_mut(usize::from(self.depth).wrapping_sub(1))
        {
            (top.item, top.left) = (items, count);
        }
        self.seen = Seen::Vector;
        Ok(())
    }
}

/// Position of a field of `width` bytes of a table that is open; 0 if it is absent.
fn field(
    r: &mut Reader<'_, '_>,
    extent: Extent,
    table: Word,
    index: u8,
    width: u8,
    schema: &Schema,
) -> Result<Word, Halt> {
    let vtable = vtable_of(r, table);
    let slot = Word::from(index).wrapping_mul(2).wrapping_add(4);
    if slot >= word(small(r, vtable, 2).into()) {
        return Ok(0);
    }
    let slot = vtable.wrapping_add(slot);
    let offset = word(small(r, slot, 2).into());
    if offset == 0 {
        return Ok(0);
    }
    let at = table.saturating_add(offset);
    let (fault, numbers) = if offset < 4 {
        (Fault::FieldHead, shown(4, offset))
    } else if !extent.holds(at, width.into()) {
        (Fault::FieldBounds, shown(extent.left(table), offset.wrapping_add(width.into())))
    } else if !extent.aligns(at, width) {
        (Fault::FieldUnaligned, shown(width.into(), at))
    } else {
        // Whether it ends past its table is left to hosts: readers do not look.
        return Ok(at);
    };
    Err(refuse(r, schema, fault, slot, numbers))
}

/// The numbers of a finding; zeros in a build whose findings have none, so that nothing passes them.
#[inline(always)]
fn shown(expected: Word, found: Word) -> (Word, Word) {
    if DETAILS { (expected, found) } else { (0, 0) }
}

/// Reports a fault, with what was expected and what was found.
fn flag(
    r: &mut Reader<'_, '_>,
    schema: &Schema,
    fault: Fault,
    at: Word,
    (expected, found): (Word, Word),
) -> Rule {
    let rule = (schema.rules)(fault);
    r.flag(rule, wide(at), 4, wide(expected), wide(found));
    rule
}

/// Reports a fault after which no object can be read.
#[inline(never)]
fn refuse(
    r: &mut Reader<'_, '_>,
    schema: &Schema,
    fault: Fault,
    at: Word,
    numbers: (Word, Word),
) -> Halt {
    Halt::refused(flag(r, schema, fault, at, numbers))
}
