//! Converts keyword arguments to the library's options for checking and
//! reading.

use crate::errors::Raised;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use weighbridge::{Format, Goal, Options, Profile};

/// Milliseconds between two calls into Python, to look for signals or to report
/// progress. Taking the interpreter lock may take as long as another thread
/// runs.
const PAUSE: u64 = 50;

/// The attributes of `weighbridge._options.Options`.
#[derive(Debug, FromPyObject)]
pub(crate) struct Asked {
    format: Option<String>,
    lenient: bool,
    structure: bool,
    deny: Vec<String>,
    allow_global: Vec<String>,
    max_work: Option<u64>,
    memory: Option<u64>,
    second_opinion: bool,
    granule: Option<u64>,
    name: Option<String>,
    progress: Option<Py<PyAny>>,
}

/// Options of the library, and the exceptions that callbacks raise.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) options: Options,
    pub(crate) profile: Profile,
    pub(crate) goal: Goal,
    pub(crate) raised: Raised,
}

impl Asked {
    /// The name of the file, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// # Errors
    /// `ValueError` for an unknown format or rule.
    pub(crate) fn run(&self) -> PyResult<Run> {
        let profile = if self.lenient { Profile::Lenient } else { Profile::Strict };
        let goal = if self.structure { Goal::Structure } else { Goal::Payloads };
        let mut options = Options::new().profile(profile).goal(goal);
        if let Some(name) = &self.format {
            options = options.format(by_name(name)?);
        }
        if let Some(name) = &self.name {
            options = options.file_name(name);
        }
        for what in &self.deny {
            options = options.deny(what).map_err(PyValueError::new_err)?;
        }
        for what in &self.allow_global {
            options = options.allow_global(what).map_err(PyValueError::new_err)?;
        }
        if let Some(work) = self.max_work {
            options = options.work(work);
        }
        if let Some(memory) = self.memory {
            options = options.memory(memory);
        }
        if self.second_opinion {
            options = options.second_opinion();
        }
        if let Some(granule) = self.granule {
            options = options.granule(granule);
        }
        let raised = Raised::default();
        options = watch_signals(options, &raised);
        if let Some(progress) = &self.progress {
            options = report_progress(options, progress, &raised);
        }
        Ok(Run { options, profile, goal, raised })
    }
}

fn by_name(name: &str) -> PyResult<Format> {
    Format::by_name(name).filter(|format| format.is_available()).ok_or_else(|| {
        let known: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        PyValueError::new_err(format!(
            "unknown format {name:?}; known formats: {}",
            known.join(", ")
        ))
    })
}

/// Stops the work after a signal, such as Ctrl+C, and after an exception in a
/// callback.
fn watch_signals(options: Options, raised: &Raised) -> Options {
    let (raised, pause) = (raised.clone(), Pause::new());
    options.cancel_when(move || {
        if pause.is_over() {
            Python::attach(|py| py.check_signals().unwrap_or_else(|error| raised.put(error)));
        }
        raised.is_there()
    })
}

/// Calls `progress(read, size)`.
fn report_progress(options: Options, progress: &Py<PyAny>, raised: &Raised) -> Options {
    let progress = Python::attach(|py| progress.clone_ref(py));
    let (raised, pause) = (raised.clone(), Pause::new());
    options.on_progress(move |at| {
        if (at.done || pause.is_over()) && !raised.is_there() {
            let read = if at.done { at.len } else { at.read };
            Python::attach(|py| {
                if let Err(error) = progress.call1(py, (read, at.len)) {
                    raised.put(error);
                }
            });
        }
    })
}

/// Limits how often something is done.
struct Pause {
    since: Instant,
    next: AtomicU64,
}

impl Pause {
    fn new() -> Self {
        Pause { since: Instant::now(), next: AtomicU64::new(PAUSE) }
    }

    /// Whether the pause is over; if so, starts the next one.
    fn is_over(&self) -> bool {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let next = self.next.load(Ordering::Relaxed);
        let later = now.saturating_add(PAUSE);
        now >= next
            && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
