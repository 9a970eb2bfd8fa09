//! What the layout of an object requires of its parts.

use super::super::rules;
use super::groups;
use super::node::Node;
use super::object::{Kind, Object};
use super::part::Part;
use super::{Generation, Header};
use crate::input::Span;
use crate::model::{DType, dims::product};
use crate::parse::Reader;
use crate::rule::{Rule, Severity};

/// An object whose parts are checked.
pub(super) struct Known<'k, 'a> {
    pub(super) header: &'k Header,
    pub(super) object: &'k Object<'a>,
    /// Number of elements of its shape, if that is valid, and its rank.
    pub(super) shape: Option<u64>,
    pub(super) rank: u32,
}

/// What was found.
pub(super) struct Found {
    pub(super) broken: bool,
    /// The type of the elements.
    pub(super) dtype: DType,
}

/// Checks the roles of the parts; returns whether a fault is fatal.
pub(super) fn roles(r: &mut Reader<'_, '_>, header: &Header, object: &Object<'_>) -> bool {
    let two = header.generation == Generation::Two;
    let (required, optional) = object.kind.roles(two);
    let place = object.parts.unwrap_or_default().span();
    let mut broken = false;
    for role in required {
        let has = |(key, _): (Node<'_>, Node<'_>)| key.text().is_some_and(|key| key == **role);
        if !object.parts().any(has) {
            broken = true;
            r.flag(rules::PART_MISSING, place.offset, place.len, 0, 0);
        }
    }
    let is_defined = |key: &Node<'_>| {
        let mut all = required.iter().chain(optional);
        key.text().is_some_and(|key| all.any(|role| key == **role))
    };
    if object.kind != Kind::Other
        && let Some((key, _)) = object.parts().find(|(key, _)| !is_defined(key))
    {
        let rule = if two { rules::PART_SURPLUS } else { rules::PART_UNUSED };
        broken |= rule.severity() == Severity::Fatal;
        let place = key.span();
        r.flag(rule, place.offset, place.len, 0, 0);
    }
    broken
}

/// Checks an object that is not dense.
pub(super) fn check(r: &mut Reader<'_, '_>, known: &Known<'_, '_>) -> Found {
    let broken = roles(r, known.header, known.object);
    let mut found = Found { broken, dtype: DType::Unknown };
    let place = known.object.layout.unwrap_or_default().span();
    match known.object.kind {
        Kind::Csr | Kind::Coo => {
            let mut sparse = Sparse::of(known.header, r, known.object);
            found.dtype = sparse.values.map_or(DType::Unknown, |part| part.dtype);
            if !broken && known.shape.is_some() {
                found.broken |= sparse.check(r, known);
            }
        }
        Kind::Groups if !broken && known.shape.is_some() => {
            return groups::check(r, known);
        }
        _ if known.object.layout.is_some_and(|layout| layout.text().is_some()) => {
            r.flag(rules::OBJECT_LAYOUT_UNKNOWN, place.offset, place.len, 0, 0);
        }
        _ => {}
    }
    found
}

/// The parts of a sparse object. Their own faults are reported with their own entries.
pub(super) struct Sparse {
    pub(super) values: Option<Part>,
    /// Columns, or all coordinates.
    pub(super) indices: Option<Part>,
    /// Row pointers.
    pub(super) pointers: Option<Part>,
}

impl Sparse {
    /// The parts of `object`.
    pub(super) fn of(header: &Header, r: &mut Reader<'_, '_>, object: &Object<'_>) -> Sparse {
        let mut part = |role: &str| {
            let is = |(key, _): &(Node<'_>, Node<'_>)| key.text().is_some_and(|key| key == *role);
            let pair = object.parts().find(is)?;
            Some(r.quietly(|r| Part::read(header, r, pair, object.dtype)))
        };
        let coordinates = object.kind == Kind::Coo;
        Sparse {
            values: part("values"),
            indices: part(if coordinates { "coords" } else { "indices" }),
            pointers: if coordinates { None } else { part("indptr") },
        }
    }

    /// Checks types and sizes; returns whether a fault is fatal.
    fn check(&mut self, r: &mut Reader<'_, '_>, known: &Known<'_, '_>) -> bool {
        let place = known.object.parts.unwrap_or_default().span();
        let fault = self.fault(known);
        if let Some((rule, expected, found)) = fault {
            r.flag(rule, place.offset, place.len, expected, found);
        }
        fault.is_some()
    }

    /// The first fault, with the numbers of its finding.
    fn fault(&self, known: &Known<'_, '_>) -> Option<(Rule, u64, u64)> {
        let rank = u64::from(known.rank);
        let csr = known.object.kind == Kind::Csr;
        if csr && rank != 2 {
            return Some((rules::SPARSE_CSR_RANK, 2, rank));
        }
        if rank == 0 {
            return Some((rules::SPARSE_COO_RANK, 0, 0));
        }
        let (Some(values), Some(indices)) = (&self.values, &self.indices) else { return None };
        if values.broken || indices.broken || self.pointers.is_some_and(|part| part.broken) {
            return None;
        }
        let two = known.header.generation == Generation::Two;
        let is_index = |dtype: DType| match dtype {
            DType::U64 => true,
            DType::U32 => two,
            // Before generation 1.2, integers of any type.
            DType::I64 | DType::I32 | DType::I16 | DType::U16 | DType::I8 | DType::U8 => {
                !two && known.header.minor == 1
            }
            _ => false,
        };
        if !is_index(indices.plain) || self.pointers.is_some_and(|p| p.plain != indices.plain) {
            return Some((rules::INDEX_TYPE, 0, 0));
        }
        let width = u64::from(indices.plain.bits() >> 3);
        let rows = known.object.shape.and_then(|shape| shape.items().next()?.uint()).unwrap_or(0);
        if let Some(found) = self.pointers.and_then(|part| part.decoded) {
            let due = rows.checked_add(1).and_then(|count| product(count, width));
            let due = due.unwrap_or(u64::MAX);
            if due != found {
                return Some((rules::INDEX_SIZE, due, found));
            }
        }
        let each = if csr { width } else { product(width, rank)? };
        let bytes = indices.decoded?;
        let (count, rest) = crate::base::division::div_rem(bytes, each)?;
        if rest != 0 {
            let whole = bytes.saturating_sub(rest);
            return Some((rules::INDEX_SIZE, whole, bytes));
        }
        let due = values.dtype.bytes(count)?;
        let found = values.decoded?;
        (due != found).then_some((rules::VALUES_SIZE, due, found))
    }
}

/// The place of a part's data in this file, if its indices can be followed in place.
pub(super) fn in_place(part: &Part) -> Option<Span> {
    let raw = part.encoding == crate::model::Encoding::Raw;
    part.blob.filter(|_| raw && !part.broken && !part.elsewhere)
}
