//! Writes CBOR (RFC 8949) in every form the standard allows, and in some it forbids.

/// A CBOR data item in the form to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Major type 0.
    Uint(u64),
    /// Major type 1: the value is -1 - n.
    Nint(u64),
    /// Major type 2, definite length.
    Bytes(Vec<u8>),
    /// Major type 3, definite length.
    Text(String),
    /// Major type 4, definite length.
    Array(Vec<Item>),
    /// Major type 4, ended by a break.
    ArrayIndefinite(Vec<Item>),
    /// Major type 5, definite length.
    Map(Vec<(Item, Item)>),
    /// Major type 5, ended by a break.
    MapIndefinite(Vec<(Item, Item)>),
    /// Major type 6 around an item.
    Tag(u64, Box<Item>),
    /// Simple value, in one byte if below 24, otherwise in two.
    Simple(u8),
    /// Half-precision bits.
    F16(u16),
    /// Single precision.
    F32(f32),
    /// Double precision.
    F64(f64),
    /// Text in chunks, ended by a break.
    TextChunks(Vec<Item>),
    /// Bytes in chunks, ended by a break.
    BytesChunks(Vec<Item>),
    /// The item with its head's argument in 1, 2, 4 or 8 bytes, whether needed or not.
    Wide(u32, Box<Item>),
    /// Raw bytes, well formed or not.
    Raw(Vec<u8>),
}

impl Item {
    /// A text item.
    pub fn text(s: &str) -> Self {
        Self::Text(s.to_owned())
    }

    /// `false`.
    pub const FALSE: Self = Self::Simple(20);
    /// `true`.
    pub const TRUE: Self = Self::Simple(21);
    /// `null`.
    pub const NULL: Self = Self::Simple(22);
    /// `undefined`.
    pub const UNDEFINED: Self = Self::Simple(23);

    /// The item with an argument wider than necessary (`width` in bytes).
    pub fn wide(self, width: u32) -> Self {
        Self::Wide(width, Box::new(self))
    }

    /// The item under a tag.
    pub fn tagged(self, tag: u64) -> Self {
        Self::Tag(tag, Box::new(self))
    }

    /// One-element arrays nested `depth` deep around an integer.
    pub fn nested(depth: usize) -> Self {
        (0..depth).fold(Self::Uint(0), |inner, _| Self::Array(vec![inner]))
    }

    /// Encodes the item.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, 0);
        out
    }

    /// Appends the encoded item, with an outermost head of at least `width` bytes.
    fn write(&self, out: &mut Vec<u8>, width: u32) {
        match self {
            Self::Uint(n) => head(out, 0, *n, width),
            Self::Nint(n) => head(out, 1, *n, width),
            Self::Bytes(b) => {
                head(out, 2, b.len() as u64, width);
                out.extend_from_slice(b);
            }
            Self::Text(s) => {
                head(out, 3, s.len() as u64, width);
                out.extend_from_slice(s.as_bytes());
            }
            Self::Array(items) => {
                head(out, 4, items.len() as u64, width);
                items.iter().for_each(|i| i.write(out, 0));
            }
            Self::ArrayIndefinite(items) => {
                out.push(0x9F);
                items.iter().for_each(|i| i.write(out, 0));
                out.push(0xFF);
            }
            Self::Map(pairs) => {
                head(out, 5, pairs.len() as u64, width);
                write_pairs(out, pairs);
            }
            Self::MapIndefinite(pairs) => {
                out.push(0xBF);
                write_pairs(out, pairs);
                out.push(0xFF);
            }
            Self::Tag(tag, item) => {
                head(out, 6, *tag, width);
                item.write(out, 0);
            }
            Self::Simple(n) if *n < 24 => out.push(0xE0 | n),
            Self::Simple(n) => out.extend_from_slice(&[0xF8, *n]),
            Self::F16(bits) => {
                out.push(0xF9);
                out.extend_from_slice(&bits.to_be_bytes());
            }
            Self::F32(x) => {
                out.push(0xFA);
                out.extend_from_slice(&x.to_be_bytes());
            }
            Self::F64(x) => {
                out.push(0xFB);
                out.extend_from_slice(&x.to_be_bytes());
            }
            Self::TextChunks(chunks) => write_chunks(out, 0x7F, chunks),
            Self::BytesChunks(chunks) => write_chunks(out, 0x5F, chunks),
            Self::Wide(width, item) => item.write(out, *width),
            Self::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn write_pairs(out: &mut Vec<u8>, pairs: &[(Item, Item)]) {
    for (key, value) in pairs {
        key.write(out, 0);
        value.write(out, 0);
    }
}

fn write_chunks(out: &mut Vec<u8>, start: u8, chunks: &[Item]) {
    out.push(start);
    chunks.iter().for_each(|c| c.write(out, 0));
    out.push(0xFF);
}

/// Appends a head: major type and argument, in the shortest form of at least `width` bytes.
pub fn head(out: &mut Vec<u8>, major: u8, n: u64, width: u32) {
    let shortest = match n {
        0..=23 => 0,
        24..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    };
    let major = major << 5;
    match width.max(shortest) {
        0 => out.push(major | n as u8),
        1 => out.extend_from_slice(&[major | 24, n as u8]),
        2 => {
            out.push(major | 25);
            out.extend_from_slice(&(n as u16).to_be_bytes());
        }
        4 => {
            out.push(major | 26);
            out.extend_from_slice(&(n as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 27);
            out.extend_from_slice(&n.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples from RFC 8949, appendix A.
    #[test]
    fn cbor_encoder_matches_rfc_examples() {
        let cases: &[(Item, &[u8])] = &[
            (Item::Uint(23), &[0x17]),
            (Item::Uint(24), &[0x18, 0x18]),
            (Item::Uint(1000), &[0x19, 0x03, 0xE8]),
            (Item::Uint(1_000_000), &[0x1A, 0x00, 0x0F, 0x42, 0x40]),
            (Item::Uint(u64::MAX), &[0x1B, 255, 255, 255, 255, 255, 255, 255, 255]),
            (Item::Nint(99), &[0x38, 0x63]),
            (Item::F16(0x3E00), &[0xF9, 0x3E, 0x00]),
            (Item::F32(100_000.0), &[0xFA, 0x47, 0xC3, 0x50, 0x00]),
            (Item::NULL, &[0xF6]),
            (Item::Simple(255), &[0xF8, 0xFF]),
            (Item::text("IETF"), &[0x64, 0x49, 0x45, 0x54, 0x46]),
            (Item::Bytes(vec![1, 2]), &[0x42, 1, 2]),
            (
                Item::TextChunks(vec![Item::text("strea"), Item::text("ming")]),
                b"\x7F\x65strea\x64ming\xFF",
            ),
            (
                Item::ArrayIndefinite(vec![Item::Uint(1), Item::Array(vec![Item::Uint(2)])]),
                &[0x9F, 0x01, 0x81, 0x02, 0xFF],
            ),
            (Item::Map(vec![(Item::text("a"), Item::Uint(1))]), b"\xA1\x61a\x01"),
            (Item::Uint(1).tagged(1), &[0xC1, 0x01]),
            (Item::Uint(1).wide(2), &[0x19, 0x00, 0x01]),
        ];
        for (item, bytes) in cases {
            assert_eq!(item.encode(), *bytes, "{item:?}");
        }
    }
}
