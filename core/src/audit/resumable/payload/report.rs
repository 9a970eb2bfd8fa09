//! Reports what is wrong with an encoded payload.

use super::super::Audit;
use super::stream::{Progress, parts::is_length};
use crate::codec::{Fault, checksum::Checksum};
use crate::format;
use crate::input::Span;
use crate::model::{Chunk, Encoding, sparse};
use crate::parse::Reader;
use crate::rule::{Rule, general};

/// Reports a stream that is faulty after `written` bytes.
pub(super) fn stream(
    audit: &Audit,
    p: &Progress,
    r: &mut Reader<'_, '_>,
    fault: Fault,
    written: u64,
) {
    // Surplus is not a fault if no size is recorded.
    if fault == Fault::Long && !p.measured && p.chunk.decoded.is_none() {
        return;
    }
    // A part whose length is recorded has an entry, and its stream is reported there.
    if let Some(indices) = &p.indices
        && !(indices.is_measured() && is_length(fault))
    {
        return;
    }
    let limited = matches!(fault, Fault::Window | Fault::Dictionary);
    let rule = audit.file.rule(format::Fault::Stream(fault));
    let rule = rule.filter(|_| fault.is_of_file() || limited).unwrap_or(general::PAYLOAD_UNCHECKED);
    let rule = if fault == Fault::Second { general::SECOND_OPINION } else { rule };
    let expected = p.chunk.decoded.unwrap_or(written);
    let found = written.saturating_add(u64::from(fault == Fault::Long));
    let Span { offset: at, len } = p.chunk.stored;
    r.flag(rule, at, len, expected, found);
}

/// Reports a fault in the indices of a sparse tensor.
pub(super) fn index(
    audit: &Audit,
    r: &mut Reader<'_, '_>,
    fault: sparse::Fault,
    at: Span,
    expected: u64,
    found: u64,
) {
    if let Some(rule) = audit.file.rule(format::Fault::Sparse(fault)) {
        r.flag(rule, at.offset, at.len, expected, found);
    }
}

/// Reports a checksum mismatch.
pub(super) fn checksum(
    p: &Progress,
    r: &mut Reader<'_, '_>,
    rule: Rule,
    expected: Checksum,
    found: Checksum,
) {
    if found != expected {
        let Span { offset: at, len } = p.chunk.stored;
        let (expected, found) = expected.difference(&found);
        r.flag(rule, at, len, expected, found);
    }
}

/// The location of decoded bytes: exact if they are raw, otherwise all stored bytes.
pub(super) fn place(chunk: &Chunk, offset: u64, len: u64) -> Span {
    match chunk.encoding {
        Encoding::Raw => Span::new(chunk.stored.offset.saturating_add(offset), len),
        _ => chunk.stored,
    }
}
