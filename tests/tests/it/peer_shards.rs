//! Compares the reader of shard indexes with `serde_json`, using the comparison of the fuzz target
//! `peer_shards`, which lists accepted differences.

use proptest::prelude::*;
use weighbridge_fuzz_bodies::peers::shards::compare;
use weighbridge_tests::encode::shards::arbitrary;
use weighbridge_tests::fixtures;

/// Bytes that JSON parsers treat specially.
const MARKS: &[u8] = b"{}[]\":,0192-+.eE \\utfn\x00\x1F\x7F\x80\xC3\xED\xF4\xFF";

#[test]
fn shards_peer_agrees_on_changed_fixtures() {
    let (mut valid, mut other) = (0, 0);
    let mut note = |is_valid| if is_valid { valid += 1 } else { other += 1 };
    for fixture in fixtures::shards::all() {
        note(compare(fixture.name, &fixture.bytes));
        if fixture.bytes.len() > 400 {
            continue;
        }
        for at in 0..fixture.bytes.len() {
            let mut bytes = fixture.bytes.clone();
            for value in MARKS.iter().copied().chain([bytes[at] ^ 1, bytes[at] ^ 0x20]) {
                bytes[at] = value;
                note(compare(fixture.name, &bytes));
            }
            bytes.remove(at);
            note(compare(fixture.name, &bytes));
            for value in *b"{}[]\":,1e\\ " {
                let mut bytes = fixture.bytes.clone();
                bytes.insert(at, value);
                note(compare(fixture.name, &bytes));
            }
        }
    }
    // Both verdicts must be common for the comparison to be meaningful.
    assert!(valid > 20_000 && other > 100_000, "{valid} valid, {other} not");
}

/// Text pieces that make up an index, and some that break it.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\"a\"",
    "\"weight_map\":{",
    "\"metadata\":{",
    "\"total_size\":8",
    "\"total_size\":",
    "\"m.safetensors\"",
    "\"b\":\"m\"",
    "1",
    "-0",
    "1.5e+3",
    "1e",
    "true",
    "nul",
    "\"\\ud83d\\ude00\"",
    "\"\\ud83d\"",
    "\"\\q\"",
    "\"\t\"",
    "\"\\u0061\"",
    "\"x\":[",
    "\"x\":{",
    "\"x\":",
    "null",
    "\"",
    "\\",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn damaged(
        index in arbitrary(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8, any::<u8>()), 0..4),
    ) {
        let mut bytes = index.encode();
        for (at, how, value) in edits {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = value,
                1 => bytes[at] = MARKS[usize::from(value) % MARKS.len()],
                2 => bytes.insert(at, MARKS[usize::from(value) % MARKS.len()]),
                3 => _ = bytes.remove(at),
                _ => {
                    let piece = PIECES[usize::from(value) % PIECES.len()];
                    bytes.splice(at..at, piece.bytes());
                }
            }
        }
        compare("damaged", &bytes);
    }

    #[test]
    fn pieces(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..16)) {
        let text = pieces.concat();
        compare("pieces", text.as_bytes());
        compare("members", format!("{{{text}}}").as_bytes());
        compare("after", format!("{{\"metadata\":{{{text}}},\"weight_map\":{{}}}}").as_bytes());
        compare("inside", format!("{{\"weight_map\":{{\"a\":\"b\",{text}}}}}").as_bytes());
    }
}
