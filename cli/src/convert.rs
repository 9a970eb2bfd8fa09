//! `weighbridge convert`: writes a model as safetensors.

use crate::args::ConvertArgs;
use crate::extract::survive_size_limits;
use crate::human::{self, Left};
use crate::json;
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use std::io::{self, Write};
use std::path::Path;
use weighbridge::save::{Convert, Converted};
use weighbridge::text::{bytes, plural};
use weighbridge::{Error, Options, Text, Verdict};

/// # Errors
/// A sentence, if the arguments make no sense.
pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome, String> {
    let options = args.verdict.options();
    let options = if args.follow_links { options.follow_links() } else { options };
    let options = end_on_signals(Bars::new().watch(options));
    survive_size_limits();
    let mut convert = Convert::new().options(options);
    if let Some(to) = args.dequantise {
        convert = convert.dequantise(to);
    }
    if let Some(most) = args.max_shard_size {
        convert = convert.max_shard_size(most);
    }
    convert = if args.overwrite { convert.overwrite() } else { convert };
    convert = if args.force { convert.force() } else { convert };

    let file = Text::from(args.file.as_path());
    let as_json = args.print.is_json();
    let mut out = terminal::stdout(as_json);
    let (written, outcome) = match convert.run(&args.file, &args.target) {
        Ok(done) => {
            explain(&file, args, &done);
            let written = match as_json {
                true => json::line(&mut *out, &done),
                false => show(&mut *out, &file, args, &done),
            };
            (written, done.verdict().into())
        }
        Err(error) => {
            let why = complain(&file, &error);
            let written = match as_json {
                true => json::not_converted(&mut *out, &file, &why),
                false => Ok(()),
            };
            (written, outcome(&error))
        }
    };
    Ok(terminal::written(written.and_then(|()| out.flush()), outcome))
}

/// Ends the conversion on Ctrl-C and when the process is asked to end, so that no temporary file
/// is left.
fn end_on_signals(options: Options) -> Options {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            // Without the handler the signal ends the process at once.
            let _ = signal_hook::flag::register(signal, Arc::clone(&asked));
        }
        options.cancel_when(move || asked.load(Ordering::Relaxed))
    }
    #[cfg(not(unix))]
    options
}

/// Reports an error on one line, and returns it.
fn complain(file: &Text, error: &Error) -> String {
    if let Error::Write(path, why) = error {
        terminal::complain(path, why);
    } else {
        terminal::complain(file, error);
    }
    error.to_string()
}

fn outcome(error: &Error) -> Outcome {
    match error {
        Error::Unsupported(_) | Error::NoArray(_) => Outcome::Unchecked,
        Error::NotOpened { unsupported: true, .. } => Outcome::Unsupported,
        Error::Undecodable(_) | Error::NotOpened { .. } => Outcome::Invalid,
        Error::Shard(_, error) => outcome(error),
        _ => Outcome::Failed,
    }
}

/// Notes what is not in the output, or differs from the input.
fn explain(file: &Text, args: &ConvertArgs, done: &Converted) {
    let is_written = done.is_written();
    for left in done.left_out() {
        let left_out = if is_written { "left out: " } else { "" };
        terminal::complain(file, format_args!("\"{}\": {left_out}{}", left.name, left.why));
    }
    if !is_written && !done.left_out().is_empty() {
        let quantised = args.dequantise.is_none()
            && done.left_out().iter().any(|left| left.why.contains("dequantised"));
        let advice = match quantised {
            true => "--dequantise writes quantised elements as numbers, --force leaves them out",
            false => "--force leaves them out",
        };
        let tensors = plural(done.left_out().len() as u64, "tensor");
        let why = format_args!("{tensors} cannot be written as safetensors; {advice}");
        terminal::complain(file, why);
    }
    for note in done.notes() {
        terminal::complain(file, note);
    }
    let count = done.metadata_left_out().len() as u64;
    if is_written && count > 0 {
        let entries = plural(count, "metadata value");
        terminal::complain(file, format_args!("without {entries}: only text is kept"));
    }
    if !done.tied().is_empty() {
        let names = plural(done.tied().len() as u64, "tied tensor");
        let why = format_args!("{names} written once; the metadata has the other names");
        terminal::complain(file, why);
    }
}

/// Prints the report on an input that is not converted, and the files that were written.
fn show(out: &mut dyn Write, file: &Text, args: &ConvertArgs, done: &Converted) -> io::Result<()> {
    let refused = matches!(done.verdict(), Verdict::Invalid | Verdict::Unsupported);
    if refused || done.verdict() == Verdict::Unchecked && done.is_written() {
        let profile = args.verdict.profile();
        human::report(out, file, done.report(), profile, &Left::default())?;
    }
    for saved in done.files() {
        let path = Text::from(Path::new(&saved.path));
        let (tensors, size) = (plural(saved.tensors, "tensor"), bytes(saved.len));
        writeln!(out, "wrote {path}: {tensors}, {size}")?;
    }
    Ok(())
}
