//! What a part is by its first bytes.

use crate::check::diagnosis::{begins_with_pickle, is_of_objects};

/// First bytes of a part that decide what it is.
pub(super) const HEAD: u64 = 4 << 10;
/// Whether a part of `len` bytes with these first bytes is worth a look.
pub(super) fn may_hold_pickles(head: &[u8], len: u64) -> bool {
    is_archive(head)
        || head.starts_with(b"\x93NUMPY") && is_of_objects(head)
        || begins_with_pickle(head, len)
}

pub(super) fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

pub(super) fn is_archive(head: &[u8]) -> bool {
    is_zip(head) || head.get(257..262) == Some(b"ustar")
}
