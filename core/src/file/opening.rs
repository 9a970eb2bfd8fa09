//! Opening a file step by step, by default in the format that its first bytes indicate.

use crate::file::{Cursor, File};
use crate::format::Format;
use crate::input::Source;
use crate::parse::{Reader, Stop};
use crate::rule::{Finding, Halt, general};

/// Number of bytes that determine the format: the longest magic, and the byte after the length
/// field of BinTensors. No format's payload begins earlier.
const HEAD: u64 = 9;

/// Opens a file step by step; plain numbers, to be kept between calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opening {
    format: Option<Format>,
    cursor: Cursor,
}

impl Opening {
    /// Detects the format from the content.
    pub const fn detect() -> Self {
        Opening::of(None)
    }

    /// Opens as `format`, whatever the content; detects it if `None`.
    pub const fn of(format: Option<Format>) -> Self {
        Opening { format, cursor: Cursor::START }
    }

    /// Opens the file, or returns what is missing.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    /// [`Stop::Invalid`]: the file cannot be opened; the finding went to
    /// `sink`.
    pub fn step(
        &mut self,
        source: &Source<'_>,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<File, Stop> {
        let mut reader = Reader::new(source, sink);
        self.open(&mut reader).map_err(|halt| reader.stop(halt))
    }

    fn open(&mut self, reader: &mut Reader<'_, '_>) -> Result<File, Halt> {
        let format = match self.format {
            Some(format) => format,
            None => *self.format.insert(detect(reader)?),
        };
        File::open_format(format, reader, &mut self.cursor)
    }
}

/// The format that the first bytes indicate.
fn detect(reader: &mut Reader<'_, '_>) -> Result<Format, Halt> {
    let len = reader.source().len();
    let head = reader.take(len.min(HEAD))?;
    Format::of_head(head, len).ok_or_else(|| {
        reader.flag(general::UNKNOWN_FORMAT, 0, len.min(HEAD), 0, 0);
        Halt::refused(general::UNKNOWN_FORMAT)
    })
}
