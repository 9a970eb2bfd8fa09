//! The layers of every crate and of the page: dependencies point in one direction only.
//!
//! ARCHITECTURE.md describes the layers. These tests read the paths in the code, so a file that
//! reaches into a higher layer fails here, and so do modules that use each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, or the page, and its layers from the lowest to the highest. A layer is a folder or
/// a list of modules; it may use itself and the layers before it.
struct Layers {
    root: &'static str,
    layers: &'static [&'static str],
    /// Modules that form one unit, with the reason.
    together: &'static [(&'static [&'static str], &'static str)],
}

const CORE: Layers = Layers {
    root: "core/src",
    layers: &[
        "base", "rule", "input", "model", "parse", "protobuf", "codec", "pickle", "stats",
        "format", "file", "audit",
    ],
    together: &[(
        &["model::block", "model::decode", "model::element"],
        "an element of a block is decoded",
    )],
};

const HOST: Layers = Layers {
    root: "host/src",
    layers: &[
        "base",
        "input",
        "list",
        "check",
        "remote",
        "set",
        "read",
        "analyse",
        "repository",
        "save",
        "output",
    ],
    together: &[],
};

const CLI: Layers = Layers {
    root: "cli/src",
    layers: &[
        "human jobs json outcome output partition progress",
        "args journal members pickles show summary terminal tree walk",
        "print",
        "extract rules stats",
        "check convert digest explain inspect",
    ],
    together: &[],
};

const WASM: Layers = Layers {
    root: "wasm/src",
    layers: &[
        "findings text values words",
        "blocks cells json pack",
        "meta",
        "decode document elements listing rows",
        "items joint others sparse",
        "bind",
    ],
    together: &[(
        &["decode", "document", "elements", "listing", "rows"],
        "a document keeps what its parts have read",
    )],
};

const PYTHON: Layers = Layers {
    root: "python/src",
    layers: &[
        "errors html names text",
        "options pickles report source",
        "convert session",
        "model several tensor view",
    ],
    together: &[(
        &["model", "several", "tensor", "view"],
        "a model hands out tensors and views that keep it open",
    )],
};

const C: Layers =
    Layers { root: "c/src", layers: &["ids types", "reader", "raw", "header"], together: &[] };

const PAGE: Layers = Layers {
    root: "web/src",
    layers: &[
        "address.ts cache.ts csv.ts names.ts parts.ts storage.ts ui/format.ts",
        "search.ts",
        "worker",
        "ui",
        "file.ts history.ts hub.ts picker.ts",
        "archive.ts drop.ts sorting.ts recent.ts",
        "views",
        "embed folders.ts shortcuts.ts",
        "main.ts",
    ],
    together: &[],
};

fn folder(root: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(root)
}

/// Every file below `folder` that ends with `extension`, with its path relative to `root`.
fn files(root: &Path, folder: &Path, extension: &str, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(root, &path, extension, found);
        } else if path.extension().is_some_and(|it| it == extension)
            && path.file_name().is_some_and(|name| name != "tests.rs")
        {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(root).unwrap().to_path_buf(), text));
        }
    }
}

/// The code of a Rust file without comments and unit tests.
fn code(text: &str) -> String {
    let text = text.split("\nmod tests {").next().unwrap_or_default();
    let without_comment = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    let lines = text.lines().filter(|line| !line.starts_with("#[cfg(all(test,"));
    lines.map(without_comment).collect::<Vec<_>>().join("\n")
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The paths at the start of `text`, up to `depth` segments each: `a::{b, c::d}` has two.
fn paths(text: &str, depth: usize, found: &mut dyn FnMut(Vec<String>)) {
    if let Some(list) = text.strip_prefix('{') {
        let (mut open, mut from) = (0, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => open += 1,
                '}' if open > 0 => open -= 1,
                ',' | '}' => {
                    if open == 0 {
                        paths(list[from..at].trim_start(), depth, found);
                        from = at + 1;
                    }
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let first = word(text);
    if first.is_empty() {
        return;
    }
    match text[first.len()..].strip_prefix("::") {
        Some(rest) if depth > 1 => paths(rest.trim_start(), depth - 1, &mut |mut path| {
            path.insert(0, first.to_owned());
            found(path);
        }),
        _ => found(vec![first.to_owned()]),
    }
}

/// Where the paths of a file lead, from the root of its crate.
fn uses(module: &[String], code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let before = |at: usize| code[..at].chars().next_back();
    let starts =
        |at: usize| before(at).is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != ':');
    for (at, _) in code.match_indices("crate::").filter(|(at, _)| starts(*at)) {
        paths(&code[at + "crate::".len()..], 3, &mut |path| found.push(path));
    }
    for (at, _) in code.match_indices("super::").filter(|(at, _)| starts(*at)) {
        let mut rest = &code[at..];
        let mut from = module;
        while let Some(next) = rest.strip_prefix("super::") {
            rest = next;
            from = from.split_last().map_or(from, |(_, parent)| parent);
        }
        paths(rest, 3, &mut |path| found.push(from.iter().cloned().chain(path).collect()));
    }
    found
}

/// The path of the module in a file.
fn module(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let mut parts: Vec<_> = path.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if parts.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
        parts.pop();
    }
    parts
}

/// Names that the `mod.rs` of a layer exports, each with the module that it comes from.
fn exports(code: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in code.split(';') {
        let line = line.rsplit(']').next().unwrap_or_default().trim_start();
        let line = line.strip_prefix("pub(crate) use ").or_else(|| line.strip_prefix("pub use "));
        paths(line.unwrap_or_default(), 9, &mut |path| {
            if let [from, .., name] = path.as_slice() {
                found.insert(name.clone(), from.clone());
            }
        });
    }
    found
}

impl Layers {
    fn rank(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.split(' ').any(|it| it == module))
    }

    /// Every arrow between the modules of a crate: those of a layer that is a folder are the
    /// files and folders in it.
    fn arrows(&self) -> BTreeMap<String, BTreeSet<String>> {
        let root = folder(self.root);
        let mut found = Vec::new();
        files(&root, &root, "rs", &mut found);
        assert!(found.len() > 5, "{}: only {} files", self.root, found.len());
        let known: BTreeSet<Vec<String>> = found
            .iter()
            .flat_map(|(path, _)| {
                let module = module(path);
                (0..=module.len()).map(|len| module[..len].to_vec()).collect::<Vec<_>>()
            })
            .collect();
        let top = |module: &[String]| {
            let first = module.first().unwrap();
            let folder = self.layers.iter().any(|layer| layer == first);
            let depth = if folder { module.len().min(2) } else { 1 };
            module[..depth].join("::")
        };
        let exported: BTreeMap<String, BTreeMap<String, String>> = found
            .iter()
            .filter(|(path, _)| path.ends_with("mod.rs") && path.iter().count() == 2)
            .map(|(path, text)| (module(path).remove(0), exports(&code(text))))
            .collect();
        let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, text) in &found {
            let own = module(path);
            if own.is_empty() {
                continue;
            }
            let from = arrows.entry(top(&own)).or_default();
            for target in uses(&own, &code(text)) {
                // An item of the root, or of an inline module of this file.
                let Some(first) = target.first() else { continue };
                if !known.contains(&target[..1]) {
                    continue;
                }
                let len = (1..=target.len()).rev().find(|len| known.contains(&target[..*len]));
                let mut target = match (len, target.get(1)) {
                    (Some(1), Some(name)) => {
                        match exported.get(first).and_then(|it| it.get(name)) {
                            Some(from) => vec![first.clone(), from.clone()],
                            None => vec![first.clone()],
                        }
                    }
                    (len, _) => target[..len.unwrap_or(1)].to_vec(),
                };
                target.truncate(2);
                from.insert(top(&target));
            }
            let own = top(&own);
            from.remove(&own);
        }
        arrows
    }

    /// Fails on arrows to a higher layer, and on circles.
    fn check(&self, arrows: &BTreeMap<String, BTreeSet<String>>) {
        let mut unused: BTreeSet<&str> =
            self.layers.iter().flat_map(|layer| layer.split(' ')).collect();
        let rank = |module: &str| {
            let layer = module.split("::").next().unwrap();
            let rank = self.rank(layer);
            rank.unwrap_or_else(|| panic!("{}: {layer} is in no layer; add it", self.root))
        };
        let mut back = Vec::new();
        for (from, targets) in arrows {
            unused.remove(from.split("::").next().unwrap());
            for target in targets.iter().filter(|target| rank(target) > rank(from)) {
                back.push(format!("{from} uses {target}"));
            }
            _ = rank(from);
        }
        assert!(back.is_empty(), "{}: arrows that point back:\n{}", self.root, back.join("\n"));
        assert!(unused.is_empty(), "{}: layers without code: {unused:?}", self.root);
        let unit = |module: &str| {
            let mut units = self.together.iter().map(|(modules, _)| modules);
            units.position(|modules| modules.contains(&module))
        };
        let mut circles = BTreeSet::new();
        for start in arrows.keys() {
            let mut open: Vec<&String> = vec![start];
            let mut seen = BTreeSet::new();
            while let Some(from) = open.pop() {
                for next in arrows.get(from).into_iter().flatten() {
                    if unit(from).is_some() && unit(from) == unit(next) {
                        continue;
                    }
                    if next == start {
                        circles.insert(format!("{start}, by way of {from}"));
                    }
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
        }
        let circles: Vec<_> = circles.into_iter().collect();
        assert!(circles.is_empty(), "{}: circles:\n{}", self.root, circles.join("\n"));
        // A unit that no longer is one must be removed from the list.
        for (modules, why) in self.together {
            let inside = |name: &&&str| {
                let targets = arrows.get(**name).into_iter().flatten();
                targets.filter(|target| modules.contains(&target.as_str())).count() > 0
            };
            assert_eq!(modules.iter().filter(inside).count(), modules.len(), "{why}");
        }
    }
}

#[test]
fn core_layers_use_only_lower_layers() {
    CORE.check(&CORE.arrows());
}

#[test]
fn host_layers_use_only_lower_layers() {
    HOST.check(&HOST.arrows());
}

#[test]
fn cli_layers_use_only_lower_layers() {
    CLI.check(&CLI.arrows());
}

#[test]
fn wasm_layers_use_only_lower_layers() {
    WASM.check(&WASM.arrows());
}

#[test]
fn python_layers_use_only_lower_layers() {
    PYTHON.check(&PYTHON.arrows());
}

#[test]
fn c_layers_use_only_lower_layers() {
    C.check(&C.arrows());
}

#[test]
fn c_has_unsafe_code_only_at_the_border() {
    let root = folder(C.root);
    let mut found = Vec::new();
    files(&root, &root, "rs", &mut found);
    let is_unsafe = |text: &str| {
        let code = code(text);
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|it| code.contains(it))
    };
    let unsafe_files: Vec<_> = found
        .iter()
        .filter(|(_, text)| is_unsafe(text))
        .map(|(path, _)| path.to_str().unwrap())
        .collect();
    assert_eq!(unsafe_files, ["raw.rs"]);
}

/// The relative paths that a TypeScript file imports.
fn imports(text: &str) -> Vec<&str> {
    let starts = text.match_indices("from './").chain(text.match_indices("from '../"));
    let starts = starts.chain(text.match_indices("import './"));
    let starts = starts.chain(text.match_indices("import '../"));
    starts.filter_map(|(at, _)| text[at..].split('\'').nth(1)).collect()
}

#[test]
fn page_layers_use_only_lower_layers() {
    let root = folder(PAGE.root);
    let mut found = Vec::new();
    files(&root, &root, "ts", &mut found);
    let layer = |path: &Path| {
        let name = path.to_str().unwrap().to_owned();
        let first = path.iter().next().unwrap().to_str().unwrap().to_owned();
        if PAGE.rank(&name).is_some() { name } else { first }
    };
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut count = 0;
    for (path, text) in &found {
        let own = layer(path);
        let from = arrows.entry(own.clone()).or_default();
        for import in imports(text).into_iter().filter(|it| it.ends_with(".ts")) {
            let mut target = path.parent().unwrap().to_path_buf();
            for part in Path::new(import).iter() {
                match part.to_str().unwrap() {
                    "." => {}
                    ".." if target.pop() => {}
                    ".." => target.push(".."),
                    part => target.push(part),
                }
            }
            if target.starts_with("..") {
                continue;
            }
            count += 1;
            let target = layer(&target);
            if target != own {
                from.insert(target);
            }
        }
    }
    assert!(count > 200, "only {count} imports");
    PAGE.check(&arrows);
}

#[test]
fn layers_test_sees_arrows_and_circles() {
    let own = ["read".to_owned(), "tensor".to_owned(), "find".to_owned()];
    let code = "use crate::base::{text::{Text, quote}, value};\nuse super::super::model::Model;";
    let found: Vec<String> = uses(&own, code).iter().map(|path| path.join("::")).collect();
    let expected = ["base::text::Text", "base::text::quote", "base::value", "read::model::Model"];
    assert_eq!(found, expected);
    let layers = Layers { root: "a test", layers: &["a", "b c"], together: &[] };
    let fails = |arrows: &[(&str, &str)]| {
        let mut map: BTreeMap<String, BTreeSet<String>> =
            ["a", "b", "c"].map(|it| (it.to_owned(), BTreeSet::new())).into();
        for (from, to) in arrows {
            map.get_mut(*from).unwrap().insert((*to).to_owned());
        }
        std::panic::catch_unwind(|| layers.check(&map)).is_err()
    };
    assert!(!fails(&[("b", "a"), ("b", "c"), ("c", "a")]));
    assert!(fails(&[("a", "b")]));
    assert!(fails(&[("b", "c"), ("c", "b")]));
}

/// Where the code of `core/src` outside a format's own folder may name a format, and why.
const MAY_NAME: [(&str, &str); 12] = [
    ("format/executorch", "a program is a flatbuffer"),
    ("format/formats.rs", "the list of formats"),
    ("format/mod.rs", "declares their modules"),
    ("format/npz", "an archive of files of another format"),
    ("format/pytorch", "an archive, whose faults have rules already"),
    ("format/shards", "an index of safetensors files is JSON as they have it"),
    ("format/tflite", "a model is a flatbuffer"),
    ("format/ztensor", "a model calls its other files shards"),
    ("pickle/machine/allowed.rs", "modules that pickles import"),
    ("audit/resumable/payload/blocks.rs", "one format has rows in blocks"),
    ("base/limits.rs", "a limit says whose it is"),
    ("rule/general.rs", "archives of models are no format of their own"),
];

/// Adding a format changes only its folder and the list of formats: shared code names none.
#[test]
fn shared_code_names_no_format() {
    let mut found = Vec::new();
    let root = folder(CORE.root);
    files(&root, &root, "rs", &mut found);
    let folders = fs::read_dir(root.join("format")).unwrap().map(Result::unwrap);
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
    assert_eq!(used.len(), MAY_NAME.len(), "only these exceptions still apply: {used:?}");
}
