//! `model_index.json` of diffusers, compared with the folders beside it.

use super::{Contradiction, short};
use crate::base::error::ReadError;
use crate::base::python_json::Json;
use crate::check::folders;
use crate::input::place::Place;
use alloc::format;
use alloc::vec::Vec;

/// Most parts that are looked for. Pipelines have about ten.
const PARTS: usize = 100;
/// Missing parts that are named.
const NAMED: usize = 3;

/// Each part that the pipeline names is there.
pub(super) fn compare(json: &Json, place: &dyn Place) -> Vec<Contradiction> {
    let parts = json.pairs().iter().filter(|(name, value)| {
        // A library and a class; both are null if the pipeline has no such part.
        let is_part = matches!(value.items(), [Json::Text(_), Json::Text(_)]);
        let is_name = !name.is_empty() && !name.contains(['/', '\\', ':']) && name != "..";
        is_part && is_name && !name.starts_with('_')
    });
    // On servers folders have no place of their own.
    if place.above(0, "x").is_none() {
        return Vec::new();
    }
    let lacks = |name: &str| match place.beside(name).open() {
        Ok(_) => true,
        Err(ReadError::NotAFile(_)) => false,
        Err(_) => true,
    };
    let mut missing: Vec<_> =
        parts.take(PARTS).map(|(name, _)| name).filter(|name| lacks(name)).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let more = match missing.len().saturating_sub(NAMED) {
        0 => "".into(),
        more => format!(" and {more} more"),
    };
    missing.truncate(NAMED);
    let names: Vec<_> = missing.into_iter().map(|name| short(name)).collect();
    let why = format!("the folder has no part {}{more}", names.join(", "));
    Vec::from([Contradiction { rule: folders::PIPELINE_PART, why }])
}
