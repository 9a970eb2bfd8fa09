//! Walks from the paths on the command line to the files to check, one at a time.

mod filter;
mod list;

pub(crate) use filter::Filter;
pub(crate) use list::List;

use crate::partition::Shard;
use std::collections::HashSet;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};
use weighbridge::Text;
use weighbridge::remote::{Listed, Listing, Servers, Url};
use weighbridge::repository::{hub_links, is_hub_link};

/// An item that the command line leads to.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) input: Input,
    /// A stamp that changes with the file's content, if known before it is opened.
    pub(crate) stamp: Option<String>,
    /// The path below the given folder, or as it was given.
    pub(crate) below: PathBuf,
}

impl Item {
    /// An item that was named, or is in a list.
    fn new(input: Input, path: &Path) -> Self {
        Item { input, stamp: None, below: path.to_owned() }
    }
}

/// Something to check, or to report as an error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A file that was named.
    Named(PathBuf),
    /// Standard input.
    Standard,
    /// A file in a folder or a list.
    Found(PathBuf),
    /// A link in a folder or a list, which is not followed.
    Link(PathBuf),
    /// A path that could not be followed, and why.
    Failed(PathBuf, String),
}

/// The files that the command line leads to: in its order, and by name within a folder.
#[derive(Debug)]
pub(crate) struct Walk<'f> {
    filter: &'f Filter,
    paths: std::vec::IntoIter<PathBuf>,
    list: List,
    folder: Option<Folder>,
    servers: &'f Servers,
    bucket: Option<Bucket>,
    shard: Option<Shard>,
    /// Number of files and folders left out.
    pub(crate) excluded: u64,
    /// Number of `.git` folders left out.
    pub(crate) git: u64,
    /// Blobs of the current folder that this walk reaches by links, and their number.
    blobs: HashSet<PathBuf>,
    pub(crate) linked: u64,
    /// Number of files that belong to other parts.
    pub(crate) elsewhere: u64,
}

/// A folder being walked.
#[derive(Debug)]
struct Folder {
    root: PathBuf,
    entries: walkdir::IntoIter,
}

/// A folder on a server, being listed.
struct Bucket {
    /// The folder's URL, ending in a slash.
    root: String,
    files: Listing,
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bucket").field("root", &self.root).finish_non_exhaustive()
    }
}

impl<'f> Walk<'f> {
    pub(crate) fn new(
        paths: Vec<PathBuf>,
        list: List,
        filter: &'f Filter,
        servers: &'f Servers,
        shard: Option<Shard>,
    ) -> Self {
        let paths = paths.into_iter();
        let (folder, bucket) = (None, None);
        let (excluded, git, linked, elsewhere) = (0, 0, 0, 0);
        let blobs = HashSet::new();
        Walk {
            filter,
            paths,
            list,
            folder,
            servers,
            bucket,
            shard,
            excluded,
            git,
            blobs,
            linked,
            elsewhere,
        }
    }

    fn enter(&mut self, root: PathBuf) {
        let walk = WalkDir::new(&root).follow_links(self.filter.follow_links).sort_by_file_name();
        self.folder = Some(Folder { root, entries: walk.into_iter() });
    }

    /// Starts listing a folder on a server; returns an item if that fails.
    fn enter_bucket(&mut self, url: Url<'_>, path: &Path) -> Option<Item> {
        match self.servers.list(url) {
            Err(why) => Some(Item::new(Input::Failed(path.to_owned(), why), path)),
            Ok(files) => {
                let root = path.to_string_lossy();
                let root = format!("{}/", root.strip_suffix('/').unwrap_or(&root));
                self.bucket = Some(Bucket { root, files });
                None
            }
        }
    }

    /// The next file of a folder on a server; `None` if it is left out.
    fn object(&mut self, listed: Result<Listed, String>) -> Option<Item> {
        let root = &self.bucket.as_ref()?.root;
        let Listed { below, stamp, .. } = match listed {
            Ok(listed) => listed,
            Err(why) => {
                let path = PathBuf::from(root);
                self.bucket = None;
                return Some(Item::new(Input::Failed(path.clone(), why), &path));
            }
        };
        let path = PathBuf::from(format!("{root}{below}"));
        let below = PathBuf::from(below);
        if !self.filter.wants_below(&below) {
            self.excluded += 1;
            return None;
        }
        Some(Item { input: Input::Found(path), stamp, below })
    }

    /// The item for the next entry of a folder; `None` if it is not a file, or is left
    /// out.
    fn entry(&mut self, entry: walkdir::Result<DirEntry>) -> Option<Item> {
        let folder = self.folder.as_mut()?;
        let entry = match entry {
            Ok(entry) => entry,
            Err(err) => {
                let path = err.path().unwrap_or(&folder.root).to_owned();
                let why = match err.io_error() {
                    Some(err) => err.to_string(),
                    None => Text::from(err.to_string().as_str()).to_string(),
                };
                let below = path.strip_prefix(&folder.root).unwrap_or(&path).to_owned();
                return Some(Item { input: Input::Failed(path, why), stamp: None, below });
            }
        };
        let below = entry.path().strip_prefix(&folder.root).unwrap_or(entry.path());
        if entry.file_type().is_dir() {
            // Git's own store: the files checked out of it are what a program loads.
            if entry.depth() > 0 && entry.file_name() == ".git" {
                folder.entries.skip_current_dir();
                self.git += 1;
                return None;
            }
            if entry.depth() > 0 && self.filter.exclude.is_match(below) {
                folder.entries.skip_current_dir();
                self.excluded += 1;
                return None;
            }
            // Snapshots have the names, so that their links are checked in place of the blobs.
            if entry.depth() > 0 && entry.file_name() == "blobs" {
                let links = hub_links(entry.path()).into_iter();
                let filter = self.filter;
                let reached = links.filter(|(link, _)| {
                    let below = link.strip_prefix(&folder.root).unwrap_or(link);
                    filter.wants_below(below) && !below.iter().any(|it| it == ".git")
                });
                self.blobs = reached.map(|(_, blob)| blob).collect();
            }
            return None;
        }
        let is_blob = || fs::canonicalize(entry.path()).is_ok_and(|it| self.blobs.contains(&it));
        if !self.blobs.is_empty() && !entry.path_is_symlink() && is_blob() {
            self.linked += 1;
            return None;
        }
        if !self.filter.wants(below) {
            self.excluded += 1;
            return None;
        }
        let linked = entry.file_type().is_symlink();
        let below = below.to_owned();
        let path = entry.into_path();
        let linked = linked && !is_hub_link(&path);
        let input = if linked { Input::Link(path) } else { Input::Found(path) };
        Some(Item { input, stamp: None, below })
    }

    /// The item for a path in the list; `None` if it is left out, or a folder, which is
    /// walked next.
    fn listed(&mut self, path: PathBuf) -> Option<Item> {
        let url = Url::of(&path);
        // A URL is never a path on disk.
        let kind = match (url, self.filter.follow_links) {
            (Some(_), _) => None,
            (None, true) => fs::metadata(&path).ok(),
            (None, false) => fs::symlink_metadata(&path).ok(),
        };
        let is_folder = kind.as_ref().is_some_and(fs::Metadata::is_dir);
        // For a folder, its contents have to match instead.
        let wanted = match is_folder || url.is_some_and(|url| url.is_folder()) {
            true => !self.filter.exclude.is_match(&path),
            false => self.filter.wants(&path),
        };
        if !wanted {
            self.excluded += 1;
            return None;
        }
        if let Some(url) = url.filter(Url::is_folder) {
            return self.enter_bucket(url, &path);
        }
        if is_folder {
            self.enter(path);
            return None;
        }
        let is_link = kind.is_some_and(|kind| kind.is_symlink());
        let input = if is_link { Input::Link } else { Input::Found };
        Some(Item::new(input(path.clone()), &path))
    }

    /// The next item, in any part.
    fn any(&mut self) -> Option<Item> {
        loop {
            if let Some(bucket) = &mut self.bucket {
                match bucket.files.next() {
                    Some(listed) => match self.object(listed) {
                        Some(item) => return Some(item),
                        None => continue,
                    },
                    None => self.bucket = None,
                }
            }
            if let Some(folder) = &mut self.folder {
                match folder.entries.next() {
                    Some(entry) => match self.entry(entry) {
                        Some(item) => return Some(item),
                        None => continue,
                    },
                    None => self.folder = None,
                }
            }
            if let Some(path) = self.paths.next() {
                if path == Path::new("-") {
                    return Some(Item::new(Input::Standard, &path));
                }
                let url = Url::of(&path);
                if let Some(url) = url.filter(Url::is_folder) {
                    match self.enter_bucket(url, &path) {
                        Some(item) => return Some(item),
                        None => continue,
                    }
                }
                // A URL is never a path on disk.
                if url.is_some() || !fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                    return Some(Item::new(Input::Named(path.clone()), &path));
                }
                self.enter(path);
            } else {
                let path = self.list.next()?;
                if let Some(item) = self.listed(path) {
                    return Some(item);
                }
            }
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let item = self.any()?;
            let Some(shard) = self.shard else { return Some(item) };
            // Unread paths may belong to any part.
            let is_failure = matches!(item.input, Input::Failed(..));
            let below = item.below.to_string_lossy().replace(MAIN_SEPARATOR, "/");
            if is_failure || shard.has(&below) {
                return Some(item);
            }
            self.elsewhere += 1;
        }
    }
}
