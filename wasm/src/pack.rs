//! Results for JavaScript: numbers and texts in one buffer.
//!
//! A result is one `Uint8Array`, which `js/unpack.js` unpacks: fields follow
//! each other in a fixed order, each aligned to its own width, and arrays are
//! preceded by their length. A table of any size therefore crosses the border
//! once, its columns become typed arrays without another copy, and no objects
//! are created here. Methods are not inlined: a call is smaller.

use crate::text::{SHOWN, Texts};
use crate::values::Numbers;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use js_sys::Uint8Array;
use weighbridge_core::Name;

/// A result being written.
#[derive(Debug, Default)]
pub struct Pack {
    bytes: Vec<u8>,
}

/// The value of absent optional 64-bit fields, which have a flag.
const ABSENT: u64 = 0;

/// Means "none" in 64-bit columns, and a variable extent.
pub const NONE: u64 = u64::MAX;

impl Pack {
    /// A copy outside WebAssembly memory, which may move.
    #[inline(never)]
    pub fn done(self) -> Uint8Array {
        Uint8Array::from(self.bytes.as_slice())
    }

    /// A number of `width` bytes.
    #[inline(never)]
    fn number(&mut self, width: usize, value: u64) {
        self.bytes.extend_from_slice(value.to_le_bytes().get(..width).unwrap_or_default());
    }

    #[inline(never)]
    fn align(&mut self, width: usize) {
        while !self.bytes.len().is_multiple_of(width) {
            self.bytes.push(0);
        }
    }

    /// A 32-bit number.
    #[inline(never)]
    pub fn u32(&mut self, value: u32) {
        self.align(4);
        self.number(4, value.into());
    }

    /// A 64-bit number.
    #[inline(never)]
    pub fn u64(&mut self, value: u64) {
        self.align(8);
        self.number(8, value);
    }

    /// A 64-bit float.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// A number that may be absent.
    #[inline(never)]
    pub fn optional(&mut self, value: Option<u64>) {
        self.u32(value.is_some().into());
        self.u64(value.unwrap_or(ABSENT));
    }

    /// A column of `len` numbers of `width` bytes each.
    #[inline(never)]
    pub fn column(&mut self, width: usize, len: usize, of: &mut dyn FnMut(usize) -> u64) {
        self.u32(len as u32);
        self.align(width);
        self.bytes.reserve(width * len);
        for i in 0..len {
            let value = of(i);
            self.number(width, value);
        }
    }

    /// A column with one number per item.
    pub fn items<T>(&mut self, width: usize, items: &[T], mut of: impl FnMut(&T) -> u64) {
        self.column(width, items.len(), &mut |i| items.get(i).map_or(0, &mut of));
    }

    /// A column of 32-bit numbers, which may be long.
    pub fn words(&mut self, words: impl ExactSizeIterator<Item = u32>) {
        self.u32(words.len() as u32);
        let at = self.bytes.len();
        self.bytes.resize(at + 4 * words.len(), 0);
        let (room, _) = self.bytes.get_mut(at..).unwrap_or_default().as_chunks_mut();
        room.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
    }

    /// Bytes, preceded by their length.
    #[inline(never)]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.bytes.extend_from_slice(bytes);
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A text that may be absent.
    #[inline(never)]
    pub fn optional_text(&mut self, text: Option<&str>) {
        self.u32(text.is_some().into());
        self.text(text.unwrap_or_default());
    }

    /// Several texts.
    #[inline(never)]
    pub fn texts(&mut self, texts: &Texts) {
        self.text(&texts.text);
        self.items(4, &texts.ends, |end| (*end).into());
    }

    /// A complete name, safe to show.
    #[inline(never)]
    pub fn label(&mut self, name: &Name<'_>) {
        let mut label = String::new();
        crate::text::push_label(name.chars(), usize::MAX, &mut label);
        self.text(&label);
    }

    /// Names, safe to show and cut off.
    pub fn labels<'a>(&mut self, names: impl Iterator<Item = Name<'a>>) {
        let mut texts = Texts::default();
        for name in names {
            texts.push_name(&name, SHOWN);
        }
        self.texts(&texts);
    }

    /// Elements, preceded by the kind of array.
    #[inline(never)]
    pub fn numbers(&mut self, numbers: &Numbers) {
        self.u32(numbers.array as u32);
        self.u32(numbers.len() as u32);
        self.align(numbers.array.width());
        self.bytes.extend_from_slice(&numbers.bytes);
    }
}

/// The requested positions, up to the last one.
pub fn within(from: u32, to: u32, len: usize) -> Range<usize> {
    let to = (to as usize).min(len);
    (from as usize).min(to)..to
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn fields_are_aligned_to_their_width() {
        let mut pack = Pack::default();
        pack.bytes(b"abc");
        pack.column(8, 1, &mut |_| 7);
        pack.column(2, 2, &mut |i| i as u64);
        pack.words([5, u32::MAX].into_iter());
        assert_eq!(
            pack.bytes,
            [
                vec![3, 0, 0, 0, b'a', b'b', b'c', 0, 1, 0, 0, 0, 0, 0, 0, 0],
                vec![7, 0, 0, 0, 0, 0, 0, 0],
                vec![2, 0, 0, 0, 0, 0, 1, 0],
                vec![2, 0, 0, 0, 5, 0, 0, 0, 255, 255, 255, 255],
            ]
            .concat()
        );
    }
}
