//! Scanning strings and numbers eight bytes at a time.

/// Words of eight bytes, all 1 or all 128.
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// Marks the top bit of each byte below `byte`. Borrows and carries only affect bits above
/// the first marked byte.
#[inline(always)]
fn below(word: u64, byte: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(byte)) & !word
}

/// The index of the first byte whose top bit is marked; 8 if there is none.
#[inline(always)]
fn first_byte(marks: u64) -> usize {
    usize::try_from(marks.trailing_zeros() >> 3).unwrap_or(8)
}

/// Number of bytes before the first `byte`.
#[inline(always)]
pub(super) fn before_byte(bytes: &[u8], byte: u8) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut len = 0_usize;
    for word in words {
        let marks = below(u64::from_le_bytes(*word) ^ ONES.wrapping_mul(byte.into()), 1) & HIGH;
        if marks != 0 {
            return len.wrapping_add(first_byte(marks));
        }
        len = len.wrapping_add(8);
    }
    len.wrapping_add(tail.iter().take_while(|other| **other != byte).count())
}

/// Number of leading printable ASCII characters other than quote and backslash.
#[inline(always)]
pub(super) fn text_len(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    let mut len = 0_usize;
    for word in words {
        let word = u64::from_le_bytes(*word);
        // Non-ASCII bytes are marked by their own top bit, so the differences need no mask.
        // With one bit flipped, the quote directly follows the control characters.
        let controls = (word ^ ONES.wrapping_mul(2)).wrapping_sub(ONES.wrapping_mul(0x21));
        let backslash = (word ^ ONES.wrapping_mul(0x5C)).wrapping_sub(ONES);
        let delete = word.wrapping_add(ONES);
        let ends = (word | controls | backslash | delete) & HIGH;
        if ends != 0 {
            return len.wrapping_add(first_byte(ends));
        }
        len = len.wrapping_add(8);
    }
    let plain = |byte: &&u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    len.wrapping_add(tail.iter().take_while(plain).count())
}

/// Skips digits, commas, and the ASCII characters between them.
#[inline(always)]
pub(super) fn past_list(input: &[u8]) -> &[u8] {
    let (words, tail) = input.as_chunks::<8>();
    let mut len = 0_usize;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let above = word.wrapping_add(ONES.wrapping_mul(0x7F - 0x39)) | word;
        let ends = (above | below(word, 0x2C)) & HIGH;
        if ends != 0 {
            let rest = input.get(len.wrapping_add(first_byte(ends))..);
            return rest.unwrap_or_default();
        }
        len = len.wrapping_add(8);
    }
    let tail_len = tail.iter().take_while(|byte| matches!(byte, b','..=b'9')).count();
    input.get(len.wrapping_add(tail_len)..).unwrap_or_default()
}

/// The number at the start of `input`, without a leading zero.
#[inline(always)]
pub(super) fn int(input: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut len = 0_usize;
    // 19 digits fit 64 bits.
    while len < 19
        && let Some(byte @ b'0'..=b'9') = input.get(len)
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte.wrapping_sub(b'0')));
        len = len.wrapping_add(1);
    }
    let rest = input.get(len..)?;
    let one_form = len == 1 || input.first() != Some(&b'0');
    (len > 0 && one_form && !matches!(rest.first(), Some(b'0'..=b'9'))).then_some((value, rest))
}

/// Like `int`, but faster for numbers with many digits.
#[inline(always)]
pub(super) fn long_int(input: &[u8]) -> Option<(u64, &[u8])> {
    if let Some(word) = input.first_chunk::<8>() {
        let digits = u64::from_le_bytes(*word) ^ ONES.wrapping_mul(b'0'.into());
        let ends = (digits.wrapping_add(ONES.wrapping_mul(0x76)) | digits) & HIGH;
        let len = first_byte(ends);
        if (1..8).contains(&len) {
            // Zeros are shifted in before the first digit; then pairs are combined, and
            // pairs of pairs.
            let digits = digits.wrapping_shl((ends.trailing_zeros() & !7).wrapping_neg());
            let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
            let low = (pairs & 0xFF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
            let high = ((pairs >> 16) & 0xFF_0000_00FF).wrapping_mul(0x2710_0000_0001);
            let one_form = len == 1 || input.first() != Some(&b'0');
            return one_form.then_some((low.wrapping_add(high) >> 32, input.get(len..)?));
        }
    }
    int(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn number_and_string_end_at_delimiter() {
        for value in [0, 7, 10, 409, 1234, 99_999, 654_321, 9_999_999, 12_345_678, u64::MAX / 10] {
            for after in [&b""[..], b",", b"]}\"dtype\"", b"/12345678", b":\xFF1234567", b"\0\x80"]
            {
                let mut text = value.to_string().into_bytes();
                text.extend_from_slice(after);
                assert_eq!(int(&text), Some((value, after)), "{value}");
                assert_eq!(long_int(&text), Some((value, after)), "{value}");
            }
        }
        for wrong in [&b""[..], b"-1", b"01", b"00000001,", b"x12345678", b"18446744073709551616"] {
            assert_eq!((int(wrong), long_int(wrong)), (None, None));
        }
        for len in 0..40 {
            for end in 0..=255 {
                let mut text = [b'n'; 40][..len].to_vec();
                text.extend_from_slice(&[
                    end, b'"', 0xFF, b'~', b' ', b'a', b'b', b'c', b'd', b'e',
                ]);
                let first = text
                    .iter()
                    .position(|b| !matches!(b, b' '..=b'~') || matches!(b, b'"' | b'\\'));
                assert_eq!(Some(text_len(&text)), first, "{len} {end}");
                let quote = text.iter().position(|b| *b == b'"');
                assert_eq!(Some(before_byte(&text, b'"')), quote, "{len} {end}");
                assert_eq!(before_byte(&text[..len], b'"'), len);
                let list: Vec<_> =
                    text.iter().map(|b| if *b == b'n' { b'1' } else { *b }).collect();
                let first = list.iter().position(|b| !matches!(b, b','..=b'9')).unwrap_or(0);
                assert_eq!(past_list(&list), &list[first..], "{len} {end}");
            }
        }
    }
}
