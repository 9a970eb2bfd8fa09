//! `weighbridge inspect`: what a file holds.

use crate::args::InspectArgs;
use crate::cbor::Tree;
use crate::data::{self, Order};
use crate::human::{self, Left};
use crate::json::{self, List, Object};
use crate::metadata::{self, MetaView};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::report::{Criteria, Depth, Report, Unchecked};
use crate::session::{Halt, Session, Stopped};
use crate::stats;
use crate::tensors::{self, Chunked, Entry};
use crate::terminal::{self, Held};
use crate::text::Text;
use crate::values::{self, Shown};
use crate::view;
use crate::windows::FileSource;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use weighbridge_core::{File, Status, Tensor};

/// What is shown of a tensor's elements, as bits.
mod shown {
    pub(super) const VALUES: u8 = 1;
    pub(super) const STATS: u8 = 2;
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &InspectArgs) -> Result<Outcome, String> {
    args.open.format()?;
    let file = Text::from(args.file.as_path());
    let mut out = Held::new(terminal::stdout(args.json));
    let mut outcome = Outcome::Valid;
    let result = inspect(args, &file, &mut out, &mut outcome);
    let written = match result {
        Ok(()) => out.finish(),
        Err(Stopped::Write(err)) => Err(err),
        Err(Stopped::Read(halt)) => {
            let why = halt.to_string();
            terminal::complain(&file, &why);
            outcome = Outcome::Failed;
            // What has begun cannot be taken back.
            match out.take_back() {
                Some(mut out) if args.json => fail(&mut *out, &file, &why),
                _ => Ok(()),
            }
        }
    };
    Ok(terminal::written(written, outcome))
}

/// The object of a file that cannot be read.
fn fail(out: &mut dyn Write, file: &Text, why: &str) -> io::Result<()> {
    let mut object = Object::begin(out)?;
    view::failed(&mut object, file, why)?;
    object.list("metadata")?.end()?;
    object.list("tensors")?.end()?;
    object.end()?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Goes through the file twice, so that nothing of it has to be kept: what can be
/// shown comes before what is shown.
fn inspect(
    args: &InspectArgs,
    name: &Text,
    out: &mut dyn Write,
    outcome: &mut Outcome,
) -> Result<(), Stopped> {
    let path = args.file.as_path();
    let source = FileSource::open(path)?;
    let bars = Bars::new();
    let bar = bars.file(name.to_string(), source.len());
    let mut session = Session::new(source, bar);
    let format = args.open.format().unwrap_or_default();
    let criteria = Criteria::new(args.lenient);
    let report = Report::of(&mut session, path, format, Depth::Structure, &criteria)?;
    *outcome = report.outcome(false);
    let mut found = Survey::default();
    if args.json {
        let mut object = Object::begin(out)?;
        view::head(&mut object, name, &report)?;
        let mut list = view::unchecked(&mut object, &report)?;
        let mut leave = |unchecked: &Unchecked| Ok(view::left(&mut list, unchecked)?);
        if let Some(file) = &report.file {
            found.survey(&mut session, file, args, &mut leave)?;
        }
        list.end()?;
        view::findings(&mut object, &report)?;
        let mut pass = Pass { session: &mut session, args, found: &found };
        let mut list = object.list("metadata")?;
        if let Some(file) = &report.file {
            metadata::of_file(pass.session, file, &mut |view| Ok(list.item(view)?))?;
        }
        list.end()?;
        let mut list = object.list("tensors")?;
        if let Some(file) = &report.file {
            pass.write(file, &mut list)?;
        }
        list.end()?;
        object.end()?;
        out.write_all(b"\n")?;
    } else {
        if let Some(file) = &report.file {
            found.survey(&mut session, file, args, &mut |_| Ok(()))?;
        }
        human::report(out, name, &report, &found.left)?;
        if let Some(file) = &report.file {
            let mut pass = Pass { session: &mut session, args, found: &found };
            pass.show(file, out)?;
        }
    }
    session.verify_unchanged()?;
    *outcome = report.outcome(found.left.any());
    Ok(())
}

/// What a first pass over a file finds out.
#[derive(Default)]
struct Survey {
    /// For each tensor, if something of its elements was asked for.
    shown: Vec<u8>,
    /// What was not checked, for people.
    left: Left,
    /// Widths of columns, for people.
    name_width: usize,
    type_width: usize,
    shape_width: usize,
}

impl Survey {
    /// Passes over all, and calls `leave` with what is not checked.
    fn survey(
        &mut self,
        session: &mut Session<'_>,
        file: &File,
        args: &InspectArgs,
        leave: &mut dyn FnMut(&Unchecked) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let asked = args.values.is_some() || args.stats;
        metadata::of_file(session, file, &mut |_| Ok(()))?;
        tensors::each(session, file, &mut |session, entry| {
            let mut chunked = Chunked::default();
            tensors::chunks(session, file, &entry.tensor, &mut |chunk| {
                chunked.add(chunk);
                Ok(())
            })?;
            metadata::of_tensor(session, file, &entry.tensor, &mut |_| Ok(()))?;
            let shown = look(session, file, entry, &chunked, args)?;
            if asked {
                self.shown.resize(entry.tensor.index as usize, 0);
                self.shown.push(shown);
            }
            if !args.json {
                self.measure(entry);
            }
            match unchecked(session, entry, asked, shown)? {
                Some(unchecked) => self.leave(unchecked, leave),
                None => Ok(()),
            }
        })?;
        if session.room() == 0 {
            let why = "entries share tables or values, and not all of them are shown";
            let unchecked = Unchecked { entry: None, why: why.to_owned(), asked: true };
            self.leave(unchecked, leave)?;
        }
        session.rewind();
        Ok(())
    }

    fn leave(
        &mut self,
        unchecked: Unchecked,
        leave: &mut dyn FnMut(&Unchecked) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        leave(&unchecked)?;
        self.left.push(unchecked);
        Ok(())
    }

    fn measure(&mut self, entry: &Entry) {
        let widen = |width: &mut usize, text: &str, most: usize| {
            *width = text.chars().count().min(most).max(*width);
        };
        widen(&mut self.name_width, &entry.name.to_string(), 48);
        widen(&mut self.type_width, entry.dtype(), 16);
        widen(&mut self.shape_width, &show_shape(entry), 24);
    }
}

/// The second pass, which shows.
struct Pass<'p, 's> {
    session: &'p mut Session<'s>,
    args: &'p InspectArgs,
    found: &'p Survey,
}

impl Pass<'_, '_> {
    /// Writes the tensors as items of a list.
    fn write(&mut self, file: &File, list: &mut List<'_>) -> Result<(), Stopped> {
        let Pass { session, args, found } = self;
        tensors::each(session, file, &mut |session, entry| {
            let tensor = &entry.tensor;
            let mut object = list.object()?;
            entry.write(session, file, &mut object)?;
            let mut metas = object.list("metadata")?;
            metadata::of_tensor(session, file, tensor, &mut |view| Ok(metas.item(view)?))?;
            metas.end()?;
            if found.shows(tensor, shown::VALUES) {
                let mut values = object.list("values")?;
                let limit = args.values.unwrap_or(0);
                let take = &mut |shown: &Shown<'_>| Ok(values.item(shown)?);
                values::first(session, file, tensor, limit, take)?;
                values.end()?;
            }
            if found.shows(tensor, shown::STATS) {
                object.optional("stats", stats::of(session, file, tensor)?)?;
            }
            object.optional("status", tensors::status(tensor.status))?;
            Ok(object.end()?)
        })
    }

    /// Writes all for people.
    fn show(&mut self, file: &File, out: &mut dyn Write) -> Result<(), Stopped> {
        let Pass { session, args, found } = self;
        let mut first = true;
        metadata::of_file(session, file, &mut |meta| {
            if std::mem::take(&mut first) {
                writeln!(out, "{}", human::bold("metadata"))?;
            }
            Ok(writeln!(out, "  {}", show_meta(meta))?)
        })?;
        let mut first = true;
        let Survey { name_width, type_width, shape_width, .. } = **found;
        tensors::each(session, file, &mut |session, entry| {
            if std::mem::take(&mut first) {
                writeln!(out, "{}", human::bold("tensors"))?;
            }
            let tensor = &entry.tensor;
            let mut chunked = Chunked::default();
            tensors::chunks(session, file, tensor, &mut |chunk| {
                chunked.add(chunk);
                Ok(())
            })?;
            writeln!(
                out,
                "  {:name_width$}  {:type_width$}  {:shape_width$}  {}",
                entry.name,
                entry.dtype(),
                show_shape(entry),
                show_place(entry, &chunked),
            )?;
            metadata::of_tensor(session, file, tensor, &mut |meta| {
                Ok(writeln!(out, "      {}", show_meta(meta))?)
            })?;
            if found.shows(tensor, shown::VALUES) {
                let (limit, mut space) = (args.values.unwrap_or(0), "      ");
                values::first(session, file, tensor, limit, &mut |shown| {
                    out.write_all(std::mem::replace(&mut space, " ").as_bytes())?;
                    Ok(show_element(out, shown)?)
                })?;
                writeln!(out, "{}", if space == " " { "" } else { space })?;
            }
            if found.shows(tensor, shown::STATS)
                && let Some(stats) = stats::of(session, file, tensor)?
            {
                writeln!(out, "      {}", stats.show())?;
            }
            Ok(())
        })
    }
}

impl Survey {
    /// Whether this is shown of a tensor.
    fn shows(&self, tensor: &Tensor, what: u8) -> bool {
        self.shown.get(tensor.index as usize).is_some_and(|shown| shown & what != 0)
    }
}

/// What can be shown of the values and the statistics of a tensor that are asked
/// for, unless that is too much.
fn look(
    session: &mut Session<'_>,
    file: &File,
    entry: &Entry,
    chunked: &Chunked,
    args: &InspectArgs,
) -> Result<u8, Halt> {
    let tensor = &entry.tensor;
    if session.spent().is_some() {
        return Ok(0);
    }
    let columns = matches!(file, File::Idv(_)) && args.values.is_some();
    if let (Chunked { count: 1, first: Some(chunk), .. }, false) = (chunked, columns) {
        let count = if args.stats { tensor.elements } else { args.values.unwrap_or(0) };
        let (decoded, stored) = data::extent(tensor, count, chunk.decoded, chunk.stored);
        session.look(stored, decoded);
    }
    let mut shown = 0;
    if let Some(limit) = args.values
        && values::can_show(session, file, tensor, limit)?
    {
        shown |= shown::VALUES;
    }
    if args.stats && !columns && stats::can_show(session, file, tensor)? {
        shown |= shown::STATS;
    }
    Ok(shown)
}

/// What is left open of a tensor's data. Nobody asked for payloads to be
/// checked, but perhaps for elements, and some may be `shown`.
fn unchecked(
    session: &mut Session<'_>,
    entry: &Entry,
    elements: bool,
    shown: u8,
) -> Result<Option<Unchecked>, Halt> {
    // Where there is no data, or a finding says why it cannot be had, nothing
    // is left open.
    let tensor = &entry.tensor;
    if tensor.chunks.count() == 0 || tensor.status == Status::Broken {
        return Ok(None);
    }
    let (why, asked) = match (tensor.status, session.spent()) {
        _ if !elements => ("payload not asked for".to_owned(), false),
        _ if shown != 0 => ("payload only shown, not checked".to_owned(), false),
        (Status::Sound, Some(why)) => (why.to_owned(), true),
        (Status::Unsupported, _) => ("its type, encoding or layout is unknown".to_owned(), true),
        _ if data::is_plain(tensor) && data::order(session, tensor)? == Order::Unknown => {
            let layout = tensor.layout.name();
            (format!("its extents are not in the file, so its {layout} order is unknown"), true)
        }
        _ => {
            let encoding = tensor.encoding.name();
            (format!("its elements ({encoding}) cannot be shown"), true)
        }
    };
    Ok(Some(Unchecked { entry: Some(Arc::new(entry.name.clone())), why, asked }))
}

fn show_shape(entry: &Entry) -> String {
    let extent = |extent: &Option<u64>| extent.map_or("?".to_owned(), |n| n.to_string());
    let extents: Vec<_> = entry.shape.iter().map(extent).collect();
    format!("[{}]", extents.join(", "))
}

/// How a tensor is stored and where, as far as it is not the usual.
fn show_place(entry: &Entry, chunked: &Chunked) -> String {
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
    let place = match chunked {
        Chunked { first: None, .. } => "no data".to_owned(),
        Chunked { count: 1, stored, first: Some(chunk) } => {
            format!("{} at {}", human::bytes(*stored), chunk.offset)
        }
        Chunked { count, stored, first: Some(chunk) } => {
            let count = human::plural(*count, "chunk");
            format!("{} in {count} from {}", human::bytes(*stored), chunk.offset)
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
    let mut value = match &meta.value {
        Tree::Json(value) => show_value(value),
        tree => Text::from(tree.to_string().as_str()).to_string(),
    };
    if value.chars().count() > 200 {
        value = value.chars().take(200).collect();
        value.push('…');
    }
    format!("{}  {}  {value}", Text::from(meta.key.as_str()), human::dim(kind))
}

/// Something of a tensor's data as text.
fn show_element(out: &mut dyn Write, shown: &Shown<'_>) -> io::Result<()> {
    match shown {
        // It may have millions of elements.
        Shown::Row(row) if !row.is_scalar() => json::write(out, row),
        Shown::Element(element) if element.to_f64().is_finite() => json::write(out, shown),
        shown => {
            let value = serde_json::to_value(shown)?;
            out.write_all(show_value(&value).as_bytes())
        }
    }
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
