//! Kinds of diagnoses.

use super::archive::{NPZ, ZIP};
use super::magic;
use super::{Diagnosis, XET};

/// The kind of a diagnosis. What a user can do about a file depends on it, and not on the words
/// of the diagnosis.
///
/// ```
/// use weighbridge::DiagnosisKind;
///
/// let report = weighbridge::check(b"\x1F\x8B\x08\0\0")?;
/// assert_eq!(report.diagnosis().unwrap().kind(), DiagnosisKind::Packed);
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiagnosisKind {
    /// A generation of a known format that this build does not read.
    Generation,
    /// A format that a newer one has replaced.
    Superseded,
    /// Compressed data or an archive: the file may be inside.
    Packed,
    /// Another format.
    Other,
    /// A pickle, or an archive that contains one.
    Pickle,
    /// A Git LFS pointer.
    LfsPointer,
    /// A Xet pointer.
    XetPointer,
    /// A page or a message from a server.
    Message,
    /// An unknown format.
    Unknown,
    /// The beginning of a file, zeros, or nothing.
    Incomplete,
}

impl DiagnosisKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: &'static [DiagnosisKind] = &[
        DiagnosisKind::Generation,
        DiagnosisKind::Superseded,
        DiagnosisKind::Packed,
        DiagnosisKind::Other,
        DiagnosisKind::Pickle,
        DiagnosisKind::LfsPointer,
        DiagnosisKind::XetPointer,
        DiagnosisKind::Message,
        DiagnosisKind::Unknown,
        DiagnosisKind::Incomplete,
    ];

    /// The name that programs use.
    ///
    /// ```
    /// assert_eq!(weighbridge::DiagnosisKind::LfsPointer.name(), "lfs-pointer");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            DiagnosisKind::Generation => "generation",
            DiagnosisKind::Superseded => "superseded",
            DiagnosisKind::Packed => "packed",
            DiagnosisKind::Other => "other",
            DiagnosisKind::Pickle => "pickle",
            DiagnosisKind::LfsPointer => "lfs-pointer",
            DiagnosisKind::XetPointer => "xet-pointer",
            DiagnosisKind::Message => "message",
            DiagnosisKind::Unknown => "unknown",
            DiagnosisKind::Incomplete => "incomplete",
        }
    }
}

impl Diagnosis {
    /// The kind of this diagnosis.
    ///
    /// ```
    /// use weighbridge::DiagnosisKind;
    ///
    /// let report = weighbridge::check(b"")?;
    /// assert_eq!(report.diagnosis().unwrap().kind(), DiagnosisKind::Incomplete);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn kind(&self) -> DiagnosisKind {
        match self {
            Diagnosis::Generation(_) => DiagnosisKind::Generation,
            Diagnosis::Other(ZIP | NPZ) => DiagnosisKind::Packed,
            Diagnosis::Other(name) => magic::kind_of(name),
            Diagnosis::Pickle(_) | Diagnosis::Scanned(..) => DiagnosisKind::Pickle,
            Diagnosis::LfsPointer(_) => DiagnosisKind::LfsPointer,
            Diagnosis::Message(XET) => DiagnosisKind::XetPointer,
            Diagnosis::Message(_) => DiagnosisKind::Message,
            Diagnosis::Unknown => DiagnosisKind::Unknown,
            Diagnosis::Empty
            | Diagnosis::Zeros(_)
            | Diagnosis::NoDirectory { .. }
            | Diagnosis::CutOff { .. } => DiagnosisKind::Incomplete,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_numbered_in_order() {
        for (number, kind) in DiagnosisKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number, "{}", kind.name());
        }
    }

    #[test]
    fn replaced_and_packed_formats_have_kinds_of_their_own() {
        let kind = |head: &[u8]| Diagnosis::of_other(head).map(|found| found.kind());
        assert_eq!(kind(b"tjgg"), Some(DiagnosisKind::Superseded));
        assert_eq!(kind(b"BZh9"), Some(DiagnosisKind::Packed));
        assert_eq!(kind(b"\x89HDF\r\n\x1A\n"), Some(DiagnosisKind::Other));
        assert_eq!(kind(b"# xet version 0\n"), Some(DiagnosisKind::XetPointer));
    }
}
