//! Files that are Python objects rather than files on disk.

use crate::errors::Raised;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use std::io::ErrorKind;
use weighbridge::{Input, Place, ReadError, Text};

/// Longer bytes are read in pieces, so that a signal can stop the work.
pub(crate) const WHOLE: usize = 4 << 20;

/// Immutable bytes, read without the interpreter lock.
pub(crate) struct Bytes(pub(crate) PyBackedBytes);

impl Input for Bytes {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        if buffer.is_empty() {
            return Ok(()); // outside the bytes there is nothing to copy
        }
        let from = usize::try_from(offset).ok().and_then(|from| self.0.get(from..));
        match from.and_then(|from| from.get(..buffer.len())) {
            Some(from) => {
                buffer.copy_from_slice(from);
                Ok(())
            }
            None => Err(ReadError::Changed),
        }
    }

    fn is_near(&self) -> bool {
        true
    }
}

/// A function `read(offset, length)` that returns bytes: for a mutable buffer, a file object, or a
/// file in a store.
pub(crate) struct Reader {
    pub(crate) len: u64,
    pub(crate) read: Py<PyAny>,
    pub(crate) raised: Raised,
}

impl Input for Reader {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        if buffer.is_empty() {
            return Ok(());
        }
        let filled = Python::attach(|py| {
            let bytes = self.read.call1(py, (offset, buffer.len()))?;
            let bytes: PyBackedBytes = bytes.extract(py)?;
            let fits = bytes.len() == buffer.len();
            if fits {
                buffer.copy_from_slice(&bytes);
            }
            PyResult::Ok(fits)
        });
        match filled {
            Ok(true) => Ok(()),
            Ok(false) => Err(ReadError::Changed),
            Err(error) => Err(self.raised.while_reading(error)),
        }
    }
}

/// A folder of a store: `open(name)` returns the length of a file in it, and a function as in
/// [`Reader`].
pub(crate) struct Store {
    pub(crate) open: Py<PyAny>,
    pub(crate) raised: Raised,
}

impl Store {
    /// The place of a file in the folder.
    pub(crate) fn place(&self, name: &str) -> Key<'_> {
        Key { store: self, name: name.to_owned() }
    }
}

/// The place of a file in a store.
pub(crate) struct Key<'s> {
    store: &'s Store,
    name: String,
}

impl Place for Key<'_> {
    fn name(&self) -> Text {
        self.name.as_str().into()
    }

    fn file_name(&self) -> Text {
        self.name()
    }

    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
        let Store { open, raised } = self.store;
        if raised.is_there() {
            return Err(ReadError::Cancelled);
        }
        Python::attach(|py| match open.call1(py, (&self.name,)).and_then(|file| file.extract(py)) {
            Ok((len, read)) => {
                Ok(Box::new(Reader { len, read, raised: raised.clone() }) as Box<dyn Input>)
            }
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => {
                Err(ReadError::Io(ErrorKind::NotFound.into()))
            }
            Err(error) => Err(raised.while_reading(error)),
        })
    }

    fn beside(&self, name: &str) -> Box<dyn Place + '_> {
        Box::new(self.store.place(name))
    }
}
