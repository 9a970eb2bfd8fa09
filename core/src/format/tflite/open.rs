//! Opening: the whole flatbuffer is verified, and the tables of the model are found.

use super::reads::{Memo, Reads, Vector};
use super::rules;
use super::schema::{self, table};
use super::{Cursor, Header, extent, list};
use crate::base::features::WINDOWS;
use crate::format::flatbuffer::{self, Counts, Extent, Prefix, Walk};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};

/// The version of the schema.
const VERSION: u32 = 3;

/// What opening has found so far, and what is known of the part that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    pub(super) walk: Walk,
    counts: Counts,
    /// A part to be returned next.
    pub(super) pending: Option<Span>,
    /// The operator whose options are looked for behind the flatbuffer.
    pub(super) operator: Option<u64>,
}

impl Scan {
    pub(super) const START: Scan =
        Scan { walk: Walk::NONE, counts: Counts::START, pending: None, operator: None };
}

/// A walk over the model.
pub(super) fn walk(r: &mut Reader<'_, '_>) -> Result<Walk, Halt> {
    let mut bytes = Extent::new(r, 0, extent(r.source()));
    let root = flatbuffer::root(r, &mut bytes, Prefix::None, &schema::MODEL)?;
    Ok(Walk::new(bytes, root))
}

/// Whether the vector that the walk has just returned is the data of a buffer.
pub(super) fn is_data(walk: &Walk) -> bool {
    walk.path().last().is_some_and(|top| top.number() == table::BUFFER && top.field() == 0)
}

/// Verifies the flatbuffer, and finds the vectors of the model.
pub(super) fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
    r.about(EntryKind::File, 0);
    if !WINDOWS {
        let (mut objects, mut counts) = (walk(r)?, Counts::START);
        flatbuffer::verify(r, &mut objects, &mut counts, &schema::MODEL)?;
        return find(r, &mut c.state.memo, &counts);
    }
    let mut local = Scan::START;
    let scan = c.state.scan.of(&mut local);
    if c.phase == 0 {
        scan.walk = walk(r)?;
        c.phase = 1;
    }
    if c.phase == 1 {
        flatbuffer::verify(r, &mut scan.walk, &mut scan.counts, &schema::MODEL)?;
        c.phase = 2;
    }
    if let Some(rule) = scan.counts.broken {
        return Err(Halt::refused(rule));
    }
    find(r, &mut c.state.memo, &scan.counts)
}

/// Reads the model.
fn find(r: &mut Reader<'_, '_>, memo: &mut Memo, counts: &Counts) -> Result<Header, Halt> {
    let mut reads = Reads::new(r, memo);
    let model = reads.table(counts.root)?;
    let version = reads.small(&model, 0, 4)?;
    let [tensors, operators, custom] = counts.counted;
    let lists = [Vector::NONE; list::FIELDS.len()];
    let mut header = Header { lists, tensors, operators, custom };
    for (list, field) in header.lists.iter_mut().zip(&list::FIELDS) {
        *list = reads.vector(&model, *field)?;
    }
    let whole = model.span();
    let (rule, span, expected, found) = if version.value != VERSION {
        let at = if version.at() == 0 { whole } else { Span::new(version.at(), 4) };
        (rules::M_VERSION, at, VERSION.into(), version.value.into())
    } else if header.list(list::SUBGRAPHS).count == 0 {
        (rules::M_SUBGRAPHS, whole, 1, 0)
    } else if header.list(list::BUFFERS).count == 0 {
        (rules::M_BUFFERS, whole, 1, 0)
    } else {
        return Ok(header);
    };
    r.flag(rule, span.offset, span.len, expected, found);
    Err(Halt::refused(rule))
}
