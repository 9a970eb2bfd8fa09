//! Writes NPZ: a ZIP archive of arrays according to APPNOTE 6.3.10.

use super::npy;
use miniz_oxide::deflate::compress_to_vec;
use proptest::prelude::*;

/// An archive to be encoded. Every field is written as given, so that a description can be
/// malformed.
#[derive(Clone, Debug, Default)]
pub struct Npz {
    /// Bytes before the first member, included in its offset.
    pub before: Vec<u8>,
    /// The members.
    pub members: Vec<Member>,
    /// The number of members in the end record; the actual one if `None`.
    pub count: Option<u16>,
    /// The disk numbers in the end record.
    pub disks: [u16; 2],
    /// Size and offset of the directory; the actual ones if `None`.
    pub directory: Option<(u32, u32)>,
    /// Adds the zip64 records.
    pub zip64: Option<Zip64>,
    /// The comment.
    pub comment: Vec<u8>,
    /// Length of the comment; the actual one if `None`.
    pub comment_len: Option<u16>,
    /// Bytes after the archive.
    pub after: Vec<u8>,
}

/// Overrides for the zip64 records.
#[derive(Clone, Debug, Default)]
pub struct Zip64 {
    /// The number of members.
    pub count: Option<u64>,
    /// The offset in the locator.
    pub at: Option<u64>,
    /// The number of disks.
    pub disks: Option<u32>,
    /// Whether the fields of the end record are all ones.
    pub full: bool,
}

/// Overrides for the fields of a member's header.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The signature.
    pub signature: Option<[u8; 4]>,
    /// The name.
    pub name: Option<Vec<u8>>,
    /// The version needed to extract.
    pub version: Option<u16>,
    /// The flags.
    pub flags: Option<u16>,
    /// The compression method.
    pub method: Option<u16>,
    /// The CRC-32.
    pub crc: Option<u32>,
    /// Compressed size.
    pub stored: Option<u32>,
    /// Uncompressed size.
    pub size: Option<u32>,
    /// Additional extra fields, after the required ones.
    pub extra: Vec<u8>,
}

/// One member.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// The name.
    pub name: String,
    /// Its uncompressed content.
    pub content: Vec<u8>,
    /// Whether it is deflated.
    pub deflated: bool,
    /// The stored bytes; derived from the content if `None`.
    pub data: Option<Vec<u8>>,
    /// Overrides for both headers, unless the next two fields override them.
    pub said: Said,
    /// Overrides for the directory entry.
    pub central: Said,
    /// Overrides for the local header.
    pub local: Said,
    /// The number of the disk where it begins.
    pub disk: u16,
    /// The host system and the attributes on it; Unix, and none, if `None`.
    pub attributes: Option<(u8, u32)>,
    /// Whether the sizes are in zip64 fields of the local header, as NumPy writes them.
    pub zip64: bool,
    /// The same for the directory entry.
    pub central_zip64: bool,
    /// A data descriptor: whether it has a signature, and whether its sizes have 8 bytes.
    pub descriptor: Option<(bool, bool)>,
    /// The raw bytes of the descriptor.
    pub descriptor_bytes: Option<Vec<u8>>,
    /// Bytes before the member.
    pub gap: Vec<u8>,
    /// Its offset in the directory; the actual one if `None`.
    pub offset: Option<u32>,
}

/// The extra field with `id` and `data`.
pub fn field(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(data.len() as u16).to_le_bytes(), data].concat()
}

/// The zip64 extra field with these numbers.
pub fn zip64_field(numbers: &[u64]) -> Vec<u8> {
    field(1, &numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>())
}

/// CRC-32, bit by bit.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

impl Member {
    /// An array stored without compression, as `numpy.savez` does.
    pub fn new(name: &str, array: &npy::Npy) -> Self {
        Member { zip64: true, ..Member::of(&format!("{name}.npy"), array.encode()) }
    }

    /// A member with arbitrary content.
    pub fn of(name: &str, content: Vec<u8>) -> Self {
        Member { name: name.to_owned(), content, ..Member::default() }
    }

    /// The same member, deflated.
    #[must_use]
    pub fn deflated(mut self) -> Self {
        self.deflated = true;
        self
    }

    fn header(&self, own: &Said, data: &[u8], local: bool, offset: u64) -> (Vec<u8>, Vec<u8>) {
        let both = &self.said;
        let zip64 = if local { self.zip64 } else { self.central_zip64 };
        let unknown = local && self.descriptor.is_some();
        let flags = if self.descriptor.is_some() { 8 } else { 0 };
        let crc = if unknown { 0 } else { crc(&self.content) };
        let stored = if unknown { 0 } else { data.len() as u64 };
        let size = if unknown { 0 } else { self.content.len() as u64 };
        let mut extra = Vec::new();
        let mut short = [stored as u32, size as u32];
        let mut short_offset = self.offset.unwrap_or(offset as u32);
        if zip64 {
            short = [u32::MAX; 2];
            let more = if local { Vec::new() } else { vec![offset] };
            if !local {
                short_offset = u32::MAX;
            }
            extra.extend(zip64_field(&[&[size, stored][..], &more].concat()));
        }
        extra.extend(&both.extra);
        extra.extend(&own.extra);
        let name = own.name.as_ref().or(both.name.as_ref());
        let name = name.map_or(self.name.as_bytes(), |name| name).to_vec();
        let pick = |a: Option<u16>, b: Option<u16>, c: u16| a.or(b).unwrap_or(c).to_le_bytes();
        let method = if self.deflated { 8 } else { 0 };
        let mut head = Vec::new();
        let mut tail = Vec::new();
        head.extend(pick(own.version, both.version, if zip64 { 45 } else { 20 }));
        head.extend(pick(own.flags, both.flags, flags));
        head.extend(pick(own.method, both.method, method));
        head.extend([0, 0, 0x21, 0]);
        head.extend(own.crc.or(both.crc).unwrap_or(crc).to_le_bytes());
        head.extend(own.stored.or(both.stored).unwrap_or(short[0]).to_le_bytes());
        head.extend(own.size.or(both.size).unwrap_or(short[1]).to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend((extra.len() as u16).to_le_bytes());
        if !local {
            head.extend([0, 0]);
            head.extend(self.disk.to_le_bytes());
            head.extend([0; 2]);
            head.extend(self.attributes.map_or(0, |(_, bits)| bits).to_le_bytes());
            head.extend(short_offset.to_le_bytes());
        }
        tail.extend(name);
        tail.extend(extra);
        (head, tail)
    }

    fn descriptor(&self, data: &[u8]) -> Vec<u8> {
        if let Some(bytes) = &self.descriptor_bytes {
            return bytes.clone();
        }
        let Some((signed, wide)) = self.descriptor else { return Vec::new() };
        let mut bytes = if signed { b"PK\x07\x08".to_vec() } else { Vec::new() };
        bytes.extend(crc(&self.content).to_le_bytes());
        for size in [data.len(), self.content.len()] {
            let size = (size as u64).to_le_bytes();
            bytes.extend(&size[..if wide { 8 } else { 4 }]);
        }
        bytes
    }
}

impl Npz {
    /// A sound archive.
    pub fn new(members: Vec<Member>) -> Self {
        Npz { members, ..Npz::default() }
    }

    /// Encodes the file.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = self.before.clone();
        let mut directory = Vec::new();
        for member in &self.members {
            file.extend(&member.gap);
            let offset = file.len() as u64;
            let data = member.data.clone().unwrap_or_else(|| match member.deflated {
                true => compress_to_vec(&member.content, 6),
                false => member.content.clone(),
            });
            let (head, tail) = member.header(&member.local, &data, true, offset);
            file.extend(member.local.signature.unwrap_or(*b"PK\x03\x04"));
            file.extend(head);
            file.extend(tail);
            file.extend(&data);
            file.extend(member.descriptor(&data));
            let (head, tail) = member.header(&member.central, &data, false, offset);
            directory.extend(member.central.signature.unwrap_or(*b"PK\x01\x02"));
            directory.extend([45, member.attributes.map_or(3, |(host, _)| host)]);
            directory.extend(head);
            directory.extend(tail);
        }
        let (at, len, count) = (file.len() as u64, directory.len() as u64, self.members.len());
        file.extend(directory);
        let mut short = self.directory.unwrap_or((len as u32, at as u32));
        let mut short_count = self.count.unwrap_or(count as u16);
        if let Some(zip64) = &self.zip64 {
            let record = file.len() as u64;
            let count = zip64.count.unwrap_or(count as u64);
            file.extend(*b"PK\x06\x06");
            file.extend(44_u64.to_le_bytes());
            file.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            [count, count, len, at].iter().for_each(|n| file.extend(n.to_le_bytes()));
            file.extend(*b"PK\x06\x07\0\0\0\0");
            file.extend(zip64.at.unwrap_or(record).to_le_bytes());
            file.extend(zip64.disks.unwrap_or(1).to_le_bytes());
            if zip64.full {
                (short, short_count) = ((u32::MAX, u32::MAX), u16::MAX);
            }
        }
        file.extend(*b"PK\x05\x06");
        self.disks.iter().for_each(|disk| file.extend(disk.to_le_bytes()));
        [short_count; 2].iter().for_each(|n| file.extend(n.to_le_bytes()));
        file.extend(short.0.to_le_bytes());
        file.extend(short.1.to_le_bytes());
        let len = self.comment_len.unwrap_or(self.comment.len() as u16);
        file.extend(len.to_le_bytes());
        file.extend(&self.comment);
        file.extend(&self.after);
        file
    }
}

/// Sound archives of up to eight arrays.
pub fn arbitrary() -> impl Strategy<Value = Npz> {
    let how = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(any::<bool>()));
    let members = prop::collection::vec((npy::arbitrary(), how), 0..8);
    let end = (any::<bool>(), any::<bool>());
    (members, end).prop_map(|(members, (zip64, full))| {
        let member = |(i, (array, (deflated, zip64, central_zip64, descriptor)))| Member {
            deflated,
            zip64,
            central_zip64,
            // Its sizes are as wide as those of the local header.
            descriptor: Option::map(descriptor, |signed: bool| (signed, zip64)),
            ..Member::new(&format!("arr_{i}"), &array)
        };
        let zip64 = zip64.then(|| Zip64 { full, ..Zip64::default() });
        let members = members.into_iter().enumerate().map(member).collect();
        Npz { zip64, ..Npz::new(members) }
    })
}
