//! The journal of a scan, which allows it to be resumed: one line of JSON per file.
//!
//! A file counts as checked if its stamp has not changed. The verdict on a file that is
//! checked together with others depends on those, so it is not recorded.

use crate::json::{TOOL, Tool};
use crate::outcome::Outcome;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use weighbridge::Text;
use weighbridge::text::hex;

/// The schema named in the first line.
const SCHEMA: &str = "weighbridge/journal-1";

/// An earlier result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Past {
    pub(crate) outcome: Outcome,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) skipped: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) companion: bool,
    pub(crate) findings: u64,
    pub(crate) ignored: u64,
}

fn is_false(it: &bool) -> bool {
    !it
}

/// The first line.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'a str,
    tool: Tool,
    settings: &'a str,
}

/// The fields of the first line that must match.
#[derive(Deserialize)]
struct Before {
    schema: String,
    settings: String,
}

/// The line of a file.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    file: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file_hex: Option<String>,
    stamp: Cow<'a, str>,
    #[serde(flatten)]
    past: Past,
}

/// A prefix of the digest of a path and a stamp: there may be millions.
type Key = [u8; 16];

/// The files that were checked earlier.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<Key, Past>);

impl Known {
    /// The earlier result for a file, if the file has not changed.
    pub(crate) fn get(&self, file: &Text, stamp: &str) -> Option<Past> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&key(&file.lossy(), file.hex().as_deref(), stamp)).copied()
    }
}

/// The journal being written.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
}

impl Journal {
    /// Reads the results of an earlier scan with these settings, and opens the file to append
    /// more.
    ///
    /// # Errors
    /// A sentence, if the file cannot be read or written, or belongs to another scan.
    pub(crate) fn open(path: &Path, settings: &str) -> Result<(Known, Self), String> {
        let shown = Text::from(path);
        let failed = |err: io::Error| format!("{shown}: {err}");
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(format!("{shown}: is not a file"));
        }
        let settings = hex(&Sha256::digest(format!("{} {settings}", TOOL.version)));
        let mut known = HashMap::new();
        let mut lines = BufReader::new(&file);
        let (mut line, mut is_first, mut is_whole) = (Vec::new(), true, true);
        loop {
            line.clear();
            if lines.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            is_whole = line.ends_with(b"\n");
            if std::mem::take(&mut is_first) {
                let before = serde_json::from_slice::<Before>(&line).ok();
                match before.filter(|before| before.schema == SCHEMA) {
                    None => return Err(format!("{shown}: is not a scan journal")),
                    Some(before) if before.settings != settings => {
                        return Err(format!(
                            "{shown}: belongs to a scan with different settings or \
                             another version; use another file"
                        ));
                    }
                    Some(_) => {}
                }
                continue;
            }
            // A truncated line means that its file is checked again.
            if let Ok(Line { file, file_hex, stamp, past }) = serde_json::from_slice(&line) {
                known.insert(key(&file, file_hex.as_deref(), &stamp), past);
            }
        }
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut journal = Journal { file };
        if is_first {
            let head = Head { schema: SCHEMA, tool: TOOL, settings: &settings };
            journal.line(&head).map_err(failed)?;
        } else if !is_whole {
            journal.file.write_all(b"\n").map_err(failed)?;
        }
        Ok((Known(known), journal))
    }

    /// Records a checked file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn add(&mut self, file: &Text, stamp: &str, past: Past) -> io::Result<()> {
        self.line(&Line { file: file.lossy(), file_hex: file.hex(), stamp: stamp.into(), past })
    }

    /// Writes a line immediately, so that as little as possible is lost.
    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)
    }
}

fn key(file: &str, file_hex: Option<&str>, stamp: &str) -> Key {
    let mut hasher = Sha256::new();
    for part in [file_hex.unwrap_or_default(), stamp, file] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    std::array::from_fn(|i| digest[i])
}

/// A stamp that changes when a file on disk does: its length and its times.
pub(crate) fn stamp(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(format!("{} {}{}", metadata.len(), modified.as_nanos(), changed(&metadata)))
}

/// The time of the last change to content, name or times, which programs cannot set back, and
/// the inode.
#[cfg(unix)]
fn changed(metadata: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!(" {}.{:09} {}", metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
}

#[cfg(not(unix))]
fn changed(_: &fs::Metadata) -> String {
    String::new()
}
