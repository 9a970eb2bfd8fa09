//! A pull parser for CBOR (RFC 8949): any well-formed input, bounded depth, one number of
//! storage per level.

use super::{field, rules};
use crate::base::cbor::{Head, double_is_single, major, single_is_half};
use crate::base::features::WINDOWS;
use crate::base::{Word, limits::CBOR_DEPTH, place, wide, widen, word};
use crate::model::{Name, NameAt, NameEncoding};
use crate::parse::Reader;
use crate::rule::{Halt, Rule, Severity};

/// Faults that do not stop the parser, as positions in [`Seen`].
pub(super) mod odd {
    pub(in super::super) const UTF8: usize = 0;
    pub(in super::super) const SIMPLE: usize = 1;
    pub(in super::super) const TAG: usize = 2;
    pub(in super::super) const DEFINITE: usize = 3;
    pub(in super::super) const INDEFINITE: usize = 4;
    pub(in super::super) const WIDE: usize = 5;
    pub(in super::super) const FLOAT: usize = 6;
    pub(in super::super) const CUSTOM_TAG: usize = 7;
    pub(in super::super) const CUSTOM_SIMPLE: usize = 8;
    pub(in super::super) const ORDER: usize = 9;
    pub(in super::super) const KEY: usize = 10;
    pub(in super::super) const FIELD_TWICE: usize = 11;
    pub(in super::super) const KEY_TWICE: usize = 12;
    pub(in super::super) const KEYS: usize = 13;
    pub(in super::super) const KEY_NESTED: usize = 14;
}

/// The rules for the faults of [`odd`], in the same order.
const ODD: [Rule; 15] = [
    rules::CBOR_UTF8,
    rules::CBOR_SIMPLE,
    rules::CBOR_TAG,
    rules::CBOR_DEFINITE,
    rules::CBOR_INDEFINITE,
    rules::CBOR_SHORTEST,
    rules::CBOR_FLOAT,
    rules::CBOR_CUSTOM_TAG,
    rules::CBOR_CUSTOM_SIMPLE,
    rules::FIELD_ORDER,
    rules::FIELD_KEY,
    rules::FIELD_DUPLICATE,
    rules::CBOR_KEY_DUPLICATE,
    rules::CBOR_KEYS,
    rules::CBOR_KEY_NESTED,
];

/// The first offset of each fault; the largest number if there is none.
pub(super) type Seen = [Word; ODD.len()];

/// Notes the offset of a fault.
pub(super) fn note(seen: &mut Seen, what: usize, at: Word) {
    if let Some(first) = seen.get_mut(what) {
        *first = at.min(*first);
    }
}

/// Returned by [`Pull::count`] for an array or map that a break ends; real counts are
/// smaller.
pub(super) const OPEN: u32 = u32::MAX;

/// Pulls data items from a reader whose region is the index.
///
/// Only the last head and the last text are stored. A fault that ends the parse is reported
/// immediately, at its own offset. From then on every head is a break, which ends whatever
/// is being read, and [`done`](Self::done) returns the fault.
#[derive(Debug)]
pub(super) struct Pull<'p, 'r, 'a> {
    pub(super) r: &'p mut Reader<'r, 'a>,
    /// The last head.
    pub(super) head: Head,
    /// Its offset.
    pub(super) head_at: Word,
    /// Offset of the last item, tags included.
    pub(super) start: Word,
    /// The last text or byte string.
    pub(super) text: Name<'a>,
    pub(super) seen: Seen,
    /// The reason why the parse ended.
    halt: Option<Halt>,
    /// Whether a custom value is being read.
    pub(super) custom: bool,
}

impl<'p, 'r, 'a> Pull<'p, 'r, 'a> {
    /// Returns a parser at the position of `r`.
    #[inline(never)]
    pub(super) fn new(r: &'p mut Reader<'r, 'a>) -> Self {
        r.overrun(rules::CBOR_TRUNCATED);
        Pull {
            r,
            head: Head::default(),
            head_at: 0,
            start: 0,
            text: Name::default(),
            seen: [Word::MAX; ODD.len()],
            halt: None,
            custom: false,
        }
    }

    /// Returns the fault that ended the parse, if any.
    #[inline]
    pub(super) fn done(&self) -> Result<(), Halt> {
        self.halt.map_or(Ok(()), Err)
    }

    /// Offset of the next item.
    pub(super) fn at(&self) -> Word {
        word(self.r.at())
    }

    /// Moves back to `at`, which was read before.
    pub(super) fn go(&mut self, at: Word) {
        let end = self.r.end();
        self.r.region(wide(at), end, rules::CBOR_TRUNCATED);
    }

    /// Moves back to the item at `at` and reads its head. Its depth was validated before.
    pub(super) fn item_at(&mut self, at: Word) {
        self.go(at);
        self.item(0, false);
    }

    /// Notes the offset of a fault.
    #[inline(always)]
    pub(super) fn note(&mut self, what: usize, at: Word) {
        note(&mut self.seen, what, at);
    }

    /// Reports the noted faults; returns whether one is fatal.
    pub(super) fn report(&mut self) -> bool {
        let mut fatal = false;
        for (rule, &at) in ODD.iter().zip(&self.seen) {
            if at != Word::MAX {
                fatal |= rule.severity() == Severity::Fatal;
                let limit = match *rule {
                    rules::CBOR_KEYS => field::KEYS,
                    rules::CBOR_KEY_NESTED => field::KEY_DEPTH,
                    _ => 0,
                };
                self.r.flag(*rule, wide(at), 1, limit, 0);
            }
        }
        fatal
    }

    /// Reads the next head, which may be a tag.
    #[inline]
    pub(super) fn next_head(&mut self) {
        self.head_at = self.at();
        let run = self.r.resident();
        let Some(rest) = self.head.split(run) else { return self.lost() };
        self.r.pass(rest);
        if self.head.info >= 24 {
            self.odd();
        }
    }

    /// Ends the parse because the next head could not be read.
    #[cold]
    #[inline(never)]
    fn lost(&mut self) {
        let run = self.r.resident();
        let len = self.head.read(run);
        if len == 0 {
            let first = run.first().copied().unwrap_or(0);
            return self.broken(rules::CBOR_RESERVED, 0, first.into());
        }
        let halt = self.r.lacks(widen(len.wrapping_sub(run.len())));
        match halt.unreported() {
            Some(rule) => {
                let left = self.r.left();
                self.broken(rule, left.saturating_add(1), left);
            }
            None => self.end(halt),
        }
    }

    /// Notes faults in heads of more than one byte or of indefinite length.
    #[inline]
    fn odd(&mut self) {
        let (at, argument) = (self.head_at, self.head.argument);
        let what = match (self.head.major, self.head.info) {
            (major::OTHER, 24) if argument < 32 => odd::SIMPLE,
            (major::OTHER, 26) if single_is_half(argument) => odd::FLOAT,
            (major::OTHER, 27) if double_is_single(argument) => odd::FLOAT,
            (major::OTHER, _) => return,
            _ if self.head.is_wide() => odd::WIDE,
            _ => return,
        };
        self.note(what, at);
    }

    /// Reads the head of the next data item, on level `depth`, after its tags. It may be a
    /// break.
    pub(super) fn item_or_break(&mut self, depth: usize) {
        let mut depth = depth;
        self.start = self.at();
        loop {
            self.next_head();
            if depth > CBOR_DEPTH {
                return self.too_deep();
            }
            if self.head.major != major::TAG {
                return;
            }
            let tag = if self.custom { odd::CUSTOM_TAG } else { odd::TAG };
            self.note(tag, self.head_at);
            depth = depth.wrapping_add(1);
        }
    }

    /// Does the same, but a break is an error unless it `may` occur.
    pub(super) fn item(&mut self, depth: usize, may: bool) {
        self.item_or_break(depth);
        // A tag must be followed by a data item, and a break is not one.
        if self.head.is_break() && !(may && self.head_at == self.start) {
            self.broken(rules::CBOR_BREAK, 0, 0xFF);
        }
    }

    /// Reads the head of the next key of a map with `left` (or [`OPEN`]) data items left; a
    /// break if there is none. The caller skips the key and the value.
    pub(super) fn key(&mut self, left: &mut u32) {
        match *left {
            0 => self.head.end(),
            OPEN => self.item(3, true),
            items => {
                *left = items.wrapping_sub(2);
                self.item(3, false);
            }
        }
    }

    /// Reads the rest of the current text or byte string.
    pub(super) fn string(&mut self) {
        let (at, major) = (self.head_at, self.head.major);
        if !self.head.is_indefinite() {
            self.text = Name::new(self.definite(), NameEncoding::Plain);
            return;
        }
        self.note(odd::INDEFINITE, at);
        let (start, run) = (self.at(), self.r.resident());
        loop {
            self.next_head();
            if self.head.is_break() {
                break;
            }
            if self.head.major != major || self.head.is_indefinite() {
                self.broken(rules::CBOR_CHUNK, 0, 0);
                break;
            }
            self.definite();
        }
        let len = usize::try_from(wide(self.head_at.wrapping_sub(start))).unwrap_or(usize::MAX);
        self.text = Name::new(run.get(..len).unwrap_or_default(), NameEncoding::Chunks);
    }

    /// Reads the rest of the current text or byte string and returns its location.
    #[inline]
    pub(super) fn string_at(&mut self) -> NameAt {
        let at = self.at();
        self.string();
        self.text.at(wide(at))
    }

    /// The bytes of a definite-length string.
    #[inline]
    fn definite(&mut self) -> &'a [u8] {
        let (at, len, run) = (self.at(), self.head.argument, self.r.resident());
        let taken = usize::try_from(len).ok().and_then(|len| run.split_at_checked(len));
        if let Some((bytes, rest)) = taken {
            self.r.pass(rest);
            if self.head.major == major::TEXT && !crate::base::utf8::is(bytes) {
                self.note(odd::UTF8, at);
            }
            return bytes;
        }
        if WINDOWS
            && len <= self.r.left()
            && let Err(halt) = self.r.require(len)
        {
            self.end(halt);
        } else {
            self.broken(rules::CBOR_LENGTH, self.r.left(), len);
        }
        &[]
    }

    /// Number of data items in the current array or map; [`OPEN`] if a break ends it.
    pub(super) fn count(&mut self) -> u32 {
        if self.head.is_indefinite() {
            return OPEN;
        }
        // Every item takes at least one byte.
        let (left, argument) = (self.r.left(), self.head.argument);
        let pairs = u32::from(self.head.major == major::MAP);
        let count = place(argument);
        if count <= word(left) >> pairs
            && let Ok(items) = u32::try_from(count << pairs)
            && items < OPEN - 2
        {
            return items;
        }
        self.broken(rules::CBOR_COUNT, left, argument);
        0
    }

    /// Does the same for an array or map inside an entry, and requires at least as many
    /// resident bytes, so that a long one is not requested item by item.
    #[inline]
    pub(super) fn count_resident(&mut self) -> u32 {
        let count = self.count();
        if WINDOWS
            && count != OPEN
            && let Err(halt) = self.r.require(u64::from(count))
        {
            self.end(halt);
        }
        count
    }

    /// Ends the parse because the last item nests too deep.
    #[cold]
    pub(super) fn too_deep(&mut self) {
        let limit = widen(CBOR_DEPTH);
        self.broken(rules::CBOR_DEPTH, limit, limit.saturating_add(1));
    }

    /// Reports a fault at the last head and ends the parse.
    #[cold]
    fn broken(&mut self, rule: Rule, expected: u64, found: u64) {
        if self.halt.is_none() {
            let at = wide(self.head_at);
            let len = self.r.end().saturating_sub(at).min(1);
            self.r.flag(rule, at, len, expected, found);
        }
        self.end(Halt::refused(rule));
    }

    /// Ends the parse.
    #[cold]
    fn end(&mut self, halt: Halt) {
        self.halt.get_or_insert(halt);
        // Leaves nothing to read.
        self.go(Word::MAX);
        self.head.end();
    }
}
