//! What each layer of a model keeps for a sequence: keys and values, a state, or nothing.

use super::facts::{Fact, Origin, Settings};
use super::kv_cache::whole_number;
use super::note;
use crate::base::value::Value;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// More layers than any model has; larger numbers are rejected.
pub(super) const MOST_LAYERS: u64 = 1 << 12;

/// What a layer keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Keys and values.
    Attention,
    /// Keys and values of the positions in a window.
    Window,
    /// A state of fixed size.
    State,
    /// Keys and values, and a state.
    Both,
    Nothing,
}

impl Kind {
    /// Parses a layer type as `transformers` writes it in lists.
    fn of(text: &str) -> Option<Kind> {
        Some(match text {
            "full_attention" | "attention" | "chunked_attention" => Kind::Attention,
            "sliding_attention" => Kind::Window,
            "mamba" | "mamba2" | "linear_attention" | "conv" | "recurrent" => Kind::State,
            "mlp" | "moe" => Kind::Nothing,
            _ => return None,
        })
    }

    fn of_letter(letter: char) -> Option<Kind> {
        Some(match letter {
            '*' => Kind::Attention,
            'M' => Kind::State,
            '-' | 'E' => Kind::Nothing,
            _ => return None,
        })
    }

    pub(super) const fn attends(self) -> bool {
        matches!(self, Kind::Attention | Kind::Window | Kind::Both)
    }

    pub(super) const fn has_state(self) -> bool {
        matches!(self, Kind::State | Kind::Both)
    }
}

/// The layers that each token passes through.
#[derive(Debug)]
pub(super) struct Layers {
    /// Number of layers that predict the next token.
    pub(super) count: u64,
    /// Number of layers that predict further tokens.
    pub(super) ahead: u64,
    /// Number of layers at the end that reuse the keys and values of earlier ones.
    pub(super) shared: u64,
    /// What each layer keeps; if unknown, all have attention.
    kinds: Option<Vec<Kind>>,
    /// Whether `kinds` states which layers have a window.
    pub(super) windowed: bool,
}

impl Layers {
    pub(super) fn kind(&self, layer: u64) -> Kind {
        let known = self.kinds.as_ref().and_then(|kinds| kinds.get(usize::try_from(layer).ok()?));
        known.copied().unwrap_or(Kind::Attention)
    }

    /// Whether all blocks are alike, as far as is known.
    pub(super) const fn plain(&self) -> bool {
        self.kinds.is_none() && self.ahead == 0 && self.shared == 0
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Kind> + '_ {
        (0..self.count).map(|layer| self.kind(layer))
    }

    /// Whether a list of this length has an item for each layer.
    pub(super) fn fits(&self, len: usize) -> bool {
        let len = len as u64;
        len == self.count || len == self.count + self.ahead
    }
}

/// The layers; `None` if their number is unknown.
pub(super) fn of(settings: &Settings, facts: &[Fact]) -> Result<Option<Layers>, String> {
    let said = facts.iter().find(|fact| fact.name == "block_count");
    let Some((said, blocks)) = said.and_then(|fact| Some((fact.from, whole_number(&fact.value)?)))
    else {
        return if keeps_states(settings) { Err(which()) } else { Ok(None) };
    };
    if blocks == 0 || blocks > MOST_LAYERS {
        return Err(format!("the number of blocks, {blocks}, is implausible"));
    }
    let optional = |name: &str| match Fact::value(facts, name) {
        None => Ok(0),
        Some(value) => match whole_number(value).filter(|number| *number < blocks) {
            Some(number) => Ok(number),
            None => Err(format!("{name} is {value}, but there are {blocks} blocks")),
        },
    };
    let ahead = optional("nextn_layer_count")?;
    if ahead > 0 && said == Origin::Names {
        return Err("how many layers a token passes through is not specified".to_owned());
    }
    // A config.json does not count layers that predict further tokens; metadata does.
    let count = if said == Origin::Metadata { blocks - ahead } else { blocks };
    let shared = optional("kv_shared_layer_count")?;
    if shared >= count {
        return Err(format!("{shared} of {count} layers use keys and values of earlier ones"));
    }
    let mut layers = Layers { count, ahead, shared, kinds: None, windowed: false };
    layers.kinds = in_metadata(settings, facts, &layers)?;
    if layers.kinds.is_none() {
        (layers.kinds, layers.windowed) = in_config(settings, &layers)?;
    }
    if layers.kinds.is_none() && keeps_states(settings) {
        return Err(which());
    }
    Ok(Some(layers))
}

fn which() -> String {
    "some layers keep a state instead of keys and values, but which ones is not specified"
        .to_owned()
}

fn wrong_length(key: &str, len: usize, layers: &Layers) -> String {
    format!("{key} has {len} items, but there are {} layers", layers.count)
}

/// Reads layer kinds from GGUF keys.
fn in_metadata(
    settings: &Settings,
    facts: &[Fact],
    layers: &Layers,
) -> Result<Option<Vec<Kind>>, String> {
    let Some(architecture) = settings.architecture() else { return Ok(None) };
    let every = |kind| Ok(Some((0..layers.count).map(|_| kind).collect()));
    if let Some((key, value)) = settings.own("attention.recurrent_layers") {
        let list = value.as_list().ok_or_else(which)?;
        if !layers.fits(list.len()) {
            return Err(wrong_length(&key, list.len(), layers));
        }
        let kind = |value: &Value| {
            let recurrent = value.as_bool().or_else(|| Some(value.as_int()? != 0))?;
            Some(if recurrent { Kind::State } else { Kind::Attention })
        };
        return list.iter().map(kind).collect::<Option<_>>().map(Some).ok_or_else(which);
    }
    if let Some((_, value)) = settings.own("full_attention_interval") {
        return last_of_every(layers, value).map(Some);
    }
    const STATES: [&str; 4] = ["ssm.", "wkv.", "shortconv.", "kda."];
    if !STATES.iter().any(|prefix| settings.has_prefix(prefix)) {
        return Ok(None);
    }
    if architecture == "falcon-h1" {
        return every(Kind::Both);
    }
    if ["mamba", "rwkv", "arwkv"].iter().any(|name| architecture.starts_with(name)) {
        return every(Kind::State);
    }
    // Layers without attention have no KV heads. In Nemotron-H, layers with a feed-forward part
    // have nothing else.
    let heads = Fact::value(facts, "head_count_kv").and_then(Value::as_list).ok_or_else(which)?;
    let forward = Fact::value(facts, "feed_forward_length").and_then(Value::as_list);
    let nemotron = architecture.starts_with("nemotron_h");
    let fits = |list: &[Value]| layers.fits(list.len());
    if !fits(heads) || nemotron && !forward.is_some_and(fits) {
        return Err(which());
    }
    let kind = |(layer, heads): (usize, &Value)| {
        if whole_number(heads)? > 0 {
            return Some(Kind::Attention);
        }
        let forward =
            forward.filter(|_| nemotron).map_or(Some(0), |list| whole_number(list.get(layer)?))?;
        Some(if forward > 0 { Kind::Nothing } else { Kind::State })
    };
    heads.iter().enumerate().map(kind).collect::<Option<_>>().map(Some).ok_or_else(which)
}

/// Reads layer kinds from a `config.json`, and whether they state which layers have a window.
fn in_config(settings: &Settings, layers: &Layers) -> Result<(Option<Vec<Kind>>, bool), String> {
    let types = ["layer_types", "layers_block_type"];
    if let Some((key, value)) = types.iter().find_map(|key| settings.configured(key)) {
        let list = value.as_list().ok_or_else(which)?;
        if !layers.fits(list.len()) {
            return Err(wrong_length(&key, list.len(), layers));
        }
        let kind = |value: &Value| {
            let unknown = || format!("it is unknown what layers of the type {value} keep");
            value.as_str().and_then(Kind::of).ok_or_else(unknown)
        };
        return Ok((Some(list.iter().map(kind).collect::<Result<_, _>>()?), true));
    }
    if let Some((key, value)) = settings.configured("hybrid_override_pattern") {
        let pattern = value.as_str().ok_or_else(which)?;
        let len = pattern.chars().count();
        if !layers.fits(len) {
            return Err(wrong_length(&key, len, layers));
        }
        let kind = |letter| {
            let unknown = || format!("it is unknown what layers of the type {letter:?} keep");
            Kind::of_letter(letter).ok_or_else(unknown)
        };
        return Ok((Some(pattern.chars().map(kind).collect::<Result<_, _>>()?), false));
    }
    if let Some((_, period)) = settings.configured("attn_layer_period") {
        let (_, offset) = settings.configured("attn_layer_offset").ok_or_else(which)?;
        let attends = every(whole_number(period), whole_number(offset)).ok_or_else(|| {
            format!("attn_layer_period is {period}, and attn_layer_offset {offset}")
        })?;
        return Ok((Some(periodic(layers, attends)), false));
    }
    if let Some((_, interval)) = settings.configured("full_attention_interval") {
        return Ok((Some(last_of_every(layers, interval)?), false));
    }
    let indices = ["attn_layer_indices", "full_attn_idxs"];
    if let Some((key, value)) = indices.iter().find_map(|key| settings.configured(key)) {
        let mut kinds: Vec<Kind> = (0..layers.count).map(|_| Kind::State).collect();
        for index in value.as_list().ok_or_else(which)? {
            let layer = whole_number(index).and_then(|layer| usize::try_from(layer).ok());
            match layer.and_then(|layer| kinds.get_mut(layer)) {
                Some(kind) => *kind = Kind::Attention,
                None => {
                    return Err(format!(
                        "{key} contains {index}, but there are {} layers",
                        layers.count
                    ));
                }
            }
        }
        return Ok((Some(kinds), false));
    }
    if let Some((key, value)) = settings.configured("attn_type_list") {
        let list = value.as_list().ok_or_else(which)?;
        if !layers.fits(list.len()) {
            return Err(wrong_length(&key, list.len(), layers));
        }
        let kind = |value: &Value| match whole_number(value)? {
            0 => Some(Kind::State),
            1 => Some(Kind::Attention),
            _ => None,
        };
        let kinds = list.iter().map(kind).collect::<Option<_>>().ok_or_else(which)?;
        return Ok((Some(kinds), false));
    }
    let model = settings.configured("model_type").and_then(|(_, value)| value.as_str());
    let both =
        (model == Some("falcon_h1")).then(|| (0..layers.count).map(|_| Kind::Both).collect());
    Ok((both, false))
}

/// Gives the last layer of each interval attention, and the others a state.
fn last_of_every(layers: &Layers, interval: &Value) -> Result<Vec<Kind>, String> {
    let number = whole_number(interval);
    let attends = every(number, number.and_then(|number| number.checked_sub(1)))
        .ok_or_else(|| format!("full_attention_interval is {interval}"))?;
    Ok(periodic(layers, attends))
}

fn periodic(layers: &Layers, attends: impl Fn(u64) -> bool) -> Vec<Kind> {
    let kind = |layer| if attends(layer) { Kind::Attention } else { Kind::State };
    (0..layers.count).map(kind).collect()
}

/// Returns whether a layer is at the offset in its period; `None` if no layer can be.
fn every(period: Option<u64>, offset: Option<u64>) -> Option<impl Fn(u64) -> bool> {
    let (period, offset) = (period?, offset?);
    (offset < period).then_some(move |layer: u64| layer % period == offset)
}

/// Whether the settings contain dimensions of layers that keep a state.
fn keeps_states(settings: &Settings) -> bool {
    const METADATA: [&str; 4] = ["ssm.", "wkv.", "shortconv.", "kda."];
    const CONFIG: [&str; 10] = [
        "mamba_d_state",
        "mamba_d_conv",
        "ssm_state_size",
        "state_size",
        "linear_num_key_heads",
        "linear_attn_config.kda_layers",
        "conv_L_cache",
        "block_types",
        "_block_types",
        "ssm_cfg",
    ];
    METADATA.iter().any(|prefix| settings.has_prefix(prefix))
        || CONFIG.iter().any(|key| settings.configured(key).is_some())
}

/// Adds the number of layers of each kind.
pub(super) fn describe(
    found: &Result<Option<Layers>, String>,
    settings: &Settings,
    facts: &mut Vec<Fact>,
    notes: &mut Vec<String>,
) {
    let Ok(Some(layers)) = found else { return };
    let mut add = |name, count: usize| {
        let value = Value::Int(count as i128);
        facts.push(Fact { name, value, from: Origin::Computed, key: String::new() });
    };
    if layers.all().any(|kind| !matches!(kind, Kind::Attention | Kind::Window)) {
        add("attention_layer_count", layers.all().filter(|kind| kind.attends()).count());
        add("state_layer_count", layers.all().filter(|kind| kind.has_state()).count());
    }
    let [period, offset] = ["expert_layer_period", "expert_layer_offset"]
        .map(|key| settings.configured(key).map(|(_, value)| value));
    let Some((period, offset)) = period.zip(offset) else { return };
    match every(whole_number(period), whole_number(offset)) {
        Some(has) => {
            add("expert_layer_count", (0..layers.count).filter(|layer| has(*layer)).count());
        }
        None => note(
            notes,
            format!(
                "expert_layer_period is {period}, and expert_layer_offset {offset}: which layers have experts is unknown"
            ),
        ),
    }
}
