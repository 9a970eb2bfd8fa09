//! `weighbridge extract`: writes one tensor to a file.

use crate::args::ExtractArgs;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::progress::Bars;
use crate::terminal;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use weighbridge::text::thousands;
use weighbridge::weighbridge_core::EntryKind;
use weighbridge::{Error, Finding, Model, Options, Severity, Status, Tensor, Text};

/// Why a tensor was not written.
enum Failure {
    /// Failed to read the input.
    Read(Error),
    /// Failed to write the output.
    Write(io::Error),
    /// The file or the tensor is broken.
    Invalid(String),
    /// The format is not supported.
    Unread(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Read(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Write(error)
    }
}

/// # Errors
/// A sentence, if the arguments make no sense.
pub(crate) fn run(args: &ExtractArgs) -> Result<Outcome, String> {
    let options = Bars::new().watch(args.open.options());
    survive_size_limits();
    let file = Text::from(args.file.as_path());
    let name = Text::from(Path::new(&args.name));
    let failure = match extract(args, &options, &name) {
        Ok(path) => {
            if let Some(path) = path {
                terminal::note(format_args!("wrote {}", Text::from(path.as_path())));
            }
            return Ok(Outcome::Valid);
        }
        Err(failure) => failure,
    };
    Ok(match failure {
        Failure::Read(error @ Error::Undecodable(_)) => {
            terminal::complain(&file, format_args!("\"{name}\": {error}"));
            Outcome::Invalid
        }
        Failure::Read(Error::Unsupported(why)) => {
            terminal::complain(&file, format_args!("\"{name}\": {why}"));
            Outcome::Unchecked
        }
        Failure::Read(error) => {
            terminal::complain(&file, error);
            Outcome::Failed
        }
        Failure::Write(err) => {
            let target = match &args.output {
                Some(path) if path == Path::new("-") => Text::from("standard output"),
                Some(path) => Text::from(path.as_path()),
                None => Text::from("the current folder"),
            };
            terminal::complain(&target, err);
            Outcome::Failed
        }
        Failure::Invalid(why) => {
            terminal::complain(&file, why);
            Outcome::Invalid
        }
        Failure::Unread(why) => {
            terminal::complain(&file, why);
            Outcome::Unsupported
        }
    })
}

fn extract(args: &ExtractArgs, options: &Options, name: &Text) -> Result<Option<PathBuf>, Failure> {
    let model = match Model::open_with(&args.file, options) {
        Err(Error::NotOpened { why, unsupported: true }) => return Err(Failure::Unread(why)),
        Err(Error::NotOpened { why, .. }) => return Err(Failure::Invalid(why)),
        opened => opened?,
    };
    let tensor = find(&model, name, args.force)?;
    if tensor.status() == Status::Broken {
        return Err(Failure::Invalid(broken(&tensor)?));
    }
    verify(&tensor, args.force)?;
    let target = |extension| match &args.output {
        Some(path) if path == Path::new("-") => Output::standard(),
        Some(path) => Output::named(path, &args.file),
        None => Output::free("tensor", extension),
    };
    let mut out;
    if args.raw {
        tensor.decoded_len()?;
        out = target("bin")?;
        tensor.stream(|piece| Ok::<(), Failure>(out.write_all(piece)?))?;
    } else {
        let npy = tensor.npy().map_err(with_advice)?;
        out = target("npy")?;
        npy.write(|piece| Ok::<(), Failure>(out.write_all(piece)?))?;
        for note in npy.notes() {
            terminal::note(format_args!("\"{name}\": {note}"));
        }
    }
    model.verify_unchanged()?;
    Ok(out.finish()?)
}

/// Adds advice for a tensor that NumPy cannot represent.
fn with_advice(error: Error) -> Error {
    match error {
        Error::NoArray(why) => Error::Unsupported(format!("{why}; --raw writes its bytes")),
        error => error,
    }
}

/// The tensor of this name. If there are several, nothing says which one is
/// meant.
fn find<'m, 'a>(model: &'m Model<'a>, name: &Text, force: bool) -> Result<Tensor<'m, 'a>, Failure> {
    let mut all = model.tensors_named(name);
    let first = all.next().transpose()?.ok_or_else(|| Error::NoTensor(name.clone()))?;
    let mut count = 1_u64;
    for other in all {
        other?;
        count += 1;
    }
    if count > 1 {
        let count = thousands(count);
        if !force {
            let why = format!("{count} tensors are called \"{name}\"; --force takes the first");
            return Err(Failure::Invalid(why));
        }
        terminal::note(format_args!("{count} tensors are called \"{name}\"; this is the first"));
    }
    Ok(first)
}

/// Why a tensor cannot be used.
fn broken(tensor: &Tensor<'_, '_>) -> Result<String, Error> {
    let name = tensor.name();
    Ok(match tensor.faults()?.first() {
        Some(it) => {
            format!("tensor \"{name}\" is broken: {it} ({} at {})", it.rule.id(), it.offset)
        }
        None => format!("tensor \"{name}\" is broken, and the rest of the file may be too"),
    })
}

/// Refuses faulty data, unless `force` is set.
fn verify(tensor: &Tensor<'_, '_>, force: bool) -> Result<(), Failure> {
    let (name, found) = (tensor.name(), tensor.verify()?);
    if let Some(it) = found.iter().find(|finding| is_about(finding, tensor)) {
        let why = format!("\"{name}\": {it} ({} at {})", it.rule.id(), it.offset);
        if !force {
            return Err(Failure::Invalid(format!("{why}; --force writes the data as it is")));
        }
        terminal::note(why);
    } else if let Some(it) = found.iter().find(|it| it.severity() == Severity::Unchecked) {
        terminal::note(format_args!("\"{name}\" is not verified: {it}"));
    }
    Ok(())
}

/// Whether a finding means that a tensor cannot be read, or would be read
/// wrongly.
fn is_about(finding: &Finding, tensor: &Tensor<'_, '_>) -> bool {
    let same = finding.kind == EntryKind::Tensor && finding.entry == tensor.index();
    same && finding.severity() == Severity::Fatal
}

/// A limit on file sizes (`ulimit -f`) ends a process with a signal. With a
/// handler, the write fails instead, and the temporary file is removed.
pub(crate) fn survive_size_limits() {
    #[cfg(unix)]
    {
        let seen = std::sync::Arc::default();
        // Without the handler only that limit is not handled.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}
