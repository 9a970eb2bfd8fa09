//! Iterations over members other than listing: counting, the parts of the file, and the
//! comparisons of the audit. A member is in three places (its central header, its local
//! header, its data descriptor), which need not be resident together.

use super::{Header, SUFFIX, Stand, State, about, pass, rules};
use crate::format::archive::{Fault, Member};
use crate::format::is_pickle;
use crate::input::Span;
use crate::model::{Part, Region};
use crate::parse::{Cursor, Reader};
use crate::rule::{EntryKind, Halt};

/// Number of bytes compared at once if the two names are not resident together.
const PIECE: u64 = 8;

/// Counts the members up to `end` in the cursor; `None` if the directory cannot be read to
/// its end, which is reported when members are listed.
pub(super) fn count(
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

/// The next part of the file.
pub(super) fn region(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor<State>,
) -> Result<Option<Region>, Halt> {
    let part = |part, span| Ok(Some(Region { part, span, kind: EntryKind::File, entry: 0 }));
    let limit = header.directory.offset;
    while c.phase == 0 {
        if c.state.stand == Stand::Entry && !r.quietly(|r| header.entry(r, c))? {
            c.next_phase();
            break;
        }
        let member = &mut c.state.member;
        if c.state.stand == Stand::Broken || !measured(r, member, limit)? {
            pass(c);
            continue;
        }
        let mut end = member.data_end();
        if member.has_descriptor() {
            end = end.wrapping_add(member.descriptor(r, limit)?.map_or(0, |(len, _)| len));
        }
        let (entry, span) = (c.index, Span::between(member.offset, end));
        let is_array = c.state.is_array;
        pass(c);
        if is_array {
            let (part, kind) = (Part::Payload, EntryKind::Tensor);
            return Ok(Some(Region { part, span, kind, entry }));
        }
        return part(Part::Payload, span);
    }
    if c.phase == 1 {
        c.next_phase();
        return part(Part::Table, header.directory);
    }
    c.finish();
    part(Part::Tail, Span::between(header.end(), r.source().len()))
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

/// One step of the checks that need several places.
pub(super) fn audit(
    header: &Header,
    r: &mut Reader<'_, '_>,
    c: &mut Cursor<State>,
) -> Result<(), Halt> {
    let limit = header.directory.offset;
    if c.state.stand == Stand::Entry {
        return r.quietly(|r| header.entry(r, c)).map(|_| ());
    }
    about(r, c);
    let State { stand, mut member, compared, .. } = c.state;
    let (central, local) = (member.name(), member.local_name());
    match stand {
        Stand::Member => {
            let Some((len, head)) = member.head(r, limit)? else {
                pass(c);
                return Ok(());
            };
            member.head = head;
            c.state.member = member;
            let equal = match (central.read(r.source()), local.read(r.source())) {
                _ if len != member.name_len => Some(false),
                (Ok(central), Ok(local)) => Some(central == local),
                _ => None,
            };
            match equal {
                Some(equal) => names(r, c, equal, len),
                None => c.state.stand = Stand::Central,
            }
        }
        Stand::Central => {
            c.state.piece = piece(r, central.offset, compared, member.name_len)?;
            c.state.stand = Stand::Local;
        }
        Stand::Local => {
            let equal = piece(r, local.offset, compared, member.name_len)? == c.state.piece;
            c.state.compared = compared.wrapping_add(1);
            c.state.stand = Stand::Central;
            if !equal || c.state.compared.wrapping_mul(PIECE) >= member.name_len.into() {
                names(r, c, equal, member.name_len);
            }
        }
        Stand::Fields => {
            // Listing counts at least as much, and reports that the limit is reached.
            let shared = c.state.shared.saturating_add(member.head.into());
            if shared > r.allowance() {
                pass(c);
            } else {
                c.state.stand = Stand::After { wide: member.is_wide(r)? };
            }
            c.state.shared = shared;
        }
        Stand::After { wide } => {
            if member.descriptor(r, limit)?.is_none_or(|(_, found)| found != wide) {
                let at = member.data_end();
                let len = limit.wrapping_sub(at).min(16);
                r.flag(rules::zip(Fault::Descriptor), at, len, 0, 0);
            }
            pass(c);
        }
        Stand::Entry | Stand::Broken => pass(c),
    }
    Ok(())
}

/// Reports a local name of `len` bytes unless the names are `equal`, and moves on to the
/// data descriptor or the next member.
fn names(r: &mut Reader<'_, '_>, c: &mut Cursor<State>, equal: bool, len: u16) {
    let member = c.state.member;
    if !equal {
        r.flag(rules::zip(Fault::LocalName), member.local_name().offset, len.into(), 0, 0);
    }
    match member.has_descriptor() {
        true => c.state.stand = Stand::Fields,
        false => pass(c),
    }
}

/// Reads piece number `index` of a name of `len` bytes at `at`.
fn piece(r: &mut Reader<'_, '_>, at: u64, index: u64, len: u16) -> Result<u64, Halt> {
    let passed = index.wrapping_mul(PIECE);
    let left = u64::from(len).saturating_sub(passed).min(PIECE);
    let bytes = r.get(Span::new(at.wrapping_add(passed), left))?;
    Ok(bytes.iter().fold(0, |piece, byte| piece << 8 | u64::from(*byte)))
}
