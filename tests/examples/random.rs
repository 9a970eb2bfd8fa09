//! Writes random sound files, for tests that are not in Rust: `random FOLDER FORMAT COUNT` creates
//! `FOLDER/random-N.EXTENSION`, reproducibly.

use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;
use std::path::PathBuf;
use weighbridge_core::Format;
use weighbridge_tests::encode::{idv, oinf};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, count] = arguments.as_slice() else {
        panic!("random FOLDER FORMAT COUNT");
    };
    let count: usize = count.parse().expect("a number");
    let files = match Format::by_name(name) {
        Some(Format::Oinf) => sampled(oinf::arbitrary(), |model| model.encode().bytes, count),
        Some(Format::Idv) => sampled(idv::arbitrary(), |file| idv::encode(&file).bytes, count),
        _ => panic!("oinf and idv have readers that are not in Rust"),
    };
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (i, bytes) in files.iter().enumerate() {
        std::fs::write(folder.join(format!("random-{i:04}.{name}")), bytes)?;
    }
    Ok(())
}

fn sampled<S: Strategy>(
    strategy: S,
    encode: impl Fn(S::Value) -> Vec<u8>,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut runner = TestRunner::deterministic();
    let mut next = || encode(strategy.new_tree(&mut runner).expect("no filter").current());
    (0..count).map(|_| next()).collect()
}
