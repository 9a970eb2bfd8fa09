//! `weighbridge extract`: one tensor as a file of its own.

use crate::args::ExtractArgs;
use crate::column::{self, Fault};
use crate::data::{self, Order};
use crate::form::{Form, How};
use crate::formats;
use crate::human;
use crate::npy;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::progress::Bars;
use crate::report::{self, Depth, ask_or_end};
use crate::session::{Halt, Session};
use crate::tensors;
use crate::terminal;
use crate::text::Text;
use crate::windows::{FileSource, ReadError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use weighbridge_core::codec::Decoder;
use weighbridge_core::format::idv::Header;
use weighbridge_core::{
    Audit, Cursor, DType, DimEncoding, EntryKind, File, Finding, Layout, Name, NameEncoding,
    Opening, Severity, Status, Tensor,
};

/// Why a tensor was not written.
enum Failure {
    /// Of the file that is read.
    Read(Halt),
    /// Of the file that is written.
    Write(io::Error),
    /// The file or the tensor is broken.
    Invalid(String),
    /// It cannot be written in this form.
    Unsupported(String),
    /// There is no such tensor.
    Missing,
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        Failure::Read(halt)
    }
}

impl From<ReadError> for Failure {
    fn from(err: ReadError) -> Self {
        Failure::Read(err.into())
    }
}

impl From<io::Error> for Failure {
    fn from(err: io::Error) -> Self {
        Failure::Write(err)
    }
}

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &ExtractArgs) -> Result<Outcome, String> {
    args.open.format()?;
    survive_size_limits();
    let file = Text::from(args.file.as_path());
    let target = || match &args.output {
        Some(path) if path == Path::new("-") => Text::from("standard output"),
        Some(path) => Text::from(path.as_path()),
        None => Text::from("the current folder"),
    };
    let name = Text::from(Path::new(&args.name));
    Ok(match extract(args) {
        Ok(path) => {
            if let Some(path) = path {
                terminal::note(format_args!("wrote {}", Text::from(path.as_path())));
            }
            Outcome::Valid
        }
        Err(Failure::Read(halt @ Halt::Fault(_))) => {
            terminal::complain(&file, format_args!("\"{name}\": {halt}"));
            Outcome::Invalid
        }
        Err(Failure::Read(halt)) => {
            terminal::complain(&file, halt);
            Outcome::Failed
        }
        Err(Failure::Write(err)) => {
            terminal::complain(&target(), err);
            Outcome::Failed
        }
        Err(Failure::Missing) => {
            terminal::complain(&file, format_args!("there is no tensor \"{name}\""));
            Outcome::Failed
        }
        Err(Failure::Invalid(why)) => {
            terminal::complain(&file, why);
            Outcome::Invalid
        }
        Err(Failure::Unsupported(why)) => {
            terminal::complain(&file, format_args!("\"{name}\": {why}"));
            Outcome::Unchecked
        }
    })
}

fn extract(args: &ExtractArgs) -> Result<Option<PathBuf>, Failure> {
    let path = args.file.as_path();
    let source = FileSource::open(path).map_err(Halt::Read)?;
    let bars = Bars::new();
    let bar = bars.file(Text::from(path).to_string(), source.len());
    let mut session = Session::new(source, bar);
    let format = match args.open.format().unwrap_or_default() {
        Some(format) => Some(format),
        None => formats::recognise(&mut session, path)?,
    };

    let mut findings = Vec::new();
    let mut opening = Opening::of(format);
    let opened = session.ask(|source| opening.step(source, &mut |finding| findings.push(finding)));
    let file = match opened {
        Err(Halt::Refused(rule)) => {
            return Err(Failure::Invalid(first_fatal(&findings, rule.id())));
        }
        opened => opened?,
    };
    let name = Name::new(args.name.as_encoded_bytes(), NameEncoding::Plain);
    let tensor = find(&mut session, &file, &name, args.force)?;
    if tensor.status == Status::Broken {
        return Err(Failure::Invalid(broken(&mut session, &file, &tensor, &name)?));
    }
    verify(&mut session, &file, &tensor, &name, args.force)?;
    let target = |extension| match &args.output {
        Some(path) if path == Path::new("-") => Output::standard(),
        Some(path) => Output::named(path, &args.file),
        None => Output::free("tensor", extension),
    };
    let out = if args.raw {
        let len = length(&mut session, &file, &tensor)?;
        let mut out = target("bin")?;
        data::bytes(&mut session, &file, &tensor, len, |piece| {
            Ok::<(), Failure>(out.write_all(piece)?)
        })?;
        out
    } else {
        let form = Form::of(tensor.dtype, tensor.endianness).ok_or_else(|| {
            let dtype = tensor.dtype.name();
            let why = format!("NumPy has no type for {dtype} data; --raw writes its bytes");
            Failure::Unsupported(why)
        })?;
        if let File::Idv(header) = &file {
            return column(&mut session, header, &tensor, &form, target("npy")?);
        }
        if !data::is_dense(&tensor) {
            let layout = tensor.layout.name();
            let why = format!("its layout is {layout}; --raw writes its bytes");
            return Err(Failure::Unsupported(why));
        }
        let len = length(&mut session, &file, &tensor)?;
        if tensor.bytes().is_none_or(|bytes| bytes > len) {
            return Err(Failure::Unsupported("its data are not as long as its shape".to_owned()));
        }
        let shape = shape(&mut session, &tensor)?;
        let order = data::order(&mut session, &tensor)?;
        let fortran = matches!(order, Order::Columns(_));
        let header = array_header(&form, &shape, fortran)?;
        let mut out = target("npy")?;
        out.write_all(&header)?;
        data::elements(&mut session, &file, &tensor, tensor.elements, |bytes, count| {
            Ok::<(), Failure>(form.write(bytes, count, &mut out)?)
        })?;
        for note in notes(&tensor, &form, &order) {
            terminal::note(format_args!("\"{name}\": {note}"));
        }
        out
    };
    session.verify_unchanged().map_err(Halt::Read)?;
    Ok(out.finish()?)
}

/// Writes a column of a data view.
fn column(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    form: &Form,
    mut out: Output,
) -> Result<Option<PathBuf>, Failure> {
    let extents = session.ask(|source| tensors::shape(source, tensor))?;
    let shape: Option<Vec<u64>> = extents.into_iter().collect();
    let shape = shape.ok_or_else(|| {
        Failure::Unsupported("its vectors have no fixed length, so they are no array".to_owned())
    })?;
    let product = |extents: &[u64]| extents.iter().try_fold(1_u64, |n, it| n.checked_mul(*it));
    let width = tensor.dtype.bits().div_ceil(8) as usize;
    let most = column::MOST.max(session.len().saturating_mul(column::TIMES));
    let bytes = product(&shape).and_then(|elements| elements.checked_mul(width as u64));
    let length = product(shape.get(1..).unwrap_or_default());
    let Some((length, _)) = length.zip(bytes.filter(|bytes| *bytes <= most)) else {
        let bytes = match bytes {
            Some(bytes) => human::plural(bytes, "byte"),
            None => "2^64 bytes or more".to_owned(),
        };
        let most = human::thousands(most);
        let why = format!("its rows would fill {bytes}, and at most {most} are written");
        return Err(Failure::Unsupported(why));
    };
    out.write_all(&array_header(form, &shape, false)?)?;
    column::write(session, header, tensor, (length, width), &mut out).map_err(
        |fault: Fault<Failure>| match fault {
            Fault::Other(failure) => failure,
            Fault::Unsupported(why) => Failure::Unsupported(why),
        },
    )?;
    session.verify_unchanged().map_err(Halt::Read)?;
    Ok(out.finish()?)
}

/// The sentence of the finding that ended the file.
fn first_fatal(findings: &[Finding], rule: &str) -> String {
    match findings.iter().find(|finding| finding.severity() == Severity::Fatal) {
        Some(finding) => format!("{} at {}: {finding}", finding.rule.id(), finding.offset),
        None => format!("breaks {rule}"),
    }
}

/// The tensor of this name. Where there are several, nothing says which is meant.
fn find(
    session: &mut Session<'_>,
    file: &File,
    name: &Name<'_>,
    force: bool,
) -> Result<Tensor, Failure> {
    let mut cursor = Cursor::default();
    let mut next = |session: &mut Session<'_>| {
        ask_or_end(session, |source| file.find(source, name, &mut cursor))
    };
    let first = next(session)?.ok_or(Failure::Missing)?;
    let mut count = 1_u64;
    while next(session)?.is_some() {
        count += 1;
    }
    if count > 1 {
        let count = human::thousands(count);
        if !force {
            let why = format!("{count} tensors are called \"{name}\"; --force takes the first");
            return Err(Failure::Invalid(why));
        }
        terminal::note(format_args!("{count} tensors are called \"{name}\"; this is the first"));
    }
    Ok(first)
}

/// Why a tensor cannot be used.
fn broken(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    name: &Name<'_>,
) -> Result<String, Halt> {
    let mut why = None;
    let audit = Audit::new(*file).structure_only();
    report::audit(session, audit, Depth::Structure, &mut |finding| {
        if is_about(&finding, tensor) {
            why.get_or_insert(finding);
        }
    })?;
    Ok(match why {
        Some(it) => {
            format!("tensor \"{name}\" is broken: {it} ({} at {})", it.rule.id(), it.offset)
        }
        None => format!("tensor \"{name}\" is broken, as the rest of the file may be"),
    })
}

/// Refuses data that is not what it should be, unless it is wanted by `force`.
fn verify(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
    name: &Name<'_>,
    force: bool,
) -> Result<(), Failure> {
    let (mut why, mut unchecked) = (None, None);
    let audit = Audit::payload_of(*file, tensor.index);
    report::audit(session, audit, Depth::Payloads, &mut |finding| {
        if is_about(&finding, tensor) {
            why.get_or_insert(finding);
        } else if finding.severity() == Severity::Unchecked {
            unchecked.get_or_insert(finding);
        }
    })?;
    if let Some(it) = why {
        let why = format!("\"{name}\": {it} ({} at {})", it.rule.id(), it.offset);
        if !force {
            return Err(Failure::Invalid(format!("{why}; --force writes the data as it is")));
        }
        terminal::note(why);
    } else if let Some(it) = unchecked {
        terminal::note(format_args!("\"{name}\" is not verified: {it}"));
    }
    Ok(())
}

/// Whether a finding says that a tensor cannot be read, or would be read wrongly.
fn is_about(finding: &Finding, tensor: &Tensor) -> bool {
    let same = finding.kind == EntryKind::Tensor && finding.entry == tensor.index;
    same && finding.severity() == Severity::Fatal
}

/// The header of an array, if NumPy has arrays of so many axes.
fn array_header(form: &Form, shape: &[u64], fortran: bool) -> Result<Vec<u8>, Failure> {
    if shape.len() > npy::MOST_AXES {
        let (axes, most) = (human::thousands(shape.len() as u64), npy::MOST_AXES);
        let why = format!("it has {axes} dims, and arrays of NumPy have at most {most}");
        return Err(Failure::Unsupported(format!("{why}; --raw writes its bytes")));
    }
    Ok(npy::header(form.descr, shape, fortran))
}

/// The extents. Where they are not in the file, the elements are written as a
/// row.
fn shape(session: &mut Session<'_>, tensor: &Tensor) -> Result<Vec<u64>, Halt> {
    let extents = session.ask(|source| tensors::shape(source, tensor))?;
    let known: Option<Vec<u64>> = extents.into_iter().collect();
    Ok(known.unwrap_or_else(|| vec![tensor.elements]))
}

/// How many bytes the data of a tensor decodes to, if it can be decoded.
fn length(session: &mut Session<'_>, file: &File, tensor: &Tensor) -> Result<u64, Failure> {
    if tensor.chunks.count() == 0 && tensor.elements == 0 && tensor.status == Status::Sound {
        return Ok(0);
    }
    let unsupported = |why: &str| Err(Failure::Unsupported(why.to_owned()));
    match tensor.chunks.count() {
        0 => return unsupported("it has no data in the file"),
        1 => {}
        _ => return unsupported("its data are in several pieces"),
    }
    let chunk = session.ask(|source| file.chunk(source, tensor, 0))?;
    let Some(chunk) = chunk.filter(|chunk| Decoder::decodes(chunk.encoding)) else {
        let encoding = tensor.encoding.name();
        return unsupported(&format!("its data are stored as {encoding}, which is not known"));
    };
    match data::len(&chunk) {
        Some(len) => Ok(len),
        None => unsupported("nothing tells how long its data are"),
    }
}

/// What is worth knowing about an array whose form is not quite the tensor's.
fn notes(tensor: &Tensor, form: &Form, order: &Order) -> Vec<String> {
    let mut notes = Vec::new();
    if !matches!(form.how, How::Copy) && tensor.dtype != DType::Bool {
        notes.push(format!("{} elements are written as {}", tensor.dtype.name(), form.descr));
    }
    let ordered = matches!(order, Order::Columns(_));
    if !ordered && (tensor.layout == Layout::ChannelsLast || *order == Order::Unknown) {
        let layout = tensor.layout.name();
        notes.push(format!("its layout is {layout}; elements are in the order of the file"));
    }
    if tensor.dims.encoding == DimEncoding::External {
        notes.push("its extents are not in the file; elements are written as a row".to_owned());
    }
    notes
}

/// A limit on file sizes (`ulimit -f`) ends a process with a signal. With a
/// handler the write fails instead, and the temporary file is removed.
fn survive_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Without the handler all works as well, but for that limit.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}
