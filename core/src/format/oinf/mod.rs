//! OINF 1 and 2, the Open Infer Neural Format (`.oinf`).
//!
//! Little-endian. Header, three tables, payloads; all sections start at
//! multiples of 8. Version 2 adds quantisation to the tensor entry and is
//! otherwise identical.
//!
//! | header at | size | field |
//! |---|---|---|
//! | 0 | 5 | magic, `OINF` and a zero byte |
//! | 5 | 4 | version, 1 or 2 |
//! | 9 | 4 | flags, 0 |
//! | 13 | 12 | counts of sizevars, metadata entries, tensors |
//! | 25 | 4 | reserved, 0 |
//! | 29 | 32 | offsets of the sizevars, the metadata, the tensors, the data |
//! | 61 | 8 | length of the file |
//! | 69 | 3 | padding |
//!
//! A string is a `u32` length, that many bytes, and zeros up to a multiple of 8
//! **from the string's own start**. There is no padding between entries.
//!
//! | entry of | fields |
//! |---|---|
//! | sizevars | name, `u64` value |
//! | metadata | key, `u32` type, `u32` flags, `u64` size, `u64` offset |
//! | tensors | name, `u32` type, `u32` rank, `u32` flags, `u64` extents, `u64` size, `u64` offset; version 2: `u64` size and `u64` offset of the quantisation |
//!
//! Order of suppression, in addition to the rules in ARCHITECTURE.md:
//!
//! - An entry that does not fit its section ends its table: `TABLE-OVERRUN` if
//!   its fixed fields do not, `STR-LEN` for a name, `TENSOR-NDIM` for extents.
//! - Payload ranges are validated against the longer of the recorded and the real
//!   length, so a wrong `file_size` breaks `HDR-FILESIZE` alone.
//! - An offset before the data section suppresses `-OVERFLOW` and `-BOUNDS`. For
//!   metadata a bad range suppresses `META-SIZE`; for tensors `TENSOR-NUMEL`
//!   suppresses `TENSOR-SIZE`, which suppresses `-OVERFLOW` and `-BOUNDS`,
//!   because the end would be computed from a size known to be wrong.
//! - Only the first fault in a value's structure is reported; the value's bytes
//!   are validated only if there is none. Quantisation whose counts contradict
//!   the shape is not checked for `QUANT-SIZE`.
//! - Fewer than 8 bytes in an empty section are left to `HDR-ALIGN`.

mod entry;
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
mod header;
mod quant;
#[cfg_attr(not(feature = "windows"), path = "no_resume.rs")]
mod resume;
pub mod rules;
mod tensor;
mod text;
mod value;

pub use quant::Quantization;

use crate::base::Word;
use crate::format::{Container, Glance};
use crate::input::{Absent, Source, Span};
use crate::model::{DType, Metadata, Part, Region, Status, Tensor, Value, Version};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt};
use entry::Entry;
use resume::State;

/// Offsets and values of fields (guide, FileHeader and ValueType tags).
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

/// The offset and entry count of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Section {
    at: Word,
    count: u32,
}

/// The validated header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset of the data.
    data: u64,
    /// The recorded file length.
    file_size: u64,
    /// The length that payload ranges are validated against.
    bound: u64,
    version: u32,
    /// Sizevars, metadata, tensors, data.
    sections: [Section; 4],
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

impl Container for Header {
    type State = State;

    fn detect(head: &[u8], _len: u64) -> bool {
        head.starts_with(&field::MAGIC)
    }

    fn open(r: &mut Reader<'_, '_>, _: &mut Cursor) -> Result<Header, Halt> {
        let mut header =
            Header { data: 0, file_size: 0, bound: 0, version: 0, sections: Default::default() };
        header.read(r)?;
        header.validate_gaps(r);
        Ok(header)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(if self.version == 1 { 1 } else { 2 }))
    }

    fn file_len(&self) -> Option<u64> {
        Some(self.file_size)
    }

    fn alignment(&self) -> u64 {
        field::ALIGN
    }

    fn tensor_count(&self) -> u64 {
        let [_, _, tensors, _] = self.sections;
        tensors.count.into()
    }

    /// Sizevars come first, then metadata. If the sizevar table cannot be read to its end,
    /// it ends with a broken entry, and metadata follows.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        let mut e =
            Entry::of(self, if c.phase == 0 { EntryKind::SizeVar } else { EntryKind::Metadata });
        while !e.next(r, c) {
            entry::settle(r)?;
            if e.kind == EntryKind::Metadata {
                c.finish();
                return Ok(None);
            }
            c.next_phase();
            if e.broken {
                break;
            }
            e.kind = EntryKind::Metadata;
        }
        Ok(Some(e.meta()))
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        let mut e = Entry::of(self, EntryKind::Tensor);
        if e.next(r, c) {
            return Ok(Some(e.tensor()));
        }
        entry::settle(r)?;
        c.finish();
        Ok(None)
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        if meta.status == Status::Broken {
            return Ok(None);
        }
        if meta.kind == EntryKind::SizeVar {
            r.region(
                meta.stored.offset,
                meta.stored.end().unwrap_or(0),
                crate::rule::general::BYTES_CHANGED,
            );
            return Ok(Some(Value::Size(r.u64()?)));
        }
        value::value(r, meta)
    }

    /// Header, tables, then the values in table order. Unused bytes in the tables are
    /// validated with the tables.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        if c.phase < 2 {
            let (part, span) = match c.phase {
                0 => (Part::Header, Span::new(0, field::HEADER)),
                _ => (Part::Table, Span::between(field::HEADER, self.data)),
            };
            c.next_phase();
            return Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }));
        }
        loop {
            if c.phase == 3
                && let Some(data) = self.next_data(r, c)
            {
                return Ok(Some(data));
            }
            let (at, index) = (c.at, c.index);
            let mut e =
                Entry::of(self, if c.phase == 2 { EntryKind::Metadata } else { EntryKind::Tensor });
            if !e.next(r, c) {
                entry::settle(r)?;
                if c.phase == 2 {
                    c.next_phase();
                    continue;
                }
                c.finish();
                return Ok(None);
            }
            let (part, span) = match c.phase {
                2 if e.sound => (Part::Metadata, e.data),
                2 => continue,
                3 if e.has_data() => {
                    // The same entry is read again for its quantisation.
                    if !e.quant.is_empty() {
                        (c.at, c.index, c.phase) = (at, index, 4);
                    }
                    (Part::Payload, e.data)
                }
                _ => {
                    c.phase = 3;
                    if e.quant.is_empty() {
                        continue;
                    }
                    (Part::Quantization, e.quant)
                }
            };
            return Ok(Some(Region { part, span, kind: e.kind, entry: e.index }));
        }
    }

    /// Metadata values first, then quantisation, one entry per step if the file is fully in
    /// memory.
    #[inline(never)]
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if r.is_partial() {
            return self.audit_step(r, c);
        }
        if c.phase != 0 && self.skip_unquantised(r, c) {
            return Ok(());
        }
        let mut e =
            Entry::of(self, if c.phase == 0 { EntryKind::Metadata } else { EntryKind::Tensor });
        r.mute();
        let found = e.next(r, c);
        r.unmute();
        if !found {
            if c.phase == 0 {
                c.next_phase();
            } else {
                c.finish();
            }
        } else if e.kind == EntryKind::Tensor {
            if !e.quant.is_empty() {
                quant::audit(r, &e);
            }
        } else if e.sound {
            value::audit(r, &e);
        }
        Ok(())
    }

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        self.sweep_sound(r, c, goes_on);
    }
}

impl Header {
    /// Skips tensors without quantisation, of which the audit has nothing to check. Returns
    /// whether there were any.
    fn skip_unquantised(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> bool {
        let from = c.index;
        self.sweep_sound(r, c, &mut |_| true);
        c.index > from
    }

    /// The stored element type of a tensor, which may be unknown to this build.
    ///
    /// # Errors
    /// [`Absent`] when the entry is not resident.
    pub fn dtype_code(&self, source: &Source<'_>, tensor: &Tensor) -> Result<u32, Absent> {
        // Type, rank and flags are stored right before the extents.
        let at = tensor.dims.offset.wrapping_sub(12);
        let bytes = source.get(Span::new(at, 4))?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }
}

/// The element type; `None` for other tags.
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

/// Length of packed elements: `ceil(elements × bits / 8)` bytes, or `u64::MAX` if that
/// exceeds 64 bits.
fn size_of(dtype: DType, elements: u64) -> u64 {
    let bits = u64::from(dtype.bits());
    match (elements >> 3).checked_mul(bits) {
        // The sum fits if this product does, because the number of bits is a power of 2.
        Some(size) => size.wrapping_add((elements & 7).wrapping_mul(bits).wrapping_add(7) >> 3),
        None => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_sizes_match_types() {
        let counts = [0, 1, 7, 8, 9, 1 << 32, (1 << 61) - 1, 1 << 61, 1 << 63, u64::MAX - 8];
        for dtype in (0..=25).filter_map(element_type) {
            for count in counts {
                let expected = dtype.bytes(count).unwrap_or(u64::MAX);
                assert_eq!(size_of(dtype, count), expected, "{count} of {}", dtype.name());
            }
        }
    }
}
