//! Scans the pickles of a file that is no tensor file: the file itself, the members of archives
//! under whatever name, object arrays of NumPy. Nothing is loaded.

pub(in crate::check) mod follow;
mod found;
mod globals;
mod inflate;
mod kind;
pub(in crate::check) mod memory;
pub(crate) mod part;
mod stage;
pub(crate) mod zip;

pub(crate) use follow::Followed;
pub(crate) use found::OBJECTS;
pub(crate) use found::Results;

use crate::check::criteria::Criteria;
use crate::check::hidden::Hidden;
use alloc::vec::Vec;
use memory::Memory;
use part::Part;
use stage::{Next, Stage};
use weighbridge_core::{Absent, Source, limits};
use zip::Directory;

/// The scan of one file. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// What is being looked at, and on what level; `None` before the first step.
    stages: Option<Vec<Stage>>,
    /// Where to look besides the file itself, or instead of it.
    hidden: Hidden,
    is_open: bool,
    shared: Shared,
}

/// What all stages of a scan share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    results: Results,
    memory: Memory,
    /// Bytes that were looked at, in the file and in what was decoded.
    spent: u64,
    spent_decoded: u64,
    /// Bytes that were decoded.
    decoded: u64,
    /// Most bytes to look at in the file, and most to decode.
    most: u64,
    most_decoded: u64,
    /// A limit was reached.
    over: bool,
    prior: Prior,
}

/// What is known of a file before its scan.
#[derive(Debug, Default)]
pub(crate) struct Prior {
    /// Its directory, if it is an archive.
    pub(crate) directory: Option<Directory>,
    /// A pickle in it that has been followed to its end.
    pub(crate) pickle: Option<Followed>,
}

impl Scan {
    /// A scan that does not find again what is known.
    #[cfg(feature = "pytorch")]
    pub(crate) fn after(prior: Prior) -> Self {
        Scan { shared: Shared { prior, ..Shared::default() }, ..Scan::default() }
    }

    /// A scan of the places in an open file where pickles may hide, and of nothing else.
    pub(crate) fn of_hidden(hidden: Hidden) -> Self {
        Scan { hidden, is_open: true, ..Scan::default() }
    }

    /// Looks at these places as well.
    pub(crate) fn add(&mut self, hidden: Hidden) {
        self.hidden = hidden;
    }

    /// Continues until all pickles have been followed.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn step(&mut self, file: &Source<'_>, criteria: &Criteria) -> Result<(), Absent> {
        let Scan { stages, hidden, is_open, shared } = self;
        let len = file.len();
        let stages = stages.get_or_insert_with(|| {
            shared.most = most_shared(len);
            shared.most_decoded = most_decoded(len);
            let mut stages = first(hidden, len, shared);
            // The file itself comes first, and with it an archive that it is or ends with.
            if !*is_open || hidden.whole {
                stages.push(Stage::Head(Part::of_file(len)));
            } else if hidden.archive {
                stages.push(Stage::Zip(Part::of_file(len), Directory::default(), 0));
            }
            stages
        });
        while let Some(mut stage) = stages.pop() {
            match stage.step(file, shared, criteria) {
                Ok(Next::Done) => {}
                Ok(Next::Become(next)) => stages.push(*next),
                Ok(Next::Then(next)) => stages.extend([stage, *next]),
                Err(absent) => {
                    stages.push(stage);
                    return Err(absent);
                }
            }
        }
        shared.memory = Memory::default();
        Ok(())
    }

    /// What was found.
    pub(crate) fn into_results(self) -> Results {
        self.shared.results
    }
}

impl Shared {
    /// Counts bytes that were looked at. Entries may share bytes, so the sum has a limit.
    fn spend(&mut self, bytes: u64, part: &Part) {
        let of_part = match part.bytes.is_decoded() {
            true => &mut self.spent_decoded,
            false => &mut self.spent,
        };
        *of_part = of_part.saturating_add(bytes);
        if self.left(part) == 0 && !self.over {
            self.over = true;
            let why = "its parts share more bytes than a file of this size has";
            self.results.left(part, part.bytes.span.offset, why);
        }
    }

    /// How many more bytes may be looked at where this part is.
    fn left(&self, part: &Part) -> u64 {
        match part.bytes.is_decoded() {
            true => most_shared(self.decoded).saturating_sub(self.spent_decoded),
            false => self.most.saturating_sub(self.spent),
        }
    }
}

/// The stages for what may hide in a file of `len` bytes; the last one comes first.
fn first(hidden: &Hidden, len: u64, shared: &mut Shared) -> Vec<Stage> {
    let whole = Part::of_file(len);
    if hidden.has_more {
        let why = "more bytes belong to nothing than are looked at";
        shared.results.left(&whole, 0, why);
    }
    let behind = |at: &u64| {
        let bytes = whole.bytes.within(*at, len.saturating_sub(*at));
        Stage::Head(Part { bytes, ..whole.clone() })
    };
    hidden.starts.iter().rev().map(behind).collect()
}

/// Most bytes that parts of `len` bytes may have in all.
fn most_shared(len: u64) -> u64 {
    len.saturating_mul(limits::SHARES).saturating_add(limits::SHARED)
}

/// Most bytes that are decoded from `stored` bytes.
fn most_decoded(stored: u64) -> u64 {
    stored.saturating_mul(limits::PICKLE_RATIO).saturating_add(limits::PICKLE_DECODED_LEAST)
}

#[cfg(test)]
mod tests;
