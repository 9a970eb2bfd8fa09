//! The fast path of the audit passes over nothing that has a finding.

use weighbridge::{Cursor, Finding, Format, Kind, Opening, Source};
use weighbridge_tests::encode::bintensors::{File, arbitrary};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::survey_whole;

/// Rules of the whole list, which entries on their own cannot break.
const OF_THE_LIST: [&str; 2] = ["T6", "C1"];

fn one_by_one(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = Source::whole(bytes);
    let file = Opening::of(Some(Format::BinTensors)).step(&source, &mut |_| {});
    let Ok(file) = file else { return findings };
    let mut cursor = Cursor::default();
    let mut sink = |finding| findings.push(finding);
    while file.next_tensor(&source, &mut cursor, &mut sink).unwrap().is_some() {}
    findings.sort_by_key(|f| (f.at, f.rule, f.entry));
    findings
}

fn check(name: &str, bytes: &[u8]) {
    let survey = survey_whole(bytes, Some(Format::BinTensors));
    let mut audited = survey.findings;
    audited.retain(|f| f.kind == Kind::Tensor && f.rule.format() == Some(Format::BinTensors));
    audited.retain(|f| !OF_THE_LIST.contains(&f.rule.id()));
    audited.sort_by_key(|f| (f.at, f.rule, f.entry));
    assert_eq!(audited, one_by_one(bytes), "{name}");
}

#[test]
fn fixtures_one_by_one() {
    for fixture in fixtures::bintensors::all() {
        check(fixture.name, &fixture.bytes);
    }
}

proptest::proptest! {
    #[test]
    fn damaged_one_by_one(
        files in proptest::collection::vec(arbitrary(), 3),
        at in proptest::prelude::any::<proptest::sample::Index>(),
        value: u8,
    ) {
        // Long enough for a sweep to be under way when it meets the damage.
        let mut tensors: Vec<_> = files.into_iter().flat_map(|file| file.tensors).collect();
        for (i, tensor) in tensors.iter_mut().enumerate() {
            tensor.name.push_str(&i.to_string());
        }
        let mut bytes = File { metadata: None, tensors }.sorted().encode();
        let header = 8 + usize::from(bytes[0]) + (usize::from(bytes[1]) << 8);
        bytes[at.index(header - 8) + 8] = value;
        check("damaged", &bytes);
    }
}
