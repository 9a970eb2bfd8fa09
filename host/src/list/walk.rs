//! A pass over metadata that waits for bytes.

use weighbridge_core::{Cursor, File, Metadata, Source, Stop};

/// A resumable pass over a file's metadata, which need not be fully in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Walk {
    cursor: Cursor,
    /// The current entry. It is not read again when its name or value is missing: its own bytes
    /// may be gone by then.
    at_hand: Option<Metadata>,
}

impl Walk {
    /// Calls `take` with each remaining entry.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; call again when the bytes are available.
    pub(crate) fn each(
        &mut self,
        source: &Source<'_>,
        file: &File,
        mut take: impl FnMut(&Metadata) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        loop {
            if self.at_hand.is_none() {
                let next = file.next_meta(source, &mut self.cursor, &mut |_| {})?;
                self.at_hand = next.map(|entry| entry.metadata);
            }
            let Some(meta) = &self.at_hand else { return Ok(()) };
            take(meta)?;
            self.at_hand = None;
        }
    }
}
