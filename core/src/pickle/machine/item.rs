//! What lies on the stack of a pickle and in its memo.

use super::allowed::Standing;
use super::label::Spelling;
use crate::input::Span;

/// A value on the stack or in the memo: its kind, and its place in the file where that matters.
///
/// The caller of a scan gives it memory for a stack and a memo of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickleItem {
    /// Nothing has been written here.
    Empty,
    /// A mark, with the place of the mark below it, plus one.
    Mark(u32),
    /// The number of entries in the memo, which is kept before the first.
    Count(u64),
    /// `None`, a boolean or a number.
    Scalar,
    /// A text in the file.
    Text {
        /// The offset of its first byte.
        at: u64,
        /// Its length in bytes; `u32::MAX` for more.
        len: u32,
        /// How its bytes spell characters.
        spelling: Spelling,
    },
    /// Bytes.
    Bytes,
    /// A tuple.
    Tuple,
    /// A list.
    List,
    /// A dictionary.
    Dict,
    /// A set.
    Set,
    /// A set that does not change.
    Frozen,
    /// What the import of this number gave.
    Global(u32, Standing),
    /// The result of a call of an import of this standing.
    Made(Standing),
    /// Anything: what a persistent id or a buffer stands for.
    Unknown,
}

impl PickleItem {
    /// What fills unused memory.
    pub const EMPTY: PickleItem = PickleItem::Empty;

    pub(super) fn text(span: Span, spelling: Spelling) -> Self {
        let len = u32::try_from(span.len).unwrap_or(u32::MAX);
        PickleItem::Text { at: span.offset, len, spelling }
    }
}

/// The memory of a scan.
#[derive(Debug)]
pub struct PickleMemory<'m> {
    /// The stack.
    pub stack: &'m mut [PickleItem],
    /// The memo. Items that a scan has not written are [`PickleItem::EMPTY`].
    pub memo: &'m mut [PickleItem],
}

#[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
const _: () = assert!(size_of::<PickleItem>() == 16);
