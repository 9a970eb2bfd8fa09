//! Places the regions and patches the offsets.

use super::{
    Annotation, BlockOrder, Codec, Column, Compression, Content, File, HEADER, LastField, Region,
    SIGNATURE, header, leb, payload, string,
};

/// An encoded file and the offsets of its fields.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// In TOC order.
    pub columns: Vec<ColumnPlaces>,
    /// Offset of the column table of contents.
    pub toc: usize,
    /// End of its last entry, exclusive.
    pub toc_end: usize,
    /// Offset of the tail signature.
    pub tail: usize,
}

/// Offsets of one column's fields.
#[derive(Clone, Debug, Default)]
pub struct ColumnPlaces {
    /// Start of the TOC entry: the length of the name.
    pub entry: usize,
    /// Start of the codec definition.
    pub codec: usize,
    /// Compression kind.
    pub compression: usize,
    /// Rows per block.
    pub rows_per_block: usize,
    /// Lookup table offset, i64.
    pub lookup_offset: usize,
    /// Metadata TOC offset, i64 (slot names offset in 1.1.1.3).
    pub metadata_offset: usize,
    /// The lookup table itself.
    pub lookup: usize,
    /// Start and stored length of every block.
    pub blocks: Vec<(usize, usize)>,
    /// Start of the metadata TOC.
    pub metadata: usize,
    /// In the order of the metadata TOC.
    pub annotations: Vec<AnnotationPlaces>,
    /// Start and length of the slot names.
    pub slot_names: (usize, usize),
}

/// Offsets of one annotation's fields.
#[derive(Clone, Debug, Default)]
pub struct AnnotationPlaces {
    /// Start of the entry: the length of the kind.
    pub entry: usize,
    /// Start of the codec definition.
    pub codec: usize,
    /// Compression kind.
    pub compression: usize,
    /// Block offset, i64.
    pub offset: usize,
    /// Block size, LEB.
    pub size: usize,
    /// Start and length of the block.
    pub block: (usize, usize),
}

impl Encoded {
    /// The file with `bytes` written at offset `at`.
    ///
    /// # Panics
    /// If that is outside the file.
    pub fn patched(mut self, at: usize, bytes: &[u8]) -> Self {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// The file with an i64 written at `at`.
    pub fn with_i64(self, at: usize, value: i64) -> Self {
        self.patched(at, &value.to_le_bytes())
    }

    /// The file with an i32 written at `at`.
    pub fn with_i32(self, at: usize, value: i32) -> Self {
        self.patched(at, &value.to_le_bytes())
    }
}

/// Stored bytes and recorded uncompressed length of every block.
fn blocks_of(
    codec: &Codec,
    compression: Compression,
    per_block: usize,
    content: &Content,
) -> Vec<(Vec<u8>, i32)> {
    match content {
        Content::Cells(cells) => cells
            .chunks(per_block.max(1))
            .map(|rows| {
                let plain = payload(codec, rows);
                (compression.apply(&plain), plain.len() as i32)
            })
            .collect(),
        Content::Blocks(blocks) => blocks.iter().map(|b| (b.stored.clone(), b.decoded)).collect(),
        Content::Shared(_) => Vec::new(),
    }
}

struct Writer<'a> {
    file: &'a File,
    out: Vec<u8>,
    columns: Vec<ColumnPlaces>,
    decoded: Vec<Vec<i32>>,
    toc: (usize, usize),
}

/// Encodes `file`.
pub fn encode(file: &File) -> Encoded {
    let mut writer = Writer {
        file,
        out: vec![0; HEADER],
        columns: vec![ColumnPlaces::default(); file.columns.len()],
        decoded: vec![Vec::new(); file.columns.len()],
        toc: (HEADER, HEADER),
    };
    for region in &file.order {
        match region {
            Region::Blocks => writer.blocks(),
            Region::Lookups => (0..file.columns.len()).for_each(|c| writer.lookup(c)),
            Region::Metadata => (0..file.columns.len()).for_each(|c| writer.metadata(c)),
            Region::Toc => writer.toc(),
            Region::Gap(n) => writer.gap(*n),
            Region::Scattered(n) => {
                for c in 0..file.columns.len() {
                    writer.gap(*n);
                    writer.lookup(c);
                    writer.gap(*n);
                    writer.metadata(c);
                }
            }
        }
    }
    writer.finish()
}

impl Writer<'_> {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.out[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn blocks(&mut self) {
        let mut pieces = Vec::new();
        for (c, column) in self.file.columns.iter().enumerate() {
            let per_block = usize::try_from(column.rows_per_block).unwrap_or(usize::MAX);
            let blocks = blocks_of(&column.codec, column.compression, per_block, &column.content);
            self.decoded[c] = blocks.iter().map(|b| b.1).collect();
            self.columns[c].blocks = vec![(0, 0); blocks.len()];
            pieces.extend(blocks.into_iter().enumerate().map(|(b, block)| (c, b, block.0)));
        }
        match self.file.blocks {
            BlockOrder::ByColumn => {}
            BlockOrder::ByBlock => pieces.sort_by_key(|p| (p.1, p.0)),
            BlockOrder::Reversed => pieces.sort_by_key(|p| std::cmp::Reverse((p.1, p.0))),
        }
        for (c, b, stored) in pieces {
            self.columns[c].blocks[b] = (self.out.len(), stored.len());
            self.out.extend(stored);
        }
        for c in 0..self.file.columns.len() {
            if let Content::Shared(other) = self.file.columns[c].content {
                self.columns[c].blocks = self.columns[other].blocks.clone();
                self.decoded[c] = self.decoded[other].clone();
            }
        }
    }

    fn gap(&mut self, len: usize) {
        self.out.resize(self.out.len() + len, 0xAA);
    }

    /// Block offsets are known only if blocks came first, so they are patched at the end.
    fn lookup(&mut self, c: usize) {
        let column = &self.file.columns[c];
        let per_block = usize::try_from(column.rows_per_block).unwrap_or(usize::MAX);
        let source = match column.content {
            Content::Shared(other) => &self.file.columns[other],
            _ => column,
        };
        let count = match &source.content {
            Content::Cells(cells) => cells.len().div_ceil(per_block.max(1)),
            Content::Blocks(blocks) => blocks.len(),
            Content::Shared(_) => 0,
        };
        self.columns[c].lookup = self.out.len();
        self.out.extend(vec![0; 16 * count]);
    }

    fn metadata(&mut self, c: usize) {
        let column = &self.file.columns[c];
        let mut places: Vec<AnnotationPlaces> = Vec::new();
        for annotation in &column.annotations {
            let block =
                blocks_of(&annotation.codec, annotation.compression, 1, &annotation.content);
            let stored = block.into_iter().next().map_or_else(Vec::new, |b| b.0);
            places.push(AnnotationPlaces {
                block: (self.out.len(), stored.len()),
                ..AnnotationPlaces::default()
            });
            self.out.extend(stored);
        }
        if !column.annotations.is_empty() || column.odd.count.is_some() {
            self.columns[c].metadata = self.out.len();
            let count = column.odd.count.clone();
            self.out.extend(count.unwrap_or_else(|| leb(column.annotations.len() as u64)));
            for (annotation, place) in column.annotations.iter().zip(&mut places) {
                self.annotation(annotation, place);
            }
        }
        self.columns[c].annotations = places;
        let start = self.out.len();
        for (slot, name) in &column.slot_names {
            self.out.extend_from_slice(&slot.to_le_bytes());
            self.out.extend(string(name.as_bytes()));
        }
        self.columns[c].slot_names = (start, self.out.len() - start);
    }

    fn annotation(&mut self, annotation: &Annotation, place: &mut AnnotationPlaces) {
        let odd = &annotation.odd;
        place.entry = self.out.len();
        let length = odd.name_length.clone();
        self.out.extend(length.unwrap_or_else(|| leb(annotation.kind.len() as u64)));
        self.out.extend_from_slice(&annotation.kind);
        place.codec = self.out.len();
        self.out.extend(odd.codec.clone().unwrap_or_else(|| annotation.codec.definition()));
        place.compression = self.out.len();
        self.out.push(annotation.compression.code());
        place.offset = self.out.len();
        self.out.extend_from_slice(&(place.block.0 as i64).to_le_bytes());
        place.size = self.out.len();
        self.out.extend(odd.number.clone().unwrap_or_else(|| leb(place.block.1 as u64)));
    }

    /// Offsets in the entries are patched at the end.
    fn toc(&mut self) {
        self.toc.0 = self.out.len();
        for (c, column) in self.file.columns.iter().enumerate() {
            self.entry(c, column);
        }
        self.toc.1 = self.out.len();
    }

    fn entry(&mut self, c: usize, column: &Column) {
        let place = &mut self.columns[c];
        let out = &mut self.out;
        place.entry = out.len();
        let length = column.odd.name_length.clone();
        out.extend(length.unwrap_or_else(|| leb(column.name.len() as u64)));
        out.extend_from_slice(&column.name);
        place.codec = out.len();
        out.extend(column.odd.codec.clone().unwrap_or_else(|| column.codec.definition()));
        place.compression = out.len();
        out.push(column.compression.code());
        place.rows_per_block = out.len();
        out.extend(column.odd.number.clone().unwrap_or_else(|| leb(column.rows_per_block)));
        place.lookup_offset = out.len();
        out.extend([0; 8]);
        place.metadata_offset = out.len();
        match self.file.last_field() {
            LastField::SlotNames if column.slot_names.is_empty() => out.extend([0; 8]),
            LastField::SlotNames => out.extend([0; 20]),
            LastField::Metadata => out.extend([0; 8]),
            LastField::None => {}
        }
    }

    fn finish(mut self) -> Encoded {
        let tail = self.out.len();
        self.out.extend(SIGNATURE.iter().rev());
        self.out.extend_from_slice(&self.file.trailing);
        self.put(0, &SIGNATURE);
        self.put(header::VERSION, &self.file.version.to_le_bytes());
        self.put(header::COMPATIBLE, &self.file.compatible.to_le_bytes());
        self.put(header::TOC, &(self.toc.0 as i64).to_le_bytes());
        self.put(header::TAIL, &(tail as i64).to_le_bytes());
        self.put(header::ROWS, &self.file.rows.to_le_bytes());
        self.put(header::COLUMNS, &(self.file.columns.len() as i32).to_le_bytes());
        for c in 0..self.columns.len() {
            self.fill(c);
        }
        Encoded {
            bytes: self.out,
            columns: self.columns,
            toc: self.toc.0,
            toc_end: self.toc.1,
            tail,
        }
    }

    fn fill(&mut self, c: usize) {
        let place = self.columns[c].clone();
        for (b, (at, len)) in place.blocks.iter().enumerate() {
            let entry = place.lookup + 16 * b;
            self.put(entry, &(*at as i64).to_le_bytes());
            self.put(entry + 8, &(*len as i32).to_le_bytes());
            self.put(entry + 12, &self.decoded[c][b].to_le_bytes());
        }
        self.put(place.lookup_offset, &(place.lookup as i64).to_le_bytes());
        let slots = &self.file.columns[c].slot_names;
        let field = self.file.last_field();
        if field == LastField::SlotNames && !slots.is_empty() {
            let count = slots.len() as i32;
            self.put(place.metadata_offset, &(place.slot_names.0 as i64).to_le_bytes());
            self.put(place.metadata_offset + 8, &(place.slot_names.1 as i64).to_le_bytes());
            self.put(place.metadata_offset + 16, &count.to_le_bytes());
        } else if field == LastField::Metadata {
            self.put(place.metadata_offset, &(place.metadata as i64).to_le_bytes());
        }
    }
}
