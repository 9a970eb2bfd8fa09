//! Checks a file through one small buffer, as a host does that has no room for all of it:
//! `cargo run -p weighbridge-core --example windowed FILE`.

use std::error::Error;
use std::fs::File as Disk;
use std::io::{Read as _, Seek as _, SeekFrom};
use weighbridge_core::{Absent, Audit, Opening, Slot, Source, Stop, Window};

/// A file, and the only window of it that is in memory.
struct Windowed {
    disk: Disk,
    len: u64,
    offset: u64,
    bytes: Vec<u8>,
}

impl Windowed {
    /// Asks until nothing is missing. What `ask` has achieved stays in what it captures.
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

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let disk = Disk::open(path)?;
    let len = disk.metadata()?.len();
    let mut file = Windowed { disk, len, offset: 0, bytes: Vec::new() };

    let mut sink = |finding| println!("{finding}");
    let mut opening = Opening::detect();
    let opened = file.ask(|source| opening.step(source, &mut sink))?;
    let mut audit = Audit::new(opened);
    let mut slots = vec![Slot::EMPTY; 1024];
    file.ask(|source| match audit.step(source, &mut slots, &mut sink) {
        // More names or regions than there are slots for: the report will say so.
        Err(Stop::NeedSlots { .. }) => {
            audit.skip(&mut sink);
            audit.step(source, &mut slots, &mut sink)
        }
        result => result,
    })?;
    println!("{}: {} tensors", opened.format(), opened.tensor_count());
    Ok(())
}
