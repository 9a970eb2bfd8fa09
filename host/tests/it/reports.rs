//! Reports do not depend on how the bytes arrive.

use crate::in_pieces;
use weighbridge::{Format, Goal, Model, Options, Profile, Verdict, check, check_with};
use weighbridge_tests::{fixtures, samples};

/// What only a gate adds.
const OF_GATES: [&str; 3] =
    ["the other parts of its set", "the whole set: ", "what the chat template runs"];

/// A fixture gives the same findings as a whole and in pieces, and the verdict that follows
/// from its rules.
#[test]
fn session_finds_the_findings_of_a_whole_file() {
    let mut seen = 0;
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a known format");
        for fixture in fixtures.iter().step_by(3) {
            // Some fixtures would take seconds of work.
            let options = Options::new().format(format).seed(7).work(1 << 24);
            let whole = check_with(&fixture.bytes, &options).expect("it is checked");
            let pieces = in_pieces(&fixture.bytes, options, 100);
            let (mut expected, found) = (lines(&whole), lines(&pieces));
            // A session knows nothing of files, and leaves what violations leave open to a gate.
            expected.retain(|line| !OF_GATES.iter().any(|why| line.starts_with(why)));
            assert_eq!(expected, found, "{} {}", format.name(), fixture.name);
            if expected.len() < lines(&whole).len() {
                continue;
            }
            for profile in [Profile::Strict, Profile::Lenient] {
                assert_eq!(whole.verdict(profile), pieces.verdict(profile), "{}", fixture.name);
            }
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen} fixtures");
}

fn lines(report: &weighbridge::Report) -> Vec<String> {
    let findings = report.findings().iter().map(|found| {
        let entry = found.entry().map(ToString::to_string).unwrap_or_default();
        format!("{} {} {entry} {}", found.rule(), found.offset(), found.message())
    });
    findings.chain(report.unchecked().iter().map(|it| it.why().to_owned())).collect()
}

#[test]
fn unchecked_file_is_not_valid() {
    let bytes = samples::safetensors();
    assert_eq!(check(&bytes).expect("read").verdict(Profile::Strict), Verdict::Valid);
    let structure = check_with(&bytes, &Options::new().goal(Goal::Structure)).expect("read");
    // Payloads were not asked for.
    assert_eq!(structure.verdict(Profile::Strict), Verdict::Valid);
    assert_eq!(structure.unchecked().len(), 1);
    let index = br#"{"metadata":{},"weight_map":{"a":"model.safetensors"}}"#;
    let options = Options::new().file_name("model.safetensors.index.json");
    let report = check_with(index, &options).expect("read");
    assert_eq!(report.format(), Some(Format::Shards));
    assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
    let why = report.unchecked()[0].why();
    assert_eq!(why, "the files it lists were not checked");
}

#[test]
fn shard_index_is_checked_with_its_shards() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = folder.path().join("model.safetensors.index.json");
    let text = br#"{"metadata":{"total_size":12},"weight_map":{"emb":"one.safetensors"}}"#;
    std::fs::write(&index, text).expect("writes");
    let verdict = || {
        let report = weighbridge::check_path(&index, &Options::new()).expect("read");
        report.verdict(Profile::Strict)
    };
    assert_eq!(verdict(), Verdict::Invalid, "its file is missing");
    std::fs::write(folder.path().join("one.safetensors"), samples::safetensors()).expect("writes");
    assert_eq!(verdict(), Verdict::Valid);
}

#[test]
fn other_format_is_unsupported_unless_chosen() {
    let bytes = b"\x89HDF\r\n\x1A\n and so on";
    assert_eq!(check(bytes).expect("read").verdict(Profile::Lenient), Verdict::Unsupported);
    let chosen = Options::new().format(Format::Gguf);
    let report = check_with(bytes, &chosen).expect("read");
    assert_eq!(report.verdict(Profile::Lenient), Verdict::Invalid);
    let error = Model::from_bytes(bytes).expect_err("not opened").to_string();
    assert_eq!(error, "cannot be opened: an HDF5 file");
}

#[cfg(feature = "serde")]
#[test]
fn report_serialises_to_the_json_of_the_command() {
    let mut bytes = samples::safetensors();
    bytes.pop();
    let report = check(&bytes).expect("read");
    assert_eq!(serde_json::to_string(&report).expect("written"), report.to_json());
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).expect("JSON");
    assert_eq!(json["file"], serde_json::Value::Null);
    assert_eq!(json["verdict"], "invalid");
    assert_eq!(json["findings"][0]["entry"], "emb");
}
