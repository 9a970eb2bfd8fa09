//! safetensors against the crate that people read it with.
//!
//! Accepted differences, and nothing else:
//!
//! * `HEADER-START`: the crate lets white space pass before the brace, and has a
//!   test of its own for it. The README forbids it.
//! * `NAME-DUPLICATE`, `METADATA-KEY`, `METADATA-DUPLICATE`: the crate keeps the
//!   last of equal names, whatever the others were. The README forbids them.
//! * `METADATA-TYPE` where `__metadata__` is null: the crate takes that for none.
//!   The README asks for a map.
//! * `FIELD-UNKNOWN`: the crate passes over it, as we do; a lint. It does not
//!   look whether escapes in what it passes over stand for characters, or how deep
//!   that nests (`JSON-ESCAPE`, `JSON-DEPTH`).
//! * `SHAPE-OVERFLOW` beside an extent of 0: the crate multiplies from the left,
//!   and so accepts what it refuses in another order.
//! * An empty tensor whose offset lies inside another one's data hides nothing,
//!   and is accepted here; the crate refuses it.

use proptest::prelude::*;
use safetensors::SafeTensors;
use weighbridge::{Format, Severity};
use weighbridge_tests::encode::safetensors::arbitrary;
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::{Survey, survey_whole};

/// Rules that the crate does not check.
const UNCHECKED_BY_PEER: [&str; 5] =
    ["HEADER-START", "NAME-DUPLICATE", "METADATA-KEY", "METADATA-DUPLICATE", "FIELD-UNKNOWN"];

/// Rules that make no difference to the crate in what it passes over, or where an
/// extent is 0.
const SOMETIMES_UNCHECKED: [&str; 3] = ["JSON-ESCAPE", "JSON-DEPTH", "SHAPE-OVERFLOW"];

/// What became of a file: read by both, refused by both, or by one for a reason
/// that is listed above.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Both,
    Neither,
    Listed,
}

fn compare(name: &str, bytes: &[u8]) -> Verdict {
    let survey = survey_whole(bytes, Some(Format::Safetensors));
    let broken = survey.broken();
    let unchecked = |id: &&str| UNCHECKED_BY_PEER.contains(id);
    let refused = broken.iter().find(|id| !unchecked(id)).copied();
    match (SafeTensors::deserialize(bytes), refused) {
        (Ok(peer), None) => {
            if broken.is_empty() {
                compare_tensors(name, bytes, &survey, &peer);
                return Verdict::Both;
            }
            Verdict::Listed
        }
        (Err(_), Some(_)) => Verdict::Neither,
        (Ok(_), Some(rule)) => {
            // Whatever the first of two equal names was, only the last counts.
            let twice = broken.iter().any(|id| id.ends_with("DUPLICATE"));
            let sometimes =
                broken.iter().all(|id| SOMETIMES_UNCHECKED.contains(id) || unchecked(id));
            let null = broken.contains(&"METADATA-TYPE")
                && bytes.windows(4).any(|window| window == b"null");
            let passed_over = broken.contains(&"FIELD-UNKNOWN") || rule == "SHAPE-OVERFLOW";
            assert!(
                twice || null || sometimes && passed_over,
                "{name}: only the crate accepts it, not {broken:?}: {}",
                String::from_utf8_lossy(bytes)
            );
            Verdict::Listed
        }
        (Err(err), None) => {
            let empty =
                survey.tensors.iter().any(|fact| fact.chunks.iter().any(|c| c.stored.len == 0));
            assert!(
                empty && survey.worst() < Severity::Violation || !broken.is_empty(),
                "{name}: only the crate refuses it, {err}: {}",
                String::from_utf8_lossy(bytes)
            );
            Verdict::Listed
        }
    }
}

/// Names, types, shapes, and the very bytes.
fn compare_tensors(name: &str, bytes: &[u8], survey: &Survey, peer: &SafeTensors<'_>) {
    assert_eq!(survey.tensors.len(), peer.len(), "{name}");
    for fact in &survey.tensors {
        let key = String::from_utf8(fact.name.clone()).unwrap();
        let view = peer.tensor(&key).unwrap_or_else(|err| panic!("{name}: {err}"));
        let shape: Vec<_> = view.shape().iter().map(|&extent| extent as u64).collect();
        assert_eq!(fact.shape, shape, "{name}");
        assert_eq!(view.dtype().bitsize() as u32, fact.tensor.dtype.bits(), "{name}");
        let span = fact.chunks[0].stored;
        assert_eq!(view.data(), &bytes[span.at as usize..][..span.len as usize], "{name}");
    }
}

#[test]
fn fixtures_and_every_changed_byte() {
    let mut seen = [0; 3];
    for fixture in fixtures::safetensors::all() {
        let mut note = |verdict| seen[verdict as usize] += 1;
        note(compare(fixture.name, &fixture.bytes));
        if fixture.bytes.len() > 1000 {
            continue;
        }
        let mut bytes = fixture.bytes.clone();
        let header = bytes.len().min(400);
        for at in 0..header {
            let original = bytes[at];
            for value in
                [b'"', b'}', b'0', b',', b' ', original ^ 1, original ^ 0x20, original ^ 0x80]
            {
                bytes[at] = value;
                note(compare(fixture.name, &bytes));
            }
            bytes[at] = original;
        }
    }
    let [both, neither, listed] = seen;
    println!("{both} read by both, {neither} by neither, {listed} differ as listed");
    assert!(both > 1000 && neither > 10_000 && listed > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged(
        file in arbitrary(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..6_u8, any::<u8>()), 1..4),
    ) {
        let mut bytes = file.encode();
        let mut header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
        for (at, how, value) in edits {
            let at = at.index(header);
            let before = bytes.len();
            match how {
                0 => bytes[at] = value,
                1 => bytes[at] = b"{}[]\":,0192-.eE \\"[usize::from(value) % 17],
                2 => bytes[at] ^= 1 << (value % 8),
                // A byte more or less, with the length of the header put right.
                3 if at >= 8 => bytes.insert(at, value),
                4 if at >= 8 => _ = bytes.remove(at),
                _ => bytes.swap(at, (at + 1).min(header - 1)),
            }
            if bytes.len() != before {
                header = header + bytes.len() - before;
                bytes[..8].copy_from_slice(&(header as u64 - 8).to_le_bytes());
            }
        }
        compare("damaged", &bytes);
    }
}
