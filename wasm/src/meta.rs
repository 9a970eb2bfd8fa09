//! Metadata entries with their values.

use crate::table::read;
use crate::values::Numbers;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{
    DType, Endianness, EntryKind, File, Metadata, Name, NameAt, Source, Span, Stop, Value,
};

/// Values are cut here, in bytes.
pub const MOST: u64 = 64 << 10;

/// Bytes of a value that a preview is made from.
pub const LITTLE: u64 = 1 << 10;

/// A metadata entry, with the start of its value.
#[derive(Debug)]
pub struct Shown {
    /// As it was handed out.
    pub meta: Metadata,
    /// Its key, decoded.
    pub key: Vec<u8>,
    /// What its value is.
    pub kind: &'static str,
    /// Type of the elements of an array.
    pub dtype: Option<DType>,
    /// Shape of an array.
    pub shape: Option<Vec<u64>>,
    /// Text.
    pub text: Option<Vec<u8>>,
    /// Anything else, as JSON.
    pub json: Option<String>,
    /// Elements.
    pub numbers: Option<Numbers>,
    /// Whether more follows.
    pub truncated: bool,
}

/// The bytes of a span, `most` of them; none where it does not lie inside the
/// file.
fn bytes<'a>(source: &Source<'a>, span: Span, most: u64) -> Result<&'a [u8], Stop> {
    read(source, span, || source.get(Span::new(span.offset, span.len.min(most))))
}

/// A text, cut where it is too long, but not inside a character.
fn text(source: &Source<'_>, at: NameAt, most: u64) -> Result<Vec<u8>, Stop> {
    let mut stored = bytes(source, at.span(), most)?;
    if at.span().len > most
        && let Err(error) = str::from_utf8(stored)
        && error.error_len().is_none()
    {
        stored = stored.get(..error.valid_up_to()).unwrap_or_default();
    }
    Ok(Name::new(stored, at.encoding).bytes().collect())
}

impl Shown {
    /// The entry `meta` with `most` bytes of its value.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn of(source: &Source<'_>, file: &File, meta: &Metadata, most: u64) -> Result<Self, Stop> {
        let key = read(source, meta.key.span(), || meta.key.read(source))?;
        let mut it = Shown {
            meta: *meta,
            key: key.bytes().collect(),
            kind: if meta.kind == EntryKind::SizeVar { "sizevar" } else { "unknown" },
            dtype: None,
            shape: None,
            text: None,
            json: None,
            numbers: None,
            truncated: false,
        };
        let value = match file.value(source, meta) {
            // It cannot be read, which a finding says.
            Err(Stop::Invalid(_)) => None,
            value => value?,
        };
        let Some(value) = value else { return Ok(it) };
        it.value(source, value, file.endianness(), most)?;
        Ok(it)
    }

    fn value(
        &mut self,
        source: &Source<'_>,
        value: Value,
        endianness: Endianness,
        most: u64,
    ) -> Result<(), Stop> {
        match value {
            Value::Size(size) => self.numbers = Some(Numbers::U64(vec![size])),
            Value::Text(at) => {
                self.kind = "string";
                self.text = Some(text(source, at, most)?);
                self.truncated = at.span().len > most;
            }
            Value::Scalar { dtype, stored } => {
                self.kind = dtype.name();
                self.numbers =
                    Some(Numbers::of(dtype, bytes(source, stored, most)?, 1, endianness));
            }
            Value::Bits { count, stored } => {
                self.kind = "bitset";
                let bytes = bytes(source, stored, most)?;
                let bit = |i: u64| {
                    let byte = bytes.get(usize::try_from(i / 8).ok()?)?;
                    Some((byte >> (i % 8)) & 1)
                };
                self.numbers = Some(Numbers::U8((0..count).map_while(bit).collect()));
                self.truncated = stored.len > most;
            }
            Value::Array { dtype, dims, elements, stored } => {
                self.kind = "ndarray";
                self.dtype = Some(dtype);
                let at = Span::new(dims.offset, u64::from(dims.len));
                self.shape = Some(read(source, at, || dims.read(source))?.collect());
                let bytes = bytes(source, stored, most)?;
                self.numbers = Some(Numbers::of(dtype, bytes, elements, endianness));
                self.truncated = stored.len > most;
            }
            #[cfg(feature = "full")]
            Value::List { count, stored } => {
                use weighbridge_core::format::gguf::Items;
                let items = Items::new(bytes(source, stored, most)?, endianness);
                self.kind = "ndarray";
                self.dtype = Some(items.dtype().unwrap_or_default());
                self.shape = Some(vec![count]);
                let mut json = String::new();
                let shown = crate::list::write(items, &mut json);
                self.truncated = shown < count;
                self.json = Some(json);
            }
            #[cfg(feature = "full")]
            Value::Cbor(stored) => {
                use crate::cbor::Found;
                let (kind, found) = crate::cbor::value(bytes(source, stored, most)?);
                self.kind = kind;
                self.truncated = stored.len > most;
                match found {
                    Found::Numbers(numbers) => self.numbers = Some(numbers),
                    Found::Text(text) => self.text = Some(text),
                    Found::Json(json) => self.json = Some(json),
                }
            }
            // What it holds is in a payload, which is decoded on demand.
            #[cfg(feature = "full")]
            Value::Encoded { dtype, dims, .. } if dims.rank() == 0 => self.kind = dtype.name(),
            #[cfg(feature = "full")]
            Value::Encoded { dtype, dims, .. } => {
                self.kind = "ndarray";
                self.dtype = Some(dtype);
                let at = Span::new(dims.offset, u64::from(dims.len));
                self.shape = Some(read(source, at, || dims.read(source))?.collect());
            }
            _ => {}
        }
        Ok(())
    }
}
