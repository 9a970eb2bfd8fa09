//! Messages about which the full check would report nothing, each read in one go.
//!
//! Every function returns `None` for anything else, such as a number that takes more bytes than it
//! needs, and the message gets the full check.

use super::super::open::BY_TYPE;
use super::super::schema::field;
use super::super::tensor::dtype;
use super::super::walk::bit;
use crate::base::{ascii, limits::ONNX_TEXT, utf8, widen};
use crate::model::{
    DType, Encoding,
    dims::{Packed, product},
};

/// A tensor of a graph, named, with its elements in one piece.
pub(super) struct Tensor<'a> {
    pub(super) name: &'a [u8],
    /// Number of bytes of the message after the name.
    pub(super) after_name: usize,
    /// Number of bytes that the data takes, and of those after it.
    pub(super) data: usize,
    pub(super) after_data: usize,
    pub(super) shape: Packed,
    pub(super) dtype: DType,
    pub(super) code: u32,
    pub(super) elements: u64,
    pub(super) encoding: Encoding,
}

/// The fields that hold the value of an attribute.
const VALUES: u32 = {
    let (mut all, mut at) = (0, 0);
    while at < BY_TYPE.len() {
        #[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
        let number = BY_TYPE[at];
        all |= 1_u32.wrapping_shl(number);
        at = at.wrapping_add(1);
    }
    all
};

/// The field at the start of `input`, if it has bytes and this key, and the rest.
#[inline(always)]
pub(super) fn of_key(input: &[u8], key: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = input.split_first()?;
    if *first == key { bytes(rest) } else { None }
}

/// The tensor in `message`.
#[inline(always)]
pub(super) fn tensor(message: &[u8]) -> Option<Tensor<'_>> {
    let (mut rest, mut seen) = (message, 0_u32);
    let (mut shape, mut elements, mut code) = (Packed::NONE, 1_u64, 0_u64);
    let (mut name, mut after_name): (&[u8], usize) = (&[], 0);
    let (mut number, mut data, mut after_data) = (0_u32, 0_usize, 0_usize);
    let mut add = |extent: u64| {
        shape.push(extent);
        // An extent of 0 or below needs the full check.
        elements = product(elements, extent).filter(|_| extent.wrapping_sub(1) >> 63 == 0)?;
        Some(())
    };
    while let Some((key, after)) = rest.split_first() {
        let this = u32::from(*key >> 3);
        match *key {
            0x08 => {
                let (extent, after) = varint(after)?;
                add(extent)?;
                rest = after;
                continue;
            }
            0x0A => {
                let (mut extents, after) = bytes(after)?;
                if widen(extents.len()) > ONNX_TEXT {
                    return None;
                }
                while !extents.is_empty() {
                    let (extent, others) = varint(extents)?;
                    add(extent)?;
                    extents = others;
                }
                rest = after;
                continue;
            }
            0x10 => (code, rest) = varint(after)?,
            0x42 => {
                (name, rest) = bytes(after)?;
                after_name = rest.len();
            }
            // The elements, in any field that holds them in one piece.
            0x22 | 0x2A | 0x3A | 0x4A | 0x52 | 0x5A => {
                let (found, after) = bytes(after)?;
                if number != 0 {
                    return None;
                }
                (number, data, after_data, rest) = (this, found.len(), after.len(), after);
            }
            // The documentation.
            0x62 => (_, rest) = bytes(after)?,
            // The data is in this file.
            0x70 => {
                let (place, after) = varint(after)?;
                if place != 0 {
                    return None;
                }
                rest = after;
            }
            _ => return None,
        }
        if seen & bit(this) != 0 {
            return None;
        }
        seen |= bit(this);
    }
    let (dtype, own) = dtype(code)?;
    let (needed, found) = (dtype.bytes(elements)?, widen(data));
    let encoding = match number {
        field::RAW_DATA | field::FLOAT_DATA | field::DOUBLE_DATA => {
            let fits = found == needed && (number == own || number == field::RAW_DATA);
            fits.then_some(Encoding::Raw)?
        }
        _ => {
            // A varint takes at least a byte; elements that share bytes share it.
            let least = if dtype.is_packed() { needed } else { elements };
            (number == own && found >= least).then_some(Encoding::Varints(dtype))?
        }
    };
    // Bits after the last element of six bits are looked at later.
    let audited = matches!(dtype, DType::Text | DType::F6E2M3 | DType::F6E3M2);
    let sound = !audited && elements > 0 && !shape.is_cut() && is_name(name);
    let code = u32::try_from(code).ok()?;
    sound.then_some(Tensor {
        name,
        after_name,
        data,
        after_data,
        shape,
        dtype,
        code,
        elements,
        encoding,
    })
}

/// The text with this key in `message`, which was read before, and the number of bytes after it.
#[inline(always)]
pub(super) fn text(message: &[u8], key: u8) -> Option<(&[u8], usize)> {
    let mut rest = message;
    while let Some((first, after)) = rest.split_first() {
        if *first == key {
            return bytes(after).map(|(text, after)| (text, after.len()));
        }
        // Keys of two bytes end in 1.
        let after = if *first < 0x80 { after } else { after.get(1..)? };
        match first & 7 {
            0 => (_, rest) = varint(after)?,
            5 => rest = after.get(4..)?,
            _ => (_, rest) = bytes(after)?,
        }
    }
    None
}

/// Number of tensors in the attributes of the node in `message`, which has no graph, is of the
/// default domain, and refers to no attribute of a function.
#[inline(always)]
pub(super) fn node(message: &[u8]) -> Option<u32> {
    let (mut rest, mut seen, mut tensors) = (message, 0_u32, 0_u32);
    while let Some((key, after)) = rest.split_first() {
        let (content, after) = bytes(after)?;
        rest = after;
        match *key {
            0x0A | 0x12 => {}
            // Name, operator and documentation; the operator is not empty.
            0x1A | 0x22 | 0x32 if seen & bit(u32::from(*key >> 3)) == 0 => {
                if *key == 0x22 && content.is_empty() {
                    return None;
                }
            }
            0x2A => tensors = tensors.saturating_add(attribute(content)?),
            0x4A => pair(content)?,
            _ => return None,
        }
        seen |= bit(u32::from(*key >> 3));
    }
    let connected = bit(field::NODE_INPUT) | bit(field::NODE_OUTPUT);
    (seen & connected != 0 && seen & bit(field::NODE_OP) != 0).then_some(tensors)
}

/// Number of tensors in an attribute.
#[inline(always)]
fn attribute(message: &[u8]) -> Option<u32> {
    let (mut rest, mut seen, mut kind) = (message, 0_u32, 0_u64);
    while let Some((key, after)) = rest.split_first() {
        let mut number = u32::from(*key >> 3);
        match *key {
            0x0A if seen & bit(number) == 0 => {
                let (name, after) = bytes(after)?;
                if name.is_empty() {
                    return None;
                }
                rest = after;
            }
            // Text, tensor and documentation, too, occur once.
            0x22 | 0x2A | 0x6A if seen & bit(number) == 0 => (_, rest) = bytes(after)?,
            0x3A | 0x42 | 0x4A => (_, rest) = bytes(after)?,
            0x18 if seen & bit(number) == 0 => (_, rest) = varint(after)?,
            0x40 => (_, rest) = varint(after)?,
            0x15 if seen & bit(number) == 0 => rest = after.get(4..)?,
            0x3D => rest = after.get(4..)?,
            0xA0 => {
                number = field::ATTRIBUTE_TYPE;
                let (second, after) = after.split_first()?;
                if *second != 1 || seen & bit(number) != 0 {
                    return None;
                }
                (kind, rest) = varint(after)?;
            }
            _ => return None,
        }
        seen |= bit(number);
    }
    let own = BY_TYPE.get(usize::try_from(kind).ok()?.checked_sub(1)?)?;
    let sound = seen & bit(field::ATTRIBUTE_NAME) != 0 && seen & VALUES & !bit(*own) == 0;
    sound.then_some(u32::from(seen & bit(field::ATTRIBUTE_TENSOR) != 0))
}

/// Passes a pair of a key and a value.
fn pair(message: &[u8]) -> Option<()> {
    let (mut rest, mut seen) = (message, 0_u8);
    while let Some((key, after)) = rest.split_first() {
        let this = match *key {
            0x0A => 1,
            0x12 => 2,
            _ => return None,
        };
        if seen & this != 0 {
            return None;
        }
        seen |= this;
        (_, rest) = bytes(after)?;
    }
    Some(())
}

/// Whether a text may be the name of a tensor: neither too long nor empty, without a NUL, in UTF-8.
#[inline(always)]
fn is_name(text: &[u8]) -> bool {
    /// The lowest bit of each of eight bytes.
    const LOW: u64 = ascii::HIGH >> 7;
    let (words, tail) = text.as_chunks::<8>();
    let (mut any, mut nul) = (0_u64, 0_u64);
    let mut add = |word: u64| {
        any |= word;
        nul |= word.wrapping_sub(LOW) & !word;
    };
    words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
    match text.last_chunk() {
        // Overlaps the last word.
        Some(last) => add(u64::from_le_bytes(*last)),
        // Fills the word with a byte that is no NUL.
        None => add(tail.iter().fold(LOW, |word, byte| word << 8 | u64::from(*byte))),
    }
    let fits = !text.is_empty() && widen(text.len()) <= ONNX_TEXT;
    fits && nul & ascii::HIGH == 0 && (any & ascii::HIGH == 0 || utf8::is(text))
}

/// The bytes after their length, at the start of `input`, and the rest.
#[inline(always)]
pub(super) fn bytes(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = varint(input)?;
    rest.split_at_checked(usize::try_from(len).ok()?)
}

/// The varint at the start of `input`, if it has its shortest form and 64 bits, and the rest.
#[inline(always)]
pub(super) fn varint(input: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = input.split_first()?;
    if *first < 0x80 {
        return Some((u64::from(*first), rest));
    }
    let (value, len) = wide(input);
    if len == 0 {
        return None;
    }
    Some((value, input.get(len..)?))
}

/// A varint of several bytes, and its length, which is 0 if it cannot be read. Not inlined, because
/// it would be copied for each field; a pair of numbers fits in registers.
#[inline(never)]
fn wide(input: &[u8]) -> (u64, usize) {
    let (mut value, mut shift, mut len) = (0_u64, 0_u32, 0_usize);
    for byte in input.iter().take(10) {
        len = len.wrapping_add(1);
        value |= u64::from(*byte & 0x7F).wrapping_shl(shift);
        // Of the tenth byte, one bit is left.
        if *byte < 0x80 {
            let sound = *byte != 0 && (shift < 63 || *byte == 1);
            return if sound { (value, len) } else { (0, 0) };
        }
        shift = shift.wrapping_add(7);
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_has_no_nul_and_is_utf8() {
        for len in 0..30 {
            let mut name = std::vec![b'a'; len];
            assert_eq!(is_name(&name), len > 0);
            for at in 0..len {
                for (byte, sound) in [(0, false), (1, true), (0x7F, true), (0x80, false)] {
                    name[at] = byte;
                    assert_eq!(is_name(&name), sound, "{byte} at {at} of {len}");
                }
                name[at] = b'a';
            }
        }
        assert!(is_name("zwölf.weights".as_bytes()) && is_name("ö".as_bytes()));
        assert!(!is_name(&std::vec![b'a'; 65_536]) && !is_name("zwölf\0".as_bytes()));
    }

    #[test]
    fn varint_is_read_in_its_shortest_form_only() {
        for bits in 0..64 {
            let value = u64::MAX >> bits;
            let (mut stored, mut left) = (std::vec::Vec::new(), value);
            while left >= 0x80 {
                stored.push(left as u8 | 0x80);
                left >>= 7;
            }
            stored.push(left as u8);
            assert_eq!(varint(&stored), Some((value, &[][..])));
            assert_eq!(varint(&stored[..stored.len() - 1]), None);
        }
        assert_eq!(varint(&[0]), Some((0, &[][..])));
        for other in [&[0x80, 0][..], &[0x81, 0x80, 0], &[0xFF; 11]] {
            assert_eq!(varint(other), None);
        }
        let long = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2];
        assert_eq!(varint(&long), None);
    }
}
