//! Scans of many files: divided among several machines, and resumed after an
//! interruption.

use super::*;
use serde_json::json;

/// A folder with sound and broken files, and a companion.
fn many() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("models/deep")).expect("folders");
    for i in 0..40 {
        folder.write(&format!("models/{i}.stb"), &sound().encode());
    }
    folder.write("models/deep/invalid.stb", &with_flags());
    folder.write("models/deep/notes.md", b"# notes");
    folder
}

fn files(run: &Run) -> Vec<String> {
    run.lines().iter().map(|line| line["file"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn shards_are_disjoint_and_complete() {
    let folder = many();
    let whole = files(&run(&folder, &["check", "models", "--json"]));
    let (mut parts, mut codes) = (Vec::new(), Vec::new());
    for k in 1..=3 {
        let shard = format!("{k}/3");
        let part = run(&folder, &["check", "models", "--json", "--shard", &shard]);
        assert!(part.err.contains("to other parts"), "{part:?}");
        parts.extend(files(&part));
        codes.push(part.code);
    }
    let mut sorted = whole.clone();
    sorted.sort();
    parts.sort();
    assert_eq!((parts, codes.contains(&1)), (sorted, true));
}

/// The path below the given folder decides, wherever that folder is.
#[test]
fn shard_of_a_file_is_stable() {
    let folder = many();
    let of = |path: &str| {
        let names = files(&run(&folder, &["check", path, "--json", "--shard", "2/3"]));
        names
            .into_iter()
            .map(|name| name.rsplit('/').next().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(of("models"), of(&folder.path().join("models").to_string_lossy()));
}

#[test]
fn empty_shard_is_no_failure() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let runs = ["1/2", "2/2"].map(|shard| run(&folder, &["check", "a.stb", "--shard", shard]));
    assert_eq!(runs.each_ref().map(|run| run.code), [0, 0]);
    let out = format!("{}{}", runs[0].out, runs[1].out);
    assert!(out.contains("0 files; 0 findings; left 1 file to other parts"), "{runs:?}");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    assert_eq!(run(&folder, &["check", "empty", "--shard", "1/2"]).code, 2);
    for wrong in ["", "0/2", "3/2", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
        assert_eq!(
            run(&folder, &["check", "a.stb", &format!("--shard={wrong}")]).code,
            2,
            "{wrong}"
        );
    }
}

const SCAN: [&str; 5] = ["check", "models", "--json", "--resume", "journal"];

#[test]
fn interrupted_scan_resumes() {
    let folder = many();
    let whole = run(&folder, &SCAN);
    assert_eq!((whole.code, whole.lines().len()), (1, 42));
    // The journal after ten and a half files.
    let journal = folder.path().join("journal");
    let text = std::fs::read_to_string(&journal).expect("the journal");
    assert_eq!(text.lines().count(), 43);
    let end = text.match_indices('\n').nth(10).map_or(0, |(at, _)| at + 30);
    std::fs::write(&journal, &text[..end]).expect("writes");
    let rest = run(&folder, &SCAN);
    assert_eq!((rest.code, rest.lines().len()), (1, 32), "{rest:?}");
    assert!(rest.err.contains("took 10 results from the journal"), "{rest:?}");
    let all = [&files(&whole)[..10], &files(&rest)[..]].concat();
    assert_eq!(all, files(&whole));
    // Nothing is left to do, and the exit code covers all files.
    let nothing = run(&folder, &SCAN);
    assert_eq!((nothing.code, &*nothing.out), (1, ""), "{nothing:?}");
    let human = run(&folder, &["check", "models", "--resume", "journal"]);
    let summary = "41 files: 40 valid, 1 invalid; 1 finding; took 42 results from the journal\n";
    assert_eq!(human.out, summary);
}

/// A closed output pipe is one way to be interrupted.
#[cfg(unix)]
#[test]
fn killed_scan_resumes() {
    use std::io::{BufRead as _, BufReader};
    let folder = many();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("weighbridge"))
        .args(SCAN)
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("text");
    child.kill().expect("it is ended, or has ended");
    child.wait().expect("it has ended");
    let mut seen: Vec<_> = std::iter::once(first).chain(lines.map_while(Result::ok)).collect();
    let rest = run(&folder, &SCAN);
    assert_eq!(rest.code, 1);
    seen.extend(rest.out.lines().map(str::to_owned));
    // A file may be checked twice, but none is missed.
    seen.sort();
    seen.dedup();
    let names: Vec<_> = seen.iter().filter(|line| line.ends_with('}')).collect();
    assert_eq!(names.len(), 42);
}

#[test]
fn changed_file_is_checked_again() {
    let folder = many();
    assert_eq!(run(&folder, &SCAN).code, 1);
    folder.write("models/7.stb", &with_flags());
    folder.write("models/deep/invalid.stb", &sound().encode());
    let again = run(&folder, &SCAN);
    let verdicts: Vec<_> = again.lines().iter().map(|line| line["verdict"].clone()).collect();
    assert_eq!((again.code, verdicts), (1, vec![json!("invalid"), json!("valid")]));
    std::fs::remove_file(folder.path().join("models/7.stb")).expect("the file");
    assert_eq!(run(&folder, &SCAN).code, 0, "what is gone does not count");
}

/// Names in a journal match the files' names to the last byte.
#[cfg(unix)]
#[test]
fn hostile_file_names_resume() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("models")).expect("a folder");
    folder.write("models/a\n.stb", &sound().encode());
    let odd = |name: &[u8]| folder.path().join("models").join(std::ffi::OsStr::from_bytes(name));
    std::fs::write(odd(b"b\xFF"), sound().encode()).expect("writes");
    assert_eq!(run(&folder, &SCAN).lines().len(), 2);
    assert_eq!(run(&folder, &SCAN).out, "");
    std::fs::rename(odd(b"b\xFF"), odd("b\u{FFFD}".as_bytes())).expect("another name");
    assert_eq!(run(&folder, &SCAN).lines().len(), 1);
}

/// The verdict on an index depends on its shards, which may have changed.
#[test]
fn file_checked_with_others_is_checked_again() {
    use weighbridge_tests::encode::safetensors::{File, Tensor};
    use weighbridge_tests::encode::shards::Index;
    let folder = Folder::new();
    let shard = File { metadata: None, tensors: vec![Tensor::new("a", "F32", &[2])] }.encode();
    folder.write("one.safetensors", &shard);
    let index = Index::of(None, &[("a", "one.safetensors")]).encode();
    folder.write("m.safetensors.index.json", &index);
    let scan = ["check", "m.safetensors.index.json", "--json", "--resume", "journal"];
    assert_eq!(run(&folder, &scan).code, 0);
    folder.write("one.safetensors", &shard[..40]);
    assert_eq!(run(&folder, &scan).code, 1);
}

#[test]
fn journal_belongs_to_one_scan() {
    let folder = many();
    assert_eq!(run(&folder, &SCAN).code, 1);
    let lenient = run(&folder, &[&SCAN[..], &["--lenient"]].concat());
    assert!(lenient.code == 2 && lenient.err.contains("different settings"), "{lenient:?}");
    folder.write("text", b"# notes\n");
    for (args, words) in [
        (&["check", "models", "--resume", "text"][..], "not a scan journal"),
        (&["check", "models", "--resume", "models"], "models"),
        (&["check", "models", "--resume", "journal", "--output", "sarif"], "--resume"),
    ] {
        let refused = run(&folder, args);
        assert!(refused.code == 2 && refused.err.contains(words), "{refused:?}");
    }
}

/// A file that could not be read may be readable the next time.
#[test]
fn unread_file_is_tried_again() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let scan = ["check", "a.stb", "b.stb", "--json", "--resume", "journal"];
    assert_eq!(run(&folder, &scan).code, 2);
    folder.write("b.stb", &sound().encode());
    let again = run(&folder, &scan);
    assert_eq!((again.code, files(&again)), (0, vec!["b.stb".to_owned()]));
}

#[cfg(not(feature = "remote"))]
#[test]
fn build_without_remote_refuses_urls() {
    let folder = Folder::new();
    for url in ["https://127.0.0.1/a.gguf", "s3://bucket/", "hf://me/model"] {
        let run = run(&folder, &["check", url, "--json"]);
        assert!(run.code == 2 && run.err.contains("without the `remote` feature"), "{run:?}");
    }
}
