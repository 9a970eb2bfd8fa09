//! Metadata entries, and their values as JavaScript represents them.

use crate::json;
use crate::values::Numbers;
use alloc::string::String;
use weighbridge::{Meta, Value};
use weighbridge_core::{DType, Element, File, Metadata, Source, Stop};

/// Values are cut off after this many bytes.
pub const MOST: u64 = 64 << 10;

/// Bytes of a value used for a preview.
pub const LITTLE: u64 = 1 << 10;

/// A metadata entry, with the start of its value.
#[derive(Debug)]
pub struct Shown {
    /// The entry as the file listed it.
    pub at: Metadata,
    /// The entry's content.
    pub meta: Meta,
}

impl Shown {
    /// The entry `at` with up to `most` bytes of its value.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn of(source: &Source<'_>, file: &File, at: &Metadata, most: u64) -> Result<Self, Stop> {
        Ok(Shown { at: *at, meta: Meta::read(source, file, at, most)? })
    }

    /// The text.
    pub fn text(&self) -> Option<&[u8]> {
        match self.meta.value() {
            Value::Text(text) if self.meta.kind() != CBOR => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The number, or the elements of an array of numbers.
    pub fn numbers(&self) -> Option<Numbers> {
        let dtype = match self.meta.kind() {
            "sizevar" => DType::U64,
            "bitset" => DType::Bool,
            kind => DType::by_name(self.meta.dtype().unwrap_or(kind))?,
        };
        let mut numbers = Numbers::new(dtype);
        match self.meta.value() {
            Value::Null => return None,
            Value::List(_) if !dtype.is_numeric() => return None,
            Value::List(items) => items.iter().for_each(|item| number(item, dtype, &mut numbers)),
            value => number(value, dtype, &mut numbers),
        }
        Some(numbers)
    }

    /// Any other value, as JSON.
    pub fn json(&self) -> Option<String> {
        let value = self.meta.value();
        let other = matches!(value, Value::List(_)) && self.numbers().is_none();
        (other || self.meta.kind() == CBOR).then(|| {
            let mut json = String::new();
            json::push(value, &mut json);
            json
        })
    }
}

/// The kind of a value that is neither a number nor a text.
const CBOR: &str = "cbor";

fn number(value: &Value, dtype: DType, numbers: &mut Numbers) {
    numbers.push(match value {
        Value::Bool(value) => Element::Bool(*value),
        Value::Int(value) => Element::Uint(*value as u64),
        Value::Float(value) if dtype == DType::F64 => Element::F64(*value),
        Value::Float(value) => Element::F32(*value as f32),
        _ => return,
    });
}
