//! Views of elements where they lie.

use crate::model::Opened;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyTuple};
use weighbridge::{DType, Encoding, Endianness, Entry, Layout, Status};

/// Where elements are stored as NumPy has them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// The first axis is the fastest.
    pub(crate) fortran: bool,
    /// Bytes of an element.
    width: u64,
}

impl Plain {
    /// None where they are stored in another way.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let span = entry.span()?;
        let (1, width) = entry.dtype().unit()? else { return None };
        let width = u64::from(width);
        let little = cfg!(target_endian = "little");
        let native = width == 1 || (entry.endianness() == Endianness::Little) == little;
        let dense = matches!(entry.layout(), Layout::RowMajor | Layout::ColumnMajor);
        let plain = entry.status() == Status::Sound
            && entry.encoding() == Encoding::Raw
            && entry.dtype() != DType::Bool
            && entry.bytes() == Some(span.len)
            && span.len > 0
            && entry.shape().extents().iter().all(Option::is_some);
        let aligned = span.offset % width == 0;
        let fortran = entry.layout() == Layout::ColumnMajor;
        let found = Plain { offset: span.offset, len: span.len, fortran, width };
        (native && dense && plain && aligned).then_some(found)
    }
}

/// For each type, all of a buffer as elements of that type: of this slices are made, which takes
/// a third of the time that a new array of NumPy does.
pub(crate) struct Flat([PyOnceLock<Py<PyAny>>; DType::ALL.len()]);

impl Default for Flat {
    fn default() -> Self {
        Flat([const { PyOnceLock::new() }; DType::ALL.len()])
    }
}

/// The elements where they lie, if they lie there as NumPy has them.
pub(crate) fn view<'py>(
    py: Python<'py>,
    opened: &Opened,
    entry: &Entry,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let Some(buffer) = &opened.buffer else { return Ok(None) };
    let Some(plain) = Plain::of(entry) else { return Ok(None) };
    let Some(dtype) = dtype(py, entry.dtype())? else { return Ok(None) };
    if let [_] = entry.shape().extents() {
        return row(py, opened, entry, plain, buffer.bind(py), dtype).map(Some);
    }
    let ndarray = NDARRAY.import(py, "numpy", "ndarray")?;
    let (shape, buffer) = (PyTuple::new(py, entry.shape().extents())?, buffer.bind(py));
    let view = if plain.fortran {
        ndarray.call1((shape, dtype, buffer, plain.offset, py.None(), intern!(py, "F")))
    } else {
        ndarray.call1((shape, dtype, buffer, plain.offset))
    };
    match view {
        // A shape that NumPy does not have.
        Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(None),
        view => view.map(Some),
    }
}

/// Those of a tensor with one axis.
fn row<'py>(
    py: Python<'py>,
    opened: &Opened,
    entry: &Entry,
    plain: Plain,
    buffer: &Bound<'py, PyAny>,
    dtype: &Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let Plain { offset, len, width, .. } = plain;
    let flat = opened.flat.0[entry.dtype() as usize].get_or_try_init(py, || {
        let count = opened.model.len() / width;
        let made = FROM_BUFFER.import(py, "numpy", "frombuffer")?.call1((buffer, dtype, count))?;
        PyResult::Ok(made.unbind())
    })?;
    let place = |at: u64| isize::try_from(at / width).map_err(PyValueError::new_err);
    flat.bind(py).get_item(PySlice::new(py, place(offset)?, place(offset + len)?, 1))
}

/// The dtype of NumPy, where its elements are stored as NumPy has them.
fn dtype(py: Python<'_>, of: DType) -> PyResult<Option<&'static Py<PyAny>>> {
    static DTYPES: PyOnceLock<Vec<Option<Py<PyAny>>>> = PyOnceLock::new();
    let dtypes = DTYPES.get_or_try_init(py, || {
        let views = py.import("weighbridge._numpy")?.getattr("VIEWS")?.cast_into::<PyDict>()?;
        let found = |dtype: &DType| Ok(views.get_item(dtype.name())?.map(Bound::unbind));
        DType::ALL.iter().map(found).collect::<PyResult<Vec<_>>>()
    })?;
    Ok(dtypes.get(of as usize).and_then(Option::as_ref))
}
