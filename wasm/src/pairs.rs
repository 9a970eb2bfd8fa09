//! The tensors of two files, by name.

use crate::sort;
use alloc::vec::Vec;
use weighbridge::text::natural;

/// Stands for "missing there".
pub const MISSING: u32 = u32::MAX;

/// What can differ, as bits.
pub mod differs {
    /// The type.
    pub const DTYPE: u8 = 1;
    /// The shape.
    pub const SHAPE: u8 = 2;
    /// The number of stored bytes.
    pub const STORED: u8 = 4;
    /// Layout or encoding.
    pub const LAYOUT: u8 = 8;
}

/// A tensor as a digest tells it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The name.
    pub name: &'a [u8],
    /// Type, layout, encoding.
    pub kinds: &'a [u8],
    /// The extents.
    pub dims: &'a [u8],
    /// The stored bytes.
    pub stored: &'a [u8],
}

/// The tensors of a digest.
pub fn entries(digest: &[u8]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    let mut rest = digest;
    while let Some((entry, after)) = entry(rest) {
        entries.push(entry);
        rest = after;
    }
    entries
}

fn entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let length = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
    let (name, rest) = bytes.split_first_chunk()?;
    let (rank, rest) = rest.split_first_chunk()?;
    let (kinds, rest) = rest.split_at_checked(3)?;
    let (stored, rest) = rest.split_at_checked(8)?;
    let (name, rest) = rest.split_at_checked(length(name))?;
    let (dims, rest) = rest.split_at_checked(length(rank).checked_mul(8)?)?;
    Some((Entry { name, kinds, dims, stored }, rest))
}

/// Tensors of both, in the order of their names: positions, and what differs.
pub fn pairs(a: &[u8], b: &[u8]) -> Vec<(u32, u32, u8)> {
    let (a, b) = (entries(a), entries(b));
    let order = |all: &[Entry<'_>]| {
        let name = |i: u32| all.get(i as usize).map_or(&[][..], |entry| entry.name);
        sort::sorted(all.len(), &mut |x, y| natural(name(x), name(y)).is_lt())
    };
    let (first, second) = (order(&a), order(&b));
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let left = first.get(i).and_then(|i| Some((*i, a.get(*i as usize)?)));
        let right = second.get(j).and_then(|j| Some((*j, b.get(*j as usize)?)));
        let order = match (left, right) {
            (None, None) => return pairs,
            (Some(_), None) => core::cmp::Ordering::Less,
            (None, Some(_)) => core::cmp::Ordering::Greater,
            (Some((_, left)), Some((_, right))) => natural(left.name, right.name),
        };
        let pair = match (left, right) {
            (Some((left, x)), Some((right, y))) if order.is_eq() => (left, right, difference(x, y)),
            (Some((left, _)), _) if order.is_lt() => (left, MISSING, 0),
            (_, right) => (MISSING, right.map_or(MISSING, |(right, _)| right), 0),
        };
        pairs.push(pair);
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
}

fn difference(a: &Entry<'_>, b: &Entry<'_>) -> u8 {
    let bit = |differs: bool, bit: u8| if differs { bit } else { 0 };
    bit(a.kinds.first() != b.kinds.first(), differs::DTYPE)
        | bit(a.dims != b.dims, differs::SHAPE)
        | bit(a.stored != b.stored, differs::STORED)
        | bit(a.kinds.get(1..) != b.kinds.get(1..), differs::LAYOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(out: &mut Vec<u8>, name: &str, dtype: u8, dims: &[u64], stored: u64) {
        out.extend_from_slice(&(name.len() as u32).to_le_bytes());
        out.extend_from_slice(&(dims.len() as u32).to_le_bytes());
        out.extend([dtype, 0, 0]);
        out.extend_from_slice(&stored.to_le_bytes());
        out.extend_from_slice(name.as_bytes());
        out.extend(dims.iter().flat_map(|extent| extent.to_le_bytes()));
    }

    #[test]
    fn added_removed_and_changed() {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        put(&mut a, "w10", 1, &[2], 8);
        put(&mut a, "same", 1, &[], 4);
        put(&mut a, "w9", 1, &[2], 8);
        put(&mut b, "same", 1, &[], 4);
        put(&mut b, "w10", 2, &[1, 2], 8);
        put(&mut b, "x", 1, &[2], 8);
        assert_eq!(
            pairs(&a, &b),
            [(1, 0, 0), (2, MISSING, 0), (0, 1, differs::DTYPE | differs::SHAPE), (MISSING, 2, 0),]
        );
        assert!(pairs(&[], &[]).is_empty());
        assert_eq!(entries(&a[..a.len() - 1]).len(), 2);
    }
}
