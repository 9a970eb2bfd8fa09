//! Elements of NumPy arrays that are no numbers: text, bytes, dates, time spans and records.
//!
//! The core has checked the header of an array. Here its `descr` is read again, for its parts.

mod described;
mod header;
mod literal;
mod time;

use crate::base::text::{Text, hex};
use crate::base::value::Value;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
pub use described::Items;
pub(crate) use header::descr;
use literal::Literal;
use time::Unit;
use weighbridge_core::{DType, Endianness, File, Source, Status, Stop, Tensor};

/// Most values in an element that is shown. The fields of a record may be arrays.
const MOST_VALUES: u64 = 4096;
/// Most bytes of an element that is shown.
const MOST_BYTES: usize = 64 << 10;

/// Longest `descr` that is shown with the type.
const MOST_TEXT: usize = 1024;

/// Whether elements are items that only the header of the array describes.
pub(crate) fn is_item(dtype: DType) -> bool {
    use DType::{Bytes, DateTime64, LongComplex, LongDouble, Record, TimeDelta64, Utf32, Void};
    let timed = matches!(dtype, DateTime64 | TimeDelta64);
    timed || matches!(dtype, Utf32 | Bytes | Void | Record | LongDouble | LongComplex)
}

/// Whether elements are shown as items: complex numbers need no header.
pub(crate) fn is_shown_as_item(dtype: DType) -> bool {
    is_item(dtype) || matches!(dtype, DType::C64 | DType::C128)
}

/// The type of a tensor's elements, if they are items or complex numbers.
pub(crate) fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Option<Item>, Stop> {
    let order = tensor.endianness;
    match tensor.dtype {
        _ if tensor.status != Status::Sound => {}
        DType::C64 => return Ok(Some(Item { kind: Kind::Complex(DType::F32, order), width: 8 })),
        DType::C128 => return Ok(Some(Item { kind: Kind::Complex(DType::F64, order), width: 16 })),
        _ => {}
    }
    if !is_item(tensor.dtype) || tensor.status != Status::Sound {
        return Ok(None);
    }
    Ok(descr(source, file, tensor)?.and_then(|descr| Item::of(&descr)))
}

/// The type of elements with its parameters, in any byte order: `utf32<3>`, `datetime64<25us>`.
pub(crate) fn spelling(
    source: &Source<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<String>, Stop> {
    if !is_item(tensor.dtype) || tensor.status != Status::Sound {
        return Ok(None);
    }
    let name = tensor.dtype.name();
    let width = tensor.unit().map_or(0, |(_, width)| width);
    Ok(Some(match tensor.dtype {
        DType::Utf32 => format!("{name}<{}>", width / 4),
        DType::Record | DType::DateTime64 | DType::TimeDelta64 => {
            let descr = descr(source, file, tensor)?.unwrap_or_default();
            let unit = descr.split_once('[').and_then(|(_, unit)| unit.split_once(']'));
            match (tensor.dtype, unit) {
                (DType::Record, _) if descr.len() <= MOST_TEXT => format!("{name} {descr}"),
                (DType::Record, _) => format!("{name}<{width}>"),
                (_, Some((unit, _))) => format!("{name}<{unit}>"),
                _ => name.into(),
            }
        }
        _ => format!("{name}<{width}>"),
    }))
}

/// The type of an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    kind: Kind,
    /// Bytes per element.
    width: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Number(DType, Endianness),
    /// A real and an imaginary part of this type.
    Complex(DType, Endianness),
    /// Code points of four bytes each, padded with zeros.
    Text(Endianness),
    /// Bytes, padded with zeros.
    Bytes,
    /// Bytes without a meaning, shown as hexadecimal digits.
    Raw,
    Date(Unit, Endianness),
    Span(Unit, Endianness),
    Record(Vec<Field>),
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    name: String,
    /// Its offset in the record.
    at: usize,
    item: Item,
    /// The extents of an array.
    shape: Vec<u64>,
}

impl Item {
    /// The type that the text of a `descr` spells.
    pub(crate) fn of(descr: &str) -> Option<Item> {
        Item::read(&literal::parse(descr)?)
    }

    /// Whether its values are shown: they are not too many or too long.
    pub(crate) fn is_shown(&self) -> bool {
        self.width <= MOST_BYTES && self.values() <= MOST_VALUES
    }

    /// Number of values in an element.
    fn values(&self) -> u64 {
        let Kind::Record(fields) = &self.kind else { return 1 };
        fields.iter().fold(1, |sum: u64, field| {
            let count = field.shape.iter().fold(1, |n: u64, extent| n.saturating_mul(*extent));
            sum.saturating_add(count.saturating_mul(field.item.values()))
        })
    }

    /// The element that begins `bytes`.
    pub(crate) fn value(&self, bytes: &[u8]) -> Value {
        let Some(bytes) = bytes.get(..self.width) else { return Value::Null };
        let number = |dtype: DType, bytes: &[u8], order| {
            dtype.element(bytes, 0, order).map_or(Value::Null, Value::from)
        };
        match &self.kind {
            Kind::Number(dtype, order) => number(*dtype, bytes, *order),
            Kind::Complex(dtype, order) => {
                let (real, imaginary) = bytes.split_at(self.width / 2);
                [real, imaginary].map(|part| number(*dtype, part, *order)).into_iter().collect()
            }
            Kind::Text(order) => Value::Text(Text::from(text(bytes, *order).as_str())),
            Kind::Bytes => Value::Text(Text::from(without_zeros(bytes).to_vec())),
            Kind::Raw => Value::Text(Text::from(hex(bytes).as_str())),
            Kind::Date(unit, order) => unit.date(integer(bytes, *order)),
            Kind::Span(unit, order) => unit.span(integer(bytes, *order)),
            Kind::Record(fields) => {
                let values = fields.iter().map(|field| {
                    let bytes = bytes.get(field.at..).unwrap_or_default();
                    (field.name.clone(), field.item.array(&field.shape, &mut &*bytes))
                });
                Value::Map(values.collect())
            }
        }
    }

    /// An array of these elements at the start of `bytes`, which are passed.
    fn array(&self, shape: &[u64], bytes: &mut &[u8]) -> Value {
        match shape {
            [] => {
                let value = self.value(bytes);
                *bytes = bytes.get(self.width..).unwrap_or_default();
                value
            }
            [extent, rest @ ..] => (0..*extent).map(|_| self.array(rest, bytes)).collect(),
        }
    }

    fn read(literal: &Literal) -> Option<Item> {
        let fields = match literal {
            Literal::Text(name) => return Item::named(name),
            Literal::List(fields) => fields,
            _ => return None,
        };
        let (mut at, mut all) = (0_usize, Vec::<Field>::new());
        for (i, field) in fields.iter().enumerate() {
            let Literal::Tuple(parts) = field else { return None };
            let (name, item) = (parts.first()?, parts.get(1)?);
            let item = match item {
                // A type with a shape.
                Literal::Tuple(typed) => Field::array(typed.first()?, typed.get(1))?,
                item => Field::array(item, None)?,
            };
            let shape = match parts.get(2) {
                Some(shape) => [shape.extents()?, item.shape].concat(),
                None => item.shape,
            };
            let count = shape.iter().try_fold(1_u64, |n, extent| n.checked_mul(*extent))?;
            let width = item.item.width.checked_mul(usize::try_from(count).ok()?)?;
            let name = match name {
                // A name with a title before it.
                Literal::Tuple(names) => names.get(1)?.text()?,
                name => name.text()?,
            };
            // NumPy spells padding like this.
            let padding = name.is_empty() && item.item.kind == Kind::Raw;
            if !padding {
                let name = if name.is_empty() { format!("f{i}") } else { name.into() };
                if all.iter().any(|field| field.name == name) {
                    return None;
                }
                all.push(Field { name, at, item: item.item, shape });
            }
            at = at.checked_add(width)?;
        }
        Some(Item { kind: Kind::Record(all), width: at })
    }

    /// The type with a name such as `<U3`.
    fn named(name: &str) -> Option<Item> {
        let rest = name.trim_start_matches(['<', '>', '=', '|']);
        let order = if name.starts_with('>') { Endianness::Big } else { Endianness::Little };
        let mut rest = rest.chars();
        let kind = rest.next()?;
        let rest = rest.as_str();
        let (count, unit) = match rest.split_once('[') {
            Some((count, unit)) => (count, Some(unit.strip_suffix(']')?)),
            None => (rest, None),
        };
        let count: usize = count.parse().ok()?;
        let unit = || Unit::of(unit);
        let of = |kind, width| Some(Item { kind, width });
        let number = |dtype| of(Kind::Number(dtype, order), count);
        match (kind, count) {
            ('b', 1) => number(DType::Bool),
            ('i', 1) => number(DType::I8),
            ('i', 2) => number(DType::I16),
            ('i', 4) => number(DType::I32),
            ('i', 8) => number(DType::I64),
            ('u', 1) => number(DType::U8),
            ('u', 2) => number(DType::U16),
            ('u', 4) => number(DType::U32),
            ('u', 8) => number(DType::U64),
            ('f', 2) => number(DType::F16),
            ('f', 4) => number(DType::F32),
            ('f', 8) => number(DType::F64),
            ('c', 8) => of(Kind::Complex(DType::F32, order), 8),
            ('c', 16) => of(Kind::Complex(DType::F64, order), 16),
            ('M', 8) => of(Kind::Date(unit()?, order), 8),
            ('m', 8) => of(Kind::Span(unit()?, order), 8),
            ('U', _) => of(Kind::Text(order), count.checked_mul(4)?),
            ('S', _) => of(Kind::Bytes, count),
            ('V', _) => of(Kind::Raw, count),
            // Long floats are another format on each machine.
            _ => None,
        }
    }
}

impl Field {
    /// A type and its shape, without a name.
    fn array(item: &Literal, shape: Option<&Literal>) -> Option<Field> {
        let shape = shape.map_or(Some(Vec::new()), Literal::extents)?;
        Some(Field { name: String::new(), at: 0, item: Item::read(item)?, shape })
    }
}

/// The code points in `bytes` without the zeros at the end. Other numbers, such as surrogates,
/// become replacement characters.
fn text(bytes: &[u8], order: Endianness) -> String {
    let points = bytes.as_chunks::<4>().0.iter().map(|four| order.u32(*four));
    let points: Vec<u32> = points.collect();
    let len = points.iter().rposition(|point| *point != 0).map_or(0, |last| last + 1);
    let replaced = |point: &u32| char::from_u32(*point).unwrap_or(char::REPLACEMENT_CHARACTER);
    points[..len].iter().map(replaced).collect()
}

fn without_zeros(bytes: &[u8]) -> &[u8] {
    let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..len]
}

fn integer(bytes: &[u8], order: Endianness) -> i64 {
    let eight = bytes.first_chunk().copied().unwrap_or_default();
    match order {
        Endianness::Little => i64::from_le_bytes(eight),
        Endianness::Big => i64::from_be_bytes(eight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    fn shown(descr: &str, bytes: &[u8]) -> String {
        Item::of(descr).expect("it is a type").value(bytes).to_string()
    }

    #[test]
    fn text_loses_zeros_at_its_end() {
        let cat = ['c', '\0', 't', '\0'].map(|c| u32::from(c).to_le_bytes()).concat();
        assert_eq!(shown("'<U4'", &cat), r#""c\u0000t""#);
        let big = ['é', '😀'].map(|c| u32::from(c).to_be_bytes()).concat();
        assert_eq!(shown("'>U2'", &big), "\"é😀\"");
        assert_eq!(shown("'<U1'", &0xD800_u32.to_le_bytes()), "\"\u{FFFD}\"");
        assert_eq!(shown("'|S4'", b"ab\0\0"), "\"ab\"");
        assert_eq!(shown("'|S1'", b"\0"), "\"\"");
        assert_eq!(shown("'<U4'", &cat[..8]), "null");
    }

    #[test]
    fn record_has_its_fields() {
        let descr = "[('id', '<i2'), ('', '|V2'), (('title', 'x'), '>f4', (2,)), \
                     ('in', [('a', '|S2', 2)]), ('z', '<c8'), ('', '|u1')]";
        let mut bytes = 7_i16.to_le_bytes().to_vec();
        bytes.extend([9, 9]);
        bytes.extend([0.5_f32, -1.0].map(f32::to_be_bytes).concat());
        bytes.extend(b"a\0bc");
        bytes.extend([1.0_f32, 2.0].map(f32::to_le_bytes).concat());
        bytes.push(3);
        let text = r#"{"id":7,"x":[0.5,-1.0],"in":{"a":["a","bc"]},"z":[1.0,2.0],"f5":3}"#;
        assert_eq!(shown(descr, &bytes), text);
        assert_eq!(shown("[]", b""), "{}");
        assert_eq!(shown("[('v', '|V2')]", &[1, 255]), r#"{"v":"01ff"}"#);
    }

    #[test]
    fn element_of_many_values_or_long_float_is_not_shown() {
        let is_shown = |descr| Item::of(descr).is_some_and(|item| item.is_shown());
        assert!(is_shown("[('a', '<f4', (64, 60))]"));
        assert!(!is_shown("[('a', '<f4', (64, 65))]"));
        assert!(!is_shown("[('a', [('b', '|V0', (65536,))], (65536,))]"));
        assert!(is_shown("'<U16384'") && !is_shown("'<U16385'"));
        assert!(is_shown("'|V8'") && !is_shown("'<f16'"));
        assert_eq!(Item::of("[('a', '<f16')]"), None);
        assert_eq!(Item::of("[('a', '<f4'), ('a', '<f4')]"), None);
        assert_eq!(Item::of("'float32'"), None);
    }

    #[test]
    fn dates_and_spans_are_read_in_either_order() {
        assert_eq!(shown("'<M8[D]'", &18_262_i64.to_le_bytes()), "\"2020-01-01\"");
        assert_eq!(shown("'>M8[D]'", &18_262_i64.to_be_bytes()), "\"2020-01-01\"");
        assert_eq!(shown("'<m8[25us]'", &3_i64.to_le_bytes()), "\"75 us\"");
    }
}
