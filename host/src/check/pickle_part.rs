//! Where a pickle lies in its file.

use alloc::string::String;
use alloc::sync::Arc;
use weighbridge_core::Span;

/// A pickle of a file: the file itself, or a member of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PicklePart {
    pub(crate) name: Option<Arc<String>>,
    /// Its bytes in the file; if it is compressed, the whole stream.
    pub(crate) stored: Span,
    /// Where it begins among the decoded bytes, if it is compressed.
    pub(crate) decoded: Option<u64>,
    /// The archive around it is compressed as well, so its bytes cannot be read alone.
    pub(crate) is_nested: bool,
}

impl PicklePart {
    /// The member of an archive that it is, with the archives around; `None` for a file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::checkpoint();
    /// let report = weighbridge::check(&bytes)?;
    /// let name = report.pickles().unwrap().parts()[0].name();
    /// assert_eq!(name, Some("archive/data.pkl"));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(|name| name.as_str())
    }

    /// The offset of its first byte in the file; of a compressed member, that of the stream.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert_eq!(report.pickles().unwrap().parts()[0].offset(), 0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn offset(&self) -> u64 {
        self.stored.offset
    }

    /// The number of its bytes in the file.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert_eq!(report.pickles().unwrap().parts()[0].len(), 4);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    #[allow(clippy::len_without_is_empty, reason = "a pickle has at least one byte")]
    pub fn len(&self) -> u64 {
        self.stored.len
    }

    /// Whether it is compressed. Then offsets of its operations count decoded bytes.
    ///
    /// ```
    /// let report = weighbridge::check(b"\x80\x02}.")?;
    /// assert!(!report.pickles().unwrap().parts()[0].is_compressed());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn is_compressed(&self) -> bool {
        self.decoded.is_some()
    }
}
