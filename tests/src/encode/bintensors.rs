//! BinTensors, in the layout of releases 0.1 and later.
//!
//! ```text
//! file    = n:u64le header[n] data
//! header  = option list padding
//! option  = 00 | 01 count (text text){count}
//! list    = count (text dtype rank dim{rank} start end){count}
//! text    = length utf8[length]
//! padding = 20*
//! ```
//!
//! Everything except `n` and the option tag is a varint. [`File`] writes the same bytes as the
//! published writer; [`Header`] writes individual fields in any order and with any value, for files
//! that break a rule.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Element types in the order of their discriminants.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Dtype {
    Bool,
    U8,
    I8,
    F8E5M2,
    F8E4M3,
    I16,
    U16,
    F16,
    BF16,
    I32,
    U32,
    F32,
    F64,
    I64,
    U64,
}

impl Dtype {
    /// All fifteen types, in discriminant order.
    pub const ALL: [Self; 15] = [
        Self::Bool,
        Self::U8,
        Self::I8,
        Self::F8E5M2,
        Self::F8E4M3,
        Self::I16,
        Self::U16,
        Self::F16,
        Self::BF16,
        Self::I32,
        Self::U32,
        Self::F32,
        Self::F64,
        Self::I64,
        Self::U64,
    ];

    /// Bytes per element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::U8 | Self::I8 | Self::F8E5M2 | Self::F8E4M3 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The discriminant stored in the file.
    #[must_use]
    pub fn code(self) -> u64 {
        self as u64
    }
}

/// One tensor with its payload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    /// Little-endian elements in row-major order.
    pub data: Vec<u8>,
}

impl Tensor {
    /// A tensor with a payload of the right size, filled from `seed`.
    ///
    /// # Panics
    /// If the payload does not fit in memory.
    #[must_use]
    pub fn filled(name: &str, dtype: Dtype, shape: &[u64], seed: u64) -> Self {
        let elements = shape.iter().product::<u64>();
        let bytes = usize::try_from(elements).expect("small") * dtype.size();
        // With an odd multiplier, neighbouring bytes differ, so that shifted reads are detected.
        let mut state = seed | 1;
        let data = (0..bytes)
            .map(|_| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                let byte = state.to_le_bytes()[7];
                if dtype == Dtype::Bool { byte & 1 } else { byte }
            })
            .collect();
        Self { name: name.to_owned(), dtype, shape: shape.to_vec(), data }
    }
}

/// A whole file. `encode` writes the tensors in the given order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct File {
    /// `None` and an empty list differ on disk.
    pub metadata: Option<Vec<(String, String)>>,
    pub tensors: Vec<Tensor>,
}

impl File {
    /// Sorts tensors and metadata like the published writer: tensors by descending discriminant,
    /// then by name; metadata by key.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.tensors.sort_by(|a, b| b.dtype.cmp(&a.dtype).then_with(|| a.name.cmp(&b.name)));
        if let Some(pairs) = &mut self.metadata {
            pairs.sort();
        }
        self
    }

    /// Encodes the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut header = Header::new();
        match &self.metadata {
            None => header.raw(&[0]),
            Some(pairs) => {
                header.raw(&[1]).int(pairs.len() as u64);
                for (key, value) in pairs {
                    header.text(key).text(value);
                }
                &mut header
            }
        };
        header.int(self.tensors.len() as u64);
        let mut start = 0;
        let mut data = Vec::new();
        for tensor in &self.tensors {
            let end = start + tensor.data.len() as u64;
            header.entry(&tensor.name, tensor.dtype.code(), &tensor.shape, start, end);
            data.extend_from_slice(&tensor.data);
            start = end;
        }
        header.pad().file(&data)
    }
}

/// Number of bytes of a varint after its tag.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Width {
    /// Tag 251.
    Two,
    /// Tag 252.
    Four,
    /// Tag 253.
    Eight,
    /// Tag 254, which no field of the format may use.
    Sixteen,
}

/// A header built field by field.
#[derive(Clone, Debug, Default)]
pub struct Header {
    bytes: Vec<u8>,
}

impl Header {
    /// An empty header, without even the option tag.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A header without metadata that declares `count` tensors.
    #[must_use]
    pub fn plain(count: u64) -> Self {
        let mut header = Self::new();
        header.raw(&[0]).int(count);
        header
    }

    /// Appends raw bytes: option tags, invalid text, junk.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends an integer in its shortest form.
    pub fn int(&mut self, value: u64) -> &mut Self {
        if let Ok(small) = u8::try_from(value)
            && small <= 250
        {
            return self.raw(&[small]);
        }
        let width = match value {
            0..=0xFFFF => Width::Two,
            0x1_0000..=0xFFFF_FFFF => Width::Four,
            _ => Width::Eight,
        };
        self.wide(value, width)
    }

    /// Appends an integer in the given width, shortest or not; high bytes that do not fit are
    /// dropped.
    pub fn wide(&mut self, value: u64, width: Width) -> &mut Self {
        let (tag, len) = match width {
            Width::Two => (251, 2),
            Width::Four => (252, 4),
            Width::Eight => (253, 8),
            Width::Sixteen => (254, 16),
        };
        self.raw(&[tag]).raw(&u128::from(value).to_le_bytes()[..len])
    }

    /// Appends a length and that many bytes.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        self.int(text.as_ref().len() as u64).raw(text.as_ref())
    }

    /// Appends all fields of a tensor.
    pub fn entry(
        &mut self,
        name: impl AsRef<[u8]>,
        dtype: u64,
        dims: &[u64],
        start: u64,
        end: u64,
    ) -> &mut Self {
        self.text(name).int(dtype).int(dims.len() as u64);
        for &dim in dims {
            self.int(dim);
        }
        self.int(start).int(end)
    }

    /// Appends spaces up to the next multiple of eight.
    pub fn pad(&mut self) -> &mut Self {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), b' ');
        self
    }

    /// Number of bytes written so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing has been written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The file with this header, its correct length in front, and `data` after it.
    #[must_use]
    pub fn file(&self, data: &[u8]) -> Vec<u8> {
        self.file_claiming(self.bytes.len() as u64, data)
    }

    /// Like [`Header::file`], but with `n` in the length field.
    #[must_use]
    pub fn file_claiming(&self, n: u64, data: &[u8]) -> Vec<u8> {
        [&n.to_le_bytes()[..], &self.bytes, data].concat()
    }
}

/// `count` tensors F32 [2, 2] with names of realistic lengths and shared prefixes, in writer order.
#[must_use]
pub fn layers(count: u64) -> File {
    let tensors = (0..count)
        .map(|i| {
            let name = format!("model.layers.{}.block.{}.weight", i / 16, i % 16);
            Tensor::filled(&name, Dtype::F32, &[2, 2], i)
        })
        .collect();
    File { metadata: None, tensors }.sorted()
}

/// The tensors of [`layers`] in an arbitrary but reproducible order.
#[must_use]
pub fn shuffled_layers(count: u64) -> File {
    let mut file = layers(count);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for last in (1..file.tensors.len()).rev() {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        let pick = usize::try_from((state >> 33) % (last as u64 + 1)).expect("an index");
        file.tensors.swap(last, pick);
    }
    file
}

/// Any file that the published writer can produce.
pub fn arbitrary() -> impl Strategy<Value = File> {
    let text = || prop_oneof!["[a-z]{1,8}(\\.[0-9]{1,3})?", "\\PC{0,6}", ".{0,3}", "x{249,258}"];
    let metadata = proptest::option::of(btree_map(text(), text(), 0..5));
    let tensors = btree_map(text(), (dtype(), shape(), any::<u64>()), 0..9);
    (metadata, tensors).prop_map(|(metadata, tensors)| {
        let tensors = tensors
            .into_iter()
            .map(|(name, (dtype, shape, seed))| Tensor::filled(&name, dtype, &shape, seed))
            .collect();
        let metadata = metadata.map(|pairs| pairs.into_iter().collect());
        File { metadata, tensors }.sorted()
    })
}

fn dtype() -> impl Strategy<Value = Dtype> {
    proptest::sample::select(&Dtype::ALL[..])
}

/// Ranks 0 to 5; large extents appear only after a zero, because products are validated from the
/// left.
fn shape() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        6 => vec(1_u64..6, 0..5),
        1 => vec(0_u64..3, 1..6),
        1 => (249_u64..258).prop_map(|dim| vec![dim]),
        1 => vec(prop_oneof![Just(250_u64), Just(251), Just(65_535), Just(65_536),
                             Just(u64::from(u32::MAX)), Just(1 << 32), Just(u64::MAX)], 0..4)
            .prop_map(|mut dims| { dims.insert(0, 0); dims }),
    ]
}
