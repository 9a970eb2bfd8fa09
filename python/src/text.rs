//! Converts texts and values of files to Python objects.

use pyo3::IntoPyObjectExt as _;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use weighbridge::{Text, Value};

/// A name; bytes that are not UTF-8 become surrogates, as in paths.
pub(crate) fn string<'py>(py: Python<'py>, text: &Text) -> PyResult<Bound<'py, PyString>> {
    of_bytes(py, text.as_bytes())
}

/// The same for bytes.
pub(crate) fn of_bytes<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match str::from_utf8(text) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => {
            let bytes = PyBytes::new(py, text);
            let decoded = bytes.call_method1("decode", ("utf-8", "surrogateescape"))?;
            Ok(decoded.cast_into::<PyString>()?)
        }
    }
}

/// A value as a Python object.
pub(crate) fn value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Bool(value) => value.into_bound_py_any(py),
        Value::Int(value) => value.into_bound_py_any(py),
        Value::Float(value) => value.into_bound_py_any(py),
        Value::Text(text) => Ok(string(py, text)?.into_any()),
        Value::List(items) => {
            let items = items.iter().map(|item| self::value(py, item));
            Ok(PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        Value::Map(members) => {
            let map = PyDict::new(py);
            for (key, member) in members {
                map.set_item(key, self::value(py, member)?)?;
            }
            Ok(map.into_any())
        }
        Value::Pairs(pairs) => {
            let pair = |(key, member): &(Value, Value)| {
                PyTuple::new(py, [self::value(py, key)?, self::value(py, member)?])
            };
            Ok(PyList::new(py, pairs.iter().map(pair).collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
        _ => Ok(py.None().into_bound(py)),
    }
}
