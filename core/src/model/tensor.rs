//! Tensors, metadata and regions as every format returns them.

use crate::input::{Absent, Source, Span};
use crate::model::width::Width;
use crate::model::{DType, DimEncoding, Dims, DimsAt, Endianness, Name, NameAt, NameEncoding};
use crate::rule::EntryKind;

/// Whether an entry's data may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Status {
    /// Everything that the index says about it is valid.
    #[default]
    Sound,
    /// Valid as far as it could be checked, but its type, encoding or layout is unknown to
    /// this build. Its place in the file is known.
    Unsupported,
    /// It breaks a rule that reading depends on, or its bytes are not in the file. The fault was
    /// reported, and the entry has no chunks.
    Broken,
}

impl Status {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Sound => "sound",
            Status::Unsupported => "unsupported",
            Status::Broken => "broken",
        }
    }
}

/// The order of the elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Layout {
    /// The last dim varies fastest.
    #[default]
    RowMajor,
    /// The first dim varies fastest.
    ColumnMajor,
    /// Channels vary fastest.
    ChannelsLast,
    /// Sparse, as coordinates and values.
    Coo,
    /// Sparse, as compressed rows.
    Csr,
    /// Sparse, in a form that the file names but no document defines.
    Sparse,
    /// Rows in blocks, one chunk per block.
    Blocks,
    /// A layout that this build does not know.
    Unknown,
    /// In place of an order, a stride for each extent: how many elements further the next along it
    /// is. Strides lie where [`Tensor::strides`] says, and the data is a range that holds all
    /// elements, some more than once.
    Strided,
}

impl Layout {
    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Layout::RowMajor => "row-major",
            Layout::ColumnMajor => "column-major",
            Layout::ChannelsLast => "channels-last",
            Layout::Coo => "coo",
            Layout::Csr => "csr",
            Layout::Sparse => "sparse",
            Layout::Blocks => "blocks",
            Layout::Strided => "strided",
            Layout::Unknown => "unknown",
        }
    }
}

/// How the bytes of a chunk are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Encoding {
    /// As is.
    #[default]
    Raw,
    /// As one raw deflate stream (RFC 1951).
    Deflate,
    /// As one zlib stream (RFC 1950).
    Zlib,
    /// As a zstd frame (RFC 8878).
    Zstd,
    /// As integers of Protocol Buffers in place of elements of this type: one for each element,
    /// or for each byte of elements that share bytes.
    Varints(DType),
    /// In an encoding that this build does not know.
    Unknown,
}

impl Encoding {
    /// A number for each encoding, whatever its elements.
    pub const fn code(self) -> u8 {
        match self {
            Encoding::Raw => 0,
            Encoding::Deflate => 1,
            Encoding::Zlib => 2,
            Encoding::Zstd => 3,
            Encoding::Unknown => 4,
            Encoding::Varints(_) => 5,
        }
    }

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Raw => "raw",
            Encoding::Deflate => "deflate",
            Encoding::Zlib => "zlib",
            Encoding::Zstd => "zstd",
            Encoding::Varints(_) => "varints",
            Encoding::Unknown => "unknown",
        }
    }
}

/// Where an entry's data lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Chunks {
    /// No data.
    #[default]
    None,
    /// In one piece.
    One(Span),
    /// In `count` pieces, listed in a table at `at`.
    Table {
        /// Absolute offset of the table.
        at: u64,
        /// Number of entries of the table.
        count: u64,
        /// Number of elements (rows, for columns) in every piece but the last.
        each: u64,
    },
}

impl Chunks {
    /// Number of chunks.
    pub const fn count(&self) -> u64 {
        match self {
            Chunks::None => 0,
            Chunks::One(_) => 1,
            Chunks::Table { count, .. } => *count,
        }
    }
}

/// One stored piece of an entry's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chunk {
    /// The stored bytes.
    pub stored: Span,
    /// Number of bytes after decoding; `None` if it is not recorded.
    pub decoded: Option<u64>,
    /// How the bytes are stored.
    pub encoding: Encoding,
    /// The first row of the chunk, for columns; otherwise 0.
    pub row: u64,
    /// Number of elements (rows, for columns) in the chunk.
    pub elements: u64,
    /// Number of bytes that precede the elements in the same piece, such as a header: before
    /// `stored` if that is raw, otherwise at the start of the decoded bytes. `decoded` does not
    /// include them.
    pub lead: u64,
}

impl Chunk {
    /// The only chunk of a tensor that is stored raw.
    pub(crate) fn raw(tensor: &Tensor) -> Option<Chunk> {
        match tensor.chunks {
            Chunks::One(stored) => Some(Chunk {
                stored,
                decoded: Some(stored.len),
                encoding: Encoding::Raw,
                row: 0,
                elements: tensor.elements,
                lead: 0,
            }),
            _ => None,
        }
    }

    /// Number of decoded bytes before the elements.
    pub const fn decoded_lead(&self) -> u64 {
        if matches!(self.encoding, Encoding::Raw) { 0 } else { self.lead }
    }

    /// The chunk with its lead included.
    pub(crate) fn whole(mut self) -> Chunk {
        let lead = core::mem::take(&mut self.lead);
        self.decoded = self.decoded.map(|decoded| decoded.saturating_add(lead));
        if self.encoding == Encoding::Raw {
            let Span { offset, len } = self.stored;
            self.stored = Span::new(offset.saturating_sub(lead), len.saturating_add(lead));
        }
        self
    }
}

/// A tensor, or a column of a data view: plain numbers that outlive the windows they were read
/// from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// Position in the index.
    pub index: u32,
    /// Absolute offset of its entry in the index.
    pub offset: u64,
    /// Where its name is stored.
    pub name: NameAt,
    /// Type of its elements.
    pub dtype: DType,
    /// Whether its data may be used.
    pub status: Status,
    /// Order of its elements.
    pub layout: Layout,
    /// How its chunks are stored.
    pub encoding: Encoding,
    /// Byte order of its elements.
    pub endianness: Endianness,
    /// Where its shape is stored.
    pub dims: DimsAt,
    /// Number of elements, or of rows if rows vary in length; 0 if `status` is not
    /// [`Status::Sound`] and the shape gives no number.
    pub elements: u64,
    /// Where its data lies.
    pub chunks: Chunks,
    /// Further data that only the format's own code reads; empty if there is none.
    pub(crate) extra: Span,
    /// Width of an element in bytes, if its type alone does not say it; otherwise 0.
    pub(crate) width: Width,
}

impl Tensor {
    /// The default, as a constant: a reader that fills it in field by field then needs only one
    /// call to clear it.
    pub(crate) const NONE: Tensor = Tensor {
        index: 0,
        offset: 0,
        name: NameAt { offset: 0, len: 0, encoding: NameEncoding::Plain },
        dtype: DType::Unknown,
        status: Status::Sound,
        layout: Layout::RowMajor,
        encoding: Encoding::Raw,
        endianness: Endianness::Little,
        dims: DimsAt { offset: 0, len: 0, rank: 0, lead: None, encoding: DimEncoding::U64 },
        elements: 0,
        chunks: Chunks::None,
        extra: Span { offset: 0, len: 0 },
        width: Width::NONE,
    };

    /// The name.
    ///
    /// # Errors
    /// [`Absent`] when its bytes are not resident in one window.
    pub fn name<'a>(&self, source: &Source<'a>) -> Result<Name<'a>, Absent> {
        self.name.read(source)
    }

    /// The shape.
    ///
    /// # Errors
    /// [`Absent`] when its bytes are not resident in one window.
    pub fn dims<'a>(&self, source: &Source<'a>) -> Result<Dims<'a>, Absent> {
        self.dims.read(source)
    }

    /// Number of bytes of its elements once decoded: `ceil(elements × bits / 8)`, or whole
    /// blocks. `None` if the type has neither width nor blocks, the elements do not fill
    /// blocks, or the product exceeds `u64`.
    pub const fn bytes(&self) -> Option<u64> {
        #[cfg(feature = "items")]
        if is_item(self.dtype) {
            return self.elements.checked_mul(super::dtype::widen32(self.width.get()));
        }
        self.dtype.bytes(self.elements)
    }

    /// The smallest number of elements that fill whole bytes, and that number of bytes: as
    /// [`DType::unit`], for items of NumPy as well. `None` if the width is not fixed or 0.
    pub const fn unit(&self) -> Option<(u32, u32)> {
        #[cfg(feature = "items")]
        if is_item(self.dtype) {
            let width = self.width.get();
            return if width == 0 { None } else { Some((1, width)) };
        }
        self.dtype.unit()
    }

    /// Where the strides of its layout lie, one number of 8 bytes for each extent; `None` unless the
    /// layout is [`Layout::Strided`].
    pub const fn strides(&self) -> Option<Span> {
        match self.layout {
            Layout::Strided => Some(self.extra),
            _ => None,
        }
    }

    /// Whether its data is raw, in one piece and in order, so that it can be used in place.
    pub const fn raw(&self) -> Option<Span> {
        #[cfg(feature = "strided")]
        if matches!(self.layout, Layout::Strided) {
            return None;
        }
        match (self.encoding, self.chunks, self.status) {
            (Encoding::Raw, Chunks::One(span), Status::Sound) => Some(span),
            _ => None,
        }
    }
}

/// Whether elements of this type have a width that only the tensor says.
#[cfg(feature = "items")]
const fn is_item(dtype: DType) -> bool {
    use DType::{Bytes, LongComplex, LongDouble, Record, Utf32, Void};
    matches!(dtype, Utf32 | Bytes | Void | Record | LongDouble | LongComplex)
}

/// A metadata entry of a file or of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// [`EntryKind::Metadata`], [`EntryKind::SizeVar`], [`EntryKind::Attribute`] or
    /// [`EntryKind::Slot`].
    pub kind: EntryKind,
    /// Position in its table.
    pub index: u32,
    /// Absolute offset of its entry.
    pub offset: u64,
    /// Where its key is stored.
    pub key: NameAt,
    /// The value's type, as the format numbers it.
    pub tag: u32,
    /// Whether the value may be read.
    pub status: Status,
    /// Where the value is stored.
    pub stored: Span,
}

/// The value of a metadata entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// Text.
    Text(NameAt),
    /// The value of a size variable.
    Size(u64),
    /// One element, in the byte order of [`File::endianness`](crate::File::endianness).
    Scalar {
        /// Its type.
        dtype: DType,
        /// Its bytes; packed types lie in the low bits of one byte.
        stored: Span,
    },
    /// A bit string: bit i is in byte i/8, counted from the least significant bit.
    Bits {
        /// Number of bits.
        count: u64,
        /// The stored bytes.
        stored: Span,
    },
    /// An array.
    Array {
        /// Type of its elements.
        dtype: DType,
        /// Its shape.
        dims: DimsAt,
        /// Number of elements.
        elements: u64,
        /// Its elements in row-major order, in the byte order of
        /// [`File::endianness`](crate::File::endianness).
        stored: Span,
    },
    /// A list of texts or of lists, in the format's own encoding. Read its items one by one from
    /// the resident bytes, with `Items` of `format::gguf`.
    List {
        /// Number of items.
        count: u64,
        /// Its bytes, starting with its head. The end is known only once the items are read, so
        /// this extends to the end of the table.
        stored: Span,
    },
    /// A data item in CBOR (RFC 8949).
    Cbor(Span),
    /// A value that must be decoded first.
    Encoded {
        /// Type of its elements.
        dtype: DType,
        /// Its shape; a dim of 0 varies.
        dims: DimsAt,
        /// How it is stored.
        encoding: Encoding,
        /// The stored bytes.
        stored: Span,
    },
}

/// The purpose of a part of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Part {
    /// Signature, version, counts, offsets.
    #[default]
    Header,
    /// Entries of tensors or metadata.
    Table,
    /// Values of metadata.
    Metadata,
    /// Data of a tensor.
    Payload,
    /// Quantisation parameters.
    Quantization,
    /// Closing structures.
    Tail,
}

impl Part {
    /// Whether its length can be found from its own bytes, without the entry that refers to
    /// it.
    pub(crate) const fn is_value(self) -> bool {
        matches!(self, Part::Metadata | Part::Quantization)
    }

    /// The name that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Part::Header => "header",
            Part::Table => "table",
            Part::Metadata => "metadata",
            Part::Payload => "payload",
            Part::Quantization => "quantization",
            Part::Tail => "tail",
        }
    }
}

/// A part of the file that an entry or the header refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Region {
    /// Its purpose.
    pub part: Part,
    /// Its bytes.
    pub span: Span,
    /// The kind of entry that it belongs to.
    pub kind: EntryKind,
    /// That entry's position in its table.
    pub entry: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_tensor_constant_equals_default() {
        assert_eq!(Tensor::NONE, Tensor::default());
    }
}
