//! Several files that are one model: the shards of an index, the parts of a split GGUF.
//!
//! Each is a document of its own. The one of the index, or an empty one, has the tensors of all
//! in its table, and here the findings of all, at offsets as if the files followed each other.

use crate::document::Document;
use crate::text;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge::{FileMap, Member, ShardSet, SplitSet, Text};
use weighbridge_core::{Chunks, EntryKind, File, Finding, Profile, Severity, Stop, Tally};

/// The set, as far as its files were compared.
#[derive(Debug)]
enum Set {
    Shards(ShardSet),
    /// With where the part that answers for the set begins.
    Splits(SplitSet, u64),
    /// A part is to say of which; those before it are no parts, and wait.
    Open(Vec<Waiting>),
    /// It does not say.
    None,
}

/// A file that does not say that it is a part.
#[derive(Debug)]
struct Waiting {
    no: u64,
    member: Member,
    count: u64,
    names: Vec<Vec<u8>>,
}

/// What was found in all files of a model.
#[derive(Debug)]
pub(crate) struct Joint {
    set: Set,
    profile: Profile,
    seed: u64,
    found: Found,
    /// What was checked in all files; `None` before the first.
    checked: Option<&'static [&'static str]>,
    /// Whether the data of some tensor has rules.
    pub(crate) ruled: bool,
    /// What the first file is that is not what it should be.
    pub(crate) diagnosis: Option<String>,
    /// What lies where in the index.
    map: FileMap,
}

#[derive(Debug, Default)]
struct Found {
    findings: Vec<Finding>,
    /// What each is about.
    names: Vec<Vec<u8>>,
    /// All of them, kept or not.
    tally: Tally,
}

impl Found {
    fn push(&mut self, finding: Finding, name: impl FnOnce() -> Vec<u8>) {
        if self.tally.add(&finding) {
            self.names.push(name());
            self.findings.push(finding);
        }
    }

    /// Adds the findings of a file.
    fn gather(&mut self, part: &Document, place: Place<'_>) {
        for finding in part.session.findings() {
            let shifted = Finding {
                offset: finding.offset.saturating_add(place.base),
                entry: place.entry(finding.kind, finding.entry),
                ..*finding
            };
            self.push(shifted, || match finding.kind {
                EntryKind::Tensor | EntryKind::Attribute => {
                    let mut name = Vec::new();
                    text::push_bytes(&part.table.name(finding.entry as usize), &mut name);
                    name
                }
                EntryKind::File => Vec::new(),
                kind => part.key_of(kind, finding.entry),
            });
        }
        for count in part.session.tally().rules() {
            (count.kept..count.found).for_each(|_| _ = self.tally.add_rule(count.rule));
        }
    }

    /// What takes findings on the set, whose offsets are those of a file that begins at `base`.
    fn taker(&mut self, base: u64) -> impl FnMut(Finding, &dyn Fn() -> Option<Text>) {
        move |finding, name| {
            let offset = finding.offset.saturating_add(base);
            self.push(Finding { offset, ..finding }, || {
                name().map(|name| name.as_bytes().to_vec()).unwrap_or_default()
            });
        }
    }
}

/// A file of a model: which it is, what it is called, and where it begins.
#[derive(Clone, Copy, Debug)]
pub struct Place<'n> {
    /// From 0.
    pub no: u32,
    /// Its name.
    pub name: &'n str,
    /// Where its bytes begin, as if all files followed each other.
    pub base: u64,
    /// The position of its first tensor among all.
    pub first: u32,
    /// The position of its first metadata entry among all.
    pub first_entry: u32,
}

impl Place<'_> {
    /// The position of an entry among those of all files.
    fn entry(&self, kind: EntryKind, entry: u32) -> u32 {
        let first = match kind {
            EntryKind::Tensor | EntryKind::Attribute => self.first,
            EntryKind::File => 0,
            _ => self.first_entry,
        };
        entry.saturating_add(first)
    }
}

impl Document {
    /// Adds the tensors of a file that begins at `base`.
    pub fn join(&mut self, part: &Document, base: u64) {
        self.table.extend(&part.table, base, &mut self.words, &part.words);
    }

    /// The files that this index lists; none if it is no index.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn listed(&mut self, seed: u64) -> Result<&ShardSet, Stop> {
        let Document { session, listed, .. } = self;
        let (set, done) = listed.get_or_insert_with(|| (ShardSet::new(seed), false));
        if !*done {
            session.ask(|file, source| match file {
                File::Shards(_) => set.read(source, file),
                _ => Ok(()),
            })?;
            *done = true;
        }
        Ok(set)
    }

    /// Begins to compare the files of the set, under a profile. Next come all files.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn begin(&mut self, profile: Profile, seed: u64) -> Result<(), Stop> {
        let is_index = matches!(self.session.file(), Some(File::Shards(_)));
        let set =
            if is_index { Set::Shards(self.listed(seed)?.clone()) } else { Set::Open(Vec::new()) };
        let map = self.joint.take().map_or_else(|| self.layout.map.clone(), |joint| joint.map);
        self.layout.map = map.clone();
        let mut found = Found::default();
        found.gather(self, Place { no: 0, name: "", base: 0, first: 0, first_entry: 0 });
        let (checked, ruled, diagnosis) = (None, false, None);
        self.joint = Some(Joint { set, profile, seed, found, checked, ruled, diagnosis, map });
        self.findings = Default::default();
        self.order.forget();
        Ok(())
    }

    /// Adds what was found in a file, and compares it with the set.
    pub fn add_part(&mut self, part: &Document, place: Place<'_>) {
        self.describe(part, place.name);
        let Document { joint, layout, .. } = self;
        let Some(Joint { set, profile, seed, found, .. }) = joint else { return };
        let Place { no, name, base, .. } = place;
        found.gather(part, place);
        layout.map.join(&part.layout.map, |area| {
            area.at = area.at.saturating_add(base);
            area.entry = place.entry(area.kind, area.entry);
        });
        let opened = part.session.file().is_some();
        let mut valid = opened && part.session.tally().accepted(*profile);
        let member = |valid| if valid { Member::Valid } else { Member::Invalid };
        let tensors = 0..part.table.len();
        if let Set::Shards(set) = set {
            let find = &mut found.taker(0);
            for i in tensors {
                let len = match part.table.tensor(i as u32).chunks {
                    Chunks::One(span) => span.len,
                    _ => 0,
                };
                set.tensor(no as usize, &part.table.name(i), len, find);
            }
            set.file(no as usize, member(valid), find);
            return;
        }
        let stated = &part.part.0;
        let answers = {
            let mut take = found.taker(base);
            let strict = *profile == Profile::Strict;
            SplitSet::of(stated, name, *seed, &mut |finding, name| {
                valid &= !strict && finding.severity() != Severity::Fatal;
                take(finding, name);
            })
        };
        let count = part.session.file().map_or(0, File::tensor_count);
        let no = u64::from(no) + 1;
        if let Set::Open(waiting) = set {
            if opened && !stated.is_one_of_many() {
                let names = tensors.map(|i| part.table.name_bytes(i).to_vec()).collect();
                let member = member(valid && stated.is_numbered());
                waiting.push(Waiting { no, member, count, names });
                return;
            }
            // One that does not open answers as well.
            let Some(mut answers) = answers.filter(|_| opened) else {
                *set = Set::None;
                return;
            };
            tensors.for_each(|i| answers.tensor(&part.table.name(i)));
            answers.file(no, Member::Valid, count, &mut found.taker(base));
            for Waiting { no, member, count, names } in waiting {
                names.iter().for_each(|name| answers.tensor(&text::plain(name)));
                answers.file(*no, *member, *count, &mut found.taker(base));
            }
            *set = Set::Splits(answers, base);
        } else if let Set::Splits(set, base) = set {
            tensors.for_each(|i| set.tensor(&part.table.name(i)));
            let member = member(valid && stated.is_numbered());
            set.file(no, member, count, &mut found.taker(*base));
        }
    }

    /// Takes note of how far a file was checked, and of what it is.
    fn describe(&mut self, part: &Document, name: &str) {
        let Some(joint) = &mut self.joint else { return };
        let checked = part.session.checked();
        if joint.checked.is_none_or(|least| checked.len() < least.len()) {
            joint.checked = Some(checked);
        }
        joint.ruled |= part.is_ruled();
        if let (None, Some(diagnosis)) = (&joint.diagnosis, part.session.diagnosis()) {
            joint.diagnosis = Some(format!("{name}: {diagnosis}"));
        }
    }

    /// Notes that a file of the set is not there, or cannot be read.
    pub fn add_absent(&mut self, no: u32, missing: bool) {
        let member = if missing { Member::Missing } else { Member::Unread };
        if let (false, Some(joint)) = (missing, &mut self.joint) {
            // Nothing was checked in it.
            joint.checked = Some(&[]);
        }
        self.with_set(|set, find| match set {
            Set::Shards(set) => set.file(no as usize, member, find),
            Set::Splits(set, _) => set.file(u64::from(no) + 1, member, 0, find),
            // It waits for the part that answers, as those that are there do.
            Set::Open(waiting) => {
                let no = u64::from(no) + 1;
                waiting.push(Waiting { no, member, count: 0, names: Vec::new() });
            }
            Set::None => {}
        });
    }

    /// Compares what all files together have.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`].
    pub fn end(&mut self) -> Result<(), Stop> {
        let Document { session, joint, .. } = self;
        let Some(Joint { set, found, .. }) = joint else { return Ok(()) };
        if let Set::Shards(set) = set {
            session.ask(|file, source| set.finish(source, file, &mut found.taker(0)))?;
            return Ok(());
        }
        self.with_set(|set, find| {
            if let Set::Splits(set, _) = set {
                set.finish(find);
            }
        });
        Ok(())
    }

    fn with_set(&mut self, act: impl FnOnce(&mut Set, weighbridge::Find<'_>)) {
        let Some(Joint { set, found, .. }) = &mut self.joint else { return };
        let base = if let Set::Splits(_, base) = set { *base } else { 0 };
        act(set, &mut found.taker(base));
    }

    /// How many tensors are listed for each file, and how many of them it has.
    pub fn counts(&self) -> Vec<(u32, u32)> {
        match self.joint.as_ref().map(|joint| &joint.set) {
            Some(Set::Shards(set)) => set.counts(),
            _ => self.listed.as_ref().map(|(set, _)| set.counts()).unwrap_or_default(),
        }
    }
}

impl Joint {
    /// What was found in all files, in no order.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.found.findings
    }

    /// What a finding is about.
    pub(crate) fn name(&self, finding: usize) -> &[u8] {
        self.found.names.get(finding).map_or(&[], Vec::as_slice)
    }

    /// All that was found, counted.
    pub(crate) fn tally(&self) -> &Tally {
        &self.found.tally
    }

    /// What was checked in all files.
    pub(crate) fn checked(&self) -> &'static [&'static str] {
        self.checked.unwrap_or_default()
    }
}
