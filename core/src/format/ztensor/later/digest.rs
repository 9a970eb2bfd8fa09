//! Digests of generation 2: an algorithm, a colon, lower-case hexadecimal digits.

use super::super::rules;
use crate::codec::checksum::Checksum;
use crate::model::Name;
use crate::rule::Rule;

/// One byte more than the longest text that is known, that of SHA-256.
const ROOM: usize = 72;

/// The digest in the text; `None` if it has no known form.
pub(super) fn value(text: &Name<'_>) -> Option<Checksum> {
    let (copy, len) = copied(text);
    let text = copy.get(..len)?;
    if let Some(digits) = text.strip_prefix(b"xxh3:")
        && digits.len() == 16
    {
        let mut bytes = [0; 8];
        return decode(digits, &mut bytes).then(|| Checksum::xxh3(u64::from_be_bytes(bytes)));
    }
    let digits = text.strip_prefix(b"sha256:").filter(|digits| digits.len() == 64)?;
    let mut bytes = [0; 32];
    decode(digits, &mut bytes).then(|| Checksum::sha256(bytes))
}

/// The rule that the text breaks.
pub(super) fn fault(text: &Name<'_>) -> Option<Rule> {
    if !is_formed(text) {
        return Some(rules::DIGEST_FORM);
    }
    let (copy, len) = copied(text);
    let known = |name: &[u8]| copy.get(..len).is_some_and(|text| text.starts_with(name));
    match value(text) {
        Some(_) => None,
        None if known(b"xxh3:") || known(b"sha256:") => Some(rules::DIGEST_FORM),
        None => Some(rules::CHECKSUM_UNKNOWN),
    }
}

/// Whether the text has the form of a digest of any algorithm.
pub(super) fn is_formed(text: &Name<'_>) -> bool {
    let (mut colon, mut before, mut after) = (false, false, false);
    for byte in text.bytes() {
        match byte {
            b':' if !colon => colon = true,
            b'0'..=b'9' | b'a'..=b'f' if colon => after = true,
            b'0'..=b'9' | b'a'..=b'z' if !colon => before = true,
            _ => return false,
        }
    }
    before && after
}

/// The first bytes of the text, and their number.
fn copied(text: &Name<'_>) -> ([u8; ROOM], usize) {
    let (mut copy, mut len) = ([0; ROOM], 0_usize);
    for (slot, byte) in copy.iter_mut().zip(text.bytes()) {
        *slot = byte;
        len = len.saturating_add(1);
    }
    (copy, len)
}

/// Decodes lower-case hexadecimal digits; returns whether all are.
fn decode(digits: &[u8], bytes: &mut [u8]) -> bool {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(digit.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    };
    for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
        let (Some(high), Some(low)) = (digit(*high), digit(*low)) else { return false };
        *byte = high << 4 | low;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<Checksum>, Option<&'static str>) {
        let name = Name::from(text);
        (value(&name), fault(&name).map(Rule::id))
    }

    #[test]
    fn digests_are_lower_case_and_complete() {
        let sum = Checksum::xxh3(0x2D06_8005_38D3_94C2);
        assert_eq!(parse("xxh3:2d06800538d394c2"), (Some(sum), None));
        let digits = "0f".repeat(32);
        let sum = Checksum::sha256([0x0F; 32]);
        assert_eq!(parse(&std::format!("sha256:{digits}")), (Some(sum), None));
        let long = std::format!("sha256:{digits}0");
        for text in
            ["xxh3:00FF00FF00FF00FF", "xxh3:", ":00", "", "xxh3", "xxh3:00", "a:b:c", long.as_str()]
        {
            assert_eq!(parse(text), (None, Some("DIGEST-FORM")), "{text}");
        }
        assert_eq!(parse("blake3:00"), (None, Some("CHECKSUM-UNKNOWN")));
    }
}
