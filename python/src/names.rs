//! The positions of tensors by name.

use hashbrown::HashTable;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The positions of tensors by name, built faster than a Python dictionary.
#[derive(Debug)]
pub(crate) struct Names {
    table: HashTable<u32>,
    hasher: RandomState,
    /// The position after the last result, which is compared first: most programs access tensors in
    /// file order.
    next: AtomicUsize,
    /// Number of tensors.
    len: usize,
    /// Whether all names are unique.
    unique: bool,
}

impl Names {
    /// The positions of `len` tensors, given the name at each position; of several tensors with the
    /// same name, the first.
    pub(crate) fn of<'n>(len: usize, name: impl Fn(usize) -> &'n [u8]) -> Self {
        let hasher = RandomState::new();
        let mut table = HashTable::with_capacity(len);
        let name = |at: u32| name(at as usize);
        for at in 0..len as u32 {
            let this = name(at);
            let hash = hash(&hasher, this);
            let rehash = |other: &u32| self::hash(&hasher, name(*other));
            table.entry(hash, |other| name(*other) == this, rehash).or_insert(at);
        }
        let unique = table.len() == len;
        Names { table, hasher, next: AtomicUsize::new(0), len, unique }
    }

    /// Number of distinct names.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The position of the tensor of this name.
    pub(crate) fn find<'n>(
        &self,
        names: impl Fn(usize) -> &'n [u8],
        name: &Bound<'_, PyString>,
    ) -> PyResult<Option<usize>> {
        let encoded;
        let escaped: PyBackedBytes;
        let bytes: &[u8] = match name.encode_utf8() {
            Ok(bytes) => {
                encoded = bytes;
                encoded.as_bytes()
            }
            // Names that are not UTF-8 have surrogates.
            Err(_) => match name.call_method1("encode", ("utf-8", "surrogateescape")) {
                Ok(bytes) => {
                    escaped = bytes.extract()?;
                    &escaped
                }
                Err(_) => return Ok(None),
            },
        };
        Ok(self.at(names, bytes))
    }

    /// The same, for a name in bytes.
    pub(crate) fn at<'n>(&self, names: impl Fn(usize) -> &'n [u8], name: &[u8]) -> Option<usize> {
        let is = |at: usize| names(at) == name;
        let next = self.next.load(Ordering::Relaxed);
        let at = if self.unique && next < self.len && is(next) {
            next
        } else {
            let found = self.table.find(hash(&self.hasher, name), |at| is(*at as usize));
            *found? as usize
        };
        self.next.store(at + 1, Ordering::Relaxed);
        Some(at)
    }
}

fn hash(hasher: &RandomState, name: &[u8]) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(name);
    hasher.finish()
}
