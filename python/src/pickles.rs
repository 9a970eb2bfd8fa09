//! What pickles import, and the storages of a checkpoint.

use crate::text;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// A name that a pickle imports.
#[pyclass(frozen, get_all, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Global {
    name: Py<PyString>,
    standing: &'static str,
    /// Whether loading the pickle calls it.
    called: bool,
    offset: u64,
}

/// Bytes that tensors of a checkpoint are views of.
#[pyclass(frozen, get_all, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Storage {
    key: Py<PyString>,
    offset: u64,
    stored: u64,
    size: u64,
    /// Bytes between the first and the last element of a tensor.
    used: u64,
    crc: Option<u32>,
    /// The names of the tensors.
    tensors: Py<PyList>,
}

/// Adds the imports of the pickles of a file to a list.
pub(crate) fn globals(
    py: Python<'_>,
    report: &weighbridge::Report,
    list: &Bound<'_, PyList>,
) -> PyResult<()> {
    for global in report.pickles().map(weighbridge::Pickles::globals).unwrap_or_default() {
        let name = text::string(py, &weighbridge::Text::from(global.name()))?.unbind();
        let (standing, called, offset) = (global.standing(), global.is_called(), global.offset());
        list.append(Py::new(py, Global { name, standing, called, offset })?)?;
    }
    Ok(())
}

/// Adds storages to a list. `name` gives the name of a tensor by its number.
pub(crate) fn storages(
    py: Python<'_>,
    storages: Vec<weighbridge::Storage>,
    name: impl Fn(u32) -> PyResult<Py<PyAny>>,
    list: &Bound<'_, PyList>,
) -> PyResult<()> {
    for it in storages {
        let names = it.tensors.iter().map(|tensor| name(*tensor));
        let tensors = PyList::new(py, names.collect::<PyResult<Vec<_>>>()?)?.unbind();
        let key = text::string(py, &it.key)?.unbind();
        let (offset, stored, size, used, crc) = (it.offset, it.stored, it.size, it.used, it.crc);
        list.append(Py::new(py, Storage { key, offset, stored, size, used, crc, tensors })?)?;
    }
    Ok(())
}

#[pymethods]
impl Global {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let does = if self.called { "called" } else { "imported" };
        Ok(format!("<Global {} ({}, {does})>", self.name.bind(py).repr()?, self.standing))
    }
}

#[pymethods]
impl Storage {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let count = self.tensors.bind(py).len();
        let tensors = weighbridge::text::plural(count as u64, "tensor");
        let (key, size) = (self.key.bind(py).repr()?, weighbridge::text::bytes(self.size));
        Ok(format!("<Storage {key} of {tensors}, {size}>"))
    }
}
