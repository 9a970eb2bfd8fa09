//! The operators that the schema defines, and the options that belong to each.

/// The code that stands for codes that do not fit the old field.
pub(super) const PLACEHOLDER: u32 = 127;
/// The code of a custom operator.
pub(super) const CUSTOM: u32 = 32;
/// The code of an operator that was compiled for an accelerator.
pub(super) const DELEGATE: u32 = 51;
/// The last code that this reader knows.
pub(super) const LAST: u32 = 209;

/// Kind of `BuiltinOptions` of each operator up to `RIGHT_SHIFT`; 0 if it has none.
#[rustfmt::skip]
const KINDS: [u8; 162] = [
    11, 5, 10, 1, 2, 94, 38, 0, 0, 8, 0, 12, 5, 13,
    0, 4, 14, 5, 21, 0, 0, 0, 17, 15, 7, 9, 19, 6,
    0, 3, 18, 16, 0, 20, 22, 31, 23, 24, 25, 26, 27, 28,
    29, 30, 71, 32, 70, 33, 34, 35, 36, 0, 69, 37, 0, 39,
    40, 39, 41, 42, 43, 44, 45, 46, 47, 48, 0, 49, 50, 51,
    52, 53, 54, 0, 27, 0, 0, 55, 56, 57, 58, 27, 27, 59,
    60, 61, 62, 63, 64, 27, 65, 27, 66, 67, 68, 72, 73, 74,
    75, 76, 77, 78, 79, 80, 0, 81, 82, 83, 84, 85, 86, 0,
    87, 88, 89, 90, 0, 91, 92, 93, 95, 96, 97, 98, 99, 100,
    101, 0, 102, 103, 104, 105, 106, 0, 0, 0, 107, 108, 109, 110,
    27, 106, 111, 112, 113, 0, 114, 115, 114, 114, 116, 117, 0, 118,
    119, 121, 122, 120, 123, 124, 125, 126,
];

/// The kind of `BuiltinOptions` that belongs to an operator; 0 if none does.
pub(super) fn options(code: u32) -> u8 {
    let place = usize::try_from(code).unwrap_or(usize::MAX);
    KINDS.get(place).copied().unwrap_or(0)
}

/// Fields of an operator's options that are numbers of subgraphs, at most two, or one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calls {
    None,
    One(u8),
    Two(u8, u8),
    Many(u8),
}

/// A field of options that is the number of a subgraph, or a list of them.
pub(super) struct Call {
    /// The field of an operator that has the kind of options; the options follow.
    pub(super) union: u8,
    pub(super) kind: u8,
    pub(super) field: u8,
    pub(super) list: bool,
}

const fn one(union: u8, kind: u8, field: u8) -> Call {
    Call { union, kind, field, list: false }
}

const fn many(union: u8, kind: u8, field: u8) -> Call {
    Call { union, kind, field, list: true }
}

/// The fields of an operator with the kinds of `BuiltinOptions` and of `BuiltinOptions2`.
pub(super) const UNIONS: [u8; 2] = [3, 11];

/// All of them. Options have at most two numbers, or one list.
pub(super) const CALLS: [Call; 15] = [
    // Call, call once, if, while.
    one(3, 16, 0),
    one(3, 103, 0),
    one(3, 92, 0),
    one(3, 92, 1),
    one(3, 93, 0),
    one(3, 93, 1),
    // Custom call, and case.
    many(11, 5, 4),
    many(11, 23, 0),
    // Reduce, scatter, reduce window, sort, composite.
    one(11, 6, 1),
    one(11, 21, 1),
    one(11, 7, 6),
    one(11, 13, 5),
    one(11, 14, 2),
    // While.
    one(11, 15, 0),
    one(11, 15, 1),
];

/// The fields of options of this kind that are numbers of subgraphs.
pub(super) fn calls(union: u8, kind: u8) -> Calls {
    let mut own = CALLS.iter().filter(|call| (call.union, call.kind) == (union, kind));
    match (own.next(), own.next()) {
        (None, _) => Calls::None,
        (Some(call), _) if call.list => Calls::Many(call.field),
        (Some(call), None) => Calls::One(call.field),
        (Some(first), Some(second)) => Calls::Two(first.field, second.field),
    }
}
