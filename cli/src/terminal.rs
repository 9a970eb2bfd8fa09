//! The two streams of the process.

use crate::outcome::Outcome;
use crate::text::Text;
use std::fmt::Display;
use std::io::{self, Write};

/// Standard output. Of what is for people, styles go through to terminals only,
/// and not when `NO_COLOR` is set.
pub(crate) fn stdout(as_json: bool) -> Box<dyn Write> {
    if as_json {
        Box::new(io::BufWriter::new(io::stdout()))
    } else {
        Box::new(io::BufWriter::new(anstream::stdout()))
    }
}

/// Reports that a file could not be read or written, on one line.
pub(crate) fn complain(file: &Text, why: impl Display) {
    note(format_args!("{file}: {why}"));
}

/// Says something beside the output, on one line.
pub(crate) fn note(what: impl Display) {
    // Nobody can be told that standard error is gone.
    let _ = writeln!(anstream::stderr(), "weighbridge: {what}");
}

/// The outcome, if what was written has arrived, and else the failure to
/// write. A reader that closes a pipe knows that it did, and is told nothing.
pub(crate) fn written(result: io::Result<()>, mut outcome: Outcome) -> Outcome {
    if let Err(err) = result {
        outcome.include(Outcome::Failed);
        if err.kind() != io::ErrorKind::BrokenPipe {
            note(format_args!("standard output: {err}"));
        }
    }
    outcome
}
