//! Encodes a model and records the offset of every field.

use super::{Metadata, Model, Quant, Scales, Sizevar, Tensor, Value, ZeroPoints};

/// Offsets of the header's fields.
pub mod header {
    pub const VERSION: usize = 5;
    pub const FLAGS: usize = 9;
    pub const N_SIZEVARS: usize = 13;
    pub const N_METADATA: usize = 17;
    pub const N_TENSORS: usize = 21;
    pub const RESERVED: usize = 25;
    pub const OFFSET_SIZEVARS: usize = 29;
    pub const OFFSET_METADATA: usize = 37;
    pub const OFFSET_TENSORS: usize = 45;
    pub const OFFSET_DATA: usize = 53;
    pub const FILE_SIZE: usize = 61;
    pub const PADDING: usize = 69;
    /// Length of the header, and offset of the first table.
    pub const LEN: usize = 72;
}

/// Offsets of a sizevar's fields.
#[derive(Clone, Copy, Debug)]
pub struct SizevarAt {
    /// Offset of the name's length field; the name follows four bytes later.
    pub name: usize,
    pub value: usize,
}

/// Offsets of a metadata entry and its value.
#[derive(Clone, Copy, Debug)]
pub struct MetadataAt {
    pub key: usize,
    pub ty: usize,
    pub flags: usize,
    pub nbytes: usize,
    pub offset: usize,
    /// First byte of the value.
    pub payload: usize,
}

/// Offsets of a tensor entry and its payloads.
#[derive(Clone, Copy, Debug)]
pub struct TensorAt {
    pub name: usize,
    pub dtype: usize,
    pub ndim: usize,
    pub flags: usize,
    pub dims: usize,
    pub data_nbytes: usize,
    pub data_offset: usize,
    /// Field of the entry; 0 in version 1.
    pub quant_nbytes: usize,
    /// Field of the entry; 0 in version 1.
    pub quant_offset: usize,
    /// First byte of the data, or 0 without data.
    pub payload: usize,
    /// Offsets of the quantisation payload's fields, if there is one.
    pub quant: Option<QuantAt>,
}

/// Offsets of a quantisation payload's fields.
#[derive(Clone, Copy, Debug)]
pub struct QuantAt {
    pub scheme: usize,
    pub scale_mode: usize,
    pub zp_mode: usize,
    pub reserved: usize,
    pub scale_axis: usize,
    pub scale_count: usize,
    pub zp_axis: usize,
    pub zp_count: usize,
    pub scales: usize,
    pub zero_points: usize,
    /// End of the zero points, where the padding begins.
    pub padding: usize,
}

/// Unclaimed bytes, for files with gaps. Lengths should be multiples of eight; otherwise the
/// following parts lose their alignment.
#[derive(Clone, Debug, Default)]
pub struct Filler {
    pub before_sizevars: Vec<u8>,
    pub before_metadata: Vec<u8>,
    pub before_tensors: Vec<u8>,
    pub before_data: Vec<u8>,
    /// Before the data of the tensor with this index.
    pub before_tensor_data: Option<(usize, Vec<u8>)>,
    /// After the last payload, counted in the file size.
    pub at_end: Vec<u8>,
}

/// An encoded file and the offsets of its fields.
#[derive(Clone, Debug)]
pub struct Encoded {
    pub bytes: Vec<u8>,
    pub sizevars: Vec<SizevarAt>,
    pub metadata: Vec<MetadataAt>,
    pub tensors: Vec<TensorAt>,
    /// First byte of the data section.
    pub data: usize,
}

impl Encoded {
    /// Overwrites bytes.
    pub fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Overwrites a little-endian `u32`.
    pub fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, &value.to_le_bytes());
    }

    /// Overwrites a little-endian `u64`.
    pub fn put_u64(&mut self, at: usize, value: u64) {
        self.put(at, &value.to_le_bytes());
    }

    /// Reads a little-endian `u64`.
    #[must_use]
    pub fn get_u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// Truncates the file or extends it with zeros, and updates the size field.
    pub fn resize(&mut self, len: usize) {
        self.bytes.resize(len, 0);
        self.put_u64(header::FILE_SIZE, len as u64);
    }

    fn u32(&mut self, value: u32) -> usize {
        self.push(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> usize {
        self.push(&value.to_le_bytes())
    }

    fn push(&mut self, bytes: &[u8]) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        at
    }

    /// Appends zeros until the distance from `start` is a multiple of eight.
    fn pad_from(&mut self, start: usize) {
        let len = (self.bytes.len() - start).next_multiple_of(8);
        self.bytes.resize(start + len, 0);
    }

    /// Padding is relative to the start of the string, not of the file.
    fn string(&mut self, text: &str) -> usize {
        let at = self.u32(text.len() as u32);
        self.push(text.as_bytes());
        self.pad_from(at);
        at
    }

    fn section(&mut self, field: usize, before: &[u8]) -> usize {
        self.pad_from(0);
        let at = self.push(before) + before.len();
        self.put_u64(field, at as u64);
        at
    }

    fn sizevar(&mut self, sizevar: &Sizevar) {
        let name = self.string(&sizevar.name);
        let value = self.u64(sizevar.value);
        self.sizevars.push(SizevarAt { name, value });
    }

    fn metadata(&mut self, entry: &Metadata) {
        let at = MetadataAt {
            key: self.string(&entry.key),
            ty: self.u32(entry.value.tag()),
            flags: self.u32(0),
            nbytes: self.u64(0),
            offset: self.u64(0),
            payload: 0,
        };
        self.metadata.push(at);
    }

    fn tensor(&mut self, tensor: &Tensor, version: u32) {
        let quant = version != 1 && tensor.quant.is_some();
        let name = self.string(&tensor.name);
        let dtype = self.u32(tensor.ty.tag());
        let ndim = self.u32(tensor.dims.len() as u32);
        let flags = self.u32(u32::from(tensor.data.is_some()) | u32::from(quant) << 1);
        let dims = self.bytes.len();
        for &dim in &tensor.dims {
            self.u64(dim);
        }
        let data_nbytes = self.u64(0);
        let data_offset = self.u64(0);
        let (quant_nbytes, quant_offset) =
            if version == 1 { (0, 0) } else { (self.u64(0), self.u64(0)) };
        self.tensors.push(TensorAt {
            name,
            dtype,
            ndim,
            flags,
            dims,
            data_nbytes,
            data_offset,
            quant_nbytes,
            quant_offset,
            payload: 0,
            quant: None,
        });
    }

    fn value(&mut self, index: usize, value: &Value) {
        let at = self.bytes.len();
        match value {
            Value::Scalar(_, bytes) => {
                self.push(bytes);
            }
            Value::Text(text) => {
                self.string(text);
            }
            Value::Bits(count, bytes) => {
                self.u32(*count);
                self.u32(bytes.len() as u32);
                self.push(bytes);
            }
            Value::Array(ty, dims, data) => {
                self.u32(ty.tag());
                self.u32(dims.len() as u32);
                for &dim in dims {
                    self.u64(dim);
                }
                self.push(data);
            }
        }
        // Only the size of a scalar excludes the padding.
        let bare = self.bytes.len() - at;
        self.pad_from(0);
        let padded = self.bytes.len() - at;
        let nbytes = if matches!(value, Value::Scalar(..)) { bare } else { padded };
        let fields = &mut self.metadata[index];
        fields.payload = at;
        let fields = *fields;
        self.put_u64(fields.nbytes, nbytes as u64);
        self.put_u64(fields.offset, at as u64);
    }

    fn data(&mut self, index: usize, data: &[u8]) {
        let at = self.push(data);
        self.pad_from(0);
        self.tensors[index].payload = at;
        let fields = self.tensors[index];
        self.put_u64(fields.data_nbytes, data.len() as u64);
        self.put_u64(fields.data_offset, at as u64);
    }

    fn quant(&mut self, index: usize, quant: &Quant) {
        let (scale_mode, axis, scales) = match &quant.scales {
            Scales::PerTensor(scale) => (1, 0, std::slice::from_ref(scale)),
            Scales::PerChannel(axis, scales) => (2, *axis, scales.as_slice()),
        };
        let (zp_mode, zp_axis, zero_points) = match &quant.zero_points {
            ZeroPoints::None => (0, 0, [].as_slice()),
            ZeroPoints::PerTensor(point) => (1, 0, std::slice::from_ref(point)),
            ZeroPoints::PerChannel(points) => (2, axis, points.as_slice()),
        };
        let scheme = self.u32(1 + u32::from(quant.asymmetric));
        let at = QuantAt {
            scheme,
            scale_mode: self.u32(scale_mode),
            zp_mode: self.u32(zp_mode),
            reserved: self.u32(0),
            scale_axis: self.u64(axis),
            scale_count: self.u64(scales.len() as u64),
            zp_axis: self.u64(zp_axis),
            zp_count: self.u64(zero_points.len() as u64),
            scales: self.bytes.len(),
            zero_points: self.bytes.len() + 4 * scales.len(),
            padding: self.bytes.len() + 4 * (scales.len() + zero_points.len()),
        };
        for scale in scales {
            self.push(&scale.to_le_bytes());
        }
        for point in zero_points {
            self.push(&point.to_le_bytes());
        }
        self.pad_from(scheme);
        self.tensors[index].quant = Some(at);
        let fields = self.tensors[index];
        self.put_u64(fields.quant_nbytes, (self.bytes.len() - scheme) as u64);
        self.put_u64(fields.quant_offset, scheme as u64);
    }
}

impl Model {
    /// Encodes the file, laid out like the published writers'.
    #[must_use]
    pub fn encode(&self) -> Encoded {
        self.encode_with(&Filler::default())
    }

    /// Encodes the file with unused bytes in the given places.
    #[must_use]
    pub fn encode_with(&self, filler: &Filler) -> Encoded {
        let mut out = Encoded {
            bytes: vec![0; header::LEN],
            sizevars: Vec::new(),
            metadata: Vec::new(),
            tensors: Vec::new(),
            data: 0,
        };
        out.put(0, b"OINF\0");
        out.put_u32(header::VERSION, self.version);
        out.put_u32(header::N_SIZEVARS, self.sizevars.len() as u32);
        out.put_u32(header::N_METADATA, self.metadata.len() as u32);
        out.put_u32(header::N_TENSORS, self.tensors.len() as u32);

        out.section(header::OFFSET_SIZEVARS, &filler.before_sizevars);
        self.sizevars.iter().for_each(|sizevar| out.sizevar(sizevar));
        out.section(header::OFFSET_METADATA, &filler.before_metadata);
        self.metadata.iter().for_each(|entry| out.metadata(entry));
        out.section(header::OFFSET_TENSORS, &filler.before_tensors);
        self.tensors.iter().for_each(|tensor| out.tensor(tensor, self.version));
        out.data = out.section(header::OFFSET_DATA, &filler.before_data);

        for (index, entry) in self.metadata.iter().enumerate() {
            out.value(index, &entry.value);
        }
        for (index, tensor) in self.tensors.iter().enumerate() {
            if let Some((before, bytes)) = &filler.before_tensor_data
                && *before == index
            {
                out.push(bytes);
            }
            if let Some(data) = &tensor.data {
                out.data(index, data);
            }
            if let Some(quant) = &tensor.quant
                && self.version != 1
            {
                out.quant(index, quant);
            }
        }
        out.push(&filler.at_end);
        out.put_u64(header::FILE_SIZE, out.bytes.len() as u64);
        out
    }
}
