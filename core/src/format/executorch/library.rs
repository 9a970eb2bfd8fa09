//! The libraries of operators that come with the runtime.

/// Their names, as operators begin.
const LIBRARIES: [&[u8]; 4] =
    [b"aten::", b"dim_order_ops::", b"executorch_prim::", b"quantized_decomposed::"];

/// Whether an operator is of such a library.
pub(super) fn is_known(name: &[u8]) -> bool {
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_known_by_their_library() {
        assert!(is_known(b"aten::nothing") && is_known(b"executorch_prim::add.Scalar"));
        assert!(!is_known(b"evil::run") && !is_known(b"aten:") && !is_known(b""));
    }
}
