//! The rules of zTensor 0.1, some of which later generations share.

use crate::format::Format;
use crate::rule::rules;

rules! { Format::ZTensor.code();
    // The container.
    FILE_MAGIC = "FILE-MAGIC", Fatal, Stated,
        "the file does not begin with \"ZTEN0001\"",
        "File Layout: the magic number is the ASCII text \"ZTEN0001\" at offset 0";
    GENERATION_1_0 = "GENERATION-1-0", Fatal, Stated,
        "the file is zTensor generation 1.0, and this reader reads generation 0.1",
        "File Layout: the magic number is \"ZTEN0001\"; \"ZTEN1000\" without a magic at the end is generation 1.0";
    GENERATION_1_1 = "GENERATION-1-1", Fatal, Stated,
        "the file is zTensor generation 1.1 or 1.2, and this reader reads generation 0.1",
        "File Layout: the magic number is \"ZTEN0001\"; \"ZTEN1000\" at both ends is generation 1.1 or 1.2";
    GENERATION_2 = "GENERATION-2", Fatal, Stated,
        "the file is zTensor generation 2, and this reader reads generation 0.1",
        "File Layout: the magic number is \"ZTEN0001\"; 89 5A 54 32 0D 0A 1A 0A is generation 2";
    FILE_SIZE = "FILE-SIZE", Fatal, Implied,
        "the file has {found} bytes and the smallest has {expected}",
        "Zero-Tensor Files: magic, one byte of index, length: 17 bytes";
    FILE_CONCATENATED = "FILE-CONCATENATED", Violation, Implied,
        "a second file begins here, so offsets from the start lead into the first",
        "Tensor Metadata: offset is absolute, from the start of the file",
        why "the offsets of the second file point into the first";
    FILE_ZERO_TENSORS = "FILE-ZERO-TENSORS", Violation, Stated,
        "the file has no tensors, and {found} bytes between its magic and its index",
        "Zero-Tensor Files: magic, one byte of index, length: 17 bytes in total";
    FILE_ZERO_FORM = "FILE-ZERO-FORM", Lint, Silent,
        "the file has no tensors, and its index takes {found} bytes where 1 does",
        "Zero-Tensor Files: the index is one byte, 0x80; no writer makes another form",
        why "the specification spells out the 17 bytes of an empty file, and every reader accepts other forms";

    // Location of the index.
    INDEX_EMPTY = "INDEX-EMPTY", Fatal, Implied,
        "the length of the index is 0",
        "File Layout: the last 8 bytes are the size of a CBOR array, which takes at least one byte";
    INDEX_BOUNDS = "INDEX-BOUNDS", Fatal, Implied,
        "the index is said to take {found} bytes and there is room for {expected}",
        "Index Reading: the index starts at file size - index size - 8, after the magic";
    INDEX_ROOT = "INDEX-ROOT", Fatal, Stated,
        "the index is not a CBOR array (its first byte is {found:#x})",
        "File Layout: the index is a CBOR-encoded array of maps";
    INDEX_TRAILING = "INDEX-TRAILING", Violation, Stated,
        "{found} bytes follow the array, inside the index",
        "File Layout: the last 8 bytes give the size of the CBOR array";
    INDEX_ELEMENT = "INDEX-ELEMENT", Fatal, Stated,
        "an element of the index is not a map",
        "File Layout: an array of metadata maps, one per tensor";

    // CBOR that cannot be read any further.
    CBOR_TRUNCATED = "CBOR-TRUNCATED", Fatal, Implied,
        "the index ends inside a data item",
        "RFC 8949 §3: a data item that is too short is not well formed";
    CBOR_COUNT = "CBOR-COUNT", Fatal, Implied,
        "{found} data items are declared and the index has {expected} bytes left",
        "RFC 8949 §3.2: an array or map holds as many items as its head says";
    CBOR_LENGTH = "CBOR-LENGTH", Fatal, Implied,
        "a string of {found} bytes is declared and the index has {expected} bytes left",
        "RFC 8949 §3.1: a string is followed by as many bytes as its head says";
    CBOR_BREAK = "CBOR-BREAK", Fatal, Implied,
        "a break stands where a data item is expected",
        "RFC 8949 §3.2.1: a break ends an item of indefinite length, and a map only after a value";
    CBOR_RESERVED = "CBOR-RESERVED", Fatal, Implied,
        "the head {found:#x} is not defined",
        "RFC 8949 §3: additional information 28 to 30 is reserved, 31 not allowed for numbers and tags";
    CBOR_CHUNK = "CBOR-CHUNK", Fatal, Implied,
        "a chunk of a string is not a string of the same kind and of definite length",
        "RFC 8949 §3.2.3: the chunks of a string are definite-length strings of the same major type";
    CBOR_DEPTH = "CBOR-DEPTH", Unchecked, Silent,
        "data items nest deeper than {expected} levels, so the index was not checked from here on",
        "a limit of this reader (CBOR_DEPTH); the published reader gives up at 128 levels as well",
        why "a limit of this reader; the specification sets none, so exceeding it proves nothing";

    // CBOR that is well formed but not valid.
    CBOR_UTF8 = "CBOR-UTF8", Violation, Implied,
        "a text string is not UTF-8",
        "RFC 8949 §3.1: text strings, and each of their chunks, are valid UTF-8";
    CBOR_SIMPLE = "CBOR-SIMPLE", Violation, Implied,
        "a simple value below 32 is written in two bytes",
        "RFC 8949 §3.3: two-byte simple values below 32 are not well formed";
    CBOR_KEY_DUPLICATE = "CBOR-KEY-DUPLICATE", Violation, Implied,
        "a key occurs twice in one map",
        "RFC 8949 §5.6: the keys of a valid map are unique",
        why "RFC 8949 calls such a map invalid; keys are compared by value, in any width and of any type";
    CBOR_KEYS = "CBOR-KEYS", Unchecked, Silent,
        "maps that are open here have more than {expected} keys, not all of them in order, so whether a key occurs twice was not checked",
        "RFC 8949 §5.6: the keys of a valid map are unique; a limit of this reader (CBOR_KEYS)",
        why "a limit of this reader; the specification sets none, so exceeding it proves nothing";
    CBOR_KEY_NESTED = "CBOR-KEY-NESTED", Unchecked, Silent,
        "a key is a map of several pairs or nests deeper than {expected} levels, so whether it occurs twice was not checked",
        "RFC 8949 §5.6: the keys of a valid map are unique; a limit of this reader (CBOR_KEY_DEPTH)",
        why "a limit of this reader; the specification sets none, so exceeding it proves nothing";
    CBOR_TAG = "CBOR-TAG", Violation, Silent,
        "a tag stands before the index, a map, a key or a value that the specification defines",
        "Tensor Metadata: fields are strings, numbers and arrays; no tag is mentioned, no writer emits one",
        why "RFC 8949 calls it invalid here; only custom values are ever tagged";

    // CBOR that no real writer emits.
    CBOR_DEFINITE = "CBOR-DEFINITE", Lint, Silent,
        "the map of a tensor has definite length",
        "the specification leaves the form open; every real map is of indefinite length";
    CBOR_INDEFINITE = "CBOR-INDEFINITE", Lint, Silent,
        "an array, a string or a nested map has indefinite length",
        "the specification leaves the form open; every real writer states these lengths";
    CBOR_SHORTEST = "CBOR-SHORTEST", Lint, Silent,
        "a number or a length is not in its shortest form",
        "the specification leaves the form open (RFC 8949 §4.1 prefers the shortest)";
    CBOR_FLOAT = "CBOR-FLOAT", Lint, Silent,
        "a float is not in the shortest form that keeps its value",
        "the specification leaves the form open (RFC 8949 §4.1 prefers the shortest)";
    CBOR_CUSTOM_TAG = "CBOR-CUSTOM-TAG", Lint, Silent,
        "a custom field holds a tag",
        "Tensor Metadata: custom fields are allowed, whatever they hold; no writer emits tags";
    CBOR_CUSTOM_SIMPLE = "CBOR-CUSTOM-SIMPLE", Lint, Silent,
        "a custom field holds a simple value other than false, true and null",
        "Tensor Metadata: custom fields are allowed, whatever they hold; no writer emits this";

    // The fields of a map.
    FIELD_NAME = "FIELD-NAME", Fatal, Stated,
        "the field \"name\" is missing", "Tensor Metadata: name is required";
    FIELD_OFFSET = "FIELD-OFFSET", Fatal, Stated,
        "the field \"offset\" is missing", "Tensor Metadata: offset is required";
    FIELD_SIZE = "FIELD-SIZE", Fatal, Stated,
        "the field \"size\" is missing", "Tensor Metadata: size is required";
    FIELD_DTYPE = "FIELD-DTYPE", Fatal, Stated,
        "the field \"dtype\" is missing", "Tensor Metadata: dtype is required";
    FIELD_SHAPE = "FIELD-SHAPE", Fatal, Stated,
        "the field \"shape\" is missing", "Tensor Metadata: shape is required";
    FIELD_ENCODING = "FIELD-ENCODING", Fatal, Stated,
        "the field \"encoding\" is missing", "Tensor Metadata: encoding is required";
    FIELD_LAYOUT = "FIELD-LAYOUT", Violation, Stated,
        "the field \"layout\" is missing; it is taken as \"dense\"",
        "Tensor Metadata: layout is required, though \"dense\" is called its default",
        why "the specification lists the field as required, though it calls \"dense\" its default; it is read as \"dense\"";
    FIELD_DUPLICATE = "FIELD-DUPLICATE", Fatal, Implied,
        "a field of the specification occurs twice",
        "RFC 8949 §5.6: the keys of a valid map are unique";
    FIELD_ORDER = "FIELD-ORDER", Lint, Silent,
        "the fields are not in the order that real writers keep",
        "the specification leaves the order open";
    FIELD_KEY = "FIELD-KEY", Lint, Silent,
        "a key is not text, so that it names no field",
        "Tensor Metadata: unknown keys are ignored";
    FIELD_NULL = "FIELD-NULL", Violation, Stated,
        "an optional field is null and should be text or missing; it is taken as missing",
        "Optional fields: data_endianness (string), checksum (string)",
        why "the field is a string; the published reader treats null as missing";
    TYPE_NAME = "TYPE-NAME", Fatal, Stated,
        "\"name\" is not text", "Tensor Metadata: name (string)";
    TYPE_OFFSET = "TYPE-OFFSET", Fatal, Stated,
        "\"offset\" is not an unsigned integer", "Tensor Metadata: offset (uint64)";
    TYPE_SIZE = "TYPE-SIZE", Fatal, Stated,
        "\"size\" is not an unsigned integer", "Tensor Metadata: size (uint64)";
    TYPE_DTYPE = "TYPE-DTYPE", Fatal, Stated,
        "\"dtype\" is not text", "Tensor Metadata: dtype (string)";
    TYPE_SHAPE = "TYPE-SHAPE", Fatal, Stated,
        "\"shape\" is not an array", "Tensor Metadata: shape (array)";
    TYPE_DIM = "TYPE-DIM", Fatal, Implied,
        "a dimension is not an unsigned integer", "Tensor Metadata: shape is an array of dimensions";
    TYPE_ENCODING = "TYPE-ENCODING", Fatal, Stated,
        "\"encoding\" is not text", "Tensor Metadata: encoding (string)";
    TYPE_LAYOUT = "TYPE-LAYOUT", Fatal, Stated,
        "\"layout\" is not text", "Tensor Metadata: layout (string)";
    TYPE_ENDIANNESS = "TYPE-ENDIANNESS", Fatal, Stated,
        "\"data_endianness\" is not text", "Optional fields: data_endianness (string)";
    TYPE_CHECKSUM = "TYPE-CHECKSUM", Violation, Stated,
        "\"checksum\" is not text", "Optional fields: checksum (string)";

    // Values of the fields.
    NAME_DUPLICATE = "NAME-DUPLICATE", Violation, Silent,
        "the name was used before, by entry {expected}",
        "Tensor Metadata: a tensor is found by its name; readers disagree which of two is meant",
        why "readers disagree about which of two tensors a name means";
    NAME_EMPTY = "NAME-EMPTY", Lint, Silent,
        "the name is empty", "Tensor Metadata: name (string); generation 2 forbids it";
    NAME_NUL = "NAME-NUL", Lint, Silent,
        "the name contains a zero byte", "Tensor Metadata: name (string); a published reader aborts on it";
    DTYPE_CASE = "DTYPE-CASE", Violation, Implied,
        "the data type {quoted} is not in lower case", "Supported Data Types: names in lower case";
    DTYPE_UNKNOWN = "DTYPE-UNKNOWN", Unchecked, Stated,
        "the data type {quoted} is not known, so the data is not checked",
        "Extensibility: new dtype values may be added in future versions";
    ENCODING_CASE = "ENCODING-CASE", Violation, Implied,
        "the encoding is not in lower case", "Supported Encodings: raw, zstd";
    ENCODING_UNKNOWN = "ENCODING-UNKNOWN", Unchecked, Stated,
        "the encoding {quoted} is not known, so the data is not checked",
        "Extensibility: new encoding values may be added in future versions";
    LAYOUT_CASE = "LAYOUT-CASE", Violation, Implied,
        "the layout is not in lower case", "Layouts: dense, sparse";
    LAYOUT_UNKNOWN = "LAYOUT-UNKNOWN", Unchecked, Stated,
        "the layout is not known, so the data is not checked",
        "Extensibility: new layout values may be added in future versions";
    ENDIANNESS_VALUE = "ENDIANNESS-VALUE", Fatal, Stated,
        "the byte order is neither \"little\" nor \"big\"", "Optional fields: data_endianness is \"little\" or \"big\"";
    ENDIANNESS_CASE = "ENDIANNESS-CASE", Violation, Stated,
        "the byte order is not in lower case", "Optional fields: data_endianness is \"little\" or \"big\"";
    ENDIANNESS_ZSTD = "ENDIANNESS-ZSTD", Violation, Implied,
        "compressed data is declared big-endian; readers read it as little-endian",
        "Optional fields: data_endianness is for raw multi-byte types",
        why "the field is for raw data, and every reader ignores it elsewhere";
    ENDIANNESS_UNUSED = "ENDIANNESS-UNUSED", Lint, Silent,
        "a byte order is given where it means nothing",
        "Optional fields: data_endianness is for raw multi-byte types; no writer gives it elsewhere";
    ENDIANNESS_IMPLICIT = "ENDIANNESS-IMPLICIT", Lint, Silent,
        "no byte order is given, so the data is little-endian",
        "Optional fields: little is the default; every writer gives it for raw multi-byte types";
    CHECKSUM_FORM = "CHECKSUM-FORM", Violation, Implied,
        "the checksum is not an algorithm, a colon, and as many hexadecimal digits as the algorithm has",
        "Optional fields: checksum, by the examples \"crc32c:0x1234ABCD\" and \"sha256:...\"";
    CHECKSUM_SPELLING = "CHECKSUM-SPELLING", Lint, Silent,
        "the checksum is not spelled as real writers do (crc32c: 0x, upper case; sha256: lower case)",
        "Optional fields: the example is \"crc32c:0x1234ABCD\"; case and prefix are left open";
    CHECKSUM_EMPTY = "CHECKSUM-EMPTY", Lint, Silent,
        "the checksum is empty, and taken as missing", "Optional fields: checksum (string)";
    CHECKSUM_MISMATCH = "CHECKSUM-MISMATCH", Fatal, Stated,
        "the checksum has {expected:#x} where that of the stored bytes has {found:#x}",
        "Optional fields: checksum; it covers the bytes as they are stored";
    CHECKSUM_UNKNOWN = "CHECKSUM-UNKNOWN", Unchecked, Implied,
        "the algorithm of the checksum is not known, so it is not verified",
        "Optional fields: crc32c and sha256 are given as examples";

    // Shapes and sizes.
    SHAPE_OVERFLOW = "SHAPE-OVERFLOW", Fatal, Implied,
        "the product of the dimensions exceeds 64 bits", "Tensor Metadata: size (uint64) holds the elements of shape",
        why "with a dim of 0, whether the product wraps depends on the order of multiplication";
    SHAPE_BYTES = "SHAPE-BYTES", Fatal, Implied,
        "the elements take more bytes than 64 bits can count", "Tensor Metadata: size (uint64) holds the elements of shape";
    SHAPE_SIZE = "SHAPE-SIZE", Fatal, Implied,
        "size is {found}; shape and dtype take {expected} bytes",
        "Supported Encodings: raw is a direct dump of the elements";
    SHAPE_RANK = "SHAPE-RANK", Lint, Silent,
        "the shape has {found} dimensions, more than {expected}",
        "the specification sets no limit; generation 2 allows 64, and many array libraries no more",
        why "rank costs this reader nothing";

    // Locations of blobs.
    BLOB_MAGIC = "BLOB-MAGIC", Fatal, Stated,
        "the offset is {found}, inside the magic number",
        "Notes: offsets are absolute and account for the 8-byte magic number";
    BLOB_ALIGN = "BLOB-ALIGN", Violation, Stated,
        "the offset {found} is not a multiple of 64",
        "Tensor Metadata: offset is a multiple of 64; Notes: all blobs are 64-byte aligned";
    BLOB_OVERFLOW = "BLOB-OVERFLOW", Fatal, Implied,
        "offset and size together exceed 64 bits", "File Layout: blobs lie between the magic and the index";
    BLOB_BOUNDS = "BLOB-BOUNDS", Fatal, Implied,
        "the data ends at {found}, beyond the file's {expected} bytes",
        "File Layout: blobs lie between the magic and the index";
    BLOB_INDEX = "BLOB-INDEX", Fatal, Implied,
        "the data ends at {found}, after the start of the index at {expected}",
        "File Layout: blobs lie between the magic and the index";
    BLOB_EMPTY_BOUNDS = "BLOB-EMPTY-BOUNDS", Violation, Silent,
        "empty data lies at {found}, after the start of the index at {expected}",
        "File Layout: blobs lie between the magic and the index; empty ones are not mentioned",
        why "an empty blob lacks no bytes, but its offset is outside the file";
    BLOB_OVERLAP = "BLOB-OVERLAP", Violation, Implied,
        "the data begins at {found}, inside other data that ends at {expected}",
        "File Layout: one blob after the other, one per tensor",
        why "changing one blob would change another";
    BLOB_SHARED = "BLOB-SHARED", Lint, Silent,
        "the data is the same range of bytes as another tensor's",
        "File Layout: one blob per tensor; nothing forbids tying, and no 0.1 writer does it",
        why "equal ranges tie weights, as generation 2 allows";
    BLOB_ORDER = "BLOB-ORDER", Lint, Silent,
        "the data begins at {found}, before the end at {expected} of data that the index lists earlier",
        "the specification leaves the order open; every writer lists blobs as they lie",
        why "no writer does it, and it harms no reader";
    BLOB_GAP = "BLOB-GAP", Lint, Silent,
        "{found} bytes belong to nothing",
        "File Layout: padding is inserted as needed, which takes at most 63 bytes",
        why "no writer does it, and it harms no reader";
    BLOB_PADDING = "BLOB-PADDING", Lint, Silent,
        "bytes of padding are not zero", "File Layout: padding has undefined value, usually zero",
        why "no writer does it, and it harms no reader";

    // Sparse layouts.
    SPARSE_FORMAT_MISSING = "SPARSE-FORMAT-MISSING", Violation, Stated,
        "the layout is \"sparse\" and the field \"sparse_format\" is missing",
        "Layouts: the map of a sparse tensor must include sparse_format";
    SPARSE_FORMAT_TYPE = "SPARSE-FORMAT-TYPE", Violation, Implied,
        "\"sparse_format\" is not text", "Layouts: sparse_format, e.g. \"csr\", \"coo\"";
    SPARSE_UNDEFINED = "SPARSE-UNDEFINED", Unchecked, Silent,
        "the layout is \"sparse\", for which no arrangement of the bytes is defined, so the data is not checked",
        "Layouts: fields that describe the structure are required and not named";
    SPARSE_COO_RANK = "SPARSE-COO-RANK", Fatal, Implied,
        "a scalar cannot be stored by coordinates", "Notes: the metadata must fully describe the sparse structure";
    SPARSE_CSR_RANK = "SPARSE-CSR-RANK", Fatal, Implied,
        "compressed rows need 2 dimensions and the shape has {found}",
        "Notes: the metadata must fully describe the sparse structure";
    SPARSE_COO_SIZE = "SPARSE-COO-SIZE", Fatal, Implied,
        "size {found} is not a whole number of entries of {expected} bytes",
        "Notes: the metadata must fully describe the sparse structure";
    SPARSE_CSR_SIZE = "SPARSE-CSR-SIZE", Fatal, Implied,
        "size {found} does not fit row pointers of {expected} bytes and whole entries",
        "Notes: the metadata must fully describe the sparse structure";
    SPARSE_COO_RANGE = "SPARSE-COO-RANGE", Fatal, Implied,
        "a coordinate is {found}, and its dimension is {expected}",
        "Notes: the metadata must fully describe the sparse structure; an entry lies inside shape";
    SPARSE_COO_DUPLICATE = "SPARSE-COO-DUPLICATE", Violation, Implied,
        "two entries have the same coordinates (position {found})",
        "Layouts: a sparse tensor has one value at each position",
        why "a tensor has one value at each position; readers would add duplicates up, or pick one";
    SPARSE_CSR_POINTERS = "SPARSE-CSR-POINTERS", Fatal, Implied,
        "a row pointer is {found}, after {expected}",
        "Layouts: sparse_format \"csr\"; row pointers begin at 0 and do not descend";
    SPARSE_CSR_COUNT = "SPARSE-CSR-COUNT", Fatal, Implied,
        "the last row pointer is {found}; by the size of the data it should be {expected}",
        "Layouts: sparse_format \"csr\"; the last row pointer is the number of entries";
    SPARSE_CSR_COLUMN = "SPARSE-CSR-COLUMN", Fatal, Implied,
        "a column is {found}, and the shape has {expected}",
        "Layouts: sparse_format \"csr\"; an entry lies inside shape";
    SPARSE_CSR_DUPLICATE = "SPARSE-CSR-DUPLICATE", Violation, Implied,
        "two entries of a row have the same column ({found})",
        "Layouts: a sparse tensor has one value at each position",
        why "a tensor has one value at each position; readers would add duplicates up, or pick one";
    SPARSE_DENSE_SIZE = "SPARSE-DENSE-SIZE", Lint, Silent,
        "size is {found}; a dense tensor takes {expected}",
        "the specification does not require it; the published writer and reader require both to be equal",
        why "the published reader requires the size of the dense tensor; its only writer does not";

    // Zstandard frames.
    ZSTD_EMPTY = "ZSTD-EMPTY", Violation, Implied,
        "compressed data of no bytes is not a frame, though it stands for no elements",
        "Supported Encodings: zstd is Zstandard-compressed data; a frame takes at least 9 bytes";
    ZSTD_MAGIC = "ZSTD-MAGIC", Fatal, Stated,
        "compressed data does not begin with the magic number of a frame (it begins with {found:#x})",
        "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1)";
    ZSTD_TRUNCATED = "ZSTD-TRUNCATED", Fatal, Stated,
        "compressed data ends inside a frame",
        "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1)";
    ZSTD_RESERVED = "ZSTD-RESERVED", Fatal, Implied,
        "a reserved bit of the frame header is set",
        "RFC 8878 §3.1.1.1.1.4: a decoder must ensure that the reserved bit is zero";
    ZSTD_DICTIONARY = "ZSTD-DICTIONARY", Unchecked, Implied,
        "the data was not decoded: it takes the zstd dictionary {found}, which the file does not have",
        "RFC 8878 §3.1.1.1.3: a frame with a dictionary id is decoded with that dictionary",
        why "the specification allows it; data that needs more memory than the limit, or a dictionary, is not decoded";
    ZSTD_WINDOW = "ZSTD-WINDOW", Unchecked, Silent,
        "the data was not decoded: it takes a window of {found} bytes, and the limit is {expected} (ZSTD_WINDOW) unless the data fits in memory as a whole",
        "RFC 8878 §3.1.1.1.2: decoders may refuse windows above 8 MiB; real files ask for 2 MiB",
        why "the specification allows it; data that needs more memory than the limit, or a dictionary, is not decoded";
    ZSTD_WINDOW_WIDE = "ZSTD-WINDOW-WIDE", Lint, Silent,
        "the data takes a window of {found} bytes; the C library decodes without an option only up to {expected} bytes",
        "RFC 8878 §3.1.1.1.2: decoders may refuse windows above 8 MiB",
        why "a stream decoder of the C library refuses such frames by default (`ZSTD_d_windowLogMax` is 27); `zstd --long=28` and above writes them";
    ZSTD_BLOCK_TYPE = "ZSTD-BLOCK-TYPE", Fatal, Implied,
        "a block is of the reserved type",
        "RFC 8878 §3.1.1.2.2: block type 3 is reserved and means corrupt data";
    ZSTD_BLOCK_SIZE = "ZSTD-BLOCK-SIZE", Fatal, Implied,
        "a block has the size {found}, and the bound is {expected}",
        "RFC 8878 §3.1.1.2.4: blocks hold at most the window's size and 128 KiB, compressed ones at least 2 bytes";
    ZSTD_TRAILING = "ZSTD-TRAILING", Fatal, Implied,
        "{found} bytes follow the frame and are not a frame",
        "Supported Encodings: zstd is Zstandard-compressed data; size is the compressed size";
    ZSTD_FRAMES = "ZSTD-FRAMES", Lint, Silent,
        "the data is in several frames, or has a skippable one",
        "RFC 8878 §3.1 allows it; every writer makes one frame a tensor",
        why "RFC 8878 section 3 requires frames of either kind; skippable frames alone decode to no bytes, which fits a shape without elements";
    ZSTD_CONTENT_SIZE = "ZSTD-CONTENT-SIZE", Fatal, Implied,
        "the frame says {found} bytes of content; shape and dtype take {expected}",
        "Tensor Metadata: the data decodes to the elements of shape";
    ZSTD_DECODED_SIZE = "ZSTD-DECODED-SIZE", Fatal, Implied,
        "the blocks cannot decode to the {expected} bytes that shape and dtype take; the nearest length is {found}",
        "Tensor Metadata: the data decodes to the elements of shape";
    ZSTD_CORRUPT = "ZSTD-CORRUPT", Fatal, Stated,
        "the content of a block cannot be decoded",
        "Supported Encodings: zstd is Zstandard-compressed data (RFC 8878 §3.1.1.3)";
    ZSTD_CHECKSUM = "ZSTD-CHECKSUM", Fatal, Implied,
        "the content of a frame does not match its checksum",
        "RFC 8878 §3.1.1: the content checksum verifies that the content was decoded correctly";
}
