//! The format of a file, by its first bytes and its name.

#[cfg(feature = "std")]
use crate::base::error::Error;
use crate::check::diagnosis::archive;
#[cfg(feature = "std")]
use crate::input::reader::Input as _;
use weighbridge_core::Format;

/// Bytes that decide on a format: more than any magic takes, or the name of the first archive
/// member.
pub(crate) const HEAD: usize = 512;

/// The format of a file of `len` bytes that begins with `head`, which has at least 512 bytes or
/// the whole file. `None` if neither `head` nor the name identifies it.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let format = weighbridge::recognise(&bytes[..bytes.len().min(512)], bytes.len() as u64, None);
/// assert_eq!(format, Some(weighbridge::Format::Safetensors));
/// assert_eq!(weighbridge::recognise(b"", 0, Some("model.gguf")), Some(weighbridge::Format::Gguf));
/// ```
pub fn recognise(head: &[u8], len: u64, name: Option<&str>) -> Option<Format> {
    recognise_as(head, len, name.and_then(by_file_name))
}

/// The format of a file on disk, by its first bytes and its name.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # std::fs::write(&path, weighbridge_tests::samples::safetensors())?;
/// let format = weighbridge::recognise_path(&path)?;
/// assert_eq!(format, Some(weighbridge::Format::Safetensors));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file cannot be read.
#[cfg(feature = "std")]
pub fn recognise_path(path: impl AsRef<std::path::Path>) -> Result<Option<Format>, Error> {
    let path = path.as_ref();
    let input = crate::input::reader::FileInput::open(path)?;
    let mut head = [0; HEAD];
    let len = usize::try_from(input.len()).unwrap_or(HEAD).min(HEAD);
    input.read_at(0, &mut head[..len])?;
    let name = path.file_name().map(|name| name.to_string_lossy());
    Ok(recognise(&head[..len], input.len(), name.as_deref()))
}

/// Like [`recognise`], given the format that the file name promises.
pub(crate) fn recognise_as(head: &[u8], len: u64, named: Option<Format>) -> Option<Format> {
    match Format::of_head(head, len) {
        Some(format) if format.has_magic() => Some(format),
        guess => {
            let array = archive::begins_with_array(head) && Format::Npz.is_available();
            named.or(array.then_some(Format::Npz)).or(guess)
        }
    }
}

/// The format that a file name promises, if this build reads it. Many things are called like
/// checkpoints, so for these the content alone decides.
pub(crate) fn by_file_name(name: &str) -> Option<Format> {
    Format::by_file_name(name).filter(|it| it.is_available() && it.is_told_by_name())
}
