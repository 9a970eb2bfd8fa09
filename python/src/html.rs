//! Tables for notebooks. Names from files are escaped twice: misleading
//! characters by the `Display` of texts, markup here.

use std::fmt::Write as _;
use weighbridge::{Entry, Report};

/// Maximum number of rows shown.
const ROWS: usize = 20;

/// The table of a report.
pub(crate) fn report(report: &Report, verdict: &str) -> String {
    let name = report.name().map_or_else(String::new, |name| escape(&format!("{name}: ")));
    let format = report.format().map_or("unknown format", weighbridge::Format::name);
    let mut out = format!("<p>{name}<b>{verdict}</b> ({format}, {} bytes)</p>", report.size());
    if let Some(diagnosis) = report.diagnosis() {
        let _ = write!(out, "<p>{}</p>", escape(&diagnosis.to_string()));
    }
    let findings = report.findings().iter().map(|found| {
        let entry = found.entry().map(ToString::to_string).unwrap_or_default();
        let severity = found.severity().name().to_owned();
        [found.rule().to_owned(), severity, found.offset().to_string(), entry, found.message()]
    });
    table(&mut out, ["rule", "severity", "byte", "entry", "message"], findings, report.total());
    let unchecked = report.unchecked().iter().map(|it| {
        let entry = it.entry().map(ToString::to_string).unwrap_or_default();
        [entry, it.why().to_owned()]
    });
    let total = report.unchecked().len() as u64 + report.unchecked_not_listed();
    table(&mut out, ["not checked", "why"], unchecked, total);
    out
}

/// The table of a model's tensors.
pub(crate) fn model(heading: &str, entries: impl Iterator<Item = Entry>, count: usize) -> String {
    let mut out = format!("<p>{}</p>", escape(heading));
    let rows = entries.map(|entry| {
        let bytes = entry.span().map_or_else(String::new, |span| span.len.to_string());
        [
            entry.name().to_string(),
            entry.dtype().name().to_owned(),
            entry.shape().to_string(),
            bytes,
        ]
    });
    table(&mut out, ["tensor", "dtype", "shape", "stored bytes"], rows, count as u64);
    out
}

fn table<const N: usize>(
    out: &mut String,
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    total: u64,
) {
    if total == 0 {
        return;
    }
    out.push_str("<table><thead><tr>");
    for cell in head {
        let _ = write!(out, "<th>{cell}</th>");
    }
    out.push_str("</tr></thead><tbody>");
    let mut shown = 0;
    for row in rows.take(ROWS) {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>");
        shown += 1;
    }
    out.push_str("</tbody></table>");
    if shown < total {
        let _ = write!(out, "<p>and {} more</p>", total - shown);
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
