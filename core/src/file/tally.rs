//! Counts findings exactly and keeps them up to a limit.
//!
//! A file can break a rule in every byte. A host that collects findings asks a [`Tally`] about
//! each: all are counted, and only as many are kept as people read.

use crate::base::limits::{FINDINGS_FILE, FINDINGS_LEAST, FINDINGS_RULE};
use crate::format::Format;
use crate::rule::{Finding, Profile, Rule, Severity, general};

/// Most rules that one file can break: those of its format and the general ones.
const RULES: usize = {
    let (mut most, mut rest) = (0, Format::ALL);
    while let [format, more @ ..] = rest {
        let count = format.rules().len();
        if count > most {
            most = count;
        }
        rest = more;
    }
    most.saturating_add(general::RULES.len())
};

/// The findings of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The rule.
    pub rule: Rule,
    /// Number of findings.
    pub found: u64,
    /// Number of findings that are kept.
    pub kept: u64,
}

/// Counts findings by severity and by rule, and decides which are kept.
///
/// Counts and verdict are exact, and no other memory is needed.
///
/// ```
/// use weighbridge_core::{Finding, Profile, Tally};
///
/// let mut tally = Tally::default();
/// let mut kept = Vec::new();
/// let mut sink = |finding: Finding| {
///     if tally.add(&finding) {
///         kept.push(finding);
///     }
/// };
/// # let _ = &mut sink;
/// // … hand `sink` to an audit, then:
/// assert!(tally.accepted(Profile::Strict));
/// assert_eq!(tally.total() - kept.len() as u64, tally.dropped());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    counts: [Option<Count>; RULES],
    severities: [u64; 4],
    kept: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { counts: [None; RULES], severities: [0; 4], kept: 0 }
    }
}

impl Tally {
    /// Counts a finding; returns whether to keep it.
    ///
    /// Keeps the first [`FINDINGS_RULE`] of each rule until [`FINDINGS_FILE`] are kept in
    /// all, and then the first [`FINDINGS_LEAST`], so that every rule is represented.
    #[must_use]
    pub fn add(&mut self, finding: &Finding) -> bool {
        self.add_rule(finding.rule)
    }

    /// As [`add`](Self::add), before the finding is created.
    #[must_use]
    pub fn add_rule(&mut self, rule: Rule) -> bool {
        let severity = usize::from(rule.severity().bits());
        if let Some(count) = self.severities.get_mut(severity) {
            *count = count.saturating_add(1);
        }
        let free = |slot: &&mut Option<Count>| slot.is_none_or(|count| count.rule == rule);
        let Some(slot) = self.counts.iter_mut().find(free) else { return false };
        let count = slot.get_or_insert(Count { rule, found: 0, kept: 0 });
        count.found = count.found.saturating_add(1);
        let most = if self.kept < FINDINGS_FILE { FINDINGS_RULE } else { FINDINGS_LEAST };
        let keep = count.kept < most;
        if keep {
            count.kept = count.kept.saturating_add(1);
            self.kept = self.kept.saturating_add(1);
        }
        keep
    }

    /// The broken rules, in the order of their first findings.
    pub fn rules(&self) -> impl Iterator<Item = Count> + '_ {
        self.counts.iter().map_while(|count| *count)
    }

    /// Number of findings of this severity.
    pub fn count(&self, severity: Severity) -> u64 {
        self.severities.get(usize::from(severity.bits())).copied().unwrap_or(0)
    }

    /// Number of findings.
    pub fn total(&self) -> u64 {
        self.severities.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Number of findings that are not kept.
    pub fn dropped(&self) -> u64 {
        self.total().saturating_sub(self.kept)
    }

    /// The worst severity.
    pub fn worst(&self) -> Option<Severity> {
        [Severity::Fatal, Severity::Violation, Severity::Lint, Severity::Unchecked]
            .into_iter()
            .find(|severity| self.count(*severity) > 0)
    }

    /// Whether a file with these findings is valid under `profile`.
    pub fn accepted(&self, profile: Profile) -> bool {
        self.worst().is_none_or(|worst| profile.accepts(worst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const FLOOD: Rule = general::UNKNOWN_FORMAT;
    const RARE: Rule = general::DATA_UNCHECKED;

    #[test]
    fn findings_beyond_limit_are_counted_not_kept() {
        let mut tally = Tally::default();
        let mut add = |rule, times: u64| (0..times).filter(|_| tally.add_rule(rule)).count() as u64;
        assert_eq!(add(FLOOD, 3 * FINDINGS_RULE), FINDINGS_RULE);
        assert_eq!(add(RARE, 2), 2);
        assert_eq!((tally.total(), tally.dropped()), (3 * FINDINGS_RULE + 2, 2 * FINDINGS_RULE));
        assert_eq!(tally.worst(), Some(FLOOD.severity()));
        assert_eq!(tally.count(Severity::Unchecked), 2);
        assert!(!tally.accepted(Profile::Lenient));
        let counts: Vec<_> = tally.rules().collect();
        let flood = Count { rule: FLOOD, found: 3 * FINDINGS_RULE, kept: FINDINGS_RULE };
        assert_eq!(counts, [flood, Count { rule: RARE, found: 2, kept: 2 }]);
    }

    #[test]
    fn every_rule_keeps_findings_beyond_file_limit() {
        let mut tally = Tally { kept: FINDINGS_FILE, ..Tally::default() };
        for rule in [FLOOD, RARE] {
            let kept = (0..2 * FINDINGS_LEAST).filter(|_| tally.add_rule(rule)).count();
            assert_eq!(kept as u64, FINDINGS_LEAST);
        }
    }

    #[test]
    fn every_rule_of_every_format_has_room() {
        for format in Format::ALL {
            let mut tally = Tally::default();
            let rules = format.rules().len().saturating_add(general::RULES.len());
            assert!(rules <= RULES);
            let code = format.code();
            for number in 0..format.rules().len() {
                let rule = Rule::new(code, Severity::Lint, u16::try_from(number).unwrap());
                assert!(tally.add_rule(rule));
            }
            assert!(tally.add_rule(RARE));
        }
    }
}
