//! Writes NPY 1.0 to 3.0 according to the documentation of `numpy.lib.format`.

use proptest::prelude::*;

/// A file to be encoded. The dictionary is raw text, so that it can be malformed.
#[derive(Clone, Debug)]
pub struct Npy {
    /// The magic string.
    pub magic: [u8; 6],
    /// Major and minor version.
    pub version: (u8, u8),
    /// The dictionary.
    pub dictionary: Vec<u8>,
    /// Bytes after the dictionary; if `None`, spaces up to a multiple of `align` and a newline.
    pub padding: Option<Vec<u8>>,
    /// The alignment of the data.
    pub align: usize,
    /// The header length; the actual one if `None`.
    pub len: Option<u32>,
    /// The elements.
    pub data: Vec<u8>,
}

/// The types that tensors can have, with their widths in bytes.
pub const DTYPES: [(&str, usize, &str); 26] = [
    ("|b1", 1, "bool"),
    ("|i1", 1, "i8"),
    ("<i2", 2, "i16"),
    (">i2", 2, "i16"),
    ("<i4", 4, "i32"),
    (">i4", 4, "i32"),
    ("<i8", 8, "i64"),
    (">i8", 8, "i64"),
    ("|u1", 1, "u8"),
    ("<u2", 2, "u16"),
    (">u2", 2, "u16"),
    ("<u4", 4, "u32"),
    (">u4", 4, "u32"),
    ("<u8", 8, "u64"),
    (">u8", 8, "u64"),
    ("<f2", 2, "f16"),
    (">f2", 2, "f16"),
    ("<f4", 4, "f32"),
    (">f4", 4, "f32"),
    ("<f8", 8, "f64"),
    (">f8", 8, "f64"),
    ("<c8", 8, "c64"),
    (">c8", 8, "c64"),
    ("<c16", 16, "c128"),
    (">c16", 16, "c128"),
    ("<i1", 1, "i8"),
];

/// A tuple in Python's notation.
pub fn tuple(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    match &extents[..] {
        [one] => format!("({one},)"),
        _ => format!("({})", extents.join(", ")),
    }
}

impl Npy {
    /// A sound file filled with ascending bytes, from the printed `descr` and the bytes per
    /// element. Text has ascending letters instead.
    pub fn new(descr: &str, width: usize, shape: &[u64]) -> Self {
        let shape_text = tuple(shape);
        let len = shape.iter().product::<u64>() as usize * width;
        let byte = |i: usize| match descr.get(..3) {
            Some("'|b") => (i % 2) as u8,
            Some("'<U") => [b'a' + (i / 4 % 26) as u8, 0, 0, 0][i % 4],
            Some("'>U") => [0, 0, 0, b'a' + (i / 4 % 26) as u8][i % 4],
            _ => (i % 256) as u8,
        };
        Npy {
            data: (0..len).map(byte).collect(),
            ..Npy::of(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape_text}, }}"
            ))
        }
    }

    /// A file with this dictionary and no data.
    pub fn of(dictionary: &str) -> Self {
        Npy {
            magic: *b"\x93NUMPY",
            version: (1, 0),
            dictionary: dictionary.as_bytes().to_vec(),
            padding: None,
            align: 64,
            len: None,
            data: Vec::new(),
        }
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = self.magic.to_vec();
        file.extend([self.version.0, self.version.1]);
        let wide = self.version.0 > 1;
        let prelude = if wide { 12 } else { 10 };
        let padding = self.padding.clone().unwrap_or_else(|| {
            let bare = prelude + self.dictionary.len() + 1;
            let mut padding = vec![b' '; bare.next_multiple_of(self.align) - bare];
            padding.push(b'\n');
            padding
        });
        let len = (self.dictionary.len() + padding.len()) as u32;
        let len = self.len.unwrap_or(len).to_le_bytes();
        file.extend(&len[..if wide { 4 } else { 2 }]);
        file.extend(&self.dictionary);
        file.extend(padding);
        file.extend(&self.data);
        file
    }
}

/// Sound files.
pub fn arbitrary() -> impl Strategy<Value = Npy> {
    let shape = prop::collection::vec(0_u64..5, 0..=4);
    (0..DTYPES.len(), shape, any::<bool>(), 1_u8..=3).prop_map(|(dtype, shape, columns, major)| {
        let (descr, width, _) = DTYPES[dtype];
        let mut file = Npy::new(&format!("'{descr}'"), width, &shape);
        file.version = (major, 0);
        if columns {
            let text = String::from_utf8(file.dictionary).expect("ASCII");
            file.dictionary = text.replace("False", "True").into_bytes();
        }
        file
    })
}
