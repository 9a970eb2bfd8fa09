//! What loaders of GGUF models rely on beyond the container: keys of the expected types, lists of
//! matching lengths, ids within the vocabulary.
//!
//! A missing key is not a fault: adapters, projectors, matrices and vocabularies have few
//! keys. An architecture's keys begin with its name, so the name is looked up first. Then
//! all metadata is walked once, and faults within a single entry are reported. Entries are
//! compared with one another at the end; after that the token types, the byte tokens they
//! point to, and the embedding's shape are read.
//!
//! Order of suppression. A list of the wrong type is not compared with anything. If two
//! entries have the same key, the first counts, as in ggml. In each entry, only the first
//! wrong item is reported.

mod compare;
mod entry;
mod known;
mod template;
mod tokens;

use crate::check::finding::on_file;
use alloc::vec::Vec;
use known::{Architecture, Model};
use template::Search;
use tokens::Place;
use weighbridge_core::format::gguf::{Header, rules};
use weighbridge_core::{
    Absent, Cursor, EntryKind, File, Finding, KeyedMetadata, Rule, Source, Stop,
};

/// A number from the metadata.
#[derive(Clone, Copy, Debug, Default)]
struct Number {
    /// Offset of its value; 0 if the metadata has none.
    at: u64,
    /// Position of its entry.
    entry: u32,
    /// The number, or [`Number::NONE`] if it is negative or exceeds 32 bits; for a list, the
    /// number of items.
    value: u32,
    /// Whether it is a list with one number per layer.
    list: bool,
    /// Number of bytes covered by a finding about it; 0 if there is no such entry.
    len: u32,
}

impl Number {
    /// Stored by some writers for an id that does not exist: -1 in 32 bits.
    const NONE: u32 = u32::MAX;

    /// The value, if it was found and is not a list.
    fn get(&self) -> Option<u32> {
        (self.at != 0 && !self.list).then_some(self.value)
    }

    /// Whether the metadata has no such entry, of any type.
    fn is_absent(&self) -> bool {
        self.at == 0 && self.len == 0
    }
}

/// A list from the metadata whose items have a type that readers accept.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    /// Offset of its first item; 0 if there is none.
    at: u64,
    count: u64,
    entry: u32,
}

impl List {
    /// Offset of the item count.
    fn count_at(&self) -> u64 {
        self.at.saturating_sub(8)
    }
}

/// The relevant values found in the metadata.
#[derive(Debug, Default)]
struct Values {
    arch: Architecture,
    model: Option<Model>,
    tokens: List,
    scores: List,
    types: List,
    /// In the order of [`known::IDS`].
    ids: [Number; known::IDS.len()],
    blocks: Number,
    context: Number,
    embedding: Number,
    feed_forward: Number,
    heads: Number,
    heads_kv: Number,
    key_length: Number,
    experts: Number,
    experts_used: Number,
    split_no: Number,
    split_count: Number,
    split_tensors: Number,
}

/// The check of a model's keys. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct LoaderKeys {
    stage: Stage,
    cursor: Cursor,
    values: Values,
    found: Vec<Finding>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// Looking for the architecture.
    #[default]
    Find,
    /// Walking over the metadata.
    Walk,
    /// Searching a template.
    Template(Search),
    /// Reading the token types, and the tokens that stand for bytes.
    Types(Place),
    /// Looking for the embedding among the tensors.
    Tensors,
    Done,
}

impl LoaderKeys {
    /// Reads the keys of an open file, and reports what is wrong with them.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn step(
        &mut self,
        source: &Source<'_>,
        file: &File,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Absent> {
        let File::Gguf(header) = file else { return Ok(()) };
        let result = self.step_stages(source, file, header);
        self.found.drain(..).for_each(sink);
        result
    }

    fn step_stages(
        &mut self,
        source: &Source<'_>,
        file: &File,
        header: &Header,
    ) -> Result<(), Absent> {
        // If the end of the metadata is unknown, its lists may have no end either.
        if header.tensors_at().is_none() {
            self.stage = Stage::Done;
        }
        loop {
            let next = match &mut self.stage {
                Stage::Find => self.find(source, file)?,
                Stage::Walk => self.walk(source, file)?,
                Stage::Template(search) => {
                    self.found.extend(search.step(source)?);
                    Some(Stage::Walk)
                }
                Stage::Types(place) => {
                    place.step(source, header, &self.values, &mut self.found)?;
                    self.cursor = Cursor::default();
                    Some(Stage::Tensors)
                }
                Stage::Tensors => self.embedding(source, file)?,
                Stage::Done => return Ok(()),
            };
            if let Some(next) = next {
                self.stage = next;
            }
        }
    }

    /// Looks for the architecture, which writers put first.
    fn find(&mut self, source: &Source<'_>, file: &File) -> Result<Option<Stage>, Absent> {
        let name =
            next(&mut self.cursor, source, file, |entry| match is(&entry, known::ARCHITECTURE) {
                true => Ok(Some(text(&entry, source)?)),
                false => Ok(None),
            })?;
        match name {
            // Another key.
            Some(None) => return Ok(None),
            Some(Some(name)) => self.values.arch = Architecture::new(name),
            None => {}
        }
        self.cursor = Cursor::default();
        Ok(Some(Stage::Walk))
    }

    fn walk(&mut self, source: &Source<'_>, file: &File) -> Result<Option<Stage>, Absent> {
        let LoaderKeys { cursor, values, found, .. } = self;
        let stage = next(cursor, source, file, |entry| values.enter(source, file, &entry, found))?;
        if let Some(stage) = stage {
            return Ok(stage);
        }
        let tensors = u32::try_from(file.tensor_count()).unwrap_or(u32::MAX);
        values.compare(tensors, found);
        Ok(Some(Stage::Types(Place::of(values))))
    }

    /// Compares the embedding's shape with the metadata.
    fn embedding(&mut self, source: &Source<'_>, file: &File) -> Result<Option<Stage>, Absent> {
        let values = &self.values;
        let rows = (values.tokens.at != 0).then_some(values.tokens.count);
        let columns = values.embedding.get().map(u64::from);
        if !values.arch.is_transformer() || (rows.is_none() && columns.is_none()) {
            return Ok(Some(Stage::Done));
        }
        let tensor = match file.next_tensor(source, &mut self.cursor, &mut |_| {}) {
            Ok(Some(tensor)) => tensor,
            Err(Stop::NeedBytes(absent)) => return Err(absent),
            Ok(None) | Err(_) => return Ok(Some(Stage::Done)),
        };
        if tensor.name.as_bytes() != Some(known::EMBEDDING) {
            return Ok(None);
        }
        let extents: Vec<u64> = tensor.dims.clone().collect();
        if let [outer, inner] = extents[..] {
            // Stored innermost first.
            let at = tensor.tensor.dims.span().offset;
            for (rule, at, stated, is) in
                [(rules::KEYS_COLUMNS, at, columns, inner), (rules::KEYS_ROWS, at + 8, rows, outer)]
            {
                if let Some(stated) = stated.filter(|stated| *stated != is) {
                    let entry = (EntryKind::Tensor, tensor.index);
                    self.found.push(finding(rule, entry, (at, 8), (stated, is)));
                }
            }
        }
        Ok(Some(Stage::Done))
    }
}

/// Passes the next metadata entry to `take`; `None` after the last one. Faults of the entry were
/// reported when it was listed.
fn next<'s, T>(
    cursor: &mut Cursor,
    source: &Source<'s>,
    file: &File,
    take: impl FnOnce(KeyedMetadata<'s>) -> Result<T, Absent>,
) -> Result<Option<T>, Absent> {
    let mut after = *cursor;
    match file.next_meta(source, &mut after, &mut |_| {}) {
        Ok(Some(entry)) => {
            let taken = take(entry)?;
            *cursor = after;
            Ok(Some(taken))
        }
        // The cursor also advances inside a long list.
        Err(Stop::NeedBytes(absent)) => {
            *cursor = after;
            Err(absent)
        }
        Ok(None) | Err(_) => Ok(None),
    }
}

fn is(entry: &KeyedMetadata<'_>, key: &[u8]) -> bool {
    entry.key.as_bytes() == Some(key)
}

/// The text of an entry; empty if its value is not a short text.
fn text<'s>(entry: &KeyedMetadata<'s>, source: &Source<'s>) -> Result<&'s [u8], Absent> {
    match entry::text_of(entry) {
        Some(span) if span.len <= known::LONGEST => source.get(span),
        _ => Ok(&[]),
    }
}

/// A finding on these bytes of an entry: offset and length, expected and found numbers.
fn finding(
    rule: Rule,
    (kind, entry): (EntryKind, u32),
    (offset, len): (u64, u32),
    numbers: (u64, u64),
) -> Finding {
    Finding { kind, entry, ..on_file(rule, (offset, len), numbers) }
}
