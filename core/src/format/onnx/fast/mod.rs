//! Fast paths over the nodes and initialisers of a graph.
//!
//! They handle messages about which the full check would report nothing, wholly resident and one
//! after the other; [`plain`] says which. Any other field gets the full check. A graph may have
//! hundreds of thousands of both; everything else in a model is small.

mod plain;
mod wires;

pub(super) use wires::sweep_links;

use super::node::{self, Node};
use super::schema::{Kind, field};
use super::walk::{Frame, bit};
use super::{Cursor, open, rules};
use crate::base::{limits::PROTOBUF_DEPTH, widen};
use crate::format::Glance;
use crate::input::Span;
use crate::model::{Chunks, Name, NameAt, NameEncoding, Tensor};
use crate::parse::Reader;

/// The keys of nodes and initialisers in a graph.
const NODE: u8 = 0x0A;
const INITIALIZER: u8 = 0x2A;
/// The key of a tensor's name.
const NAME: u8 = 0x42;

/// The rest of the graph that is open, as far as it is resident.
#[derive(Clone, Copy)]
struct Rest<'a> {
    /// Offset of the first byte.
    start: u64,
    whole: &'a [u8],
    /// What was not passed yet.
    left: &'a [u8],
    /// The fields passed, as bits.
    seen: u32,
}

impl<'a> Rest<'a> {
    /// From the cursor on, if a graph is the innermost open message.
    #[inline(always)]
    fn of(r: &mut Reader<'_, 'a>, c: &Cursor) -> Option<Rest<'a>> {
        let Frame { kind: Kind::Graph, end, .. } = *c.state.open.top()? else { return None };
        if c.at >= end {
            return None;
        }
        r.region(c.at, end, rules::W_END);
        let whole = r.resident();
        Some(Rest { start: c.at, whole, left: whole, seen: 0 })
    }

    /// The offset from which on `left` bytes are left.
    #[inline(always)]
    fn at(&self, left: usize) -> u64 {
        self.start.saturating_add(widen(self.whole.len().saturating_sub(left)))
    }

    /// The offset of the next byte.
    #[inline(always)]
    fn next(&self) -> u64 {
        self.at(self.left.len())
    }

    /// The next field if it has this key, and what follows it.
    #[inline(always)]
    fn field(&self, key: u8) -> Option<(&'a [u8], &'a [u8])> {
        plain::of_key(self.left, key)
    }

    /// Passes a field.
    #[inline(always)]
    fn pass(&mut self, number: u32, after: &'a [u8]) {
        self.left = after;
        self.seen |= bit(number);
    }

    /// Passes the nodes that come next and have no tensors.
    #[inline(always)]
    fn pass_nodes(&mut self, c: &Cursor) {
        while let Some((message, after)) = self.field(NODE)
            && (c.state.bare || plain::node(message) == Some(0))
        {
            self.pass(field::GRAPH_NODE, after);
        }
    }

    /// Moves the cursor past what was passed.
    fn keep(&self, c: &mut Cursor) {
        if self.seen & bit(field::GRAPH_NODE) != 0 {
            c.state.node = Node::at(c.state.open.depth().saturating_add(1));
        }
        if let Some(top) = c.state.open.top_mut() {
            top.seen |= self.seen;
        }
        c.at = self.next();
    }
}

/// Whether a node, an attribute and a tensor in it may be opened.
fn has_room(c: &Cursor) -> bool {
    usize::from(c.state.open.depth()).saturating_add(3) <= PROTOBUF_DEPTH
}

/// While opening: passes nodes and initialisers, and counts them.
pub(super) fn scan(r: &mut Reader<'_, '_>, c: &mut Cursor) {
    let Some(mut rest) = Rest::of(r, c) else { return };
    if !has_room(c) || c.state.open.is_in(Kind::Function) {
        return;
    }
    let (mut tensors, mut nodes, mut within) = (0_u32, 0_u32, false);
    loop {
        if let Some((_, after)) = rest.field(INITIALIZER) {
            tensors = tensors.saturating_add(1);
            rest.pass(field::GRAPH_INITIALIZER, after);
        } else if let Some((message, after)) = rest.field(NODE)
            && let Some(inside) = plain::node(message)
        {
            if nodes == 0 {
                open::used(c, b"", rest.next());
            }
            nodes = nodes.saturating_add(1);
            tensors = tensors.saturating_add(inside);
            within |= inside > 0;
            rest.pass(field::GRAPH_NODE, after);
        } else {
            break;
        }
    }
    c.state.scan.tensors = c.state.scan.tensors.saturating_add(tensors);
    c.state.scan.within |= within;
    c.state.scan.nodes = c.state.scan.nodes.saturating_add(nodes);
    rest.keep(c);
}

/// The next tensor, if only nodes without tensors come before it and it needs no full check.
#[inline]
pub(super) fn tensor(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Option<Tensor> {
    let mut rest = Rest::of(r, c)?;
    rest.pass_nodes(c);
    let found = rest.field(INITIALIZER).filter(|_| c.state.open.scope() <= node::SCOPES);
    let found = found.and_then(|(message, after)| Some((plain::tensor(message)?, after)));
    let Some((plain, after)) = found else {
        rest.keep(c);
        return None;
    };
    let before =
        |end: usize, len: usize| rest.at(after.len().saturating_add(end).saturating_add(len));
    let (name_len, data_len) = (plain.name.len(), plain.data);
    let tensor = Tensor {
        index: c.index,
        offset: rest.next(),
        name: NameAt::plain(before(plain.after_name, name_len), widen(name_len)),
        dtype: plain.dtype,
        dims: plain.shape.dims(),
        elements: plain.elements,
        chunks: Chunks::One(Span::new(before(plain.after_data, data_len), widen(data_len))),
        encoding: plain.encoding,
        ..Tensor::default()
    };
    rest.pass(field::GRAPH_INITIALIZER, after);
    rest.keep(c);
    // Nothing of it is in another file.
    c.state.fields.location = 0;
    c.phase = node::table(c);
    c.index = c.index.wrapping_add(1);
    Some(tensor)
}

/// Passes tensors and nodes without tensors, as long as `goes_on`.
pub(super) fn sweep<'a>(
    r: &mut Reader<'_, 'a>,
    c: &mut Cursor,
    goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
) {
    pass_tensors(r, c, u32::MAX, goes_on, |message| {
        let plain = plain::tensor(message)?;
        Some((plain.name, plain.after_name))
    });
}

/// The same up to tensor `until`, where all were passed before.
pub(super) fn sweep_names<'a>(
    r: &mut Reader<'_, 'a>,
    c: &mut Cursor,
    until: u32,
    goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
) {
    pass_tensors(r, c, until, goes_on, |message| plain::text(message, NAME));
}

/// Passes tensors up to `until`; `read` returns the name of one, and the number of bytes after it.
#[inline(always)]
fn pass_tensors<'a>(
    r: &mut Reader<'_, 'a>,
    c: &mut Cursor,
    until: u32,
    goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    read: impl Fn(&'a [u8]) -> Option<(&'a [u8], usize)>,
) {
    // The first tensor of a graph has had the full check: its names are in a table of their own.
    if c.phase != node::table(c) || c.state.open.scope() > node::SCOPES {
        return;
    }
    let Some(mut rest) = Rest::of(r, c) else { return };
    let mut index = c.index;
    while index < until {
        rest.pass_nodes(c);
        let Some((message, after)) = rest.field(INITIALIZER) else { break };
        let Some((name, after_name)) = read(message) else { break };
        let left = after.len().saturating_add(after_name).saturating_add(name.len());
        let glance = Glance {
            index,
            at: rest.next(),
            name_at: NameAt::plain(rest.at(left), widen(name.len())),
            name: Name::new(name, NameEncoding::Plain),
        };
        if !goes_on(&glance) {
            break;
        }
        rest.pass(field::GRAPH_INITIALIZER, after);
        index = index.saturating_add(1);
    }
    rest.keep(c);
    c.index = index;
}

#[cfg(test)]
mod tests;
