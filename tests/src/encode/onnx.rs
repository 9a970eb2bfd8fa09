//! Writes messages of Protocol Buffers, and ONNX models as `onnx.proto` declares them.

use proptest::prelude::*;

/// Appends a varint.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A message under construction: fields are appended in the order of the calls, so a message can
/// be malformed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Message {
    /// A message without fields.
    pub fn new() -> Self {
        Message::default()
    }

    /// Appends a key.
    #[must_use]
    pub fn key(mut self, number: u64, wire: u64) -> Self {
        varint(&mut self.bytes, number << 3 | wire);
        self
    }

    /// Appends bytes as they are.
    #[must_use]
    pub fn with(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// Appends an integer.
    #[must_use]
    pub fn int(self, number: u64, value: i64) -> Self {
        let mut next = self.key(number, 0);
        varint(&mut next.bytes, value as u64);
        next
    }

    /// Appends a float.
    #[must_use]
    pub fn float(self, number: u64, value: f32) -> Self {
        self.key(number, 5).with(&value.to_le_bytes())
    }

    /// Appends bytes or a text.
    #[must_use]
    pub fn text(self, number: u64, text: impl AsRef<[u8]>) -> Self {
        let mut next = self.key(number, 2);
        varint(&mut next.bytes, text.as_ref().len() as u64);
        next.with(text.as_ref())
    }

    /// Appends a message.
    #[must_use]
    pub fn message(self, number: u64, message: Message) -> Self {
        self.text(number, message.bytes)
    }

    /// Appends packed integers.
    #[must_use]
    pub fn packed(self, number: u64, values: &[i64]) -> Self {
        let mut inside = Vec::new();
        values.iter().for_each(|value| varint(&mut inside, *value as u64));
        self.text(number, inside)
    }
}

/// A tensor with raw data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// `name`.
    pub name: String,
    /// `data_type`.
    pub dtype: i64,
    /// `dims`.
    pub dims: Vec<i64>,
    /// `raw_data`.
    pub data: Vec<u8>,
}

impl Tensor {
    /// Floats with ascending bytes.
    pub fn new(name: &str, dims: &[i64]) -> Self {
        let len = dims.iter().product::<i64>() as usize * 4;
        let data = (0..len).map(|i| i as u8).collect();
        Tensor { name: name.to_owned(), dtype: 1, dims: dims.to_vec(), data }
    }

    /// Shape and type.
    pub fn head(&self) -> Message {
        let message = self.dims.iter().fold(Message::new(), |m, dim| m.int(1, *dim));
        message.int(2, self.dtype)
    }

    /// The message.
    pub fn encode(&self) -> Message {
        self.head().text(8, &self.name).text(9, &self.data)
    }
}

/// A value of floats: an input or output of a graph.
pub fn value(name: &str, dims: &[i64]) -> Message {
    let shape =
        dims.iter().fold(Message::new(), |m, dim| m.message(1, Message::new().int(1, *dim)));
    let tensor = Message::new().int(1, 1).message(2, shape);
    Message::new().text(1, name).message(2, Message::new().message(1, tensor))
}

/// A node of the default domain.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> Message {
    let message = inputs.iter().fold(Message::new(), |m, name| m.text(1, name));
    outputs.iter().fold(message, |m, name| m.text(2, name)).text(4, op)
}

/// An operator set.
pub fn opset(domain: &str, version: i64) -> Message {
    let message = if domain.is_empty() { Message::new() } else { Message::new().text(1, domain) };
    message.int(2, version)
}

/// A pair of a key and a value.
pub fn pair(key: &str, value: &str) -> Message {
    Message::new().text(1, key).text(2, value)
}

/// A model: a graph and what surrounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    /// `ir_version`.
    pub ir: i64,
    /// Messages of the graph with their field numbers, after its name.
    pub graph: Vec<(u64, Message)>,
    /// Operator sets.
    pub opsets: Vec<Message>,
    /// Messages of the model with their field numbers, at its end.
    pub more: Vec<(u64, Message)>,
}

impl Model {
    /// A model that adds its first initialiser to its input.
    pub fn new(tensors: &[Tensor]) -> Self {
        let mut graph = vec![match tensors.first() {
            Some(tensor) => (1, node("Add", &["x", &tensor.name], &["y"])),
            None => (1, node("Identity", &["x"], &["y"])),
        }];
        graph.extend(tensors.iter().map(|tensor| (5, tensor.encode())));
        graph.push((11, value("x", &[2, 3])));
        graph.push((12, value("y", &[2, 3])));
        Model { ir: 10, graph, opsets: vec![opset("", 21)], more: Vec::new() }
    }

    /// The graph.
    pub fn graph(&self) -> Message {
        let fields = self.graph.iter().cloned();
        fields.fold(Message::new().text(2, "g"), |m, (number, inside)| m.message(number, inside))
    }

    /// The model.
    pub fn message(&self) -> Message {
        let model = Message::new().int(1, self.ir).text(2, "tests").message(7, self.graph());
        let model = self.opsets.iter().cloned().fold(model, |m, inside| m.message(8, inside));
        self.more.iter().cloned().fold(model, |m, (number, inside)| m.message(number, inside))
    }

    /// The file.
    pub fn encode(&self) -> Vec<u8> {
        self.message().bytes
    }
}

/// Sound models: up to eight initialisers with distinct names, and properties.
pub fn arbitrary() -> impl Strategy<Value = Vec<Tensor>> {
    let dims = prop::collection::vec(0_i64..5, 0..4);
    prop::collection::vec((dims, 0_usize..3), 0..8).prop_map(|tensors| {
        let make = |(i, (dims, kind)): (usize, (Vec<i64>, usize))| {
            let (dtype, width) = [(1, 4), (7, 8), (2, 1)][kind];
            let len = dims.iter().product::<i64>() as usize * width;
            let data = (0..len).map(|at| (at * 7 + i) as u8).collect();
            Tensor { name: format!("w.{i}"), dtype, dims, data }
        };
        tensors.into_iter().enumerate().map(make).collect()
    })
}
