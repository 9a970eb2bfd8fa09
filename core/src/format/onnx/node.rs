//! The node that holds a constant, and the names of tensors.
//!
//! An initialiser has a name of its own. The tensor of a `Constant` node is known to other nodes by
//! the node's output, so it has that name here. Writers store outputs before attributes; if one does
//! not, the tensor has no name, as tensors of other attributes have none: writers give all of them
//! the same one.

use super::Cursor;
use super::pair::text;
use super::rules;
use super::schema::{Kind, field};
use super::walk::Frame;
use crate::base::{limits::ONNX_TEXT, utf8};
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::protobuf::Field;
use crate::rule::Halt;

/// Most graphs and functions whose names are compared; the tensors of further ones have no names
/// here.
pub(super) const SCOPES: u32 = 250;

/// The node entered last, as far as its fields have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    /// Number of open messages, with this one.
    depth: u8,
    /// The name of its first output.
    output: Span,
    /// Its operator is `Constant`.
    is_constant: bool,
}

impl Node {
    pub(super) const NONE: Node = Node { depth: 0, output: Span::new(0, 0), is_constant: false };

    /// A node of which nothing was read.
    pub(super) fn at(depth: u8) -> Node {
        Node { depth, ..Node::NONE }
    }
}

/// Notes the first output of a node, and whether it is a constant.
pub(super) fn field(r: &mut Reader<'_, '_>, c: &mut Cursor, found: &Field) -> Result<(), Halt> {
    match found.number {
        field::NODE_OUTPUT => {
            let first = !c.state.open.top().is_some_and(|top| top.has(field::NODE_OUTPUT));
            if first && found.data.len <= ONNX_TEXT {
                c.state.node.output = found.data;
            }
        }
        field::NODE_OP => {
            c.state.node.is_constant = text(r, found.data)?.is_some_and(|op| op == b"Constant");
        }
        _ => {}
    }
    Ok(())
}

/// The name of the tensor in `frame`, which has ended and is still open.
///
/// Reads it: the caller would otherwise go back to where the name came from, and a host with a
/// single window would never get here again.
pub(super) fn name(r: &mut Reader<'_, '_>, c: &Cursor, frame: &Frame) -> Result<NameAt, Halt> {
    let own = c.state.fields.name;
    let (open, node) = (&c.state.open, c.state.node);
    let outer = |below| open.below(below).map(|outer| outer.kind);
    let (holder, level) = match outer(1) {
        // The values of a sparse tensor carry its name.
        Some(Kind::Sparse) if frame.field == 1 => (outer(2), 2),
        Some(Kind::Sparse) => return Ok(NameAt::default()),
        holder => (holder, 1),
    };
    let span = match holder {
        Some(Kind::Graph) => own,
        // A tensor that is read by itself.
        None if c.state.alone => own,
        Some(Kind::Attribute)
            if node.is_constant && open.depth().checked_sub(level) == node.depth.checked_add(1) =>
        {
            node.output
        }
        _ => Span::default(),
    };
    if span.is_empty() || open.scope() > SCOPES {
        return Ok(NameAt::default());
    }
    let name = r.get(span)?;
    if span != own {
        r.check(utf8::is(name), rules::T_NAME_UTF8, span, 0, 0);
        r.check(!name.contains(&0), rules::T_NAME_NUL, span, 0, 0);
    }
    Ok(NameAt::plain(span.offset, span.len))
}

/// The table of names that the tensors of the innermost graph or function are in.
pub(super) fn table(c: &Cursor) -> u8 {
    u8::try_from(c.state.open.scope().min(SCOPES)).unwrap_or(0)
}
