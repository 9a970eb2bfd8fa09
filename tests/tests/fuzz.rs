//! Runs the bodies of the fuzz targets on stable Rust, on their seeds and on every input that
//! fuzzing has kept. Heap use is counted; steps are counted only by `scripts/fuzz.sh smoke`, which
//! compiles counters in.

use std::path::Path;
use weighbridge_fuzz_bodies::{budget, by_name, kept, seeds, targets};

#[global_allocator]
static ALLOCATOR: budget::Counting = budget::Counting;

#[test]
fn encoder_fuzz_seeds_pass() {
    assert!(budget::is_counting());
    for target in targets() {
        let seeds = seeds::of(target.name);
        assert!(seeds.len() >= 10, "{}", target.name);
        for (name, input) in seeds {
            println!("{} {name}", target.name);
            (target.run)(&input);
        }
    }
}

#[test]
fn kept_fuzz_inputs_pass() {
    let mut regressions = 0;
    for target in targets() {
        for (_, input) in kept::files("seeds", target.name) {
            (target.run)(&input);
        }
        for (_, input) in kept::files("regressions", target.name) {
            (target.run)(&input);
            regressions += 1;
        }
    }
    // Each one is described in fuzz/regressions/README.md.
    assert!(regressions > 0);
}

#[test]
fn every_format_has_its_targets() {
    for format in weighbridge_core::Format::ALL {
        let name = format.name();
        for target in [name.to_owned(), format!("damaged_{name}")] {
            assert!(by_name(&target).is_some(), "{target}");
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        assert!(root.join(format!("dictionaries/{name}.dict")).is_file(), "{name}");
    }
    for target in targets() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        assert!(root.join(format!("fuzz_targets/{}.rs", target.name)).is_file());
    }
}
