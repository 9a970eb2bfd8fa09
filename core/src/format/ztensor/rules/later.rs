//! The rules that only generations 1.0 to 2 have.

use super::first;
use crate::format::Format;
use crate::rule::rules;

rules! { Format::ZTensor.code(), after first::RULES.len();
    // The container of generation 2.
    FOOTER_MAGIC = "FOOTER-MAGIC", Fatal, Stated,
        "the file does not end with the 8 bytes that it begins with",
        "2, §2.3: the footer ends with the magic of §2.2";
    FOOTER_VERSION = "FOOTER-VERSION", Fatal, Stated,
        "the footer has the version {found}, and generation 2 has the version 2",
        "2, §2.3: this document defines version 2, which decides the form of the manifest";
    FOOTER_SHARD = "FOOTER-SHARD", Fatal, Stated,
        "the footer says that the manifest takes 0 bytes, and gives it an offset or a hash",
        "2, §7.2: offset, length and hash of a data shard are 0";
    DATA_SHARD = "DATA-SHARD", Unchecked, Stated,
        "the file is a data shard: another file describes its bytes, so they are not checked",
        "2, §7.2: a data shard has no manifest; all meaning lies in the root manifest";
    MANIFEST_SIZE = "MANIFEST-SIZE", Fatal, Stated,
        "the manifest takes {found} bytes, more than {expected}",
        "1.1, IV.1 and 2, §3.1: readers refuse a manifest above 1 GiB";
    MANIFEST_PLACE = "MANIFEST-PLACE", Fatal, Stated,
        "the manifest begins at {found}, which is not a multiple of {expected} after 0",
        "2, §2.4: the manifest is a blob; offsets are multiples of 4096, from 4096 on";
    MANIFEST_BOUNDS = "MANIFEST-BOUNDS", Fatal, Stated,
        "the manifest ends at {found}, after the start of the footer at {expected}",
        "2, §2.4: blobs end before the footer";
    MANIFEST_HASH = "MANIFEST-HASH", Fatal, Stated,
        "the hash of the manifest is {expected:#x} by the footer, and its bytes have {found:#x}",
        "2, §2.3: manifest_hash is the XXH3-64 of the manifest";

    // The manifest.
    MANIFEST_ROOT = "MANIFEST-ROOT", Fatal, Stated,
        "the manifest is not a CBOR map (its first byte is {found:#x})",
        "1.0, §4; 1.1, II; 2, §3.1: the manifest is a CBOR map";
    MANIFEST_OBJECTS = "MANIFEST-OBJECTS", Fatal, Stated,
        "the manifest has no map of objects",
        "1.0, §4: tensors is required; 1.1, II.1 and 2, §3.2: objects is required";
    MANIFEST_VERSION = "MANIFEST-VERSION", Violation, Stated,
        "the manifest has no text \"version\"",
        "1.0, §4 and 1.1, II.1: version is required";
    VERSION_OTHER = "VERSION-OTHER", Lint, Silent,
        "the version is not one of 1.0, 1.1 and 1.2, which the container suggests",
        "1.1, II.1: version is that of the specification; no reader looks at it",
        why "readers go by the magic numbers and ignore the text";
    ATTRIBUTES_MAP = "ATTRIBUTES-MAP", Violation, Stated,
        "\"attributes\" is not a map", "1.1, II.1; 2, §3.1: attributes is a map";
    ATTRIBUTE_KEY = "ATTRIBUTE-KEY", Violation, Stated,
        "the key of an attribute is not text of 1 to 1024 bytes without a zero byte",
        "2, §3.1 and §3.5: keys of attributes are names";

    // The form of CBOR that generation 2 requires.
    FORM_TAG = "FORM-TAG", Violation, Stated,
        "a data item has a tag", "2, §3.1: values have no tags";
    FORM_INDEFINITE = "FORM-INDEFINITE", Violation, Stated,
        "a data item has indefinite length",
        "2, §3.1: Core Deterministic Encoding (RFC 8949 §4.2.1); lengths are definite";
    FORM_SHORTEST = "FORM-SHORTEST", Violation, Stated,
        "a number or a length is not in its shortest form",
        "2, §3.1: Core Deterministic Encoding (RFC 8949 §4.2.1)";
    FORM_FLOAT = "FORM-FLOAT", Violation, Stated,
        "a float is not in the shortest form that keeps its value, or a NaN is not 0x7e00",
        "2, §3.1: readers refuse floats wider than the value requires, and other NaNs";
    FORM_SIMPLE = "FORM-SIMPLE", Violation, Stated,
        "a simple value is not false, true or null",
        "2, §3.1: values are integers, texts, byte strings, booleans, null, floats, arrays and maps";
    FORM_ORDER = "FORM-ORDER", Violation, Stated,
        "a key comes before the one ahead of it in the order of encoded bytes",
        "2, §3.1: keys ascend by their encoded bytes";
    FORM_DUPLICATE = "FORM-DUPLICATE", Fatal, Stated,
        "a key occurs twice in one map", "2, §3.1: readers refuse duplicate keys";
    FORM_DEPTH = "FORM-DEPTH", Violation, Stated,
        "a data item is {found} levels below the root, deeper than {expected}",
        "2, §3.1: nesting is limited to 32 levels from the root of the manifest";

    // Objects.
    OBJECT_NAME = "OBJECT-NAME", Fatal, Stated,
        "the name of an object is not text", "1.1, II.1; 2, §3.5: names are text";
    OBJECT_NAME_FORM = "OBJECT-NAME-FORM", Violation, Stated,
        "a name is empty, longer than 1024 bytes, or contains a zero byte",
        "2, §3.5: names have 1 to 1024 bytes, none of them zero";
    OBJECT_MAP = "OBJECT-MAP", Fatal, Stated,
        "an object is not a map", "1.0, §4; 1.1, II.2; 2, §3.3: an object is a map";
    OBJECT_SHAPE = "OBJECT-SHAPE", Fatal, Stated,
        "the object has no \"shape\" that is an array of unsigned integers",
        "1.0, §4; 1.1, II.2; 2, §3.3: shape is an array of unsigned integers";
    OBJECT_RANK = "OBJECT-RANK", Violation, Stated,
        "the shape has {found} dimensions, more than {expected}", "2, §3.3: the rank is at most 64";
    OBJECT_LAYOUT = "OBJECT-LAYOUT", Fatal, Stated,
        "the object has no text that says its layout",
        "1.0, §4 and 1.1, II.2: format (string); 2, §3.3: layout (string)";
    OBJECT_LAYOUT_UNKNOWN = "OBJECT-LAYOUT-UNKNOWN", Unchecked, Stated,
        "the layout is not known, so how the parts make up the tensor is not checked",
        "2, §5.2: a reader does not interpret an object of unknown layout, and may list its parts";
    OBJECT_GROUPS = "OBJECT-GROUPS", Unchecked, Stated,
        "the elements are quantised in groups in a way that the attributes do not fully say, so whether the codes fit the shape is not checked",
        "1.1, III.4: attributes say how the codes are packed; zt.quant_group/1 of 2";
    GROUP_SIZE = "GROUP-SIZE", Fatal, Implied,
        "a part of the quantised tensor takes {found} bytes where {expected} are due",
        "1.1, III.4: bits and group_size in the attributes; a code per element, a scale and a zero point per group";
    OBJECT_PARTS = "OBJECT-PARTS", Fatal, Stated,
        "the object has no parts: \"components\", or \"parts\" in generation 2, is missing, empty or not a map",
        "1.0, §4; 1.1, II.2; 2, §3.3: one entry per blob; 2: never empty";
    OBJECT_PARTS_MANY = "OBJECT-PARTS-MANY", Unchecked, Silent,
        "the parts are not listed or checked, because the object has more than {expected}, or a name is in pieces",
        "2, §3.3: parts is a map; a limit of this reader (ZTENSOR_PARTS)",
        why "a limit of this reader; the specification sets none, so exceeding it proves nothing";
    PART_MISSING = "PART-MISSING", Fatal, Stated,
        "a part that the layout requires is missing",
        "1.0, §5; 1.1, III; 2, §5.1 and the profile: the parts of each layout";
    PART_SURPLUS = "PART-SURPLUS", Fatal, Stated,
        "the object has a part that its layout does not define",
        "2, §5.1 and the profile: exactly these parts";
    PART_UNUSED = "PART-UNUSED", Lint, Silent,
        "the object has a part that its layout does not define",
        "1.1, III: the parts that a layout requires; others are not mentioned",
        why "no writer does it, and readers ignore the part";

    // Parts.
    PART_NAME = "PART-NAME", Fatal, Stated,
        "the name of a part is not text", "1.1, II.2; 2, §3.3: parts are found by their roles";
    PART_MAP = "PART-MAP", Fatal, Stated,
        "a part is not a map", "1.0, §4; 1.1, II.3; 2, §3.4: a part is a map";
    PART_DTYPE = "PART-DTYPE", Fatal, Stated,
        "the data type {quoted} is not one that the generation defines, or it is missing",
        "1.0, §4; 1.1, II.4; 1.2, §2: 13 types; 2, §4.1: 12 types";
    PART_TYPE = "PART-TYPE", Fatal, Stated,
        "the logical type is not text, or does not go with the data type",
        "1.2, §2 and 2, appendix A: each logical type has its data type";
    PART_TYPE_UNKNOWN = "PART-TYPE-UNKNOWN", Unchecked, Stated,
        "the logical type is not known, so the elements are not checked",
        "1.2, §2: an open set; 2, §4.2: a reader refuses to decode it, and may list it";
    PART_BLOB = "PART-BLOB", Fatal, Stated,
        "the part has no place: \"blob\", or \"offset\" and \"length\" before generation 2, is missing or malformed",
        "1.0, §4 and 1.1, II.3: offset and length; 2, §3.4: blob has exactly two elements";
    PART_ENCODING = "PART-ENCODING", Fatal, Stated,
        "the encoding is not text", "1.1, II.3; 2, §3.4: encoding (string)";
    PART_DECODED = "PART-DECODED", Violation, Stated,
        "the decoded length is missing, stands alone, or is not an unsigned integer",
        "1.2, §1: uncompressed_length is required for zstd; 2, §3.4: decoded_length if and only if encoding";
    PART_DECODED_SIZE = "PART-DECODED-SIZE", Fatal, Stated,
        "the decoded length is {found}; shape and type take {expected} bytes",
        "1.2, §2 and 2, §5.1: the decoded size is that of the elements";
    PART_ELEMENTS = "PART-ELEMENTS", Fatal, Implied,
        "the data takes {found} bytes, which is no whole number of elements of {expected} bits",
        "1.1, II.4; 2, §4.1: the data type gives the width of an element";
    DIGEST_FORM = "DIGEST-FORM", Violation, Stated,
        "the digest is not an algorithm, a colon, and as many lower-case hexadecimal digits as the algorithm has",
        "2, §3.4: \"<algorithm>:<lowercase hex>\"; xxh3 has 64 bits, sha256 has 256";
    DIGEST_MISMATCH = "DIGEST-MISMATCH", Fatal, Stated,
        "the digest has {expected:#x} where that of the decoded bytes has {found:#x}",
        "2, §3.4: digest covers the decoded bytes";
    PAGE_ALIGN = "PAGE-ALIGN", Violation, Stated,
        "the data begins at {found}, which is not a multiple of {expected} after 0",
        "2, §2.4: offsets are multiples of 4096, from 4096 on";
    PAGE_FOOTER = "PAGE-FOOTER", Fatal, Stated,
        "the data ends at {found}, after the start of the footer at {expected}",
        "2, §2.4: blobs end before the footer";
    PAGE_OVERLAP = "PAGE-OVERLAP", Fatal, Stated,
        "the data begins at {found}, inside other data that ends at {expected}",
        "2, §2.4: two blobs are the same or have no byte in common";
    ELEMENT_BOOL = "ELEMENT-BOOL", Violation, Stated,
        "a Boolean byte is {found}", "2, appendix A: bool is 0 or 1";
    ELEMENT_NIBBLE = "ELEMENT-NIBBLE", Violation, Stated,
        "the unused half of the last byte is not zero (the byte is {found:#x})",
        "2, appendix A: the final odd half of f4_e2m1 is zero";

    // Sparse layouts.
    INDEX_TYPE = "INDEX-TYPE", Fatal, Stated,
        "an index part is not of a type that indices have",
        "1.2, §3: u64; zt.sparse_csr/1 and zt.sparse_coo/1: u32 or u64, the same for both index parts";
    INDEX_SIZE = "INDEX-SIZE", Fatal, Stated,
        "an index part takes {found} bytes where {expected} are due",
        "1.1, III.2: indptr has one more than there are rows; III.3: coords has rank times the values";
    VALUES_SIZE = "VALUES-SIZE", Fatal, Stated,
        "the values take {found} bytes where the indices make it {expected}",
        "1.1, III; zt.sparse_csr/1 and zt.sparse_coo/1: one value per index";
    INDEX_ORDER = "INDEX-ORDER", Violation, Stated,
        "a column is {found}, after {expected} in the same row",
        "zt.sparse_csr/1: columns of a row ascend";
    INDEX_TWICE = "INDEX-TWICE", Unchecked, Silent,
        "the coordinates are not in ascending order, or take more than 1 MiB, so whether two are equal was not checked",
        "zt.sparse_coo/1: coordinates are unique",
        why "a limit of this reader (ZTENSOR_COORDINATES), which compares each entry with the one before";
    INDEX_ENCODED = "INDEX-ENCODED", Unchecked, Silent,
        "the indices have more than 64 dimensions, or are not all in this file in a known encoding, so whether they lie within the shape was not checked",
        "1.1, III.2; zt.sparse_csr/1: an entry lies within the shape",
        why "a limit of this reader, which needs a dimension at a time, and all parts with indices";

    // Other files.
    SHARDS_MAP = "SHARDS-MAP", Fatal, Stated,
        "\"shards\" is not a map of maps", "2, §7.1: a map from names to identities";
    SHARD_NAME = "SHARD-NAME", Fatal, Stated,
        "the name of a shard is not 1 to 64 of the characters A-Z, a-z, 0-9, \".\", \"_\" and \"-\", or begins with \".\"",
        "2, §7.1: names of shards cannot be paths";
    SHARD_SIZE = "SHARD-SIZE", Fatal, Stated,
        "a shard has no size of at least 48 bytes", "2, §7.1: every entry has size; §2.1: at least 48 bytes";
    SHARD_DIGEST = "SHARD-DIGEST", Violation, Stated,
        "a shard has no digest of the form \"algorithm:hex\"", "2, §7.1: every entry has digest";
    SHARD_UNKNOWN = "SHARD-UNKNOWN", Fatal, Stated,
        "the part lies in a shard that the manifest does not list",
        "2, §3.4: shard is a key of the table of shards";
    SHARD_BOUNDS = "SHARD-BOUNDS", Fatal, Stated,
        "the data ends at {found}, after the start of the shard's footer at {expected}",
        "2, §3.6: the blob lies within the data of the file it refers to";
    SHARD_OVERLAP = "SHARD-OVERLAP", Fatal, Stated,
        "the data begins at {found} in its shard, inside other data that ends at {expected}",
        "2, §3.6: references into one shard are the same or have no byte in common";
    SHARDS_MANY = "SHARDS-MANY", Unchecked, Silent,
        "more shards are listed than {expected}, so references into them were not checked",
        "2, §3.6: references into shards; a limit of this reader (ZTENSOR_SHARDS)",
        why "a limit of this reader; the specification sets none, so exceeding it proves nothing";
    SHARD_ORDER = "SHARD-ORDER", Unchecked, Silent,
        "data lies before other data in its shard that is listed earlier, so overlap was not checked",
        "2, §3.6: references into one shard are the same or have no byte in common",
        why "a limit of this reader, which compares each reference with the sixteen before it";
    SHARD_ELSEWHERE = "SHARD-ELSEWHERE", Unchecked, Stated,
        "the data lies in another file, so it is not checked",
        "2, §7: a shard is found by size and digest, not by a location";
}
