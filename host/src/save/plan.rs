//! Which tensors of a model are written, and how; and what is left out.

use super::elements::{Fit, Form};
use super::layout::Item;
use super::lost::{LeftOut, Tied};
use crate::base::error::Error;
use crate::read::metadata::Meta;
use crate::read::model::Model;
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned as _;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{Cursor, Encoding, EntryKind, Finding, Format, Severity, Tally};

/// The longest text that is kept. All metadata has to fit into memory.
const TEXT: u64 = 8 << 20;
/// The most bytes of metadata that are kept.
const METADATA: usize = 16 << 20;

/// Why a tensor with a fatal finding is left out.
pub(super) const FAULTY: &str = "its data is faulty";
/// Why a tensor that torch would conjugate or negate is left out.
pub(super) const ALTERED: &str = "its elements are not those that are stored";

/// Where a tensor is: the number of its file, and its position in the index of that.
pub(super) type Place = (usize, usize);

/// A tensor to be written.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) item: Item,
    pub(super) form: Form,
    pub(super) place: Place,
}

/// What is written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) tensors: Vec<Planned>,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tied: Vec<Tied>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) metadata_left_out: Vec<LeftOut>,
    pub(super) notes: Vec<String>,
}

/// What tensors have in common that are the same elements under several names.
type Shared = (usize, u64, u64, &'static str, &'static str, Vec<u64>);

/// A plan in the making. Each step changes nothing if it fails, so that it can be done again when
/// the bytes that it lacked are there.
#[derive(Debug)]
pub(super) struct Planner {
    plan: Plan,
    names: BTreeSet<String>,
    shared: BTreeMap<Shared, usize>,
    /// Position in the metadata of the file that is read, and bytes of metadata that are still kept.
    cursor: Cursor,
    left: usize,
}

impl Default for Planner {
    fn default() -> Self {
        let (plan, names, shared) = Default::default();
        Planner { plan, names, shared, cursor: Cursor::default(), left: METADATA }
    }
}

impl Planner {
    /// Plans the tensor at a place, or notes why it does not fit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn add(
        &mut self,
        tensor: &Tensor<'_, '_>,
        place: Place,
        fit: Result<Fit, Error>,
    ) -> Result<(), Error> {
        let why = match fit {
            Ok(fit) if self.names.contains(&fit.item.name) => "another tensor has its name".into(),
            Ok(fit) => {
                let key = key(tensor, place.0, &fit)?;
                self.names.insert(fit.item.name.clone());
                self.take(fit, place, key);
                return Ok(());
            }
            Err(Error::Unsupported(why) | Error::NoArray(why)) => why,
            // Said here, so that a small build does not link what every error says.
            Err(Error::Undecodable(fault)) => format!("its data cannot be decoded: {fault}"),
            Err(error) => return Err(error),
        };
        let name = tensor.name().clone();
        self.plan.left_out.push(LeftOut { name, why });
        Ok(())
    }

    /// The plan, after all tensors.
    pub(super) fn finish(mut self) -> Plan {
        self.tie();
        // Without it, `transformers` refuses a file.
        let metadata = &mut self.plan.metadata;
        metadata.entry("format".to_owned()).or_insert_with(|| "pt".to_owned());
        self.plan
    }

    /// Plans a tensor, unless the same elements are already written under another name.
    fn take(&mut self, fit: Fit, place: Place, key: Option<Shared>) {
        let (Planner { plan, shared, .. }, Fit { item, form, note }) = (self, fit);
        if let Some(note) = note {
            plan.notes.push(format!("\"{}\": {note}", item.name));
        }
        // Metadata of the user is not replaced.
        let free = !plan.metadata.contains_key(&item.name);
        if let Some(key) = key.filter(|_| free) {
            match shared.get(&key) {
                Some(first) => {
                    // The first name in their order is kept, as by the library.
                    let first = &mut plan.tensors[*first].item;
                    let (kept, name) = match item.name < first.name {
                        true => (item.name.clone(), core::mem::replace(&mut first.name, item.name)),
                        false => (first.name.clone(), item.name),
                    };
                    plan.tied.push(Tied { name, kept });
                    return;
                }
                None => _ = shared.insert(key, plan.tensors.len()),
            }
        }
        plan.tensors.push(Planned { item, form, place });
    }

    /// Points every tied name at the name that was kept.
    fn tie(&mut self) {
        let kept: BTreeMap<String, String> =
            self.plan.tied.iter().map(|tied| (tied.name.clone(), tied.kept.clone())).collect();
        for tied in &mut self.plan.tied {
            while let Some(next) = kept.get(&tied.kept) {
                tied.kept.clone_from(next);
            }
        }
        self.plan.tied.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Keeps the texts among the metadata of a file.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn read_metadata(&mut self, model: &Model<'_>) -> Result<(), Error> {
        let (access, file) = (&model.access, &model.file);
        if model.format() == Format::Shards {
            return Ok(());
        }
        loop {
            let mut next = self.cursor;
            let meta = access.ask_or_end(|source| {
                let found = file.next_meta(source, &mut next, &mut |_| {})?;
                Ok(found.map(|entry| entry.metadata))
            })?;
            let Some(meta) = meta else {
                self.cursor = Cursor::default();
                return Ok(());
            };
            let entry = access.ask_or_end(|source| {
                let most = if meta.stored.len > TEXT { 1 } else { TEXT };
                Meta::read(source, file, &meta, most).map(Some)
            })?;
            self.cursor = next;
            if let Some(entry) = entry {
                self.keep(&entry);
            }
        }
    }

    fn keep(&mut self, entry: &Meta) {
        let why = match (entry.key().as_str(), entry.value()) {
            (None, _) => "its key is not UTF-8",
            _ if entry.kind() != "string" => "it is not text",
            (Some(_), value) if value.as_str().is_none() => "it is not UTF-8",
            _ if entry.is_truncated() => "it is too long",
            (Some(key), value) => {
                let value = value.as_str().unwrap_or_default();
                match self.plan.metadata.get(key) {
                    Some(other) if other == value => return,
                    Some(_) => "another entry has its key",
                    None if key.len() + value.len() > self.left => "it is too long",
                    None => {
                        self.left -= key.len() + value.len();
                        self.plan.metadata.insert(key.to_owned(), value.to_owned());
                        return;
                    }
                }
            }
        };
        let (name, why) = (entry.key().clone(), why.to_owned());
        self.plan.metadata_left_out.push(LeftOut { name, why });
    }
}

impl Plan {
    /// The metadata of a file with these tensors: with the other names of theirs, or all of them
    /// if it has every tensor.
    pub(super) fn metadata_of(&self, items: &[Item]) -> BTreeMap<String, String> {
        let mut metadata = self.metadata.clone();
        let names: BTreeSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
        for tied in &self.tied {
            if items.len() == self.tensors.len() || names.contains(tied.kept.as_str()) {
                metadata.insert(tied.name.clone(), tied.kept.clone());
            }
        }
        metadata
    }
}

/// The elements of a tensor as a place in a file, if they lie there as they will be written.
fn key(tensor: &Tensor<'_, '_>, part: usize, fit: &Fit) -> Result<Option<Shared>, Error> {
    let raw = fit.form == Form::Same && tensor.encoding() == Encoding::Raw;
    let span = if raw { tensor.span() } else { None };
    Ok(span.filter(|span| span.len > 0).map(|span| {
        let shape = fit.item.shape.clone();
        let (dtype, layout) = (fit.item.dtype.name(), tensor.layout().name());
        (part, span.offset, span.len, dtype, layout, shape)
    }))
}

/// The tensors with data that cannot be read, or would be read wrongly, by their position in the
/// index, in order.
///
/// # Errors
/// [`Error::Unsupported`] if not all findings were kept.
pub(super) fn faulty<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    tally: &Tally,
) -> Result<Vec<u32>, Error> {
    tensors(findings.filter(|finding| finding.severity() == Severity::Fatal), tally)
}

/// The tensors with elements other than the stored ones.
///
/// # Errors
/// As for [`faulty`].
pub(super) fn altered<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    tally: &Tally,
) -> Result<Vec<u32>, Error> {
    #[cfg(feature = "pytorch")]
    {
        let rule = weighbridge_core::format::pytorch::rules::T_STORED;
        if tally.rules().any(|it| it.rule == rule) {
            return tensors(findings.filter(|finding| finding.rule == rule), tally);
        }
    }
    Ok(Vec::new())
}

fn tensors<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    tally: &Tally,
) -> Result<Vec<u32>, Error> {
    if tally.rules().any(|it| it.found > it.kept) {
        let why = "it has more findings than are listed, so its faulty tensors are unknown";
        return Err(Error::Unsupported(why.to_string()));
    }
    let of_tensors = findings.filter(|finding| finding.kind == EntryKind::Tensor);
    let mut found: Vec<u32> = of_tensors.map(|finding| finding.entry).collect();
    found.sort_unstable();
    Ok(found)
}
