//! Human-readable tensors, metadata and elements.

use crate::human::{bold, dim};
use crate::json;
use std::fmt::Write as _;
use std::io::{self, Write};
use weighbridge::text::{bytes, plural};
use weighbridge::{
    Encoding, Endianness, Error, Layout, Meta, Particulars, Shown, Status, Tensor, Text, Value,
};

/// How and where a tensor is stored, if that is unusual.
///
/// # Errors
/// If its place cannot be read.
pub(crate) fn place(tensor: &Tensor<'_, '_>, particulars: &Particulars) -> Result<String, Error> {
    let mut parts = Vec::new();
    if tensor.status() != Status::Sound {
        parts.push(bold(tensor.status().name()));
    }
    let text = |text: &Option<String>| Some(Text::from(text.as_deref()?).to_string());
    parts.extend(text(&particulars.codec));
    if tensor.layout() != Layout::default() {
        parts.push(tensor.layout().name().to_owned());
    }
    if tensor.encoding() != Encoding::default() {
        parts.push(tensor.encoding().name().to_owned());
    }
    if tensor.endianness() != Endianness::default() {
        parts.push(format!("{}-endian", tensor.endianness().name()));
    }
    parts.extend(text(&particulars.checksum));
    if particulars.quantization.is_some() {
        parts.push("quantized".to_owned());
    }
    let (mut count, mut stored, mut first) = (0, 0_u64, None);
    for piece in tensor.pieces() {
        let piece = piece?;
        count += 1;
        stored = stored.saturating_add(piece.stored);
        first.get_or_insert(piece.offset);
    }
    let stored = bytes(stored);
    let place = match (first, count) {
        (None, _) => "no data".to_owned(),
        (Some(offset), 1) => format!("{stored} at {offset}"),
        (Some(offset), _) => format!("{stored} in {} from {offset}", plural(count, "chunk")),
    };
    let place = match tensor.file() {
        Some(file) => format!("{place} of {file}"),
        None => place,
    };
    parts.push(dim(place));
    Ok(parts.join(", "))
}

pub(crate) fn meta(meta: &Meta) -> String {
    let mut kind = meta.kind().to_owned();
    if let (Some(dtype), Some(shape)) = (meta.dtype(), meta.shape()) {
        let _ = write!(kind, " {dtype} {shape:?}");
    }
    let mut shown = value(meta.value());
    if shown.chars().count() > 200 {
        shown = shown.chars().take(200).collect();
        shown.push('…');
    }
    format!("{}  {}  {shown}", meta.key(), dim(kind))
}

/// Writes an element or another item of a tensor's data as text.
pub(crate) fn element(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    match shown {
        // It may have millions of elements.
        Shown::Row(row) if !row.is_scalar() => json::write(out, row),
        shown => out.write_all(value(&shown.to_value()).as_bytes()),
    }
}

/// A value as text; in quotes only if it is text in the file.
fn value(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        Value::Float(value) if !value.is_finite() => {
            Value::Float(*value).to_string().trim_matches('"').to_owned()
        }
        value => value.to_string(),
    }
}
