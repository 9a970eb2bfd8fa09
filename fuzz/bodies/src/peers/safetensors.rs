//! safetensors against the published crate, 0.8.0.
//!
//! Accepted differences, and nothing else:
//!
//! * `HEADER-START`, `NAME-DUPLICATE`, `METADATA-KEY`, `METADATA-DUPLICATE`: the
//!   crate lets white space pass and takes the last of equal keys; the README
//!   forbids both.
//! * Where a name occurs twice, the crate does not look at the ranges and sizes of
//!   the entry that it drops. What else is wrong with one is not compared then.
//! * `METADATA-TYPE`: the crate takes null for no metadata; the README wants a
//!   map.
//! * `FIELD-UNKNOWN`: not forbidden; a lint here, passed over by the crate.
//! * An empty tensor whose offset lies inside another one's data: it has no
//!   bytes that could overlap. The crate refuses it.
//! * `JSON-DEPTH`: a bound of this reader, one level off serde_json's.

use super::refusing;
use safetensors::SafeTensors;
use weighbridge::{Format, Severity};
use weighbridge_tests::survey::{Survey, survey_whole};

/// Rules that the crate does not check.
const UNCHECKED_BY_PEER: [&str; 7] = [
    "HEADER-START",
    "NAME-DUPLICATE",
    "METADATA-KEY",
    "METADATA-DUPLICATE",
    "METADATA-TYPE",
    "FIELD-UNKNOWN",
    "JSON-DEPTH",
];

/// What both accept is read alike, and who alone accepts has a reason.
pub fn peer(input: &[u8]) {
    compare("input", input);
}

/// Whether both accept the file.
///
/// # Panics
/// When only one does without a reason, or what they read differs.
pub fn compare(name: &str, bytes: &[u8]) -> bool {
    let survey = survey_whole(bytes, Some(Format::Safetensors));
    let broken = survey.broken();
    let refused = broken.iter().find(|id| !UNCHECKED_BY_PEER.contains(id));
    match (refusing(|| SafeTensors::deserialize(bytes).ok()), refused) {
        (Some(peer), None) => {
            if survey.worst() < Severity::Violation {
                compare_tensors(name, bytes, &survey, &peer);
            }
            true
        }
        (None, Some(_)) => false,
        (Some(_), Some(_)) if broken.contains(&"NAME-DUPLICATE") => false,
        (Some(_), Some(rule)) => panic!("{name}: only the crate accepts it, not {rule}"),
        (None, None) => {
            let reason = !broken.is_empty() || has_empty_inside(&survey);
            assert!(reason, "{name}: only the crate refuses it");
            false
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
        assert!(bytes[span.at as usize..][..span.len as usize] == *theirs.data(), "{name}: {key}");
    }
}

/// Whether an empty tensor lies inside, or out of the order of, others.
fn has_empty_inside(survey: &Survey) -> bool {
    survey.tensors.iter().any(|fact| fact.chunks.first().is_some_and(|c| c.stored.is_empty()))
}
