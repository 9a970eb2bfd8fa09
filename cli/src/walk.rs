//! From the paths of the command line to the files that are to be checked, one by one.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};
use weighbridge::Text;

/// One thing to be checked, or to be complained about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file that was named.
    Named(PathBuf),
    /// Standard input.
    Standard,
    /// A file that a folder or a list holds.
    Found(PathBuf),
    /// A link in a folder or a list, which is not followed.
    Link(PathBuf),
    /// A path that led nowhere, and why.
    Failed(PathBuf, String),
}

/// What of a folder or a list is checked.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    /// Only these, if there are any.
    include: Option<GlobSet>,
    exclude: GlobSet,
    follow_links: bool,
}

impl Filter {
    /// # Errors
    /// A sentence, when a pattern is none.
    pub(crate) fn new<'g>(
        include: impl IntoIterator<Item = &'g String>,
        exclude: impl IntoIterator<Item = &'g String>,
        follow_links: bool,
    ) -> Result<Self, String> {
        let include = globs(include)?;
        let include = Some(include).filter(|globs| !globs.is_empty());
        Ok(Filter { include, exclude: globs(exclude)?, follow_links })
    }

    fn wants(&self, path: &Path) -> bool {
        let included = self.include.as_ref().is_none_or(|globs| globs.is_match(path));
        included && !self.exclude.is_match(path)
    }
}

/// Patterns for paths below a folder. One without a slash is that of a name at any depth.
fn globs<'g>(patterns: impl IntoIterator<Item = &'g String>) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let plain = pattern.strip_suffix('/').unwrap_or(pattern);
        let whole = if plain.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
        let whole = whole.strip_prefix('/').unwrap_or(&whole);
        let glob = GlobBuilder::new(whole).literal_separator(true).build();
        set.add(glob.map_err(|err| format!("the pattern {pattern:?}: {}", err.kind()))?);
    }
    set.build().map_err(|err| err.to_string())
}

/// The files that the command line leads to: in its order, those of a folder by name.
#[derive(Debug)]
pub(crate) struct Walk<'f> {
    filter: &'f Filter,
    paths: std::vec::IntoIter<PathBuf>,
    list: List,
    folder: Option<Folder>,
    /// How many files and folders were left out.
    pub(crate) excluded: u64,
}

/// A folder that is being walked.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
    entries: walkdir::IntoIter,
}

impl<'f> Walk<'f> {
    pub(crate) fn new(paths: Vec<PathBuf>, list: List, filter: &'f Filter) -> Self {
        Walk { filter, paths: paths.into_iter(), list, folder: None, excluded: 0 }
    }

    fn enter(&mut self, root: PathBuf) {
        let walk = WalkDir::new(&root).follow_links(self.filter.follow_links).sort_by_file_name();
        self.folder = Some(Folder { root, entries: walk.into_iter() });
    }

    /// What the next entry of a folder is; `None` if it is no file, or is left out.
    fn entry(&mut self, entry: walkdir::Result<DirEntry>) -> Option<Input> {
        let folder = self.folder.as_mut()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(err) => {
                let path = err.path().unwrap_or(&folder.root).to_owned();
                let why = match err.io_error() {
                    Some(err) => err.to_string(),
                    None => Text::from(err.to_string().as_str()).to_string(),
                };
                return Some(Input::Failed(path, why));
            }
        };
        let below = entry.path().strip_prefix(&folder.root).unwrap_or(entry.path());
        if entry.file_type().is_dir() {
            if entry.depth() > 0 && self.filter.exclude.is_match(below) {
                folder.entries.skip_current_dir();
                self.excluded += 1;
            }
            return None;
        }
        if !self.filter.wants(below) {
            self.excluded += 1;
            return None;
        }
        let linked = entry.file_type().is_symlink();
        let path = entry.into_path();
        Some(if linked { Input::Link(path) } else { Input::Found(path) })
    }

    /// What a path of the list is; `None` if it is a folder, which is walked next, or is
    /// left out.
    fn listed(&mut self, path: PathBuf) -> Option<Input> {
        let follow = self.filter.follow_links;
        let metadata = if follow { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
        // Of a folder, what it holds is to match.
        let wanted = match metadata.as_ref().is_ok_and(fs::Metadata::is_dir) {
            true => !self.filter.exclude.is_match(&path),
            false => self.filter.wants(&path),
        };
        if !wanted {
            self.excluded += 1;
            return None;
        }
        match metadata {
            Ok(metadata) if metadata.is_dir() => self.enter(path),
            Ok(metadata) if metadata.is_symlink() => return Some(Input::Link(path)),
            _ => return Some(Input::Found(path)),
        }
        None
    }
}

impl Iterator for Walk<'_> {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        loop {
            if let Some(folder) = &mut self.folder {
                match folder.entries.next() {
                    Some(entry) => match self.entry(entry) {
                        Some(input) => return Some(input),
                        None => continue,
                    },
                    None => self.folder = None,
                }
            }
            if let Some(path) = self.paths.next() {
                if path == Path::new("-") {
                    return Some(Input::Standard);
                }
                if !fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                    return Some(Input::Named(path));
                }
                self.enter(path);
            } else {
                let path = self.list.next()?;
                if let Some(input) = self.listed(path) {
                    return Some(input);
                }
            }
        }
    }
}

/// The paths of a list: one a line, or each ended by a NUL if there is one.
#[derive(Debug, Default)]
pub(crate) struct List {
    bytes: Vec<u8>,
    at: usize,
    end: u8,
}

impl List {
    /// # Errors
    /// A sentence, when the list cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let mut bytes = Vec::new();
        let read = if path == Path::new("-") {
            io::stdin().read_to_end(&mut bytes).map(|_| ())
        } else {
            fs::read(path).map(|read| bytes = read)
        };
        read.map_err(|err| format!("{}: {err}", Text::from(path)))?;
        Ok(List::new(bytes))
    }

    fn new(bytes: Vec<u8>) -> Self {
        let end = if bytes.contains(&0) { 0 } else { b'\n' };
        List { bytes, at: 0, end }
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
    // Lines may end as is usual there.
    let text = String::from_utf8_lossy(bytes);
    PathBuf::from(text.strip_suffix('\r').unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(paths: &[&Path], filter: &Filter) -> (Vec<String>, u64) {
        let paths = paths.iter().map(|path| path.to_path_buf()).collect();
        let mut walk = Walk::new(paths, List::default(), filter);
        let name =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = walk.by_ref().map(|input| match input {
            Input::Named(path) | Input::Found(path) => name(&path),
            Input::Standard => "-".to_owned(),
            Input::Link(path) => format!("{}: link", name(&path)),
            Input::Failed(path, why) => format!("{}: {why}", name(&path)),
        });
        (names.collect(), walk.excluded)
    }

    fn folder(names: &[&str]) -> io::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(path, b"")?;
        }
        Ok(folder)
    }

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let texts =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Filter::new(&texts(include), &texts(exclude), false).expect("patterns")
    }

    #[test]
    fn a_folder_gives_its_files_by_name() -> io::Result<()> {
        let folder = folder(&["z.stb", "a.stb", "b/deep/m.stb", "README.md", "b/notes"])?;
        let found = walked(&[folder.path()], &Filter::default());
        let all = ["README.md", "a.stb", "m.stb", "notes", "z.stb"].map(str::to_owned).to_vec();
        assert_eq!(found, (all, 0));
        Ok(())
    }

    #[test]
    fn patterns_are_of_paths_below_the_folder() -> io::Result<()> {
        let folder = folder(&["a.stb", "b/a.stb", "b/c/a.stb", "b/c/x.md", ".git/objects/1"])?;
        let with = |include: &[&str], exclude: &[&str]| {
            let (names, excluded) = walked(&[folder.path()], &filter(include, exclude));
            (names.len(), excluded)
        };
        assert_eq!(with(&[], &[]), (5, 0));
        assert_eq!(with(&["*.stb"], &[]), (3, 2));
        assert_eq!(with(&["b/*.stb"], &[]), (1, 4));
        assert_eq!(with(&[], &["*.md", ".git/"]), (3, 2), "a folder is left out at once");
        assert_eq!(with(&[], &["b/c/**", "/a.stb"]), (2, 3));
        assert_eq!(with(&["*.stb"], &["b"]), (1, 2));
        assert!(Filter::new(&["a[".to_owned()], &[], false).is_err());
        Ok(())
    }

    #[test]
    fn a_path_that_is_no_folder_is_taken_as_it_is() {
        let paths = [Path::new("no-such-file"), Path::new("Cargo.toml"), Path::new("-")];
        let found = walked(&paths, &filter(&["*.stb"], &["*"]));
        assert_eq!(found.0, ["no-such-file", "Cargo.toml", "-"]);
    }

    #[test]
    fn lists_end_paths_with_lines_or_with_nul() {
        let paths = |bytes: &[u8]| List::new(bytes.to_vec()).collect::<Vec<_>>();
        assert_eq!(paths(b"a\nb c\n\nd"), ["a", "b c", "d"].map(PathBuf::from));
        assert_eq!(paths(b"a\nb\0c\0"), ["a\nb", "c"].map(PathBuf::from));
        assert!(paths(b"").is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_unless_asked_and_loops_end() -> io::Result<()> {
        use std::os::unix::fs::symlink;
        let folder = folder(&["blob", "sub/model.stb"])?;
        symlink("../blob", folder.path().join("sub/link.stb"))?;
        symlink("..", folder.path().join("sub/loop"))?;
        symlink("nowhere", folder.path().join("sub/nowhere.stb"))?;
        let (names, _) = walked(&[folder.path()], &Filter::default());
        let links = ["blob", "link.stb: link", "loop: link", "model.stb", "nowhere.stb: link"];
        assert_eq!(names, links);
        let (names, _) =
            walked(&[folder.path()], &Filter { follow_links: true, ..Filter::default() });
        assert_eq!(names[..2], ["blob", "link.stb"]);
        assert!(
            names[2].starts_with("loop: ") && names[4].starts_with("nowhere.stb: "),
            "{names:?}"
        );
        assert_eq!(names[3], "model.stb");
        Ok(())
    }
}
