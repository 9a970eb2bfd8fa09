//! Lists of metadata entries, with the start of each value.

use crate::document::Document;
use crate::meta::{self, Shown};
use crate::pack::within;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::{Cursor, Stop, Tensor};

/// Metadata entries being listed. Their values may lie far apart, so what was
/// read is kept until the list is complete.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The tensor, if any, and the range of entries.
    of: Option<(Option<u32>, Range<u32>)>,
    shown: Vec<Shown>,
    cursor: Cursor,
}

impl Listing {
    /// Continues the same list, or starts another.
    fn begin(&mut self, of: (Option<u32>, Range<u32>)) {
        if self.of.as_ref() != Some(&of) {
            *self = Listing { of: Some(of), ..Listing::default() };
        }
    }
}

impl Document {
    /// Entries `from..to` of the file's metadata, with the start of each value.
    ///
    /// # Errors
    /// The parser's errors.
    pub fn list(&mut self, from: u32, to: u32) -> Result<Option<Vec<Shown>>, Stop> {
        self.listing.begin((None, from..to));
        let mut listing = core::mem::take(&mut self.listing);
        let metas = core::mem::take(&mut self.metadata);
        let result = self.session.ask(|file, source| {
            let range = within(from, to, metas.len());
            let rest = metas.get(range).unwrap_or_default().get(listing.shown.len()..);
            for meta in rest.unwrap_or_default() {
                listing.shown.push(Shown::of(source, file, meta, meta::LITTLE)?);
            }
            Ok(())
        });
        self.metadata = metas;
        self.finish(listing, result)
    }

    /// The metadata of a tensor, with the start of each value.
    ///
    /// # Errors
    /// The parser's errors.
    pub fn list_of(&mut self, tensor: &Tensor) -> Result<Option<Vec<Shown>>, Stop> {
        self.listing.begin((Some(tensor.index), 0..0));
        let mut listing = core::mem::take(&mut self.listing);
        let result = self.session.ask(|file, source| {
            loop {
                let mut next = listing.cursor;
                let Some(meta) = file.next_attribute(source, tensor, &mut next)? else {
                    return Ok(());
                };
                listing.shown.push(Shown::of(source, file, &meta, meta::LITTLE)?);
                listing.cursor = next;
            }
        });
        self.finish(listing, result)
    }

    fn finish(
        &mut self,
        listing: Listing,
        result: Result<Option<()>, Stop>,
    ) -> Result<Option<Vec<Shown>>, Stop> {
        match result {
            Err(Stop::NeedBytes(absent)) => {
                self.listing = listing;
                Err(Stop::NeedBytes(absent))
            }
            result => Ok(result?.map(|()| listing.shown)),
        }
    }
}
