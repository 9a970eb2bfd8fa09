//! Validating a TensorFlow Lite model, compared with the verifier that `flatc` generates for its schema.
//!
//! That verifier checks that each table, vector and string lies in the file. So does our opening, and a
//! model that is open has no other fault of this kind. Our whole check goes on: elements against shapes,
//! quantisation, operators and what they read and write, signatures, and bytes that belong to nothing.

mod turns;
#[path = "tflite/verifier.rs"]
mod verifier;

use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge::weighbridge_core::{Opening, Source};
use weighbridge::{Format, Goal, Model, Options, Profile, check_with};
use weighbridge_tests::hard::chain;

fn check(bytes: &[u8]) -> u64 {
    let options = Options::new().format(Format::Tflite).goal(Goal::Structure).seed(1);
    let report = check_with(bytes, &options).unwrap();
    let broken: Vec<_> = report.findings().iter().map(|found| found.rule()).collect();
    assert!(report.verdict(Profile::Strict).name() == "valid", "{broken:?}");
    report.size()
}

fn open(bytes: &[u8]) -> u64 {
    let file = Opening::detect().step(&Source::whole(bytes), &mut |_| {}).unwrap();
    file.tensor_count()
}

fn list(bytes: &[u8]) -> usize {
    Model::from_bytes(bytes).unwrap().index().unwrap().len()
}

fn main() {
    // The last model has a million tables.
    for (layers, rounds) in [(25, 51), (2_500, 51), (91_000, 5)] {
        let mut table = Table::new("tflite", rounds);
        let bytes = chain(layers);
        let count = 4 * u64::from(layers.unsigned_abs()) + 1;
        assert!(verifier::is_sound(&bytes) && open(&bytes) == count);
        assert_eq!(list(&bytes) as u64, count);
        let peer = "`flatbuffers` 25, generated code";
        let rows: [(&str, &mut dyn FnMut()); 3] = [
            ("verify the flatbuffer", &mut || _ = black_box(open(black_box(&bytes)))),
            ("list", &mut || _ = black_box(list(black_box(&bytes)))),
            ("check", &mut || _ = black_box(check(black_box(&bytes)))),
        ];
        for (row, ours) in rows {
            table.race(
                &format!("TensorFlow Lite, {count} tensors: {row}"),
                Unit::Items(count),
                [peer],
                ours,
                [&mut || assert!(verifier::is_sound(black_box(&bytes)))],
            );
        }
    }
}
