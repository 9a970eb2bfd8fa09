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
    use crate::errors::Raised;
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
    use weighbridge::{Archive, ArchiveMember, Error, Options, Place};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Checks a file on disk.
    #[pyfunction]
    fn check_path(py: Python<'_>, path: PathBuf, options: Asked) -> PyResult<Report> {
        let run = options.run()?;
        let report = py.detach(|| judged(&path, &run.options));
        Ok(Report { report: run.raised.settle(py, report)?, profile: run.profile })
    }

    /// Whether a path is a link that leads out of its folder: such a part of a model is not read.
    #[pyfunction]
    fn leaves(path: PathBuf) -> bool {
        Place::leaves(&path)
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
        let report = py.detach(|| judged(&place, &run.options));
        Ok(Report::of(run.raised.settle(py, report)?, run.profile, options.name()))
    }

    /// The members of an archive of models: the name of each, its offset, and its length; None instead
    /// of these if its bytes are not in the file as they are. None if the file is no such archive.
    /// `open` is as in `check_in_folder`.
    #[pyfunction]
    fn members(py: Python<'_>, name: String, open: Py<PyAny>) -> PyResult<Option<Vec<Listed>>> {
        let store = Store { open, raised: Raised::default() };
        let raised = store.raised.clone();
        let listed = py.detach(|| {
            let place = store.place(&name);
            let input = place.open()?;
            let Some(archive) = Archive::of(&*input, &place)? else { return Ok(None) };
            let span = |it: &ArchiveMember| it.span().map(|span| (span.offset, span.len));
            let members = archive.members().iter().map(|it| (it.name().to_owned(), span(it)));
            Ok(Some(members.collect()))
        });
        raised.settle(py, listed)
    }

    /// A member of an archive, and its place.
    type Listed = (String, Option<(u64, u64)>);

    /// Checks the file at a place, with what the settings in an archive of models make a program run.
    fn judged(place: &dyn Place, options: &Options) -> Result<weighbridge::Report, Error> {
        let input = place.open()?;
        let mut report = weighbridge::check_at(&*input, place, options)?;
        report.search_settings(&*input, &place.file_name().lossy())?;
        Ok(report)
    }
}
