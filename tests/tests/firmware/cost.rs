//! The cost of each step in instructions of the Cortex-M4.

use crate::check::{FOR_HOSTS, readers_folder};
use crate::rig::{image, record, run};
use std::path::{Path, PathBuf};
use weighbridge_core::Format;
use weighbridge_tests::alike;

/// Number of tensors in the files.
const TENSORS: u8 = 25;

/// QEMU counts 2^7 ns per instruction. SysTick ticks every 40 ns and runs out after five million
/// instructions.
const SHIFT: &str = "shift=7";
const TICKS: f64 = 128.0 / 40.0;

/// The output of one run: open, list, audit, index, find, in instructions.
struct Cost([f64; 5]);

/// The measured image: the reader of the format if scripts/firmware.sh built it, otherwise the
/// image of every format.
fn image_of(format: &str) -> PathBuf {
    readers_folder().map_or_else(|| image("WEIGHBRIDGE_CHECK"), |folder| folder.join(format))
}

fn measure() -> Vec<(&'static str, Cost)> {
    let cost = |(format, bytes): (&'static str, Vec<u8>)| {
        let mut records = record(&bytes, format, true);
        records.extend([0; 64]);
        let run = run(&image_of(format), &records, &["-icount", SHIFT]);
        assert!(run.success, "{format}: {}", run.output);
        let words: Vec<_> = run.output.split_whitespace().collect();
        let listed = ["tensors", &TENSORS.to_string(), "indexed", "true"];
        assert_eq!(words[..4], listed, "{format}: {}", run.output);
        let names = ["open", "list", "audit", "index", "find"];
        let cost = Cost(std::array::from_fn(|i| {
            assert_eq!(words[4 + 2 * i], names[i]);
            words[5 + 2 * i].parse::<f64>().expect("ticks") / TICKS
        }));
        (format, cost)
    };
    let mut files = alike::files(TENSORS);
    files.push(("tflite", alike::tflite(TENSORS)));
    files.push(("executorch", alike::executorch(TENSORS)));
    files.into_iter().map(cost).collect()
}

/// The sizes that an image reports when given an empty file.
fn memory(image: &Path) -> Vec<(String, usize)> {
    let mut records = record(&[], "", true);
    records.extend([0; 64]);
    let run = run(image, &records, &[]);
    assert!(run.success, "{}", run.output);
    let words: Vec<_> = run.output.split_whitespace().collect();
    words.chunks(2).map(|pair| (pair[0].into(), pair[1].parse().expect("bytes"))).collect()
}

#[test]
fn memory_of_each_value() {
    println!("bytes of memory of each value");
    let every = image("WEIGHBRIDGE_CHECK");
    assert!(every.is_file(), "scripts/firmware.sh builds {}", every.display());
    let mut images = vec![("every".to_owned(), every)];
    if let Some(folder) = readers_folder() {
        for name in Format::ALL.iter().map(|format| format.name()) {
            if !FOR_HOSTS.contains(&name) {
                images.push((name.to_owned(), folder.join(name)));
            }
        }
    }
    for (reader, image) in &images {
        let values = memory(image);
        let text: Vec<_> = values.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
        println!("{reader:<12}  {}", text.join("  "));
        let slot = values.iter().find(|(name, _)| name == "slot").expect("slots");
        // In a reader of mapped files, slots store offsets no wider than an address.
        assert_eq!(slot.1, if reader == "every" { 24 } else { 16 }, "size of a slot");
    }
}

#[test]
fn instructions_of_each_step() {
    let first = measure();
    println!("instructions, files of {TENSORS} tensors");
    println!(
        "{:<12}{:>10}{:>14}{:>14}{:>14}{:>10}",
        "reader", "open", "list/tensor", "audit/tensor", "index/tensor", "lookup"
    );
    let n = f64::from(TENSORS);
    let mut lines = String::new();
    for (format, Cost([open, list, audit, index, find])) in &first {
        let [list, audit, index, find] = [list, audit, index, find].map(|cost| cost / n);
        println!("{format:<12}{open:>10.0}{list:>14.0}{audit:>14.0}{index:>14.0}{find:>10.0}");
        lines += &format!("{format} {open:.0} {list:.0} {audit:.0} {find:.0}\n");
        // Looking up a name costs less than reading the index from its start.
        assert!(find < list * n, "{format}");
    }
    // For the tables that scripts/firmware.sh writes.
    if let Some(path) = std::env::var_os("WEIGHBRIDGE_COST") {
        std::fs::write(path, lines).expect("the figures are written");
    }
    // The instruction counts are reproducible, so the figures do not depend on the machine.
    for ((format, one), (_, two)) in first.iter().zip(measure()) {
        for (one, two) in one.0.iter().zip(two.0) {
            assert!((one - two).abs() <= 2.0, "{format}: {one} and {two}");
        }
    }
}
