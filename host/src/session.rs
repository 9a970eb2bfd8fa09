//! A check of a file that says which bytes it needs, and never reads any itself.

use crate::check::Check;
use crate::entry::Catalog;
use crate::error::Error;
use crate::options::{Goal, Options};
use crate::report::Report;
use crate::store::Store;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Absent, File, Source, Span, Stop};

/// A file that is checked or read, of which only the parts asked for are in memory.
///
/// It performs no input: [`poll`](Self::poll) names the ranges that are missing, and
/// [`supply`](Self::supply) brings their bytes. So one loop serves files, browsers,
/// HTTP clients, blocking or not.
///
/// ```
/// use weighbridge::{Goal, Options, Poll, Session, core::Profile};
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
    check: Check,
    catalog: Option<Catalog>,
}

/// What a session asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// These bytes, each range in one piece or in several that follow one another.
    Need(Vec<Span>),
    /// Nothing: the goal is reached.
    Done,
}

/// The answer to a question about a file, or the bytes that it needs.
pub(crate) enum Answer<T> {
    Got(T),
    Need(Span),
}

impl Session<'static> {
    /// A session of a file of `len` bytes, of which none is in memory yet.
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
        Session::of(Store::parts(len, options.granule), options)
    }
}

impl<'a> Session<'a> {
    /// A session of a file that is in memory as a whole, which needs nothing.
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
        Session::of(Store::Whole(bytes), options)
    }

    fn of(store: Store<'a>, options: Options) -> Self {
        let check = Check::new(&options);
        Session { store, options, check, catalog: None }
    }

    /// Length of the file in bytes.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// assert_eq!(Session::new(6_000_000_000, Options::new()).len(), 6_000_000_000);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "of the file, not of the session")]
    pub fn len(&self) -> u64 {
        self.store.len()
    }

    /// Works towards `goal` as far as the bytes go that were supplied.
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
    /// When more bytes would have to be in memory at once than the limits allow.
    pub fn poll(&mut self, goal: Goal) -> Result<Poll, Error> {
        let Session { store, options, check, .. } = self;
        if let Err(absent) = store.ask(|source| check.step(source, goal, options)) {
            return self.need(absent);
        }
        if goal == Goal::Index && self.catalog.as_ref().is_none_or(|catalog| !catalog.is_done()) {
            let Session { store, options, check, catalog, .. } = self;
            let Some(file) = check.file else { return Ok(Poll::Done) };
            let catalog = catalog.get_or_insert_with(Catalog::default);
            match store.ask(|source| catalog.step(&file, source, options)) {
                Ok(()) => {}
                Err(Stop::NeedBytes(absent)) => return self.need(absent),
                Err(Stop::NeedSlots { needed }) => {
                    return Err(Error::Memory(u64::from(needed) * Catalog::ENTRY));
                }
                Err(_) => catalog.end(),
            }
        }
        Ok(Poll::Done)
    }

    /// The ranges to read for what is missing.
    fn need(&mut self, absent: Absent) -> Result<Poll, Error> {
        let first = self.plan(absent)?;
        let mut ranges = vec![first];
        // Tables that lie scattered are wanted together, as a round trip costs more.
        if let (Some(file), Store::Parts(_)) = (self.check.file, &self.store) {
            let mut more = Vec::new();
            self.store.ask(|source| file.missing(source, &mut |absent| more.push(absent)));
            let apart =
                more.into_iter().filter(|it| it.offset != absent.offset && it.need <= TOGETHER);
            ranges
                .extend(apart.take(AT_ONCE).map(|it| Span::new(it.offset, it.want.min(TOGETHER))));
        }
        Ok(Poll::Need(ranges))
    }

    fn plan(&mut self, absent: Absent) -> Result<Span, Error> {
        match &mut self.store {
            Store::Parts(parts) if !parts.has(&absent) => Ok(parts.plan(absent)?),
            _ => Err(Error::Internal(Span::new(absent.offset, absent.need))),
        }
    }

    /// Brings bytes of the file, those that were asked for or any others.
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
        if let Store::Parts(parts) = &mut self.store {
            parts.supply(offset, bytes.into());
        }
    }

    /// The file, once it is open.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// assert!(session.file().is_none());
    /// session.poll(Goal::Header)?;
    /// assert_eq!(session.file().unwrap().format().name(), "safetensors");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn file(&self) -> Option<&File> {
        self.check.file.as_ref()
    }

    /// The tensors, once [`Goal::Index`] is reached; none before.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.poll(Goal::Index)?;
    /// assert_eq!(session.tensors()[0].name(), "emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn tensors(&self) -> &[crate::Entry] {
        self.catalog.as_ref().map_or(&[], |catalog| catalog.entries())
    }

    pub(crate) fn catalog(&self) -> Option<&Catalog> {
        self.catalog.as_ref()
    }

    /// What was found so far.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Profile, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.poll(Goal::Payloads)?;
    /// assert!(session.report().verdict(Profile::Strict).is_valid());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn report(&self) -> Report {
        self.check.report(self.len(), &self.options)
    }

    /// Asks the core; where bytes are missing, says which. `ask` is called again once
    /// they are there: it keeps what it has achieved outside.
    pub(crate) fn ask<T>(
        &mut self,
        ask: &mut dyn FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<Answer<T>, Error> {
        match self.store.ask(ask) {
            Ok(answer) => Ok(Answer::Got(answer)),
            Err(Stop::NeedBytes(absent)) => self.plan(absent).map(Answer::Need),
            Err(Stop::Invalid(rule)) => Err(Error::Invalid(rule)),
            Err(Stop::NeedSlots { needed }) => Err(Error::Memory(u64::from(needed) * 24)),
            Err(Stop::NeedBuffer { needed }) => Err(Error::Memory(needed)),
        }
    }
}

/// The most ranges beside the first that are asked for together.
const AT_ONCE: usize = 15;
/// The longest of them.
const TOGETHER: u64 = 1 << 20;
