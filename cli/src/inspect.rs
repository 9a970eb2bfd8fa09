//! `weighbridge inspect`: what a file holds.

use crate::args::InspectArgs;
use crate::blocks;
use crate::data;
use crate::human;
use crate::json;
use crate::metadata::{self, MetaView};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::report::{Depth, Judge, Report, Unchecked};
use crate::session::{Halt, Session};
use crate::stats;
use crate::tensors::{self, Entry, TensorView};
use crate::terminal;
use crate::text::Text;
use crate::values;
use crate::view::ReportView;
use crate::windows::FileSource;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use weighbridge::{File, Status};

#[derive(Serialize)]
struct InspectView<'a> {
    #[serde(flatten)]
    report: ReportView,
    metadata: &'a [MetaView],
    tensors: Vec<TensorView<'a>>,
}

/// What a file holds.
struct Contents {
    report: Report,
    metadata: Vec<MetaView>,
    tensors: Vec<Entry>,
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &InspectArgs) -> Result<Outcome, String> {
    args.open.format()?;
    let file = Text::from(args.file.as_path());
    let contents = match inspect(args) {
        Ok(contents) => contents,
        Err(halt) => {
            terminal::complain(&file, halt);
            return Ok(Outcome::Failed);
        }
    };
    let mut out = terminal::stdout(args.json);
    let Contents { report, metadata, tensors } = &contents;
    let written = if args.json {
        let view = InspectView {
            report: ReportView::new(&file, report),
            metadata,
            tensors: tensors.iter().map(TensorView::new).collect(),
        };
        json::line(&mut *out, &view)
    } else {
        out.write_all(show(&file, &contents).as_bytes())
    };
    let written = written.and_then(|()| out.flush());
    Ok(terminal::written(written, report.outcome()))
}

fn inspect(args: &InspectArgs) -> Result<Contents, Halt> {
    let path = args.file.as_path();
    let source = FileSource::open(path)?;
    let bars = Bars::new();
    let bar = bars.file(Text::from(path).to_string(), source.len());
    let mut session = Session::new(source, bar);
    let format = args.open.format().unwrap_or_default();
    let judge = Judge::new(args.lenient);
    let mut report = Report::of(&mut session, path, format, Depth::Structure, &judge)?;
    let contents = match &report.file {
        None => Contents { report, metadata: Vec::new(), tensors: Vec::new() },
        Some(file) => {
            let file = *file;
            let metadata = metadata::of_file(&mut session, &file)?;
            let mut tensors = tensors::all(&mut session, &file)?;
            let cut = session.room() == 0;
            for entry in &mut tensors {
                look(&mut session, &file, entry, args)?;
                let asked = args.values.is_some() || args.stats;
                report.unchecked.extend(unchecked(entry, asked, session.spent()));
            }
            if cut {
                let why = "entries share tables or values, and not all of them are shown";
                report.unchecked.push(Unchecked { entry: None, why: why.to_owned(), asked: true });
            }
            Contents { report, metadata, tensors }
        }
    };
    session.verify_unchanged()?;
    Ok(contents)
}

/// Looks at the values and the statistics of a tensor that are asked for, unless
/// that is too much.
fn look(
    session: &mut Session<'_>,
    file: &File,
    entry: &mut Entry,
    args: &InspectArgs,
) -> Result<(), Halt> {
    if session.spent().is_some() {
        return Ok(());
    }
    if let (File::Idv(header), Some(limit)) = (file, args.values) {
        // It counts its blocks itself.
        entry.values = blocks::first(session, header, &entry.tensor, limit)?;
        return Ok(());
    }
    let tensor = &entry.tensor;
    if let [chunk] = entry.chunks[..] {
        let count = if args.stats { tensor.elements } else { args.values.unwrap_or(0) };
        let (decoded, stored) = data::extent(tensor, count, chunk.decoded, chunk.stored);
        session.look(stored, decoded);
    }
    if let Some(limit) = args.values {
        entry.values = values::first(session, file, tensor, limit)?;
    }
    if args.stats {
        entry.stats = stats::of(session, file, tensor)?;
    }
    Ok(())
}

/// What is left open of a tensor's data. Nobody asked for payloads to be
/// checked, but perhaps for values. `spent` is why no more is looked at, if so.
fn unchecked(entry: &Entry, values: bool, spent: Option<&str>) -> Option<Unchecked> {
    // Where there is no data, or a finding says why it cannot be had, nothing
    // is left open.
    if entry.tensor.chunks.count() == 0 || entry.tensor.status == Status::Broken {
        return None;
    }
    let (why, asked) = match entry.tensor.status {
        _ if !values => ("payload not asked for".to_owned(), false),
        _ if entry.values.is_some() || entry.stats.is_some() => {
            ("payload only shown, not checked".to_owned(), false)
        }
        Status::Sound if spent.is_some() => (spent.unwrap_or_default().to_owned(), true),
        Status::Unsupported => ("its type, encoding or layout is unknown".to_owned(), true),
        _ => {
            let encoding = entry.tensor.encoding.name();
            (format!("its elements ({encoding}) cannot be shown"), true)
        }
    };
    Some(Unchecked { entry: Some(Arc::new(entry.name.clone())), why, asked })
}

/// The contents for people.
fn show(file: &Text, contents: &Contents) -> String {
    let Contents { report, metadata, tensors } = contents;
    let mut out = human::report(file, report);
    // Writing to a string does not fail.
    if !metadata.is_empty() {
        let _ = writeln!(out, "{}", human::bold("metadata"));
    }
    for meta in metadata {
        let _ = writeln!(out, "  {}", show_meta(meta));
    }
    if !tensors.is_empty() {
        let _ = writeln!(out, "{}", human::bold("tensors"));
    }
    let width = |text: fn(&Entry) -> String, most: usize| {
        tensors.iter().map(|entry| text(entry).chars().count()).max().unwrap_or(0).min(most)
    };
    let name_width = width(|entry| entry.name.to_string(), 48);
    let type_width = width(|entry| entry.dtype().to_owned(), 16);
    let shape_width = width(show_shape, 24);
    for entry in tensors {
        let _ = writeln!(
            out,
            "  {:name_width$}  {:type_width$}  {:shape_width$}  {}",
            entry.name,
            entry.dtype(),
            show_shape(entry),
            show_place(entry),
        );
        for meta in &entry.metadata {
            let _ = writeln!(out, "      {}", show_meta(meta));
        }
        if let Some(values) = &entry.values {
            let values: Vec<_> = values.iter().map(show_value).collect();
            let _ = writeln!(out, "      {}", values.join(" "));
        }
        if let Some(stats) = &entry.stats {
            let _ = writeln!(out, "      {}", stats.show());
        }
    }
    out
}

fn show_shape(entry: &Entry) -> String {
    let extent = |extent: &Option<u64>| extent.map_or("?".to_owned(), |n| n.to_string());
    let extents: Vec<_> = entry.shape.iter().map(extent).collect();
    format!("[{}]", extents.join(", "))
}

/// How a tensor is stored and where, as far as it is not the usual.
fn show_place(entry: &Entry) -> String {
    let tensor = &entry.tensor;
    let mut parts = Vec::new();
    if let Some(status) = tensors::status(tensor.status) {
        parts.push(human::bold(status));
    }
    parts.extend(
        entry.particulars.codec.as_ref().map(|codec| Text::from(codec.as_str()).to_string()),
    );
    if tensor.layout != Default::default() {
        parts.push(tensor.layout.name().to_owned());
    }
    if tensor.encoding != Default::default() {
        parts.push(tensor.encoding.name().to_owned());
    }
    if tensor.endianness != Default::default() {
        parts.push(format!("{}-endian", tensor.endianness.name()));
    }
    parts.extend(
        entry.particulars.checksum.as_ref().map(|sum| Text::from(sum.as_str()).to_string()),
    );
    if entry.particulars.quantization.is_some() {
        parts.push("quantized".to_owned());
    }
    let place = match entry.chunks.as_slice() {
        [] => "no data".to_owned(),
        [chunk] => format!("{} at {}", human::bytes(chunk.stored), chunk.offset),
        chunks => {
            let stored = chunks.iter().fold(0_u64, |sum, chunk| sum.saturating_add(chunk.stored));
            let count = human::plural(chunks.len() as u64, "chunk");
            format!("{} in {count} from {}", human::bytes(stored), chunks[0].offset)
        }
    };
    parts.push(human::dim(place));
    parts.join(", ")
}

fn show_meta(meta: &MetaView) -> String {
    let mut kind = meta.kind.to_owned();
    if let (Some(dtype), Some(shape)) = (meta.dtype, &meta.shape) {
        let _ = write!(kind, " {dtype} {shape:?}");
    }
    let mut value = show_value(&meta.value);
    if value.chars().count() > 200 {
        value = value.chars().take(200).collect();
        value.push('…');
    }
    format!("{}  {}  {value}", Text::from(meta.key.as_str()), human::dim(kind))
}

/// A value as text; quotes only where it is text in the file.
fn show_value(value: &Value) -> String {
    match value {
        Value::String(text) => match text.as_str() {
            special @ ("NaN" | "Infinity" | "-Infinity") => special.to_owned(),
            text => format!("\"{}\"", Text::from(text)),
        },
        value => Text::from(value.to_string().as_str()).to_string(),
    }
}
