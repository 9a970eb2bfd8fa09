//! Files of every format as safetensors: what is written is strictly valid, and holds the same
//! elements under the same names.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView, serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use weighbridge::save::{Convert, Converted, Float};
use weighbridge::{Error, Model, Tensor, Verdict};
use weighbridge_tests::codec::samples;
use weighbridge_tests::encode::{gguf, npy, safetensors as st};
use weighbridge_tests::{fixtures, samples as small};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("room for a file");
        path
    }

    fn convert(&self, convert: &Convert, bytes: &[u8]) -> Converted {
        let from = self.write("in", bytes);
        convert.run(from, self.path("out")).expect("it is read and written")
    }

    fn out(&self) -> Vec<u8> {
        std::fs::read(self.path("out")).expect("it was written")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().to_string_lossy().into_owned()
        };
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }
}

/// The elements of a tensor, as they are written.
fn elements(tensor: &Tensor<'_, '_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if tensor.is_column() {
        let npy = tensor.npy().expect("an array");
        npy.write(|piece| {
            bytes.extend_from_slice(piece);
            Ok::<(), Error>(())
        })
        .expect("it is read");
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        return bytes.split_off(header);
    }
    let take = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), Error>(())
    };
    tensor.canonical(take).expect("it is read");
    bytes
}

/// Compares a file with what it became: names, types, shapes, elements and texts.
fn compare(what: &str, from: &Path, folder: &Folder, done: &Converted) {
    let written = folder.out();
    let report = weighbridge::check(&written).expect("it is in memory");
    assert_eq!(report.findings().len(), 0, "{what}: {:?}", report.findings());
    assert_eq!(report.verdict(weighbridge::Profile::Strict), Verdict::Valid, "{what}");
    let other = SafeTensors::deserialize(&written).unwrap_or_else(|err| panic!("{what}: {err}"));
    let (from, to) = (Model::open(from).expect("opens"), Model::from_bytes(&written).expect("ok"));
    assert_eq!(to.file().tensor_count() as usize, other.len(), "{what}");
    let left_out: Vec<_> = done.left_out().iter().map(|left| &left.name).collect();
    let tied: HashMap<_, _> = done.tied().iter().map(|it| (&*it.name, &*it.kept)).collect();
    let mut count = 0;
    for tensor in from.tensors() {
        let tensor = tensor.expect("an entry");
        if left_out.contains(&tensor.name()) {
            continue;
        }
        count += 1;
        let name = tensor.name().as_str().expect("UTF-8");
        let name = tied.get(name).copied().unwrap_or(name);
        let copy = to.tensor(name).unwrap_or_else(|err| panic!("{what}: {err}"));
        let same = tensor.shape().known().unwrap_or_else(|| vec![tensor.elements()]);
        assert_eq!(copy.shape(), &same[..], "{what}");
        let bytes = elements(&tensor);
        assert_eq!(other.tensor(name).expect("it is there").data(), bytes, "{what}: {name}");
        if tensor.dtype().block().is_none() {
            assert_eq!(copy.dtype(), tensor.dtype(), "{what}: {name}");
        }
    }
    assert_eq!(count, other.len() + tied.len(), "{what}");
    let texts: BTreeMap<_, _> = to
        .metadata()
        .map(|meta| meta.expect("an entry"))
        .map(|meta| (meta.key().to_string(), meta.value().as_str().map(str::to_owned)))
        .collect();
    for meta in from.metadata().map(|meta| meta.expect("an entry")) {
        let is_kept = !done.metadata_left_out().iter().any(|left| left.name == *meta.key());
        if is_kept && !meta.is_truncated() {
            let value = meta.value().as_str().map(str::to_owned);
            assert_eq!(texts.get(&*meta.key().to_string()), Some(&value), "{what}");
        }
    }
    for (name, kept) in tied {
        assert_eq!(texts.get(name).cloned().flatten().as_deref(), Some(kept), "{what}");
    }
}

/// Every fixture is converted or refused with a reason; with force, what is left is converted.
#[test]
fn every_fixture_becomes_a_valid_file_or_is_refused() {
    let mut seen = HashMap::<_, usize>::new();
    for (format, all) in fixtures::for_hosts().into_iter().filter(|(format, _)| *format != "shards")
    {
        let options = weighbridge::Options::new()
            .format(weighbridge::Format::by_name(format).expect("a format"));
        let strict = Convert::new().options(options.clone());
        for fixture in all {
            let what = format!("{format} {}", fixture.name);
            let folder = Folder::new();
            let from = folder.write(&format!("in.{format}"), &fixture.bytes);
            let done = strict.run(&from, folder.path("out"));
            let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
            let verdict =
                weighbridge::check_path(&from, &options).expect("it is read").verdict_on_checked();
            *seen.entry((format, done.is_written())).or_default() += 1;
            if done.is_written() {
                assert_eq!(verdict, Verdict::Valid, "{what}");
                if Model::open(&from).is_ok_and(|it| it.format().name() == format) {
                    compare(&what, &from, &folder, &done);
                }
                continue;
            }
            assert!(verdict != Verdict::Valid || !done.left_out().is_empty(), "{what}");
            assert_eq!(folder.names().len(), 1, "{what}");
            // What is left of a broken file is a valid one.
            match strict.clone().force().dequantise(Float::F32).run(&from, folder.path("out")) {
                Ok(done) if done.is_written() => {
                    let report = weighbridge::check(&folder.out()).expect("it is in memory");
                    assert!(report.findings().is_empty(), "{what}: {:?}", report.findings());
                    SafeTensors::deserialize(&folder.out()).expect("it is valid");
                }
                _ => assert_eq!(folder.names().len(), 1, "{what}"),
            }
        }
    }
    for format in ["bintensors", "gguf", "idv", "npy", "npz", "oinf", "safetensors", "ztensor"] {
        assert!(seen.contains_key(&(format, true)), "no {format} file was converted");
        assert!(seen.contains_key(&(format, false)), "no {format} file was refused");
    }
}

/// Files that the published crate writes from the same tensors have the same bytes.
#[test]
fn a_file_has_the_bytes_that_the_published_crate_writes() {
    let types = [
        ("BOOL", Dtype::BOOL),
        ("U8", Dtype::U8),
        ("I8", Dtype::I8),
        ("F8_E5M2", Dtype::F8_E5M2),
        ("F8_E4M3", Dtype::F8_E4M3),
        ("F8_E8M0", Dtype::F8_E8M0),
        ("F4", Dtype::F4),
        ("I16", Dtype::I16),
        ("U16", Dtype::U16),
        ("F16", Dtype::F16),
        ("BF16", Dtype::BF16),
        ("I32", Dtype::I32),
        ("U32", Dtype::U32),
        ("F32", Dtype::F32),
        ("C64", Dtype::C64),
        ("F64", Dtype::F64),
        ("I64", Dtype::I64),
        ("U64", Dtype::U64),
    ];
    let (mut tensors, mut views) = (Vec::new(), Vec::new());
    for (i, (name, dtype)) in types.iter().enumerate() {
        for (j, shape) in [vec![2, 3], vec![], vec![4, 0], vec![8]].into_iter().enumerate() {
            // In an order that is neither that of names nor that of types.
            let mut tensor = st::Tensor::new(&format!("é\"{}.{j}", (i * 7) % 18), name, &shape);
            if shape.is_empty() && *name == "F4" {
                continue;
            }
            if *name == "BOOL" {
                tensor.data.iter_mut().for_each(|byte| *byte &= 1);
            }
            tensors.push(tensor);
        }
        let _ = dtype;
    }
    let kinds: HashMap<_, _> = types.into_iter().collect();
    for tensor in &tensors {
        let shape = tensor.shape.iter().map(|extent| *extent as usize).collect();
        let view = TensorView::new(kinds[tensor.dtype], shape, &tensor.data).expect("it fits");
        views.push((tensor.name.clone(), view));
    }
    let metadata = [("format".to_owned(), "pt".to_owned())].into();
    let expected = serialize(views, Some(metadata)).expect("it is written");
    let folder = Folder::new();
    let done = folder.convert(&Convert::new(), &st::File { metadata: None, tensors }.encode());
    assert!(done.is_written());
    assert!(folder.out() == expected, "{:?}", String::from_utf8_lossy(&folder.out()[..400]));
}

#[test]
fn quantised_tensors_are_all_named_or_become_numbers() {
    let noise = samples(18 * 64).swap_remove(3).1;
    let mut tensors: Vec<_> = ["a", "b"].map(|name| gguf::Tensor::new(name, 2, &[64, 2])).into();
    for tensor in &mut tensors {
        tensor.data = noise[..tensor.data.len()].to_vec();
        // Scales that are numbers.
        tensor.data.chunks_mut(18).for_each(|block| block[..2].copy_from_slice(&[0, 0x38]));
    }
    tensors.push(gguf::Tensor { data: vec![0; 4], ..gguf::Tensor::new("c", 0, &[1]) });
    let bytes = gguf::File { tensors, ..gguf::File::default() }.encode().bytes;
    let folder = Folder::new();
    let done = folder.convert(&Convert::new(), &bytes);
    let names: Vec<_> = done.left_out().iter().map(|left| left.name.to_string()).collect();
    assert_eq!((done.verdict(), names), (Verdict::Unchecked, vec!["a".into(), "b".into()]));
    assert_eq!(folder.names(), ["in"]);
    let model = Model::from_bytes(&bytes).expect("it opens");
    let expected: Vec<f32> = model.tensor("a").expect("it is there").to_vec().expect("numbers");
    for (to, width) in [(Float::F32, 4), (Float::F16, 2), (Float::Bf16, 2)] {
        let done = folder.convert(&Convert::new().dequantise(to).overwrite(), &bytes);
        assert!(done.is_written() && done.notes().is_empty(), "{done:?}");
        let out = folder.out();
        let copy = Model::from_bytes(&out).expect("it opens");
        let copy = copy.tensor("a").expect("it is there");
        assert_eq!((copy.dtype(), copy.bytes()), (to.dtype(), Some(128 * width)));
        // Half of a small integer is exact in each of the types.
        assert_eq!(copy.to_vec::<f32>().expect("numbers"), expected);
        assert!(expected.iter().any(|number| *number != 0.0));
    }
}

/// A number that is too large for the type is counted.
#[test]
fn numbers_that_become_infinite_are_noted() {
    let mut tensor = gguf::Tensor::new("a", 2, &[32]);
    tensor.data = [&[0xFF, 0x7B][..], &[0x0F; 16]].concat(); // 65504 times 7 and -8
    let bytes = gguf::File { tensors: vec![tensor], ..gguf::File::default() }.encode().bytes;
    let folder = Folder::new();
    let done = folder.convert(&Convert::new().dequantise(Float::F16), &bytes);
    assert_eq!(done.notes(), ["\"a\": 32 numbers became infinite"]);
    let done = folder.convert(&Convert::new().dequantise(Float::Bf16).overwrite(), &bytes);
    assert!(done.notes().is_empty());
}

#[test]
fn a_model_becomes_shards_and_one_file_again() {
    let folder = Folder::new();
    let sizes = [("a", 60), ("b", 50), ("huge", 300), ("c", 40), ("d", 100)];
    let tensors = sizes.map(|(name, len)| st::Tensor::new(name, "U8", &[len]));
    let metadata = Some(vec![("licence".to_owned(), "MIT".to_owned())]);
    let from = folder.write("in", &st::File { metadata, tensors: tensors.clone().into() }.encode());
    let to = folder.path("model.safetensors");
    let done = Convert::new().max_shard_size(100).run(&from, &to).expect("it is written");
    let file = |i| format!("model-0000{i}-of-00004.safetensors");
    let mut names = vec!["in".to_owned()];
    names.extend((1..=4).map(file));
    names.push("model.safetensors.index.json".into());
    assert_eq!(folder.names(), names);
    let tensors_of: Vec<_> = done.files().iter().map(|saved| saved.tensors).collect();
    // "huge" does not end the file that was begun: "b" and "c" share one.
    assert_eq!(tensors_of, [1, 1, 2, 1, 0]);
    let index = folder.path("model.safetensors.index.json");
    let report = weighbridge::check_path(&index, &weighbridge::Options::new()).expect("it is read");
    assert_eq!(report.verdict_on_checked(), Verdict::Valid, "{:?}", report.findings());
    assert!(report.findings().is_empty());
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&index).expect("it is there")).expect("JSON");
    assert_eq!(json["metadata"]["total_size"], 550);
    assert_eq!(json["weight_map"]["c"], file(3));
    let one = folder.path("one");
    let done = Convert::new().run(&index, &one).expect("it is written");
    assert_eq!((done.files().len(), done.files()[0].tensors), (1, 5));
    let (a, b) = (folder.path("direct"), std::fs::read(&one).expect("it is there"));
    Convert::new().run(&from, &a).expect("it is written");
    assert!(std::fs::read(&a).expect("it is there") == b);
    // One file is enough: no index.
    let done = Convert::new().max_shard_size(550).run(&index, folder.path("x")).expect("written");
    assert_eq!((done.files().len(), done.is_written()), (1, true));
}

#[test]
fn a_split_gguf_model_becomes_one_file() {
    let folder = Folder::new();
    for no in 0..3 {
        let part = fixtures::gguf::part(no, &["a", "b", "c"]).bytes();
        folder.write(&format!("big-{:05}-of-00003.gguf", no + 1), &part);
    }
    let first = folder.path("big-00001-of-00003.gguf");
    let done = Convert::new().run(first, folder.path("out")).expect("it is written");
    assert!(done.is_written(), "{done:?}");
    let out = folder.out();
    let names: Vec<_> = Model::from_bytes(&out)
        .expect("it opens")
        .tensors()
        .map(|tensor| tensor.expect("an entry").name().to_string())
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

/// Elements that lie at one place are written once, and the metadata says under which name.
#[test]
fn tied_tensors_are_written_once() {
    use weighbridge_tests::encode::stb::{Stb, Tensor as Raw};
    let folder = Folder::new();
    let corpus = weighbridge_tests::corpus::files("stb/ambiguous", "stb");
    let shared = corpus.iter().find(|path| path.ends_with("alias_same_region.stb"));
    let Some(path) = shared else {
        weighbridge_tests::left_out("stb/ambiguous/alias_same_region.stb");
        let plain = Stb::new(vec![Raw::new(0, 0, &[2]), Raw::new(1, 0, &[2])]).encode();
        assert!(folder.convert(&Convert::new(), &plain).tied().is_empty());
        return;
    };
    let done = Convert::new().run(path, folder.path("out")).expect("it is written");
    assert!(!done.tied().is_empty());
    compare("tied", path, &folder, &done);
}

/// Pieces that are shorter than a tensor, as long, and longer.
#[test]
fn tensors_of_every_size_are_whole() {
    const PIECE: u64 = 1 << 20;
    let folder = Folder::new();
    let tensors: Vec<_> = [0, 1, PIECE - 1, PIECE, PIECE + 1, 50 * PIECE]
        .iter()
        .enumerate()
        .map(|(i, len)| st::Tensor::new(&format!("t{i}"), "U8", &[*len]))
        .collect();
    let from = folder.write("in", &st::File { metadata: None, tensors }.encode());
    let done = Convert::new().run(&from, folder.path("out")).expect("it is written");
    compare("sizes", &from, &folder, &done);
}

#[test]
fn columns_and_turned_arrays_are_in_row_order() {
    let folder = Folder::new();
    let done = folder.convert(&Convert::new(), &small::columns());
    assert!(done.is_written());
    let out = folder.out();
    let model = Model::from_bytes(&out).expect("it opens");
    let rows = model.tensor("x").expect("it is there");
    assert_eq!(rows.to_vec::<i32>().expect("numbers"), [1, 2, 3, 4, 5, 6]);
    let data: Vec<u8> = [1_u16, 4, 2, 5, 3, 6].iter().flat_map(|it| it.to_be_bytes()).collect();
    let dictionary = "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 3), }";
    let array = npy::Npy { data, ..npy::Npy::of(dictionary) };
    let done = folder.convert(&Convert::new().overwrite(), &array.encode());
    assert!(done.is_written());
    let out = folder.out();
    let view = SafeTensors::deserialize(&out).expect("it is valid");
    let (_, view) = view.tensors().swap_remove(0);
    let expected: Vec<u8> = (1_u16..=6).flat_map(u16::to_le_bytes).collect();
    assert_eq!((view.shape(), view.data()), (&[2, 3][..], &expected[..]));
}

/// A checksum that is wrong, and data that does not decode, leave no file.
#[test]
fn faulty_data_leaves_no_file() {
    use weighbridge_tests::encode::ztensor;
    let folder = Folder::new();
    let zeros = ztensor::Tensor::zstd("z", "float32", &[1000], &[0; 4000]);
    let mut bytes = ztensor::File::of(vec![zeros]).encode();
    let model = Model::from_bytes(&bytes).expect("it opens");
    let piece = model.tensor("z").expect("it is there").pieces().next().expect("one");
    let at = piece.expect("it is read").offset as usize + 6;
    drop(model);
    bytes[at] ^= 0x55;
    let done = folder.convert(&Convert::new(), &bytes);
    assert_eq!((done.verdict(), done.is_written()), (Verdict::Invalid, false), "{done:?}");
    assert_eq!(folder.names(), ["in"]);
}

/// Time and memory grow with the number of tensors.
#[test]
fn a_hundred_thousand_tensors_are_written() {
    let folder = Folder::new();
    let tensors = (0..100_000).map(|i| st::Tensor::new(&format!("layers.{i}.w"), "F32", &[1]));
    let bytes = st::File { metadata: None, tensors: tensors.collect() }.encode();
    let begun = std::time::Instant::now();
    let done = folder.convert(&Convert::new(), &bytes);
    println!("100,000 tensors in {:?}", begun.elapsed());
    assert_eq!(done.files()[0].tensors, 100_000);
    let out = folder.out();
    assert_eq!(SafeTensors::deserialize(&out).expect("it is valid").len(), 100_000);
}
