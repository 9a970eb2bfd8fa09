//! TensorFlow Lite models that are hard on a reader: many operators, and objects that are shared.

use crate::encode::flatbuffer::Table;
use crate::encode::tflite::{buffer, code, encode_shared, model, operator, tensor};

/// Types of operators and of tensors, and a union, by their numbers in the schema.
const ADD: i32 = 0;
const CONV_2D: i32 = 3;
const CONV_OPTIONS: u8 = 1;
const ADD_OPTIONS: u8 = 11;
const INT8: u8 = 9;

/// A sound model with `layers` convolutions and sums in a chain, and quantised constants: four
/// tensors and two operators for each, and one tensor more.
pub fn chain(layers: i32) -> Vec<u8> {
    let (mut tensors, mut buffers, mut operators) =
        (vec![value("input")], vec![Table::new()], Vec::new());
    let mut last = 0;
    for layer in 0..layers {
        let (at, first) = (buffers.len() as i32, tensors.len() as i32);
        tensors.push(kernel(&format!("model/conv{layer}/kernel"), at));
        tensors.push(tensor(&format!("model/conv{layer}/bias"), &[4], at + 1));
        tensors.push(value(&format!("model/conv{layer}/output")));
        tensors.push(value(&format!("model/add{layer}/output")));
        buffers.extend([buffer(&[1; 16]), buffer(&[0; 16])]);
        let options = Table::new().byte(0, 0).int(1, 1).int(2, 1).byte(3, 1).int(4, 1).int(5, 1);
        let conv = operator(0, &[last, first, first + 1], &[first + 2]).byte(3, CONV_OPTIONS);
        operators.push(conv.table(4, options));
        let add = operator(1, &[first + 2, last], &[first + 3]).byte(3, ADD_OPTIONS);
        operators.push(add.table(4, Table::new().byte(0, 1)));
        last = first + 3;
    }
    let main = subgraph(&tensors, &[0], &[last]).tables(3, &operators).text(4, "main");
    with(&[main], &buffers)
}

/// A model that has one subgraph `count` times, with one tensor `count` times.
pub fn repeated(count: usize) -> Vec<u8> {
    let main = subgraph(&vec![value("input"); count], &[0], &[0]).tables(3, &[]);
    with(&vec![main; count], &[Table::new()])
}

/// A tensor without data.
fn value(name: &str) -> Table {
    tensor(name, &[1, 8, 8, 4], 0)
}

/// A quantised constant in buffer `at`, with a scale for each of four channels.
fn kernel(name: &str, at: i32) -> Table {
    let quantised = Table::new().floats(2, &[0.5; 4]).longs(3, &[0; 4]).int(6, 0);
    Table::new()
        .ints(0, &[4, 1, 1, 4])
        .byte(1, INT8)
        .int(2, at)
        .text(3, name)
        .table(4, quantised)
        .byte(8, 1)
}

fn subgraph(tensors: &[Table], inputs: &[i32], outputs: &[i32]) -> Table {
    Table::new().tables(0, tensors).ints(1, inputs).ints(2, outputs)
}

fn with(subgraphs: &[Table], buffers: &[Table]) -> Vec<u8> {
    let file = Table::new()
        .int(0, 3)
        .tables(model::CODES, &[code(CONV_2D, 1), code(ADD, 1)])
        .tables(model::SUBGRAPHS, subgraphs)
        .text(3, "made by hand")
        .tables(model::BUFFERS, buffers);
    encode_shared(&file).bytes
}
