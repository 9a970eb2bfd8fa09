//! Like `mutants`, for binary data views.

use weighbridge_core::format::idv::Header;
use weighbridge_core::{DType, Encoding, File, Format, Source, Value};
use weighbridge_tests::encode::idv::{
    self, Annotation, Block, Cell, Codec, Column, Compression, Content, Number, encode,
};
use weighbridge_tests::survey::{Survey, survey_whole};

fn surveyed(bytes: &[u8]) -> Survey {
    survey_whole(bytes, Some(Format::Idv))
}

fn header(survey: &Survey) -> Header {
    match survey.file {
        Some(File::Idv(header)) => header,
        ref other => panic!("{other:?}"),
    }
}

/// A file with one column and no rows.
fn no_rows(codec: Codec) -> Vec<u8> {
    encode(&idv::File::new(0, vec![Column::new("c", codec, vec![])])).bytes
}

/// A file with an annotation and no rows.
fn annotated(annotation: Annotation) -> Vec<u8> {
    let column = Column::new("c", Codec::Boolean, vec![]).annotated(annotation);
    encode(&idv::File::new(0, vec![column])).bytes
}

/// The value of the first annotation.
fn value(annotation: Annotation) -> Option<Value> {
    surveyed(&annotated(annotation)).tensors[0].attributes[0].value
}

#[test]
fn an_annotation_whose_entry_is_absent() {
    let bytes = annotated(Annotation::new("k", Codec::Boolean, Cell::Bool(Some(true))));
    let survey = surveyed(&bytes);
    let (header, meta) = (header(&survey), &survey.tensors[0].attributes[0].meta);
    assert!(header.annotation_payload(&Source::whole(&bytes), meta).unwrap().is_some());
    let nothing = Source::windows(bytes.len() as u64, &[]);
    assert!(header.annotation_payload(&nothing, meta).is_err());
}

/// A single uncompressed text is returned directly; any other block of texts must be decoded.
#[test]
fn annotations_that_are_one_text() {
    let one = Annotation::new("k", Codec::Text, Cell::text("one"));
    assert!(matches!(value(one.clone()), Some(Value::Text(_))));
    let missing = Annotation::new("k", Codec::Text, Cell::Text(None));
    assert!(matches!(value(missing), Some(Value::Encoded { encoding: Encoding::Raw, .. })));
    let mut stored = idv::payload(&Codec::Text, &[Cell::text("one")]);
    stored.push(0);
    let decoded = stored.len() as i32;
    let stray = Annotation { content: Content::Blocks(vec![Block { stored, decoded }]), ..one };
    assert!(matches!(value(stray), Some(Value::Encoded { encoding: Encoding::Raw, .. })));
    let packed = Annotation {
        compression: Compression::Deflate,
        ..Annotation::new("k", Codec::Text, Cell::text("one"))
    };
    let found = value(packed);
    let Some(Value::Encoded { dtype, encoding, .. }) = found else { panic!("{found:?}") };
    assert_eq!((dtype, encoding), (DType::Text, Encoding::Deflate));
    let vector = Codec::vector(Codec::Text, &[1]);
    let vector = Annotation::new("k", vector, Cell::Dense(vec![Cell::text("one")]));
    let found = value(vector);
    let Some(Value::Encoded { dims, .. }) = found else { panic!("{found:?}") };
    assert_eq!(dims.rank(), 1);
}

#[test]
fn a_block_without_rows() {
    let bytes = no_rows(Codec::Number(Number::Int32));
    let survey = surveyed(&bytes);
    let header = header(&survey);
    let codec = header.codec(&Source::whole(&bytes), &survey.tensors[0].tensor).unwrap();
    assert!(header.block(&codec, 0, &[]).unwrap().is_empty());
    assert!(!header.block(&codec, 1, &[0; 4]).unwrap().is_empty());
}

/// The size of rows is known only for known versions and compressions.
#[test]
fn blocks_that_cannot_be_measured() {
    let short = |version, compression| {
        let block = Block { stored: vec![0; 4], decoded: 4 };
        let column = Column {
            rows_per_block: 2,
            content: Content::Blocks(vec![block]),
            ..Column::new("c", Codec::Number(Number::Int32), vec![])
        };
        let file = idv::File::new(2, vec![column.compressed(compression)]).with_version(version);
        surveyed(&encode(&file).bytes).broken().contains(&"B.short")
    };
    assert!(short(4, Compression::None));
    assert!(!short(3, Compression::None));
    assert!(!short(6, Compression::Other(9)));
}

/// Dimensions and their product must not be negative, even next to a 0.
#[test]
fn dimensions_of_vectors() {
    for (dims, broken) in [
        ([32767, 65536], false),
        ([32768, 65536], true),
        ([0, 1], false),
        ([0, -1], true),
        ([0, i32::MIN], true),
    ] {
        let inner = Codec::Number(Number::Byte);
        let survey = surveyed(&no_rows(Codec::Vector(Box::new(inner), dims.to_vec())));
        assert_eq!(survey.broken().contains(&"T.codec.vec.dims"), broken, "{dims:?}");
    }
}

#[test]
fn a_key_of_a_key() {
    let codec = Codec::Key2(Box::new(Codec::key(Number::Byte, 9)), 5);
    let survey = surveyed(&no_rows(codec));
    assert!(survey.broken().is_empty(), "{:?}", survey.findings);
    assert_eq!(survey.tensors[0].tensor.dtype, DType::Key8);
}

/// A pair of bits is 0, 1 or 2, independently of its neighbours; pairs after the last row are
/// padding.
#[test]
fn pairs_of_bits() {
    let bytes = no_rows(Codec::DvBool);
    let survey = surveyed(&bytes);
    let header = header(&survey);
    let codec = header.codec(&Source::whole(&bytes), &survey.tensors[0].tensor).unwrap();
    for (rows, byte, broken) in
        [(1, 0x03, true), (4, 0xFF, true), (2, 0x0D, true), (1, 0x0D, false), (4, 0x96, false)]
    {
        let bytes = [byte, 0, 0, 0];
        let found = header.block(&codec, rows, &bytes);
        let rule = found.err().map(|fault| fault.rule.id());
        assert_eq!(rule, broken.then_some("B.dvbool.3"), "{rows} {byte:#x}");
    }
}

/// The missing ranges include the table of contents.
#[test]
fn a_missing_table_of_contents() {
    let bytes = no_rows(Codec::Boolean);
    let file = surveyed(&bytes).file.unwrap();
    let mut missing = 0;
    file.missing(&Source::windows(bytes.len() as u64, &[]), &mut |_| missing += 1);
    assert_eq!(missing, 1);
}

/// Shared long annotations or slot names are not examined for every column.
#[test]
fn names_that_are_shared() {
    for (version, width) in [(6, 8), (3, 20)] {
        let long = "k".repeat(10_000);
        let column = |i: usize| {
            let name = if i == 0 { long.as_str() } else { "k" };
            let mut column = Column::new(&format!("c{i}"), Codec::Boolean, vec![]);
            if version == 3 {
                column.slot_names.push((0, name.to_owned()));
            } else {
                let truth = Cell::Bool(Some(true));
                column.annotations.push(Annotation::new(name, Codec::Boolean, truth));
            }
            column
        };
        let file = idv::File::new(0, (0..40).map(column).collect()).with_version(version);
        let mut encoded = encode(&file);
        let spent = |bytes: &[u8]| {
            let findings = surveyed(bytes).findings;
            findings.iter().any(|finding| finding.rule.id() == "SHARED-UNCHECKED")
        };
        assert!(!spent(&encoded.bytes), "{version}");
        let first = encoded.columns[0].metadata_offset;
        let place = encoded.bytes[first..first + width].to_vec();
        for i in 1..40 {
            encoded = {
                let at = encoded.columns[i].metadata_offset;
                encoded.patched(at, &place)
            };
        }
        assert!(spent(&encoded.bytes), "{version}");
    }
}
