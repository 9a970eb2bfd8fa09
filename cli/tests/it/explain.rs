//! `explain`, and the tables that it prints from.
//!
//! `WEIGHBRIDGE_EXPLAIN=write` rewrites the tables.

use super::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use weighbridge::weighbridge_core::general;
use weighbridge::{Format, Options};
use weighbridge_tests::{advisories, fixtures};

/// Compares a table with its expected content, or writes it.
fn table(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    if std::env::var_os("WEIGHBRIDGE_EXPLAIN").is_some() {
        std::fs::write(&path, expected).expect("room for the table");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "data/{name} is out of date: run with WEIGHBRIDGE_EXPLAIN=write");
}

/// The example of each rule comes from the first fixture made to break it.
#[test]
fn rule_example_comes_from_fixture() {
    let mut examples = BTreeMap::new();
    let mut all = fixtures::for_hosts();
    let none = fixtures::Fixture { name: "none", bytes: b"text".to_vec(), breaks: &["C-NONE"] };
    all.push(("pytorch", fixtures::pytorch::all().into_iter().chain([none]).collect()));
    for (name, fixtures) in all {
        let format = Format::by_name(name).expect("a known format");
        let options = Options::new().format(format).seed(1);
        for fixture in fixtures {
            let report =
                weighbridge::check_with(&fixture.bytes, &options).expect("it is in memory");
            for found in report.findings() {
                let main = fixture.breaks.first() == Some(&found.rule());
                let of = found.finding().rule.format().map_or("-", Format::name);
                let entry = found.entry().map(|entry| format!("\"{entry}\": ")).unwrap_or_default();
                let said = (!main, found.offset(), format!("{entry}{}", found.message()));
                // Prefer the file made for the rule over any other.
                let kept = examples.entry((of, found.rule())).or_insert_with(|| said.clone());
                if kept.0 && main {
                    *kept = said;
                }
            }
        }
    }
    let archives = fixtures::dduf::all().into_iter();
    let rule = |breaks: &[&'static str]| breaks.first().copied();
    let archives = archives.map(|it| (it.bytes, rule(it.breaks)));
    let archives = archives.filter(|(_, rule)| rule.is_some_and(|it| it.starts_with("ARCHIVE-")));
    let pickles = fixtures::pickles::all().into_iter().map(|it| (it.bytes, it.breaks));
    for (bytes, breaks) in pickles.chain(archives) {
        let report = weighbridge::check(&bytes).expect("it is in memory");
        let main = report.findings().iter().find(|found| Some(found.rule()) == breaks);
        if let Some(found) = main {
            let said = (false, found.offset(), found.message());
            let kept = examples.entry(("-", found.rule())).or_insert_with(|| said.clone());
            if kept.0 {
                *kept = said;
            }
        }
    }
    let mut text = String::new();
    for ((format, rule), (_, offset, message)) in &examples {
        assert!(!message.contains(['\t', '\n']), "{message:?}");
        writeln!(text, "{format}\t{rule}\t{offset}\t{message}").expect("a string takes all");
    }
    table("examples.tsv", &text);
    let without = |format: &Format| {
        let rules = format.rules().iter().filter(|rule| rule.severity.name() != "unchecked");
        // Only boards refuse a generation of a format that hosts read.
        let rules = rules.filter(|rule| !rule.id.starts_with("GENERATION-"));
        rules.filter(|rule| !examples.contains_key(&(format.name(), rule.id))).count()
    };
    // Rules that only several files can break have no example.
    let several = |format: &Format| matches!(format, Format::Shards | Format::Gguf | Format::Onnx);
    for format in Format::ALL.iter().filter(|format| !several(format)) {
        assert_eq!(without(format), 0, "{format}");
    }
}

#[test]
fn explain_lists_advisories() {
    let mut rows: Vec<_> = advisories::all()
        .iter()
        .filter(|row| !row.get("rule").is_empty())
        .map(|row| ["format", "rule", "id", "reader", "field"].map(|key| row.get(key)).join("\t"))
        .collect();
    rows.sort();
    assert!(rows.len() > 40, "{}", rows.len());
    table("advisories.tsv", &(rows.join("\n") + "\n"));
}

#[test]
fn explain_prints_rule() {
    let folder = Folder::new();
    let human = run(&folder, &["explain", "keys-block-count"]);
    assert_eq!((human.code, &*human.err), (0, ""));
    for words in [
        "KEYS-BLOCK-COUNT",
        "GGUF",
        "violation",
        "strict: makes a file invalid",
        "lenient: does not count",
        "example ",
        "advisory  WB-2024-7802  Ollama",
    ] {
        assert!(human.out.contains(words), "{words}: {human:?}");
    }
    let json = run(&folder, &["explain", "KEYS-BLOCK-COUNT", "--json"]).json();
    assert_eq!(json[0]["format"], "gguf");
    assert!(json[0]["example"]["message"].as_str().is_some_and(|it| it.contains("block_count")));
    let ids: Vec<_> = json[0]["advisories"].as_array().into_iter().flatten().collect();
    assert!(ids.iter().any(|it| it["id"] == "WB-2024-7802"), "{json}");
    // Several formats may share a rule id.
    let formats = run(&folder, &["explain", "TRAILING", "--json"]).json();
    assert!(formats.as_array().is_some_and(|all| all.len() > 1), "{formats}");
    let one = run(&folder, &["explain", "TRAILING", "--format", "gguf", "--json"]).json();
    assert!(one.as_array().is_some_and(|all| all.len() == 1), "{one}");
    assert_eq!(run(&folder, &["explain", "KEYS-BLOCK-COUNT", "--format", "stb"]).code, 2);
    let wrong = run(&folder, &["explain", "NO-SUCH-RULE"]);
    assert_eq!((wrong.code, &*wrong.out), (2, ""));
    assert!(wrong.err.contains("no rule has the id \"NO-SUCH-RULE\""), "{wrong:?}");
}

#[test]
fn every_rule_is_explained() {
    let folder = Folder::new();
    let without_format = general::RULES.iter().chain(weighbridge::repository::RULES);
    for rule in without_format.chain(Format::Shards.rules()) {
        let run = run(&folder, &["explain", rule.id]);
        assert!(run.code == 0 && run.out.contains(rule.spec), "{run:?}");
        let reason = rule.why.map(|why| format!("  why       {why}\n"));
        assert!(reason.is_none_or(|reason| run.out.contains(&reason)), "{run:?}");
    }
}
