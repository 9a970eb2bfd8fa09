//! Parses the text of the field `checksum`.

use super::rules;
use crate::codec::checksum::{Algorithm, Checksum};
use crate::model::Name;
use crate::rule::Rule;

/// One byte more than the longest valid text, that of SHA-256.
const ROOM: usize = 72;

/// The checksum in the text; `None` if the text has no known form.
pub(super) fn value(name: &Name<'_>) -> Option<Checksum> {
    let mut copy = [0; ROOM];
    let Digits { algorithm, digits, .. } = split(name, &mut copy).ok()?;
    let mut value = [0; 32];
    for (byte, [high, low]) in value.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = (hex(*high)? << 4) | hex(*low)?;
    }
    Some(match algorithm {
        Algorithm::Crc32c => Checksum::crc32c(u32::from_be_bytes(*value.first_chunk()?)),
        Algorithm::Sha256 => Checksum::sha256(value),
        Algorithm::Crc32 | Algorithm::Xxh3 => return None,
    })
}

/// The rule that the text breaks. If [`value`] accepts the text, it only concerns spelling.
pub(super) fn fault(name: &Name<'_>) -> Option<Rule> {
    match split(name, &mut [0; ROOM]) {
        Ok(text) => (!text.usual).then_some(rules::CHECKSUM_SPELLING),
        Err(rule) => Some(rule),
    }
}

/// The algorithm, and the digits after the colon.
struct Digits<'c> {
    algorithm: Algorithm,
    /// As many hexadecimal digits as the algorithm requires.
    digits: &'c [u8],
    /// Whether the text is spelled as by real writers.
    usual: bool,
}

/// Parses the text (an algorithm, a colon, a value), or returns the rule that it breaks.
/// The first bytes of the text are copied to `copy`.
fn split<'c>(name: &Name<'_>, copy: &'c mut [u8; ROOM]) -> Result<Digits<'c>, Rule> {
    let mut len = 0_usize;
    let mut colon = false;
    for byte in name.bytes() {
        colon |= byte == b':';
        if let Some(slot) = copy.get_mut(len) {
            *slot = byte;
            len = len.wrapping_add(1);
        }
    }
    if len == 0 {
        return Err(rules::CHECKSUM_EMPTY);
    }
    // Zeros follow the text, unless it is too long for every form.
    let copy: &[u8; ROOM] = copy;
    let (name, rest) = copy.split_at_checked(7).unwrap_or_default();
    let (algorithm, count) = if name == b"crc32c:" {
        (Algorithm::Crc32c, 8)
    } else if name == b"sha256:" {
        (Algorithm::Sha256, 64)
    } else if colon {
        return Err(rules::CHECKSUM_UNKNOWN);
    } else {
        return Err(rules::CHECKSUM_FORM);
    };
    let (mut usual, mut digits, mut before) = (true, rest, 7_usize);
    if algorithm == Algorithm::Crc32c {
        let (start, after) = rest.split_at_checked(2).unwrap_or_default();
        usual = start == b"0x";
        if usual || start == b"0X" {
            (digits, before) = (after, 9);
        }
    }
    if len != before.wrapping_add(count) {
        return Err(rules::CHECKSUM_FORM);
    }
    let digits = digits.get(..count).unwrap_or_default();
    for digit in digits {
        // Real writers use one case per algorithm.
        usual &= match digit {
            b'0'..=b'9' => true,
            b'A'..=b'F' => algorithm == Algorithm::Crc32c,
            b'a'..=b'f' => algorithm == Algorithm::Sha256,
            _ => return Err(rules::CHECKSUM_FORM),
        };
    }
    Ok(Digits { algorithm, digits, usual })
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NameEncoding;

    fn parse(text: &str) -> (Option<Checksum>, Option<&'static str>) {
        let name = Name::new(text.as_bytes(), NameEncoding::Plain);
        (value(&name), fault(&name).map(Rule::id))
    }

    #[test]
    fn spellings_of_crc32c() {
        let value = Some(Checksum::crc32c(0xE306_9283));
        assert_eq!(parse("crc32c:0xE3069283"), (value, None));
        assert_eq!(parse("crc32c:0x00C51B2E"), (Some(Checksum::crc32c(0xC5_1B2E)), None));
        for text in ["crc32c:0xe3069283", "crc32c:E3069283", "crc32c:0XE3069283"] {
            assert_eq!(parse(text), (value, Some("CHECKSUM-SPELLING")), "{text}");
        }
        for text in ["crc32c", "crc32c:", "crc32c:0x", "crc32c:0x1234567", "crc32c:0x123456789"] {
            assert_eq!(parse(text), (None, Some("CHECKSUM-FORM")), "{text}");
        }
    }

    #[test]
    fn spellings_of_sha256() {
        let digits = "00ff".repeat(16);
        let mut value = [0; 32];
        value.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0xFF);
        let value = Some(Checksum::sha256(value));
        assert_eq!(parse(&std::format!("sha256:{digits}")), (value, None));
        let upper = std::format!("sha256:{}", digits.to_uppercase());
        assert_eq!(parse(&upper), (value, Some("CHECKSUM-SPELLING")));
        for text in [
            std::format!("sha256:{digits}0"),
            std::format!("sha256:{}", digits.trim_start_matches("00")),
        ] {
            assert_eq!(parse(&text), (None, Some("CHECKSUM-FORM")), "{text}");
        }
    }

    #[test]
    fn malformed_checksum_is_found() {
        assert_eq!(parse(""), (None, Some("CHECKSUM-EMPTY")));
        assert_eq!(parse("deadbeef"), (None, Some("CHECKSUM-FORM")));
        assert_eq!(parse("xxh3:0011223344556677"), (None, Some("CHECKSUM-UNKNOWN")));
        let long = std::format!("{}:", "x".repeat(200));
        assert_eq!(parse(&long), (None, Some("CHECKSUM-UNKNOWN")));
    }
}
