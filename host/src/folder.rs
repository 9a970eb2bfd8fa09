//! Where the other files of a model lie.

use crate::error::ReadError;
use crate::input::Input;
use crate::text::Text;
use alloc::boxed::Box;

/// Where the other files of a model lie: the shards that an index lists, the parts of a set.
///
/// ```
/// use std::collections::HashMap;
/// use weighbridge::{Folder, Input, ReadError};
///
/// struct Bytes<'a>(&'a [u8]);
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
/// struct Store(HashMap<String, Vec<u8>>);
///
/// impl Folder for Store {
///     fn open(&self, name: &str) -> Result<Box<dyn Input + '_>, ReadError> {
///         match self.0.get(name) {
///             Some(bytes) => Ok(Box::new(Bytes(bytes))),
///             None => Err(ReadError::Io(std::io::ErrorKind::NotFound.into())),
///         }
///     }
/// }
/// ```
pub trait Folder {
    /// Opens the file of this name, which is no path.
    ///
    /// # Errors
    /// When it cannot be opened. If there is none, an error of the system of the kind
    /// `NotFound`.
    fn open(&self, name: &str) -> Result<Box<dyn Input + '_>, ReadError>;

    /// The name by which progress is reported.
    fn full_name(&self, name: &str) -> Text {
        Text::from(name)
    }

    /// Whether the file is a link that leads out of the folder.
    fn leads_out(&self, _name: &str) -> bool {
        false
    }
}

/// The place of a file.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) folder: &'a dyn Folder,
    /// Its name, if that is UTF-8.
    pub(crate) name: Option<&'a str>,
}

#[cfg(feature = "std")]
pub(crate) use disk::OnDisk;

#[cfg(feature = "std")]
mod disk {
    use super::{Folder, Place};
    use crate::error::ReadError;
    use crate::input::{FileInput, Input};
    use crate::text::Text;
    use alloc::boxed::Box;
    use std::fs;
    use std::path::Path;

    /// A folder on disk.
    pub(crate) struct OnDisk<'p>(&'p Path);

    impl<'p> OnDisk<'p> {
        /// The folder of a file.
        pub(crate) fn of(path: &'p Path) -> Self {
            OnDisk(path.parent().unwrap_or(Path::new("")))
        }

        /// The place of a file in it.
        pub(crate) fn place<'a>(&'a self, path: &'a Path) -> Place<'a> {
            Place { folder: self, name: path.file_name().and_then(|name| name.to_str()) }
        }
    }

    impl Folder for OnDisk<'_> {
        fn open(&self, name: &str) -> Result<Box<dyn Input + '_>, ReadError> {
            Ok(Box::new(FileInput::open(&self.0.join(name))?))
        }

        fn full_name(&self, name: &str) -> Text {
            Text::from(&*self.0.join(name))
        }

        /// One that leads nowhere does not lead out: that it is missing is found when it is
        /// opened.
        fn leads_out(&self, name: &str) -> bool {
            let path = self.0.join(name);
            if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink()) {
                return false;
            }
            let folder = if self.0 == Path::new("") { Path::new(".") } else { self.0 };
            match (fs::canonicalize(path), fs::canonicalize(folder)) {
                (Ok(target), Ok(folder)) => !target.starts_with(folder),
                _ => false,
            }
        }
    }
}
