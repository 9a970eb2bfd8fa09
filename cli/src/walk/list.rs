//! A list of paths.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use weighbridge::Text;

/// Length of the longest list in bytes: some millions of paths. A device never ends.
const MOST: u64 = 128 << 20;

/// The paths of a list: one per line, or each ended by a NUL if there is one.
#[derive(Debug, Default)]
pub(crate) struct List {
    bytes: Vec<u8>,
    at: usize,
    end: u8,
}

impl List {
    /// # Errors
    /// A sentence, if the list cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let read = if path == Path::new("-") {
            io::stdin().take(MOST + 1).read_to_end(&mut bytes)
        } else {
            fs::File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes))
        };
        read.map_err(|err| format!("{}: {err}", Text::from(path)))?;
        if bytes.len() as u64 > MOST {
            let most = MOST >> 20;
            return Err(format!("{}: a list of more than {most} MiB", Text::from(path)));
        }
        let end = if bytes.contains(&0) { 0 } else { b'\n' };
        Ok(List { bytes, at: 0, end })
    }

    /// Begins again with the first path.
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }
}

impl Iterator for List {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        loop {
            let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let len = rest.iter().position(|byte| *byte == self.end).unwrap_or(rest.len());
            let path = &rest[..len];
            self.at += len + 1;
            if !path.is_empty() {
                return Some(to_path(path));
            }
        }
    }
}

#[cfg(unix)]
fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn to_path(bytes: &[u8]) -> PathBuf {
    // Lines may end in CR LF there.
    let text = String::from_utf8_lossy(bytes);
    PathBuf::from(text.strip_suffix('\r').unwrap_or(&text))
}
