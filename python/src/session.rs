//! Checks that do no reading themselves.

use crate::options::{Asked, Run};
use crate::report::Report;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use weighbridge::weighbridge_core::{Cursor, File, Metadata, Stop};
use weighbridge::{Poll, SetPart};

/// A check that requests bytes from its caller: for stores that are read in
/// ranges, and for asyncio.
#[pyclass(module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Session {
    session: weighbridge::Session<'static>,
    run: Run,
    name: Option<String>,
    part: Noted,
    done: bool,
}

/// Facts about other files from the metadata, and how far the metadata were
/// read.
#[derive(Debug, Default)]
struct Noted {
    part: SetPart,
    cursor: Cursor,
    /// An entry that has been read but not yet recorded.
    at_hand: Option<Metadata>,
    done: bool,
}

impl Noted {
    /// Reads the metadata of a GGUF file.
    fn note(&mut self, session: &mut weighbridge::Session<'static>) -> Poll {
        let Noted { part, cursor, at_hand, done } = self;
        if *done || !matches!(session.file(), Some(File::Gguf(_))) {
            return Poll::Done;
        }
        let noted = session.ask(|file, source| {
            loop {
                if at_hand.is_none() {
                    let next = file.next_meta(source, cursor, &mut |_| {})?;
                    *at_hand = next.map(|entry| entry.metadata);
                }
                let Some(meta) = &at_hand else { return Ok(()) };
                part.note(source, file, meta)?;
                *at_hand = None;
            }
        });
        match noted {
            Err(Stop::NeedBytes(_)) => Poll::Need(session.needs().to_vec()),
            // The check has already reported unreadable metadata.
            _ => {
                *done = true;
                Poll::Done
            }
        }
    }
}

#[pymethods]
impl Session {
    #[new]
    fn new(size: u64, options: Asked) -> PyResult<Self> {
        let run = options.run()?;
        let session = weighbridge::Session::new(size, run.options.clone());
        let name = options.name().map(str::to_owned);
        Ok(Session { session, run, name, part: Noted::default(), done: false })
    }

    /// Offsets and lengths of the required ranges; None when the check is done.
    fn poll(&mut self, py: Python<'_>) -> PyResult<Option<Vec<(u64, u64)>>> {
        let Session { session, run, part, .. } = self;
        let polled = py.detach(|| match session.poll(run.goal)? {
            Poll::Done => Ok(part.note(session)),
            need => Ok(need),
        });
        let polled = run.raised.settle(py, polled)?;
        self.done = polled == Poll::Done;
        Ok(match polled {
            Poll::Done => None,
            Poll::Need(ranges) => Some(ranges.iter().map(|it| (it.offset, it.len)).collect()),
        })
    }

    /// Whether the file is one part of several, once `poll` has returned None.
    #[getter]
    fn is_part(&self) -> bool {
        self.part.part.is_one_of_many()
    }

    /// Adds bytes, requested or not.
    fn supply(&mut self, offset: u64, bytes: PyBackedBytes) {
        self.session.supply(offset, bytes.to_vec());
    }

    /// The report, once `poll` has returned None.
    fn report(&self) -> PyResult<Report> {
        if !self.done {
            let why = "the check has not finished: call poll() until it returns None";
            return Err(PyValueError::new_err(why));
        }
        let name = self.name.as_deref().map(Into::into);
        Ok(Report { report: self.session.report().closed(name), profile: self.run.profile })
    }
}
