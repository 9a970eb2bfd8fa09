//! Each format has a document whose table of rules is that of the catalogue.
//!
//! `WEIGHBRIDGE_DOCS=write cargo test -p weighbridge-tests --test it documents` rewrites the
//! tables; the text above them is written by hand.

use std::path::{Path, PathBuf};
use weighbridge_core::{Format, RuleInfo, general};

/// Starts the table, which reaches to the end of the document.
const MARK: &str = "\n## Rules\n";

/// Every document with its rules: one a format, one on pickles and one on archives of models.
fn documents() -> Vec<(&'static str, Vec<&'static RuleInfo>)> {
    let of_format = |format: &Format| (format.name(), format.rules().iter().collect());
    let mut all: Vec<_> = Format::ALL.iter().map(of_format).collect();
    let pickles = general::RULES.iter().filter(|rule| rule.id.starts_with("PICKLE-"));
    all.push(("pickle", pickles.collect()));
    let archives = general::RULES.iter().filter(|rule| rule.id.starts_with("ARCHIVE-"));
    all.push(("dduf", archives.collect()));
    all
}

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("docs/formats").join(name).with_extension("md")
}

/// Text as a cell of a Markdown table. Outside code, angle brackets would be markup.
fn cell(text: &str) -> String {
    let outside = |part: &str| part.replace('<', "&lt;").replace('>', "&gt;").replace('*', "\\*");
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(i, part)| if i % 2 == 0 { outside(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`").replace('|', "\\|")
}

fn row(rule: &RuleInfo) -> String {
    let (severity, basis) = (rule.severity.name(), rule.basis.name());
    let why = rule.why.map(cell).unwrap_or_default();
    format!("| `{}` | {severity} | {basis} | {} | {why} |\n", rule.id, cell(rule.spec))
}

fn table(rules: &[&RuleInfo]) -> String {
    let rows: String = rules.iter().map(|rule| row(rule)).collect();
    format!(
        "{MARK}\n*Basis* says whether the specification states the rule, implies it or is silent. *Why* is \
         the reason for\nthe rule or its severity where the specification leaves it open. \
         `weighbridge explain RULE` prints\nthe same with an example.\n\n\
         | rule | severity | basis | requires | why |\n|---|---|---|---|---|\n{rows}"
    )
}

#[test]
fn format_documents_list_the_rules_of_the_catalogue() {
    for (document, rules) in documents() {
        let path = path(document);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let written = text.split(MARK).next().unwrap_or_default();
        let expected = format!("{}\n{}", written.trim_end(), table(&rules));
        if std::env::var("WEIGHBRIDGE_DOCS").is_ok_and(|what| what == "write") {
            std::fs::write(&path, &expected).unwrap();
            continue;
        }
        let words = written.split_whitespace().count();
        assert!(words >= 40, "{}: {words} words on {document}", path.display());
        let name = path.display();
        assert!(text == expected, "{name} is out of date: run with WEIGHBRIDGE_DOCS=write");
    }
}

#[test]
fn reasons_are_phrases_and_none_repeats_its_rule() {
    let mut reasons = 0;
    for rule in Format::ALL.iter().flat_map(|format| format.rules()) {
        let Some(why) = rule.why else { continue };
        assert!(why.len() > 9 && !why.ends_with('.') && why != rule.spec, "{}: {why}", rule.id);
        reasons += 1;
    }
    assert!(reasons > 100, "{reasons} rules have a reason");
}
