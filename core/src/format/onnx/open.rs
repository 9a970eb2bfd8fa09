//! Opening: the whole model except for the fields of its tensors.

use super::pair::{text, unread};
use super::rules;
use super::scan::{self, Own, count};
use super::schema::{Holds, Kind, field};
use super::walk::{self, Frame, Next, bit};
use super::{Cursor, Header, fast, len};
use crate::base::limits::{ONNX_DOMAINS, PROTOBUF_DEPTH};
use crate::input::Span;
use crate::parse::Reader;
use crate::protobuf::Field;
use crate::rule::{EntryKind, Halt, Rule};

/// Flags in the note of a frame: it is named, or refers to an attribute of a function.
const NAMED: u32 = 1 << 30;
const REFERS: u32 = 1 << 29;
/// The domain of a node or operator set is not the default one; it is custom.
const DOMAIN: u32 = 1 << 28;
/// The operator of a node has the name of the function around it.
const SAME: u32 = 1 << 27;
const NUMBER: u32 = 0xFFFF;

/// The fields that hold the value of an attribute.
const VALUES: [u32; 14] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 15, 22, 23];
/// Those fields in the order of attribute types 1 to 14.
pub(super) const BY_TYPE: [u32; 14] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 14, 15];

/// Walks the model. The cursor passes a field once all that is needed of it was read.
pub(super) fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
    if !c.state.begun {
        c.state.open.push(super::root(r.source()));
        c.state.begun = true;
    }
    r.about(EntryKind::File, 0);
    loop {
        fast::scan(r, c);
        match walk::next(r, c)? {
            Next::Field(found, holds) => step(r, c, &found, holds)?,
            Next::End(frame) => {
                end(r, c, &frame);
                c.state.open.pop();
            }
            Next::Over => return finish(r, c),
        }
    }
}

/// Handles one field.
fn step(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    found: &Field,
    holds: Option<Holds>,
) -> Result<(), Halt> {
    match holds {
        Some(Holds::One(Kind::Tensor) | Holds::Many(Kind::Tensor)) => {
            walk::remark(r, &c.state, found, holds);
            match c.state.open.is_full() {
                true => too_deep(r, found),
                false => count(&mut c.state.scan.tensors),
            }
            c.state.scan.within |= c.state.open.is_in(Kind::Node);
            walk::pass(c, found);
        }
        Some(Holds::One(kind) | Holds::Many(kind)) => {
            walk::remark(r, &c.state, found, holds);
            match kind {
                Kind::Graph => count(&mut c.state.scan.graphs),
                Kind::Node => {
                    count(&mut c.state.scan.nodes);
                    c.state.scan.own.node();
                }
                Kind::Function => {
                    count(&mut c.state.scan.functions);
                    c.state.scan.own = Own::NONE;
                }
                Kind::Opset => c.state.scan.version = 0,
                Kind::Training => {
                    let span = found.span();
                    r.flag(rules::M_TRAINING, span.offset, span.len, 0, 0);
                }
                _ => {}
            }
            if c.state.open.depth() == 1
                && kind == Kind::Graph
                && found.number == field::MODEL_GRAPH
            {
                (c.state.scan.main, c.state.scan.graph_at) = (true, found.at);
            }
            if c.state.open.is_full() {
                too_deep(r, found);
            }
            walk::enter(c, found, kind);
        }
        None => {
            walk::remark(r, &c.state, found, holds);
            count(&mut c.state.scan.unknown);
            walk::pass(c, found);
        }
        Some(_) => {
            let kind = c.state.open.top().map_or(Kind::Model, |top| top.kind);
            note(r, c, found, kind)?;
            walk::remark(r, &c.state, found, holds);
            walk::pass(c, found);
        }
    }
    Ok(())
}

/// Reports a message that is not read.
fn too_deep(r: &mut Reader<'_, '_>, found: &Field) {
    let depth = u64::try_from(PROTOBUF_DEPTH).unwrap_or(0);
    let span = found.span();
    r.flag(rules::W_DEPTH, span.offset, span.len, depth, 0);
}

/// Notes a number or text of the innermost message.
fn note(r: &mut Reader<'_, '_>, c: &mut Cursor, found: &Field, kind: Kind) -> Result<(), Halt> {
    let mut add = 0;
    let named = if found.value > 0 { NAMED } else { 0 };
    match (kind, found.number) {
        (Kind::Model, field::MODEL_IR) => {
            (c.state.scan.ir, c.state.scan.ir_at) = (found.value, found.at);
        }
        (Kind::Graph, field::GRAPH_NAME) => {
            let main = c.state.open.parent().is_some_and(|parent| parent.kind == Kind::Model);
            c.state.scan.named |= main && named > 0;
            add = named;
        }
        (Kind::Node, field::NODE_OP) => {
            add = named;
            // Only there may a node call what it is in.
            if c.state.open.is_in(Kind::Function)
                && let Some(op) = text(r, found.data)?
                && c.state.scan.own.has_name(op)
            {
                add |= SAME;
            }
        }
        (Kind::Function, field::FUNCTION_NAME) => {
            add = named;
            if let Some(name) = text(r, found.data)? {
                c.state.scan.own.name(name);
            }
        }
        (Kind::Attribute, field::ATTRIBUTE_NAME) | (Kind::Value | Kind::Annotation, 1) => {
            add = named
        }
        (Kind::Attribute, field::ATTRIBUTE_REF) if found.value > 0 => add = REFERS,
        (Kind::Attribute, field::ATTRIBUTE_TYPE) => {
            let number = u32::try_from(found.value).unwrap_or(NUMBER).min(NUMBER);
            if let Some(top) = c.state.open.top_mut() {
                top.note = (top.note & !NUMBER) | number;
            }
        }
        (Kind::Opset, 2) => c.state.scan.version = found.value,
        (Kind::TypeTensor, 1) => {
            let valid = (1..=scan::LAST_TYPE).contains(&found.value);
            r.check(valid, rules::G_ELEM, found.span(), scan::LAST_TYPE, found.value);
        }
        (Kind::Node, field::NODE_DOMAIN) => {
            let Some(domain) = text(r, found.data)? else {
                unread(r, found.data);
                return Ok(());
            };
            let at = c.state.open.top().map_or(0, |top| top.at);
            used(c, domain, at);
            c.state.scan.own.node_domain(domain);
            if !scan::is_standard(domain) {
                count(&mut c.state.scan.custom);
            }
            if len(domain) > 0 {
                add = DOMAIN;
            }
        }
        (Kind::Opset, 1) => {
            let Some(domain) = text(r, found.data)? else {
                unread(r, found.data);
                return Ok(());
            };
            c.state.scan.import(domain);
            if len(domain) > 0 && domain != b"ai.onnx" {
                add = DOMAIN;
            }
        }
        (Kind::Function, field::FUNCTION_DOMAIN) => {
            let Some(domain) = text(r, found.data)? else {
                unread(r, found.data);
                return Ok(());
            };
            c.state.scan.own.domain(domain);
            if let Some(domain) = c.state.scan.domain(domain) {
                domain.known = true;
            }
            if len(domain) > 0 {
                add = DOMAIN;
            }
        }
        _ => {}
    }
    if let Some(top) = c.state.open.top_mut() {
        top.note |= add;
    }
    Ok(())
}

/// A node at `at` is of a domain.
pub(super) fn used(c: &mut Cursor, domain: &[u8], at: u64) {
    if let Some(domain) = c.state.scan.domain(domain)
        && domain.node == 0
    {
        domain.node = at;
    }
}

/// Checks a message that has ended.
fn end(r: &mut Reader<'_, '_>, c: &mut Cursor, frame: &Frame) {
    let is = |flag: u32| frame.note & flag != 0;
    let mut check = |holds, rule: Rule, expected, found| {
        r.check(holds, rule, Span::new(frame.at, frame.len()), expected, found);
    };
    match frame.kind {
        Kind::Graph => {
            let main = c.state.open.parent().is_some_and(|parent| parent.kind == Kind::Model);
            check(is(NAMED) || main, rules::G_NAME, 0, 0);
        }
        Kind::Value => check(is(NAMED), rules::G_VALUE_NAME, 0, 0),
        Kind::Annotation => check(is(NAMED), rules::G_QUANT, 0, 0),
        Kind::Node => {
            check(is(NAMED), rules::N_OP, 0, 0);
            let connected = frame.has(field::NODE_INPUT) || frame.has(field::NODE_OUTPUT);
            check(connected, rules::N_NOTHING, 0, 0);
            if !is(DOMAIN) {
                used(c, b"", frame.at);
            }
            if is(SAME) && !frame.has(field::NODE_OVERLOAD) {
                c.state.scan.own.call();
            }
        }
        Kind::Attribute => attribute(r, c, frame),
        Kind::Function => {
            check(is(NAMED), rules::F_NAME, 0, 0);
            check(is(DOMAIN), rules::F_DOMAIN, 0, 0);
            let itself = c.state.scan.own.calls_itself() && !frame.has(field::FUNCTION_OVERLOAD);
            check(!itself, rules::F_SELF, 0, 0);
        }
        Kind::Opset => {
            let version = c.state.scan.version;
            let positive = i64::from_le_bytes(version.to_le_bytes()) > 0;
            check(positive, rules::M_OPSET_VERSION, 0, version);
            if !is(DOMAIN) {
                let new = positive && version > scan::OPSET;
                check(!new, rules::M_OPSET_NEW, scan::OPSET, version);
                c.state.scan.import(b"");
            }
            if c.state.open.depth() == 2 {
                count(&mut c.state.scan.opsets);
                if !is(DOMAIN) {
                    c.state.scan.opset = u32::try_from(version).unwrap_or(u32::MAX);
                }
            }
        }
        _ => {}
    }
}

fn attribute(r: &mut Reader<'_, '_>, c: &Cursor, frame: &Frame) {
    let is = |flag: u32| frame.note & flag != 0;
    let mut check = |holds, rule: Rule, expected, found| {
        r.check(holds, rule, Span::new(frame.at, frame.len()), expected, found);
    };
    check(is(NAMED), rules::A_NAME, 0, 0);
    // The attributes that a function declares have a default value.
    let in_function = c.state.open.is_in(Kind::Function);
    check(!is(REFERS) || in_function, rules::A_REF, 0, 0);
    let number = frame.note & NUMBER;
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let Some(own) = place.and_then(|place| BY_TYPE.get(place)) else {
        check(false, rules::A_TYPE, 14, number.into());
        return;
    };
    let values = VALUES.iter().filter(|field| frame.has(**field));
    let present = u64::try_from(values.count()).unwrap_or(0);
    check(present <= 1, rules::A_VALUES, 1, present);
    let others = VALUES.iter().map(|field| bit(*field)).fold(0, |all, bit| all | bit) & !bit(*own);
    let differs = present == 1 && frame.seen & others != 0;
    check(!differs, rules::A_DIFFERS, number.into(), 0);
}

/// Checks what needs the whole model.
fn finish(r: &mut Reader<'_, '_>, c: &Cursor) -> Result<Header, Halt> {
    let scan = c.state.scan;
    let file = r.source().own_len();
    if !scan.main {
        r.flag(rules::M_GRAPH, 0, file, 0, 0);
        return Err(Halt::refused(rules::M_GRAPH));
    }
    let ir = Span::new(scan.ir_at, 1);
    let present = i64::from_le_bytes(scan.ir.to_le_bytes()) > 0;
    r.check(present, rules::M_IR, ir, 0, scan.ir);
    r.check(!present || scan.ir <= scan::IR, rules::M_IR_NEW, ir, scan::IR, scan.ir);
    r.check(scan.named, rules::G_NAME, Span::new(scan.graph_at, 1), 0, 0);
    let mut unclear = scan.crowded;
    if scan.opsets == 0 {
        // Versions of the IR before 3 have no operator sets.
        r.check(matches!(scan.ir, 1 | 2), rules::M_OPSET, Span::new(0, file), 0, 0);
    } else {
        for domain in scan.domains.iter().filter(|domain| domain.node > 0) {
            let node = Span::new(domain.node, 1);
            unclear |= !domain.imported && domain.late;
            r.check(domain.imported || domain.late, rules::N_DOMAIN, node, 0, 0);
            r.check(!domain.imported || domain.known, rules::N_CUSTOM, node, 0, 0);
        }
    }
    if unclear {
        let most = u64::try_from(ONNX_DOMAINS).unwrap_or(0);
        r.flag(rules::N_MANY, 0, file, most, 0);
    }
    Ok(Header {
        ir: u16::try_from(scan.ir).unwrap_or(u16::MAX),
        opset: scan.opset,
        tensors: scan.tensors,
        nodes: scan.nodes,
        graphs: scan.graphs,
        functions: scan.functions,
        custom: scan.custom,
        unknown: scan.unknown,
        bare: !scan.within && scan.graphs == 1 && scan.functions == 0,
    })
}
