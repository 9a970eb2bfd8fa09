//! Open files.

use crate::errors::Raised;
use crate::html;
use crate::names::Names;
use crate::options::{Asked, Run};
use crate::pickles;
use crate::report::Report;
use crate::several::Several;
use crate::source::{Bytes, Reader, WHOLE};
use crate::tensor::Tensor;
use crate::text;
use crate::view::{Plain, Shapes};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use weighbridge::{Error, Format, Goal, Index, Parts, Profile};

/// An open file: its tensors by name, and its metadata.
#[pyclass(frozen, mapping, module = "weighbridge")]
pub(crate) struct Model {
    pub(crate) shared: Arc<Shared>,
    several: Option<Several>,
    /// The positions of the tensors by name, built on first use.
    names: OnceLock<Names>,
    profile: Profile,
    goal: Goal,
}

/// State shared by a model and its tensors.
pub(crate) struct Shared {
    /// The file, until it is closed.
    opened: Mutex<Option<Arc<Opened>>>,
    /// The tensors, once the index is read. Python objects are created on access.
    index: OnceLock<Index>,
    /// The path or the URL.
    pub(crate) name: Option<String>,
}

/// Used without the interpreter lock: callbacks take that lock while the model is locked.
pub(crate) struct Opened {
    pub(crate) model: weighbridge::Model<'static>,
    /// The object that views of the whole file are made from: `bytes`, or an array. NumPy would not
    /// keep the memory of other objects in place.
    pub(crate) buffer: Option<Py<PyAny>>,
    shapes: Mutex<Shapes>,
    pub(crate) raised: Raised,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl Shared {
    /// # Errors
    /// `ValueError` once it is closed.
    pub(crate) fn get(&self) -> PyResult<Arc<Opened>> {
        self.lock().clone().ok_or_else(closed)
    }

    /// The tensors; the first call reads the index.
    pub(crate) fn load(&self, py: Python<'_>) -> PyResult<&Index> {
        let opened = self.get()?;
        match self.index.get() {
            Some(index) => Ok(index),
            None => {
                let index = opened.ask(py, |model| model.index())?;
                Ok(self.index.get_or_init(|| index))
            }
        }
    }

    /// The tensors; empty before the index is read.
    pub(crate) fn index(&self) -> &Index {
        static NONE: OnceLock<Index> = OnceLock::new();
        self.index.get().unwrap_or_else(|| NONE.get_or_init(Index::default))
    }

    /// Looks up or stores windows. No Python code runs in the meantime.
    ///
    /// # Errors
    /// `ValueError` once it is closed.
    pub(crate) fn shapes<R>(&self, ask: impl FnOnce(&mut Shapes) -> R) -> PyResult<R> {
        let opened = self.lock();
        let opened = opened.as_ref().ok_or_else(closed)?;
        Ok(ask(&mut opened.shapes.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn is_closed(&self) -> bool {
        self.lock().is_none()
    }

    fn close(&self) {
        let opened = self.lock().take();
        drop(opened);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Opened>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("the model is closed")
}

impl Opened {
    /// Calls `ask` on the file, without the interpreter lock.
    pub(crate) fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&weighbridge::Model<'static>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| ask(&self.model));
        self.raised.settle(py, result)
    }
}

#[pymethods]
impl Model {
    /// Opens a file on disk. `buffer` is its mapped memory, if it is mapped.
    #[staticmethod]
    #[pyo3(signature = (path, options, buffer=None))]
    fn open_path(
        py: Python<'_>,
        path: PathBuf,
        options: Asked,
        buffer: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let run = options.run()?;
        let opened = py.detach(|| weighbridge::Model::open_with(path, &run.options));
        Model::of(py, opened, buffer, run, &options)
    }

    /// Opens bytes; arrays are views of them.
    #[staticmethod]
    fn open_bytes(py: Python<'_>, bytes: Py<PyBytes>, options: Asked) -> PyResult<Self> {
        let run = options.run()?;
        let kept = PyBackedBytes::from(bytes.bind(py).clone());
        let opened = py.detach(|| match kept.len() > WHOLE {
            true => weighbridge::Model::from_input_with(Bytes(kept), &run.options),
            false => weighbridge::Model::from_buffer(kept, &run.options),
        });
        Model::of(py, opened, Some(bytes.into_any()), run, &options)
    }

    /// Opens a file of `len` bytes, using `read(offset, length)`, which returns bytes.
    #[staticmethod]
    #[pyo3(signature = (len, read, options, buffer=None))]
    fn open_reader(
        py: Python<'_>,
        len: u64,
        read: Py<PyAny>,
        options: Asked,
        buffer: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let run = options.run()?;
        let input = Reader { len, read, raised: run.raised.clone() };
        let opened = py.detach(|| weighbridge::Model::from_input_with(input, &run.options));
        Model::of(py, opened, buffer, run, &options)
    }

    #[getter]
    fn format(&self) -> PyResult<&'static str> {
        Ok(self.shared.get()?.model.format().name())
    }

    #[getter]
    fn version(&self) -> PyResult<Option<String>> {
        Ok(self.shared.get()?.model.version().map(|version| version.to_string()))
    }

    /// Length of the file in bytes.
    #[getter]
    fn size(&self) -> PyResult<u64> {
        Ok(self.shared.get()?.model.len())
    }

    /// The path, the URL or None.
    #[getter]
    fn file(&self) -> Option<&str> {
        self.shared.name.as_deref()
    }

    /// The model that consists of this file and the files it names, if there are any: a shard
    /// index, or the first part of a split GGUF, by its name. `open(name)` returns the full name of
    /// a file beside it and the model, or None if the file is missing; `check()` returns a report
    /// on all files.
    fn with_parts(
        slf: Py<Self>,
        py: Python<'_>,
        name: &str,
        open: &Bound<'_, PyAny>,
        check: Py<PyAny>,
    ) -> PyResult<Py<Self>> {
        let this = slf.get();
        let Some(parts) = this.shared.get()?.ask(py, |model| Parts::of(model, name))? else {
            return Ok(slf);
        };
        let several = Some(Several::open(parts, open, check)?);
        let (shared, profile, goal) = (Arc::clone(&this.shared), this.profile, this.goal);
        Py::new(py, Model { shared, several, names: OnceLock::new(), profile, goal })
    }

    /// The names of the model's files, in order; None for a model in one file.
    fn part_names(&self, py: Python<'_>, name: &str) -> PyResult<Option<Vec<String>>> {
        let parts = self.shared.get()?.ask(py, |model| Parts::of(model, name))?;
        Ok(parts.map(|parts| parts.files().to_vec()))
    }

    /// The paths or URLs of the files that contain the tensors.
    #[getter]
    fn files(&self) -> Vec<&str> {
        match &self.several {
            Some(several) => several.names(true).collect(),
            None => self.shared.name.as_deref().into_iter().collect(),
        }
    }

    /// The names of the model's missing files.
    #[getter]
    fn missing(&self) -> Vec<&str> {
        self.several.iter().flat_map(|several| several.names(false)).collect()
    }

    /// The tensors, in the order of the index.
    #[getter]
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, (0..self.count(py)?).map(|at| self.tensor(at)))
    }

    /// The names of the tensors, without duplicates.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (count, names) = (self.count(py)?, self.positions(py)?);
        let list = PyList::empty(py);
        for at in 0..count {
            let name = self.name_at(at);
            if names.len() == count || names.at(|at| self.name_at(at), name) == Some(at) {
                list.append(text::of_bytes(py, name)?)?;
            }
        }
        Ok(list)
    }

    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.names(py)
    }

    /// The file's metadata; a value longer than 64 KiB is a `Truncated`.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let opened = self.shared.get()?;
        let entries = opened.ask(py, |model| {
            model.rewind();
            model.metadata().collect::<Result<Vec<_>, _>>()
        })?;
        let metadata = PyDict::new(py);
        for entry in entries {
            let key = text::string(py, entry.key())?;
            let mut value = text::value(py, entry.value())?;
            if entry.is_truncated() {
                value = py.import("weighbridge._errors")?.call_method1("Truncated", (value,))?;
            }
            // Of entries with the same key, the first wins; in an index the last, as for its
            // readers.
            if opened.model.format() == Format::Shards || !metadata.contains(&key)? {
                metadata.set_item(key, value)?;
            }
        }
        Ok(metadata)
    }

    /// What the pickles of the model's files import.
    #[getter]
    fn globals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for it in self.all() {
            let report = it.get()?.ask(py, |model| model.check(Goal::Structure))?;
            pickles::globals(py, &report, &list)?;
        }
        Ok(list)
    }

    /// The storages of a checkpoint of PyTorch; none in other formats.
    #[getter]
    fn storages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for it in self.all() {
            let storages = it.get()?.ask(py, |model| model.storages())?;
            let index = it.load(py)?;
            let name = |at: u32| {
                Ok(text::of_bytes(py, index.name_bytes(at as usize))?.into_any().unbind())
            };
            pickles::storages(py, storages, name, &list)?;
        }
        Ok(list)
    }

    /// For each tensor stored as in NumPy: its position, the name of its dtype, its shape, the
    /// offset and the length of its bytes, and whether the first axis is the fastest.
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if self.several.is_some() {
            return Err(PyValueError::new_err("the tensors are split across several files"));
        }
        let plan = PyList::empty(py);
        let index = self.shared.load(py)?;
        for i in 0..index.len() {
            let (tensor, shape) = (index.tensor(i), index.shape(i));
            if let Some(Plain { offset, len, fortran, .. }) = Plain::of(tensor, shape) {
                let shape = PyTuple::new(py, shape)?;
                plan.append((i, tensor.dtype.name(), shape, offset, len, fortran))?;
            }
        }
        Ok(plan)
    }

    /// Raises an `OSError` if a file was written to since it was opened.
    fn verify_unchanged(&self, py: Python<'_>) -> PyResult<()> {
        self.all().try_for_each(|it| it.get()?.ask(py, |model| model.verify_unchanged()))
    }

    /// Checks the open file, and the model's other files.
    fn check(&self, py: Python<'_>) -> PyResult<Py<Report>> {
        let goal = self.goal;
        if let Some(several) = &self.several {
            let report = several.check(py)?;
            self.verify_unchanged(py)?;
            return Ok(report);
        }
        let report = self.shared.get()?.ask(py, |model| {
            let report = model.check(goal)?;
            model.verify_unchanged()?;
            Ok(report)
        })?;
        let name = self.shared.name.as_deref().map(Into::into);
        Py::new(py, Report { report: report.closed(name), profile: self.profile })
    }

    /// Closes the file or files. Arrays made from them stay valid.
    fn close(&self) {
        self.all().for_each(Shared::close);
    }

    fn __getitem__(&self, py: Python<'_>, name: Bound<'_, PyString>) -> PyResult<Tensor> {
        match self.positions(py)?.find(|at| self.name_at(at), &name)? {
            Some(at) => Ok(self.tensor(at)),
            None => Err(PyKeyError::new_err(format!("there is no tensor {}", name.repr()?))),
        }
    }

    fn __contains__(&self, py: Python<'_>, name: Bound<'_, PyAny>) -> PyResult<bool> {
        let names = self.positions(py)?;
        match name.cast::<PyString>() {
            Ok(name) => Ok(names.find(|at| self.name_at(at), name)?.is_some()),
            Err(_) => Ok(false),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.names(py)?.try_iter()?.into_any())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.positions(py)?.len())
    }

    fn __enter__(slf: Py<Self>) -> PyResult<Py<Self>> {
        slf.get().shared.get()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match self.shared.get() {
            Ok(_) => Ok(format!("<Model {}>", self.heading(py)?)),
            Err(_) => Ok("<Model, closed>".into()),
        }
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let (heading, count) = (self.heading(py)?, self.count(py)?);
        let entry = |at| {
            let (shared, at) = self.place(at);
            shared.index().entry(at)
        };
        Ok(html::model(&heading, (0..count).map(entry), count))
    }
}

impl Model {
    fn of(
        py: Python<'_>,
        model: Result<weighbridge::Model<'static>, Error>,
        buffer: Option<Py<PyAny>>,
        run: Run,
        asked: &Asked,
    ) -> PyResult<Self> {
        let Run { raised, profile, goal, .. } = run;
        let model = raised.settle(py, model)?;
        let opened = Arc::new(Opened { model, buffer, shapes: Mutex::default(), raised });
        let opened = Mutex::new(Some(opened));
        let name = asked.name().map(str::to_owned);
        let shared = Arc::new(Shared { opened, index: OnceLock::new(), name });
        Ok(Model { shared, several: None, names: OnceLock::new(), profile, goal })
    }

    /// The files that are open.
    fn all(&self) -> impl Iterator<Item = &Shared> {
        let parts = self.several.iter().flat_map(Several::there);
        std::iter::once(&*self.shared).chain(parts)
    }

    /// Number of tensors; the first call reads the indexes.
    fn count(&self, py: Python<'_>) -> PyResult<usize> {
        match &self.several {
            Some(several) => {
                self.shared.get()?;
                several.count(py)
            }
            None => Ok(self.shared.load(py)?.len()),
        }
    }

    /// The file of the tensor at a position among those counted, and its position there.
    fn place(&self, at: usize) -> (&Arc<Shared>, usize) {
        let several = self.several.as_ref();
        several.and_then(|several| several.place(at)).unwrap_or((&self.shared, at))
    }

    fn name_at(&self, at: usize) -> &[u8] {
        let (shared, at) = self.place(at);
        shared.index().name(at).as_bytes().unwrap_or_default()
    }

    /// The positions of tensors by name.
    fn positions(&self, py: Python<'_>) -> PyResult<&Names> {
        match self.names.get() {
            Some(names) if !self.shared.is_closed() => Ok(names),
            _ => {
                let count = self.count(py)?;
                Ok(self.names.get_or_init(|| Names::of(count, |at| self.name_at(at))))
            }
        }
    }

    fn tensor(&self, at: usize) -> Tensor {
        let (shared, at) = self.place(at);
        Tensor { shared: Arc::clone(shared), at }
    }

    fn heading(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.shared.name.as_ref();
        let file = name.map(|name| format!("{name:?}: ")).unwrap_or_default();
        let count = self.count(py)?;
        let s = if count == 1 { "" } else { "s" };
        let parts = match &self.several {
            Some(several) => format!(" in {} files", several.names(true).count()),
            None => String::new(),
        };
        Ok(format!("{file}{}, {count} tensor{s}{parts}", self.format()?))
    }
}
