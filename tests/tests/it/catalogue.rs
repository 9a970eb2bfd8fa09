//! Every rule has an id, a description, and a file that breaks it.

use std::collections::BTreeSet;
use weighbridge_core::{Format, RuleInfo, Severity, general};
use weighbridge_tests::fixtures;

/// Rules that only several files together can break: the command line's tests cover them.
const ACROSS_FILES: [&str; 21] = [
    // Broken in builds that do not read these generations; the tests of boards cover them.
    "GENERATION-1-0",
    "GENERATION-1-1",
    "GENERATION-2",
    // Broken by what is no checkpoint, where the options say that it is one.
    "C-NONE",
    "E-CHECKSUM",
    "E-LINK",
    "E-OVERLAP",
    "E-PAST",
    "KEYS-SPLIT-MISSING",
    "KEYS-SPLIT-OTHER",
    "KEYS-SPLIT-COUNT",
    "KEYS-SPLIT-INVALID",
    "KEYS-SPLIT-TWICE",
    "KEYS-SPLIT-TOTAL",
    "KEYS-SPLIT-JOINED",
    "SHARD-INVALID",
    "SHARD-MISSING",
    "TENSOR-MISSING",
    "TENSOR-ELSEWHERE",
    "TENSOR-UNLISTED",
    "TOTAL-SIZE",
];

fn check_texts(rules: &[RuleInfo]) {
    let mut ids = BTreeSet::new();
    for rule in rules {
        assert!(ids.insert(rule.id), "{} occurs twice", rule.id);
        assert!(!rule.spec.is_empty(), "{} does not say where it comes from", rule.id);
        let first = rule.message.chars().next();
        assert!(first.is_some_and(|c| !c.is_uppercase()), "{}: {}", rule.id, rule.message);
        assert!(!rule.message.ends_with('.'), "{}: {}", rule.id, rule.message);
    }
}

#[test]
fn rule_texts_are_complete() {
    check_texts(general::RULES);
    for format in Format::ALL {
        assert!(format.is_available(), "{format} is not part of this build");
        assert!(!format.rules().is_empty(), "{format} has no rules");
        check_texts(format.rules());
    }
}

#[test]
fn rule_has_fixture_that_breaks_it() {
    let mut fixtures = fixtures::for_hosts();
    // Hosts read them.
    fixtures.push(("pytorch", fixtures::pytorch::all()));
    for format in Format::ALL {
        let broken: BTreeSet<_> = fixtures
            .iter()
            .filter(|(name, _)| *name == format.name())
            .flat_map(|(_, fixtures)| fixtures)
            .filter_map(|fixture| fixture.breaks.first().copied())
            // An archive of arrays can also break the rules of arrays.
            .filter(|id| {
                let of_format = |rule: &&RuleInfo| rule.severity > Severity::Unchecked;
                format.rules().iter().filter(of_format).any(|rule| rule.id == *id)
            })
            .collect();
        let rules = format.rules().iter().filter(|rule| rule.severity > Severity::Unchecked);
        let known: BTreeSet<_> =
            rules.map(|rule| rule.id).filter(|id| !ACROSS_FILES.contains(id)).collect();
        assert_eq!(known, broken, "{format}: rules, and rules that fixtures break");
    }
}

/// Rules that the specification states or implies must not be lints under the strict profile.
#[test]
fn stated_rule_is_no_lint() {
    for format in Format::ALL {
        for rule in format.rules() {
            if rule.basis != weighbridge_core::Basis::Silent {
                assert_ne!(rule.severity, Severity::Lint, "{format} {}", rule.id);
            }
        }
    }
}
