//! The bodies of the fuzz targets over their seeds and over every file that a
//! run has found, on stable Rust. Heap is counted; steps are counted by
//! `scripts/fuzz.sh smoke` only, which compiles counters in.

use std::path::Path;
use weighbridge_fuzz_bodies::{TARGETS, budget, seeds};

#[global_allocator]
static ALLOCATOR: budget::Counting = budget::Counting;

/// The files of a folder of `fuzz/`, sorted; none if there is no such folder.
fn files(kind: &str, target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let Ok(entries) = root.join(kind).join(target).read_dir() else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn seeds_of_the_encoders() {
    assert!(budget::is_counting());
    for target in TARGETS {
        let seeds = seeds::of(target.name);
        assert!(seeds.len() >= 10, "{}", target.name);
        for (name, input) in seeds {
            println!("{} {name}", target.name);
            (target.run)(&input);
        }
    }
}

#[test]
fn seeds_of_runs_and_regression_files() {
    let mut regressions = 0;
    for target in TARGETS {
        for input in files("seeds", target.name) {
            (target.run)(&input);
        }
        for input in files("regressions", target.name) {
            (target.run)(&input);
            regressions += 1;
        }
    }
    // Each is described in fuzz/regressions/README.md.
    assert!(regressions > 0);
}

#[test]
fn every_format_has_its_targets() {
    for format in weighbridge::Format::ALL {
        let name = format.name();
        for target in [name.to_owned(), format!("damaged_{name}")] {
            assert!(TARGETS.iter().any(|found| found.name == target), "{target}");
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        assert!(root.join(format!("dictionaries/{name}.dict")).is_file(), "{name}");
    }
    for target in TARGETS {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        assert!(root.join(format!("fuzz_targets/{}.rs", target.name)).is_file());
    }
}
