//! Iterations over the members of an archive other than listing: the parts of the file, and the
//! comparisons of the audit. A member is in three places (its central header, its local header,
//! its data descriptor), which need not be resident together.

use super::directory::Record;
use super::{Fault, Member, Rules};
use crate::input::Span;
use crate::model::{Part, Region};
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt};

/// Number of bytes compared at once if the two names are not resident together.
const PIECE: u64 = 8;

/// What a cursor reads next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stand {
    /// A central header.
    Entry,
    /// A member whose central header has been read.
    Member,
    /// A member that cannot be read.
    Broken,
    /// A piece of the name in the central header.
    Central,
    /// The same piece in the local header.
    Local,
    /// The extra fields in the local header, which decide the form of the data descriptor.
    Fields,
    /// The data descriptor, whose sizes have 8 bytes if `wide`, otherwise 4.
    After { wide: bool },
}

/// The member that a cursor is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Visit {
    pub(crate) stand: Stand,
    pub(crate) member: Member,
    /// Number of pieces of its name compared so far, and the current piece.
    compared: u64,
    piece: u64,
    /// Number of bytes that listing or the audit has read from earlier members, which may share
    /// them.
    pub(crate) shared: u64,
}

impl Visit {
    /// Before the first member.
    pub(crate) const START: Visit =
        Visit { stand: Stand::Entry, member: Member::NONE, compared: 0, piece: 0, shared: 0 };

    /// Before the member whose central header is next.
    pub(crate) fn next(&self) -> Visit {
        Visit { shared: self.shared, ..Visit::START }
    }
}

/// A format that is stored in an archive.
pub(crate) trait Archive {
    /// State of its cursor.
    type State;

    /// Maps faults to its rules.
    const RULES: Rules;

    /// Where the central directory lies. Members end before it.
    fn directory(&self) -> Span;

    /// The member that the cursor is at.
    fn visit(state: &mut Self::State) -> &mut Visit;

    /// Reads the next central header and moves the cursor to its member; returns false at the
    /// end.
    fn entry(&self, r: &mut Reader<'_, '_>, c: &mut Cursor<Self::State>) -> Result<bool, Halt>;

    /// What the cursor's member is.
    fn subject(c: &Cursor<Self::State>) -> (EntryKind, u32);

    /// Moves the cursor past its member.
    fn pass(c: &mut Cursor<Self::State>);
}

/// Reads the central header at the cursor, for [`Archive::entry`]; `None` at the end, or if it cannot
/// be read, which is reported.
pub(crate) fn next<'a, A: Archive>(
    archive: &A,
    r: &mut Reader<'_, 'a>,
    c: &mut Cursor<A::State>,
) -> Result<Option<(Member, Record<'a>)>, Halt>
where
    A::State: crate::parse::State,
{
    let Span { offset, .. } = archive.directory();
    let end = archive.directory().end().unwrap_or(offset);
    let at = if c.at == 0 { offset } else { c.at };
    r.about(EntryKind::File, 0);
    if at < end {
        match Member::read(r, at, end, A::RULES) {
            Ok(read) => {
                c.at = at;
                return Ok(Some(read));
            }
            Err(halt) if halt.is_absent() => return Err(halt),
            Err(halt) => {
                r.refuse(halt);
            }
        }
    }
    c.finish();
    Ok(None)
}

/// Makes the cursor's member the subject of findings.
pub(crate) fn about<A: Archive>(r: &mut Reader<'_, '_>, c: &Cursor<A::State>) {
    let (kind, entry) = A::subject(c);
    r.about(kind, entry);
}

/// The next part of the file: the members in listing order, the directory, and the bytes after it.
pub(crate) fn region<A: Archive>(
    archive: &A,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor<A::State>,
) -> Result<Option<Region>, Halt>
where
    A::State: crate::parse::State,
{
    let part = |part, span| Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }));
    let directory = archive.directory();
    let limit = directory.offset;
    while c.phase == 0 {
        if A::visit(&mut c.state).stand == Stand::Entry && !r.quietly(|r| archive.entry(r, c))? {
            c.next_phase();
            break;
        }
        let visit = A::visit(&mut c.state);
        if visit.stand == Stand::Broken || !measured(r, &mut visit.member, limit)? {
            A::pass(c);
            continue;
        }
        let member = visit.member;
        let mut end = member.data_end();
        if member.has_descriptor() {
            end = end.wrapping_add(member.descriptor(r, limit)?.map_or(0, |(len, _)| len));
        }
        let (kind, entry) = A::subject(c);
        let span = Span::between(member.offset, end);
        A::pass(c);
        return Ok(Some(Region { part: Part::Payload, span, kind, entry }));
    }
    if c.phase == 1 {
        c.next_phase();
        return part(Part::Table, directory);
    }
    c.finish();
    let end = directory.end().unwrap_or(directory.offset);
    part(Part::Tail, Span::between(end, r.source().len()))
}

/// Reads the length of the member's local header; returns whether it has one.
fn measured(r: &mut Reader<'_, '_>, member: &mut Member, limit: u64) -> Result<bool, Halt> {
    if member.head == 0
        && let Some((_, head)) = member.head(r, limit)?
    {
        member.head = head;
    }
    Ok(member.head > 0)
}

/// One step of the checks that need several places: names are compared, and data descriptors
/// checked.
pub(crate) fn audit<A: Archive>(
    archive: &A,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor<A::State>,
) -> Result<(), Halt> {
    let limit = archive.directory().offset;
    if A::visit(&mut c.state).stand == Stand::Entry {
        return r.quietly(|r| archive.entry(r, c)).map(|_| ());
    }
    about::<A>(r, c);
    let visit = A::visit(&mut c.state);
    let Visit { stand, mut member, compared, .. } = *visit;
    let (central, local) = (member.name(), member.local_name());
    match stand {
        Stand::Member => {
            let Some((len, head)) = member.head(r, limit)? else {
                A::pass(c);
                return Ok(());
            };
            member.head = head;
            visit.member = member;
            let equal = match (central.read(r.source()), local.read(r.source())) {
                _ if len != member.name_len => Some(false),
                (Ok(central), Ok(local)) => Some(central == local),
                _ => None,
            };
            match equal {
                Some(equal) => names::<A>(r, c, equal, len),
                None => visit.stand = Stand::Central,
            }
        }
        Stand::Central => {
            visit.piece = piece(r, central.offset, compared, member.name_len)?;
            visit.stand = Stand::Local;
        }
        Stand::Local => {
            let equal = piece(r, local.offset, compared, member.name_len)? == visit.piece;
            visit.compared = compared.wrapping_add(1);
            visit.stand = Stand::Central;
            if !equal || visit.compared.wrapping_mul(PIECE) >= member.name_len.into() {
                names::<A>(r, c, equal, member.name_len);
            }
        }
        Stand::Fields => {
            // Listing counts at least as much, and reports that the limit is reached.
            let shared = visit.shared.saturating_add(member.head.into());
            if shared > r.allowance() {
                A::pass(c);
            } else {
                visit.stand = Stand::After { wide: member.is_wide(r)? };
            }
            A::visit(&mut c.state).shared = shared;
        }
        Stand::After { wide } => {
            if member.descriptor(r, limit)?.is_none_or(|(_, found)| found != wide) {
                let at = member.data_end();
                let len = limit.wrapping_sub(at).min(16);
                r.flag((A::RULES)(Fault::Descriptor), at, len, 0, 0);
            }
            A::pass(c);
        }
        Stand::Entry | Stand::Broken => A::pass(c),
    }
    Ok(())
}

/// Reports a local name of `len` bytes unless the names are `equal`, and moves on to the
/// data descriptor or the next member.
fn names<A: Archive>(r: &mut Reader<'_, '_>, c: &mut Cursor<A::State>, equal: bool, len: u16) {
    let visit = A::visit(&mut c.state);
    let member = visit.member;
    if !equal {
        r.flag((A::RULES)(Fault::LocalName), member.local_name().offset, len.into(), 0, 0);
    }
    match member.has_descriptor() {
        true => visit.stand = Stand::Fields,
        false => A::pass(c),
    }
}

/// Reads piece number `index` of a name of `len` bytes at `at`.
fn piece(r: &mut Reader<'_, '_>, at: u64, index: u64, len: u16) -> Result<u64, Halt> {
    let passed = index.wrapping_mul(PIECE);
    let left = u64::from(len).saturating_sub(passed).min(PIECE);
    let bytes = r.get(Span::new(at.wrapping_add(passed), left))?;
    Ok(bytes.iter().fold(0, |piece, byte| piece << 8 | u64::from(*byte)))
}
