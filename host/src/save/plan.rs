//! Which tensors of a model are written, and how; and what is left out.

use super::Float;
use super::converted::{LeftOut, Tied};
use super::elements::{self, Fit, Form};
use super::layout::Item;
use super::parts::{Opened, Part};
use crate::base::error::Error;
use crate::check::report::Verdict;
use crate::list::index::Index;
use crate::read::metadata::Meta;
use crate::read::parts::Placed;
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::collections::{HashMap, HashSet};
use weighbridge_core::{Cursor, DType, Encoding, Format, Layout, Profile};

/// The longest text that is kept. All metadata has to fit into memory.
const TEXT: u64 = 8 << 20;
/// The most bytes of metadata that are kept.
const METADATA: usize = 16 << 20;

/// A tensor to be written.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) item: Item,
    pub(super) form: Form,
    place: Placed,
}

/// What is written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) tensors: Vec<Planned>,
    indexes: Vec<Index>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tied: Vec<Tied>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) metadata_left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
}

/// What tensors have in common that are the same elements under several names.
type Shared = (usize, u64, u64, DType, Layout, Vec<u64>);

impl Plan {
    pub(super) fn of(
        opened: &Opened,
        to: Option<Float>,
        force: bool,
        profile: Profile,
    ) -> Result<Self, Error> {
        let mut plan = Plan::default();
        for part in &opened.parts {
            plan.indexes.push(part.model.index()?);
        }
        let places = match &opened.set {
            Some(set) => set.merge(&plan.indexes),
            None => (0..plan.indexes.first().map_or(0, Index::len))
                .map(|at| Placed { part: 0, at })
                .collect(),
        };
        let faulty: Vec<Vec<u32>> = match force {
            true => opened.parts.iter().map(Part::faulty).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let altered: Vec<Vec<u32>> =
            opened.parts.iter().map(Part::altered).collect::<Result<_, _>>()?;
        let is_among = |all: &[Vec<u32>], part: usize, tensor: u32| {
            all.get(part).is_some_and(|all| all.binary_search(&tensor).is_ok())
        };
        for part in &opened.parts {
            plan.read_metadata(part)?;
        }
        let doubtful = |part: &Part| part.report.verdict(profile) != Verdict::Valid;
        let doubtful: Vec<bool> = opened.parts.iter().map(doubtful).collect();
        let (mut names, mut shared) = (HashSet::new(), HashMap::<Shared, usize>::new());
        for place in places {
            let tensor = plan.tensor(opened, place);
            let is_among = |all: &[Vec<u32>]| is_among(all, place.part, tensor.index());
            let refused = match (is_among(&faulty), is_among(&altered)) {
                (true, _) => Some("its data is faulty"),
                (_, true) => Some("its elements are not those that are stored"),
                _ => None,
            };
            let fit = match refused {
                Some(why) => Err(Error::Unsupported(why.to_owned())),
                None => elements::fit(&tensor, to).and_then(|fit| {
                    // Data that may not decode is decoded before anything is written.
                    if doubtful[place.part] && tensor.encoding() != Encoding::Raw {
                        elements::write(&tensor, fit.form, |_| Ok::<(), Error>(()))?;
                    }
                    Ok(fit)
                }),
            };
            let refused = match fit {
                Ok(fit) if names.contains(&fit.item.name) => "another tensor has its name".into(),
                Ok(fit) => {
                    let key = key(&tensor, place.part, &fit)?;
                    names.insert(fit.item.name.clone());
                    plan.take(fit, place, key, &mut shared);
                    continue;
                }
                Err(Error::Unsupported(why) | Error::NoArray(why)) => why,
                Err(error @ Error::Undecodable(_)) => error.to_string(),
                Err(error) => return Err(error),
            };
            let name = tensor.name().clone();
            plan.left_out.push(LeftOut { name, why: refused });
        }
        plan.tie();
        Ok(plan)
    }

    /// The tensor at a place.
    pub(super) fn tensor<'m>(&self, opened: &'m Opened, place: Placed) -> Tensor<'m, 'static> {
        let entry = self.indexes[place.part].entry(place.at);
        opened.parts[place.part].model.tensor_of(&entry)
    }

    /// The tensor that is written as the `i`-th.
    pub(super) fn source<'m>(&self, opened: &'m Opened, i: usize) -> Tensor<'m, 'static> {
        self.tensor(opened, self.tensors[i].place)
    }

    /// Plans a tensor, unless the same elements are already written under another name.
    fn take(
        &mut self,
        fit: Fit,
        place: Placed,
        key: Option<Shared>,
        shared: &mut HashMap<Shared, usize>,
    ) {
        let Fit { item, form, note } = fit;
        if let Some(note) = note {
            self.notes.push(format!("\"{}\": {note}", item.name));
        }
        // Metadata of the user is not replaced.
        let free = !self.metadata.contains_key(&item.name);
        if let Some(key) = key.filter(|_| free) {
            match shared.get(&key) {
                Some(first) => {
                    // The first name in their order is kept, as by the library.
                    let first = &mut self.tensors[*first].item;
                    let (kept, name) = match item.name < first.name {
                        true => (item.name.clone(), core::mem::replace(&mut first.name, item.name)),
                        false => (first.name.clone(), item.name),
                    };
                    self.tied.push(Tied { name, kept });
                    return;
                }
                None => _ = shared.insert(key, self.tensors.len()),
            }
        }
        self.tensors.push(Planned { item, form, place });
    }

    /// Lets every tied name lead to the one that was kept in the end.
    fn tie(&mut self) {
        let kept: BTreeMap<String, String> =
            self.tied.iter().map(|tied| (tied.name.clone(), tied.kept.clone())).collect();
        for tied in &mut self.tied {
            while let Some(next) = kept.get(&tied.kept) {
                tied.kept.clone_from(next);
            }
        }
        self.tied.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Keeps the texts among the metadata of a file.
    fn read_metadata(&mut self, part: &Part) -> Result<(), Error> {
        let (access, file) = (&part.model.access, &part.model.file);
        if part.model.format() == Format::Shards {
            return Ok(());
        }
        let mut cursor = Cursor::default();
        let mut left = METADATA;
        loop {
            let meta = access.ask_or_end(|source| {
                let found = file.next_meta(source, &mut cursor, &mut |_| {})?;
                Ok(found.map(|entry| entry.metadata))
            })?;
            let Some(meta) = meta else { return Ok(()) };
            let entry = access.ask_or_end(|source| {
                let most = if meta.stored.len > TEXT { 1 } else { TEXT };
                Meta::read(source, file, &meta, most).map(Some)
            })?;
            let Some(entry) = entry else { continue };
            let why = match (entry.key().as_str(), entry.value()) {
                (None, _) => "its key is not UTF-8",
                _ if entry.kind() != "string" => "it is not text",
                (Some(_), value) if value.as_str().is_none() => "it is not UTF-8",
                _ if entry.is_truncated() => "it is too long",
                (Some(key), value) => {
                    let value = value.as_str().unwrap_or_default();
                    match self.metadata.get(key) {
                        Some(other) if other == value => continue,
                        Some(_) => "another entry has its key",
                        None if key.len() + value.len() > left => "it is too long",
                        None => {
                            left -= key.len() + value.len();
                            self.metadata.insert(key.to_owned(), value.to_owned());
                            continue;
                        }
                    }
                }
            };
            let (name, why) = (entry.key().clone(), why.to_owned());
            self.metadata_left_out.push(LeftOut { name, why });
        }
    }
}

/// The elements of a tensor as a place in a file, if they lie there as they will be written.
fn key(tensor: &Tensor<'_, '_>, part: usize, fit: &Fit) -> Result<Option<Shared>, Error> {
    let raw = fit.form == Form::Same && tensor.encoding() == Encoding::Raw;
    let span = if raw { tensor.span() } else { None };
    Ok(span.filter(|span| span.len > 0).map(|span| {
        let shape = fit.item.shape.clone();
        (part, span.offset, span.len, fit.item.dtype, tensor.layout(), shape)
    }))
}
