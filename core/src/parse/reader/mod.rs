//! Reading forward: the one place where offsets are computed.
//!
//! [`Reader`] runs leaf parsers over the resident bytes. It turns "incomplete" into
//! [`Absent`] if the file has the bytes, or into a broken rule if the region that the
//! format declared has ended.

mod report;
mod sticky;

use crate::base::{Word, limits, place, wide, widen};
#[cfg(feature = "windows")]
use crate::input::Absent;
use crate::input::leaf::Parsed;
use crate::input::{Source, Span};
use crate::model::{Name, NameAt};
use crate::rule::{EntryKind, Finding, Rule, Subject};
use crate::rule::{Halt, general::BYTES_CHANGED};
use nom::{Err, Needed};

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

/// A number that is longer than it must be.
#[derive(Clone, Copy)]
pub(crate) struct Overlong {
    /// Where it lies; 0 if there is none.
    pub(crate) at: Word,
    /// How many bytes it takes.
    pub(crate) len: u8,
    /// How many would do.
    pub(crate) least: u8,
}

impl Overlong {
    /// There is none.
    pub(crate) const NONE: Overlong = Overlong { at: 0, len: 0, least: 0 };
}

/// Reads forward through one region of a source and reports findings.
pub(crate) struct Reader<'r, 'a> {
    source: &'r Source<'a>,
    sink: &'r mut dyn FnMut(Finding),
    /// Resident bytes from `at` on, not beyond `end`.
    run: &'a [u8],
    at: Word,
    #[cfg(feature = "windows")]
    end: u64,
    /// All of the file is in memory.
    #[cfg(feature = "windows")]
    whole: bool,
    /// Start of the current entry; all of it must lie in one window.
    mark: Word,
    /// How far the host may read ahead.
    #[cfg(feature = "windows")]
    ahead: u64,
    /// The rule that is broken if the region ends too early.
    overrun: Rule,
    #[cfg(feature = "windows")]
    absent: Absent,
    /// Number of slots needed.
    room: u32,
    /// Number of bytes missing from the region when it broke `overrun`.
    needed: u64,
    subject: Subject,
    muted: bool,
    /// Whether something fatal was reported.
    fatal: bool,
    /// Number of bytes that entries have referred to in this stage of the audit.
    #[cfg(feature = "payloads")]
    shared: u64,
    /// Why a field of the entry that is being read could not be, for formats that
    /// read on after it.
    halted: Option<Halt>,
    /// The first number of the entry that takes more bytes than it must.
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

/// How many bytes to request beyond those known to be missing, when `len` bytes of an entry
/// were resident. A long entry is scanned again from its start each time, so adding only a
/// few bytes per request would take quadratic time.
#[inline(always)]
fn more_of(len: u64) -> u64 {
    if cfg!(not(feature = "payloads")) || len < limits::LONG_ENTRY { 0 } else { len >> 3 }
}

impl<'r, 'a> Reader<'r, 'a> {
    /// A reader at the start of the file, whose region is the whole file.
    #[cfg_attr(not(feature = "names"), inline(always))]
    pub(crate) fn new(source: &'r Source<'a>, sink: &'r mut dyn FnMut(Finding)) -> Self {
        Reader {
            source,
            sink,
            run: source.run(0),
            at: 0,
            #[cfg(feature = "windows")]
            end: source.len(),
            #[cfg(feature = "windows")]
            whole: false,
            mark: 0,
            #[cfg(feature = "windows")]
            ahead: 0,
            overrun: BYTES_CHANGED,
            #[cfg(feature = "windows")]
            absent: Absent { offset: 0, need: 0, want: 0 },
            room: 0,
            needed: 0,
            subject: Subject::FILE,
            muted: false,
            fatal: false,
            #[cfg(feature = "payloads")]
            shared: 0,
            halted: None,
            overlong: Overlong::NONE,
        }
    }

    /// A reader at the start of a file that is in memory as a whole.
    #[cfg_attr(not(feature = "names"), inline(always))]
    pub(crate) fn whole(source: &'r Source<'a>, sink: &'r mut dyn FnMut(Finding)) -> Self {
        Reader {
            #[cfg(feature = "windows")]
            whole: true,
            ..Reader::new(source, sink)
        }
    }

    /// Whether bytes may be absent. Where none ever is, formats look at an entry and at
    /// what it refers to in one step.
    #[inline(always)]
    pub(crate) fn is_partial(&self) -> bool {
        #[cfg(feature = "windows")]
        return !self.whole;
        #[cfg(not(feature = "windows"))]
        false
    }

    /// Goes to `at` and starts an entry there. The region is `at..end`, cut at the end of
    /// the file; a read past it breaks `overrun`. The host may read ahead to the end of the
    /// region.
    #[inline(always)]
    pub(crate) fn region(&mut self, at: u64, end: u64, overrun: Rule) {
        self.begin(place(at), place(end), overrun);
        self.read_ahead(end);
    }

    #[cfg_attr(not(feature = "names"), inline(always))]
    fn begin(&mut self, at: Word, end: Word, overrun: Rule) {
        self.overrun = overrun;
        self.enter(at, end);
        self.mark = at;
    }

    /// Notes that an entry refers to `len` bytes, which are read next.
    ///
    /// Only readers with payloads count.
    #[inline(always)]
    pub(crate) fn charge(&mut self, len: u64) {
        self.set_shared(self.shared().saturating_add(len));
    }

    /// Number of bytes that entries have referred to in this stage of the audit.
    #[inline(always)]
    pub(crate) fn shared(&self) -> u64 {
        #[cfg(feature = "payloads")]
        return self.shared;
        #[cfg(not(feature = "payloads"))]
        0
    }

    #[inline(always)]
    pub(crate) fn set_shared(&mut self, shared: u64) {
        #[cfg(feature = "payloads")]
        (self.shared = shared);
        #[cfg(not(feature = "payloads"))]
        let _ = shared;
    }

    /// Number of bytes that entries may refer to before the stage ends.
    pub(crate) fn allowance(&self) -> u64 {
        self.source.len().saturating_mul(limits::SHARES).saturating_add(limits::SHARED)
    }

    /// Whether entries have referred to more bytes than that.
    #[inline(always)]
    pub(crate) fn is_spent(&self) -> bool {
        cfg!(feature = "payloads") && self.is_partial() && self.shared() > self.allowance()
    }

    /// Sets another end and another rule within the current entry, for parts with their own
    /// length.
    pub(crate) fn limit(&mut self, end: u64, overrun: Rule) {
        self.overrun = overrun;
        self.enter(self.at, place(end));
    }

    /// Limits how far the host reads ahead, as an absolute offset.
    pub(crate) fn read_ahead(&mut self, end: u64) {
        #[cfg(feature = "windows")]
        (self.ahead = end.min(self.source.len()));
        #[cfg(not(feature = "windows"))]
        let _ = end;
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
    #[cfg_attr(not(feature = "names"), inline(always))]
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

    /// Moves to `at`, in a region up to `end`.
    #[cfg_attr(not(feature = "names"), inline(always))]
    fn enter(&mut self, at: Word, end: Word) {
        let run = self.source.run(wide(at));
        let left = end.saturating_sub(at);
        #[cfg(feature = "windows")]
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        self.run = run.get(..left).unwrap_or(run);
        self.at = at;
        #[cfg(feature = "windows")]
        (self.end = end.min(self.source.len()));
    }

    /// Absolute offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        wide(self.at)
    }

    /// Offset of the first byte after the region.
    pub(crate) fn end(&self) -> u64 {
        #[cfg(feature = "windows")]
        return self.end;
        #[cfg(not(feature = "windows"))]
        self.at().wrapping_add(self.left())
    }

    /// Number of bytes left in the region.
    pub(crate) fn left(&self) -> u64 {
        #[cfg(feature = "windows")]
        return self.end.saturating_sub(self.at);
        #[cfg(not(feature = "windows"))]
        widen(self.run.len())
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
        #[cfg(feature = "windows")]
        let len = widen(len);
        self.at = self.at.wrapping_add(len);
    }

    /// Advances to where `rest` is all that is left of the resident bytes.
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

    /// Requests `len` bytes from here on, which are not all resident.
    #[cold]
    #[cfg_attr(not(feature = "names"), inline(always))]
    fn short(&mut self, len: u64) -> Halt {
        #[cfg(feature = "windows")]
        if len <= self.left() {
            return self.ask(len);
        }
        self.needed = len;
        Halt::broken(self.overrun)
    }

    /// Stores that `len` bytes of the region are missing.
    #[cfg(feature = "windows")]
    fn ask(&mut self, len: u64) -> Halt {
        let passed = self.at.saturating_sub(self.mark);
        let more = more_of(passed).min(self.left().saturating_sub(len));
        let need = passed.saturating_add(len).saturating_add(more);
        let want = self.ahead.saturating_sub(self.mark).max(need);
        self.absent = Absent { offset: self.mark, need, want };
        Halt::ABSENT
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
    #[cfg_attr(not(feature = "names"), inline(always))]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Halt> {
        Ok(self.take(widen(N))?.first_chunk().unwrap_or(&[0; N]))
    }

    /// `len` bytes as one slice.
    #[cfg_attr(not(feature = "names"), inline(always))]
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

    /// Skips `len` bytes, which need not be resident.
    #[cfg(feature = "windows")]
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Halt> {
        if len > self.left() {
            return Err(self.short(len));
        }
        match usize::try_from(len).ok().and_then(|n| self.run.get(n..)) {
            Some(rest) => {
                self.run = rest;
                self.at = self.at.saturating_add(len);
            }
            None => self.enter(self.at.saturating_add(len), self.end),
        }
        Ok(())
    }

    /// Skips `len` bytes.
    #[cfg(not(feature = "windows"))]
    pub(crate) fn skip(&mut self, len: u64) -> Result<(), Halt> {
        self.take(len).map(|_| ())
    }

    /// The `span` as one slice, anywhere in the file; the reader does not move.
    #[cfg(feature = "windows")]
    pub(crate) fn get(&mut self, span: Span) -> Result<&'a [u8], Halt> {
        self.source.get(span).map_err(|absent| self.lack(absent))
    }

    /// The `span` as one slice, anywhere in the file; the reader does not move.
    #[cfg(not(feature = "windows"))]
    pub(crate) fn get(&mut self, span: Span) -> Result<&'a [u8], Halt> {
        self.source.all(span).ok_or(Halt::broken(BYTES_CHANGED))
    }

    /// The `len` bytes at `at`, which are known to be inside the file.
    pub(crate) fn piece(&mut self, at: Word, len: Word) -> Result<&'a [u8], Halt> {
        #[cfg(feature = "windows")]
        return self.get(Span::new(at, len));
        #[cfg(not(feature = "windows"))]
        self.source.piece(at, len).ok_or(Halt::broken(BYTES_CHANGED))
    }

    /// The name at `at`, anywhere in the file.
    pub(crate) fn name(&mut self, at: &NameAt) -> Result<Name<'a>, Halt> {
        Ok(Name::new(self.get(at.span())?, at.encoding))
    }
}
