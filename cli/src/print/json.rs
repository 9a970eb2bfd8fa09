//! JSON output: one object and one line per file.

use super::{Context, Done, Seen, Sorted};
use crate::json::{self, Object, SCHEMA_CHECK, TOOL};
use serde::Serialize;
use std::io::{self, Write};
use weighbridge::policy::Exception;
use weighbridge::remote::Traffic;
use weighbridge::{Report, Text, Unchecked, Verdict};

/// The line of a file that was read.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    report: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Traffic>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<Ignored<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<std::borrow::Cow<'a, str>>,
}

/// Ignored findings.
#[derive(Serialize)]
struct Ignored<'a> {
    rule: &'static str,
    count: u64,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

impl<'a> Ignored<'a> {
    fn of(exception: &'a Exception, count: u64) -> Self {
        let until = exception.until.map(|until| until.to_string());
        Ignored { rule: exception.rule, count, reason: &exception.reason, until }
    }
}

pub(super) fn line(out: &mut dyn Write, done: &Done, context: &Context) -> io::Result<()> {
    let config = context.config.as_deref().map(|path| path.to_string_lossy());
    let mut object = match &done.seen {
        Seen::Skipped | Seen::Before(_) => return Ok(()),
        Seen::Checked(checked) => {
            let ignored = context.ignored(&checked.report).into_iter();
            let ignored = ignored.map(|(it, count)| Ignored::of(it, count));
            let sha256 = checked.sha256.as_deref();
            let (read, ignored) = (checked.read, ignored.collect());
            let line = Line {
                report: &checked.report,
                class: checked.class,
                sha256,
                read,
                ignored,
                config,
            };
            return json::line(out, &line);
        }
        Seen::Sorted(sorted) => {
            let mut object = sorted_object(out, &done.file, sorted)?;
            object.optional("sha256", sorted.sha256.as_deref())?;
            object
        }
        Seen::Failed(why) => json::unchecked(out, &done.file, None, Some(why))?,
        Seen::Aside(what) => json::unchecked(out, &done.file, Some(what), None)?,
    };
    object.member("schema", SCHEMA_CHECK)?;
    object.member("tool", &TOOL)?;
    object.optional("config", config)?;
    object.end()?;
    out.write_all(b"\n")
}

/// The members of a file of a repository that is no tensor file. The caller must end the object.
fn sorted_object<'o>(
    out: &'o mut dyn Write,
    file: &Text,
    sorted: &Sorted,
) -> io::Result<Object<'o>> {
    let mut object = Object::begin(out)?;
    object.member("file", &file.lossy())?;
    object.optional("file_hex", file.hex())?;
    object.member("format", &None::<u8>)?;
    object.member("version", &None::<u8>)?;
    object.member("size", &sorted.size)?;
    // What could not be verified is neither valid nor invalid: as for other files, `unchecked`
    // says so.
    let verdict = match sorted.verdict() {
        Verdict::Unchecked => Verdict::Unsupported,
        verdict => verdict,
    };
    object.member("verdict", verdict.name())?;
    object.member("diagnosis", &sorted.examined.sentence())?;
    object.member("class", sorted.class().name())?;
    object.member("kind", sorted.examined.kind)?;
    object.optional("rule", sorted.examined.rule)?;
    if !sorted.examined.also.is_empty() {
        object.member("also", &sorted.examined.also)?;
    }
    if sorted.allowed {
        object.member("allowed", &true)?;
    }
    object.list("checked")?.end()?;
    let mut list = object.list("unchecked")?;
    if verdict == Verdict::Unsupported {
        list.item(&Unchecked::new(None, "the file was not examined", true))?;
    }
    list.end()?;
    object.list("findings")?.end()?;
    if !sorted.ignored.is_empty() {
        let ignored: Vec<_> = sorted.ignored.iter().map(|it| Ignored::of(it, 1)).collect();
        object.member("ignored", &ignored)?;
    }
    Ok(object)
}
