//! Protocol Buffers, the wire format: fields of a message, read one at a time.
//!
//! | wire type | value |
//! |---|---|
//! | 0 | varint: seven bits a byte, the lowest first; at most ten bytes |
//! | 1 | eight bytes |
//! | 2 | length as a varint, then that many bytes |
//! | 3, 4 | start and end of a group; refused |
//! | 5 | four bytes |
//!
//! A key is the varint `number << 3 | wire type`. A [`Field`] says where its bytes lie; nothing
//! skips or reads them, so a message of any length takes only the bytes of its keys.

pub(crate) mod varint;

use crate::input::{
    Span,
    leaf::{le_u32, le_u64},
};
use crate::parse::Reader;
use crate::rule::{Halt, Rule};
use varint::{Varint, varint};

/// The rules that a broken field breaks.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// A varint of more than ten bytes.
    pub(crate) varint: Rule,
    /// A varint that takes more bytes than it needs.
    pub(crate) overlong: Rule,
    /// A varint of more than 64 bits.
    pub(crate) bits: Rule,
    /// A field number of 0 or above [`MOST`].
    pub(crate) number: Rule,
    /// Wire type 6 or 7.
    pub(crate) wire: Rule,
    /// The start or end of a group.
    pub(crate) group: Rule,
    /// Content that ends after its message.
    pub(crate) end: Rule,
}

/// The largest field number.
pub(crate) const MOST: u64 = (1 << 29) - 1;

/// How the value of a field is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// A varint.
    Varint,
    /// Eight bytes.
    Eight,
    /// Any number of bytes.
    Bytes,
    /// Four bytes.
    Four,
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Absolute offset of its key.
    pub(crate) at: u64,
    /// Its number.
    pub(crate) number: u32,
    /// How its value is stored.
    pub(crate) wire: Wire,
    /// The number, or the length of the bytes.
    pub(crate) value: u64,
    /// The value's bytes, within the message.
    pub(crate) data: Span,
    /// The key or the number takes more bytes than it needs.
    overlong: bool,
    /// A varint has more than 64 bits.
    bits: bool,
}

impl Field {
    /// Reads the key of the next field, and its number or length. The region ends with the
    /// message.
    pub(crate) fn read(r: &mut Reader<'_, '_>, rules: &Rules) -> Result<Field, Halt> {
        let at = r.at();
        let key = r.parse(|run| varint(run, rules.varint))?;
        let number = key.value >> 3;
        if number == 0 || number > MOST {
            r.flag(rules.number, at, key.len.into(), MOST, number);
            return Err(Halt::refused(rules.number));
        }
        let start = r.at();
        let (mut overlong, mut bits) = (key.overlong, key.bits);
        let (wire, value) = match key.value & 7 {
            0 => {
                let Varint { value, overlong: long, bits: more, .. } =
                    r.parse(|run| varint(run, rules.varint))?;
                (overlong, bits) = (overlong | long, bits | more);
                (Wire::Varint, value)
            }
            1 => (Wire::Eight, r.parse(le_u64)?),
            2 => {
                let len = r.parse(|run| varint(run, rules.varint))?;
                (overlong, bits) = (overlong | len.overlong, bits | len.bits);
                (Wire::Bytes, len.value)
            }
            5 => (Wire::Four, r.parse(le_u32)?.into()),
            wire @ (3 | 4) => {
                r.flag(rules.group, at, key.len.into(), 0, wire);
                return Err(Halt::refused(rules.group));
            }
            wire => {
                r.flag(rules.wire, at, key.len.into(), 0, wire);
                return Err(Halt::refused(rules.wire));
            }
        };
        let data = match wire {
            Wire::Bytes if value > r.left() => {
                r.flag(rules.end, at, r.left(), value, r.left());
                return Err(Halt::refused(rules.end));
            }
            Wire::Bytes => Span::new(r.at(), value),
            _ => Span::between(start, r.at()),
        };
        let number = u32::try_from(number).unwrap_or(0);
        Ok(Field { at, number, wire, value, data, overlong, bits })
    }

    /// Offset of the next field.
    pub(crate) fn end(&self) -> u64 {
        self.data.offset.saturating_add(self.data.len)
    }

    /// All its bytes.
    pub(crate) fn span(&self) -> Span {
        Span::between(self.at, self.end())
    }

    /// Reports varints that are longer than they need to be.
    pub(crate) fn report(&self, r: &mut Reader<'_, '_>, rules: &Rules) {
        let head = Span::between(self.at, self.data.offset.max(self.at));
        r.check(!self.overlong, rules.overlong, head, 0, self.value);
        r.check(!self.bits, rules.bits, head, 0, self.value);
    }
}

#[cfg(test)]
mod tests;
