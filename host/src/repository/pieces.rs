//! Files that were split by bytes, and are read as the file that they make when joined.

use super::file_names::piece;
use crate::base::error::ReadError;
use crate::input::reader::{FileInput, Input};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::fs;
use std::path::{Path, PathBuf};

/// Most pieces of one file: more are not opened at once.
const MOST: usize = 1_000;

/// The pieces of a file, in order.
///
/// ```
/// use weighbridge::{Options, Profile, check_input, repository::Pieces};
///
/// # let folder = tempfile::tempdir()?;
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let first = folder.path().join("x.safetensors.part1of2");
/// std::fs::write(&first, &bytes[..9])?;
/// std::fs::write(folder.path().join("x.safetensors.part2of2"), &bytes[9..])?;
/// let pieces = Pieces::of(&first).unwrap();
/// assert_eq!((pieces.name(), pieces.paths().len()), ("x.safetensors", 2));
/// let report = check_input(pieces.open()?, &Options::new())?;
/// assert!(report.verdict(Profile::Strict).is_valid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pieces {
    name: String,
    paths: Vec<PathBuf>,
}

impl Pieces {
    /// The pieces beside this one, if its name says that it is one and none is missing, as far as
    /// names tell. A piece is a regular file.
    ///
    /// ```
    /// assert_eq!(weighbridge::repository::Pieces::of("x.gguf".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Self> {
        let (whole, place) = piece(path.file_name()?.to_str()?)?;
        let count = place.split_once(" of ").and_then(|(_, count)| count.parse::<usize>().ok());
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let name = entry.file_name();
            let Some((of, at)) = name.to_str().and_then(piece) else { continue };
            let other = at.split_once(" of ").and_then(|(_, count)| count.parse().ok());
            let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
            if of == whole && other == count && is_file() {
                let number = at.split(' ').next().and_then(|at| at.parse::<u64>().ok());
                found.push((number, at.len(), at, path.with_file_name(&name)));
            }
        }
        found.sort();
        // Numbers follow each other from 0 or 1; letters from "a" or "aa".
        let in_order = found.iter().enumerate().all(|(i, (number, _, at, _))| match number {
            Some(number) => *number == i as u64 + found[0].0.unwrap_or(0),
            None => letters(at) == i as u64,
        });
        let begins = found.first().is_some_and(|(number, _, at, _)| match number {
            Some(number) => *number <= 1,
            None => at.bytes().all(|byte| byte == b'a'),
        });
        let all = count.is_none_or(|count| count == found.len());
        let paths: Vec<_> = found.into_iter().map(|(.., path)| path).collect();
        let many = (2..=MOST).contains(&paths.len());
        (in_order && begins && all && many).then(|| Pieces { name: whole.to_string(), paths })
    }

    /// The name of the whole file.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let first = folder.path().join("x.gguf.partaa");
    /// std::fs::write(&first, "GG")?;
    /// std::fs::write(folder.path().join("x.gguf.partab"), "UF")?;
    /// assert_eq!(weighbridge::repository::Pieces::of(&first).unwrap().name(), "x.gguf");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The paths of the pieces, in order.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let first = folder.path().join("x.gguf.001");
    /// std::fs::write(&first, "GG")?;
    /// assert_eq!(weighbridge::repository::Pieces::of(&first), None); // paths() would be one
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Opens all pieces as one file.
    ///
    /// ```
    /// use weighbridge::{Input, repository::Pieces};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let first = folder.path().join("x.gguf.part00");
    /// std::fs::write(&first, "GG")?;
    /// std::fs::write(folder.path().join("x.gguf.part01"), "UF")?;
    /// let mut bytes = [0; 4];
    /// Pieces::of(&first).unwrap().open()?.read_at(0, &mut bytes)?;
    /// assert_eq!(&bytes, b"GGUF");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a piece cannot be opened.
    pub fn open(&self) -> Result<Joined, ReadError> {
        let (mut pieces, mut len) = (Vec::new(), 0_u64);
        for path in &self.paths {
            let file = FileInput::open(path)?;
            let end = len.checked_add(file.len()).ok_or(ReadError::Changed)?;
            pieces.push((len, file));
            len = end;
        }
        Ok(Joined { pieces, len })
    }
}

/// Several files as one.
#[derive(Debug)]
pub struct Joined {
    /// Each file with the offset at which it begins.
    pieces: Vec<(u64, FileInput)>,
    len: u64,
}

impl Input for Joined {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, mut buffer: &mut [u8]) -> Result<(), ReadError> {
        let mut at = offset;
        let first = self.pieces.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        for (start, file) in self.pieces.iter().skip(first) {
            let inside = at - start;
            let left = usize::try_from(file.len().saturating_sub(inside)).unwrap_or(usize::MAX);
            let (now, rest) = buffer.split_at_mut(left.min(buffer.len()));
            file.read_at(inside, now)?;
            at += now.len() as u64;
            buffer = rest;
            if buffer.is_empty() {
                return Ok(());
            }
        }
        if buffer.is_empty() { Ok(()) } else { Err(ReadError::Changed) }
    }

    fn verify_unchanged(&self) -> Result<(), ReadError> {
        self.pieces.iter().try_for_each(|(_, file)| file.verify_unchanged())
    }
}

/// The number that letters stand for, counted from "a", "aa" and so on.
fn letters(text: &str) -> u64 {
    let digit = |byte: u8| u64::from(byte.wrapping_sub(b'a'));
    text.bytes().fold(0, |number: u64, byte| number.wrapping_mul(26).wrapping_add(digit(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_cross_pieces_and_empty_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        for (i, text) in ["ab", "", "cde", "f"].iter().enumerate() {
            let path = folder.path().join(alloc::format!("x.gguf.part{i}"));
            fs::write(path, text).expect("it is written");
        }
        let joined = Pieces::of(&folder.path().join("x.gguf.part2")).expect("pieces");
        let joined = joined.open().expect("they open");
        for from in 0..6 {
            for to in from..=6 {
                let mut buffer = alloc::vec![0; to - from];
                joined.read_at(from as u64, &mut buffer).expect("inside");
                assert_eq!(buffer, &b"abcdef"[from..to]);
            }
        }
        assert!(joined.read_at(4, &mut [0; 3]).is_err());
    }

    #[test]
    fn pieces_are_complete_as_far_as_names_tell() {
        let is = |names: &[&str]| {
            let folder = tempfile::tempdir().expect("a folder");
            for name in names {
                fs::write(folder.path().join(name), "x").expect("it is written");
            }
            Pieces::of(&folder.path().join(names[0])).map(|it| it.paths.len())
        };
        assert_eq!(is(&["x.g.part2of2", "x.g.part1of2", "x.g.part1of3", "y.g.part1of2"]), Some(2));
        assert_eq!(is(&["x.g.part1of3", "x.g.part3of3"]), None);
        assert_eq!(is(&["x.g.001", "x.g.002", "x.g.003"]), Some(3));
        assert_eq!(is(&["x.g.001", "x.g.003"]), None);
        assert_eq!(is(&["x.g.part1", "x.g.part2", "x.g.part10"]), None);
        assert_eq!(is(&["x.g-split-a", "x.g-split-b"]), Some(2));
        assert_eq!(is(&["x.g-split-b", "x.g-split-c"]), None);
        assert_eq!(is(&["x.gguf.ab", "x.gguf.aa", "x.gguf.ac"]), Some(3));
        assert_eq!(is(&["x.gguf.aa", "x.gguf.ac"]), None);
        assert_eq!(is(&["x.g.part-aa", "x.g.part-ab"]), Some(2));
        assert_eq!(is(&["x.g.part00"]), None);
    }
}
