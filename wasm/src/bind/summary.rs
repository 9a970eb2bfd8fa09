//! The summary of a model, its vocabulary and its chat template.

use super::endianness;
use crate::pack::{NONE, Pack};
use crate::text::Texts;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::{
    ModelPart, ModelSummary, Outline, Share, Summariser, Template, TokenKind, Value, Vocabulary,
};

fn list(items: impl IntoIterator<Item = impl AsRef<str>>, pack: &mut Pack) {
    let mut texts = Texts::default();
    items.into_iter().for_each(|item| texts.push(item.as_ref()));
    pack.texts(&texts);
}

/// Makes a summary of what JavaScript lists.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct RawSummariser {
    inner: Summariser,
}

/// Parses a value passed from JavaScript: 0 text, 1 a number or a Boolean, 2 numbers or Booleans
/// separated by commas, 3 texts separated by line ends. `floats` has the numbers as doubles, NaN
/// for other items: the tables for parsing them here are large.
fn value(kind: u32, text: &str, floats: &[f64]) -> Value {
    let plain = |(text, float): (&str, &f64)| match (text, text.parse()) {
        ("true" | "false", _) => Value::Bool(text == "true"),
        (_, Ok(value)) => Value::Int(value),
        ("NaN", _) => Value::Float(f64::NAN),
        _ if float.is_nan() => Value::Null,
        _ => Value::Float(*float),
    };
    let mut items = text.split(',').zip(floats).map(plain);
    match kind {
        0 => Value::from(text),
        1 => items.next().unwrap_or(Value::Null),
        2 => items.collect(),
        _ => text.split('\n').map(Value::from).collect(),
    }
}

#[wasm_bindgen]
impl RawSummariser {
    /// Of nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> RawSummariser {
        RawSummariser::default()
    }

    /// Takes an entry of the metadata.
    pub fn metadata(&mut self, key: &str, kind: u32, text: &str, floats: &[f64]) {
        self.inner.metadata(key, &value(kind, text, floats));
    }

    /// Takes a setting of a `config.json`.
    pub fn config(&mut self, key: &str, kind: u32, text: &str, floats: &[f64]) {
        self.inner.config(key, &value(kind, text, floats));
    }

    /// Takes the number of tokens.
    pub fn tokens(&mut self, count: u64) {
        self.inner.tokens(count);
    }

    /// Takes the tensors of a document.
    pub fn tensors(&mut self, digest: &[u8]) {
        for it in Outline::read(digest).tensors() {
            let name = String::from_utf8_lossy(it.name());
            self.inner.tensor(&name, it.dtype(), &it.extents(), it.stored());
        }
    }

    /// The summary.
    pub fn finish(self) -> Uint8Array {
        let mut pack = Pack::default();
        write(&self.inner.finish(), &mut pack);
        pack.done()
    }
}

fn shares(all: &[Share], pack: &mut Pack) {
    pack.items(8, all, |share| share.tensors);
    pack.items(8, all, |share| share.parameters);
    pack.items(8, all, |share| share.bytes);
}

fn write(summary: &ModelSummary, pack: &mut Pack) {
    list(summary.facts.iter().map(|fact| fact.name), pack);
    list(summary.facts.iter().map(|fact| fact.value.to_string()), pack);
    list(summary.facts.iter().map(|fact| fact.from.name()), pack);
    list(summary.facts.iter().map(|fact| &fact.key), pack);
    shares(&[summary.all, summary.without_data], pack);
    pack.optional(summary.active);
    pack.u64(summary.others);
    list(summary.dtypes.iter().map(|(name, _)| name), pack);
    shares(&summary.dtypes.iter().map(|(_, share)| *share).collect::<Vec<_>>(), pack);
    list(summary.parts.iter().map(|(part, _)| part.name()), pack);
    shares(&summary.parts.iter().map(|(_, share)| *share).collect::<Vec<_>>(), pack);
    let blocks = &summary.blocks;
    list(blocks.iter().map(|block| &block.stack), pack);
    pack.items(8, blocks, |block| block.number);
    shares(&blocks.iter().map(|block| block.share).collect::<Vec<_>>(), pack);
    for (part, _) in &summary.parts {
        let of = |(other, count): &(ModelPart, u64)| (other == part).then_some(*count);
        pack.items(8, blocks, |block| block.parts.iter().find_map(of).unwrap_or(0));
    }
    let cache = summary.cache.clone().unwrap_or_default();
    let groups = &cache.groups;
    pack.items(8, groups, |group| group.layers);
    pack.items(8, groups, |group| group.elements);
    pack.items(8, groups, |group| group.window.unwrap_or(NONE));
    pack.optional(cache.state.map(|state| state.layers));
    pack.optional(cache.state.and_then(|state| state.bytes()));
    list(&cache.assumes, pack);
    pack.optional_text(summary.no_cache.as_deref());
    list(&summary.notes, pack);
}

/// The tokens of a model.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawVocabulary {
    inner: Vocabulary,
    found: Vec<u32>,
}

#[wasm_bindgen]
impl RawVocabulary {
    /// None yet, of a tokenizer of this model with so many tokens.
    #[wasm_bindgen(constructor)]
    pub fn new(big: bool, model: &str, count: u64) -> RawVocabulary {
        RawVocabulary { inner: Vocabulary::new(endianness(big), model, count), found: Vec::new() }
    }

    /// Takes the next bytes of an array: 0 tokens, 1 types, 2 scores.
    pub fn push(&mut self, what: u32, bytes: &[u8]) {
        match what {
            0 => self.inner.push(bytes),
            1 => self.inner.push_kinds(bytes),
            _ => self.inner.push_scores(bytes),
        }
    }

    /// How many tokens there are.
    pub fn count(&self) -> u32 {
        self.inner.len() as u32
    }

    /// Whether not all fit.
    #[wasm_bindgen(js_name = isCut)]
    pub fn is_cut(&self) -> bool {
        self.inner.is_cut()
    }

    /// How many tokens there are of each type, those of none first.
    pub fn kinds(&self) -> Vec<u32> {
        let mut counts = [0; 7];
        for id in 0..self.inner.len() {
            let kind = self.inner.kind(id).map_or(0, |kind| kind as usize + 1);
            if let Some(count) = counts.get_mut(kind) {
                *count += 1;
            }
        }
        counts.to_vec()
    }

    /// Looks for a text, among those of a type unless it is 0; how many there are.
    pub fn search(&mut self, text: &str, kind: u8) -> u32 {
        self.found = self.inner.search(text, TokenKind::of(kind));
        self.found.len() as u32
    }

    /// What was found.
    pub fn found(&self, from: u32, to: u32) -> Uint8Array {
        let places = crate::pack::within(from, to, self.found.len());
        self.tokens(self.found.get(places).unwrap_or_default())
    }

    /// These tokens.
    pub fn tokens(&self, ids: &[u32]) -> Uint8Array {
        let mut pack = Pack::default();
        pack.items(4, ids, |id| (*id).into());
        list(ids.iter().map(|id| self.inner.readable(*id as usize).unwrap_or_default()), &mut pack);
        let raw = |id: &u32| self.inner.raw(*id as usize).unwrap_or_default();
        list(ids.iter().map(|id| String::from_utf8_lossy(raw(id))), &mut pack);
        let kind = |id: &u32| self.inner.kind(*id as usize).map_or(0, |kind| kind as u64 + 1);
        pack.items(1, ids, kind);
        let score = |id: &u32| self.inner.score(*id as usize).unwrap_or(f32::NAN);
        pack.items(4, ids, |id| score(id).to_bits().into());
        pack.done()
    }
}

/// The names of the types of tokens, from 1 on.
#[wasm_bindgen(js_name = rawTokenKinds)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_token_kinds() -> Uint8Array {
    let mut pack = Pack::default();
    list((1..).map_while(TokenKind::of).map(TokenKind::name), &mut pack);
    pack.done()
}

/// What a chat template touches.
#[wasm_bindgen(js_name = rawTemplate)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_template(text: &str) -> Uint8Array {
    let found = Template::of(text);
    let mut pack = Pack::default();
    for names in [&found.variables, &found.functions, &found.filters, &found.roles, &found.markers]
    {
        list(names, &mut pack);
    }
    let warnings = &found.warnings;
    pack.items(4, warnings, |it| it.line);
    list(warnings.iter().map(|it| &it.text), &mut pack);
    list(warnings.iter().map(|it| it.why), &mut pack);
    pack.done()
}

/// The pieces of a chat template: kinds and texts.
#[wasm_bindgen(js_name = rawPieces)]
#[allow(unreachable_pub, reason = "called from JavaScript")]
pub fn raw_pieces(text: &str) -> Uint8Array {
    let pieces = Template::pieces(text);
    let mut pack = Pack::default();
    list(pieces.iter().map(|piece| piece.kind), &mut pack);
    list(pieces.iter().map(|piece| piece.text), &mut pack);
    pack.done()
}
