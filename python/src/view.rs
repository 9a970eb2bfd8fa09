//! Views of elements where they lie.

use crate::model::Shared;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PySlice, PyTuple};
use weighbridge::core::Tensor;
use weighbridge::{DType, Endianness, Layout};

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
    pub(crate) fn of(tensor: &Tensor, shape: &[Option<u64>]) -> Option<Self> {
        let span = tensor.raw()?;
        let (1, width) = tensor.dtype.unit()? else { return None };
        let width = u64::from(width);
        let little = cfg!(target_endian = "little");
        let native = width == 1 || (tensor.endianness == Endianness::Little) == little;
        let dense = matches!(tensor.layout, Layout::RowMajor | Layout::ColumnMajor);
        let plain = tensor.dtype != DType::Bool
            && tensor.bytes() == Some(span.len)
            && span.len > 0
            && shape.iter().all(Option::is_some);
        let aligned = span.offset % width == 0;
        let fortran = tensor.layout == Layout::ColumnMajor;
        let found = Plain { offset: span.offset, len: span.len, fortran, width };
        (native && dense && plain && aligned).then_some(found)
    }
}

impl Plain {
    /// Those elements, of all that a file has.
    fn of_flat<'py>(self, flat: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let place = |at: u64| isize::try_from(at / self.width).map_err(PyValueError::new_err);
        let (start, stop) = (place(self.offset)?, place(self.offset + self.len)?);
        flat.get_item(PySlice::new(flat.py(), start, stop, 1))
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

impl Flat {
    pub(crate) fn get(&self, py: Python<'_>, of: DType) -> Option<&Py<PyAny>> {
        self.0.get(of as usize)?.get(py)
    }
}

/// The elements where they lie, if they lie there as NumPy has them.
pub(crate) fn view<'py>(
    py: Python<'py>,
    shared: &Shared,
    at: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (tensor, shape) = (shared.index().tensor(at), shared.index().shape(at));
    let plain = Plain::of(tensor, shape);
    if let ([_], Some(plain)) = (shape, plain)
        && let Some(flat) = shared.flat(py, tensor.dtype)?
    {
        return plain.of_flat(flat.bind(py)).map(Some);
    }
    let opened = shared.get()?;
    let (Some(plain), Some(buffer)) = (plain, &opened.buffer) else { return Ok(None) };
    let Some(dtype) = dtype(py, tensor.dtype)? else { return Ok(None) };
    if let [_] = shape {
        static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let flat = opened.flat.0[tensor.dtype as usize].get_or_try_init(py, || {
            let from_buffer = FROM_BUFFER.import(py, "numpy", "frombuffer")?;
            let made = from_buffer.call1((buffer, dtype, opened.model.len() / plain.width))?;
            PyResult::Ok(made.unbind())
        })?;
        return plain.of_flat(flat.bind(py)).map(Some);
    }
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let ndarray = NDARRAY.import(py, "numpy", "ndarray")?;
    let (shape, buffer) = (PyTuple::new(py, shape)?, buffer.bind(py));
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
