//! Like `mutants`: more cases that no fixture covers.

use weighbridge_core::format::idv::block::{Block, Row, Scalar};
use weighbridge_core::{File, Format, Source};
use weighbridge_tests::encode::idv::{self, Cell, Codec, Number};
use weighbridge_tests::encode::safetensors;
use weighbridge_tests::survey::survey_whole;

/// Passes the rows of the first block of the first column to `look`.
fn rows(file: &idv::File, look: impl FnOnce(Block<'_>)) {
    let bytes = idv::encode(file).bytes;
    let survey = survey_whole(&bytes, Some(Format::Idv));
    let Some(File::Idv(header)) = survey.file else { panic!("{:?}", survey.findings) };
    let source = Source::whole(&bytes);
    let fact = &survey.tensors[0];
    let codec = header.codec(&source, &fact.tensor).unwrap();
    let stored = source.get(fact.chunks[0].stored).unwrap();
    look(header.block(&codec, file.rows as u64, stored).unwrap());
}

/// Before version 1.1.1.6, the minimum of each signed type is a missing value; that of other types
/// is not.
#[test]
fn the_least_number_was_a_missing_one() {
    let of = |version, number, bits| {
        let column = idv::Column::new("c", Codec::Number(number), vec![Cell::Bits(bits)]);
        let mut missing = false;
        rows(&idv::File::new(1, vec![column]).with_version(version), |block| {
            missing = matches!(block.rows().next(), Some(Row::Scalar(Scalar::Missing)));
        });
        missing
    };
    let least = [
        (Number::SByte, 1 << 7),
        (Number::Int16, 1 << 15),
        (Number::Int32, 1 << 31),
        (Number::Int64, 1 << 63),
    ];
    for (number, bits) in least {
        assert!(of(5, number, bits), "{number:?}");
        assert!(!of(6, number, bits), "{number:?}");
        assert!(!of(5, number, bits - 1), "{number:?}");
    }
    assert!(!of(5, Number::UInt16, 1 << 15));
}

/// Since 1.1.1.6, readers of scalars return 0 for the minimum time span; in vectors it is returned
/// unchanged.
#[test]
fn the_least_time_span() {
    let least = || Cell::Bits(1 << 63);
    let span = Codec::TimeSpan(false);
    let scalar = idv::Column::new("c", span.clone(), vec![least()]);
    rows(&idv::File::new(1, vec![scalar]), |block| {
        let row = block.rows().next();
        assert!(matches!(row, Some(Row::Scalar(Scalar::TimeSpan(0)))), "{row:?}");
    });
    let vector = Codec::vector(span, &[1]);
    let column = idv::Column::new("c", vector, vec![Cell::dense(&[1 << 63])]);
    rows(&idv::File::new(1, vec![column]), |block| {
        let Some(Row::Vector(vector)) = block.rows().next() else { panic!("no vector") };
        let value = vector.values().next();
        assert!(matches!(value, Some(Scalar::TimeSpan(i64::MIN))), "{value:?}");
    });
}

#[test]
fn lengths_of_rows_and_vectors() {
    let cells = vec![Cell::dense(&[1, 2]), Cell::sparse(2, &[])];
    let codec = Codec::vector(Codec::Number(Number::Int32), &[2]);
    rows(&idv::File::new(2, vec![idv::Column::new("v", codec, cells)]), |block| {
        assert_eq!((block.len(), block.is_empty()), (2, false));
        let mut rows = block.rows();
        assert_eq!(rows.size_hint(), (2, Some(2)));
        let Some(Row::Vector(dense)) = rows.next() else { panic!("no vector") };
        assert_eq!((dense.len(), dense.is_empty(), dense.values().len()), (2, false, 2));
        assert_eq!(rows.size_hint(), (1, Some(1)));
        let Some(Row::Vector(sparse)) = rows.next() else { panic!("no vector") };
        assert_eq!((sparse.len(), sparse.values().len()), (2, 0));
        assert!(rows.next().is_none());
    });
    let codec = Codec::vector(Codec::Number(Number::Int32), &[0]);
    let empty = idv::Column::new("v", codec, vec![Cell::dense(&[])]);
    rows(&idv::File::new(1, vec![empty]), |block| {
        let Some(Row::Vector(vector)) = block.rows().next() else { panic!("no vector") };
        assert!(vector.is_empty() && vector.values().next().is_none());
    });
}

/// Values of unknown fields are skipped, whatever their type.
#[test]
fn literals_in_unknown_fields() {
    for value in ["true", "false", "null", "-1.5e3", "\"\"", "[]", "{}", "[true,[false]]"] {
        let header = format!(
            "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":{value}}}}}"
        );
        let bytes = safetensors::raw(header.as_bytes(), &[7]);
        let survey = survey_whole(&bytes, Some(Format::Safetensors));
        assert_eq!(survey.broken(), ["FIELD-UNKNOWN"], "{value}");
        assert_eq!(survey.tensors.len(), 1, "{value}");
    }
}

/// The smallest non-ASCII byte is not valid UTF-8 on its own.
#[test]
fn the_least_byte_beyond_ascii() {
    for (byte, broken) in [(0x7F, false), (0x80, true)] {
        let header = [b"{\"", [byte].as_slice(), b"\":{\"dtype\":\"U8\",\"shape\":[0],"].concat();
        let header = [header.as_slice(), b"\"data_offsets\":[0,0]}}"].concat();
        let bytes = safetensors::raw(&header, &[]);
        let survey = survey_whole(&bytes, Some(Format::Safetensors));
        assert_eq!(survey.broken().contains(&"HEADER-UTF8"), broken, "{byte}");
    }
}

/// Brackets must match at every depth.
#[test]
fn brackets_of_unknown_fields() {
    let broken_rules = |value: &str| {
        let header = format!(
            "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":{value}}}}}"
        );
        let bytes = safetensors::raw(header.as_bytes(), &[7]);
        survey_whole(&bytes, Some(Format::Safetensors)).broken()
    };
    for sound in ["{\"b\":[1],\"c\":2}", "[{\"b\":1},2]", "[[{\"b\":[{}]}],{\"c\":[2]},[3]]"] {
        assert_eq!(broken_rules(sound), ["FIELD-UNKNOWN"], "{sound}");
    }
    for broken in ["[1}", "{\"b\":1]", "[{\"b\":1]]", "{\"b\":[1}}", "[[1],\"b\":2]"] {
        assert!(broken_rules(broken).contains(&"JSON-SYNTAX"), "{broken}");
    }
}

#[test]
fn format_is_found_by_name_and_file_name() {
    for &format in Format::ALL {
        assert!(!format.to_string().is_empty());
        assert_eq!(Format::by_name(&format.name().to_uppercase()), Some(format));
        for extension in format.extensions() {
            let found = Format::by_file_name(&format!("a.{}", extension.to_uppercase()));
            assert!(found.is_some_and(|found| found.extensions().contains(extension)));
        }
    }
    assert_eq!(Format::Stb.to_string(), "STB");
    assert_eq!((Format::by_name("tensor"), Format::by_file_name("a.txt")), (None, None));
}

/// Bytes that only resemble a format are not detected as one.
#[test]
fn unknown_content_has_no_format() {
    let shards = ["{\"weight_map\":", "{ \n\"metadata\":", "{\"weight_m", "{\"me"];
    for head in shards {
        assert_eq!(Format::of_head(head.as_bytes(), 1000), Some(Format::Shards), "{head}");
    }
    for head in ["{\"weights\":{}", "{\"model\":1}", "{}", "{\"", "[\"metadata\"", "\"metadata\""] {
        assert_eq!(Format::of_head(head.as_bytes(), 1000), None, "{head}");
    }
    // Lengths that do not fit, and a first byte that cannot begin metadata.
    for (length, first) in [(1000_u64, 0_u8), (16, 9), (1 << 40, 0)] {
        let head = [length.to_le_bytes().as_slice(), &[first]].concat();
        assert_eq!(Format::of_head(&head, 100), None, "{length} {first}");
    }
}

/// A request for an annotation whose entry is not resident returns the bytes to fetch.
#[test]
fn idv_missing_annotation_field_is_named() {
    let mut asked = 0;
    for fixture in weighbridge_tests::fixtures::idv::all() {
        let bytes = &fixture.bytes;
        let survey = survey_whole(bytes, Some(Format::Idv));
        let Some(File::Idv(header)) = survey.file else { continue };
        let whole = Source::whole(bytes);
        let nothing = Source::windows(bytes.len() as u64, &[]);
        for fact in survey.tensors.iter().flat_map(|tensor| &tensor.attributes) {
            let Ok(Some(_)) = header.annotation_payload(&whole, &fact.meta) else { continue };
            let absent = header.annotation_payload(&nothing, &fact.meta).unwrap_err();
            assert!(absent.need > 0 && absent.offset + absent.need <= bytes.len() as u64);
            assert!(absent.offset >= fact.meta.offset, "{}: {absent:?}", fixture.name);
            asked += 1;
        }
    }
    assert!(asked > 0);
}

/// A missing shape is located inside its tensor's entry.
#[test]
fn a_shape_that_is_missing_has_a_place() {
    let bytes = safetensors::raw(br#"{"a":{"dtype":"U8","data_offsets":[0,1]}}"#, &[0]);
    let survey = survey_whole(&bytes, Some(Format::Safetensors));
    let tensor = &survey.tensors[0].tensor;
    assert!(
        tensor.dims.offset > tensor.offset && tensor.dims.offset < bytes.len() as u64,
        "{tensor:?}"
    );
}
