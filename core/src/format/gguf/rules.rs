//! The rules for GGUF: ggml's `gguf.md`, and the requirements of ggml's own reader.

use crate::format::{Fault, Format};
use crate::rule::{EntryKind, Rule, rules};

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
        "v3 introduced big-endian files; no writer of version 2 makes them",
        why "the specification allows it and no published model has it";
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
        "File Structure: a key is a hierarchical key of segments; ggml refuses an empty one",
        why "ggml refuses it";
    KEY_LENGTH = "KEY-LENGTH", Fatal, Stated,
        "the key has {found} bytes; {expected} are allowed",
        "File Structure: a key must be at most 2^16-1 bytes long";
    KEY_ASCII = "KEY-ASCII", Violation, Stated,
        "the key has the byte {found:#x}, which is not ASCII",
        "File Structure: a key must be a valid ASCII string";
    KEY_FORM = "KEY-FORM", Violation, Stated,
        "the key is not made of lower-case letters, digits and underscores, in segments joined by dots",
        "File Structure: each segment is lower_snake_case and separated by a dot (ggml's own names of architectures have hyphens, which pass)",
        why "the specification calls keys outside lower-case segments invalid; hyphens pass, because ggml's own architecture names have them";
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
        "arrays may be nested, and gguf-py writes them so; ggml refuses such files",
        why "the specification allows it, no model has it, and ggml refuses it";
    ARRAY_DEPTH = "ARRAY-DEPTH", Unchecked, Silent,
        "arrays nest deeper than {expected} levels, and what follows was not checked",
        "a limit of this reader; ggml refuses arrays that nest at all",
        why "a limit of this reader; the data after the array cannot be found";
    VALUE_BOOL = "VALUE-BOOL", Violation, Stated,
        "a Boolean is {found}, neither 0 nor 1",
        "File Structure: 0 is false and 1 is true, anything else is invalid";
    TEXT_UTF8 = "TEXT-UTF8", Violation, Stated,
        "a string has the byte {found:#x}, which is not valid UTF-8 here",
        "File Structure: the value is a UTF-8 non-null-terminated string";
    ALIGNMENT_TYPE = "ALIGNMENT-TYPE", Fatal, Stated,
        "general.alignment is of type {found:t}, and must be of type {expected:t}",
        "Standardized key-value pairs: general.alignment: uint32";
    ALIGNMENT_VALUE = "ALIGNMENT-VALUE", Fatal, Implied,
        "general.alignment is {found}, which is neither a multiple of 8 nor a power of two",
        "Standardized key-value pairs: general.alignment must be a multiple of 8; ggml takes powers of two only",
        why "neither a multiple of 8 nor a power of two: nothing defines where the data lies";
    ALIGNMENT_POWER = "ALIGNMENT-POWER", Violation, Silent,
        "general.alignment is {found}, which is not a power of two, so ggml and gguf-py refuse the file",
        "align_offset is defined for any multiple of 8; ggml and gguf-py (0.19) take powers of two only",
        why "no reader in use opens such a file";
    ALIGNMENT_MULTIPLE = "ALIGNMENT-MULTIPLE", Violation, Stated,
        "general.alignment is {found}, which is not a multiple of 8",
        "Standardized key-value pairs: general.alignment must be a multiple of 8";
    ALIGNMENT_LIMIT = "ALIGNMENT-LIMIT", Lint, Silent,
        "general.alignment is {found}; writers use {expected} at most",
        "allowed, and 32-bit readers wrap when they round up to such multiples",
        why "the specification allows it, but no writer exceeds 2^20 and 32-bit readers wrap";
    ALIGNMENT_TWICE = "ALIGNMENT-TWICE", Fatal, Silent,
        "general.alignment occurs twice",
        "readers that take different ones read different data",
        why "readers that pick different values read different data";
    NAME_LENGTH = "NAME-LENGTH", Violation, Stated,
        "the name has {found} bytes; {expected} are allowed",
        "File Structure: the name of a tensor must be at most 64 bytes long";
    NAME_LIMIT = "NAME-LIMIT", Fatal, Stated,
        "the name has {found} bytes; this reader accepts {expected}",
        "File Structure: the name of a tensor must be at most 64 bytes long",
        why "a limit of this reader, far above that of the specification";
    NAME_64 = "NAME-64", Lint, Silent,
        "the name has 64 bytes, one more than ggml has room for",
        "64 bytes are allowed; GGML_MAX_NAME counts the closing zero",
        why "the specification allows 64 bytes and ggml has room for 63";
    NAME_UTF8 = "NAME-UTF8", Violation, Stated,
        "the name is not UTF-8",
        "File Structure: the name is a standard GGUF string, which is UTF-8";
    NAME_NUL = "NAME-NUL", Violation, Silent,
        "the name contains a zero byte, which ends it in ggml",
        "ggml keeps names as C strings: what follows the zero is lost, and names that differ only there are equal",
        why "ggml keeps names as C strings, so it reads another name than a reader that uses the length";
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
    EXTENT_ZERO = "EXTENT-ZERO", Violation, Silent,
        "a dim is 0",
        "the specification is silent, and no model has empty tensors; ggml divided by dims until summer 2026",
        why "until summer 2026 ggml, and programs built on it, divided by dims";
    SHAPE_OVERFLOW = "SHAPE-OVERFLOW", Fatal, Implied,
        "the number of elements, or of their bytes, exceeds 63 bits",
        "the size of a tensor follows from its shape and type; ggml refuses sizes that it cannot represent",
        why "dims are multiplied from the innermost, as in ggml: dims after a 0 do not matter";
    DTYPE_UNKNOWN = "DTYPE-UNKNOWN", Unchecked, Implied,
        "the element type is {found}, newer than {expected}, the newest known here, so the size was not verified",
        "File Structure: ggml_type, to which every few months of ggml add",
        why "ggml adds types every few months; the tensor is listed as unsupported, with the bytes up to the data of the next tensor";
    DTYPE_REMOVED = "DTYPE-REMOVED", Violation, Stated,
        "the element type {found} was removed from ggml or never existed, so no reader reads it",
        "File Structure: ggml_type; the numbers 4, 5, 31 to 33 and 36 to 38 were removed, and none is negative",
        why "no current or future ggml reads the type";
    BLOCK_MULTIPLE = "BLOCK-MULTIPLE", Fatal, Implied,
        "a row has {found} elements, which is not a multiple of the block size, {expected}",
        "rows consist of whole blocks; ggml refuses others";
    OFFSET_ALIGN = "OFFSET-ALIGN", Violation, Stated,
        "the offset {found} is not a multiple of the alignment, {expected}",
        "File Structure: the offset must be a multiple of ALIGNMENT";
    OFFSET_ORDER = "OFFSET-ORDER", Violation, Silent,
        "the offset is {found}; ggml expects the data at {expected}, right after that of the tensors before it",
        "the reference reader accepts data in the order of the entries only, without gaps",
        why "ggml accepts data only in the order of the entries and without gaps, though the specification requires only aligned offsets; the data can be read";
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
        "unused bytes hide things and harm no reader that takes offsets as they are",
        why "bytes after the padding can hide content but harm no reader";
    TRAILING = "TRAILING", Lint, Silent,
        "{found} bytes after the last tensor belong to nothing",
        "no reader looks there",
        why "bytes after the padding can hide content but harm no reader";
    PADDING = "PADDING", Violation, Stated,
        "padding has the byte {found:#x} instead of 0",
        "File Structure: where required, the file is padded with 0x00 bytes",
        why "the specification requires zeros up to the next multiple of the alignment";

    // Requirements of model loaders beyond the container (`keys`).
    KEYS_TYPE = "KEYS-TYPE", Lint, Silent,
        "the value or its items are of type {found:t}; readers take type {expected:t}",
        "llama.cpp compares types exactly and refuses others; gguf.md gives some keys 64 bits that no reader takes",
        why "llama.cpp compares types exactly and refuses others with a message";
    KEYS_ARRAY = "KEYS-ARRAY", Violation, Silent,
        "the value is of type {found:t}; readers take type {expected:t}",
        "gguf.md, Tokenizer: these keys are arrays; readers that do not check crash or read out of bounds",
        why "llama.cpp before August 2026 read scores, token types and suppressed tokens as four bytes an item whatever their type; scores of `i32` are accepted";
    KEYS_TEXTS = "KEYS-TEXTS", Violation, Silent,
        "the items are of type {found:t}; readers take type {expected:t}",
        "gguf.md, Tokenizer: tokens and merges are array[string]; readers that take numbers for strings follow pointers out of bounds",
        why "llama.cpp before August 2026 read scores, token types and suppressed tokens as four bytes an item whatever their type; scores of `i32` are accepted";
    KEYS_ITEMS = "KEYS-ITEMS", Violation, Silent,
        "the items are of type {found:t}; readers step through them as type {expected:t}, whose size differs",
        "gguf.md, Tokenizer: scores are float32 and token types int32; readers that do not check the type read past the end",
        why "llama.cpp before August 2026 read scores, token types and suppressed tokens as four bytes an item whatever their type; scores of `i32` are accepted";
    KEYS_LENGTH = "KEYS-LENGTH", Violation, Stated,
        "the list has {found} items, and the vocabulary {expected} tokens",
        "gguf.md, Tokenizer: if present, it must have the same length and index as tokens; readers that go by the number of tokens read past the end of a shorter one",
        why "a loader reads past the end of the shorter list";
    KEYS_TOKEN_TYPE = "KEYS-TOKEN-TYPE", Lint, Silent,
        "a token is of type {found:i32}; the highest is {expected}",
        "gguf.md, Tokenizer: 1 is normal, 6 is byte; llama.cpp reads other numbers as 0, undefined",
        why "readers treat numbers above 6 as 0";
    KEYS_TOKEN_ID = "KEYS-TOKEN-ID", Violation, Silent,
        "the id is {found}, and the vocabulary has {expected} tokens",
        "ids are positions in the list of tokens; readers that do not check them read past its end",
        why "mistral.rs, and llama.cpp of 2023, read beyond the list; later llama.cpp warns and takes its default";
    KEYS_TOKEN_NONE = "KEYS-TOKEN-NONE", Lint, Silent,
        "the id is -1 or exceeds 32 bits",
        "a converter of ggml stores -1 for an id that does not exist; readers refuse it or use their default",
        why "a converter of llama.cpp stores -1 for ids that do not exist, so files in use contain it";
    KEYS_TOKEN_DEFAULT = "KEYS-TOKEN-DEFAULT", Violation, Silent,
        "the vocabulary has {found} tokens, and readers default to id {expected}, which the file does not override",
        "llama.cpp has default ids for each tokenizer; before June 2025 it read past the end of smaller vocabularies",
        why "for an id that the file lacks, llama.cpp takes a default that may lie beyond the vocabulary (GHSA-g4cc-763q-h9h6); checked for SentencePiece, T5 and PLaMo-2";
    KEYS_BYTE_TOKEN = "KEYS-BYTE-TOKEN", Violation, Silent,
        "token {expected} stands for a byte, and its text is not one of <0x00> to <0xFF>",
        "readers parse two digits of its text without checking them; a negative number writes out of bounds",
        why "readers of SentencePiece and PLaMo-2 take digits from the text of a byte token; PLaMo-2 wrote before its array for `<0x-1>`";
    KEYS_CHARSMAP = "KEYS-CHARSMAP", Violation, Silent,
        "the map of characters has {found} bytes; it begins with a length of {expected}",
        "readers that do not check the size read past the end",
        why "llama.cpp before July 2026 read a length of four bytes from shorter maps; an empty map counts as none";
    KEYS_BLOCK_TYPE = "KEYS-BLOCK-TYPE", Violation, Silent,
        "the number of blocks is of type {found:t}, which is no integer; readers take type {expected:t}",
        "gguf.md, LLM: block_count is an unsigned integer; readers that replace other types by 0 divide by it",
        why "ollama crashes on another type (CVE-2024-8063); integers of other widths are KEYS-TYPE";
    KEYS_BLOCK_COUNT = "KEYS-BLOCK-COUNT", Violation, Silent,
        "the number of blocks is {found}; readers have room for 1 to {expected}",
        "llama.cpp has arrays of 512 layers: it writes past their end or aborts, and aborts at 0",
        why "0 blocks and more than 512 crash llama.cpp, and more than 512 wrote out of bounds before July 2026";
    KEYS_HEAD_COUNT = "KEYS-HEAD-COUNT", Violation, Silent,
        "the number of attention heads is 0, in an architecture whose every layer has some",
        "readers divide the embedding's length by it",
        why "loaders divide by it; checked for architectures with attention in every layer, because Mamba, RWKV and hybrids store 0";
    KEYS_HEADS = "KEYS-HEADS", Violation, Silent,
        "{expected} attention heads are not a multiple of {found} heads of keys and values",
        "gguf.md, LLM: head_count_kv is for grouped-query attention; ggml aborts where groups differ",
        why "loaders divide by it; checked for architectures with attention in every layer, because Mamba, RWKV and hybrids store 0";
    KEYS_EMBEDDING = "KEYS-EMBEDDING", Lint, Silent,
        "embedding_length is {found}, which is not a multiple of the {expected} heads",
        "without attention.key_length readers divide; the shapes then differ from what they compute, and they refuse the file",
        why "every release of llama.cpp refuses it with a message";
    KEYS_LAYERS = "KEYS-LAYERS", Lint, Silent,
        "the list has {found} items, and there are {expected} blocks",
        "a list has one item per layer; llama.cpp refuses others",
        why "every release of llama.cpp refuses it with a message";
    KEYS_ZERO = "KEYS-ZERO", Lint, Silent,
        "the length is 0",
        "no model has a context or an embedding of length 0; readers refuse it or use their default",
        why "every release of llama.cpp refuses it with a message";
    KEYS_EXPERTS = "KEYS-EXPERTS", Violation, Silent,
        "{found} experts are used of {expected}",
        "gguf.md, LLM: expert_used_count of expert_count; llama.cpp aborts if none are used or more than there are",
        why "llama.cpp asserts it, except for Hunyuan with one expert";
    KEYS_DIVISOR = "KEYS-DIVISOR", Violation, Silent,
        "the number is 0, and readers divide by it",
        "clip.cpp divides images into patches of this size, and patches into groups",
        why "`clip.cpp` before August 2026 divides by it";
    KEYS_ROWS = "KEYS-ROWS", Lint, Silent,
        "the embedding has {found} rows, and the vocabulary {expected} tokens",
        "token_embd.weight has one row per token; llama.cpp refuses others",
        why "every release of llama.cpp refuses it with a message";
    KEYS_COLUMNS = "KEYS-COLUMNS", Lint, Silent,
        "the embedding has {found} columns, and embedding_length is {expected}",
        "token_embd.weight has embedding_length columns; llama.cpp refuses others",
        why "every release of llama.cpp refuses it with a message";
    KEYS_TEMPLATE = "KEYS-TEMPLATE", Lint, Silent,
        "a chat template of {found} bytes: code that runs in the reader's template engine",
        "gguf.md, Chat template: a Jinja template; what it does was not checked",
        why "a template is code, and what it does is not checked; every chat model has one";
    KEYS_TEMPLATE_ESCAPE = "KEYS-TEMPLATE-ESCAPE", Violation, Silent,
        "the chat template uses internals of Python, through which it can run any program",
        "readers without a sandbox run it, and no template of a model needs them; names that a template computes are not found",
        why "no model needs Python's internals in its template, and attacks do (CVE-2024-34359, CVE-2026-5760)";
    KEYS_SPLIT_TYPE = "KEYS-SPLIT-TYPE", Violation, Silent,
        "split.no is of type {found:t}; readers take type {expected:t}",
        "llama.cpp reads it as an unsigned 16-bit number, and aborts if a later part has another type",
        why "the file contradicts itself, so no reader can assemble the set";
    KEYS_SPLIT_NO = "KEYS-SPLIT-NO", Violation, Silent,
        "this is part {found} of {expected}, counted from 0",
        "the number of a part is below their count",
        why "the file contradicts itself, so no reader can assemble the set";
    KEYS_SPLIT_TENSORS = "KEYS-SPLIT-TENSORS", Violation, Silent,
        "split.tensors.count is {found}, and this part alone has {expected} tensors",
        "split.tensors.count is that of all parts",
        why "the file contradicts itself, so no reader can assemble the set";
    KEYS_SPLIT_KEYS = "KEYS-SPLIT-KEYS", Violation, Silent,
        "split.count is {found}, and split.no or split.tensors.count is missing or out of range",
        "every part has its number, and the first also the number of all tensors; llama.cpp refuses a set without them",
        why "llama.cpp refuses a part without its number, and a first part without the number of tensors";
    SPLIT_MISSING = "KEYS-SPLIT-MISSING", Violation, Silent,
        "part {found} of {expected} is missing",
        "readers open every part, in the folder of the first",
        why "the set is not what its first part records";
    SPLIT_OTHER = "KEYS-SPLIT-OTHER", Violation, Silent,
        "split.no is {found}; by its name it should be {expected}",
        "split.no counts from 0 what the name counts from 1; readers compare both",
        why "the set is not what its first part records";
    SPLIT_COUNT = "KEYS-SPLIT-COUNT", Violation, Silent,
        "split.count is {found}; by its name it should be {expected}",
        "split.count is the number that every name of the set ends with",
        why "the set is not what its first part records";
    SPLIT_INVALID = "KEYS-SPLIT-INVALID", Violation, Silent,
        "part {found} of {expected} is invalid, belongs to another set, or is a link that leads elsewhere",
        "a set is as sound as each of its parts, and each states its number and their count",
        why "the set is not what its first part records";
    SPLIT_TWICE = "KEYS-SPLIT-TWICE", Violation, Silent,
        "part {found} has a tensor that an earlier part also has",
        "names of tensors are those of the whole set; readers refuse duplicates",
        why "the set is not what its first part records";
    SPLIT_TOTAL = "KEYS-SPLIT-TOTAL", Violation, Silent,
        "all parts have {found} tensors together; split.tensors.count is {expected}",
        "readers compare both, and refuse the set",
        why "the set is not what its first part records";
    SPLIT_JOINED = "KEYS-SPLIT-JOINED", Fatal, Silent,
        "another GGUF file begins after the last tensor: parts of a split model were joined as bytes",
        "llama.cpp reads each part as a file, and refuses a part that is not alone in its file",
        why "readers see the tensors of the first part only; `gguf-split --merge` joins parts";
}

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Tensor) => NAME_DUPLICATE,
        Fault::Duplicate(EntryKind::Metadata) => KEY_DUPLICATE,
        Fault::Overlap => OVERLAP,
        Fault::Alias => ALIAS,
        Fault::Gap => GAP,
        Fault::Trailing => TRAILING,
        Fault::Padding => PADDING,
        _ => return None,
    })
}
