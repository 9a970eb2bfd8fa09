//! Data in another file: entries that name the file and a range in it.

use super::pair::{Pair, unread};
use super::rules;
use super::tensor::{Broken, broken};
use crate::format::path::is_inside;
use crate::input::Span;
use crate::parse::Reader;
use crate::protobuf::Field;
use crate::rule::Halt;

/// The entries of external data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct External {
    /// The keys seen, a bit each in the order of [`KEYS`].
    seen: u8,
    any: bool,
    /// The location, if it is sound.
    location: Span,
    offset: u64,
    len: Option<u64>,
    /// The text with the checksum of the file.
    checksum: Span,
    /// An entry breaks a rule.
    faulty: bool,
}

/// The keys that `onnx.proto` defines.
const KEYS: [&[u8]; 4] = [b"location", b"offset", b"length", b"checksum"];
const LOCATION: usize = 0;
const OFFSET: usize = 1;
const LENGTH: usize = 2;

impl External {
    pub(super) const NONE: External = External {
        seen: 0,
        any: false,
        location: Span::new(0, 0),
        offset: 0,
        len: None,
        checksum: Span::new(0, 0),
        faulty: false,
    };

    /// The text that names the other file; empty if an entry breaks a rule.
    pub(super) fn location(&self) -> Span {
        if self.faulty { Span::default() } else { self.location }
    }

    /// The text with the SHA-1 of the other file; empty without one.
    pub(super) fn checksum(&self) -> Span {
        self.checksum
    }

    /// Whether there are entries.
    pub(super) fn is_any(&self) -> bool {
        self.any
    }
}

/// Reads one entry.
pub(super) fn entry(
    r: &mut Reader<'_, '_>,
    external: &mut External,
    found: &Field,
) -> Result<(), Halt> {
    let pair = Pair::read(r, found, true)?;
    external.any = true;
    let (Some(key), Some(value)) = (pair.key_text, pair.value_text) else {
        unread(r, if pair.key_text.is_none() { pair.key } else { pair.value });
        return Ok(());
    };
    let Some(place) = KEYS.iter().position(|known| *known == key) else {
        r.flag(rules::E_KEY, pair.key.offset, pair.key.len, 0, 0);
        return Ok(());
    };
    let bit = u32::try_from(place).ok().and_then(|place| 1_u8.checked_shl(place)).unwrap_or(0);
    r.check(external.seen & bit == 0, rules::E_TWICE, pair.key, 0, 0);
    let sound = match place {
        LOCATION => {
            if value.is_empty() {
                return Ok(());
            }
            let inside = is_inside(value);
            r.check(inside, rules::E_PATH, pair.value, 0, 0);
            external.location = pair.value;
            inside
        }
        OFFSET | LENGTH => {
            let number = decimal(value);
            r.check(number.is_some(), rules::E_NUMBER, pair.value, 0, 0);
            match place {
                OFFSET => external.offset = number.unwrap_or(0),
                _ => external.len = number,
            }
            number.is_some()
        }
        _ => {
            external.checksum = pair.value;
            true
        }
    };
    external.seen |= bit;
    external.faulty |= !sound;
    Ok(())
}

/// Checks the range, which must hold `bytes` bytes, and returns it if the other file is at hand.
pub(super) fn finish(
    r: &mut Reader<'_, '_>,
    external: &External,
    whole: Span,
    bytes: u64,
) -> Result<Option<Span>, Broken> {
    let located = external.seen & 1 != 0;
    r.check(located, rules::E_LOCATION, whole, 0, 0);
    let other = r.source().beside(external.location().offset);
    // Without a length, the data runs to the end of the file.
    let rest = other.and_then(|other| other.len.checked_sub(external.offset));
    let len = external.len.unwrap_or(rest.unwrap_or(bytes).max(bytes));
    r.check(len == bytes, rules::E_LENGTH, whole, bytes, len);
    let end = external.offset.checked_add(len);
    r.check(end.is_some(), rules::E_RANGE, whole, external.offset, len);
    let (true, Some(end), false) = (located && len == bytes, end, external.faulty) else {
        return Ok(None);
    };
    let Some(other) = other else {
        r.flag(rules::E_UNCHECKED, whole.offset, whole.len, 0, bytes);
        return Ok(None);
    };
    if end > other.len {
        return broken(rules::E_PAST, other.len, end);
    }
    Ok(other.base.checked_add(external.offset).map(|at| Span::new(at, bytes)))
}

/// A decimal number without sign, blanks or superfluous zeros in front.
fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 1 && text.first() == Some(&b'0') {
        return None;
    }
    text.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.wrapping_sub(b'0');
        (digit <= 9).then_some(())?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_plain_decimal() {
        assert_eq!(decimal(b"0"), Some(0));
        assert_eq!(decimal(b"18446744073709551615"), Some(u64::MAX));
        for none in ["", "-1", "+1", " 0", "0 ", "1_0", "0x1", "00", "18446744073709551616"] {
            assert_eq!(decimal(none.as_bytes()), None, "{none}");
        }
    }
}
