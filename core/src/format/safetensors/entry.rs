//! A tensor's entry: its fields in any order, with any white space.

use super::json::Json;
use super::{Cursor, KEYS, field, rules};
use crate::base::{wide, widen};
use crate::input::Span;
use crate::model::{
    Chunks, DType, DimEncoding, DimsAt, Status, Tensor,
    dims::{product, scaled},
};
use crate::rule::Rule;

/// The fields of an entry, one bit each.
mod fields {
    pub(super) const DTYPE: u8 = 1;
    pub(super) const SHAPE: u8 = 2;
    pub(super) const OFFSETS: u8 = 4;
    pub(super) const ALL: u8 = 7;
}

/// The fields of an entry, validated once all have been read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    dtype: DType,
    /// Bits per element.
    bits: u8,
    /// The product of the dims; `None` if it overflows.
    elements: Option<u64>,
    begin: u64,
    end: u64,
    /// Offsets and lengths of the values of `shape` and `data_offsets`.
    shape: (usize, usize),
    offsets: (usize, usize),
    /// The fields that are present.
    seen: u8,
    /// The fields with valid values.
    sound: u8,
}

impl Entry {
    /// An entry before anything has been read.
    pub(super) const NONE: Entry = Entry {
        dtype: DType::Unknown,
        bits: 0,
        elements: Some(1),
        begin: 0,
        end: 0,
        shape: (0, 0),
        offsets: (0, 0),
        seen: 0,
        sound: 0,
    };

    /// Reads the value of a member, and stores the locations of its fields in `tensor`.
    pub(super) fn read(&mut self, json: &mut Json<'_>, tensor: &mut Tensor) {
        json.token();
        let at = json.at;
        if !json.eat(b'{') {
            json.value(1);
            json.note(rules::ENTRY_TYPE, at, 0, 0);
            return;
        }
        // A missing field has the same location wherever reading began.
        let place = wide(json.place(at));
        tensor.extra.offset = place;
        tensor.dims = DimsAt { offset: place, encoding: DimEncoding::Decimal, ..DimsAt::default() };
        let mut more = !json.eat(b'}');
        while more {
            self.field(json, tensor);
            more = json.more(b'}');
        }
        if self.seen != fields::ALL {
            json.note(rules::FIELD_MISSING, at, 0, 0);
        }
    }

    fn field(&mut self, json: &mut Json<'_>, tensor: &mut Tensor) {
        json.token();
        let key_at = json.at;
        json.key();
        let (bit, unusable) = match json.which(KEYS) {
            Some(1) => (fields::DTYPE, rules::FIELD_DUPLICATE),
            Some(2) => (fields::SHAPE, rules::FIELD_DUPLICATE),
            Some(3) => (fields::OFFSETS, rules::FIELD_DUPLICATE),
            _ => (0, rules::FIELD_UNKNOWN),
        };
        if self.seen & bit == bit {
            match bit {
                0 => json.foreign(2),
                _ => _ = json.value(2),
            }
            json.note(unusable, key_at, 0, 0);
            return;
        }
        self.seen |= bit;
        json.token();
        let at = json.at;
        let sound = match bit {
            fields::DTYPE => self.dtype(json, tensor),
            fields::SHAPE => self.list(json, tensor, rules::SHAPE_TYPE),
            _ => self.list(json, tensor, rules::OFFSETS_TYPE),
        };
        let span = (at, json.at.wrapping_sub(at));
        match bit {
            fields::SHAPE => self.shape = span,
            fields::OFFSETS => self.offsets = span,
            _ => {}
        }
        if sound {
            self.sound |= bit;
        }
    }

    fn dtype(&mut self, json: &mut Json<'_>, tensor: &mut Tensor) -> bool {
        let at = json.at;
        if json.value(2) != b'"' {
            json.note(rules::DTYPE_TYPE, at, 0, 0);
            return false;
        }
        let text = json.text;
        tensor.extra = Span::new(wide(json.place(text.at)), widen(text.len));
        let number = json.which(&field::SPELLINGS);
        match number.and_then(|number| field::TYPES.get(usize::from(number))) {
            Some((dtype, bits)) => (self.dtype, self.bits) = (*dtype, *bits),
            None => json.note(rules::DTYPE_UNKNOWN, at, 0, 0),
        }
        true
    }

    /// Reads an array of counts: dims or offsets. Returns whether it is valid. A value that
    /// is not an array, an item that is not a number, or a wrong number of items breaks
    /// `rule`.
    fn list(&mut self, json: &mut Json<'_>, tensor: &mut Tensor, rule: Rule) -> bool {
        let at = json.at;
        if !json.eat(b'[') {
            json.value(2);
            json.note(rule, at, 0, 0);
            return false;
        }
        let is_shape = rule == rules::SHAPE_TYPE;
        let inside = json.at;
        let (mut sound, mut count) = (true, 0_u32);
        let mut more = !json.eat(b']');
        while more {
            json.token();
            let number_at = json.at;
            let odd = match json.value(3) {
                b'-' | b'0'..=b'9' => json.odd,
                _ => Some(rule),
            };
            count = count.wrapping_add(1);
            if let Some(rule) = odd {
                sound = false;
                json.note(rule, number_at, 0, 0);
            } else if is_shape {
                tensor.dims.rank = count;
                // From the left, as in the crate: nothing overflows after a 0.
                self.elements = self.elements.and_then(|n| product(n, json.number));
            } else {
                (self.begin, self.end) = (self.end, json.number);
            }
            more = json.more(b']');
        }
        if !sound {
            return false;
        }
        if is_shape {
            // Up to the bracket.
            let len = json.at.wrapping_sub(inside).wrapping_sub(1);
            tensor.dims.offset = wide(json.place(inside));
            tensor.dims.len = u32::try_from(len).unwrap_or(u32::MAX);
        } else if count != 2 {
            json.note(rule, at, 2, count.into());
            return false;
        }
        true
    }

    /// Validates the fields against one another and against a buffer of `data_len` bytes.
    /// Returns `false` if the data cannot be used or a field is missing.
    ///
    /// If the type is unknown, only the offsets are validated.
    pub(super) fn validate(&mut self, json: &mut Json<'_>, data_len: u64) -> bool {
        if self.sound != fields::ALL {
            return false;
        }
        let Entry { begin, end, bits, .. } = *self;
        let stored = end.wrapping_sub(begin);
        let (rule, expected, found) = if end < begin {
            (rules::OFFSET_ORDER, begin, end)
        } else if end > data_len {
            (rules::OFFSET_BOUNDS, data_len, end)
        } else if bits == 0 {
            return true;
        } else {
            match self.elements.and_then(|n| scaled(n, bits.into())) {
                None => (rules::SHAPE_OVERFLOW, 0, 0),
                Some(bits) if bits & 7 != 0 => (rules::TENSOR_BITS, 0, bits),
                Some(bits) if bits >> 3 != stored => (rules::TENSOR_SIZE, bits >> 3, stored),
                _ => return true,
            }
        };
        let (at, len) = if rule == rules::SHAPE_OVERFLOW { self.shape } else { self.offsets };
        json.note_span(rule, at, len, expected, found);
        false
    }

    /// End of the data of all tensors so far, if this tensor's data begins at `before`;
    /// otherwise unknown.
    pub(super) fn data_end(&self, usable: bool, before: u64) -> u64 {
        if usable && self.begin == before { self.end } else { Cursor::UNKNOWN }
    }

    /// Completes the tensor after validation; its buffer begins at `data_at`.
    pub(super) fn settle(&self, tensor: &mut Tensor, data_at: u64) {
        let known = self.dtype != DType::Unknown;
        tensor.status = if known { Status::Sound } else { Status::Unsupported };
        tensor.dtype = self.dtype;
        tensor.elements = self.elements.unwrap_or(0);
        let at = data_at.wrapping_add(self.begin);
        tensor.chunks = Chunks::One(Span::new(at, self.end.wrapping_sub(self.begin)));
    }
}
