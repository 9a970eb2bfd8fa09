//! The base of an adapter, if it lies in the folder of the adapter, below it, or in one beside it.
//!
//! On other machines a base has a name that only a server knows. So it is compared only if its path
//! is that of a folder here, if the model beside the adapter says that it is that base, or if a folder
//! beside that of the adapter has its name.

use super::adapter::Matrix;
use super::weights::Weights;
use super::{Contradiction, float, shape, short};
use crate::base::python_json::Json;
use crate::base::text::{plural, thousands};
use crate::check::folders;
use crate::input::place::Place;
use crate::repository::content;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

const SETTINGS: &str = "config.json";
/// Longest settings of a base that are read.
const LONG: u64 = 2 << 20;
/// What the weights of a module are called. Packed ones have other shapes.
const ENDS: [&str; 2] = [".weight", ".qweight"];

/// The modules of a base, with the shapes of their weights if these are not packed.
type Modules = BTreeMap<String, Option<Vec<u64>>>;
type Module<'m> = (&'m str, &'m Option<Vec<u64>>);

/// Where the settings of the base lie, if it is here.
pub(super) fn beside<'p>(path: &str, place: &'p dyn Place) -> Option<Box<dyn Place + 'p>> {
    let path = path.strip_prefix("./").unwrap_or(path).trim_end_matches('/');
    let own = place.beside(SETTINGS);
    if path == "." || names(&*own, path) {
        return Some(own);
    }
    let is_name = |it: &str| !it.is_empty() && it != ".." && it != "." && !it.contains([':', '\\']);
    let below = format!("{path}/{SETTINGS}");
    if !path.split('/').all(is_name) || place.leaves_below(&below) {
        return None;
    }
    let base = place.beside(&below);
    let is_there = !base.leaves() && base.open().is_ok();
    is_there.then_some(base)
}

/// Where the settings of the base lie in a folder beside that of the adapter, by the name of the base:
/// `base` or `me/base`, or in the cache of huggingface_hub.
pub(super) fn near<'p>(path: &str, place: &'p dyn Place) -> Option<Box<dyn Place + 'p>> {
    let path = path.trim_end_matches('/').replace('\\', "/");
    let is_name = |it: &&str| !it.is_empty() && *it != ".." && *it != "." && !it.contains(':');
    let mut parts = path.rsplit('/').filter(is_name);
    let name = parts.next()?;
    let owner = parts.next().unwrap_or(name);
    let there = |level: usize, path: String| {
        let (base, _) = place.above(level, &path)?;
        (!base.leaves() && base.open().is_ok()).then_some(base)
    };
    let cached = || {
        // The adapter lies in a snapshot of its own.
        let root = format!("models--{owner}--{name}");
        let (main, _) = place.above(3, &format!("{root}/refs/main"))?;
        let revision = content::whole(&*main.open().ok()?, 100).ok()??;
        let revision = str::from_utf8(&revision).ok()?.trim();
        let is_hex = !revision.is_empty() && revision.bytes().all(|it| it.is_ascii_hexdigit());
        is_hex.then(|| there(3, format!("{root}/snapshots/{revision}/{SETTINGS}")))?
    };
    there(1, format!("{name}/{SETTINGS}"))
        .or_else(|| there(2, format!("{owner}/{name}/{SETTINGS}")))
        .or_else(cached)
}

/// Whether the settings at a place say that the model beside them is this one.
fn names(place: &dyn Place, path: &str) -> bool {
    let read = || {
        let input = if place.leaves() { None } else { place.open().ok() }?;
        let bytes = content::whole(&*input, LONG).ok()??;
        let json = Json::parse(str::from_utf8(&bytes).ok()?)?;
        Some(json.get("_name_or_path")?.text()? == path)
    };
    !path.is_empty() && read().unwrap_or(false)
}

/// Each matrix fits the module that it changes. `turned`: some weights have their input first.
pub(super) fn compare(
    matrices: &[Matrix<'_>],
    base: &dyn Place,
    turned: bool,
    found: &mut Vec<Contradiction>,
) {
    let modules = modules(base);
    let known: Vec<_> = matrices.iter().map(|it| (it, module(it.module, &modules))).collect();
    let why = misfit(&known, turned).or_else(|| too_deep(&known, &modules)).or_else(|| {
        // Wrappers of a model rename its parts, but not the modules in a layer.
        let kinds: BTreeSet<_> = modules.keys().map(|name| kind(name)).collect();
        let all_other = known.iter().all(|(it, _)| !kinds.contains(kind(it.module)));
        let (first, rest) = known.split_first().filter(|_| all_other && !modules.is_empty())?;
        let (name, more) = (short(first.0.module), more_of(rest.len()));
        Some(format!("the base has no module {name}{more}"))
    });
    found.extend(why.map(|why| Contradiction { rule: folders::ADAPTER_SHAPE, why }));
}

/// The modules of a base by their names, and without the first part of their names.
fn modules(base: &dyn Place) -> Modules {
    let mut modules = Modules::new();
    let index = "model.safetensors.index.json";
    let Some(mut weights) = Weights::beside(base, "model.safetensors", Some(index)) else {
        return modules;
    };
    weights.each(|name, shaped| {
        let Some(module) = ENDS.iter().find_map(|end| name.strip_suffix(end)) else { return };
        let extents = (float(shaped.dtype) && shaped.shape.len() > 1).then_some(shaped.shape);
        if let Some((_, rest)) = module.split_once('.') {
            modules.entry(rest.to_string()).or_insert_with(|| extents.clone());
        }
        modules.insert(module.to_string(), extents);
    });
    // In files that are not here.
    for name in weights.names() {
        let Some(module) = ENDS.iter().find_map(|end| name.strip_suffix(end)) else { continue };
        if let Some((_, rest)) = module.split_once('.') {
            modules.entry(rest.to_string()).or_default();
        }
        modules.entry(module.to_string()).or_default();
    }
    modules
}

/// The first matrix of a module whose layer the base has not: it has the same modules in fewer layers.
fn too_deep(known: &[(&Matrix<'_>, Option<Module<'_>>)], modules: &Modules) -> Option<String> {
    let mut last = BTreeMap::new();
    for (at, no) in modules.keys().filter_map(|name| layer(name)) {
        let last = last.entry(at).or_insert(no);
        *last = (*last).max(no);
    }
    let mut wrong = known.iter().filter_map(|(matrix, module)| {
        let rest = matrix.module.split_once('.').map(|(_, rest)| rest);
        let names = [Some(matrix.module), rest].into_iter().flatten().filter_map(layer);
        let mut layers = names.filter_map(|(at, no)| Some((no, *last.get(&at)?)));
        let (_, last) = layers.next().filter(|(no, last)| module.is_none() && no > last)?;
        Some((matrix.module, last.saturating_add(1)))
    });
    let (name, layers) = wrong.next()?;
    let (layers, more) = (plural(layers, "layer"), more_of(wrong.count()));
    Some(format!("the base has {layers}, and so no {}{more}", short(name)))
}

/// What a module of a layer is called before and after the number of the layer, and that number.
fn layer(name: &str) -> Option<((&str, &str), u64)> {
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let mut at = 0;
    for part in name.split('.') {
        let (before, rest) = (name.get(..at)?, name.get(at + part.len()..)?);
        if is_number(&part) {
            return Some(((before, rest), part.parse().ok()?));
        }
        at += part.len() + 1;
    }
    None
}

/// The first matrix that does not fit its module.
fn misfit(known: &[(&Matrix<'_>, Option<Module<'_>>)], turned: bool) -> Option<String> {
    let mut wrong = known.iter().filter_map(|(matrix, module)| {
        let (name, extents) = (*module)?;
        let extents = extents.as_ref()?;
        let other = *matrix.shaped.shape.get(1 - matrix.axis)?;
        // Those of GPT-2 have, in modules called c_attn, c_proj and c_fc.
        let turned = turned || kind(name).starts_with("c_");
        let has = |axis: usize| extents.get(axis) == Some(&other);
        let fits = has(matrix.base_axis) || turned && has(1 - matrix.base_axis);
        (!fits).then_some((matrix, name, extents))
    });
    let (matrix, name, extents) = wrong.next()?;
    let (has, base, more) = (shape(&matrix.shaped.shape), shape(extents), more_of(wrong.count()));
    let (matrix, name) = (short(matrix.name), short(name));
    Some(format!("{matrix} is {has}, but {name} of the base is {base}{more}"))
}

/// The module of the base with this name, or without its first part: `model` in a model with a head.
fn module<'m>(name: &str, modules: &'m Modules) -> Option<Module<'m>> {
    let rest = name.split_once('.').map(|(_, rest)| rest);
    let mut names = [Some(name), rest].into_iter().flatten();
    names.find_map(|name| modules.get_key_value(name)).map(|(name, extents)| (&**name, extents))
}

/// What a module is in its layer: the last part of its name.
fn kind(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The text about further ones.
pub(super) fn more_of(count: usize) -> String {
    if count == 0 { String::new() } else { format!(", and {} more", thousands(count as u64)) }
}
