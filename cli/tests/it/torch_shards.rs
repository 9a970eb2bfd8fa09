//! Sharded checkpoints of PyTorch: `pytorch_model.bin.index.json`.

use super::*;
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, View, floats};
use weighbridge_tests::encode::shards::Index;
use weighbridge_tests::samples;

const INDEX: &str = "pytorch_model.bin.index.json";
const ONE: &str = "pytorch_model-00001-of-00002.bin";
const TWO: &str = "pytorch_model-00002-of-00002.bin";
/// The head is tied to the embedding.
const LISTED: [(&str, &str); 3] = [("emb", ONE), ("head", ONE), ("norm", TWO)];

fn shard(names: &[&str]) -> Vec<u8> {
    let view = || View::floats("0", &[3, 2]);
    let tensors: Vec<_> = names.iter().map(|name| (*name, view())).collect();
    Checkpoint::new(Pickle::state(&tensors), &[&floats(6)]).encode()
}

fn checkpoint() -> Folder {
    let folder = Folder::new();
    folder.write(ONE, &shard(&["emb", "head"]));
    folder.write(TWO, &shard(&["norm"]));
    folder.write(INDEX, &Index::of(Some(48), &LISTED).encode());
    folder
}

/// The rules that the index breaks.
fn broken(folder: &Folder) -> Vec<String> {
    let run = run(folder, &["check", "--json", INDEX]);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    let findings = line["findings"].as_array().expect("findings");
    assert_eq!(run.code, i32::from(!findings.is_empty()), "{run:?}");
    findings.iter().map(|it| it["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn torch_shards_are_one_model() {
    let folder = checkpoint();
    assert_eq!(broken(&folder), [""; 0]);
    let run = run(&folder, &["check", "."]);
    let complete = "PyTorch in 2 shards, complete, with index";
    assert!(run.code == 0 && run.out.contains(complete), "{run:?}");
}

#[test]
fn torch_shards_count_tied_weights_once() {
    let folder = checkpoint();
    folder.write(INDEX, &Index::of(Some(72), &LISTED).encode());
    assert_eq!(broken(&folder), ["TOTAL-SIZE"]);
}

#[test]
fn torch_shard_of_another_format_is_shard_invalid() {
    let folder = checkpoint();
    folder.write(TWO, &samples::words());
    assert_eq!(broken(&folder), ["TENSOR-MISSING", "SHARD-INVALID"]);
}

#[test]
fn torch_shard_that_runs_code_is_shard_invalid() {
    let folder = checkpoint();
    let pickle = Pickle::new(2).global("posix", "system").mark().text("id").op(b't').op(b'R');
    folder.write(TWO, &Checkpoint::new(pickle.stop(), &[]).encode());
    let broken = broken(&folder);
    assert!(broken.contains(&"SHARD-INVALID".to_owned()), "{broken:?}");
}

#[test]
fn torch_shards_become_one_file_of_safetensors() {
    let folder = checkpoint();
    let run_all = run(&folder, &["convert", INDEX, "out.safetensors"]);
    assert_eq!(run_all.code, 0, "{run_all:?}");
    let listed = run(&folder, &["inspect", "--json", "out.safetensors"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.out.contains("\"norm\"") && listed.out.contains("\"head\""), "{listed:?}");
    let same = run(&folder, &["digest", "--compare", TWO, "out.safetensors"]);
    assert!(same.out.contains("2 tensors: 1 equal, 1 added"), "{same:?}");
}

#[test]
fn torch_shard_that_is_a_bare_pickle_is_shard_invalid() {
    let folder = checkpoint();
    folder.write(TWO, b"\x80\x02}q\0.");
    assert_eq!(broken(&folder), ["TENSOR-MISSING", "SHARD-INVALID"]);
}

#[test]
fn torch_shards_are_refused_where_pickles_are_denied() {
    let folder = checkpoint();
    for path in [INDEX, "."] {
        let run = run(&folder, &["check", path, "--deny", "pickle"]);
        assert_eq!(run.code, 1, "{run:?}");
    }
}

#[test]
fn torch_shards_are_read_whatever_the_index_is_called() {
    let folder = checkpoint();
    let index = std::fs::read(folder.path().join(INDEX)).expect("the index");
    for (name, more) in [("INDEX", &[][..]), ("weights.json", &["--format", "shards"])] {
        folder.write(name, &index);
        let run = run(&folder, &[&["check", name], more].concat());
        assert_eq!(run.code, 0, "{run:?}");
    }
}

/// A shard is read as its own name says.
#[test]
fn index_of_both_kinds_of_shards_is_valid() {
    let folder = checkpoint();
    folder.write("norm.safetensors", &samples::aligned());
    let listed = [("emb", ONE), ("head", ONE), ("bias", "norm.safetensors")];
    folder.write(INDEX, &Index::of(None, &listed).encode());
    assert_eq!(broken(&folder), [""; 0]);
}

#[test]
fn torch_checkpoint_that_was_cut_off_says_so() {
    let folder = Folder::new();
    let whole = shard(&["w"]);
    folder.write("w.pt", &whole[..whole.len() - 100]);
    let cut = run(&folder, &["check", "w.pt"]);
    assert_eq!(cut.code, 1, "{cut:?}");
    assert!(
        cut.out.contains("cut off: the directory at the end of the archive is missing"),
        "{cut:?}"
    );
}
