//! Reports as JSON objects; the fields and their order are part of the
//! interface.

use crate::report::{Found, Report, Unchecked};
use crate::text::Text;
use serde::Serialize;
use weighbridge::File;

/// What `check` and `inspect` have in common.
#[derive(Serialize)]
pub(crate) struct ReportView {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    format: Option<&'static str>,
    version: Option<String>,
    size: u64,
    verdict: &'static str,
    checked: Vec<&'static str>,
    unchecked: Vec<UncheckedView>,
    findings: Vec<FindingView>,
}

#[derive(Serialize)]
struct UncheckedView {
    entry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_hex: Option<String>,
    why: String,
}

#[derive(Serialize)]
struct FindingView {
    rule: &'static str,
    severity: &'static str,
    offset: u64,
    len: u32,
    entry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_hex: Option<String>,
    expected: Option<u64>,
    found: Option<u64>,
    message: String,
    spec: &'static str,
}

impl ReportView {
    pub(crate) fn new(file: &Text, report: &Report) -> Self {
        ReportView {
            file: file.lossy(),
            file_hex: file.hex(),
            format: report.format.map(|format| format.name()),
            version: report.file.as_ref().and_then(File::version).map(|v| v.to_string()),
            size: report.size,
            verdict: verdict(report),
            checked: report.checked.clone(),
            unchecked: report.unchecked.iter().map(UncheckedView::new).collect(),
            findings: report.findings.iter().map(FindingView::new).collect(),
        }
    }
}

/// The verdict under the chosen profile, for what was checked.
pub(crate) fn verdict(report: &Report) -> &'static str {
    if report.valid { "valid" } else { "invalid" }
}

impl UncheckedView {
    fn new(unchecked: &Unchecked) -> Self {
        UncheckedView {
            entry: unchecked.entry.as_deref().map(Text::lossy),
            entry_hex: unchecked.entry.as_deref().and_then(Text::hex),
            why: unchecked.why.clone(),
        }
    }
}

impl FindingView {
    fn new(Found { finding, entry }: &Found) -> Self {
        let info = finding.rule.info();
        // A rule whose sentence tells no number is not about numbers.
        let counts = info.message.contains('{');
        FindingView {
            rule: info.id,
            severity: finding.severity().name(),
            offset: finding.at,
            len: finding.len,
            entry: entry.as_deref().map(Text::lossy),
            entry_hex: entry.as_deref().and_then(Text::hex),
            expected: counts.then_some(finding.expected),
            found: counts.then_some(finding.found),
            message: finding.to_string(),
            spec: info.spec,
        }
    }
}
