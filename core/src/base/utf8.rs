//! UTF-8 validation.

use super::features::SWEEP;

/// Length of the valid characters at the start of `bytes`, and whether the rest may be an
/// incomplete character. `None` if all of `bytes` is valid.
#[inline]
pub(crate) fn fault(bytes: &[u8]) -> Option<(usize, bool)> {
    if SWEEP {
        let error = core::str::from_utf8(bytes).err()?;
        return Some((error.valid_up_to(), error.error_len().is_none()));
    }
    by_character(bytes)
}

/// The same in a fifth of the code: the library's version reads words and uses a table. A
/// truncated invalid sequence may pass as incomplete; one more byte decides.
#[inline]
fn by_character(bytes: &[u8]) -> Option<(usize, bool)> {
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let whole = bytes.len().wrapping_sub(rest.len());
        let (more, mark, least) = match first {
            0..=0x7F => (0, 0, 0),
            0xC0..=0xDF => (1, 0xC0, 0x80),
            0xE0..=0xEF => (2, 0xE0, 0x800),
            0xF0..=0xF7 => (3, 0xF0, 0x1_0000),
            _ => return Some((whole, false)),
        };
        rest = after;
        let mut code = u32::from(first ^ mark);
        for _ in 0..more {
            let Some((byte, after)) = rest.split_first() else { return Some((whole, true)) };
            if byte & 0xC0 != 0x80 {
                return Some((whole, false));
            }
            code = code << 6 | u32::from(byte & 0x3F);
            rest = after;
        }
        if code < least || matches!(code, 0xD800..=0xDFFF | 0x11_0000..) {
            return Some((whole, false));
        }
    }
    None
}

/// Whether all of `bytes` is UTF-8.
pub(crate) fn is(bytes: &[u8]) -> bool {
    fault(bytes).is_none()
}

#[cfg(test)]
mod tests {
    use super::by_character;

    fn same(bytes: &[u8]) {
        let error = core::str::from_utf8(bytes).err();
        let found = by_character(bytes);
        assert_eq!(found.map(|(at, _)| at), error.map(|error| error.valid_up_to()), "{bytes:?}");
        if error.is_some_and(|error| error.error_len().is_none()) {
            assert!(found.is_some_and(|(_, cut)| cut), "{bytes:?}");
        }
    }

    #[test]
    fn utf8_matches_standard_library() {
        for first in 0..=255 {
            same(&[first]);
            same(&[b'a', first, b'b']);
            for second in 0..=255 {
                same(&[first, second]);
                for third in [0, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0xA0, 0xBF, 0xC0, 0xFF] {
                    same(&[first, second, third]);
                    for fourth in [0, 0x7F, 0x80, 0xBF, 0xC0, 0xFF] {
                        same(&[first, second, third, fourth]);
                        same(&[b' ', first, second, third, fourth, b'.']);
                    }
                }
            }
        }
        for text in ["", "a", "é", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", "zwölf 🚢"] {
            same(text.as_bytes());
            assert!(super::is(text.as_bytes()));
        }
    }
}
