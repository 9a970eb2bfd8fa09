//! Manifests of an Ollama store: which blob is the model, and which are there.

use super::examined::{Class, Examined};
use crate::base::python_json::Json;
use crate::check::folders;
use crate::input::place::Place;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// Folders between a manifest and its store: registry, namespace and model, and some more.
const ABOVE: usize = 8;
/// Most layers that are looked at. Models have fewer than ten.
const LAYERS: usize = 1_000;
/// Layers and faults that are named.
const NAMED: usize = 8;

const FOLDER: &str = "manifests/";
/// What the types of layers begin with.
const TYPE: &str = "application/vnd.ollama.image.";
/// Parts of the name of a model that Ollama leaves out.
const DEFAULTS: [&str; 2] = ["registry.ollama.ai/", "library/"];

/// What a manifest says of its blobs: `None` if this is none, or its store is not known.
pub(super) fn examine(name: &str, json: &Json, place: &dyn Place) -> Option<Examined> {
    let (store, path) = (1..=ABOVE).find_map(|level| {
        let (store, path) = place.above(level, "x")?;
        Some((store, path.strip_prefix(FOLDER)?.to_string()))
    })?;
    let layers = json.get("layers").map_or(&[][..], Json::items);
    let of_ollama =
        |it: &Json| it.get("mediaType").and_then(Json::text).map(|it| it.starts_with(TYPE));
    if !layers.iter().any(|it| of_ollama(it) == Some(true)) {
        return None;
    }
    let mut model = path.trim_end_matches('/');
    for part in DEFAULTS {
        model = model.strip_prefix(part).unwrap_or(model);
    }
    let model = format!("{model}:{name}");
    let config = json.get("config").map(|it| ("settings", it));
    let named = layers.iter().map(|it| {
        let kind = it.get("mediaType").and_then(Json::text).and_then(|it| it.strip_prefix(TYPE));
        (kind.unwrap_or("layer"), it)
    });
    let (mut said, mut faults) = (Vec::new(), Vec::new());
    for (kind, layer) in named.chain(config).take(LAYERS) {
        match Blob::of(layer) {
            None => faults.push(format!("its {kind} has no digest")),
            Some(blob) => match blob.fault(&*store) {
                Some(fault) => faults.push(format!("its {kind} {} {fault}", blob.short())),
                None => said.push(format!("{kind} {}", blob.short())),
            },
        }
    }
    if layers.len() > LAYERS {
        faults.push(format!("it has more than {LAYERS} layers"));
    }
    let found = Examined::new(Class::Companion, "Ollama manifest");
    let is_sound = faults.is_empty();
    let mut said = if is_sound { said } else { faults };
    if said.len() > NAMED {
        let more = said.len() - NAMED;
        said.truncate(NAMED);
        said.push(format!("{more} more"));
    }
    let found = found.because(format!("{model}: {}", said.join(", ")));
    Some(if is_sound { found } else { Examined { rule: Some(folders::MANIFEST_BLOB), ..found } })
}

/// A blob as a manifest describes it.
struct Blob<'j> {
    digest: &'j str,
    size: Option<u64>,
}

impl<'j> Blob<'j> {
    fn of(layer: &'j Json) -> Option<Self> {
        let digest = layer.get("digest")?.text()?.strip_prefix("sha256:")?;
        // It becomes part of a path.
        let is_hex = digest.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let size = match layer.get("size") {
            Some(Json::Number(size)) if *size >= 0.0 && *size % 1.0 == 0.0 => Some(*size as u64),
            _ => None,
        };
        (is_hex && digest.len() == 64).then_some(Blob { digest, size })
    }

    fn short(&self) -> String {
        format!("sha256-{}", self.digest.get(..12).unwrap_or_default())
    }

    /// What is wrong with the blob in the store.
    fn fault(&self, store: &dyn Place) -> Option<String> {
        let len = |name: String| store.beside(&name).open().ok().map(|it| it.len());
        let name = format!("blobs/sha256-{}", self.digest);
        // Old releases separate the two by a colon.
        let found = len(name.clone()).or_else(|| len(format!("blobs/sha256:{}", self.digest)));
        match (found, self.size) {
            (None, _) if len(format!("{name}-partial")).is_some() => {
                Some("is being downloaded".into())
            }
            (None, _) => Some("is missing".into()),
            (Some(len), Some(size)) if len != size => {
                Some(format!("has {len} bytes in place of {size}"))
            }
            _ => None,
        }
    }
}
