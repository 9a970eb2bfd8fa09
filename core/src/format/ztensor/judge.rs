//! What the map of one tensor says, judged.

use super::cbor::Text;
use super::checksum;
use super::entry::{Entry, Field, Value};
use super::{Header, field, rules};
use crate::dims::{Dims, DimsAt};
use crate::division::div_rem;
use crate::dtype::DType;
use crate::name::Name;
use crate::read::{Halt, Reader};
use crate::rule::{Rule, Severity};
use crate::source::Span;
use crate::tensor::{Chunks, Encoding, Endianness, Layout, Status, Tensor};

/// Collects the severity of what is reported about one tensor.
struct Judge<'j, 'r, 'a> {
    r: &'j mut Reader<'r, 'a>,
    worst: Severity,
    /// Something in it is unknown.
    unknown: bool,
}

impl Judge<'_, '_, '_> {
    fn flag(&mut self, rule: Rule, span: Span, expected: u64, found: u64) {
        self.worst = self.worst.max(rule.severity());
        self.r.flag(rule, span.at, span.len, expected, found);
    }

    fn flag_at(&mut self, rule: Rule, span: Span) {
        self.flag(rule, span, 0, 0);
    }

    /// Reports a required field that is missing or of the wrong type.
    fn required(&mut self, entry: Span, field: &Field<'_>, missing: Rule, mistyped: Rule) {
        if field.is_missing() {
            self.flag_at(missing, Span::new(entry.at, 1));
        } else {
            self.flag_at(mistyped, field.span);
        }
    }

    fn is_fatal(&self) -> bool {
        self.worst == Severity::Fatal
    }
}

impl Header {
    /// Judges the map that was read, but for its keys.
    #[inline(never)]
    pub(super) fn judge(&self, r: &mut Reader<'_, '_>, entry: &Entry<'_>) -> Result<Tensor, Halt> {
        let mut j = Judge { r, worst: Severity::Unchecked, unknown: false };
        let at = Span::new(entry.span.at, 1);
        for (rule, place) in entry.seen.rules() {
            if place != 0 {
                j.flag_at(rule, Span::new(place, 1));
            }
        }
        judge_name(&mut j, entry);
        let dtype = judge_dtype(&mut j, entry);
        let layout = judge_layout(&mut j, entry);
        let encoding = judge_encoding(&mut j, entry);
        let endianness = judge_endianness(&mut j, entry, dtype, encoding);
        judge_checksum(&mut j, entry);
        let (dims, elements) = judge_shape(&mut j, entry)?;
        let blob = self.judge_place(&mut j, entry);
        if let (Some(blob), Some(elements), false) = (blob, elements, dtype == DType::Unknown) {
            let size = entry.size.span;
            let stored = Stored { blob, size, dtype, layout, encoding, elements, dims };
            judge_size(&mut j, &stored)?;
        }

        let status = match (j.is_fatal(), j.unknown) {
            (true, _) => Status::Broken,
            (false, true) => Status::Unsupported,
            (false, false) => Status::Sound,
        };
        let chunks = match blob.filter(|_| status != Status::Broken) {
            Some(blob) => Chunks::One(blob),
            None => Chunks::None,
        };
        Ok(Tensor {
            index: j.r.subject().entry,
            at: at.at,
            name: entry.name.name_at(),
            dtype,
            status,
            layout,
            encoding,
            endianness,
            dims,
            elements: elements.unwrap_or(0),
            chunks,
            extra: entry.span,
        })
    }

    /// Where the blob lies, if that is inside the file's data.
    fn judge_place(&self, j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) -> Option<Span> {
        let number = |field: &Field<'_>| match field.value {
            Value::Uint(n) => Some(n),
            _ => None,
        };
        let (at, len) = (number(&entry.offset), number(&entry.size));
        if at.is_none() {
            j.required(entry.span, &entry.offset, rules::FIELD_OFFSET, rules::TYPE_OFFSET);
        }
        if len.is_none() {
            j.required(entry.span, &entry.size, rules::FIELD_SIZE, rules::TYPE_SIZE);
        }
        let (place, at) = (entry.offset.span, at?);
        if at < field::MAGIC_LEN {
            j.flag(rules::BLOB_MAGIC, place, field::MAGIC_LEN, at);
            return None;
        }
        if at & field::ALIGN.wrapping_sub(1) != 0 {
            j.flag(rules::BLOB_ALIGN, place, field::ALIGN, at);
        }
        let blob = Span::new(at, len?);
        let Some(end) = blob.end() else {
            j.flag(rules::BLOB_OVERFLOW, place, 0, at);
            return None;
        };
        if end <= self.index_at {
            return Some(blob);
        }
        let file = j.r.source().len();
        if blob.is_empty() {
            j.flag(rules::BLOB_EMPTY_BOUNDS, place, self.index_at, at);
            return Some(blob);
        } else if end > file {
            j.flag(rules::BLOB_BOUNDS, place, file, end);
        } else {
            j.flag(rules::BLOB_INDEX, place, self.index_at, end);
        }
        None
    }
}

fn judge_name(j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) {
    let Some(Text { name, .. }) = entry.name.text() else {
        j.required(entry.span, &entry.name, rules::FIELD_NAME, rules::TYPE_NAME);
        return;
    };
    if name.is_empty() {
        j.flag_at(rules::NAME_EMPTY, entry.name.span);
    }
    let nul = match name.as_bytes() {
        Some(bytes) => bytes.contains(&0),
        None => name.bytes().any(|byte| byte == 0),
    };
    if nul {
        j.flag_at(rules::NAME_NUL, entry.name.span);
    }
}

/// Looks a name up in a list, letter case aside; the second part of the answer
/// tells whether the case is right.
fn look_up<T: Copy>(list: &[(&str, T)], name: &Name<'_>) -> Option<(T, bool)> {
    if let Some(bytes) = name.as_bytes()
        && let Some((_, value)) = list.iter().find(|(text, _)| text.as_bytes() == bytes)
    {
        return Some((*value, true));
    }
    list.iter().find_map(|(text, value)| {
        let exact = *name == **text;
        let same = || name.bytes().map(|b| b.to_ascii_lowercase()).eq(text.bytes());
        (exact || same()).then_some((*value, exact))
    })
}

fn judge_dtype(j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) -> DType {
    let Some(text) = entry.dtype.text() else {
        j.required(entry.span, &entry.dtype, rules::FIELD_DTYPE, rules::TYPE_DTYPE);
        return DType::Unknown;
    };
    let found = look_up(&field::DTYPES, &text.name);
    match found {
        Some((_, true)) => {}
        Some((_, false)) => j.flag_at(rules::DTYPE_CASE, entry.dtype.span),
        None => {
            j.flag_at(rules::DTYPE_UNKNOWN, entry.dtype.span);
            j.unknown = true;
        }
    }
    found.map_or(DType::Unknown, |(dtype, _)| dtype)
}

fn judge_encoding(j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) -> Encoding {
    let Some(text) = entry.encoding.text() else {
        j.required(entry.span, &entry.encoding, rules::FIELD_ENCODING, rules::TYPE_ENCODING);
        return Encoding::Unknown;
    };
    let found = look_up(&[("raw", Encoding::Raw), ("zstd", Encoding::Zstd)], &text.name);
    match found {
        Some((_, true)) => {}
        Some((_, false)) => j.flag_at(rules::ENCODING_CASE, entry.encoding.span),
        None => {
            j.flag_at(rules::ENCODING_UNKNOWN, entry.encoding.span);
            j.unknown = true;
        }
    }
    found.map_or(Encoding::Unknown, |(encoding, _)| encoding)
}

fn judge_layout(j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) -> Layout {
    if entry.layout.is_missing() {
        j.flag_at(rules::FIELD_LAYOUT, Span::new(entry.span.at, 1));
        return Layout::RowMajor;
    }
    let Some(text) = entry.layout.text() else {
        j.flag_at(rules::TYPE_LAYOUT, entry.layout.span);
        return Layout::Unknown;
    };
    let Some((layout, exact)) = look_up(&field::LAYOUTS, &text.name) else {
        j.flag_at(rules::LAYOUT_UNKNOWN, entry.layout.span);
        j.unknown = true;
        return Layout::Unknown;
    };
    if !exact {
        j.flag_at(rules::LAYOUT_CASE, entry.layout.span);
    }
    if layout == Layout::Sparse {
        j.unknown = true;
        if entry.sparse_format.is_missing() {
            j.flag_at(rules::SPARSE_FORMAT_MISSING, entry.layout.span);
        } else if entry.sparse_format.text().is_none() {
            j.flag_at(rules::SPARSE_FORMAT_TYPE, entry.sparse_format.span);
        } else {
            j.flag_at(rules::SPARSE_UNDEFINED, entry.sparse_format.span);
        }
    }
    layout
}

fn judge_endianness(
    j: &mut Judge<'_, '_, '_>,
    entry: &Entry<'_>,
    dtype: DType,
    encoding: Encoding,
) -> Endianness {
    let place = entry.endianness.span;
    let wide = dtype.bits() > 8;
    let order = match entry.endianness.value {
        Value::Missing | Value::Null => {
            if matches!(entry.endianness.value, Value::Null) {
                j.flag_at(rules::FIELD_NULL, place);
            }
            if wide && encoding == Encoding::Raw {
                j.flag_at(rules::ENDIANNESS_IMPLICIT, Span::new(entry.span.at, 1));
            }
            return Endianness::Little;
        }
        Value::Text(text) => text,
        _ => {
            j.flag_at(rules::TYPE_ENDIANNESS, place);
            return Endianness::Little;
        }
    };
    let orders = [("little", Endianness::Little), ("big", Endianness::Big)];
    let Some((order, exact)) = look_up(&orders, &order.name) else {
        j.flag_at(rules::ENDIANNESS_VALUE, place);
        return Endianness::Little;
    };
    if !exact {
        j.flag_at(rules::ENDIANNESS_CASE, place);
    }
    match encoding {
        // Inside a frame, data has the order of the machine that wrote it,
        // which is little-endian on every real one.
        Encoding::Zstd => {
            let matters = wide && order == Endianness::Big;
            j.flag_at(
                if matters { rules::ENDIANNESS_ZSTD } else { rules::ENDIANNESS_UNUSED },
                place,
            );
            Endianness::Little
        }
        Encoding::Raw if dtype.bits() == 8 => {
            j.flag_at(rules::ENDIANNESS_UNUSED, place);
            Endianness::Little
        }
        _ => order,
    }
}

fn judge_checksum(j: &mut Judge<'_, '_, '_>, entry: &Entry<'_>) {
    let rule = match entry.checksum.value {
        Value::Missing => return,
        Value::Null => Some(rules::FIELD_NULL),
        Value::Text(text) => checksum::parse(&text.name).1,
        _ => Some(rules::TYPE_CHECKSUM),
    };
    if let Some(rule) = rule {
        j.flag_at(rule, entry.checksum.span);
    }
}

/// The shape, and the number of elements if 64 bits hold it.
fn judge_shape(
    j: &mut Judge<'_, '_, '_>,
    entry: &Entry<'_>,
) -> Result<(DimsAt, Option<u64>), Halt> {
    let dims = match entry.shape.value {
        Value::Dims(dims) => dims,
        Value::BadDim { at, part } => {
            j.r.about_part(part);
            j.flag_at(rules::TYPE_DIM, Span::new(at, 1));
            j.r.about_part(crate::finding::Subject::NO_PART);
            return Ok((DimsAt::default(), None));
        }
        _ => {
            j.required(entry.span, &entry.shape, rules::FIELD_SHAPE, rules::TYPE_SHAPE);
            return Ok((DimsAt::default(), None));
        }
    };
    if dims.rank > field::RANK {
        j.flag(rules::SHAPE_RANK, entry.shape.span, u64::from(field::RANK), u64::from(dims.rank));
    }
    let elements = read_dims(j.r, &dims)?.product();
    if elements.is_none() {
        j.flag_at(rules::SHAPE_OVERFLOW, entry.shape.span);
    }
    Ok((dims, elements))
}

fn read_dims<'a>(r: &mut Reader<'_, 'a>, dims: &DimsAt) -> Result<Dims<'a>, Halt> {
    dims.read(r.source()).map_err(|absent| r.lack(absent))
}

/// What the size of a blob is judged by.
struct Stored {
    blob: Span,
    /// Where the field `size` lies.
    size: Span,
    dtype: DType,
    layout: Layout,
    encoding: Encoding,
    elements: u64,
    dims: DimsAt,
}

/// Compares the size of the blob with what shape, type and layout ask for.
fn judge_size(j: &mut Judge<'_, '_, '_>, stored: &Stored) -> Result<(), Halt> {
    let Stored { blob, size, dtype, layout, encoding, elements, dims } = *stored;
    let dense = dtype.bytes(elements);
    let raw = encoding == Encoding::Raw;
    if encoding == Encoding::Zstd && blob.is_empty() {
        let nothing = layout == Layout::RowMajor && dense == Some(0);
        j.flag_at(if nothing { rules::ZSTD_EMPTY } else { rules::ZSTD_TRUNCATED }, size);
        return Ok(());
    }
    match layout {
        Layout::RowMajor => match dense {
            None => j.flag(rules::SHAPE_BYTES, size, u64::MAX, elements),
            Some(bytes) if raw && bytes != blob.len => {
                j.flag(rules::SHAPE_SIZE, size, bytes, blob.len);
            }
            Some(_) => {}
        },
        Layout::Coo if dims.rank == 0 => j.flag_at(rules::SPARSE_COO_RANK, size),
        Layout::Csr if dims.rank != 2 => {
            j.flag(rules::SPARSE_CSR_RANK, size, 2, u64::from(dims.rank));
        }
        Layout::Coo | Layout::Csr if raw => {
            let rows = read_dims(j.r, &dims)?.next().unwrap_or(0);
            let (head, entry) = sparse_sizes(layout, dims.rank, rows, dtype);
            let entries = head.and_then(|head| blob.len.checked_sub(head));
            let whole = entries.and_then(|n| div_rem(n, entry)).is_some_and(|(_, rest)| rest == 0);
            match layout {
                Layout::Coo if !whole => j.flag(rules::SPARSE_COO_SIZE, size, entry, blob.len),
                Layout::Csr if !whole => {
                    j.flag(rules::SPARSE_CSR_SIZE, size, head.unwrap_or(u64::MAX), blob.len);
                }
                _ if dense != Some(blob.len) => {
                    j.flag(rules::SPARSE_DENSE_SIZE, size, dense.unwrap_or(u64::MAX), blob.len);
                }
                _ => {}
            }
        }
        _ => {}
    }
    Ok(())
}

/// Bytes before the entries, and bytes of one entry: coordinates or a column
/// as 64-bit numbers, then the value.
pub(super) fn sparse_sizes(
    layout: Layout,
    rank: u32,
    rows: u64,
    dtype: DType,
) -> (Option<u64>, u64) {
    let width = u64::from(dtype.bits() >> 3);
    match layout {
        Layout::Csr => (
            rows.checked_add(1).and_then(|pointers| pointers.checked_mul(field::INDEX)),
            width.saturating_add(field::INDEX),
        ),
        _ => (Some(0), u64::from(rank).saturating_mul(field::INDEX).saturating_add(width)),
    }
}
