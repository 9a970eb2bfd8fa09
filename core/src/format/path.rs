//! Paths of other files, as a file names them.

/// Whether a location stays within the model's folder on any system: components between slashes,
/// none of them empty, `.` or `..`, without a drive, a backslash or a control character.
pub fn is_inside(location: &[u8]) -> bool {
    location.split(|byte| *byte == b'/').all(|part| {
        let plain = part.iter().all(|byte| *byte >= b' ' && !matches!(byte, b'\\' | b':' | 0x7F));
        plain && part.iter().any(|byte| *byte != b'.' && *byte != b' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_inside_folder_is_accepted() {
        for inside in ["a", "a.bin", "a/b/c.data", ".hidden", "a..b", "\u{e4}.bin"] {
            assert!(is_inside(inside.as_bytes()), "{inside}");
        }
        for outside in [
            "", "/a", "..", "../a", "a/../b", "a//b", "a/", "./a", "C:a", "a\\b", "\\\\s\\x",
            "file:x", "a\0b", "a/ /b", "a/. /b",
        ] {
            assert!(!is_inside(outside.as_bytes()), "{outside}");
        }
    }
}
