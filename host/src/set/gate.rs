//! Verdicts on files from any source.

use crate::base::error::Error;
use crate::base::memory::Bytes;
use crate::check::access::Access;
use crate::check::options::{Goal, Options};
use crate::check::report::Report;
use crate::input::place::Place;
use crate::input::reader::Input;
use alloc::boxed::Box;

/// Checks a file that is in memory.
///
/// ```
/// use weighbridge::weighbridge_core::Profile;
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = weighbridge::check(&bytes)?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// # Errors
/// No file causes an error.
pub fn check(bytes: &[u8]) -> Result<Report, Error> {
    check_with(bytes, &Options::new())
}

/// Like [`check`], with the limits, profile and depth given in `options`.
///
/// ```
/// use weighbridge::{Goal, Options};
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = weighbridge::check_with(&bytes, &Options::new().goal(Goal::Structure))?;
/// assert_eq!(report.unchecked()[0].why(), "payloads not asked for");
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// # Errors
/// No file causes an error.
pub fn check_with(bytes: &[u8], options: &Options) -> Result<Report, Error> {
    finish(&Access::whole(Bytes::Lent(bytes), options))
}

/// Checks a file whose bytes are read as needed, from any source.
///
/// ```
/// use weighbridge::{Input, Options, ReadError, weighbridge_core::Profile};
/// # struct Remote(Vec<u8>);
/// # impl Input for Remote {
/// #     fn len(&self) -> u64 { self.0.len() as u64 }
/// #     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
/// #         buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
/// #         Ok(())
/// #     }
/// # }
/// # let remote = Remote(weighbridge_tests::samples::safetensors());
/// let options = Options::new().granule(64 << 10); // each request is a round trip
/// let report = weighbridge::check_input(remote, &options)?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// # Errors
/// When bytes cannot be read, or those needed at once do not fit into memory.
pub fn check_input(input: impl Input, options: &Options) -> Result<Report, Error> {
    finish(&Access::new(Box::new(input), None, options))
}

/// Checks a seekable reader, from its first byte to its last.
///
/// ```
/// use std::io::Cursor;
/// use weighbridge::{Options, weighbridge_core::Profile};
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let report = weighbridge::check_reader(Cursor::new(bytes), &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
///
/// # Errors
/// When bytes cannot be read, or those needed at once do not fit into memory.
#[cfg(feature = "std")]
pub fn check_reader(
    reader: impl std::io::Read + std::io::Seek + Send,
    options: &Options,
) -> Result<Report, Error> {
    check_input(crate::input::reader::Seekable::new(reader)?, options)
}

/// Checks a file on disk. If it is the index of a sharded checkpoint, the files that it lists
/// are checked as well.
///
/// ```
/// use weighbridge::{Options, weighbridge_core::Profile};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
/// let report = weighbridge::check_path(&path, &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file cannot be read, or changes while it is.
#[cfg(feature = "std")]
pub fn check_path(path: impl AsRef<std::path::Path>, options: &Options) -> Result<Report, Error> {
    let place = path.as_ref().to_path_buf();
    check_at(place.open()?, &place, options)
}

/// Checks a file whose place is known, along with the files beside it that belong to it: the
/// shards of an index, or the other parts of a model.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
/// use weighbridge::{FileInput, Options, Profile, check_at};
///
/// let file = FileInput::open(&path)?;
/// let report = check_at(&file, &path, &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// // `file` is still open, so whatever is read of it now is what was checked.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When a file cannot be read, or changes while it is.
pub fn check_at(input: impl Input, place: &dyn Place, options: &Options) -> Result<Report, Error> {
    let mut access = Access::at(Box::new(input), place, options);
    let goal = access.options().goal;
    let mut report = report_with_others(&mut access, place, goal)?;
    report.leave_open();
    access.verify_unchanged()?;
    Ok(report.closed(access.name().cloned()))
}

fn finish(access: &Access<'_>) -> Result<Report, Error> {
    let mut report = report_on(access, None, access.options().goal)?;
    report.leave_open();
    #[cfg(all(feature = "gguf", feature = "std"))]
    if let Some(file @ weighbridge_core::File::Gguf(_)) = report.file().copied() {
        crate::set::open_splits::leave(access, &file, &mut report)?;
    }
    access.verify_unchanged()?;
    Ok(report.closed(None))
}

/// Checks a file up to `goal`, along with the files beside it that belong to it.
pub(crate) fn report_with_others(
    access: &mut Access<'_>,
    place: &dyn Place,
    goal: Goal,
) -> Result<Report, Error> {
    #[cfg(all(feature = "onnx", feature = "std"))]
    {
        let attached = crate::set::open_beside::attach(access, place, true)?;
        let mut report = report_on(access, Some(place), goal)?;
        attached.finish(access.own_len(), &mut report)?;
        Ok(report)
    }
    #[cfg(not(all(feature = "onnx", feature = "std")))]
    report_on(access, Some(place), goal)
}

/// Checks a file up to `goal`, along with the files that it lists if its own place is known.
pub(crate) fn report_on(
    access: &Access<'_>,
    place: Option<&dyn Place>,
    goal: Goal,
) -> Result<Report, Error> {
    let report = access.report(goal)?;
    #[cfg(all(feature = "formats", feature = "std"))]
    let report = {
        let mut report = report;
        crate::set::open_archive::compare(access, &mut report, goal)?;
        report
    };
    #[cfg(all(feature = "shards", feature = "std"))]
    if let (Some(weighbridge_core::File::Shards(header)), Some(place), true) =
        (report.file().copied(), place, report.passes())
    {
        let mut report = report;
        crate::set::open_shards::compare(access, &header, place, &mut report)?;
        return Ok(report);
    }
    #[cfg(all(feature = "gguf", feature = "std"))]
    if let (Some(file @ weighbridge_core::File::Gguf(_)), Some(place)) =
        (report.file().copied(), place)
    {
        let mut report = report;
        crate::set::open_splits::compare(access, &file, place, &mut report)?;
        report.sort();
        return Ok(report);
    }
    let _ = place;
    Ok(report)
}
