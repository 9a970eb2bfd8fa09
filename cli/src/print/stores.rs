//! What kind of store a folder is: a line for each.

use super::{Seen, Tally, names_of};
use std::collections::{BTreeMap, BTreeSet};
use weighbridge::repository::hub_repository;
use weighbridge::text::plural;

/// Names that are shown.
const NAMES: usize = 3;
/// Folders with names of ComfyUI's that are remembered.
const FOLDERS: usize = 1_000;

/// Folders of a repository in the cache of huggingface_hub.
const IN_REPOSITORY: [&str; 3] = ["blobs", "refs", "snapshots"];
/// Folders that ComfyUI keeps models in, by purpose. It has the first or the second.
const PURPOSES: [&str; 15] = [
    "checkpoints",
    "diffusion_models",
    "clip",
    "clip_vision",
    "configs",
    "controlnet",
    "embeddings",
    "gligen",
    "hypernetworks",
    "loras",
    "style_models",
    "text_encoders",
    "unet",
    "upscale_models",
    "vae",
];

/// The stores that files were found in.
#[derive(Debug, Default)]
pub(super) struct Stores {
    hub: Names,
    ollama: Names,
    /// Folders that have some for models by purpose, with their names.
    purposes: BTreeMap<String, BTreeSet<&'static str>>,
    pointers: u64,
}

/// The first of some names, and the number of all.
#[derive(Debug, Default)]
struct Names {
    first: Vec<String>,
    last: String,
    count: u64,
}

impl Names {
    /// Adds a name, unless it is the last one.
    fn add(&mut self, name: String) {
        if self.last == name {
            return;
        }
        self.count += 1;
        if self.first.len() < NAMES {
            self.first.push(name.clone());
        }
        self.last = name;
    }

    fn line(&self, store: &str, thing: &str) -> Option<String> {
        let names = names_of(self.count, &self.first);
        let line = || format!("{store}, {}: {names}", plural(self.count, thing));
        (self.count > 0).then(line)
    }
}

impl Stores {
    /// Adds a file of a folder.
    pub(super) fn add(&mut self, file: &str, seen: &Seen) {
        if let Seen::Sorted(sorted) = seen {
            match sorted.examined.kind {
                "Ollama manifest" => {
                    let (model, blobs) = sorted.examined.why.split_once(": ").unwrap_or_default();
                    // What is wrong with others has a line of its own.
                    let is_sound = sorted.examined.rule.is_none();
                    self.ollama.add(match is_sound {
                        true => format!("{model} ({blobs})"),
                        false => model.to_owned(),
                    });
                }
                "Git LFS pointer" => self.pointers += 1,
                _ => {}
            }
        }
        let file = file.replace(std::path::MAIN_SEPARATOR, "/");
        let parts: Vec<_> = file.split('/').collect();
        for (at, pair) in parts.windows(2).enumerate() {
            let [part, next] = pair else { continue };
            let repository = hub_repository(part);
            if let Some(name) = repository.filter(|_| IN_REPOSITORY.contains(next)) {
                self.hub.add(name);
                return;
            }
            let Some(purpose) = PURPOSES.iter().find(|it| *it == part) else { continue };
            let parent = parts.get(..at).unwrap_or_default().join("/");
            if self.purposes.len() < FOLDERS || self.purposes.contains_key(&parent) {
                self.purposes.entry(parent).or_default().insert(purpose);
            }
        }
    }

    /// The text of a line for each kind of store.
    pub(super) fn lines(&self, tally: &Tally) -> Vec<String> {
        let mut comfy = Names::default();
        for (folder, purposes) in &self.purposes {
            let is_whole = PURPOSES.iter().take(2).any(|it| purposes.contains(it));
            if is_whole && purposes.len() > 1 {
                comfy.add(if folder.is_empty() { ".".to_owned() } else { folder.clone() });
            }
        }
        let pointers = match self.pointers {
            0 => String::new(),
            n => format!(": {} of Git LFS, not fetched", plural(n, "pointer")),
        };
        let git = (tally.git > 0).then(|| format!("checkout of Git{pointers}"));
        let kinds = [
            self.hub.line("cache of huggingface_hub", "download"),
            self.ollama.line("store of Ollama", "model"),
            comfy.line("models of ComfyUI by purpose", "folder"),
            git,
        ];
        kinds.into_iter().flatten().collect()
    }
}
