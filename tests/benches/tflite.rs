//! Validating a TensorFlow Lite model, compared with the verifier that `flatc` generates for its schema.
//!
//! That verifier checks that each table, vector and string lies in the file. So does our opening, and a
//! model that is open has no other fault of this kind. Our whole check goes on: elements against shapes,
//! quantisation, operators and what they read and write, signatures, and bytes that belong to nothing.
//!
//! `WEIGHBRIDGE_MODELS` has the paths of other models to verify, with spaces between them.

mod turns;
#[path = "tflite/verifier.rs"]
mod verifier;

use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge::weighbridge_core::{Audit, Finding, Opening, Severity, Slot, Source, Stop};
use weighbridge::{Format, Goal, Model, Options, Profile, check_with};
use weighbridge_tests::hard::chain;

fn check(bytes: &[u8]) -> u64 {
    let options = Options::new().format(Format::Tflite).goal(Goal::Structure).seed(1);
    let report = check_with(bytes, &options).unwrap();
    let broken: Vec<_> = report.findings().iter().map(|found| found.rule()).collect();
    assert!(report.verdict(Profile::Strict).name() == "valid", "{broken:?}");
    report.size()
}

/// Every rule of the structure, as a program without the host's report would do it.
fn audit(bytes: &[u8]) -> u64 {
    let source = Source::whole(bytes);
    let mut found = 0;
    let mut sink = |finding: Finding| found += u64::from(finding.severity() > Severity::Lint);
    let file = Opening::detect().step(&source, &mut sink).unwrap();
    let (mut audit, mut slots) = (Audit::new(file).structure_only().seeded(1), Vec::new());
    while let Err(stop) = audit.step(&source, &mut slots, &mut sink) {
        let Stop::NeedSlots { needed } = stop else { panic!("{stop:?}") };
        slots.resize(needed as usize, Slot::EMPTY);
    }
    assert_eq!(found, 0);
    file.tensor_count()
}

fn open(bytes: &[u8]) -> u64 {
    let file = Opening::detect().step(&Source::whole(bytes), &mut |_| {}).unwrap();
    file.tensor_count()
}

fn list(bytes: &[u8]) -> usize {
    Model::from_bytes(bytes).unwrap().index().unwrap().len()
}

fn race(name: &str, bytes: &[u8], rounds: usize, rows: usize) {
    let mut table = Table::new("tflite", rounds);
    assert!(verifier::is_sound(bytes), "{name} does not pass the generated verifier");
    let count = open(bytes);
    assert_eq!(list(bytes) as u64, count, "{name}");
    let peer = "`flatbuffers` 25, generated code";
    let tasks: [(&str, &mut dyn FnMut()); 4] = [
        ("verify the flatbuffer", &mut || _ = black_box(open(black_box(bytes)))),
        ("every rule", &mut || _ = black_box(audit(black_box(bytes)))),
        ("check", &mut || _ = black_box(check(black_box(bytes)))),
        ("list", &mut || _ = black_box(list(black_box(bytes)))),
    ];
    for (row, ours) in tasks.into_iter().take(rows) {
        table.race(
            &format!("{name}: {row}"),
            Unit::Items(count),
            [peer],
            ours,
            [&mut || assert!(verifier::is_sound(black_box(bytes)))],
        );
    }
}

fn main() {
    // Other models, by their paths.
    if let Ok(models) = std::env::var("WEIGHBRIDGE_MODELS") {
        for path in models.split_whitespace() {
            let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let name = std::path::Path::new(path).file_name().unwrap_or_default();
            race(&name.to_string_lossy(), &bytes, 201, 3);
        }
        return;
    }
    // The last model has a million tables.
    for (layers, rounds) in [(25, 51), (2_500, 51), (91_000, 5)] {
        let bytes = chain(layers);
        let count = 4 * u64::from(layers.unsigned_abs()) + 1;
        assert_eq!(open(&bytes), count);
        race(&format!("TensorFlow Lite, {count} tensors"), &bytes, rounds, 4);
    }
}
