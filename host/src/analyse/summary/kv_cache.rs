//! The memory for keys and values per position.

use super::count::Counted;
use super::facts::{Fact, Settings};
use super::layers::{Kind, Layers, MOST_LAYERS};
use super::state::{self, CacheState};
use crate::base::text::plural;
use crate::base::value::Value;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::DType;

/// Layers that keep the same amount per position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct CacheGroup {
    /// Number of layers.
    pub layers: u64,
    /// Elements that each layer keeps per position, for keys and values.
    pub elements: u64,
    /// Number of most recent positions kept; all if there is no window.
    pub window: Option<u64>,
}

/// The memory for a sequence's keys and values, and for its states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Cache {
    /// Layers, grouped by what they keep.
    pub groups: Vec<CacheGroup>,
    /// Layers that keep a state, with or without keys and values.
    pub state: Option<CacheState>,
    /// The assumptions, as sentences.
    pub assumes: Vec<String>,
}

impl Cache {
    /// Bytes of keys and values for one sequence of `positions` positions, with elements of a
    /// type such as `f16` or the blocks of `q8_0`. `None` for a type without a width.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::DType;
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

/// Returns the cache as far as it is certain, or why it is unknown.
pub(super) fn of(
    settings: &Settings,
    facts: &[Fact],
    counted: &Counted,
    layers: &Result<Option<Layers>, String>,
) -> Result<Cache, String> {
    if settings.says("attention.causal").and_then(Value::as_bool) == Some(false) {
        return Err("the model reads all of its input at once (attention is not causal)".to_owned());
    }
    let both = settings.says("is_encoder_decoder").and_then(Value::as_bool) == Some(true);
    let named = Fact::value(facts, "architecture").and_then(Value::as_str).unwrap_or_default();
    if both || named.starts_with("t5") {
        return Err("the model has an encoder and a decoder".to_owned());
    }
    if is_encoder(named) && settings.says("is_decoder").and_then(Value::as_bool) != Some(true) {
        return Err("the model is an encoder, which reads all of its input at once".to_owned());
    }
    let layers = layers.as_ref().map_err(Clone::clone)?.as_ref();
    let mut cache = Cache::default();
    let Some(layers) = layers.filter(|_| settings.any()) else {
        return from_shapes(counted, cache);
    };
    cache.assumes.push("one sequence; a reader may reserve more".to_owned());
    if layers.ahead > 0 {
        let ahead = plural(layers.ahead, "block");
        cache.assumes.push(format!("{ahead} for predicting further tokens not counted"));
    }
    if layers.shared > 0 {
        let shared = plural(layers.shared, "layer");
        cache.assumes.push(format!("the last {shared} without keys and values of their own"));
    }
    let missing = |what: &str| format!("{what} is not specified");
    let heads = Heads::of(facts, layers);
    let mut windows = None;
    for (layer, kind) in layers.all().enumerate() {
        if !kind.attends() || layer as u64 >= layers.count - layers.shared {
            continue;
        }
        let heads = match &heads {
            Ok(heads) => heads,
            // If all blocks are alike, shapes give the same answer.
            Err(what) if layers.plain() => {
                return from_shapes(counted, cache).map_err(|_| missing(what));
            }
            Err(what) => return Err(missing(what)),
        };
        if windows.is_none() {
            windows = Some(Windows::of(settings, facts, layers, &mut cache)?);
        }
        let window = windows.as_ref().and_then(|windows| windows.at(layer, kind));
        let elements = heads.elements(settings, layer, kind, window.is_some())?;
        if elements > 0 {
            cache.add(elements, window);
        }
    }
    if let (Some(Ok(Heads::Latent { rank, rope })), false) = (Some(&heads), cache.groups.is_empty())
    {
        cache.assumes.push(format!(
            "attention is latent: a layer keeps {rank} + {rope} elements for a position, not the keys and values of each head"
        ));
    }
    let states = layers.all().filter(|kind| kind.has_state()).count() as u64;
    if states > 0 {
        let elements = state::elements(settings, facts);
        cache.state = Some(CacheState { layers: states, elements });
        let states = plural(states, "layer");
        cache.assumes.push(match elements {
            Some(_) => format!("the state of {states} is in f32, as in llama.cpp, and its size does not depend on the length"),
            None => format!("the state of {states} is not counted: its size is not specified"),
        });
    }
    if ["attention.indexer.key_length", "index_head_dim"]
        .iter()
        .any(|key| settings.says(key).is_some())
    {
        cache.assumes.push("the keys of the attention indexer are not counted".to_owned());
    }
    if cache.groups.is_empty() && states == 0 {
        return Err(missing("the number of heads"));
    }
    Ok(cache)
}

/// Whether an architecture, or the class of a `config.json`, is an encoder: of text, as BERT and its
/// kin and CLIP's text model are, or of images.
fn is_encoder(architecture: &str) -> bool {
    const BEGINNINGS: [&str; 8] =
        ["clip", "siglip", "vit", "dinov2", "dinov3", "electra", "deberta", "mpnet"];
    let name = architecture.to_ascii_lowercase();
    let known = name.contains("bert") || BEGINNINGS.iter().any(|it| name.starts_with(it));
    known && !name.contains("causallm") && !name.contains("lmheadmodel")
}

/// The dimensions that decide how much an attention layer keeps per position.
enum Heads<'f> {
    /// Compressed keys and values, and the rotated part.
    Latent { rank: u64, rope: u64 },
    /// KV heads, or a list of them per layer; the lengths of a key and of a value.
    Each { heads: &'f Value, key: u64, value: u64 },
}

impl<'f> Heads<'f> {
    /// Reads the dimensions, or returns what is missing.
    fn of(facts: &'f [Fact], layers: &Layers) -> Result<Self, &'static str> {
        let number = |name: &str| Fact::number(facts, name);
        if let Some(rank) = number("kv_lora_rank").filter(|rank| *rank > 0) {
            let rope = number("rope_dimension_count");
            let rope = rope.ok_or("the rotated part of a latent key")?;
            return Ok(Heads::Latent { rank, rope });
        }
        let heads = Fact::value(facts, "head_count_kv").ok_or("the number of heads")?;
        if heads.as_list().is_some_and(|list| !layers.fits(list.len())) {
            return Err("the number of heads of each layer");
        }
        let (Some(key), Some(value)) = (number("key_length"), number("value_length")) else {
            return Err("the length of a head");
        };
        Ok(Heads::Each { heads, key, value })
    }

    /// Elements that a layer keeps per position.
    fn elements(
        &self,
        settings: &Settings,
        layer: usize,
        kind: Kind,
        narrow: bool,
    ) -> Result<u64, String> {
        let Heads::Each { heads, key, value } = self else {
            let Heads::Latent { rank, rope } = self else { return Ok(0) };
            return Ok(rank.saturating_add(*rope));
        };
        let heads = match heads {
            Value::List(list) => list.get(layer).and_then(whole_number),
            heads => whole_number(heads),
        };
        let heads = heads.ok_or("the number of heads is not specified")?;
        // Gemma 4's global layers have longer heads, and may have fewer.
        if let (Kind::Attention, Some(length)) =
            (kind, settings.configured_number("global_head_dim"))
            && settings.architecture().is_none()
        {
            let fewer = settings.says("attention_k_eq_v").and_then(Value::as_bool) == Some(true);
            let fewer = settings.configured_number("num_global_key_value_heads").filter(|_| fewer);
            let each = length.saturating_mul(2);
            return Ok(fewer.unwrap_or(heads).saturating_mul(each));
        }
        // Layers with a window may have shorter heads.
        let shorter = settings
            .number("attention.key_length_swa")
            .zip(settings.number("attention.value_length_swa"));
        let (key, value) = shorter.filter(|_| narrow).unwrap_or((*key, *value));
        Ok(heads.saturating_mul(key.saturating_add(value)))
    }
}

/// The value of an integer that is not negative.
pub(super) fn whole_number(value: &Value) -> Option<u64> {
    u64::try_from(value.as_int()?).ok()
}

/// The window of each layer, if it is known which layers have one.
struct Windows {
    window: Option<u64>,
    /// A list by layer, or a period; `None` if the kinds of layers decide.
    pattern: Option<Value>,
}

impl Windows {
    fn of(
        settings: &Settings,
        facts: &[Fact],
        layers: &Layers,
        cache: &mut Cache,
    ) -> Result<Self, String> {
        let used = settings.says("use_sliding_window").and_then(Value::as_bool) != Some(false);
        let window = Fact::number(facts, "sliding_window").filter(|window| *window > 0 && used);
        if layers.windowed {
            let any = layers.all().any(|kind| kind == Kind::Window);
            if any && used && window.is_none() {
                return Err("the window length is not specified".to_owned());
            }
            if let Some(window) = window.filter(|_| any) {
                cache.assumes.push(format!("layers with a window keep {window} positions"));
            }
            return Ok(Windows { window, pattern: None });
        }
        let pattern = Fact::value(facts, "sliding_window_pattern").cloned();
        let known = match &pattern {
            Some(Value::List(list)) => list.len() as u64 >= layers.count,
            Some(every) => whole_number(every).is_some(),
            None => false,
        };
        if let Some(window) = window {
            cache.assumes.push(if known {
                format!("layers with a window keep {window} positions")
            } else {
                format!("every layer is assumed to keep all positions: which layers have the window of {window} is not specified, so this is an upper bound")
            });
        }
        Ok(Windows { window: window.filter(|_| known), pattern })
    }

    fn at(&self, layer: usize, kind: Kind) -> Option<u64> {
        let slides = match &self.pattern {
            None => kind == Kind::Window,
            Some(Value::List(list)) => match list.get(layer)? {
                Value::Bool(slides) => *slides,
                Value::Int(slides) => *slides != 0,
                _ => false,
            },
            // One layer per period attends to everything: of 6, five have the window.
            Some(every) => match whole_number(every)? {
                0 => true,
                every => layer as u64 % every < every - 1,
            },
        };
        self.window.filter(|_| slides)
    }
}

/// Derives the cache from the rows of each block's projections.
fn from_shapes(counted: &Counted, mut cache: Cache) -> Result<Cache, String> {
    if counted.rows.len() as u64 > MOST_LAYERS {
        let layers = counted.rows.len();
        return Err(format!("the number of blocks, {layers}, is implausible"));
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
        let why = "neither the settings nor the shapes of all blocks say how many keys and values a layer keeps";
        return Err(why.to_owned());
    }
    cache.assumes = alloc::vec![
        "one sequence; a reader may reserve more".to_owned(),
        "derived from shapes, assuming a model that generates text: every layer keeps a row of its key and value projections for each position, without a window".to_owned(),
    ];
    Ok(cache)
}
