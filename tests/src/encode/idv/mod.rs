//! Writes ML.NET's binary data view, versions 1.1.1.1 to 1.1.1.6.
//!
//! | region | place | content |
//! |---|---|---|
//! | header | 0..256 | signature, two versions, TOC and tail offsets, rows, columns |
//! | blocks, lookup tables, metadata, slot names, TOC, gaps | anywhere in 256..tail | in the order of [`File::order`] |
//! | tail | tail offset, 8 bytes | the signature's bytes reversed |
//!
//! A [`File`] describes the contents; [`encode`] lays it out and returns the bytes with the offset
//! of every field, so that a broken file is a sound one with a few bytes patched. Faults that
//! change the length of a field (such as an overlong number) are part of the description instead.

mod arbitrary;
mod cell;
mod codec;
mod layout;

pub use arbitrary::arbitrary;
pub use cell::{Cell, payload};
pub use codec::{Codec, Number};
pub use layout::{AnnotationPlaces, ColumnPlaces, Encoded, encode};

/// Length of the header in bytes.
pub const HEADER: usize = 256;

/// First eight bytes of a file.
pub const SIGNATURE: [u8; 8] = *b"CML\0DVB\0";

/// Offsets of the header's fields.
pub mod header {
    /// u64, four 16-bit parts.
    pub const VERSION: usize = 8;
    /// u64, four 16-bit parts.
    pub const COMPATIBLE: usize = 16;
    /// i64, offset of the column table of contents.
    pub const TOC: usize = 24;
    /// i64, offset of the tail signature.
    pub const TAIL: usize = 32;
    /// i64.
    pub const ROWS: usize = 40;
    /// i32.
    pub const COLUMNS: usize = 48;
    /// Unused, up to byte 256.
    pub const PADDING: usize = 52;
}

/// Version 1.1.1.`last` as the header stores it.
pub const fn version(last: u64) -> u64 {
    0x0001_0001_0001_0000 | last
}

/// A whole file.
#[derive(Clone, Debug)]
pub struct File {
    /// Version as stored; decides which fields a TOC entry has.
    pub version: u64,
    /// Oldest reader version as stored.
    pub compatible: u64,
    /// Row count as stored.
    pub rows: i64,
    /// In TOC order.
    pub columns: Vec<Column>,
    /// The order of the regions.
    pub order: Vec<Region>,
    /// The order of the blocks.
    pub blocks: BlockOrder,
    /// Bytes after the tail signature.
    pub trailing: Vec<u8>,
}

/// The last field of a TOC entry, the only difference between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastField {
    None,
    SlotNames,
    Metadata,
}

/// A region of the file, or unclaimed bytes between regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// Payload blocks of every column.
    Blocks,
    /// Lookup tables, one per column.
    Lookups,
    /// Annotation blocks and metadata tables of contents; slot names in 1.1.1.3.
    Metadata,
    /// Column table of contents.
    Toc,
    /// For each column its lookup table, then its metadata, each preceded by this many unclaimed
    /// bytes.
    Scattered(usize),
    /// This many unclaimed bytes.
    Gap(usize),
}

/// How the blocks of several columns are interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockOrder {
    /// Block 0 of every column, block 1 of every column, … like the published writer.
    ByBlock,
    /// Every block of column 0, then of column 1, …
    ByColumn,
    /// The writer's order reversed.
    Reversed,
}

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Bytes of the name, UTF-8 in a sound file.
    pub name: Vec<u8>,
    /// How values are stored.
    pub codec: Codec,
    /// How blocks are compressed.
    pub compression: Compression,
    /// Rows in every block but the last.
    pub rows_per_block: u64,
    /// The values of all rows, or prepared blocks.
    pub content: Content,
    /// In the order of the metadata table of contents.
    pub annotations: Vec<Annotation>,
    /// Pairs of slot and name, in 1.1.1.3 only.
    pub slot_names: Vec<(i32, String)>,
    /// Overrides of the entry's fields.
    pub odd: Odd,
}

/// Replaces parts of a TOC entry with arbitrary bytes.
#[derive(Clone, Debug, Default)]
pub struct Odd {
    /// Length of the name.
    pub name_length: Option<Vec<u8>>,
    /// The whole codec definition.
    pub codec: Option<Vec<u8>>,
    /// Rows per block (in a column) or size of the block (in an annotation).
    pub number: Option<Vec<u8>>,
    /// Number of annotations (in a column).
    pub count: Option<Vec<u8>>,
}

/// The contents of a column's blocks.
#[derive(Clone, Debug)]
pub enum Content {
    /// One cell per row, split into blocks by the encoder.
    Cells(Vec<Cell>),
    /// The blocks themselves.
    Blocks(Vec<Block>),
    /// The blocks of this earlier column, with a separate lookup table.
    Shared(usize),
}

/// A prepared block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Bytes in the file.
    pub stored: Vec<u8>,
    /// Uncompressed length recorded in the lookup table.
    pub decoded: i32,
}

/// One annotation of a column.
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Bytes of the kind, UTF-8 in a sound file.
    pub kind: Vec<u8>,
    /// How the value is stored.
    pub codec: Codec,
    /// How the block is compressed.
    pub compression: Compression,
    /// The value, or a prepared block.
    pub content: Content,
    /// Overrides of the entry's fields.
    pub odd: Odd,
}

/// Compression kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// 0, stored bytes.
    None,
    /// 1, RFC 1951.
    Deflate,
    /// 2, RFC 1950.
    Zlib,
    /// Any other number, stored bytes.
    Other(u8),
}

impl Compression {
    /// The number in the file.
    pub fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Deflate => 1,
            Self::Zlib => 2,
            Self::Other(code) => code,
        }
    }

    /// Encodes `bytes` with this compression.
    pub fn apply(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::None | Self::Other(_) => bytes.to_vec(),
            Self::Deflate => miniz_oxide::deflate::compress_to_vec(bytes, 6),
            Self::Zlib => miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6),
        }
    }
}

impl File {
    /// A file of the newest version, laid out like the published writer's.
    pub fn new(rows: i64, columns: Vec<Column>) -> Self {
        Self {
            version: version(6),
            compatible: version(6),
            rows,
            columns,
            order: vec![Region::Blocks, Region::Lookups, Region::Metadata, Region::Toc],
            blocks: BlockOrder::ByBlock,
            trailing: Vec::new(),
        }
    }

    fn last_field(&self) -> LastField {
        match self.version {
            v if v < version(3) => LastField::None,
            v if v == version(3) => LastField::SlotNames,
            _ => LastField::Metadata,
        }
    }

    /// The same file under version 1.1.1.`last`.
    pub fn with_version(mut self, last: u64) -> Self {
        self.version = version(last);
        self.compatible = version(last);
        self
    }
}

impl Column {
    /// An uncompressed column of `cells`, with all rows in one block.
    pub fn new(name: &str, codec: Codec, cells: Vec<Cell>) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            rows_per_block: cells.len().max(1) as u64,
            codec,
            compression: Compression::None,
            content: Content::Cells(cells),
            annotations: Vec::new(),
            slot_names: Vec::new(),
            odd: Odd::default(),
        }
    }

    /// The same column with a different compression.
    pub fn compressed(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// The same column with this many rows per block.
    pub fn rows_per_block(mut self, rows: u64) -> Self {
        self.rows_per_block = rows;
        self
    }

    /// The same column with one more annotation.
    pub fn annotated(mut self, annotation: Annotation) -> Self {
        self.annotations.push(annotation);
        self
    }
}

impl Annotation {
    /// An uncompressed annotation.
    pub fn new(kind: &str, codec: Codec, value: Cell) -> Self {
        Self {
            kind: kind.as_bytes().to_vec(),
            codec,
            compression: Compression::None,
            content: Content::Cells(vec![value]),
            odd: Odd::default(),
        }
    }
}

/// `value` as unsigned LEB128 in the fewest bytes.
pub fn leb(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}

/// `value` as unsigned LEB128 with one group more than necessary.
pub fn long_leb(value: u64) -> Vec<u8> {
    let mut out = leb(value);
    if let Some(last) = out.last_mut() {
        *last |= 0x80;
    }
    out.push(0);
    out
}

/// A string: LEB byte length, then the bytes.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    let mut out = leb(bytes.len() as u64);
    out.extend_from_slice(bytes);
    out
}
