//! Converts the library's errors to Python exceptions.

use pyo3::exceptions::{PyIsADirectoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use weighbridge::{Error, ReadError};

/// Exceptions raised in callbacks, on their way through the library: each belongs to the thread
/// that made the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raised(Arc<Mutex<HashMap<ThreadId, PyErr>>>);

impl Raised {
    pub(crate) fn put(&self, error: PyErr) {
        self.all().entry(thread::current().id()).or_insert(error);
    }

    /// Keeps an exception that was raised while reading bytes.
    pub(crate) fn while_reading(&self, error: PyErr) -> ReadError {
        let why = error.to_string();
        self.put(error);
        ReadError::Other(why)
    }

    pub(crate) fn is_there(&self) -> bool {
        self.all().contains_key(&thread::current().id())
    }

    fn take(&self) -> Option<PyErr> {
        self.all().remove(&thread::current().id())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<ThreadId, PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of a call, or the exception that a callback raised.
    pub(crate) fn settle<T>(&self, py: Python<'_>, result: Result<T, Error>) -> PyResult<T> {
        match self.take() {
            Some(error) => Err(error),
            None => result.map_err(|error| exception(py, &error)),
        }
    }
}

/// The exception for an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Read(ReadError::Io(io)) | Error::Write(_, io) => match io.raw_os_error() {
            // The constructor chooses the subclass by the number.
            Some(number) => PyOSError::new_err((number, os_message(&message).to_owned())),
            None => PyOSError::new_err(message),
        },
        Error::Read(ReadError::NotAFile("a folder")) => PyIsADirectoryError::new_err(message),
        Error::Read(ReadError::TooLarge(_)) | Error::Memory(_) => raise(py, &LIMIT, message),
        Error::Read(_) => PyOSError::new_err(message),
        Error::Invalid(_)
        | Error::Broken(_)
        | Error::Undecodable(_)
        | Error::NotOpened { unsupported: false, .. } => raise(py, &INVALID, message),
        Error::NotOpened { .. }
        | Error::Lossy { .. }
        | Error::Inexact { .. }
        | Error::NoArray(_)
        | Error::Unsupported(_) => raise(py, &UNSUPPORTED, message),
        Error::Length { .. } => PyValueError::new_err(message),
        Error::Shard(_, inner) => match exception(py, inner) {
            inner if inner.is_instance_of::<PyOSError>(py) => PyOSError::new_err(message),
            inner => inner,
        },
        _ => raise(py, &BASE, message),
    }
}

/// The exception that a report with this verdict raises.
pub(crate) fn for_report(
    py: Python<'_>,
    class: Class,
    message: String,
    report: Py<PyAny>,
) -> PyErr {
    let error = match class {
        Class::Invalid => raise(py, &INVALID, message),
        Class::Unsupported => raise(py, &UNSUPPORTED, message),
        Class::Limit => raise(py, &LIMIT, message),
    };
    match error.value(py).setattr("report", report) {
        Ok(()) => error,
        Err(other) => other,
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    Invalid,
    Unsupported,
    Limit,
}

/// A class of `weighbridge._errors`.
struct Exception {
    name: &'static str,
    class: PyOnceLock<Py<PyType>>,
}

static BASE: Exception = Exception::new("WeighbridgeError");
static INVALID: Exception = Exception::new("InvalidFile");
static UNSUPPORTED: Exception = Exception::new("Unsupported");
static LIMIT: Exception = Exception::new("LimitExceeded");

impl Exception {
    const fn new(name: &'static str) -> Self {
        Exception { name, class: PyOnceLock::new() }
    }
}

fn raise(py: Python<'_>, exception: &Exception, message: String) -> PyErr {
    match exception.class.import(py, "weighbridge._errors", exception.name) {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(error) => error,
    }
}

/// The system's message, without the number that the exception has anyway.
fn os_message(message: &str) -> &str {
    message.split(" (os error").next().unwrap_or(message)
}
