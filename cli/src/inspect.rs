//! `weighbridge inspect`: shows the contents of a file.

use crate::args::InspectArgs;
use crate::human::{self, Left, bold};
use crate::json::{self, List, Object, SCHEMA_INSPECT, TOOL};
use crate::members;
use crate::outcome::Outcome;
use crate::pickles::{self, Pickled};
use crate::progress::Bars;
use crate::show::{element, meta, place};
use crate::stats;
use crate::summary;
use crate::terminal::{self, Held};
use crate::tree::Tree;
use std::io::{self, Write};
use weighbridge::remote::shown;
use weighbridge::{
    Archive, Error, Goal, Model, Operator, Options, Particulars, Place as _, Report, Status,
    Tensor, Text, Unchecked,
};

/// Maximum number of texts shown per list: a model's vocabulary has 100,000 and more.
const VOCABULARY: usize = 256;

/// Why output stopped early.
#[derive(Debug)]
enum Stopped {
    /// Failed to read the input.
    Read(Error),
    /// Failed to write the output.
    Write(io::Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Read(error)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Write(error)
    }
}

/// # Errors
/// A sentence, if the arguments make no sense.
pub(crate) fn run(args: &InspectArgs) -> Result<Outcome, String> {
    let mut options = args.verdict.options().goal(Goal::Structure);
    if args.follow_links {
        options = options.follow_links();
    }
    let file = shown(&args.file);
    let mut out = Held::new(terminal::stdout(args.print.is_json()));
    let mut outcome = Outcome::Valid;
    let result = inspect(args, &Bars::new().watch(options), &file, &mut out, &mut outcome);
    let written = match result {
        Ok(()) => out.finish(),
        Err(Stopped::Write(err)) => Err(err),
        Err(Stopped::Read(error)) => {
            let why = error.to_string();
            terminal::complain(&file, &why);
            outcome = Outcome::Failed;
            // Output that has been written cannot be taken back.
            match out.take_back() {
                Some(mut out) if args.print.is_json() => fail(&mut *out, &file, &why),
                _ => Ok(()),
            }
        }
    };
    Ok(terminal::written(written, outcome))
}

/// Writes the object of a file that cannot be read.
fn fail(out: &mut dyn Write, file: &Text, why: &str) -> io::Result<()> {
    let mut object = json::unchecked(out, file, None, Some(why))?;
    object.list("metadata")?.end()?;
    object.list("tensors")?.end()?;
    end(object)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Goes through the file twice, so that nothing has to be kept in memory: the first
/// pass determines what can be shown, the second shows it.
fn inspect(
    args: &InspectArgs,
    options: &Options,
    name: &Text,
    out: &mut dyn Write,
    outcome: &mut Outcome,
) -> Result<(), Stopped> {
    let profile = args.verdict.profile();
    let at = args.remote.servers().locate(&args.file)?;
    let input = at.open()?;
    let archive = || Archive::of(&input, at.place());
    let holder = args.member.as_ref().map(|_| archive()).transpose()?.flatten();
    let member = args.member.as_deref();
    let member = member.map(|name| members::place(holder.as_ref(), name)).transpose()?;
    let opened = member.as_ref().map(|it| it.open()).transpose().map_err(Error::from)?;
    let (report, model) = match (&opened, &member) {
        (Some(opened), Some(member)) => Model::checked_at(opened, member, options)?,
        _ => Model::checked_at(&input, at.place(), &at.options(options))?,
    };
    let listed = if model.is_none() && member.is_none() { archive()? } else { None };
    let listed = listed.as_ref().map(Archive::members);
    *outcome = report.verdict(profile).into();
    let mut found = Survey::default();
    if args.print.is_json() {
        let mut object = Object::begin(out)?;
        head(&mut object, &report)?;
        let mut list = object.list("unchecked")?;
        report.unchecked().iter().try_for_each(|it| list.item(it))?;
        if let Some(model) = &model {
            found.survey(model, args, &mut |unchecked| Ok(list.item(unchecked)?))?;
        }
        list.end()?;
        object.member("findings", report.findings())?;
        let more = report.findings_not_listed();
        object.optional("findings_not_listed", Some(more).filter(|more| !more.is_empty()))?;
        let more = report.unchecked_beyond();
        object.optional("unchecked_not_listed", Some(more).filter(|more| *more > 0))?;
        if let Some(pickled) = Pickled::of(&input, &report)? {
            pickled.write_globals(&mut object)?;
            if let Some(count) = args.opcodes {
                pickled.write_operations::<Stopped>(count, &args.at, &mut object)?;
            }
        }
        if let Some(listed) = listed {
            members::write(&mut object, listed)?;
        }
        let mut list = object.list("metadata")?;
        if let Some(model) = &model {
            let most = if args.full { usize::MAX } else { VOCABULARY };
            for entry in model.metadata() {
                list.item(&entry?.with_texts(most))?;
            }
        }
        list.end()?;
        let mut list = object.list("tensors")?;
        if let Some(model) = &model {
            found.write(model, args, &mut list)?;
        }
        list.end()?;
        let storages = model.as_ref().map(Model::storages).transpose()?;
        object.optional("storages", storages.filter(|it| !it.is_empty()))?;
        let operators = model.as_ref().map(Model::operators).transpose()?.unwrap_or_default();
        object.optional("operators", Some(operators).filter(|all| !all.is_empty()))?;
        let whole = model.as_ref().filter(|_| args.summary).map(Model::summary);
        object.optional("summary", whole.transpose()?)?;
        object.optional("read", at.traffic())?;
        end(object)?;
        out.write_all(b"\n")?;
    } else {
        if let Some(model) = &model {
            found.survey(model, args, &mut |_| Ok(()))?;
        }
        human::report(out, name, &report, profile, &found.left)?;
        let pickled = if args.summary { None } else { Pickled::of(&input, &report)? };
        if let Some(pickled) = &pickled {
            pickled.show_globals(out)?;
        }
        if let Some(listed) = listed {
            members::show(out, listed)?;
        }
        match &model {
            Some(model) if args.summary => summary::show(out, &model.summary()?)?,
            Some(model) => {
                found.show(model, args, out)?;
                pickles::show_storages::<Stopped>(model, out)?;
                operators(out, &model.operators()?)?;
            }
            None => {}
        }
        if let (Some(pickled), Some(count)) = (&pickled, args.opcodes) {
            pickled.show_operations::<Stopped>(count, &args.at, out)?;
        }
        if let Some(read) = at.traffic() {
            writeln!(out, "  {}", human::read(&read))?;
        }
    }
    if let Some(model) = &model {
        model.verify_unchanged()?;
    }
    *outcome = human::verdict(&report, profile, &found.left).into();
    Ok(())
}

/// What the model computes.
fn operators(out: &mut dyn Write, all: &[Operator]) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", bold("operators"))?;
    for Operator { name, custom, version, count, .. } in all {
        let kind = if *custom { ", custom" } else { "" };
        writeln!(out, "  {count:6} × {}, version {version}{kind}", Text::from(name.as_str()))?;
    }
    Ok(())
}

/// Completes a printed object.
fn end(mut object: Object<'_>) -> io::Result<()> {
    object.member("schema", SCHEMA_INSPECT)?;
    object.member("tool", &TOOL)?;
    object.end()
}

/// Writes the members of a report up to the list of checks.
fn head(object: &mut Object<'_>, report: &Report) -> io::Result<()> {
    object.report(report)?;
    let other = report.diagnosis().filter(|diagnosis| diagnosis.is_other());
    object.optional("diagnosis", other.map(|diagnosis| diagnosis.to_string()))?;
    object.member("checked", &report.checked())
}

/// Results of a first pass over a file.
#[derive(Default)]
struct Survey {
    /// Whether values and statistics of each tensor are shown, if any were requested.
    shown: Vec<(bool, bool)>,
    /// Unchecked items, for human-readable output.
    left: Left,
    /// Column widths, for human-readable output.
    name_width: usize,
    type_width: usize,
    shape_width: usize,
}

impl Survey {
    /// Goes through the whole file, and calls `leave` with unchecked items.
    fn survey(
        &mut self,
        model: &Model<'_>,
        args: &InspectArgs,
        leave: &mut dyn FnMut(&Unchecked) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let asked = args.values.is_some() || args.stats;
        model.metadata().try_for_each(|entry| entry.map(|_| ()))?;
        for tensor in model.tensors() {
            let tensor = tensor?;
            // Shared tables count, whether they are shown or not.
            let particulars = tensor.particulars()?;
            tensor.pieces().try_for_each(|piece| piece.map(|_| ()))?;
            tensor.metadata().try_for_each(|entry| entry.map(|_| ()))?;
            let preview = tensor.preview(args.values, args.stats)?;
            if asked {
                self.shown.resize(tensor.index() as usize, (false, false));
                self.shown.push((preview.values, preview.stats));
            }
            if !args.print.is_json() {
                self.measure(&tensor, &particulars);
            }
            if let Some(unchecked) = preview.unchecked {
                self.leave(unchecked, leave)?;
            }
        }
        if model.is_cut() {
            let why = "entries share tables or values, and not all of them are shown";
            self.leave(Unchecked::new(None, why, true), leave)?;
        }
        model.rewind();
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

    fn measure(&mut self, tensor: &Tensor<'_, '_>, particulars: &Particulars) {
        let widen = |width: &mut usize, text: &str, most: usize| {
            *width = text.chars().count().min(most).max(*width);
        };
        widen(&mut self.name_width, &tensor.name().to_string(), 48);
        widen(&mut self.type_width, dtype(tensor, particulars), 16);
        widen(&mut self.shape_width, &tensor.shape().to_string(), 24);
    }

    /// Writes the tensors as items of a list.
    fn write(
        &self,
        model: &Model<'_>,
        args: &InspectArgs,
        list: &mut List<'_>,
    ) -> Result<(), Stopped> {
        for tensor in model.tensors() {
            let tensor = tensor?;
            let mut object = list.object()?;
            describe(&tensor, &mut object)?;
            let mut metas = object.list("metadata")?;
            tensor.metadata().try_for_each(|entry| Ok::<(), Stopped>(metas.item(&entry?)?))?;
            metas.end()?;
            let (values, stats) = self.shown(&tensor);
            if values {
                let mut values = object.list("values")?;
                let limit = args.values.unwrap_or(0);
                tensor.values(limit, |shown| Ok::<(), Stopped>(values.item(shown)?))?;
                values.end()?;
            }
            if stats {
                object.optional("stats", readable(tensor.stats())?)?;
            }
            let status = Some(tensor.status()).filter(|status| *status != Status::Sound);
            object.optional("status", status.map(Status::name))?;
            object.end()?;
        }
        Ok(())
    }

    /// Writes human-readable output.
    fn show(
        &self,
        model: &Model<'_>,
        args: &InspectArgs,
        out: &mut dyn Write,
    ) -> Result<(), Stopped> {
        for (i, entry) in model.metadata().enumerate() {
            if i == 0 {
                writeln!(out, "{}", bold("metadata"))?;
            }
            writeln!(out, "  {}", meta(&entry?))?;
        }
        let Survey { name_width, type_width, shape_width, .. } = *self;
        let mut tree = Tree::default();
        for (i, tensor) in model.tensors().enumerate() {
            let tensor = tensor?;
            if i == 0 {
                writeln!(out, "{}", bold("tensors"))?;
            }
            let particulars = tensor.particulars()?;
            let mut name = tensor.name().to_string();
            if args.tree {
                name = tree.enter(&name, tensor.path()?.as_deref(), out)?;
            }
            writeln!(
                out,
                "  {name:name_width$}  {:type_width$}  {:shape_width$}  {}",
                dtype(&tensor, &particulars),
                tensor.shape().to_string(),
                place(&tensor, &particulars)?,
            )?;
            for entry in tensor.metadata() {
                writeln!(out, "      {}", meta(&entry?))?;
            }
            let (values, stats) = self.shown(&tensor);
            if values {
                let mut space = "      ";
                tensor.values(args.values.unwrap_or(0), |shown| {
                    out.write_all(std::mem::replace(&mut space, " ").as_bytes())?;
                    Ok::<(), Stopped>(element(out, shown)?)
                })?;
                writeln!(out, "{}", if space == " " { "" } else { space })?;
            }
            if stats && let Some(stats) = readable(tensor.stats())? {
                writeln!(out, "      {}", stats::show(&stats))?;
            }
        }
        Ok(())
    }

    /// Whether values and statistics of a tensor are shown.
    fn shown(&self, tensor: &Tensor<'_, '_>) -> (bool, bool) {
        self.shown.get(tensor.index() as usize).copied().unwrap_or_default()
    }
}

/// The data if it can be read; for other data the audit names the broken rule.
fn readable<T>(read: Result<Option<T>, Error>) -> Result<Option<T>, Error> {
    match read {
        Err(Error::Undecodable(_)) => Ok(None),
        read => read,
    }
}

/// The name of the element type.
fn dtype<'p>(tensor: &Tensor<'_, '_>, particulars: &'p Particulars) -> &'p str {
    particulars.dtype.as_deref().unwrap_or(tensor.dtype().name())
}

/// Writes a tensor's details as members of an object, except for its metadata and its
/// elements, which follow.
fn describe(tensor: &Tensor<'_, '_>, object: &mut Object<'_>) -> Result<(), Stopped> {
    let particulars = tensor.particulars()?;
    object.member("name", &tensor.name().lossy())?;
    object.optional("name_hex", tensor.name().hex())?;
    let path = tensor.path()?.filter(|keys| keys.len() > 1);
    let path = path.as_ref().map(|keys| keys.iter().map(Text::lossy).collect::<Vec<_>>());
    object.optional("path", path)?;
    object.optional("id", particulars.id)?;
    object.member("dtype", dtype(tensor, &particulars))?;
    object.optional("dtype_raw", particulars.dtype_raw.as_ref())?;
    object.member("shape", tensor.shape())?;
    object.optional("shape_table_index", particulars.shape_table_index)?;
    object.member("layout", tensor.layout().name())?;
    object.member("encoding", tensor.encoding().name())?;
    object.member("endianness", tensor.endianness().name())?;
    object.optional("codec", particulars.codec.as_ref())?;
    object.optional("file", tensor.file().map(Text::lossy))?;
    let mut list = object.list("chunks")?;
    tensor.pieces().try_for_each(|piece| Ok::<(), Stopped>(list.item(&piece?)?))?;
    list.end()?;
    object.member("checksum", &particulars.checksum)?;
    object.member("quantization", &particulars.quantization)?;
    Ok(())
}
