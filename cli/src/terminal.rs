//! The two streams of the process.

use crate::outcome::Outcome;
use std::fmt::Display;
use std::io::{self, Write};
use weighbridge::Text;

/// Standard output. Styles of human-readable output are kept only for terminals,
/// and not if `NO_COLOR` is set.
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

/// Writes a note to standard error, on one line.
pub(crate) fn note(what: impl Display) {
    // if standard error is gone, there is no way left to report it.
    let _ = writeln!(anstream::stderr(), "weighbridge: {what}");
}

/// Returns the outcome if everything was written, otherwise a failure. A closed
/// pipe is not reported, since its reader closed it deliberately.
pub(crate) fn written(result: io::Result<()>, mut outcome: Outcome) -> Outcome {
    if let Err(err) = result {
        outcome.include(Outcome::Failed);
        if err.kind() != io::ErrorKind::BrokenPipe {
            note(format_args!("standard output: {err}"));
        }
    }
    outcome
}

/// Output that can be taken back until it gets long.
///
/// An error during a short answer leaves no partial output; a long answer is not
/// kept in memory.
pub(crate) struct Held {
    out: Box<dyn Write>,
    held: Vec<u8>,
    flows: bool,
}

/// Maximum number of bytes that can be taken back.
const HELD: usize = 1 << 20;

impl Held {
    pub(crate) fn new(out: Box<dyn Write>) -> Self {
        Held { out, held: Vec::new(), flows: false }
    }

    /// Writes out the held output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.held)?;
        self.out.flush()
    }

    /// The output, as if nothing had been written; `None` if something was.
    pub(crate) fn take_back(self) -> Option<Box<dyn Write>> {
        (!self.flows).then_some(self.out)
    }
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.flows {
            return self.out.write(bytes);
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() > HELD {
            self.flows = true;
            self.out.write_all(&std::mem::take(&mut self.held))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.flows { self.out.flush() } else { Ok(()) }
    }
}
