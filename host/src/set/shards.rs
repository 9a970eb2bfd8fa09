//! Whether the shards of a checkpoint match their index, from what is known of each file.

use super::{Find, Member, hash, named};
use crate::base::text::Text;
use crate::list::walk::Walk;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::cmp::Reverse;
use weighbridge_core::format::shards::{Header, rules};
use weighbridge_core::{
    EntryKind, File, Finding, Metadata, Name, Rule, Source, Span, Status, Stop, Subject, Value,
};

/// A tensor's entry in the index, kept small because there may be millions.
#[derive(Clone, Copy, Debug)]
struct Listed {
    /// The hash of its name.
    name: u128,
    /// Position of its entry in the index.
    entry: u32,
    /// Number of its file; [`FOUND`] is added once the file was seen to contain it.
    shard: u32,
}

/// Marks a tensor that its file contains.
const FOUND: u32 = 1 << 31;

/// Compares the files of a checkpoint with the tensors that its index lists. Reads nothing
/// itself.
///
/// ```
/// use weighbridge::weighbridge_core::{Name, NameEncoding, Span};
/// use weighbridge::{Goal, Member, Options, Session, ShardSet};
///
/// let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
/// let mut session = Session::whole(json, Options::new());
/// session.advance(Goal::Header);
/// let mut set = ShardSet::new(7);
/// session.ask(|file, source| set.read(source, file))?;
/// assert_eq!(set.files().collect::<Vec<_>>(), ["1.safetensors"]);
///
/// let mut found = Vec::new();
/// let mut find = |finding: weighbridge::Finding, _: &dyn Fn() -> _| found.push(finding.rule.id());
/// set.tensor(0, &Name::new(b"a", NameEncoding::Plain), Span::new(90, 4), &mut find);
/// set.file(0, Member::Valid, &mut find);
/// session.ask(|file, source| set.finish(source, file, &mut find))?;
/// assert_eq!(found, ["TENSOR-MISSING"]);
/// assert_eq!(set.counts(), [(2, 1)]);
/// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShardSet {
    seed: u64,
    walk: Walk,
    /// Sorted by hash. Of two tensors with the same name the last counts, as in readers.
    tensors: Vec<Listed>,
    /// In the order of their first mention, with the entry that mentions them.
    files: Vec<(String, Metadata)>,
    numbers: BTreeMap<String, u32>,
    /// Whether the contents of each file are unknown.
    absent: Vec<bool>,
    /// Total data bytes of all tensors.
    total: u64,
    /// The ranges of the current file that the total contains.
    counted: BTreeSet<(u64, u64)>,
    complete: bool,
    /// The entries of missing tensors, once all files were seen.
    missing: Option<Vec<u32>>,
}

impl ShardSet {
    /// Creates an empty set. Names are hashed with the seed, which should not be known to
    /// writers.
    ///
    /// ```
    /// assert_eq!(weighbridge::ShardSet::new(7).files().count(), 0);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn new(seed: u64) -> Self {
        ShardSet {
            seed,
            walk: Walk::default(),
            tensors: Vec::new(),
            files: Vec::new(),
            numbers: BTreeMap::new(),
            absent: Vec::new(),
            total: 0,
            counted: BTreeSet::new(),
            complete: true,
            missing: None,
        }
    }

    /// Reads the index entries whose files may be opened.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// assert_eq!(set.counts(), [(2, 0)]);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; call again when the bytes are available.
    pub fn read(&mut self, source: &Source<'_>, file: &File) -> Result<(), Stop> {
        let ShardSet { seed, walk, tensors, files, numbers, .. } = self;
        walk.each(source, file, |meta| {
            if meta.status == Status::Sound
                && let Some(Value::Text(text)) = file.value(source, meta)?
            {
                let name = hash(*seed, &meta.key.read(source)?);
                let shard = text.read(source)?.to_string();
                let shard = *numbers.entry(shard).or_insert_with_key(|shard| {
                    files.push((shard.clone(), *meta));
                    files.len() as u32 - 1
                });
                tensors.push(Listed { name, entry: meta.index, shard });
            }
            Ok(())
        })?;
        tensors.sort_unstable_by_key(|it| (it.name, Reverse(it.entry)));
        tensors.dedup_by_key(|it| it.name);
        self.absent.resize(self.files.len(), false);
        self.walk = Walk::default();
        Ok(())
    }

    /// The names of the files, in the order of their first mention.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// assert_eq!(set.files().collect::<Vec<_>>(), ["1.safetensors"]);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// For each file, the number of listed tensors, and how many of them it has.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// assert_eq!(set.counts(), [(2, 0)]); // before the file was seen
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn counts(&self) -> Vec<(u32, u32)> {
        let mut counts = alloc::vec![(0, 0); self.files.len()];
        for listed in &self.tensors {
            if let Some((all, found)) = counts.get_mut((listed.shard & !FOUND) as usize) {
                *all += 1;
                *found += u32::from(listed.shard >= FOUND);
            }
        }
        counts
    }

    /// Records a tensor in a file, with the range of its data. Tied weights share a range, which counts
    /// once in the total.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// use weighbridge::weighbridge_core::{Name, NameEncoding, Span};
    ///
    /// set.tensor(0, &Name::new(b"c", NameEncoding::Plain), Span::new(90, 4), &mut |finding, name| {
    ///     assert_eq!(finding.rule.id(), "TENSOR-UNLISTED");
    ///     assert_eq!(name().unwrap(), "c");
    /// });
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn tensor(&mut self, file: usize, name: &Name<'_>, data: Span, find: Find<'_>) {
        if self.counted.insert((data.offset, data.len)) {
            self.total = self.total.saturating_add(data.len);
        }
        let key = hash(self.seed, name);
        let listed = self.tensors.binary_search_by_key(&key, |listed| listed.name);
        let rule = match listed.ok().and_then(|at| self.tensors.get_mut(at)) {
            Some(listed) if (listed.shard & !FOUND) as usize == file => {
                listed.shard |= FOUND;
                return;
            }
            Some(_) => rules::TENSOR_ELSEWHERE,
            None => rules::TENSOR_UNLISTED,
        };
        self.complete = false;
        if let Some(finding) = self.about(rule, file) {
            find(finding, &|| named(name));
        }
    }

    /// Records the state of a file, after its tensors.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// set.file(0, weighbridge::Member::Missing, &mut |finding, name| {
    ///     assert_eq!(finding.rule.id(), "SHARD-MISSING");
    ///     assert_eq!(name().unwrap(), "1.safetensors");
    /// });
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    pub fn file(&mut self, file: usize, member: Member, find: Find<'_>) {
        self.counted.clear();
        let rule = match member {
            Member::Valid => return,
            Member::Invalid => Some(rules::SHARD_INVALID),
            Member::Missing => Some(rules::SHARD_MISSING),
            Member::Outside => Some(rules::SHARD_PATH),
            Member::Unread => None,
        };
        self.complete = false;
        if let (true, Some(absent)) = (member != Member::Invalid, self.absent.get_mut(file)) {
            *absent = true;
        }
        if let Some(finding) = rule.and_then(|rule| self.about(rule, file)) {
            find(finding, &|| self.files.get(file).map(|(name, _)| Text::from(name.as_str())));
        }
    }

    /// Reports tensors that their files do not have, and a total size that differs.
    ///
    /// ```
    /// # use weighbridge::{Goal, Options, Session, ShardSet};
    /// # let json = br#"{"weight_map": {"a": "1.safetensors", "b": "1.safetensors"}}"#;
    /// # let mut session = Session::whole(json, Options::new());
    /// # session.advance(Goal::Header);
    /// # let mut set = ShardSet::new(7);
    /// # session.ask(|file, source| set.read(source, file))?;
    /// let mut missing = 0;
    /// session.ask(|file, source| set.finish(source, file, &mut |_, _| missing += 1))?;
    /// assert_eq!(missing, 2);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]; call again when the bytes are available.
    pub fn finish(&mut self, source: &Source<'_>, file: &File, find: Find<'_>) -> Result<(), Stop> {
        let missing = match self.missing.take() {
            Some(missing) => missing,
            None => self.not_found(),
        };
        if !missing.is_empty() {
            self.complete = false;
            let walked = self.walk.each(source, file, |meta| {
                if missing.binary_search(&meta.index).is_ok() {
                    let name = meta.key.read(source)?;
                    let span = meta.key.span();
                    find(finding(rules::TENSOR_MISSING, meta.index, span, 0), &|| named(&name));
                }
                Ok(())
            });
            if walked.is_err() {
                self.missing = Some(missing);
                return walked;
            }
        }
        if let File::Shards(header) = file {
            self.compare_total(header, find);
        }
        Ok(())
    }

    fn compare_total(&self, header: &Header, find: Find<'_>) {
        if let Some(stated) = header.total_size()
            && self.complete
            && stated != self.total
        {
            let mut finding = finding(rules::TOTAL_SIZE, 0, header.total_span(), self.total);
            (finding.kind, finding.expected) = (EntryKind::File, stated);
            find(finding, &|| None);
        }
    }

    /// The entries of tensors that their files do not have, except in files that are absent.
    fn not_found(&self) -> Vec<u32> {
        let missing = self.tensors.iter().filter(|listed| {
            listed.shard < FOUND && self.absent.get(listed.shard as usize) != Some(&true)
        });
        let mut missing: Vec<u32> = missing.map(|listed| listed.entry).collect();
        missing.sort_unstable();
        missing
    }

    fn about(&self, rule: Rule, file: usize) -> Option<Finding> {
        let (_, first) = self.files.get(file)?;
        Some(finding(rule, first.index, first.stored, file as u64 + 1))
    }
}

fn finding(rule: Rule, entry: u32, span: Span, found: u64) -> Finding {
    Finding {
        offset: span.offset,
        expected: 0,
        found,
        len: u32::try_from(span.len).unwrap_or(u32::MAX),
        entry,
        part: Subject::NO_PART,
        rule,
        kind: EntryKind::Metadata,
    }
}
