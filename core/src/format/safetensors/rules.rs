//! The rules for safetensors: its README, section "Format".

use crate::format::{Fault, Format};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Safetensors.code();
    FILE_LENGTH = "FILE-LENGTH", Fatal, Implied,
        "the file has {found} bytes, and the length of the header takes 8",
        "Format: a file begins with 8 bytes, the size of the header";
    HEADER_LIMIT = "HEADER-LIMIT", Fatal, Stated,
        "the header has {found} bytes; {expected} are allowed",
        "Benefits: there is a limit on the size of the header of 100 MB";
    HEADER_BOUNDS = "HEADER-BOUNDS", Fatal, Implied,
        "the header would end at {expected}, beyond the file's {found} bytes",
        "Format: the header follows its size";
    HEADER_START = "HEADER-START", Violation, Stated,
        "the header begins with white space",
        "Format: the header data MUST begin with a { character (the crate lets white space pass)",
        why "the README requires a brace; the crate also accepts white space, for writers that align pages";
    JSON_ROOT = "JSON-ROOT", Fatal, Stated,
        "the header does not begin with a brace",
        "Format: the header is a JSON object, and MUST begin with a { character";
    JSON_SYNTAX = "JSON-SYNTAX", Fatal, Stated,
        "this byte is not valid JSON here",
        "Format: the header is a JSON string; RFC 8259";
    JSON_TRUNCATED = "JSON-TRUNCATED", Fatal, Stated,
        "the header ends inside its JSON",
        "Format: the header is a JSON string; RFC 8259";
    JSON_TRAILING = "JSON-TRAILING", Violation, Stated,
        "something other than white space follows the JSON of the header",
        "Format: the header data MAY be trailing padded with whitespace";
    JSON_DEPTH = "JSON-DEPTH", Fatal, Silent,
        "values nest deeper than {expected} levels",
        "a limit of this reader; real headers nest three levels",
        why "a limit of this reader";
    JSON_ESCAPE = "JSON-ESCAPE", Fatal, Stated,
        "a string has an escape that is no character",
        "Format: the header is a JSON string; RFC 8259 §7";
    JSON_CONTROL = "JSON-CONTROL", Violation, Stated,
        "a string has the control character {found:#x}, which must be escaped",
        "Format: the header is a JSON string; RFC 8259 §7";
    HEADER_UTF8 = "HEADER-UTF8", Violation, Stated,
        "a string is not UTF-8",
        "Format: the header is a JSON UTF-8 string";
    METADATA_DUPLICATE = "METADATA-DUPLICATE", Violation, Stated,
        "__metadata__ occurs twice",
        "Notes: duplicate keys are disallowed",
        why "the README forbids it, but in the crate the last of two equal names wins; names are compared with escapes resolved";
    METADATA_TYPE = "METADATA-TYPE", Violation, Stated,
        "__metadata__ is not an object",
        "Format: __metadata__ contains a free form text-to-text map";
    METADATA_VALUE = "METADATA-VALUE", Violation, Stated,
        "the value of a metadata entry is not a string",
        "Format: arbitrary JSON is not allowed, all values must be strings";
    METADATA_KEY = "METADATA-KEY", Violation, Stated,
        "the key was used before, by metadata entry {expected}",
        "Notes: duplicate keys are disallowed",
        why "the README forbids it, but in the crate the last of two equal names wins; names are compared with escapes resolved";
    NAME_DUPLICATE = "NAME-DUPLICATE", Violation, Stated,
        "the name was used before, by tensor {expected}",
        "Notes: duplicate keys are disallowed; not all parsers may respect this",
        why "the README forbids it, but in the crate the last of two equal names wins; names are compared with escapes resolved";
    ENTRY_TYPE = "ENTRY-TYPE", Fatal, Stated,
        "the entry of a tensor is not an object",
        "Format: {\"TENSOR_NAME\": {\"dtype\": …, \"shape\": …, \"data_offsets\": …}}";
    FIELD_MISSING = "FIELD-MISSING", Fatal, Stated,
        "dtype, shape or data_offsets is missing from the entry",
        "Format: {\"TENSOR_NAME\": {\"dtype\": …, \"shape\": …, \"data_offsets\": …}}";
    FIELD_DUPLICATE = "FIELD-DUPLICATE", Fatal, Stated,
        "dtype, shape or data_offsets occurs twice in the entry",
        "Notes: duplicate keys are disallowed";
    FIELD_UNKNOWN = "FIELD-UNKNOWN", Lint, Silent,
        "the entry has a field other than dtype, shape and data_offsets",
        "no writer adds fields; the crate ignores them",
        why "the crate ignores unknown fields";
    KEY_DUPLICATE = "KEY-DUPLICATE", Violation, Stated,
        "an unknown field occurs twice, or an object inside one has a key twice",
        "Notes: duplicate keys are disallowed",
        why "the README forbids it at any depth; the crate keeps the last";
    KEYS_UNCHECKED = "KEYS-UNCHECKED", Unchecked, Silent,
        "unknown fields have more than {expected} keys at once, so whether a key occurs twice was not checked",
        "a limit of this reader; no writer adds fields";
    NUMBER_DOUBLE = "NUMBER-DOUBLE", Violation, Implied,
        "a number exceeds the range of 64-bit floats",
        "Notes: the subset of JSON is decided by serde_json, which refuses such numbers wherever they are",
        why "the crate refuses numbers beyond 64-bit floats even in fields that it ignores";
    DTYPE_TYPE = "DTYPE-TYPE", Fatal, Stated,
        "dtype is not a string",
        "Format: \"dtype\": \"F16\"";
    DTYPE_UNKNOWN = "DTYPE-UNKNOWN", Violation, Implied,
        "the element type {quoted} is not one of the 22 that safetensors defines, so the size cannot be checked",
        "Format names the types, and later releases add to them",
        why "the tensor is listed as unsupported with its range, and the other tensors stay usable";
    SHAPE_TYPE = "SHAPE-TYPE", Fatal, Stated,
        "shape is not an array of integers",
        "Format: \"shape\": [1, 16, 256]";
    OFFSETS_TYPE = "OFFSETS-TYPE", Fatal, Stated,
        "data_offsets is not an array of two integers",
        "Format: \"data_offsets\": [BEGIN, END]";
    NUMBER_NEGATIVE = "NUMBER-NEGATIVE", Fatal, Implied,
        "a dim or an offset is negative",
        "Format: shapes and offsets count elements and bytes",
        why "readers that parse numbers as doubles read another value";
    NUMBER_FRACTION = "NUMBER-FRACTION", Fatal, Implied,
        "a dim or an offset is not written as an integer",
        "Format: shapes and offsets count elements and bytes; the crate reads only integers",
        why "readers that parse numbers as doubles read another value";
    NUMBER_RANGE = "NUMBER-RANGE", Fatal, Implied,
        "a dim or an offset exceeds 64 bits",
        "Format: shapes and offsets count elements and bytes",
        why "readers that parse numbers as doubles read another value";
    OFFSET_ORDER = "OFFSET-ORDER", Fatal, Implied,
        "the data ends at {found}, before it begins at {expected}",
        "Format: BEGIN is the start offset, END the one-past offset";
    OFFSET_BOUNDS = "OFFSET-BOUNDS", Fatal, Implied,
        "the data ends at {found}, beyond the buffer's {expected} bytes",
        "Format: data_offsets point to the tensor data relative to the beginning of the byte buffer";
    SHAPE_OVERFLOW = "SHAPE-OVERFLOW", Fatal, Implied,
        "the number of elements, or of their bits, exceeds 64 bits",
        "Format: the data is as large as shape and type say";
    TENSOR_BITS = "TENSOR-BITS", Fatal, Implied,
        "the elements take {found} bits, which is not a whole number of bytes",
        "Format: offsets count bytes; the crate refuses misaligned slices";
    TENSOR_SIZE = "TENSOR-SIZE", Fatal, Implied,
        "the data has {found} bytes; shape and type take {expected}",
        "Format: the data is as large as shape and type say";
    OVERLAP = "OVERLAP", Violation, Stated,
        "the data begins at {found}, inside other data that ends at {expected}",
        "Notes: the byte buffer needs to be entirely indexed, without overlaps",
        why "the buffer must be indexed without overlaps; the crate also refuses an empty tensor inside other data";
    ALIAS = "ALIAS", Violation, Stated,
        "the data is the same range of bytes as another tensor's",
        "Notes: the byte buffer needs to be entirely indexed, without overlaps",
        why "the buffer must be indexed entirely and without overlaps; the data can still be read";
    HOLE = "HOLE", Violation, Stated,
        "{found} bytes belong to no tensor",
        "Notes: the byte buffer needs to be entirely indexed, and cannot contain holes",
        why "the buffer must be indexed entirely and without overlaps; the data can still be read";
    TRAILING = "TRAILING", Violation, Stated,
        "{found} bytes after the last tensor belong to nothing",
        "Notes: the byte buffer needs to be entirely indexed: this prevents polyglot files",
        why "the buffer must be indexed entirely and without overlaps; the data can still be read";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => NAME_DUPLICATE,
        Fault::Duplicate(EntryKind::Metadata) => METADATA_KEY,
        Fault::Overlap => OVERLAP,
        Fault::Alias => ALIAS,
        Fault::Gap => HOLE,
        Fault::Trailing => TRAILING,
        _ => return None,
    })
}
