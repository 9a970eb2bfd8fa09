//! Writes STB 0.1 according to §3 and §4 of its specification.

use proptest::prelude::*;

/// A file to be encoded. Every field is written as given, so that a description can be malformed.
#[derive(Clone, Debug)]
pub struct Stb {
    /// `magic`.
    pub magic: [u8; 4],
    /// `version`.
    pub version: u8,
    /// `flags`.
    pub flags: u8,
    /// `reserved0` and `reserved1`.
    pub reserved: [u32; 2],
    /// `tensor_count`; the number of tensors if `None`.
    pub count: Option<u16>,
    /// `data_offset`; the next multiple of 64 after the table if `None`.
    pub data_offset: Option<u64>,
    /// `file_size`; the actual length if `None`.
    pub file_size: Option<u64>,
    /// The alignment of payloads: 64, or 1 like the reference writer after the first payload.
    pub align: usize,
    /// The table.
    pub tensors: Vec<Tensor>,
    /// Bytes after the last payload.
    pub tail: Vec<u8>,
}

/// One tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// `tensor_id`.
    pub id: u8,
    /// `dtype`: 0 f32, 1 f16, 2 i8, 3 i32.
    pub dtype: u8,
    /// `rank`.
    pub rank: u8,
    /// `layout`.
    pub layout: u8,
    /// `dims`.
    pub dims: [u32; 3],
    /// `offset`; the actual offset of the payload if `None`.
    pub offset: Option<u64>,
    /// `size_bytes`; the length of the payload if `None`.
    pub size: Option<u64>,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Bytes per element.
pub fn width(dtype: u8) -> usize {
    match dtype {
        1 => 2,
        2 => 1,
        _ => 4,
    }
}

impl Tensor {
    /// A sound tensor filled with ascending bytes.
    pub fn new(id: u8, dtype: u8, shape: &[u32]) -> Self {
        let mut dims = [0; 3];
        dims[..shape.len()].copy_from_slice(shape);
        let len = shape.iter().product::<u32>() as usize * width(dtype);
        let payload = (0..len).map(|i| i as u8).collect();
        let rank = shape.len() as u8;
        Tensor { id, dtype, rank, layout: 0, dims, offset: None, size: None, payload }
    }
}

impl Stb {
    /// A sound file.
    pub fn new(tensors: Vec<Tensor>) -> Self {
        Stb {
            magic: *b"STB0",
            version: 1,
            flags: 0,
            reserved: [0; 2],
            count: None,
            data_offset: None,
            file_size: None,
            align: 64,
            tensors,
            tail: Vec::new(),
        }
    }

    /// Offset of entry `i` of the table.
    pub fn entry(i: usize) -> usize {
        32 + 32 * i
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        let table_end = 32 + 32 * self.tensors.len();
        let data_offset = table_end.next_multiple_of(64);
        let mut payloads = vec![0; data_offset - table_end];
        let mut table = Vec::new();
        for tensor in &self.tensors {
            let place = (table_end + payloads.len()).next_multiple_of(self.align);
            if !tensor.payload.is_empty() {
                payloads.resize(place - table_end, 0);
            }
            table.extend([tensor.id, tensor.dtype, tensor.rank, tensor.layout]);
            table.extend(tensor.offset.unwrap_or(place as u64).to_le_bytes());
            table.extend(tensor.size.unwrap_or(tensor.payload.len() as u64).to_le_bytes());
            table.extend(tensor.dims.iter().flat_map(|dim| dim.to_le_bytes()));
            payloads.extend(&tensor.payload);
        }
        payloads.extend(&self.tail);

        // A zero-size tensor may point past the last payload.
        let end = self.tensors.iter().filter(|t| t.payload.is_empty() && t.offset.is_none());
        if end.count() > 0 {
            let aligned = (table_end + payloads.len()).next_multiple_of(self.align);
            payloads.resize(aligned - table_end, 0);
        }
        let len = 32 + table.len() + payloads.len();
        let mut file = Vec::with_capacity(len);
        file.extend(self.magic);
        file.extend([self.version, self.flags]);
        file.extend(self.count.unwrap_or(self.tensors.len() as u16).to_le_bytes());
        file.extend(self.reserved.iter().flat_map(|word| word.to_le_bytes()));
        file.extend(self.data_offset.unwrap_or(data_offset as u64).to_le_bytes());
        file.extend(self.file_size.unwrap_or(len as u64).to_le_bytes());
        file.extend(table);
        file.extend(payloads);
        file
    }
}

/// Sound files: up to 20 tensors with distinct ids in any order.
pub fn arbitrary() -> impl Strategy<Value = Stb> {
    let shape = prop::collection::vec(0_u32..6, 0..=3);
    let tensor = (0_u8..4, shape, 0_u8..3);
    let ids = prop::sample::subsequence((0..=255_u8).collect::<Vec<_>>(), 0..20).prop_shuffle();
    (ids, prop::collection::vec(tensor, 20)).prop_map(|(ids, tensors)| {
        let make = |(id, (dtype, shape, layout)): (u8, (u8, Vec<u32>, u8))| Tensor {
            layout,
            ..Tensor::new(id, dtype, &shape)
        };
        Stb::new(ids.into_iter().zip(tensors).map(make).collect())
    })
}
