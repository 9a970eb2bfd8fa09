//! Metadata entries with their values.

use crate::base::error::Error;
use crate::base::span::{bytes, within};
use crate::base::text::Text;
use crate::base::value::{Value, elements};
use crate::check::access::Access;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{
    Cursor, DType, EntryKind, File, Metadata as At, Name, NameAt, NameEncoding, Source, Status,
    Stop, Tensor, Value as Stored,
};

/// Values are cut after this many bytes.
const MOST: u64 = 64 << 10;
/// Bytes that an entry takes at least, besides its value.
const ENTRY: u64 = 16;

/// A metadata entry, with its value; a long one is cut after 64 KiB.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let entry = model.metadata().next().unwrap()?;
/// assert_eq!((entry.key(), entry.kind()), (&"format".into(), "string"));
/// assert_eq!(entry.value().as_str(), Some("pt"));
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Meta {
    key: Text,
    kind: &'static str,
    dtype: Option<&'static str>,
    shape: Option<Vec<u64>>,
    value: Value,
    truncated: bool,
}

impl Meta {
    /// The key.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let keys = model.metadata().map(|entry| Ok(entry?.key().to_string()));
    /// assert_eq!(keys.collect::<Result<Vec<_>, weighbridge::Error>>()?, ["format"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn key(&self) -> &Text {
        &self.key
    }

    /// The type of the value: the name of a dtype, `string`, `bitset`, `ndarray`, `cbor`,
    /// `sizevar`, `subgraph` or `unknown`.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.metadata().next().unwrap()?;
    /// assert_eq!(entry.kind(), "string");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The type of the elements of an array.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::words();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.metadata().next().unwrap()?; // a list in GGUF
    /// assert_eq!((entry.kind(), entry.dtype()), ("ndarray", Some("text")));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn dtype(&self) -> Option<&'static str> {
        self.dtype
    }

    /// The shape of an array.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::words();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.metadata().next().unwrap()?; // a list in GGUF
    /// assert_eq!(entry.shape(), Some(&[3][..]));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }

    /// The value.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut metadata = model.metadata().filter_map(Result::ok);
    /// let format = metadata.find(|entry| *entry.key() == "format").unwrap();
    /// assert_eq!(format.value().as_str(), Some("pt"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The same entry with at most `most` items if its value is a list of texts: a model's
    /// vocabulary has hundreds of thousands.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::words();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.metadata().next().unwrap()?.with_texts(2); // of three words
    /// assert_eq!(entry.value().to_string(), r#"["a","b"]"#);
    /// assert!(entry.is_truncated());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[must_use]
    pub fn with_texts(mut self, most: usize) -> Self {
        if let Value::List(items) = &mut self.value
            && items.len() > most
            && items.iter().all(|item| matches!(item, Value::Text(_)))
        {
            items.truncate(most);
            self.truncated = true;
        }
        self
    }

    /// Whether the value was cut.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let entry = model.metadata().next().unwrap()?;
    /// assert!(!entry.is_truncated());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Reads an entry of `file` that the core returned, with at most `most` bytes of its value.
    /// For hosts that drive the core themselves. Values in payloads are not read.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let entry = file.next_meta(&source, &mut Cursor::default(), &mut |_| {})?.unwrap();
    /// let entry = weighbridge::Meta::read(&source, &file, &entry.metadata, 1)?;
    /// assert_eq!((entry.value().as_str(), entry.is_truncated()), (Some("p"), true));
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn read(source: &Source<'_>, file: &File, meta: &At, most: u64) -> Result<Self, Stop> {
        view(source, file, meta, most)
    }

    /// Shortens an entry so that it ends before `next`, which follows it: when the core returns
    /// a long GGUF list, it has not found the end yet.
    ///
    /// ```
    /// use weighbridge::Meta;
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let (mut cursor, mut entries) = (Cursor::default(), Vec::new());
    /// while let Some(next) = file.next_meta(&source, &mut cursor, &mut |_| {})? {
    ///     Meta::end_before(&file, entries.last_mut(), &next.metadata);
    ///     entries.push(next.metadata);
    /// }
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn end_before(file: &File, entry: Option<&mut At>, next: &At) {
        #[cfg(feature = "gguf")]
        if let (File::Gguf(_), Some(At { stored, .. })) = (file, entry) {
            stored.len = stored.len.min(next.offset.saturating_sub(stored.offset));
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Meta {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("key", &self.key.lossy())?;
        if let Some(hex) = self.key.hex() {
            map.serialize_entry("key_hex", &hex)?;
        }
        map.serialize_entry("type", self.kind)?;
        if let Some(dtype) = self.dtype {
            map.serialize_entry("dtype", dtype)?;
        }
        if let Some(shape) = &self.shape {
            map.serialize_entry("shape", shape)?;
        }
        map.serialize_entry("value", &self.value)?;
        if let Value::Text(text) = &self.value
            && let Some(hex) = text.hex()
        {
            map.serialize_entry("value_hex", &hex)?;
        }
        if self.truncated {
            map.serialize_entry("truncated", &true)?;
        }
        map.end()
    }
}

/// The metadata entries of a file or of one tensor, in order.
#[derive(Debug)]
pub(crate) struct Entries<'m, 'a> {
    access: &'m Access<'a>,
    file: File,
    of: Option<Tensor>,
    cursor: Cursor,
    /// Bytes that may be shown, and bytes shown so far.
    most: u64,
    shown: u64,
    over: bool,
}

impl<'m, 'a> Entries<'m, 'a> {
    pub(crate) fn new(access: &'m Access<'a>, file: File, of: Option<Tensor>) -> Self {
        let (cursor, most) = (Cursor::default(), access.room());
        Entries { access, file, of, cursor, most, shown: 0, over: false }
    }

    fn read(&mut self) -> Result<Option<Meta>, Error> {
        if self.shown > self.most {
            return Ok(None);
        }
        let Entries { access, file, of, cursor, .. } = self;
        // The cursor also advances inside an entry's list, so that an entry whose value is
        // missing is not requested again.
        let meta = access.ask_or_end(|source| match of {
            Some(tensor) => {
                Ok(file.next_attribute(source, tensor, cursor)?.map(|entry| entry.metadata))
            }
            None => Ok(file.next_meta(source, cursor, &mut |_| {})?.map(|entry| entry.metadata)),
        })?;
        let Some(meta) = meta else { return Ok(None) };
        let found = access.ask_or_end(|source| view(source, file, &meta, MOST).map(Some))?;
        let Some(mut entry) = found else { return Ok(None) };
        let len = meta.stored.len.min(MOST).saturating_add(ENTRY);
        self.shown = self.shown.saturating_add(len);
        self.annotate(&meta, &mut entry)?;
        Ok(Some(entry))
    }

    /// Reads the value of an annotation, which is the payload of a row.
    #[cfg(feature = "idv")]
    fn annotate(&mut self, meta: &At, entry: &mut Meta) -> Result<(), Error> {
        if let File::Idv(header) = &self.file
            && self.of.is_some()
            && meta.status == Status::Sound
            && self.access.room() > 0
        {
            self.access.show(meta.stored.len);
            let found = crate::read::rows::annotation(self.access, header, meta, MOST)?;
            if let Some((value, cut)) = found {
                // A few bytes may decode to many.
                self.access.show(crate::read::rows::weight(&value) / 64);
                (entry.value, entry.truncated) = (value, cut);
            }
        }
        Ok(())
    }

    #[cfg(not(feature = "idv"))]
    fn annotate(&mut self, _: &At, _: &mut Meta) -> Result<(), Error> {
        Ok(())
    }
}

impl Drop for Entries<'_, '_> {
    fn drop(&mut self) {
        self.access.show(self.shown);
    }
}

impl Iterator for Entries<'_, '_> {
    type Item = Result<Meta, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let entry = self.read().transpose();
        self.over = !matches!(entry, Some(Ok(_)));
        entry
    }
}

fn view(source: &Source<'_>, file: &File, meta: &At, most: u64) -> Result<Meta, Stop> {
    let key = if within(source, meta.key.span()) {
        Text::from(meta.key.read(source)?)
    } else {
        Text::default()
    };
    let mut view = Meta {
        key,
        kind: if meta.kind == EntryKind::SizeVar { "sizevar" } else { "unknown" },
        dtype: None,
        shape: None,
        value: Value::Null,
        truncated: false,
    };
    let value = match file.value(source, meta) {
        // It cannot be read; a finding says so.
        Err(Stop::Invalid(_)) => None,
        value => value?,
    };
    match value {
        Some(Stored::Size(size)) => {
            // What is stored as a bare number is a size, or the subgraph of a signature.
            view.kind = if view.kind == "unknown" { "subgraph" } else { view.kind };
            view.value = Value::Int(size.into());
        }
        Some(Stored::Text(at)) => {
            view.kind = "string";
            view.text(source, at, most)?;
        }
        Some(Stored::Scalar { dtype, stored }) => {
            view.kind = dtype.name();
            let bytes = bytes(source, stored, most)?;
            view.value =
                dtype.element(bytes, 0, file.endianness()).map_or(Value::Null, Value::from);
        }
        Some(Stored::Bits { count, stored }) => {
            view.kind = "bitset";
            let bytes = bytes(source, stored, most)?;
            view.truncated = stored.len > most;
            let bit = |i: u64| {
                let byte = bytes.get(usize::try_from(i / 8).ok()?)?;
                Some(Value::Bool(byte >> (i % 8) & 1 == 1))
            };
            view.value = (0..count).map_while(bit).collect();
        }
        Some(Stored::Array { dtype, dims, elements: count, stored }) => {
            view.kind = "ndarray";
            view.dtype = Some(dtype.name());
            view.shape = Some(dims.read(source)?.collect());
            let bytes = bytes(source, stored, most)?;
            view.truncated = stored.len > most;
            let values = elements(dtype, bytes, count, file.endianness());
            view.value = values.map(Value::from).collect();
        }
        #[cfg(feature = "gguf")]
        Some(Stored::List { count, stored }) => {
            let bytes = bytes(source, stored, most)?;
            let items = weighbridge_core::format::gguf::Items::new(bytes, file.endianness());
            view.kind = "ndarray";
            view.dtype = Some(items.dtype().map_or("ndarray", DType::name));
            view.shape = Some(vec![count]);
            let shown = list(items);
            view.truncated = (shown.len() as u64) < count;
            view.value = Value::List(shown);
        }
        #[cfg(feature = "ztensor")]
        Some(Stored::Cbor(stored)) => {
            let bytes = bytes(source, stored, most)?;
            view.truncated = stored.len > most;
            (view.kind, view.value) = crate::read::cbor::value(bytes);
        }
        // Its value is in a payload, which is read on request.
        Some(Stored::Encoded { dtype, dims, .. }) if dims.rank == 0 => view.kind = dtype.name(),
        Some(Stored::Encoded { dtype, dims, .. }) => {
            view.kind = "ndarray";
            view.dtype = Some(dtype.name());
            view.shape = Some(dims.read(source)?.collect());
        }
        _ => {}
    }
    Ok(view)
}

/// The items of a list, as far as its bytes go. The core limits how deep they nest.
#[cfg(feature = "gguf")]
fn list(items: weighbridge_core::format::gguf::Items<'_>) -> Vec<Value> {
    use weighbridge_core::format::gguf::Item;
    items
        .map(|item| match item {
            Item::Text(text) => Value::from(&*Text::from(text).lossy()),
            Item::Number(element) => Value::from(element),
            Item::List(items) => Value::List(list(items)),
        })
        .collect()
}

impl Meta {
    fn text(&mut self, source: &Source<'_>, at: NameAt, most: u64) -> Result<(), Stop> {
        let span = at.span();
        let limit = match at.encoding {
            NameEncoding::Plain => most.saturating_add(1),
            // A byte takes at most six, as an escape.
            NameEncoding::Json => most.saturating_add(1).saturating_mul(6),
            // Text stored in chunks can only be read as a whole.
            _ => u64::MAX,
        };
        let stored = Name::new(bytes(source, span, limit)?, at.encoding);
        let mut bytes: Vec<u8> = stored.bytes().take((most as usize).saturating_add(1)).collect();
        self.truncated = bytes.len() as u64 > most;
        if self.truncated {
            bytes.pop();
            // Not in the middle of a character, which would look like a fault.
            if let Err(err) = str::from_utf8(&bytes)
                && err.error_len().is_none()
            {
                bytes.truncate(err.valid_up_to());
            }
        }
        self.value = Value::Text(bytes.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        let mut bytes = vec![b'a'];
        bytes.resize(200_000, 0);
        let text = "é".repeat(50_000);
        bytes[1..=100_000].copy_from_slice(text.as_bytes());
        let at = NameAt { offset: 0, len: 100_001, ..Default::default() };
        let mut view = Meta {
            key: Text::default(),
            kind: "string",
            dtype: None,
            shape: None,
            value: Value::Null,
            truncated: false,
        };
        view.text(&Source::whole(&bytes), at, MOST).expect("all is there");
        assert!(view.truncated);
        assert_eq!(view.value.as_str().map(str::len), Some(65_535));
    }
}
