//! The native part of the Python package `weighbridge`, built on the crate of the same name. All
//! work is done without the interpreter lock, except for callbacks.

mod convert;
mod errors;
mod html;
mod model;
mod names;
mod options;
mod pickles;
mod report;
mod session;
mod several;
mod source;
mod tensor;
mod text;
mod view;

use pyo3::prelude::*;

/// The native part; the public interface is in `weighbridge`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::convert::{Converted, convert_path};
    #[pymodule_export]
    use crate::model::Model;
    use crate::options::Asked;
    #[pymodule_export]
    use crate::pickles::{Global, Storage};
    #[pymodule_export]
    use crate::report::{Finding, Report, Unchecked};
    #[pymodule_export]
    use crate::session::Session;
    use crate::source::{Bytes, Reader, Store, WHOLE};
    #[pymodule_export]
    use crate::tensor::{Stats, Tensor};
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use std::path::PathBuf;
    use weighbridge::Place as _;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Checks a file on disk.
    #[pyfunction]
    fn check_path(py: Python<'_>, path: PathBuf, options: Asked) -> PyResult<Report> {
        let run = options.run()?;
        let report = py.detach(|| weighbridge::check_path(&path, &run.options));
        Ok(Report { report: run.raised.settle(py, report)?, profile: run.profile })
    }

    /// Whether a path is a link that leads out of its folder: such a part of a model is not read.
    #[pyfunction]
    fn leaves(path: PathBuf) -> bool {
        weighbridge::Place::leaves(&path)
    }

    /// Checks bytes.
    #[pyfunction]
    fn check_bytes(py: Python<'_>, bytes: PyBackedBytes, options: Asked) -> PyResult<Report> {
        let run = options.run()?;
        let report = py.detach(|| {
            if bytes.len() > WHOLE {
                return weighbridge::check_input(Bytes(bytes), &run.options);
            }
            weighbridge::check_with(&bytes, &run.options)
        });
        Ok(Report::of(run.raised.settle(py, report)?, run.profile, options.name()))
    }

    /// Checks a file of `len` bytes, using `read(offset, length)`, which returns bytes.
    #[pyfunction]
    fn check_reader(py: Python<'_>, len: u64, read: Py<PyAny>, options: Asked) -> PyResult<Report> {
        let run = options.run()?;
        let input = Reader { len, read, raised: run.raised.clone() };
        let report = py.detach(|| weighbridge::check_input(input, &run.options));
        Ok(Report::of(run.raised.settle(py, report)?, run.profile, options.name()))
    }

    /// Checks a file in a folder of a store, with the files that it lists there. `open(name)`
    /// returns the length of a file and a `read` function as in `check_reader`.
    #[pyfunction]
    fn check_in_folder(
        py: Python<'_>,
        name: String,
        open: Py<PyAny>,
        options: Asked,
    ) -> PyResult<Report> {
        let run = options.run()?;
        let store = Store { open, raised: run.raised.clone() };
        let place = store.place(&name);
        let report = py.detach(|| weighbridge::check_at(place.open()?, &place, &run.options));
        Ok(Report::of(run.raised.settle(py, report)?, run.profile, options.name()))
    }
}
