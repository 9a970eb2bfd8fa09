//! Cases that no other file covers: each was found by a mutant that survived all other tests.

use weighbridge_core::{Finding, Format, Severity, Status};
use weighbridge_tests::encode::bintensors::{Dtype, Header, Width};
use weighbridge_tests::encode::ztensor::{self, Item};
use weighbridge_tests::encode::{idv, oinf, safetensors, stb};
use weighbridge_tests::survey::{Survey, survey_whole};

fn survey(format: Format, bytes: &[u8]) -> Survey {
    survey_whole(bytes, Some(format))
}

/// A type in 64 bits is also overlong, but that is reported only once, and does not hide an
/// overlong length before it.
#[test]
fn a_wide_type_beside_a_wide_length() {
    let rules = |length, width| {
        let mut header = Header::plain(1);
        match length {
            None => header.text("x"),
            Some(width) => header.wide(1, width).raw(b"x"),
        };
        header.wide(Dtype::U8.code(), width).int(1).int(1).int(0).int(1).pad();
        survey(Format::BinTensors, &header.file(&[7])).broken()
    };
    assert_eq!(rules(None, Width::Eight), ["V3"]);
    assert_eq!(rules(None, Width::Two), ["V4"]);
    assert_eq!(rules(Some(Width::Two), Width::Eight), ["V3", "V4"]);
}

/// 2^63 - 1 is a valid length, although too large for any file; 2^63 is not.
#[test]
fn the_longest_length_of_a_codec() {
    for (length, rule) in [(i64::MAX as u64, "T.eof"), (1 << 63, "T.codec.len")] {
        let mut column = idv::Column::new("c", idv::Codec::Text, vec![]);
        column.odd.codec = Some([idv::string(b"TextSpan"), idv::leb(length)].concat());
        let bytes = idv::encode(&idv::File::new(0, vec![column])).bytes;
        assert!(survey(Format::Idv, &bytes).broken().contains(&rule), "{length}");
    }
}

/// A tensor without data must have neither: the finding reports its size or, if that is 0, its
/// offset.
#[test]
fn oinf_tensor_without_data_has_no_size_or_offset() {
    for (size, offset, reported, (skip, len)) in
        [(16, 0, 16, (0, 8)), (0, 24, 24, (8, 8)), (16, 24, 16, (0, 16))]
    {
        let tensors = vec![oinf::declared("x", oinf::Type::U8, &[3])];
        let model = oinf::Model { version: 1, sizevars: vec![], metadata: vec![], tensors };
        let mut out = model.encode();
        let fields = out.tensors[0];
        out.put_u64(fields.data_nbytes, size);
        out.put_u64(fields.data_offset, offset);
        let survey = survey(Format::Oinf, &out.bytes);
        let finding = survey.findings.iter().find(|f| f.rule.id() == "TENSOR-NODATA");
        let at = fields.data_nbytes as u64 + skip;
        let reported = (at, len, 0, reported);
        assert_eq!(finding.map(|f| (f.offset, f.len, f.expected, f.found)), Some(reported));
    }
}

/// Each of STB's two reserved words is reported at its own location.
#[test]
fn reserved_words_are_reported_where_they_lie() {
    let sound = || stb::Stb::new(vec![stb::Tensor::new(0, 0, &[2])]);
    for (reserved, expected) in [
        ([0, 0], vec![]),
        ([7, 0], vec![(8, 4, 7)]),
        ([0, 1], vec![(12, 4, 1)]),
        ([5, u32::MAX], vec![(8, 4, 5), (12, 4, u64::from(u32::MAX))]),
    ] {
        let survey = survey(Format::Stb, &stb::Stb { reserved, ..sound() }.encode());
        let found: Vec<_> = survey.findings.iter().map(|f| (f.offset, f.len, f.found)).collect();
        assert_eq!(found, expected);
    }
}

/// What STB leaves to later versions or to an external table breaks no rule, but is reported as
/// unchecked.
#[test]
fn stb_unverifiable_tensor_is_unchecked() {
    let reported = |change: fn(&mut stb::Tensor)| {
        let mut file = stb::Stb::new(vec![stb::Tensor::new(0, 0, &[2])]);
        change(&mut file.tensors[0]);
        let survey = survey(Format::Stb, &file.encode());
        assert_eq!(survey.worst(), Severity::Unchecked);
        let structural = |f: &&Finding| f.rule.format() == Some(Format::Stb);
        let found = survey.findings.iter().filter(structural);
        let found: Vec<_> = found.map(|f| (f.rule.id(), f.offset, f.len, f.found)).collect();
        (survey.tensors[0].tensor.status, found)
    };
    let unsupported = Status::Unsupported;
    assert_eq!(reported(|t| t.dtype = 4), (unsupported, vec![("T-DTYPE", 33, 1, 4)]));
    assert_eq!(reported(|t| t.layout = 255), (unsupported, vec![("T-LAYOUT", 35, 1, 255)]));
    assert_eq!(reported(|t| t.rank = 4), (Status::Sound, vec![("T-SHAPE", 52, 12, 4)]));
    assert_eq!(reported(|t| t.rank = 8), (Status::Sound, vec![("T-SHAPE", 52, 12, 8)]));
    // Only the data type is reported, because it already makes the size unknown.
    let both = reported(|t| (t.rank, t.dtype) = (5, 9));
    assert_eq!(both, (unsupported, vec![("T-DTYPE", 33, 1, 9)]));
}

/// Padding ends at the next multiple of the alignment; anything after it is a gap or trailing data,
/// however short.
#[test]
fn padding_ends_at_the_alignment() {
    // The data of three bytes ends at 64 + 3, and its padding at 128.
    let file = |tail: &[u8]| {
        let mut file = stb::Stb::new(vec![stb::Tensor::new(0, 2, &[3])]);
        file.tail = tail.to_vec();
        let survey = survey(Format::Stb, &file.encode());
        survey.findings.iter().map(|f| (f.rule.id(), f.offset, f.len)).collect::<Vec<_>>()
    };
    let zeros = [0; 61];
    assert_eq!(file(&zeros[..60]), []);
    assert_eq!(file(&zeros), []);
    assert_eq!(file(&[&zeros[..], &[0]].concat()), [("D-TRAILING", 128, 1)]);
    assert_eq!(file(&[&zeros[..], &[9]].concat()), [("D-TRAILING", 128, 1)]);
    assert_eq!(file(&[&zeros[..5], &[9, 0]].concat()), [("D-PAD", 72, 2)]);
    let mut both = file(&[&zeros[..60], &[9], &[9; 70]].concat());
    both.sort_unstable();
    assert_eq!(both, [("D-PAD", 127, 1), ("D-TRAILING", 128, 70)]);
}

/// A header with truncated JSON still opens, with the entries before the fault.
#[test]
fn json_that_breaks_off_after_a_tensor() {
    let tensor = "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}";
    for rest in [",\"b\":{\"dtype\":\"U8", ",\"b", ","] {
        let header = format!("{{{tensor}{rest}");
        let survey = survey(Format::Safetensors, &safetensors::raw(header.as_bytes(), &[7]));
        assert!(survey.file.is_some(), "{rest}: {:?}", survey.broken());
        assert_eq!(survey.tensors[0].name, b"a");
        assert!(survey.worst() == Severity::Fatal, "{rest}: {:?}", survey.broken());
    }
}

/// A missing number is a syntax error, on the fast path as well.
#[test]
fn bintensors_number_needs_digits() {
    for (shape, offsets) in [("1,", "0,1"), (",1", "0,1"), ("1", ",1"), ("1", "0,")] {
        let header = format!(
            "{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{shape}],\"data_offsets\":[{offsets}]}}}}"
        );
        let survey = survey(Format::Safetensors, &safetensors::raw(header.as_bytes(), &[7]));
        assert_eq!(survey.broken(), ["JSON-SYNTAX"], "{header}");
    }
}

/// A number is overlong only if the shorter form represents it exactly, in range and digits.
#[test]
fn floats_are_as_short_as_they_can_be() {
    let rules = |item| {
        let tensor = ztensor::Tensor::raw("x", "uint8", &[1], vec![7]).custom("extra", item);
        survey(Format::ZTensor, &ztensor::File::of([tensor]).encode())
            .broken()
            .contains(&"CBOR-FLOAT")
    };
    for (value, short) in [(1.5, true), (0.1, false), (2_f32.powi(100), false), (-0.0, true)] {
        assert_eq!(rules(Item::F32(value)), short, "{value}");
    }
    for (value, short) in [(0.1, false), (2_f64.powi(1000), false), (0.25, true), (0.0, true)] {
        assert_eq!(rules(Item::F64(value)), short, "{value}");
    }
}

/// A fault in a nested codec is confined to the outer one, whose length is known, so the next
/// column is listed.
#[test]
fn idv_broken_nested_codec_ends_outer_codec() {
    let inner = [idv::string(b"TextSpan"), idv::leb(1 << 63)].concat();
    let mut column = idv::Column::new("a", idv::Codec::Text, vec![]);
    column.odd.codec =
        Some([idv::string(b"VBuffer"), idv::leb(inner.len() as u64), inner].concat());
    let next = idv::Column::new("b", idv::Codec::Text, vec![]);
    let survey = survey(Format::Idv, &idv::encode(&idv::File::new(0, vec![column, next])).bytes);
    let names: Vec<_> = survey.tensors.iter().map(|fact| fact.name.as_slice()).collect();
    assert_eq!(names, [b"a", b"b"]);
    assert_eq!(survey.broken(), ["T.codec.len"]);
}

/// However many nested arrays hold faulty values, the entry is reported once.
#[test]
fn gguf_broken_entry_is_one_finding() {
    let all = weighbridge_tests::fixtures::all();
    let of_gguf = all.iter().find(|(format, _)| *format == "gguf").unwrap();
    let nested = of_gguf.1.iter().find(|fixture| fixture.name == "bools-nested").unwrap();
    let findings = survey(Format::Gguf, &nested.bytes).findings;
    assert_eq!(findings.iter().filter(|it| it.rule.id() == "VALUE-BOOL").count(), 1);
}
