//! ONNX: the SHA-1 that a model states for a file with its data.

use weighbridge::{Goal, Options, Profile, Report, Verdict, check_path};
use weighbridge_tests::encode::onnx::{Message, Model, Tensor, pair};

/// The SHA-1 of twelve floats from 0.
const SUM: &str = "e3c37aebe7ab9ced9ba57fce57142b9b95c3dc86";

fn floats() -> Vec<u8> {
    (0..12_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect()
}

/// Six floats at an offset of `w.bin`, whose SHA-1 is stated as `sum`.
fn external(name: &str, offset: &str, sum: &str) -> (u64, Message) {
    let entries = [("location", "w.bin"), ("offset", offset), ("length", "24"), ("checksum", sum)];
    let tensor = Tensor::new(name, &[2, 3]).head().text(8, name);
    let tensor = entries.iter().fold(tensor, |m, (key, value)| m.message(13, pair(key, value)));
    (5, tensor.int(14, 1))
}

/// The report on a model that states these for the file of its two tensors, which has `data`.
fn checked(sums: [&str; 2], data: Option<&[u8]>, options: &Options) -> Report {
    let mut model = Model::new(&[]);
    model.graph.extend([external("a", "0", sums[0]), external("b", "24", sums[1])]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, model.encode()).unwrap();
    if let Some(data) = data {
        std::fs::write(folder.path().join("w.bin"), data).unwrap();
    }
    check_path(&path, options).unwrap()
}

/// The rules that a report finds broken, and its verdict.
fn outcome(report: &Report) -> (Vec<&str>, Verdict) {
    let rules = report.findings().iter().map(|found| found.rule()).collect();
    (rules, report.verdict(Profile::Strict))
}

#[test]
fn onnx_stated_sha1_of_data_file_is_compared() {
    let options = Options::new();
    let upper = SUM.to_uppercase();
    let report = checked([SUM, &upper], Some(&floats()), &options);
    assert_eq!(outcome(&report), (vec![], Verdict::Valid), "{report:?}");
    let other = format!("{}0", &SUM[..39]);
    let report = checked([SUM, &other], Some(&floats()), &options);
    assert_eq!(outcome(&report), (vec!["E-CHECKSUM"], Verdict::Invalid), "{report:?}");
    assert_eq!(report.findings()[0].entry().unwrap().to_string(), "b");
    // Once, although two tensors lie in the file.
    let mut bytes = floats();
    bytes[47] ^= 1;
    let report = checked([SUM, SUM], Some(&bytes), &options);
    assert_eq!(outcome(&report), (vec!["E-CHECKSUM"], Verdict::Invalid), "{report:?}");
}

#[test]
fn onnx_checksum_that_cannot_be_compared_is_unchecked() {
    let options = Options::new();
    for text in [&SUM[1..], "sha256"] {
        let report = checked([SUM, text], Some(&floats()), &options);
        assert_eq!(outcome(&report).1, Verdict::Unchecked, "{text}: {report:?}");
    }
    let report = checked([SUM, SUM], None, &options);
    assert_eq!(outcome(&report).1, Verdict::Unchecked, "{report:?}");
}

#[test]
fn onnx_structure_alone_compares_no_sha1() {
    let options = Options::new().goal(Goal::Structure);
    let report = checked([SUM, SUM], Some(&[0; 48]), &options);
    assert_eq!(report.checked(), ["structure"], "{report:?}");
    assert!(report.findings().is_empty(), "{report:?}");
}
