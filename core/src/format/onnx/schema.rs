//! The messages of `onnx.proto` and their fields.

use crate::protobuf::Wire;

/// A message whose fields are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    #[default]
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Sparse,
    Function,
    Opset,
    /// A key and a value.
    Pair,
    /// A pair of external data.
    External,
    Value,
    Annotation,
    Training,
    Type,
    TypeTensor,
    TypeList,
    TypeMap,
    Shape,
    Dim,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A single integer.
    Int,
    /// A single float.
    Float,
    /// Integers, packed or not.
    Ints,
    /// Floats, packed or not.
    Floats,
    /// Doubles, packed or not.
    Doubles,
    /// A single text, or bytes.
    Text,
    /// Any number of texts, or of messages that are not read.
    Texts,
    /// A message; at most one.
    One(Kind),
    /// Any number of messages.
    Many(Kind),
}

impl Holds {
    /// Whether a value of this kind may be stored with wire type `wire`.
    pub(super) fn takes(self, wire: Wire) -> bool {
        match self {
            Holds::Int => wire == Wire::Varint,
            Holds::Float => wire == Wire::Four,
            Holds::Ints => matches!(wire, Wire::Varint | Wire::Bytes),
            Holds::Floats => matches!(wire, Wire::Four | Wire::Bytes),
            Holds::Doubles => matches!(wire, Wire::Eight | Wire::Bytes),
            Holds::Text | Holds::Texts | Holds::One(_) | Holds::Many(_) => wire == Wire::Bytes,
        }
    }

    /// Whether a second value replaces the first.
    pub(super) fn is_single(self) -> bool {
        matches!(self, Holds::Int | Holds::Float | Holds::Text)
    }
}

/// Numbers of fields.
pub(super) mod field {
    pub(crate) const MODEL_IR: u32 = 1;
    pub(crate) const MODEL_GRAPH: u32 = 7;
    pub(crate) const MODEL_OPSET: u32 = 8;
    pub(crate) const MODEL_PROPERTY: u32 = 14;
    pub(crate) const GRAPH_NODE: u32 = 1;
    pub(crate) const GRAPH_NAME: u32 = 2;
    pub(crate) const GRAPH_INITIALIZER: u32 = 5;
    pub(crate) const NODE_INPUT: u32 = 1;
    pub(crate) const NODE_OUTPUT: u32 = 2;
    pub(crate) const NODE_OP: u32 = 4;
    pub(crate) const NODE_DOMAIN: u32 = 7;
    pub(crate) const NODE_OVERLOAD: u32 = 8;
    pub(crate) const ATTRIBUTE_NAME: u32 = 1;
    pub(crate) const ATTRIBUTE_TENSOR: u32 = 5;
    pub(crate) const ATTRIBUTE_TYPE: u32 = 20;
    pub(crate) const ATTRIBUTE_REF: u32 = 21;
    pub(crate) const FUNCTION_NAME: u32 = 1;
    pub(crate) const FUNCTION_DOMAIN: u32 = 10;
    pub(crate) const FUNCTION_OVERLOAD: u32 = 13;
    pub(crate) const DIMS: u32 = 1;
    pub(crate) const DATA_TYPE: u32 = 2;
    pub(crate) const SEGMENT: u32 = 3;
    pub(crate) const FLOAT_DATA: u32 = 4;
    pub(crate) const INT32_DATA: u32 = 5;
    pub(crate) const STRING_DATA: u32 = 6;
    pub(crate) const INT64_DATA: u32 = 7;
    pub(crate) const NAME: u32 = 8;
    pub(crate) const RAW_DATA: u32 = 9;
    pub(crate) const DOUBLE_DATA: u32 = 10;
    pub(crate) const UINT64_DATA: u32 = 11;
    pub(crate) const EXTERNAL_DATA: u32 = 13;
    pub(crate) const DATA_LOCATION: u32 = 14;
    pub(crate) const SPARSE_VALUES: u32 = 1;
    pub(crate) const SPARSE_DIMS: u32 = 3;
}

impl Kind {
    /// What field `number` of this message holds; `None` if the field is unknown.
    pub(super) fn field(self, number: u32) -> Option<Holds> {
        use Holds::{Doubles, Float, Floats, Int, Ints, Many, One, Text, Texts};
        Some(match (self, number) {
            (Kind::Model, 1 | 5) => Int,
            (Kind::Model, 2 | 3 | 4 | 6) => Text,
            (Kind::Model, field::MODEL_GRAPH) => One(Kind::Graph),
            (Kind::Model, field::MODEL_OPSET) => Many(Kind::Opset),
            (Kind::Model, field::MODEL_PROPERTY) => Many(Kind::Pair),
            (Kind::Model, 20) => Many(Kind::Training),
            (Kind::Model, 25) => Many(Kind::Function),
            (Kind::Model, 26) => Texts,
            (Kind::Graph, field::GRAPH_NODE) => Many(Kind::Node),
            (Kind::Graph, field::GRAPH_NAME | 10) => Text,
            (Kind::Graph, field::GRAPH_INITIALIZER) => Many(Kind::Tensor),
            (Kind::Graph, 11..=13) => Many(Kind::Value),
            (Kind::Graph, 14) => Many(Kind::Annotation),
            (Kind::Graph, 15) => Many(Kind::Sparse),
            (Kind::Graph, 16) => Many(Kind::Pair),
            (Kind::Node, 1 | 2 | 10) => Texts,
            (Kind::Node, 3 | 4 | 6 | 7 | 8) => Text,
            (Kind::Node, 5) => Many(Kind::Attribute),
            (Kind::Node, 9) => Many(Kind::Pair),
            (Kind::Attribute, 1 | 4 | 13 | 21) => Text,
            (Kind::Attribute, 2) => Float,
            (Kind::Attribute, 3 | 20) => Int,
            (Kind::Attribute, field::ATTRIBUTE_TENSOR) => One(Kind::Tensor),
            (Kind::Attribute, 6) => One(Kind::Graph),
            (Kind::Attribute, 7) => Floats,
            (Kind::Attribute, 8) => Ints,
            (Kind::Attribute, 9) => Texts,
            (Kind::Attribute, 10) => Many(Kind::Tensor),
            (Kind::Attribute, 11) => Many(Kind::Graph),
            (Kind::Attribute, 14) => One(Kind::Type),
            (Kind::Attribute, 15) => Many(Kind::Type),
            (Kind::Attribute, 22) => One(Kind::Sparse),
            (Kind::Attribute, 23) => Many(Kind::Sparse),
            (Kind::Tensor, field::DIMS | field::INT32_DATA) => Ints,
            (Kind::Tensor, field::INT64_DATA | field::UINT64_DATA) => Ints,
            (Kind::Tensor, field::DATA_TYPE | field::DATA_LOCATION) => Int,
            (Kind::Tensor, field::FLOAT_DATA) => Floats,
            (Kind::Tensor, field::DOUBLE_DATA) => Doubles,
            (Kind::Tensor, field::SEGMENT | field::STRING_DATA) => Texts,
            (Kind::Tensor, field::NAME | field::RAW_DATA | 12) => Text,
            (Kind::Tensor, field::EXTERNAL_DATA) => Many(Kind::External),
            (Kind::Tensor, 16) => Many(Kind::Pair),
            (Kind::Sparse, field::SPARSE_VALUES | 2) => One(Kind::Tensor),
            (Kind::Sparse, field::SPARSE_DIMS) => Ints,
            (Kind::Function, 1 | 8 | 10 | 13) => Text,
            (Kind::Function, 4..=6) => Texts,
            (Kind::Function, 7) => Many(Kind::Node),
            (Kind::Function, 9) => Many(Kind::Opset),
            (Kind::Function, 11) => Many(Kind::Attribute),
            (Kind::Function, 12) => Many(Kind::Value),
            (Kind::Function, 14) => Many(Kind::Pair),
            (Kind::Opset, 1) => Text,
            (Kind::Opset, 2) => Int,
            (Kind::Pair | Kind::External, 1 | 2) => Text,
            (Kind::Value, 1 | 3) => Text,
            (Kind::Value, 2) => One(Kind::Type),
            (Kind::Value, 4) => Many(Kind::Pair),
            (Kind::Annotation, 1) => Text,
            (Kind::Annotation, 2) => Many(Kind::Pair),
            (Kind::Training, 1 | 2) => One(Kind::Graph),
            (Kind::Training, 3 | 4) => Many(Kind::Pair),
            (Kind::Type, 1 | 8) => One(Kind::TypeTensor),
            (Kind::Type, 4 | 9) => One(Kind::TypeList),
            (Kind::Type, 5) => One(Kind::TypeMap),
            (Kind::Type, 6) => Text,
            (Kind::TypeTensor, 1) => Int,
            (Kind::TypeTensor, 2) => One(Kind::Shape),
            (Kind::TypeList, 1) => One(Kind::Type),
            (Kind::TypeMap, 1) => Int,
            (Kind::TypeMap, 2) => One(Kind::Type),
            (Kind::Shape, 1) => Many(Kind::Dim),
            (Kind::Dim, 1) => Int,
            (Kind::Dim, 2 | 3) => Text,
            _ => return None,
        })
    }

    /// Whether a message of this kind may contain tensors.
    pub(super) fn has_tensors(self) -> bool {
        matches!(
            self,
            Kind::Model
                | Kind::Graph
                | Kind::Node
                | Kind::Attribute
                | Kind::Sparse
                | Kind::Function
                | Kind::Training
        )
    }
}
