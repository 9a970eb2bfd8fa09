//! Headers of frames and blocks (RFC 8878 §3.1.1).
//!
//! | at | size | what |
//! |---|---|---|
//! | 0 | 4 | magic, `28 B5 2F FD` |
//! | 4 | 1 | descriptor: content size flag 2 bits, single segment, unused, reserved, checksum, dictionary flag 2 bits |
//! | 5 | 0 or 1 | window, unless in a single segment |
//! | | 0, 1, 2, 4 | dictionary id |
//! | | 0, 1, 2, 4, 8 | content size |
//! | | | blocks: 3 bytes of header (last 1 bit, type 2, size 21), then data |
//! | | 0 or 4 | checksum of the content |

/// First bytes of a frame.
pub(in crate::codec) const MAGIC: u32 = 0xFD2F_B528;
/// First bytes of a skippable frame, except for the low four bits (§3.1.2).
pub(in crate::codec) const SKIPPABLE: u32 = 0x184D_2A50;
/// Largest block, stored or decoded (§3.1.1.2.4).
pub(in crate::codec) const BLOCK: u32 = 128 << 10;
/// Smallest compressed block: a header of literals and one of sequences.
pub(in crate::codec) const COMPRESSED: u32 = 2;

/// The byte after the magic (§3.1.1.1.1): which fields follow, and their widths.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Descriptor {
    pub(in crate::codec) single: bool,
    pub(in crate::codec) reserved: bool,
    pub(in crate::codec) checked: bool,
    pub(in crate::codec) dictionary: u8,
    pub(in crate::codec) size: u8,
}

impl Descriptor {
    pub(in crate::codec) fn of(byte: u8) -> Self {
        let single = byte & 0x20 != 0;
        Descriptor {
            single,
            reserved: byte & 0x08 != 0,
            checked: byte & 0x04 != 0,
            dictionary: match byte & 3 {
                3 => 4,
                width => width,
            },
            size: match byte >> 6 {
                0 => u8::from(single),
                1 => 2,
                2 => 4,
                _ => 8,
            },
        }
    }

    /// Number of bytes that follow it in the header.
    pub(in crate::codec) fn rest(self) -> u8 {
        u8::from(!self.single).wrapping_add(self.dictionary).wrapping_add(self.size)
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) struct Header {
    /// `None` in a single segment, whose window is its content.
    pub(in crate::codec) window: Option<u64>,
    pub(in crate::codec) content: Option<u64>,
    pub(in crate::codec) dictionary: u64,
    pub(in crate::codec) checked: bool,
    pub(in crate::codec) reserved: bool,
}

impl Header {
    /// Parses the fields after a descriptor; all of them are present.
    pub(in crate::codec) fn read(descriptor: Descriptor, fields: &[u8]) -> Self {
        let Descriptor { single, reserved, checked, dictionary, size } = descriptor;
        let (first, rest) = fields.split_at_checked(usize::from(!single)).unwrap_or_default();
        let split = rest.split_at_checked(usize::from(dictionary));
        let (dictionary, content) = split.unwrap_or_default();
        let content = (size > 0).then(|| {
            // A field of two bytes counts from 256.
            little_endian(content).saturating_add(if size == 2 { 256 } else { 0 })
        });
        Header {
            window: first.first().map(|byte| window(*byte)),
            content,
            dictionary: little_endian(dictionary),
            checked,
            reserved,
        }
    }

    /// How far back the frame may refer.
    pub(in crate::codec) fn reach(&self) -> u64 {
        self.window.or(self.content).unwrap_or(0)
    }
}

/// The window that a descriptor byte declares: five bits of exponent, three of mantissa
/// (§3.1.1.1.2).
pub(in crate::codec) fn window(byte: u8) -> u64 {
    let base = 1_u64.wrapping_shl(u32::from(byte >> 3).wrapping_add(10));
    base.saturating_add((base >> 3).saturating_mul(u64::from(byte & 7)))
}

fn little_endian(field: &[u8]) -> u64 {
    field.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

/// The type of a block's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) enum Kind {
    Raw,
    /// One byte, repeated.
    Repeated,
    Compressed,
    Reserved,
}

/// The header of a block (§3.1.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codec) struct BlockHeader {
    pub(in crate::codec) last: bool,
    pub(in crate::codec) kind: Kind,
    /// Length of the data, or of the run of one byte.
    pub(in crate::codec) size: u32,
}

impl BlockHeader {
    pub(in crate::codec) fn of([low, middle, high]: [u8; 3]) -> Self {
        let header = u32::from_le_bytes([low, middle, high, 0]);
        let kind = match (header >> 1) & 3 {
            0 => Kind::Raw,
            1 => Kind::Repeated,
            2 => Kind::Compressed,
            _ => Kind::Reserved,
        };
        BlockHeader { last: header & 1 == 1, kind, size: header >> 3 }
    }

    /// Number of stored bytes.
    pub(in crate::codec) fn stored(self) -> u32 {
        if self.kind == Kind::Repeated { 1 } else { self.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zstd_window_size_is_read() {
        assert_eq!(window(0), 1 << 10);
        assert_eq!(window(0x58), 2 << 20);
        assert_eq!(window(0x68), 8 << 20);
        assert_eq!(window(0x69), 9 << 20);
        assert_eq!(window(0xFF), (1 << 41) + 7 * (1 << 38));
    }

    #[test]
    fn zstd_frame_header_is_read() {
        let read = |bytes: &[u8]| {
            let descriptor = Descriptor::of(bytes[0]);
            assert_eq!(usize::from(descriptor.rest()), bytes.len() - 1);
            Header::read(descriptor, &bytes[1..])
        };
        let plain =
            Header { window: None, content: None, dictionary: 0, checked: false, reserved: false };
        assert_eq!(read(&[0, 0x58]), Header { window: Some(2 << 20), ..plain });
        assert_eq!(read(&[0x20, 7]), Header { content: Some(7), ..plain });
        let checked = Header { checked: true, reserved: true, ..plain };
        let header = Header { content: Some(0x201 + 256), dictionary: 3, ..checked };
        assert_eq!(read(&[0x6D, 3, 1, 2]), header);
        let header = Header { window: Some(1 << 10), dictionary: 0x0403_0201, ..plain };
        assert_eq!(read(&[0x03, 0, 1, 2, 3, 4]), header);
        let header = Header { content: Some(0x0807_0605_0403_0201), ..plain };
        assert_eq!(read(&[0xE0, 1, 2, 3, 4, 5, 6, 7, 8]), header);
        assert_eq!(header.reach(), 0x0807_0605_0403_0201);
    }
}
