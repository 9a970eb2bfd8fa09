//! The command `weighbridge` as its callers see it: exit codes, standard output,
//! standard error, and the files it leaves behind.

mod agree;
mod check;
mod companions;
mod convert;
mod corpus;
mod danger;
mod dduf;
mod diagnosis;
mod digest;
mod exit;
mod explain;
mod extract;
mod gates;
mod gguf;
mod inspect;
mod limits;
mod numpy;
mod oinf;
mod onnx;
mod other;
mod outputs;
mod paths;
mod pickles;
mod policy;
mod programs;

mod recipes;
#[cfg(feature = "remote")]
mod remote;
mod repository;
mod scan;
mod schema;
mod settings;
mod shards;
mod splits;
mod stats;
mod stores;
mod survival;
mod torch_shards;
mod ztensor;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use weighbridge_tests::encode::stb::{Stb, Tensor};

/// A temporary folder with files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).expect("room for a file");
        path
    }

    /// The names of the folder's entries.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder");
        let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }
}

/// The output of a run, and how it ended.
#[derive(Debug)]
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    fn of(output: &std::process::Output) -> Run {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
        Run {
            code: output.status.code().expect("no signal ended it"),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// The one JSON value on standard output.
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|err| panic!("{err}: {self:?}"))
    }

    /// The JSON objects on standard output, one per line.
    fn lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|err| panic!("{err}: {line}"));
        self.out.lines().map(parse).collect()
    }
}

/// A command that runs in `folder`.
fn command(folder: &Folder, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("weighbridge").expect("the binary is built");
    command.current_dir(folder.path()).args(args).env("NO_COLOR", "");
    command
}

fn run(folder: &Folder, args: &[&str]) -> Run {
    finish(command(folder, args))
}

fn finish(mut command: Command) -> Run {
    let output = command.output().expect("the command runs");
    schema::validate_output(&String::from_utf8_lossy(&output.stdout));
    Run::of(&output)
}

/// Two tensors: 0 is f32 \[2, 3\], 1 is i8 \[5\].
fn sound() -> Stb {
    let mut stb = Stb::new(vec![Tensor::new(0, 0, &[2, 3]), Tensor::new(1, 2, &[5])]);
    let floats = [0.0_f32, -0.0, 1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    stb.tensors[0].payload = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    stb.tensors[1].payload = vec![0, 1, 0x7F, 0x80, 0xFF];
    stb
}

/// Breaks one rule with severity violation (`H-FLAGS`).
fn with_flags() -> Vec<u8> {
    Stb { flags: 1, ..sound() }.encode()
}

/// Has one lint (`T-DIMS0`).
fn with_lint() -> Vec<u8> {
    let mut stb = sound();
    stb.tensors[1].dims[2] = 9;
    stb.encode()
}

/// Has a tensor of an unknown type, so its size (`T-DTYPE`) and its data cannot be
/// checked.
fn with_unknown_type() -> Vec<u8> {
    let mut stb = sound();
    stb.tensors[1].dtype = 77;
    stb.encode()
}
