//! Checkpoints of PyTorch (`.pt`, `.pth`, `.ckpt`, `.bin`), as `torch.save` writes them.
//!
//! | form | what |
//! |---|---|
//! | archive, since torch 1.6 | a ZIP with the pickle `data.pkl` and a record for each storage |
//! | older | five pickles, then the storages |
//!
//! A tensor is a view of a storage: a position, extents and strides. What the pickle would build is
//! in an [index], which a host makes; the archive, the storages and the ranges of tensors are
//! checked here, against the bytes of the file.
//!
//! Order of suppression. A tensor with a fault of the pickle is broken, and nothing else is checked
//! about it. Of a tensor, only the first of `T-DTYPE`, `T-RANK-LIMIT`, `T-PRODUCT`, `S-SIZE`,
//! `T-RANGE` and `T-DEFLATED` is reported.

pub mod index;
pub mod rules;
pub mod storage;

mod attribute;
mod tensor;

pub use rules::FLAWS;

use crate::codec::checksum::Checksum;
use crate::format::Container;
use crate::format::archive::{self, Archive, End, Fault, Member, Stand, Visit, about};
use crate::format::npz::rules::zip;
use crate::input::{Absent, Source, Span};
use crate::model::{
    Chunk, Chunks, DType, Encoding, Layout, Metadata, NameAt, Part, Region, Status, Tensor, Value,
    Version,
};
use crate::parse::{self, Cursor, Reader};
use crate::rule::{EntryKind, Halt};
use index::{BASE, Index, Indices, Pair, Storage, Summary};

/// The validated end of the archive, and the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    index: Index,
    /// The directory of the archive; empty in the older form.
    directory: Span,
}

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    visit: Visit,
}

impl parse::State for State {
    const START: State = State { visit: Visit::START };
}

/// Tables of the audit, by the phase of its cursor.
mod phase {
    pub(super) const FLAWS: u8 = 0;
    pub(super) const MEMBERS: u8 = 1;
    pub(super) const COMPARED: u8 = 2;
}

impl Container for Header {
    type State = State;

    /// Never detects the format: a host opens it once it has made an index.
    fn detect(_head: &[u8], _len: u64) -> bool {
        false
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<Header, Halt> {
        let Some(index) = Index::of(r.source()) else {
            let len = r.source().len().min(4);
            r.flag(rules::C_NONE, 0, len, 0, 0);
            return Err(Halt::refused(rules::C_NONE));
        };
        if index.summary.kind != 0 {
            return Ok(Header { index, directory: Span::default() });
        }
        let End { directory, count } = End::find(r, c, zip)?;
        let members = r.quietly(|r| members(r, directory))?;
        if members.is_some_and(|members| members != count) {
            let found = members.unwrap_or(0);
            r.flag(zip(Fault::Count), directory.offset, directory.len, count, found);
        }
        Ok(Header { index, directory })
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn alignment(&self) -> u64 {
        1
    }

    fn tensor_count(&self) -> u64 {
        self.index.summary.tensors
    }

    /// Numbers and texts of the object, each with its path as the key.
    fn meta(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<State>,
    ) -> Result<Option<Metadata>, Halt> {
        let Some(pair) = self.index.pair(r.source(), c.index.into()) else {
            c.finish();
            return Ok(None);
        };
        let place = |at: u64, len| Span::new(BASE.saturating_add(at), len);
        let key = place(pair.key, pair.key_len);
        let meta = Metadata {
            kind: EntryKind::Metadata,
            index: c.index,
            offset: pair.at,
            key: NameAt::plain(key.offset, key.len),
            tag: u32::try_from(pair.kind).unwrap_or(0),
            status: Status::Sound,
            stored: place(pair.value, pair.value_len),
        };
        c.index = c.index.saturating_add(1);
        Ok(Some(meta))
    }

    fn value(&self, _: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        let stored = meta.stored;
        let scalar = |dtype| Some(Value::Scalar { dtype, stored });
        Ok(match u64::from(meta.tag) {
            Pair::TEXT => Some(Value::Text(NameAt::plain(stored.offset, stored.len))),
            Pair::INTEGER => scalar(DType::I64),
            Pair::FLOAT => scalar(DType::F64),
            _ => scalar(DType::Bool),
        })
    }

    fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<State>,
    ) -> Result<Option<Tensor>, Halt> {
        let Some(item) = self.index.item(r.source(), c.index.into()) else {
            c.finish();
            return Ok(None);
        };
        r.about(EntryKind::Tensor, c.index);
        let tensor = tensor::read(self, r, &item, c.index);
        c.index = c.index.saturating_add(1);
        Ok(Some(tensor))
    }

    /// The storage, and what else the checkpoint says about a tensor.
    fn attribute(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        c: &mut Cursor<State>,
    ) -> Result<Option<Metadata>, Halt> {
        let source = *r.source();
        let item = self.index.item(&source, tensor.index.into());
        let entry = item.and_then(|item| attribute::read(&self.index, &source, &item, c.index));
        match entry {
            Some(_) => c.index = c.index.saturating_add(1),
            None => c.finish(),
        }
        Ok(entry)
    }

    fn chunk(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _: u64,
    ) -> Result<Option<Chunk>, Halt> {
        let Some(mut chunk) = Chunk::raw(tensor) else { return Ok(None) };
        chunk.encoding = tensor.encoding;
        if tensor.layout == Layout::Strided {
            // A range that holds the elements, and not one after another.
            (chunk.encoding, chunk.decoded) = (Encoding::Unknown, tensor.bytes());
            return Ok(Some(chunk));
        }
        if tensor.encoding != Encoding::Raw {
            chunk.decoded = self.storage_of(r.source(), tensor).map(|storage| storage.size);
        }
        Ok(Some(chunk))
    }

    /// The CRC-32 of a storage, for a tensor that is all of it.
    fn checksum(&self, source: &Source<'_>, tensor: &Tensor) -> Result<Option<Checksum>, Absent> {
        let storage = self.storage_of(source, tensor).filter(|storage| storage.crc != 0);
        let is_whole = |storage: &Storage| {
            tensor.layout == Layout::RowMajor
                && tensor.chunks == Chunks::One(Span::new(storage.offset, storage.stored))
        };
        let crc = storage.filter(is_whole).map(|storage| u32::try_from(storage.crc).unwrap_or(0));
        Ok(crc.map(Checksum::crc32))
    }

    /// The members in listing order, the directory, and the bytes after it; in the older form, the
    /// pickles and the storages.
    fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<State>,
    ) -> Result<Option<Region>, Halt> {
        if self.index.summary.kind == 0 {
            return archive::region(self, r, c);
        }
        Ok(self.next_part(r.source(), c))
    }

    /// Reports what the host found, then validates the members of the archive.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<(), Halt> {
        match c.phase {
            phase::FLAWS => {
                let Some(flaw) = self.index.flaw(r.source(), c.index.into()) else {
                    if self.index.summary.kind == 0 {
                        c.next_phase();
                    } else {
                        c.finish();
                    }
                    return Ok(());
                };
                match u32::try_from(flaw.tensor) {
                    Ok(tensor) => r.about(EntryKind::Tensor, tensor),
                    Err(_) => r.about(EntryKind::File, 0),
                }
                let rule = usize::try_from(flaw.rule).ok().and_then(|at| FLAWS.get(at));
                let rule = rule.copied().unwrap_or(rules::C_NONE);
                r.flag(rule, flaw.at, flaw.len, flaw.expected, flaw.found);
                c.index = c.index.saturating_add(1);
                Ok(())
            }
            phase::MEMBERS => {
                if c.state.visit.stand == Stand::Entry && !self.entry(r, c)? {
                    *c = Cursor { phase: phase::COMPARED, ..Cursor::START };
                    return Ok(());
                }
                self.compare(r, c)
            }
            _ => archive::audit(self, r, c),
        }
    }
}

impl Header {
    /// Whether the file is an archive, and not of the older form.
    pub const fn is_archive(&self) -> bool {
        self.index.summary.kind == 0
    }

    /// What the host wrote about the file.
    pub const fn summary(&self) -> Summary {
        self.index.summary
    }

    /// Number `number` of the indices whose values a host checks.
    pub fn indices(&self, source: &Source<'_>, number: u64) -> Option<Indices> {
        self.index.indices(source, number)
    }

    /// The bound of row `row` of such indices, of coordinates.
    pub fn bound(&self, source: &Source<'_>, indices: &Indices, row: u64) -> Option<u64> {
        Index::numbers(source, indices.bound, indices.rows)?.nth(usize::try_from(row).ok()?)
    }

    /// A storage, by its number.
    pub fn storage(&self, source: &Source<'_>, number: u64) -> Option<Storage> {
        self.index.storage(source, number)
    }

    /// The number of the storage that a tensor is a view of; `None` if it has none.
    pub fn storage_number(&self, source: &Source<'_>, tensor: u32) -> Option<u64> {
        let item = self.index.item(source, tensor.into())?;
        (item.storage < self.index.summary.storages).then_some(item.storage)
    }

    /// The name of a tensor, and a bit for each of its bytes, the lowest first: 1 for a dot between two
    /// keys of the path, 0 for a dot in a key.
    pub fn path<'a>(&self, source: &Source<'a>, tensor: u32) -> Option<(&'a [u8], &'a [u8])> {
        let item = self.index.item(source, tensor.into())?;
        let at = index::BASE.checked_add(item.name)?;
        let name = source.all(Span::new(at, item.name_len))?;
        let bits = Span::new(at.checked_add(item.name_len)?, item.name_len.saturating_add(7) >> 3);
        Some((name, source.all(bits)?))
    }

    /// Validates the local header of the cursor's member.
    fn compare(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<(), Halt> {
        about::<Header>(r, c);
        let Visit { stand, member, .. } = c.state.visit;
        if stand == Stand::Member {
            match member.local(r, self.directory.offset, zip) {
                Ok(local) => member.compare(r, &local, zip),
                Err(halt) if halt.is_absent() => return Err(halt),
                Err(halt) => {
                    r.refuse(halt);
                }
            }
        }
        Header::pass(c);
        Ok(())
    }

    /// The storage of a tensor.
    fn storage_of(&self, source: &Source<'_>, tensor: &Tensor) -> Option<Storage> {
        let item = self.index.item(source, tensor.index.into())?;
        self.index.storage(source, item.storage)
    }

    /// The parts of a file of the older form: the pickles, and each storage with its count.
    fn next_part(&self, source: &Source<'_>, c: &mut Cursor<State>) -> Option<Region> {
        let part = |part, span| Region { part, span, kind: EntryKind::File, entry: 0 };
        let first = self.index.storage(source, 0).map(|storage| storage.start);
        if c.phase == 0 {
            c.next_phase();
            let end = first.unwrap_or(self.index.summary.pickles_end);
            return Some(part(Part::Table, Span::between(0, end)));
        }
        let Some(storage) = self.index.storage(source, c.index.into()) else {
            c.finish();
            return None;
        };
        c.index = c.index.saturating_add(1);
        let end = storage.offset.saturating_add(storage.stored);
        Some(part(Part::Payload, Span::between(storage.start, end)))
    }
}

impl Archive for Header {
    type State = State;

    const RULES: archive::Rules = zip;

    fn directory(&self) -> Span {
        self.directory
    }

    fn visit(state: &mut State) -> &mut Visit {
        &mut state.visit
    }

    fn entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<bool, Halt> {
        let Some((mut member, record)) = archive::next(self, r, c)? else { return Ok(false) };
        member.report(r, &record, self.directory.offset, zip);
        c.state.visit.member = member;
        c.state.visit.stand = if member.broken { Stand::Broken } else { Stand::Member };
        Ok(true)
    }

    fn subject(_: &Cursor<State>) -> (EntryKind, u32) {
        (EntryKind::File, 0)
    }

    fn pass(c: &mut Cursor<State>) {
        c.at = c.state.visit.member.next;
        c.state = State { visit: c.state.visit.next() };
    }
}

/// The number of members of the directory; `None` if it cannot be read to its end, which is
/// reported when they are validated.
fn members(r: &mut Reader<'_, '_>, directory: Span) -> Result<Option<u64>, Halt> {
    let end = directory.end().unwrap_or(directory.offset);
    let (mut at, mut count) = (directory.offset, 0_u64);
    while at < end {
        match Member::read(r, at, end, zip) {
            Ok((member, _)) => (at, count) = (member.next, count.saturating_add(1)),
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(count))
}
