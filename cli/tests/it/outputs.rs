//! Output for other programs: SARIF, GitHub annotations, JUnit.

use super::*;
use crate::schema::validate;
use weighbridge::Format;
use weighbridge_tests::encode::gguf::{self, Value as Meta};
use weighbridge_tests::fixtures;

/// A folder with a valid file, one of each kind that is not valid, and one of every
/// fixture that breaks a rule.
fn folder() -> Folder {
    let folder = Folder::new();
    for (format, fixtures) in fixtures::for_hosts() {
        let format = Format::by_name(format).expect("a fixture of a known format");
        for (i, fixture) in fixtures.iter().enumerate().step_by(3) {
            let name = format!("{}-{i:03}.{}", format.name(), format.extensions()[0]);
            folder.write(&name, &fixture.bytes);
        }
    }
    folder.write("sound.stb", &sound().encode());
    folder.write("a b#%é\u{202e}.stb", &with_flags());
    folder.write("pickle", b"cposix\nsystem\n(tR.");
    folder
}

/// The SARIF log of a run.
fn log(folder: &Folder, args: &[&str]) -> (Run, Value) {
    let run = run(folder, &[args, &["--output", "sarif"]].concat());
    let log = run.json();
    let schema: Value = serde_json::from_str(include_str!("sarif.json")).expect("a schema is JSON");
    assert_eq!(validate(&schema, &log), Ok(()));
    (run, log)
}

#[test]
fn sarif_matches_its_schema() {
    let folder = folder();
    let (run, log) = log(&folder, &["check", "."]);
    assert_eq!(run.code, 1);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let results = run["results"].as_array().expect("results");
    assert!(rules.len() > 80 && results.len() > rules.len(), "{} {}", rules.len(), results.len());
    let mut ids: Vec<_> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), rules.len(), "each rule is described once");
    let mut fingerprints = std::collections::BTreeSet::new();
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("a position") as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 1, "{result}");
        let uri = place["artifactLocation"]["uri"].as_str().expect("a place");
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
        assert!(uri.bytes().all(plain) && !uri.starts_with('/'), "{uri}");
        fingerprints
            .insert(result["partialFingerprints"]["primaryLocationLineHash"].clone().to_string());
    }
    assert!(
        fingerprints.len() * 10 > results.len() * 8,
        "{} of {}",
        fingerprints.len(),
        results.len()
    );
    let of = |uri: &str| {
        let at = |result: &&Value| {
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
        };
        results.iter().find(at)
    };
    let flags = of("a%20b%23%25%C3%A9%E2%80%AE.stb").expect("a result");
    assert_eq!((&flags["ruleId"], &flags["level"]), (&"stb/H-FLAGS".into(), &"error".into()));
    let region = &flags["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["byteOffset"], &region["byteLength"]), (&5.into(), &1.into()));
    assert_eq!(
        of("pickle").map(|it| it["ruleId"].clone()),
        Some("weighbridge/PICKLE-GLOBAL".into())
    );
    assert!(of("sound.stb").is_none());
    let gguf =
        rules.iter().find(|rule| rule["id"].as_str().is_some_and(|id| id.starts_with("gguf/")));
    let address = gguf.and_then(|rule| rule["helpUri"].as_str());
    assert!(address.is_some_and(|address| address.starts_with("https://")), "{gguf:?}");
}

#[test]
fn sarif_lists_ignored_and_unread() {
    let folder = Folder::new();
    folder.write("a.stb", &with_flags());
    let settings = "[[ignore]]\nrule = \"H-FLAGS\"\nreason = \"old\"\nuntil = 2999-12-31\n";
    folder.write("weighbridge.toml", settings.as_bytes());
    let (run, ignored) = log(&folder, &["check", "a.stb", "missing.stb"]);
    assert_eq!(run.code, 2);
    let result = &ignored["runs"][0]["results"][0];
    assert_eq!(result["suppressions"][0]["justification"], "old", "{ignored}");
    assert_eq!(result["level"], "warning");
    let invocation = &ignored["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let text = invocation["toolExecutionNotifications"][0]["message"]["text"].as_str();
    assert!(text.is_some_and(|text| text.contains("missing.stb: No such file")), "{ignored}");
    // A log without results is still a log.
    folder.write("b.stb", &sound().encode());
    let (run, empty) = log(&folder, &["check", "b.stb"]);
    assert_eq!((run.code, &empty["runs"][0]["results"]), (0, &serde_json::json!([])));
}

#[test]
fn sarif_results_stay_within_github_limit() {
    let folder = Folder::new();
    let tensors = |n: usize| {
        use weighbridge_tests::encode::safetensors::{File, Tensor};
        let tensors =
            (0..n).map(|i| Tensor { dtype: "Q99", ..Tensor::new(&format!("t{i}"), "F32", &[1]) });
        File { metadata: None, tensors: tensors.collect() }.encode()
    };
    for i in 0..30 {
        folder.write(&format!("{i}.safetensors"), &tensors(1_000));
    }
    let (_, log) = log(&folder, &["check", "."]);
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(25_000));
    let notices = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert!(
        notices[0]["message"]["text"].as_str().is_some_and(|text| text.contains("more results")),
        "{notices}"
    );
}

#[test]
fn github_annotation_cannot_inject_commands() {
    let folder = folder();
    folder.write("x\n::error::y.stb", &with_flags());
    let run = run(&folder, &["check", ".", "--output", "github"]);
    assert_eq!(run.code, 1);
    let commands: Vec<_> = run.out.lines().collect();
    assert!(commands.len() > 100);
    for command in &commands {
        let levels = ["::error file=", "::warning file=", "::notice file="];
        assert!(levels.iter().any(|level| command.starts_with(level)), "{command}");
        // Colons end the properties. In the message after them, as in `llama::sdpa`, they are text.
        let properties = command.split("::").nth(1).unwrap_or_default();
        assert!(properties.contains(",title=") && command.matches("::").count() > 1, "{command}");
    }
    let flags = "::error file=./x\\u{a}%3A%3Aerror%3A%3Ay.stb,title=H-FLAGS::";
    assert!(commands.iter().any(|command| command.starts_with(flags)), "{run:?}");
    let pickle = "::error file=./pickle,title=PICKLE-GLOBAL::loading the pickle would run posix.system (at 0)";
    assert!(commands.iter().any(|command| command.starts_with(pickle)), "{run:?}");
    assert!(!run.out.contains("sound.stb"));
}

/// Tags are balanced, attributes are quoted, and counts match the verdicts.
#[test]
fn junit_is_well_formed() {
    let folder = folder();
    let run = run(&folder, &["check", ".", "missing.stb", "--output", "junit"]);
    assert_eq!(run.code, 1);
    let mut open: Vec<String> = Vec::new();
    let mut rest =
        run.out.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("XML");
    while let Some((text, more)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{text}");
        let (tag, after) = more.split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap_or_default().to_owned());
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let lines = super::run(&folder, &["check", ".", "missing.stb", "--json"]).lines();
    let cases = run.out.matches("<testcase ").count();
    assert_eq!(cases, lines.len());
    assert_eq!(run.out.matches(" errors=\"1\"").count(), 1);
    assert!(run.out.matches(" failures=\"1\"").count() > cases / 3);
    assert!(run.out.contains("name=\"./sound.stb\"/>"), "a valid file is a test that passed");
    assert!(
        run.out.contains(
            "<failure type=\"invalid\" message=\"a pickle, which would run posix.system\""
        )
    );
}

/// A vocabulary has hundreds of thousands of texts: the first are shown, or all on
/// request.
#[test]
fn vocabulary_is_truncated_without_full() {
    let folder = Folder::new();
    let texts = |n: usize| (0..n).map(|i| format!("t{i}")).collect::<Vec<_>>();
    let with = |n: usize| {
        let metadata = vec![(b"a.tokens".to_vec(), Meta::texts(&texts(n)))];
        let file = gguf::File { version: 3, big: false, alignment: 32, metadata, tensors: vec![] };
        file.encode().bytes
    };
    folder.write("long.gguf", &with(257));
    folder.write("short.gguf", &with(256));
    let tokens = |args: &[&str]| -> Value {
        let json = run(&folder, &[&["inspect", "--json"], args].concat()).json();
        let all = json["metadata"].as_array().expect("metadata").clone();
        all.into_iter().find(|meta| meta["key"] == "a.tokens").expect("it is there")
    };
    let len = |meta: &Value| meta["value"].as_array().map(Vec::len);
    let cut = tokens(&["long.gguf"]);
    assert_eq!(
        (len(&cut), &cut["truncated"], &cut["shape"][0]),
        (Some(256), &true.into(), &257.into())
    );
    let full = tokens(&["long.gguf", "--full"]);
    assert_eq!((len(&full), full.get("truncated")), (Some(257), None));
    assert_eq!(tokens(&["short.gguf"]), tokens(&["short.gguf", "--full"]));
}

/// A folder with a file of each class: programs learn of every file that did not pass.
#[test]
fn every_class_of_a_folder_is_told_in_every_output() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    let evil = b"\x80\x02cposix\nsystem\n(tR.";
    let config = br#"{"auto_map": {"AutoModel": "net.Net"}}"#;
    let cases: &[(&str, &[u8], &str, &str, &str)] = &[
        ("a.stb", &sound().encode(), "model", "valid", ""),
        ("b.stb", &with_flags(), "model", "invalid", "H-FLAGS"),
        ("c.stb", &with_unknown_type(), "model", "valid", "NOT-CHECKED"),
        ("args.bin", evil, "code", "invalid", "PICKLE-GLOBAL"),
        ("config.json", config, "code", "invalid", "CODE-LOADED"),
        ("net.py", b"import os", "code", "invalid", "CODE-LOADED"),
        ("other.py", b"import os", "code", "unsupported", "CODE"),
        ("safe.bin", b"\x80\x02}q\0.", "code", "unsupported", "CODE"),
        ("notes.md", b"# notes", "companion", "valid", ""),
        ("d.stb.incomplete", b"STB", "download", "unsupported", "DOWNLOAD"),
        ("e.h5", b"# xet version 0\n", "download", "invalid", "POINTER"),
        ("f.7z", b"7z\xBC\xAF\x27\x1C\0\xFF", "unknown", "unsupported", "NOT-READ"),
    ];
    for (name, bytes, ..) in cases {
        folder.write(&format!("m/{name}"), bytes);
    }
    let (_, log) = log(&folder, &["check", "m"]);
    let results = log["runs"][0]["results"].as_array().expect("results");
    let github = run(&folder, &["check", "m", "--output", "github"]).out;
    let junit = run(&folder, &["check", "m", "--output", "junit"]).out;
    let json = run(&folder, &["check", "m", "--json"]).lines();
    assert_eq!(json.len(), cases.len());
    for (name, _, class, verdict, rule) in cases {
        let file = format!("m/{name}");
        let line = json.iter().find(|it| it["file"] == *file).expect("a line");
        assert_eq!((&line["class"], &line["verdict"]), (&(*class).into(), &(*verdict).into()));
        let of_file = |it: &&Value| {
            it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == *file
        };
        let mut found = results.iter().filter(of_file);
        let suite = junit.split("<testsuite ").find(|it| it.contains(&format!("name=\"{file}\"")));
        let suite = suite.expect("a suite");
        let said = github.contains(&format!("file={file},"));
        if rule.is_empty() {
            assert!(found.next().is_none() && !said && !suite.contains("<failure"), "{name}");
            continue;
        }
        let level = if *verdict == "invalid" { "error" } else { "warning" };
        let id = format!("weighbridge/{rule}");
        let mut ids = found.clone().map(|it| it["ruleId"].as_str().expect("an id").to_owned());
        assert!(ids.any(|it| it.ends_with(rule) || it == id), "{name}: {results:?}");
        assert!(found.all(|it| it["level"] == level), "{name}: {results:?}");
        assert!(github.contains(&format!("::{level} file={file},")), "{name}: {github}");
        assert!(suite.contains("failures=\"1\"") && suite.contains("<failure"), "{name}: {suite}");
    }
}
