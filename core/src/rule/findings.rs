//! Findings in fixed-size memory.

use crate::rule::{Finding, Profile, Severity};
use core::ops::Deref;
use heapless::Vec;

/// Up to `N` findings, their total number and the worst severity: a sink without a heap.
///
/// The verdict is exact, whatever `N` is. When no room is left, a more severe finding replaces
/// the last of the mildest, so the reason why a file is rejected is kept.
///
/// ```
/// use weighbridge_core::{File, Findings, Profile, Source};
///
/// let mut findings = Findings::<4>::new();
/// let opened = File::open(&Source::whole(b"not a model"), &mut |finding| findings.push(finding));
/// assert!(opened.is_err());
/// assert!(!findings.accepted(Profile::Lenient));
/// assert_eq!(findings[0].rule.id(), "UNKNOWN-FORMAT");
/// assert_eq!(findings.dropped(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Findings<const N: usize> {
    kept: Vec<Finding, N>,
    total: u32,
    worst: Option<Severity>,
}

impl<const N: usize> Findings<N> {
    /// An empty sink.
    pub const fn new() -> Self {
        Findings { kept: Vec::new(), total: 0, worst: None }
    }

    /// Counts a finding, and keeps it if there is room or it is more severe than a kept one.
    pub fn push(&mut self, finding: Finding) {
        self.total = self.total.saturating_add(1);
        self.worst = self.worst.max(Some(finding.severity()));
        let Err(mut next) = self.kept.push(finding) else { return };
        let Some(mildest) = self.kept.iter().map(Finding::severity).min() else { return };
        if mildest >= next.severity() {
            return;
        }
        // The findings after the replaced one move up, which preserves the order.
        for kept in self.kept.iter_mut().rev() {
            core::mem::swap(kept, &mut next);
            if next.severity() == mildest {
                return;
            }
        }
    }

    /// Number of findings, dropped ones included.
    pub const fn total(&self) -> u32 {
        self.total
    }

    /// Number of findings that were dropped.
    pub fn dropped(&self) -> u32 {
        let kept = u32::try_from(self.kept.len()).unwrap_or(u32::MAX);
        self.total.saturating_sub(kept)
    }

    /// The worst severity, dropped findings included; `None` without findings.
    pub const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Whether a file with these findings is valid under `profile`.
    pub fn accepted(&self, profile: Profile) -> bool {
        self.worst.is_none_or(|worst| profile.accepts(worst))
    }
}

/// The kept findings, in order of arrival.
impl<const N: usize> Deref for Findings<N> {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::rule::{EntryKind, Rule, Subject};
    use std::vec::Vec;

    fn finding(severity: Severity, number: u16) -> Finding {
        Finding {
            offset: u64::from(number),
            expected: 0,
            found: 0,
            len: 0,
            entry: 0,
            part: Subject::NO_PART,
            rule: Rule::new(Format::FIRST.code(), severity, number),
            kind: EntryKind::File,
        }
    }

    fn offsets<const N: usize>(findings: &Findings<N>) -> Vec<u64> {
        findings.iter().map(|finding| finding.offset).collect()
    }

    #[test]
    fn first_findings_are_kept_and_all_counted() {
        let mut findings = Findings::<2>::new();
        for number in 0..5 {
            findings.push(finding(Severity::Lint, number));
        }
        assert_eq!(offsets(&findings), [0, 1]);
        assert_eq!((findings.total(), findings.dropped()), (5, 3));
        assert!(findings.accepted(Profile::Strict));
    }

    #[test]
    fn worse_finding_replaces_mildest() {
        let mut findings = Findings::<3>::new();
        findings.push(finding(Severity::Unchecked, 0));
        findings.push(finding(Severity::Violation, 1));
        findings.push(finding(Severity::Unchecked, 2));
        findings.push(finding(Severity::Lint, 3));
        assert_eq!(offsets(&findings), [0, 1, 3]);
        findings.push(finding(Severity::Fatal, 4));
        assert_eq!(offsets(&findings), [1, 3, 4]);
        findings.push(finding(Severity::Lint, 5));
        assert_eq!(offsets(&findings), [1, 3, 4]);
        assert_eq!(findings.dropped(), 3);
    }

    #[test]
    fn verdict_is_exact_without_room() {
        let mut findings = Findings::<0>::new();
        findings.push(finding(Severity::Fatal, 0));
        assert!(findings.is_empty());
        assert_eq!(findings.worst(), Some(Severity::Fatal));
        assert!(!findings.accepted(Profile::Lenient));
    }
}
