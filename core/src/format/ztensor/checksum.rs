//! The text of the field `checksum`.

use super::rules;
use crate::checksum::Checksum;
use crate::name::Name;
use crate::rule::Rule;

/// Bytes of the longest text that is understood, SHA-256.
const LONGEST: usize = 71;

/// Reads the text: an algorithm, a colon, a value.
///
/// The second part of the answer is the rule that the text breaks, which
/// with a value is a matter of spelling only.
pub(super) fn parse(name: &Name<'_>) -> (Option<Checksum>, Option<Rule>) {
    let mut copy = [0; LONGEST];
    let mut len = 0_usize;
    let mut colon = false;
    for byte in name.bytes() {
        colon |= byte == b':';
        if let Some(slot) = copy.get_mut(len) {
            *slot = byte;
        }
        len = len.saturating_add(1);
    }
    if len == 0 {
        return (None, Some(rules::CHECKSUM_EMPTY));
    }
    // A text that is too long may still begin with a known algorithm.
    let text = copy.get(..len).unwrap_or(&copy);
    let whole = len <= LONGEST;
    if let Some(digits) = text.strip_prefix(b"crc32c:") {
        return parse_crc32c(digits)
            .filter(|_| whole)
            .map_or((None, Some(rules::CHECKSUM_FORM)), to_answer);
    }
    if let Some(digits) = text.strip_prefix(b"sha256:") {
        return parse_sha256(digits)
            .filter(|_| whole)
            .map_or((None, Some(rules::CHECKSUM_FORM)), to_answer);
    }
    (None, Some(if colon { rules::CHECKSUM_UNKNOWN } else { rules::CHECKSUM_FORM }))
}

fn to_answer((checksum, usual): (Checksum, bool)) -> (Option<Checksum>, Option<Rule>) {
    (Some(checksum), (!usual).then_some(rules::CHECKSUM_SPELLING))
}

/// Eight digits of either case, after `0x` or nothing, and whether they are
/// spelled as real writers do.
fn parse_crc32c(text: &[u8]) -> Option<(Checksum, bool)> {
    let prefixed = text.strip_prefix(b"0x");
    let digits = prefixed
        .or_else(|| text.strip_prefix(b"0X").filter(|rest| rest.len() == 8))
        .unwrap_or(text);
    let digits: &[u8; 8] = digits.try_into().ok()?;
    let mut value = 0_u32;
    for digit in digits {
        value = (value << 4) | u32::from(hex(*digit)?);
    }
    let usual = prefixed.is_some() && !digits.iter().any(u8::is_ascii_lowercase);
    Some((Checksum::crc32c(value), usual))
}

/// Sixty-four digits of either case.
fn parse_sha256(text: &[u8]) -> Option<(Checksum, bool)> {
    let digits: &[u8; 64] = text.try_into().ok()?;
    let mut value = [0; 32];
    for (byte, [high, low]) in value.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = (hex(*high)? << 4) | hex(*low)?;
    }
    Some((Checksum::sha256(value), !digits.iter().any(u8::is_ascii_uppercase)))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::NameEncoding;

    fn parse(text: &str) -> (Option<Checksum>, Option<&'static str>) {
        let (checksum, rule) = super::parse(&Name::new(text.as_bytes(), NameEncoding::Plain));
        (checksum, rule.map(Rule::id))
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
    fn other_texts() {
        assert_eq!(parse(""), (None, Some("CHECKSUM-EMPTY")));
        assert_eq!(parse("deadbeef"), (None, Some("CHECKSUM-FORM")));
        assert_eq!(parse("xxh3:0011223344556677"), (None, Some("CHECKSUM-UNKNOWN")));
        let long = std::format!("{}:", "x".repeat(200));
        assert_eq!(parse(&long), (None, Some("CHECKSUM-UNKNOWN")));
    }
}
