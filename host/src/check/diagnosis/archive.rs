//! Diagnoses zip archives by the names of their members.

use super::Diagnosis;
use weighbridge_core::format::is_pickle;
use weighbridge_core::{Absent, Source, Span};

pub(super) const ZIP: &str = "a zip archive";
pub(super) const NPZ: &str = "an archive of NumPy arrays (.npz)";
const PICKLE: &str = "a PyTorch archive (zip) of a pickle";
pub(super) const OTHER_PICKLE: &str = "a zip archive that holds a pickle";

/// Length of the record at the end of an archive, without a comment.
const END: u64 = 22;
/// Maximum length of a comment.
const COMMENT: u64 = 0xFFFF;
/// Length of the fixed part of a central directory entry.
const ENTRY: usize = 46;
/// Length of the fixed part of a local header.
const LOCAL: u64 = 30;
/// Length of both records that precede the last one in an archive above 4 GiB.
const ZIP64: u64 = 76;
/// Bytes of the central directory to examine: some ten thousand names.
const MOST: u64 = 1 << 20;

/// Diagnoses an archive by its first member, whose header is at the start.
pub(super) fn of_head(head: &[u8]) -> Diagnosis {
    let name = head.get(30..).map_or(&[][..], |from| from.get(..u16_at(head, 26)).unwrap_or(from));
    if is_pickle(name) {
        Diagnosis::Pickle(PICKLE)
    } else if name.ends_with(b".npy") {
        Diagnosis::Other(NPZ)
    } else {
        Diagnosis::Other(ZIP)
    }
}

/// Diagnoses an archive by all its members, because a pickle need not be the first.
pub(super) fn diagnose(source: &Source<'_>) -> Result<Diagnosis, Absent> {
    let len = source.len();
    let head = source.get(Span::new(0, len.min(super::HEAD)))?;
    let first = of_head(head);
    let tail = Span::new(len.saturating_sub(END + COMMENT), len.min(END + COMMENT));
    let bytes = source.get(tail)?;
    let Some(end) = bytes.windows(4).rposition(|four| four == b"PK\x05\x06") else {
        return Ok(first);
    };
    let record = bytes.get(end..).unwrap_or_default();
    let (stated, size) = (u64::from(u32_at(record, 16)), u64::from(u32_at(record, 12)));
    // Readers use the stated offset, or the bytes just before this record, with or without the
    // records of an archive above 4 GiB in between.
    let record = tail.offset + end as u64;
    let before = [0, ZIP64].map(|more| record.checked_sub(size.saturating_add(more)));
    for place in [Some(stated), before[0], before[1]].into_iter().flatten() {
        if place.checked_add(size).is_none_or(|end| end > len) {
            continue;
        }
        let mut directory = source.get(Span::new(place, size.min(MOST)))?;
        while directory.starts_with(b"PK\x01\x02") {
            let lens = [28, 30, 32].map(|at| u16_at(directory, at));
            let name = directory.get(ENTRY..).and_then(|rest| rest.get(..lens[0]));
            if name.is_some_and(is_pickle) {
                return Ok(Diagnosis::Pickle(OTHER_PICKLE));
            }
            directory = directory.get(ENTRY + lens.iter().sum::<usize>()..).unwrap_or_default();
        }
    }
    Ok(first)
}

/// The members of an archive that has lost its end, counted from its start.
#[derive(Debug, Default)]
pub(crate) struct Members {
    at: u64,
    whole: u64,
    over: bool,
}

impl Members {
    /// Most members that are counted: each may be a read of its own.
    pub(super) const MOST: u64 = 4096;

    /// Counts the members whose data is in the file to its end. One whose size is recorded only
    /// after its data ends the count.
    pub(super) fn step(&mut self, source: &Source<'_>) -> Result<u64, Absent> {
        while !self.over && self.whole < Members::MOST {
            let end = self.next(source)?;
            self.over = end.is_none();
            if let Some(end) = end {
                (self.at, self.whole) = (end, self.whole + 1);
            }
        }
        Ok(self.whole)
    }

    /// The end of the next member, if all of it is there.
    fn next(&self, source: &Source<'_>) -> Result<Option<u64>, Absent> {
        let left = source.len().saturating_sub(self.at);
        let fixed = source.get(Span::new(self.at, left.min(LOCAL)))?;
        if fixed.len() as u64 != LOCAL || !fixed.starts_with(b"PK\x03\x04") {
            return Ok(None);
        }
        let lens = [26, 28].map(|at| u16_at(fixed, at));
        let len = LOCAL + lens.iter().sum::<usize>() as u64;
        let mut stored = u64::from(u32_at(fixed, 18));
        if u16_at(fixed, 6) & 8 != 0 && stored == 0 || len > left {
            return Ok(None);
        }
        if stored == u64::from(u32::MAX) {
            let head = source.get(Span::new(self.at, len))?;
            let extra = head.get(LOCAL as usize + lens[0]..).unwrap_or_default();
            let Some(large) = large(extra) else { return Ok(None) };
            stored = large;
        }
        let end = self.at.checked_add(len).and_then(|end| end.checked_add(stored));
        Ok(end.filter(|end| *end <= source.len()))
    }
}

/// The stored size in the zip64 field among these extra fields of a local header, after the other
/// size.
fn large(mut extra: &[u8]) -> Option<u64> {
    while extra.len() >= 4 {
        let (id, len) = (u16_at(extra, 0), u16_at(extra, 2));
        let field = extra.get(4..4 + len)?;
        if id == 1 {
            return field.get(8..16)?.try_into().ok().map(u64::from_le_bytes);
        }
        extra = &extra[4 + len..];
    }
    None
}

/// Whether these bytes begin an archive whose first member is an array.
pub(crate) fn begins_with_array(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") && of_head(head) == Diagnosis::Other(NPZ)
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some([low, high]) => u16::from_le_bytes([*low, *high]).into(),
        _ => 0,
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_le_bytes)
}
