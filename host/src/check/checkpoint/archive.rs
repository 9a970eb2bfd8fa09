//! Checkpoints in an archive, as torch has written them since 1.6.

use super::draft::{Draft, Named};
use super::object::{Form, Place, Walk};
use super::records::{self, Content};
use super::values::Values;
use crate::base::hash::hash;
use crate::base::sort::sorted;
use crate::check::criteria::Criteria;
use crate::check::diagnosis::Diagnosis;
use crate::check::scan::part::Bytes;
use crate::check::scan::zip::{Directory, Member};
use crate::check::scan::{Followed, Prior};
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::{Storage, Summary};
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::{Absent, Source, Span, limits};

/// The record of the object.
const OBJECT: &str = "data.pkl";
/// The records that only archives with a program have: the tensors that its code names, and its
/// instructions.
const PROGRAMS: [&str; 2] = [CONSTANTS, "bytecode.pkl"];
const CONSTANTS: &str = "constants.pkl";
/// The records of archives that keep their tensors in another way.
const OTHERS: [&str; 2] = [".data/extern_modules", "archive_format"];
/// Bytes of a file that hold the first name, and where it begins.
const HEAD: u64 = 512;
const LOCAL: usize = 30;
/// The records that are read whole, besides the pickle.
const SMALL: [&str; 3] = ["version", "byteorder", ".storage_alignment"];
/// Longest content of these that is read.
const SMALL_LEN: u64 = 64;

/// A checkpoint in an archive, while its index is made.
#[derive(Debug, Default)]
pub(crate) struct Archived {
    directory: Directory,
    /// Nothing of the directory was left out.
    is_whole: bool,
    /// No two members have the same name.
    is_distinct: bool,
    /// The folder of the first record, with its slash.
    top: String,
    /// Members in the order of the hashes of their names, and then of the names.
    by_name: Vec<(u64, usize)>,
    pickle: Option<Content>,
    /// The pickle of the tensors that code names.
    constants: Option<Content>,
    small: Vec<Option<Content>>,
    draft: Option<Draft>,
    storages: Vec<Storage>,
    /// What a scan of the file need not find again.
    prior: Prior,
    /// Where the first record of a program begins.
    program: Option<u64>,
    /// What the archive looks like by its first member.
    kind: Option<Diagnosis>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Directory,
    Pickle,
    Small(usize),
    Object,
    Storages,
    Over,
    /// The directory cannot be read.
    Damaged,
}

impl Archived {
    pub(super) fn step(
        &mut self,
        file: &Source<'_>,
        criteria: &Criteria,
    ) -> Result<Option<Vec<u8>>, Absent> {
        loop {
            let next = match self.stage {
                Stage::Directory => self.directory(file)?,
                Stage::Pickle => self.pickle(file)?,
                Stage::Small(at) => self.small(at, file)?,
                Stage::Object => self.object(criteria),
                Stage::Storages => self.storages(file)?,
                Stage::Over => return Ok(self.finish(file.len())),
                Stage::Damaged => {
                    return Ok(Some(Draft::default().encode(Summary::default(), &[])));
                }
            };
            match next {
                Some(stage) => self.stage = stage,
                None => return Ok(None),
            }
        }
    }

    /// What an archive with a program beside its tensors is called by its first member.
    pub(super) fn program(&self) -> Option<Diagnosis> {
        self.kind.clone().filter(|_| self.program.is_some())
    }

    pub(super) fn into_prior(self) -> Prior {
        let Archived { directory, prior, is_whole, .. } = self;
        Prior { directory: is_whole.then_some(directory), ..prior }
    }

    fn directory(&mut self, file: &Source<'_>) -> Result<Option<Stage>, Absent> {
        let bytes = whole(file);
        let head = file.get(Span::new(0, file.len().min(HEAD)))?;
        self.directory.read(&bytes, file, limits::PICKLE_MEMBERS)?;
        let Directory { members, is_cut, .. } = &mut self.directory;
        let count = members.len();
        members.retain(|member| member.is_sure);
        self.is_whole = members.len() == count;
        let object = members.iter().find_map(|member| {
            member.name.strip_suffix(OBJECT).filter(|top| top.is_empty() || top.ends_with('/'))
        });
        let Some(top) = object.filter(|_| !*is_cut) else {
            // torch.save writes the object first, so the file is a checkpoint that is damaged. What
            // is wrong with the archive, the core says.
            let is_first = head.get(LOCAL..).is_some_and(|name| {
                let name =
                    name.split(|byte| *byte == 0 || *byte == b'F').next().unwrap_or_default();
                name.strip_suffix(OBJECT.as_bytes()).is_some_and(|top| top.ends_with(b"/"))
            });
            return Ok((is_first && members.is_empty()).then_some(Stage::Damaged));
        };
        self.top = String::from(top);
        let hashes: Vec<u64> = members.iter().map(|it| hash(it.name.as_bytes())).collect();
        let key = |at: u32| hashes.get(at as usize).zip(members.get(at as usize));
        let key = |at: u32| key(at).map(|(hash, member)| (*hash, &*member.name));
        let order = sorted(members.len(), &mut |a, b| key(a) < key(b));
        self.is_distinct = order.array_windows().all(|[a, b]| key(*a) != key(*b));
        let hashed = |at: &u32| (hashes.get(*at as usize).copied().unwrap_or(0), *at as usize);
        self.by_name = order.iter().map(hashed).collect();
        let is_other = OTHERS.into_iter().any(|name| self.member(name).is_some());
        self.kind = Diagnosis::of_head(head, file.len());
        self.program = PROGRAMS.into_iter().find_map(|name| Some(self.member(name)?.offset));
        // A pickle of this name alone may be of any program.
        let data = alloc::format!("{}data/", self.top);
        let has_data = self.directory.members.iter().any(|it| it.name.starts_with(&data));
        let is_of_torch = has_data || self.member(SMALL[0]).is_some();
        Ok((is_of_torch && !is_other).then_some(Stage::Pickle))
    }

    /// The first member of this name in the folder.
    fn member(&self, name: &str) -> Option<&Member> {
        self.member_at(&[&self.top, name].concat())
    }

    fn member_at(&self, path: &str) -> Option<&Member> {
        let wanted = hash(path.as_bytes());
        let member = |at: usize| self.directory.members.get(at);
        let is_before = |(hash, at): &(u64, usize)| {
            *hash < wanted || *hash == wanted && member(*at).is_some_and(|it| &*it.name < path)
        };
        let (_, at) = self.by_name.get(self.by_name.partition_point(is_before))?;
        member(*at).filter(|it| it.name == path)
    }

    fn pickle(&mut self, file: &Source<'_>) -> Result<Option<Stage>, Absent> {
        let Some(member) = self.member(OBJECT) else { return Ok(None) };
        if self.pickle.is_none() {
            self.pickle = records::content(member, file, limits::PICKLE_DECODED)?;
        }
        let constants = self.member(CONSTANTS).filter(|_| self.pickle.is_some());
        if let Some(constants) = constants {
            self.constants = records::content(constants, file, limits::PICKLE_DECODED)?;
        }
        Ok(self.pickle.as_ref().map(|_| Stage::Small(0)))
    }

    fn small(&mut self, at: usize, file: &Source<'_>) -> Result<Option<Stage>, Absent> {
        let Some(name) = SMALL.get(at) else { return Ok(Some(Stage::Object)) };
        let found = match self.member(name) {
            Some(member) => records::content(member, file, SMALL_LEN)?,
            None => None,
        };
        self.small.push(found);
        Ok(Some(Stage::Small(at + 1)))
    }

    /// Follows the pickle.
    fn object(&mut self, criteria: &Criteria) -> Option<Stage> {
        let pickle = self.pickle.as_ref()?;
        let place = Place { at: pickle.at, is_deflated: pickle.is_deflated };
        if pickle.bytes.is_empty() {
            let mut draft = Draft::default();
            draft.flaw(rules::P_EMPTY, place.of(0), None);
            self.draft = Some(draft);
            return Some(Stage::Storages);
        }
        let form = if self.program.is_some() { Form::Program } else { Form::Saved };
        let mut followed = Followed::new(Span::new(pickle.at, pickle.bytes.len() as u64));
        let values = Values::of(&pickle.bytes, 0, &mut |event| followed.event(event, criteria))?;
        followed.stops(values.stopped);
        self.prior.pickle = (!pickle.is_deflated).then_some(followed);
        let mut draft = Walk::new(&values, &pickle.bytes, place, form).run();
        if let Some(constants) = self.constants.take().filter(|_| !draft.is_full()) {
            draft = follow(&constants, draft);
        }
        draft.compare_names();
        records::pickle(&mut draft, &values, pickle, place);
        self.draft = Some(draft);
        Some(Stage::Storages)
    }

    /// Finds the records of storages, one after another.
    fn storages(&mut self, file: &Source<'_>) -> Result<Option<Stage>, Absent> {
        let bytes = whole(file);
        while let Some(named) = self.named() {
            let key = core::str::from_utf8(&named.key).ok();
            let folder = if named.is_constant { "" } else { "data/" };
            let member = key.and_then(|key| self.member(&alloc::format!("{folder}{key}")));
            let data = match member {
                Some(member) => member.data(&bytes, file)?,
                None => None,
            };
            let Named { size, at, .. } = *named;
            let found = member.zip(data).map(|(member, data)| {
                let is_deflated = u64::from(member.method == 8);
                let whole = if is_deflated == 0 { member.stored } else { member.size };
                Storage {
                    offset: data.offset,
                    stored: member.stored,
                    size: whole,
                    stated: size,
                    is_deflated,
                    crc: member.crc,
                    start: member.offset,
                    at,
                    ..Storage::default()
                }
            });
            let is_missing = found.is_none();
            // A size that no tensor fits in.
            let found = found.unwrap_or(Storage { stated: size, at, ..Storage::default() });
            let Some(draft) = self.draft.as_mut() else { break };
            let (key, key_len) = draft.key(self.storages.len());
            self.storages.push(Storage { key, key_len, ..found });
            if is_missing {
                draft.flaw(rules::S_RECORD, Span::new(at, 1), None);
            }
        }
        Ok(Some(Stage::Over))
    }

    /// The storage whose record is looked for next.
    fn named(&self) -> Option<&Named> {
        self.draft.as_ref()?.storages.get(self.storages.len())
    }

    fn finish(&mut self, len: u64) -> Option<Vec<u8>> {
        let mut draft = self.draft.take()?;
        let mut small = core::mem::take(&mut self.small).into_iter();
        let mut next = || small.next().flatten();
        let [version, order, alignment] = [next(), next(), next()];
        let is_big = records::byte_order(&mut draft, order.as_ref());
        records::version(&mut draft, version.as_ref());
        records::alignment(&mut draft, alignment.as_ref(), &self.storages);
        let Archived { directory, is_distinct, top, .. } = &*self;
        records::names(&mut draft, &directory.members, *is_distinct, top, len);
        if self.top.is_empty() {
            let at = self.pickle.as_ref().map_or(0, |pickle| pickle.at);
            draft.flaw(rules::R_TOP, Span::new(at, 1), None);
        }
        if let Some(at) = self.program {
            let at = at.min(len);
            draft.flaw(rules::C_PROGRAM, Span::new(at, (len - at).min(4)), None);
        }
        let summary = Summary { is_big: is_big.into(), ..Summary::default() };
        Some(draft.encode(summary, &self.storages))
    }
}

/// Follows the pickle of constants, and adds its tensors. A scan says what is wrong with it.
fn follow(constants: &Content, draft: Draft) -> Draft {
    let place = Place { at: constants.at, is_deflated: constants.is_deflated };
    match Values::of(&constants.bytes, 0, &mut |_| {}) {
        Some(values) => {
            Walk::new(&values, &constants.bytes, place, Form::Constants).after(draft).run()
        }
        None => draft,
    }
}

fn whole(file: &Source<'_>) -> Bytes {
    Bytes::of_file(Span::new(0, file.len()))
}
