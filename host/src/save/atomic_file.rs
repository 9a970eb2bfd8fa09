//! A file that appears under its name only when it is complete.

use std::borrow::ToOwned as _;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::string::String;

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;
/// Names that are tried for a temporary file.
const TRIES: u32 = 16;

/// A file being written, beside its place. Deleted if it is dropped before
/// [`place`](Self::place).
#[derive(Debug)]
pub(super) struct Draft {
    /// `None` once it is complete.
    to: Option<BufWriter<File>>,
    draft: PathBuf,
    target: PathBuf,
    placed: bool,
}

impl Draft {
    /// Will be at `target`. A link there stays a link: the file that it leads to is replaced.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut tried = 0;
        loop {
            let random = RandomState::new().build_hasher().finish();
            let draft = folder.join(std::format!(".weighbridge-{random:016x}"));
            match File::create_new(&draft) {
                Ok(file) => {
                    let to = Some(BufWriter::with_capacity(BUFFER, file));
                    return Ok(Draft { to, draft, target, placed: false });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tried < TRIES => {
                    tried += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            Some(to) => to.write_all(bytes),
            None => Err(io::Error::other("the file is complete")),
        }
    }

    /// The file itself, with everything written out before it.
    pub(super) fn file(&mut self) -> io::Result<&File> {
        match &mut self.to {
            Some(to) => to.flush().map(|()| to.get_ref()),
            None => Err(io::Error::other("the file is complete")),
        }
    }

    /// Writes out everything, so that a full disk is noticed before any file is in place.
    pub(super) fn complete(&mut self) -> io::Result<()> {
        let Some(to) = self.to.take() else { return Ok(()) };
        to.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }

    /// Moves the file to its place. If a file is there, it is replaced or, without `overwrite`,
    /// kept, which is an error.
    pub(super) fn place(&mut self, overwrite: bool) -> io::Result<()> {
        self.complete()?;
        if overwrite {
            fs::rename(&self.draft, &self.target)?;
            self.placed = true;
            return Ok(());
        }
        // A second name never replaces a file. Some file systems have no second names.
        match fs::hard_link(&self.draft, &self.target) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if fs::symlink_metadata(&self.target).is_ok() => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Err(_) => {
                fs::rename(&self.draft, &self.target)?;
                self.placed = true;
            }
        }
        Ok(())
    }

    /// Where the file will be, or is.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.placed {
            // Windows deletes no file that is open.
            self.to = None;
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// Whether two paths lead to the same file.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place = |path| fs::metadata(path).map(|it: fs::Metadata| (it.dev(), it.ino()));
        if let (Ok(a), Ok(b)) = (place(a), place(b)) {
            return a == b;
        }
    }
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// The name of the file `no` of `count`, as writers of sharded models form it.
pub(super) fn shard_name(stem: &str, no: usize, count: usize) -> String {
    std::format!("{stem}-{no:05}-of-{count:05}.safetensors")
}
