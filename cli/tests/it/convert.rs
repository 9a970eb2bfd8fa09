//! Models that `convert` writes, and files that it must not leave behind.

use super::*;
use serde_json::json;
use std::fs;
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, View};
use weighbridge_tests::encode::{gguf, safetensors};

fn model(len: u64) -> Vec<u8> {
    let tensors = vec![safetensors::Tensor::new("w", "U8", &[len])];
    safetensors::File { metadata: None, tensors }.encode()
}

fn quantised() -> Vec<u8> {
    let tensors = ["a", "b"].map(|name| gguf::Tensor::new(name, 8, &[32])).into();
    gguf::File { tensors, ..gguf::File::default() }.encode().bytes
}

fn code(folder: &Folder, args: &[&str]) -> i32 {
    run(folder, &[&["convert"], args].concat()).code
}

#[test]
fn a_model_of_another_format_becomes_safetensors() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let run_once = run(&folder, &["convert", "a.stb", "a.safetensors"]);
    assert_eq!(run_once.code, 0, "{run_once:?}");
    assert!(run_once.out.starts_with("wrote a.safetensors: 2 tensors, "), "{run_once:?}");
    assert_eq!(run(&folder, &["check", "a.safetensors"]).code, 0);
    assert_eq!(folder.names(), ["a.safetensors", "a.stb"]);
}

#[test]
fn the_json_object_says_what_was_written() {
    let folder = Folder::new();
    folder.write("a.safetensors", &model(8));
    let line = run(&folder, &["convert", "a.safetensors", "b.safetensors", "--json"]).json();
    let len = fs::metadata(folder.path().join("b.safetensors")).expect("it is there").len();
    assert_eq!(line["files"], json!([{"file": "b.safetensors", "size": len, "tensors": 1}]));
    let found = json!([line["written"], line["verdict"], line["schema"], line["left_out"]]);
    assert_eq!(found, json!([true, "valid", "weighbridge/convert-1", []]));
}

/// The exit codes that docs/cli.md lists.
#[test]
fn each_exit_code_occurs() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("flags.stb", &with_flags());
    folder.write("type.stb", &with_unknown_type());
    folder.write("q.gguf", &quantised());
    folder.write("h.stb", b"STB0");
    folder.write("x.onnx", b"\x08\x08\x12\x07pytorch");
    let before = folder.names();
    for (expected, args) in [
        (1, &["flags.stb", "out"][..]),
        (1, &["h.stb", "out"]),
        (2, &["missing", "out"]),
        (2, &["a.stb", "no/such/folder/out"]),
        (2, &["a.stb", "."]),
        (2, &["a.stb", "q.gguf"]),
        (2, &["a.stb", "a.stb", "--overwrite"]),
        (2, &["a.stb", "out", "--max-shard-size", "5 apples"]),
        (2, &["a.stb", "out", "--dequantise", "f64"]),
        (2, &["."]),
        (3, &["type.stb", "out"]),
        (3, &["q.gguf", "out"]),
    ] {
        assert_eq!(code(&folder, args), expected, "{args:?}");
        assert_eq!(code(&folder, &[args, &["--json"]].concat()), expected, "{args:?}");
        assert_eq!(folder.names(), before, "{args:?}");
    }
    for args in [
        &["a.stb", "1"][..],
        &["flags.stb", "2", "--lenient"],
        &["flags.stb", "3", "--force"],
        &["q.gguf", "4", "--dequantize", "bf16"],
        &["a.stb", "4", "--overwrite"],
    ] {
        assert_eq!(code(&folder, args), 0, "{args:?}");
        assert_eq!(run(&folder, &["check", args[1], "--format", "safetensors"]).code, 0);
    }
}

#[test]
fn every_tensor_that_cannot_be_written_is_named() {
    let folder = Folder::new();
    folder.write("q.gguf", &quantised());
    let refused = run(&folder, &["convert", "q.gguf", "out"]);
    for name in ["\"a\": safetensors has no type for q8_0", "\"b\": ", "--dequantise writes"] {
        assert!(refused.err.contains(name), "{refused:?}");
    }
    let forced = run(&folder, &["convert", "q.gguf", "out", "--force", "--json"]);
    assert_eq!(forced.code, 0);
    let names: Vec<_> = forced.json()["left_out"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|left| left["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn a_broken_tensor_is_left_out_by_force_alone() {
    let folder = Folder::new();
    let mut broken = sound();
    broken.tensors[1].size = Some(6);
    folder.write("b.stb", &broken.encode());
    let refused = run(&folder, &["convert", "b.stb", "out"]);
    assert_eq!((refused.code, folder.names().len()), (1, 1), "{refused:?}");
    let forced = run(&folder, &["convert", "b.stb", "out", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(forced.err.contains("\"1\": left out: "), "{forced:?}");
    assert_eq!(run(&folder, &["check", "out", "--format", "safetensors"]).code, 0);
}

/// A checkpoint whose pickle would run something: its tensors are written by force, and what it would
/// make is not.
#[test]
fn an_unsafe_checkpoint_is_converted_by_force_alone() {
    let folder = Folder::new();
    let pickle = Pickle::new(2)
        .op(b'}')
        .mark()
        .text("w")
        .of(&View::floats("0", &[2]))
        .text("run")
        .global("posix", "system")
        .call("id")
        .text("epoch")
        .text("7");
    let data: Vec<u8> = [1.5_f32, -2.0].iter().flat_map(|it| it.to_le_bytes()).collect();
    let file = Checkpoint::new(pickle.op(b'u').stop(), &[&data]).encode();
    folder.write("x.pt", &file);
    let refused = run(&folder, &["convert", "x.pt", "out"]);
    assert_eq!((refused.code, folder.names().len()), (1, 1), "{refused:?}");
    assert!(refused.out.contains("would run posix.system"), "{refused:?}");
    let forced = run(&folder, &["convert", "x.pt", "out", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    let note = "its pickle would run posix.system: nothing was run";
    assert!(forced.err.contains(note), "{forced:?}");
    let json = run(&folder, &["convert", "x.pt", "out", "--force", "--overwrite", "--json"]).json();
    assert!(json["notes"][0].as_str().is_some_and(|it| it.starts_with(note)), "{json}");
    let found = run(&folder, &["inspect", "out", "--format", "safetensors", "--json"]).json();
    assert_eq!(found["tensors"][0]["name"], "w", "{found}");
    let keys: Vec<_> = found["metadata"].as_array().expect("a list").iter().collect();
    let keys: Vec<_> = keys.iter().map(|entry| entry["key"].as_str().unwrap_or("")).collect();
    // The argument of the call is a text like any other.
    assert_eq!(keys, ["epoch", "format", "run.0"]);
    assert!(fs::read(folder.path().join("out")).expect("it is there").ends_with(&data));
}

/// The shards of a model are never replaced by those that are written.
#[test]
fn an_input_file_is_never_the_target() {
    let folder = Folder::new();
    let tensors = ["a", "b"].map(|name| safetensors::Tensor::new(name, "U8", &[64])).into();
    folder.write("in", &safetensors::File { metadata: None, tensors }.encode());
    let shards = ["--max-shard-size", "64B", "--overwrite"];
    let to = |from, to| code(&folder, &[&[from, to], &shards[..]].concat());
    assert_eq!(to("in", "model.safetensors"), 0);
    let before: Vec<_> = folder.names();
    let index = "model.safetensors.index.json";
    assert_eq!(to(index, "model.safetensors"), 2);
    assert_eq!(code(&folder, &[index, "model-00002-of-00002.safetensors", "--overwrite"]), 2);
    assert_eq!((folder.names(), run(&folder, &["check", index]).code), (before, 0));
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_not_replaced() {
    let folder = Folder::new();
    folder.write("a", &model(4));
    folder.write("target", b"old");
    let link = |name: &str, to: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
    };
    link("link", "target");
    link("same", "a");
    assert_eq!(code(&folder, &["a", "same", "--overwrite", "--as", "safetensors"]), 2);
    assert_eq!(code(&folder, &["a", "/dev/null", "--overwrite", "--as", "safetensors"]), 2);
    assert_eq!(code(&folder, &["a", "link", "--overwrite", "--as", "safetensors"]), 0);
    let metadata = fs::symlink_metadata(folder.path().join("link")).expect("it is there");
    assert!(metadata.is_symlink());
    assert!(fs::read(folder.path().join("target")).expect("reads").len() > 8);
    assert_eq!(folder.names(), ["a", "link", "same", "target"]);
}

/// A limit on file sizes simulates a disk that fills up half-way.
#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_leaves_no_model_behind() {
    let folder = Folder::new();
    let tensors = ["a", "b"].map(|name| safetensors::Tensor::new(name, "U8", &[40_000])).into();
    folder.write("a.safetensors", &safetensors::File { metadata: None, tensors }.encode());
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    for rest in ["", "--max-shard-size 50KB"] {
        let script = format!(
            "ulimit -f 30; '{}' convert a.safetensors out.safetensors {rest}",
            binary.display()
        );
        let mut shell = Command::new("sh");
        shell.current_dir(folder.path()).args(["-c", &script]);
        let run = finish(shell);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("File too large"), "{run:?}");
        assert_eq!(folder.names(), ["a.safetensors"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    let folder = Folder::new();
    folder.write("a.safetensors", &model(4));
    let run = run(&folder, &["convert", "a.safetensors", "/proc/out.safetensors"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.starts_with("weighbridge: /proc/out.safetensors: "), "{run:?}");
}

/// Ctrl-C ends a conversion at any time, and no temporary file is left.
#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("a.safetensors", &model(400 << 20));
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    let mut child = std::process::Command::new(binary)
        .current_dir(folder.path())
        .args(["convert", "a.safetensors", "out.safetensors"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    // The temporary file exists while it is written.
    while folder.names().len() == 1 && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()), "it was over too soon");
    let output = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert_eq!(err, "weighbridge: a.safetensors: cancelled\n");
    assert_eq!(folder.names(), ["a.safetensors"]);
}
