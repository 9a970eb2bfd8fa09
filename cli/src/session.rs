//! A file that is being worked on: it is read as the core asks for it.

use crate::human;
use crate::progress::{Bar, Bars};
use crate::text::Text;
use crate::windows::{FileSource, ReadError};
use std::fmt;
use std::io;
use weighbridge_core::codec::Fault;
use weighbridge_core::{Absent, Rule, Source, Stop, limits};

/// How much is read at a time when all of it is read once: a power of two.
const PIECE: usize = 1 << 20;

/// How much is shown of what entries share, however short the file is.
const SHOWN: u64 = 1 << 20;

/// How many decoded bytes weigh as much as a stored one: real data are a few times
/// as long, and a few bytes may decode to many.
const DECODED: u64 = 64;

/// Most bytes of rows of data views that are shown, eight an element: a single row
/// may have 2^31, and as JSON each takes some ten times as much memory.
const ROWS: u64 = 128 << 20;

/// A file, and what is known of how far the work on it is.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    file: FileSource,
    bar: Bar<'a>,
    /// How much of the file entries referred to that were shown.
    shown: u64,
    /// How much was looked at of payloads.
    looked: u64,
    /// How many bytes of rows are still shown.
    rows: u64,
}

/// Why a question to the core got no answer.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The file could not be read.
    Read(ReadError),
    /// The core asks again for bytes that it was given.
    Stuck(Absent),
    /// The file cannot be read on from here, because it breaks this rule.
    Refused(Rule),
    /// So many slots are needed.
    Room(u32),
    /// A buffer of so many bytes is needed.
    Buffer(u64),
    /// Data cannot be decoded.
    Fault(Fault),
    /// The same of a file that this one lists.
    Shard(Text, Box<Halt>),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Read(err) => err.fmt(f),
            Halt::Stuck(Absent { offset: at, need, .. }) => {
                let bytes = human::plural(*need, "byte");
                write!(f, "internal error: {bytes} at offset {at} asked for twice")
            }
            Halt::Refused(rule) => write!(f, "breaks {}: {}", rule.id(), rule.info().spec),
            Halt::Fault(fault) => write!(f, "its data cannot be decoded: {fault}"),
            Halt::Shard(name, halt) => write!(f, "\"{name}\": {halt}"),
            Halt::Room(slots) => write!(f, "{} needed", human::plural((*slots).into(), "slot")),
            Halt::Buffer(len) => write!(f, "a buffer of {} needed", human::plural(*len, "byte")),
        }
    }
}

impl From<ReadError> for Halt {
    fn from(err: ReadError) -> Self {
        Halt::Read(err)
    }
}

/// Why something was not shown to its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// Of the file that is read.
    Read(Halt),
    /// Of what is written.
    Write(io::Error),
}

impl From<Halt> for Stopped {
    fn from(halt: Halt) -> Self {
        Stopped::Read(halt)
    }
}

impl From<ReadError> for Stopped {
    fn from(err: ReadError) -> Self {
        Stopped::Read(err.into())
    }
}

impl From<io::Error> for Stopped {
    fn from(err: io::Error) -> Self {
        Stopped::Write(err)
    }
}

impl<'a> Session<'a> {
    pub(crate) fn new(file: FileSource, bar: Bar<'a>) -> Self {
        Session { file, bar, shown: 0, looked: 0, rows: ROWS }
    }

    /// Length of the file in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.file.len()
    }

    /// The bars that other files beside this one are to use.
    pub(crate) fn bars(&self) -> &'a Bars {
        self.bar.all()
    }

    /// Takes note that an entry is shown that refers to `len` bytes.
    pub(crate) fn show(&mut self, len: u64) {
        self.shown = self.shown.saturating_add(len);
    }

    /// How many bytes more entries may refer to and be shown: a few times the
    /// file, because many entries may share one table or value.
    pub(crate) fn room(&self) -> u64 {
        self.most().saturating_sub(self.shown)
    }

    /// Takes note that of a payload `stored` bytes are looked at, which become
    /// `decoded` ones.
    pub(crate) fn look(&mut self, stored: u64, decoded: u64) {
        self.looked = self.looked.saturating_add(stored.max(decoded / DECODED));
    }

    /// Begins anew with what is shown, for a second pass over the same entries.
    pub(crate) fn rewind(&mut self) {
        (self.shown, self.looked, self.rows) = (0, 0, ROWS);
    }

    /// Reads bytes of the file past the windows.
    pub(crate) fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Halt> {
        Ok(self.file.read_exact_at(at, bytes)?)
    }

    /// How many bytes of rows may still be shown.
    pub(crate) fn rows(&mut self) -> &mut u64 {
        &mut self.rows
    }

    /// Why no more payloads are looked at, if so: as many entries may share one.
    pub(crate) fn spent(&self) -> Option<&'static str> {
        if self.looked > self.most() {
            Some("entries share payloads or decode to many times the file, and not all are shown")
        } else if self.rows == 0 {
            Some("the rows are too long, and not all are shown")
        } else {
            None
        }
    }

    fn most(&self) -> u64 {
        self.len().saturating_mul(limits::SHARES).saturating_add(SHOWN)
    }

    /// Asks the core, and reads what it lacks until it answers.
    ///
    /// `ask` is called again and again: it must keep what it has achieved
    /// outside, and commit one entry at a time.
    pub(crate) fn ask<T>(
        &mut self,
        mut ask: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, Halt> {
        let mut last = None;
        loop {
            let windows = self.file.windows();
            let source = Source::windows(self.file.len(), &windows);
            match ask(&source) {
                Ok(answer) => return Ok(answer),
                Err(Stop::NeedBytes(absent)) if last == Some(absent) => {
                    return Err(Halt::Stuck(absent));
                }
                Err(Stop::NeedBytes(absent)) => {
                    last = Some(absent);
                    drop(windows);
                    self.file.fetch(absent)?;
                    self.bar.at(self.file.bytes_read());
                }
                Err(Stop::Invalid(rule)) => return Err(Halt::Refused(rule)),
                Err(Stop::NeedSlots { needed }) => return Err(Halt::Room(needed)),
                Err(Stop::NeedBuffer { needed }) => return Err(Halt::Buffer(needed)),
            }
        }
    }

    /// Reads the `len` bytes from `at`, past the windows, in pieces of
    /// [`PIECE`] bytes and a last one.
    pub(crate) fn stream<E: From<Halt>>(
        &mut self,
        mut at: u64,
        len: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut buffer = vec![0; usize::try_from(len).map_or(PIECE, |len| len.min(PIECE))];
        let mut left = len;
        while left > 0 {
            let n = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let Some(piece) = buffer.get_mut(..n) else { break };
            self.file.read_exact_at(at, piece).map_err(Halt::from)?;
            take(piece)?;
            at += n as u64;
            left -= n as u64;
            self.bar.at(at);
        }
        Ok(())
    }

    /// Fails if the file was written to meanwhile.
    pub(crate) fn verify_unchanged(&self) -> Result<(), ReadError> {
        self.file.verify_unchanged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Criteria, Depth, Report};
    use crate::tensors;
    use std::fs::File;
    use std::io::{Seek as _, SeekFrom, Write as _};
    use weighbridge_tests::encode::ztensor::{self, Item, Tensor};

    /// A thousand tensors of 40 MB, their index after them. The file is
    /// sparse: it takes no room on the disk.
    #[test]
    fn of_40_gigabytes_only_the_index_is_read() {
        const SIZE: u64 = 40_000_003;
        let one = |i| Tensor::raw(&format!("layer.{i}.weight"), "uint8", &[SIZE], Vec::new());
        let mut draft = ztensor::File::of((0..1000).map(one)).draft();
        let mut end = 8_u64;
        for entry in &mut draft.entries {
            let at = end.next_multiple_of(64);
            entry.set("offset", Item::Uint(at)).set("size", Item::Uint(SIZE));
            end = at + SIZE;
        }
        let index = draft.index_bytes();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("large.zt");
        let mut file = File::create(&path).expect("a new file");
        file.write_all(&ztensor::MAGIC).expect("writes");
        file.seek(SeekFrom::Start(end)).expect("seeks");
        file.write_all(&index).expect("writes");
        file.write_all(&(index.len() as u64).to_le_bytes()).expect("writes");

        let bars = Bars::new();
        let source = FileSource::open(&path).expect("opens");
        assert!(source.len() > 40_000_000_000);
        let bar = bars.file(String::new(), source.len());
        let mut session = Session::new(source, bar);
        let criteria = Criteria::new(false);
        let report = Report::of(&mut session, &path, None, Depth::Structure, &criteria);
        let report = report.expect("it is read");
        assert!(report.valid && report.findings.is_empty(), "{report:?}");
        let file = report.file.expect("it opens");
        let mut count = 0;
        let listed = tensors::each(&mut session, &file, &mut |_, _| {
            count += 1;
            Ok(())
        });
        assert!(listed.is_ok() && count == 1000);
        let read = session.file.bytes_read();
        assert!(read < 1 << 20, "{read} bytes were read");
    }
}
