//! The positions of tensors by name.

use hashbrown::HashTable;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyString;
use std::hash::{BuildHasher as _, RandomState};
use weighbridge::Index;

/// The positions of tensors by name, in less time than a dictionary of Python takes to be made.
#[derive(Debug)]
pub(crate) struct Names {
    table: HashTable<u32>,
    hasher: RandomState,
}

impl Names {
    /// Those of an index; of several tensors with one name, the first.
    pub(crate) fn of(index: &Index) -> Self {
        let hasher = RandomState::new();
        let mut table = HashTable::with_capacity(index.len());
        let name = |at: u32| index.name(at as usize).as_bytes().unwrap_or_default();
        for at in 0..index.len() as u32 {
            let this = name(at);
            let hash = hasher.hash_one(this);
            let rehash = |other: &u32| hasher.hash_one(name(*other));
            table.entry(hash, |other| name(*other) == this, rehash).or_insert(at);
        }
        Names { table, hasher }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// The position of the tensor of this name.
    pub(crate) fn find(
        &self,
        index: &Index,
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
        Ok(self.at(index, bytes))
    }

    /// The same, of a name in bytes.
    pub(crate) fn at(&self, index: &Index, name: &[u8]) -> Option<usize> {
        let is = |at: &u32| index.name(*at as usize).as_bytes() == Some(name);
        self.table.find(self.hasher.hash_one(name), is).map(|at| *at as usize)
    }
}
