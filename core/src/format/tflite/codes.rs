//! Operator codes.

use super::audit::found;
use super::operators::{CUSTOM, DELEGATE, LAST, PLACEHOLDER};
use super::reads::{Reads, Table};
use super::{Header, list, rules};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// The field with the name of a custom operator.
pub(super) const NAME: u8 = 1;

/// An operator code.
pub(super) struct Code {
    /// The number of the operator: the larger of two fields.
    pub(super) number: i32,
    /// Length of the name of a custom operator.
    named: u32,
    pub(super) version: i32,
    pub(super) table: Table,
}

/// Reads operator code `index`, which exists.
pub(super) fn read(
    header: &Header,
    reads: &mut Reads<'_, '_, '_, '_>,
    index: u32,
) -> Result<Code, Halt> {
    let table = reads.item(header.list(list::CODES), index)?;
    let old = reads.value(&table, 0, 1)?;
    let old = i32::from(u8::try_from(old).unwrap_or(0).cast_signed());
    let named = reads.vector(&table, NAME)?.count;
    let version = reads.int(&table, 2, 1)?;
    let new = reads.int(&table, 3, 0)?;
    Ok(Code { number: old.max(new), named, version, table })
}

/// Validates a code.
pub(super) fn check(r: &mut Reader<'_, '_>, code: &Code) {
    let place = code.table.span();
    let number = u32::try_from(code.number).ok();
    let known = number.is_some_and(|number| number != PLACEHOLDER);
    r.check(known, rules::C_CODE, place, 0, found(code.number));
    match number {
        Some(CUSTOM) if code.named == 0 => flag(r, rules::C_NAME, place, 0, 0),
        Some(CUSTOM | DELEGATE) => flag(r, rules::C_CUSTOM, place, 0, 0),
        Some(new) if new > LAST => flag(r, rules::C_NEW, place, LAST.into(), new.into()),
        _ => {}
    }
    r.check(code.version > 0, rules::C_VERSION, place, 1, found(code.version));
}

fn flag(r: &mut Reader<'_, '_>, rule: Rule, place: Span, expected: u64, found: u64) {
    r.flag(rule, place.offset, place.len, expected, found);
}
