//! What keys and values take for each position.

use super::count::Counted;
use super::facts::{Fact, Settings};
use crate::value::Value;
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::DType;

/// More layers than any model has: what says more is not believed.
const MOST_LAYERS: u64 = 1 << 12;

/// Layers that keep the same for each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CacheGroup {
    /// How many layers.
    pub layers: u64,
    /// Elements that a layer keeps for a position, keys and values.
    pub elements: u64,
    /// The last so many positions are kept; all, if there is no window.
    pub window: Option<u64>,
}

/// What the keys and values of a sequence take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Cache {
    /// Layers, by what they keep.
    pub groups: Vec<CacheGroup>,
    /// What is assumed: sentences.
    pub assumes: Vec<String>,
}

impl Cache {
    /// Bytes for one sequence of so many positions, with elements of this type, such as `f16`
    /// or the blocks of `q8_0`. `None` for a type without a width.
    ///
    /// ```
    /// use weighbridge::core::DType;
    /// use weighbridge::{Summariser, Value};
    ///
    /// let mut summariser = Summariser::default();
    /// summariser.metadata("general.architecture", &Value::from("llama"));
    /// for (key, value) in [
    ///     ("llama.block_count", 32),
    ///     ("llama.embedding_length", 4096),
    ///     ("llama.attention.head_count", 32),
    ///     ("llama.attention.head_count_kv", 8),
    /// ] {
    ///     summariser.metadata(key, &Value::Int(value));
    /// }
    /// let cache = summariser.finish().cache.unwrap();
    /// assert_eq!(cache.bytes(8192, DType::F16), Some((1 << 30) as f64));
    /// ```
    pub fn bytes(&self, positions: u64, dtype: DType) -> Option<f64> {
        let (unit, width) = dtype.unit()?;
        let elements = self.groups.iter().fold(0.0, |sum, group| {
            let kept = group.window.map_or(positions, |window| window.min(positions));
            sum + group.layers as f64 * group.elements as f64 * kept as f64
        });
        Some(elements * f64::from(width) / f64::from(unit))
    }

    fn add(&mut self, elements: u64, window: Option<u64>) {
        let same = |group: &&mut CacheGroup| (group.elements, group.window) == (elements, window);
        match self.groups.iter_mut().find(same) {
            Some(group) => group.layers += 1,
            None => self.groups.push(CacheGroup { layers: 1, elements, window }),
        }
    }
}

/// What is certain of it, or why nothing is.
pub(super) fn of(settings: &Settings, facts: &[Fact], counted: &Counted) -> Result<Cache, String> {
    if settings.says("attention.causal").and_then(Value::as_bool) == Some(false) {
        return Err("the model reads all of its input at once (attention is not causal)".to_owned());
    }
    let both = settings.says("is_encoder_decoder").and_then(Value::as_bool) == Some(true);
    let named = Fact::value(facts, "architecture").and_then(Value::as_str).unwrap_or_default();
    if both || named.starts_with("t5") {
        return Err("the model has an encoder and a decoder".to_owned());
    }
    let number = |name: &str| Fact::number(facts, name);
    let recurrent = settings.has_prefix("ssm.") || settings.has_prefix("wkv.");
    let heads = Fact::value(facts, "head_count_kv").or(Fact::value(facts, "head_count"));
    if recurrent && heads.and_then(Value::as_list).is_none() {
        return Err(
            "some layers keep a state instead of keys and values, and which ones is not said"
                .to_owned(),
        );
    }
    if settings.says("full_attention_interval").is_some() {
        return Err("some layers keep a state instead of keys and values".to_owned());
    }
    if let Some(Value::List(kinds)) = Fact::value(facts, "sliding_window_pattern")
        && kinds.iter().any(keeps_a_state)
    {
        return Err("some layers keep a state instead of keys and values".to_owned());
    }
    let mut cache = Cache::default();
    let whole = "one sequence; a reader may reserve more".to_owned();
    let Some(layers) = number("block_count").filter(|_| settings.any()) else {
        return from_shapes(counted, cache);
    };
    if layers == 0 || layers > MOST_LAYERS {
        return Err(alloc::format!("the number of blocks, {layers}, is not believable"));
    }
    cache.assumes.push(whole);
    // Predictions of further tokens, and layers that use what others keep.
    let without = ["nextn_predict_layers", "attention.shared_kv_layers"];
    let without =
        without.iter().filter_map(|key| settings.number(key)).fold(0, u64::saturating_add);
    let layers = layers.saturating_sub(without);
    if without > 0 {
        cache.assumes.push(alloc::format!("{without} of the blocks keep nothing of their own"));
    }
    let windows = windows(settings, facts, layers, &mut cache);
    if let Some(rank) = number("kv_lora_rank").filter(|rank| *rank > 0) {
        let Some(rope) = number("rope_dimension_count") else {
            return Err("attention is latent, and the part that is rotated is not said".to_owned());
        };
        cache.assumes.push(alloc::format!(
            "attention is latent: a layer keeps {rank} + {rope} elements for a position, not the keys and values of each head"
        ));
        (0..layers).for_each(|layer| cache.add(rank.saturating_add(rope), windows(layer)));
        return Ok(cache);
    }
    let missing = |what: &str| alloc::format!("{what} is not said");
    let Some(heads) = heads else {
        return from_shapes(counted, cache).map_err(|_| missing("the number of heads"));
    };
    let (Some(key), Some(value)) = (number("key_length"), number("value_length")) else {
        return from_shapes(counted, cache).map_err(|_| missing("the length of a head"));
    };
    // Layers with a window may have shorter heads.
    let narrow = settings
        .number("attention.key_length_swa")
        .zip(settings.number("attention.value_length_swa"));
    for layer in 0..layers {
        let heads = match heads {
            Value::List(list) => match list.get(layer as usize) {
                Some(heads) => whole_number(heads),
                None => {
                    return Err("the list of heads is shorter than the list of blocks".to_owned());
                }
            },
            heads => whole_number(heads),
        };
        let Some(heads) = heads else { return Err(missing("the number of heads")) };
        let window = windows(layer);
        let (key, value) = narrow.filter(|_| window.is_some()).unwrap_or((key, value));
        let elements = heads.saturating_mul(key.saturating_add(value));
        if elements > 0 {
            cache.add(elements, window);
        }
    }
    if recurrent {
        cache.assumes.push("the state of layers without attention is not counted".to_owned());
    }
    if cache.groups.is_empty() { Err(missing("the number of heads")) } else { Ok(cache) }
}

/// Whether a layer of this type keeps something else than keys and values.
fn keeps_a_state(kind: &Value) -> bool {
    const ATTENTION: [&str; 3] = ["full_attention", "sliding_attention", "chunked_attention"];
    matches!(kind, Value::Text(kind) if !ATTENTION.iter().any(|known| *kind == *known))
}

/// The number, unless it is negative.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    u64::try_from(value.as_int()?).ok()
}

/// The window of each layer, where it is said which layers have one.
fn windows(
    settings: &Settings,
    facts: &[Fact],
    layers: u64,
    cache: &mut Cache,
) -> impl Fn(u64) -> Option<u64> + use<> {
    let window = Fact::number(facts, "sliding_window").filter(|window| *window > 0);
    let pattern = Fact::value(facts, "sliding_window_pattern").cloned();
    let known = match &pattern {
        Some(Value::List(list)) => list.len() as u64 >= layers,
        Some(every) => whole_number(every).is_some(),
        None => false,
    };
    let used = settings.says("use_sliding_window").and_then(Value::as_bool) != Some(false);
    if let Some(window) = window.filter(|_| used) {
        cache.assumes.push(if known {
            alloc::format!("layers with a window keep its {window} positions")
        } else {
            alloc::format!("every layer keeps all positions: which of them have the window of {window} is not said, so this is the most that it takes")
        });
    }
    let window = window.filter(|_| known && used);
    move |layer| {
        let window = window?;
        let slides = match pattern.as_ref()? {
            Value::List(list) => match list.get(layer as usize)? {
                Value::Bool(slides) => *slides,
                Value::Int(slides) => *slides != 0,
                Value::Text(kind) => *kind == "sliding_attention",
                _ => false,
            },
            // Every so many layers one sees everything: of 6, five have the window.
            every => match whole_number(every)? {
                0 => true,
                every => layer % every < every - 1,
            },
        };
        slides.then_some(window)
    }
}

/// By the rows of the projections of each block.
fn from_shapes(counted: &Counted, mut cache: Cache) -> Result<Cache, String> {
    if counted.rows.len() as u64 > MOST_LAYERS {
        let layers = counted.rows.len();
        return Err(alloc::format!("the number of blocks, {layers}, is not believable"));
    }
    let mut seen = 0;
    for rows in &counted.rows {
        let elements = match (rows.latent, rows.key, rows.value) {
            (Some(latent), ..) => latent,
            (_, Some(key), Some(value)) => key.saturating_add(value),
            _ => continue,
        };
        seen += 1;
        cache.add(elements, None);
    }
    if seen == 0 || seen < counted.rows.len() {
        let why = "neither settings nor the shapes of all blocks say how many keys and values a layer keeps";
        return Err(why.to_owned());
    }
    cache.assumes = alloc::vec![
        "one sequence; a reader may reserve more".to_owned(),
        "from shapes, for a model that writes text: every layer keeps a row of its key and value projections for each position, without a window".to_owned(),
    ];
    Ok(cache)
}
