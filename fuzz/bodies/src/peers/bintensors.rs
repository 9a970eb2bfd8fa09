//! BinTensors compared with the published crate, 0.1.1.
//!
//! Accepted differences, and nothing else:
//!
//! * `P1`, `P2`, `P3`, `M5`, `M6`: the crate checks neither the padding nor the
//!   order of the metadata, and the last of equal keys wins. The specification
//!   describes both, so they are violations here.
//! * `V4`, `C1`: not forbidden, so the crate reads them; lints here.
//! * With an end offset near 2^64, a build of the crate with overflow checks
//!   panics instead of refusing the file. That counts as refused.
//! * The crate gives up when its own structures exceed 100,000,000 bytes, which
//!   no input of these tests reaches.

use super::refusing;
use bintensors::{BinTensors, tensor::Metadata};
use weighbridge_core::{Format, Value};
use weighbridge_tests::survey::{Survey, survey_whole};

/// Rules that the crate does not check.
const UNCHECKED_BY_PEER: [&str; 7] = ["P1", "P2", "P3", "V4", "M5", "M6", "C1"];

/// Both accept or both refuse a file, and accepted files are read alike.
pub fn peer(input: &[u8]) {
    compare("input", input);
}

/// Whether both accept the file.
///
/// # Panics
/// If only one does, or they read different content.
pub fn compare(name: &str, bytes: &[u8]) -> bool {
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

fn read_by_peer(bytes: &[u8]) -> Option<Metadata> {
    refusing(|| {
        BinTensors::deserialize(bytes).ok()?;
        Some(BinTensors::read_metadata(bytes).ok()?.1)
    })
}

fn compare_tensors(name: &str, survey: &Survey, peer: &Metadata) {
    let Some(weighbridge_core::File::BinTensors(header)) = survey.file else { panic!("{name}") };
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
        assert_eq!(data.offset - header.data_at(), start as u64, "{name}");
        assert_eq!(data.len, (end - start) as u64, "{name}");
    }
}

fn compare_metadata(name: &str, bytes: &[u8], survey: &Survey, peer: &Metadata) {
    let Some(weighbridge_core::File::BinTensors(header)) = survey.file else { panic!("{name}") };
    assert_eq!(header.has_metadata(), peer.metadata().is_some(), "{name}");
    let mut pairs: Vec<(&[u8], &[u8])> = Vec::new();
    for fact in &survey.metadata {
        let Some(Value::Text(text)) = fact.value else { panic!("{name}: {fact:?}") };
        pairs.retain(|(key, _)| *key != fact.key);
        pairs.push((&fact.key, &bytes[text.offset as usize..][..text.len as usize]));
    }
    let peer = peer.metadata().iter().flatten();
    let mut theirs: Vec<_> = peer.map(|(k, v)| (k.as_bytes(), v.as_bytes())).collect();
    pairs.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(pairs, theirs, "{name}");
}
