//! Reading forward: the one place where offsets are computed.
//!
//! [`Reader`] runs leaf parsers over the resident bytes. It turns "incomplete" into
//! [`Absent`] if the file has the bytes, or into a broken rule if the region that the
//! format declared has ended.

#[cfg_attr(feature = "windows", path = "windowed.rs")]
#[cfg_attr(not(feature = "windows"), path = "mapped.rs")]
mod reach;
mod report;
mod sticky;

use crate::base::features::PAYLOADS;
use crate::base::{Word, limits, place, wide, widen, word};
use crate::input::Absent;
use crate::input::leaf::Parsed;
use crate::input::{Source, Span};
use crate::model::{Name, NameAt};
use crate::rule::{EntryKind, Finding, Rule, Subject};
use crate::rule::{Halt, general::BYTES_CHANGED};
use nom::{Err, Needed};
use reach::Reach;

/// A field of an entry: its offset in the entry and its length.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) at: u32,
    pub(crate) len: u32,
}

impl Field {
    /// The `len` bytes from `at`.
    pub(crate) const fn new(at: u32, len: u32) -> Self {
        Field { at, len }
    }

    /// The first `N` bytes of this field of `entry`; zeros if the field is missing.
    #[inline(always)]
    pub(crate) fn of<const N: usize>(self, entry: &[u8]) -> [u8; N] {
        let at = usize::try_from(self.at).unwrap_or(usize::MAX);
        entry.get(at..).and_then(|bytes| bytes.first_chunk()).copied().unwrap_or([0; N])
    }
}

/// A number that takes more bytes than it needs.
#[derive(Clone, Copy)]
pub(crate) struct Overlong {
    /// Its offset; 0 if there is none.
    pub(crate) at: Word,
    /// Number of bytes it takes.
    pub(crate) len: u8,
    /// Number of bytes it needs.
    pub(crate) least: u8,
}

impl Overlong {
    /// No overlong number.
    pub(crate) const NONE: Overlong = Overlong { at: 0, len: 0, least: 0 };
}

/// Reads forward through one region of a source and reports findings.
pub(crate) struct Reader<'r, 'a> {
    source: &'r Source<'a>,
    sink: &'r mut dyn FnMut(Finding),
    /// Resident bytes from `at` on, not beyond `end`.
    run: &'a [u8],
    at: Word,
    /// Where the region ends, and which bytes are requested.
    reach: Reach,
    /// Start of the current entry; all of it must lie in one window.
    mark: Word,
    /// The rule that is broken if the region ends too early.
    overrun: Rule,
    /// Number of slots needed.
    room: u32,
    /// Number of bytes missing from the region when it broke `overrun`.
    needed: u64,
    subject: Subject,
    muted: bool,
    /// Whether something fatal was reported.
    fatal: bool,
    /// Why a field of the current entry could not be read, for formats that read on after it.
    halted: Option<Halt>,
    /// The entry's first number that takes more bytes than it needs.
    pub(crate) overlong: Overlong,
}

impl core::fmt::Debug for Reader<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reader")
            .field("at", &self.at)
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

/// Number of bytes to request beyond those known to be missing, when `len` bytes of an entry were
/// resident. A long entry is scanned again from its start each time, so adding only a few bytes
/// per request would take quadratic time.
#[inline(always)]
fn more_of(len: u64) -> u64 {
    if !PAYLOADS || len < limits::LONG_ENTRY { 0 } else { len >> 3 }
}

impl<'r, 'a> Reader<'r, 'a> {
    /// A reader at the start of the file, whose region is the whole file.
    pub(crate) fn new(source: &'r Source<'a>, sink: &'r mut dyn FnMut(Finding)) -> Self {
        Reader {
            source,
            sink,
            run: source.run(0),
            at: 0,
            reach: Reach::of(source),
            mark: 0,
            overrun: BYTES_CHANGED,
            room: 0,
            needed: 0,
            subject: Subject::FILE,
            muted: false,
            fatal: false,
            halted: None,
            overlong: Overlong::NONE,
        }
    }

    /// A reader at the start of a file that is wholly in memory.
    pub(crate) fn whole(source: &'r Source<'a>, sink: &'r mut dyn FnMut(Finding)) -> Self {
        let mut reader = Reader::new(source, sink);
        reader.reach.nothing_is_absent();
        reader
    }

    /// Whether bytes may be absent. If not, formats read an entry and its tables in one step.
    #[inline(always)]
    pub(crate) fn is_partial(&self) -> bool {
        self.reach.is_partial()
    }

    /// Goes to `at` and starts an entry there. The region is `at..end`, cut at the end of
    /// the file; a read past it breaks `overrun`. The host may read ahead to the end of the
    /// region.
    #[inline(always)]
    pub(crate) fn region(&mut self, at: u64, end: u64, overrun: Rule) {
        self.begin(place(at), place(end), overrun);
        self.read_ahead(end);
    }

    fn begin(&mut self, at: Word, end: Word, overrun: Rule) {
        self.overrun = overrun;
        self.enter(at, end);
        self.mark = at;
    }

    /// Counts `len` bytes that an entry refers to, and that are read next.
    ///
    /// Only builds with windows count, and only builds with payloads enforce the limit.
    #[inline(always)]
    pub(crate) fn charge(&mut self, len: u64) {
        self.set_shared(self.shared().saturating_add(len));
    }

    /// Number of bytes that entries have referred to in this stage of the audit.
    #[inline(always)]
    pub(crate) fn shared(&self) -> u64 {
        self.reach.shared()
    }

    /// Sets that number.
    #[inline(always)]
    pub(crate) fn set_shared(&mut self, shared: u64) {
        self.reach.set_shared(shared);
    }

    /// Number of bytes that entries may refer to before the stage ends.
    pub(crate) fn allowance(&self) -> u64 {
        self.source.len().saturating_mul(limits::SHARES).saturating_add(limits::SHARED)
    }

    /// Whether entries have referred to more bytes than allowed.
    #[inline(always)]
    pub(crate) fn is_spent(&self) -> bool {
        PAYLOADS && self.is_partial() && self.shared() > self.allowance()
    }

    /// Sets another end and rule within the current entry, for parts with their own length.
    pub(crate) fn limit(&mut self, end: u64, overrun: Rule) {
        self.overrun = overrun;
        self.enter(self.at, place(end));
    }

    /// Limits how far the host reads ahead, as an absolute offset.
    pub(crate) fn read_ahead(&mut self, end: u64) {
        self.reach.read_ahead(end.min(self.source.len()));
    }

    /// Sets the rule that is broken if the region ends before the next read.
    pub(crate) fn overrun(&mut self, rule: Rule) {
        self.overrun = rule;
    }

    /// The rule that is broken if the region ends early.
    pub(crate) fn overrun_rule(&self) -> Rule {
        self.overrun
    }

    /// Sets the entry that later findings are about.
    pub(crate) fn about(&mut self, kind: EntryKind, entry: u32) {
        self.subject = Subject::new(kind, entry);
    }

    /// Sets the part of the entry that later findings are about.
    pub(crate) fn about_part(&mut self, part: u32) {
        self.subject.part = part;
    }

    /// The entry that findings are about.
    pub(crate) fn subject(&self) -> Subject {
        self.subject
    }

    /// Absolute offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        wide(self.at)
    }

    /// The source.
    pub(crate) fn source(&self) -> &'r Source<'a> {
        self.source
    }

    /// Runs a leaf parser.
    #[inline]
    pub(crate) fn parse<O>(
        &mut self,
        leaf: impl FnOnce(&'a [u8]) -> Parsed<'a, O>,
    ) -> Result<O, Halt> {
        match leaf(self.run) {
            Ok((rest, value)) => {
                self.pass(rest);
                Ok(value)
            }
            Err(Err::Incomplete(Needed::Size(missing))) => Err(self.lacks(widen(missing.get()))),
            Err(Err::Incomplete(Needed::Unknown)) => Err(self.lacks(1)),
            Err(Err::Error(rule) | Err::Failure(rule)) => Err(Halt::broken(rule)),
        }
    }

    /// The resident bytes from here on, for a parser whose large result does not go through
    /// [`parse`](Self::parse).
    #[inline]
    pub(crate) fn resident(&self) -> &'a [u8] {
        self.run
    }

    /// Advances past `len` resident bytes.
    #[inline(always)]
    fn went(&mut self, len: usize) {
        self.at = self.at.wrapping_add(word(widen(len)));
    }

    /// Advances until `rest` is all that remains of the resident bytes.
    #[inline]
    pub(crate) fn pass(&mut self, rest: &'a [u8]) {
        self.went(self.run.len().wrapping_sub(rest.len()));
        self.run = rest;
    }

    /// Requests `missing` bytes after the resident ones, or breaks the rule.
    #[cold]
    pub(crate) fn lacks(&mut self, missing: u64) -> Halt {
        let run = widen(self.run.len());
        let more = more_of(run).min(self.left().saturating_sub(run));
        self.short(run.saturating_add(missing.max(more)))
    }

    /// One byte.
    pub(crate) fn u8(&mut self) -> Result<u8, Halt> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    /// A little-endian `u16`.
    pub(crate) fn u16(&mut self) -> Result<u16, Halt> {
        Ok(u16::from_le_bytes(*self.array()?))
    }

    /// A little-endian `u32`.
    pub(crate) fn u32(&mut self) -> Result<u32, Halt> {
        Ok(u32::from_le_bytes(*self.array()?))
    }

    /// A little-endian `u64`.
    pub(crate) fn u64(&mut self) -> Result<u64, Halt> {
        Ok(u64::from_le_bytes(*self.array()?))
    }

    /// `N` bytes, for entries of a fixed length.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Halt> {
        Ok(self.take(widen(N))?.first_chunk().unwrap_or(&[0; N]))
    }

    /// `len` bytes as one slice.
    pub(crate) fn take(&mut self, len: u64) -> Result<&'a [u8], Halt> {
        let split = usize::try_from(len).ok().and_then(|n| self.run.split_at_checked(n));
        match split {
            Some((head, rest)) => {
                self.run = rest;
                self.went(head.len());
                Ok(head)
            }
            None => Err(self.short(len)),
        }
    }

    /// Requires that `len` bytes from here on are resident, before many small reads.
    pub(crate) fn require(&mut self, len: u64) -> Result<(), Halt> {
        match usize::try_from(len) {
            Ok(len) if len <= self.run.len() => Ok(()),
            _ => Err(self.short(len)),
        }
    }

    /// The resident bytes from here to the end of the region; at least one.
    pub(crate) fn some(&mut self) -> Result<&'a [u8], Halt> {
        if self.run.is_empty() {
            return Err(self.short(1));
        }
        self.went(self.run.len());
        Ok(core::mem::take(&mut self.run))
    }

    /// The `span` as one slice, anywhere in the file; the reader does not move.
    pub(crate) fn get(&mut self, span: Span) -> Result<&'a [u8], Halt> {
        self.source.all(span).ok_or_else(|| self.lack(Absent::all_of(span)))
    }

    /// The `len` bytes at `at`, which are known to be inside the file.
    pub(crate) fn piece(&mut self, at: Word, len: Word) -> Result<&'a [u8], Halt> {
        self.get(Span::new(wide(at), wide(len)))
    }

    /// The name at `at`, anywhere in the file.
    pub(crate) fn name(&mut self, at: &NameAt) -> Result<Name<'a>, Halt> {
        Ok(Name::new(self.get(at.span())?, at.encoding))
    }
}
