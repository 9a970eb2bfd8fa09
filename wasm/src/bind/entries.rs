//! Single entries: a tensor, its chunks, metadata, values.

use super::thrown::error;
use super::{Answer, RawDocument, answer};
use crate::document::Document;
use crate::elements::{Elements, Grid, Refusal};
use crate::items::Described;
use crate::meta::{self, Shown};
use crate::pack::{NONE, Pack};
use crate::text::{SHOWN, Texts};
use alloc::vec::Vec;
use js_sys::Error;
use wasm_bindgen::prelude::*;
use weighbridge::text::hex;
use weighbridge::{Particulars, Quantization, Value};
use weighbridge_core::{Cursor, Tensor};

/// Packs a text that may hold any bytes: JavaScript decodes it with replacements, and gets the
/// bytes in hexadecimal too if they are not UTF-8.
fn raw_text(bytes: &[u8], pack: &mut Pack) {
    pack.bytes(bytes);
    let exact = str::from_utf8(bytes).is_err().then(|| hex(bytes));
    pack.optional_text(exact.as_deref());
}

/// The elements of a value, if it has any.
fn numbers(entry: &Shown, pack: &mut Pack) {
    let numbers = entry.numbers();
    pack.u32(numbers.is_some().into());
    if let Some(numbers) = &numbers {
        pack.numbers(numbers);
    }
}

/// The extents of an array, if it is one.
fn shape(entry: &Shown, pack: &mut Pack) {
    let shape = entry.meta.shape();
    pack.u32(shape.is_some().into());
    let shape = shape.unwrap_or_default();
    pack.items(8, shape, |n| *n);
}

/// Packs a metadata entry in full.
#[inline(never)]
fn full(entry: Shown, pack: &mut Pack) {
    let meta = &entry.meta;
    raw_text(meta.key().as_bytes(), pack);
    pack.text(meta.kind());
    pack.text(meta.dtype().unwrap_or(meta.kind()));
    let text = entry.text();
    pack.u32(text.is_some().into());
    raw_text(text.unwrap_or_default(), pack);
    pack.optional_text(entry.json().as_deref());
    numbers(&entry, pack);
    shape(&entry, pack);
    pack.u32(meta.is_truncated().into());
}

/// Packs metadata entries with previews.
#[inline(never)]
fn list(all: Vec<Shown>, pack: &mut Pack) {
    let mut keys = Texts::default();
    let mut texts = Texts::default();
    let mut types = Texts::default();
    for entry in &all {
        keys.push_safe(entry.meta.key().as_bytes(), SHOWN);
        let json = entry.json();
        let json = json.as_deref().map(str::as_bytes);
        texts.push_safe(entry.text().or(json).unwrap_or_default(), SHOWN);
        types.push(entry.meta.kind());
    }
    pack.u32(all.len() as u32);
    pack.texts(&keys);
    pack.texts(&types);
    pack.texts(&texts);
    pack.items(4, &all, |entry| entry.at.index.into());
    pack.items(8, &all, |entry| entry.at.stored.offset);
    pack.items(8, &all, |entry| entry.at.stored.len);
    for entry in &all {
        pack.text(entry.meta.dtype().unwrap_or_default());
        numbers(entry, pack);
        shape(entry, pack);
    }
}

impl RawDocument {
    /// The tensor at `index`, or an error if there is none.
    pub(super) fn tensor_at(&self, index: u32) -> Result<Tensor, Error> {
        let tensor = self.inner.index.tensors().get(index as usize).copied();
        tensor.ok_or_else(|| error("no such tensor", None))
    }
}

#[wasm_bindgen]
impl RawDocument {
    /// All about one tensor.
    pub fn tensor(&mut self, index: u32) -> Answer {
        let tensor = self.tensor_at(index)?;
        let result = self.inner.session.ask(|file, source| {
            let described = Described::of(source, file, &tensor)?;
            Ok((Particulars::of(source, file, &tensor)?, described))
        });
        let table = &self.inner.index;
        answer(&self.inner, result, |(it, described), pack| {
            let i = index as usize;
            raw_text(table.name_bytes(i), pack);
            pack.label(&table.name(i));
            for word in [
                it.dtype.as_deref().unwrap_or(tensor.dtype.name()),
                tensor.status.name(),
                tensor.layout.name(),
                tensor.encoding.name(),
                tensor.endianness.name(),
            ] {
                pack.text(word);
            }
            pack.items(8, table.shape(i), |n| n.unwrap_or(NONE));
            for number in [tensor.elements, table.stored(i), tensor.chunks.count(), tensor.offset] {
                pack.u64(number);
            }
            for number in
                [tensor.bytes(), table.offset(i), it.id, it.shape_table_index.map(u64::from)]
            {
                pack.optional(number);
            }
            // The file's own number or spelling.
            let raw = it.dtype_raw.as_ref();
            pack.optional(raw.and_then(Value::as_int).map(|code| code as u64));
            pack.optional_text(raw.and_then(Value::as_str));
            for text in [&it.codec, &it.checksum] {
                pack.optional_text(text.as_deref());
            }
            pack.optional_text(described.descr.as_deref());
            pack.texts(&described.fields);
            pack.u32(described.shown.into());
            let kind = |it: &Quantization| if it.symmetric { "symmetric" } else { "asymmetric" };
            pack.optional_text(it.quantization.as_ref().map(kind));
            if let Some(it) = it.quantization {
                let points = it.zero_points.unwrap_or_default();
                pack.optional(it.axis);
                pack.items(4, &it.scales, |scale| scale.to_bits().into());
                pack.items(4, &points, |point| *point as u64);
            }
        })
    }

    /// Pieces of a tensor's data.
    pub fn chunks(&mut self, index: u32, from: u32, to: u32) -> Answer {
        let tensor = self.tensor_at(index)?;
        let total = tensor.chunks.count();
        let result = self.inner.session.ask(|file, source| {
            let mut chunks = Vec::new();
            for i in u64::from(from)..u64::from(to).min(total) {
                let Some(chunk) = file.chunk(source, &tensor, i)? else { break };
                chunks.push(chunk);
            }
            Ok(chunks)
        });
        let mut encodings = Vec::new();
        if let Ok(Some(chunks)) = &result {
            for chunk in chunks {
                encodings.push(self.inner.words.code(chunk.encoding.name()));
            }
        }
        answer(&self.inner, result, |chunks, pack| {
            pack.u64(total);
            pack.items(8, &chunks, |chunk| chunk.stored.offset);
            pack.items(8, &chunks, |chunk| chunk.stored.len);
            pack.items(8, &chunks, |chunk| chunk.decoded.unwrap_or(NONE));
            pack.items(8, &chunks, |chunk| chunk.row);
            pack.items(8, &chunks, |chunk| chunk.elements);
            pack.items(2, &encodings, |code| (*code).into());
        })
    }

    /// A tensor's own metadata, with previews.
    pub fn attributes(&mut self, index: u32) -> Answer {
        let tensor = self.tensor_at(index)?;
        let result = self.inner.list_of(&tensor);
        answer(&self.inner, result, list)
    }

    /// Entries of the file's metadata, with previews.
    pub fn metadata(&mut self, from: u32, to: u32) -> Answer {
        let result = self.inner.list(from, to);
        answer(&self.inner, result, list)
    }

    /// A metadata entry in full.
    pub fn value(&mut self, index: u32) -> Answer {
        let Some(meta) = self.inner.metadata.get(index as usize).copied() else {
            return Err(error("no such metadata entry", None));
        };
        let result =
            self.inner.session.ask(|file, source| Shown::of(source, file, &meta, meta::MOST));
        answer(&self.inner, result, full)
    }

    /// A tensor's metadata entry in full.
    #[wasm_bindgen(js_name = attributeValue)]
    pub fn attribute_value(&mut self, tensor: u32, index: u32) -> Answer {
        let tensor = self.tensor_at(tensor)?;
        let result = self.inner.session.ask(|file, source| {
            let mut cursor = Cursor::default();
            while let Some(meta) = file.next_attribute(source, &tensor, &mut cursor)? {
                if meta.index == index {
                    return Shown::of(source, file, &meta, meta::MOST).map(Some);
                }
            }
            Ok(None)
        });
        match result.map(Option::flatten) {
            Ok(None) => Err(error("no such metadata entry", None)),
            result => answer(&self.inner, result, full),
        }
    }

    /// A table of elements.
    pub fn grid(
        &mut self,
        index: u32,
        from: u64,
        rows: u32,
        row_step: u64,
        columns: u32,
        column_step: u64,
    ) -> Answer {
        let tensor = self.tensor_at(index)?;
        let (rows, columns) = (rows.into(), columns.into());
        let grid = Grid { from, rows, row_step, columns, column_step };
        let result = self.inner.grid(&tensor, &grid);
        shown(&self.inner, result, |elements, pack| {
            pack.text(tensor.dtype.name());
            match elements {
                Elements::Numbers(numbers) => {
                    pack.u32(0);
                    pack.numbers(&numbers);
                }
                Elements::Blocks(blocks) => {
                    pack.u32(1);
                    pack.text(tensor.endianness.name());
                    pack.bytes(&blocks.bytes);
                    pack.words(blocks.runs.iter().copied());
                }
                Elements::Texts(texts) => {
                    pack.u32(2);
                    pack.texts(&texts);
                }
            }
        })
    }
}

/// Packs elements, or throws the reason why there are none.
pub(super) fn shown<T>(
    document: &Document,
    result: Result<T, Refusal>,
    write: impl FnOnce(T, &mut Pack),
) -> Answer {
    let message = match result {
        Ok(value) => return answer(document, Ok(Some(value)), write),
        Err(Refusal::Stop(stop)) => return super::stopped(document, stop),
        Err(Refusal::TooMany) => "too many elements at once",
        Err(Refusal::TooFar) => "too far inside compressed data to be shown",
        Err(Refusal::Undecodable) => "the compressed data is broken",
        Err(Refusal::Unsupported) => "elements of this type or encoding cannot be shown",
    };
    Err(error(message, None))
}
