//! Runs inputs through a target, on stable Rust and without a fuzzer.
//!
//! `replay TARGET PATH...` runs files and folders of files; `replay --list`
//! prints the names of the targets, and `replay --longest TARGET` prints the
//! length of the longest input worth trying.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use weighbridge_fuzz_bodies::{budget, by_name, targets};

#[global_allocator]
static ALLOCATOR: budget::Counting = budget::Counting;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let names = targets().map(|target| target.name);
    match arguments.split_first() {
        Some((option, [])) if option == "--list" => names.for_each(|name| println!("{name}")),
        Some((option, [name])) if option == "--longest" => {
            println!("{}", name.to_str().and_then(by_name).map_or(0, |target| target.longest));
        }
        Some((name, paths)) if !paths.is_empty() => {
            let Some(target) = name.to_str().and_then(by_name) else {
                eprintln!("no target {}; --list names them", name.display());
                return ExitCode::from(2);
            };
            let mut inputs = Vec::new();
            paths.iter().for_each(|path| gather(Path::new(path), &mut inputs));
            inputs.sort();
            for path in &inputs {
                match std::fs::read(path) {
                    Ok(input) => (target.run)(&input),
                    Err(error) => {
                        eprintln!("{}: {error}", path.display());
                        return ExitCode::from(2);
                    }
                }
            }
            println!("{}: {} inputs", target.name, inputs.len());
        }
        _ => {
            eprintln!("usage: replay TARGET PATH... | replay --list | replay --longest TARGET");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// Collects a file, or all files below a folder.
fn gather(path: &Path, inputs: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| gather(&entry.path(), inputs)),
        Err(_) => inputs.push(path.to_owned()),
    }
}
