//! The tables of a model: what the verifier follows, and the numbers of fields.
//!
//! Written from schema 3 (revisions up to 3d). The options of operators are described by the widths
//! of their fields alone; tables of equal widths share a description.

use super::rules;
use crate::format::flatbuffer::{Schema, Type, lists, strings_of};

const S1: Type = Type::Scalar(1);
const S4: Type = Type::Scalar(4);
const S8: Type = Type::Scalar(8);
const V1: Type = Type::Vector(1);
const V4: Type = Type::Vector(4);
const V8: Type = Type::Vector(8);

/// Numbers of tables.
pub(super) mod table {
    pub(crate) const OPERATOR_CODE: u8 = 1;
    pub(crate) const SUBGRAPH: u8 = 2;
    pub(crate) const TENSOR: u8 = 3;
    pub(crate) const OPERATOR: u8 = 4;
    pub(crate) const BUFFER: u8 = 5;
    pub(crate) const QUANTIZATION: u8 = 6;
    pub(crate) const CUSTOM_QUANTIZATION: u8 = 7;
    pub(crate) const BLOCKWISE: u8 = 8;
    pub(crate) const MULTI_AXIS: u8 = 9;
    pub(crate) const SPARSITY: u8 = 10;
    pub(crate) const DIMENSION: u8 = 11;
    pub(crate) const INT32S: u8 = 12;
    pub(crate) const UINT16S: u8 = 13;
    pub(crate) const UINT8S: u8 = 14;
    pub(crate) const VARIANT: u8 = 15;
    pub(crate) const METADATA: u8 = 16;
    pub(crate) const SIGNATURE: u8 = 17;
    pub(crate) const TENSOR_MAP: u8 = 18;
    pub(crate) const GROUP: u8 = 19;
    pub(crate) const EXTERNAL: u8 = 20;
}

/// The options of an operator, by the number of their description.
const fn o(number: u8) -> Type {
    Type::Table(number)
}

/// The model and everything in it.
pub(super) const MODEL: Schema = Schema {
    identifier: *b"TFL3",
    tables: lists!(TABLES),
    unions: lists!(&[OPTIONS, OPTIONS_2, DETAILS, INDICES]),
    rules: rules::structure,
    counted: [table::TENSOR, table::OPERATOR, strings_of(table::OPERATOR_CODE)],
};

const TABLES: &[&[Type]] = &[
    // Model.
    &[
        S4,
        Type::Tables(table::OPERATOR_CODE),
        Type::Tables(table::SUBGRAPH),
        Type::String,
        Type::Tables(table::BUFFER),
        V4,
        Type::Tables(table::METADATA),
        Type::Tables(table::SIGNATURE),
        Type::Tables(table::GROUP),
        Type::Tables(table::EXTERNAL),
    ],
    // Operator code.
    &[S1, Type::String, S4, S4],
    // Subgraph.
    &[Type::Tables(table::TENSOR), V4, V4, Type::Tables(table::OPERATOR), Type::String, S4],
    // Tensor.
    &[
        V4,
        S1,
        S4,
        Type::String,
        Type::Table(table::QUANTIZATION),
        S1,
        Type::Table(table::SPARSITY),
        V4,
        S1,
        Type::Tables(table::VARIANT),
        S4,
    ],
    // Operator.
    &[
        S4,
        V4,
        V4,
        Type::Kind,
        Type::Union(0),
        V1,
        S1,
        V1,
        V4,
        S8,
        S8,
        Type::Kind,
        Type::Union(1),
        S4,
    ],
    // Buffer.
    &[V1, S8, S8],
    // Quantisation parameters.
    &[V4, V4, V4, V8, Type::Kind, Type::Union(2), S4],
    // Custom, blockwise and multi-axis quantisation.
    &[V1],
    &[S4, S4, S4],
    &[S4, S4, S4, V4],
    // Sparsity parameters, and one dimension of them.
    &[V4, V4, Type::Tables(table::DIMENSION)],
    &[S1, S4, Type::Kind, Type::Union(3), Type::Kind, Type::Union(3)],
    // Vectors of int32, uint16 and uint8.
    &[V4],
    &[Type::Vector(2)],
    &[V1],
    // Type of what a variant holds.
    &[V4, S1, S1],
    // Metadata, a signature, and a named tensor of one.
    &[Type::String, S4],
    &[
        Type::Tables(table::TENSOR_MAP),
        Type::Tables(table::TENSOR_MAP),
        Type::String,
        Type::Unused,
        S4,
    ],
    &[Type::String, S4],
    // A file with external buffers, and a part of one.
    &[Type::String],
    &[S4, S4, S8, S8, Type::String],
    // The options of operators, from number 21 on.
    &[],
    &[S1, S4, S4, S1, S4, S4, S1],
    &[S1, S4, S4, S4, S1, S4, S4],
    &[S4, V4, V4],
    &[S1],
    &[S1, S4, S4, S4, S4, S1],
    &[S4, S1, S1],
    &[S1, S1],
    &[S1, S1, S1, S1, S1],
    &[S4],
    &[S4, S1],
    &[S4, S4, S4, S4],
    &[S1, S4, S4, S1, S1],
    &[S4, S4, S1, S1],
    &[V4],
    &[S4, S4, S1],
    &[S4, S4],
    &[S1, S1, S1],
    &[S4, S4, S4, S4, S4, S1],
    &[S4, S4, S4, S1],
    &[S1, S4, S4, S1, S1, S1],
    &[S1, S1, S1, S1],
    &[S1, S4, S4, S4, S1, S4, S4, S4],
    &[Type::String, Type::String],
    &[S8, S8],
    &[S8],
    &[V8],
    &[V8, V8, V8],
    &[V8, V8, V8, V8, V1, S8, S8, V8, S8, S8, V8, S8, S8, V8, S8, S8, V4],
    &[Type::String, S1, Type::String, S4, V4, V1],
    &[V8, S4],
    &[S1, V8, V8, V8, S8, S1, S4],
    &[V8, V8, V8, V8, V4],
    &[V8, V8, V8, V8, V8, S4],
    &[S8, S1, S4],
    &[V8, V8, V8, S8, V8, S1],
    &[Type::String, S4, V1, S1, S4],
];

/// Quantisation details.
const DETAILS: &[Type] = &[
    Type::Table(table::CUSTOM_QUANTIZATION),
    Type::Table(table::BLOCKWISE),
    Type::Table(table::MULTI_AXIS),
];

/// Segments and indices of a sparse dimension.
const INDICES: &[Type] =
    &[Type::Table(table::INT32S), Type::Table(table::UINT16S), Type::Table(table::UINT8S)];

/// `BuiltinOptions`, from `Conv2DOptions` on.
#[rustfmt::skip]
const OPTIONS: &[Type] = &[
    o(22), o(23), o(24), o(25), o(26), o(27), o(28), o(29), o(30), o(31), o(28), o(25), o(32), o(33),
    o(34), o(30), o(35), o(36), o(30), o(25), o(25), o(21), o(37), o(21), o(21), o(21), o(25), o(28),
    o(25), o(35), o(38), o(39), o(21), o(21), o(30), o(21), o(28), o(21), o(21), o(25), o(21), o(21),
    o(21), o(21), o(21), o(21), o(21), o(21), o(33), o(25), o(21), o(21), o(21), o(21), o(25), o(21),
    o(25), o(40), o(37), o(21), o(30), o(21), o(21), o(37), o(21), o(21), o(21), o(21), o(41), o(42),
    o(41), o(21), o(21), o(28), o(30), o(21), o(25), o(21), o(30), o(25), o(21), o(21), o(21), o(21),
    o(21), o(21), o(37), o(21), o(21), o(21), o(21), o(37), o(37), o(30), o(21), o(21), o(21), o(21),
    o(21), o(21), o(38), o(28), o(30), o(21), o(21), o(43), o(27), o(21), o(21), o(21), o(44), o(21),
    o(21), o(45), o(35), o(25), o(21), o(21), o(21), o(21), o(21), o(21), o(21), o(21), o(21), o(21),
];

/// `BuiltinOptions2`, from `StablehloConcatenateOptions` on.
#[rustfmt::skip]
const OPTIONS_2: &[Type] = &[
    o(46), o(47), o(48), o(49), o(50), o(51), o(52), o(37), o(47), o(48), o(46), o(53), o(54), o(55),
    o(37), o(56), o(47), o(21), o(25), o(30), o(57), o(21), o(35),
];
