//! `adapter_config.json` of PEFT, compared with the tensors of the adapter.

use super::base::{self, more_of};
use super::weights::{Shaped, Weights};
use super::{Contradiction, number, shape, short};
use crate::base::python_json::Json;
use crate::check::folders;
use crate::input::place::Place;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;

/// The matrices of an adapter, the axis of each that is as long as its rank, and the axis of the
/// module's weight that is as long as the other one.
const MATRICES: &[(&str, usize, usize)] = &[
    (".lora_A.", 0, 1),
    (".lora_B.", 1, 0),
    (".lora_embedding_A", 0, 0),
    (".lora_embedding_B", 1, 1),
];
/// Longest name of a module that is compared.
const LONG: usize = 1_000;
/// What wrappers of PEFT put before the name of a module.
const BASE: &str = "base_model.model.";
const BASE_PATH: &str = "base_model_name_or_path";

/// Compares the settings of an adapter with its weights, and with its base.
pub(super) fn compare(
    config: &Json,
    place: &dyn Place,
    weights: &mut Weights<'_>,
    found: &mut Vec<Contradiction>,
) {
    let path = config.get(BASE_PATH).and_then(Json::text).unwrap_or_default();
    let base = base::beside(path, place);
    if base.is_none() {
        is_named(path, found);
    }
    let base = base.or_else(|| base::near(path, place));
    // Other kinds of adapter use the same names for other matrices.
    if config.get("peft_type").and_then(Json::text) != Some("LORA") {
        return;
    }
    let matrices: Vec<_> = weights.opened().filter_map(Matrix::of).collect();
    ranks(config, &matrices, found);
    targets(config, &matrices, found);
    // Experts in one tensor have other shapes.
    let parameters = config.get("target_parameters").is_some_and(|it| !it.items().is_empty());
    if let Some(base) = base.filter(|_| !parameters) {
        let turned = config.get("fan_in_fan_out") == Some(&Json::Bool(true));
        base::compare(&matrices, &*base, turned, found);
    }
}

/// A matrix of an adapter.
pub(super) struct Matrix<'w> {
    pub(super) name: &'w str,
    /// The module that it changes.
    pub(super) module: &'w str,
    /// The axis that is as long as the rank.
    pub(super) axis: usize,
    /// The axis of the module's weight that is as long as the other one.
    pub(super) base_axis: usize,
    pub(super) shaped: Shaped,
}

impl<'w> Matrix<'w> {
    fn of((name, shaped): (&'w str, Shaped)) -> Option<Self> {
        let found = MATRICES.iter().find_map(|(part, axis, base_axis)| {
            let (module, _) = name.split_once(part)?;
            Some((module, *axis, *base_axis))
        });
        let (module, axis, base_axis) = found?;
        let module = module.strip_prefix(BASE).unwrap_or(module);
        Some(Matrix { name, module, axis, base_axis, shaped })
    }
}

/// The base is named so that others find it.
fn is_named(path: &str, found: &mut Vec<Contradiction>) {
    let key = BASE_PATH;
    let drive = path.as_bytes().get(1) == Some(&b':');
    let is_local = path.starts_with(['/', '.', '~']) || path.contains('\\') || drive;
    let why = match path {
        "" => format!("{key} is not given"),
        _ if is_local => format!("{key} is a path of another machine: {}", short(path)),
        _ => return,
    };
    found.push(Contradiction { rule: folders::ADAPTER_BASE, why });
}

/// Each matrix has the rank that is stated.
fn ranks(config: &Json, matrices: &[Matrix<'_>], found: &mut Vec<Contradiction>) {
    let Some(rank) = number(config, "r") else { return };
    // Experts in one tensor have a multiple of the rank.
    let has_parameters = config.get("target_parameters").is_some_and(|it| !it.items().is_empty());
    if has_parameters {
        return;
    }
    let pattern = config.get("rank_pattern").map_or(&[][..], Json::pairs);
    let others: BTreeSet<u64> = pattern
        .iter()
        .filter_map(|(_, rank)| match rank {
            Json::Number(rank) => super::whole(*rank),
            _ => None,
        })
        .collect();
    let fits = |matrix: &&Matrix<'_>| {
        let has = matrix.shaped.shape.get(matrix.axis);
        has.is_none_or(|has| *has == rank || others.contains(has))
    };
    let mut wrong = matrices.iter().filter(|matrix| !fits(matrix));
    let Some(first) = wrong.next() else { return };
    let more = more_of(wrong.count());
    let why =
        format!("r is {rank}, but {} is {}{more}", short(first.name), shape(&first.shaped.shape));
    found.push(Contradiction { rule: folders::ADAPTER_RANK, why });
}

/// Each matrix belongs to a module that is stated.
fn targets(config: &Json, matrices: &[Matrix<'_>], found: &mut Vec<Contradiction>) {
    // An expression, or a word such as `all-linear`, may mean any module.
    let list = |key: &str| -> Option<Vec<&str>> {
        let items = config.get(key)?.items();
        items.iter().map(Json::text).collect::<Option<Vec<_>>>().filter(|it| !it.is_empty())
    };
    let Some(targets) = list("target_modules") else { return };
    let targets: BTreeSet<&str> = targets.into_iter().collect();
    // By the end of its name, from the start or after a dot.
    let is_target = |module: &str| {
        let mut ends = module.match_indices('.').filter_map(|(at, _)| module.get(at + 1..));
        module.len() > LONG || targets.contains(module) || ends.any(|end| targets.contains(end))
    };
    let parameters = list("target_parameters").is_some();
    let mut others = matrices.iter().filter(|it| !is_target(it.module));
    let Some(first) = others.next().filter(|_| !parameters) else { return };
    let more = more_of(others.count());
    let why = format!("target_modules does not name {}{more}", short(first.module));
    found.push(Contradiction { rule: folders::ADAPTER_TARGETS, why });
}
