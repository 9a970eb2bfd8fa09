//! Writes safetensors according to the section "Format" of its README.

use proptest::prelude::*;

/// A file to be encoded. The header is assembled from text, so that a description can be malformed.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// `__metadata__`; omitted if `None`.
    pub metadata: Option<Vec<(String, String)>>,
    /// The tensors, in the order of both the header and the buffer.
    pub tensors: Vec<Tensor>,
}

/// One tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The name, unescaped.
    pub name: String,
    /// The type's name in the header.
    pub dtype: &'static str,
    /// The extents.
    pub shape: Vec<u64>,
    /// The data.
    pub data: Vec<u8>,
}

/// The types and their widths in bits.
pub const DTYPES: [(&str, u64); 22] = [
    ("BOOL", 8),
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("U8", 8),
    ("I8", 8),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("F16", 16),
    ("BF16", 16),
    ("I32", 32),
    ("U32", 32),
    ("F32", 32),
    ("C64", 64),
    ("F64", 64),
    ("I64", 64),
    ("U64", 64),
];

impl Tensor {
    /// A sound tensor filled with ascending bytes.
    pub fn new(name: &str, dtype: &'static str, shape: &[u64]) -> Self {
        let bits = DTYPES.iter().find(|(known, _)| *known == dtype).map_or(8, |(_, bits)| *bits);
        let len = shape.iter().product::<u64>() * bits / 8;
        let data = (0..len).map(|i| i as u8).collect();
        Tensor { name: name.to_owned(), dtype, shape: shape.to_vec(), data }
    }
}

impl File {
    /// The members of the header as JSON, in order.
    pub fn members(&self) -> Vec<String> {
        let mut members = Vec::new();
        if let Some(metadata) = &self.metadata {
            let pairs: Vec<_> = metadata
                .iter()
                .map(|(key, value)| format!("{}:{}", quote(key), quote(value)))
                .collect();
            members.push(format!("\"__metadata__\":{{{}}}", pairs.join(",")));
        }
        let mut end = 0;
        for tensor in &self.tensors {
            let begin = end;
            end += tensor.data.len();
            let shape: Vec<_> = tensor.shape.iter().map(u64::to_string).collect();
            members.push(format!(
                "{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{begin},{end}]}}",
                quote(&tensor.name),
                tensor.dtype,
                shape.join(",")
            ));
        }
        members
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        self.with_header(&format!("{{{}}}", self.members().join(",")))
    }

    /// The file with a different header, padded to a multiple of 8.
    pub fn with_header(&self, header: &str) -> Vec<u8> {
        let data: Vec<u8> = self.tensors.iter().flat_map(|tensor| tensor.data.clone()).collect();
        let padding = " ".repeat(pad(header.len()));
        raw(format!("{header}{padding}").as_bytes(), &data)
    }
}

fn pad(len: usize) -> usize {
    len.next_multiple_of(8) - len
}

/// A file with exactly these header bytes and this buffer.
pub fn raw(header: &[u8], data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(data);
    file
}

/// A JSON string with the escapes that RFC 8259 §7 requires.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c < ' ' => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Sound files: up to 12 tensors with distinct names in any order.
pub fn arbitrary() -> impl Strategy<Value = File> {
    let name = "[a-z._\"\\\\{é\n]{0,12}";
    let shape = prop::collection::vec(0_u64..5, 0..=4);
    let tensors = prop::collection::btree_map(name, (0..DTYPES.len(), shape), 0..12)
        .prop_map(|map| map.into_iter().collect::<Vec<_>>())
        .prop_shuffle();
    let metadata = prop::option::of(
        prop::collection::btree_map(name, name, 0..4).prop_map(|map| map.into_iter().collect()),
    );
    (metadata, tensors).prop_map(|(metadata, tensors)| {
        let make = |(name, (dtype, mut shape)): (String, (usize, Vec<u64>))| {
            let (dtype, bits) = DTYPES[dtype];
            // Types narrower than a byte fill whole bytes.
            if bits < 8 {
                shape.push(4);
            }
            Tensor::new(&name, dtype, &shape)
        };
        File { metadata, tensors: tensors.into_iter().map(make).collect() }
    })
}
