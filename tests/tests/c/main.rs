//! Tests of the library for C: programs that scripts/c.sh builds print what they learn from files,
//! and the core on this machine must learn the same. Each test names the variable it needs.

#[path = "../firmware/rig.rs"]
#[allow(dead_code, reason = "shared with the tests of firmware/")]
mod rig;

mod boards;
mod cases;
#[cfg(feature = "deep")]
mod cost;
mod expected;

use cases::Case;
use std::path::Path;
use std::process::Command;
use weighbridge_tests::facts::IN_PART;

/// The program of a host, with the sanitizers of the C compiler.
const HOST: &str = "WEIGHBRIDGE_C_HOST";

/// The program that mutates files, and ends at the first promise of the interface that is broken.
const FUZZ: &str = "WEIGHBRIDGE_C_FUZZ";

/// How many mutated files are tried.
const RUNS: u32 = if cfg!(feature = "deep") { 200_000 } else { 10_000 };

/// Runs the program of the host on all cases.
fn on_host(cases: &[Case]) {
    let program = rig::image(HOST);
    for part in cases.chunks(500) {
        compare(part, &run(&program, part, &[]));
    }
}

/// The output of a program on these cases; it must end well, and a sanitizer ends it otherwise.
fn run(program: &Path, cases: &[Case], arguments: &[&str]) -> String {
    let mut records = Vec::new();
    for case in cases {
        records.extend(case.record());
    }
    let folder = std::env::temp_dir();
    let name = format!("weighbridge-c-{}-{:p}", std::process::id(), &records);
    let place = folder.join(name);
    std::fs::write(&place, records).unwrap();
    let mut command = Command::new(program);
    let output = command.arg(&place).args(arguments).current_dir(&folder).output().unwrap();
    std::fs::remove_file(place).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaints.is_empty(), "{}: {complaints}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Compares a line for each case.
fn compare(cases: &[Case], output: &str) {
    let mut lines = output.lines();
    for case in cases {
        let line = lines.next().unwrap_or("nothing");
        if IN_PART.contains(&case.format.name()) {
            expected::compare_in_part(case, line);
            continue;
        }
        let expected = expected::line(case);
        assert_eq!(line, expected, "{}: in C, and in Rust", case.name);
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn c_verdicts_of_fixtures_equal_core() {
    on_host(&cases::fixtures());
}

#[test]
fn c_verdicts_of_damaged_fixtures_equal_core() {
    let cases = cases::damaged();
    assert!(cases.len() >= 3500, "{} files", cases.len());
    on_host(&cases);
}

#[test]
fn c_findings_of_cut_tflite_lie_inside_file() {
    let whole =
        cases::fixtures().into_iter().find(|case| case.name == "tflite buffers-outside-overlap");
    let whole = whole.expect("a model whose data lies behind its tables, not aligned");
    let cut = |len: usize| {
        let mut case = whole.clone();
        case.name = format!("{} cut to {len}", whole.name);
        case.bytes.truncate(len);
        case
    };
    on_host(&(0..whole.bytes.len()).map(cut).collect::<Vec<_>>());
}

#[test]
fn c_verdicts_of_fuzz_seeds_equal_core() {
    on_host(&cases::seeds());
}

#[test]
fn c_verdicts_of_corpus_equal_core() {
    on_host(&cases::corpus());
}

#[test]
fn c_verdicts_of_regions_equal_core() {
    let cases: Vec<Case> = cases::fixtures().into_iter().map(Case::as_region).collect();
    on_host(&cases);
}

#[test]
fn c_promises_hold_for_mutated_files() {
    let cases = [cases::fixtures(), cases::seeds()].concat();
    let output = run(&rig::image(FUZZ), &cases, &[&RUNS.to_string()]);
    assert_eq!(output, format!("{RUNS} runs over {} files\n", cases.len()));
}
