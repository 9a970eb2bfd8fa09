//! Reads from a file of which a host may hold only one place at a time.
//!
//! A table, its vtable and its values may lie anywhere. So each number that was read is
//! remembered, in the order of the reads. When bytes were missing, the entry is read again from its
//! start, and the remembered numbers are taken from here.

use super::{Small, Vector, get, number};
use crate::base::{Word, word};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::Halt;

/// Most reads of one entry: those of a tensor with a compressed dimension take 66.
const READS: usize = 68;

/// The numbers that were read for the current entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Memo {
    values: [u64; READS],
    known: u8,
    /// Number of reads that all steps of the entry begin with.
    common: u8,
}

impl Memo {
    /// Nothing was read.
    pub(crate) const NONE: Memo = Memo { values: [0; READS], known: 0, common: 0 };

    /// Forgets everything, for the next entry.
    pub(crate) fn clear(&mut self) {
        (self.known, self.common) = (0, 0);
    }

    /// Keeps the first `count` reads for the next steps of the entry.
    pub(crate) fn share(&mut self, count: u8) {
        self.common = count;
    }

    /// Forgets what a step has read of the entry.
    pub(crate) fn step(&mut self) {
        self.known = self.known.min(self.common);
    }
}

/// A table: its offset, and the place and length of its vtable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    at: u64,
    vtable: u64,
    len: u64,
}

impl Table {
    /// Its offset.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The place of the table, for findings.
    pub(crate) fn span(&self) -> Span {
        Span::new(self.at, 4)
    }
}

/// A scalar field: its value, and where it is stored; 0 if it is absent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar {
    pub(crate) value: u64,
    pub(crate) at: u64,
}

/// Reads an entry, and remembers.
pub(crate) struct Reads<'m, 'w, 'r, 'a> {
    pub(crate) r: &'w mut Reader<'r, 'a>,
    memo: &'m mut Memo,
    next: u8,
}

impl<'m, 'w, 'r, 'a> Reads<'m, 'w, 'r, 'a> {
    /// Reads an entry from its start.
    pub(crate) fn new(r: &'w mut Reader<'r, 'a>, memo: &'m mut Memo) -> Self {
        Reads { r, memo, next: 0 }
    }

    /// Continues an entry after `next` reads.
    pub(crate) fn after(r: &'w mut Reader<'r, 'a>, memo: &'m mut Memo, next: u8) -> Self {
        Reads { r, memo, next }
    }

    /// Number of reads made.
    pub(crate) fn count(&self) -> u8 {
        self.next
    }

    /// The remembered result of the next read, or that of `read`, which looks at one place.
    pub(crate) fn recall(
        &mut self,
        read: impl FnOnce(&mut Reader<'r, 'a>) -> Result<u64, Halt>,
    ) -> Result<u64, Halt> {
        let place = usize::from(self.next);
        let known = self.next < self.memo.known;
        if known && let Some(value) = self.memo.values.get(place) {
            self.next = self.next.wrapping_add(1);
            return Ok(*value);
        }
        let value = read(self.r)?;
        if let Some(free) = self.memo.values.get_mut(place) {
            *free = value;
            self.next = self.next.wrapping_add(1);
            self.memo.known = self.next;
        }
        Ok(value)
    }

    /// The little-endian number of `width` bytes at `at`.
    pub(crate) fn number(&mut self, at: u64, width: u8) -> Result<u64, Halt> {
        self.recall(|r| number(r, at, width))
    }

    /// The signed number of four bytes at `at`.
    pub(crate) fn signed(&mut self, at: u64) -> Result<i32, Halt> {
        Ok(u32::try_from(self.number(at, 4)?).unwrap_or(0).cast_signed())
    }

    /// The table at `at`.
    pub(crate) fn table(&mut self, at: u64) -> Result<Table, Halt> {
        let back = self.number(at, 4)?;
        // A signed distance: the vtable may be on either side.
        let back = u32::try_from(back).unwrap_or(0).cast_signed();
        let vtable = at.wrapping_add_signed(i64::from(back).wrapping_neg());
        let len = self.number(vtable, 2)?;
        Ok(Table { at, vtable, len })
    }

    /// Offset of a field; 0 if it is absent.
    pub(crate) fn field(&mut self, table: &Table, index: u8) -> Result<u64, Halt> {
        let slot = u64::from(index).wrapping_mul(2).wrapping_add(4);
        if slot.wrapping_add(2) > table.len {
            return Ok(0);
        }
        let offset = self.number(table.vtable.wrapping_add(slot), 2)?;
        Ok(if offset == 0 { 0 } else { table.at.wrapping_add(offset) })
    }

    /// A number of `width` bytes, or `default` if the field is absent.
    pub(crate) fn scalar(
        &mut self,
        table: &Table,
        index: u8,
        width: u8,
        default: u64,
    ) -> Result<Scalar, Halt> {
        let at = self.field(table, index)?;
        let value = if at == 0 { default } else { self.number(at, width)? };
        Ok(Scalar { value, at })
    }

    /// A number of up to four bytes, 0 if the field is absent.
    pub(crate) fn small(&mut self, table: &Table, index: u8, width: u8) -> Result<Small, Halt> {
        let Scalar { value, at } = self.scalar(table, index, width, 0)?;
        Ok(Small { value: u32::try_from(value).unwrap_or(0), at: word(at) })
    }

    /// The same without its place.
    pub(crate) fn value(&mut self, table: &Table, index: u8, width: u8) -> Result<u32, Halt> {
        Ok(self.small(table, index, width)?.value)
    }

    /// An offset or a length of eight bytes, 0 if the field is absent.
    pub(crate) fn long(&mut self, table: &Table, index: u8) -> Result<Word, Halt> {
        Ok(word(self.scalar(table, index, 8, 0)?.value))
    }

    /// A signed number of four bytes.
    pub(crate) fn int(&mut self, table: &Table, index: u8, default: i32) -> Result<i32, Halt> {
        let default = default.cast_unsigned().into();
        let value = self.scalar(table, index, 4, default)?.value;
        Ok(u32::try_from(value).unwrap_or(0).cast_signed())
    }

    /// Offset of the object that a field refers to; 0 if the field is absent.
    pub(crate) fn target(&mut self, table: &Table, index: u8) -> Result<u64, Halt> {
        let at = self.field(table, index)?;
        if at == 0 {
            return Ok(0);
        }
        Ok(at.wrapping_add(self.number(at, 4)?))
    }

    /// The table that a field refers to; `None` if the field is absent.
    pub(crate) fn inner(&mut self, table: &Table, index: u8) -> Result<Option<Table>, Halt> {
        match self.target(table, index)? {
            0 => Ok(None),
            at => self.table(at).map(Some),
        }
    }

    /// The vector or text that a field refers to.
    pub(crate) fn vector(&mut self, table: &Table, index: u8) -> Result<Vector, Halt> {
        match self.target(table, index)? {
            0 => Ok(Vector::NONE),
            at => self.vector_at(at),
        }
    }

    /// The vector at `at`.
    fn vector_at(&mut self, at: u64) -> Result<Vector, Halt> {
        let count = self.number(at, 4)?;
        let at = u32::try_from(at.wrapping_add(4)).unwrap_or(0);
        Ok(Vector { at, count: u32::try_from(count).unwrap_or(0) })
    }

    /// The table that item `index` of a vector refers to.
    pub(crate) fn item(&mut self, vector: Vector, index: u32) -> Result<Table, Halt> {
        let at = vector.place(index, 4);
        let offset = self.number(at, 4)?;
        self.table(at.wrapping_add(offset))
    }
}

/// Makes sure that [`slice`](super::slice) finds the items of a vector, `width` bytes each.
pub(crate) fn ready(r: &mut Reader<'_, '_>, vector: Vector, width: u8) -> Result<(), Halt> {
    get(r, vector.span(width)).map(|_| ())
}
