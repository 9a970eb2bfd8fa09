//! Checks that read nothing themselves.

use crate::options::{Asked, Run};
use crate::report::Report;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use weighbridge::Poll;

/// A check that says which bytes it needs and is given them: for stores that are read in
/// ranges, and for asyncio.
#[pyclass(module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Session {
    session: weighbridge::Session<'static>,
    run: Run,
    name: Option<String>,
    done: bool,
}

#[pymethods]
impl Session {
    #[new]
    fn new(size: u64, options: Asked) -> PyResult<Self> {
        let run = options.run()?;
        let session = weighbridge::Session::new(size, run.options.clone());
        Ok(Session { session, run, name: options.name().map(str::to_owned), done: false })
    }

    /// Offsets and lengths of the ranges that are needed; None when the check is done.
    fn poll(&mut self, py: Python<'_>) -> PyResult<Option<Vec<(u64, u64)>>> {
        let Session { session, run, .. } = self;
        let polled = py.detach(|| session.poll(run.goal));
        let polled = run.raised.settle(py, polled)?;
        self.done = polled == Poll::Done;
        Ok(match polled {
            Poll::Done => None,
            Poll::Need(ranges) => Some(ranges.iter().map(|it| (it.offset, it.len)).collect()),
        })
    }

    /// Brings bytes, those that were asked for or any others.
    fn supply(&mut self, offset: u64, bytes: PyBackedBytes) {
        self.session.supply(offset, bytes.to_vec());
    }

    /// What was found, once `poll` has returned None.
    fn report(&self) -> PyResult<Report> {
        if !self.done {
            let why = "the check is not done: call poll() until it returns None";
            return Err(PyValueError::new_err(why));
        }
        let name = self.name.as_deref().map(Into::into);
        Ok(Report { report: self.session.report().closed(name), profile: self.run.profile })
    }
}
