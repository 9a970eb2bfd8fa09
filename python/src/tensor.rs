//! Tensors: their entries in the index, and their data.

use crate::model::Shared;
use crate::text;
use crate::view;
use bytemuck::try_cast_slice_mut;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use pyo3::{IntoPyObjectExt as _, intern};
use std::sync::Arc;
use weighbridge::{Encoding, Endianness, Error, Number, Quantization, Status, Summary, bf16, f16};

/// A tensor of a model.
#[pyclass(frozen, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Tensor {
    pub(crate) shared: Arc<Shared>,
    /// Position among the entries.
    pub(crate) at: usize,
}

/// Maximum bytes reserved before the first is decoded.
const AHEAD: u64 = 64 << 20;

#[pymethods]
impl Tensor {
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text::of_bytes(py, self.shared.index().name(self.at).as_bytes().unwrap_or_default())
    }

    /// The path or the URL of the file that contains the tensor; None if it has neither.
    #[getter]
    fn file(&self) -> Option<&str> {
        self.shared.name.as_deref()
    }

    /// This library's name for the element type.
    #[getter]
    pub(crate) fn dtype(&self) -> &'static str {
        self.it().dtype.name()
    }

    /// The extents, outermost first; None for one that varies or is not in the file.
    #[getter]
    pub(crate) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.shared.index().shape(self.at))
    }

    /// Number of elements; of rows, if rows vary in length.
    #[getter]
    fn elements(&self) -> u64 {
        self.it().elements
    }

    /// Number of bytes of the decoded elements, if the type has a fixed width.
    #[getter]
    fn nbytes(&self) -> Option<u64> {
        self.it().bytes()
    }

    /// `sound`, `broken` or `unsupported`.
    #[getter]
    fn status(&self) -> &'static str {
        self.it().status.name()
    }

    #[getter]
    fn layout(&self) -> &'static str {
        self.it().layout.name()
    }

    #[getter]
    fn encoding(&self) -> &'static str {
        self.it().encoding.name()
    }

    #[getter]
    fn big_endian(&self) -> bool {
        self.it().endianness == Endianness::Big
    }

    /// Position in the index.
    #[getter]
    fn index(&self) -> u32 {
        self.it().index
    }

    /// The keys that lead to the tensor in a checkpoint of PyTorch, the outermost first. The name has
    /// them joined by dots, and a key may have dots of its own. None in other formats.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(keys) = self.ask(py, |tensor| tensor.path())? else { return Ok(None) };
        let keys: Vec<_> = keys.iter().map(|key| text::string(py, key)).collect::<PyResult<_>>()?;
        PyTuple::new(py, keys).map(Some)
    }

    /// Offset and length of the stored bytes, if they are in one piece and in the model's own
    /// file.
    #[getter]
    fn span(&self) -> PyResult<Option<(u64, u64)>> {
        let len = self.shared.get()?.model.len();
        let span = self.shared.index().entry(self.at).span();
        Ok(span.filter(|span| span.offset < len).map(|span| (span.offset, span.len)))
    }

    /// Elements and bytes per block, if elements are stored in blocks.
    #[getter]
    fn block(&self) -> Option<(u32, u32)> {
        self.it().dtype.unit()
    }

    /// The element type as the header of a NumPy array spells it, if only the header says what the
    /// elements are: text, bytes, dates, time spans, records and long floats. None for others.
    #[getter]
    fn descr(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.ask(py, |tensor| tensor.descr())
    }

    /// The metadata of this tensor.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entries = self.ask(py, |tensor| tensor.metadata().collect::<Result<Vec<_>, _>>())?;
        let metadata = PyDict::new(py);
        for entry in entries {
            metadata.set_item(text::string(py, entry.key())?, text::value(py, entry.value())?)?;
        }
        Ok(metadata)
    }

    /// How elements map to real numbers: `(element - zero point) * scale`.
    #[getter]
    fn quantization<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = self.ask(py, |tensor| Ok(tensor.particulars()?.quantization))? else {
            return Ok(None);
        };
        let Quantization { axis, scales, zero_points, truncated, .. } = found;
        let quantization = PyDict::new(py);
        quantization.set_item("axis", axis)?;
        quantization.set_item("scales", scales)?;
        quantization.set_item("zero_points", zero_points)?;
        quantization.set_item("truncated", truncated)?;
        Ok(Some(quantization))
    }

    /// The elements as a read-only array: a view of the file if it is in memory and stores the data
    /// as NumPy does, otherwise a decoded copy.
    #[pyo3(signature = (*, dequantize=false))]
    fn numpy<'py>(slf: &Bound<'py, Self>, dequantize: bool) -> PyResult<Bound<'py, PyAny>> {
        static ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let (py, this) = (slf.py(), slf.get());
        if !dequantize && let Some(view) = this.view(py)? {
            return Ok(view);
        }
        ARRAY.import(py, "weighbridge._numpy", "array")?.call1((slf, dequantize))
    }

    /// The view that `numpy` would return, if any.
    fn peek<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.view(py)
    }

    /// Rows `start` to `stop` along the first axis, in the form that `numpy` returns. For raw data,
    /// only these rows are read, except for 8-bit floats, complex numbers and blocks, which are
    /// read whole.
    #[pyo3(signature = (start, stop, *, dequantize=false))]
    fn slice<'py>(
        slf: &Bound<'py, Self>,
        start: u64,
        stop: u64,
        dequantize: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        static ROWS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        ROWS.import(slf.py(), "weighbridge._numpy", "rows")?.call1((slf, start, stop, dequantize))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let array = Tensor::numpy(slf, false)?;
        match (dtype, copy) {
            (Some(dtype), _) => array.call_method1(intern!(py, "astype"), (dtype,)),
            (None, Some(true)) => array.call_method0(intern!(py, "copy")),
            (None, _) => Ok(array),
        }
    }

    /// The first `limit` elements, rows of a column, or entries of a sparse tensor as Python
    /// objects.
    #[pyo3(signature = (limit=None))]
    fn values<'py>(&self, py: Python<'py>, limit: Option<u64>) -> PyResult<Bound<'py, PyList>> {
        let limit = limit.unwrap_or(u64::MAX);
        let values = self.ask(py, |tensor| {
            let mut values = Vec::new();
            if !tensor.has_values(limit)? {
                return Err(Error::Unsupported("its values cannot be shown".into()));
            }
            tensor.values(limit, |shown| {
                values.push(shown.to_value());
                Ok::<(), Error>(())
            })?;
            Ok(values)
        })?;
        let values = values.iter().map(|value| text::value(py, value));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }

    /// Statistics of the elements; None if they are not numbers.
    fn stats(&self, py: Python<'_>) -> PyResult<Option<Stats>> {
        let found = self.ask(py, |tensor| tensor.stats())?;
        found.map(|summary| Stats::of(py, summary)).transpose()
    }

    /// The faults in this tensor's data: a list of rules, offsets and messages.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64, String)>> {
        let findings = self.ask(py, |tensor| tensor.verify())?;
        let row = |it: &weighbridge::Finding| (it.rule.id(), it.offset, it.to_string());
        Ok(findings.iter().map(row).collect())
    }

    /// The decoded bytes of all elements, in file order.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.ask(py, |tensor| {
            let len = tensor.decoded_len()?;
            let ahead = usize::try_from(len.min(AHEAD)).unwrap_or_default();
            let mut bytes = Vec::with_capacity(ahead);
            tensor.stream(|piece| {
                bytes.extend_from_slice(piece);
                Ok::<(), Error>(())
            })?;
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// All elements, or those of the rows in `range`, as bytes of `kind`, in row-major order and
    /// this machine's byte order.
    #[pyo3(signature = (kind, rows=None))]
    fn read_as<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        rows: Option<(u64, u64)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        match kind {
            "i8" => self.read::<i8>(py, rows),
            "i16" => self.read::<i16>(py, rows),
            "i32" => self.read::<i32>(py, rows),
            "i64" => self.read::<i64>(py, rows),
            "u8" => self.read::<u8>(py, rows),
            "u16" => self.read::<u16>(py, rows),
            "u32" => self.read::<u32>(py, rows),
            "u64" => self.read::<u64>(py, rows),
            "f16" => self.read::<f16>(py, rows),
            "bf16" => self.read::<bf16>(py, rows),
            "f32" => self.read::<f32>(py, rows),
            "f64" => self.read::<f64>(py, rows),
            _ => Err(PyTypeError::new_err(format!("elements cannot be read as {kind}"))),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let entry = self.shared.index().entry(self.at);
        let (name, dtype, shape) = (self.name(py)?.repr()?, self.dtype(), entry.shape());
        let status = match entry.status() {
            Status::Sound => "",
            _ => &format!(", {}", self.status()),
        };
        Ok(format!("<Tensor {name}: {dtype} {shape}{status}>"))
    }
}

impl Tensor {
    fn it(&self) -> &weighbridge::weighbridge_core::Tensor {
        self.shared.index().tensor(self.at)
    }

    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(weighbridge::Tensor<'_, 'static>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let opened = self.shared.get()?;
        opened.ask(py, |model| ask(model.tensor_of(&self.shared.index().entry(self.at))))
    }

    fn view<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        view::view(py, &self.shared, self.at)
    }

    fn read<'py, T: Number + Send>(
        &self,
        py: Python<'py>,
        rows: Option<(u64, u64)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        if let Some((start, stop)) = rows {
            let elements = self.ask(py, |tensor| tensor.rows::<T>(start..stop.max(start)))?;
            return Ok(PyBytes::new(py, bytemuck::cast_slice(&elements)));
        }
        // The length of raw data is bounded by the file; for encoded data the library checks
        // whether the declared length is plausible.
        let entry = self.shared.index().entry(self.at);
        // The elements of a sparse tensor are not the stored ones.
        let stored = entry.span().is_some_and(|span| entry.bytes() == Some(span.len));
        let raw = entry.encoding() == Encoding::Raw && stored;
        let width = size_of::<T>() as u64;
        let len = entry.elements().checked_mul(width).filter(|_| raw);
        if let Some(len) = len.and_then(|len| usize::try_from(len).ok())
            && len > 0
            && entry.status() == Status::Sound
        {
            return PyBytes::new_with(py, len, |bytes| {
                self.ask(py, |tensor| match try_cast_slice_mut::<u8, T>(bytes) {
                    Ok(elements) => tensor.read_into(elements),
                    Err(_) => {
                        let elements = tensor.to_vec::<T>()?;
                        bytes.copy_from_slice(bytemuck::cast_slice(&elements));
                        Ok(())
                    }
                })
            });
        }
        let elements = self.ask(py, |tensor| tensor.to_vec::<T>())?;
        Ok(PyBytes::new(py, bytemuck::cast_slice(&elements)))
    }
}

/// Statistics of a tensor's elements.
#[pyclass(frozen, get_all, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Stats {
    count: u64,
    min: Py<PyAny>,
    max: Py<PyAny>,
    mean: Option<f64>,
    std: Option<f64>,
    zeros: u64,
    subnormals: u64,
    infinities: u64,
    nan: u64,
    first_nan: Option<u64>,
    histogram: Option<Vec<u64>>,
}

impl Stats {
    fn of(py: Python<'_>, it: Summary) -> PyResult<Self> {
        let object = |value: Option<weighbridge::Value>| match value {
            Some(value) => text::value(py, &value).map(Bound::unbind),
            None => None::<u8>.into_py_any(py),
        };
        Ok(Stats {
            count: it.count,
            min: object(it.min)?,
            max: object(it.max)?,
            mean: it.mean,
            std: it.std,
            zeros: it.zeros,
            subnormals: it.subnormals,
            infinities: it.infinities,
            nan: it.nan,
            first_nan: it.first_nan,
            histogram: it.histogram,
        })
    }
}

#[pymethods]
impl Stats {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let number =
            |value: Option<f64>| value.map_or("None".into(), |value| format!("{value:.6}"));
        let Stats { count, min, max, mean, std, zeros, nan, .. } = self;
        let (min, max) = (min.bind(py).repr()?, max.bind(py).repr()?);
        let (mean, std) = (number(*mean), number(*std));
        Ok(format!(
            "<Stats count={count} min={min} max={max} mean={mean} std={std} zeros={zeros} nan={nan}>"
        ))
    }
}
