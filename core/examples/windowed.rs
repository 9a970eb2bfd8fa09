//! Checks a file through one small buffer, as a host without room for the whole file does:
//! `cargo run -p weighbridge-core --example windowed FILE`.
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        reason = "a test may fail"
    )
)]

use std::error::Error;
use std::io::{Read, Seek, SeekFrom};
use weighbridge_core::{Absent, Audit, File, Finding, Opening, Slot, Source, Stop, Window};

/// A file with a single window in memory.
struct Windowed<R> {
    disk: R,
    len: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> Windowed<R> {
    /// Repeats `ask` until no bytes are missing. `ask` keeps its progress in its captures.
    fn ask<T>(
        &mut self,
        mut ask: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, Box<dyn Error>> {
        loop {
            let window = [Window { offset: self.offset, bytes: &self.bytes }];
            match ask(&Source::windows(self.len, &window)) {
                Err(Stop::NeedBytes(Absent { offset, need, .. })) => {
                    self.disk.seek(SeekFrom::Start(offset))?;
                    self.bytes.resize(usize::try_from(need.max(512))?, 0);
                    let there = self.disk.read(&mut self.bytes)?;
                    self.bytes.truncate(there);
                    self.offset = offset;
                }
                answer => return Ok(answer?),
            }
        }
    }
}

/// Opens and checks a file, and reports faults to `sink`.
fn check(
    mut disk: impl Read + Seek,
    mut sink: impl FnMut(Finding),
) -> Result<File, Box<dyn Error>> {
    let len = disk.seek(SeekFrom::End(0))?;
    let mut file = Windowed { disk, len, offset: 0, bytes: Vec::new() };

    let mut opening = Opening::detect();
    let opened = file.ask(|source| opening.step(source, &mut sink))?;
    let mut audit = Audit::new(opened);
    let mut slots = vec![Slot::EMPTY; 1024];
    file.ask(|source| match audit.step(source, &mut slots, &mut sink) {
        // More names or regions than slots: the report will say so.
        Err(Stop::NeedSlots { .. }) => {
            audit.skip(&mut sink);
            audit.step(source, &mut slots, &mut sink)
        }
        result => result,
    })?;
    Ok(opened)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let file = check(std::fs::File::open(path)?, |finding| println!("{finding}"))?;
    println!("{}: {} tensors", file.format(), file.tensor_count());
    Ok(())
}

#[test]
fn files_are_checked_in_parts() -> Result<(), Box<dyn Error>> {
    let entries = (0..99).map(|i| {
        format!(
            r#""layer {i}":{{"dtype":"U8","shape":[3],"data_offsets":[{},{}]}}"#,
            3 * i,
            3 * i + 3
        )
    });
    let header = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
    let header = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    let mut bytes = u64::try_from(header.len())?.to_le_bytes().to_vec();
    bytes.extend(header.into_bytes());
    bytes.extend([7; 3 * 99]);

    let mut found = Vec::new();
    let file = check(std::io::Cursor::new(&bytes), |finding| found.push(finding))?;
    assert_eq!((file.tensor_count(), found.len()), (99, 0), "{found:?}");
    bytes.pop();
    check(std::io::Cursor::new(&bytes), |finding| found.push(finding))?;
    assert!(!found.is_empty(), "a byte is missing");
    Ok(())
}
