//! A file on disk, of which the parts that the core asks for are in memory.
//!
//! Nothing is mapped: a file that shrinks while it is read gives an error here,
//! where a mapping would end the process with a signal.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::SystemTime;
use weighbridge_core::{Absent, Window};

/// Reads begin and end at multiples of this. Small, because what lies scattered
/// through a large file, such as the padding after each of its tensors, costs
/// one read each.
const GRAIN: u64 = 512;
/// Files up to this length are read as a whole.
const SMALL_FILE: u64 = 64 << 10;
/// The most that is read ahead of what is needed. Reads that follow one
/// another double up to it.
const MOST_AHEAD: u64 = 4 << 20;
/// The most that is needed in one piece: above the largest index region that
/// the core accepts, and small enough for a container.
const MOST_NEEDED: u64 = 512 << 20;
/// What is kept in memory before the oldest windows go.
const RESIDENT: u64 = 32 << 20;
/// How many windows are kept: the core searches them in a row.
const WINDOWS: usize = 48;
/// How many of the newest windows stay whatever else goes, so that a question
/// that needs several at once is answered.
const NEWEST: usize = 4;

/// A file that is open for reading, and the windows of it that are in memory.
#[derive(Debug)]
pub(crate) struct FileSource {
    file: File,
    len: u64,
    modified: Option<SystemTime>,
    windows: VecDeque<Block>,
    resident: u64,
    /// How much to read next, if it follows what was read last.
    ahead: u64,
    read: u64,
}

#[derive(Debug)]
struct Block {
    at: u64,
    bytes: Vec<u8>,
}

impl Block {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }
}

/// Why a part of a file could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    /// The path leads to something that is not a file.
    NotAFile(&'static str),
    /// The file no longer has the bytes it had when it was opened.
    Changed,
    /// More bytes are needed in one piece than are kept in memory.
    TooLarge {
        at: u64,
        need: u64,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(err) => err.fmt(f),
            ReadError::NotAFile(what) => write!(f, "is {what}, not a file"),
            ReadError::Changed => f.write_str("the file changed while it was read"),
            ReadError::TooLarge { at, need } => {
                let bytes = crate::human::plural(*need, "byte");
                write!(f, "{bytes} at offset {at} would have to be in memory at once")
            }
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(err: io::Error) -> Self {
        ReadError::Io(err)
    }
}

impl FileSource {
    /// Opens a regular file. Nothing is read yet.
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        // Before opening: to open a pipe waits for somebody who writes.
        regular(&fs::metadata(path)?)?;
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        regular(&metadata)?;
        Ok(FileSource {
            file,
            len: metadata.len(),
            modified: metadata.modified().ok(),
            windows: VecDeque::new(),
            resident: 0,
            ahead: GRAIN,
            read: 0,
        })
    }

    /// Length of the file in bytes, when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// How many bytes were read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.read
    }

    /// What is in memory, for a [`weighbridge_core::Source`].
    pub(crate) fn windows(&self) -> Vec<Window<'_>> {
        self.windows.iter().map(|block| Window { offset: block.at, bytes: &block.bytes }).collect()
    }

    /// Reads what the core lacks, rounded outwards.
    pub(crate) fn fetch(&mut self, absent: Absent) -> Result<(), ReadError> {
        let Absent { offset: at, need, want } = absent;
        let needed_end = at.checked_add(need).filter(|end| *end <= self.len);
        let Some(needed_end) = needed_end.filter(|_| need <= MOST_NEEDED) else {
            return Err(ReadError::TooLarge { at, need });
        };
        let follows = self.windows.back().is_some_and(|last| last.at < at && at <= last.end());
        self.ahead = if follows { (self.ahead * 2).min(MOST_AHEAD) } else { GRAIN };

        let (start, end) = if self.len <= SMALL_FILE {
            (0, self.len)
        } else {
            let start = at - at % GRAIN;
            let ahead = want.min(MOST_AHEAD).max(self.ahead);
            let end = start.saturating_add(ahead).max(needed_end);
            (start, end.checked_next_multiple_of(GRAIN).unwrap_or(end).min(self.len))
        };
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(usize::MAX)];
        self.read_exact_at(start, &mut bytes)?;

        let new = Block { at: start, bytes };
        let resident = &mut self.resident;
        self.windows.retain(|old| {
            let keep = old.at < new.at || old.end() > new.end();
            if !keep {
                *resident -= old.bytes.len() as u64;
            }
            keep
        });
        self.resident += new.bytes.len() as u64;
        self.windows.push_back(new);
        self.evict();
        Ok(())
    }

    /// Lets windows go when they are too many or too large.
    ///
    /// Of too many the smallest goes, which costs the least to read again: it
    /// is a place that was passed over once, where the large ones are the
    /// index. Of too large ones the largest goes.
    fn evict(&mut self) {
        while self.windows.len() > NEWEST {
            let old = self.windows.iter().take(self.windows.len() - NEWEST).enumerate();
            let size = |(_, block): &(usize, &Block)| block.bytes.len();
            let victim = if self.resident > RESIDENT {
                // The first of equals, as `max_by_key` would give the last.
                old.rev().max_by_key(size)
            } else if self.windows.len() > WINDOWS {
                old.min_by_key(size)
            } else {
                return;
            };
            let Some((victim, _)) = victim else { return };
            if let Some(gone) = self.windows.remove(victim) {
                self.resident -= gone.bytes.len() as u64;
            }
        }
    }

    /// Fills `bytes` from offset `at`, past the windows.
    pub(crate) fn read_exact_at(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), ReadError> {
        let mut done = 0;
        while done < bytes.len() {
            match read_at(&mut self.file, &mut bytes[done..], at + done as u64) {
                Ok(0) => return Err(ReadError::Changed),
                Ok(n) => done += n,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err.into()),
            }
        }
        self.read += done as u64;
        Ok(())
    }

    /// Fails if the file was written to since it was opened, for then what was
    /// read is neither the old file nor the new one.
    pub(crate) fn verify_unchanged(&self) -> Result<(), ReadError> {
        let now = self.file.metadata()?;
        if now.len() == self.len && now.modified().ok() == self.modified {
            Ok(())
        } else {
            Err(ReadError::Changed)
        }
    }
}

fn regular(metadata: &fs::Metadata) -> Result<(), ReadError> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(ReadError::NotAFile("a folder"))
    } else {
        Err(ReadError::NotAFile("a pipe or a device"))
    }
}

#[cfg(unix)]
fn read_at(file: &mut File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(at))?;
    file.read(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use weighbridge_core::Source;

    /// A file of `len` bytes, each the low byte of its offset over 4096.
    fn sample(len: u64) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let bytes: Vec<u8> = (0..len).map(|at| (at >> 12) as u8 ^ at as u8).collect();
        file.write_all(&bytes).expect("room for the sample");
        file
    }

    fn absent(at: u64, need: u64, want: u64) -> Absent {
        Absent { offset: at, need, want }
    }

    #[test]
    fn what_was_asked_for_is_there_and_rounded() {
        let sample = sample(100_000);
        let mut file = FileSource::open(sample.path()).expect("opens");
        file.fetch(absent(50_000, 10, 10)).expect("reads");
        let windows = file.windows();
        assert_eq!(windows.len(), 1);
        assert_eq!(windows[0].offset, 49_664);
        assert_eq!(windows[0].bytes.len() as u64, GRAIN);
        assert_eq!(
            Source::windows(file.len(), &windows).run(50_000)[0],
            (50_000u64 >> 12) as u8 ^ 80
        );
    }

    #[test]
    fn reads_that_follow_one_another_grow_and_swallow_none() {
        let sample = sample(1 << 20);
        let mut file = FileSource::open(sample.path()).expect("opens");
        let mut at = 0;
        let mut fetches = 0;
        while at < file.len() {
            let windows = file.windows();
            let run = Source::windows(file.len(), &windows).run(at).len() as u64;
            if run == 0 {
                file.fetch(absent(at, 1, 1)).expect("reads");
                fetches += 1;
            }
            at += run;
        }
        assert!(fetches <= 12, "{fetches} reads for a megabyte");
        assert!(file.bytes_read() < (1 << 20) + 8 * GRAIN);
    }

    #[test]
    fn memory_stays_bounded() {
        let sample = sample(1 << 20);
        sample.as_file().set_len(1 << 30).expect("a sparse file");
        let mut file = FileSource::open(sample.path()).expect("opens");
        for n in 0..200 {
            file.fetch(absent(n * (5 << 20) % (1 << 30), 3 << 20, 3 << 20)).expect("reads");
            let newest = NEWEST as u64 * (3 << 20);
            assert!(file.resident <= RESIDENT.max(newest) && file.windows.len() <= WINDOWS);
        }
        for n in 0..200 {
            file.fetch(absent(n * (1 << 20), 1, 1)).expect("reads");
            assert!(file.windows.len() <= WINDOWS);
        }
    }

    #[test]
    fn the_index_stays_while_small_places_are_passed_over() {
        let sample = sample(100_000);
        sample.as_file().set_len(1 << 30).expect("a sparse file");
        let mut file = FileSource::open(sample.path()).expect("opens");
        file.fetch(absent(0, 80_000, 80_000)).expect("reads");
        for n in 1..500 {
            file.fetch(absent(n << 20, 8, 8)).expect("reads");
            let windows = file.windows();
            assert!(Source::windows(file.len(), &windows).run(0).len() >= 80_000);
        }
        assert!(file.bytes_read() < 81_000 + 500 * 512);
    }

    #[test]
    fn a_file_that_shrinks_or_grows_is_an_error() {
        let sample = sample(100_000);
        let mut file = FileSource::open(sample.path()).expect("opens");
        file.verify_unchanged().expect("as it was");
        file.fetch(absent(0, 8, 8)).expect("it is there");
        sample.as_file().set_len(60_000).expect("shrinks");
        assert!(matches!(file.fetch(absent(59_990, 20, 20)), Err(ReadError::Changed)));
        assert!(matches!(file.verify_unchanged(), Err(ReadError::Changed)));
    }

    #[test]
    fn a_request_that_no_memory_holds_is_refused() {
        let sample = sample(10);
        sample.as_file().set_len(1 << 40).expect("a sparse file");
        let mut file = FileSource::open(sample.path()).expect("opens");
        let fetched = file.fetch(absent(0, 1 << 39, 1 << 39));
        assert!(matches!(fetched, Err(ReadError::TooLarge { need, .. }) if need == 1 << 39));
        assert!(file.fetch(absent(u64::MAX, 2, 2)).is_err());
    }

    #[test]
    fn a_folder_is_not_a_file() {
        let err = FileSource::open(Path::new(".")).expect_err("a folder");
        assert_eq!(err.to_string(), "is a folder, not a file");
    }
}
