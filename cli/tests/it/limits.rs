//! Files with more content than anyone reads: output is bounded, and the rest is
//! counted.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::safetensors;
use weighbridge_tests::encode::shards::Index;
use weighbridge_tests::encode::ztensor::{Item, MAGIC};

/// An index of `count` empty maps, each of which breaks a rule for every missing field.
fn flood(count: usize) -> Vec<u8> {
    let index = Item::Array(vec![Item::Map(vec![]); count]).encode();
    [&MAGIC[..], &index, &(index.len() as u64).to_le_bytes()].concat()
}

#[test]
fn findings_beyond_limit_are_counted() {
    const COUNT: u64 = 20_000;
    let folder = Folder::new();
    folder.write("a.zt", &flood(COUNT as usize));
    for args in [&["check", "--json", "a.zt"][..], &["inspect", "--json", "a.zt"]] {
        let run = run(&folder, args);
        assert_eq!(run.code, 1);
        let json = run.json();
        let listed = json["findings"].as_array().expect("an array");
        let left = json["findings_not_listed"].as_array().expect("some are not listed");
        let mut rules = std::collections::BTreeMap::new();
        for finding in listed {
            *rules.entry(finding["rule"].as_str().expect("an id")).or_insert(0) += 1_u64;
        }
        assert!(rules.len() >= 2, "{rules:?}");
        for rule in left {
            // Each map lacks each field once.
            let count = rules[rule["rule"].as_str().expect("an id")];
            assert_eq!(rule["count"], COUNT - count, "{rule}");
            assert!((10..=1_000).contains(&count), "{rule}: {count} are listed");
        }
        assert_eq!(left.len(), rules.len());
        assert!(listed.len() <= 11_000);
    }
    let human = run(&folder, &["check", "a.zt"]);
    let lines: Vec<_> = human.out.lines().collect();
    assert_eq!(lines.len(), 102, "{human:?}");
    assert!(lines[101].contains("more findings; --json lists all but"), "{human:?}");
}

/// A single broken rule decides the verdict, listed or not.
#[test]
fn unlisted_findings_count_in_verdict() {
    let folder = Folder::new();
    folder.write("a.zt", &flood(2_000));
    let json = run(&folder, &["check", "--json", "a.zt"]).json();
    let rule = json["findings_not_listed"][0]["rule"].as_str().expect("an id").to_owned();
    assert_eq!(json["verdict"], "invalid");
    assert_eq!(run(&folder, &["check", "a.zt", "--deny", &rule]).code, 1);
}

#[test]
fn findings_on_missing_tensors_are_bounded() {
    let folder = Folder::new();
    folder
        .write("one.safetensors", &safetensors::File { metadata: None, tensors: vec![] }.encode());
    let names: Vec<String> = (0..3_000).map(|i| format!("t.{i}")).collect();
    let entries: Vec<_> = names.iter().map(|name| (name.as_str(), "one.safetensors")).collect();
    folder.write("a.safetensors.index.json", &Index::of(None, &entries).encode());
    let run = run(&folder, &["check", "--json", "a.safetensors.index.json"]);
    assert_eq!(run.code, 1);
    let json = run.json();
    let listed = json["findings"].as_array().expect("an array");
    assert!(listed.iter().all(|it| it["rule"] == "TENSOR-MISSING"), "{json}");
    let names: Vec<_> = listed.iter().take(2).map(|it| it["entry"].clone()).collect();
    assert_eq!((listed.len(), names), (1_000, vec![json!("t.0"), json!("t.1")]));
    let left = json!([{"rule": "TENSOR-MISSING", "severity": "fatal", "count": 2_000}]);
    assert_eq!(json["findings_not_listed"], left);
}

#[test]
fn each_file_has_one_line() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let run = run(&folder, &["check", "--json", "missing.stb", "a.stb"]);
    assert_eq!(run.code, 2);
    let [missing, sound] = &run.lines()[..] else { panic!("two lines: {run:?}") };
    assert_eq!(sound["verdict"], "valid");
    assert_eq!((&missing["file"], &missing["verdict"]), (&json!("missing.stb"), &Value::Null));
    assert!(missing["error"].as_str().is_some_and(|why| why.contains("No such file")));
    assert_eq!((&missing["checked"], &missing["findings"]), (&json!([]), &json!([])));
    let inspected = super::run(&folder, &["inspect", "--json", "missing.stb"]);
    assert_eq!(inspected.code, 2);
    assert_eq!(inspected.json()["error"], missing["error"]);
    assert_eq!(inspected.json()["tensors"], json!([]));
}

#[cfg(unix)]
#[test]
fn index_with_circular_link_has_line() {
    let folder = Folder::new();
    let index = Index::of(None, &[("a", "loop.safetensors")]);
    folder.write("m.safetensors.index.json", &index.encode());
    std::os::unix::fs::symlink("loop.safetensors", folder.path().join("loop.safetensors"))
        .expect("a link");
    let run = run(&folder, &["check", "--json", "m.safetensors.index.json"]);
    assert_ne!(run.code, 0);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    assert_eq!(line["file"], "m.safetensors.index.json");
    assert!(!run.err.contains("panicked"), "{run:?}");
}

#[test]
fn huge_job_count_is_accepted() {
    let folder = Folder::new();
    for i in 0..300 {
        folder.write(&format!("{i}.stb"), &sound().encode());
    }
    let run = run(&folder, &["check", "--json", "--jobs", "20000", "."]);
    assert_eq!((run.code, run.lines().len()), (0, 300), "{}", run.err);
}

/// An answer longer than the buffer, ending in the middle of a tensor.
#[test]
fn long_output_is_complete() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1] = Tensor::new(1, 3, &[400_000]);
    folder.write("a.stb", &stb.encode());
    let json = run(&folder, &["inspect", "--json", "--values", "400000", "a.stb"]).json();
    let values = json["tensors"][1]["values"].as_array().expect("an array");
    assert_eq!((values.len(), &values[1]), (400_000, &json!(0x0706_0504)));
    let human = run(&folder, &["inspect", "--values", "400000", "a.stb"]);
    assert_eq!((human.code, human.out.lines().count()), (0, 6), "{}", human.out.len());
}
