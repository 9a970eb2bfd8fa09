//! The other files that a model refers to.

use super::list::{self, Found};
use super::{Cursor, State};
use crate::input::{Source, Span};
use crate::model::{NameAt, Status};
use crate::parse::{Reader, Stop};

/// Where a tensor says that its data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Position of the tensor in the listing.
    pub tensor: u32,
    /// The path of the other file, relative to the model's folder. It has no `..`, and begins
    /// with no slash.
    pub path: NameAt,
    /// The text with the SHA-1 of that file; empty if there is none.
    pub checksum: Span,
}

/// The locations of external data, in file order.
#[derive(Clone, Copy, Debug)]
pub struct Locations {
    cursor: Cursor,
}

impl Locations {
    /// All locations of an open model.
    pub const fn new() -> Self {
        Locations { cursor: Cursor::START }
    }

    /// The next location; `None` at the end. Locations that break a rule are left out.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn step(&mut self, source: &Source<'_>) -> Result<Option<Location>, Stop> {
        let mut sink = |_| {};
        let mut reader = Reader::new(source, &mut sink);
        reader.mute();
        loop {
            match list::next(&mut reader, &mut self.cursor).map_err(|halt| reader.stop(halt))? {
                Found::Tensor(tensor) => {
                    let State { fields, .. } = &self.cursor.state;
                    let Span { offset, len } = fields.external.location();
                    if fields.location == 1 && len > 0 && tensor.status != Status::Broken {
                        let path = NameAt::plain(offset, len);
                        let checksum = fields.external.checksum();
                        return Ok(Some(Location { tensor: tensor.index, path, checksum }));
                    }
                }
                Found::Sparse => {}
                Found::Over => return Ok(None),
            }
        }
    }
}

impl Default for Locations {
    fn default() -> Self {
        Locations::new()
    }
}
