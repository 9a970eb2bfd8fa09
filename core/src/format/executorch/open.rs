//! Opening: the whole flatbuffer is verified, and its tables and the places of segments are found.

use super::head::{self, Head, Kind, refuse};
use super::schema;
use super::segment::{self, Checked, Segments};
use super::{Cursor, Header, rules};
use crate::base::{features::WINDOWS, wide};
use crate::format::flatbuffer::reads::{Memo, Reads, Small, Vector};
use crate::format::flatbuffer::{self, Counts, Extent, Prefix, Schema, Walk};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// What opening has found so far, and what is known of the part that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    pub(super) walk: Walk,
    head: Option<Head>,
    header: Option<Header>,
    counts: Counts,
    segments: Checked,
    /// A part to be returned next.
    pub(super) pending: Option<Span>,
}

impl Scan {
    pub(super) const START: Scan = Scan {
        walk: Walk::NONE,
        head: None,
        header: None,
        counts: Counts::START,
        segments: Checked::START,
        pending: None,
    };
}

/// The tables of a kind of file.
pub(super) fn schema_of(head: &Head) -> &'static Schema {
    match head.kind() {
        Kind::Program => &schema::PROGRAM,
        Kind::Data => &schema::DATA,
    }
}

/// A walk over the flatbuffer.
pub(super) fn walk(r: &mut Reader<'_, '_>, head: &Head) -> Result<Walk, Halt> {
    let mut bytes = Extent::new(r, 0, head.end.into());
    let schema = schema_of(head);
    let root = flatbuffer::root(r, &mut bytes, Prefix::None, schema)?;
    if wide(root) < head.len.into() {
        return refuse(r, rules::F_ROOT, Span::new(0, 4), head.len.into(), wide(root));
    }
    Ok(Walk::new(bytes, root))
}

/// The phases.
const HEAD: u8 = 0;
const ROOT: u8 = 1;
const OBJECTS: u8 = 2;
const FIND: u8 = 3;
const SEGMENTS: u8 = 4;

/// Verifies the flatbuffer, and finds its vectors.
pub(super) fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
    r.about(EntryKind::File, 0);
    if !WINDOWS {
        return at_once(r, &mut c.state.memo);
    }
    let mut local = Scan::START;
    let scan = c.state.scan.of(&mut local);
    if c.phase == HEAD {
        scan.head = Some(head::read(r)?);
        c.phase = ROOT;
    }
    let Some(head) = scan.head else { return Err(Halt::refused(rules::F_SHORT)) };
    if c.phase == ROOT {
        scan.walk = walk(r, &head)?;
        c.phase = OBJECTS;
    }
    if c.phase == OBJECTS {
        flatbuffer::verify(r, &mut scan.walk, &mut scan.counts, schema_of(&head))?;
        c.phase = FIND;
    }
    if let Some(rule) = scan.counts.broken {
        return Err(Halt::refused(rule));
    }
    if c.phase == FIND {
        let memo = &mut c.state.memo;
        let header = match head.kind() {
            Kind::Program => program(r, memo, &scan.counts, head)?,
            Kind::Data => data(r, memo, &scan.counts, head)?,
        };
        memo.clear();
        scan.header = Some(header);
        segment::check_base(r, &header);
        c.phase = SEGMENTS;
    }
    let Some(mut header) = scan.header else {
        return Err(Halt::refused(rules::F_SHORT));
    };
    segment::check_all(r, &mut c.state.memo, &mut scan.segments, &mut header)?;
    Ok(header)
}

/// The same for a program in memory.
fn at_once(r: &mut Reader<'_, '_>, memo: &mut Memo) -> Result<Header, Halt> {
    let head = head::read(r)?;
    let mut counts = Counts::START;
    let mut objects = walk(r, &head)?;
    flatbuffer::verify(r, &mut objects, &mut counts, schema_of(&head))?;
    let mut header = program(r, memo, &counts, head)?;
    let mut checked = Checked::START;
    segment::check_all(r, memo, &mut checked, &mut header)?;
    Ok(header)
}

/// Where a number is, or its table if `at` is 0: it is absent. A board names the table.
#[inline(always)]
pub(super) fn place_of(at: u64, width: u8, table: Span) -> Span {
    if !WINDOWS || at == 0 { table } else { Span::new(at, width.into()) }
}

/// Reads the root of a program.
fn program(
    r: &mut Reader<'_, '_>,
    memo: &mut Memo,
    counts: &Counts,
    head: Head,
) -> Result<Header, Halt> {
    let mut reads = Reads::new(r, memo);
    let root = reads.table(counts.root)?;
    let version = reads.small(&root, 0, 4)?;
    let mut vectors = [Vector::NONE; 6];
    for (vector, field) in vectors.iter_mut().zip(&[1, 2, 3, 4, 6, 7]) {
        *vector = reads.vector(&root, *field)?;
    }
    let [plans, buffers, inline, segments, mutable, named] = vectors;
    let (mut constant, mut constant_at, mut offsets) = (0, 0, Vector::NONE);
    if let Some(table) = reads.inner(&root, 5)? {
        let index = reads.small(&table, 0, 4)?;
        constant = index.value;
        let place = place_of(index.at(), 4, table.span()).offset;
        constant_at = u32::try_from(place).unwrap_or(0);
        offsets = reads.vector(&table, 1)?;
    }
    let whole = root.span();
    check_version(r, version, whole);
    r.check(plans.count > 0, rules::P_METHODS, whole, 1, 0);
    // A single offset stands for no constants.
    let both = buffers.count > 0 && offsets.count > 1;
    r.check(!both, rules::C_BOTH, whole, 0, buffers.count.into());
    let [tensors, operators, delegates] = counts.counted;
    let Head { kind, len: head_len, end, base, size } = head;
    Ok(Header {
        kind,
        head_len,
        end,
        base,
        size,
        version: u16::try_from(version.value).unwrap_or(u16::MAX),
        plans,
        buffers,
        inline,
        segments: Segments { list: segments },
        sorted: true,
        constant,
        constant_at,
        offsets,
        mutable,
        named,
        tensors,
        operators,
        delegates,
    })
}

/// Reads the root of tensor data.
fn data(
    r: &mut Reader<'_, '_>,
    memo: &mut Memo,
    counts: &Counts,
    head: Head,
) -> Result<Header, Halt> {
    let mut reads = Reads::new(r, memo);
    let root = reads.table(counts.root)?;
    let version = reads.small(&root, 0, 4)?;
    let segments = reads.vector(&root, 1)?;
    let named = reads.vector(&root, 2)?;
    let whole = root.span();
    if !named.is_present() {
        return refuse(r, rules::N_NONE, whole, 1, 0);
    }
    check_version(r, version, whole);
    let [tensors, ..] = counts.counted;
    let Head { kind, len: head_len, end, base, size } = head;
    Ok(Header {
        kind,
        head_len,
        end,
        base,
        size,
        version: u16::try_from(version.value).unwrap_or(u16::MAX),
        plans: Vector::NONE,
        buffers: Vector::NONE,
        inline: Vector::NONE,
        segments: Segments { list: segments },
        sorted: true,
        constant: 0,
        constant_at: 0,
        offsets: Vector::NONE,
        mutable: Vector::NONE,
        named,
        tensors,
        operators: 0,
        delegates: 0,
    })
}

fn check_version(r: &mut Reader<'_, '_>, version: Small, whole: Span) {
    let place = place_of(version.at(), 4, whole);
    r.check(version.value == 0, rules::P_VERSION, place, 0, version.value.into());
}
