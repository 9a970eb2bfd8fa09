//! Outlines of a file's tensors, to compare them with another file's.

use crate::base::sort::sorted;
use crate::base::text::natural;
use crate::list::index::Index;
use alloc::vec::Vec;
use core::cmp::Ordering;
use weighbridge_core::DType;

/// Names, types, shapes and sizes of a file's tensors, read from a compact form that passes
/// between threads and processes, each of which has one of the files.
///
/// ```
/// use weighbridge::{Model, Outline};
///
/// # let (first, second) = (weighbridge_tests::samples::safetensors(), weighbridge_tests::samples::aligned());
/// let a = Model::from_bytes(&first)?.index()?.outline(); // has `emb`
/// let b = Model::from_bytes(&second)?.index()?.outline(); // has `bias`
/// let (a, b) = (Outline::read(&a), Outline::read(&b));
/// let pairs = a.pairs(&b);
/// assert_eq!((pairs[0].a, pairs[0].b), (None, Some(0))); // `bias` is new
/// assert_eq!((pairs[1].a, pairs[1].b), (Some(0), None)); // `emb` is gone
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Outline<'o> {
    entries: Vec<Outlined<'o>>,
}

/// A tensor of an [`Outline`].
#[derive(Clone, Copy, Debug)]
pub struct Outlined<'o> {
    name: &'o [u8],
    /// Type, layout, encoding.
    kinds: &'o [u8],
    dims: &'o [u8],
    stored: &'o [u8],
}

/// A tensor of two files, and what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlinePair {
    /// Its position in the first file, which may not have it.
    pub a: Option<u32>,
    /// Its position in the second file, which may not have it.
    pub b: Option<u32>,
    /// What differs, as bits: [`DTYPE`](Self::DTYPE) and the others.
    pub differs: u8,
}

impl OutlinePair {
    /// The bit of the type.
    pub const DTYPE: u8 = 1;
    /// The bit of the shape.
    pub const SHAPE: u8 = 2;
    /// The bit of the number of stored bytes.
    pub const STORED: u8 = 4;
    /// The bit of layout or encoding.
    pub const LAYOUT: u8 = 8;
}

impl Index {
    /// Names, types, shapes and sizes of all tensors in a compact form, for [`Outline`].
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// assert_eq!(weighbridge::Outline::read(&outline).tensors()[0].name(), b"emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn outline(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (i, tensor) in self.tensors().iter().enumerate() {
            let (name, shape) = (self.name_bytes(i), self.shape(i));
            out.extend_from_slice(&(name.len() as u32).to_le_bytes());
            out.extend_from_slice(&(shape.len() as u32).to_le_bytes());
            out.extend_from_slice(&[
                tensor.dtype as u8,
                tensor.layout as u8,
                tensor.encoding.code(),
            ]);
            out.extend_from_slice(&self.stored(i).to_le_bytes());
            out.extend_from_slice(name);
            for extent in shape {
                out.extend_from_slice(&extent.unwrap_or(u64::MAX).to_le_bytes());
            }
        }
        out
    }
}

impl<'o> Outlined<'o> {
    fn read(bytes: &'o [u8]) -> Option<(Self, &'o [u8])> {
        let length = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes) as usize;
        let (name, rest) = bytes.split_first_chunk()?;
        let (rank, rest) = rest.split_first_chunk()?;
        let (kinds, rest) = rest.split_at_checked(3)?;
        let (stored, rest) = rest.split_at_checked(8)?;
        let (name, rest) = rest.split_at_checked(length(name))?;
        let (dims, rest) = rest.split_at_checked(length(rank).checked_mul(8)?)?;
        Some((Outlined { name, kinds, dims, stored }, rest))
    }

    /// The bytes of its name, which should be UTF-8.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// let outline = weighbridge::Outline::read(&outline);
    /// assert_eq!(outline.tensors()[0].name(), b"emb");
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name(&self) -> &'o [u8] {
        self.name
    }

    /// The type of its elements.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// let outline = weighbridge::Outline::read(&outline);
    /// assert_eq!(outline.tensors()[0].dtype(), weighbridge::DType::BF16);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn dtype(&self) -> DType {
        let code = self.kinds.first().copied().unwrap_or_default();
        DType::ALL.iter().copied().find(|dtype| *dtype as u8 == code).unwrap_or_default()
    }

    /// Its extents, outermost first; `u64::MAX` for an unknown one.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// let outline = weighbridge::Outline::read(&outline);
    /// assert_eq!(outline.tensors()[0].extents(), [2, 3]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn extents(&self) -> Vec<u64> {
        self.dims.as_chunks().0.iter().map(|extent| u64::from_le_bytes(*extent)).collect()
    }

    /// Number of bytes that its data takes in the file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// let outline = weighbridge::Outline::read(&outline);
    /// assert_eq!(outline.tensors()[0].stored(), 12);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn stored(&self) -> u64 {
        self.stored.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn difference(&self, other: &Outlined<'_>) -> u8 {
        let bit = |differs: bool, bit: u8| if differs { bit } else { 0 };
        bit(self.kinds.first() != other.kinds.first(), OutlinePair::DTYPE)
            | bit(self.dims != other.dims, OutlinePair::SHAPE)
            | bit(self.stored != other.stored, OutlinePair::STORED)
            | bit(self.kinds.get(1..) != other.kinds.get(1..), OutlinePair::LAYOUT)
    }
}

impl<'o> Outline<'o> {
    /// Reads what [`Index::outline`] wrote, up to the last complete entry.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// assert_eq!(weighbridge::Outline::read(&outline).tensors().len(), 1);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn read(bytes: &'o [u8]) -> Self {
        let (mut entries, mut rest) = (Vec::new(), bytes);
        while let Some((entry, after)) = Outlined::read(rest) {
            entries.push(entry);
            rest = after;
        }
        Outline { entries }
    }

    /// The tensors, in the order of the file.
    ///
    /// ```
    /// assert!(weighbridge::Outline::read(&[]).tensors().is_empty());
    /// ```
    pub fn tensors(&self) -> &[Outlined<'o>] {
        &self.entries
    }

    /// The tensors of both files, sorted by name; numbers in names are compared by value.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let outline = weighbridge::Model::from_bytes(&bytes)?.index()?.outline();
    /// let outline = weighbridge::Outline::read(&outline);
    /// let pairs = outline.pairs(&outline);
    /// assert_eq!((pairs[0].a, pairs[0].b, pairs[0].differs), (Some(0), Some(0), 0));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn pairs(&self, other: &Outline<'_>) -> Vec<OutlinePair> {
        let (first, second) = (self.by_name(), other.by_name());
        let mut pairs = Vec::new();
        let (mut i, mut j) = (0, 0);
        loop {
            let left = first.get(i).and_then(|i| Some((*i, self.entries.get(*i as usize)?)));
            let right = second.get(j).and_then(|j| Some((*j, other.entries.get(*j as usize)?)));
            let order = match (left, right) {
                (None, None) => return pairs,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((_, left)), Some((_, right))) => natural(left.name, right.name),
            };
            let (a, b) = (left.filter(|_| order.is_le()), right.filter(|_| order.is_ge()));
            let differs = a.zip(b).map_or(0, |((_, a), (_, b))| a.difference(b));
            pairs.push(OutlinePair { a: a.map(|(i, _)| i), b: b.map(|(j, _)| j), differs });
            i += usize::from(order.is_le());
            j += usize::from(order.is_ge());
        }
    }

    fn by_name(&self) -> Vec<u32> {
        let name = |i: u32| self.entries.get(i as usize).map_or(&[][..], |entry| entry.name);
        sorted(self.entries.len(), &mut |a, b| natural(name(a), name(b)).is_lt())
    }
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
    fn outline_finds_added_removed_and_changed() {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        put(&mut a, "w10", 1, &[2], 8);
        put(&mut a, "same", 1, &[], 4);
        put(&mut a, "w9", 1, &[2], 8);
        put(&mut b, "same", 1, &[], 4);
        put(&mut b, "w10", 2, &[1, 2], 8);
        put(&mut b, "x", 1, &[2], 8);
        let pairs = Outline::read(&a).pairs(&Outline::read(&b));
        let pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b, pair.differs)).collect();
        assert_eq!(
            pairs,
            [
                (Some(1), Some(0), 0),
                (Some(2), None, 0),
                (Some(0), Some(1), OutlinePair::DTYPE | OutlinePair::SHAPE),
                (None, Some(2), 0),
            ]
        );
        assert!(Outline::read(&[]).pairs(&Outline::read(&[])).is_empty());
        assert_eq!(Outline::read(&a[..a.len() - 1]).tensors().len(), 2);
    }
}
