//! What C and Rust both know: structures, with the same sizes on both sides, and numbers.
//!
//! Every pattern of bits is a valid value of the structures with public fields. The opaque ones
//! have a tag, so that memory of zeros is no file and the start of an iteration.

use core::mem::MaybeUninit;

/// What a function returns: the verdict of a check, or the reason why there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// Done; for a check: the file is valid, and everything in its structure was checked.
    Ok = 0,
    /// The end of an iteration.
    End = 1,
    /// There is no such tensor.
    NotFound = 2,
    /// No rule is broken, but something was not checked: see the findings, and `slots_needed`.
    Unchecked = -1,
    /// The file breaks a rule, and its data must not be used.
    Invalid = -2,
    /// The caller's array or buffer is too small.
    Room = -3,
    /// A null pointer, an unknown format, or a file that is not open.
    Argument = -4,
}

/// The severity of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Severity {
    /// Not a breach: something could not be checked.
    Unchecked = 0,
    /// Legal, but no real writer does it, or it hides bytes.
    Lint = 1,
    /// The specification forbids it; the data is still readable.
    Violation = 2,
    /// The data cannot be read safely, or would be misread.
    Fatal = 3,
}

/// Whether a tensor's data may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Everything that the index says about it is valid.
    Sound = 0,
    /// Its type, encoding or layout is unknown to this build.
    Unsupported = 1,
    /// It breaks a rule that reading depends on, or its bytes are not in the file.
    Broken = 2,
}

/// The kind of entry that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The file as a whole.
    File = 0,
    /// A tensor.
    Tensor = 1,
    /// Metadata of the file.
    Metadata = 2,
    /// A size variable (OINF).
    SizeVar = 3,
    /// Metadata of a tensor.
    Attribute = 4,
    /// The name of a slot of a tensor (IDV).
    Slot = 5,
}

/// In the mode of `wb_open`: the memory may go on after the file, as a partition does. A format
/// that records its length (STB, OINF, IDV) is checked against that length.
pub const REGION: u32 = 0x100;

/// A broken rule at one place in the file.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Finding {
    /// Offset of the first byte of the finding in the file.
    pub offset: u64,
    /// Position of the entry in its table; 0 for the file.
    pub entry: u32,
    /// The rule; `wb_rule_id` returns its id.
    pub rule: u16,
    /// A `wb_severity`.
    pub severity: u8,
    /// A `wb_kind`: what `entry` counts.
    pub kind: u8,
}

/// The caller's array of findings; initialise it with `WB_FINDINGS(array)`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Findings {
    /// The array, which receives the first findings; null if `room` is 0.
    pub items: *mut Finding,
    /// Number of findings that it holds.
    pub room: u32,
    /// Number of findings, those without room included.
    pub count: u32,
    /// Number of findings of severity unchecked.
    pub unchecked: u32,
    /// The highest severity, a `wb_severity`.
    pub worst: u32,
    /// Number of slots that a complete check takes, if there were too few; otherwise 0.
    pub slots_needed: u32,
    /// 0.
    pub reserved: u32,
}

/// A tensor: its data in place, and where the file describes it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tensor {
    /// The data in place; null if `status` is not `WB_STATUS_SOUND`, or the data is encoded or in several
    /// pieces.
    pub data: *const u8,
    /// Length of the data in bytes; 0 if `data` is null.
    pub len: usize,
    /// Byte order of elements: 0 little-endian, 1 big-endian.
    pub big_endian: u8,
    /// A `wb_status`.
    pub status: u8,
    /// The order of elements: 0 row-major, 1 column-major, 2 channels last, 3 to 5 sparse, 6 blocks
    /// of rows, 7 unknown.
    pub layout: u8,
    /// A `wb_dtype`.
    pub dtype: u8,
    /// How data is stored: 0 as is, 1 deflate, 2 zlib, 3 zstd, 4 another.
    pub encoding: u8,
    /// How the name is stored; for `wb_name`.
    pub name_encoding: u8,
    /// How the shape is stored; for `wb_shape`.
    pub shape_encoding: u8,
    /// 1 if `shape_lead` counts.
    pub shape_leads: u8,
    /// The first extent, if the file stores it apart from the shape.
    pub shape_lead: u64,
    /// Offset of the stored shape.
    pub shape_offset: u64,
    /// Length of the stored shape in bytes.
    pub shape_len: u32,
    /// Number of extents.
    pub rank: u32,
    /// Offset of the stored name.
    pub name_offset: u64,
    /// Length of the stored name in bytes.
    pub name_len: u32,
    /// Position in the index.
    pub index: u32,
    /// Number of elements.
    pub elements: u64,
}

/// Number of 8-byte words in the opaque structures.
pub const FILE_WORDS: usize = if size_of::<usize>() > 4 { 20 } else { 16 };
/// Those of a cursor.
pub const CURSOR_WORDS: usize = if size_of::<usize>() > 4 { 24 } else { 18 };
/// Those of a slot.
pub const SLOT_WORDS: usize = if size_of::<usize>() > 4 { 3 } else { 2 };

/// An open file. Its memory must stay mapped and unchanged while it is used.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct File(pub(crate) [MaybeUninit<u64>; FILE_WORDS]);

/// The position of an iteration; all zeros at the start.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Cursor(pub(crate) [MaybeUninit<u64>; CURSOR_WORDS]);

/// Working memory of a check: one for each tensor, and for each part of the file.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub struct Slot(pub(crate) [MaybeUninit<u64>; SLOT_WORDS]);

// The header asserts the same numbers.
#[allow(clippy::arithmetic_side_effects, clippy::panic, reason = "evaluated while compiling")]
const _: () = {
    let pointer = size_of::<usize>();
    assert!(size_of::<Finding>() == 16 && align_of::<Finding>() == align_of::<u64>());
    assert!(size_of::<Findings>() == pointer + 24);
    assert!(size_of::<Tensor>() == 2 * pointer + 56);
    assert!(align_of::<File>() == 8 && align_of::<Cursor>() == 8 && align_of::<Slot>() == 8);
    assert!(size_of::<Slot>() == size_of::<weighbridge_core::Slot>());
    assert!(align_of::<weighbridge_core::Slot>() <= 8);
};
