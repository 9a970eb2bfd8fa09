//! Findings that hosts make themselves.

use weighbridge_core::{EntryKind, Finding, Rule, Subject};

/// A finding on bytes of the file, which belong to no entry: an offset and a length, what the rule
/// expects and what was found.
pub(crate) fn on_file(
    rule: Rule,
    (offset, len): (u64, u32),
    (expected, found): (u64, u64),
) -> Finding {
    Finding {
        offset,
        expected,
        found,
        len,
        entry: 0,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::File,
    }
}
