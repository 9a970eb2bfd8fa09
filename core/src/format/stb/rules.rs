//! The rules of STB 0.1.

use crate::format::{Fault, Format};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Stb.code();
    H_LEN = "H-LEN", Fatal, Implied,
        "the file has {found} bytes and the header takes 32",
        "§2: an .stb file begins with a header of 32 bytes";
    H_MAGIC = "H-MAGIC", Fatal, Stated,
        "the file does not begin with \"STB0\"",
        "§3: magic MUST be \"STB0\"";
    H_VERSION = "H-VERSION", Fatal, Stated,
        "the version is {found}; only version 1 is defined",
        "§3, §7: version is 0x01 for this specification";
    H_FLAGS = "H-FLAGS", Violation, Stated,
        "the flags are {found:#x} and must be 0",
        "§3: flags are reserved and must be 0 for now";
    H_RSV = "H-RSV", Violation, Stated,
        "a reserved word is {found:#x} and must be 0",
        "§3: reserved0 and reserved1 are 0";
    H_DOFF_TABLE = "H-DOFF-TABLE", Fatal, Stated,
        "data_offset is {found}, inside the tensor table, which ends at {expected}",
        "§3, §7: tensor_count * 32 + 32 <= data_offset";
    H_DOFF_FILE = "H-DOFF-FILE", Violation, Stated,
        "data_offset is {found}, beyond the file's {expected} bytes",
        "§7: data_offset <= file_size";
    H_DOFF_ALIGN = "H-DOFF-ALIGN", Violation, Stated,
        "data_offset is {found}, which is not a multiple of 64",
        "§3, §7: data_offset MUST be 64-byte aligned";
    H_FSIZE = "H-FSIZE", Fatal, Stated,
        "file_size says {expected} bytes and the file has {found}",
        "§3: file_size MUST match the actual file length";
    T_RANK = "T-RANK", Fatal, Stated,
        "the rank is {found}, and 8 is the largest",
        "§4: rank is the number of dimensions, 0 to 8";
    T_DTYPE = "T-DTYPE", Unchecked, Stated,
        "the element type {found} is reserved, so the size was not verified",
        "§4.1, §7: dtype is known or treated as unsupported",
        why "section 7 treats reserved values \"as unsupported\", so such a value is no breach; the tensor is listed with its range and its size is not verified";
    T_LAYOUT = "T-LAYOUT", Unchecked, Stated,
        "the layout {found} is reserved, so the order of the elements is unknown",
        "§4.2, §7: layout is known or treated as unsupported",
        why "section 7 treats reserved values \"as unsupported\", so such a value is no breach; the tensor is listed with its range and its size is not verified";
    T_OFF_MIN = "T-OFF-MIN", Fatal, Stated,
        "the data begins at {found}, before data_offset {expected}",
        "§4, §7: offset is relative to the file's start and MUST be >= data_offset";
    T_END = "T-END", Fatal, Stated,
        "the data ends at {found}, beyond the file's {expected} bytes",
        "§4, §7: offset + size_bytes <= file_size";
    T_SIZE = "T-SIZE", Fatal, Implied,
        "size_bytes is {found}; shape and type take {expected}",
        "§4: size_bytes is the total size, the product of the dimensions times the element's";
    T_SHAPE = "T-SHAPE", Unchecked, Stated,
        "the rank is {found} and the shape is in a table outside the file, so the size was not verified",
        "§4: where the rank is above 3, the first of dims is an index into an external shape table",
        why "above rank 3 the dims are in a table outside the file; the size is still checked against the element size, and the range against the file";
    T_OFF_ALIGN = "T-OFF-ALIGN", Violation, Stated,
        "the data begins at {found}, which is not a multiple of 64",
        "§4, §7: offset MUST be 64-byte aligned";
    T_DIMS0 = "T-DIMS0", Lint, Silent,
        "dimension {part} is {found}, but the rank does not reach it",
        "§4 leaves dimensions beyond the rank open; every writer stores 0",
        why "the specification is silent, no writer does it, and no reader looks";
    T_ID_DUP = "T-ID-DUP", Violation, Implied,
        "the tensor id was used before, by entry {expected}",
        "§4, §6.2: a tensor is found by its local id, so no two may share one";
    T_OVERLAP = "T-OVERLAP", Violation, Implied,
        "the data begins at {found}, inside other data that ends at {expected}",
        "§5: payloads are concatenated";
    T_ALIAS = "T-ALIAS", Lint, Silent,
        "the data is the same range of bytes as another tensor's",
        "§5 does not say whether tensors may share a payload; no writer does it",
        why "the specification is silent, no writer does it, and no reader looks";
    D_GAP = "D-GAP", Lint, Silent,
        "{found} bytes belong to nothing",
        "§5 asks for no padding beyond alignment, which takes at most 63 bytes",
        why "the specification is silent, no writer does it, and no reader looks";
    D_TRAILING = "D-TRAILING", Lint, Silent,
        "{found} bytes at the end belong to nothing",
        "§5 ends with the last payload; every writer ends the file there",
        why "the specification is silent, no writer does it, and no reader looks";
    D_PAD = "D-PAD", Lint, Silent,
        "bytes of padding are not zero",
        "§5 does not say what padding holds; every writer stores zeros",
        why "the specification is silent, no writer does it, and no reader looks";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => T_ID_DUP,
        Fault::Overlap => T_OVERLAP,
        Fault::Alias => T_ALIAS,
        Fault::Gap => D_GAP,
        Fault::Trailing => D_TRAILING,
        Fault::Padding => D_PAD,
        _ => return None,
    })
}
