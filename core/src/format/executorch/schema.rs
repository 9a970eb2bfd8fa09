//! The tables of programs and of tensor data: what the verifier follows, and the numbers of tables.

use super::rules;
use crate::format::flatbuffer::{Schema, Type, lists};

const S1: Type = Type::Scalar(1);
const S4: Type = Type::Scalar(4);
const S8: Type = Type::Scalar(8);
const V1: Type = Type::Vector(1);
const V4: Type = Type::Vector(4);
const V8: Type = Type::Vector(8);

/// Numbers of the tables of a program.
pub(super) mod table {
    pub(crate) const PLAN: u8 = 1;
    pub(crate) const BUFFER: u8 = 2;
    pub(crate) const INLINE: u8 = 3;
    pub(crate) const SEGMENT: u8 = 4;
    pub(crate) const OFFSETS: u8 = 5;
    pub(crate) const NAMED: u8 = 6;
    pub(crate) const CONTAINER: u8 = 7;
    pub(crate) const VALUE: u8 = 8;
    pub(crate) const CHAIN: u8 = 9;
    pub(crate) const OPERATOR: u8 = 10;
    pub(crate) const DELEGATE: u8 = 11;
    pub(crate) const NULL: u8 = 12;
    pub(crate) const INT: u8 = 13;
    pub(crate) const BOOL: u8 = 14;
    pub(crate) const TENSOR: u8 = 15;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const LONGS: u8 = 17;
    pub(crate) const BYTES: u8 = 18;
    pub(crate) const INTS: u8 = 19;
    pub(crate) const ALLOCATION: u8 = 20;
    pub(crate) const EXTRA: u8 = 21;
    pub(crate) const INSTRUCTION: u8 = 22;
    pub(crate) const CALL: u8 = 23;
    pub(crate) const TWO: u8 = 24;
    pub(crate) const FREE: u8 = 25;
    pub(crate) const FRAMES: u8 = 26;
    pub(crate) const FRAME: u8 = 27;
    pub(crate) const PROCESSED: u8 = 28;
    pub(crate) const SPEC: u8 = 29;
    pub(crate) const DEVICE: u8 = 30;
}

/// A program and everything in it.
pub(super) const PROGRAM: Schema = Schema {
    identifier: *b"ET12",
    tables: lists!(PROGRAM_TABLES),
    unions: lists!(&[VALUES, INSTRUCTIONS]),
    rules: rules::structure,
    counted: [table::TENSOR, table::OPERATOR, table::DELEGATE],
};

const PROGRAM_TABLES: &[&[Type]] = &[
    // Program.
    &[
        S4,
        Type::Tables(table::PLAN),
        Type::Tables(table::BUFFER),
        Type::Tables(table::INLINE),
        Type::Tables(table::SEGMENT),
        Type::Table(table::OFFSETS),
        Type::Tables(table::OFFSETS),
        Type::Tables(table::NAMED),
    ],
    // Execution plan: a method.
    &[
        Type::String,
        Type::Table(table::CONTAINER),
        Type::Tables(table::VALUE),
        V4,
        V4,
        Type::Tables(table::CHAIN),
        Type::Tables(table::OPERATOR),
        Type::Tables(table::DELEGATE),
        V8,
        Type::Tables(table::DEVICE),
    ],
    // Constant data of old programs, and data of delegates.
    &[V1],
    &[V1],
    // Segment: offset and size.
    &[S8, S8],
    // Offsets of constants in a segment.
    &[S4, V8],
    // Named data.
    &[Type::String, S4],
    // How inputs and outputs are nested.
    &[Type::String, Type::String],
    // Value.
    &[Type::Kind, Type::Union(0)],
    // Chain.
    &[V4, V4, Type::Tables(table::INSTRUCTION), Type::Tables(table::FRAMES)],
    // Operator.
    &[Type::String, Type::String],
    // Delegate.
    &[Type::String, Type::Table(table::PROCESSED), Type::Tables(table::SPEC)],
    // Nothing, a number of eight bytes, a truth value.
    &[],
    &[S8],
    &[S1],
    // Tensor.
    &[S1, S4, V4, V1, S1, S4, Type::Table(table::ALLOCATION), S1, S1, Type::Table(table::EXTRA)],
    // Text, and lists of items of eight, one and four bytes.
    &[Type::String],
    &[V8],
    &[V1],
    &[V4],
    // Place in planned memory.
    &[S4, S4, S4],
    // What few tensors have.
    &[S8, Type::String, S1, S1, S1],
    // Instruction.
    &[Type::Kind, Type::Union(1)],
    // Call of a kernel or a delegate.
    &[S4, V4],
    // A move, or a jump.
    &[S4, S4],
    // Free.
    &[S4],
    // Places in source code.
    &[Type::Tables(table::FRAME)],
    &[Type::String, S4, Type::String, Type::String],
    // Where the data of a delegate is.
    &[S1, S4],
    // Setting of a delegate.
    &[Type::String, V1],
    // Device of a memory buffer.
    &[S4, S1, S1],
];

/// Kinds of values.
const VALUES: &[Type] = &[
    Type::Table(table::NULL),
    Type::Table(table::INT),
    Type::Table(table::BOOL),
    Type::Table(table::INT),
    Type::Table(table::TENSOR),
    Type::Table(table::STRING),
    Type::Table(table::LONGS),
    Type::Table(table::LONGS),
    Type::Table(table::BYTES),
    Type::Table(table::INTS),
    Type::Table(table::INTS),
];

/// Kinds of instructions.
const INSTRUCTIONS: &[Type] = &[
    Type::Table(table::CALL),
    Type::Table(table::CALL),
    Type::Table(table::TWO),
    Type::Table(table::TWO),
    Type::Table(table::FREE),
];

/// Numbers of the tables of tensor data.
pub(super) mod data {
    pub(crate) const SEGMENT: u8 = 1;
    pub(crate) const NAMED: u8 = 2;
    pub(crate) const LAYOUT: u8 = 3;
}

/// Tensor data and everything in it.
pub(super) const DATA: Schema = Schema {
    identifier: *b"FT01",
    tables: lists!(DATA_TABLES),
    unions: lists!(&[]),
    rules: rules::structure,
    // Each names one tensor.
    counted: [data::NAMED; 3],
};

const DATA_TABLES: &[&[Type]] = &[
    &[S4, Type::Tables(data::SEGMENT), Type::Tables(data::NAMED)],
    &[S8, S8],
    &[Type::String, S4, Type::Table(data::LAYOUT)],
    &[S1, V4, V1],
];
