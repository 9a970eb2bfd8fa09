//! OINF 1 and 2, the Open Infer Neural Format (`.oinf`).
//!
//! Little-endian. Header, three tables, payloads; all sections on multiples of
//! 8. Version 2 adds quantisation to the tensor entry and is otherwise equal.
//!
//! | header at | size | field |
//! |---|---|---|
//! | 0 | 5 | magic, `OINF` and a zero byte |
//! | 5 | 4 | version, 1 or 2 |
//! | 9 | 4 | flags, 0 |
//! | 13 | 12 | numbers of sizevars, metadata entries, tensors |
//! | 25 | 4 | reserved, 0 |
//! | 29 | 32 | offsets of the sizevars, the metadata, the tensors, the data |
//! | 61 | 8 | length of the file |
//! | 69 | 3 | padding |
//!
//! A string is a `u32` length, that many bytes, and zeros up to a multiple of 8
//! **from the string's own start**. Entries follow each other without padding.
//!
//! | entry of | fields |
//! |---|---|
//! | sizevars | name, `u64` value |
//! | metadata | key, `u32` type, `u32` flags, `u64` size, `u64` offset |
//! | tensors | name, `u32` type, `u32` rank, `u32` flags, `u64` extents, `u64` size, `u64` offset; version 2: `u64` size and `u64` offset of the quantisation |
//!
//! Order of suppression, beside that in ARCHITECTURE.md:
//!
//! - An entry that does not fit its section ends its table: `TABLE-OVERRUN` if
//!   its fixed fields do not, `STR-LEN` for a name, `TENSOR-NDIM` for extents.
//! - Places are judged by the longer of the recorded and the real length, so a
//!   wrong `file_size` is `HDR-FILESIZE` alone.
//! - A place before the data section suppresses `-OVERFLOW` and `-BOUNDS`. For
//!   metadata a bad place suppresses `META-SIZE`; for tensors `TENSOR-NUMEL`
//!   suppresses `TENSOR-SIZE`, which suppresses `-OVERFLOW` and `-BOUNDS`,
//!   because the size that is added is known to be wrong.
//! - Of a value's structure the first fault is reported; its bytes are judged
//!   only when there is none. Quantisation whose counts contradict the shape is
//!   not measured for `QUANT-SIZE`.
//! - Fewer than 8 bytes in an empty section are the fault of `HDR-ALIGN`.

mod index;
mod quant;
pub mod rules;
mod scan;
mod tensor;
mod value;

pub use quant::Quantization;

use crate::cursor::Cursor;
use crate::dtype::DType;
use crate::finding::Kind;
use crate::format::{Container, Policy};
use crate::read::{Halt, Reader};
use crate::source::{Absent, Source, Span};
use crate::tensor::{Chunks, Meta, Part, Region, Status, Tensor, Value, Version};

/// Where fields lie and what they hold (guide, FileHeader and ValueType tags).
mod field {
    pub(super) const MAGIC: [u8; 5] = *b"OINF\0";
    pub(super) const HEADER: u64 = 72;
    pub(super) const ALIGN: u64 = 8;
    pub(super) const AT_VERSION: u64 = 5;
    pub(super) const AT_FLAGS: u64 = 9;
    pub(super) const AT_RESERVED: u64 = 25;
    pub(super) const AT_OFFSETS: u64 = 29;
    pub(super) const AT_FILE_SIZE: u64 = 61;
    pub(super) const AT_PADDING: u64 = 69;
    pub(super) const BITSET: u32 = 13;
    pub(super) const STRING: u32 = 14;
    pub(super) const NDARRAY: u32 = 15;
    pub(super) const HAS_DATA: u32 = 1;
    pub(super) const HAS_QUANT: u32 = 2;
}

/// One of the three tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Table {
    /// Where its section begins.
    at: u64,
    /// Where the next section begins.
    end: u64,
    /// How many entries it should have.
    count: u32,
}

/// What the header says, as far as it was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    version: u16,
    sizevars: Table,
    metadata: Table,
    tensors: Table,
    /// Where the data section begins.
    data: u64,
    /// The recorded length.
    file_size: u64,
    /// What places are judged by.
    bound: u64,
}

impl Container for Header {
    const POLICY: Policy = Policy {
        duplicate_tensor: Some(rules::DUP_TENSOR),
        duplicate_meta: Some(rules::DUP_METADATA),
        duplicate_size: Some(rules::DUP_SIZEVAR),
        overlap: Some(rules::PAYLOAD_OVERLAP),
        alias: Some(rules::PAYLOAD_OVERLAP),
        gap: Some(rules::PAYLOAD_GAP),
        trailing: Some(rules::PAYLOAD_TRAILING),
        padding: Some(rules::PAYLOAD_GAP_NONZERO),
        align: field::ALIGN,
        boolean: Some(rules::TENSOR_BOOL),
        ternary: Some(rules::TENSOR_T2),
        tail_bits: Some(rules::TENSOR_TAILBITS),
        ..Policy::NONE
    };

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<Header, Halt> {
        let len = r.source().len();
        r.region(0, field::HEADER, rules::HDR_SHORT);
        let head = r.get(Span::new(0, len.min(5)))?;
        if !field::MAGIC.starts_with(head) {
            r.flag(rules::HDR_MAGIC, 0, len.min(5), 0, 0);
            return Err(Halt::refused(rules::HDR_MAGIC));
        }
        if len < field::HEADER {
            r.flag(rules::HDR_SHORT, 0, len, field::HEADER, len);
            return Err(Halt::refused(rules::HDR_SHORT));
        }
        r.take(5)?;
        let version = r.u32()?;
        let flags = r.u32()?;
        let counts = [r.u32()?, r.u32()?, r.u32()?];
        let reserved = r.u32()?;
        let offsets = [r.u64()?, r.u64()?, r.u64()?, r.u64()?];
        let file_size = r.u64()?;
        let padding = r.take(3)?;

        let version = match version {
            1 => 1,
            2 => 2,
            _ => {
                r.flag(rules::HDR_VERSION, field::AT_VERSION, 4, 2, u64::from(version));
                return Err(Halt::refused(rules::HDR_VERSION));
            }
        };
        let word = |at| Span::new(at, 4);
        r.check(flags == 0, rules::HDR_FLAGS, word(field::AT_FLAGS), 0, u64::from(flags));
        r.check(
            reserved == 0,
            rules::HDR_RESERVED,
            word(field::AT_RESERVED),
            0,
            u64::from(reserved),
        );
        if padding != [0; 3] {
            r.flag(rules::HDR_PAD, field::AT_PADDING, 3, 0, 0);
        }
        let exact = r.source().is_exact();
        let bound = if exact { file_size.max(len) } else { file_size };
        let whole = if exact { file_size == len } else { file_size <= len };
        let size_at = Span::new(field::AT_FILE_SIZE, 8);
        r.check(whole, rules::HDR_FILESIZE, size_at, file_size, len);
        let aligned = !whole || is_aligned(file_size);
        r.check(aligned, rules::FILE_TAIL_ALIGN, size_at, field::ALIGN, file_size);
        judge_offsets(r, offsets, bound)?;

        let [sizevars, metadata, tensors, data] = offsets;
        let [n_sizevars, n_metadata, n_tensors] = counts;
        let header = Header {
            version,
            sizevars: Table { at: sizevars, end: metadata, count: n_sizevars },
            metadata: Table { at: metadata, end: tensors, count: n_metadata },
            tensors: Table { at: tensors, end: data, count: n_tensors },
            data,
            file_size,
            bound,
        };
        header.judge_empty_tables(r);
        Ok(header)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(self.version))
    }

    fn file_len(&self) -> Option<u64> {
        Some(self.file_size)
    }

    fn tensor_count(&self) -> u64 {
        u64::from(self.tensors.count)
    }

    /// Sizevars come first, then metadata. A table of sizevars that cannot be
    /// read on ends with a broken entry, so that metadata comes all the same.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Meta>, Halt> {
        if c.phase == 0 {
            if let Some(meta) = self.sizevar_entry(r, c)? {
                return Ok(Some(meta));
            }
            c.next_phase();
        }
        let meta = self.metadata_entry(r, c);
        if matches!(meta, Ok(None)) {
            c.finish();
        }
        meta
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let tensor = self.tensor_entry(r, c);
        if matches!(tensor, Ok(None)) {
            c.finish();
        }
        tensor
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Meta) -> Result<Option<Value>, Halt> {
        if meta.status == Status::Broken {
            return Ok(None);
        }
        if meta.kind == Kind::SizeVar {
            r.region(meta.stored.at, meta.stored.end().unwrap_or(0), crate::read::BYTES_CHANGED);
            return Ok(Some(Value::Size(r.u64()?)));
        }
        let shape = value::shape(r, meta.tag, meta.stored, 0)?;
        Ok(shape.map(|shape| shape.value))
    }

    /// Header, tables, then the values in the order of the tables. What the
    /// tables leave unused is judged with them.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        let region = |part, span| Region { part, span, kind: Kind::File, entry: 0 };
        match c.phase {
            0 => {
                c.next_phase();
                return Ok(Some(region(Part::Header, Span::new(0, field::HEADER))));
            }
            1 => {
                c.next_phase();
                return Ok(Some(region(Part::Table, Span::between(field::HEADER, self.data))));
            }
            2 => {
                while let Some(meta) = self.metadata_entry(r, c)? {
                    if meta.status == Status::Sound {
                        let Meta { index: entry, stored: span, kind, .. } = meta;
                        return Ok(Some(Region { part: Part::Metadata, span, kind, entry }));
                    }
                }
                c.next_phase();
            }
            _ => {}
        }
        loop {
            let mut next = *c;
            let Some(tensor) = self.tensor_entry(r, &mut next)? else {
                c.finish();
                return Ok(None);
            };
            let region =
                |part, span| Region { part, span, kind: Kind::Tensor, entry: tensor.index };
            // The data comes in phase 3. The same entry is read again in phase
            // 4 for its quantisation.
            if let (3, Chunks::One(span)) = (c.phase, tensor.chunks) {
                if tensor.extra.is_empty() {
                    *c = next;
                } else {
                    c.phase = 4;
                }
                return Ok(Some(region(Part::Payload, span)));
            }
            *c = next;
            c.phase = 3;
            if !tensor.extra.is_empty() {
                return Ok(Some(region(Part::Quantization, tensor.extra)));
            }
        }
    }

    /// Values of metadata first, then quantisation.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if c.phase < quant::FIRST_PHASE { self.audit_values(r, c) } else { self.audit_quant(r, c) }
    }
}

impl Header {
    /// The stored element type of a tensor, of which this build may know
    /// nothing.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u32, Absent> {
        // Type, rank and flags come right before the extents.
        let at = tensor.dims.at.wrapping_sub(12);
        let bytes = source.get(Span::new(at, 4))?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }
}

/// Checks where the sections begin (guide, FileHeader).
fn judge_offsets(r: &mut Reader<'_, '_>, offsets: [u64; 4], bound: u64) -> Result<(), Halt> {
    let [first, ..] = offsets;
    let first_at = Span::new(field::AT_OFFSETS, 8);
    let mut least = 0;
    let mut at = field::AT_OFFSETS;
    for offset in offsets {
        if offset < least || offset > bound {
            let limit = if offset < least { least } else { bound };
            r.flag(rules::HDR_ORDER, at, 8, limit, offset);
            return Err(Halt::refused(rules::HDR_ORDER));
        }
        r.check(is_aligned(offset), rules::HDR_ALIGN, Span::new(at, 8), field::ALIGN, offset);
        least = offset;
        at = at.wrapping_add(8);
    }
    r.check(first >= field::HEADER, rules::HDR_OVERLAP, first_at, field::HEADER, first);
    let gap = Span::between(field::HEADER, first.min(r.source().len()));
    r.check(gap.len < field::ALIGN, rules::START_GAP, gap, 0, gap.len);
    Ok(())
}

fn is_aligned(offset: u64) -> bool {
    offset & (field::ALIGN.wrapping_sub(1)) == 0
}

/// The type of an element; `None` for tags that are no such type, or none at all.
fn element_type(tag: u32) -> Option<DType> {
    Some(match tag {
        1 => DType::I8,
        2 => DType::I16,
        3 => DType::I32,
        4 => DType::I64,
        5 => DType::U8,
        6 => DType::U16,
        7 => DType::U32,
        8 => DType::U64,
        9 => DType::F16,
        10 => DType::F32,
        11 => DType::F64,
        12 => DType::Bool,
        16 => DType::BF16,
        17 => DType::F8E5M2,
        18 => DType::I4,
        19 => DType::I2,
        20 => DType::I1,
        21 => DType::U4,
        22 => DType::U2,
        23 => DType::U1,
        24 => DType::T2,
        25 => DType::T1,
        _ => return None,
    })
}
