//! Writes ExecuTorch programs and tensor data as their schemas declare them.

use super::flatbuffer::{self, Encoded, Table};
use proptest::prelude::*;

/// Numbers of a program's fields.
pub mod program {
    /// `execution_plan`.
    pub const PLANS: u8 = 1;
    /// `constant_buffer`.
    pub const BUFFERS: u8 = 2;
    /// `backend_delegate_data`.
    pub const INLINE: u8 = 3;
    /// `segments`.
    pub const SEGMENTS: u8 = 4;
    /// `constant_segment`.
    pub const CONSTANTS: u8 = 5;
    /// `mutable_data_segments`.
    pub const MUTABLE: u8 = 6;
    /// `named_data`.
    pub const NAMED: u8 = 7;
}

/// Numbers of a method's fields.
pub mod plan {
    /// `name`.
    pub const NAME: u8 = 0;
    /// `values`.
    pub const VALUES: u8 = 2;
    /// `inputs`.
    pub const INPUTS: u8 = 3;
    /// `outputs`.
    pub const OUTPUTS: u8 = 4;
    /// `chains`.
    pub const CHAINS: u8 = 5;
    /// `operators`.
    pub const OPERATORS: u8 = 6;
    /// `delegates`.
    pub const DELEGATES: u8 = 7;
    /// `non_const_buffer_sizes`.
    pub const SIZES: u8 = 8;
    /// `non_const_buffer_device`.
    pub const DEVICES: u8 = 9;
}

/// A value of this kind.
pub fn value(kind: u8, inner: Table) -> Table {
    Table::new().byte(0, kind).table(1, inner)
}

/// A tensor of floats with this extents, and data with this number.
pub fn tensor(sizes: &[i32], data: i32) -> Table {
    let order: Vec<u8> = (0..sizes.len() as u8).collect();
    Table::new().byte(0, 6).ints(2, sizes).bytes(3, &order, 4).int(5, data)
}

/// A tensor of floats in planned memory.
pub fn planned(sizes: &[i32], memory: i32, offset: i32) -> Table {
    tensor(sizes, 0).table(6, Table::new().int(0, memory).int(1, offset))
}

/// A value that is a tensor.
pub fn of_tensor(tensor: Table) -> Table {
    value(5, tensor)
}

/// A value that is an integer.
pub fn of_int(number: u64) -> Table {
    value(2, Table::new().long(0, number))
}

/// An operator.
pub fn operator(name: &str, overload: &str) -> Table {
    Table::new().text(0, name).text(1, overload)
}

/// An instruction that calls a kernel (kind 1) or a delegate (kind 2).
pub fn call(kind: u8, index: i32, values: &[i32]) -> Table {
    value(kind, Table::new().int(0, index).ints(1, values))
}

/// A move (kind 3) or a jump (kind 4).
pub fn two(kind: u8, first: i32, second: i32) -> Table {
    value(kind, Table::new().int(0, first).int(1, second))
}

/// A chain.
pub fn chain(instructions: &[Table]) -> Table {
    Table::new().ints(0, &[]).ints(1, &[]).tables(2, instructions)
}

/// A key of named data.
pub fn named(key: &str, segment: i32) -> Table {
    Table::new().text(0, key).int(1, segment)
}

/// A delegate whose data is at this location and number.
pub fn delegate(id: &str, location: u8, index: i32) -> Table {
    let spec = Table::new().text(0, "level").bytes(1, &[3], 4);
    let processed = Table::new().byte(0, location).int(1, index);
    Table::new().text(0, id).table(1, processed).tables(2, &[spec])
}

/// A file before it is written: its root, and the bytes of its segments.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The root table; the list of segments is added.
    pub root: Table,
    /// The segments.
    pub segments: Vec<Vec<u8>>,
}

/// The data of the sample's constants.
pub fn constants() -> Vec<u8> {
    let floats = (0..10_u8).flat_map(|i| f32::from(i).to_le_bytes());
    let mut bytes: Vec<u8> = floats.collect();
    // The second one is at a multiple of 16.
    bytes.splice(24..24, [0; 8]);
    bytes.truncate(40);
    bytes
}

/// A program with one method: a product with a constant, and a constant sum.
pub fn sample() -> Parts {
    let values = [
        of_tensor(tensor(&[2, 3], 1)),
        of_tensor(tensor(&[2], 2)),
        of_tensor(planned(&[1, 3], 1, 0)),
        of_int(1),
        of_tensor(planned(&[1, 2], 1, 16)),
        value(7, Table::new().longs(0, &[3, 3])),
    ];
    let method = Table::new()
        .text(plan::NAME, "forward")
        .tables(plan::VALUES, &values)
        .ints(plan::INPUTS, &[2])
        .ints(plan::OUTPUTS, &[4])
        .tables(plan::CHAINS, &[chain(&[call(1, 0, &[1, 2, 0, 3, 3, 4, 4])])])
        .tables(plan::OPERATORS, &[operator("aten::addmm", "out")])
        .tables(plan::DELEGATES, &[])
        .longs(plan::SIZES, &[0, 32]);
    let offsets = Table::new().int(0, 0).longs(1, &[0, 0, 32]);
    let root =
        Table::new().int(0, 0).tables(program::PLANS, &[method]).table(program::CONSTANTS, offsets);
    Parts { root, segments: vec![constants()] }
}

/// A key of tensor data: floats with these extents.
pub fn key(name: &str, segment: i32, sizes: &[i32]) -> Table {
    let order: Vec<u8> = (0..sizes.len() as u8).collect();
    named(name, segment).table(2, Table::new().byte(0, 6).ints(1, sizes).bytes(2, &order, 4))
}

/// Tensor data of two keys.
pub fn sample_data() -> Parts {
    let keys = [key("fc.weight", 0, &[2, 3]), key("fc.bias", 1, &[2])];
    let root = Table::new().int(0, 0).tables(2, &keys);
    Parts { root, segments: vec![constants()[..24].to_vec(), constants()[32..].to_vec()] }
}

/// Multiple at which segments begin.
const ALIGNMENT: usize = 128;

/// Writes a file whose header takes `head` bytes, and adds its segments.
fn encode(identifier: &[u8; 4], head: usize, parts: &Parts, list: u8) -> (Encoded, [u64; 3]) {
    let mut offset = 0;
    let mut tables = Vec::new();
    let mut data = Vec::new();
    for segment in &parts.segments {
        data.resize(offset, 0);
        tables.push(Table::new().long(0, offset as u64).long(1, segment.len() as u64));
        data.extend(segment);
        offset = data.len().next_multiple_of(ALIGNMENT);
    }
    let root = match parts.segments.is_empty() {
        true => parts.root.clone(),
        false => parts.root.clone().tables(list, &tables),
    };
    let mut out = flatbuffer::encode_after(identifier, &vec![0; head], &root);
    let size = out.bytes.len();
    if parts.segments.is_empty() {
        return (out, [size as u64, 0, 0]);
    }
    let base = size.next_multiple_of(ALIGNMENT);
    out.bytes.resize(base, 0);
    out.bytes.extend(&data);
    (out, [size as u64, base as u64, data.len() as u64])
}

/// Writes a program with an extended header.
pub fn encode_program(parts: &Parts) -> Encoded {
    let (mut out, numbers) = encode(b"ET12", 32, parts, program::SEGMENTS);
    out.bytes[8..16].copy_from_slice(b"eh00\x20\0\0\0");
    put(&mut out.bytes, 16, numbers);
    out
}

/// Writes a program without a header.
pub fn encode_bare(root: &Table) -> Encoded {
    flatbuffer::encode(b"ET12", root)
}

/// Writes tensor data.
pub fn encode_data(parts: &Parts) -> Encoded {
    let (mut out, numbers) = encode(b"FT01", 40, parts, 1);
    out.bytes[8..16].copy_from_slice(b"FH01\x28\0\0\0");
    out.bytes[16..24].copy_from_slice(&48_u64.to_le_bytes());
    let [size, base, len] = numbers;
    put(&mut out.bytes, 24, [size - 48, base, len]);
    out
}

/// Writes numbers, one after the other.
fn put(bytes: &mut [u8], mut at: usize, numbers: [u64; 3]) {
    for number in numbers {
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        at += 8;
    }
}

/// Constants of a program: type and extents.
pub fn arbitrary() -> impl Strategy<Value = Vec<(u8, Vec<i32>)>> {
    let dims = prop::collection::vec(0_i32..5, 0..4);
    prop::collection::vec((prop::sample::select(vec![0_u8, 1, 4, 6, 7, 15]), dims), 0..8)
}

/// A program whose method returns such constants.
pub fn of_constants(list: &[(u8, Vec<i32>)]) -> Parts {
    let (mut values, mut data, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
    for (i, (code, sizes)) in list.iter().enumerate() {
        let width = match code {
            0 | 1 => 1,
            15 => 2,
            6 => 4,
            _ => 8,
        };
        let len = sizes.iter().product::<i32>() as usize * width;
        data.resize(data.len().next_multiple_of(16), 0);
        offsets.push(data.len() as i64);
        data.extend((0..len).map(|at| (at * 7 + i) as u8));
        let extra = Table::new().text(1, format!("w.{i}"));
        let tensor = tensor(sizes, i as i32 + 1).byte(0, *code).table(9, extra);
        values.push(of_tensor(tensor));
    }
    let outputs: Vec<i32> = (0..values.len() as i32).collect();
    let method = Table::new()
        .text(plan::NAME, "forward")
        .tables(plan::VALUES, &values)
        .ints(plan::INPUTS, &[])
        .ints(plan::OUTPUTS, &outputs)
        .tables(plan::CHAINS, &[chain(&[])])
        .longs(plan::SIZES, &[0]);
    let root = Table::new()
        .int(0, 0)
        .tables(program::PLANS, &[method])
        .table(program::CONSTANTS, Table::new().int(0, 0).longs(1, &offsets));
    Parts { root, segments: vec![data] }
}

/// What a program does with its constants. Values are numbered after these.
#[derive(Clone, Debug, Default)]
pub struct Method {
    /// Further values.
    pub values: Vec<Table>,
    /// Values that are given from outside.
    pub inputs: Vec<i32>,
    /// Values that are returned.
    pub outputs: Vec<i32>,
    /// The operators.
    pub operators: Vec<Table>,
    /// The instructions.
    pub instructions: Vec<Table>,
    /// Bytes of the planned memory buffer.
    pub memory: i64,
}

/// A program with these constants, floats with name, extents and bytes.
pub fn with_constants(constants: &[(String, Vec<i32>, Vec<u8>)], method: &Method) -> Parts {
    let (mut values, mut data, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
    for (number, (name, sizes, bytes)) in (1..).zip(constants) {
        data.resize(data.len().next_multiple_of(16), 0);
        offsets.push(data.len() as i64);
        data.extend(bytes);
        let name = Table::new().text(1, name.as_str());
        values.push(of_tensor(tensor(sizes, number).table(9, name)));
    }
    values.extend(method.values.iter().cloned());
    let method = Table::new()
        .text(plan::NAME, "forward")
        .tables(plan::VALUES, &values)
        .ints(plan::INPUTS, &method.inputs)
        .ints(plan::OUTPUTS, &method.outputs)
        .tables(plan::CHAINS, &[chain(&method.instructions)])
        .tables(plan::OPERATORS, &method.operators)
        .longs(plan::SIZES, &[0, method.memory]);
    let root = Table::new()
        .int(0, 0)
        .tables(program::PLANS, &[method])
        .table(program::CONSTANTS, Table::new().int(0, 0).longs(1, &offsets));
    Parts { root, segments: vec![data] }
}
