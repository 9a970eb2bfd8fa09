//! Reads of an entry whose parts lie in distant places.
//!
//! A table, its vtable and what its fields refer to may be anywhere, and a host may hold only one
//! place at a time. So each number that was read is remembered, in the order of the reads. When
//! bytes were missing, the entry is read again from its start, and the remembered numbers are
//! taken from here.
//!
//! Opening has verified the places. Each is checked against the file again, because the bytes may
//! have changed.

use crate::base::{limits, widen};
use crate::input::{Absent, Span};
use crate::parse::{Cursor, Reader};
use crate::rule::Halt;

/// Most reads of one entry: those of a tensor with a compressed dimension take 66.
const READS: usize = 68;

/// The numbers that were read for the current entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Memo {
    values: [u64; READS],
    known: u8,
}

impl Memo {
    /// Nothing was read.
    pub(crate) const NONE: Memo = Memo { values: [0; READS], known: 0 };

    /// Forgets everything, for the next entry.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
    }
}

/// A vector: where its items are, and how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Vector {
    /// Offset of the first item; 0 if the field is absent.
    pub(crate) at: u32,
    /// Number of items.
    pub(crate) count: u32,
}

impl Vector {
    /// No vector.
    pub(crate) const NONE: Vector = Vector { at: 0, count: 0 };

    /// Whether the field is present.
    pub(crate) fn is_present(self) -> bool {
        self.at != 0
    }

    /// Offset of an item of `width` bytes.
    pub(crate) fn place(self, index: u32, width: u8) -> u64 {
        u64::from(self.at).wrapping_add(u64::from(index).wrapping_mul(width.into()))
    }

    /// The items after the first `passed`, as far as they are resident, `width` bytes each, and the
    /// offset of the first of them; none after the last.
    pub(crate) fn items<'a>(
        self,
        r: &mut Reader<'_, 'a>,
        passed: u32,
        width: u8,
    ) -> Result<Option<(&'a [u8], u64)>, Halt> {
        let left = self.count.saturating_sub(passed);
        if left == 0 {
            return Ok(None);
        }
        let at = self.place(passed, width);
        let span = Span::new(at, u64::from(left).wrapping_mul(width.into()));
        some(r, span, width).map(|bytes| Some((bytes, at)))
    }

    /// The bytes of its items.
    pub(crate) fn span(self, width: u8) -> Span {
        Span::new(self.at.into(), u64::from(self.count).wrapping_mul(width.into()))
    }
}

/// A table: its offset, and the place and length of its vtable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    pub(crate) at: u64,
    vtable: u64,
    len: u64,
}

impl Table {
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

/// The little-endian number of `width` bytes at `at`.
pub(crate) fn number(r: &mut Reader<'_, '_>, at: u64, width: u8) -> Result<u64, Halt> {
    let mut bytes = [0; 8];
    let found = get(r, Span::new(at, width.into()))?;
    for (to, from) in bytes.iter_mut().zip(found) {
        *to = *from;
    }
    Ok(u64::from_le_bytes(bytes))
}

/// The bytes of `span` as one slice. The host may read ahead.
pub(crate) fn get<'a>(r: &mut Reader<'_, 'a>, span: Span) -> Result<&'a [u8], Halt> {
    match r.source().all(span) {
        Some(bytes) => Ok(bytes),
        None => {
            let left = r.source().len().saturating_sub(span.offset);
            let want = limits::READ_AHEAD.min(left).max(span.len);
            Err(r.lack(Absent { offset: span.offset, need: span.len, want }))
        }
    }
}

/// Number of steps that an audit takes at a time: it copies the cursor before and after them.
const STEPS: u32 = 64;

/// Takes steps of an audit until the cursor is done, or bytes are missing, or for a while.
pub(crate) fn steps<'s, 'a, S: Copy + PartialEq>(
    r: &mut Reader<'s, 'a>,
    c: &mut Cursor<S>,
    mut step: impl FnMut(&mut Reader<'s, 'a>, &mut Cursor<S>) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let before = *c;
    for _ in 0..STEPS {
        match step(r, c) {
            Ok(()) if c.done => break,
            Ok(()) => {}
            // The audit keeps the cursor only after a step.
            Err(halt) if halt.is_absent() && *c != before => break,
            Err(halt) => return Err(halt),
        }
    }
    Ok(())
}

/// The bytes of `span` that are resident, at least the first `width` of them, in whole items of
/// `width` bytes.
pub(crate) fn some<'a>(r: &mut Reader<'_, 'a>, span: Span, width: u8) -> Result<&'a [u8], Halt> {
    if let Some(bytes) = r.source().all(span) {
        return Ok(bytes);
    }
    let first = Span::new(span.offset, u64::from(width).min(span.len));
    let run = match r.source().all(first) {
        Some(_) => r.source().run(span.offset),
        None => {
            let want = limits::READ_AHEAD.min(span.len).max(first.len);
            let absent = Absent { offset: span.offset, need: first.len, want };
            return Err(r.lack(absent));
        }
    };
    let most = usize::try_from(span.len).unwrap_or(usize::MAX).min(run.len());
    let odd = widen(most).checked_rem(width.into()).unwrap_or(0);
    let whole = most.saturating_sub(usize::try_from(odd).unwrap_or(0));
    Ok(run.get(..whole).unwrap_or_default())
}

/// Offsets of items of `width` bytes, from `at` on.
pub(crate) fn offsets(at: u64, width: u8) -> impl Iterator<Item = u64> {
    core::iter::successors(Some(at), move |at| Some(at.wrapping_add(width.into())))
}
