//! The facts about each fixture match the recorded table, so that no fact (an offset, a length, a
//! number in a finding) changes unintentionally.
//!
//! `WEIGHBRIDGE_FACTS=write cargo test -p weighbridge-tests --test it facts` rewrites the table;
//! commit the difference together with the change.

use std::collections::HashMap;
use std::fmt::Write;
use weighbridge_core::Format;
use weighbridge_tests::facts::{facts, short};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::survey_whole;

/// One line per fixture: format, name, a hash of all facts, findings.
fn table() -> String {
    let mut table = String::new();
    // Hosts check what loaders of these models rely on.
    let hosted = [("gguf", fixtures::gguf::loaded())];
    let all = fixtures::all().into_iter().map(|it| (it, false));
    for ((format, fixtures), is_hosted) in all.chain(hosted.map(|it| (it, true))) {
        for fixture in fixtures {
            let mut survey = survey_whole(&fixture.bytes, Format::by_name(format));
            if is_hosted {
                let report = weighbridge::check(&fixture.bytes).unwrap();
                survey.findings = report.findings().iter().map(|it| *it.finding()).collect();
                survey.findings.sort_by_key(|it| (it.offset, it.rule, it.kind, it.entry));
            }
            let hash = fnv(&facts(&fixture.bytes, &survey));
            write!(table, "{format} {} {hash:016x}", fixture.name).unwrap();
            for finding in &survey.findings {
                write!(table, " {}", short(finding)).unwrap();
            }
            table.push('\n');
        }
    }
    table
}

/// FNV-1a, which is stable across machines and Rust releases.
fn fnv(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    text.bytes().fold(0xCBF2_9CE4_8422_2325, step)
}

#[test]
fn fixture_facts_are_unchanged() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/facts.txt");
    let table_now = table();
    if std::env::var("WEIGHBRIDGE_FACTS").is_ok_and(|what| what == "write") {
        std::fs::write(path, table_now).unwrap();
        return;
    }
    // A new fixture has no line until the table is rewritten.
    let name = |line: &str| line.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let kept = std::fs::read_to_string(path).unwrap();
    let kept: HashMap<_, _> = kept.lines().map(|line| (name(line), line)).collect();
    let mut compared = 0;
    for line in table_now.lines() {
        if let Some(kept) = kept.get(&name(line)) {
            assert_eq!(line, *kept, "the facts of a fixture have changed");
            compared += 1;
        }
    }
    assert!(
        compared > 1000,
        "{compared} of {} fixtures are in the table",
        table_now.lines().count()
    );
}
