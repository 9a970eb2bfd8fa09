//! The audit: everything that needs more than a tensor or an entry of metadata. For files in windows
//! it goes in steps that may stop, and has all rules; for files in memory it is one pass, for boards.

#[cfg_attr(feature = "windows", path = "steps.rs")]
#[cfg_attr(not(feature = "windows"), path = "board.rs")]
mod way;

pub(super) use way::{Run, audit};

/// Number of bytes that no machine can address.
const MOST: i64 = 1 << 48;

/// Number of values that a call of any kernel passes at least: one, and what it returns.
const LEAST: u32 = 2;

/// Kinds of instructions.
mod instruction {
    pub(super) const KERNEL: u32 = 1;
    pub(super) const DELEGATE: u32 = 2;
    pub(super) const MOVE: u32 = 3;
    pub(super) const JUMP: u32 = 4;
    pub(super) const FREE: u32 = 5;
}
