//! BinTensors against the crate that people read it with.
//!
//! Accepted differences, and nothing else:
//!
//! * `P1`, `P2`, `P3`, `M5`, `M6`: the crate looks neither at the padding nor at
//!   the order of the metadata, of which the last of equal keys wins. The
//!   specification describes both, so they are violations here.
//! * `V4`, `C1`: not forbidden, so the crate reads them; lints here.
//! * An end offset near 2^64 makes a build of the crate with overflow checks
//!   panic, where it should refuse the file. That counts as refused.
//! * The crate gives up at a budget of 100,000,000 bytes of its own structures,
//!   which no file of these tests reaches.

use bintensors::{BinTensors, tensor::Metadata};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use weighbridge::{Format, Value};
use weighbridge_tests::encode::bintensors::arbitrary;
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::{Survey, survey_whole};

/// Rules that the crate does not check.
const UNCHECKED_BY_PEER: [&str; 7] = ["P1", "P2", "P3", "V4", "M5", "M6", "C1"];

fn read_by_peer(bytes: &[u8]) -> Option<Metadata> {
    let read = || BinTensors::deserialize(bytes).ok().map(|_| ());
    let accepted = catch_unwind(AssertUnwindSafe(read)).ok().flatten();
    accepted.map(|()| BinTensors::read_metadata(bytes).unwrap().1)
}

/// Whether both accept the file. If so, they must have read the same.
fn compare(name: &str, bytes: &[u8]) -> bool {
    let survey = survey_whole(bytes, Some(Format::BinTensors));
    let refused = survey.broken().into_iter().find(|id| !UNCHECKED_BY_PEER.contains(id));
    match (read_by_peer(bytes), refused) {
        (Some(peer), None) => {
            compare_tensors(name, &survey, &peer);
            compare_metadata(name, bytes, &survey, &peer);
            true
        }
        (None, Some(_)) => false,
        (Some(_), Some(rule)) => panic!("{name}: only the crate accepts it, not {rule}"),
        (None, None) => panic!("{name}: only the crate refuses it: {bytes:?}"),
    }
}

fn compare_tensors(name: &str, survey: &Survey, peer: &Metadata) {
    let Some(weighbridge::File::BinTensors(header)) = survey.file else { panic!("{name}") };
    let names = peer.offset_keys();
    assert_eq!(survey.tensors.len(), names.len(), "{name}");
    for (fact, key) in survey.tensors.iter().zip(&names) {
        let info = peer.info(key).unwrap();
        assert_eq!(fact.name, key.as_bytes(), "{name}");
        let dtype = format!("{:?}", info.dtype).to_lowercase().replace('_', "");
        assert_eq!(fact.tensor.dtype.name(), dtype, "{name}");
        let shape: Vec<_> = info.shape.iter().map(|&extent| extent as u64).collect();
        assert_eq!(fact.shape, shape, "{name}");
        let data = fact.chunks[0].stored;
        let (start, end) = info.data_offsets;
        assert_eq!(data.at - header.data_at(), start as u64, "{name}");
        assert_eq!(data.len, (end - start) as u64, "{name}");
    }
}

fn compare_metadata(name: &str, bytes: &[u8], survey: &Survey, peer: &Metadata) {
    let Some(weighbridge::File::BinTensors(header)) = survey.file else { panic!("{name}") };
    assert_eq!(header.has_metadata(), peer.metadata().is_some(), "{name}");
    let mut pairs: Vec<(&[u8], &[u8])> = Vec::new();
    for fact in &survey.metadata {
        let Some(Value::Text(text)) = fact.value else { panic!("{name}: {fact:?}") };
        pairs.retain(|(key, _)| *key != fact.key);
        pairs.push((&fact.key, &bytes[text.at as usize..][..text.len as usize]));
    }
    let peer = peer.metadata().iter().flatten();
    let mut theirs: Vec<_> = peer.map(|(k, v)| (k.as_bytes(), v.as_bytes())).collect();
    pairs.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(pairs, theirs, "{name}");
}

/// The panics that count as refusals need not be printed.
fn in_silence(test: impl FnOnce() + std::panic::UnwindSafe) {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.location().is_none_or(|at| !at.file().contains("bintensors-0")) {
            hook(info);
        }
    }));
    let result = catch_unwind(test);
    drop(std::panic::take_hook());
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn fixtures_and_every_changed_byte() {
    in_silence(|| {
        let mut accepted = 0;
        let mut refused = 0;
        for fixture in fixtures::bintensors::all() {
            compare(fixture.name, &fixture.bytes);
            let mut bytes = fixture.bytes.clone();
            for at in 0..bytes.len().min(256) {
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
        // Both verdicts are common, or the comparison says little.
        assert!(accepted > 10_000 && refused > 10_000, "{accepted} accepted, {refused} refused");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_files(file in arbitrary()) {
        prop_assert!(compare("arbitrary", &file.encode()));
    }

    /// What the published writer makes of the same tensors is the same file.
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
            // Payloads are read by neither.
            let header = 8 + usize::from(bytes[0]) + (usize::from(bytes[1]) << 8);
            let at = at.index(header.min(bytes.len()));
            bytes[at] = value;
        }
        in_silence(|| { compare("damaged", &bytes); });
    }
}

fn bintensors_dtypes() -> [bintensors::Dtype; 15] {
    use bintensors::Dtype::*;
    [BOOL, U8, I8, F8_E5M2, F8_E4M3, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64]
}
