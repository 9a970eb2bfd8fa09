//! ExecuTorch: what is listed, where faults are, and files that describe more than they have.

use proptest::prelude::*;
use weighbridge_core::{Chunks, Format, Source, Status, Value};
use weighbridge_tests::encode::executorch::{
    self, Parts, call, chain, of_constants, of_int, of_tensor, plan, planned, program, value,
};
use weighbridge_tests::encode::flatbuffer::{Encoded, Field, Table};
use weighbridge_tests::survey::{Survey, survey_whole};

fn survey(bytes: &[u8]) -> Survey {
    survey_whole(bytes, Some(Format::ExecuTorch))
}

/// The sample with changed bytes at a path, and the position of these bytes.
fn changed(path: &str, after: usize, bytes: &[u8]) -> (Vec<u8>, u64) {
    let mut file: Encoded = executorch::encode_program(&executorch::sample());
    file.put(path, after, bytes);
    let at = file.at(path) + after;
    (file.bytes, at as u64)
}

/// A method with these values and instructions.
fn method(values: Field, instructions: &[Table]) -> Table {
    let chains = [chain(instructions)];
    Table::new()
        .text(plan::NAME, "forward")
        .with(plan::VALUES, values)
        .tables(plan::CHAINS, &chains)
        .longs(plan::SIZES, &[0, 64])
}

/// A program of one method, without segments.
fn bare(method: Table) -> Vec<u8> {
    executorch::encode_bare(&Table::new().int(0, 0).tables(program::PLANS, &[method])).bytes
}

#[test]
fn executorch_metadata_is_memory_plan_and_operators() {
    let bytes = executorch::encode_program(&executorch::sample()).bytes;
    let survey = survey(&bytes);
    let [method, operator] = &survey.metadata[..] else { panic!("{:?}", survey.metadata) };
    assert_eq!((&method.key[..], &operator.key[..]), (&b"forward"[..], &b"aten::addmm"[..]));
    let Some(Value::Array { elements: 2, stored, .. }) = method.value else { panic!("{method:?}") };
    let sizes: Vec<u8> = [0_i64, 32].iter().flat_map(|size| size.to_le_bytes()).collect();
    assert_eq!(bytes[stored.offset as usize..][..stored.len as usize], sizes);
    let Some(Value::Text(overload)) = operator.value else { panic!("{operator:?}") };
    let overload = overload.read(&Source::whole(&bytes)).unwrap().bytes().collect::<Vec<_>>();
    assert_eq!(overload, b"out");
}

#[test]
fn executorch_faults_are_at_their_bytes() {
    for (path, after, bytes, rule) in [
        ("1.0.2.0.1.0", 0, &[99][..], "T-TYPE"),
        ("1.0.2.0.1.2@", 8, &[0xFE, 0xFF, 0xFF, 0xFF], "T-DIM"),
        ("1.0.2.0.1.3@", 4, &[1], "T-ORDER"),
        ("1.0.2.0.1.5", 0, &[9, 0, 0, 0], "T-INDEX"),
        ("1.0.2.2.1.6.0", 0, &[9, 0, 0, 0], "T-MEMORY"),
        ("1.0.2.2.1.6.1", 0, &[0xF8, 0xFF, 0xFF, 0xFF], "T-PLANNED"),
        ("1.0.2.5.1.0@", 12, &[99], "V-ITEM"),
        ("1.0.3@", 4, &[99], "P-INPUT"),
        ("1.0.4@", 4, &[0xFF, 0xFF, 0xFF, 0xFF], "P-OUTPUT"),
        ("1.0.5.0.2.0.1.0", 0, &[7], "I-OPERATOR"),
        ("1.0.5.0.2.0.1.1@", 8, &[77], "I-VALUE"),
        ("1.0.8@", 12, &[0, 0, 0, 0, 0, 0, 0, 0x80], "M-SIZE"),
        ("4.0.0", 0, &[0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "S-RANGE"),
        ("5.0", 0, &[9], "C-SEGMENT"),
        ("5.1@", 12, &[99], "C-OFFSET"),
    ] {
        let (file, at) = changed(path, after, bytes);
        let survey = survey(&file);
        let found: Vec<_> =
            survey.findings.iter().map(|it| (it.rule.id(), it.offset, it.len)).collect();
        let hits =
            |it: &&(&str, u64, u32)| it.0 == rule && it.1 <= at && at < it.1 + u64::from(it.2);
        assert!(found.iter().any(|it| hits(&it)), "{rule} at {at}: {found:?}");
    }
}

#[test]
fn executorch_lists_shared_without_end_are_not_followed() {
    // 2,000 values share one list of 2,000 items.
    let items: Vec<i64> = vec![0; 2000];
    let list = value(7, Table::new().longs(0, &items));
    let bytes = bare(method(Field::Shared(list, 2000), &[]));
    let survey = survey(&bytes);
    assert!(survey.findings.iter().any(|it| it.rule.id() == "SHARED-UNCHECKED"));
    // An item for every 8 bytes that the file may share, and one finding for the rest.
    assert!(survey.findings.len() < bytes.len() + 20_000, "{}", survey.findings.len());
    // The same for instructions.
    let args: Vec<i32> = vec![0; 2000];
    let shared = Field::Shared(call(1, 0, &args), 2000);
    let instructions = Table::new().ints(0, &[]).ints(1, &[]).with(2, shared);
    let method = method(Field::Tables(vec![of_int(1)]), &[]);
    let bytes = bare(method.tables(plan::CHAINS, &[instructions]));
    let survey = survey_whole(&bytes, Some(Format::ExecuTorch));
    assert!(survey.findings.iter().any(|it| it.rule.id() == "SHARED-UNCHECKED"));
}

#[test]
fn executorch_program_of_many_values_is_sound() {
    let mut values: Vec<Table> = (0..3000).map(of_int).collect();
    values.extend((0..3000).map(|_| of_tensor(planned(&[2, 4], 1, 32))));
    let tensors: Vec<i32> = (3000..6000).collect();
    values.push(value(10, Table::new().ints(0, &tensors)));
    let moves: Vec<Table> = (0..3000).map(|at| executorch::two(3, at, at + 1)).collect();
    let survey = survey(&bare(method(Field::Tables(values), &moves)));
    assert!(survey.findings.is_empty(), "{:?}", survey.findings);
    assert_eq!(survey.tensors.len(), 3000);
}

#[test]
fn executorch_two_methods_may_share_names_of_tensors() {
    let mut parts: Parts = of_constants(&[(6, vec![2, 2])]);
    let again = parts.root.list(program::PLANS)[0].clone().text(plan::NAME, "backward");
    parts.root.list(program::PLANS).push(again);
    let survey = survey(&executorch::encode_program(&parts).bytes);
    assert!(survey.findings.is_empty(), "{:?}", survey.findings);
    assert_eq!(survey.tensors[0].name, survey.tensors[1].name);
    assert_eq!(survey.tensors[0].tensor.chunks, survey.tensors[1].tensor.chunks);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn executorch_constants_are_read_back(list in executorch::arbitrary()) {
        let parts = of_constants(&list);
        let bytes = executorch::encode_program(&parts).bytes;
        let survey = survey(&bytes);
        prop_assert!(survey.findings.is_empty(), "{:?}", survey.findings);
        prop_assert_eq!(survey.tensors.len(), list.len());
        for (i, (fact, (_, sizes))) in survey.tensors.iter().zip(&list).enumerate() {
            prop_assert_eq!(fact.name.clone(), format!("w.{i}").into_bytes());
            let shape: Vec<u64> = sizes.iter().map(|extent| *extent as u64).collect();
            prop_assert_eq!(&fact.shape, &shape);
            prop_assert_eq!(fact.tensor.status, Status::Sound);
            let Chunks::One(span) = fact.tensor.chunks else { panic!("{fact:?}") };
            prop_assert_eq!(Some(span.len), fact.tensor.bytes());
            let data = &bytes[span.offset as usize..][..span.len as usize];
            let own: Vec<u8> = (0..data.len()).map(|at| (at * 7 + i) as u8).collect();
            prop_assert_eq!(data, &own[..]);
        }
    }
}
