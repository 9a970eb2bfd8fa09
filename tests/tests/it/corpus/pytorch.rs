//! PyTorch checkpoints: each unsafe file is refused by name, and no other is.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use weighbridge::{Model, Options, Profile, Report, Verdict, check_with};
use weighbridge_tests::corpus;

/// The names that findings say would be imported, run or made.
fn names(report: &Report) -> Vec<String> {
    let rules = ["PICKLE-GLOBAL", "PICKLE-INERT"];
    let found = report.findings().iter().filter(|it| rules.contains(&it.rule()));
    found.map(|it| it.message()).collect()
}

/// The types of torch by the names they have here.
fn dtype(name: &str) -> &str {
    match name {
        "float32" => "f32",
        "float64" => "f64",
        "float16" => "f16",
        "bfloat16" => "bf16",
        "complex64" => "c64",
        "complex128" => "c128",
        "complex32" => "void",
        "int64" => "i64",
        "int32" | "qint32" => "i32",
        "int8" | "qint8" => "i8",
        "bool" => "bool",
        "bits16" => "u16",
        "float8_e4m3fn" => "f8e4m3",
        "float8_e4m3fnuz" => "f8e4m3fnuz",
        "float8_e5m2" => "f8e5m2",
        "float8_e5m2fnuz" => "f8e5m2fnuz",
        "float8_e8m0fnu" => "f8e8m0",
        // Those that take a byte for an element and have no type of their own.
        _ => "u8",
    }
}

/// The sound files with their facts, if the corpus has them.
fn sound() -> Option<Vec<(PathBuf, serde_json::Value)>> {
    let folder = corpus::folder()?.join("pytorch/valid");
    let extensions = ["pt", "pth", "bin", "ckpt"].into_iter().filter(|_| folder.is_dir());
    let files = extensions.flat_map(|extension| corpus::files("pytorch/valid", extension));
    let facts = files.filter_map(|path| {
        let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
        // A key that is half a surrogate pair is no JSON for this parser.
        serde_json::from_str(&text).ok().map(|facts| (path, facts))
    });
    folder.is_dir().then(|| facts.collect())
}

#[test]
fn pytorch_tensors_are_those_of_the_facts() {
    let Some(all) = sound() else { return };
    let (mut files, mut compared) = (0, 0);
    for (path, facts) in all {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(model) = Model::from_bytes(&bytes) else { continue };
        files += 1;
        for fact in facts["tensors"].as_array().into_iter().flatten() {
            let Some(expected) = fact["dtype"].as_str() else { continue };
            let name = fact["name"].as_str().unwrap();
            let what = format!("{}: {name}", path.display());
            let tensor = model.tensor(name).unwrap_or_else(|error| panic!("{what}: {error}"));
            let shape: Vec<_> =
                fact["shape"].as_array().unwrap().iter().map(|it| it.as_u64()).collect();
            assert_eq!(tensor.shape().extents(), shape, "{what}");
            assert_eq!(tensor.dtype().name(), dtype(expected), "{what}");
            let Some(hash) = fact["elements_sha256"].as_str() else { continue };
            let mut hasher = Sha256::new();
            let read = tensor.canonical(|piece| {
                hasher.update(piece);
                Ok::<(), weighbridge::Error>(())
            });
            read.unwrap_or_else(|error| panic!("{what}: {error}"));
            let found: String =
                hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, hash, "{what}");
            compared += 1;
        }
    }
    assert!(files > 60 && compared > 150, "{files} files, {compared} tensors");
}

#[test]
fn pytorch_files_are_refused_for_what_they_would_run() {
    let Some(folder) = corpus::folder() else { return };
    let folder = folder.join("pytorch");
    if !folder.is_dir() {
        eprintln!("no PyTorch files in the corpus");
        return;
    }
    let manifest = corpus::json(&folder.join("manifest.json"));
    let rows = ["valid", "invalid"].map(|key| manifest[key].as_array().unwrap().clone()).concat();
    let mut counts = BTreeMap::new();
    for row in &rows {
        let file = row["file"].as_str().unwrap();
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let report = check_with(&bytes, &Options::new().seed(1)).unwrap();
        let (names, verdict) = (names(&report), report.verdict(Profile::Strict));
        let expected = row["verdict"].as_str().unwrap();
        let others = row["or"].as_array().cloned().unwrap_or_default();
        let is_too = |what: &str| expected == what || others.iter().any(|it| it == what);
        *counts.entry(expected).or_insert(0) += 1;
        match expected {
            "unsafe" => {
                assert_eq!(verdict, Verdict::Invalid, "{file}");
                let named = names.iter().any(|it| it.split(' ').any(|word| word.contains('.')));
                assert!(named, "{file}: {names:?}");
            }
            _ if is_too("unsafe") => {}
            _ => assert!(names.is_empty(), "{file} is {expected}: {names:?}"),
        }
        // What other kinds of archives hold is unchecked here.
        let found = match verdict {
            Verdict::Invalid => "invalid",
            Verdict::Unsupported => "unchecked",
            Verdict::Valid if report.unchecked().is_empty() => "valid",
            _ => "unchecked",
        };
        let fits = is_too(found)
            || found == "valid" && is_too("lint")
            || found == "invalid" && is_too("unsafe");
        assert!(fits, "{file} is {expected}: {verdict:?}, {:?}", report.findings());
    }
    assert!(counts["unsafe"] > 100 && counts["valid"] > 50, "{counts:?}");
}

/// Facts about sound files list the names off the list of `torch.load`.
#[test]
fn pytorch_names_off_the_list_are_those_of_the_facts() {
    let Some(all) = sound() else { return };
    let mut compared = 0;
    for (path, facts) in all {
        let Some(off) = facts["off_list"].as_array() else { continue };
        let report = check_with(&std::fs::read(&path).unwrap(), &Options::new()).unwrap();
        let names = names(&report);
        for pair in off {
            let [module, name] = [&pair[0], &pair[1]].map(|it| it.as_str().unwrap());
            // TorchScript's own names are looked up in the archive.
            let is_own = module.starts_with("__torch__");
            let full = format!("{module}.{name}");
            let found = names.iter().any(|it| it.contains(&full));
            compared += 1;
            assert_eq!(found, !is_own, "{}: {full}, {names:?}", path.display());
        }
    }
    assert!(compared > 0, "no facts list names");
}
