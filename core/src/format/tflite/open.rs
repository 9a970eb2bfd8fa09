//! Opening: the whole flatbuffer is verified, and the tables of the model are found.

use super::reads::{Memo, Reads, Vector};
use super::rules;
use super::schema::{self, table};
use super::{Cursor, Header, extent, list};
use crate::base::features::WINDOWS;
use crate::format::flatbuffer::{self, Extent, Fault, Object, Prefix, Rules, Walk};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, Rule, Severity};
use core::cell::Cell;

/// The version of the schema.
const VERSION: u64 = 3;

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

/// What verifying has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Counts {
    /// The model; 0 before it was found.
    model: u64,
    tensors: u32,
    operators: u32,
    custom: u32,
    /// The first fatal fault.
    broken: Option<Rule>,
}

impl Counts {
    const START: Counts = Counts { model: 0, tensors: 0, operators: 0, custom: 0, broken: None };
}

/// A walk over the model.
pub(super) fn walk(r: &mut Reader<'_, '_>) -> Result<Walk, Halt> {
    let mut bytes = Extent::new(r, 0, extent(r.source()));
    let root = flatbuffer::root(r, &mut bytes, Prefix::None, &schema::MODEL, &rules::structure)?;
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
        verify(r, &mut objects, &mut counts)?;
        return find(r, &mut c.state.memo, &counts);
    }
    let mut local = Scan::START;
    let scan = c.state.scan.of(&mut local);
    if c.phase == 0 {
        scan.walk = walk(r)?;
        c.phase = 1;
    }
    if c.phase == 1 {
        verify(r, &mut scan.walk, &mut scan.counts)?;
        c.phase = 2;
    }
    if let Some(rule) = scan.counts.broken {
        return Err(Halt::refused(rule));
    }
    find(r, &mut c.state.memo, &scan.counts)
}

/// Verifies every object, and counts.
fn verify(r: &mut Reader<'_, '_>, walk: &mut Walk, counts: &mut Counts) -> Result<(), Halt> {
    let mut seen = *counts;
    if walk.is_sound(r, &schema::MODEL, &mut |object, table| seen.add(object, || Some(table))) {
        *counts = seen;
        return Ok(());
    }
    let fatal = Cell::new(None);
    let rule = |fault: Fault| {
        let rule = rules::structure(fault);
        if rule.severity() == Severity::Fatal {
            fatal.set(Some(rule));
        }
        rule
    };
    // A walk through memory ends at a fatal fault.
    let rule: Rules<'_> = if WINDOWS { &rule } else { &rules::structure };
    loop {
        let found = walk.next(r, &schema::MODEL, rule);
        if WINDOWS {
            counts.broken = counts.broken.or(fatal.get());
        }
        let Some(object) = found? else { return Ok(()) };
        counts.add(object, || walk.path().last().map(|top| top.number()));
    }
}

impl Counts {
    /// Counts an object. `by` is the number of the table that leads to it.
    fn add(&mut self, object: Object, by: impl FnOnce() -> Option<u8>) {
        match object {
            Object::Table { number, place, .. } => match number {
                0 => self.model = place.span().offset,
                table::TENSOR => self.tensors = self.tensors.saturating_add(1),
                table::OPERATOR => self.operators = self.operators.saturating_add(1),
                _ => {}
            },
            Object::String(_) => {
                let custom = by() == Some(table::OPERATOR_CODE);
                self.custom = self.custom.saturating_add(custom.into());
            }
            Object::Vector(_) => {}
        }
    }
}

/// Reads the model.
fn find(r: &mut Reader<'_, '_>, memo: &mut Memo, counts: &Counts) -> Result<Header, Halt> {
    let mut reads = Reads::new(r, memo);
    let model = reads.table(counts.model)?;
    let version = reads.scalar(&model, 0, 4, 0)?;
    let mut header = Header {
        lists: [Vector::NONE; list::FIELDS.len()],
        tensors: counts.tensors,
        operators: counts.operators,
        custom: counts.custom,
    };
    for (list, field) in header.lists.iter_mut().zip(list::FIELDS) {
        *list = reads.vector(&model, field)?;
    }
    let whole = model.span();
    let (rule, span, expected, found) = if version.value != VERSION {
        let at = if version.at == 0 { whole } else { Span::new(version.at, 4) };
        (rules::M_VERSION, at, VERSION, version.value)
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
