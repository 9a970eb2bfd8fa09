//! Manifests, documentation and workflows agree with one another.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The packages that are published.
const PUBLISHED: [&str; 3] = ["core", "host", "cli"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every manifest of the repository, including those outside the workspace.
fn manifests(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            manifests(&path, found);
        } else if name == "Cargo.toml" {
            found.push(path);
        }
    }
}

/// The text after `key = `.
fn value<'t>(manifest: &'t str, key: &str) -> Option<&'t str> {
    let mut lines = manifest.lines();
    lines
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
        .map(|it| it.trim_matches('"'))
}

/// The features of a manifest, skipping comments and multi-line values.
fn features(manifest: &str) -> BTreeSet<&str> {
    let table = manifest.split("\n[features]\n").nth(1).expect("features");
    let lines = table.split("\n[").next().unwrap_or_default().lines();
    lines
        .filter_map(|line| Some(line.split_once(" = ")?.0))
        .filter(|it| !it.starts_with(['#', ' ']))
        .collect()
}

#[test]
fn minimum_rust_version_is_consistent() {
    let workspace = read("Cargo.toml");
    let oldest = value(&workspace, "rust-version").expect("the workspace has one");
    let mut all = Vec::new();
    manifests(&root(), &mut all);
    assert!(all.len() >= 12, "only {} manifests", all.len());
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let inherits = text.contains("rust-version.workspace = true");
        assert!(inherits || value(&text, "rust-version") == Some(oldest), "{}", path.display());
    }
    for workflow in ["ci.yml", "release.yml"] {
        let text = read(&format!(".github/workflows/{workflow}"));
        let mut installs =
            text.lines().filter(|line| line.contains("rustup toolchain install")).peekable();
        assert!(installs.peek().is_some(), "{workflow}");
        for line in installs.filter(|line| !line.contains("nightly")) {
            assert!(line.contains(&format!("install {oldest} ")), "{workflow}: {line}");
        }
    }
}

#[test]
fn published_packages_have_descriptions() {
    for package in PUBLISHED {
        let text = read(&format!("{package}/Cargo.toml"));
        for key in ["name", "description", "readme"] {
            assert!(value(&text, key).is_some(), "{package}: {key}");
        }
        for key in ["version", "rust-version", "license", "repository", "authors"] {
            assert!(text.contains(&format!("{key}.workspace = true")), "{package}: {key}");
        }
        for key in ["keywords", "categories"] {
            assert!(text.lines().any(|line| line.starts_with(key)), "{package}: {key}");
        }
        let readme = read(&format!("{package}/README.md"));
        assert!(readme.lines().count() > 10, "{package}: README.md");
        assert!(!text.contains("publish = false"), "{package}");
        // A package contains only its folder: a link, or its target on systems without links.
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let here = read(&format!("{package}/{licence}"));
            assert!(here == read(licence) || here == format!("../{licence}"), "{package}");
        }
    }
    let workspace = read("Cargo.toml");
    let version = value(&workspace, "version").expect("the workspace has one");
    for dependency in ["weighbridge = ", "weighbridge-core = "] {
        let line = workspace.lines().find(|line| line.starts_with(dependency));
        let same = format!("version = \"{version}\"");
        assert!(line.is_some_and(|line| line.contains(&same)), "{dependency}");
    }
    let npm: serde_json::Value = serde_json::from_str(&read("wasm/package.json")).unwrap();
    let address = value(&workspace, "repository").unwrap();
    assert_eq!(npm["repository"]["url"], format!("git+{address}.git"));
    for key in ["version", "license"] {
        assert_eq!(npm[key].as_str(), value(&workspace, key), "wasm: {key}");
    }
    assert!(npm["keywords"].as_array().is_some_and(|words| words.len() > 3));
}

/// docs.rs builds with every feature, and the crate's table lists each of them.
#[test]
fn features_are_documented() {
    for package in ["core", "host"] {
        let manifest = read(&format!("{package}/Cargo.toml"));
        assert!(manifest.contains("[package.metadata.docs.rs]\nall-features = true"), "{package}");
        let docs = read(&format!("{package}/src/lib.rs"));
        let docs = docs.split("//! # Features\n").nth(1).expect("a table of features");
        let docs = docs.split("#![no_std]").next().unwrap_or_default();
        let named: BTreeSet<_> = docs.split('`').skip(1).step_by(2).collect();
        let has = features(&manifest);
        assert!(has.len() > 10, "{package}: {has:?}");
        for feature in has.iter().filter(|it| **it != "default") {
            assert!(named.contains(feature), "{package}: {feature} is not in its table");
        }
        for row in docs.lines().filter(|line| line.starts_with("//! | `")) {
            let first = row.split('|').nth(1).unwrap_or_default();
            for feature in first.split('`').skip(1).step_by(2) {
                assert!(has.contains(feature), "{package} has no feature {feature}");
                let default = value(&manifest, "default").unwrap_or_default();
                let by_default = row.contains("| yes |");
                assert_eq!(default.contains(&format!("\"{feature}\"")), by_default, "{feature}");
            }
        }
    }
}
