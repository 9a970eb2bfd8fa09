//! Listing, validating and converting checkpoints of PyTorch.
//!
//! Listing follows the pickle and finds every storage. Validating also checks the archive, names and
//! overlaps, and scans all pickles for what they import. The crate `safetensors` opens the same
//! tensors in its own format. `scripts/peers.sh torch` compares with `torch.load`.

mod turns;

use safetensors::SafeTensors;
use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use turns::{Table, Unit};
use weighbridge::save::Convert;
use weighbridge::{Goal, Model, Options, Profile, check_with};
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, floats};
use weighbridge_tests::encode::safetensors as st;

const TENSORS: u32 = 10_000;
/// Elements of each of the tensors that are converted.
const LARGE: u32 = 1 << 20;

fn name(i: u32) -> String {
    format!("model.layers.{}.block_{}.weight", i / 7, i % 7)
}

/// `count` tensors of this many floats, each in its own storage, as `torch.save` writes them: texts
/// and functions once, and then from the memo.
fn checkpoint(count: u32, elements: u32) -> Vec<u8> {
    let once = |pickle: Pickle, i: u32, key: u8, first: fn(Pickle) -> Pickle| match i {
        0 => first(pickle).put(key),
        _ => pickle.get(key),
    };
    let start = Pickle::new(2).op(b'}').mark();
    let object = (0..count).fold(start, |pickle, i| {
        let it = pickle.text(&name(i));
        let it = once(it, i, 0, |it| it.global("torch._utils", "_rebuild_tensor_v2"));
        let it = once(it.mark().mark(), i, 1, |it| it.text("storage"));
        let it = once(it, i, 2, |it| it.global("torch", "FloatStorage")).text(&i.to_string());
        let it = once(it, i, 3, |it| it.text("cpu")).number(elements.into()).op(b't').op(b'Q');
        let it = it.number(0).numbers(&[elements.into()]).numbers(&[1]).op(0x89);
        let it = once(it, i, 4, |it| it.global("collections", "OrderedDict"));
        it.op(b')').op(b'R').op(b't').op(b'R')
    });
    let data = floats(elements);
    Checkpoint::new(object.op(b'u').stop(), &vec![&*data; count as usize]).encode()
}

fn safetensors(count: u32, elements: u32) -> Vec<u8> {
    let tensors = (0..count).map(|i| st::Tensor::new(&name(i), "F32", &[elements.into()]));
    st::File { metadata: None, tensors: tensors.collect() }.encode()
}

fn check(bytes: &[u8]) -> u64 {
    let options = Options::new().goal(Goal::Structure).seed(1);
    let report = check_with(bytes, &options).unwrap();
    assert!(report.findings().is_empty() && report.verdict(Profile::Strict).name() == "valid");
    report.size()
}

fn list(bytes: &[u8]) -> usize {
    Model::from_bytes(bytes).unwrap().index().unwrap().len()
}

fn opened(bytes: &[u8]) -> usize {
    SafeTensors::deserialize(bytes).unwrap().len()
}

fn byte_sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}

/// A copy that is on disk afterwards, like a file that was converted.
fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    File::open(to).unwrap().sync_all().unwrap();
}

fn main() {
    let mut table = Table::new("pytorch", 51);
    let bytes = checkpoint(TENSORS, 16);
    let same = safetensors(TENSORS, 16);
    assert_eq!((list(&bytes), opened(&same)), (TENSORS as usize, TENSORS as usize));
    let others = ["`safetensors` 0.8, same tensors", "sum of all bytes"];
    let unit = Unit::Items(TENSORS.into());
    table.race(
        "PyTorch, 10000 small tensors: validate",
        unit,
        others,
        &mut || _ = black_box(check(black_box(&bytes))),
        [&mut || _ = black_box(opened(black_box(&same))), &mut || {
            _ = black_box(byte_sum(black_box(&bytes)))
        }],
    );
    table.race(
        "PyTorch, 10000 small tensors: list",
        unit,
        others,
        &mut || _ = black_box(list(black_box(&bytes))),
        [&mut || _ = black_box(opened(black_box(&same))), &mut || {
            _ = black_box(byte_sum(black_box(&bytes)))
        }],
    );
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let (from, to, copied) = (place("model.pt"), place("model.safetensors"), place("copy.pt"));
    let large = checkpoint(16, LARGE);
    fs::write(&from, &large).unwrap();
    table.race(
        "PyTorch, 64 MiB: convert to safetensors",
        Unit::Bytes(large.len() as u64),
        ["a copy of the file"],
        &mut || assert!(Convert::new().overwrite().run(&from, &to).unwrap().is_written()),
        [&mut || copy(&from, &copied)],
    );
}
