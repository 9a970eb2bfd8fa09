//! safetensors compared with the published crate, 0.8.0.
//!
//! Accepted differences, and nothing else:
//!
//! * `HEADER-START`: the crate accepts white space before the brace, and has a test
//!   for it. The README forbids it.
//! * `NAME-DUPLICATE`, `METADATA-KEY`: the crate keeps the last of equal names. The
//!   README forbids them. The crate does not check the ranges and sizes of the
//!   entries that it drops, and the remaining ones may then leave a hole.
//! * `METADATA-TYPE` if `__metadata__` is null: the crate treats that as no
//!   metadata. The README requires a map.
//! * `FIELD-UNKNOWN`: the crate skips the field, as we do; a lint. It does not check
//!   whether escapes in skipped values stand for characters, or how deep the values
//!   nest (`JSON-ESCAPE`, `JSON-DEPTH`).
//! * `KEY-DUPLICATE`: the crate keeps the last of equal keys in skipped values. The
//!   README forbids them. `KEYS-UNCHECKED` is not a violation.
//!
//! Files that the crate refuses are refused here as well, except for the holes of
//! the second item.

use super::refusing;
use safetensors::{SafeTensorError, SafeTensors};
use weighbridge_core::{Format, Severity};
use weighbridge_tests::survey::{Survey, survey_whole};

/// Rules that the crate does not check.
const UNCHECKED_BY_PEER: [&str; 6] = [
    "HEADER-START",
    "NAME-DUPLICATE",
    "METADATA-KEY",
    "FIELD-UNKNOWN",
    "KEY-DUPLICATE",
    "KEYS-UNCHECKED",
];

/// Rules that an entry may break if the crate drops it for another with the same
/// name.
const OF_PLACE: [&str; 9] = [
    "OFFSET-ORDER",
    "OFFSET-BOUNDS",
    "SHAPE-OVERFLOW",
    "TENSOR-BITS",
    "TENSOR-SIZE",
    "OVERLAP",
    "ALIAS",
    "HOLE",
    "TRAILING",
];

/// The verdict on a file: accepted by both, refused by both, or accepted by only one
/// for a reason listed above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Both,
    Neither,
    Listed,
}

/// Files that both accept are read alike; a file that only one accepts has a listed
/// reason.
pub fn peer(input: &[u8]) {
    compare("input", input);
}

/// Compares the verdicts and, if both accept the file, the content.
///
/// # Panics
/// If only one accepts it without a reason, or the content differs.
pub fn compare(name: &str, bytes: &[u8]) -> Verdict {
    let survey = survey_whole(bytes, Some(Format::Safetensors));
    let broken = survey.broken();
    let has = |rule| broken.contains(&rule);
    let refused = broken.iter().any(|id| !UNCHECKED_BY_PEER.contains(id));
    let text = || String::from_utf8_lossy(bytes);
    match (refusing(|| Some(SafeTensors::deserialize(bytes))), refused) {
        (Some(Ok(peer)), false) => {
            if survey.worst() >= Severity::Violation {
                return Verdict::Listed;
            }
            compare_tensors(name, bytes, &survey, &peer);
            Verdict::Both
        }
        (Some(Err(_)) | None, true) => Verdict::Neither,
        (Some(Ok(_)), true) => {
            let excused = |id: &&str| match *id {
                "METADATA-TYPE" => bytes.windows(4).any(|window| window == b"null"),
                "JSON-ESCAPE" | "JSON-DEPTH" => has("FIELD-UNKNOWN"),
                id if OF_PLACE.contains(&id) => has("NAME-DUPLICATE"),
                id => UNCHECKED_BY_PEER.contains(&id),
            };
            let excused = broken.iter().all(excused);
            assert!(excused, "{name}: only the crate accepts it, not {broken:?}: {}", text());
            Verdict::Listed
        }
        (peer, false) => {
            let layout = matches!(
                peer,
                Some(Err(
                    SafeTensorError::InvalidOffset(_) | SafeTensorError::MetadataIncompleteBuffer
                ))
            );
            let excused = layout && has("NAME-DUPLICATE");
            let err = peer.map(|result| result.map(drop));
            assert!(excused, "{name}: only the crate refuses it, {err:?}: {}", text());
            Verdict::Listed
        }
    }
}

fn compare_tensors(name: &str, bytes: &[u8], survey: &Survey, peer: &SafeTensors<'_>) {
    assert_eq!(survey.tensors.len(), peer.len(), "{name}");
    for fact in &survey.tensors {
        let key = std::str::from_utf8(&fact.name).expect("a sound name is text");
        let theirs = peer.tensor(key).unwrap_or_else(|e| panic!("{name}: {key}: {e}"));
        let shape: Vec<_> = theirs.shape().iter().map(|&extent| extent as u64).collect();
        assert_eq!(fact.shape, shape, "{name}: {key}");
        assert_eq!(u64::from(fact.tensor.dtype.bits()), theirs.dtype().bitsize() as u64, "{key}");
        let span = fact.chunks[0].stored;
        assert!(
            bytes[span.offset as usize..][..span.len as usize] == *theirs.data(),
            "{name}: {key}"
        );
    }
}
