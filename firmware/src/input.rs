//! Files that QEMU's loader put into memory: a sequence of records, each a
//! header of 64 bytes and a file, padded to a multiple of 64.
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 4 | `FILE`, or anything else after the last record |
//! | 4 | 4 | length of the file in bytes |
//! | 8 | 1 | 0: check, 1: measure |
//! | 16 | 16 | name of the format, padded with zeros; empty to detect it |

use core::slice::from_raw_parts;

/// Address of the first record: the board's PSRAM.
const AT: usize = 0x2100_0000;
const END: usize = AT + (16 << 20);
const HEADER: usize = 64;

/// A file and what to do with it.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// The file.
    pub bytes: &'static [u8],
    /// The name of its format; empty to detect it.
    pub format: &'static str,
    /// Whether to count instructions.
    pub measure: bool,
}

/// The records, in order.
pub fn records() -> impl Iterator<Item = Record> {
    let mut at = AT;
    core::iter::from_fn(move || {
        // SAFETY: the board has memory up to END, and nothing writes there.
        let header = unsafe { from_raw_parts((at < END).then_some(at as *const u8)?, HEADER) };
        let len = u32::from_le_bytes(*header.get(4..)?.first_chunk()?) as usize;
        if !header.starts_with(b"FILE") || len > END - HEADER - at {
            return None;
        }
        // SAFETY: as above.
        let bytes = unsafe { from_raw_parts((at + HEADER) as *const u8, len) };
        let name = header.get(16..32)?.split(|byte| *byte == 0).next()?;
        at += HEADER + len.next_multiple_of(64);
        Some(Record { bytes, format: core::str::from_utf8(name).ok()?, measure: header[8] == 1 })
    })
}
