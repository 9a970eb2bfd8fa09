//! `config.json` of transformers, compared with the tensors of the model.
//!
//! Models differ, so the settings are understood as loosely as possible. A width is right if any
//! setting of a width says so, because some models embed tokens in fewer dimensions. A model with
//! two embeddings, or two stacks of layers, contradicts its settings only if none of them fits.

use super::weights::{Shaped, Weights};
use super::{Contradiction, float, number, shape, short, whole};
use crate::base::python_json::Json;
use crate::base::text::plural;
use crate::check::folders;
use crate::input::place::Place;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::DType;

/// The names that models give to the embedding of their tokens, and to the layers beside it. The
/// longest name comes first.
const STACKS: &[(&str, &[&str])] = &[
    ("embeddings.word_embeddings.weight", &["encoder.layer.", "transformer.layer."]),
    ("embeddings.tok_embeddings.weight", &["layers."]),
    ("tok_embeddings.weight", &["layers."]),
    ("word_embeddings.weight", &["h."]),
    ("embed_tokens.weight", &["layers."]),
    ("embed_in.weight", &["layers."]),
    ("wte.weight", &["h.", "blocks."]),
];
/// Parts of the names of tensors of other models beside the language model.
const OTHER_PARTS: &[&str] =
    &["audio", "codec", "draft", "image", "mtp", "qformer", "speech", "talker", "vision", "visual"];
/// Most embeddings that are looked at.
const EMBEDDINGS: usize = 8;

/// Settings that give a number of layers.
const LAYERS: &[&str] = &["num_hidden_layers", "n_layer", "n_layers", "num_layers"];
/// Settings that give the width of the model.
const WIDTHS: &[&str] = &["hidden_size", "d_model", "n_embd", "dim"];
/// Parts of the names of other settings that may be the width of an embedding.
const MAYBE_WIDTHS: &[&str] = &["hidden", "emb", "dim", "width", "d_model"];
/// Parts of the names of settings that add layers which predict further tokens.
const MORE_LAYERS: &[&str] = &["nextn", "next_n", "mtp"];

/// The types of weights that settings name.
const DTYPES: &[(&str, DType)] = &[
    ("bfloat16", DType::BF16),
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
];
/// Ends of the names of architectures that predict tokens with a matrix of their own.
const CAUSAL: &[&str] = &["ForCausalLM", "LMHeadModel"];
/// Parts of the names that models give to this matrix.
const HEADS: &[&str] = &[
    "head",
    "output",
    "embed_out",
    "decoder",
    "logits",
    "proj_out",
    "unembed",
    "generator",
    "lm_loss",
    "pred_layer",
    "predictions",
];

const TIED: &str = "tie_word_embeddings";
const HEAD: &str = "lm_head.weight";
/// Bytes of two matrices that are compared: some hundred rows.
const COMPARED: u64 = 4 << 20;

/// Methods of quantisation that pack weights into tensors of this name.
const PACKED: &str = ".qweight";
const PACKING: &[&str] = &["awq", "gptq"];
/// Other methods, with ends of the names of tensors that each needs, one of them.
const SCALED: &[(&str, &[&str])] = &[
    ("bitsandbytes", &["quant_state.bitsandbytes__nf4", "quant_state.bitsandbytes__fp4", ".SCB"]),
    ("compressed-tensors", &["weight_packed", "weight_scale"]),
    ("fbgemm_fp8", &["weight_scale"]),
    ("fp8", &["weight_scale_inv", "weight_scale", "_scale_inv"]),
    ("mxfp4", &["_blocks"]),
];
/// Files that older programs keep the settings of quantisation in.
const OTHERS: &[&str] = &["quant_config.json", "quantize_config.json"];

/// Compares the settings of a model with its weights.
pub(super) fn compare(
    config: &Json,
    place: &dyn Place,
    weights: &mut Weights<'_>,
    found: &mut Vec<Contradiction>,
) {
    let config = Config::of(config);
    let embeddings = embeddings(weights);
    let shaped = |it: &Embedding| Some((it.name.clone(), weights.get(&it.name)?));
    let tables: Vec<_> = embeddings.iter().filter_map(shaped).collect();
    config.shapes(&tables, found);
    config.layers(&embeddings, weights, found);
    config.head(&embeddings, weights, found);
    config.tied(&embeddings, weights, found);
    config.dtype(weights, found);
    config.quantised(place, weights, found);
}

/// Settings, and those of the language model in them.
struct Config<'j> {
    whole: &'j Json,
    text: Option<&'j Json>,
}

/// An embedding of tokens, by its name.
struct Embedding {
    name: String,
    /// What precedes the name of the embedding and of its layers.
    prefix: String,
    layers: &'static [&'static str],
}

impl<'j> Config<'j> {
    fn of(whole: &'j Json) -> Self {
        let text = whole.get("text_config").filter(|it| !it.pairs().is_empty());
        Config { whole, text }
    }

    /// The first of these settings of the language model that is there, with its value. Beside
    /// its own settings, others are those of another part.
    fn first(&self, keys: &[&'static str]) -> Option<(&'static str, u64)> {
        let level = self.text.unwrap_or(self.whole);
        keys.iter().find_map(|key| Some((*key, number(level, key)?)))
    }

    /// The values of all settings with one of these parts in their name.
    fn any<'a>(&'a self, parts: &'a [&str]) -> impl Iterator<Item = u64> + 'a {
        let pairs = self.whole.pairs().iter().chain(self.text.map_or(&[][..], Json::pairs));
        let named = pairs.filter(|(key, _)| parts.iter().any(|part| key.contains(part)));
        named.filter_map(|(_, value)| match value {
            Json::Number(value) => whole(*value),
            _ => None,
        })
    }

    fn has(&self, part: &str) -> bool {
        let pairs = self.whole.pairs().iter().chain(self.text.map_or(&[][..], Json::pairs));
        pairs.into_iter().any(|(key, _)| key.contains(part))
    }

    /// The embedding has a row for each token, as wide as the model.
    fn shapes(&self, tables: &[(String, Shaped)], found: &mut Vec<Contradiction>) {
        let Some((_, tokens)) = self.first(&["vocab_size"]) else { return };
        let width = self.first(WIDTHS);
        let least = self.any(&["vocab_size"]).min().unwrap_or(tokens);
        let fits = |table: &Shaped| {
            let [rows, columns] = table.shape[..] else { return true };
            let is_wide = || self.any(MAYBE_WIDTHS).any(|width| width == columns);
            // Packed elements have another shape.
            !float(table.dtype) || rows >= least && (width.is_none() || is_wide())
        };
        let Some((name, table)) = tables.first() else { return };
        let stated = match width {
            Some((key, width)) => {
                format!("vocab_size × {key} is {}", shape(&[tokens, width]))
            }
            None => format!("vocab_size is {tokens}"),
        };
        let why = || format!("{stated}, but {} is {}", short(name), shape(&table.shape));
        if !tables.iter().any(|(_, table)| fits(table)) {
            found.push(Contradiction { rule: folders::CONFIG_SHAPE, why: why() });
            return;
        }
        // Rows that pad the table to a round number.
        let most = self.any(&["vocab_size", "embedding_size"]).max().unwrap_or(tokens);
        let padded = |table: &Shaped| {
            float(table.dtype) && matches!(table.shape[..], [rows, _] if rows > most)
        };
        if tables.iter().all(|(_, table)| padded(table)) {
            found.push(Contradiction { rule: folders::CONFIG_VOCABULARY, why: why() });
        }
    }

    /// The layers beside the embedding are as many as stated.
    fn layers(
        &self,
        embeddings: &[Embedding],
        weights: &Weights<'_>,
        found: &mut Vec<Contradiction>,
    ) {
        let Some((key, stated)) = self.first(LAYERS) else { return };
        // Two stacks, and layers without tensors.
        let levels = self.text.into_iter().chain([self.whole]);
        let mut two = levels.map(|it| it.get("is_encoder_decoder") == Some(&Json::Bool(true)));
        if two.any(|it| it) || self.has("block_configs") || stated == 0 {
            return;
        }
        let more: u64 = self.any(MORE_LAYERS).fold(0, u64::saturating_add);
        let mut stacks = Vec::new();
        for embedding in embeddings {
            for layers in embedding.layers {
                let start = format!("{}{layers}", embedding.prefix);
                let numbers = weights.names().filter_map(|name| {
                    let (number, _) = name.strip_prefix(&*start)?.split_once('.')?;
                    number.parse::<u32>().ok()
                });
                stacks.extend(numbers.max().map(|last| (u64::from(last) + 1, start.clone())));
            }
        }
        let fits = |count: u64| count >= stated && count - stated <= more;
        let Some((count, start)) = stacks.first() else { return };
        if stacks.iter().any(|(count, _)| fits(*count)) {
            return;
        }
        let last = format!("{}{}", short(start), count - 1);
        let why = format!("{key} is {stated}, but the weights have {}: the last is {last}", {
            plural(*count, "layer")
        });
        found.push(Contradiction { rule: folders::CONFIG_LAYERS, why });
    }

    /// A model whose output is not tied to its embedding has a matrix for it.
    fn head(
        &self,
        embeddings: &[Embedding],
        weights: &Weights<'_>,
        found: &mut Vec<Contradiction>,
    ) {
        let is = |level: &Json, value: bool| level.get(TIED) == Some(&Json::Bool(value));
        let level = self.text.unwrap_or(self.whole);
        if !is(level, false) || is(self.whole, true) {
            return;
        }
        let architectures = self.whole.get("architectures").map_or(&[][..], Json::items);
        let mut names = architectures.iter().filter_map(Json::text);
        let Some(class) = names.find(|name| CAUSAL.iter().any(|end| name.ends_with(end))) else {
            return;
        };
        // Layers have an output of their own.
        let is_head = |name: &str| {
            let in_layer = name.split('.').any(|part| part.parse::<u32>().is_ok());
            !in_layer && HEADS.iter().any(|part| name.contains(part))
        };
        let Some(embedding) = embeddings.first().filter(|_| !weights.names().any(is_head)) else {
            return;
        };
        let why = format!(
            "{TIED} is false, but {} has no matrix for its output beside {}",
            short(class),
            short(&embedding.name)
        );
        found.push(Contradiction { rule: folders::CONFIG_HEAD, why });
    }

    /// A model whose output is tied to its embedding has no other matrix for it.
    fn tied(
        &self,
        embeddings: &[Embedding],
        weights: &mut Weights<'_>,
        found: &mut Vec<Contradiction>,
    ) {
        let level = self.text.unwrap_or(self.whole);
        if level.get(TIED) != Some(&Json::Bool(true)) {
            return;
        }
        let [embedding] = embeddings else { return };
        let is_head = |name: &&str| *name == HEAD || name.ends_with(".lm_head.weight");
        let heads: Vec<_> = weights.names().filter(is_head).map(String::from).collect();
        let [head] = &heads[..] else { return };
        let (Some(table), Some(other)) = (weights.get(&embedding.name), weights.get(head)) else {
            return;
        };
        // Packed elements say nothing about values.
        if !float(table.dtype) || !float(other.dtype) {
            return;
        }
        let mut start = |name: &str| weights.first_bytes(name, COMPARED);
        let differ = table != other
            || match (start(&embedding.name), start(head)) {
                (Some(table), Some(other)) => table != other,
                _ => false,
            };
        if differ {
            let names = (short(head), short(&embedding.name));
            let why = format!("{TIED} is true, but {} is another matrix than {}", names.0, names.1);
            found.push(Contradiction { rule: folders::CONFIG_TIED, why });
        }
    }

    /// Some weights have the type that is stated.
    fn dtype(&self, weights: &Weights<'_>, found: &mut Vec<Contradiction>) {
        if self.has("quant") {
            return;
        }
        let level = |level: &'j Json| {
            ["torch_dtype", "dtype"].iter().find_map(|key| Some((*key, level.get(key)?.text()?)))
        };
        let Some((key, name)) = level(self.whole).or_else(|| self.text.and_then(level)) else {
            return;
        };
        let name = name.strip_prefix("torch.").unwrap_or(name);
        let Some((_, dtype)) = DTYPES.iter().find(|(known, _)| *known == name) else { return };
        // Vectors, such as norms, often keep more digits.
        let tables = weights.opened().filter(|(_, table)| table.shape.len() > 1);
        let mut types: Vec<DType> = tables.map(|(_, table)| table.dtype).collect();
        types.sort_unstable_by_key(|it| it.name());
        types.dedup();
        if let [other] = types[..]
            && float(other)
            && other != *dtype
        {
            let why = format!("{key} is {name}, but the weights are {}", other.name());
            found.push(Contradiction { rule: folders::CONFIG_DTYPE, why });
        }
    }

    /// Weights are packed if, and only if, a method of quantisation that packs them is stated.
    fn quantised(&self, place: &dyn Place, weights: &Weights<'_>, found: &mut Vec<Contradiction>) {
        let packed = weights.names().find(|name| name.ends_with(PACKED));
        let method = self.whole.get("quantization_config");
        let text = |key: &str| method.and_then(|it| it.get(key)?.text()).unwrap_or_default();
        // Another packing under the same method.
        let other = text("checkpoint_format").contains("marlin")
            || method.is_some_and(|it| it.get("is_marlin_format") == Some(&Json::Bool(true)));
        let name = text("quant_method");
        let why = match packed {
            None if PACKING.contains(&name) && !other => {
                format!("quantization_config says {name}, but no tensor is packed")
            }
            Some(packed) if !self.has("quant") => {
                if OTHERS.iter().any(|name| place.beside(name).open().is_ok()) {
                    return;
                }
                format!("{} is packed, but there is no quantization_config", short(packed))
            }
            _ => {
                let Some((_, ends)) = SCALED.iter().find(|(method, _)| *method == name) else {
                    return;
                };
                if weights.names().any(|it| ends.iter().any(|end| it.ends_with(end))) {
                    return;
                }
                format!(
                    "quantization_config says {name}, but no tensor has the name of one of its own"
                )
            }
        };
        found.push(Contradiction { rule: folders::CONFIG_QUANTISED, why });
    }
}

/// The embeddings of tokens, by their names.
fn embeddings(weights: &Weights<'_>) -> Vec<Embedding> {
    let of = |name: &str| {
        if OTHER_PARTS.iter().any(|part| name.contains(part)) {
            return None;
        }
        let (prefix, (_, layers)) = STACKS.iter().find_map(|stack| {
            let prefix = name.strip_suffix(stack.0)?;
            (prefix.is_empty() || prefix.ends_with('.')).then_some((prefix, stack))
        })?;
        Some(Embedding { name: name.to_string(), prefix: prefix.to_string(), layers })
    };
    weights.names().filter_map(of).take(EMBEDDINGS).collect()
}
