//! Files that `extract` writes, and files that it must not leave behind.

use super::*;
use std::fs;

#[test]
fn tensor_is_extracted_to_npy() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    assert_eq!(run(&folder, &["extract", "a.stb", "0"]).code, 0);
    let npy = fs::read(folder.path().join("tensor.npy")).expect("it was written");
    let (header, data) = npy.split_at(128);
    assert!(header.starts_with(b"\x93NUMPY\x01\x00"));
    let text = String::from_utf8_lossy(&header[10..]);
    let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    assert_eq!(text.trim_end(), dict);
    assert_eq!(data, sound().tensors[0].payload);
}

#[test]
fn default_output_name_overwrites_nothing() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("tensor.npy", b"precious");
    for _ in 0..2 {
        assert_eq!(run(&folder, &["extract", "a.stb", "1"]).code, 0);
    }
    assert_eq!(run(&folder, &["extract", "a.stb", "1", "--raw"]).code, 0);
    assert_eq!(
        folder.names(),
        ["a.stb", "tensor-1.npy", "tensor-2.npy", "tensor.bin", "tensor.npy"]
    );
    assert_eq!(fs::read(folder.path().join("tensor.npy")).expect("reads"), b"precious");
    assert_eq!(
        fs::read(folder.path().join("tensor.bin")).expect("reads"),
        [0, 1, 0x7F, 0x80, 0xFF]
    );
}

#[test]
fn output_file_is_replaced_atomically() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("out.npy", b"old");
    assert_eq!(run(&folder, &["extract", "a.stb", "1", "-o", "out.npy", "--raw"]).code, 0);
    assert_eq!(fs::read(folder.path().join("out.npy")).expect("reads").len(), 5);
    assert_eq!(folder.names(), ["a.stb", "out.npy"]);
}

#[cfg(unix)]
#[test]
fn output_link_is_followed() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("target", b"old");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("target", &link).expect("a link");
    assert_eq!(run(&folder, &["extract", "a.stb", "1", "-o", "link", "--raw"]).code, 0);
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(fs::read(folder.path().join("target")).expect("reads").len(), 5);
    assert_eq!(folder.names(), ["a.stb", "link", "target"]);
}

#[test]
fn failed_extract_leaves_no_file() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("u.stb", &with_unknown_type());
    let mut broken = sound();
    broken.tensors[1].size = Some(6);
    folder.write("b.stb", &broken.encode());
    folder.write("h.stb", b"STB0");
    let before = folder.names();
    let code = |args: &[&str]| run(&folder, &[&["extract"], args].concat()).code;
    assert_eq!(code(&["a.stb", "7"]), 2, "no such tensor");
    assert_eq!(code(&["missing.stb", "0"]), 2);
    assert_eq!(code(&["a.stb", "0", "-o", "no/such/folder/x.npy"]), 2);
    assert_eq!(code(&["a.stb", "0", "-o", "."]), 2);
    assert_eq!(code(&["b.stb", "1"]), 1, "a broken tensor");
    assert_eq!(code(&["h.stb", "0"]), 1, "a broken file");
    assert_eq!(code(&["u.stb", "1"]), 3, "no type to write it as");
    assert_eq!(folder.names(), before);
    assert_eq!(code(&["u.stb", "1", "--raw"]), 0, "its bytes are known all the same");
    assert_eq!(code(&["b.stb", "0"]), 0, "the other tensor is sound");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_error_without_partial_file() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let run = run(&folder, &["extract", "a.stb", "0", "-o", "/dev/full"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("/dev/full: No space left"), "{run:?}");
    assert_eq!(folder.names(), ["a.stb"]);
}

/// A limit on file sizes simulates a disk that fills up half-way.
#[cfg(unix)]
#[test]
fn disk_that_fills_up_keeps_no_partial_file() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1] = Tensor::new(1, 2, &[100_000]);
    folder.write("a.stb", &stb.encode());
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    let script = format!("ulimit -f 8; '{}' extract a.stb 1 -o out.npy", binary.display());
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).args(["-c", &script]);
    let run = finish(shell);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("out.npy: File too large"), "{run:?}");
    assert_eq!(folder.names(), ["a.stb"]);
}

/// Blocks are concatenated, and elements that a sparse vector does not store
/// are zero.
#[test]
fn column_is_extracted_to_npy() {
    use weighbridge_tests::encode::idv::{self, Cell, Codec, Column, Compression, Number};
    let vector = |len| Codec::vector(Codec::Number(Number::Int16), &[len]);
    let rows = [Cell::dense(&[1, 2, 3]), Cell::sparse(3, &[(1, 9)]), Cell::sparse(3, &[])];
    let column = |name, codec| {
        Column::new(name, codec, rows.to_vec()).rows_per_block(2).compressed(Compression::Deflate)
    };
    let columns = vec![
        column("fixed", vector(3)),
        column("variable", vector(0)),
        Column::new("words", Codec::Text, ["a", "b", "c"].map(Cell::text).to_vec()),
    ];
    let folder = Folder::new();
    folder.write("a.idv", &idv::encode(&idv::File::new(3, columns)).bytes);
    assert_eq!(run(&folder, &["extract", "a.idv", "fixed"]).code, 0);
    let npy = fs::read(folder.path().join("tensor.npy")).expect("it was written");
    let (header, data) = npy.split_at(128);
    assert!(String::from_utf8_lossy(&header[10..]).contains("'<i2'"));
    assert!(String::from_utf8_lossy(&header[10..]).contains("(3, 3)"));
    let values: Vec<i16> = data.as_chunks().0.iter().map(|it| i16::from_le_bytes(*it)).collect();
    assert_eq!(values, [1, 2, 3, 0, 9, 0, 0, 0, 0]);
    for name in ["variable", "words"] {
        assert_eq!(run(&folder, &["extract", "a.idv", name]).code, 3, "{name}");
    }
    assert_eq!(folder.names(), ["a.idv", "tensor.npy"]);
}

/// A sparse row takes only a few bytes, however long it is.
#[cfg(unix)]
#[test]
fn huge_column_is_refused() {
    use weighbridge_tests::encode::idv::{self, Cell, Codec, Column, Number};
    let huge = i32::MAX;
    let vector = Codec::vector(Codec::Number(Number::Double), &[huge as _]);
    let rows = vec![Cell::sparse(huge as _, &[(1, 9)]), Cell::sparse(huge as _, &[])];
    let folder = Folder::new();
    folder.write(
        "a.idv",
        &idv::encode(&idv::File::new(2, vec![Column::new("x", vector, rows)])).bytes,
    );
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    let script = format!("ulimit -f 8; '{}' extract a.idv x", binary.display());
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path()).args(["-c", &script]);
    let run = finish(shell);
    assert_eq!(run.code, 3, "{run:?}");
    let bytes = 16 * i64::from(huge);
    let err = run.err.replace(',', "");
    assert!(err.contains(&format!("its rows would take {bytes} bytes")), "{run:?}");
    assert_eq!(folder.names(), ["a.idv"]);
}

#[test]
fn complex_numbers_and_narrow_floats() {
    use weighbridge_tests::encode::safetensors::{File, Tensor};
    let folder = Folder::new();
    let tensors = [("c", "C64"), ("f4", "F4"), ("f6", "F6_E2M3"), ("e8", "F8_E8M0")];
    let tensors = tensors.map(|(name, dtype)| Tensor::new(name, dtype, &[4])).to_vec();
    folder.write("a.safetensors", &File { metadata: None, tensors }.encode());
    for (name, descr, len) in [("c", "'<c8'", 32), ("f4", "'<f4'", 16), ("e8", "'<f4'", 16)] {
        let run = run(&folder, &["extract", "a.safetensors", name, "-o", "out.npy"]);
        assert_eq!(run.code, 0, "{run:?}");
        let npy = fs::read(folder.path().join("out.npy")).expect("it was written");
        assert!(String::from_utf8_lossy(&npy[..128]).contains(descr), "{name}");
        assert_eq!(npy.len(), 128 + len, "{name}");
    }
    let refused = run(&folder, &["extract", "a.safetensors", "f6"]);
    assert_eq!(refused.code, 3);
    assert!(refused.err.contains("NumPy has no type for f6e2m3 data"), "{refused:?}");
}

/// Rows of 2 × 3, stored in column-major order.
fn columns() -> Stb {
    let mut stb = sound();
    stb.tensors[0].layout = 1;
    stb.tensors[0].payload =
        [0, 3, 1, 4, 2, 5].iter().flat_map(|n| (*n as f32).to_le_bytes()).collect();
    stb
}

#[test]
fn column_major_tensor_has_fortran_order() {
    let folder = Folder::new();
    folder.write("a.stb", &columns().encode());
    let run = run(&folder, &["extract", "a.stb", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    let npy = fs::read(folder.path().join("tensor.npy")).expect("it was written");
    let dict = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
    assert_eq!(String::from_utf8_lossy(&npy[10..128]).trim_end(), dict);
    assert_eq!(npy[128..], columns().tensors[0].payload);
}

#[test]
fn column_major_values_are_listed_row_by_row() {
    let folder = Folder::new();
    let shape = [3_u32, 4, 5];
    let mut stb = columns();
    stb.tensors[1] = Tensor::new(1, 3, &shape);
    stb.tensors[1].layout = 1;
    let [a, b, c] = shape;
    // The position of each element, filled with its row-major index.
    let mut payload = vec![0; (a * b * c) as usize];
    for number in 0..a * b * c {
        let (i, j, k) = (number / (b * c), number / c % b, number % c);
        payload[(i + a * (j + b * k)) as usize] = number;
    }
    stb.tensors[1].payload = payload.iter().flat_map(|number| number.to_le_bytes()).collect();
    folder.write("a.stb", &stb.encode());
    for limit in [1, 2, 4, 5, 7, 19, 20, 21, 59, 60, 99] {
        let limit = limit.to_string();
        let json = run(&folder, &["inspect", "a.stb", "--json", "--values", &limit]).json();
        assert_eq!(json["tensors"][0]["layout"], "column-major");
        for (tensor, count) in [(0, 6), (1, 60)] {
            let values = json["tensors"][tensor]["values"].as_array().expect("an array");
            let count = limit.parse::<usize>().expect("a number").min(count);
            let values: Vec<_> = values.iter().map(|value| value.as_f64()).collect();
            let expected: Vec<_> = (0..count).map(|number| Some(number as f64)).collect();
            assert_eq!(values, expected, "{tensor}");
        }
    }
}

/// Rows, and columns, that are longer than the reordering buffer.
#[test]
fn large_column_major_tensor_is_listed_row_by_row() {
    let folder = Folder::new();
    let shapes = [(1_500_000, 3), (3, 4_500_000)];
    for (rows, columns) in shapes.into_iter().take(if weighbridge_tests::DEEP { 2 } else { 1 }) {
        let mut tensor = Tensor::new(0, 3, &[rows, columns]);
        tensor.layout = 1;
        let element = |place: u32| (place % rows) * columns + place / rows;
        tensor.payload = (0..rows * columns).flat_map(|at| element(at).to_le_bytes()).collect();
        folder.write("a.stb", &Stb::new(vec![tensor]).encode());
        let run = run(&folder, &["inspect", "a.stb", "--json", "--values", "14000000"]);
        let text = run.out.split_once("\"values\":[").expect("values").1;
        let values = text.split(']').next().expect("an end").split(',');
        assert!(values.eq((0..rows * columns).map(|number| number.to_string())), "{rows}");
    }
}

#[test]
fn column_major_tensor_of_unknown_shape_is_flat() {
    let folder = Folder::new();
    let mut stb = columns();
    (stb.tensors[0].rank, stb.tensors[0].dims) = (4, [7, 0, 0]);
    folder.write("a.stb", &stb.encode());
    let run = run(&folder, &["inspect", "a.stb", "--json", "--values", "3"]);
    assert_eq!(run.code, 3);
    let json = run.json();
    assert!(json["tensors"][0].get("values").is_none());
    let why = "its extents are not in the file, so its column-major order is unknown";
    let listed = json["unchecked"].as_array().expect("a list");
    assert!(listed.iter().any(|unchecked| unchecked["why"] == why), "{json}");
}

#[test]
fn corrupt_payload_is_refused() {
    use weighbridge_tests::encode::ztensor::{Checksum, File, Tensor};
    let folder = Folder::new();
    let wrong = Tensor::raw("x", "uint8", &[3], vec![1, 2, 3])
        .checksum(Checksum::Text("crc32c:0x00000001".to_owned()));
    let sound = Tensor::raw("y", "uint8", &[3], vec![1, 2, 3]);
    folder.write("a.zt", &File::of([wrong, sound]).encode());
    for form in [&["--raw"][..], &[]] {
        let run = run(&folder, &[&["extract", "a.zt", "x"], form].concat());
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains("the checksum has 0x1 where"), "{run:?}");
        assert_eq!(run.err.lines().count(), 1);
        assert_eq!(folder.names(), ["a.zt"]);
    }
    assert_eq!(run(&folder, &["extract", "a.zt", "y", "-o", "y.npy"]).code, 0);
    let forced = run(&folder, &["extract", "a.zt", "x", "-o", "x.npy", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(forced.err.contains("the checksum has"), "it is said all the same: {forced:?}");
    let read = |name| fs::read(folder.path().join(name)).expect("it was written");
    assert_eq!(read("x.npy"), read("y.npy"));
}

#[test]
fn ambiguous_tensor_name_is_refused() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1].id = 0;
    folder.write("a.stb", &stb.encode());
    let refused = run(&folder, &["extract", "a.stb", "0"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.err.contains("2 tensors are called \"0\""), "{refused:?}");
    assert_eq!(folder.names(), ["a.stb"]);
    assert_eq!(run(&folder, &["extract", "a.stb", "0", "--force", "--raw"]).code, 0);
    let first = fs::read(folder.path().join("tensor.bin")).expect("it was written");
    assert_eq!(first, sound().tensors[0].payload);
}

#[test]
fn standard_output_gets_only_the_array() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let output = command(&folder, &["extract", "a.stb", "1", "-o", "-"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.starts_with(b"\x93NUMPY"));
    assert_eq!(output.stdout[128..], sound().tensors[1].payload);
    assert!(output.stderr.is_empty());
    assert_eq!(folder.names(), ["a.stb"]);
}

#[test]
fn rank_beyond_numpy_is_refused() {
    use weighbridge_tests::encode::safetensors::{File, Tensor};
    let folder = Folder::new();
    let tensors = [64, 65].map(|rank| Tensor::new(&rank.to_string(), "U8", &vec![1; rank]));
    folder.write("a.safetensors", &File { metadata: None, tensors: tensors.to_vec() }.encode());
    assert_eq!(run(&folder, &["extract", "a.safetensors", "64", "-o", "64.npy"]).code, 0);
    let refused = run(&folder, &["extract", "a.safetensors", "65"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("it has 65 dimensions, but NumPy arrays have at most 64"));
    assert_eq!(folder.names(), ["64.npy", "a.safetensors"]);
    assert_eq!(run(&folder, &["extract", "a.safetensors", "65", "--raw"]).code, 0);
}
