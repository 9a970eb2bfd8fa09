//! Checks of unknown fields, which are skipped: duplicate keys, and numbers outside the
//! range of doubles.

use super::{Json, Text, rules};
use crate::base::{limits::JSON_KEYS, widen};
use crate::model::{Name, NameEncoding};

/// A key of an open object, or a marker for the start of an object.
#[derive(Clone, Copy, Debug)]
struct Key {
    /// Offset of the text; for a marker, the start of the enclosing object's keys.
    at: u32,
    /// Length of the text, below 2^27, with [`ESCAPED`]; [`MARK`] for a marker.
    len: u32,
}

const MARK: u32 = u32::MAX;
const ESCAPED: u32 = 1 << 31;

/// The keys of open objects, from the outermost to the innermost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    keys: [Key; JSON_KEYS],
    count: usize,
    /// Start of the innermost object's keys.
    from: usize,
    /// Number of open objects that did not fit.
    beyond: u32,
    /// Whether the current value is an unknown field.
    on: bool,
}

/// No keys yet.
pub(super) const NONE: Keys =
    Keys { keys: [Key { at: 0, len: 0 }; JSON_KEYS], count: 0, from: 0, beyond: 0, on: false };

impl Json<'_> {
    /// Skips the unknown field, `outside` levels deep, whose key was read last. Its key is
    /// compared with those of the entry's other unknown fields.
    pub(in crate::format) fn foreign(&mut self, outside: u32) {
        self.keys.on = true;
        self.object_key();
        self.value(outside);
        self.keys.on = false;
    }

    /// Records the start of an object.
    pub(super) fn object_begins(&mut self) {
        if !self.keys.on {
            return;
        }
        let from = u32::try_from(self.keys.from).unwrap_or(0);
        if self.keys.beyond == 0 && self.keys.push(Key { at: from, len: MARK }) {
            self.keys.from = self.keys.count;
        } else {
            self.keys.beyond = self.keys.beyond.wrapping_add(1);
        }
    }

    /// Records the end of the innermost object.
    pub(super) fn object_ends(&mut self) {
        let keys = &mut self.keys;
        if !keys.on {
            return;
        }
        if keys.beyond > 0 {
            keys.beyond = keys.beyond.wrapping_sub(1);
            return;
        }
        keys.count = keys.from.saturating_sub(1);
        let mark = keys.keys.get(keys.count);
        keys.from = mark.map_or(0, |mark| usize::try_from(mark.at).unwrap_or(0));
    }

    /// Reports the last key if it has occurred in its object before.
    pub(super) fn object_key(&mut self) {
        if !self.keys.on {
            return;
        }
        let Text { at, len, escaped } = self.text;
        let name = self.name_of(at, len, escaped);
        let open = self.keys.keys.get(self.keys.from..self.keys.count).unwrap_or_default();
        let twice = self.keys.beyond == 0
            && open.iter().any(|key| {
                let [at, len] =
                    [key.at, key.len & !ESCAPED].map(|n| usize::try_from(n).unwrap_or(0));
                self.name_of(at, len, key.len & ESCAPED != 0) == name
            });
        let short = |n: usize| u32::try_from(n).unwrap_or(0);
        let key = Key { at: short(at), len: short(len) | if escaped { ESCAPED } else { 0 } };
        let (rule, most) = if twice {
            (rules::KEY_DUPLICATE, 0)
        } else if self.keys.beyond == 0 && self.keys.push(key) {
            return;
        } else {
            (rules::KEYS_UNCHECKED, widen(JSON_KEYS))
        };
        self.note_span(rule, at.wrapping_sub(1), len.wrapping_add(2), most, 0);
    }

    fn name_of(&self, at: usize, len: usize, escaped: bool) -> Name<'_> {
        let text = self.all.get(at..).and_then(|rest| rest.get(..len)).unwrap_or_default();
        Name::new(text, if escaped { NameEncoding::Json } else { NameEncoding::Plain })
    }

    /// Checks the number from `at` to the current position, if it is in an unknown field.
    pub(super) fn passed_number(&mut self, at: usize) {
        if !self.keys.on {
            return;
        }
        let text = self.all.get(at..self.at).unwrap_or_default();
        if exceeds_double(text) {
            self.note(rules::NUMBER_DOUBLE, at, 0, 0);
        }
    }
}

impl Keys {
    /// Adds a key; returns whether there was room.
    fn push(&mut self, key: Key) -> bool {
        let place = self.keys.get_mut(self.count);
        let room = place.is_some();
        if let Some(place) = place {
            *place = key;
            self.count = self.count.wrapping_add(1);
        }
        room
    }
}

/// The first 17 digits of the smallest number that is too large. Readers multiply these
/// digits by a power of ten.
const TOO_LARGE: u64 = 17_976_931_348_623_158;
const DIGITS: u32 = 17;

/// Whether a number exceeds the range of 64-bit floats.
fn exceeds_double(number: &[u8]) -> bool {
    let (mut digits, mut count, mut point) = (0_u64, 0_u32, false);
    // The number is 0.digits times ten to this power.
    let mut exponent = 0_i32;
    let mut rest = number;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'0'..=b'9' => {
                let leading = count == 0 && *byte == b'0';
                let shift = i32::from(!point).wrapping_sub(leading.into());
                exponent = exponent.saturating_add(shift);
                if !leading && count < DIGITS {
                    digits = digits.wrapping_mul(10).wrapping_add((byte & 0xF).into());
                    count = count.wrapping_add(1);
                }
            }
            b'.' => point = true,
            b'e' | b'E' => break,
            _ => {}
        }
    }
    let (mut power, mut negative) = (0_i32, false);
    for byte in rest {
        negative |= *byte == b'-';
        if byte.is_ascii_digit() {
            power = power.saturating_mul(10).saturating_add((byte & 0xF).into());
        }
    }
    exponent = exponent.saturating_add(if negative { power.saturating_neg() } else { power });
    if count == 0 {
        return false;
    }
    while count < DIGITS {
        digits = digits.wrapping_mul(10);
        count = count.wrapping_add(1);
    }
    exponent > 309 || (exponent == 309 && digits >= TOO_LARGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn number_beyond_double_is_found() {
        let zeros = "0".repeat(400);
        let exceeds = |text: &str| exceeds_double(text.as_bytes());
        for (number, large) in [
            ("0", false),
            ("-0", false),
            ("0e999999999999999999999999", false),
            ("0.000E+9999", false),
            ("1e308", false),
            ("-1e308", false),
            ("1e309", true),
            ("-1E+309", true),
            ("1e400", true),
            ("1e-400", false),
            ("0.001e311", false),
            ("0.001e312", true),
            ("100e307", true),
            ("100e306", false),
            ("99.9e307", true),
            ("1.7976931348623157e308", false),
            ("17976931348623157e292", false),
            ("1.7976931348623159e308", true),
            ("1.8e308", true),
            ("1e99999999999999999999999999", true),
            ("1e-99999999999999999999999999", false),
            ("123456789012345678901234567890", false),
        ] {
            assert_eq!(exceeds(number), large, "{number}");
            let read: f64 = number.parse().unwrap_or(f64::NAN);
            assert_eq!(read.is_infinite(), large, "{number}");
        }
        for (number, large) in [
            (std::format!("1{zeros}"), true),
            (std::format!("1{zeros}e-92"), false),
            (std::format!("1{zeros}e-91"), true),
            (std::format!("0.{zeros}1e400"), false),
            (std::format!("0.{zeros}1e710"), true),
            (std::format!("0.{zeros}1e709"), false),
        ] {
            assert_eq!(exceeds(&number), large, "{number}");
        }
    }

    #[test]
    fn powers_of_ten_match_parsed_doubles() {
        for power in -330..330 {
            for digits in ["1", "9", "1.8", "17.9", "0.2", "0.0179", "1797", "1798"] {
                let number: String = std::format!("{digits}e{power}");
                let read: f64 = number.parse().unwrap_or(f64::NAN);
                assert_eq!(exceeds_double(number.as_bytes()), read.is_infinite(), "{number}");
            }
        }
    }
}
