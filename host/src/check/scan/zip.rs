//! The members of a zip archive, as its directory lists them. No rule of the format is enforced:
//! readers of pickles enforce few, so each member is looked at wherever one of them would find it.

use super::part::Bytes;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::{Absent, Source, Span};

/// Bytes of a directory that are read: some hundred thousand names.
const DIRECTORY: u64 = 32 << 20;
/// Length of the record at the end, without a comment, and the most bytes of a comment.
const END: u64 = 22;
const COMMENT: u64 = 0xFFFF;
/// Length of the fixed parts of a local header and of an entry of the directory.
const LOCAL: u64 = 30;
const ENTRY: usize = 46;
/// Bytes that are compared at a time.
const BLOCK: usize = 256;
/// Lengths of the zip64 locator and of the fixed part of the zip64 record.
const LOCATOR: usize = 20;
const WIDE: u64 = 56;

/// A member.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) method: u64,
    pub(crate) encrypted: bool,
    pub(crate) stored: u64,
    /// Number of bytes after decoding, and their CRC-32.
    pub(crate) size: u64,
    pub(crate) crc: u64,
    /// Where its local header begins.
    pub(crate) offset: u64,
    /// Whether all readers look there.
    pub(crate) is_sure: bool,
}

/// What was found of the directory.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    /// Where it may be, how long it is, and by how much offsets in it are shifted.
    places: Option<Vec<(u64, u64, u64)>>,
    pub(crate) members: Vec<Member>,
    /// Whether members were left out.
    pub(crate) is_cut: bool,
    pub(crate) is_read: bool,
}

impl Directory {
    /// Reads the directory of the archive `bytes`, with at most `most` members.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn read(
        &mut self,
        bytes: &Bytes,
        file: &Source<'_>,
        most: usize,
    ) -> Result<(), Absent> {
        let places = match self.places.take() {
            Some(places) => places,
            None => self.find(bytes, file)?,
        };
        self.places = Some(places.clone());
        // Bytes may have been missing after the first place.
        self.members.clear();
        for (at, size, shift) in places {
            let directory = bytes.get(file, at, size)?;
            self.list(directory, shift, most);
        }
        self.is_read = true;
        Ok(())
    }

    /// The places where readers look for the directory: the stated one, and just before the last
    /// record.
    fn find(&mut self, bytes: &Bytes, file: &Source<'_>) -> Result<Vec<(u64, u64, u64)>, Absent> {
        let len = bytes.len();
        let tail_len = len.min(END + COMMENT);
        let tail = bytes.get(file, len - tail_len, tail_len)?;
        let Some(end) = last_record(tail) else {
            self.is_cut = true;
            return Ok(Vec::new());
        };
        let record = tail.get(end..).unwrap_or_default();
        let mut last = len - tail_len + end as u64;
        let (mut size, mut stated) = (number(record, 12, 4), number(record, 16, 4));
        let locator = end.checked_sub(LOCATOR).and_then(|from| tail.get(from..end));
        let locator = locator.filter(|it| it.starts_with(b"PK\x06\x07"));
        let wide = locator.map(|it| number(it, 8, 8)).filter(|at| *at <= len.saturating_sub(WIDE));
        let mut places: Vec<(u64, u64, u64)> = Vec::new();
        let mut add = |at: u64, size: u64, shift: u64| {
            let there = size > 0 && at.checked_add(size).is_some_and(|end| end <= len);
            if there && !places.iter().any(|(known, ..)| *known == at) {
                places.push((at, size.min(DIRECTORY), shift));
            }
            there && size > DIRECTORY
        };
        let mut is_cut = add(stated, size, 0);
        if let Some(at) = wide {
            let record = bytes.get(file, at, WIDE)?;
            if record.starts_with(b"PK\x06\x06") {
                (size, stated, last) = (number(record, 40, 8), number(record, 48, 8), at);
                is_cut |= add(stated, size, 0);
            }
        }
        if let Some(before) = last.checked_sub(size) {
            is_cut |= add(before, size, before.wrapping_sub(stated));
        }
        self.is_cut |= is_cut;
        Ok(places)
    }

    fn list(&mut self, directory: &[u8], shift: u64, most: usize) {
        let mut rest = directory;
        while rest.starts_with(b"PK\x01\x02") {
            if self.members.len() >= most {
                self.is_cut = true;
                return;
            }
            let lens = [28, 30, 32].map(|at| number(rest, at, 2) as usize);
            let name = rest.get(ENTRY..).and_then(|rest| rest.get(..lens[0]));
            let extra = rest.get(ENTRY + lens[0]..).and_then(|rest| rest.get(..lens[1]));
            let (Some(name), Some(extra)) = (name, extra) else { break };
            let (size, stored, offset) = wide(extra, [24, 20, 42].map(|at| number(rest, at, 4)));
            // Readers differ in whether they shift the offsets as the directory is shifted.
            let offsets = [Some(offset), (shift != 0).then(|| offset.wrapping_add(shift))];
            self.members.extend(offsets.into_iter().flatten().map(|offset| Member {
                name: String::from_utf8_lossy(name).into_owned(),
                method: number(rest, 10, 2),
                encrypted: number(rest, 8, 2) & 0x41 != 0,
                stored,
                size,
                crc: number(rest, 16, 4),
                offset,
                is_sure: shift == 0,
            }));
            rest = rest.get(ENTRY + lens.iter().sum::<usize>()..).unwrap_or_default();
        }
        self.is_cut |= rest.len() > ENTRY && directory.len() as u64 == DIRECTORY;
    }
}

impl Member {
    /// The bytes that are stored for this member, as far as they are in the archive: by the lengths
    /// in its local header, and otherwise by the directory. `None` if there is no local header.
    ///
    /// # Errors
    /// The bytes that are missing.
    pub(crate) fn data(&self, bytes: &Bytes, file: &Source<'_>) -> Result<Option<Span>, Absent> {
        let len = bytes.len();
        if self.offset.checked_add(LOCAL).is_none_or(|end| end > len) {
            return Ok(None);
        }
        let header = bytes.get(file, self.offset, LOCAL)?;
        let at = self.offset + LOCAL + number(header, 26, 2) + number(header, 28, 2);
        if !header.starts_with(b"PK\x03\x04") || at > len {
            return Ok(None);
        }
        Ok(Some(Span::new(at, self.stored.min(len - at))))
    }
}

/// Where the last end record of an archive begins. Blocks without the first two bytes of its magic are
/// passed at once: this runs over the end of every file.
fn last_record(tail: &[u8]) -> Option<usize> {
    let mut end = tail.len();
    while end > 0 {
        let from = end.saturating_sub(BLOCK);
        // A record may begin before `end` and go on behind it.
        let block = tail.get(from..tail.len().min(end + 3)).unwrap_or_default();
        let pairs = block.iter().zip(block.get(1..).unwrap_or_default());
        if pairs.fold(false, |found, (one, two)| found | ((*one == b'P') & (*two == b'K'))) {
            let found = block.windows(4).rposition(|four| four == b"PK\x05\x06");
            if let Some(at) = found {
                return Some(from + at);
            }
        }
        end = from;
    }
    None
}

/// The size, the stored size and the offset of an entry with these fields. The zip64 field has the
/// full ones, in this order: size, stored size, offset.
fn wide(mut extra: &[u8], fields: [u64; 3]) -> (u64, u64, u64) {
    const FULL: u64 = u32::MAX as u64;
    let [mut size, mut stored, mut offset] = fields;
    while extra.len() >= 4 {
        let (id, len) = (number(extra, 0, 2), number(extra, 2, 2) as usize);
        let Some(field) = extra.get(4..4 + len) else { break };
        if id == 1 {
            let mut at = 0;
            let mut next = |is_full: bool, value: u64| {
                let found = field.get(at..at + 8).filter(|_| is_full);
                at += if is_full { 8 } else { 0 };
                found.map_or(value, |bytes| number(bytes, 0, 8))
            };
            size = next(size == FULL, size);
            stored = next(stored == FULL, stored);
            offset = next(offset == FULL, offset);
            break;
        }
        extra = extra.get(4 + len..).unwrap_or_default();
    }
    (size, stored, offset)
}

/// A little-endian number of `len` bytes; 0 past the end.
fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    let bytes = bytes.get(at..at + len).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn last_record_is_found_across_blocks() {
        for len in [0, 3, 4, 255, 256, 257, 300, 512, 1_000] {
            for at in 0..len {
                let mut tail = vec![b'P'; len];
                tail[len / 2..].fill(0);
                let record = b"PK\x05\x06";
                let there = at + 4 <= len;
                if there {
                    tail[at..at + 4].copy_from_slice(record);
                    tail[..4.min(at)].copy_from_slice(&record[..4.min(at)]);
                }
                assert_eq!(last_record(&tail), there.then_some(at), "{at} of {len}");
            }
        }
    }
}
