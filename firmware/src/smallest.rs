//! The smallest useful program, whose size and stack are measured: opens a
//! file, audits its structure and finds one tensor.

use weighbridge_core::{
    Cursor, File, Finding, Format, Name, Opening, Severity, Slot, Source, Span,
};

/// The audit that this image needs.
#[cfg(feature = "full")]
pub use weighbridge_core::Audit;
#[cfg(all(feature = "names", not(feature = "full")))]
pub use weighbridge_core::MappedAudit as Audit;
#[cfg(not(any(feature = "full", feature = "names")))]
pub use weighbridge_core::NumberedAudit as Audit;

/// The audit of `file`; `None` if the file is of another kind.
#[inline(always)]
pub fn audit(file: File) -> Option<Audit> {
    #[cfg(not(any(feature = "full", feature = "names")))]
    return Audit::new(file);
    #[cfg(any(feature = "full", feature = "names"))]
    Some(Audit::new(file))
}

/// Finds the data of tensor `name` in a valid file; `None` if there is no such
/// tensor, its data is not contiguous, or the file is not valid. Without a
/// `format`, it is detected from the content. Each finding is passed to
/// `report`.
#[inline(always)]
pub fn find(
    format: Option<Format>,
    bytes: &[u8],
    name: &Name<'_>,
    slots: &mut [Slot],
    mut report: impl FnMut(Finding),
) -> Option<Span> {
    let source = Source::whole(bytes);
    let mut valid = true;
    let mut sink = {
        // Calling it from each place that reports would take more code.
        #[inline(always)]
        |finding: Finding| {
            valid &= finding.severity() < Severity::Violation;
            report(finding);
        }
    };
    let Ok(file) = Opening::of(format).step(&source, &mut sink) else { return None };
    let audited = audit(file)?.structure_only().step(&source, slots, &mut sink);
    if audited.is_err() || !valid {
        return None;
    }
    // Examined where it is returned: a tensor is large for a small stack.
    match &file.find(&source, name, &mut Cursor::default()) {
        Ok(Some(tensor)) => tensor.raw(),
        _ => None,
    }
}
