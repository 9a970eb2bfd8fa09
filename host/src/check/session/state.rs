//! The state of a session.

use super::Session;
use crate::check::diagnosis::Diagnosis;
use crate::check::pickles::{Pickles, is_of_pickles};
use crate::check::report::Report;
use crate::list::entry::Catalog;
use weighbridge_core::{File, Finding, Format, Profile, Rule, Tally};

impl Session<'_> {
    /// Length of the file in bytes.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// assert_eq!(Session::new(6_000_000_000, Options::new()).len(), 6_000_000_000);
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "the file's length")]
    pub fn len(&self) -> u64 {
        self.store.len()
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

    /// The tensors, empty until [`Goal::Index`](crate::Goal::Index) is reached.
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

    /// The findings so far, in the order of discovery.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let mut session = Session::whole(&bytes, Options::new()); // a byte is missing at the end
    /// session.advance(Goal::Structure);
    /// assert_eq!(session.findings()[0].rule.id(), "OFFSET-BOUNDS");
    /// ```
    pub fn findings(&self) -> &[Finding] {
        &self.check.collected.kept
    }

    /// Counts of all findings so far.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Profile, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Structure);
    /// assert!(session.tally().accepted(Profile::Strict));
    /// ```
    pub fn tally(&self) -> &Tally {
        &self.check.collected.tally
    }

    /// The goals that were reached and prove something.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut session = Session::whole(&bytes, Options::new());
    /// session.advance(Goal::Structure);
    /// assert_eq!(session.checked(), ["structure"]);
    /// ```
    pub fn checked(&self) -> &'static [&'static str] {
        self.check.checked()
    }

    /// The number of entries that the current step of the audit has passed.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// assert_eq!(Session::new(6_000_000_000, Options::new()).position(), 0);
    /// ```
    pub fn position(&self) -> u32 {
        self.check.position()
    }

    /// The format, once known.
    ///
    /// ```
    /// use weighbridge::{Format, Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"GGUF", Options::new());
    /// session.advance(Goal::Header);
    /// assert_eq!(session.format(), Some(Format::Gguf)); // too short to be opened
    /// ```
    pub fn format(&self) -> Option<Format> {
        self.file().map(File::format).or(self.check.format)
    }

    /// Whether the file could not be opened.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"GGUF", Options::new());
    /// session.advance(Goal::Header);
    /// assert!(session.is_refused());
    /// ```
    pub fn is_refused(&self) -> bool {
        self.check.is_refused()
    }

    /// Whether this build does not read the file's format or generation, as far as
    /// [`diagnose`](Self::diagnose) found out. Always `false` if the options state the format.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"\x89HDF\r\n\x1A\n and so on", Options::new());
    /// assert!(session.advance(Goal::Header) && session.diagnose());
    /// assert!(session.is_unsupported());
    /// ```
    pub fn is_unsupported(&self) -> bool {
        self.options.format.is_none() && self.check.is_unsupported()
    }

    /// The same, but `false` for a file whose pickles break a rule under this profile: such a file is
    /// invalid, although nothing of it is read. `true` for a file whose tensors are read, but not its
    /// program, if it breaks no rule.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Profile;
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"cposix\nsystem\n(S'true'\ntR.", Options::new());
    /// assert!(session.advance(Goal::Header) && session.diagnose());
    /// assert!(!session.is_unsupported_in(Profile::Lenient));
    /// ```
    pub fn is_unsupported_in(&self, profile: Profile) -> bool {
        let is_open = self.check.has_program();
        let counts = |rule: Rule| is_open || is_of_pickles(rule);
        let breaks = |rule: Rule| counts(rule) && !profile.accepts(rule.severity());
        (is_open || self.is_unsupported()) && !self.tally().rules().any(|count| breaks(count.rule))
    }

    /// The diagnosis, if the file is not what it should be. For a file that could not be
    /// opened, it is limited to what [`diagnose`](Self::diagnose) found out.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// # let mut bytes = weighbridge_tests::samples::safetensors();
    /// # bytes.pop();
    /// let mut session = Session::whole(&bytes, Options::new()); // a byte is missing at the end
    /// session.advance(Goal::Structure);
    /// assert!(session.diagnosis().unwrap().to_string().starts_with("1 byte short"));
    /// ```
    pub fn diagnosis(&self) -> Option<Diagnosis> {
        self.check.diagnosis(self.store.own_len())
    }

    /// The pickles of the file, once its structure was checked.
    ///
    /// ```
    /// use weighbridge::{Goal, Options, Session};
    ///
    /// let mut session = Session::whole(b"cposix\nsystem\n(S'true'\ntR.", Options::new());
    /// session.advance(Goal::Structure);
    /// session.diagnose();
    /// assert_eq!(session.pickles().unwrap().globals()[0].name(), "posix.system");
    /// ```
    pub fn pickles(&self) -> Option<&Pickles> {
        self.check.pickles()
    }

    /// The number of bytes supplied.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// session.supply(0, *b"GGUF");
    /// assert_eq!(session.supplied(), 4);
    /// ```
    pub fn supplied(&self) -> u64 {
        self.store.supplied()
    }

    /// The number of bytes in memory.
    ///
    /// ```
    /// use weighbridge::{Options, Session};
    ///
    /// let mut session = Session::new(6_000_000_000, Options::new());
    /// session.supply(0, *b"GGUF");
    /// assert_eq!(session.resident(), 4);
    /// ```
    pub fn resident(&self) -> u64 {
        self.store.resident()
    }

    pub(crate) fn catalog(&self) -> Option<&Catalog> {
        self.catalog.as_ref()
    }

    /// A report of the findings so far.
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
        self.check.report(self.store.own_len(), &self.options)
    }
}
