//! The fields of the header, read from resident bytes.
//!
//! A whole entry is read at once: its fields are short, and going back to the
//! reader for each would cost more than reading them. What a field breaks is
//! told with its place in the entry.

use super::{field, rules};
use crate::read::{Halt, Parsed, Reader, byte, incomplete, le_u16, le_u32, le_u64};
use crate::rule::Rule;
use crate::source::{Span, widen};
use nom::Err;

/// A tensor as the list stores it, with where its fields lie from the start of
/// the entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a [u8],
    pub(super) name_at: usize,
    pub(super) dtype: u64,
    pub(super) dtype_at: usize,
    pub(super) rank: u32,
    pub(super) dims_at: usize,
    /// The product of the extents from the left, as long as it fits.
    pub(super) elements: Option<u64>,
    pub(super) start: u64,
    pub(super) start_at: usize,
    pub(super) end: u64,
    pub(super) end_at: usize,
    pub(super) len: usize,
    /// The first integer that is longer than it must be.
    pub(super) overlong: Option<Overlong>,
}

/// A key and its value, with where they lie from the start of the entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair<'a> {
    pub(super) key: &'a [u8],
    pub(super) key_at: usize,
    pub(super) value: &'a [u8],
    pub(super) value_at: usize,
    pub(super) overlong: Option<Overlong>,
}

/// An integer that is stored in more bytes than it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlong {
    at: usize,
    len: usize,
    value: u64,
}

impl Overlong {
    /// Whether it begins `at` bytes into the entry.
    pub(super) fn is_at(&self, at: usize) -> bool {
        self.at == at
    }

    /// Reports it as part of the entry at `entry`.
    #[cold]
    pub(super) fn flag(&self, r: &mut Reader<'_, '_>, entry: u64) {
        let at = entry.saturating_add(widen(self.at));
        r.flag(rules::V4, at, widen(self.len), 0, self.value);
    }
}

/// Fields one after the other.
struct Fields<'a> {
    all: usize,
    rest: &'a [u8],
    /// Bytes of the header behind those that are resident.
    beyond: u64,
    overlong: Option<Overlong>,
    /// What the broken field says, and the most that it could say.
    claim: (u64, u64),
}

/// Result of reading a field.
type Field<O> = Result<O, Err<Rule>>;

impl<'a> Fields<'a> {
    /// How many bytes were read.
    #[inline]
    fn at(&self) -> usize {
        self.all.saturating_sub(self.rest.len())
    }

    /// Bytes of the header that are left.
    fn left(&self) -> u64 {
        widen(self.rest.len()).saturating_add(self.beyond)
    }

    /// A variable-length integer.
    #[inline]
    fn int(&mut self) -> Field<u64> {
        let (rest, first) = byte(self.rest)?;
        if first < field::TWO_BYTES {
            self.rest = rest;
            return Ok(u64::from(first));
        }
        let (rest, value, least) = match first {
            field::TWO_BYTES => le_u16(rest).map(|(rest, n)| (rest, u64::from(n), 251))?,
            field::FOUR_BYTES => le_u32(rest).map(|(rest, n)| (rest, u64::from(n), 1 << 16))?,
            field::EIGHT_BYTES => le_u64(rest).map(|(rest, n)| (rest, n, 1 << 32))?,
            field::SIXTEEN_BYTES => return Err(Err::Failure(rules::V2)),
            _ => return Err(Err::Failure(rules::V1)),
        };
        if value < least && self.overlong.is_none() {
            let len = self.rest.len().saturating_sub(rest.len());
            self.overlong = Some(Overlong { at: self.at(), len, value });
        }
        self.rest = rest;
        Ok(value)
    }

    /// A length and that many bytes; more than the header has break `rule`.
    #[inline]
    fn text(&mut self, rule: Rule) -> Field<&'a [u8]> {
        let before = self.rest;
        let len = self.int()?;
        match usize::try_from(len).ok().and_then(|n| self.rest.split_at_checked(n)) {
            Some((text, rest)) => {
                self.rest = rest;
                Ok(text)
            }
            None => Err(self.beyond_resident(before, len, rule)),
        }
    }

    /// At least `n` more bytes are needed than are resident.
    #[cold]
    fn beyond_resident(&mut self, field: &'a [u8], n: u64, rule: Rule) -> Err<Rule> {
        let left = self.left();
        if n > left {
            self.claim = (n, left);
            self.rest = field;
            return Err::Failure(rule);
        }
        let missing = n.saturating_sub(widen(self.rest.len()));
        match incomplete::<()>(usize::try_from(missing).unwrap_or(usize::MAX)) {
            Err(err) => err,
            Ok(()) => Err::Failure(rule),
        }
    }

    #[inline]
    fn entry(&mut self) -> Field<Entry<'a>> {
        let name = self.text(rules::T3)?;
        let name_at = self.at().saturating_sub(name.len());
        let dtype_at = self.at();
        let dtype = self.int()?;
        let before = self.rest;
        let rank = self.int()?;
        // An extent takes a byte at least, so this bounds the loop.
        let rank = match u32::try_from(rank) {
            Ok(n) if rank <= widen(self.rest.len()) => n,
            _ => return Err(self.beyond_resident(before, rank, rules::T5)),
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
            name_at,
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

    fn pair(&mut self) -> Field<Pair<'a>> {
        let key = self.text(rules::M2)?;
        let key_at = self.at().saturating_sub(key.len());
        let value = self.text(rules::M2)?;
        let value_at = self.at().saturating_sub(value.len());
        Ok(Pair { key, key_at, value, value_at, overlong: self.overlong })
    }
}

/// Reads fields where the reader stands, and reports what they break at the
/// field that breaks it.
#[inline]
fn read<'a, O>(
    r: &mut Reader<'_, 'a>,
    fields: impl FnOnce(&mut Fields<'a>) -> Field<O>,
) -> Result<O, Halt> {
    let left = r.left();
    let mut fault = (0, (0, 0));
    let leaf = |run: &'a [u8]| -> Parsed<'a, O> {
        let beyond = left.saturating_sub(widen(run.len()));
        let mut f = Fields { all: run.len(), rest: run, beyond, overlong: None, claim: (0, 0) };
        match fields(&mut f) {
            Ok(value) => Ok((f.rest, value)),
            Err(err) => {
                fault = (f.at(), f.claim);
                Err(err)
            }
        }
    };
    r.parse(leaf).map_err(|halt| flag_halt(r, halt, fault))
}

#[cold]
fn flag_halt(r: &mut Reader<'_, '_>, halt: Halt, (at, claim): (usize, (u64, u64))) -> Halt {
    let Halt::Broken(rule) = halt else {
        return halt;
    };
    let at = r.at().saturating_add(widen(at));
    r.flag(rule, at, r.end().saturating_sub(at), claim.1, claim.0);
    Halt::Refused(rule)
}

/// A tensor of the list.
#[inline]
pub(super) fn entry<'a>(r: &mut Reader<'_, 'a>) -> Result<Entry<'a>, Halt> {
    read(r, Fields::entry)
}

/// A metadata entry.
pub(super) fn pair<'a>(r: &mut Reader<'_, 'a>) -> Result<Pair<'a>, Halt> {
    read(r, Fields::pair)
}

/// How many entries of at least `least` bytes follow. More than fit into the
/// header break `rule`.
pub(super) fn count(r: &mut Reader<'_, '_>, least: u64, rule: Rule) -> Result<u32, Halt> {
    let entry = r.at();
    let (count, overlong) = read(r, |f| {
        let before = f.rest;
        let count = f.int()?;
        let most = f.left().checked_div(least).unwrap_or(0);
        match u32::try_from(count) {
            Ok(n) if count <= most => Ok((n, f.overlong)),
            _ => {
                f.claim = (count, most);
                f.rest = before;
                Err(Err::Failure(rule))
            }
        }
    })?;
    if let Some(overlong) = overlong {
        overlong.flag(r, entry);
    }
    Ok(count)
}

/// Passes over a string, which need not be resident.
pub(super) fn skip_text(r: &mut Reader<'_, '_>) -> Result<(), Halt> {
    let len = read(r, |f| {
        let before = f.rest;
        let len = f.int()?;
        if len > f.left() { Err(f.beyond_resident(before, len, rules::M2)) } else { Ok(len) }
    })?;
    r.skip(len)
}

/// Where `len` bytes lie that begin `at` bytes into the entry at `entry`.
pub(super) fn span(entry: u64, at: usize, len: usize) -> Span {
    Span::new(entry.saturating_add(widen(at)), widen(len))
}
