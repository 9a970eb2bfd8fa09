//! Where a file lies, and the files beside it.

use crate::base::error::ReadError;
use crate::base::text::Text;
use crate::input::reader::Input;
use alloc::boxed::Box;
#[cfg(feature = "std")]
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Most missing files to look for in a store. Real checkpoints have fewer files.
const MOST_MISSING: usize = 1_000;
/// Most files of a folder that are looked at because they may refer to another.
#[cfg(feature = "std")]
const MOST_NEAR: usize = 64;

/// Where a file lies: a path, or a key in a store. An index of shards, and a model in parts,
/// are checked with the files beside them. A `PathBuf` is a place.
///
/// ```
/// use weighbridge::{Input, Options, Place, Profile, ReadError, Text, check_at};
///
/// /// A store with one file.
/// struct Key(&'static str, Vec<u8>);
///
/// impl Place for Key {
///     fn name(&self) -> Text {
///         format!("store://{}", self.0).as_str().into()
///     }
///
///     fn file_name(&self) -> Text {
///         self.0.into()
///     }
///
///     fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
///         Ok(Box::new(Bytes(&self.1)))
///     }
///
///     fn beside(&self, _: &str) -> Box<dyn Place + '_> {
///         Box::new(Key("none", Vec::new()))
///     }
/// }
///
/// struct Bytes<'b>(&'b [u8]);
///
/// impl Input for Bytes<'_> {
///     fn len(&self) -> u64 {
///         self.0.len() as u64
///     }
///
///     fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
///         buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
///         Ok(())
///     }
/// }
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let key = Key("model.safetensors", bytes);
/// let report = check_at(key.open()?, &key, &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), weighbridge::Error>(())
/// ```
pub trait Place: Sync {
    /// The whole name, for messages.
    fn name(&self) -> Text;

    /// The name without its folder. It may indicate a format, and the number of a part.
    fn file_name(&self) -> Text;

    /// Opens the file that lies here.
    ///
    /// # Errors
    /// An I/O error of the kind `NotFound` if there is none; any other if it cannot be read.
    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError>;

    /// The place of a file of this name in the same folder.
    fn beside(&self, name: &str) -> Box<dyn Place + '_>;

    /// Opens a file in the same folder or below it. `path` has slashes between its components.
    /// Unlike [`beside`](Self::beside), the input outlives the place. `None`, the default, if that
    /// is not possible.
    ///
    /// ```
    /// use weighbridge::Place;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let model = folder.path().join("model.onnx");
    /// std::fs::create_dir(folder.path().join("data"))?;
    /// std::fs::write(folder.path().join("data/w.bin"), b"abc")?;
    /// assert_eq!(model.open_below("data/w.bin").unwrap()?.len(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn open_below(&self, path: &str) -> Option<Result<Box<dyn Input>, ReadError>> {
        let _ = path;
        None
    }

    /// Whether that file is a link, or in a linked folder, that leads out of this folder.
    fn leaves_below(&self, path: &str) -> bool {
        let _ = path;
        false
    }

    /// The files with this extension in the same folder and in the one above it, each with the path
    /// from its folder to this one: empty, or a name and a slash. `None`, the default, if they cannot
    /// be listed.
    ///
    /// ```
    /// use weighbridge::Place;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// std::fs::write(folder.path().join("a.onnx"), b"")?;
    /// let data = folder.path().join("data/w.bin");
    /// let near = data.near("onnx").unwrap();
    /// assert!(near.into_iter().map(|(_, path)| path).eq(["data/"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn near(&self, extension: &str) -> Option<Vec<(Box<dyn Place + '_>, String)>> {
        let _ = extension;
        None
    }

    /// The place of a file of this name in the folder that is `level` folders above this one, with the
    /// path from there to the folder of this file, which ends in a slash. `None`, the default, if
    /// folders above cannot be read, or the name of this place does not have so many.
    ///
    /// ```
    /// use weighbridge::Place;
    ///
    /// let module = std::path::PathBuf::from("model/code/modeling_x.py");
    /// let (above, path) = module.above(1, "config.json").unwrap();
    /// assert_eq!((above.name(), &*path), ("model/config.json".into(), "code/"));
    /// ```
    fn above(&self, level: usize, name: &str) -> Option<(Box<dyn Place + '_>, String)> {
        let _ = (level, name);
        None
    }

    /// Number of missing files after which the search beside this one ends: each may cost a
    /// round trip, and a name of a few bytes may stand for one.
    fn most_missing(&self) -> usize {
        MOST_MISSING
    }

    /// Whether the file is a link that leads out of its folder.
    fn leaves(&self) -> bool {
        false
    }
}

#[cfg(feature = "std")]
impl Place for std::path::PathBuf {
    fn name(&self) -> Text {
        Text::from(self.as_path())
    }

    fn file_name(&self) -> Text {
        self.as_path()
            .file_name()
            .map(|name| Text::from(std::path::Path::new(name)))
            .unwrap_or_default()
    }

    fn open(&self) -> Result<Box<dyn Input + '_>, ReadError> {
        Ok(Box::new(crate::input::reader::FileInput::open(self)?))
    }

    fn beside(&self, name: &str) -> Box<dyn Place + '_> {
        Box::new(self.with_file_name(name))
    }

    fn open_below(&self, path: &str) -> Option<Result<Box<dyn Input>, ReadError>> {
        let opened = crate::input::reader::FileInput::open(self.with_file_name(path));
        Some(opened.map(|file| Box::new(file) as Box<dyn Input>))
    }

    fn leaves_below(&self, path: &str) -> bool {
        leads_out(self, &self.with_file_name(path))
    }

    fn near(&self, extension: &str) -> Option<Vec<(Box<dyn Place + '_>, String)>> {
        let own = self.parent()?;
        let mut found = Vec::new();
        for folder in [Some(own), own.parent()].into_iter().flatten() {
            let Some(path) = own.strip_prefix(folder).ok().and_then(|path| path.to_str()) else {
                continue;
            };
            let path = if path.is_empty() { String::new() } else { format!("{path}/") };
            let folder = if folder.as_os_str().is_empty() { ".".as_ref() } else { folder };
            let listed = std::fs::read_dir(folder).into_iter().flatten();
            let files = listed.filter_map(|entry| Some(entry.ok()?.path()));
            let models = files.filter(|file| file.extension() == Some(extension.as_ref()));
            let places = models.take(MOST_NEAR).map(|file| Box::new(file) as Box<dyn Place>);
            found.extend(places.map(|place| (place, path.clone())));
        }
        Some(found)
    }

    fn above(&self, level: usize, name: &str) -> Option<(Box<dyn Place + '_>, String)> {
        let mut folder = self.parent()?;
        let mut path = String::new();
        for _ in 0..level {
            path = format!("{}/{path}", folder.file_name()?.to_str()?);
            folder = folder.parent()?;
        }
        Some((Box::new(folder.join(name)), path))
    }

    /// Unlimited: on disk each takes microseconds.
    fn most_missing(&self) -> usize {
        usize::MAX
    }

    fn leaves(&self) -> bool {
        leaves(self)
    }
}

/// Whether a path is a link that leads out of its folder. A dangling link does not: opening it
/// reveals that the file is missing.
#[cfg(feature = "std")]
fn leaves(path: &std::path::Path) -> bool {
    use std::fs;
    use std::path::Path;
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link || is_hub_link(path) {
        return false;
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(target), Ok(folder)) => !target.starts_with(folder),
        _ => false,
    }
}

/// Whether a path below the folder of `beside` leads out of that folder.
#[cfg(feature = "std")]
fn leads_out(beside: &std::path::Path, path: &std::path::Path) -> bool {
    use std::fs;
    use std::path::Path;
    let folder = match beside.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(target), Ok(folder)) => !target.starts_with(folder) && !is_hub_link(path),
        _ => false,
    }
}

/// The `blobs` folder of the hub cache's repository that a path lies in:
/// `models--owner--name/snapshots/revision/…`.
#[cfg(feature = "std")]
fn hub_blobs(path: &std::path::Path) -> Option<std::path::PathBuf> {
    let snapshots =
        path.ancestors().skip(1).find(|it| it.file_name() == Some("snapshots".as_ref()))?;
    let repository = snapshots.parent()?;
    is_hub_repository(repository).then(|| repository.join("blobs"))
}

/// Whether a folder has the name of a repository in huggingface_hub's cache.
#[cfg(feature = "std")]
pub(crate) fn is_hub_repository(folder: &std::path::Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    hub_repository(name).is_some()
}

/// The repository whose folder in huggingface_hub's cache has this name.
///
/// ```
/// use weighbridge::repository::hub_repository;
///
/// assert_eq!(hub_repository("models--me--tiny").as_deref(), Some("me/tiny"));
/// assert_eq!(hub_repository("models"), None);
/// ```
#[cfg(feature = "std")]
pub fn hub_repository(folder: &str) -> Option<String> {
    let kinds = ["models--", "datasets--", "spaces--"];
    let name = kinds.iter().find_map(|kind| folder.strip_prefix(kind))?;
    Some(name.replace("--", "/"))
}

/// Whether a path is a link of huggingface_hub's cache: from a snapshot to a blob of the same
/// repository.
///
/// ```
/// use weighbridge::repository::is_hub_link;
///
/// assert!(!is_hub_link("models--me--x/snapshots/1/config.json".as_ref())); // there is none
/// ```
#[cfg(feature = "std")]
pub fn is_hub_link(path: &std::path::Path) -> bool {
    use std::fs;

    // A relative path may begin below the folders that decide.
    let Ok(whole) = std::path::absolute(path) else { return false };
    let Some(blobs) = hub_blobs(&whole) else { return false };
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match (is_link, fs::canonicalize(path), fs::canonicalize(blobs)) {
        (true, Ok(target), Ok(blobs)) => target.parent() == Some(&*blobs) && target.is_file(),
        _ => false,
    }
}
