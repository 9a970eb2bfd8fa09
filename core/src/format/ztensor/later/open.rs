//! Opening: the end of the file, then the root of the manifest.

use super::super::cbor::{Pull, odd};
use super::super::nest::Levels;
use super::super::{Cursor, field, open, rules};
use super::node::{Node, Nodes};
use super::object::{Object, Read};
use super::{Generation, Header, Place, Root, form, notes, too_deep};
use crate::base::cbor::major;
use crate::base::wide;
use crate::input::Span;
use crate::model::Name;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Length of the footer of generation 2, and the version that it states.
pub(super) const FOOTER: u64 = 40;
const VERSION: u64 = 2;
/// Smallest files: magic, one byte of manifest, length, and in 1.1 the magic again; or magic and
/// footer.
const SMALLEST_1_0: u64 = 17;
const SMALLEST_1_1: u64 = 25;
const SMALLEST_2: u64 = 48;
/// Longest manifest.
const MANIFEST: u64 = 1 << 30;

/// What is known about the file while it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Walk {
    pub(super) header: Header,
    /// How far opening has come.
    step: Step,
    /// Offset of the next item.
    at: u64,
    /// Number of items left in the root.
    left: u32,
    /// Number of items left in the objects.
    objects_left: u32,
    /// The key before, in the root and in the objects.
    before: u64,
    before_end: u64,
    /// The known keys that were read, a bit for each.
    seen: u8,
    /// Whether keys have named the version and the objects.
    versioned: bool,
    listed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Step {
    #[default]
    Start,
    /// The file is of generation 0.1, or none at all.
    Other,
    Tail,
    Root,
    Keys,
    Objects,
}

impl Walk {
    pub(super) const START: Walk = Walk {
        header: Header::NONE,
        step: Step::Start,
        at: 0,
        left: 0,
        objects_left: 0,
        before: 0,
        before_end: 0,
        seen: 0,
        versioned: false,
        listed: false,
    };
}

/// Opens a file of a later generation; `None` if it is of generation 0.1, or none at all.
pub(in super::super) fn open(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
) -> Result<Option<Header>, Halt> {
    loop {
        let mut walk = c.state.later.walk;
        match walk.step {
            Step::Start => {
                let head = Span::new(0, r.source().len().min(field::MAGIC_LEN));
                (walk.header.generation, walk.step) = match open::generation(open::look(r, head)?) {
                    Some(1) => (Generation::One0, Step::Tail),
                    Some(2) => (Generation::Two, Step::Tail),
                    _ => (Generation::One0, Step::Other),
                };
            }
            Step::Other => return Ok(None),
            Step::Tail => {
                walk.tail(r)?;
                if walk.header.manifest.is_empty() {
                    return Ok(Some(walk.header));
                }
                walk.step = Step::Root;
            }
            Step::Root => walk.root(r)?,
            Step::Keys => {
                if walk.key(r)? {
                    return walk.finish(r).map(Some);
                }
            }
            Step::Objects => walk.object(r)?,
        }
        c.state.later.walk = walk;
    }
}

impl Walk {
    /// Reads the end of the file.
    fn tail(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let len = r.source().len();
        if self.header.generation == Generation::Two {
            return self.footer(r, len);
        }
        let last = Span::new(len.saturating_sub(16).max(8), len.saturating_sub(8).min(16));
        let bytes = open::look(r, last)?;
        let again = bytes.len() == 16 && bytes.get(8..).is_some_and(|end| end == b"ZTEN1000");
        let (generation, smallest, tail) = match again {
            true => (Generation::One1, SMALLEST_1_1, 16),
            false => (Generation::One0, SMALLEST_1_0, 8),
        };
        (self.header.generation, self.header.minor) = (generation, u8::from(again));
        if len < smallest {
            return Err(refuse(r, rules::FILE_SIZE, Span::new(0, len), smallest, len));
        }
        let end = len.saturating_sub(tail);
        self.header.tail = end;
        let place = Span::new(end, 8);
        let size = open::look(r, place)?.first_chunk().map_or(0, |size| u64::from_le_bytes(*size));
        let room = end.saturating_sub(field::MAGIC_LEN);
        if size == 0 {
            return Err(refuse(r, rules::INDEX_EMPTY, place, 1, 0));
        }
        if size > room {
            return Err(refuse(r, rules::INDEX_BOUNDS, place, room, size));
        }
        if size > MANIFEST {
            return Err(refuse(r, rules::MANIFEST_SIZE, place, MANIFEST, size));
        }
        let start = end.saturating_sub(size);
        self.header.manifest = Span::new(start, size);
        self.at = start;
        Ok(())
    }

    /// Reads the footer of generation 2.
    fn footer(&mut self, r: &mut Reader<'_, '_>, len: u64) -> Result<(), Halt> {
        let header = &mut self.header;
        if len < SMALLEST_2 {
            return Err(refuse(r, rules::FILE_SIZE, Span::new(0, len), SMALLEST_2, len));
        }
        let at = len.saturating_sub(FOOTER);
        header.tail = at;
        let footer = open::look(r, Span::new(at, FOOTER))?;
        let number = |from: usize| {
            let bytes = footer.get(from..).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let (start, size, hash) = (number(0), number(8), number(16));
        let version = number(24) & 0xFFFF_FFFF;
        let field = |from: u64, len: u64| Span::new(at.saturating_add(from), len);
        if open::generation(footer.get(32..).unwrap_or_default()) != Some(2) {
            return Err(refuse(r, rules::FOOTER_MAGIC, field(32, 8), 0, 0));
        }
        if version != VERSION {
            return Err(refuse(r, rules::FOOTER_VERSION, field(24, 4), VERSION, version));
        }
        if size == 0 {
            if start != 0 || hash != 0 {
                return Err(refuse(r, rules::FOOTER_SHARD, field(0, 24), 0, start));
            }
            r.flag(rules::DATA_SHARD, at, FOOTER, 0, 0);
            return Ok(());
        }
        if size > MANIFEST {
            return Err(refuse(r, rules::MANIFEST_SIZE, field(8, 8), MANIFEST, size));
        }
        if start & super::PAGE.wrapping_sub(1) != 0 || start < super::PAGE {
            return Err(refuse(r, rules::MANIFEST_PLACE, field(0, 8), super::PAGE, start));
        }
        let manifest = Span::new(start, size);
        let end = manifest.end().unwrap_or(u64::MAX);
        if end > at {
            return Err(refuse(r, rules::MANIFEST_BOUNDS, field(0, 16), at, end));
        }
        (header.manifest, self.at) = (manifest, start);
        Ok(())
    }

    /// Reads the head of the root.
    fn root(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let manifest = self.header.manifest;
        let end = manifest.end().unwrap_or(u64::MAX);
        r.region(manifest.offset, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        pull.item_or_break(1);
        pull.done()?;
        if pull.head.major != major::MAP {
            let place = Span::new(manifest.offset, 1);
            let first = open::look(r, place)?.first().copied().unwrap_or(0);
            return Err(refuse(r, rules::MANIFEST_ROOT, place, 0, u64::from(first)));
        }
        let (at, indefinite) = (pull.head_at, pull.head.is_indefinite());
        self.left = pull.count();
        pull.done()?;
        if indefinite {
            pull.note(odd::INDEFINITE, at);
        }
        notes(&mut pull, self.header.generation);
        self.at = wide(pull.at());
        if self.header.generation == Generation::Two {
            let head = Span::between(manifest.offset, self.at);
            let bytes = open::look(r, head)?;
            form::check(r, bytes, head.offset, 0);
        }
        self.step = Step::Keys;
        Ok(())
    }

    /// Reads a pair of the root; returns whether there was none left.
    fn key(&mut self, r: &mut Reader<'_, '_>) -> Result<bool, Halt> {
        let end = self.header.manifest.end().unwrap_or(u64::MAX);
        let from = if self.before > 0 { self.before } else { self.at };
        r.region(from, end, rules::CBOR_TRUNCATED);
        r.skip(self.at.saturating_sub(from))?;
        let compared = self.header.generation != Generation::Two && !r.is_muted();
        let mut pull = Pull::new(r);
        pull.key(&mut self.left);
        if pull.head.is_break() {
            pull.done()?;
            self.at = wide(pull.at());
            return Ok(true);
        }
        let (key_at, is_text) = (wide(pull.start), pull.head.major == major::TEXT);
        pull.skip(2);
        let key = if is_text { pull.text } else { Name::default() };
        let key_end = wide(pull.at());
        pull.item(2, false);
        pull.done()?;
        let (value, head) = (wide(pull.start), pull.head);
        let known = self.header.generation.root_key(&key);
        let opens = known == Some(Root::Objects) && head.major == major::MAP && !self.listed;
        if opens {
            if head.is_indefinite() {
                let at = pull.head_at;
                pull.note(odd::INDEFINITE, at);
            }
            self.objects_left = pull.count();
            self.header.objects_at = wide(pull.at());
            self.header.left = self.objects_left;
            self.listed = true;
        } else {
            let mut levels = Levels::new(pull.at(), pull.r.resident(), compared);
            pull.skip_with(2, &mut levels);
        }
        too_deep(&mut pull, self.header.generation, key_at);
        pull.done()?;
        let next = wide(pull.at());
        let before = match self.before {
            0 => &[],
            before => pull.r.get(Span::between(before, self.before_end))?,
        };
        let key_bytes = pull.r.get(Span::between(key_at, key_end))?;
        let value_bytes = pull.r.get(Span::between(value, next))?;
        notes(&mut pull, self.header.generation);
        if self.header.generation == Generation::Two {
            if !before.is_empty() {
                form::order(r, before, key_bytes, key_at);
            }
            form::check(r, key_bytes, key_at, 1);
            form::check(r, value_bytes, value, 1);
        }
        if let Some(known) = known {
            let bit = 1_u8.wrapping_shl(u32::from(known.bit()));
            if self.seen & bit != 0 && self.header.generation != Generation::Two {
                r.flag(rules::FIELD_DUPLICATE, key_at, key_end.saturating_sub(key_at), 0, 0);
            } else {
                self.place(r, known, Nodes::new(value_bytes, value).next().unwrap_or_default());
            }
            self.seen |= bit;
        }
        self.at = next;
        (self.before, self.before_end) = (key_at, key_end);
        if opens {
            self.step = Step::Objects;
        }
        Ok(false)
    }

    /// Remembers where the value of a known key lies.
    fn place(&mut self, r: &mut Reader<'_, '_>, key: Root, value: Node<'_>) {
        let place = Place::of(self.header.manifest, value.span());
        match key {
            Root::Objects => {}
            Root::Attributes => {
                self.header.attributes = place;
                super::attributes::check(r, self.header.generation, &value);
            }
            Root::Shards => {
                self.header.shards = place;
                super::shards::check(r, &value);
            }
            Root::Generator => self.header.generator = place,
            Root::Version => {
                self.header.stated = place;
                self.versioned = self.version(r, &value);
            }
        }
    }

    /// Reads the version; returns whether it is text.
    fn version(&mut self, r: &mut Reader<'_, '_>, value: &Node<'_>) -> bool {
        let Some(text) = value.text() else { return false };
        let mut parts = [0_u16; 2];
        let mut filled = 0_usize;
        let mut other = false;
        for byte in text.bytes() {
            match (byte, parts.get_mut(filled)) {
                (b'.', _) => filled = filled.saturating_add(1),
                (b'0'..=b'9', Some(part)) => {
                    let digit = u16::from(byte.wrapping_sub(b'0'));
                    *part = part.saturating_mul(10).saturating_add(digit);
                }
                (b'0'..=b'9', None) => {}
                _ => other = true,
            }
        }
        let [first, second] = parts;
        let fits = match self.header.generation {
            Generation::One0 => second == 0,
            _ => matches!(second, 1 | 2),
        };
        if first == 1 && fits && filled > 0 && !other {
            self.header.minor = u8::try_from(second).unwrap_or(0);
        } else {
            let span = value.span();
            r.flag(rules::VERSION_OTHER, span.offset, span.len, 0, 0);
        }
        true
    }

    /// Passes over an object and counts its entries.
    fn object(&mut self, r: &mut Reader<'_, '_>) -> Result<(), Halt> {
        let at = self.at;
        let read = r.quietly(|r| Object::read(&self.header, r, at, (0, 0), &mut self.objects_left));
        match read {
            Ok(Read::Object(object)) => {
                self.header.count = self.header.count.saturating_add(object.entries());
                self.at = object.end;
            }
            Ok(Read::End(end)) => {
                self.at = end;
                self.step = Step::Keys;
            }
            Err(halt) if halt.is_absent() => return Err(halt),
            // The list reports why it ends here.
            Err(_) => {
                self.header.count = self.header.count.saturating_add(1);
                self.header.cut = true;
                self.left = 0;
                self.step = Step::Keys;
            }
        }
        Ok(())
    }

    /// Checks the root as a whole.
    fn finish(&mut self, r: &mut Reader<'_, '_>) -> Result<Header, Halt> {
        let manifest = self.header.manifest;
        let place = Span::new(manifest.offset, 1);
        if !self.listed {
            return Err(refuse(r, rules::MANIFEST_OBJECTS, place, 0, 0));
        }
        if self.header.generation != Generation::Two && !self.versioned && !self.header.cut {
            r.flag(rules::MANIFEST_VERSION, place.offset, 1, 0, 0);
        }
        let end = manifest.end().unwrap_or(u64::MAX);
        if self.at < end && !self.header.cut {
            let rest = end.saturating_sub(self.at);
            r.flag(rules::INDEX_TRAILING, self.at, rest, 0, rest);
        }
        Ok(self.header)
    }
}

/// Reports why the file cannot be read.
fn refuse(r: &mut Reader<'_, '_>, rule: Rule, at: Span, expected: u64, found: u64) -> Halt {
    open::refuse(r, rule, at, expected, found)
}
