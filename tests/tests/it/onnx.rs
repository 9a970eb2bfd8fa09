//! ONNX: names of constants.

use weighbridge_core::{Format, Index, Name, NameEncoding, Slot, Source};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::survey_whole;

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
    let file = weighbridge_core::File::open(&source, &mut |_| {}).unwrap();
    let mut index = Index::new([Slot::EMPTY; 4], 0);
    index.step(&file, &source).unwrap();
    for (name, place) in [("w", Some(0)), ("k", Some(1)), ("l", Some(2)), ("c", None)] {
        let name = Name::new(name.as_bytes(), NameEncoding::Plain);
        let found = index.find(&file, &source, &name).unwrap();
        assert_eq!(found.map(|tensor| tensor.index), place, "{name:?}");
    }
}
