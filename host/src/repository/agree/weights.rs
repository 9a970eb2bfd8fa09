//! The tensors beside settings: their names, and the types and shapes of some.

use super::super::content;
use crate::base::python_json::Json;
use crate::check::options::Options;
use crate::input::place::Place;
use crate::list::index::Index;
use crate::read::model::Model;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{DType, Status};

/// Longest index of shards that is read: it takes about 100 bytes a tensor.
const INDEX: u64 = 32 << 20;
/// Memory for the tensors of one file. A file with more says nothing.
const MEMORY: u64 = 256 << 20;

/// Most files of a model that are opened.
const FILES: usize = 256;

/// The tensors of a model, in one file or in shards.
pub(super) struct Weights<'p> {
    place: &'p dyn Place,
    /// The names of all tensors, with the number of their file.
    names: Vec<(String, usize)>,
    files: Vec<String>,
    /// The file that was opened last.
    opened: Option<(usize, Index)>,
}

/// The type and shape of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shaped {
    pub(super) dtype: DType,
    pub(super) shape: Vec<u64>,
}

impl<'p> Weights<'p> {
    /// Reads the names in a file beside `place`, or else in an index there. `None` if there is
    /// neither, or it cannot be read: its own check says why.
    pub(super) fn beside(
        place: &'p dyn Place,
        file: &str,
        index: Option<&str>,
    ) -> Option<Weights<'p>> {
        let mut weights = Weights {
            place,
            names: Vec::new(),
            files: Vec::from([file.to_string()]),
            opened: None,
        };
        // Loaders prefer the file to the index, too.
        if weights.open(0) {
            let (_, index) = weights.opened.as_ref()?;
            let names = (0..index.len()).filter_map(|at| name(index, at));
            weights.names = names.map(|name| (name.to_string(), 0)).collect();
            return Some(weights);
        }
        let at = place.beside(index?);
        if at.leaves() {
            return None;
        }
        let bytes = content::whole(&*at.open().ok()?, INDEX).ok()??;
        let json = Json::parse(str::from_utf8(&bytes).ok()?)?;
        weights.list(json.get("weight_map")?);
        (!weights.names.is_empty()).then_some(weights)
    }

    /// Takes the tensors that an index lists, and their files.
    fn list(&mut self, map: &Json) {
        let mut numbers = alloc::collections::BTreeMap::new();
        self.files.clear();
        for (name, file) in map.pairs() {
            // Shards lie beside their index.
            let Some(file) = file.text().filter(|it| !it.contains(['/', '\\'])) else { continue };
            let no = *numbers.entry(file).or_insert_with(|| {
                self.files.push(file.to_string());
                self.files.len() - 1
            });
            self.names.push((name.clone(), no));
        }
    }

    /// Opens a file, unless it was the last one opened.
    fn open(&mut self, no: usize) -> bool {
        if self.opened.as_ref().is_some_and(|(last, _)| *last == no) {
            return true;
        }
        let index = || {
            let at = self.place.beside(self.files.get(no)?);
            let input = if at.leaves() { None } else { at.open().ok() }?;
            let options = Options::new().memory(MEMORY);
            Model::from_input_with(input, &options).ok()?.index().ok()
        };
        self.opened = index().map(|index| (no, index));
        self.opened.is_some()
    }

    /// The names of all tensors.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// A tensor, if its file can be opened and it is sound.
    pub(super) fn get(&mut self, name: &str) -> Option<Shaped> {
        let (_, file) = self.names.iter().find(|(known, _)| known == name)?;
        if !self.open(*file) {
            return None;
        }
        let (_, index) = self.opened.as_ref()?;
        let at = (0..index.len()).find(|at| self::name(index, *at) == Some(name))?;
        shaped(index, at)
    }

    /// The first bytes of a tensor, up to `most`, if they lie together in a file of the model.
    pub(super) fn first_bytes(&mut self, name: &str, most: u64) -> Option<Vec<u8>> {
        let (_, no) = *self.names.iter().find(|(known, _)| known == name)?;
        if !self.open(no) {
            return None;
        }
        let (_, index) = self.opened.as_ref()?;
        let at = (0..index.len()).find(|at| self::name(index, *at) == Some(name))?;
        let len = index.stored(at).min(most);
        let mut bytes = alloc::vec![0; usize::try_from(len).ok()?];
        let place = self.place.beside(self.files.get(no)?);
        place.open().ok()?.read_at(index.offset(at)?, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Calls `take` with the sound tensors of all files that can be opened, at most 256.
    pub(super) fn each(&mut self, mut take: impl FnMut(&str, Shaped)) {
        for no in 0..self.files.len().min(FILES) {
            if self.open(no) {
                self.opened().for_each(|(name, shaped)| take(name, shaped));
            }
        }
    }

    /// The sound tensors of the file that was opened last, with their names.
    pub(super) fn opened(&self) -> impl Iterator<Item = (&str, Shaped)> {
        let index = self.opened.as_ref().map(|(_, index)| index);
        index.into_iter().flat_map(|index| {
            let named = |at| Some((name(index, at)?, shaped(index, at)?));
            (0..index.len()).filter_map(named)
        })
    }
}

fn name(index: &Index, at: usize) -> Option<&str> {
    str::from_utf8(index.name_bytes(at)).ok()
}

fn shaped(index: &Index, at: usize) -> Option<Shaped> {
    let tensor = index.tensor(at);
    let shape = index.shape(at).iter().copied().collect::<Option<Vec<u64>>>()?;
    (tensor.status == Status::Sound).then_some(Shaped { dtype: tensor.dtype, shape })
}
