//! Elements of every encoding, type and order.

use weighbridge::table::{Filter, Selection, Sort};
use weighbridge::{Conversion, Error, Layout, Model, bf16, f16};
use weighbridge_tests::encode::onnx;
use weighbridge_tests::encode::safetensors::{File, Tensor as Raw};
use weighbridge_tests::encode::ztensor::{self, Tensor, sparse};
use weighbridge_tests::{fixtures, samples};

fn raw(dtype: &'static str, shape: &[u64], data: Vec<u8>) -> Vec<u8> {
    let tensor = Raw { data, ..Raw::new("x", dtype, shape) };
    File { metadata: None, tensors: vec![tensor] }.encode()
}

#[test]
fn raw_elements_are_widened_in_one_pass() {
    let values = [1.5_f32, -0.0, 65504.0, f32::INFINITY];
    let halves: Vec<u8> = values.iter().flat_map(|it| f16::from_f32(*it).to_le_bytes()).collect();
    let bytes = raw("F16", &[2, 2], halves);
    let model = Model::from_bytes(&bytes).expect("opens");
    let x = model.tensor("x").expect("is there");
    assert_eq!(x.to_vec::<f32>().expect("widens"), values);
    assert_eq!(x.to_vec::<f64>().expect("widens"), values.map(f64::from));
    assert_eq!(x.to_vec::<f16>().expect("is that"), values.map(f16::from_f32));
    assert!(matches!(x.to_vec::<bf16>(), Err(Error::Lossy { .. })));
    let rounded = x.to_vec_with::<bf16>(Conversion::Round).expect("rounds");
    assert_eq!(rounded[0], bf16::from_f32(1.5));
    assert_eq!(x.rows::<f32>(1..2).expect("reads"), values[2..]);
    assert!(matches!(x.rows::<f32>(1..3), Err(Error::Length { expected: 2, found: 3 })));
}

#[test]
fn compressed_and_big_endian_elements_are_equal() {
    let numbers: Vec<u32> = (0..100_000).map(|n| n * 40_000).collect();
    let little: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let file = ztensor::File::of(vec![
        Tensor::zstd("z", "uint32", &[100, 1000], &little),
        // The encoder reverses each element.
        Tensor::raw("b", "uint32", &[100, 1000], little).big_endian(),
    ]);
    let bytes = file.encode();
    let models = [
        Model::from_bytes(&bytes).expect("opens"),
        Model::from_reader(std::io::Cursor::new(&bytes)).expect("opens"),
    ];
    for model in &models {
        for name in ["z", "b"] {
            let tensor = model.tensor(name).expect("is there");
            assert!(tensor.to_vec::<u32>().expect("reads") == numbers, "{name}");
            let wide: Vec<u64> = tensor.rows(40..42).expect("reads");
            assert!(wide.iter().copied().eq(numbers[40_000..42_000].iter().map(|n| u64::from(*n))));
            let mut into = vec![0; 100_000];
            tensor.read_into(&mut into).expect("fits");
            assert!(into == numbers);
            assert!(tensor.as_slice::<u32>().is_err());
        }
    }
}

#[test]
fn unaligned_view_is_refused_with_reason() {
    let bytes = samples::safetensors();
    let model = Model::from_bytes(&bytes).expect("opens");
    let emb = model.tensor("emb").expect("is there");
    let error = emb.as_slice::<f32>().expect_err("another type").to_string();
    assert_eq!(error, "it cannot be borrowed as a slice: its elements have a different type");
    let read = Model::from_reader(std::io::Cursor::new(&bytes)).expect("opens");
    let error = read.tensor("emb").expect("is there").as_slice::<bf16>().expect_err("not here");
    assert_eq!(error.to_string(), "it cannot be borrowed as a slice: the file is not in memory");
}

#[test]
fn packed_elements_may_begin_at_any_bit() {
    let bytes = raw("F4", &[7, 2], vec![0x21, 0x43, 0x65, 0x77, 0, 0x11, 0xA9]);
    let model = Model::from_bytes(&bytes).expect("opens");
    let x = model.tensor("x").expect("is there");
    let all: Vec<f32> = x.to_vec().expect("widens");
    assert_eq!(all[..4], [0.5, 1.0, 1.5, 2.0]);
    for from in 0..14 {
        let slice: Vec<f32> = x.slice(from..14).expect("reads");
        assert_eq!(slice, all[from as usize..], "from {from}");
    }
    assert!(x.slice::<f32>(13..15).is_err());
}

#[test]
fn column_of_fixed_rows_is_array() {
    let bytes = samples::columns();
    let model = Model::from_bytes(&bytes).expect("opens");
    let x = model.tensor("x").expect("is there");
    assert_eq!(x.layout(), Layout::Blocks);
    assert_eq!(x.to_vec::<i64>().expect("reads"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(x.rows::<i32>(1..2).expect("reads"), [4, 5, 6]);
}

#[test]
fn sparse_tensor_has_entries_but_no_array() {
    let blob = sparse::coo(&[(&[0, 1], &[0, 0, 0x80, 0x3F])]);
    let tensor = Tensor::raw("s", "float32", &[1, 2], blob).layout("sparse_coo");
    let bytes = ztensor::File::of(vec![tensor]).encode();
    let model = Model::from_bytes(&bytes).expect("opens");
    let s = model.tensor("s").expect("is there");
    assert!(matches!(s.to_vec::<f32>(), Err(Error::NoArray(_) | Error::Unsupported(_))));
    let mut entries = Vec::new();
    s.values(9, |shown| {
        entries.push(shown.to_value().to_string());
        Ok::<(), Error>(())
    })
    .expect("reads");
    assert!(entries.len() <= 1);
}

/// However broken a file is, reading all of it ends, and reading it twice gives the same
/// result.
#[test]
fn broken_file_gives_error() {
    let mut read = 0_u64;
    for (_, fixtures) in fixtures::for_hosts() {
        for fixture in fixtures {
            let Ok(model) = Model::from_bytes(&fixture.bytes) else { continue };
            model
                .metadata()
                .take(100)
                .for_each(|entry| drop(entry.map(|it| it.value().to_string())));
            for tensor in model.tensors().take(100) {
                let Ok(tensor) = tensor else { break };
                let as_f64 = tensor.to_vec::<f64>();
                read += as_f64.as_ref().map_or(0, |all| all.len() as u64);
                if let Ok(all) = as_f64 {
                    let head: Vec<f64> = tensor.slice(0..all.len() as u64 / 2).expect("a part");
                    let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
                    assert!(head.iter().zip(&all).all(same), "{}", fixture.name);
                }
                let _ = (tensor.stats().is_ok(), tensor.npy().is_ok(), tensor.verify().is_ok());
            }
        }
    }
    assert!(read > 1000, "{read} elements");
}

#[test]
fn empty_tensor_may_have_huge_rows() {
    let bytes = raw("F32", &[0, 1 << 33, 1 << 33], Vec::new());
    let model = Model::from_bytes(&bytes).expect("opens");
    let x = model.tensor("x").expect("is there");
    assert!(x.rows::<f32>(0..0).expect("reads").is_empty());
    let backwards = std::ops::Range { start: u64::MAX, end: 1 };
    assert!(x.rows::<f32>(backwards).is_err());
}

#[test]
fn tensors_far_apart_are_listed_in_windows() {
    // More nodes between two tensors than windows are kept, and texts that are passed over.
    let mut model = onnx::Model::new(&[]);
    let node = onnx::node("Add", &["x", "x"], &["z"]);
    model.graph.push((5, onnx::Tensor::new("first", &[1]).encode()));
    model.graph.extend((0..100).map(|_| (1, node.clone().text(6, "d".repeat(8192)))));
    model.graph.push((5, onnx::Tensor::new("last", &[1]).encode()));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, &model.encode()).unwrap();
    let model = Model::open(file.path()).unwrap();
    let names = |it: Result<weighbridge::Tensor<'_, '_>, Error>| it.unwrap().name().to_string();
    assert_eq!(model.tensors().map(names).collect::<Vec<_>>(), ["first", "last"]);
    assert_eq!(model.index().unwrap().len(), 2);
    assert_eq!(model.map().unwrap().areas().len(), 5);
    assert_eq!(model.tensor("last").unwrap().elements(), 1);
}

#[test]
fn totals_count_no_elements_without_data() {
    let bytes = samples::graph();
    let model = Model::from_bytes(&bytes).expect("opens");
    let index = model.index().expect("is read");
    let mut selection = Selection::default();
    let mut totals = |text: &[u8]| {
        let filter = Filter { text: text.to_vec(), ..Filter::default() };
        selection.select(&index, Sort::default(), filter, &[]);
        let totals = selection.totals(&index).into_iter();
        totals.map(|it| (it.count, it.elements, it.stored, it.without_data)).collect::<Vec<_>>()
    };
    // A constant of 3 floats, which is added to an input and gives an output.
    assert_eq!(totals(b""), [(3, 3, 12, 2)]);
    assert_eq!(totals(b"x"), [(1, 0, 0, 1)]);
    assert_eq!(totals(b"w"), [(1, 3, 12, 0)]);
    selection.select(&index, Sort::default(), Filter::default(), &[]);
    let elements: u64 = selection.groups(&index, 0, 0).iter().map(|group| group.elements).sum();
    assert_eq!(elements, 3);
    // Blocks of columns are noted later.
    let bytes = samples::columns();
    let index = Model::from_bytes(&bytes).expect("opens").index().expect("is read");
    selection.select(&index, Sort::default(), Filter::default(), &[]);
    assert!(selection.totals(&index).iter().all(|it| it.elements > 0 && it.without_data == 0));
}
