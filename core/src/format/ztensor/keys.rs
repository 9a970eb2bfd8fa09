//! Whether the keys of a map are unique (RFC 8949 §5.6), without storage for
//! more than a few of them.
//!
//! Keys in ascending order prove themselves, and real writers sort. Keys that
//! are in no order are compared one with another, up to a limit.

use super::cbor::Pull;
use super::entry::{Entry, Key};
use super::head::major;
use super::{field, rules};
use crate::limits::CBOR_KEYS;
use crate::name::{Name, NameEncoding};
use crate::slot::{Word, wide};
use core::cmp::Ordering;

/// How many keys are held while the others are compared with them. With fewer
/// than may have to be compared, a map is read several times.
const HELD: usize = if cfg!(feature = "windows") { CBOR_KEYS } else { 16 };

/// Reports the rule about keys that a map breaks, if any.
///
/// The map was read before, so nothing is lacking and nothing stops the parse.
#[inline(never)]
pub(super) fn judge(pull: &mut Pull<'_, '_, '_>, entry: &Entry) {
    let mut at = entry.at;
    // Of the tensor's own map, which comes first, equal custom keys are left.
    let mut own = true;
    while at < entry.end && (own && entry.unsorted || pull.maps) {
        pull.go(at);
        pull.next_head();
        if pull.head.is_string() && !pull.head.is_indefinite() {
            pull.string();
        }
        let next = pull.at();
        if pull.head.major == major::MAP {
            let looked = if own { entry.unsorted } else { pull.head.argument != 1 };
            let start = if own { entry.at } else { at };
            if looked && !unique(pull, start, own) {
                return;
            }
            own = false;
        }
        at = next;
    }
}

/// Whether the keys of the map at `start` are unique, which else is reported; with
/// `own` it is the map of the tensor itself.
#[inline(never)]
fn unique(pull: &mut Pull<'_, '_, '_>, start: Word, own: bool) -> bool {
    // Where the keys begin that the others are compared with.
    let mut held = [0; HELD];
    // The position of the first of them: in the first pass there is none.
    let mut from = 0_usize.wrapping_sub(HELD);
    let mut twin = Word::MAX;
    let rule = loop {
        let (mut count, mut filled) = (0_usize, 0_usize);
        let mut previous = 0;
        let (mut by_value, mut by_form) = (true, true);
        pull.item_at(start);
        let mut left = pull.count_resident();
        loop {
            pull.key(&mut left);
            if pull.head.is_break() {
                break;
            }
            let key = pull.head.at;
            pull.skip(3);
            let value = pull.at();
            if count > 0 {
                by_value &= order(pull, previous, key, false).is_lt();
                by_form &= order(pull, previous, key, true).is_lt();
            }
            for &first in held.iter().take(filled) {
                // Fields of the specification that occur twice have their own rule.
                if order(pull, first, key, false).is_eq() && !(own && is_field(pull)) {
                    twin = twin.min(key);
                }
            }
            if count >= from
                && let Some(slot) = held.get_mut(filled)
            {
                *slot = key;
                filled = filled.wrapping_add(1);
            }
            previous = key;
            count = count.wrapping_add(1);
            pull.item_at(value);
            pull.skip(3);
        }
        if by_value || by_form {
            return true;
        }
        from = from.wrapping_add(HELD);
        if count > CBOR_KEYS {
            twin = start;
            break rules::CBOR_KEYS;
        }
        if from >= count {
            break rules::CBOR_KEY_DUPLICATE;
        }
    };
    let unique = twin == Word::MAX;
    if !unique {
        pull.r.flag(rule, wide(twin), 1, field::KEYS, 0);
    }
    unique
}

/// Whether the key that was read names a field of the specification.
fn is_field(pull: &Pull<'_, '_, '_>) -> bool {
    pull.head.major == major::TEXT && Key::of(&pull.text).is_some()
}

/// The order of the keys at `first` and `second`: by type, then by value; or by
/// `form` as the encoded bytes compare, shorter strings first.
#[inline(never)]
fn order(pull: &mut Pull<'_, '_, '_>, first: Word, second: Word, form: bool) -> Ordering {
    read(pull, first);
    let (a, text) = (pull.head, pull.text);
    read(pull, second);
    let b = &pull.head;
    let arguments = || match form || !a.is_string() {
        true => a.argument.cmp(&b.argument),
        false => Ordering::Equal,
    };
    a.major.cmp(&b.major).then_with(arguments).then_with(|| text.cmp(&pull.text))
}

/// Reads the key at `at`: its head, and its text or bytes, or else its stored
/// bytes.
#[inline(never)]
fn read(pull: &mut Pull<'_, '_, '_>, at: Word) {
    pull.go(at);
    let run = pull.r.resident();
    pull.item(0, false);
    let head = pull.head;
    pull.text = Name::default();
    pull.skip(3);
    pull.head = head;
    // Numbers are equal whatever form they have.
    if !head.is_string() && head.major > major::NINT {
        let len = usize::try_from(wide(pull.at().wrapping_sub(at))).unwrap_or(usize::MAX);
        let bytes = run.get(..len).unwrap_or_default();
        pull.text = Name::new(bytes, NameEncoding::Plain);
    }
}
