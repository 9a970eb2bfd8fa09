//! Checkpoints of PyTorch on servers: the directory and the pickle are read, and not the storages.

use super::*;
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, View};

/// Storages of a checkpoint of 50 MB, by their keys, and the bytes of each.
const KEYS: [&str; 5] = ["0", "1", "2", "3", "4"];
const STORAGE: usize = 10_000_000;
/// Bytes that are asked for at a time.
const RANGE: u64 = 512 << 10;

fn checkpoint() -> Vec<u8> {
    let view = |key| View::floats(key, &[STORAGE as i64 / 4]);
    let tensors: Vec<_> = KEYS.iter().map(|key| (*key, view(*key))).collect();
    let data = vec![1; STORAGE];
    let mut file = Checkpoint::new(Pickle::state(&tensors), &[&*data; KEYS.len()]);
    // As `torch.serialization.set_crc32_options(False)` writes it.
    file.records.iter_mut().for_each(|record| record.crc = Some(0));
    file.encode()
}

#[test]
fn inspect_of_checkpoint_reads_directory_and_pickle_only() {
    let file = checkpoint();
    let len = file.len() as u64;
    let server = Server::with(file);
    let run = finish(ask(&Folder::new(), &["inspect", &server.url("model.pt"), "--json"]));
    let json = run.json();
    assert_eq!((run.code, &json["verdict"]), (0, &json!("valid")), "{run:?}");
    assert_eq!(json["tensors"].as_array().map(Vec::len), Some(KEYS.len()));
    assert_eq!(json["storages"][4]["used"], STORAGE);
    let path = |name: &str| {
        let globals = json["globals"].as_array().expect("a list");
        let global = globals.iter().find(|it| it["name"] == name).expect("a name");
        global["path"].clone()
    };
    assert_eq!(path("torch._utils._rebuild_tensor_v2"), "0");
    let read = json["read"]["bytes"].as_u64().expect("a number");
    // Ranges at both ends.
    assert!(read <= 2 * RANGE, "{read} bytes of {len}");
}
