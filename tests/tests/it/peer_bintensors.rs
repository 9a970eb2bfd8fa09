//! Compares the BinTensors reader with the published crate, using the comparison of the fuzz target
//! `peer_bintensors`, which lists accepted differences.

use proptest::prelude::*;
use weighbridge_fuzz_bodies::peers::bintensors::compare;
use weighbridge_tests::DEEP;
use weighbridge_tests::encode::bintensors::arbitrary;
use weighbridge_tests::fixtures;

#[test]
fn bintensors_peer_agrees_on_changed_fixtures() {
    let mut accepted = 0;
    let mut refused = 0;
    for fixture in fixtures::bintensors::all() {
        compare(fixture.name, &fixture.bytes);
        let mut bytes = fixture.bytes.clone();
        for at in 0..bytes.len().min(if DEEP { 256 } else { 64 }) {
            let was = bytes[at];
            let near = [was ^ 1, was ^ 0x80, was.wrapping_add(1), was.wrapping_sub(1)];
            let tags = [0, 1, 2, 4, 11, 15, b' ', 250, 251, 252, 253, 254, 255];
            for value in near.into_iter().chain(tags) {
                bytes[at] = value;
                match compare(&format!("{}, byte {at} = {value}", fixture.name), &bytes) {
                    true => accepted += 1,
                    false => refused += 1,
                }
            }
            bytes[at] = was;
        }
    }
    // Both verdicts must be common for the comparison to be meaningful.
    assert!(accepted > 10_000 && refused > 10_000, "{accepted} accepted, {refused} refused");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_files(file in arbitrary()) {
        prop_assert!(compare("arbitrary", &file.encode()));
    }

    /// The published writer produces the same file from the same tensors.
    #[test]
    fn the_writer_agrees_with_our_encoder(file in arbitrary()) {
        let dtypes = bintensors_dtypes();
        let views = file.tensors.iter().map(|tensor| {
            let shape = tensor.shape.iter().map(|&extent| extent as usize).collect();
            let dtype = dtypes[tensor.dtype as usize];
            let view = bintensors::tensor::TensorView::new(dtype, shape, &tensor.data);
            (tensor.name.clone(), view.unwrap())
        });
        let metadata = file.metadata.clone().map(|pairs| pairs.into_iter().collect());
        let written = bintensors::serialize(views, &metadata).unwrap();
        prop_assert_eq!(written, file.encode());
    }

    #[test]
    fn damaged_files(
        file in arbitrary(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = file.encode();
        for (at, value) in damage {
            // Neither reads payloads.
            let header = 8 + usize::from(bytes[0]) + (usize::from(bytes[1]) << 8);
            let at = at.index(header.min(bytes.len()));
            bytes[at] = value;
        }
        compare("damaged", &bytes);
    }
}

fn bintensors_dtypes() -> [bintensors::Dtype; 15] {
    use bintensors::Dtype::*;
    [BOOL, U8, I8, F8_E5M2, F8_E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64]
}
