//! A file check that says which bytes it needs and never reads any itself.

mod state;

use crate::base::error::{Error, ReadError};
use crate::base::memory::Bytes;
use crate::base::text::Text;
use crate::check::entry_names::MOST_NAME;
use crate::check::options::{Goal, Options};
use crate::check::steps::Check;
use crate::input::store::{Store, Stored};
use crate::list::entry::Catalog;
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::{Absent, EntryKind, File, Metadata, Source, Span, Stop, limits};

/// A check or read of a file that is only partially in memory.
///
/// It performs no I/O: [`poll`](Self::poll) returns the missing ranges and
/// [`supply`](Self::supply) adds their bytes. One loop therefore serves files, browsers and
/// HTTP clients, blocking or not. To read tensor values by range, `Model::from_input` is
/// simpler.
///
/// ```
/// use weighbridge::{Goal, Options, Poll, Session, weighbridge_core::Profile};
///
/// # let file = weighbridge_tests::samples::safetensors();
/// let mut session = Session::new(file.len() as u64, Options::new());
/// while let Poll::Need(ranges) = session.poll(Goal::Payloads)? {
///     for range in ranges {
///         let (from, len) = (range.offset as usize, range.len as usize);
///         session.supply(range.offset, file[from..from + len].to_vec());
///     }
/// }
/// assert!(session.report().verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Debug)]
pub struct Session<'a> {
    pub(crate) store: Store<'a>,
    pub(crate) options: Options,
    /// In its own place: it is large, and sessions are moved.
    check: Box<Check>,
    catalog: Option<Catalog>,
}

/// What a session needs next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// These ranges, each supplied whole or in adjacent pieces.
    Need(Vec<Span>),
    /// Nothing: the goal is reached.
    Done,
}

/// The answer to a query, or the bytes needed to answer it.
pub(crate) enum Answer<T> {
    Got(T),
    Need(Span),
}

impl Session<'static> {
    /// A session for a file of `len` bytes, none of them in memory yet.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// let Poll::Need(ranges) = session.poll(Goal::Header)? else { panic!("it has no bytes yet") };
    /// assert_eq!(ranges[0].offset, 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn new(len: u64, options: Options) -> Self {
        Session::of(Store::parts(len, options.windows), options)
    }
}

impl<'a> Session<'a> {
    /// A session for a file that is entirely in memory, so it never needs bytes.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// assert_eq!(session.poll(Goal::Structure)?, Poll::Done);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn whole(bytes: &'a [u8], options: Options) -> Self {
        Session::over(Bytes::Lent(bytes), options)
    }

    pub(crate) fn over(bytes: Bytes<'a>, options: Options) -> Self {
        Session::of(Store::whole(bytes), Options { near: true, ..options })
    }

    /// Appends the files that the file refers to, up to a length of `len` in all, and begins again.
    #[cfg(feature = "beside")]
    pub(crate) fn append(&mut self, len: u64, others: Vec<weighbridge_core::Beside>) {
        self.store.append(len, others);
        *self.check = Check::new(&self.options);
        self.catalog = None;
    }

    fn of(store: Store<'a>, options: Options) -> Self {
        let check = Box::new(Check::new(&options));
        Session { store, options, check, catalog: None }
    }

    /// Works towards `goal` as far as the supplied bytes allow.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.poll(Goal::Header)?; // enough for what follows
    /// assert_eq!(session.file().unwrap().tensor_count(), 1);
    /// assert_eq!(session.poll(Goal::Payloads)?, Poll::Done); // now everything
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// If more bytes are needed in memory at once than the limits allow.
    pub fn poll(&mut self, goal: Goal) -> Result<Poll, Error> {
        if !self.advance(goal) || !self.diagnose() || !self.name() {
            return self.need();
        }
        if goal == Goal::Index && self.catalog.as_ref().is_none_or(|catalog| !catalog.is_done()) {
            let Session { store, options, check, catalog } = self;
            let Some(file) = check.file else { return Ok(Poll::Done) };
            let catalog = catalog.get_or_insert_with(Catalog::default);
            match store.ask(|source| catalog.step(&file, source, options.memory)) {
                Ok(()) => {}
                Err(Stop::NeedBytes(absent)) => {
                    self.lack(absent);
                    return self.need();
                }
                Err(Stop::NeedSlots { needed }) => {
                    return Err(Error::Memory(u64::from(needed) * Catalog::ENTRY));
                }
                Err(_) => catalog.end(),
            }
        }
        Ok(Poll::Done)
    }

    /// Opens the file and, from [`Goal::Structure`] on, audits it; `false` if bytes are
    /// missing, which [`needs`](Self::needs) lists. Unlike [`poll`](Self::poll) it reads
    /// nothing that only the report needs, such as entry names, and does not reject a range for
    /// its length.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::new(bytes.len() as u64, Options::new());
    /// assert!(!session.advance(Goal::Structure));
    /// session.supply(0, bytes);
    /// assert!(session.advance(Goal::Structure) && session.findings().is_empty());
    /// ```
    pub fn advance(&mut self, goal: Goal) -> bool {
        while self.step_check(|check, source, options| check.step(source, goal, options)) {
            let Some(index) = self.check.take_index() else { return true };
            self.store.adopt(limits::INDEX, index);
        }
        false
    }

    /// Diagnoses a file that could not be opened; `false` if bytes are missing.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"<!DOCTYPE html><title>404</title>", Options::new());
    /// assert!(session.advance(Goal::Header) && session.diagnose());
    /// assert!(session.diagnosis().unwrap().is_other());
    /// ```
    pub fn diagnose(&mut self) -> bool {
        self.step_check(|check, source, options| check.diagnose(source, options))
    }

    fn name(&mut self) -> bool {
        self.step_check(|check, source, _| check.name(source))
    }

    fn step_check(
        &mut self,
        step: impl FnOnce(&mut Check, &Source<'_>, &Options) -> Result<(), Absent>,
    ) -> bool {
        let Session { store, options, check, .. } = self;
        match store.ask(|source| step(check, source, options)) {
            Ok(()) => {
                store.content();
                true
            }
            Err(absent) => {
                self.lack(absent);
                false
            }
        }
    }

    fn need(&self) -> Result<Poll, Error> {
        self.planned().map(|_| Poll::Need(self.needs().to_vec()))
    }

    /// Records what is missing, and the tables to request along with it.
    fn lack(&mut self, absent: Absent) {
        let mut more = Vec::new();
        // Scattered tables are requested together because a round trip costs more.
        if let Some(file) = self.check.file.filter(|_| self.check.checked().is_empty()) {
            self.store.ask(|source| file.missing(source, &mut |absent| more.push(absent)));
        }
        self.store.lack(absent, &more);
    }

    /// The requested range that contains the missing bytes.
    pub(crate) fn planned(&self) -> Result<Span, Error> {
        let Stored::Parts(parts) = &self.store.bytes else {
            return Err(Error::Internal(Span::default()));
        };
        match parts.first() {
            Some(_) if parts.has(&parts.needed) => Err(Error::Internal(parts.needed)),
            Some(range) => Ok(range),
            None => Err(ReadError::TooLarge(parts.needed).into()),
        }
    }

    /// The ranges missing for the last request, ascending; empty if it was answered.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// assert!(session.needs().is_empty());
    /// session.advance(Goal::Header);
    /// assert_eq!(session.needs()[0].offset, 0);
    /// ```
    pub fn needs(&self) -> &[Span] {
        self.store.asked()
    }

    /// Asks the core about the open file; `None` if it is not open. If bytes are missing,
    /// [`needs`](Self::needs) lists them: ask again once they are supplied.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Header);
    /// let elements = session.ask(|file, source| {
    ///     let mut cursor = Default::default();
    ///     let first = file.next_tensor(source, &mut cursor, &mut |_| {})?;
    ///     Ok(first.map(|entry| entry.tensor.elements))
    /// })?;
    /// assert_eq!(elements, Some(Some(6)));
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The core's errors.
    pub fn ask<T>(
        &mut self,
        ask: impl FnOnce(&File, &Source<'_>) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let Some(file) = self.check.file else {
            self.store.content();
            return Ok(None);
        };
        match self.store.ask(|source| ask(&file, source)) {
            Ok(answer) => {
                self.store.content();
                Ok(Some(answer))
            }
            Err(stop) => Err(self.stopped(stop)),
        }
    }

    /// Records the missing bytes, if they are why the core stopped.
    fn stopped(&mut self, stop: Stop) -> Stop {
        match stop {
            Stop::NeedBytes(absent) => self.lack(absent),
            _ => self.store.content(),
        }
        stop
    }

    /// Passes the bytes in memory to `look`, without requesting any.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// session.supply(0, *b"GGUF");
    /// assert_eq!(session.look(|source| source.run(1).to_vec()), b"GUF");
    /// ```
    pub fn look<T>(&self, look: impl FnOnce(&Source<'_>) -> T) -> T {
        self.store.ask(look)
    }

    /// The key of the metadata entry of this kind and position in its table, cut after 512
    /// bytes. Empty if `listed` does not contain the entry, or if the key is not in memory.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::EntryKind;
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::words();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Header);
    /// let entry = session.ask(|file, source| {
    ///     let entry = file.next_meta(source, &mut Default::default(), &mut |_| {})?;
    ///     Ok(entry.map(|entry| entry.metadata))
    /// })?;
    /// let listed = [entry.flatten().unwrap()];
    /// assert_eq!(session.key(&listed, EntryKind::Metadata, 0), "words");
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn key(&self, listed: &[Metadata], kind: EntryKind, index: u32) -> Text {
        let entry = listed.iter().find(|meta| meta.kind == kind && meta.index == index);
        let read = |meta: &Metadata| {
            self.look(|source| meta.key.read(source).map(|key| Text::start_of(&key, MOST_NAME)))
        };
        entry.and_then(|meta| read(meta).ok()).unwrap_or_default()
    }

    /// Calls `take` for each span in memory, with the value beside it and its bytes.
    ///
    /// ```
    /// use weighbridge::{Options, Session, Span};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// let spans = [(Span::new(0, 2), 'a'), (Span::new(3, 1), 'b')];
    /// assert!(session.read(spans, |_, _| ()).is_err());
    /// session.supply(0, *b"GGUF");
    /// let mut seen = Vec::new();
    /// session.read(spans, |name, bytes| seen.push((name, bytes.len())))?;
    /// assert_eq!(seen, [('a', 2), ('b', 1)]);
    /// # Ok::<(), weighbridge::weighbridge_core::Absent>(())
    /// ```
    ///
    /// # Errors
    /// The first missing span; [`needs`](Self::needs) lists as many as can be kept together.
    pub fn read<T>(
        &mut self,
        spans: impl IntoIterator<Item = (Span, T)>,
        mut take: impl FnMut(T, &[u8]),
    ) -> Result<(), Absent> {
        let mut missing = Vec::new();
        self.store.ask(|source| {
            for (span, with) in spans {
                match source.get(span) {
                    Ok(bytes) => take(with, bytes),
                    Err(absent) => missing.push(absent),
                }
            }
        });
        let Some((first, more)) = missing.split_first() else {
            self.store.content();
            return Ok(());
        };
        self.store.lack(*first, more);
        Err(*first)
    }

    /// Adds bytes of the file, requested or not.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Poll, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::new(bytes.len() as u64, Options::new());
    /// session.supply(0, bytes); // before it is asked for
    /// assert_eq!(session.poll(Goal::Payloads)?, Poll::Done);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn supply(&mut self, offset: u64, bytes: impl Into<Vec<u8>>) {
        if let Stored::Parts(parts) = &mut self.store.bytes {
            parts.supply(offset, bytes.into());
        }
    }

    /// Asks the core, or returns the range to read if bytes are missing. `ask` is called again
    /// once they are there, so it must keep its progress outside.
    pub(crate) fn attempt<T>(
        &mut self,
        ask: &mut dyn FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<Answer<T>, Error> {
        match self.store.ask(ask) {
            Ok(answer) => Ok(Answer::Got(answer)),
            // The caller reads one range at a time.
            Err(Stop::NeedBytes(absent)) => {
                self.store.lack(absent, &[]);
                self.planned().map(Answer::Need)
            }
            Err(Stop::Invalid(rule)) => Err(Error::Invalid(rule)),
            Err(Stop::NeedSlots { needed }) => Err(Error::Memory(u64::from(needed) * 24)),
            Err(Stop::NeedBuffer { needed }) => Err(Error::Memory(needed)),
        }
    }
}
