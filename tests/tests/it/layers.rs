//! The layers of the core: dependencies between its folders point in one direction only.
//!
//! ARCHITECTURE.md lists the layers. This test reads the `use` lines and the paths of
//! `core/src`, so a file that reaches into a higher layer fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `core/src`, each of which may use only those before it.
const LAYERS: [&str; 11] = [
    "base", "rule", "input", "model", "parse", "codec", "pickle", "stats", "format", "file",
    "audit",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src")
}

/// Every Rust file below `folder`, with its path relative to `core/src`.
fn files(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            if path.file_name().is_some_and(|name| name == "tests.rs") {
                continue;
            }
            found.push((path.strip_prefix(source()).unwrap().to_path_buf(), text));
        }
    }
}

/// The code of a file without comments and unit tests.
fn code(text: &str) -> String {
    let text = text.split("\nmod tests {").next().unwrap_or_default();
    let without_comment = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let lines = text.lines().filter(|line| !line.starts_with("#[cfg(all(test,"));
    lines.map(without_comment).collect::<Vec<_>>().join("\n")
}

/// The first two segments of every path that begins with `crate::`.
fn uses(code: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        let word = |text: &str| -> String {
            text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
        };
        let first = word(part);
        let rest = part[first.len()..].strip_prefix("::").unwrap_or_default();
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = list.split('}').next().unwrap_or_default();
                for item in list.split([',', '{']) {
                    found.insert((first.clone(), word(item.trim())));
                }
            }
            None => {
                found.insert((first, word(rest)));
            }
        }
    }
    found
}

#[test]
fn layers_use_only_lower_layers() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    assert!(found.len() > 100, "only {} files", found.len());
    let rank = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let mut back = Vec::new();
    for (path, text) in &found {
        let layer = path.components().next().unwrap().as_os_str().to_str().unwrap();
        if layer == "lib.rs" {
            continue;
        }
        let own = rank(layer).unwrap_or_else(|| panic!("{layer} is no layer; add it to LAYERS"));
        for (target, _) in uses(&code(text)) {
            if rank(&target).is_some_and(|target| target > own) {
                back.push(format!("{} uses crate::{target}", path.display()));
            }
        }
    }
    assert!(back.is_empty(), "arrows that point back:\n{}", back.join("\n"));
}

/// Files in different folders of one layer must not use each other in a cycle.
#[test]
fn folders_of_a_layer_have_no_cycle() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in &found {
        let parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap()).collect();
        let [layer, folder, _, ..] = parts[..] else { continue };
        let own = format!("{layer}::{folder}");
        for (target, next) in uses(&code(text)) {
            let other = format!("{target}::{next}");
            let is_folder = source().join(&target).join(&next).is_dir();
            if target == layer && other != own && is_folder {
                arrows.entry(own.clone()).or_default().insert(other);
            }
        }
    }
    for start in arrows.keys() {
        let mut open: Vec<&String> = arrows[start].iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(next) = open.pop() {
            assert!(next != start, "{start} is in a circle, by way of {seen:?}");
            if seen.insert(next) {
                open.extend(arrows.get(next).into_iter().flatten());
            }
        }
    }
}

/// Where the code of `core/src` outside a format's own folder may name a format, and why.
const MAY_NAME: [(&str, &str); 6] = [
    ("format/formats.rs", "the list of formats"),
    ("format/mod.rs", "declares their modules"),
    ("format/npz", "an archive of files of another format"),
    ("format/shards", "an index of safetensors files is JSON as they have it"),
    ("audit/resumable/payload/blocks.rs", "one format has rows in blocks"),
    ("base/limits.rs", "a limit says whose it is"),
];

/// Adding a format changes only its folder and the list of formats: shared code names none.
#[test]
fn shared_code_names_no_format() {
    let mut found = Vec::new();
    files(&source(), &mut found);
    let folders = fs::read_dir(source().join("format")).unwrap().map(Result::unwrap);
    let formats: Vec<_> = folders
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    assert!(formats.len() >= 8, "{formats:?}");
    let (mut named, mut used) = (Vec::new(), BTreeSet::new());
    for (path, text) in &found {
        let code = code(text).to_lowercase();
        for format in &formats {
            if path.starts_with(Path::new("format").join(format)) || !code.contains(format) {
                continue;
            }
            match MAY_NAME.iter().find(|(allowed, _)| path.starts_with(allowed)) {
                Some((allowed, _)) => drop(used.insert(*allowed)),
                None => named.push(format!("{} names {format}", path.display())),
            }
        }
    }
    assert!(named.is_empty(), "shared code that names formats:\n{}", named.join("\n"));
    // Exceptions that no longer apply must be removed from the list.
    assert_eq!(used.len(), MAY_NAME.len(), "{used:?}");
}
