//! The map of one tensor, taken apart: all of it is read before any of it is
//! judged.

use super::cbor::{Head, Pull, Seen, Text, major};
use crate::dims::{DimEncoding, DimsAt};
use crate::name::{Name, NameAt};
use crate::read::Halt;
use crate::source::Span;
use core::cmp::Ordering;

/// The fields of the specification, in the order that real writers keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Name,
    Offset,
    Size,
    DType,
    Layout,
    Shape,
    Encoding,
    Endianness,
    Checksum,
    SparseFormat,
}

impl Key {
    #[inline]
    pub(super) fn of(name: &Name<'_>) -> Option<Key> {
        match name.as_bytes() {
            #[cfg(feature = "sweep")]
            Some(bytes) => Key::of_bytes(bytes),
            _ => Key::ALL.iter().find(|(text, _)| *name == **text).map(|(_, key)| *key),
        }
    }

    /// As a decision tree, which is faster and larger than the table.
    #[cfg(feature = "sweep")]
    #[inline]
    fn of_bytes(bytes: &[u8]) -> Option<Key> {
        match bytes {
            b"name" => Some(Key::Name),
            b"size" => Some(Key::Size),
            b"dtype" => Some(Key::DType),
            b"shape" => Some(Key::Shape),
            b"offset" => Some(Key::Offset),
            b"layout" => Some(Key::Layout),
            b"encoding" => Some(Key::Encoding),
            b"checksum" => Some(Key::Checksum),
            b"sparse_format" => Some(Key::SparseFormat),
            b"data_endianness" => Some(Key::Endianness),
            _ => None,
        }
    }

    const ALL: [(&str, Key); 10] = [
        ("name", Key::Name),
        ("offset", Key::Offset),
        ("size", Key::Size),
        ("dtype", Key::DType),
        ("layout", Key::Layout),
        ("shape", Key::Shape),
        ("encoding", Key::Encoding),
        ("data_endianness", Key::Endianness),
        ("checksum", Key::Checksum),
        ("sparse_format", Key::SparseFormat),
    ];
}

/// The value of a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Value<'a> {
    /// The field is missing.
    #[default]
    Missing,
    Uint(u64),
    Text(Text<'a>),
    Dims(DimsAt),
    Null,
    /// A shape with an element that is no dimension.
    BadDim {
        at: u64,
        part: u32,
    },
    /// A data item of another type.
    Other,
}

/// A field: its value and the bytes it takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Field<'a> {
    pub(super) span: Span,
    pub(super) value: Value<'a>,
}

/// The map of one tensor.
#[derive(Debug, Default)]
pub(super) struct Entry<'a> {
    /// The whole map.
    pub(super) span: Span,
    pub(super) name: Field<'a>,
    pub(super) offset: Field<'a>,
    pub(super) size: Field<'a>,
    pub(super) dtype: Field<'a>,
    pub(super) layout: Field<'a>,
    pub(super) shape: Field<'a>,
    pub(super) encoding: Field<'a>,
    pub(super) endianness: Field<'a>,
    pub(super) checksum: Field<'a>,
    pub(super) sparse_format: Field<'a>,
    pub(super) seen: Seen,
    /// Equal keys among the custom ones cannot be ruled out by their order.
    pub(super) unsorted: bool,
}

impl<'a> Entry<'a> {
    #[inline]
    fn field(&mut self, key: Key) -> &mut Field<'a> {
        match key {
            Key::Name => &mut self.name,
            Key::Offset => &mut self.offset,
            Key::Size => &mut self.size,
            Key::DType => &mut self.dtype,
            Key::Layout => &mut self.layout,
            Key::Shape => &mut self.shape,
            Key::Encoding => &mut self.encoding,
            Key::Endianness => &mut self.endianness,
            Key::Checksum => &mut self.checksum,
            Key::SparseFormat => &mut self.sparse_format,
        }
    }

    /// Reads the element of the index where the reader stands; false if it is
    /// no map, which is passed over.
    ///
    /// Into a place of the caller: an entry is large for a small stack.
    #[inline(never)]
    pub(super) fn read(&mut self, pull: &mut Pull<'_, '_, 'a>) -> Result<bool, Halt> {
        let at = pull.r.at();
        let head = pull.item(2)?;
        if head.major != major::MAP {
            pull.skip(head, 2)?;
            return Ok(false);
        }
        let mut pairs = Pairs::new(pull, &head)?;
        if pairs.left.is_some() {
            Seen::note(&mut pull.seen.definite, head.at);
        }
        let mut order = Order { last: None, custom: None };
        while let Some(key) = pairs.next_key(pull)? {
            let name = if key.major == major::TEXT {
                Some(pull.string(&key)?.name)
            } else {
                Seen::note(&mut pull.seen.key, key.at);
                pull.custom = true;
                pull.skip(key, 3)?;
                pull.custom = false;
                None
            };
            let known = name.as_ref().and_then(Key::of);
            if let Some(name) = name {
                order.judge(self, pull, known, name, key.at);
            }
            match known {
                Some(known) => {
                    let field = self.read_value(pull, known)?;
                    let slot = self.field(known);
                    if matches!(slot.value, Value::Missing) {
                        *slot = field;
                    } else {
                        Seen::note(&mut pull.seen.field_twice, key.at);
                    }
                }
                None => {
                    pull.custom = true;
                    let head = pull.item(3)?;
                    pull.skip(head, 3)?;
                    pull.custom = false;
                }
            }
        }
        self.span = super::cbor::since(pull.r, at);
        self.seen = pull.seen;
        Ok(true)
    }

    #[inline]
    fn read_value(&self, pull: &mut Pull<'_, '_, 'a>, key: Key) -> Result<Field<'a>, Halt> {
        let at = pull.r.at();
        let head = pull.item(3)?;
        let value = match head.major {
            major::UINT => Value::Uint(head.argument),
            major::TEXT => Value::Text(pull.string(&head)?),
            major::ARRAY if key == Key::Shape => dims(pull, &head)?,
            _ => {
                // A map or an array that is no field is looked at as closely
                // as a custom value, but for what may stand in it.
                pull.skip(head, 3)?;
                if head.is_null() { Value::Null } else { Value::Other }
            }
        };
        Ok(Field { span: super::cbor::since(pull.r, at), value })
    }
}

/// The pairs of a map whose head was read.
pub(super) struct Pairs {
    /// Data items left; `None` if a break ends the map.
    left: Option<u32>,
}

impl Pairs {
    #[inline]
    pub(super) fn new(pull: &mut Pull<'_, '_, '_>, head: &Head) -> Result<Self, Halt> {
        Ok(Pairs { left: pull.count_resident(head)? })
    }

    /// The pairs that are left when `left` data items are; `None` if a break
    /// ends the map.
    pub(super) fn of(left: Option<u32>) -> Self {
        Pairs { left }
    }

    /// The head of the next key; the caller reads key and value.
    #[inline]
    pub(super) fn next_key(&mut self, pull: &mut Pull<'_, '_, '_>) -> Result<Option<Head>, Halt> {
        match self.left {
            Some(0) => Ok(None),
            Some(left) => {
                self.left = Some(left.saturating_sub(2));
                pull.item(3).map(Some)
            }
            None => {
                let at = pull.r.at();
                let head = pull.item_or_break(3)?;
                if !head.is_break() {
                    return Ok(Some(head));
                }
                if head.at != at {
                    return Err(pull.broken(super::rules::CBOR_BREAK, head.at, 0, 0xFF));
                }
                Ok(None)
            }
        }
    }
}

/// Reads a shape.
fn dims<'a>(pull: &mut Pull<'_, '_, 'a>, head: &Head) -> Result<Value<'a>, Halt> {
    let declared = pull.count_resident(head)?;
    if declared.is_none() {
        Seen::note(&mut pull.seen.indefinite, head.at);
    }
    let at = pull.r.at();
    let mut rank = 0_u32;
    let mut bad = None;
    let end = loop {
        if declared == Some(rank) {
            break pull.r.at();
        }
        let here = pull.r.at();
        let dim = if declared.is_some() { pull.item(4)? } else { pull.item_or_break(4)? };
        if dim.is_break() && dim.at == here {
            break here;
        }
        if dim.major != major::UINT || dim.at != here {
            bad.get_or_insert(Value::BadDim { at: here, part: rank });
            pull.skip(dim, 4)?;
        }
        rank = rank.wrapping_add(1);
    };
    let len = u32::try_from(end.wrapping_sub(at)).unwrap_or(u32::MAX);
    let dims = DimsAt { at, len, rank, lead: None, encoding: DimEncoding::Cbor };
    Ok(bad.unwrap_or(Value::Dims(dims)))
}

/// The order of keys: those of the specification as [`Key`] has them, then
/// custom ones by their bytes. Some writers let the user name a custom field
/// as an optional one is named; it then stands among the custom ones.
struct Order<'a> {
    last: Option<Key>,
    custom: Option<Name<'a>>,
}

impl<'a> Order<'a> {
    #[inline]
    fn judge(
        &mut self,
        entry: &mut Entry<'a>,
        pull: &mut Pull<'_, '_, 'a>,
        known: Option<Key>,
        name: Name<'a>,
        at: u64,
    ) {
        let in_order = match (known, self.custom) {
            (Some(key), None) if key < Key::SparseFormat => {
                self.last.replace(key).is_none_or(|last| last < key)
            }
            (Some(key), Some(_)) if key < Key::Endianness => false,
            (_, last) => {
                let order = last.map_or(Ordering::Less, |last| last.cmp(&name));
                entry.unsorted |= order != Ordering::Less;
                self.custom = Some(name);
                order != Ordering::Greater
            }
        };
        if !in_order {
            Seen::note(&mut pull.seen.order, at);
        }
    }
}

/// The text of a field, if it is text.
impl<'a> Field<'a> {
    #[cfg_attr(not(feature = "windows"), inline(never))]
    pub(super) fn text(&self) -> Option<Text<'a>> {
        match self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn is_missing(&self) -> bool {
        matches!(self.value, Value::Missing)
    }

    pub(super) fn name_at(&self) -> NameAt {
        self.text().map_or(NameAt::default(), |text| text.at)
    }
}
