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
use weighbridge_tests::encode::flatbuffer::Table as Object;
use weighbridge_tests::encode::tflite::{buffer, code, encode_shared, model, operator, tensor};

/// A chain of convolutions and sums with quantised constants.
fn chain(layers: i32) -> Vec<u8> {
    let scales =
        |count: usize| Object::new().floats(2, &vec![0.5; count]).longs(3, &vec![0; count]);
    let constant = |name: &str, shape: &[i32], at: i32| {
        let channels = shape[0] as usize;
        let quantised = scales(channels).int(6, 0);
        let int8 = 9;
        Object::new()
            .ints(0, shape)
            .byte(1, int8)
            .int(2, at)
            .text(3, name)
            .table(4, quantised)
            .byte(8, 1)
    };
    let value = |name: &str| tensor(name, &[1, 8, 8, 4], 0);
    let (mut tensors, mut buffers, mut operators) =
        (vec![value("input")], vec![Object::new()], Vec::new());
    let mut last = 0;
    for layer in 0..layers {
        let (at, first) = (buffers.len() as i32, tensors.len() as i32);
        tensors.push(constant(&format!("model/conv{layer}/kernel"), &[4, 1, 1, 4], at));
        tensors.push(tensor(&format!("model/conv{layer}/bias"), &[4], at + 1));
        tensors.push(value(&format!("model/conv{layer}/output")));
        tensors.push(value(&format!("model/add{layer}/output")));
        buffers.extend([buffer(&[1; 16]), buffer(&[0; 16])]);
        let options = Object::new().byte(0, 0).int(1, 1).int(2, 1).byte(3, 1).int(4, 1).int(5, 1);
        let conv = operator(0, &[last, first, first + 1], &[first + 2]).byte(3, 1);
        operators.push(conv.table(4, options));
        let add = operator(1, &[first + 2, last], &[first + 3]).byte(3, 11);
        operators.push(add.table(4, Object::new().byte(0, 1)));
        last = first + 3;
    }
    let main = Object::new()
        .tables(0, &tensors)
        .ints(1, &[0])
        .ints(2, &[last])
        .tables(3, &operators)
        .text(4, "main");
    let file = Object::new()
        .int(0, 3)
        .tables(model::CODES, &[code(3, 1), code(0, 1)])
        .tables(model::SUBGRAPHS, &[main])
        .text(3, "made by hand")
        .tables(model::BUFFERS, &buffers);
    encode_shared(&file).bytes
}

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
    let mut table = Table::new("tflite", 51);
    for layers in [25, 2_500] {
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
