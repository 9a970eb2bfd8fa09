//! The cache of huggingface_hub: links in snapshots that lead to blobs.

use super::{is_hub_link, is_hub_repository};
use std::fs;
use std::path::{Path, PathBuf};
use std::vec::Vec;

/// Most links of one repository that are followed.
const LINKS: usize = 100_000;
/// Levels of folders in a snapshot.
const LEVELS: u32 = 32;

/// The links in the snapshots of a repository of the cache that lead to its blobs, each with its blob,
/// given the folder of the blobs. None if it is no such folder.
///
/// ```
/// assert!(weighbridge::repository::hub_links("models--me--x/blobs".as_ref()).is_empty());
/// ```
pub fn hub_links(blobs: &Path) -> Vec<(PathBuf, PathBuf)> {
    let repository = blobs.parent().filter(|it| is_hub_repository(it));
    let mut found = Vec::new();
    if let Some(repository) = repository.filter(|_| blobs.file_name() == Some("blobs".as_ref())) {
        walk(&repository.join("snapshots"), LEVELS, &mut found);
    }
    found
}

fn walk(folder: &Path, levels: u32, found: &mut Vec<(PathBuf, PathBuf)>) {
    let Some(levels) = levels.checked_sub(1) else { return };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if found.len() >= LINKS {
            return;
        }
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            walk(&path, levels, found);
        } else if is_hub_link(&path)
            && let Ok(blob) = fs::canonicalize(&path)
        {
            found.push((path, blob));
        }
    }
}
