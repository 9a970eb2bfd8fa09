//! Rows of columns, annotations, entries of sparse tensors, checksums.

use super::entries::shown;
use super::{Answer, RawDocument};
use crate::cells::Cells;
use crate::meta;
use crate::pack::Pack;
use wasm_bindgen::prelude::*;
use weighbridge::Annotation;
use weighbridge_core::checksum::{Checksum, Hasher};
use weighbridge_core::{File, Layout, Stop};

fn write(cells: &Cells, pack: &mut Pack) {
    pack.numbers(&cells.numbers);
    pack.u32(cells.texts.is_some().into());
    pack.texts(&cells.texts.clone().unwrap_or_default());
    pack.u32(cells.width);
    let column = |all: &[u32], pack: &mut Pack| pack.items(4, all, |n| (*n).into());
    column(&cells.missing, pack);
    pack.u32(cells.vectors.is_some().into());
    let vectors = cells.vectors.clone().unwrap_or_default();
    column(&vectors.ends, pack);
    column(&vectors.indices, pack);
    column(&vectors.lengths, pack);
    let coordinates = cells.coordinates.as_deref();
    pack.u32(coordinates.is_some().into());
    let coordinates = coordinates.unwrap_or_default();
    pack.items(8, coordinates, |n| *n);
}

#[wasm_bindgen]
impl RawDocument {
    /// Rows of a column, or entries of a sparse tensor; an empty array for
    /// other tensors, whose elements `grid` gives.
    pub fn cells(&mut self, index: u32, from: u64, count: u32) -> Answer {
        let tensor = self.tensor_at(index)?;
        let result = match tensor.layout {
            Layout::Blocks => self.inner.rows_of(&tensor, from, count.into()),
            Layout::Coo | Layout::Csr => self.inner.entries(&tensor, from, count.into()),
            _ => return Ok(Some(Pack::default().done())),
        };
        shown(&self.inner, result, |cells, pack| {
            pack.text(tensor.dtype.name());
            write(&cells, pack);
        })
    }

    /// What an annotation holds, and whether it was cut; an error where there
    /// is nothing.
    pub fn annotation(&mut self, index: u32, position: u32) -> Answer {
        self.annotated(index, Annotation::At(position), meta::MOST)
    }

    /// What the keys of a column stand for.
    #[wasm_bindgen(js_name = keyValues)]
    pub fn key_values(&mut self, index: u32) -> Answer {
        self.annotated(index, Annotation::KeyValues, u64::MAX)
    }

    fn annotated(&mut self, index: u32, which: Annotation, most: u64) -> Answer {
        let tensor = self.tensor_at(index)?;
        let result = self.inner.annotation(&tensor, which, most);
        match result {
            Err(stop) => super::stopped(&self.inner, stop),
            Ok(found) => {
                let mut pack = Pack::default();
                pack.u32(found.is_some().into());
                if let Some((cells, cut)) = found {
                    pack.u32(cut.into());
                    write(&cells, &mut pack);
                }
                Ok(Some(pack.done()))
            }
        }
    }

    /// What checks the stored bytes of a tensor; `undefined` when it has no
    /// checksum, or bytes are missing, which `tensor` has fetched.
    pub fn hasher(&mut self, index: u32) -> Option<RawHasher> {
        let tensor = self.inner.index.tensors().get(index as usize).copied()?;
        let found: Result<_, Stop> = self.inner.session.ask(|file, source| {
            let File::ZTensor(header) = file else { return Ok(None) };
            if header.text(source, &tensor, "checksum")?.is_none() {
                return Ok(None);
            }
            Ok(Some(file.checksum(source, &tensor)?))
        });
        let expected = found.ok()???;
        Some(RawHasher::new(expected))
    }
}

/// Compares stored bytes with a checksum.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawHasher {
    hasher: Option<Hasher>,
    expected: Option<Checksum>,
}

impl RawHasher {
    fn new(expected: Option<Checksum>) -> Self {
        let hasher = expected.and_then(|expected| Hasher::new(expected.algorithm()));
        RawHasher { hasher, expected }
    }
}

#[wasm_bindgen]
impl RawHasher {
    /// Takes the next stored bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        if let Some(hasher) = &mut self.hasher {
            hasher.update(bytes);
        }
    }

    /// 0 for wrong, 1 for right, 2 for a checksum that is not understood.
    pub fn verdict(&mut self) -> u32 {
        match (self.hasher.take(), self.expected) {
            (Some(hasher), Some(expected)) => (hasher.finish() == expected).into(),
            _ => 2,
        }
    }
}
