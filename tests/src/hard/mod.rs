//! Files that are hard on a reader: as many entries, as long names, as deep nesting and as much
//! sharing as the formats allow, and more.
//!
//! Payloads are zeros, so files differ only in their tables.

mod messages;
mod nested;
mod operators;
mod payloads;
mod pickles;
mod shared;
mod write;

pub use messages::{messages, tensors};
pub use nested::nested;
pub use operators::{chain, repeated};
pub use payloads::payloads;
pub use pickles::{operations, pickles};
pub use shared::shared;

use crate::encode;
use weighbridge_core::Format;

/// One tensor: its name, and the location of its data relative to the first possible data byte.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name. For formats with numeric names, the low byte of the position is used instead.
    pub name: Vec<u8>,
    /// Offset of the data.
    pub at: u64,
    /// Length of the data, which is also the only extent.
    pub len: u64,
}

/// How the data ranges of many tensors overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// Consecutive.
    Apart,
    /// All ranges are identical.
    Equal,
    /// Each range contains all that follow it.
    Within,
    /// Each range starts after the previous one and covers half of the total.
    Staggered,
}

impl Ranges {
    /// All of them.
    pub const ALL: [Ranges; 4] = [Ranges::Apart, Ranges::Equal, Ranges::Within, Ranges::Staggered];

    /// Range number `i` of `count` ranges that begin and end at multiples of `unit`.
    fn of(self, i: u64, count: u64, unit: u64) -> (u64, u64) {
        let (at, len) = match self {
            Ranges::Apart => (i, 1),
            Ranges::Equal => (0, 1),
            Ranges::Within => (0, count - i),
            Ranges::Staggered => (i, count / 2),
        };
        (at * unit, len * unit)
    }
}

/// The formats that hold tensors: all except the index of shards.
pub const FORMATS: [Format; 7] = [
    Format::Stb,
    Format::Oinf,
    Format::BinTensors,
    Format::ZTensor,
    Format::Idv,
    Format::Safetensors,
    Format::Gguf,
];

/// The number of tensors that fit into a format, at most `count`.
pub fn most(format: Format, count: u64) -> u64 {
    if format == Format::Stb { count.min(u64::from(u16::MAX)) } else { count }
}

/// The alignment of data offsets.
fn unit(format: Format) -> u64 {
    match format {
        Format::Stb | Format::ZTensor => 64,
        Format::Oinf | Format::Gguf => 8,
        _ => 1,
    }
}

/// `count` tensors with scrambled names, or as many as fit.
pub fn many(format: Format, count: u64, ranges: Ranges) -> Vec<u8> {
    let count = most(format, count);
    let entries: Vec<Entry> = (0..count)
        .map(|i| {
            // An odd factor modulo a power of two, so every name occurs once.
            let scrambled = i.wrapping_mul(0x9E37_79B1) & (count.next_power_of_two() - 1);
            let (at, len) = ranges.of(i, count, unit(format));
            Entry { name: format!("t.{scrambled:07}").into_bytes(), at, len }
        })
        .collect();
    file(format, &entries)
}

/// Consecutive tensors with these names.
pub fn named(format: Format, names: &[Vec<u8>]) -> Vec<u8> {
    let unit = unit(format);
    let entries: Vec<Entry> = (0..)
        .zip(names)
        .map(|(i, name)| Entry { name: name.clone(), at: i * unit, len: unit })
        .collect();
    file(format, &entries)
}

/// An archive of `count` arrays in descending name order, every tenth deflated.
pub fn archive(count: u64) -> Vec<u8> {
    let array = encode::npy::Npy::new("'|u1'", 1, &[1]);
    let members = (0..count).rev().map(|i| {
        let member = encode::npz::Member::new(&format!("t.{i:07}"), &array);
        if i % 10 == 0 { member.deflated() } else { member }
    });
    let zip64 = Some(encode::npz::Zip64 { full: true, ..Default::default() });
    encode::npz::Npz { zip64, ..encode::npz::Npz::new(members.collect()) }.encode()
}

/// The index of `count` tensors, each in its own missing file.
pub fn missing(count: usize) -> Vec<u8> {
    let map = (0..count).map(|i| (format!("t.{i:07}"), encode::shards::shard(i, count)));
    encode::shards::Index { total: None, map: map.collect() }.encode()
}

/// A file of these tensors. For the index of shards only the names count.
pub fn file(format: Format, entries: &[Entry]) -> Vec<u8> {
    let data = entries.iter().map(|entry| entry.at + entry.len).max().unwrap_or(0) as usize;
    match format {
        Format::Stb => write::stb(entries, data),
        Format::Oinf => write::oinf(entries, data),
        Format::BinTensors => write::bintensors(entries, data),
        Format::ZTensor => write::ztensor(entries, data),
        Format::Idv => write::idv(entries, data),
        Format::Safetensors => write::safetensors(entries, data),
        Format::Gguf => write::gguf(entries, data),
        _ => write::shards(entries),
    }
}
