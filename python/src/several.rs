//! Models in several files.

use crate::model::{Model, Shared};
use crate::report::Report;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};
use weighbridge::{Index, Parts, Placed};

/// The files of a model.
pub(crate) struct Several {
    parts: Parts,
    files: Vec<Part>,
    /// The tensors' files and positions, once all indexes are read.
    placed: OnceLock<Vec<Placed>>,
    /// A callback that checks all files.
    check: Py<PyAny>,
}

/// A file, unless it is missing.
struct Part {
    name: String,
    shared: Option<Arc<Shared>>,
}

impl Several {
    /// Opens each file: `open(name)` returns its full name, and the model or
    /// None.
    pub(crate) fn open(parts: Parts, open: &Bound<'_, PyAny>, check: Py<PyAny>) -> PyResult<Self> {
        let mut files = Vec::new();
        for file in parts.files() {
            let (name, model): (String, Option<Py<Model>>) = open.call1((file,))?.extract()?;
            files.push(Part { name, shared: model.map(|model| Arc::clone(&model.get().shared)) });
        }
        Ok(Several { parts, files, placed: OnceLock::new(), check })
    }

    /// Number of tensors; the first call reads the indexes.
    pub(crate) fn count(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(placed) = self.placed.get() {
            return Ok(placed.len());
        }
        self.there().try_for_each(|shared| shared.load(py).map(drop))?;
        let none = Index::default();
        let indexes: Vec<&Index> = self.files.iter().map(|it| it.index(&none)).collect();
        Ok(self.placed.get_or_init(|| self.parts.merge(&indexes)).len())
    }

    /// The file of the tensor at a position, and its position there.
    pub(crate) fn place(&self, at: usize) -> Option<(&Arc<Shared>, usize)> {
        let placed = self.placed.get()?.get(at)?;
        Some((self.files.get(placed.part)?.shared.as_ref()?, placed.at))
    }

    /// The files that exist.
    pub(crate) fn there(&self) -> impl Iterator<Item = &Shared> {
        self.files.iter().filter_map(|it| it.shared.as_deref())
    }

    /// The names of the files that exist, or that are missing.
    pub(crate) fn names(&self, there: bool) -> impl Iterator<Item = &str> {
        let files = self.files.iter().filter(move |it| it.shared.is_some() == there);
        files.map(|it| it.name.as_str())
    }

    /// Checks all files.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<Py<Report>> {
        Ok(self.check.call0(py)?.extract(py)?)
    }
}

impl Part {
    fn index<'i>(&'i self, none: &'i Index) -> &'i Index {
        self.shared.as_ref().map_or(none, |shared| shared.index())
    }
}
