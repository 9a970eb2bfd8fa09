//! Verdicts and exit codes of `check`.

use super::*;
use std::collections::BTreeSet;
use weighbridge::weighbridge_core::{Format, Severity};
use weighbridge_tests::encode::safetensors;
use weighbridge_tests::fixtures;

#[test]
fn exit_code_of_several_files_is_the_strongest() {
    let folder = Folder::new();
    folder.write("valid.stb", &sound().encode());
    folder.write("invalid.stb", &with_flags());
    folder.write("unchecked.stb", &with_unknown_type());
    let code = |args: &[&str]| run(&folder, &[&["check"], args].concat()).code;

    assert_eq!(code(&["valid.stb"]), 0);
    assert_eq!(code(&["invalid.stb"]), 1);
    assert_eq!(code(&["missing.stb"]), 2);
    assert_eq!(code(&["unchecked.stb"]), 3);
    assert_eq!(code(&["--lenient", "unchecked.stb"]), 3);

    assert_eq!(code(&["valid.stb", "invalid.stb", "missing.stb"]), 1);
    assert_eq!(code(&["--lenient", "unchecked.stb", "missing.stb", "valid.stb"]), 2);
    assert_eq!(code(&["--lenient", "unchecked.stb", "valid.stb"]), 3);
    assert_eq!(code(&["--lenient", "invalid.stb", "valid.stb"]), 0);
}

#[test]
fn wrong_usage_exits_with_2() {
    let folder = Folder::new();
    folder.write("valid.stb", &sound().encode());
    for args in [
        &["check"][..],
        &[],
        &["weigh", "valid.stb"],
        &["check", "valid.stb", "--format", "tar"],
        &["check", "valid.stb", "--deny", "NO-SUCH-RULE"],
        &["check", "valid.stb", "--jobs", "0"],
        &["inspect", "valid.stb", "--values", "many"],
        &["inspect"],
        &["rules", "tar"],
    ] {
        let run = run(&folder, args);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{args:?}");
        assert!(!run.err.is_empty());
    }
}

#[test]
fn json_line_has_documented_fields_in_order() {
    let folder = Folder::new();
    folder.write("a.stb", &with_flags());
    let run = run(&folder, &["check", "a.stb", "--json", "--sha256"]);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    assert_eq!(
        keys(line),
        [
            "file",
            "format",
            "version",
            "size",
            "verdict",
            "checked",
            "unchecked",
            "findings",
            "schema",
            "tool",
            "sha256"
        ]
    );
    assert_eq!(line["schema"], "weighbridge/check-1");
    assert_eq!(line["tool"]["name"], "weighbridge");
    assert_eq!(line["tool"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(line["file"], "a.stb");
    assert_eq!(line["format"], "stb");
    assert_eq!(line["version"], "1");
    assert_eq!(line["size"], sound().encode().len());
    assert_eq!(line["verdict"], "invalid");
    assert_eq!(line["checked"], serde_json::json!(["structure", "payloads"]));
    assert_eq!(line["unchecked"], serde_json::json!([]));
    assert_eq!(line["sha256"].as_str().map(str::len), Some(64));
    let finding = &line["findings"][0];
    assert_eq!(
        keys(finding),
        ["rule", "severity", "offset", "len", "entry", "expected", "found", "message", "spec"]
    );
    assert_eq!(finding["rule"], "H-FLAGS");
    assert_eq!(finding["severity"], "violation");
    assert_eq!((&finding["offset"], &finding["len"]), (&5.into(), &1.into()));
    assert_eq!((&finding["expected"], &finding["found"]), (&0.into(), &1.into()));
    assert_eq!(finding["entry"], Value::Null);
}

#[test]
fn sha256_option_prints_digest_of_file() {
    let folder = Folder::new();
    folder.write("abc.stb", b"abc");
    let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let json = run(&folder, &["check", "abc.stb", "--json", "--sha256"]).json();
    assert_eq!(json["sha256"], known);
    assert!(run(&folder, &["check", "abc.stb", "--sha256"]).out.contains(known));
    assert!(run(&folder, &["check", "abc.stb", "--json"]).json().get("sha256").is_none());
}

#[test]
fn denied_lint_is_invalid() {
    let folder = Folder::new();
    folder.write("a.stb", &with_lint());
    folder.write("u.stb", &with_unknown_type());
    let code = |args: &[&str]| run(&folder, &[&["check"], args].concat()).code;
    assert_eq!(code(&["a.stb"]), 0);
    assert_eq!(code(&["a.stb", "--deny", "lint"]), 1);
    assert_eq!(code(&["a.stb", "--deny", "T-DIMS0"]), 1);
    assert_eq!(code(&["a.stb", "--deny", "D-PAD"]), 0);
    assert_eq!(code(&["a.stb", "--deny", "D-PAD", "--deny", "T-DIMS0", "--lenient"]), 1);
    assert_eq!(code(&["u.stb", "--lenient", "--deny", "DATA-UNCHECKED"]), 1);
}

#[test]
fn structure_option_leaves_payloads_unchecked() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("u.stb", &with_unknown_type());
    let structure = run(&folder, &["check", "u.stb", "--structure", "--json"]);
    assert_eq!(structure.code, 3, "its size was not verified");
    let run = run(&folder, &["check", "a.stb", "--structure", "--lenient", "--json"]);
    assert_eq!(run.code, 0, "payloads were not asked for");
    let json = run.json();
    assert_eq!(json["checked"], serde_json::json!(["structure"]));
    assert_eq!(json["unchecked"][0]["entry"], Value::Null);
    assert_eq!(json["unchecked"][0]["why"], "payloads not asked for");
}

#[test]
fn findings_are_in_file_order() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.flags = 1;
    stb.reserved[0] = 1;
    stb.tensors.push(Tensor::new(0, 0, &[1]));
    stb.tensors[1].dims[2] = 9;
    folder.write("a.stb", &stb.encode());
    let json = run(&folder, &["check", "a.stb", "--json"]).json();
    let findings = json["findings"].as_array().expect("an array");
    let rules: Vec<_> = findings.iter().filter_map(|f| f["rule"].as_str()).collect();
    assert_eq!(rules, ["H-FLAGS", "H-RSV", "T-DIMS0", "T-ID-DUP"]);
    assert_eq!(findings[2]["entry"], "1");
    let offsets: Vec<_> = findings.iter().filter_map(|f| f["offset"].as_u64()).collect();
    assert!(offsets.is_sorted());
}

/// All files of all formats, in one run on several threads: each verdict matches its
/// fixture, and output is in input order.
#[test]
fn fixture_has_expected_exit_code() {
    let folder = Folder::new();
    let mut expected = Vec::new();
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a fixture of a known format");
        // The files that a shard index lists are not present here.
        if !format.is_available() || format == Format::Shards {
            continue;
        }
        for fixture in fixtures {
            let name = format!("{:04}-{}.{}", expected.len(), fixture.name, format.extensions()[0]);
            folder.write(&name, &fixture.bytes);
            expected.push((name, format, fixture));
        }
    }
    let run = run(&folder, &["check", ".", "--json", "--jobs", "3"]);
    assert_eq!(run.code, 1);
    let lines = run.lines();
    assert_eq!(lines.len(), expected.len());
    for (line, (name, format, fixture)) in lines.iter().zip(expected) {
        let severity = |id: &&str| {
            let rules = format.rules().iter().chain(weighbridge::weighbridge_core::general::RULES);
            // An archive of arrays may also break the rules of arrays.
            let inner = if format == Format::Npz { Format::Npy.rules() } else { &[] };
            let rules = rules.chain(inner);
            rules.clone().find(|rule| rule.id == *id).map(|rule| rule.severity)
        };
        let invalid = fixture.breaks.iter().any(|id| severity(id) >= Some(Severity::Violation));
        assert_eq!(line["file"], format!("./{name}"));
        let other = fixture.breaks.iter().any(|id| is_of_another_kind(format, id));
        // In a folder, a pickle is code that loading it runs.
        let pickle = line["class"] == "code";
        assert!(!pickle || other, "{line}");
        let verdict = match (other, invalid) {
            (true, _) if pickle => "invalid",
            (true, _) => "unsupported",
            (_, true) => "invalid",
            (_, false) => "valid",
        };
        assert_eq!(line["verdict"], verdict, "{line}");
        let found: BTreeSet<_> = line["findings"]
            .as_array()
            .expect("an array")
            .iter()
            .filter_map(|finding| finding["rule"].as_str())
            .collect();
        let checked = |id: &&&str| !pickle && severity(id) != Some(Severity::Unchecked);
        for rule in fixture.breaks.iter().filter(checked) {
            assert!(found.contains(rule), "{name} breaks {rule}: {line}");
        }
        for finding in line["findings"].as_array().into_iter().flatten() {
            assert!(finding["offset"].as_u64() <= line["size"].as_u64(), "{name}: {finding}");
        }
    }
}

/// Every command that reads data, with every output. `--structure` is left out: it says that it does
/// not check what nobody asked it to check, and passes.
const EVERY_COMMAND: &[&[&str]] = &[
    &["check"],
    &["check", "--lenient"],
    &["check", "--json"],
    &["check", "--second-opinion"],
    &["check", "--output", "junit"],
    &["stats"],
    &["stats", "--lenient"],
    &["stats", "--json"],
    &["stats", "--output", "csv"],
    &["digest"],
    &["digest", "--json"],
    &["inspect", "--values", "3"],
    &["inspect", "--values", "3", "--json"],
    &["inspect", "--stats"],
];

/// Whether an output says that something was not checked, read or measured.
fn says_unchecked(out: &str) -> bool {
    let line = |line: &str| line.trim_start().starts_with("unchecked");
    let json = ["\"unchecked\":[{", "\"why\":", "type=\"unchecked\"", "not scanned"];
    out.lines().any(line) || json.iter().any(|it| out.contains(it))
}

/// What was not checked and a passing exit code contradict each other.
#[test]
fn nothing_unchecked_passes() {
    let folder = Folder::new();
    let mut asked = 0;
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a fixture of a known format");
        let options = weighbridge::Options::new().format(format);
        for fixture in fixtures {
            let report = weighbridge::check_with(&fixture.bytes, &options).expect("in memory");
            let clean = report.unchecked().is_empty();
            let passes =
                report.verdict(weighbridge::Profile::Lenient) == weighbridge::Verdict::Valid;
            assert!(clean || !passes, "{format} {}: {:?}", fixture.name, report.unchecked());
            if clean || report.verdict_on_checked() != weighbridge::Verdict::Valid {
                continue;
            }
            asked += 1;
            let name = format!("{}.{}", fixture.name, format.extensions()[0]);
            folder.write(&name, &fixture.bytes);
            for args in EVERY_COMMAND {
                let done = run(&folder, &[args, &[name.as_str()][..]].concat());
                assert!(done.code != 0 || !says_unchecked(&done.out), "{name} {args:?}: {done:?}");
            }
        }
    }
    assert!(asked > 20, "{asked}");
}

/// The library's report on a file equals the command's line, byte for byte.
#[test]
fn library_report_equals_json_line() {
    let folder = Folder::new();
    let mut names = Vec::new();
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a fixture of a known format");
        for (i, fixture) in fixtures.iter().enumerate().step_by(7) {
            let name = format!("{}-{i:03}\u{202e}.{}", format.name(), format.extensions()[0]);
            folder.write(&name, &fixture.bytes);
            names.push(name);
        }
    }
    names.sort();
    let options = weighbridge::Options::new();
    let run = run(&folder, &["check", ".", "--json"]);
    for (line, name) in run.out.lines().zip(names) {
        let path = folder.path().join(&name);
        let report = weighbridge::check_path(&path, &options).expect("it is read");
        let json = report.to_json();
        let (_, rest) = json.split_once(',').expect("more than a name");
        let (_, line) = line.split_once(',').expect("more than a name");
        if !line.contains("\"class\":\"code\"") {
            assert_eq!(line.replace(",\"class\":\"model\"", ""), rest, "{name}");
        }
    }
}

/// Whether the rule is broken by files of another version of their format, by archives
/// of another kind, and by arrays and archives that are pickles.
fn is_of_another_kind(format: Format, rule: &str) -> bool {
    let pickle = rule == "NPY-OBJECT" && format == Format::Npy;
    let archive = matches!(rule, "NPZ-NONE" | "NPZ-PICKLE");
    rule.starts_with("GENERATION") || rule == "VERSION-1" || pickle || archive
}

#[test]
fn unknown_type_is_quoted_and_escaped() {
    let folder = Folder::new();
    let tensor = |name, dtype| safetensors::Tensor {
        data: vec![0; 4],
        ..safetensors::Tensor::new(name, dtype, &[4])
    };
    let tensors = vec![tensor("a", "Q7_Z"), tensor("b", "\u{202e}F32"), tensor("c", "\u{7f}")];
    folder.write("a.safetensors", &safetensors::File { metadata: None, tensors }.encode());
    let text = run(&folder, &["check", "a.safetensors"]).out;
    for quoted in [r#""Q7_Z""#, r#""\u{202e}F32""#, r#""\u{7f}""#] {
        let said =
            format!("the element type {quoted} is not one of the 22 that safetensors defines");
        assert!(text.contains(&said), "{text}");
    }
    let lines = run(&folder, &["check", "a.safetensors", "--json"]).lines();
    let found = &lines[0]["findings"][0];
    assert_eq!(found["rule"], "DTYPE-UNKNOWN");
    assert!(
        found["message"].as_str().is_some_and(|it| it.starts_with("the element type \"Q7_Z\""))
    );
    // The numbers that hold the text are none.
    assert!(found["expected"].is_null() && found["found"].is_null(), "{found}");
}
