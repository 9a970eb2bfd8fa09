//! The rules of the index of a checkpoint in shards: `transformers`, "Sharding
//! checkpoints", and what `save_pretrained` writes.

use crate::format::{Format, safetensors::rules as json};
use crate::rule::{Rule, rules};

rules! { Format::Shards.code();
    INDEX_ROOT = "INDEX-ROOT", Fatal, Implied,
        "the index does not begin with a brace",
        "Sharding checkpoints: the index is a JSON file with two keys, metadata and weight_map";
    JSON_SYNTAX = "JSON-SYNTAX", Fatal, Implied,
        "this byte cannot stand here in JSON",
        "Sharding checkpoints: the index is a JSON file; RFC 8259";
    JSON_TRUNCATED = "JSON-TRUNCATED", Fatal, Implied,
        "the file ends within its JSON",
        "Sharding checkpoints: the index is a JSON file; RFC 8259";
    JSON_DEPTH = "JSON-DEPTH", Fatal, Silent,
        "values nest deeper than {expected} levels",
        "a bound of this reader; real indices nest two levels";
    JSON_ESCAPE = "JSON-ESCAPE", Fatal, Implied,
        "a string has an escape that stands for no character",
        "Sharding checkpoints: the index is a JSON file; RFC 8259 §7";
    JSON_CONTROL = "JSON-CONTROL", Violation, Implied,
        "a string has the control character {found:#x}, which must be escaped",
        "Sharding checkpoints: the index is a JSON file; RFC 8259 §7";
    JSON_UTF8 = "JSON-UTF8", Violation, Implied,
        "a string is not UTF-8",
        "RFC 8259 §8.1: JSON text between systems must be UTF-8";
    INDEX_MAP = "INDEX-MAP", Fatal, Stated,
        "there is no weight_map that is an object",
        "Sharding checkpoints: weight_map maps names of parameters to files";
    INDEX_MAP_TWICE = "INDEX-MAP-TWICE", Violation, Implied,
        "weight_map occurs twice",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    METADATA_TWICE = "METADATA-TWICE", Violation, Implied,
        "metadata occurs twice",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    TOTAL_TWICE = "TOTAL-TWICE", Violation, Implied,
        "metadata has total_size twice",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    INDEX_TRAILING = "INDEX-TRAILING", Violation, Implied,
        "something other than white space follows the JSON",
        "RFC 8259 §2: a JSON text is one value";
    TENSOR_DUPLICATE = "TENSOR-DUPLICATE", Violation, Implied,
        "a tensor is listed twice",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    SHARD_TYPE = "SHARD-TYPE", Fatal, Stated,
        "the file of a tensor is no text",
        "Sharding checkpoints: weight_map maps names of parameters to files";
    SHARD_PATH = "SHARD-PATH", Fatal, Silent,
        "the name of a shard is no plain name of a file beside the index",
        "writers name files beside the index; readers join the name to the folder as it is";
    TOTAL_TYPE = "TOTAL-TYPE", Lint, Silent,
        "total_size is no number of bytes",
        "writers store an integer; readers do not look at it";
    SHARD_MISSING = "SHARD-MISSING", Fatal, Implied,
        "the file of listed tensors is not there, or is no file",
        "Sharding checkpoints: the parameters are in the files that weight_map names";
    SHARD_INVALID = "SHARD-INVALID", Fatal, Implied,
        "the file of listed tensors is no valid safetensors file; a check of it says why",
        "Sharding checkpoints: the parameters are in safetensors files that weight_map names";
    TENSOR_MISSING = "TENSOR-MISSING", Fatal, Implied,
        "the tensor is not in the file that is listed for it",
        "Sharding checkpoints: weight_map maps names of parameters to the files they are stored in";
    TENSOR_ELSEWHERE = "TENSOR-ELSEWHERE", Violation, Implied,
        "file {found}, as they are first named, has the tensor too or instead of the one listed",
        "Sharding checkpoints: each parameter is stored in one file";
    TENSOR_UNLISTED = "TENSOR-UNLISTED", Violation, Implied,
        "file {found}, as they are first named, has a tensor that is not listed",
        "Sharding checkpoints: weight_map tells which file each parameter is stored in";
    TOTAL_SIZE = "TOTAL-SIZE", Violation, Stated,
        "total_size is {expected}, and the tensors take {found} bytes",
        "Sharding checkpoints: metadata has the total size of the model";
}

/// The rule that stands here for one of the header of safetensors.
pub(super) fn own(rule: Rule) -> Rule {
    match rule {
        json::JSON_SYNTAX => JSON_SYNTAX,
        json::JSON_TRUNCATED => JSON_TRUNCATED,
        json::JSON_DEPTH => JSON_DEPTH,
        json::JSON_ESCAPE => JSON_ESCAPE,
        json::JSON_CONTROL => JSON_CONTROL,
        json::HEADER_UTF8 => JSON_UTF8,
        own => own,
    }
}
