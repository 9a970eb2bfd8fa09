//! ONNX models that are hard on a reader of messages.

use crate::encode::onnx::{Message, Model, Tensor, node, opset, value, varint};
use weighbridge_core::Severity;

/// A model of `count` parts of each kind: what it has, its bytes, and the worst severity of its
/// findings.
pub fn messages(count: usize) -> Vec<(&'static str, Vec<u8>, Option<Severity>)> {
    let repeated = |field: &[u8]| with_graph(&field.repeat(count));
    let long = |last: &[u8]| [&[0x2A, 12, 8][..], &[0x80; 9], last].concat();
    vec![
        ("empty nodes", repeated(&[0x0A, 0]), Some(Severity::Violation)),
        ("empty tensors", repeated(&[0x2A, 0]), Some(Severity::Fatal)),
        ("unknown empty fields", repeated(&[0xA2, 0x38, 0]), None),
        ("varints of eleven bytes", repeated(&long(&[0x80, 1])), Some(Severity::Fatal)),
        ("deep messages", with_graph(&nested(count)), Some(Severity::Violation)),
        ("functions that call the next twice", functions(count / 50), None),
    ]
}

/// A sound model with these fields before those of its graph.
fn with_graph(fields: &[u8]) -> Vec<u8> {
    let graph = Message::new().with(fields).with(&Model::new(&[]).graph().bytes);
    model(graph).message(8, opset("", 21)).bytes
}

/// The beginning of a model with this graph.
fn model(graph: Message) -> Message {
    Message::new().int(1, 10).message(7, graph)
}

/// Graphs in attributes of nodes, one in the other.
fn nested(depth: usize) -> Vec<u8> {
    // The heads from the innermost on, each with its bytes reversed.
    let mut reversed: Vec<u8> = Vec::new();
    for key in (0..depth).flat_map(|_| [0x32, 0x2A, 0x0A]) {
        let mut head = vec![key];
        varint(&mut head, reversed.len() as u64);
        reversed.extend(head.iter().rev());
    }
    reversed.reverse();
    reversed
}

/// Functions whose expansion doubles with each of them.
fn functions(count: usize) -> Vec<u8> {
    let name = |no: usize| format!("f{no}");
    let call = |no: usize, from: &str, to: &str| match no < count {
        true => node(&name(no), &[from], &[to]).text(7, "d"),
        false => node("Relu", &[from], &[to]),
    };
    let graph = Message::new().text(2, "g").message(1, call(0, "x", "y"));
    let graph = graph.message(11, value("x", &[1])).message(12, value("y", &[1]));
    let mut model = model(graph).message(8, opset("", 17)).message(8, opset("d", 1));
    for no in 0..count {
        let (first, second) = (call(no + 1, "x", "m"), call(no + 1, "m", "y"));
        let function = Message::new().text(1, name(no)).text(4, "x").text(5, "y");
        let function = function.message(7, first).message(7, second);
        let function = function.message(9, opset("", 17)).message(9, opset("d", 1));
        model = model.message(25, function.text(10, "d"));
    }
    model.bytes
}

/// A model of `count` small tensors.
pub fn tensors(count: usize) -> Vec<u8> {
    let names = (0..count).map(|no| format!("layer.{no}.weight"));
    Model::new(&names.map(|name| Tensor::new(&name, &[2, 3])).collect::<Vec<_>>()).encode()
}
