//! Links that lead out of the folder of a model.

use std::fs;
use std::path::Path;

/// Whether a file of a model is a link that leads out of the folder. One that leads
/// nowhere does not: that it is missing is found when it is opened.
pub(crate) fn leave(folder: &Path, path: &Path) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return false;
    }
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    match (fs::canonicalize(path), fs::canonicalize(folder)) {
        (Ok(target), Ok(folder)) => !target.starts_with(folder),
        _ => false,
    }
}
