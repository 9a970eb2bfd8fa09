//! Views of elements in place.

use crate::model::Shared;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use weighbridge::weighbridge_core::Tensor;
use weighbridge::{DType, Endianness, Layout};

/// A tensor whose elements are stored as in NumPy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// Whether the first axis is the fastest.
    pub(crate) fortran: bool,
    /// Bytes per element.
    width: u64,
}

impl Plain {
    /// `None` if the elements are stored in another way.
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

/// Number of shapes whose windows are kept. In models with more shapes, each array may be created
/// individually.
const SHAPES: usize = 16;

/// Arrays of one type and shape that begin at each element of a file: one array over the buffer
/// whose axes are longer than the buffer, because they overlap. Indexing it takes less than half
/// the time of creating a new NumPy array.
#[derive(Debug)]
struct Windows {
    dtype: DType,
    fortran: bool,
    shape: Vec<Option<u64>>,
    /// Created when a second tensor has this shape.
    array: Option<Py<PyAny>>,
}

/// The windows of an open file, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Shapes(Vec<Windows>);

/// What is known about a shape.
enum Known {
    Unseen,
    Seen,
    Made(Py<PyAny>),
}

impl Windows {
    fn fits(&self, dtype: DType, fortran: bool, shape: &[Option<u64>]) -> bool {
        self.dtype == dtype && self.fortran == fortran && self.shape == shape
    }
}

impl Shapes {
    fn known(&self, py: Python<'_>, of: DType, plain: &Plain, shape: &[Option<u64>]) -> Known {
        match self.0.iter().find(|it| it.fits(of, plain.fortran, shape)) {
            Some(Windows { array: Some(array), .. }) => Known::Made(array.clone_ref(py)),
            Some(_) => Known::Seen,
            None => Known::Unseen,
        }
    }

    /// Stores windows, or records that the shape was seen; returns the windows that this displaces.
    fn keep(&mut self, new: Windows) -> Option<Windows> {
        let known = self.0.iter().position(|it| it.fits(new.dtype, new.fortran, &new.shape));
        let gone = known.or((self.0.len() == SHAPES).then_some(0)).map(|at| self.0.remove(at));
        self.0.push(new);
        gone
    }
}

/// A view of the elements, if they are stored as in NumPy.
pub(crate) fn view<'py>(
    py: Python<'py>,
    shared: &Shared,
    at: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (tensor, shape) = (shared.index().tensor(at), shared.index().shape(at));
    let Some(plain) = Plain::of(tensor, shape) else {
        return shared.get().map(|_| None);
    };
    // Indexing an array with one axis returns a scalar, not an array.
    let known = shared.shapes(|shapes| match shape {
        [] => Known::Unseen,
        _ => shapes.known(py, tensor.dtype, &plain, shape),
    })?;
    // Data in another file is not in the buffer.
    if plain.offset.saturating_add(plain.len) > shared.get()?.model.len() {
        return Ok(None);
    }
    let first = plain.offset / plain.width;
    if let Known::Made(windows) = &known {
        return windows.bind(py).get_item(first).map(Some);
    }
    let opened = shared.get()?;
    let Some(buffer) = &opened.buffer else { return Ok(None) };
    let Some(dtype) = dtype(py, tensor.dtype)? else { return Ok(None) };
    static NDARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let ndarray = NDARRAY.import(py, "numpy", "ndarray")?;
    let keep = |array: Option<Py<PyAny>>| {
        let windows =
            Windows { dtype: tensor.dtype, fortran: plain.fortran, shape: shape.to_vec(), array };
        shared.shapes(|shapes| shapes.keep(windows))
    };
    if let Known::Seen = known {
        let count = (opened.model.len() / plain.width).saturating_sub(plain.len / plain.width) + 1;
        let mut strides = vec![plain.width; shape.len() + 1];
        let mut stride = plain.width;
        for i in 0..shape.len() {
            let axis = if plain.fortran { i } else { shape.len() - 1 - i };
            strides[axis + 1] = stride;
            stride = stride.saturating_mul(shape[axis].unwrap_or_default());
        }
        let extents = PyTuple::new(py, [&[Some(count)], shape].concat())?;
        let strides = PyTuple::new(py, strides)?;
        match ndarray.call1((extents, dtype, buffer, 0, strides)) {
            Ok(windows) => {
                let view = windows.get_item(first)?;
                drop(keep(Some(windows.unbind()))?);
                return Ok(Some(view));
            }
            // Too many elements to count: large tensors are created individually.
            Err(error) if error.is_instance_of::<PyValueError>(py) => {}
            Err(error) => return Err(error),
        }
    } else if !shape.is_empty() {
        drop(keep(None)?);
    }
    let order = if plain.fortran { intern!(py, "F") } else { intern!(py, "C") };
    let view =
        ndarray.call1((PyTuple::new(py, shape)?, dtype, buffer, plain.offset, py.None(), order));
    match view {
        // NumPy does not support the shape.
        Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(None),
        view => view.map(Some),
    }
}

/// The NumPy dtype, if NumPy stores the elements in the same way.
fn dtype(py: Python<'_>, of: DType) -> PyResult<Option<&'static Py<PyAny>>> {
    static DTYPES: PyOnceLock<Vec<Option<Py<PyAny>>>> = PyOnceLock::new();
    let dtypes = DTYPES.get_or_try_init(py, || {
        let views = py.import("weighbridge._numpy")?.getattr("VIEWS")?.cast_into::<PyDict>()?;
        let found = |dtype: &DType| Ok(views.get_item(dtype.name())?.map(Bound::unbind));
        DType::ALL.iter().map(found).collect::<PyResult<Vec<_>>>()
    })?;
    Ok(dtypes.get(of as usize).and_then(Option::as_ref))
}
