//! The rules of the binary data view.
//!
//! "IDV" is the format's specification; "header" and "versions" are tables in
//! its source document that are missing from its published form. Where both
//! are silent, the loader and the writer of ML.NET decide.

use crate::format::{Fault, Format};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Idv.code();
    H_SIZE = "H.size", Fatal, Implied,
        "the file has {found} bytes; header and tail take {expected}",
        "header: 256 bytes, then the regions, then 8 bytes of tail";
    H_SIG = "H.sig", Fatal, Stated,
        "the file does not begin with \"CML\\0DVB\\0\"",
        "header: the signature is 43 4D 4C 00 44 56 42 00";
    H_COMPAT_VER = "H.compat>ver", Violation, Implied,
        "the compatible version {found:v} is newer than the version {expected:v}",
        "header: the compatible version is the oldest reader that can read what this version wrote";
    H_VER_UNKNOWN = "H.ver.unknown", Fatal, Implied,
        "version {found:v} is older than 1.1.1.1, the first",
        "versions: 1.1.1.1 is the first, and fields are listed from it on";
    H_VER_MIN = "H.ver.min", Lint, Silent,
        "version 1.1.1.1, which no released software reads",
        "IDV, table of contents: its fields are documented; the loader begins at 1.1.1.2";
    H_COMPAT_MIN = "H.compat.min", Lint, Silent,
        "readable since version {found:v}; released software begins at 1.1.1.4",
        "IDV, table of contents: older entries are documented; the loader begins at 1.1.1.4";
    H_COMPAT_MAX = "H.compat.max", Fatal, Implied,
        "readable since version {found:v} only, which is newer than 1.1.1.6",
        "header: a reader older than the compatible version cannot read the file";
    H_ROWS = "H.rows", Fatal, Implied,
        "the row count is negative: {found:i}",
        "header: the row count is an i64";
    H_COLS = "H.cols", Fatal, Implied,
        "the column count is negative: {found:i32}",
        "header: the column count is an i32";
    H_TOC_LOW = "H.toc.low", Fatal, Implied,
        "the table of contents begins at {found:#x}, inside the header",
        "header: the TOC offset is an offset from the start, after the header";
    H_TOC_HIGH = "H.toc.high", Fatal, Implied,
        "the table of contents begins at {found:#x}, not before the tail at {expected:#x}",
        "header: the table of contents lies between header and tail";
    H_TAIL_LOW = "H.tail.low", Fatal, Implied,
        "the tail begins at {found:#x}, inside the header",
        "header: the tail offset is an offset from the start, after the header";
    H_TAIL_EOF = "H.tail.eof", Fatal, Implied,
        "the tail ends at {found:#x}, and the file at {expected:#x}",
        "header: 8 bytes of tail signature at the tail offset";
    H_TAIL_SIG = "H.tail.sig", Fatal, Stated,
        "the tail signature is missing",
        "header: the tail is 00 42 56 44 00 4C 4D 43";
    H_PAD = "H.pad", Lint, Silent,
        "unused bytes of the header are not zero",
        "header: bytes 52 to 255 have no defined content; every writer leaves zeros";
    H_TRAILING = "H.trailing", Lint, Silent,
        "{surplus} bytes follow the tail",
        "header: the tail ends the file; the loader calls more \"legal but unusual\"";

    G_LEB = "G.leb", Lint, Silent,
        "a number takes {found} bytes, where {expected} would do",
        "IDV, general data format: an LEB128 number ends with the first byte below 128; every writer takes as few as it can",
        why "the document says where a number ends but not that it must be short; the loader reads it, and no writer emits it";

    T_EOF = "T.eof", Fatal, Implied,
        "the entry needs {missing} more bytes than the table of contents has",
        "IDV, table of contents: as many packed entries as columns, before the tail";
    T_NAME = "T.name", Fatal, Stated,
        "the length of the name is negative or malformed",
        "IDV, general data format: a string is an LEB128 length, then its bytes";
    T_NAME_UTF8 = "T.name.utf8", Violation, Stated,
        "the name is not UTF-8",
        "IDV, general data format: strings are UTF-8";
    T_NAME_EMPTY = "T.name.empty", Violation, Silent,
        "the name is empty",
        "IDV does not forbid it; the loader refuses the file";
    T_CODEC_NAME = "T.codec.name", Fatal, Stated,
        "the codec's loadname is empty, not UTF-8, or its length malformed",
        "IDV, table of contents: the codec loadname is a string";
    T_CODEC_LEN = "T.codec.len", Fatal, Stated,
        "the length of the codec's parameters is malformed or too large",
        "IDV, table of contents: the parameterization length is an LEB128 integer";
    T_CODEC_PARAM = "T.codec.param", Fatal, Stated,
        "the codec's parameters are {found} bytes, and {expected} were read or needed",
        "IDV, table of contents: the parameterization has precisely the length indicated";
    T_CODEC_UNKNOWN = "T.codec.unknown", Unchecked, Stated,
        "the codec, or one inside it, is unknown, so the data cannot be read",
        "IDV, table of contents: after an unrecognised codec the stream stands after its parameters";
    T_CODEC_DEPTH = "T.codec.depth", Fatal, Silent,
        "codec definitions nest deeper than {expected} levels",
        "IDV sets no bound; a vector of keys of integers is the deepest real one";
    T_CODEC_VEC_INNER = "T.codec.vec.inner", Fatal, Implied,
        "the items of a vector are vectors",
        "VBuffer: the item type is not a vector";
    T_CODEC_VEC_DIMS = "T.codec.vec.dims", Fatal, Implied,
        "a dimension, or their number, is negative, or their product exceeds 2^31 - 1",
        "VBuffer: dimensions are i32 and not negative, and so is the size";
    T_CODEC_KEY_INNER = "T.codec.key.inner", Fatal, Implied,
        "the key's codec is not one of unsigned integers",
        "Key, Key2: the inner codec is Byte, UInt16, UInt32 or UInt64";
    T_CODEC_KEY_COUNT = "T.codec.key.count", Violation, Implied,
        "the key's cardinality is {found}; 1 to {expected} fit",
        "Key, Key2: values 1 to the cardinality fit the inner type; Key has none when it has gaps";
    T_CODEC_KEY_CONTIG = "T.codec.key.contig", Fatal, Implied,
        "the key's contiguous flag is {found}, neither 0 nor 1",
        "Key: contiguous is a bool";
    T_CODEC_KEY_MIN = "T.codec.key.min", Lint, Silent,
        "the key's first value is {found}",
        "Key: legal when written; refused by ML.NET since 0.10";
    T_CODEC_KEY_GAPS = "T.codec.key.gaps", Lint, Silent,
        "the key's values are not contiguous",
        "Key: legal when written; refused by ML.NET since 0.10";
    T_COMP_UNKNOWN = "T.comp.unknown", Unchecked, Stated,
        "compression kind {found} is unknown, so the data cannot be read",
        "IDV, compression kind: 0 none, 1 deflate, 2 zlib";
    T_COMP_ZLIB = "T.comp.zlib", Lint, Silent,
        "compression kind zlib, which no released software reads or writes",
        "IDV, compression kind: 2 is zlib";
    T_RPB = "T.rpb", Fatal, Stated,
        "the rows per block are malformed",
        "IDV, table of contents: rows per block is an LEB128 integer";
    T_RPB_ZERO = "T.rpb.zero", Fatal, Implied,
        "0 rows per block",
        "IDV, block format: every block but the last holds that many rows";
    T_RPB_RANGE = "T.rpb.range", Fatal, Silent,
        "{found} rows per block; software that cuts this to 32 bits reads other rows",
        "IDV sets no bound; the loader keeps 32 bits of it";
    T_RPB_DIFFERS = "T.rpb.differs", Lint, Silent,
        "{found} rows per block, and {expected} in the first column",
        "IDV, table of contents: rows per block in this column; the loader expects the same in every column";
    T_LOOKUP_RANGE = "T.lookup.range", Fatal, Implied,
        "the lookup table at {found:#x} does not fit before the tail: it has {expected} entries of 16 bytes",
        "IDV, lookup table format: 16 bytes times the number of blocks, at the lookup table offset";
    T_LOOKUP_UNUSED = "T.lookup.unused", Lint, Silent,
        "the lookup table offset {found:#x} is outside the file, though there are no rows to look up",
        "IDV, lookup table format: no rows, no blocks; every writer stores a sound offset";
    T_MTOC_RANGE = "T.mtoc.range", Fatal, Implied,
        "the metadata table of contents at {found:#x} is not between header and tail",
        "IDV, table of contents: metadata table of contents offset, or 0";
    T_SLOTS_RANGE = "T.slots.range", Fatal, Implied,
        "the slot names are not between header and tail",
        "IDV, table of contents, 1.1.1.3: slot names offset and byte size";
    T_SLOTS_COUNT = "T.slots.count", Fatal, Implied,
        "{found} slot names do not fit the {expected} bytes they have",
        "IDV, table of contents, 1.1.1.3: slot names count";
    T_END = "T.end", Lint, Silent,
        "the table of contents ends at {found}, and the tail begins at {expected}",
        "IDV allows regions in any order; every writer puts the table of contents last";

    M_EOF = "M.eof", Fatal, Implied,
        "the annotation needs {missing} more bytes than its table can have",
        "IDV, metadata table of contents: packed entries";
    M_COUNT = "M.count", Fatal, Stated,
        "the number of annotations is {found}, or malformed",
        "IDV, metadata table of contents: an LEB128 integer, which should be positive";
    M_COUNT_MISMATCH = "M.count.mismatch", Fatal, Implied,
        "annotation {part} of {expected} would lie in the column table of contents",
        "IDV, metadata table of contents: followed by that many entries";
    M_KIND = "M.kind", Fatal, Stated,
        "the annotation's kind is not UTF-8, or its length is malformed",
        "IDV, metadata table of contents: the kind is a string";
    M_KIND_EMPTY = "M.kind.empty", Violation, Silent,
        "the annotation's kind is empty",
        "IDV does not forbid it; the loader refuses the file";
    M_KIND_DUP = "M.kind.dup", Violation, Implied,
        "the column has an annotation of this kind already, number {expected}",
        "IDV, metadata table of contents: an annotation is found by its kind";
    M_OFFSET = "M.offset", Fatal, Implied,
        "the annotation's block at {found:#x} is not between header and tail",
        "IDV, metadata table of contents: offset of the block";
    M_SIZE = "M.size", Fatal, Implied,
        "the size of the annotation's block is {found}: malformed, 0, or more than the {expected} there are",
        "IDV, metadata table of contents: byte length of the block, an LEB128 integer";
    M_DEAD = "M.dead", Unchecked, Stated,
        "the annotation's codec or compression is unknown, so its value cannot be read",
        "IDV, metadata table of contents: as for columns, an unrecognised codec is passed over";
    M_ZLIB = "M.zlib", Lint, Silent,
        "the annotation is stored with zlib, which no released software reads or writes",
        "IDV, compression kind: 2 is zlib";

    S_EOF = "S.eof", Fatal, Implied,
        "the slot name needs {missing} more bytes than there are",
        "IDV, slot names: pairs of an index and a string, in the byte size given";
    S_NAME = "S.name", Violation, Stated,
        "the slot name is not UTF-8",
        "IDV, slot names: the slot name is a string";
    S_INDEX = "S.index", Violation, Implied,
        "the index of the slot is negative: {found:i32}",
        "IDV, slot names: index of the slot";
    S_SIZE = "S.size", Violation, Implied,
        "{found} bytes of the slot names are left over",
        "IDV, table of contents, 1.1.1.3: slot names byte size";

    L_COUNT = "L.count", Lint, Silent,
        "{found} blocks; released software reads no more than 2^31 - 1",
        "IDV sets no bound; the loader refuses it";
    L_COMPLEN = "L.complen", Fatal, Implied,
        "the stored length of block {part} is negative: {found:i32}",
        "IDV, lookup table format: block length, its size in bytes in the file";
    L_DECLEN = "L.declen", Fatal, Implied,
        "the uncompressed length of block {part} is negative: {found:i32}",
        "IDV, lookup table format: uncompressed block length";
    L_OFFSET = "L.offset", Fatal, Implied,
        "block {part}, at {found:#x}, is not between header and tail",
        "IDV, lookup table format: block offset, the position where the block starts";
    L_DEAD = "L.dead", Lint, Silent,
        "the lookup entry of block {part} is wrong, in a column that cannot be read",
        "IDV, lookup table format; the loader does not look at it";

    R_OVERLAP = "R.overlap", Violation, Implied,
        "the region begins at {found}, inside another that ends at {expected}",
        "IDV: every region is of one kind, so no byte belongs to two";
    R_SHARED = "R.shared", Lint, Silent,
        "the region is the same range of bytes as another",
        "IDV does not forbid it, and the loader reads it; no writer does it";
    R_GAP = "R.gap", Lint, Silent,
        "{found} bytes belong to nothing",
        "IDV finds regions by offset; every writer leaves no gap";

    B_NONE_LEN = "B.none.len", Fatal, Stated,
        "block {part} is not compressed, yet its lengths differ: {expected} stored, {found} uncompressed",
        "IDV, lookup table format: uncompressed length, the size if the block were decompressed";
    B_DECOMP_LEN = "B.decomp.len", Fatal, Stated,
        "the block decompresses to {found} bytes or breaks off there, and {expected} are recorded",
        "IDV, lookup table format: uncompressed length, the size if the block were decompressed";
    B_DEFLATE = "B.deflate", Fatal, Stated,
        "the compressed block is malformed after {found} bytes of output",
        "IDV, compression kind: 1 is deflate (RFC 1951), 2 is zlib (RFC 1950)";
    B_DEFLATE_END = "B.deflate.end", Violation, Implied,
        "all {found} bytes are there, but the compressed block has no end",
        "IDV, compression kind: a deflate stream ends with its final block (RFC 1951)";
    B_DEFLATE_TRAIL = "B.deflate.trail", Violation, Implied,
        "bytes follow the end of the compressed block",
        "IDV, lookup table format: block length, its size in bytes in the file";
    B_SHORT = "B.short", Fatal, Stated,
        "the payload has {found} bytes, and its rows take {expected}",
        "IDV, block format: the bytes are stored as the codec describes";
    B_STRAY = "B.stray", Violation, Implied,
        "the payload has {found} bytes, and its rows take {expected}",
        "IDV, block format: the bytes are stored as the codec describes, and nothing else";
    B_BOOL_PAD = "B.bool.pad", Violation, Implied,
        "bits after the last truth value are not zero, at byte {found} of the payload",
        "Boolean, DvBool: the last byte or word is filled up with zeros";
    B_DVBOOL_3 = "B.dvbool.3", Fatal, Implied,
        "a truth value is 11 in binary, at byte {found} of the payload",
        "DvBool: 00 is false, 01 true, 10 missing";
    B_KEY_RANGE = "B.key.range", Lint, Silent,
        "a key is beyond its cardinality of {expected}, at byte {found} of the payload",
        "Key, Key2: values are 1 to the cardinality; neither writer nor loader checks keys against it",
        why "the writer stores such keys";
    B_DT_RANGE = "B.dt.range", Violation, Implied,
        "ticks are not a moment of the years 1 to 9999, at byte {found} of the payload",
        "DateTime: ticks of 100 ns since 0001-01-01, up to the end of the year 9999";
    B_DTO_OFFSET = "B.dto.offset", Violation, Implied,
        "an offset exceeds {expected} minutes, at byte {found} of the payload",
        "DateTimeOffset: offsets in minutes, of 14 hours at most";
    B_DTO_RANGE = "B.dto.range", Violation, Implied,
        "ticks, or ticks minus their offset, are not a moment of the years 1 to 9999, at byte {found} of the payload",
        "DateTimeOffset: local and universal time are ticks of 100 ns since 0001-01-01";
    B_TEXT_COUNT = "B.text.count", Fatal, Implied,
        "the number of texts is not the {expected} of the block, at byte {found} of the payload",
        "TextSpan: the entry count, one for each value";
    B_TEXT_ORDER = "B.text.order", Fatal, Implied,
        "a boundary is below the previous one, {expected}, at byte {found} of the payload",
        "TextSpan: boundaries do not decrease";
    B_TEXT_NA = "B.text.na", Fatal, Implied,
        "a missing text does not end where it begins, at {expected}, at byte {found} of the payload",
        "TextSpan: a missing text is empty";
    B_TEXT_TOTAL = "B.text.total", Fatal, Implied,
        "the texts do not end where their string does, at unit {expected}, at byte {found} of the payload",
        "TextSpan: the last boundary is the length of the joined string in UTF-16 units";
    B_TEXT_UTF8 = "B.text.utf8", Fatal, Stated,
        "the joined string is not UTF-8, or its length malformed, at byte {found} of the payload",
        "IDV, general data format: strings are an LEB128 length and UTF-8 bytes";
    B_TEXT_LEB = "B.text.leb", Lint, Silent,
        "the length of the joined string takes more bytes than it needs, which is {expected}, at byte {found} of the payload",
        "IDV, general data format: an LEB128 number ends with the first byte below 128; every writer takes as few as it can",
        why "the document says where a number ends but not that it must be short; the loader reads it, and no writer emits it";
    B_VEC_COUNT = "B.vec.count", Fatal, Implied,
        "the number of vectors is not the {expected} of the block",
        "VBuffer: the vector count, one for each value";
    B_VEC_SIZE = "B.vec.size", Fatal, Implied,
        "the size word is negative, or not the vectors' size of {expected}",
        "VBuffer: the size of all vectors, or 0 where lengths follow";
    B_VEC_LEN = "B.vec.len", Fatal, Implied,
        "the length of a vector is negative, at byte {found} of the payload",
        "VBuffer: lengths are i32 and not negative";
    B_VEC_MULTIPLE = "B.vec.multiple", Lint, Silent,
        "the length of a vector is not a multiple of {expected}, at byte {found} of the payload",
        "VBuffer: dimensions but one are known; the loader does not compare",
        why "no reader compares lengths with dims";
    B_VEC_DENSE = "B.vec.dense", Fatal, Implied,
        "the value count of a vector is negative and not -1, at byte {found} of the payload",
        "VBuffer: a value count is -1 where the vector is dense";
    B_VEC_SPARSECOUNT = "B.vec.sparsecount", Fatal, Implied,
        "a sparse vector of length {expected} has that many values or more, at byte {found} of the payload",
        "VBuffer: the value count of a sparse vector is below its length";
    B_VEC_TOTAL = "B.vec.total", Fatal, Implied,
        "the block has more than {expected} values, at byte {found} of the payload",
        "VBuffer: the values of a block are counted as i32";
    B_VEC_NI = "B.vec.ni", Fatal, Implied,
        "the index count is negative, at byte {found} of the payload",
        "VBuffer: the index count is an i32 and not negative";
    B_VEC_INDICES = "B.vec.indices", Fatal, Implied,
        "the index count is not the {expected} of the sparse vectors, at byte {found} of the payload",
        "VBuffer: the index count is the sum of the value counts of sparse vectors";
    B_VEC_INDEXRANGE = "B.vec.indexrange", Fatal, Implied,
        "an index is negative or not below {expected}, the vector's length, at byte {found} of the payload",
        "VBuffer: indices are below the length of their vector";
    B_VEC_INDEXORDER = "B.vec.indexorder", Fatal, Implied,
        "an index is below {expected}, so indices do not ascend, at byte {found} of the payload",
        "VBuffer: the indices of a vector strictly ascend";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Attribute) => M_KIND_DUP,
        Fault::Overlap => R_OVERLAP,
        Fault::Alias => R_SHARED,
        Fault::Gap => R_GAP,
        _ => return None,
    })
}
