//! Listing and validating an ONNX model, compared with a decoder of the same message as `prost`
//! generates it.
//!
//! Ours checks everything except payloads: the wire format, every rule of tensors, graphs and
//! functions, unique names, and which node reads which value. The decoder checks the wire format, and
//! copies the data.

#[path = "onnx/message.rs"]
mod message;
mod turns;

use prost::Message as _;
use std::hint::black_box;
use turns::{Table, Unit};
use weighbridge::{Format, Goal, Model, Options, Profile, check_with};
use weighbridge_tests::encode::onnx::{Message, Model as Sample, Tensor, node};

/// A chain of nodes, each with a constant of this many elements of four bytes.
fn chain(nodes: u32, elements: i64) -> Vec<u8> {
    let name = |i: u32| format!("model.layers.{i}.weight");
    let mut model = Sample::new(&[]);
    for i in 0..nodes {
        let before = if i == 0 { "x".to_owned() } else { format!("out.{}", i - 1) };
        let axis = Message::new().text(1, "axis").int(3, 1).int(20, 2);
        let node = node("Add", &[&before, &name(i)], &[&format!("out.{i}")]).message(5, axis);
        model.graph.push((1, node));
    }
    model.graph.extend((0..nodes).map(|i| (5, Tensor::new(&name(i), &[elements]).encode())));
    model.encode()
}

fn check(bytes: &[u8]) -> u64 {
    let options = Options::new().format(Format::Onnx).goal(Goal::Structure).seed(1);
    let report = check_with(bytes, &options).unwrap();
    assert!(report.findings().is_empty() && report.verdict(Profile::Strict).name() == "valid");
    report.size()
}

fn list(bytes: &[u8]) -> usize {
    Model::from_bytes(bytes).unwrap().index().unwrap().len()
}

fn decoded(bytes: &[u8]) -> usize {
    let model = message::Model::decode(bytes).unwrap();
    model.graph.unwrap().initializer.len()
}

fn main() {
    let mut table = Table::new("onnx", 51);
    for (name, nodes, elements) in
        [("10,000 small initialisers", 10_000, 16), ("100 of 1 MB", 100, 1 << 18)]
    {
        let bytes = chain(nodes, elements);
        assert_eq!((decoded(&bytes), list(&bytes)), (nodes as usize, nodes as usize));
        let unit = Unit::Items(nodes.into());
        table.race(
            &format!("ONNX, {name}: validate"),
            unit,
            ["`prost` 0.14, generated code"],
            &mut || _ = black_box(check(black_box(&bytes))),
            [&mut || _ = black_box(decoded(black_box(&bytes)))],
        );
        table.race(
            &format!("ONNX, {name}: list"),
            unit,
            ["`prost` 0.14, generated code"],
            &mut || _ = black_box(list(black_box(&bytes))),
            [&mut || _ = black_box(decoded(black_box(&bytes)))],
        );
    }
}
