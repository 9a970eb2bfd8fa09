//! Features specific to zTensor: compressed data, both byte orders, custom
//! fields.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::ztensor::{Checksum, File, Item, Tensor, sparse, zstd};
use weighbridge_tests::fixtures;

fn write(folder: &Folder, tensors: Vec<Tensor>) {
    folder.write("a.zt", &File::of(tensors).encode());
}

#[test]
fn compressed_elements_are_shown_and_extracted() {
    let folder = Folder::new();
    let numbers: Vec<u8> = (0..300_000_u32).flat_map(|n| (n * 3).to_le_bytes()).collect();
    write(&folder, vec![Tensor::zstd("z", "uint32", &[3, 100_000], &numbers)]);
    let json = run(&folder, &["inspect", "a.zt", "--json", "--values", "4", "--stats"]).json();
    assert_eq!(json["tensors"][0]["encoding"], "zstd");
    assert_eq!(json["tensors"][0]["values"], json!([0, 3, 6, 9]));
    assert_eq!(json["tensors"][0]["stats"]["max"], 899_997);
    let out = ["extract", "a.zt", "z", "-o", "out.npy"];
    assert_eq!(run(&folder, &out).code, 0);
    let npy = std::fs::read(folder.path().join("out.npy")).expect("it was written");
    assert_eq!(npy[128..], numbers);
    assert_eq!(run(&folder, &["extract", "a.zt", "z", "--raw", "-o", "out"]).code, 0);
    assert_eq!(std::fs::read(folder.path().join("out")).expect("it was written"), numbers);
}

#[test]
fn undecodable_data_leaves_no_file() {
    let folder = Folder::new();
    let mut tensor = Tensor::zstd("z", "uint8", &[100_000], &[7; 100_000]);
    let last = tensor.blob.len() - 1;
    tensor.blob.truncate(last);
    write(&folder, vec![tensor]);
    let shown = run(&folder, &["inspect", "a.zt", "--json", "--values", "1000000"]);
    assert_ne!(shown.code, 0, "values were asked for and cannot be had");
    assert_eq!(shown.json()["unchecked"][0]["entry"], "z");
    assert_ne!(run(&folder, &["extract", "a.zt", "z"]).code, 0);
    assert_eq!(folder.names(), ["a.zt"]);
}

#[test]
fn sparse_tensor_is_not_extracted() {
    let folder = Folder::new();
    let blob = sparse::coo(&[(&[0, 1], &[1, 2, 3, 4])]);
    for layout in ["sparse", "sparsecoo", "diagonal"] {
        let tensor = Tensor::raw("s", "float32", &[1, 2], blob.clone()).layout(layout);
        write(&folder, vec![tensor]);
        let npy = run(&folder, &["extract", "a.zt", "s"]);
        assert_ne!(npy.code, 0, "{layout}: {npy:?}");
        assert_eq!(folder.names(), ["a.zt"]);
    }
}

#[test]
fn big_endian_elements_and_custom_fields() {
    let folder = Folder::new();
    let tensor = Tensor::raw("b", "int16", &[2], vec![0, 1, 0xFE, 0xFF])
        .big_endian()
        .custom("author", Item::text("some\u{202e}one"))
        .custom("epoch", Item::Uint(7))
        .custom("tags", Item::Array(vec![Item::text("a"), Item::Uint(1)]));
    write(&folder, vec![tensor]);
    let run = run(&folder, &["inspect", "a.zt", "--json", "--values", "2"]);
    assert!(!run.out.contains('\u{202e}'));
    let json = run.json();
    let tensor = &json["tensors"][0];
    assert_eq!(tensor["endianness"], "big");
    assert_eq!(tensor["values"], json!([256, -2]));
    let custom = |key: &str| {
        let all = tensor["metadata"].as_array().expect("an array");
        let entry = all.iter().find(|entry| entry["key"] == key).expect("the field");
        (entry["type"].clone(), entry["value"].clone())
    };
    assert_eq!(custom("author"), (json!("string"), json!("some\u{202e}one")));
    assert_eq!(custom("epoch"), (json!("u64"), json!(7)));
    assert_eq!(custom("tags"), (json!("cbor"), json!(["a", 1])));

    assert_eq!(super::run(&folder, &["extract", "a.zt", "b"]).code, 0);
    let npy = std::fs::read(folder.path().join("tensor.npy")).expect("it was written");
    assert!(String::from_utf8_lossy(&npy[..30]).contains(">i2"));
    assert_eq!(npy[128..], [1, 0, 0xFF, 0xFE]);
}

#[test]
fn custom_field_integers_are_exact() {
    let folder = Folder::new();
    let keys = vec![(Item::Uint(5), Item::Uint(1)), (Item::text("5"), Item::Uint(2))];
    let tensor = Tensor::raw("b", "int8", &[1], vec![0])
        .custom("least", Item::Nint(u64::MAX))
        .custom("map", Item::Map(keys));
    write(&folder, vec![tensor]);
    let run = run(&folder, &["inspect", "a.zt", "--json"]);
    let least = "{\"key\":\"least\",\"type\":\"cbor\",\"value\":-18446744073709551616}";
    assert!(run.out.contains(least), "{run:?}");
    let map = "{\"key\":\"map\",\"type\":\"cbor\",\"value\":[[5,1],[\"5\",2]]}";
    assert!(run.out.contains(map), "{run:?}");
}

#[test]
fn wrong_checksum_shows_both_values() {
    let folder = Folder::new();
    // The SHA-256 of no bytes, except for its last digit.
    let sum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b856";
    write(
        &folder,
        vec![Tensor::raw("b", "int8", &[0], vec![]).checksum(Checksum::Text(sum.to_owned()))],
    );
    let run = run(&folder, &["check", "a.zt", "--json"]);
    let json = run.json();
    let finding = &json["findings"][0];
    assert_eq!(finding["rule"], "CHECKSUM-MISMATCH", "{json}");
    assert_ne!(finding["expected"], finding["found"]);
    let message =
        "the checksum has 0xa495991b7852b856 where that of the stored bytes has 0xa495991b7852b855";
    assert_eq!(finding["message"], message);
}

/// Eight bytes, followed by matches of three bytes at a time, which take no
/// bits.
fn bomb(blocks: u64) -> Tensor {
    let sequences = (0..blocks).map(|_| zstd::Block::sequences(43_690, 0));
    let first = zstd::Block::Raw(b"abcdefgh".to_vec());
    let frame = zstd::Frame::of([first].into_iter().chain(sequences).collect());
    Tensor::framed("bomb", "uint8", &[8 + blocks * (3 * 43_690 + 1)], frame.encode())
}

#[test]
fn max_work_limits_decoding() {
    let folder = Folder::new();
    write(&folder, vec![bomb(2)]);
    assert_eq!(run(&folder, &["check", "a.zt"]).code, 0);
    let few = run(&folder, &["check", "a.zt", "--max-work", "1000000", "--json"]);
    assert_eq!(few.code, 3, "{few:?}");
    let json = few.json();
    assert_eq!(json["verdict"], "valid");
    let why = json["unchecked"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("1000000") && why.contains("--max-work"), "{why}");
    let enough = run(&folder, &["check", "a.zt", "--max-work", "100000000"]);
    assert_eq!(enough.code, 0, "{enough:?}");
    // More than the file's length allows.
    write(&folder, vec![bomb(400)]);
    assert_eq!(run(&folder, &["check", "a.zt"]).code, 3);
    assert_eq!(run(&folder, &["check", "a.zt", "--structure"]).code, 0);
}

/// Output of zstd's highest level for 9 MiB: a single segment.
#[test]
fn large_windows_are_decoded_in_one_piece() {
    let folder = Folder::new();
    let mut data: Vec<u8> =
        (0..1_u32 << 16).flat_map(|i| i.wrapping_mul(i).wrapping_mul(7).to_le_bytes()).collect();
    data.resize(9 << 20, 0);
    data.extend_from_within(..1 << 18);
    let blob = zstd::compress_sized_with(&data, 22);
    write(&folder, vec![Tensor::framed("z", "uint8", &[data.len() as u64], blob)]);
    let run = run(&folder, &["check", "a.zt"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(super::run(&folder, &["extract", "a.zt", "z", "--raw", "-o", "z.bin"]).code, 0);
    assert!(std::fs::read(folder.path().join("z.bin")).expect("it was written") == data);
}

#[test]
fn second_opinion_changes_no_verdict_of_fixtures() {
    let folder = Folder::new();
    let fixtures = fixtures::all().into_iter().find(|(name, _)| *name == "ztensor");
    for fixture in fixtures.expect("zTensor has fixtures").1 {
        folder.write(&format!("{}.zt", fixture.name), &fixture.bytes);
    }
    let checked = |more: &[&str]| run(&folder, &[&["check", ".", "--json"], more].concat());
    let (one, two) = (checked(&[]), checked(&["--second-opinion"]));
    assert!(one.lines().len() > 100, "{}", one.lines().len());
    assert_eq!((one.code, one.lines()), (two.code, two.lines()));
}

#[test]
fn second_opinion_accepts_large_tensor() {
    let folder = Folder::new();
    write(&folder, vec![Tensor::zstd("z", "uint8", &[3_000_000], &[7; 3_000_000])]);
    let checked = run(&folder, &["check", "a.zt", "--second-opinion", "--json"]);
    assert_eq!((checked.code, &checked.json()["verdict"]), (0, &"valid".into()));
    assert_eq!(run(&folder, &["check", "a.zt", "--second-opinion", "--structure"]).code, 2);
}

/// A fault that is found at the end of the data tells the size of the data.
#[test]
fn sparse_data_of_a_wrong_size_is_told_with_its_numbers() {
    let all = fixtures::all();
    let (_, all) = all.iter().find(|(format, _)| *format == "ztensor").expect("fixtures");
    let folder = Folder::new();
    for (name, words) in [
        ("coo-cut-in-an-entry", "size 79 is not a whole number of entries of 20 bytes"),
        ("coo-twice-then-cut", "size 79 is not a whole number of entries of 20 bytes"),
        ("csr-cut-in-a-value", "the last row pointer is 4; by the size of the data it should be 3"),
    ] {
        let fixture = all.iter().find(|it| it.name == name).expect(name);
        folder.write("a.zt", &fixture.bytes);
        let found = run(&folder, &["check", "a.zt"]);
        assert!(found.out.contains(words), "{name}: {found:?}");
    }
}
