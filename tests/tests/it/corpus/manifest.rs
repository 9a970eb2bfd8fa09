//! What the manifest of a format says about a file, and whether a survey agrees.

use serde_json::Value;
use weighbridge_core::Severity;
use weighbridge_tests::survey::Survey;

/// The verdict of a survey, in the manifest's words, without the rules set `aside`.
pub(super) fn verdict(survey: &Survey, aside: &[&str]) -> &'static str {
    let counted = survey.findings.iter().filter(|f| !aside.contains(&f.rule.id()));
    let found = |severity| counted.clone().any(|f| f.severity() == severity);
    match () {
        () if !survey.is_valid() => "invalid",
        () if found(Severity::Unchecked) => "unchecked",
        () if found(Severity::Lint) => "lint",
        () => "valid",
    }
}

/// Whether a verdict is one that the manifest takes for right.
pub(super) fn agrees(row: &Value, found: &str) -> bool {
    let or = row["or"].as_array().into_iter().flatten();
    let mut right = or.chain([&row["verdict"]]).map(|verdict| verdict.as_str().unwrap());
    right.any(|verdict| verdict == found)
}
