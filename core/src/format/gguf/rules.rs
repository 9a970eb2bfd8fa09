//! The rules of GGUF: `gguf.md` of ggml, and what ggml's own reader requires.

use crate::format::Format;
use crate::rule::rules;

rules! { Format::Gguf.code();
    MAGIC = "MAGIC", Fatal, Stated,
        "the file does not begin with GGUF",
        "File Structure: the magic number is GGUF in ASCII";
    HEADER_LENGTH = "HEADER-LENGTH", Fatal, Implied,
        "the header takes {expected} bytes, and the file has {found}",
        "File Structure: magic, version, and two counts of 64 bits";
    VERSION_1 = "VERSION-1", Fatal, Stated,
        "the file is GGUF version 1, which has 32-bit counts and which no current reader reads",
        "Historical State of Affairs: v2 changed counts and lengths from 32 to 64 bits";
    VERSION = "VERSION", Fatal, Stated,
        "the version is {found}; {expected} is the highest known",
        "File Structure: the version must be 3 for the version described here";
    VERSION_BIG = "VERSION-BIG", Lint, Silent,
        "a file of version 2 is big-endian",
        "v3 introduced big-endian files; no writer of version 2 makes them";
    COUNT_TENSORS = "COUNT-TENSORS", Fatal, Implied,
        "the header counts {found} tensors; the file has room for {expected}",
        "File Structure: an entry takes 24 bytes at least";
    COUNT_METADATA = "COUNT-METADATA", Fatal, Implied,
        "the header counts {found} metadata entries; the file has room for {expected}",
        "File Structure: an entry takes 13 bytes at least";
    TABLE_TRUNCATED = "TABLE-TRUNCATED", Fatal, Implied,
        "the file ends inside an entry: {expected} more bytes are needed, and {found} are left",
        "File Structure: the tables are complete";
    STRING_BOUNDS = "STRING-BOUNDS", Fatal, Implied,
        "a string has {expected} bytes, and the file has {found} left",
        "File Structure: a string has the length that it says";
    KEY_EMPTY = "KEY-EMPTY", Violation, Implied,
        "the key is empty",
        "File Structure: a key is a hierarchical key of segments; ggml refuses an empty one";
    KEY_LENGTH = "KEY-LENGTH", Fatal, Stated,
        "the key has {found} bytes; {expected} are allowed",
        "File Structure: a key must be at most 2^16-1 bytes long";
    KEY_ASCII = "KEY-ASCII", Violation, Stated,
        "the key has the byte {found:#x}, which is not ASCII",
        "File Structure: a key must be a valid ASCII string";
    KEY_FORM = "KEY-FORM", Violation, Stated,
        "the key is not made of lower-case letters, digits and underscores, in segments joined by dots",
        "File Structure: each segment is lower_snake_case and separated by a dot (ggml's own names of architectures have hyphens, which pass)";
    KEY_DUPLICATE = "KEY-DUPLICATE", Violation, Implied,
        "the key was used before, by entry {expected}",
        "File Structure: metadata is a map from keys; ggml refuses duplicates";
    VALUE_TYPE = "VALUE-TYPE", Fatal, Stated,
        "the value has type {found}, which is not one of the 13 that GGUF defines, so its end is unknown",
        "File Structure: gguf_metadata_value_type";
    ARRAY_TYPE = "ARRAY-TYPE", Fatal, Stated,
        "the items of the array have type {found}, which is not one of the 13 that GGUF defines, so its end is unknown",
        "File Structure: any value type is valid for the items of an array";
    ARRAY_BOUNDS = "ARRAY-BOUNDS", Fatal, Implied,
        "the array counts {found} items; the file has room for {expected}",
        "File Structure: len items follow";
    ARRAY_NESTED = "ARRAY-NESTED", Lint, Silent,
        "the items of the array are arrays",
        "arrays may be nested, and gguf-py writes them so; ggml refuses such files";
    ARRAY_DEPTH = "ARRAY-DEPTH", Unchecked, Silent,
        "arrays nest deeper than {expected} levels, and what follows was not checked",
        "a limit of this reader; ggml refuses arrays that nest at all";
    VALUE_BOOL = "VALUE-BOOL", Violation, Stated,
        "a Boolean is {found}, neither 0 nor 1",
        "File Structure: 0 is false and 1 is true, anything else is invalid";
    TEXT_UTF8 = "TEXT-UTF8", Violation, Stated,
        "a string has the byte {found:#x}, which is not valid UTF-8 here",
        "File Structure: the value is a UTF-8 non-null-terminated string";
    ALIGNMENT_TYPE = "ALIGNMENT-TYPE", Fatal, Stated,
        "general.alignment is of type {found}, and must be of type {expected}, an unsigned number of 32 bits",
        "Standardized key-value pairs: general.alignment: uint32";
    ALIGNMENT_VALUE = "ALIGNMENT-VALUE", Fatal, Implied,
        "general.alignment is {found}, which is neither a multiple of 8 nor a power of two",
        "Standardized key-value pairs: general.alignment must be a multiple of 8; ggml takes powers of two only";
    ALIGNMENT_POWER = "ALIGNMENT-POWER", Lint, Silent,
        "general.alignment is {found}, which is not a power of two, so ggml refuses the file",
        "align_offset is defined for any multiple of 8, and gguf-py reads such files; ggml and the writer of gguf-py take powers of two only";
    ALIGNMENT_MULTIPLE = "ALIGNMENT-MULTIPLE", Violation, Stated,
        "general.alignment is {found}, which is not a multiple of 8",
        "Standardized key-value pairs: general.alignment must be a multiple of 8";
    ALIGNMENT_LIMIT = "ALIGNMENT-LIMIT", Lint, Silent,
        "general.alignment is {found}; writers use {expected} at most",
        "allowed, and 32-bit readers wrap when they round up to such multiples";
    ALIGNMENT_TWICE = "ALIGNMENT-TWICE", Fatal, Silent,
        "general.alignment occurs twice",
        "readers that take different ones read different data";
    NAME_LENGTH = "NAME-LENGTH", Violation, Stated,
        "the name has {found} bytes; {expected} are allowed",
        "File Structure: the name of a tensor must be at most 64 bytes long";
    NAME_LIMIT = "NAME-LIMIT", Fatal, Stated,
        "the name has {found} bytes; this reader accepts {expected}",
        "File Structure: the name of a tensor must be at most 64 bytes long";
    NAME_64 = "NAME-64", Lint, Silent,
        "the name has 64 bytes, one more than ggml has room for",
        "64 bytes are allowed; GGML_MAX_NAME counts the closing zero";
    NAME_UTF8 = "NAME-UTF8", Violation, Stated,
        "the name is not UTF-8",
        "File Structure: the name is a standard GGUF string, which is UTF-8";
    NAME_NUL = "NAME-NUL", Violation, Silent,
        "the name contains a zero byte, which ends it in ggml",
        "ggml keeps names as C strings: what follows the zero is lost, and names that differ only there are equal";
    NAME_DUPLICATE = "NAME-DUPLICATE", Violation, Implied,
        "the name was used before, by entry {expected}",
        "tensor names identify tensors; ggml refuses duplicates";
    DIMS_COUNT = "DIMS-COUNT", Violation, Stated,
        "the tensor has {found} dimensions; {expected} are allowed",
        "File Structure: currently at most 4 dimensions";
    DIMS_BOUNDS = "DIMS-BOUNDS", Fatal, Implied,
        "the tensor has {found} dimensions; there is room for {expected}",
        "File Structure: n_dimensions dims follow";
    EXTENT_RANGE = "EXTENT-RANGE", Fatal, Implied,
        "the dim {found} exceeds 63 bits",
        "ggml's dims are signed, and it refuses negative ones";
    EXTENT_ZERO = "EXTENT-ZERO", Lint, Silent,
        "a dim is 0",
        "allowed, and no model has empty tensors; ggml of 2025 and before divides by dims";
    SHAPE_OVERFLOW = "SHAPE-OVERFLOW", Fatal, Implied,
        "the number of elements, or of their bytes, exceeds 63 bits",
        "the size of a tensor follows from its shape and type; ggml refuses sizes that it cannot represent";
    DTYPE_UNKNOWN = "DTYPE-UNKNOWN", Unchecked, Implied,
        "the element type is {found}, newer than {expected}, the newest known here, so the size was not verified",
        "File Structure: ggml_type, to which every few months of ggml add";
    DTYPE_REMOVED = "DTYPE-REMOVED", Violation, Stated,
        "the element type {found} was removed from ggml or never existed, so no reader reads it",
        "File Structure: ggml_type; the numbers 4, 5, 31 to 33 and 36 to 38 were removed, and none is negative";
    BLOCK_MULTIPLE = "BLOCK-MULTIPLE", Fatal, Implied,
        "a row has {found} elements, which is not a multiple of the block size, {expected}",
        "rows consist of whole blocks; ggml refuses others";
    OFFSET_ALIGN = "OFFSET-ALIGN", Violation, Stated,
        "the offset {found} is not a multiple of the alignment, {expected}",
        "File Structure: the offset must be a multiple of ALIGNMENT";
    OFFSET_ORDER = "OFFSET-ORDER", Violation, Silent,
        "the offset is {found}; ggml expects the data at {expected}, right after that of the tensors before it",
        "the reference reader accepts data in the order of the entries only, without gaps";
    DATA_BOUNDS = "DATA-BOUNDS", Fatal, Implied,
        "the data ends at {found}, and the file at {expected}",
        "File Structure: the data of a tensor lies in the file";
    OVERLAP = "OVERLAP", Violation, Implied,
        "the data begins at {found}, inside other data that ends at {expected}",
        "changing one tensor changes another; ggml refuses such offsets";
    ALIAS = "ALIAS", Violation, Implied,
        "the data is the same range of bytes as another tensor's",
        "changing one tensor changes another; ggml refuses such offsets";
    GAP = "GAP", Lint, Silent,
        "{found} bytes belong to no tensor",
        "unused bytes hide things and harm no reader that takes offsets as they are";
    TRAILING = "TRAILING", Lint, Silent,
        "{found} bytes after the last tensor belong to nothing",
        "no reader looks there";
    PADDING = "PADDING", Violation, Stated,
        "padding has the byte {found:#x} instead of 0",
        "File Structure: where required, the file is padded with 0x00 bytes";
}
