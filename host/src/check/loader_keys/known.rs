//! The keys that model loaders look for, and how they interpret them.
//!
//! The behaviour of readers is that of llama.cpp's loaders (`llama-vocab.cpp`,
//! `llama-model.cpp`, `llama-model-loader.cpp`, `clip.cpp`), which most programs use.

use super::{Number, Values};
use alloc::vec::Vec;
use weighbridge_core::format::gguf::rules;
use weighbridge_core::format::gguf::value_type::{
    FLOAT32, INT8, INT32, STRING, UINT8, UINT16, UINT32,
};
use weighbridge_core::{DType, Element, Rule};

pub(super) const ARCHITECTURE: &[u8] = b"general.architecture";
const TOKENIZER: &[u8] = b"tokenizer.ggml.";
const TEMPLATE: &[u8] = b"tokenizer.chat_template";
/// The tensor with one row per token.
pub(super) const EMBEDDING: &[u8] = b"token_embd.weight";
/// Maximum length of an architecture or tokenizer name that is read.
pub(super) const LONGEST: u64 = 32;
/// Minimum length of the character map, which begins with its length in 32 bits.
pub(super) const LEAST_CHARSMAP: u64 = 4;

/// Maximum number of layers in ggml's programs.
pub(super) const MOST_BLOCKS: u32 = 512;

/// Keys of token ids, after `tokenizer.ggml.`, in ggml's spelling.
pub(super) const IDS: [&[u8]; 18] = [
    b"bos_token_id",
    b"eos_token_id",
    b"unknown_token_id",
    b"padding_token_id",
    b"seperator_token_id",
    b"eot_token_id",
    b"eom_token_id",
    b"cls_token_id",
    b"mask_token_id",
    b"fim_pre_token_id",
    b"fim_suf_token_id",
    b"fim_mid_token_id",
    b"fim_pad_token_id",
    b"fim_rep_token_id",
    b"fim_sep_token_id",
    b"prefix_token_id",
    b"suffix_token_id",
    b"middle_token_id",
];

/// Architectures with attention heads in every layer, where a head count that is 0 or does
/// not divide is a fault. Others (Mamba, RWKV, hybrids) store 0.
static TRANSFORMERS: [&[u8]; 42] = [
    b"llama",
    b"qwen2",
    b"qwen2moe",
    b"qwen3",
    b"qwen3moe",
    b"gemma",
    b"gemma2",
    b"gemma3",
    b"phi2",
    b"phi3",
    b"starcoder",
    b"starcoder2",
    b"gpt2",
    b"gptneox",
    b"falcon",
    b"bloom",
    b"mpt",
    b"stablelm",
    b"baichuan",
    b"internlm2",
    b"minicpm",
    b"orion",
    b"command-r",
    b"cohere2",
    b"olmo",
    b"olmo2",
    b"olmoe",
    b"granite",
    b"granitemoe",
    b"exaone",
    b"bert",
    b"nomic-bert",
    b"xverse",
    b"refact",
    b"deepseek",
    b"codeshell",
    b"glm4",
    b"chatglm",
    b"dbrx",
    b"grok",
    b"smollm3",
    b"mistral3",
];

/// The file's architecture, whose name is the prefix of its keys. Empty if it is unknown.
#[derive(Debug, Default)]
pub(super) struct Architecture(Vec<u8>);

impl Architecture {
    pub(super) fn new(name: &[u8]) -> Self {
        Architecture(name.to_vec())
    }

    /// Whether all layers are known to have attention heads.
    pub(super) fn is_transformer(&self) -> bool {
        TRANSFORMERS.contains(&self.0.as_slice())
    }

    /// Whether readers ignore the experts if there is at most one.
    pub(super) fn is_hunyuan(&self) -> bool {
        self.0.as_slice().starts_with(b"hunyuan")
    }

    /// The part of `key` after the architecture's name and a dot.
    fn of_key<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        if self.0.is_empty() {
            return None;
        }
        key.strip_prefix(self.0.as_slice())?.strip_prefix(b".")
    }

    /// The meaning of `key` to readers, if it is known.
    pub(super) fn known(&self, key: &[u8]) -> Option<Known> {
        if let Some(rest) = key.strip_prefix(TEMPLATE) {
            return matches!(rest, [] | [b'.', ..]).then_some(Known::Template);
        }
        if let Some(name) = key.strip_prefix(TOKENIZER) {
            return match name {
                b"model" => Some(Known::Model),
                b"tokens" => Some(Known::Array(Array::Tokens)),
                b"merges" => Some(Known::Array(Array::Merges)),
                b"scores" => Some(Known::Array(Array::Scores)),
                b"token_type" => Some(Known::Array(Array::Types)),
                b"suppress_tokens" => Some(Known::Array(Array::Suppress)),
                b"precompiled_charsmap" => Some(Known::Array(Array::Charsmap)),
                name => IDS.contains(&name).then_some(Known::Number(Wanted::PLAIN)),
            };
        }
        let wanted = match key {
            b"split.no" => {
                let other = Some(rules::KEYS_SPLIT_TYPE);
                Wanted { tag: UINT16, other, strict: true, ..Wanted::PLAIN }
            }
            b"split.count" => Wanted { tag: UINT16, ..Wanted::PLAIN },
            b"split.tensors.count" => Wanted { tag: INT32, ..Wanted::PLAIN },
            b"clip.vision.patch_size" | b"clip.vision.projector.scale_factor" => {
                Wanted { divisor: true, ..Wanted::PLAIN }
            }
            _ => match self.of_key(key)? {
                b"block_count" => Wanted { other: Some(rules::KEYS_BLOCK_TYPE), ..Wanted::PLAIN },
                b"attention.head_count"
                | b"attention.head_count_kv"
                | b"feed_forward_length"
                | b"expert_used_count" => Wanted { layers: true, ..Wanted::PLAIN },
                b"context_length"
                | b"embedding_length"
                | b"attention.key_length"
                | b"expert_count" => Wanted::PLAIN,
                _ => return None,
            },
        };
        Some(Known::Number(wanted))
    }
}

/// The meaning of a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known {
    Model,
    Template,
    Array(Array),
    Number(Wanted),
}

/// A list of the tokenizer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Array {
    Tokens,
    Merges,
    Scores,
    Types,
    Suppress,
    Charsmap,
}

impl Array {
    /// The item types that readers accept, the usual one first.
    pub(super) fn items(self) -> &'static [u32] {
        match self {
            Array::Tokens | Array::Merges => &[STRING],
            Array::Scores => &[FLOAT32, INT32],
            Array::Types | Array::Suppress => &[INT32],
            Array::Charsmap => &[UINT8, INT8],
        }
    }

    /// Item width in bytes that readers assume, whatever the stored type.
    pub(super) fn width(self) -> u64 {
        if matches!(self, Array::Charsmap) { 1 } else { 4 }
    }
}

/// Requirements on the number stored under a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The only type that readers accept.
    pub(super) tag: u32,
    /// Whether they also accept a list with one number per layer.
    pub(super) layers: bool,
    /// Whether they divide by the number.
    pub(super) divisor: bool,
    /// The rule broken by a value that is not an integer.
    pub(super) other: Option<Rule>,
    /// Whether integers of other types break that rule as well.
    pub(super) strict: bool,
}

impl Wanted {
    const PLAIN: Wanted =
        Wanted { tag: UINT32, layers: false, divisor: false, other: None, strict: false };
}

impl Values {
    /// The field that stores a key's number.
    pub(super) fn slot(&mut self, key: &[u8]) -> Option<&mut Number> {
        if let Some(name) = key.strip_prefix(TOKENIZER) {
            let id = IDS.iter().position(|id| *id == name)?;
            return self.ids.get_mut(id);
        }
        Some(match key {
            b"split.no" => &mut self.split_no,
            b"split.count" => &mut self.split_count,
            b"split.tensors.count" => &mut self.split_tensors,
            _ => match self.arch.of_key(key)? {
                b"block_count" => &mut self.blocks,
                b"context_length" => &mut self.context,
                b"embedding_length" => &mut self.embedding,
                b"feed_forward_length" => &mut self.feed_forward,
                b"attention.head_count" => &mut self.heads,
                b"attention.head_count_kv" => &mut self.heads_kv,
                b"attention.key_length" => &mut self.key_length,
                b"expert_count" => &mut self.experts,
                b"expert_used_count" => &mut self.experts_used,
                _ => return None,
            },
        })
    }
}

/// Tokenizers that have default ids or byte tokens in readers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Model {
    /// SentencePiece.
    Llama,
    T5,
    Plamo2,
    #[default]
    Other,
}

impl Model {
    pub(super) fn new(name: &[u8]) -> Self {
        match name {
            b"llama" => Model::Llama,
            b"t5" => Model::T5,
            b"plamo2" => Model::Plamo2,
            _ => Model::Other,
        }
    }

    /// The default ids of readers, for the first keys of [`IDS`]; the other keys have none.
    pub(super) fn defaults(self) -> &'static [u64] {
        match self {
            Model::Llama => &[1, 2, 0],
            Model::T5 => &[0, 1, 2, 0],
            Model::Plamo2 => &[1, 2, 0, 3],
            Model::Other => &[],
        }
    }

    /// Whether readers parse the text of byte tokens without checking it.
    pub(super) fn has_bytes(self) -> bool {
        matches!(self, Model::Llama | Model::Plamo2)
    }
}

/// An element of this type as an integer; [`Number::NONE`] if it is negative or exceeds 32 bits, and
/// `None` if the type is not an integer.
pub(super) fn integer(dtype: DType, element: Element) -> Option<u32> {
    match element {
        // A byte other than 0 and 1.
        Element::Uint(_) if dtype == DType::Bool => None,
        Element::Uint(value) => Some(u32::try_from(value).unwrap_or(Number::NONE)),
        Element::Int(value) => Some(u32::try_from(value).unwrap_or(Number::NONE)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_of_every_type_is_read() {
        assert_eq!(integer(DType::U8, Element::Uint(200)), Some(200));
        assert_eq!(integer(DType::I8, Element::Int(-56)), Some(Number::NONE));
        assert_eq!(integer(DType::I64, Element::Int(1 << 32)), Some(Number::NONE));
        assert_eq!(integer(DType::U64, Element::Uint(7)), Some(7));
        assert_eq!(integer(DType::Bool, Element::Uint(2)), None);
        assert_eq!(integer(DType::Bool, Element::Bool(true)), None);
        assert_eq!(integer(DType::F32, Element::F32(0.0)), None);
    }

    #[test]
    fn keys_begin_with_the_architecture() {
        let known = |arch: &[u8], key: &[u8]| Architecture::new(arch).known(key).is_some();
        assert!(known(b"llama", b"llama.block_count"));
        assert!(!known(b"llama", b"llama4.block_count"));
        assert!(!known(b"llama", b"qwen2.block_count"));
        assert!(!known(b"", b".block_count"));
        assert!(known(b"", b"tokenizer.chat_template.tool_use"));
        assert!(!known(b"", b"tokenizer.chat_templates"));
    }

    #[test]
    fn defaults_have_keys() {
        for model in [Model::Llama, Model::T5, Model::Plamo2, Model::Other] {
            assert!(model.defaults().len() <= IDS.len());
        }
    }
}
