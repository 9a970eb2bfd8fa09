//! What a file is by its content: text, media, native code, tokenizer models.

use crate::base::error::ReadError;
use crate::input::reader::Input;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes read at a time.
pub(super) const PIECE: usize = 256 << 10;

/// Bytes at the start of a file that identify media.
const MEDIA: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1A\n", "image"),
    (0, b"\xFF\xD8\xFF", "image"),
    (0, b"GIF8", "image"),
    (0, b"BM", "image"),
    (0, b"II*\0", "image"),
    (0, b"MM\0*", "image"),
    (8, b"WEBP", "image"),
    (8, b"WAVE", "sound"),
    (8, b"AVI ", "video"),
    (4, b"ftyp", "video"),
    (0, b"fLaC", "sound"),
    (0, b"OggS", "sound"),
    (0, b"ID3", "sound"),
    (0, b"\xFF\xFB", "sound"),
    (0, b"%PDF-", "document"),
    (0, b"\0\x01\0\0\0", "font"),
    (0, b"OTTO\0", "font"),
    (0, b"wOFF", "font"),
    (0, b"wOF2", "font"),
];
/// Extensions of files whose first bytes are not enough.
const MEDIA_NAMES: &[&str] = &[
    "avi", "bmp", "flac", "gif", "jpeg", "jpg", "m4a", "mov", "mp3", "mp4", "ogg", "otf", "pdf",
    "png", "tif", "tiff", "ttf", "wav", "webp", "woff", "woff2",
];

/// The kind of media, if both the first bytes and the name say so.
pub(super) fn media(head: &[u8], extension: &str) -> Option<&'static str> {
    let is = |(at, magic, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    let found = MEDIA.iter().find(is)?;
    MEDIA_NAMES.contains(&extension).then_some(found.2)
}

/// The kind of native code that begins here.
pub(super) fn native(head: &[u8]) -> Option<&'static str> {
    const MAGICS: &[(&[u8], &str)] = &[
        (b"\x7FELF", "native code (ELF)"),
        (b"MZ", "native code (Windows)"),
        (b"\xFE\xED\xFA\xCE", "native code (Mach-O)"),
        (b"\xFE\xED\xFA\xCF", "native code (Mach-O)"),
        (b"\xCE\xFA\xED\xFE", "native code (Mach-O)"),
        (b"\xCF\xFA\xED\xFE", "native code (Mach-O)"),
        (b"\xCA\xFE\xBA\xBE", "native code (Mach-O) or Java"),
        (b"\xCA\xFE\xBA\xBF", "native code (Mach-O)"),
        (b"\0asm", "WebAssembly"),
        (b"BC\xC0\xDE", "native code (LLVM)"),
        (b"!<arch>\n", "native code (library)"),
        (b"dex\n", "Android code"),
        (b"L\0\0\0\x01\x14\x02\0", "shortcut"),
    ];
    if let Some((_, kind)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    // Compiled Python: a version, then these two bytes, then flags of which two bits exist.
    match head {
        [_, 0x0B..=0x0F, b'\r', b'\n', 0..=3, 0, 0, 0, ..] => Some("compiled Python"),
        _ => None,
    }
}

/// The kind of archive, container or compressed data that begins here and is not looked into. Texts
/// may begin so as well.
pub(super) fn packed(head: &[u8]) -> Option<&'static str> {
    const MAGICS: &[(&[u8], &str)] = &[
        (b"7z\xBC\xAF\x27\x1C", "7z archive"),
        (b"Rar!\x1A\x07", "RAR archive"),
        (b"MSCF\0\0\0\0", "cabinet archive"),
        (b"\xED\xAB\xEE\xDB", "RPM package"),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "Office document or installer"),
        (b"0707", "cpio archive"),
        (b"hsqs", "file system image"),
        (b"\x1F\x9D", "data compressed with compress"),
        (b"\x1F\xA0", "data compressed with compress"),
        (b"LZIP\x01", "data compressed with lzip"),
        (b"\x89LZO\0\r\n\x1A\n", "data compressed with lzop"),
        (b"\xFF\x06\0\0sNaPpY", "data compressed with Snappy"),
    ];
    if let Some((_, kind)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some(kind);
    }
    match head {
        // Joblib compresses pickles so. The first two bytes are a multiple of 31.
        [0x78, flags @ (0x01 | 0x5E | 0x9C | 0xDA), third, ..]
            if (0x7800 | u16::from(*flags)) % 31 == 0 && third >> 1 & 3 != 3 =>
        {
            Some("data compressed with zlib")
        }
        // Properties, a size of the dictionary, and the length, which is often unknown.
        [0x5D, 0, 0, _, _, rest @ ..]
            if matches!(rest.get(..8), Some([0xFF, .., 0xFF] | [.., 0, 0, 0])) =>
        {
            Some("data compressed with LZMA")
        }
        _ => None,
    }
}

/// Whether an HDF5 file begins behind a block of the user, whose length is a power of two.
pub(super) fn is_hdf5_behind(head: &[u8]) -> bool {
    let starts = [512, 1_024, 2_048];
    starts.iter().any(|at| head.get(*at..).is_some_and(|it| it.starts_with(b"\x89HDF\r\n\x1A\n")))
}

/// Whether the first bytes, up to `most`, are text: UTF-8, or UTF-16 with a mark, without control
/// characters.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn is_text(input: &dyn Input, most: u64) -> Result<bool, ReadError> {
    let len = input.len().min(most);
    let mut buffer = vec![0; usize::try_from(len).map_or(PIECE, |len| len.min(PIECE))];
    let (mut at, mut kept) = (0, 0);
    while at < len {
        let room = buffer.len() - kept;
        let n = usize::try_from(len - at).map_or(room, |left| left.min(room));
        let piece = &mut buffer[..kept + n];
        input.read_at(at, &mut piece[kept..])?;
        if at == 0 && (piece.starts_with(b"\xFF\xFE") || piece.starts_with(b"\xFE\xFF")) {
            return Ok(is_utf16(piece));
        }
        at += n as u64;
        let valid = match str::from_utf8(piece) {
            Ok(_) => piece.len(),
            Err(error) if error.error_len().is_none() && at < input.len() => error.valid_up_to(),
            Err(_) => return Ok(false),
        };
        // Terminals' escapes and form feeds occur in texts.
        let controls = |byte: &u8| *byte < 0x20 && !b"\t\n\r\x0C\x1B\x08".contains(byte);
        if piece[..valid].iter().any(controls) {
            return Ok(false);
        }
        kept = piece.len() - valid;
        piece.copy_within(valid.., 0);
    }
    Ok(true)
}

/// Whether these first bytes are text in UTF-16.
fn is_utf16(piece: &[u8]) -> bool {
    let big = piece.starts_with(b"\xFE\xFF");
    let unit = |two: &[u8]| match (two, big) {
        ([a, b], true) => u16::from_be_bytes([*a, *b]),
        ([a, b], false) => u16::from_le_bytes([*a, *b]),
        _ => 0,
    };
    let units = piece.chunks_exact(2).map(unit);
    char::decode_utf16(units).all(|it| it.is_ok_and(|it| it >= ' ' || "\t\n\r".contains(it)))
}

/// The whole file as text, if it is that and not longer than `most`.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn whole(input: &dyn Input, most: u64) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(len) = usize::try_from(input.len()).ok().filter(|len| *len as u64 <= most) else {
        return Ok(None);
    };
    let mut bytes = vec![0; len];
    input.read_at(0, &mut bytes)?;
    Ok(Some(bytes))
}

/// Whether a file is nothing but what a server answers in place of one.
pub(super) fn is_message(head: &[u8]) -> bool {
    const MESSAGES: &[&str] = &[
        "404: not found",
        "access denied",
        "entry not found",
        "file not found",
        "forbidden",
        "internal server error",
        "invalid username or password.",
        "not found",
        "repository not found",
        "unauthorized",
    ];
    let text = head.trim_ascii();
    MESSAGES.iter().any(|message| text.eq_ignore_ascii_case(message.as_bytes()))
}

/// Whether JSON that is too long to be parsed ends with the bracket that closes its first.
///
/// # Errors
/// When bytes cannot be read.
pub(super) fn is_closed(input: &dyn Input) -> Result<bool, ReadError> {
    let read = |at, len| {
        let mut bytes = [0; 64];
        let len = usize::try_from(len).map_or(bytes.len(), |len: usize| len.min(bytes.len()));
        let taken = bytes.get_mut(..len).unwrap_or_default();
        input.read_at(at, taken).map(|()| taken.trim_ascii().to_vec())
    };
    let len = input.len();
    let (first, last) = (read(0, len)?, read(len.saturating_sub(64), len)?);
    let first = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&first).trim_ascii_start();
    Ok(matches!((first.first(), last.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))))
}

/// Whether these bytes are a SentencePiece model: a Protocol Buffers message of pieces, and the
/// settings of trainer and normalizer (fields 1 to 5), to the last byte.
pub(super) fn is_sentencepiece(bytes: &[u8]) -> bool {
    let (mut rest, mut pieces) = (bytes, 0_u64);
    while let [tag, after @ ..] = rest {
        let field = tag >> 3;
        if tag & 7 != 2 || !(1..=5).contains(&field) {
            return false;
        }
        let Some((len, after)) = varint(after) else { return false };
        let Some(next) = usize::try_from(len).ok().and_then(|len| after.get(len..)) else {
            return false;
        };
        // A piece begins with its text.
        if field == 1 {
            if after.first() != Some(&0x0A) {
                return false;
            }
            pieces += 1;
        }
        rest = next;
    }
    pieces > 0
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (i, byte) in bytes.iter().take(9).enumerate() {
        value |= u64::from(byte & 0x7F) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, bytes.get(i + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes<'b>(&'b [u8]);

    impl Input for Bytes<'_> {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
            Ok(())
        }
    }

    #[test]
    fn text_is_utf8_across_pieces() {
        let is = |bytes: &[u8]| is_text(&Bytes(bytes), u64::MAX).expect("it is in memory");
        assert!(is(b"# A model\r\n\x1B[1mbold\n") && is("naïve 重".as_bytes()));
        assert!(
            !is(b"a\0b")
                && !is(b"\xFF\xFE\0\0")
                && !is(b"caf\xE9")
                && !is("é".as_bytes().split_at(1).0)
        );
        assert!(is(b"\xFF\xFEa\0\n\0"));
        for shift in 0..3 {
            let long = "a".repeat(PIECE - shift) + &"重".repeat(PIECE);
            assert!(is(long.as_bytes()), "{shift}");
            let mut cut = long.into_bytes();
            cut[PIECE + 10] = 0;
            assert!(!is(&cut), "{shift}");
        }
    }

    #[test]
    fn a_tokenizer_model_is_read_to_its_end() {
        let mut model = b"\x0A\x0A\x0A\x03<s>\x15\0\0\0\0".to_vec();
        model.extend(b"\x12\x02\x08\x01");
        assert!(is_sentencepiece(&model));
        model.push(0x12);
        assert!(
            !is_sentencepiece(&model) && !is_sentencepiece(b"") && !is_sentencepiece(b"\n\nab")
        );
    }

    #[test]
    fn native_code_is_known_by_its_first_bytes() {
        assert_eq!(native(b"\x7FELF\x02\x01"), Some("native code (ELF)"));
        assert_eq!(native(b"\xCB\x0D\r\n\0\0\0\0"), Some("compiled Python"));
        assert_eq!(native(b"# MZ"), None);
        assert_eq!(packed(b"x\x9C\x4B\x4C"), Some("data compressed with zlib"));
        let lzma = b"\x5D\0\0\x80\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0";
        assert_eq!(packed(lzma), Some("data compressed with LZMA"));
        assert_eq!((packed(b"x\x9D\x4B"), packed(b"xyz")), (None, None));
    }
}
