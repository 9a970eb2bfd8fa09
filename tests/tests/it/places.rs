//! Findings point to the right bytes and entry, and cover exactly what is wrong.

use weighbridge_core::{EntryKind, Finding, Format};
use weighbridge_tests::encode::gguf;
use weighbridge_tests::survey::survey_whole;

fn safetensors(header: &str, data: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + data, 0);
    bytes
}

fn findings(format: Format, bytes: &[u8], rule: &str) -> Vec<Finding> {
    let mut found = survey_whole(bytes, Some(format)).findings;
    found.retain(|finding| finding.rule.id() == rule);
    found
}

/// The text marked by the only finding of this rule.
fn marked(header: &str, data: usize, rule: &str) -> String {
    let bytes = safetensors(header, data);
    let found = findings(Format::Safetensors, &bytes, rule);
    let [one] = found[..] else { panic!("{rule}: {found:?}") };
    let text = &bytes[one.offset as usize..][..one.len as usize];
    String::from_utf8_lossy(text).into_owned()
}

#[test]
fn finding_covers_only_the_value_of_the_field() {
    let entry = |offsets: &str, shape: &str| {
        format!(r#"{{"a":{{"data_offsets":{offsets},"shape":{shape} ,"dtype":"U8"}}}}"#)
    };
    for (offsets, shape, rule, marks) in [
        ("[0,5]", "[4]", "OFFSET-BOUNDS", "[0,5]"),
        ("[4, 0]", "[4]", "OFFSET-ORDER", "[4, 0]"),
        ("[0,4]", "[5]", "TENSOR-SIZE", "[0,4]"),
        ("[0,4]", "[4294967296,4294967296]", "SHAPE-OVERFLOW", "[4294967296,4294967296]"),
    ] {
        assert_eq!(marked(&entry(offsets, shape), 4, rule), marks, "{rule}");
    }
    let field = |field: &str| {
        format!(r#"{{"a":{{{field},"dtype":"U8","shape":[4],"data_offsets":[0,4]}}}}"#)
    };
    assert_eq!(marked(&field(r#""x":[1, 1e400 ,2]"#), 4, "NUMBER-DOUBLE"), "1e400");
    assert_eq!(marked(&field(r#""x":{"k":1,"\u006b":[3]}"#), 4, "KEY-DUPLICATE"), r#""\u006b""#);
}

#[test]
fn duplicate_metadata_blames_no_tensor() {
    for header in [
        r#"{"__metadata__":{},"__metadata__":{},"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}"#,
        r#"{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"__metadata__":{},"__metadata__":{}}"#,
    ] {
        let found = findings(Format::Safetensors, &safetensors(header, 4), "METADATA-DUPLICATE");
        let [one] = found[..] else { panic!("{found:?}") };
        assert_eq!((one.kind, one.entry), (EntryKind::File, 0));
        let second = header.rfind("\"__metadata__\"").unwrap() + 8;
        assert_eq!((one.offset, one.len), (second as u64, 17));
    }
}

fn four(offsets: [u64; 4]) -> Vec<u8> {
    let names = ["a", "b", "c", "d"];
    let tensors = names.map(|name| gguf::Tensor::new(name, 24, &[32])).to_vec();
    let mut encoded = gguf::File { tensors, ..gguf::File::default() }.encode();
    for (i, offset) in offsets.into_iter().enumerate() {
        let at = encoded.extent(i, 1) + 4;
        encoded.set(at, 8, offset);
    }
    encoded.bytes.resize(encoded.data_at + 512, 0);
    encoded.bytes
}

/// ggml derives offsets from the sizes of tensors, wherever their data is recorded.
#[test]
fn only_misplaced_tensor_breaks_offset_order() {
    for (offsets, astray) in [
        ([0, 32, 64, 96], &[][..]),
        ([0, 256, 64, 96], &[(1, 32)]),
        ([0, 256, 288, 320], &[(1, 32)]),
        ([0, 256, 288, 96], &[(1, 32)]),
        ([0, 0, 64, 96], &[(1, 32)]),
        ([64, 32, 0, 96], &[(0, 0), (2, 64)]),
        ([0, 64, 32, 96], &[(1, 32), (2, 64)]),
        ([0, 33, 64, 96], &[]),
    ] {
        let found = findings(Format::Gguf, &four(offsets), "OFFSET-ORDER");
        let reported: Vec<_> = found.iter().map(|f| (f.entry, f.expected)).collect();
        assert_eq!(reported, astray, "{offsets:?}");
    }
}

/// Padding ends at the next multiple of the alignment, and what follows is not padding.
#[test]
fn padding_ends_at_alignment() {
    for alignment in [8, 24, 32, 1000] {
        let tensors = vec![gguf::Tensor::new("a", 24, &[5])];
        let stated = (b"general.alignment".to_vec(), gguf::Value::u32(alignment as u32));
        let file = gguf::File { alignment, tensors, metadata: vec![stated], ..Default::default() };
        let encoded = file.encode();
        let (end, sound) = (encoded.bytes.len() as u64, encoded.data_at as u64 + 5);
        for more in [0, 1, 7, 12, 31, 32, 33] {
            for byte in [0, 7] {
                let mut bytes = encoded.bytes.clone();
                bytes[sound as usize..].fill(byte);
                bytes.resize(bytes.len() + more, 7);
                let marks = |rule| {
                    let found = findings(Format::Gguf, &bytes, rule);
                    found.iter().map(|f| (f.offset, u64::from(f.len))).collect::<Vec<_>>()
                };
                let padding = if byte == 0 { vec![] } else { vec![(sound, end - sound)] };
                let trailing = if more == 0 { vec![] } else { vec![(end, more as u64)] };
                assert_eq!(marks("PADDING"), padding, "{alignment} {more}");
                assert_eq!(marks("TRAILING"), trailing, "{alignment} {more}");
            }
        }
    }
}

#[test]
fn finding_on_signature_names_the_signature() {
    let all = weighbridge_tests::fixtures::all();
    let (_, fixtures) = all.iter().find(|(format, _)| *format == "tflite").unwrap();
    for (fixture, rule) in [
        ("signature-of-subgraph-9", "K-SUBGRAPH"),
        ("signature-input-constant", "K-TENSOR"),
        ("signature-input-without-name", "K-NAME"),
    ] {
        let bytes = &fixtures.iter().find(|it| it.name == fixture).unwrap().bytes;
        let report = weighbridge::check(bytes).unwrap();
        let found = report.findings().iter().find(|finding| finding.rule() == rule).unwrap();
        let name = found.entry().map(ToString::to_string);
        assert_eq!(name.as_deref(), Some("serving_default"), "{rule}");
    }
}
