//! ZIP archives (APPNOTE 6.3.10) as containers of other files, shared by the formats that
//! are stored in one. This is not a format of its own.
//!
//! | where | what |
//! |---|---|
//! | start | members: a local header, data, an optional data descriptor |
//! | then | central directory: one header per member |
//! | optional | zip64 end record and its locator |
//! | end | end record, comment |
//!
//! The central directory is authoritative; a local header that differs is reported.
//! Offsets are relative to the start of the file, so bytes before the archive, or between
//! the directory and the end record, make it unreadable.
//!
//! A central header and its member are far apart and need not be resident together, so a
//! format keeps the [`Member`] in its cursor.

mod directory;
mod end;
mod local;
mod walk;

pub(crate) use directory::Member;
pub(crate) use end::End;
pub(crate) use local::Local;
pub(crate) use walk::{Archive, Stand, Visit, about, audit, next, region};

use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The faults of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoEnd,
    Comment,
    CommentCut,
    Appended,
    Disk,
    FileType,
    Zip64Missing,
    Zip64Record,
    Zip64Differs,
    Zip64Disks,
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
    Zip64Excess,
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

/// Maps the faults of an archive to a format's rules.
pub(crate) type Rules = fn(Fault) -> Rule;

/// The 16-bit number at `at` in a record; 0 if it is cut off.
fn u16_at(record: &[u8], at: usize) -> u16 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// The 32-bit number at `at` in a record; 0 if it is cut off.
fn u32_at(record: &[u8], at: usize) -> u32 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The 64-bit number at `at` in a record; 0 if it is cut off.
fn u64_at(record: &[u8], at: usize) -> u64 {
    let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Reports a fault that makes the archive unreadable.
#[cold]
fn refuse(r: &mut Reader<'_, '_>, rule: Rule, span: Span, expected: u64, found: u64) -> Halt {
    r.flag(rule, span.offset, span.len, expected, found);
    Halt::refused(rule)
}
