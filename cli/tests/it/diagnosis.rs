//! Files of other kinds, and truncated files.

use super::*;
use weighbridge_tests::encode::safetensors;

#[test]
fn unread_format_is_unsupported() {
    let folder = Folder::new();
    folder.write("one.gguf", b"GGUF\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    folder.write("array.h5", b"\x89HDF\r\n\x1A\n and so on");
    folder.write("model.pt", b"\x80\x02}q\0X\x01\0\0\0aq\x01K\x01s.");
    for (file, words) in [
        ("one.gguf", "GGUF version 1"),
        ("array.h5", "an HDF5 file"),
        ("model.pt", "a pickle, which imports nothing off the list of torch.load"),
    ] {
        let human = run(&folder, &["check", file]);
        assert_eq!(human.code, 3, "{human:?}");
        assert!(human.out.starts_with("unsupported") && human.out.contains(words), "{human:?}");
        let json = run(&folder, &["check", file, "--json"]).json();
        assert_eq!(json["verdict"], "unsupported", "{json}");
        assert!(json["diagnosis"].as_str().is_some_and(|it| it.contains(words)), "{json}");
        let inspected = run(&folder, &["inspect", file, "--json"]);
        assert_eq!((inspected.code, &inspected.json()["verdict"]), (3, &json["verdict"]));
        assert_eq!(run(&folder, &["extract", file, "a"]).code, 3);
        // With an explicit format, the file is checked as that format.
        let chosen = run(&folder, &["check", file, "--format", "gguf", "--json"]);
        assert_eq!((chosen.code, &chosen.json()["verdict"]), (1, &"invalid".into()));
    }
    assert_eq!(run(&folder, &["check", "one.gguf", "missing.zt"]).code, 2);
}

#[test]
fn web_page_and_lfs_pointer_are_named() {
    let folder = Folder::new();
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4970\n";
    folder.write("a.safetensors", pointer);
    folder.write("b.gguf", b"<!DOCTYPE html><html><body>Please log in</body></html>");
    folder.write("c.zt", b"");
    for (file, words) in [
        ("a.safetensors", "a Git LFS pointer"),
        ("b.gguf", "an HTML page"),
        ("c.zt", "an empty file"),
    ] {
        let run = run(&folder, &["check", file]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.out.contains(words), "{run:?}");
    }
}

#[test]
fn truncated_file_is_reported_once() {
    let folder = Folder::new();
    let tensors = (0..50).map(|i| safetensors::Tensor::new(&format!("t.{i}"), "F32", &[25]));
    let file = safetensors::File { metadata: None, tensors: tensors.collect() };
    let bytes = file.encode();
    folder.write("a.safetensors", &bytes[..bytes.len() - 250]);
    let human = run(&folder, &["check", "a.safetensors"]);
    assert_eq!(human.code, 1);
    let words = "250 bytes short; 3 tensors reach past the end: download it again";
    assert!(human.out.contains(words), "{human:?}");
    assert_eq!(human.out.matches("OFFSET-BOUNDS").count(), 1, "{human:?}");
    let json = run(&folder, &["check", "a.safetensors", "--json"]).json();
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(3), "{json}");
    assert_eq!(json["verdict"], "invalid");
}

#[test]
fn npz_cut_before_its_directory_is_diagnosed_as_cut_off() {
    use weighbridge_tests::encode::npy::Npy;
    use weighbridge_tests::encode::npz::{Member, Npz};
    let folder = Folder::new();
    let array = Npy::new("'<f4'", 4, &[2, 3]);
    let archive = Npz::new(vec![Member::new("a", &array), Member::new("b", &array)]).encode();
    let second = archive.windows(4).rposition(|four| four == b"PK\x03\x04").expect("a member");
    let directory = archive.windows(4).position(|four| four == b"PK\x01\x02").expect("an entry");
    for (end, whole) in [
        (archive.len() - 40, "2 members are whole"),
        (directory, "2 members are whole"),
        (directory - 1, "1 member is whole"),
        (second + 20, "1 member is whole"),
        (second - 1, "no member is known to be whole"),
    ] {
        folder.write("cut.npz", &archive[..end]);
        let found = run(&folder, &["check", "cut.npz"]);
        assert_eq!(found.code, 1, "{found:?}");
        assert!(found.out.contains("cut off: the directory at the end"), "{found:?}");
        assert!(found.out.contains(whole), "{end}: {found:?}");
        assert!(found.out.contains("download it again"), "{found:?}");
    }
}
