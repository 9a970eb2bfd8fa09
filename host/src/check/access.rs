//! A file whose bytes are read as the core asks for them: a session with its input.

use crate::base::error::{Error, ReadError};
use crate::base::lock::Lock;
use crate::base::memory::Bytes;
use crate::base::span::zeros;
use crate::base::text::Text;
use crate::check::options::{Goal, Options, Progress};
use crate::check::report::Report;
use crate::check::session::{Answer, Poll, Session};
#[cfg(feature = "beside")]
use crate::input::concatenation::Together;
use crate::input::place::Place;
use crate::input::reader::Input;
use crate::input::store::Stored;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use weighbridge_core::{File, Source, Span, Stop, limits};

/// Bytes read at a time when everything is read once: a power of two.
const PIECE: usize = 1 << 20;
/// Bytes that are copied without asking whether to go on.
#[cfg(feature = "std")]
const COPIED: u64 = 16 << 20;
/// Bytes of shared data that are shown in any case, however short the file.
const SHOWN: u64 = 1 << 20;
/// Decoded bytes that count as one stored byte: real data decodes to a few times its size, but
/// a few bytes may decode to many.
const DECODED: u64 = 64;

/// A session and the source of its bytes.
pub(crate) struct Access<'a> {
    /// `None` if all bytes are in memory.
    input: Option<Box<dyn Input + 'a>>,
    whole: Option<Bytes<'a>>,
    len: u64,
    own_len: u64,
    /// The files that follow the file itself: the offset of the first byte, and the path of each.
    beside: Vec<(u64, Text)>,
    name: Option<Text>,
    options: Options,
    session: Lock<Session<'a>>,
    budget: Lock<Budget>,
}

/// What has been shown, and what may still be.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Bytes of the file that the shown entries refer to.
    shown: u64,
    /// Payload bytes looked at.
    looked: u64,
    /// Bytes of rows that may still be shown.
    rows: u64,
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("name", &self.name).field("len", &self.len).finish()
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        self.report_progress(self.len, true);
    }
}

impl<'a> Access<'a> {
    /// An access to bytes in memory.
    pub(crate) fn whole(bytes: Bytes<'a>, options: &Options) -> Self {
        Access::of(Session::over(bytes, options.clone()), None, None)
    }

    /// An access to bytes that are read as needed.
    pub(crate) fn new(input: Box<dyn Input + 'a>, name: Option<Text>, options: &Options) -> Self {
        let options = Options { near: input.is_near(), ..options.clone() };
        Access::of(Session::new(input.len(), options), Some(input), name)
    }

    /// An access to a file whose name identifies its format if its content does not.
    pub(crate) fn at(input: Box<dyn Input + 'a>, place: &dyn Place, options: &Options) -> Self {
        let options = options.clone().file_name(&place.file_name().lossy());
        Access::new(input, Some(place.name()), &options)
    }

    /// An access to what a session has in memory: reading other bytes fails with
    /// [`ReadError::Absent`], and then the session asks for them.
    pub(crate) fn around(mut session: Session<'a>) -> Self {
        let (hook, cancel) = (session.options.hook.take(), session.options.cancel.take());
        let access = Access::of(session, None, None);
        access
            .session
            .with(|session| (session.options.hook, session.options.cancel) = (hook, cancel));
        access
    }

    /// Gives the session back.
    pub(crate) fn give_back(self) -> Session<'a> {
        self.with(|session| core::mem::replace(session, Session::new(0, Options::new())))
    }

    fn of(session: Session<'a>, input: Option<Box<dyn Input + 'a>>, name: Option<Text>) -> Self {
        let whole = match &session.store.bytes {
            Stored::Whole(bytes) => Some(bytes.clone()),
            Stored::Parts(_) => None,
        };
        let options = session.options.clone();
        let budget = Budget { shown: 0, looked: 0, rows: options.shown };
        Access {
            input,
            whole,
            len: session.len(),
            own_len: session.len(),
            beside: Vec::new(),
            name,
            options,
            session: Lock::new(session),
            budget: Lock::new(budget),
        }
    }

    /// Length in bytes of the file and of its data files.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Length of the file itself, without its data files.
    pub(crate) fn own_len(&self) -> u64 {
        self.own_len
    }

    /// The other file that contains the byte at an offset, and the offset in that file; the same
    /// offset if it is in the file itself.
    pub(crate) fn place(&self, at: u64) -> (Option<&Text>, u64) {
        let after = self.beside.partition_point(|(base, _)| *base <= at);
        match after.checked_sub(1).and_then(|last| self.beside.get(last)) {
            Some((base, path)) => (Some(path), at - base),
            None => (None, at),
        }
    }

    /// Appends the files that the file refers to, and begins again. `open` adds them to the input
    /// and to the list of their paths, and says which is which, in order of the texts that name
    /// them.
    #[cfg(feature = "beside")]
    pub(crate) fn append(
        &mut self,
        open: impl FnOnce(&mut Together<'a>, &mut Vec<(u64, Text)>) -> Vec<weighbridge_core::Beside>,
    ) {
        let Some(own) = self.input.take() else { return };
        let mut together = Together::new(own);
        let others = open(&mut together, &mut self.beside);
        self.len = together.len();
        let len = self.len;
        self.input = Some(Box::new(together));
        self.with(|session| session.append(len, others));
    }

    pub(crate) fn name(&self) -> Option<&Text> {
        self.name.as_ref()
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The bytes of a span, if the whole file is in memory.
    pub(crate) fn resident(&self, span: Span) -> Option<&[u8]> {
        let from = usize::try_from(span.offset).ok()?;
        self.whole.as_ref()?.get(from..)?.get(..usize::try_from(span.len).ok()?)
    }

    /// Like [`resident`](Self::resident), if the caller owns the bytes.
    pub(crate) fn lent(&self, span: Span) -> Option<&'a [u8]> {
        let Some(Bytes::Lent(whole)) = &self.whole else { return None };
        let from = usize::try_from(span.offset).ok()?;
        whole.get(from..)?.get(..usize::try_from(span.len).ok()?)
    }

    /// Checks the file up to `goal`, without the files that belong to it.
    pub(crate) fn report(&self, goal: Goal) -> Result<Report, Error> {
        self.run(goal.max(Goal::Structure))?;
        Ok(self.with(|session| session.report()))
    }

    /// Reads until the session has reached `goal`.
    pub(crate) fn run(&self, goal: Goal) -> Result<(), Error> {
        self.session.with(|session| {
            loop {
                match session.poll(goal)? {
                    Poll::Done => return Ok(()),
                    Poll::Need(ranges) => self.fetch(session, &ranges)?,
                }
            }
        })
    }

    /// Runs `with` on the session.
    pub(crate) fn with<R>(&self, with: impl FnOnce(&mut Session<'a>) -> R) -> R {
        self.session.with(with)
    }

    /// The file, if it is open.
    pub(crate) fn file(&self) -> Option<File> {
        self.with(|session| session.file().copied())
    }

    /// Asks the core, and reads what is missing until it answers.
    ///
    /// `ask` is called repeatedly, so it must keep its progress outside and commit one entry at
    /// a time.
    pub(crate) fn ask<T>(
        &self,
        mut ask: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, Error> {
        self.session.with(|session| {
            loop {
                match session.attempt(&mut ask)? {
                    Answer::Got(answer) => return Ok(answer),
                    Answer::Need(range) => self.fetch(session, &[range])?,
                }
            }
        })
    }

    /// Like [`ask`](Self::ask), but a broken rule ends the reading: it returns the default.
    pub(crate) fn ask_or_end<T: Default>(
        &self,
        ask: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, Error> {
        match self.ask(ask) {
            Err(Error::Invalid(_)) => Ok(T::default()),
            answer => answer,
        }
    }

    /// Reads the ranges, or only the needed one if reading the others later costs nothing.
    fn fetch(&self, session: &mut Session<'a>, ranges: &[Span]) -> Result<(), Error> {
        let range = session.planned()?;
        let mut pieces = match &self.input {
            Some(input) => {
                self.options.check_cancelled()?;
                input.read_together(ranges)?
            }
            None if self.whole.is_none() => return Err(ReadError::Absent(range).into()),
            None => Vec::new(),
        };
        if pieces.is_empty() {
            let len = usize::try_from(range.len).unwrap_or(usize::MAX);
            let mut bytes: Vec<u8> = match session.store.reuse(len) {
                Some(bytes) => bytes,
                None => zeros(len)?,
            };
            self.read_quietly(range.offset, &mut bytes)?;
            pieces.push((range.offset, bytes));
        }
        for (offset, bytes) in pieces {
            session.supply(offset, bytes);
        }
        self.report_progress(session.store.supplied(), false);
        Ok(())
    }

    fn report_progress(&self, read: u64, done: bool) {
        if let Some(hook) = &self.options.hook {
            let (file, len) = (self.name.as_ref(), self.len);
            hook(&Progress { file, read: read.min(len), len, done });
        }
    }

    /// Reads bytes of the file, bypassing the windows.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.read_quietly(at, bytes)?;
        self.report_progress(at.saturating_add(bytes.len() as u64), false);
        Ok(())
    }

    fn read_quietly(&self, at: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let span = Span::new(at, bytes.len() as u64);
        match (self.resident(span), &self.input) {
            _ if bytes.is_empty() => {} // at any offset
            (Some(from), _) => bytes.copy_from_slice(from),
            (None, Some(input)) => {
                self.options.check_cancelled()?;
                input.read_at(at, bytes)?;
            }
            (None, None) => return Err(Error::Internal(span)),
        }
        Ok(())
    }

    /// Reads the `len` bytes from `at`, bypassing the windows: in one piece if they are in
    /// memory, otherwise in pieces of [`PIECE`] bytes and a shorter last one.
    pub(crate) fn stream<E: From<Error>>(
        &self,
        mut at: u64,
        len: u64,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(bytes) = self.resident(Span::new(at, len)) {
            return if bytes.is_empty() { Ok(()) } else { take(bytes) };
        }
        let mut buffer = vec![0; usize::try_from(len).map_or(PIECE, |len| len.min(PIECE))];
        let mut left = len;
        while left > 0 {
            let n = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let Some(piece) = buffer.get_mut(..n) else { break };
            self.read(at, piece)?;
            take(piece)?;
            at += n as u64;
            left -= n as u64;
        }
        Ok(())
    }

    /// Appends a span to a file without reading it into memory; `false` if that is not possible.
    /// An error of the file is returned inside.
    #[cfg(feature = "std")]
    pub(crate) fn copy_to(
        &self,
        span: Span,
        to: &std::fs::File,
    ) -> Result<std::io::Result<bool>, Error> {
        let Some(input) = &self.input else { return Ok(Ok(false)) };
        let mut done = 0;
        while done < span.len {
            self.options.check_cancelled()?;
            let (at, len) = (span.offset.saturating_add(done), (span.len - done).min(COPIED));
            match input.copy_to(at, len, to) {
                None => return Ok(Ok(false)),
                Some(Err(error)) => return Ok(Err(error)),
                Some(Ok(copied)) if copied == len => done += len,
                Some(Ok(_)) => return Err(ReadError::Changed.into()),
            }
            self.report_progress(at.saturating_add(len), false);
        }
        Ok(Ok(true))
    }

    /// Fails if the file was written to since it was opened.
    pub(crate) fn verify_unchanged(&self) -> Result<(), Error> {
        match &self.input {
            Some(input) => Ok(input.verify_unchanged()?),
            None => Ok(()),
        }
    }
}

/// Limits what is shown to a few times the file, because many entries may share one table,
/// value or payload.
impl Access<'_> {
    /// Records that an entry that refers to `len` bytes is shown.
    pub(crate) fn show(&self, len: u64) {
        self.budget.with(|budget| budget.shown = budget.shown.saturating_add(len));
    }

    /// How many more bytes the shown entries may refer to.
    pub(crate) fn room(&self) -> u64 {
        self.most().saturating_sub(self.budget.with(|budget| budget.shown))
    }

    /// Records that `stored` bytes of a payload, which decode to `decoded` bytes, are looked
    /// at.
    pub(crate) fn look(&self, stored: u64, decoded: u64) {
        let bytes = stored.max(decoded / DECODED);
        self.budget.with(|budget| budget.looked = budget.looked.saturating_add(bytes));
    }

    /// Resets what has been shown, for a second pass over the same entries.
    pub(crate) fn rewind(&self) {
        let rows = self.options.shown;
        self.budget.with(|budget| *budget = Budget { shown: 0, looked: 0, rows });
    }

    /// Changes how many bytes of rows may still be shown.
    pub(crate) fn rows<R>(&self, change: impl FnOnce(&mut u64) -> R) -> R {
        self.budget.with(|budget| change(&mut budget.rows))
    }

    /// Why no more payloads or rows are shown, if a limit is reached: many entries may share one.
    pub(crate) fn spent(&self) -> Option<&'static str> {
        let Budget { looked, rows, .. } = self.budget.with(|budget| *budget);
        if looked > self.most() {
            Some("entries share payloads or decode to many times the file, and not all are shown")
        } else if rows == 0 {
            Some("the rows are too long, and not all are shown")
        } else {
            None
        }
    }

    fn most(&self) -> u64 {
        self.len().saturating_mul(limits::SHARES).saturating_add(SHOWN)
    }
}
