//! Flatbuffers, verified against a description of their tables; shared by the formats that
//! are stored in one. This is not a format of its own.
//!
//! | object | layout |
//! |---|---|
//! | start | optional `u32` length of the rest, `u32` offset of the root table, identifier |
//! | table | `i32` that is subtracted from the table's position to find its vtable; then fields |
//! | vtable | `u16` own length, `u16` length of the table, then a `u16` for each field: its offset in the table, or 0 if the field is absent |
//! | vector | `u32` count, items |
//! | string | `u32` length, bytes, a zero byte |
//! | field of a table, vector or string | `u32` offset from the field to the object |
//! | union | two fields: the kind in one byte, then an offset |
//!
//! Numbers are little-endian. Objects and fields are aligned to their width, relative to the
//! start. Offsets point forward, so no object contains itself; but tables may share others, and
//! then a short file describes a large tree. [`Walk`] charges each offset that it follows with
//! its four bytes and stops when the sum exceeds what entries may share.
//!
//! A table, its vtable and the objects it refers to may be far apart, so the walk reads one of
//! them at a time and keeps in its state what it needs from the others.
//!
//! A fault makes one field or one object unreadable; the walk goes on with the next. A fault in
//! a vtable is reported for each table that uses it.

#[cfg(feature = "flatbuffer")]
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
#[cfg(feature = "flatbuffer")]
pub(crate) mod reads;
mod schema;
#[cfg(feature = "flatbuffer")]
pub(crate) mod shape;
#[cfg(all(test, feature = "windows"))]
mod tests;
#[cfg(feature = "flatbuffer")]
pub(crate) mod text;
#[cfg(feature = "flatbuffer")]
mod verify;
mod walk;

/// Declares `structure`: the rule for each [`Fault`], among rules that have the same names in every
/// format.
#[cfg(feature = "flatbuffer")]
macro_rules! structure {
    () => {
        /// The rule for a fault of the flatbuffer.
        pub(super) fn structure(fault: $crate::format::flatbuffer::Fault) -> Rule {
            use $crate::format::flatbuffer::Fault::{
                Depth, FieldBounds, FieldHead, FieldTable, FieldUnaligned, Identifier, Offset,
                Prefix, Root, Shared, Short, StringBounds, StringEnd, TableLength, Unaligned,
                UnionKind, UnionUnknown, UnionValue, VectorBounds, VectorUnaligned, Vtable,
                VtableLength,
            };
            match fault {
                Short => F_SHORT,
                // Neither format has a length in front.
                Prefix | Identifier => F_IDENTIFIER,
                Root => F_ROOT,
                Offset => F_OFFSET,
                Unaligned => F_ALIGN,
                Vtable => F_VTABLE,
                VtableLength => F_VTABLE_LENGTH,
                TableLength => F_TABLE_LENGTH,
                FieldHead => F_FIELD_HEAD,
                FieldBounds => F_FIELD_BOUNDS,
                FieldUnaligned => F_FIELD_ALIGN,
                FieldTable => F_FIELD_TABLE,
                VectorBounds => F_VECTOR,
                VectorUnaligned => F_VECTOR_ALIGN,
                StringBounds => F_STRING,
                StringEnd => F_STRING_END,
                UnionKind => F_UNION_KIND,
                UnionValue => F_UNION_VALUE,
                UnionUnknown => F_UNION_UNKNOWN,
                // Their tables nest six deep, so the walk does not end for its depth.
                Depth | Shared => F_SHARED,
            }
        }
    };
}
#[cfg(feature = "flatbuffer")]
pub(crate) use structure;

#[cfg(all(feature = "flatbuffer", feature = "sweep"))]
pub(crate) use fast::{Direct, Found, Items, Visit};
pub(crate) use schema::{Packed, Schema, Type, count, lists, strings_of};
#[cfg(feature = "flatbuffer")]
pub(crate) use verify::{Counts, verify};
#[cfg(feature = "flatbuffer")]
pub(crate) use walk::Kept;
#[cfg(feature = "sweep")]
pub(crate) use walk::Place;
pub(crate) use walk::{Object, Walk};

use crate::base::features::WINDOWS;
use crate::base::{Word, limits, place, wide, widen, word};
use crate::input::Absent;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The faults of a flatbuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The file is too short for the root offset and the identifier.
    Short,
    /// The recorded length is not that of the rest.
    Prefix,
    /// The identifier is another one.
    Identifier,
    /// The root offset points nowhere, or is not aligned.
    Root,
    /// An offset is 0 or points past the end.
    Offset,
    /// An offset points to an object that is not aligned.
    Unaligned,
    /// The vtable is outside, or not aligned.
    Vtable,
    /// The length of the vtable is odd, below 4, or exceeds what is left.
    VtableLength,
    /// The table is shorter than its vtable offset, or exceeds what is left.
    TableLength,
    /// A field overlaps the vtable offset of its table.
    FieldHead,
    /// A field ends past the end.
    FieldBounds,
    /// A field is not aligned.
    FieldUnaligned,
    /// A field ends past its table.
    FieldTable,
    /// A vector ends past the end.
    VectorBounds,
    /// The items of a vector are not aligned.
    VectorUnaligned,
    /// A string ends past the end.
    StringBounds,
    /// A string does not end with a zero byte.
    StringEnd,
    /// A union has a value and no kind.
    UnionKind,
    /// A union has a kind and no value.
    UnionValue,
    /// The kind of a union is unknown, so its value was not verified.
    UnionUnknown,
    /// Tables nest too deep, so the inner ones were not verified.
    Depth,
    /// Tables are shared so much that the rest was not verified.
    Shared,
}

/// Maps the faults of a flatbuffer to a format's rules.
pub(crate) type Rules<'r> = &'r dyn Fn(Fault) -> Rule;

/// The bytes of one flatbuffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Extent {
    start: Word,
    end: Word,
}

impl Extent {
    const NONE: Extent = Extent { start: 0, end: 0 };

    /// The bytes from `start` to `end`, or to the end of the file if that comes first.
    pub(crate) fn new(r: &Reader<'_, '_>, start: u64, end: u64) -> Self {
        let end = place(end.min(r.source().len()));
        Extent { start: place(start).min(end), end }
    }

    /// Where it starts; a board reads no flatbuffer but those at the start of a file.
    fn start(self) -> Word {
        if WINDOWS { self.start } else { 0 }
    }

    /// Whether all of the `len` bytes at `at` are inside.
    pub(crate) fn holds(self, at: Word, len: Word) -> bool {
        self.start() <= at && at <= self.end && len <= self.left(at)
    }

    /// Number of bytes from `at` on.
    fn left(self, at: Word) -> Word {
        self.end.saturating_sub(at)
    }

    /// Whether `at` is a multiple of `width`, a power of two.
    fn aligns(self, at: Word, width: u8) -> bool {
        at.wrapping_sub(self.start()) & Word::from(width).wrapping_sub(1) == 0
    }

    /// The position `offset` bytes after `at`, if four bytes there are inside.
    fn forward(self, at: Word, offset: u32) -> Option<Word> {
        let target = at.checked_add(word(offset.into()))?;
        (offset != 0 && self.holds(target, 4)).then_some(target)
    }

    /// The `len` bytes at `at`, which are known to be inside.
    fn get<'a>(self, r: &mut Reader<'_, 'a>, at: Word, len: usize) -> Result<&'a [u8], Halt> {
        if let Some(bytes) = r.source().piece(at, len) {
            return Ok(bytes);
        }
        let need = widen(len);
        let want = limits::READ_AHEAD.min(wide(self.left(at))).max(need);
        Err(r.lack(Absent { offset: wide(at), need, want }))
    }

    /// The `u32` at `at`, which is known to be inside.
    fn u32(self, r: &mut Reader<'_, '_>, at: Word) -> Result<u32, Halt> {
        let bytes = self.get(r, at, 4)?.first_chunk();
        Ok(bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }
}

/// Whether the length of the rest is recorded before the root offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    None,
    Length,
}

/// Reads the start of a flatbuffer and returns the position of its root table.
///
/// With [`Prefix::Length`] the extent ends where the recorded length says.
pub(crate) fn root(
    r: &mut Reader<'_, '_>,
    extent: &mut Extent,
    prefix: Prefix,
    schema: &Schema,
) -> Result<Word, Halt> {
    let rules = schema.rules;
    let (start, left) = (extent.start(), extent.left(extent.start()));
    let (skipped, len) = if prefix == Prefix::Length { (4, 12) } else { (0, 8) };
    if !extent.holds(start, len) {
        return Err(refuse(r, rules(Fault::Short), start, left, wide(len), wide(left)));
    }
    let head = extent.get(r, start, usize::try_from(wide(len)).unwrap_or(usize::MAX))?;
    let number = |at: usize| {
        let bytes = head.get(at..).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    let (offset, identifier) = match prefix {
        Prefix::None => (number(0), number(4)),
        Prefix::Length => (number(4), number(8)),
    };
    let at = start.wrapping_add(skipped);
    if identifier != u32::from_le_bytes(schema.identifier) {
        let (expected, found) = (u32::from_le_bytes(schema.identifier), identifier);
        let rule = rules(Fault::Identifier);
        return Err(refuse(r, rule, at.wrapping_add(4), 4, expected.into(), found.into()));
    }
    if prefix == Prefix::Length {
        let rest = left.wrapping_sub(4);
        let recorded = number(0);
        if wide(rest) != u64::from(recorded) {
            return Err(refuse(r, rules(Fault::Prefix), start, 4, wide(rest), recorded.into()));
        }
    }
    // The root is no nearer than the end of the identifier.
    match extent.forward(at, offset) {
        Some(root) if offset >= 8 && extent.aligns(root, 4) => Ok(root),
        _ => Err(refuse(r, rules(Fault::Root), at, 4, wide(extent.left(at)), offset.into())),
    }
}

/// Reports a fault without which nothing can be read.
#[cold]
fn refuse(
    r: &mut Reader<'_, '_>,
    rule: Rule,
    at: Word,
    len: Word,
    expected: u64,
    found: u64,
) -> Halt {
    r.flag(rule, wide(at), wide(len), expected, found);
    Halt::refused(rule)
}
