//! The operators of a model, for programs that show what it computes.

use super::reads::{Memo, Reads, Vector};
use super::{Header, codes, list};
use crate::input::{Source, Span};
use crate::parse::{Reader, Stop};
use crate::rule::Halt;

/// A position among the operators of all subgraphs, in order of execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperatorCursor {
    /// Number of subgraphs entered.
    subgraphs: u32,
    /// The operators of the last one, and the number of those passed.
    operators: Vector,
    passed: u32,
}

/// What operators with the same code compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorCode {
    /// The number of the operator (schema, `BuiltinOperator`); 32 stands for a custom one.
    pub number: i32,
    /// The version.
    pub version: i32,
    /// Where the name of a custom operator is stored, in UTF-8; empty for others.
    pub name: Span,
}

impl OperatorCode {
    /// The name that the schema gives to the operator; `None` for a custom one, and for a number that
    /// this reader does not know.
    pub fn builtin(&self) -> Option<&'static str> {
        let place = usize::try_from(self.number).ok().filter(|_| !self.is_custom())?;
        NAMES.get(place).copied()
    }

    /// Whether the operator comes with the program that runs the model.
    pub fn is_custom(&self) -> bool {
        u32::try_from(self.number) == Ok(super::operators::CUSTOM)
    }
}

impl Header {
    /// Number of operator codes.
    pub fn operator_codes(&self) -> u32 {
        self.list(list::CODES).count
    }

    /// The code of the next operator, as its position in the list of codes; `None` after the last.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: the tables of a subgraph and of an operator must be resident at the same
    /// time. The cursor keeps its place.
    pub fn next_operator(
        &self,
        source: &Source<'_>,
        cursor: &mut OperatorCursor,
    ) -> Result<Option<u32>, Stop> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        self.code_of_next(&mut r, cursor).map_err(|halt| r.stop(halt))
    }

    /// The operator code at a position of the list; `None` if there are fewer.
    ///
    /// # Errors
    /// As [`next_operator`](Self::next_operator).
    pub fn operator_code(
        &self,
        source: &Source<'_>,
        index: u32,
    ) -> Result<Option<OperatorCode>, Stop> {
        if index >= self.operator_codes() {
            return Ok(None);
        }
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        let mut memo = Memo::NONE;
        let mut reads = Reads::new(&mut r, &mut memo);
        let read = codes::read(self, &mut reads, index).and_then(|code| {
            let name = reads.vector(&code.table, codes::NAME)?.span(1);
            Ok(OperatorCode { number: code.number, version: code.version, name })
        });
        read.map(Some).map_err(|halt| r.stop(halt))
    }

    fn code_of_next(
        &self,
        r: &mut Reader<'_, '_>,
        cursor: &mut OperatorCursor,
    ) -> Result<Option<u32>, Halt> {
        let mut memo = Memo::NONE;
        let subgraphs = self.list(list::SUBGRAPHS);
        while cursor.passed >= cursor.operators.count {
            if cursor.subgraphs >= subgraphs.count {
                return Ok(None);
            }
            memo.clear();
            let mut reads = Reads::new(r, &mut memo);
            let table = reads.item(subgraphs, cursor.subgraphs)?;
            cursor.operators = reads.vector(&table, 3)?;
            cursor.subgraphs = cursor.subgraphs.saturating_add(1);
            cursor.passed = 0;
        }
        memo.clear();
        let mut reads = Reads::new(r, &mut memo);
        let table = reads.item(cursor.operators, cursor.passed)?;
        let code = reads.value(&table, 0, 4)?;
        cursor.passed = cursor.passed.saturating_add(1);
        Ok(Some(code))
    }
}

/// The names in the schema, by number.
#[rustfmt::skip]
const NAMES: [&str; 210] = [
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE",
    "DEQUANTIZE", "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP",
    "L2_NORMALIZATION", "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION",
    "LSTM", "MAX_POOL_2D", "MUL", "RELU", "RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR",
    "RNN", "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH", "CONCAT_EMBEDDINGS", "SKIP_GRAM", "CALL",
    "CUSTOM", "EMBEDDING_LOOKUP_SPARSE", "PAD", "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER",
    "BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN", "SUB", "DIV", "SQUEEZE",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP", "TOPK_V2",
    "SPLIT", "LOG_SOFTMAX", "DELEGATE", "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU", "MAXIMUM",
    "ARG_MAX", "MINIMUM", "LESS", "NEG", "PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL",
    "SELECT", "SLICE", "SIN", "TRANSPOSE_CONV", "SPARSE_TO_DENSE", "TILE", "EXPAND_DIMS", "EQUAL",
    "NOT_EQUAL", "LOG", "SUM", "SQRT", "RSQRT", "SHAPE", "POW", "ARG_MIN", "FAKE_QUANT",
    "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR", "ONE_HOT", "LOGICAL_AND", "LOGICAL_NOT",
    "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY", "SQUARE", "ZEROS_LIKE", "FILL", "FLOOR_MOD",
    "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU", "SQUARED_DIFFERENCE", "MIRROR_PAD", "ABS",
    "SPLIT_V", "UNIQUE", "CEIL", "REVERSE_V2", "ADD_N", "GATHER_ND", "COS", "WHERE", "RANK", "ELU",
    "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE", "MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF",
    "WHILE", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2",
    "DENSIFY", "SEGMENT_SUM", "BATCH_MATMUL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM",
    "CALL_ONCE", "BROADCAST_TO", "RFFT2D", "CONV_3D", "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE",
    "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "REDUCE_ALL", "CONV_3D_TRANSPOSE",
    "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL",
    "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL", "GELU", "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1",
    "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX", "UNSORTED_SEGMENT_SUM", "ATAN2",
    "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR", "RIGHT_SHIFT", "STABLEHLO_LOGISTIC",
    "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM",
    "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE", "STABLEHLO_BROADCAST_IN_DIM",
    "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE", "STABLEHLO_CUSTOM_CALL", "STABLEHLO_REDUCE",
    "STABLEHLO_ABS", "STABLEHLO_AND", "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL",
    "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_MINIMUM", "STABLEHLO_NEGATE", "STABLEHLO_OR",
    "STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT",
    "STABLEHLO_SUBTRACT", "STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE",
    "STABLEHLO_CONVERT", "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE",
    "STABLEHLO_PAD", "STABLEHLO_IOTA", "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW",
    "STABLEHLO_SORT", "STABLEHLO_WHILE", "STABLEHLO_GATHER", "STABLEHLO_TRANSPOSE", "DILATE",
    "STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW", "STABLEHLO_COMPOSITE", "STABLEHLO_SHIFT_LEFT",
    "STABLEHLO_CBRT", "STABLEHLO_CASE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_their_numbers() {
        let code = |number| OperatorCode { number, version: 1, name: Span::new(0, 0) };
        for (number, name) in
            [(0, "ADD"), (3, "CONV_2D"), (9, "FULLY_CONNECTED"), (25, "SOFTMAX"), (118, "IF")]
        {
            assert_eq!(code(number).builtin(), Some(name));
        }
        let last = super::super::operators::LAST;
        assert_eq!(NAMES.len(), usize::try_from(last).unwrap() + 1);
        assert_eq!(code(209).builtin(), Some("STABLEHLO_CASE"));
        assert!(code(32).is_custom() && code(32).builtin().is_none());
        assert!(code(210).builtin().is_none() && code(-1).builtin().is_none());
    }
}
