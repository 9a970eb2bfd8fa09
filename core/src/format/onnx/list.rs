//! Listing: the tensors of all graphs, attributes and functions, in file order.

use super::node::Node;
use super::rules::{self, WIRE};
use super::schema::{Holds, Kind, field};
use super::tensor::{self, Fields};
use super::walk::{self, Next};
use super::{Cursor, fast, node, sparse};
use crate::model::{NameAt, Tensor};
use crate::parse::Reader;
use crate::protobuf::{Field, Wire};
use crate::rule::{EntryKind, Halt, general::BYTES_CHANGED};

/// What listing has found.
#[derive(Clone, Copy)]
pub(super) enum Found {
    Tensor(Tensor),
    /// A sparse tensor has ended; its parts were returned before.
    Sparse,
    Over,
}

/// Walks up to the next tensor, or the end of a sparse tensor.
pub(super) fn next(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Found, Halt> {
    loop {
        if let Some(found) = step(r, c)? {
            return Ok(found);
        }
    }
}

/// Handles one field, or the end of a message; returns what was found with it.
pub(super) fn step(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Found>, Halt> {
    begin(r, c)?;
    if let Some(tensor) = fast::tensor(r, c) {
        return Ok(Some(Found::Tensor(tensor)));
    }
    let inside = c.state.open.is_in(Kind::Tensor);
    match inside {
        true => r.about(EntryKind::Tensor, c.index),
        false => r.about(EntryKind::File, 0),
    }
    let found = match walk::next(r, c) {
        Ok(Next::Field(found, holds)) => field(r, c, &found, holds),
        Ok(Next::End(frame)) => {
            let name = match frame.kind {
                Kind::Tensor => node::name(r, c, &frame)?,
                _ => NameAt::default(),
            };
            c.state.open.pop();
            match frame.kind {
                Kind::Tensor => {
                    let tensor = tensor::finish(r, c, &frame, name);
                    return Ok(Some(Found::Tensor(tensor)));
                }
                Kind::Sparse => {
                    sparse::finish(r, c, &frame);
                    c.state.audited = true;
                    return Ok(Some(Found::Sparse));
                }
                _ => Ok(()),
            }
        }
        Ok(Next::Over) => return Ok(Some(Found::Over)),
        Err(halt) => Err(halt),
    };
    match found {
        Ok(()) => {}
        Err(halt) if halt.is_absent() || !inside => return Err(halt),
        Err(halt) => {
            r.refuse(halt);
            give_up(c);
        }
    }
    Ok(None)
}

/// Opens the model, or the only tensor that is read.
fn begin(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    if c.state.begun {
        return Ok(());
    }
    if c.state.alone {
        r.region(c.at, r.source().own_len(), rules::W_END);
        r.about(EntryKind::Tensor, c.index);
        let found = Field::read(r, &WIRE)?;
        if found.wire != Wire::Bytes {
            return Err(Halt::broken(BYTES_CHANGED));
        }
        start(c, &found);
    } else {
        c.state.open.push(super::root(r.source()));
    }
    c.state.begun = true;
    Ok(())
}

/// Passes over the rest of a tensor that cannot be read on.
fn give_up(c: &mut Cursor) {
    c.state.fields.broken = true;
    while let Some(top) = c.state.open.top().copied() {
        if top.kind == Kind::Tensor {
            c.at = top.end;
            return;
        }
        c.state.open.pop();
    }
}

/// Enters a tensor.
fn start(c: &mut Cursor, found: &Field) -> bool {
    let entered = walk::enter(c, found, Kind::Tensor);
    c.state.fields = Fields::START;
    entered
}

/// Handles one field.
fn field(
    r: &mut Reader<'_, '_>,
    c: &mut Cursor,
    found: &Field,
    holds: Option<Holds>,
) -> Result<(), Halt> {
    let top = c.state.open.top().copied().unwrap_or_default();
    let kind = match holds {
        Some(Holds::One(kind) | Holds::Many(kind)) => Some(kind),
        _ => None,
    };
    match (top.kind, kind) {
        (Kind::Tensor, Some(Kind::Pair)) => {
            walk::remark(r, &c.state, found, holds);
            walk::enter(c, found, Kind::Pair);
        }
        (Kind::Tensor, _) => {
            tensor::field(r, c, found)?;
            walk::remark(r, &c.state, found, holds);
            walk::pass(c, found);
        }
        (Kind::Pair, _) => {
            walk::remark(r, &c.state, found, holds);
            walk::pass(c, found);
        }
        (Kind::Node, None) => {
            node::field(r, c, found)?;
            walk::pass(c, found);
        }
        (Kind::Sparse, None) if found.number == field::SPARSE_DIMS => {
            let fields = &mut c.state.sparse.shape;
            tensor::dims(r, fields, found)?;
            walk::pass(c, found);
        }
        (_, Some(Kind::Tensor)) => _ = start(c, found),
        (_, Some(kind)) if kind.has_tensors() => {
            let entered = walk::enter(c, found, kind);
            match kind {
                Kind::Node => c.state.node = Node::at(c.state.open.depth()),
                Kind::Graph | Kind::Function if entered => {
                    // The model's own graph may be in several pieces.
                    let number = match (kind, c.state.open.depth()) {
                        (Kind::Graph, 2) => 1,
                        _ => c.state.graphs.saturating_add(2),
                    };
                    c.state.graphs = number.max(c.state.graphs.saturating_add(1));
                    if let Some(top) = c.state.open.top_mut() {
                        top.note = number;
                    }
                }
                Kind::Sparse => c.state.sparse = sparse::Parts::NONE,
                _ => {}
            }
        }
        _ => walk::pass(c, found),
    }
    Ok(())
}
