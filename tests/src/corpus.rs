//! Locates the corpus of real and broken files, which is not part of the project.

use std::path::PathBuf;

/// The corpus folder: `WEIGHBRIDGE_CORPUS` if set, which must then exist, otherwise
/// `../shared/corpus` next to the project. Reports on standard error if there is none.
pub fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("WEIGHBRIDGE_CORPUS").map(PathBuf::from);
    let must_be_there = named.is_some();
    let folder = named
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus"));
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(!must_be_there, "WEIGHBRIDGE_CORPUS is {}: no folder", folder.display());
    eprintln!("no corpus at {}: these conformance tests check nothing", folder.display());
    None
}

/// The corpus files below `path` with this extension, sorted by name; empty without a corpus.
pub fn files(path: &str, extension: &str) -> Vec<PathBuf> {
    let Some(folder) = folder() else { return Vec::new() };
    let folder = folder.join(path);
    let entries = std::fs::read_dir(&folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == extension));
    files.sort();
    files
}

/// Parses the JSON next to a corpus file, or at a corpus path.
pub fn json(path: &std::path::Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
