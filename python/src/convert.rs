//! Models as safetensors.

use crate::errors::{self, Class};
use crate::options::Asked;
use crate::report::Report;
use crate::text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::PathBuf;
use weighbridge::save::{self, Convert, Float, LeftOut};

/// The result of a conversion.
#[pyclass(frozen, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Converted {
    done: save::Converted,
    report: Py<Report>,
}

#[pymethods]
impl Converted {
    /// The report on the input.
    #[getter]
    fn report(&self, py: Python<'_>) -> Py<Report> {
        self.report.clone_ref(py)
    }

    /// The files that were written, an index last.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.done.files().iter().map(|saved| saved.path.clone()).collect()
    }

    /// The tensors that `force` left out, each with the reason.
    #[getter]
    fn left_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        reasons(py, self.done.left_out())
    }

    /// The metadata that is not kept, each key with the reason.
    #[getter]
    fn metadata_left_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        reasons(py, self.done.metadata_left_out())
    }

    /// Names whose elements were written under another name, each with that name.
    #[getter]
    fn tied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tied = PyDict::new(py);
        self.done.tied().iter().try_for_each(|it| tied.set_item(&it.name, &it.kept))?;
        Ok(tied)
    }

    /// What a reader of the files should know.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.done.notes().to_vec()
    }

    fn __repr__(&self) -> String {
        let files: Vec<_> = self.done.files().iter().map(|it| it.path.display()).collect();
        format!("<Converted: {files:?}>")
    }
}

fn reasons<'py>(py: Python<'py>, all: &[LeftOut]) -> PyResult<Bound<'py, PyDict>> {
    let reasons = PyDict::new(py);
    for left in all {
        let name: Bound<'_, PyString> = text::string(py, &left.name)?;
        reasons.set_item(name, &left.why)?;
    }
    Ok(reasons)
}

/// Converts a model on disk.
#[pyfunction]
#[pyo3(signature = (source, target, options, dequantise, max_shard_size, overwrite, force))]
#[allow(clippy::too_many_arguments, reason = "the keywords of `convert`")]
pub(crate) fn convert_path(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    options: Asked,
    dequantise: Option<&str>,
    max_shard_size: Option<&str>,
    overwrite: bool,
    force: bool,
) -> PyResult<Converted> {
    let run = options.run()?;
    let mut convert = Convert::new().options(run.options);
    if let Some(name) = dequantise {
        let why = || PyValueError::new_err(format!("{name:?} is not f32, f16 or bf16"));
        convert = convert.dequantise(Float::by_name(name).ok_or_else(why)?);
    }
    if let Some(text) = max_shard_size {
        let why = || PyValueError::new_err("a size is a number and a unit, like 5GB");
        convert = convert.max_shard_size(save::size(text).ok_or_else(why)?);
    }
    convert = if overwrite { convert.overwrite() } else { convert };
    convert = if force { convert.force() } else { convert };
    let done = py.detach(|| convert.run(&source, &target));
    let done = run.raised.settle(py, done)?;
    let report = Report { report: done.report().clone(), profile: run.profile };
    let report = Py::new(py, report)?;
    if done.is_written() {
        return Ok(Converted { done, report });
    }
    if done.left_out().is_empty() {
        Report::raise_for_status(report.bind(py).clone())?;
    }
    let lines = done.left_out().iter().map(|left| format!("\"{}\": {}", left.name, left.why));
    let message = lines.collect::<Vec<_>>().join("\n");
    Err(errors::for_report(py, Class::Unsupported, message, report.into_any()))
}
