//! Writes a file that appears only when it is complete.

use std::fs;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file being written.
///
/// Until [`finish`](Self::finish) it is a temporary file in the destination
/// folder; if dropped before, it is deleted.
#[derive(Debug)]
pub(crate) struct Output {
    to: BufWriter<Sink>,
    place: Place,
}

#[derive(Debug)]
enum Sink {
    Temporary(NamedTempFile),
    /// A device or a pipe, which cannot be replaced by renaming.
    Special(fs::File),
    Standard(io::Stdout),
}

#[derive(Debug)]
enum Place {
    /// Standard output.
    Standard,
    /// Requested by name, so it may replace an existing file.
    Named(PathBuf),
    /// `stem.extension` in the current folder, or with a number if it exists.
    Free { stem: &'static str, extension: &'static str },
}

impl Output {
    /// Will replace or create `path`, unless that is `input` under any name.
    pub(crate) fn named(path: &Path, input: &Path) -> io::Result<Self> {
        if let Ok(metadata) = fs::metadata(path) {
            if is_same(&metadata, path, input) {
                return Err(io::Error::other("is the input file"));
            }
            if metadata.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
            }
            if !metadata.is_file() {
                let file = fs::OpenOptions::new().write(true).open(path)?;
                let to = BufWriter::new(Sink::Special(file));
                return Ok(Output { to, place: Place::Named(path.to_owned()) });
            }
        }
        // A link stays a link: what it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let to = BufWriter::new(Sink::Temporary(temporary(folder)?));
        Ok(Output { to, place: Place::Named(path) })
    }

    /// Standard output, unless it is a terminal.
    pub(crate) fn standard() -> io::Result<Self> {
        let out = io::stdout();
        if out.is_terminal() {
            return Err(io::Error::other("is a terminal, but the data is binary"));
        }
        Ok(Output { to: BufWriter::new(Sink::Standard(out)), place: Place::Standard })
    }

    /// Will create `stem.extension` in the current folder, or
    /// `stem-N.extension` with the first number that is free.
    pub(crate) fn free(stem: &'static str, extension: &'static str) -> io::Result<Self> {
        let to = BufWriter::new(Sink::Temporary(temporary(Path::new("."))?));
        Ok(Output { to, place: Place::Free { stem, extension } })
    }

    /// Moves the file into place, and returns its path if it is a file.
    pub(crate) fn finish(self) -> io::Result<Option<PathBuf>> {
        let sink = self.to.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut file = match sink {
            Sink::Temporary(file) => file,
            Sink::Standard(mut out) => return out.flush().map(|()| None),
            Sink::Special(_) => {
                return Ok(match self.place {
                    Place::Named(path) => Some(path),
                    Place::Free { stem, .. } => Some(PathBuf::from(stem)),
                    Place::Standard => None,
                });
            }
        };
        // A full disk may be reported only now.
        file.as_file().sync_all()?;
        match self.place {
            Place::Named(path) => {
                file.persist(&path)?;
                Ok(Some(path))
            }
            Place::Standard => Ok(None),
            Place::Free { stem, extension } => {
                for n in 0u32.. {
                    let name = match n {
                        0 => PathBuf::from(format!("{stem}.{extension}")),
                        n => PathBuf::from(format!("{stem}-{n}.{extension}")),
                    };
                    match file.persist_noclobber(&name) {
                        Ok(_) => return Ok(Some(name)),
                        Err(err) if err.error.kind() == io::ErrorKind::AlreadyExists => {
                            file = err.file;
                        }
                        Err(err) => return Err(err.error),
                    }
                }
                Err(io::Error::new(io::ErrorKind::AlreadyExists, "no file name is free"))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            // Bypasses the wrapper, which would put the temporary name into
            // errors.
            Sink::Temporary(file) => file.as_file_mut().write(bytes),
            Sink::Special(file) => file.write(bytes),
            Sink::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Temporary(file) => file.as_file_mut().flush(),
            Sink::Special(file) => file.flush(),
            Sink::Standard(out) => out.flush(),
        }
    }
}

/// Whether a file is `input`, also through links.
fn is_same(metadata: &fs::Metadata, path: &Path, input: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let place = |metadata: &fs::Metadata| (metadata.dev(), metadata.ino());
        if fs::metadata(input).is_ok_and(|input| place(&input) == place(metadata)) {
            return metadata.is_file();
        }
    }
    metadata.is_file()
        && fs::canonicalize(path)
            .is_ok_and(|path| fs::canonicalize(input).is_ok_and(|input| input == path))
}

fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".weighbridge-");
    // The usual permissions of a new file, restricted by the user's umask; a
    // temporary file would be private.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
