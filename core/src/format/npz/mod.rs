//! NPZ, NumPy arrays in a ZIP archive (`.npz`), as written by `numpy.savez` and
//! `numpy.savez_compressed`.
//!
//! Each member whose name ends in `.npy` is a tensor; the rest of the name is the tensor's
//! name. `format::archive` reads the archive, and [`npy`](crate::format::npy) reads the
//! array headers, whose faults break the rules for NPY. The array header of a deflated
//! member is inside its stream: faults are reported at the stored bytes, and the tensor
//! itself stores the shape, because the file does not have it in plain form.
//!
//! Order of suppression. A member whose central or local header is fatally broken is
//! listed as broken, and its contents are not checked. The audit compares the names in the
//! two headers and checks the data descriptors. The sizes in a local header with two zip64
//! fields are not compared. The CRC of a faulty stream is not checked, and members that are
//! not arrays are not decoded.

mod array;
pub mod rules;

use crate::base::widen;
use crate::codec::checksum::Checksum;
use crate::format::Container;
use crate::format::archive::{self, Archive, End, Fault, Member, Stand, Visit, about};
use crate::format::is_pickle;
use crate::input::{Absent, Source, Span};
#[cfg(feature = "payloads")]
use crate::model::texts::Texts;
use crate::model::{Chunk, Encoding, NameAt, Region, Status, Tensor, Version};
use crate::parse::{self, Cursor, Reader};
use crate::rule::{EntryKind, Halt, general};

/// The ending of array members' names.
const SUFFIX: &[u8] = b".npy";

/// State kept from one call to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    visit: Visit,
    is_array: bool,
    /// While opening: the end of the archive, and the number of arrays so far.
    end: End,
    arrays: u64,
}

impl parse::State for State {
    const START: State = State { visit: Visit::START, is_array: false, end: End::NONE, arrays: 0 };
}

/// Steps of opening after the end record has been found.
mod step {
    pub(super) const MAGIC: u8 = 1;
    pub(super) const COUNT: u8 = 2;
}

/// The validated end of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    directory: Span,
    /// Number of arrays.
    arrays: u64,
}

impl Container for Header {
    type State = State;

    /// Never detects the format, because most archives hold something else. Hosts decide by
    /// the name of the file, or of its first member.
    fn detect(_head: &[u8], _len: u64) -> bool {
        false
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<Header, Halt> {
        if c.phase == 0 {
            let end = End::find(r, c, rules::zip)?;
            *c = Cursor { phase: step::MAGIC, at: end.directory.offset, ..Cursor::START };
            c.state.end = end;
        }
        let End { directory, count } = c.state.end;
        if c.phase == step::MAGIC {
            if !matches!(r.get(Span::new(0, 4))?, b"PK\x03\x04" | b"PK\x05\x06") {
                r.flag(rules::NPZ_MAGIC, 0, 4, 0, 0);
                return Err(Halt::refused(rules::NPZ_MAGIC));
            }
            c.phase = step::COUNT;
        }
        let Span { offset, len } = directory;
        let members = count_members(r, c, offset.wrapping_add(len))?;
        if let Some(members) = members.filter(|members| *members != count) {
            r.flag(rules::zip(Fault::Count), offset, len, count, members);
        }
        if c.state.arrays == 0 && c.index > 0 {
            r.flag(rules::NPZ_NONE, offset, len, 0, c.index.into());
            return Err(Halt::refused(rules::NPZ_NONE));
        }
        Ok(Header { directory, arrays: c.state.arrays })
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn tensor_count(&self) -> u64 {
        self.arrays
    }

    fn tensor(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<State>,
    ) -> Result<Option<Tensor>, Halt> {
        loop {
            if c.state.visit.stand == Stand::Entry && !self.entry(r, c)? {
                return Ok(None);
            }
            let State { visit: Visit { member, .. }, is_array, .. } = c.state;
            about::<Header>(r, c);
            let most = r.allowance();
            let (mut tensor, mut shared) = (None, c.state.visit.shared);
            if c.state.visit.stand == Stand::Member {
                match array::read(r, &c.state, self.directory.offset) {
                    Ok(found) => (tensor, shared) = found,
                    Err(halt) if halt.is_absent() => return Err(halt),
                    Err(halt) => {
                        r.refuse(halt);
                        c.state.visit.stand = Stand::Broken;
                    }
                }
            }
            if c.state.visit.stand == Stand::Broken && is_array {
                // Its name comes from the directory, which need not be resident now.
                let (_, record) = Member::read(r, member.at, self.end(), rules::zip)?;
                let len = widen(record.name.len().saturating_sub(SUFFIX.len()));
                let name = NameAt::plain(member.name().offset, len);
                tensor = Some(Tensor { name, status: Status::Broken, ..Tensor::default() });
            }
            if c.state.visit.shared <= most && shared > most {
                r.about(EntryKind::File, 0);
                r.flag(general::SHARED_UNCHECKED, 0, 0, most, shared);
            }
            let index = c.index;
            c.state.visit.shared = shared;
            Header::pass(c);
            if let Some(tensor) = tensor {
                return Ok(Some(Tensor { index, offset: member.at, ..tensor }));
            }
        }
    }

    fn chunk(
        &self,
        r: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _: u64,
    ) -> Result<Option<Chunk>, Halt> {
        let Some(mut chunk) = Chunk::raw(tensor) else { return Ok(None) };
        (chunk.encoding, chunk.lead) = (tensor.encoding, tensor.extra.len);
        if tensor.encoding != Encoding::Raw {
            let (member, _) = Member::read(r, tensor.offset, self.end(), rules::zip)?;
            chunk.decoded = member.size.checked_sub(chunk.lead);
        }
        Ok(Some(chunk))
    }

    fn checksum(&self, source: &Source<'_>, tensor: &Tensor) -> Result<Option<Checksum>, Absent> {
        let crc = source.get(Span::new(tensor.offset.saturating_add(16), 4))?.first_chunk();
        Ok(crc.map(|crc| Checksum::crc32(u32::from_le_bytes(*crc))))
    }

    #[cfg(feature = "payloads")]
    fn texts(&self, r: &mut Reader<'_, '_>, tensor: &Tensor) -> Result<Texts, Halt> {
        array::texts(r, tensor)
    }

    /// The members in listing order, the directory, and the bytes after it.
    fn region(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor<State>,
    ) -> Result<Option<Region>, Halt> {
        archive::region(self, r, c)
    }

    /// Compares names, and checks data descriptors.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<(), Halt> {
        archive::audit(self, r, c)
    }
}

impl Header {
    /// End of the directory.
    fn end(&self) -> u64 {
        self.directory.end().unwrap_or(self.directory.offset)
    }

    /// The bytes of a tensor's header; `None` if compressed or unknown.
    ///
    /// # Errors
    /// [`Absent`] if they are not resident.
    pub fn header<'a>(
        &self,
        source: &Source<'a>,
        tensor: &Tensor,
    ) -> Result<Option<&'a [u8]>, Absent> {
        let stored = tensor.encoding == Encoding::Raw && tensor.extra.len > 0;
        stored.then(|| source.get(tensor.extra)).transpose()
    }
}

impl Archive for Header {
    type State = State;

    const RULES: archive::Rules = rules::zip;

    fn directory(&self) -> Span {
        self.directory
    }

    fn visit(state: &mut State) -> &mut Visit {
        &mut state.visit
    }

    fn entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<State>) -> Result<bool, Halt> {
        let Some((mut member, record)) = archive::next(self, r, c)? else { return Ok(false) };
        c.state.is_array = record.name.ends_with(SUFFIX);
        about::<Header>(r, c);
        member.report(r, &record, self.directory.offset, rules::zip);
        let is_empty = (member.stored, member.size, member.crc) == (0, 0, 0);
        let is_folder = is_empty && record.name.ends_with(b"/");
        let key = record.name.strip_suffix(SUFFIX);
        let rule = match key {
            None if !is_folder => Some(rules::NPZ_MEMBER),
            Some(key) if key.ends_with(SUFFIX) => Some(rules::NPZ_NAME_SUFFIX),
            _ => None,
        };
        if let Some(rule) = rule {
            let name = member.name();
            r.flag(rule, name.offset, name.len.into(), 0, 0);
        }
        c.state.visit.member = member;
        c.state.visit.stand = if member.broken { Stand::Broken } else { Stand::Member };
        Ok(true)
    }

    fn subject(c: &Cursor<State>) -> (EntryKind, u32) {
        match c.state.is_array {
            true => (EntryKind::Tensor, c.index),
            false => (EntryKind::File, 0),
        }
    }

    fn pass(c: &mut Cursor<State>) {
        c.index = c.index.saturating_add(c.state.is_array.into());
        c.at = c.state.visit.member.next;
        c.state = State { visit: c.state.visit.next(), ..<State as parse::State>::START };
    }
}

/// Counts the members up to `end` in the cursor; `None` if the directory cannot be read to
/// its end, which is reported when members are listed.
fn count_members(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor<State>,
    end: u64,
) -> Result<Option<u64>, Halt> {
    while c.at < end {
        match r.quietly(|r| Member::read(r, c.at, end, rules::zip)) {
            Ok((member, record)) => {
                if is_pickle(record.name) {
                    let name = member.name();
                    r.flag(rules::NPZ_PICKLE, name.offset, name.len.into(), 0, 0);
                    return Err(Halt::refused(rules::NPZ_PICKLE));
                }
                let is_array = record.name.ends_with(SUFFIX);
                c.advance(member.next);
                c.state.arrays = c.state.arrays.saturating_add(is_array.into());
            }
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(c.index.into()))
}
