//! The smallest useful program, of which size and stack are measured: opens a
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

/// The audit of `file`; `None` if it is of another kind.
#[inline(always)]
pub fn audit(file: File) -> Option<Audit> {
    #[cfg(not(any(feature = "full", feature = "names")))]
    return Audit::new(file);
    #[cfg(any(feature = "full", feature = "names"))]
    Some(Audit::new(file))
}

/// Where the tensor `name` of a valid file lies; `None` if there is none, its
/// data is not in one piece, or the file is not valid. Without a `format`, the
/// content tells. Each finding goes to `report`.
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
        // A call for each of the places that report would take more.
        #[inline(always)]
        |finding: Finding| {
            valid &= finding.severity() < Severity::Violation;
            report(finding);
        }
    };
    let file = Opening::of(format).step(&source, &mut sink).ok()?;
    audit(file)?.structure_only().step(&source, slots, &mut sink).ok()?;
    if !valid {
        return None;
    }
    file.find(&source, name, &mut Cursor::default()).ok()??.raw()
}
