//! Settings of an architecture, with their origins.

use super::count::Counted;
use super::heads;
use super::kv_cache::whole_number;
use super::labels::{GENERAL, ROWS, file_type};
use super::layers::{self, Layers};
use super::note;
use crate::base::value::Value;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// A known property of a model.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Fact {
    /// The name in JSON.
    pub name: &'static str,
    /// The value; a list has one item per block.
    pub value: Value,
    /// The origin of the value.
    pub from: Origin,
    /// The key in the metadata or the settings; empty for computed facts.
    pub key: String,
}

impl Fact {
    pub(super) fn value<'f>(facts: &'f [Fact], name: &str) -> Option<&'f Value> {
        facts.iter().find(|fact| fact.name == name).map(|fact| &fact.value)
    }

    pub(super) fn number(facts: &[Fact], name: &str) -> Option<u64> {
        Fact::value(facts, name).and_then(whole_number)
    }
}

/// The origin of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Origin {
    /// The file's metadata.
    Metadata,
    /// A `config.json`.
    Config,
    /// The names of tensors.
    Names,
    /// The shapes of tensors.
    Shapes,
    /// Other facts.
    Computed,
}

impl Origin {
    /// Its name in JSON.
    ///
    /// ```
    /// assert_eq!(weighbridge::Origin::Shapes.name(), "shapes");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Metadata => "metadata",
            Origin::Config => "config",
            Origin::Names => "names",
            Origin::Shapes => "shapes",
            Origin::Computed => "computed",
        }
    }
}

/// Maximum number of settings kept: models have about a hundred.
const MOST: usize = 1 << 12;

/// Items of lists, or 32 bytes of text, kept in all: lists of numbers have an item per layer.
const MOST_ITEMS: usize = 1 << 17;

/// Metadata and settings by key.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// Items kept so far, and whether a value was too long for the rest.
    kept: usize,
    pub(super) is_cut: bool,
    metadata: BTreeMap<String, Value>,
    config: BTreeMap<String, Value>,
    /// Number of tokens in the tokenizer.
    pub(super) tokens: Option<u64>,
}

/// Prefixes under which the settings of the text model may be.
const INNER: [&str; 4] = ["", "text_config.", "llm_config.", "language_config."];

impl Settings {
    pub(super) fn metadata(&mut self, key: &str, value: &Value) {
        if self.has_room(key, value) {
            keep(&mut self.metadata, key, value);
        }
    }

    pub(super) fn config(&mut self, key: &str, value: &Value) {
        if self.has_room(key, value) {
            keep(&mut self.config, key, value);
        }
    }

    /// Whether a value is small enough to be kept: entries may share their values, so a small file
    /// may have many large ones.
    fn has_room(&mut self, key: &str, value: &Value) -> bool {
        if key.starts_with("tokenizer.") {
            return false;
        }
        let items = self.kept.saturating_add(items(value));
        let fits = items <= MOST_ITEMS;
        self.kept = if fits { items } else { self.kept };
        self.is_cut |= !fits;
        fits
    }

    /// Whether any setting of the architecture is known.
    pub(super) fn any(&self) -> bool {
        self.architecture().is_some() || !self.config.is_empty()
    }

    pub(super) fn architecture(&self) -> Option<&str> {
        self.metadata.get("general.architecture")?.as_str()
    }

    pub(super) fn own(&self, key: &str) -> Option<(String, &Value)> {
        let key = format!("{}.{key}", self.architecture()?);
        let value = self.metadata.get(&key)?;
        Some((key, value))
    }

    pub(super) fn configured(&self, key: &str) -> Option<(String, &Value)> {
        INNER.iter().find_map(|inner| {
            let key = format!("{inner}{key}");
            let value = self.config.get(&key).filter(|value| **value != Value::Null)?;
            Some((key, value))
        })
    }

    /// A setting of the architecture that is not a fact of its own.
    pub(super) fn says(&self, key: &str) -> Option<&Value> {
        self.own(key).or_else(|| self.configured(key)).map(|(_, value)| value)
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        whole_number(self.own(key)?.1)
    }

    /// A number from a `config.json`.
    pub(super) fn configured_number(&self, key: &str) -> Option<u64> {
        whole_number(self.configured(key)?.1)
    }

    /// Whether the architecture has settings with this key prefix.
    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        let Some(architecture) = self.architecture() else { return false };
        let start = format!("{architecture}.{prefix}");
        self.metadata.keys().any(|key| key.starts_with(&start))
    }

    /// Bits per parameter, when packed into words.
    pub(super) fn bits(&self) -> Option<u64> {
        const KEYS: [&str; 3] = [
            "quantization_config.bits",
            "quantization_config.config_groups.group_0.weights.num_bits",
            "quantization.bits",
        ];
        KEYS.iter().find_map(|key| whole_number(self.configured(key)?.1))
    }
}

fn keep(all: &mut BTreeMap<String, Value>, key: &str, value: &Value) {
    if all.len() < MOST && !all.contains_key(key) {
        all.insert(key.to_string(), value.clone());
    }
}

/// Number of items in a value, as far as it matters for memory.
fn items(value: &Value) -> usize {
    match value {
        Value::List(list) => list.iter().fold(1, |all, item| items(item).saturating_add(all)),
        Value::Map(map) => map.iter().fold(1, |all, (_, item)| items(item).saturating_add(all)),
        Value::Pairs(pairs) => pairs.iter().fold(1_usize, |all, (key, item)| {
            all.saturating_add(items(key)).saturating_add(items(item))
        }),
        Value::Text(text) => 1 + text.as_bytes().len() / 32,
        _ => 1,
    }
}

/// The key of the list of tokens.
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";

/// Returns all facts, and what is known of layers. A fact from the file takes precedence over a
/// computed one.
pub(super) fn all(
    settings: &Settings,
    counted: &Counted,
    notes: &mut Vec<String>,
) -> (Vec<Fact>, Result<Option<Layers>, String>) {
    let mut facts = Vec::new();
    for (name, keys, others) in GENERAL {
        let from_file = keys.iter().find_map(|key| {
            Some((key.to_string(), settings.metadata.get(*key)?, Origin::Metadata))
        });
        let from_config = || {
            let found = others.iter().find_map(|key| settings.configured(key))?;
            Some((found.0, found.1, Origin::Config))
        };
        let Some((key, value, from)) = from_file.or_else(from_config) else { continue };
        let value = match value {
            Value::List(items) => items.first().cloned().unwrap_or(Value::Null),
            Value::Int(code) if *name == "file_type" => match file_type(*code) {
                Some(text) => Value::from(text),
                None => value.clone(),
            },
            value => value.clone(),
        };
        facts.push(Fact { name, value, from, key });
    }
    for (name, own, others) in ROWS {
        let found = own.iter().find_map(|key| settings.own(key));
        let found = found.map(|(key, value)| (key, value, Origin::Metadata)).or_else(|| {
            let found = others.iter().find_map(|key| settings.configured(key))?;
            Some((found.0, found.1, Origin::Config))
        });
        if let Some((key, value, from)) = found {
            facts.push(Fact { name, value: value.clone(), from, key });
        }
    }
    work_out(settings, counted, &mut facts, notes);
    let found = layers::of(settings, &facts);
    layers::describe(&found, settings, &mut facts, notes);
    let order = |fact: &Fact| {
        let general = GENERAL.iter().position(|row| row.0 == fact.name);
        general.or_else(|| ROWS.iter().position(|row| row.0 == fact.name).map(|i| i + 8))
    };
    facts.sort_by_key(order);
    (facts, found)
}

/// Adds facts computed from tensors and other facts, and notes contradictions.
fn work_out(
    settings: &Settings,
    counted: &Counted,
    facts: &mut Vec<Fact>,
    notes: &mut Vec<String>,
) {
    let add = |facts: &mut Vec<Fact>, name, value: Option<u64>, from| {
        if let (Some(value), None) = (value, Fact::value(facts, name)) {
            let value = Value::Int(value.into());
            facts.push(Fact { name, value, from, key: String::new() });
        }
    };
    let blocks = counted.rows.len() as u64;
    // Blocks that predict further tokens are counted in metadata, but not in a config.json. A
    // file may omit them.
    let ahead = Fact::number(facts, "nextn_layer_count").unwrap_or(0);
    if let Some(said) = Fact::number(facts, "block_count")
        && blocks > 0
        && said != blocks
        && said != blocks.saturating_add(ahead)
        && blocks != said.saturating_add(ahead)
    {
        let of = if said > blocks { "; the others may be in other files" } else { "" };
        note(notes, format!("block_count is {said}, but the tensors form {blocks} blocks{of}"));
    }
    add(facts, "block_count", (blocks > 0).then_some(blocks), Origin::Names);
    let tokens = settings.tokens;
    if let (Some(tokens), Some([rows, _])) = (tokens, counted.embedding)
        && tokens != rows
    {
        note(
            notes,
            format!("the tokenizer has {tokens} tokens, but the embedding has {rows} rows"),
        );
    }
    add(facts, "vocab_size", tokens, Origin::Metadata);
    add(facts, "vocab_size", counted.embedding.map(|[rows, _]| rows), Origin::Shapes);
    let width = counted.embedding.map(|[_, columns]| columns);
    if let (Some(said), Some(width)) = (Fact::number(facts, "embedding_length"), width)
        && said != width
    {
        note(
            notes,
            format!("embedding_length is {said}, but embedding rows have {width} elements"),
        );
    }
    add(facts, "embedding_length", width, Origin::Shapes);
    // Uncertain unless it is the same in all blocks.
    let same = |of: fn(&super::count::Rows) -> Option<u64>| {
        let first = of(counted.rows.first()?)?;
        counted.rows.iter().all(|rows| of(rows) == Some(first)).then_some(first)
    };
    add(facts, "feed_forward_length", same(|rows| rows.up), Origin::Shapes);
    let grouped = heads::settle(settings, facts);
    let heads = Fact::number(facts, "head_count");
    if heads == Some(0) {
        note(notes, "head_count is 0".to_string());
    }
    // Norms applied per head have the length of a head.
    let (query, norm) = (same(|rows| rows.query), same(|rows| rows.query_norm));
    let length =
        norm.zip(query).filter(|(norm, query)| *norm > 0 && norm < query && query % norm == 0);
    let length = length.map(|(norm, _)| norm);
    if let (Some(length), Some(query), Some(key)) = (length, query, same(|rows| rows.key))
        && key % length == 0
    {
        add(facts, "key_length", Some(length), Origin::Shapes);
        add(facts, "head_count", Some(query / length), Origin::Shapes);
        add(facts, "head_count_kv", Some(key / length), Origin::Shapes);
    }
    let embedding = Fact::number(facts, "embedding_length");
    let each = embedding.zip(heads.filter(|heads| *heads > 0)).map(|(all, heads)| all / heads);
    if Fact::number(facts, "kv_lora_rank").unwrap_or(0) == 0 {
        add(facts, "key_length", each, Origin::Computed);
        let key = Fact::number(facts, "key_length");
        add(facts, "value_length", key, Origin::Computed);
        // Without grouping, each head has its own key and value.
        let each = Fact::value(facts, "head_count").cloned().filter(|_| !grouped);
        if let (Some(value), None) = (each, Fact::value(facts, "head_count_kv")) {
            let (name, from) = ("head_count_kv", Origin::Computed);
            facts.push(Fact { name, value, from, key: String::new() });
        }
    }
    add(facts, "expert_count", counted.stacked, Origin::Shapes);
    add(facts, "expert_count", counted.numbered, Origin::Names);
    for fact in facts.iter() {
        if let Value::Float(value) = fact.value
            && !value.is_finite()
        {
            note(notes, format!("{} is {}, not a finite number", fact.name, fact.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_large_together_are_left_out() {
        let mut settings = Settings::default();
        let bits = Value::List(alloc::vec![Value::Bool(true); MOST_ITEMS / 4]);
        for i in 0..100 {
            settings.metadata(&format!("shared.{i}"), &bits);
        }
        settings.metadata("general.architecture", &Value::from("llama"));
        assert!(settings.is_cut && settings.metadata.len() == 4, "{}", settings.metadata.len());
        assert_eq!(settings.architecture(), Some("llama"));
    }
}
