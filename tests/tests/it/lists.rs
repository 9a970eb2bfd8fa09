//! Lists in other languages are those of the Rust code: file extensions of
//! `core/src/format/formats.rs`, kinds of diagnoses.
//!
//! `WEIGHBRIDGE_LISTS=write cargo test -p weighbridge-tests --test it lists` rewrites them.

use std::fs;
use std::path::{Path, PathBuf};
use weighbridge::DiagnosisKind;
use weighbridge_core::Format;

/// A list in a file: the text between two others, on one line.
struct List {
    path: &'static str,
    before: &'static str,
    after: &'static str,
    text: fn() -> String,
}

const LISTS: [List; 4] = [
    List {
        path: ".pre-commit-hooks.yaml",
        before: "  files: '(?i)\\.(",
        after: ")$'",
        text: || pattern(|_| true),
    },
    List {
        path: "web/src/names.ts",
        before: "export const TENSORS = /\\.(?:",
        after: ")$|(?:^|\\/)config\\.json$/i;",
        text: || pattern(|_| true),
    },
    List {
        path: "web/src/names.ts",
        before: "export const FULL = /\\.(?:json|",
        after: ")$|-of-\\d{5}\\.gguf$/i;",
        text: || pattern(|format| !FIRST.contains(&format) && format != Format::Shards),
    },
    List {
        path: "web/public/manifest.webmanifest",
        before: "\"accept\": { \"application/x-tensors\": [",
        after: "] }",
        // Systems look at the part of a name after its last dot, and JSON is not only ours.
        text: || {
            let quoted = |it: &'static str| format!("\".{it}\"");
            extensions(|format| format != Format::Shards).map(quoted).collect::<Vec<_>>().join(", ")
        },
    },
];

/// The names of kinds of diagnoses, in the order of their numbers.
const KINDS: List = List {
    path: "wasm/js/kinds.ts",
    before: "export const KINDS = [",
    after: "] as const;",
    text: || {
        let quoted = |kind: &DiagnosisKind| format!("'{}'", kind.name());
        DiagnosisKind::ALL.iter().map(quoted).collect::<Vec<_>>().join(", ")
    },
};

/// The formats that the module of the page that is loaded first reads.
const FIRST: [Format; 2] = [Format::Safetensors, Format::Gguf];

/// The extensions of formats, in the order of the list of formats.
fn extensions(is: fn(Format) -> bool) -> impl Iterator<Item = &'static str> {
    let formats = Format::ALL.iter().filter(move |format| is(**format));
    formats.flat_map(|format| format.extensions().iter().copied())
}

/// A regular expression that matches extensions.
fn pattern(is: fn(Format) -> bool) -> String {
    extensions(is).map(|it| it.replace('.', "\\.")).collect::<Vec<_>>().join("|")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn lists_in_other_languages_are_those_of_the_code() {
    let write = std::env::var("WEIGHBRIDGE_LISTS").is_ok_and(|what| what == "write");
    for List { path, before, after, text } in LISTS.into_iter().chain([KINDS]) {
        let file = root().join(path);
        let old = fs::read_to_string(&file).unwrap();
        let (start, rest) = old.split_once(before).unwrap_or_else(|| panic!("{path}: {before}"));
        let (list, end) = rest.split_once(after).unwrap_or_else(|| panic!("{path}: {after}"));
        if write {
            fs::write(&file, format!("{start}{before}{}{after}{end}", text())).unwrap();
        } else {
            assert_eq!(list, text(), "{path}: see WEIGHBRIDGE_LISTS in tests/tests/it/lists.rs");
        }
    }
}

/// Where a program that users run could have a list of its own.
const CODE: [&str; 8] = [
    ".pre-commit-hooks.yaml",
    "action.yml",
    "python/weighbridge",
    "wasm/js",
    "web/index.html",
    "web/public",
    "web/src",
    "web/vscode",
];

/// What builds write among them: its lists come from the sources.
const BUILT: [&str; 5] = ["__pycache__", "dist", "node_modules", "samples", "viewer.js"];

fn texts(path: &Path, found: &mut Vec<(PathBuf, String)>) {
    if BUILT.iter().any(|name| path.ends_with(name)) {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            texts(&entry.unwrap().path(), found);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        found.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
    }
}

/// The number of formats that a line names by an extension.
fn named(line: &str) -> usize {
    let words: Vec<&str> = line.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let names = |format: &&Format| format.extensions().iter().any(|it| words.contains(it));
    Format::ALL.iter().filter(names).count()
}

#[test]
fn no_list_of_extensions_is_written_by_hand() {
    let mut found = Vec::new();
    CODE.iter().for_each(|path| texts(&root().join(path), &mut found));
    assert!(found.len() > 100, "only {} files", found.len());
    let mut lists = 0;
    for (path, text) in found {
        for line in text.lines().filter(|line| named(line) > 3) {
            let is_known = |list: &List| path == Path::new(list.path) && line.contains(list.before);
            assert!(LISTS.iter().any(is_known), "{}: {line}", path.display());
            lists += 1;
        }
    }
    assert_eq!(lists, LISTS.len());
    assert_eq!(named("const KNOWN = ['.bt', '.gguf', '.zt', '.ztensor', \".stb\"];"), 4);
}
