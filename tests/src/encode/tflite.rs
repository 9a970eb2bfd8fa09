//! Writes TensorFlow Lite models as the schema declares them.

use super::flatbuffer::{self, Encoded, Table};
use proptest::prelude::*;

/// Numbers of the model's fields.
pub mod model {
    /// `operator_codes`.
    pub const CODES: u8 = 1;
    /// `subgraphs`.
    pub const SUBGRAPHS: u8 = 2;
    /// `buffers`.
    pub const BUFFERS: u8 = 4;
    /// `metadata_buffer`.
    pub const OLD_METADATA: u8 = 5;
    /// `metadata`.
    pub const METADATA: u8 = 6;
    /// `signature_defs`.
    pub const SIGNATURES: u8 = 7;
    /// `external_buffer_groups`.
    pub const GROUPS: u8 = 8;
    /// `external_buffers`.
    pub const EXTERNALS: u8 = 9;
}

/// A tensor of floats: its shape, buffer and name.
pub fn tensor(name: &str, shape: &[i32], buffer: i32) -> Table {
    Table::new().ints(0, shape).byte(1, 0).int(2, buffer).text(3, name).byte(8, 1)
}

/// A buffer with data.
pub fn buffer(data: &[u8]) -> Table {
    Table::new().bytes(0, data, 16)
}

/// The code of an operator: number and version.
pub fn code(number: i32, version: i32) -> Table {
    let old = number.clamp(-128, 127) as i8;
    Table::new().byte(0, old as u8).int(2, version).int(3, number)
}

/// An operator: the number of its code, what it reads and writes.
pub fn operator(code: i32, inputs: &[i32], outputs: &[i32]) -> Table {
    Table::new().int(0, code).ints(1, inputs).ints(2, outputs)
}

/// Ascending bytes.
pub fn ascending(len: usize) -> Vec<u8> {
    (0..len).map(|i| i as u8).collect()
}

/// A named tensor of a signature.
pub fn named(name: &str, tensor: i32) -> Table {
    Table::new().text(0, name).int(1, tensor)
}

/// A model that adds a constant to its input.
pub fn sample() -> Table {
    let tensors = [tensor("x", &[1, 3], 0), tensor("w", &[1, 3], 1), tensor("y", &[1, 3], 0)];
    // ADD, with `AddOptions`.
    let add = operator(0, &[0, 1], &[2]).byte(3, 11).table(4, Table::new().byte(0, 0));
    let main = Table::new()
        .tables(0, &tensors)
        .ints(1, &[0])
        .ints(2, &[2])
        .tables(3, &[add])
        .text(4, "main");
    let signature = Table::new()
        .tables(0, &[named("x", 0)])
        .tables(1, &[named("y", 2)])
        .text(2, "serving_default")
        .int(4, 0);
    Table::new()
        .int(0, 3)
        .tables(model::CODES, &[code(0, 1)])
        .tables(model::SUBGRAPHS, &[main])
        .text(3, "made by hand")
        .tables(
            model::BUFFERS,
            &[Table::new(), buffer(&ascending(12)), buffer(b"1.5.0\0\0\0\0\0\0\0\0\0\0\0")],
        )
        .tables(model::METADATA, &[Table::new().text(0, "min_runtime_version").int(1, 2)])
        .tables(model::SIGNATURES, &[signature])
}

/// A model of one subgraph with these tensors and buffers, and nothing else.
pub fn constants(tensors: &[Table], buffers: &[Table]) -> Table {
    let main = Table::new().tables(0, tensors).ints(1, &[]).ints(2, &[]).tables(3, &[]);
    Table::new()
        .int(0, 3)
        .tables(model::CODES, &[])
        .tables(model::SUBGRAPHS, &[main])
        .tables(model::BUFFERS, buffers)
}

/// Writes a model.
pub fn encode(model: &Table) -> Encoded {
    flatbuffer::encode(b"TFL3", model)
}

/// Writes a model whose tables share vtables, as usual writers do.
pub fn encode_shared(model: &Table) -> Encoded {
    flatbuffer::encode_shared(b"TFL3", model)
}

/// Writes a model with `tail` behind the flatbuffer. `place` sets the offset of the tail, which
/// takes eight bytes whatever it is.
pub fn with_tail(place: impl Fn(u64) -> Table, tail: &[u8]) -> Vec<u8> {
    let end = encode(&place(u64::MAX)).bytes.len().next_multiple_of(16);
    let mut bytes = encode(&place(end as u64)).bytes;
    bytes.resize(end, 0);
    bytes.extend(tail);
    bytes
}

/// Constants of a model: type and extents.
pub fn arbitrary() -> impl Strategy<Value = Vec<(u8, Vec<i32>)>> {
    let dims = prop::collection::vec(0_i32..5, 0..4);
    prop::collection::vec((prop::sample::select(vec![0_u8, 3, 4, 9, 17]), dims), 0..8)
}

/// A model of such constants.
pub fn of_constants(constants_of: &[(u8, Vec<i32>)]) -> Table {
    let mut buffers = vec![Table::new()];
    let mut tensors = Vec::new();
    for (i, (code, dims)) in constants_of.iter().enumerate() {
        let elements = dims.iter().product::<i32>() as usize;
        let bits = match code {
            0 => 32,
            4 => 64,
            17 => 4,
            _ => 8,
        };
        // Unused bits of the last byte are 0.
        let data: Vec<u8> = (0..(elements * bits).div_ceil(8))
            .map(|at| if *code == 17 { (at & 7) as u8 } else { (at * 7 + i) as u8 })
            .collect();
        buffers.push(buffer(&data));
        tensors.push(tensor(&format!("w.{i}"), dims, i as i32 + 1).byte(1, *code));
    }
    constants(&tensors, &buffers)
}
