//! Models of Keras: whether their settings name code, in JSON and within HDF5.
//!
//! In HDF5 the settings are an attribute of the root group: a text in one piece, unless a filter
//! compresses what holds it. The file is searched for the text, and for filters.

use super::code_in_settings::{can_run_anything, is_code_of_keras, unlocks_keras};
use super::content::PIECE;
use super::examined::{Class, Examined};
use super::{HDF5, lambda};
use crate::base::error::ReadError;
use crate::input::reader::Input;
use alloc::vec;

/// Bytes behind a piece that are searched with it: keys and their values lie close together.
const AHEAD: u64 = 4 << 10;
/// Longest file that is searched.
const MOST: u64 = 8 << 30;
/// Most filters of a dataset.
const FILTERS: u8 = 32;
/// The last number of a filter that HDF5 itself has.
const KNOWN: usize = 6;

/// What a search found, the worse last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Nothing,
    /// A part that cannot be searched, and why.
    Hidden(&'static str),
    Code,
}

/// Examines an HDF5 file.
pub(super) fn hdf5(input: &dyn Input) -> Result<Examined, ReadError> {
    let found = Examined::new(Class::Unknown, HDF5);
    Ok(match search(input)? {
        Found::Code => lambda(),
        Found::Hidden(why) => found.because(why),
        Found::Nothing => found.harmless(),
    })
}

fn search(input: &dyn Input) -> Result<Found, ReadError> {
    let len = input.len();
    if len > MOST {
        return Ok(Found::Hidden("too long to be searched for code"));
    }
    let (mut at, mut found) = (0, Found::Nothing);
    let mut buffer = vec![0; PIECE + AHEAD as usize];
    while at < len && found < Found::Code {
        let piece = usize::try_from(len - at).map_or(buffer.len(), |left| left.min(buffer.len()));
        let piece = buffer.get_mut(..piece).unwrap_or_default();
        input.read_at(at, piece)?;
        found = found.max(inside(piece, at + piece.len() as u64 == len));
        at += PIECE as u64;
    }
    Ok(found)
}

/// What a piece of a file holds.
fn inside(piece: &[u8], is_last: bool) -> Found {
    let is = |name: &[u8]| piece.windows(name.len()).any(|it| it == name);
    if has_code(piece) {
        Found::Code
    } else if !is_last && values(piece).any(|(_, at, value)| value.is_none() && at < PIECE) {
        Found::Hidden("the settings of a layer are longer than those of Keras")
    } else if is_filtered(piece) {
        Found::Hidden("compressed parts were not searched for code")
    } else if is(b"PYTABLES_FORMAT_VERSION") || is(b"pandas_type") {
        Found::Hidden("PyTables loads attributes that are pickles")
    } else {
        Found::Nothing
    }
}

/// Whether settings name a layer of code, or a function that can run anything.
pub(super) fn has_code(json: &[u8]) -> bool {
    // An escape in a name hides it.
    let is = |name: &[u8], is: fn(&str) -> bool| {
        str::from_utf8(name).is_ok_and(is) || name.contains(&b'\\')
    };
    let mut values = values(json).filter_map(|(key, _, value)| Some((key, value?)));
    values.any(|(key, value)| match key {
        CLASS => is(value, is_code_of_keras),
        MODULE => is(value, can_run_anything),
        _ => str::from_utf8(value).is_ok_and(unlocks_keras),
    }) || escapes_letter(json)
}

const CLASS: &[u8] = b"\"class_name\"";
const MODULE: &[u8] = b"\"module\"";
const CONFIG: &[u8] = b"\"config\"";

/// The texts that the keys of a layer have: each with its key, and the place of that. No text if it
/// goes on behind the last byte, and an empty one if another value has its place.
fn values(json: &[u8]) -> impl Iterator<Item = (&'static [u8], usize, Option<&[u8]>)> {
    let quotes = json.iter().enumerate().filter(|(_, byte)| **byte == b'"').map(|(at, _)| at);
    quotes.filter_map(|at| {
        let rest = json.get(at..)?;
        let key = [CLASS, MODULE, CONFIG].into_iter().find(|key| rest.starts_with(key))?;
        Some((key, at, text(rest.get(key.len()..)?)))
    })
}

/// The text after a key.
fn text(after: &[u8]) -> Option<&[u8]> {
    let after = after.trim_ascii_start();
    let value = match after.split_first()? {
        (b':', value) => value.trim_ascii_start(),
        _ => return Some(b""),
    };
    let text = match value.split_first()? {
        (b'"', text) => text,
        _ => return Some(b""),
    };
    text.get(..text.iter().position(|byte| *byte == b'"')?)
}

/// Whether a letter is written as an escape, which no writer of JSON does.
fn escapes_letter(json: &[u8]) -> bool {
    json.windows(6).any(|it| match it {
        [b'\\', b'u', b'0', b'0', high @ b'4'..=b'7', low] if low.is_ascii_hexdigit() => {
            let low = char::from(*low).to_digit(16).unwrap_or(0) as u8;
            ((high - b'0') << 4 | low).is_ascii_alphabetic()
        }
        _ => false,
    })
}

/// Whether a heap of attributes, or the data of some object, passes filters.
fn is_filtered(piece: &[u8]) -> bool {
    piece.iter().enumerate().any(|(at, byte)| {
        let rest = piece.get(at..).unwrap_or_default();
        match byte {
            b'F' => is_filtered_heap(rest),
            // The message of an object about its filters.
            0x0B => is_first_version(rest) || is_second_version(rest),
            _ => false,
        }
    })
}

/// A fractal heap: signature, version, length of its identifiers, length of its filters.
fn is_filtered_heap(heap: &[u8]) -> bool {
    heap.starts_with(b"FRHP\0") && matches!(heap.get(7..9), Some(len) if len != [0, 0])
}

/// The message in headers of version 1: type, length, flags; version, number of filters.
fn is_first_version(message: &[u8]) -> bool {
    matches!(message.get(..16), Some([_, 0, _, _, _, 0, 0, 0, 1, 1..=FILTERS, 0, 0, 0, 0, 0, 0]))
}

/// The message in headers of version 2, with or without its place in the order of creation. The
/// filters fill it exactly.
fn is_second_version(message: &[u8]) -> bool {
    let Some([_, low, high, ..]) = message.get(..4) else { return false };
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    [4, 6].into_iter().any(|head| {
        let body = message.get(head..).and_then(|body| body.get(..len)).unwrap_or_default();
        let Some(([2, count @ 1..=FILTERS], mut rest)) = body.split_first_chunk() else {
            return false;
        };
        (0..*count).all(|_| filter(&mut rest).is_some()) && rest.is_empty()
    })
}

/// Takes a filter: its number, the length of its name unless the number is known, flags, the number
/// of its values; the name and the values.
fn filter(rest: &mut &[u8]) -> Option<()> {
    let mut number = || {
        let (bytes, after) = rest.split_first_chunk::<2>()?;
        *rest = after;
        Some(usize::from(u16::from_le_bytes(*bytes)))
    };
    let name = match number()? {
        1..=KNOWN => 0,
        256.. => number()?,
        _ => return None,
    };
    // Only the lowest flag has a meaning: the filter is optional.
    let (flags, values) = (number()?, number()?);
    *rest = rest.get(name + 4 * values..).filter(|_| flags < 2)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    const HEAD: &[u8] = b"\x89HDF\r\n\x1A\n";

    fn found(rest: &[u8]) -> Found {
        search(&super::super::Lent(&[HEAD, rest].concat())).expect("it is in memory")
    }

    fn is_hidden(rest: &[u8]) -> bool {
        matches!(found(rest), Found::Hidden(_))
    }

    #[test]
    fn settings_that_name_code_are_found_wherever_a_piece_ends() {
        let text = br#"{"class_name" : "Lambda"}"#;
        for at in (PIECE - 50..PIECE + 20).chain([0, 3 * PIECE]) {
            let mut bytes = vec![7; at];
            bytes.extend(text);
            bytes.extend(vec![7; PIECE]);
            assert_eq!(found(&bytes), Found::Code, "{at}");
        }
        for layer in ["__lambda__", "TorchModuleWrapper", "Lamb\\u0064a"] {
            assert_eq!(found(format!("{{\"class_name\": \"{layer}\"}}").as_bytes()), Found::Code);
        }
        let unlock = br#"{"module": "keras.config", "config": "enable_unsafe_deserialization"}"#;
        assert_eq!(found(unlock), Found::Code);
        assert_eq!(found(br#"{"class_name": "Dense", "config": {"module": "x"}}"#), Found::Nothing);
    }

    #[test]
    fn values_far_from_their_keys_are_hidden() {
        let spread = |spaces: usize| {
            let mut bytes = vec![7; PIECE - 100];
            bytes.extend(b"{\"class_name\":");
            bytes.extend(vec![b' '; spaces]);
            bytes.extend(b"\"Lambda\"}");
            bytes.extend(vec![7; 100]);
            bytes
        };
        assert_eq!(found(&spread(1_000)), Found::Code);
        assert!(is_hidden(&spread(2 * PIECE)));
        assert!(!is_hidden(&[&vec![7; PIECE][..], b"\"class_name\""].concat()));
    }

    #[test]
    fn filters_hide_what_passes_them() {
        let heap = |filters: u8| [b"FRHP\0\x08\0", &[filters, 0][..], &[0; 9]].concat();
        assert!(is_hidden(&heap(14)) && !is_hidden(&heap(0)));
        let first = |count: u8| [&[0x0B, 0, 0x18, 0, 1, 0, 0, 0, 1, count][..], &[0; 22]].concat();
        assert!(is_hidden(&first(1)) && !is_hidden(&first(0)));
        // Deflate with one value, and a registered filter with a name.
        let deflate: Vec<u8> = vec![0x0B, 12, 0, 0, 2, 1, 1, 0, 0, 0, 1, 0, 4, 0, 0, 0];
        let mut ordered = deflate.clone();
        ordered.splice(4..4, [0, 0]);
        let named =
            [&[0x0B, 18, 0, 0, 2, 1, 0, 0x7D, 8, 0, 0, 0, 0, 0][..], b"lzf\0\0\0\0\0"].concat();
        assert!(is_hidden(&deflate) && is_hidden(&ordered) && is_hidden(&named));
        for (at, value) in [(1, 13), (6, 7), (8, 2), (6, 0)] {
            let mut other = deflate.clone();
            other[at] = value;
            assert!(!is_hidden(&[&other[..], &[0; 9]].concat()), "{at}");
        }
        assert!(is_hidden(b"pandas_type") && is_hidden(b"PYTABLES_FORMAT_VERSION\0"));
    }
}
