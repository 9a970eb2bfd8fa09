//! CBOR (RFC 8949), pulled item by item: any well-formed form, bounded depth,
//! no storage beyond one number a level.

use super::rules;
use crate::leaf::{Parsed, array, byte};
use crate::limits::CBOR_DEPTH;
use crate::name::{Name, NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::{Span, widen};

/// Major types (RFC 8949 §3.1).
pub(super) mod major {
    pub(in super::super) const UINT: u8 = 0;
    pub(in super::super) const NINT: u8 = 1;
    pub(in super::super) const BYTES: u8 = 2;
    pub(in super::super) const TEXT: u8 = 3;
    pub(in super::super) const ARRAY: u8 = 4;
    pub(in super::super) const MAP: u8 = 5;
    pub(in super::super) const TAG: u8 = 6;
    pub(in super::super) const OTHER: u8 = 7;
}

/// The byte that ends an item of indefinite length.
pub(super) const BREAK: u8 = 0xFF;

/// Additional information that stands for "indefinite length" and for a break.
const INDEFINITE: u8 = 31;
const NULL: u8 = 22;

/// The head of a data item: major type, additional information, argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) at: u64,
    pub(super) major: u8,
    info: u8,
    pub(super) argument: u64,
}

impl Head {
    pub(super) fn is_break(&self) -> bool {
        self.major == major::OTHER && self.info == INDEFINITE
    }

    pub(super) fn is_indefinite(&self) -> bool {
        self.info == INDEFINITE
    }

    pub(super) fn is_null(&self) -> bool {
        self.major == major::OTHER && self.info == NULL
    }

    /// Bytes of the float that the argument holds; 0 if it holds none.
    pub(super) fn float_width(&self) -> u8 {
        match self.info {
            25 if self.major == major::OTHER => 2,
            26 if self.major == major::OTHER => 4,
            27 if self.major == major::OTHER => 8,
            _ => 0,
        }
    }

    /// Whether the argument would fit a shorter head.
    fn is_wide(&self) -> bool {
        match self.info {
            24 => self.argument < 24,
            25 => self.argument <= 0xFF,
            26 => self.argument <= 0xFFFF,
            27 => self.argument <= 0xFFFF_FFFF,
            _ => false,
        }
    }
}

/// Leaf parser of a head; `at` is filled in by the caller.
#[inline]
pub(super) fn head(input: &[u8]) -> Parsed<'_, Head> {
    let (rest, first) = byte(input)?;
    let (major, info) = (first >> 5, first & 0x1F);
    let (rest, argument) = match info {
        0..=23 => (rest, u64::from(info)),
        24 => byte(rest).map(|(rest, n)| (rest, u64::from(n)))?,
        25 => array(rest).map(|(rest, n)| (rest, u64::from(u16::from_be_bytes(n))))?,
        26 => array(rest).map(|(rest, n)| (rest, u64::from(u32::from_be_bytes(n))))?,
        27 => array(rest).map(|(rest, n)| (rest, u64::from_be_bytes(n)))?,
        INDEFINITE if !matches!(major, major::UINT | major::NINT | major::TAG) => (rest, 0),
        _ => return Err(nom::Err::Error(rules::CBOR_RESERVED)),
    };
    Ok((rest, Head { at: 0, major, info, argument }))
}

/// What is worth a finding and does not stop the parser: where it was seen
/// first, 0 if nowhere. No data item of an index lies at offset 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) utf8: u64,
    pub(super) simple: u64,
    pub(super) tag: u64,
    pub(super) definite: u64,
    pub(super) indefinite: u64,
    pub(super) wide: u64,
    pub(super) float: u64,
    pub(super) custom_tag: u64,
    pub(super) custom_simple: u64,
    pub(super) order: u64,
    pub(super) key: u64,
    pub(super) field_twice: u64,
    /// Some custom value holds a map.
    pub(super) maps: bool,
}

impl Seen {
    /// Remembers the first place.
    #[inline]
    pub(super) fn note(place: &mut u64, at: u64) {
        if *place == 0 {
            *place = at;
        }
    }

    /// The rules that are broken, and where.
    // By itself: inlined it takes 0.2 kB more.
    #[inline(never)]
    pub(super) fn rules(&self) -> [(Rule, u64); 12] {
        [
            (rules::CBOR_UTF8, self.utf8),
            (rules::CBOR_SIMPLE, self.simple),
            (rules::CBOR_TAG, self.tag),
            (rules::CBOR_DEFINITE, self.definite),
            (rules::CBOR_INDEFINITE, self.indefinite),
            (rules::CBOR_SHORTEST, self.wide),
            (rules::CBOR_FLOAT, self.float),
            (rules::CBOR_CUSTOM_TAG, self.custom_tag),
            (rules::CBOR_CUSTOM_SIMPLE, self.custom_simple),
            (rules::FIELD_ORDER, self.order),
            (rules::FIELD_KEY, self.key),
            (rules::FIELD_DUPLICATE, self.field_twice),
        ]
    }
}

/// A text or byte string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) at: NameAt,
    pub(super) name: Name<'a>,
}

/// Values of a level of [`Levels`] that stand for indefinite length: an array,
/// a map before a key, a map before a value. A count is always smaller.
const OPEN_ARRAY: u32 = u32::MAX;
const OPEN_MAP: u32 = OPEN_ARRAY - 1;
const OPEN_VALUE: u32 = OPEN_MAP - 1;

/// How many data items each open array or map still lacks.
struct Levels {
    left: [u32; CBOR_DEPTH],
    used: usize,
}

/// Pulls data items from a reader whose region is the index.
///
/// Everything is absolute and nothing is stored; what breaks the parse is
/// reported at once, at its own place, and ends it.
#[derive(Debug)]
pub(super) struct Pull<'p, 'r, 'a> {
    pub(super) r: &'p mut Reader<'r, 'a>,
    pub(super) seen: Seen,
    /// Whether a custom value is being read.
    pub(super) custom: bool,
}

impl<'p, 'r, 'a> Pull<'p, 'r, 'a> {
    /// Pulls from where `r` stands.
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn new(r: &'p mut Reader<'r, 'a>) -> Self {
        r.overrun(rules::CBOR_TRUNCATED);
        Pull { r, seen: Seen::default(), custom: false }
    }

    /// The next head, tags included.
    #[inline]
    pub(super) fn head(&mut self) -> Result<Head, Halt> {
        let at = self.r.at();
        match self.r.parse(head) {
            Ok(head) => {
                let head = Head { at, ..head };
                if head.info >= 24 {
                    self.odd(&head);
                }
                Ok(head)
            }
            Err(halt) => match halt.unreported() {
                Some(rules::CBOR_RESERVED) => {
                    let first = self.r.u8()?;
                    Err(self.broken(rules::CBOR_RESERVED, at, 0, u64::from(first)))
                }
                Some(rule) => {
                    let left = self.r.left();
                    Err(self.broken(rule, at, left.saturating_add(1), left))
                }
                None => Err(halt),
            },
        }
    }

    /// Remembers what is unusual about a head of more than one byte, or of
    /// indefinite length.
    fn odd(&mut self, head: &Head) {
        if head.major == major::OTHER {
            match head.info {
                24 if head.argument < 32 => Seen::note(&mut self.seen.simple, head.at),
                26 if single_is_half(head.argument) => Seen::note(&mut self.seen.float, head.at),
                27 if double_is_single(head.argument) => Seen::note(&mut self.seen.float, head.at),
                _ => {}
            }
        } else if head.is_wide() {
            Seen::note(&mut self.seen.wide, head.at);
        }
    }

    /// The head of the next data item that may be a break; tags before it are
    /// passed over. `depth` is the level it stands on.
    #[inline]
    pub(super) fn item_or_break(&mut self, depth: usize) -> Result<Head, Halt> {
        let mut depth = depth;
        loop {
            let head = self.head()?;
            if depth > CBOR_DEPTH {
                let limit = widen(CBOR_DEPTH);
                return Err(self.broken(
                    rules::CBOR_DEPTH,
                    head.at,
                    limit,
                    limit.saturating_add(1),
                ));
            }
            if head.major != major::TAG {
                return Ok(head);
            }
            let place = if self.custom { &mut self.seen.custom_tag } else { &mut self.seen.tag };
            Seen::note(place, head.at);
            depth = depth.wrapping_add(1);
        }
    }

    /// The head of the next data item; a break is none.
    #[inline]
    pub(super) fn item(&mut self, depth: usize) -> Result<Head, Halt> {
        let at = self.r.at();
        let head = self.item_or_break(depth)?;
        if head.is_break() {
            return Err(self.broken(rules::CBOR_BREAK, at, 0, 0xFF));
        }
        Ok(head)
    }

    /// The text or byte string that `head` began.
    #[inline]
    pub(super) fn string(&mut self, head: &Head) -> Result<Text<'a>, Halt> {
        if head.is_indefinite() {
            return self.chunks(head);
        }
        let (at, bytes) = self.definite(head)?;
        let name = Name::new(bytes, NameEncoding::Plain);
        Ok(Text { at: NameAt::plain(at, head.argument), name })
    }

    /// The bytes of a definite-length string.
    #[inline]
    fn definite(&mut self, head: &Head) -> Result<(u64, &'a [u8]), Halt> {
        let left = self.r.left();
        if head.argument > left {
            return Err(self.broken(rules::CBOR_LENGTH, head.at, left, head.argument));
        }
        let at = self.r.at();
        let bytes = self.r.take(head.argument)?;
        if head.major == major::TEXT && !crate::utf8::is(bytes) {
            Seen::note(&mut self.seen.utf8, at);
        }
        Ok((at, bytes))
    }

    /// The rest of a string in chunks.
    fn chunks(&mut self, head: &Head) -> Result<Text<'a>, Halt> {
        Seen::note(&mut self.seen.indefinite, head.at);
        let start = self.r.at();
        loop {
            let chunk = self.head()?;
            if chunk.is_break() {
                let span = Span::between(start, chunk.at);
                let name = Name::new(self.r.get(span)?, NameEncoding::Chunks);
                let len = u32::try_from(span.len).unwrap_or(u32::MAX);
                return Ok(Text {
                    at: NameAt { at: start, len, encoding: NameEncoding::Chunks },
                    name,
                });
            }
            if chunk.major != head.major || chunk.is_indefinite() {
                return Err(self.broken(rules::CBOR_CHUNK, chunk.at, 0, 0));
            }
            self.definite(&chunk)?;
        }
    }

    /// How many data items an array or map holds; `None` if a break ends it.
    #[inline]
    pub(super) fn count(&mut self, head: &Head) -> Result<Option<u32>, Halt> {
        if head.is_indefinite() {
            return Ok(None);
        }
        // Every item takes at least one byte.
        let left = self.r.left();
        let items = if head.major == major::MAP {
            head.argument.checked_mul(2)
        } else {
            Some(head.argument)
        };
        match items.filter(|n| *n <= left).and_then(|n| u32::try_from(n).ok()) {
            Some(items) if items < OPEN_VALUE => Ok(Some(items)),
            _ => Err(self.broken(rules::CBOR_COUNT, head.at, left, head.argument)),
        }
    }

    /// The same for an array or map that is part of an entry: as many bytes are
    /// then resident, so that a long one is not asked for item by item.
    #[inline]
    pub(super) fn count_resident(&mut self, head: &Head) -> Result<Option<u32>, Halt> {
        let count = self.count(head)?;
        self.r.require(count.map_or(0, u64::from))?;
        Ok(count)
    }

    /// Passes over the rest of the item that `first` began, on level `depth`.
    pub(super) fn skip(&mut self, first: Head, depth: usize) -> Result<(), Halt> {
        if !matches!(first.major, major::ARRAY | major::MAP) {
            return self.skip_leaf(&first);
        }
        self.skip_nested(first, depth)
    }

    fn skip_leaf(&mut self, head: &Head) -> Result<(), Halt> {
        match head.major {
            major::BYTES | major::TEXT => self.string(head).map(|_| ()),
            major::OTHER => {
                let usual = matches!(head.info, 20..=22 | 25..=27);
                let malformed = head.info == 24 && head.argument < 32;
                if self.custom && !usual && !malformed {
                    Seen::note(&mut self.seen.custom_simple, head.at);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn skip_nested(&mut self, first: Head, depth: usize) -> Result<(), Halt> {
        let mut levels = Levels { left: [0; CBOR_DEPTH], used: 0 };
        let mut head = first;
        loop {
            if matches!(head.major, major::ARRAY | major::MAP) {
                let left = self.open(&head)?;
                // `item_or_break` has checked that the level exists.
                if let Some(slot) = levels.left.get_mut(levels.used) {
                    *slot = left;
                    levels.used = levels.used.wrapping_add(1);
                }
            } else {
                self.skip_leaf(&head)?;
            }
            head = loop {
                let Some(top) = levels.used.checked_sub(1).and_then(|top| levels.left.get_mut(top))
                else {
                    return Ok(());
                };
                let left = *top;
                if left == 0 {
                    levels.used = levels.used.wrapping_sub(1);
                    continue;
                }
                *top = match left {
                    OPEN_ARRAY => OPEN_ARRAY,
                    OPEN_MAP => OPEN_VALUE,
                    OPEN_VALUE => OPEN_MAP,
                    _ => left.saturating_sub(1),
                };
                let at = self.r.at();
                let head = self.item_or_break(depth.saturating_add(levels.used))?;
                if !head.is_break() {
                    break head;
                }
                if !matches!(left, OPEN_ARRAY | OPEN_MAP) || head.at != at {
                    return Err(self.broken(rules::CBOR_BREAK, head.at, 0, 0xFF));
                }
                levels.used = levels.used.saturating_sub(1);
            };
        }
    }

    /// What a level begins with.
    fn open(&mut self, head: &Head) -> Result<u32, Halt> {
        let map = head.major == major::MAP;
        self.seen.maps |= map;
        match self.count_resident(head)? {
            Some(items) => Ok(items),
            None => {
                Seen::note(&mut self.seen.indefinite, head.at);
                Ok(if map { OPEN_MAP } else { OPEN_ARRAY })
            }
        }
    }

    /// Reports what makes the rest unreadable.
    #[cold]
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn broken(&mut self, rule: Rule, at: u64, expected: u64, found: u64) -> Halt {
        let len = self.r.end().saturating_sub(at).min(1);
        self.r.flag(rule, at, len, expected, found);
        Halt::refused(rule)
    }
}

/// Whether single-precision bits fit half precision: the low bits of the
/// mantissa are zero, and the exponent is in range. Subnormal halves are left
/// alone.
fn single_is_half(bits: u64) -> bool {
    bits & 0x1FFF == 0 && matches!((bits >> 23) & 0xFF, 0xFF | 113..=142) || bits & 0x7FFF_FFFF == 0
}

/// Whether double-precision bits fit single precision, likewise.
fn double_is_single(bits: u64) -> bool {
    bits & 0x1FFF_FFFF == 0 && matches!((bits >> 52) & 0x7FF, 0x7FF | 897..=1150)
        || bits & 0x7FFF_FFFF_FFFF_FFFF == 0
}

/// The bytes from `at` to where the reader stands.
pub(super) fn since(r: &Reader<'_, '_>, at: u64) -> Span {
    Span::between(at, r.at())
}
