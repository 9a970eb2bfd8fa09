//! Whether the keys of a map are unique (RFC 8949 §5.6), without storage for
//! more than a few of them.
//!
//! Keys in ascending order prove themselves, and real writers sort. Keys that
//! are in no order are compared one with another, up to a limit.

use super::cbor::{Head, Pull, major};
use super::entry::{Key, Pairs};
use super::{field, rules};
use crate::limits::CBOR_KEYS;
use crate::name::Name;
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::{Source, Span};
use core::cmp::Ordering;

/// What is to be looked at in the map of one tensor.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Check {
    /// The whole map.
    pub(super) span: Span,
    /// Equal keys in it cannot be ruled out by their order.
    pub(super) unsorted: bool,
    /// Some of its values hold maps.
    pub(super) nested: bool,
}

impl Check {
    /// Reports the rule about keys that the map breaks, if any.
    #[inline(never)]
    pub(super) fn judge(&self, r: &mut Reader<'_, '_>) {
        if !self.unsorted && !self.nested {
            return;
        }
        if let Some((rule, place)) = self.fault(r.source()) {
            r.flag(rule, place, 1, field::KEYS, 0);
        }
    }

    fn fault(&self, source: &Source<'_>) -> Option<(Rule, u64)> {
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        // The map was read before, so nothing is lacking and nothing is broken;
        // if bytes have changed since, this finds nothing.
        let span = self.span;
        let top = match self.unsorted {
            true => unique(&mut reader, span, span.at, true).ok().flatten(),
            false => None,
        };
        if top.is_some() || !self.nested {
            return top;
        }
        walk(&mut reader, span).ok().flatten()
    }
}

/// Looks at every map inside the map at `span.at`.
fn walk(r: &mut Reader<'_, '_>, span: Span) -> Result<Option<(Rule, u64)>, Halt> {
    let end = span.end().unwrap_or(u64::MAX);
    let mut at = span.at;
    while at < end {
        r.region(at, end, rules::CBOR_TRUNCATED);
        let mut pull = Pull::new(r);
        let head = pull.head()?;
        if matches!(head.major, major::BYTES | major::TEXT) && !head.is_indefinite() {
            pull.string(&head)?;
        }
        let next = pull.r.at();
        if head.major == major::MAP && at != span.at && head.argument != 1 {
            let found = unique(r, span, at, false)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        at = next;
    }
    Ok(None)
}

/// Whether the keys of the map at `at`, inside `whole`, are unique.
fn unique(
    r: &mut Reader<'_, '_>,
    whole: Span,
    at: u64,
    top: bool,
) -> Result<Option<(Rule, u64)>, Halt> {
    // Offsets from the start of the whole map.
    let mut keys = [0_u32; CBOR_KEYS];
    let mut count = 0_usize;
    let (mut by_bytes, mut by_form) = (true, true);
    let mut previous = None;
    r.region(at, whole.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    let head = pull.item(2)?;
    let mut pairs = Pairs::new(&mut pull, &head)?;
    while let Some(key) = pairs.next_key(&mut pull)? {
        let read = read_key(&mut pull, key)?;
        if let Some(previous) = previous {
            by_bytes &= read.by_bytes(&previous) == Ordering::Greater;
            by_form &= read.by_form(&previous) == Ordering::Greater;
        }
        previous = Some(read);
        if let Some(slot) = keys.get_mut(count) {
            *slot = u32::try_from(key.at.wrapping_sub(whole.at)).unwrap_or(u32::MAX);
        }
        count = count.wrapping_add(1);
        let value = pull.item(3)?;
        pull.skip(value, 3)?;
    }
    if by_bytes || by_form {
        return Ok(None);
    }
    let Some(keys) = keys.get(..count) else {
        return Ok(Some((rules::CBOR_KEYS, at)));
    };
    for (i, &second) in keys.iter().enumerate() {
        let key = reread(r, whole, second)?;
        // Fields of the specification that occur twice have their own rule.
        if top && key.name.as_ref().and_then(Key::of).is_some() {
            continue;
        }
        for &first in keys.get(..i).unwrap_or_default() {
            if reread(r, whole, first)?.by_bytes(&key) == Ordering::Equal {
                let at = whole.at.wrapping_add(u64::from(second));
                return Ok(Some((rules::CBOR_KEY_DUPLICATE, at)));
            }
        }
    }
    Ok(None)
}

/// A key: its type and number, its text or bytes, or else its stored bytes.
#[derive(Clone, Copy)]
struct Stored<'a> {
    major: u8,
    argument: u64,
    name: Option<Name<'a>>,
    bytes: &'a [u8],
}

impl Stored<'_> {
    /// By type, then by value.
    fn by_bytes(&self, other: &Self) -> Ordering {
        let value = || match (&self.name, &other.name) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => self.argument.cmp(&other.argument).then_with(|| self.bytes.cmp(other.bytes)),
        };
        self.major.cmp(&other.major).then_with(value)
    }

    /// As the encoded bytes compare: shorter strings first.
    fn by_form(&self, other: &Self) -> Ordering {
        let forms = self.major.cmp(&other.major).then(self.argument.cmp(&other.argument));
        forms.then_with(|| self.by_bytes(other))
    }
}

/// Reads the key that `head` began.
fn read_key<'a>(pull: &mut Pull<'_, '_, 'a>, head: Head) -> Result<Stored<'a>, Halt> {
    let mut key = Stored { major: head.major, argument: head.argument, name: None, bytes: &[] };
    match head.major {
        major::BYTES | major::TEXT => key.name = Some(pull.string(&head)?.name),
        // Numbers are equal whatever form they have.
        major::UINT | major::NINT => {}
        _ => {
            pull.skip(head, 3)?;
            key.bytes = pull.r.get(super::cbor::since(pull.r, head.at))?;
        }
    }
    Ok(key)
}

fn reread<'a>(r: &mut Reader<'_, 'a>, whole: Span, offset: u32) -> Result<Stored<'a>, Halt> {
    let at = whole.at.wrapping_add(u64::from(offset));
    r.region(at, whole.end().unwrap_or(u64::MAX), rules::CBOR_TRUNCATED);
    let mut pull = Pull::new(r);
    let head = pull.item(3)?;
    read_key(&mut pull, head)
}
