//! A ZIP archive (APPNOTE 6.3.10) as the container of other files: what formats that
//! are stored in one share. It is no format of its own.
//!
//! | where | what |
//! |---|---|
//! | start | members: a local header, data, for some a data descriptor |
//! | then | central directory: a header for each member |
//! | for some | zip64 end record and its locator |
//! | end | end record, comment |
//!
//! The central directory counts; a local header that says something else is reported.
//! Offsets count from the start of the file, so bytes before the archive or between
//! directory and end record make it unreadable.
//!
//! A central header and its member lie apart, and need not be resident together: a
//! format keeps the [`Member`] in its cursor.

mod directory;
mod end;
mod local;

pub(crate) use directory::Member;
pub(crate) use end::End;
pub(crate) use local::Local;

use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// What may be wrong with an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoEnd,
    Comment,
    CommentCut,
    Appended,
    Disk,
    Zip64Missing,
    Zip64Record,
    Zip64Differs,
    Directory,
    Count,
    Signature,
    Truncated,
    Version,
    Encrypted,
    Patched,
    Flags,
    Method,
    NameEmpty,
    NameNul,
    NamePath,
    NameUtf8,
    NameCodePage,
    NameAgain,
    Extra,
    ExtraRest,
    Zip64Extra,
    SizeStored,
    LocalSignature,
    LocalTruncated,
    LocalName,
    LocalFlags,
    LocalMethod,
    LocalCrc,
    LocalSizes,
    LocalExtra,
    DataEnd,
    Descriptor,
}

/// The rules of a format for the faults of its archive.
pub(crate) type Rules = fn(Fault) -> Rule;

/// Two bytes of a record, at `at`.
fn u16_at(record: &[u8], at: usize) -> u16 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Four bytes of a record, at `at`.
fn u32_at(record: &[u8], at: usize) -> u32 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Eight bytes of a record, at `at`.
fn u64_at(record: &[u8], at: usize) -> u64 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reports what makes the archive unreadable.
#[cold]
fn refuse(r: &mut Reader<'_, '_>, rule: Rule, span: Span, expected: u64, found: u64) -> Halt {
    r.flag(rule, span.offset, span.len, expected, found);
    Halt::refused(rule)
}
