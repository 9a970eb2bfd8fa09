//! Whether settings agree with the weights beside them.
//!
//! Only what settings state is compared, and only with tensors whose names are known: what is not
//! understood says nothing.

mod adapter;
mod base;
mod config;
mod pipeline;
mod weights;

use crate::base::python_json::Json;
use crate::input::place::Place;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::DType;
use weights::Weights;

/// Characters of a name that are shown.
const NAME: usize = 200;

/// What settings say, and weights do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contradiction {
    /// The id of the rule.
    pub(super) rule: &'static str,
    /// Both, as a sentence.
    pub(super) why: String,
}

/// Compares the settings at a place, a file of this name, with the weights beside it.
pub(super) fn compare(name: &str, json: &Json, place: &dyn Place) -> Vec<Contradiction> {
    if name == "model_index.json" {
        return pipeline::compare(json, place);
    }
    let compare: fn(&Json, &dyn Place, &mut Weights<'_>, &mut Vec<Contradiction>) = match name {
        "config.json" => config::compare,
        "adapter_config.json" => adapter::compare,
        _ => return Vec::new(),
    };
    let files = FILES.iter().filter(|(settings, ..)| *settings == name);
    let mut weights = files.filter_map(|(_, file, index)| Weights::beside(place, file, *index));
    let mut found = Vec::new();
    if let Some(mut weights) = weights.next() {
        compare(json, place, &mut weights, &mut found);
    }
    found
}

/// Settings, the weights that they describe, and the index of their shards. Loaders prefer the first.
const FILES: [(&str, &str, Option<&str>); 4] = [
    ("config.json", "model.safetensors", Some("model.safetensors.index.json")),
    ("config.json", "pytorch_model.bin", Some("pytorch_model.bin.index.json")),
    ("adapter_config.json", "adapter_model.safetensors", None),
    ("adapter_config.json", "adapter_model.bin", None),
];

/// The whole number of a key.
fn number(json: &Json, key: &str) -> Option<u64> {
    match json.get(key) {
        Some(Json::Number(value)) => whole(*value),
        _ => None,
    }
}

/// Whether elements of this type are stored as they are, and not packed.
fn float(dtype: DType) -> bool {
    matches!(dtype, DType::BF16 | DType::F16 | DType::F32 | DType::F64)
}

/// A number that is whole and not negative.
fn whole(value: f64) -> Option<u64> {
    // Above 2^53 not every whole number has a double.
    let is = (0.0..=9.0e15).contains(&value) && value % 1.0 == 0.0;
    is.then_some(value as u64)
}

/// The start of a name: there is no limit to its length.
fn short(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or_default()),
        None => name.to_string(),
    }
}

/// A shape as people write it: `32000 × 4096`.
fn shape(extents: &[u64]) -> String {
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    extents.join(" × ")
}
