//! The fields of the header, read from resident bytes.
//!
//! A whole entry is read at once: its fields are short, and going back to the
//! reader for each would cost more than reading them. What is wrong with a field
//! is put together only when something is.

use super::{field, rules};
use crate::division::div_rem;
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::{Span, widen};

/// A tensor as the list stores it, with where its fields lie from the start of
/// the entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a [u8],
    pub(super) dtype: u64,
    pub(super) dtype_at: usize,
    pub(super) rank: u32,
    pub(super) dims_at: usize,
    /// The product of the extents from the left, if it fits.
    pub(super) elements: Option<u64>,
    pub(super) start: u64,
    pub(super) start_at: usize,
    pub(super) end: u64,
    pub(super) end_at: usize,
    pub(super) len: usize,
    /// Where the first integer lies that is longer than it must be.
    pub(super) overlong: Option<usize>,
}

impl Entry<'_> {
    pub(super) fn name_at(&self) -> usize {
        self.dtype_at.wrapping_sub(self.name.len())
    }
}

/// A key and its value, with where they lie from the start of the entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a [u8],
    pub(super) key_at: usize,
    pub(super) value: &'a [u8],
    pub(super) value_at: usize,
    pub(super) overlong: Option<usize>,
}

/// Why a field could not be read, and where it begins.
#[derive(Clone, Copy, Debug)]
struct Fault {
    at: usize,
    why: Why,
}

#[derive(Clone, Copy, Debug)]
enum Why {
    /// So many bytes are missing behind the resident ones.
    Short(u64),
    /// The rule is broken: the field says the first number, and could say the
    /// second at most.
    Broken(Rule, u64, u64),
}

/// Marks the length of an integer that a shorter form could hold.
pub(super) const OVERLONG: u8 = 0x80;

/// Reads an integer that begins with the tag of a width: its value and its
/// length, which is 0 if it cannot be read. Out of line, for it would be copied
/// for each field of an entry; a pair of numbers, for those fit registers.
#[inline(never)]
pub(super) fn wide(input: &[u8]) -> (u64, u8) {
    let Some((tag, rest)) = input.split_first() else {
        return (0, 0);
    };
    let (value, least, len) = match (*tag, rest) {
        (field::TWO_BYTES, [a, b, ..]) => (u64::from(u16::from_le_bytes([*a, *b])), 251, 3),
        (field::FOUR_BYTES, [a, b, c, d, ..]) => {
            (u64::from(u32::from_le_bytes([*a, *b, *c, *d])), 1 << 16, 5)
        }
        (field::EIGHT_BYTES, rest) => match rest.first_chunk() {
            Some(bytes) => (u64::from_le_bytes(*bytes), 1 << 32, 9),
            None => return (0, 0),
        },
        _ => return (0, 0),
    };
    (value, if value < least { len | OVERLONG } else { len })
}

/// Fields one after the other.
#[derive(Clone, Copy)]
struct Fields<'a> {
    all: usize,
    rest: &'a [u8],
    /// Bytes of the header behind those that are resident.
    beyond: u64,
    overlong: Option<usize>,
}

impl<'a> Fields<'a> {
    /// The fields that begin where the reader stands.
    fn from(r: &Reader<'_, 'a>) -> Self {
        let rest = r.resident();
        let beyond = r.left().wrapping_sub(widen(rest.len()));
        Fields { all: rest.len(), rest, beyond, overlong: None }
    }

    /// How many bytes were read.
    fn at(&self) -> usize {
        self.all.wrapping_sub(self.rest.len())
    }

    /// Bytes of the header that are left.
    fn left(&self) -> u64 {
        widen(self.rest.len()).wrapping_add(self.beyond)
    }

    /// An integer.
    fn int(&mut self) -> Result<u64, Fault> {
        match self.rest.split_first() {
            Some((&first, rest)) if first < field::TWO_BYTES => {
                self.rest = rest;
                Ok(u64::from(first))
            }
            _ => {
                let (value, len) = wide(self.rest);
                if len & OVERLONG != 0 {
                    self.overlong = self.overlong.or(Some(self.at()));
                }
                match self.rest.get(usize::from(len & !OVERLONG)..) {
                    Some(rest) if len > 0 => {
                        self.rest = rest;
                        Ok(value)
                    }
                    _ => Err(self.broken_int()),
                }
            }
        }
    }

    /// Why an integer cannot be read.
    #[cold]
    fn broken_int(self) -> Fault {
        let width = match self.rest.first().copied() {
            Some(field::TWO_BYTES) => 3,
            Some(field::FOUR_BYTES) => 5,
            Some(field::EIGHT_BYTES) => 9,
            Some(_) => 0,
            None => 1,
        };
        let why = match self.rest.first().copied() {
            Some(field::SIXTEEN_BYTES) => Why::Broken(rules::V2, 0, 0),
            Some(_) if width == 0 => Why::Broken(rules::V1, 0, 0),
            _ => Why::Short(u64::saturating_sub(width, widen(self.rest.len()))),
        };
        Fault { at: self.at(), why }
    }

    /// A length and that many bytes; more than the header has break `rule`.
    fn text(&mut self, rule: Rule) -> Result<&'a [u8], Fault> {
        let at = self.at();
        let len = self.int()?;
        match usize::try_from(len).ok().and_then(|n| self.rest.split_at_checked(n)) {
            Some((text, rest)) => {
                self.rest = rest;
                Ok(text)
            }
            None => Err(self.too_many(at, len, rule)),
        }
    }

    /// The field at `at` asks for `n` bytes, which are not all resident.
    #[cold]
    fn too_many(self, at: usize, n: u64, rule: Rule) -> Fault {
        let left = self.left();
        let why = if n > left {
            Why::Broken(rule, n, left)
        } else {
            Why::Short(n.saturating_sub(widen(self.rest.len())))
        };
        Fault { at, why }
    }

    fn entry(&mut self) -> Result<Entry<'a>, Fault> {
        let name = self.text(rules::T3)?;
        let dtype_at = self.at();
        let dtype = self.int()?;
        let rank_at = self.at();
        let rank = self.int()?;
        // An extent takes a byte at least, so this bounds the loop.
        let rank = match u32::try_from(rank) {
            Ok(n) if rank <= widen(self.rest.len()) => n,
            _ => return Err(self.too_many(rank_at, rank, rules::T5)),
        };
        let dims_at = self.at();
        let mut elements = Some(1_u64);
        for _ in 0..rank {
            let extent = self.int()?;
            elements = elements.and_then(|n| n.checked_mul(extent));
        }
        let start_at = self.at();
        let start = self.int()?;
        let end_at = self.at();
        let end = self.int()?;
        let (len, overlong) = (self.at(), self.overlong);
        Ok(Entry {
            name,
            dtype,
            dtype_at,
            rank,
            dims_at,
            elements,
            start,
            start_at,
            end,
            end_at,
            len,
            overlong,
        })
    }

    fn pair(&mut self) -> Result<Pair<'a>, Fault> {
        let key = self.text(rules::M2)?;
        let key_at = self.at().wrapping_sub(key.len());
        let value = self.text(rules::M2)?;
        let value_at = self.at().wrapping_sub(value.len());
        Ok(Pair { key, key_at, value, value_at, overlong: self.overlong })
    }
}

/// Moves the reader behind what was read, or reports the field that is broken.
fn done<'a, O>(r: &mut Reader<'_, 'a>, f: Fields<'a>, result: Result<O, Fault>) -> Result<O, Halt> {
    match result {
        Ok(value) => {
            r.pass(f.rest);
            Ok(value)
        }
        Err(fault) => Err(refuse(r, fault)),
    }
}

#[cold]
fn refuse(r: &mut Reader<'_, '_>, fault: Fault) -> Halt {
    let (halt, found, most) = match fault.why {
        Why::Broken(rule, found, most) => (Halt::broken(rule), found, most),
        Why::Short(missing) => (r.lacks(missing), 0, 0),
    };
    let Some(rule) = halt.unreported() else {
        return halt;
    };
    let at = r.at().wrapping_add(widen(fault.at));
    r.flag(rule, at, r.end().saturating_sub(at), most, found);
    Halt::refused(rule)
}

/// A tensor of the list.
pub(super) fn entry<'a>(r: &mut Reader<'_, 'a>) -> Result<Entry<'a>, Halt> {
    let mut f = Fields::from(r);
    let entry = f.entry();
    done(r, f, entry)
}

/// A metadata entry.
pub(super) fn pair<'a>(r: &mut Reader<'_, 'a>) -> Result<Pair<'a>, Halt> {
    let mut f = Fields::from(r);
    let pair = f.pair();
    done(r, f, pair)
}

/// How many entries of at least `least` bytes follow. More than fit into the
/// header break `rule`.
pub(super) fn count(r: &mut Reader<'_, '_>, least: u64, rule: Rule) -> Result<u32, Halt> {
    let at = r.at();
    let mut f = Fields::from(r);
    let count = f.int().and_then(|count| {
        let most = div_rem(f.left(), least).map_or(0, |(most, _)| most);
        let fits = u32::try_from(count).ok().filter(|_| count <= most);
        fits.ok_or(Fault { at: 0, why: Why::Broken(rule, count, most) })
    });
    let count = done(r, f, count)?;
    flag_overlong(r, at, f.overlong);
    Ok(count)
}

/// Passes over a string, which need not be resident.
pub(super) fn skip_text(r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    let mut f = Fields::from(r);
    let len = f
        .int()
        .and_then(|len| if len > f.left() { Err(f.too_many(0, len, rules::M2)) } else { Ok(len) });
    let len = done(r, f, len)?;
    r.skip(len)
}

/// Reports the integer that is longer than it must be, if there is one. The
/// bytes are those that were read just now.
pub(super) fn flag_overlong(r: &mut Reader<'_, '_>, entry: u64, overlong: Option<usize>) {
    if let Some(overlong) = overlong {
        let at = entry.wrapping_add(widen(overlong));
        let (value, len) = wide(r.source().run(at));
        r.flag(rules::V4, at, u64::from(len & !OVERLONG), 0, value);
    }
}

/// Where `len` bytes lie that begin `at` bytes into the entry at `entry`.
pub(super) fn span(entry: u64, at: usize, len: usize) -> Span {
    Span::new(entry.wrapping_add(widen(at)), widen(len))
}
