//! Sharded checkpoints: the index checked against its files.

use super::*;
use weighbridge_tests::encode::safetensors::{File, Tensor};
use weighbridge_tests::encode::shards::Index;

const INDEX: &str = "model.safetensors.index.json";
const ONE: &str = "model-00001-of-00002.safetensors";
const TWO: &str = "model-00002-of-00002.safetensors";

fn shard(names: &[&str]) -> Vec<u8> {
    let tensors = names.iter().map(|name| Tensor::new(name, "F32", &[2])).collect();
    File { metadata: None, tensors }.encode()
}

/// A folder with two shards of two tensors each, and this index.
fn checkpoint(index: &Index) -> Folder {
    let folder = Folder::new();
    folder.write(ONE, &shard(&["a", "b"]));
    folder.write(TWO, &shard(&["c", "d"]));
    folder.write(INDEX, &index.encode());
    folder
}

const SOUND: [(&str, &str); 4] = [("a", ONE), ("b", ONE), ("c", TWO), ("d", TWO)];

/// The broken rules and their entries, in report order.
fn broken(folder: &Folder) -> Vec<(String, String)> {
    let run = run(folder, &["check", "--json", INDEX]);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    assert_eq!(line["format"], "shards");
    let findings = line["findings"].as_array().expect("findings");
    assert_eq!(run.code, i32::from(!findings.is_empty()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings.iter().map(|found| (text(&found["rule"]), text(&found["entry"]))).collect()
}

fn one(rule: &str, entry: &str) -> Vec<(String, String)> {
    vec![(rule.to_owned(), entry.to_owned())]
}

#[test]
fn complete_checkpoint_is_valid() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    assert_eq!(broken(&folder), []);
    // A walk finds the index beside the shards.
    let run = run(&folder, &["check", "."]);
    let complete = "safetensors in 2 shards, complete, with index";
    assert!(run.code == 0 && run.out.contains(complete), "{run:?}");
}

#[test]
fn missing_shard_is_shard_missing() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    std::fs::remove_file(folder.path().join(TWO)).expect("the shard");
    assert_eq!(broken(&folder), one("SHARD-MISSING", TWO));
}

#[test]
fn broken_shard_is_shard_invalid() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    let mut bytes = shard(&["c", "d"]);
    bytes.pop();
    folder.write(TWO, &bytes);
    let found = broken(&folder);
    assert!(found.contains(&("SHARD-INVALID".into(), TWO.into())), "{found:?}");
    folder.write(TWO, b"no tensors at all");
    let found = broken(&folder);
    assert!(found.contains(&("SHARD-INVALID".into(), TWO.into())), "{found:?}");
    assert!(found.contains(&("TENSOR-MISSING".into(), "c".into())), "{found:?}");
}

#[test]
fn missing_unlisted_and_misplaced_tensors_are_found() {
    let with = |names: &[&str]| {
        let folder = checkpoint(&Index::of(Some(32), &SOUND));
        folder.write(TWO, &shard(names));
        broken(&folder)
    };
    assert_eq!(with(&["c"]), one("TENSOR-MISSING", "d"));
    assert_eq!(with(&["c", "d", "e"]), one("TENSOR-UNLISTED", "e"));
    assert_eq!(with(&["c", "d", "a"]), one("TENSOR-ELSEWHERE", "a"));
}

#[test]
fn wrong_total_size_is_violation() {
    let folder = checkpoint(&Index::of(Some(33), &SOUND));
    assert_eq!(broken(&folder), one("TOTAL-SIZE", ""));
    let found = run(&folder, &["check", "--json", INDEX]).json()["findings"][0].clone();
    let text = String::from_utf8(Index::of(Some(33), &SOUND).encode()).expect("text");
    assert_eq!(found["offset"], text.find("33").expect("the total"), "{found}");
    assert_eq!(found["len"], 2, "{found}");
    assert_eq!(broken(&checkpoint(&Index::of(None, &SOUND))), []);
}

#[test]
fn shard_path_outside_folder_is_refused() {
    let folder = checkpoint(&Index::default());
    std::fs::create_dir(folder.path().join("below")).expect("a folder");
    std::fs::rename(folder.path().join(ONE), folder.path().join("below").join(ONE)).expect("moved");
    let below = format!("below/{ONE}");
    for path in [&below, "../x.safetensors", "/etc/passwd", ""] {
        let index = Index::of(None, &[("a", path), ("c", TWO), ("d", TWO)]);
        folder.write(INDEX, &index.encode());
        assert_eq!(broken(&folder), one("SHARD-PATH", "a"), "{path}");
    }
}

#[test]
fn escaped_names_are_compared_unescaped() {
    let folder = checkpoint(&Index::default());
    folder.write(ONE, &shard(&["é\n", "b"]));
    folder.write(INDEX, format!(
        "{{\"metadata\":{{}},\"weight_map\":{{\"\\u00e9\\n\":\"{ONE}\",\"b\":\"{ONE}\",\"c\":\"\\u006d{}\",\"d\":\"{TWO}\"}}}}",
        &TWO[1..]
    ).as_bytes());
    assert_eq!(broken(&folder), []);
}

/// The result of checking the index, whatever it is.
fn check(folder: &Folder, args: &[&str]) -> (Run, Value) {
    let run = run(folder, &[&["check", "--json", INDEX], args].concat());
    let line = run.lines().pop().unwrap_or_default();
    (run, line)
}

/// Unchecked parts of a shard are unchecked parts of the checkpoint.
#[test]
fn unchecked_shard_makes_set_unchecked() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    let unknown = |name| Tensor { dtype: "Q99", ..Tensor::new(name, "F32", &[2]) };
    let tensors = vec![unknown("c"), unknown("d")];
    folder.write(TWO, &File { metadata: None, tensors }.encode());
    assert_eq!(run(&folder, &["check", "--lenient", TWO]).code, 3, "so says the shard itself");
    let (run, line) = check(&folder, &["--lenient"]);
    assert_eq!((run.code, &line["verdict"]), (3, &"valid".into()), "{run:?}");
    let unchecked = line["unchecked"].as_array().expect("an array");
    assert_eq!(unchecked.len(), 2, "{line}");
    assert!(unchecked.iter().all(|it| it["entry"] == TWO), "{line}");
}

/// A shard that exists but cannot be read gives no verdict on the checkpoint.
#[cfg(unix)]
#[test]
fn unreadable_shard_is_error() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    std::fs::remove_file(folder.path().join(TWO)).expect("the shard");
    std::os::unix::fs::symlink(TWO, folder.path().join(TWO)).expect("a link to itself");
    let (found, line) = check(&folder, &[]);
    assert_eq!((found.code, &line["verdict"]), (2, &Value::Null), "{found:?}");
    assert!(line["error"].as_str().is_some_and(|why| why.contains(TWO)), "{found:?}");
    assert!(found.err.contains(INDEX) && found.err.contains(TWO), "{found:?}");
    // Known faults are still reported.
    std::fs::remove_file(folder.path().join(ONE)).expect("the shard");
    let (found, line) = check(&folder, &[]);
    assert_eq!(found.code, 1, "{found:?}");
    let rules: Vec<_> = line["findings"].as_array().into_iter().flatten().collect();
    assert!(rules.iter().all(|it| it["rule"] == "SHARD-MISSING" && it["entry"] == ONE), "{line}");
    assert_eq!((rules.len(), &line["unchecked"][0]["entry"]), (1, &TWO.into()), "{line}");
}

/// A path that is not a regular file, or cannot be one, is a fault of the
/// checkpoint.
#[test]
fn shard_that_is_folder_is_error() {
    let long = "n".repeat(300);
    let folder = checkpoint(&Index::of(None, &[("a", "folder"), ("b", &long)]));
    std::fs::create_dir(folder.path().join("folder")).expect("a folder");
    let found = broken(&folder);
    let rules: Vec<_> = found.iter().map(|(rule, _)| rule.as_str()).collect();
    assert_eq!(rules, ["SHARD-MISSING", "SHARD-MISSING"]);
}

/// The time is linear in the index; it used to be quadratic.
#[test]
fn hundred_thousand_missing_shards_are_bounded() {
    let name = |i: usize| format!("{i}");
    let map: Vec<_> = (0..100_000).map(|i| (name(i), name(i))).collect();
    let folder = Folder::new();
    folder.write(INDEX, &Index { total: None, map }.encode());
    let mut command = command(&folder, &["check", "--json", INDEX]);
    command.timeout(std::time::Duration::from_secs(100));
    let run = finish(command);
    let line = run.lines().remove(0);
    let listed = line["findings"].as_array().map_or(0, Vec::len) as u64;
    let left = line["findings_not_listed"][0]["count"].as_u64().unwrap_or(0);
    assert_eq!((run.code, listed, left), (1, 1_000, 99_000));
}

/// Many documents begin with metadata: a walk only takes those with the right
/// name.
#[test]
fn index_is_recognised_by_its_name() {
    let folder = checkpoint(&Index::of(Some(32), &SOUND));
    folder.write("notes.json", br#"{"metadata": {"kernelspec": {}}, "cells": []}"#);
    let walked = run(&folder, &["check", "."]);
    assert_eq!(walked.code, 0, "{walked:?}");
    assert!(walked.out.contains("companion 1 file"), "{walked:?}");
    // The name decides; if the name says nothing, the content decides.
    std::fs::rename(folder.path().join(INDEX), folder.path().join("INDEX")).expect("renamed");
    assert_eq!(run(&folder, &["check", "INDEX", "--json"]).lines()[0]["format"], "shards");
}

/// Without an index each loader takes another of two tensors with the same name.
#[test]
fn a_tensor_in_two_shards_without_an_index_is_unchecked() {
    let folder = Folder::new();
    folder.write(ONE, &shard(&["a", "b"]));
    folder.write(TWO, &shard(&["c", "b"]));
    let said = format!("tensor \"b\" is also in {ONE}, and no index says which one counts");
    for args in [&["check", "."][..], &["check", TWO], &["check", "--lenient", ONE, TWO]] {
        let found = run(&folder, args);
        assert!(found.code == 3 && found.out.contains(&said), "{args:?}: {found:?}");
    }
    assert_eq!(run(&folder, &["check", ONE]).code, 0);
    // Other sets, other names, and a set whose index answers.
    folder.write(&TWO.replace("model", "other"), &shard(&["a"]));
    folder.write(&ONE.replace("model", "other"), &shard(&["b"]));
    folder.write(TWO, &shard(&["c", "d"]));
    assert_eq!(run(&folder, &["check", "."]).code, 0);
    folder.write(INDEX, &Index::of(None, &SOUND).encode());
    folder.write(TWO, &shard(&["c", "d", "b"]));
    let found = run(&folder, &["check", "."]);
    assert!(found.code == 1 && found.out.contains("TENSOR-ELSEWHERE"), "{found:?}");
}

/// Loaders that read the index do not open it, others do.
#[test]
fn a_shard_that_its_index_does_not_list_is_unchecked() {
    let folder = checkpoint(&Index::of(None, &SOUND[..2]));
    for args in [&["check", "."][..], &["check", TWO], &["check", "--lenient", "."]] {
        let found = run(&folder, args);
        let said = format!("{INDEX} does not list this shard");
        assert!(found.code == 3 && found.out.contains(&said), "{args:?}: {found:?}");
    }
    assert_eq!(run(&folder, &["check", ONE]).code, 0);
    folder.write(INDEX, &Index::of(None, &SOUND).encode());
    assert_eq!(run(&folder, &["check", "."]).code, 0);
}
