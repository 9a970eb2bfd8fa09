//! The rules for the index of a sharded checkpoint: `transformers`, "Sharding
//! checkpoints", and the output of `save_pretrained`.

use crate::format::{Fault, Format, safetensors::rules as json};
use crate::rule::{EntryKind, Rule, rules};

rules! { Format::Shards.code();
    INDEX_ROOT = "INDEX-ROOT", Fatal, Implied,
        "the index does not begin with a brace",
        "Sharding checkpoints: the index is a JSON file with two keys, metadata and weight_map";
    JSON_SYNTAX = "JSON-SYNTAX", Fatal, Implied,
        "this byte is not valid JSON here",
        "Sharding checkpoints: the index is a JSON file; RFC 8259";
    JSON_TRUNCATED = "JSON-TRUNCATED", Fatal, Implied,
        "the file ends inside its JSON",
        "Sharding checkpoints: the index is a JSON file; RFC 8259";
    JSON_DEPTH = "JSON-DEPTH", Fatal, Silent,
        "values nest deeper than {expected} levels",
        "a limit of this reader; real indices nest two levels";
    JSON_ESCAPE = "JSON-ESCAPE", Fatal, Implied,
        "a string has an escape that is no character",
        "Sharding checkpoints: the index is a JSON file; RFC 8259 §7";
    JSON_CONTROL = "JSON-CONTROL", Violation, Implied,
        "a string has the control character {found:#x}, which must be escaped",
        "Sharding checkpoints: the index is a JSON file; RFC 8259 §7";
    JSON_UTF8 = "JSON-UTF8", Violation, Implied,
        "a string is not UTF-8",
        "RFC 8259 §8.1: JSON text between systems must be UTF-8";
    INDEX_MAP = "INDEX-MAP", Fatal, Stated,
        "weight_map is missing or not an object",
        "Sharding checkpoints: weight_map maps names of parameters to files";
    INDEX_MAP_TWICE = "INDEX-MAP-TWICE", Violation, Implied,
        "weight_map occurs twice",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    METADATA_MISSING = "METADATA-MISSING", Lint, Silent,
        "the index has no metadata",
        "Sharding checkpoints: the index has two keys, metadata and weight_map; transformers refuses one without metadata, other readers look only at weight_map",
        why "`transformers` refuses such an index; readers that use only `weight_map` load it";
    METADATA_TYPE = "METADATA-TYPE", Violation, Implied,
        "metadata is not an object",
        "Sharding checkpoints: metadata has the total size of the model; transformers refuses other values",
        why "no writer stores anything but an object";
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
        "the tensor was listed before, by entry {expected}",
        "RFC 8259 §4: names within an object should be unique; readers keep the last";
    SHARD_TYPE = "SHARD-TYPE", Fatal, Stated,
        "the file name of a tensor is not a string",
        "Sharding checkpoints: weight_map maps names of parameters to files";
    SHARD_PATH = "SHARD-PATH", Fatal, Silent,
        "the shard is not a file beside the index: its name is a path, or a link that leads elsewhere",
        "writers name files beside the index; readers join the name to the folder as it is";
    TOTAL_TYPE = "TOTAL-TYPE", Lint, Silent,
        "total_size is not a number of bytes",
        "writers store an integer; readers do not look at it";
    SHARD_MISSING = "SHARD-MISSING", Fatal, Implied,
        "the shard is missing, or is not a file",
        "Sharding checkpoints: the parameters are in the files that weight_map names";
    SHARD_INVALID = "SHARD-INVALID", Fatal, Implied,
        "the shard is not a valid file of safetensors or PyTorch; check it to see why",
        "Sharding checkpoints: the parameters are in files of safetensors or PyTorch that weight_map names";
    TENSOR_MISSING = "TENSOR-MISSING", Fatal, Implied,
        "the tensor is missing from the shard that is listed for it",
        "Sharding checkpoints: weight_map maps names of parameters to the files they are stored in";
    TENSOR_ELSEWHERE = "TENSOR-ELSEWHERE", Violation, Implied,
        "shard {found}, in the order of the index, has the tensor too, or instead of the listed one",
        "Sharding checkpoints: each parameter is stored in one file";
    TENSOR_UNLISTED = "TENSOR-UNLISTED", Violation, Implied,
        "shard {found}, in the order of the index, has a tensor that is not listed",
        "Sharding checkpoints: weight_map says which file each parameter is stored in";
    TOTAL_SIZE = "TOTAL-SIZE", Violation, Stated,
        "total_size is {expected}, and the tensors take {found} bytes",
        "Sharding checkpoints: metadata has the total size of the model";
}

/// Maps a rule for the safetensors header to the corresponding rule here.
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

/// The rule for a fault that a shared check finds.
pub(crate) const fn shared(fault: Fault) -> Option<Rule> {
    Some(match fault {
        Fault::Duplicate(EntryKind::Metadata) => TENSOR_DUPLICATE,
        _ => return None,
    })
}
