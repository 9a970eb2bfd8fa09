//! Files that the tensors of a model refer to, appended to it.

use crate::document::Document;
use weighbridge::OtherFiles;
use weighbridge_core::{Span, Stop};

/// Bytes of the list of tensors whose data is in other files.
const MOST_BYTES: u64 = 256 << 20;

impl Document {
    /// The files that the tensors name; none before the file is open.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn other_files(&mut self) -> Result<&OtherFiles, Stop> {
        let Document { session, others, .. } = self;
        let (list, done) = others.get_or_insert_with(|| (OtherFiles::new(MOST_BYTES), false));
        if !*done {
            // A broken entry ends the list; the audit reports it.
            match session.ask(|file, source| list.read(file, source)) {
                Err(stop @ Stop::NeedBytes(_)) => return Err(stop),
                _ => *done = true,
            }
        }
        Ok(list)
    }

    /// Appends the files at these spans, `None` for a file that is missing, and begins again.
    /// Codes of words stay valid.
    pub fn attach(&mut self, files: &[Option<Span>]) {
        let Some(others) = self.others.take() else { return };
        others.0.attach(&mut self.session, files);
        self.restart();
        self.lacks_files = files.iter().any(Option::is_none);
        self.others = Some(others);
    }
}
