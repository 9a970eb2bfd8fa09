//! PyTorch checkpoints: each unsafe file is refused by name, and no other is.

use std::collections::BTreeMap;
use weighbridge::{Options, Profile, Report, Verdict, check_with};
use weighbridge_tests::corpus;

/// The names that findings say would be imported, run or made.
fn names(report: &Report) -> Vec<String> {
    let rules = ["PICKLE-GLOBAL", "PICKLE-INERT"];
    let found = report.findings().iter().filter(|it| rules.contains(&it.rule()));
    found.map(|it| it.message()).collect()
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
        if matches!(expected, "valid" | "lint") && !is_too("unsafe") {
            assert_eq!(verdict, Verdict::Unsupported, "{file}: {:?}", report.findings());
        }
        assert_ne!(verdict, Verdict::Valid, "{file}: its tensors are not read");
    }
    assert!(counts["unsafe"] > 100 && counts["valid"] > 50, "{counts:?}");
}

/// Facts about sound files list the names off the list of `torch.load`.
#[test]
fn pytorch_names_off_the_list_are_those_of_the_facts() {
    let mut compared = 0;
    for extension in ["pt", "pth", "bin", "ckpt"] {
        if corpus::folder().is_none_or(|folder| !folder.join("pytorch/valid").is_dir()) {
            return;
        }
        for path in corpus::files("pytorch/valid", extension) {
            // A key that is half a surrogate pair is no JSON for this parser.
            let facts = std::fs::read_to_string(path.with_extension("json")).unwrap();
            let Ok(facts) = serde_json::from_str::<serde_json::Value>(&facts) else { continue };
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
    }
    assert!(compared > 0, "no facts list names");
}
