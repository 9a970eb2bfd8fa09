//! Whether the keys of a map are unique (RFC 8949 §5.6), without storage for
//! more than a few of them.
//!
//! Keys in ascending order prove themselves, and real writers sort. Keys that
//! are in no order are compared one with another, up to a limit.

use super::cbor::{Pull, major};
use super::entry::{Entry, Key, Pairs};
use super::{field, rules};
use crate::limits::CBOR_KEYS;
use crate::name::{Name, NameEncoding};
use crate::read::Halt;
use crate::rule::Rule;
use crate::slot::{Word, wide};
use crate::source::Span;
use core::cmp::Ordering;

/// How many keys are held while the others are compared with them. With fewer
/// than may have to be compared, a map is read several times.
const HELD: usize = if cfg!(feature = "windows") { CBOR_KEYS } else { 16 };

/// Reports the rule about keys that a map breaks, if any. It was read before, so
/// nothing is lacking and nothing stops the parse.
#[inline(never)]
pub(super) fn judge(pull: &mut Pull<'_, '_, '_>, entry: &Entry) -> Result<(), Halt> {
    let mut at = entry.at;
    // Of the tensor's own map, which comes first, equal custom keys are left.
    let mut own = true;
    while at < entry.end && (own && entry.unsorted || pull.maps) {
        pull.go(at);
        pull.next_head()?;
        if pull.head.is_string() && !pull.head.is_indefinite() {
            pull.string()?;
        }
        let next = pull.at();
        if pull.head.major == major::MAP {
            let looked = if own { entry.unsorted } else { pull.head.argument != 1 };
            let start = if own { entry.at } else { at };
            if looked && let Some((rule, place)) = unique(pull, start, own)? {
                pull.r.flag(rule, wide(place), 1, field::KEYS, 0);
                return Ok(());
            }
            own = false;
        }
        at = next;
    }
    Ok(())
}

/// The rule that the keys of the map at `start` break, and where; with `own` it is
/// the map of the tensor itself.
#[inline(never)]
fn unique(
    pull: &mut Pull<'_, '_, '_>,
    start: Word,
    own: bool,
) -> Result<Option<(Rule, Word)>, Halt> {
    let mut held = [0; HELD];
    // The position of the first key that is held: in the first pass there is none.
    let mut from = 0_usize.wrapping_sub(HELD);
    let mut twin = Word::MAX;
    loop {
        let mut count = 0_usize;
        let (mut by_value, mut by_form) = (true, true);
        let mut previous = Stored::default();
        pull.go(start);
        pull.item(2, false)?;
        let mut pairs = Pairs::new(pull)?;
        while pairs.next_key(pull)? {
            let key = Stored::read(pull)?;
            if count > 0 {
                by_value &= key.order(&previous, false).is_gt();
                by_form &= key.order(&previous, true).is_gt();
            }
            // Fields of the specification that occur twice have their own rule.
            let field = own && key.major == major::TEXT && Key::of(&key.name).is_some();
            let earlier = if field { 0 } else { count.saturating_sub(from).min(HELD) };
            let behind = pull.at();
            for &at in held.get(..earlier).unwrap_or_default() {
                pull.go(at);
                pull.item(3, false)?;
                if Stored::read(pull)?.order(&key, false).is_eq() {
                    twin = twin.min(key.at);
                }
            }
            pull.go(behind);
            if let Some(slot) = held.get_mut(count.wrapping_sub(from)) {
                *slot = key.at;
            }
            previous = key;
            count = count.wrapping_add(1);
            pull.item(3, false)?;
            pull.skip(3)?;
        }
        if by_value || by_form {
            return Ok(None);
        }
        if count > CBOR_KEYS {
            return Ok(Some((rules::CBOR_KEYS, start)));
        }
        from = from.wrapping_add(HELD);
        if from >= count {
            break;
        }
    }
    Ok((twin != Word::MAX).then_some((rules::CBOR_KEY_DUPLICATE, twin)))
}

/// A key: its type and number, its text or bytes, or else its stored bytes.
#[derive(Clone, Copy, Default)]
struct Stored<'a> {
    at: Word,
    major: u8,
    argument: u64,
    name: Name<'a>,
}

impl<'a> Stored<'a> {
    /// Reads the key whose head was read.
    #[inline(never)]
    fn read(pull: &mut Pull<'_, '_, 'a>) -> Result<Self, Halt> {
        let head = pull.head;
        let name = match head.major {
            major::BYTES | major::TEXT => pull.name()?,
            // Numbers are equal whatever form they have.
            major::UINT | major::NINT => Name::default(),
            _ => {
                pull.skip(3)?;
                let span = Span::between(wide(head.at), wide(pull.at()));
                Name::new(pull.r.get(span)?, NameEncoding::Plain)
            }
        };
        Ok(Stored { at: head.at, major: head.major, argument: head.argument, name })
    }

    /// By type, then by value; or by `form` as the encoded bytes compare, shorter
    /// strings first.
    #[inline(never)]
    fn order(&self, other: &Self, form: bool) -> Ordering {
        let counts = form || !matches!(self.major, major::BYTES | major::TEXT);
        let arguments = || match counts {
            true => self.argument.cmp(&other.argument),
            false => Ordering::Equal,
        };
        let types = self.major.cmp(&other.major);
        types.then_with(arguments).then_with(|| self.name.cmp(&other.name))
    }
}
