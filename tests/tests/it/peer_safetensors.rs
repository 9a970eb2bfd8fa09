//! Compares the safetensors reader with the published crate, using the comparison of the fuzz
//! target `peer_safetensors`, which lists accepted differences.

use proptest::prelude::*;
use weighbridge_fuzz_bodies::peers::safetensors::compare;
use weighbridge_tests::encode::safetensors::arbitrary;
use weighbridge_tests::fixtures;

#[test]
fn safetensors_peer_agrees_on_changed_fixtures() {
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
                // One byte more or less, with a corrected header length.
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
