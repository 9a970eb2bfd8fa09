//! What the files beside a file say about it.

use super::{Report, Unchecked};
use alloc::format;

impl Report {
    /// Records that the file's download has not ended, because this file of a downloader lies
    /// beside it.
    ///
    /// ```
    /// use weighbridge::{Profile, Verdict};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut report = weighbridge::check(&bytes)?;
    /// report.interrupted("model.safetensors.aria2");
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn interrupted(&mut self, control: &str) {
        let why = format!("download in progress: {control} lies beside the file");
        self.leave(Unchecked::new(None, why, true));
    }

    /// Records that other files of the model are missing, as this text says.
    ///
    /// ```
    /// use weighbridge::{Profile, Verdict};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let mut report = weighbridge::check(&bytes)?;
    /// report.incomplete("1 of 2 shards is missing: model-00002-of-00002.safetensors");
    /// assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn incomplete(&mut self, missing: &str) {
        self.leave(Unchecked::new(None, missing, true));
    }
}
