//! The operators of the libraries that come with the runtime.

/// Longest name or overload in the table.
pub(super) const LONGEST: u64 = 32;

/// An operator: name without `aten::`, overload, and the number of values that a call passes: its
/// parameters, the output among them, and what it returns.
type Operator = (&'static str, &'static str, u32);

/// Common operators with one output.
#[rustfmt::skip]
const OPERATORS: &[Operator] = &[
    ("_log_softmax", "out", 5), ("_softmax", "out", 5), ("abs", "out", 3), ("acos", "out", 3),
    ("add", "Scalar_out", 5), ("add", "out", 5), ("addmm", "out", 7), ("amax", "out", 5),
    ("amin", "out", 5), ("argmax", "out", 5), ("argmin", "out", 5), ("asin", "out", 3),
    ("atan", "out", 3), ("atan2", "out", 4), ("avg_pool2d", "out", 9),
    ("bitwise_and", "Tensor_out", 4), ("bitwise_not", "out", 3), ("bitwise_or", "Tensor_out", 4),
    ("bitwise_xor", "Tensor_out", 4), ("bmm", "out", 4), ("cat", "out", 4), ("ceil", "out", 3),
    ("clamp", "out", 5), ("clone", "out", 4), ("constant_pad_nd", "out", 5),
    ("convolution", "out", 11), ("cos", "out", 3), ("cosh", "out", 3), ("cumsum", "out", 5),
    ("div", "out", 4), ("div", "out_mode", 5), ("embedding", "out", 7), ("eq", "Scalar_out", 4),
    ("eq", "Tensor_out", 4), ("erf", "out", 3), ("exp", "out", 3), ("expand_copy", "out", 5),
    ("floor", "out", 3), ("full", "out", 4), ("ge", "Scalar_out", 4), ("ge", "Tensor_out", 4),
    ("gelu", "out", 4), ("gt", "Scalar_out", 4), ("gt", "Tensor_out", 4), ("hardtanh", "out", 5),
    ("index_select", "out", 5), ("isinf", "out", 3), ("isnan", "out", 3), ("le", "Scalar_out", 4),
    ("le", "Tensor_out", 4), ("leaky_relu", "out", 4), ("log", "out", 3), ("log10", "out", 3),
    ("log1p", "out", 3), ("log2", "out", 3), ("logical_and", "out", 4), ("logical_not", "out", 3),
    ("logical_or", "out", 4), ("logical_xor", "out", 4), ("lt", "Scalar_out", 4),
    ("lt", "Tensor_out", 4), ("maximum", "out", 4), ("mean", "out", 6), ("minimum", "out", 4),
    ("mm", "out", 4), ("mul", "Scalar_out", 4), ("mul", "out", 4), ("ne", "Scalar_out", 4),
    ("ne", "Tensor_out", 4), ("neg", "out", 3), ("permute_copy", "out", 4),
    ("pixel_shuffle", "out", 4), ("pow", "Tensor_Scalar_out", 4), ("pow", "Tensor_Tensor_out", 4),
    ("reciprocal", "out", 3), ("relu", "out", 3), ("repeat", "out", 4), ("round", "out", 3),
    ("rsqrt", "out", 3), ("select_copy", "int_out", 5), ("sigmoid", "out", 3), ("sign", "out", 3),
    ("sin", "out", 3), ("sinh", "out", 3), ("slice_copy", "Tensor_out", 7),
    ("split_with_sizes_copy", "out", 5), ("sqrt", "out", 3), ("squeeze_copy", "dim_out", 4),
    ("squeeze_copy", "dims_out", 4), ("stack", "out", 4), ("sub", "out", 5),
    ("sum", "IntList_out", 6), ("t_copy", "out", 3), ("tan", "out", 3), ("tanh", "out", 3),
    ("transpose_copy", "int_out", 5), ("unsqueeze_copy", "out", 4), ("view_copy", "out", 4),
    ("where", "self_out", 5),
];

/// One more than the place of the first operator of this name; 0 if it is not in the table.
pub(super) fn first(name: &[u8]) -> u64 {
    let short = name.strip_prefix(b"aten::");
    let found = OPERATORS.iter().zip(1_u64..).find(|(own, _)| Some(own.0.as_bytes()) == short);
    found.map_or(0, |(_, place)| place)
}

/// The number of values that a call passes to this overload of the operator at `first`; 0 if it is
/// not in the table.
pub(super) fn values(first: u64, overload: &[u8]) -> u32 {
    let at = first.checked_sub(1).and_then(|at| usize::try_from(at).ok());
    let Some((name, rest)) = at.and_then(|at| Some((OPERATORS.get(at)?.0, OPERATORS.get(at..)?)))
    else {
        return 0;
    };
    let own = rest.iter().take_while(|own| own.0 == name);
    own.filter(|own| own.1.as_bytes() == overload).map(|own| own.2).next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_sorted_and_short() {
        let key = |own: &Operator| (own.0, own.1);
        assert!(OPERATORS.is_sorted_by(|a, b| key(a) < key(b)));
        for (name, overload, values) in OPERATORS {
            assert!(name.len() + 6 <= usize::try_from(LONGEST).unwrap(), "{name}");
            assert!(*values > super::super::LEAST && overload.len() < 30, "{name}");
        }
    }

    #[test]
    fn operators_have_their_own_counts() {
        assert_eq!(values(first(b"aten::pow"), b"Tensor_Tensor_out"), 4);
        assert_eq!(values(first(b"aten::div"), b"out_mode"), 5);
        assert_eq!(values(first(b"aten::div"), b"Scalar_out"), 0);
        assert_eq!(values(first(b"evil::add"), b"out"), 0);
        assert_eq!(first(b"aten::nothing"), 0);
    }
}
