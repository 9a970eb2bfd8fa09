//! Reports.

use crate::errors::{self, Class};
use crate::html;
use crate::pickles;
use crate::text;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use weighbridge::weighbridge_core::general;
use weighbridge::{Found, Profile, Severity, Verdict};

/// The result of checking a file.
#[pyclass(frozen, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) report: weighbridge::Report,
    pub(crate) profile: Profile,
}

/// A broken rule.
#[pyclass(frozen, get_all, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Finding {
    rule: &'static str,
    severity: &'static str,
    offset: u64,
    len: u32,
    entry: Option<Py<PyString>>,
    message: String,
    spec: &'static str,
}

/// A check that was not done.
#[pyclass(frozen, get_all, module = "weighbridge")]
#[derive(Debug)]
pub(crate) struct Unchecked {
    entry: Option<Py<PyString>>,
    why: String,
    /// Whether the check was requested, so that the verdict depends on it.
    asked: bool,
}

#[pymethods]
impl Report {
    #[getter]
    fn verdict(&self) -> &'static str {
        self.answer().name()
    }

    #[getter]
    fn is_valid(&self) -> bool {
        self.answer().is_valid()
    }

    #[getter]
    fn file<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyString>>> {
        self.report.name().map(|name| text::string(py, name)).transpose()
    }

    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.report.format().map(weighbridge::Format::name)
    }

    #[getter]
    fn version(&self) -> Option<String> {
        self.report.version().map(|version| version.to_string())
    }

    #[getter]
    fn size(&self) -> u64 {
        self.report.size()
    }

    #[getter]
    fn checked(&self) -> Vec<&'static str> {
        self.report.checked().to_vec()
    }

    #[getter]
    fn diagnosis(&self) -> Option<String> {
        self.report.diagnosis().map(ToString::to_string)
    }

    /// Findings in file order; at most 1,000 per rule.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let findings = self.report.findings().iter().map(|found| Finding::of(py, found));
        PyList::new(py, findings.collect::<PyResult<Vec<_>>>()?)
    }

    /// Number of findings, listed or not.
    #[getter]
    fn total(&self) -> u64 {
        self.report.total()
    }

    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let unchecked = self.report.unchecked().iter().map(|it| {
            let entry = it.entry().map(|entry| text::string(py, entry)).transpose()?;
            let (entry, why) = (entry.map(Bound::unbind), it.why().to_owned());
            Ok(Unchecked { entry, why, asked: it.was_asked_for() })
        });
        PyList::new(py, unchecked.collect::<PyResult<Vec<_>>>()?)
    }

    /// What the pickles of the file import, each name once.
    #[getter]
    fn globals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        pickles::globals(py, &self.report, &list)?;
        Ok(list)
    }

    /// The line that `weighbridge check --json` prints.
    fn to_json(&self) -> String {
        self.report.to_json()
    }

    /// The log that `weighbridge check --output sarif` prints for this file.
    fn to_sarif(&self) -> String {
        self.report.to_sarif()
    }

    /// Raises `InvalidFile`, `Unsupported` or `LimitExceeded` unless the file is valid.
    pub(crate) fn raise_for_status(slf: Bound<'_, Self>) -> PyResult<()> {
        let this = slf.get();
        let class = match this.answer() {
            Verdict::Valid => return Ok(()),
            Verdict::Invalid => Class::Invalid,
            Verdict::Unchecked if this.has_met_limit() => Class::Limit,
            Verdict::Unchecked | Verdict::Unsupported => Class::Unsupported,
        };
        let message = this.summary();
        let py = slf.py();
        Err(errors::for_report(py, class, message, slf.into_any().unbind()))
    }

    fn __repr__(&self) -> String {
        let format = self.format().unwrap_or("unknown");
        let file = self.report.name().map(|name| format!(" {name:?}", name = name.to_string()));
        let verdict = self.verdict();
        let mut out = format!("<Report{}: {format}, {verdict}", file.unwrap_or_default());
        match self.report.total() {
            0 => {}
            1 => out.push_str(", 1 finding"),
            n => out.push_str(&format!(", {n} findings")),
        }
        out.push('>');
        out
    }

    fn __str__(&self) -> String {
        self.summary()
    }

    fn _repr_html_(&self) -> String {
        html::report(&self.report, self.verdict())
    }
}

impl Report {
    pub(crate) fn of(report: weighbridge::Report, profile: Profile, name: Option<&str>) -> Self {
        let report = match name {
            Some(name) => report.with_name(name),
            None => report,
        };
        Report { report, profile }
    }

    fn answer(&self) -> Verdict {
        self.report.verdict(self.profile)
    }

    /// Whether a check was left out because of the caller's limit on memory or work.
    fn has_met_limit(&self) -> bool {
        let limits = [
            general::NAMES_UNCHECKED,
            general::COVERAGE_UNCHECKED,
            general::COORDINATES_UNCHECKED,
            general::SHARED_UNCHECKED,
            general::WORK_UNCHECKED,
        ];
        self.report.tally().rules().any(|count| limits.contains(&count.rule))
    }

    /// A sentence with the verdict and the worst reason for it.
    fn summary(&self) -> String {
        let Report { report, .. } = self;
        let name = report.name().map_or("the file".into(), |name| format!("\"{name}\""));
        let verdict = match self.answer() {
            Verdict::Unchecked => "could not be checked completely",
            Verdict::Unsupported => "is in an unsupported format",
            Verdict::Invalid => "is invalid",
            Verdict::Valid => "is valid",
        };
        let mut out = format!("{name} {verdict}");
        if let Some(diagnosis) = report.diagnosis() {
            out.push_str(&format!(": {diagnosis}"));
        } else if let Some(worst) = worst(report.findings()).filter(|_| !self.is_valid()) {
            out.push_str(&format!(": {} at byte {}: ", worst.rule(), worst.offset()));
            if let Some(entry) = worst.entry() {
                out.push_str(&format!("\"{entry}\": "));
            }
            out.push_str(&worst.message());
        } else if let Some(left) = report.unchecked().iter().find(|it| it.was_asked_for()) {
            out.push_str(&format!(": {}", left.why()));
        }
        if report.total() > 1 && !self.is_valid() {
            out.push_str(&format!("; {} findings in all", report.total()));
        }
        out
    }
}

/// The first finding of the highest severity.
fn worst(findings: &[Found]) -> Option<&Found> {
    let rank = |found: &&Found| found.severity() == Severity::Fatal;
    findings.iter().find(rank).or_else(|| findings.first())
}

impl Finding {
    fn of(py: Python<'_>, found: &Found) -> PyResult<Self> {
        let entry = found.entry().map(|entry| text::string(py, entry)).transpose()?;
        Ok(Finding {
            rule: found.rule(),
            severity: found.severity().name(),
            offset: found.offset(),
            len: found.len(),
            entry: entry.map(Bound::unbind),
            message: found.message(),
            spec: found.spec(),
        })
    }
}

#[pymethods]
impl Finding {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Finding { rule, severity, offset, message, .. } = self;
        let entry = match &self.entry {
            Some(entry) => format!(" {}", entry.bind(py).repr()?),
            None => String::new(),
        };
        Ok(format!("<Finding {rule} ({severity}) at {offset}{entry}: {message}>"))
    }
}

#[pymethods]
impl Unchecked {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let entry = match &self.entry {
            Some(entry) => format!(" {}", entry.bind(py).repr()?),
            None => String::new(),
        };
        Ok(format!("<Unchecked{entry}: {}>", self.why))
    }
}
