//! Reports as members of JSON objects; their names and order are part of the
//! interface.

use crate::json::{List, Object};
use crate::report::{Found, Report, Unchecked};
use crate::text::Text;
use serde::Serialize;
use std::io;
use weighbridge_core::{Count, File};

#[derive(Serialize)]
struct UncheckedView<'a> {
    entry: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_hex: Option<String>,
    why: &'a str,
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
    expected: Option<Number>,
    found: Option<Number>,
    message: String,
    spec: &'static str,
}

/// A number of a finding as its message has it.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Signed(i64),
    Text(String),
}

#[derive(Serialize)]
struct CountView {
    rule: &'static str,
    severity: &'static str,
    count: u64,
}

/// The members of a report up to what was checked.
pub(crate) fn head(object: &mut Object<'_>, file: &Text, report: &Report) -> io::Result<()> {
    let version = report.file.as_ref().and_then(File::version).map(|v| v.to_string());
    name(object, file)?;
    object.member("format", &report.format.map(|format| format.name()))?;
    object.member("version", &version)?;
    object.member("size", &report.size)?;
    object.member("verdict", verdict(report))?;
    object.member("checked", &report.checked)
}

/// What was not checked, as far as the report knows. More may follow.
pub(crate) fn unchecked<'o>(object: &'o mut Object<'_>, report: &Report) -> io::Result<List<'o>> {
    let mut list = object.list("unchecked")?;
    report.unchecked.iter().try_for_each(|it| left(&mut list, it))?;
    Ok(list)
}

/// A thing that was not checked.
pub(crate) fn left(list: &mut List<'_>, unchecked: &Unchecked) -> io::Result<()> {
    list.item(&UncheckedView {
        entry: unchecked.entry.as_deref().map(Text::lossy),
        entry_hex: unchecked.entry.as_deref().and_then(Text::hex),
        why: &unchecked.why,
    })
}

/// The findings, and how many there are of each rule that are not listed.
pub(crate) fn findings(object: &mut Object<'_>, report: &Report) -> io::Result<()> {
    let mut list = object.list("findings")?;
    report.findings.iter().try_for_each(|found| list.item(&FindingView::new(found)))?;
    list.end()?;
    if report.tally.dropped() > 0 {
        let mut list = object.list("findings_not_listed")?;
        for Count { rule, found, kept } in report.tally.rules().filter(|it| it.found > it.kept) {
            let severity = rule.severity().name();
            list.item(&CountView { rule: rule.id(), severity, count: found - kept })?;
        }
        list.end()?;
    }
    let more = Some(report.unchecked_more).filter(|more| *more > 0);
    object.optional("unchecked_not_listed", more)
}

/// The members of a report on a file that could not be read.
pub(crate) fn failed(object: &mut Object<'_>, file: &Text, why: &str) -> io::Result<()> {
    name(object, file)?;
    for key in ["format", "version", "size", "verdict"] {
        object.member(key, &None::<u8>)?;
    }
    object.list("checked")?.end()?;
    let mut list = object.list("unchecked")?;
    list.item(&UncheckedView { entry: None, entry_hex: None, why: "the file could not be read" })?;
    list.end()?;
    object.list("findings")?.end()?;
    object.member("error", why)
}

fn name(object: &mut Object<'_>, file: &Text) -> io::Result<()> {
    object.member("file", &file.lossy())?;
    object.optional("file_hex", file.hex())
}

/// The verdict under the chosen profile, for what was checked.
pub(crate) fn verdict(report: &Report) -> &'static str {
    if report.valid { "valid" } else { "invalid" }
}

impl FindingView {
    fn new(Found { finding, entry }: &Found) -> Self {
        let info = finding.rule.info();
        // A rule whose sentence tells no number is not about numbers.
        let counts = info.message.contains('{');
        let number = |name: &str, value: u64| counts.then(|| Number::of(info.message, name, value));
        FindingView {
            rule: info.id,
            severity: finding.severity().name(),
            offset: finding.offset,
            len: finding.len,
            entry: entry.as_deref().map(Text::lossy),
            entry_hex: entry.as_deref().and_then(Text::hex),
            expected: number("expected", finding.expected),
            found: number("found", finding.found),
            message: finding.to_string(),
            spec: info.spec,
        }
    }
}

impl Number {
    /// The number that stands for `name` in a message.
    fn of(message: &str, name: &str, value: u64) -> Number {
        let is = |form: &str| message.contains(&format!("{{{name}:{form}}}"));
        if is("i") {
            Number::Signed(value.cast_signed())
        } else if is("i32") {
            Number::Signed((value as u32).cast_signed().into())
        } else if is("v") {
            Number::Text(weighbridge_core::Version::of_number(value).to_string())
        } else {
            Number::Plain(value)
        }
    }
}
