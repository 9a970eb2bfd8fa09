//! Reads from a file that is wholly in memory: nothing has to be remembered, and what is read twice
//! is looked up twice.
//!
//! Opening has verified every place, so a place that is outside holds other bytes than before; it is
//! read as 0. All functions that return a [`Result`] only wrap one that cannot fail, in the shape
//! that code for both kinds of files uses.

use super::{Small, Vector};
use crate::base::{Word, place, wide, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;
use core::marker::PhantomData;

/// What was read of the current entry: nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Memo;

impl Memo {
    /// Nothing was read.
    pub(crate) const NONE: Memo = Memo;

    /// Does nothing.
    pub(crate) fn clear(&mut self) {}
}

/// A table, by its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table(Word);

impl Table {
    /// Its offset.
    #[inline(always)]
    pub(crate) fn at(&self) -> u64 {
        wide(self.0)
    }

    /// The place of the table, for findings.
    #[inline(always)]
    pub(crate) fn span(&self) -> Span {
        Span::new(self.at(), 4)
    }
}

/// Reads an entry.
pub(crate) struct Reads<'m, 'w, 'r, 'a> {
    pub(crate) r: &'w mut Reader<'r, 'a>,
    memo: PhantomData<&'m mut Memo>,
}

impl<'m, 'w, 'r, 'a> Reads<'m, 'w, 'r, 'a> {
    /// Reads an entry.
    #[inline(always)]
    pub(crate) fn new(r: &'w mut Reader<'r, 'a>, _: &'m mut Memo) -> Self {
        Reads { r, memo: PhantomData }
    }

    /// The same.
    #[inline(always)]
    pub(crate) fn after(r: &'w mut Reader<'r, 'a>, _: &'m mut Memo, _: u8) -> Self {
        Reads { r, memo: PhantomData }
    }

    /// Always 0: reads are not counted.
    #[inline(always)]
    pub(crate) fn count(&self) -> u8 {
        0
    }

    /// The result of `read`.
    #[inline(always)]
    pub(crate) fn recall(
        &mut self,
        read: impl FnOnce(&mut Reader<'r, 'a>) -> Result<u64, Halt>,
    ) -> Result<u64, Halt> {
        read(self.r)
    }

    /// The little-endian number of `width` bytes at `at`.
    #[inline(always)]
    pub(crate) fn number(&mut self, at: u64, width: u8) -> Result<u64, Halt> {
        match width {
            8 => Ok(long(self.r, word(at))),
            _ => Ok(small(self.r, word(at), width).into()),
        }
    }

    /// The table at `at`.
    #[inline(always)]
    pub(crate) fn table(&mut self, at: u64) -> Result<Table, Halt> {
        Ok(Table(word(at)))
    }

    /// Offset of a field; 0 if it is absent.
    #[inline(always)]
    pub(crate) fn field(&mut self, table: &Table, index: u8) -> Result<u64, Halt> {
        Ok(wide(field(self.r, table.0, index)))
    }

    /// A number of up to four bytes, 0 if the field is absent.
    #[inline(always)]
    pub(crate) fn small(&mut self, table: &Table, index: u8, width: u8) -> Result<Small, Halt> {
        Ok(placed(self.r, table.0, [index, width]))
    }

    /// The same without its place.
    #[inline(always)]
    pub(crate) fn value(&mut self, table: &Table, index: u8, width: u8) -> Result<u32, Halt> {
        Ok(placed(self.r, table.0, [index, width]).value)
    }

    /// An offset or a length of eight bytes, 0 if the field is absent. One past all memory stays past
    /// it.
    #[inline(always)]
    pub(crate) fn long(&mut self, table: &Table, index: u8) -> Result<Word, Halt> {
        Ok(long_of(self.r, table.0, index))
    }

    /// A signed number of four bytes.
    #[inline(always)]
    pub(crate) fn int(&mut self, table: &Table, index: u8, default: i32) -> Result<i32, Halt> {
        Ok(int(self.r, table.0, index, default))
    }

    /// The table that a field refers to; `None` if the field is absent.
    #[inline(always)]
    pub(crate) fn inner(&mut self, table: &Table, index: u8) -> Result<Option<Table>, Halt> {
        let at = target(self.r, table.0, index);
        Ok((at != 0).then_some(Table(at)))
    }

    /// The vector or text that a field refers to.
    #[inline(always)]
    pub(crate) fn vector(&mut self, table: &Table, index: u8) -> Result<Vector, Halt> {
        Ok(vector(self.r, table.0, index))
    }

    /// The table that item `index` of a vector refers to.
    #[inline(always)]
    pub(crate) fn item(&mut self, vector: Vector, index: u32) -> Result<Table, Halt> {
        Ok(Table(item(self.r, vector.at, index)))
    }
}

/// Makes sure that [`slice`](super::slice) finds the items of a vector: always.
#[inline(always)]
pub(crate) fn ready(_: &mut Reader<'_, '_>, _: Vector, _: u8) -> Result<(), Halt> {
    Ok(())
}

/// The little-endian number of 1, 2 or 4 bytes at `at`.
#[inline(never)]
pub(crate) fn small(r: &Reader<'_, '_>, at: Word, width: u8) -> u32 {
    match (width, r.source().run(wide(at))) {
        (1, [a, ..]) => (*a).into(),
        (2, [a, b, ..]) => u16::from_le_bytes([*a, *b]).into(),
        (_, [a, b, c, d, ..]) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => 0,
    }
}

/// The little-endian number of 8 bytes at `at`.
#[inline(never)]
fn long(r: &Reader<'_, '_>, at: Word) -> u64 {
    let high = small(r, at.wrapping_add(4), 4);
    u64::from(high) << 32 | u64::from(small(r, at, 4))
}

/// Position of the vtable of the table at `at`, anywhere.
pub(crate) fn vtable_of(r: &Reader<'_, '_>, at: Word) -> Word {
    // A signed distance, which wraps.
    let back = small(r, at, 4).cast_signed();
    word(wide(at).wrapping_sub(i64::from(back).cast_unsigned()))
}

/// Offset of a field; 0 if it is absent.
#[inline(never)]
fn field(r: &Reader<'_, '_>, table: Word, index: u8) -> Word {
    let vtable = vtable_of(r, table);
    let slot = Word::from(index).wrapping_mul(2).wrapping_add(4);
    if slot >= word(small(r, vtable, 2).into()) {
        return 0;
    }
    let offset = word(small(r, vtable.wrapping_add(slot), 2).into());
    if offset == 0 { 0 } else { table.wrapping_add(offset) }
}

/// The object at the end of the offset that is stored at `at`; 0 if `at` is 0.
fn follow(r: &Reader<'_, '_>, at: Word) -> Word {
    if at == 0 { 0 } else { at.wrapping_add(word(small(r, at, 4).into())) }
}

/// Offset of the object that a field refers to; 0 if the field is absent.
#[inline(never)]
fn target(r: &Reader<'_, '_>, table: Word, index: u8) -> Word {
    follow(r, field(r, table, index))
}

#[inline(never)]
fn vector(r: &Reader<'_, '_>, table: Word, index: u8) -> Vector {
    let at = target(r, table, index);
    if at == 0 {
        return Vector::NONE;
    }
    let first = u32::try_from(wide(at.wrapping_add(4))).unwrap_or(0);
    Vector { at: first, count: small(r, at, 4) }
}

#[inline(never)]
fn item(r: &Reader<'_, '_>, at: u32, index: u32) -> Word {
    let at = word(u64::from(at)).wrapping_add(word(index.wrapping_mul(4).into()));
    follow(r, at)
}

#[inline(never)]
fn placed(r: &Reader<'_, '_>, table: Word, [index, width]: [u8; 2]) -> Small {
    let at = field(r, table, index);
    Small { value: if at == 0 { 0 } else { small(r, at, width) }, at }
}

#[inline(never)]
fn long_of(r: &Reader<'_, '_>, table: Word, index: u8) -> Word {
    match field(r, table, index) {
        0 => 0,
        at => place(long(r, at)),
    }
}

#[inline(never)]
fn int(r: &Reader<'_, '_>, table: Word, index: u8, default: i32) -> i32 {
    match field(r, table, index) {
        0 => default,
        at => small(r, at, 4).cast_signed(),
    }
}
