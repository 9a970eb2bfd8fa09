//! Published files, which are not part of the project.

use super::*;
use weighbridge_tests::corpus;

/// Whatever a file contains, one line gives its verdict, and the exit code is
/// the strongest of all.
#[test]
fn corpus_file_gets_verdict() {
    let Some(path) = corpus::folder() else { return };
    let folder = Folder::new();
    let path = path.to_str().expect("a plain path");
    for options in [&["--json"][..], &["--json", "--lenient", "--structure"]] {
        let run = run(&folder, &[&["check", path, "--jobs", "2"], options].concat());
        assert_eq!(run.code, 1, "{}", run.err);
        let lines = run.lines();
        assert!(lines.len() > 10);
        for line in lines.iter().filter(|line| line["class"] == "model") {
            let refused = line["findings"].as_array().is_some_and(|findings| {
                let lenient = options.len() > 1;
                let counts =
                    |severity: &str| severity == "fatal" || (severity == "violation" && !lenient);
                findings.iter().any(|f| f["severity"].as_str().is_some_and(counts))
            });
            let refuses = line["verdict"] == "invalid" || line["verdict"] == "unsupported";
            assert_eq!(refuses, refused, "{line}");
        }
    }
}

/// `inspect` prints JSON for every file, with the same verdict as `check
/// --structure`.
#[test]
fn corpus_file_is_inspected() {
    let Some(path) = corpus::folder() else { return };
    let folder = Folder::new();
    let path = path.to_str().expect("a plain path");
    let check = run(&folder, &["check", path, "--json", "--structure", "--skip-unknown"]);
    let step = if weighbridge_tests::DEEP { 1 } else { 8 };
    let lines = check.lines().into_iter().filter(|line| line["class"] == "model");
    for line in lines.step_by(step) {
        let file = line["file"].as_str().expect("a plain path");
        let run = run(&folder, &["inspect", file, "--json", "--values", "3"]);
        assert!([0, 1, 3].contains(&run.code), "{file}: {run:?}");
        let json = run.json();
        for field in ["format", "version", "size", "verdict", "findings"] {
            assert_eq!(json[field], line[field], "{file}");
        }
    }
}
