//! A file that appears under its name only when it is complete.

use std::borrow::ToOwned as _;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufWriter, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;
/// Bytes after which a file begins to be put on disk, while more is written.
const SOON: u64 = 32 << 20;
/// Names that are tried for a temporary file.
const TRIES: u32 = 16;

/// A file being written, beside its place. Deleted if it is dropped before
/// [`place`](Self::place).
#[derive(Debug)]
pub(super) struct Draft {
    /// `None` once it is complete.
    to: Option<BufWriter<File>>,
    /// Number of bytes written since the disk was last told.
    waiting: u64,
    disk: Option<Disk>,
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
                    return Ok(Draft { to, waiting: 0, disk: None, draft, target, placed: false });
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
            Some(to) => to.write_all(bytes)?,
            None => return Err(io::Error::other("the file is complete")),
        }
        self.wrote(bytes.len() as u64)
    }

    /// Notes that `len` bytes were written. The disk takes its time, and begins early.
    pub(super) fn wrote(&mut self, len: u64) -> io::Result<()> {
        self.waiting += len;
        if self.waiting < SOON {
            return Ok(());
        }
        self.waiting = 0;
        let file = self.file()?.try_clone()?;
        match &self.disk {
            Some(disk) => disk.tell(),
            None => self.disk = Disk::new(file),
        }
        Ok(())
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
        let file = to.into_inner().map_err(io::IntoInnerError::into_error)?;
        // An error of the disk is told once, so it is kept for here.
        self.disk.take().map_or(Ok(()), Disk::join)?;
        file.sync_all()
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
            let _ = self.disk.take().map_or(Ok(()), Disk::join);
            let _ = fs::remove_file(&self.draft);
        }
    }
}

/// Puts a file on disk while more is written to it, in a thread.
#[derive(Debug)]
struct Disk {
    begin: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Disk {
    /// Begins at once; `None` if there are no threads: the end waits longer then.
    fn new(file: File) -> Option<Self> {
        let (begin, next) = sync_channel(1);
        let sync = move || iter::once(()).chain(next).try_for_each(|()| file.sync_data());
        let thread = thread::Builder::new().spawn(sync).ok()?;
        Some(Disk { begin, thread })
    }

    /// Begins again, unless it is at work and knows that there is more.
    fn tell(&self) {
        let _ = self.begin.try_send(());
    }

    fn join(self) -> io::Result<()> {
        drop(self.begin);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn large_file_is_whole_when_placed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("model.safetensors");
        let piece: Vec<u8> = (0..=250).cycle().take(1 << 20).collect();
        let mut draft = Draft::beside(&target).unwrap();
        for _ in 0..70 {
            draft.write(&piece).unwrap();
        }
        assert!(draft.disk.is_some());
        draft.place(false).unwrap();
        drop(draft);
        let written = fs::read(&target).unwrap();
        assert_eq!(written.len(), 70 * piece.len());
        assert!(written.chunks(piece.len()).all(|written| written == piece));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn large_draft_is_deleted_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::beside(&folder.path().join("model.safetensors")).unwrap();
        draft.write(&vec![1; 40 << 20]).unwrap();
        assert!(draft.disk.is_some());
        drop(draft);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
