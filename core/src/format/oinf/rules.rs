//! The rules of OINF.
//!
//! "guide" is the format guide for version 1, "guide 2" its successor for
//! version 2, which adds quantisation and is otherwise identical.

use crate::format::{Fault, Format};
use crate::model::DType;
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Oinf.code();
    HDR_SHORT = "HDR-SHORT", Fatal, Implied,
        "the file has {found} bytes, the header alone takes {expected}",
        "the header is of fixed size and padded to a multiple of 8 (guide, FileHeader)";
    HDR_MAGIC = "HDR-MAGIC", Fatal, Stated,
        "the file does not begin with \"OINF\" and a zero byte",
        "the magic is \"OINF\" and a zero byte (guide, FileHeader)";
    HDR_VERSION = "HDR-VERSION", Fatal, Stated,
        "version {found} is neither 1 nor 2",
        "unknown versions are rejected (guide, Compatibility and versioning)";
    HDR_FLAGS = "HDR-FLAGS", Violation, Stated,
        "the header's flags are {found:#x}, not 0",
        "u32 flags = 0 (guide, FileHeader)";
    HDR_RESERVED = "HDR-RESERVED", Violation, Stated,
        "the header's reserved word is {found:#x}, not 0",
        "u32 reserved = 0 (guide, FileHeader)";
    HDR_PAD = "HDR-PAD", Violation, Stated,
        "the three bytes after the header's fields are not all zero",
        "sections are aligned to 8 bytes and padded with 0x00 (guide, High-level layout)";
    HDR_FILESIZE = "HDR-FILESIZE", Fatal, Implied,
        "the header records a size of {expected} bytes, the file has {found}",
        "the header is the authoritative source for file integrity (guide, FileHeader)",
        why "the file is cut or has grown, so its tables cannot be trusted; a longer file is still opened";
    HDR_ORDER = "HDR-ORDER", Fatal, Stated,
        "a section begins at {found}, out of order or outside the file: the limit is {expected}",
        "offsets must be ascending and inside the file (guide, FileHeader)";
    HDR_ALIGN = "HDR-ALIGN", Violation, Stated,
        "a section begins at {found}, which is not a multiple of 8",
        "offsets must be aligned (guide, FileHeader)";
    HDR_OVERLAP = "HDR-OVERLAP", Violation, Implied,
        "a section begins at {found}, inside the header",
        "the sections follow the header (guide, High-level layout)";
    START_GAP = "START-GAP", Lint, Silent,
        "{found} unused bytes lie between the header and the first table",
        "every real file begins its first table at byte 72",
        why "unused bytes can hide content but harm no reader";

    TABLE_OVERRUN = "TABLE-OVERRUN", Fatal, Stated,
        "the next entry needs {expected} bytes, and its table's section has {found} left",
        "table entries lie within their section (guide, Validation rules)";
    TABLE_GAP = "TABLE-GAP", Lint, Silent,
        "{found} unused bytes follow a table and its padding",
        "in every real file a table is followed by fewer than 8 bytes of padding",
        why "unused bytes can hide content but harm no reader";
    TABLE_SLACK = "TABLE-SLACK", Violation, Stated,
        "the padding after a table is not zero",
        "sections are padded with 0x00 (guide, High-level layout)";
    STR_LEN = "STR-LEN", Fatal, Implied,
        "a name of {found} bytes with its padding does not fit into the {expected} bytes that its section has left",
        "u32 length, then that many bytes, padded to 8 (guide, Strings)";
    STR_EMPTY = "STR-EMPTY", Violation, Stated,
        "the name is empty",
        "zero-length names are invalid for identifiers (guide, Strings)";
    STR_CHARSET = "STR-CHARSET", Violation, Stated,
        "the string has the byte {found:#x}; only A-Z, a-z, 0-9, '.', '_' and '-' are allowed",
        "strings use A-Z, a-z, 0-9, '.', '_' and '-' only (guide, Strings)",
        why "the guide calls a STRING value \"the string encoding described above\", and its verifier enforces the alphabet; its runtime reads any UTF-8";
    STR_PAD = "STR-PAD", Violation, Stated,
        "the padding after a string is not zero",
        "strings are padded to 8 bytes with 0x00 (guide, Strings)";
    DUP_SIZEVAR = "DUP-SIZEVAR", Violation, Stated,
        "the name was used before, by sizevar {expected}",
        "sizevar names must be unique (guide, SizeVarsTable)";
    DUP_METADATA = "DUP-METADATA", Violation, Silent,
        "the key was used before, by entry {expected}",
        "which of two equal keys counts is undefined; both published readers refuse them",
        why "the guide forbids duplicates of sizevars only, but readers may pick different entries, and both published readers refuse the file";
    DUP_TENSOR = "DUP-TENSOR", Violation, Silent,
        "the name was used before, by entry {expected}",
        "which of two equal names counts is undefined; both published readers refuse them",
        why "the guide forbids duplicates of sizevars only, but readers may pick different entries, and both published readers refuse the file";

    META_FLAGS = "META-FLAGS", Violation, Stated,
        "the flags of the entry are {found:#x}, not 0",
        "u32 value_flags = 0 (guide, MetadataTable)";
    META_TYPE = "META-TYPE", Fatal, Stated,
        "the value type is {found}; 1 to 25 are defined",
        "value types are 1 to 25 (guide, ValueType tags)";
    META_ALIGN = "META-ALIGN", Violation, Stated,
        "the value lies at {found}, which is not a multiple of 8",
        "every payload is aligned (guide, Worked example)";
    META_BEFORE = "META-BEFORE", Fatal, Stated,
        "the value lies at {found}, before the data section at {expected}",
        "the payload is always stored in the data section (guide, MetadataTable)";
    META_BOUNDS = "META-BOUNDS", Fatal, Stated,
        "the value ends at {found}, past the end of the file at {expected}",
        "all offsets and sizes are validated (guide, Security and robustness notes)";
    META_OVERFLOW = "META-OVERFLOW", Fatal, Implied,
        "the value's offset plus its size ({found}) exceeds 64 bits",
        "all offsets and sizes are validated (guide, Security and robustness notes)";
    META_SIZE = "META-SIZE", Fatal, Stated,
        "the value has {found} bytes; its type takes {expected}",
        "value_nbytes matches the expected size (guide, MetadataTable)";
    META_BOOL = "META-BOOL", Violation, Stated,
        "a bool is stored as {found}",
        "BOOL: one byte, 0 or 1 (guide, MetadataTable)";
    META_TAILBITS = "META-TAILBITS", Lint, Silent,
        "the unused bits of a packed value are not zero",
        "writers leave the bits above a packed value zero",
        why "no writer sets it and no reader looks at it";
    META_T2 = "META-T2", Violation, Implied,
        "a ternary value is stored as the code 10",
        "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)";
    META_STR_SIZE = "META-STR-SIZE", Fatal, Stated,
        "the string has {found} bytes; with its length and padding it takes {expected}",
        "value_nbytes matches the expected size (guide, MetadataTable)";
    META_BITSET_COUNT = "META-BITSET-COUNT", Fatal, Implied,
        "the bitset's byte count is {found}; its bits take {expected} bytes",
        "u32 bit_count, u32 byte_count, then packed bytes (guide, MetadataTable)";
    META_BITSET_SIZE = "META-BITSET-SIZE", Fatal, Stated,
        "the bitset has {found} bytes; with its counts and padding it takes {expected}",
        "value_nbytes matches the expected size (guide, MetadataTable)",
        why "the guide checks a value against its expected size; its verifier and its only writer count the padding as part of that size";
    META_BITSET_TAILBITS = "META-BITSET-TAILBITS", Lint, Silent,
        "bits above the bitset's count are set",
        "writers leave the unused bits of the last byte zero",
        why "no writer sets it and no reader looks at it";
    META_BITSET_PAD = "META-BITSET-PAD", Violation, Implied,
        "the padding after a bitset is not zero",
        "payloads are padded with 0x00 (guide, High-level layout)";
    META_ND_ELEM = "META-ND-ELEM", Fatal, Implied,
        "the array's element type is {found}, which arrays cannot hold",
        "arrays hold numbers, bools and packed types (guide, MetadataTable)";
    META_ND_NDIM = "META-ND-NDIM", Fatal, Implied,
        "an array of rank {found} does not fit into its {expected} bytes",
        "element_type, ndim, dims, data (guide, MetadataTable)";
    META_ND_SIZE = "META-ND-SIZE", Fatal, Stated,
        "the array has {found} bytes; its shape takes {expected}",
        "value_nbytes matches the expected size (guide, MetadataTable)";
    META_ND_OVERFLOW = "META-ND-OVERFLOW", Fatal, Implied,
        "the array's dims or its size exceed 64 bits",
        "the size follows from the dims; a product that wraps gives a wrong one";
    META_ND_PAD = "META-ND-PAD", Violation, Implied,
        "the padding after an array is not zero",
        "payloads are padded with 0x00 (guide, High-level layout)";
    META_ND_TAILBITS = "META-ND-TAILBITS", Lint, Silent,
        "the unused bits of a packed array's last byte are not zero",
        "writers leave the unused bits of the last byte zero",
        why "no writer sets it and no reader looks at it";
    META_ND_BOOL = "META-ND-BOOL", Violation, Implied,
        "a bool is stored as {found}",
        "BOOL: one byte, 0 or 1 (guide, MetadataTable)";
    META_ND_T2 = "META-ND-T2", Violation, Implied,
        "a ternary value is stored as the code 10",
        "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)";

    TENSOR_DTYPE = "TENSOR-DTYPE", Fatal, Stated,
        "the element type is {found}; tensors have types 1 to 12 and 16 to 25",
        "u32 dtype: ValueType 1-12, 16-25 only (guide, TensorIndexTable)";
    TENSOR_NDIM = "TENSOR-NDIM", Fatal, Implied,
        "the rank is {found}, and the section has room for a rank of {expected}",
        "table entries lie within their section (guide, Validation rules)";
    TENSOR_FLAGS = "TENSOR-FLAGS", Violation, Implied,
        "the entry has unknown flags: {found:#x}",
        "bit 0 is HAS_DATA; guide 2 adds bit 1, HAS_QUANT (TensorIndexTable)";
    TENSOR_NODATA = "TENSOR-NODATA", Violation, Stated,
        "a tensor without data has an offset or a size ({found})",
        "if HAS_DATA is 0, data_offset and data_nbytes are 0 (guide, TensorIndexTable)";
    TENSOR_NUMEL = "TENSOR-NUMEL", Fatal, Implied,
        "the product of the dims exceeds 64 bits",
        "tensor sizes equal numel times the element size (guide, Validation rules)",
        why "with a dim of 0, whether the product wraps depends on the order of multiplication";
    TENSOR_SIZE = "TENSOR-SIZE", Fatal, Stated,
        "the data has {found} bytes; shape and type take {expected}",
        "sizes equal numel * sizeof(dtype), packed types ceil(numel * bits / 8) (guide, Validation rules)";
    TENSOR_ALIGN = "TENSOR-ALIGN", Violation, Stated,
        "the data lies at {found}, which is not a multiple of 8",
        "every payload is aligned (guide, Worked example)";
    TENSOR_BEFORE = "TENSOR-BEFORE", Fatal, Implied,
        "the data lies at {found}, before the data section at {expected}",
        "the data section holds the payloads (guide, High-level layout)";
    TENSOR_BOUNDS = "TENSOR-BOUNDS", Fatal, Stated,
        "the data ends at {found}, past the end of the file at {expected}",
        "all offsets and sizes are validated (guide, Security and robustness notes)";
    TENSOR_OVERFLOW = "TENSOR-OVERFLOW", Fatal, Implied,
        "the data's offset plus its size ({found}) exceeds 64 bits",
        "all offsets and sizes are validated (guide, Security and robustness notes)";
    TENSOR_BOOL = "TENSOR-BOOL", Violation, Stated,
        "a bool is stored as {found}",
        "BOOL: one byte, 0 or 1 (guide, MetadataTable and Tensor payload encoding)";
    TENSOR_TAILBITS = "TENSOR-TAILBITS", Lint, Silent,
        "the unused bits of a packed tensor's last byte are not zero",
        "writers leave the unused bits of the last byte zero",
        why "no writer sets it and no reader looks at it";
    TENSOR_T2 = "TENSOR-T2", Violation, Implied,
        "a ternary value is stored as the code 10",
        "T2 is ternary: 00, 01 and 11 (guide, ValueType tags)";

    QUANT_NONE = "QUANT-NONE", Violation, Stated,
        "a tensor without quantisation has a quantisation offset or size ({found})",
        "if HAS_QUANT is 0, quant_offset and quant_nbytes are 0 (guide 2, TensorIndexTable)";
    QUANT_NODATA = "QUANT-NODATA", Lint, Silent,
        "a tensor without data has quantisation",
        "the writer quantises the data that it stores",
        why "no writer sets it and no reader looks at it";
    QUANT_ALIGN = "QUANT-ALIGN", Violation, Implied,
        "the quantisation lies at {found}, which is not a multiple of 8",
        "every payload is aligned (guide 2, Worked example)";
    QUANT_BEFORE = "QUANT-BEFORE", Fatal, Implied,
        "the quantisation lies at {found}, before the data section at {expected}",
        "the data section holds the payloads (guide 2, High-level layout)";
    QUANT_BOUNDS = "QUANT-BOUNDS", Fatal, Implied,
        "the quantisation ends at {found}, past the end of the file at {expected}",
        "all offsets and sizes are validated (guide 2, Security and robustness notes)";
    QUANT_OVERFLOW = "QUANT-OVERFLOW", Fatal, Implied,
        "the quantisation's offset plus its size ({found}) exceeds 64 bits",
        "all offsets and sizes are validated (guide 2, Security and robustness notes)";
    QUANT_SIZE = "QUANT-SIZE", Fatal, Stated,
        "the quantisation has {found} bytes; its counts take {expected}",
        "48 bytes, 4 a scale, 4 a zero point, padded to 8 (guide 2, quantisation payload)";
    QUANT_RESERVED = "QUANT-RESERVED", Violation, Stated,
        "the reserved word of the quantisation is {found:#x}, not 0",
        "u32 reserved = 0 (guide 2, quantisation payload)";
    QUANT_SCHEME = "QUANT-SCHEME", Fatal, Stated,
        "the quantisation scheme is {found}; 1 (symmetric) and 2 (asymmetric) are defined",
        "scheme: 1 symmetric, 2 asymmetric (guide 2, quantisation payload)";
    QUANT_SCALEMODE = "QUANT-SCALEMODE", Fatal, Stated,
        "the scale mode is {found}; 1 (per tensor) and 2 (per channel) are defined",
        "scale_mode: 1 per tensor, 2 per channel (guide 2, quantisation payload)";
    QUANT_ZPMODE = "QUANT-ZPMODE", Fatal, Stated,
        "the zero point mode is {found}; 0 (none), 1 (per tensor) and 2 (per channel) are defined",
        "zp_mode: 0 none, 1 per tensor, 2 per channel (guide 2, quantisation payload)";
    QUANT_SCALE_PT = "QUANT-SCALE-PT", Fatal, Stated,
        "a scale for the whole tensor has axis or count {found}, not {expected}",
        "per tensor: scale_axis = 0, scale_count = 1 (guide 2, quantisation payload)";
    QUANT_SCALE_AXIS = "QUANT-SCALE-AXIS", Fatal, Stated,
        "the scales run along axis {found} of a tensor of rank {expected}",
        "per channel: scale_axis < ndim (guide 2, quantisation payload)";
    QUANT_SCALE_COUNT = "QUANT-SCALE-COUNT", Fatal, Stated,
        "{found} scales are stored for an axis of {expected}",
        "per channel: scale_count = the extent of scale_axis (guide 2, quantisation payload)";
    QUANT_ZP_NONE = "QUANT-ZP-NONE", Fatal, Stated,
        "{found} zero points are stored, and the mode says none",
        "no zero points: zp_count = 0 (guide 2, quantisation payload)";
    QUANT_ZP_NONE_AXIS = "QUANT-ZP-NONE-AXIS", Lint, Silent,
        "there are no zero points, but their axis is {found}, not 0",
        "the writer stores 0, no reader looks",
        why "no writer sets it and no reader looks at it";
    QUANT_ZP_PT = "QUANT-ZP-PT", Fatal, Stated,
        "a zero point for the whole tensor has axis or count {found}, not {expected}",
        "per tensor: zp_axis = 0, zp_count = 1 (guide 2, quantisation payload)";
    QUANT_ZP_MIX = "QUANT-ZP-MIX", Fatal, Stated,
        "the zero point mode is {found}, and the scale mode is {expected}",
        "zero points go per tensor or per channel as the scales do (guide 2, quantisation payload)";
    QUANT_ZP_AXIS = "QUANT-ZP-AXIS", Fatal, Stated,
        "the zero points run along axis {found}, the scales along {expected}",
        "per channel: zp_axis = scale_axis (guide 2, quantisation payload)";
    QUANT_ZP_COUNT = "QUANT-ZP-COUNT", Fatal, Stated,
        "{found} zero points are stored for an axis of {expected}",
        "per channel: zp_count = the extent of zp_axis (guide 2, quantisation payload)";
    QUANT_SYM_ZP = "QUANT-SYM-ZP", Fatal, Stated,
        "symmetric quantisation has zero points (mode {found})",
        "symmetric: zp_mode = 0 (guide 2, quantisation payload)";
    QUANT_PAD = "QUANT-PAD", Violation, Implied,
        "the padding after the quantisation is not zero",
        "payloads are padded with 0x00 (guide 2, High-level layout)";
    QUANT_SCALE_FINITE = "QUANT-SCALE-FINITE", Lint, Silent,
        "scale {found} is infinite or not a number",
        "such a scale makes every value of its channel useless; no reader looks",
        why "the reference tool writes and accepts such scales";

    PAYLOAD_OVERLAP = "PAYLOAD-OVERLAP", Violation, Silent,
        "the payload begins at {found}, inside another that ends at {expected}",
        "writers give each payload bytes of its own; changing one value would change another",
        why "no writer shares bytes, and changing one value would change another; equal ranges count as well";
    PAYLOAD_GAP = "PAYLOAD-GAP", Lint, Silent,
        "{found} bytes between payloads belong to nothing",
        "in every real file a payload is followed by fewer than 8 bytes of padding",
        why "unused bytes can hide content but harm no reader";
    PAYLOAD_TRAILING = "PAYLOAD-TRAILING", Lint, Silent,
        "{found} bytes at the end of the file belong to nothing",
        "in every real file the last payload is followed by fewer than 8 bytes of padding",
        why "unused bytes can hide content but harm no reader";
    PAYLOAD_GAP_NONZERO = "PAYLOAD-GAP-NONZERO", Violation, Stated,
        "the padding after a payload is not zero",
        "payloads are padded with 0x00 (guide, High-level layout)";
    FILE_TAIL_ALIGN = "FILE-TAIL-ALIGN", Violation, Implied,
        "the file has {found} bytes, which is not a multiple of 8",
        "all sections are padded to 8 bytes (guide, High-level layout)";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => DUP_TENSOR,
        Fault::Duplicate(EntryKind::Metadata) => DUP_METADATA,
        Fault::Duplicate(EntryKind::SizeVar) => DUP_SIZEVAR,
        Fault::Overlap | Fault::Alias => PAYLOAD_OVERLAP,
        Fault::Gap => PAYLOAD_GAP,
        Fault::Trailing => PAYLOAD_TRAILING,
        Fault::Padding => PAYLOAD_GAP_NONZERO,
        Fault::Element(DType::Bool) => TENSOR_BOOL,
        Fault::Element(DType::T2) => TENSOR_T2,
        Fault::TailBits => TENSOR_TAILBITS,
        _ => return None,
    })
}
