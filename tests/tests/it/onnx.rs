//! ONNX: names of constants, and data in other files.

use weighbridge_core::format::onnx::Locations;
use weighbridge_core::{
    Audit, Beside, Chunks, Cursor, File, Format, Index, Name, NameEncoding, Opening, Slot, Source,
    Span, Status,
};
use weighbridge_tests::encode::onnx::{Model, Tensor, pair};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::{Access, Host, survey_whole};

/// The bytes of a fixture.
fn fixture(name: &str) -> Vec<u8> {
    let all = fixtures::all().into_iter().find(|(format, _)| *format == "onnx").unwrap().1;
    let found = all.into_iter().find(|fixture| fixture.name == name);
    found.unwrap_or_else(|| panic!("no fixture {name}")).bytes
}

/// The names of the tensors of a fixture.
fn names(fixture_name: &str) -> Vec<String> {
    let survey = survey_whole(&fixture(fixture_name), Some(Format::Onnx));
    let text = |name: &Vec<u8>| String::from_utf8(name.clone()).unwrap();
    survey.tensors.iter().map(|tensor| text(&tensor.name)).collect()
}

#[test]
fn onnx_constant_has_name_of_its_output() {
    assert_eq!(names("constants-of-one-name"), ["w", "k", "l"]);
    assert_eq!(names("functions-of-equal-constants"), ["w", "k", "k", "k"]);
}

#[test]
fn onnx_sparse_constant_names_its_values() {
    assert_eq!(names("sparse-constant"), ["w", "k", ""]);
}

#[test]
fn onnx_tensor_of_other_attribute_has_no_name() {
    assert_eq!(names("tensor-of-other-operator"), ["w", ""]);
    assert_eq!(names("constant-with-late-output"), ["w", ""]);
}

#[test]
fn onnx_constant_is_found_by_name() {
    let bytes = fixture("constants-of-one-name");
    let source = Source::whole(&bytes);
    let file = File::open(&source, &mut |_| {}).unwrap();
    let mut index = Index::new([Slot::EMPTY; 4], 0);
    index.step(&file, &source).unwrap();
    for (name, place) in [("w", Some(0)), ("k", Some(1)), ("l", Some(2)), ("c", None)] {
        let name = Name::new(name.as_bytes(), NameEncoding::Plain);
        let found = index.find(&file, &source, &name).unwrap();
        assert_eq!(found.map(|tensor| tensor.index), place, "{name:?}");
    }
}

/// A model of tensors with 24 bytes of data each, in files `w`, at these offsets, and its length;
/// 40 bytes of one file follow.
fn with_data(offsets: &[u64]) -> (Vec<u8>, u64) {
    let mut model = Model::new(&[]);
    for (i, offset) in offsets.iter().enumerate() {
        let name = format!("t{i}");
        let tensor = Tensor::new(&name, &[2, 3]).head().text(8, &name).int(14, 1);
        let tensor = tensor.message(13, pair("location", "w"));
        model.graph.push((
            5,
            tensor
                .message(13, pair("offset", &offset.to_string()))
                .message(13, pair("length", "24")),
        ));
    }
    let mut bytes = model.encode();
    let own = bytes.len() as u64;
    bytes.extend([0; 40]);
    (bytes, own)
}

/// The rules that an audit finds broken, through windows, and the spans and states of the tensors.
fn audited(bytes: &[u8], own: u64, access: Access) -> (Vec<&'static str>, Vec<(u64, Status)>) {
    let mut host = Host::new(bytes, access);
    let mut opening = Opening::of(Some(Format::Onnx));
    let file = host
        .drive(|source| opening.step(&source.with_beside(own, &[]), &mut |_| {}))
        .unwrap()
        .unwrap();
    let (mut locations, mut table) = (Locations::new(), Vec::new());
    host.drive(|source| {
        while let Some(location) = locations.step(&source.with_beside(own, &[]))? {
            table.push(Beside { at: location.path.offset, base: own, len: 40 });
        }
        Ok(())
    })
    .unwrap()
    .unwrap();
    let (mut audit, mut found) = (Audit::new(file).structure_only(), Vec::new());
    let mut slots = [Slot::EMPTY; 16];
    host.drive(|source| {
        let source = source.with_beside(own, &table);
        audit.step(&source, &mut slots, &mut |finding| found.push(finding.rule.id()))
    })
    .unwrap()
    .unwrap();
    let (mut cursor, mut listed) = (Cursor::default(), Vec::new());
    host.drive(|source| {
        let source = source.with_beside(own, &table);
        while let Some(entry) = file.next_tensor(&source, &mut cursor, &mut |_| {})? {
            let at = match entry.chunks {
                Chunks::One(Span { offset, .. }) => offset - own,
                _ => u64::MAX,
            };
            listed.push((at, entry.status));
        }
        Ok(())
    })
    .unwrap()
    .unwrap();
    (found, listed)
}

#[test]
fn onnx_data_in_other_file_is_found_behind_the_model() {
    for access in [Access::Whole, Access::Least] {
        let (bytes, own) = with_data(&[0, 16, 0]);
        let sound = [(0, Status::Sound), (16, Status::Sound), (0, Status::Sound)];
        assert_eq!(audited(&bytes, own, access), (vec!["E-OVERLAP"], sound.to_vec()));
        let (bytes, own) = with_data(&[17]);
        let broken = vec![(u64::MAX, Status::Broken)];
        assert_eq!(audited(&bytes, own, access), (vec!["E-PAST"], broken));
    }
}

#[test]
fn onnx_data_in_unknown_file_is_unchecked() {
    let (bytes, own) = with_data(&[0]);
    let survey = survey_whole(&bytes[..own as usize], Some(Format::Onnx));
    let rules: Vec<_> = survey.findings.iter().map(|finding| finding.rule.id()).collect();
    assert_eq!(rules, ["E-UNCHECKED"]);
    assert_eq!(survey.tensors[0].tensor.chunks, Chunks::None);
}
