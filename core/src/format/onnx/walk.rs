//! The walk over a model: an explicit stack of the messages that are open.

use super::rules::{self, WIRE};
use super::schema::{Holds, Kind};
use super::{Cursor, State};
use crate::base::limits::PROTOBUF_DEPTH;
use crate::parse::Reader;
use crate::protobuf::Field;
use crate::rule::Halt;

/// Number of bytes that the host may read ahead: messages between two weights are short.
const AHEAD: u64 = 512;

/// An open message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// Offset of its field's key, and of its end.
    pub(super) at: u64,
    pub(super) end: u64,
    /// The fields seen, a bit for each number up to 31.
    pub(super) seen: u32,
    /// A number of the message: its type, or the place of its domain.
    pub(super) note: u32,
    pub(super) kind: Kind,
    /// The field of the parent that holds it.
    pub(super) field: u8,
}

impl Frame {
    /// No message.
    pub(super) const NONE: Frame =
        Frame { at: 0, end: 0, seen: 0, note: 0, kind: Kind::Model, field: 0 };

    /// Whether field `number` was seen.
    pub(super) fn has(&self, number: u32) -> bool {
        self.seen & bit(number) != 0
    }

    /// Length of the message with its key.
    pub(super) fn len(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }
}

/// The bit for field `number`.
pub(super) fn bit(number: u32) -> u32 {
    1_u32.checked_shl(number).unwrap_or(0)
}

/// The open messages, the outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stack {
    frames: [Frame; PROTOBUF_DEPTH],
    depth: u8,
}

impl Stack {
    /// No open message.
    pub(super) const EMPTY: Stack = Stack { frames: [Frame::NONE; PROTOBUF_DEPTH], depth: 0 };

    fn place(&self, below: u8) -> usize {
        usize::from(self.depth.wrapping_sub(1).wrapping_sub(below))
    }

    /// The innermost message.
    pub(super) fn top(&self) -> Option<&Frame> {
        self.frames.get(self.place(0))
    }

    /// The same, to note something.
    pub(super) fn top_mut(&mut self) -> Option<&mut Frame> {
        let place = self.place(0);
        self.frames.get_mut(place)
    }

    /// The message around it.
    pub(super) fn parent(&self) -> Option<&Frame> {
        self.below(1)
    }

    /// The message this many levels around it.
    pub(super) fn below(&self, levels: u8) -> Option<&Frame> {
        self.frames.get(self.place(levels))
    }

    /// Whether a message of this kind is open.
    pub(super) fn is_in(&self, kind: Kind) -> bool {
        let open = self.frames.get(..usize::from(self.depth)).unwrap_or_default();
        open.iter().any(|frame| frame.kind == kind)
    }

    /// The innermost graph or function.
    pub(super) fn innermost(&self) -> Option<&Frame> {
        let open = self.frames.get(..usize::from(self.depth)).unwrap_or_default();
        let is_scope = |frame: &&Frame| matches!(frame.kind, Kind::Graph | Kind::Function);
        open.iter().rev().find(is_scope)
    }

    /// The note of the innermost graph or function: its number.
    pub(super) fn scope(&self) -> u32 {
        self.innermost().map_or(0, |frame| frame.note)
    }

    /// Number of open messages.
    pub(super) fn depth(&self) -> u8 {
        self.depth
    }

    /// Whether no further message can be opened.
    pub(super) fn is_full(&self) -> bool {
        usize::from(self.depth) >= PROTOBUF_DEPTH
    }

    /// Opens a message; false if too many are open.
    pub(super) fn push(&mut self, frame: Frame) -> bool {
        match self.frames.get_mut(usize::from(self.depth)) {
            Some(free) => {
                *free = frame;
                self.depth = self.depth.wrapping_add(1);
                true
            }
            None => false,
        }
    }

    /// Closes the innermost message.
    pub(super) fn pop(&mut self) -> Option<Frame> {
        let top = self.top().copied()?;
        self.depth = self.depth.saturating_sub(1);
        Some(top)
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// A field, with what it holds; `None` if it is unknown.
    Field(Field, Option<Holds>),
    /// The innermost message has ended; the caller closes it.
    End(Frame),
    /// No message is open.
    Over,
}

/// Reads the next field of the innermost message. The cursor does not pass it: the caller reads
/// its content first.
pub(super) fn next(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Next, Halt> {
    let Some(top) = c.state.open.top().copied() else { return Ok(Next::Over) };
    if c.at >= top.end {
        return Ok(Next::End(top));
    }
    r.region(c.at, top.end, rules::W_END);
    r.read_ahead(c.at.saturating_add(AHEAD).min(top.end));
    let field = Field::read(r, &WIRE)?;
    let Some(holds) = top.kind.field(field.number) else { return Ok(Next::Field(field, None)) };
    if !holds.takes(field.wire) {
        let span = field.span();
        r.flag(rules::W_FIELD, span.offset, span.len, 0, field.number.into());
        return Err(Halt::refused(rules::W_FIELD));
    }
    Ok(Next::Field(field, Some(holds)))
}

/// Reports a field that may occur once and occurs again, and overlong numbers.
pub(super) fn remark(r: &mut Reader<'_, '_>, state: &State, field: &Field, holds: Option<Holds>) {
    field.report(r, &WIRE);
    let again = state.open.top().is_some_and(|top| top.has(field.number));
    let rule = match holds {
        Some(holds) if holds.is_single() => rules::W_TWICE,
        Some(Holds::One(_)) => rules::W_MERGE,
        _ => return,
    };
    r.check(!again, rule, field.span(), 0, field.number.into());
}

/// Moves past a field.
pub(super) fn pass(c: &mut Cursor, field: &Field) {
    if let Some(top) = c.state.open.top_mut() {
        top.seen |= bit(field.number);
    }
    c.at = field.end();
}

/// Moves into a message, or past it if too many are open; returns whether it was opened.
pub(super) fn enter(c: &mut Cursor, field: &Field, kind: Kind) -> bool {
    pass(c, field);
    let number = u8::try_from(field.number).unwrap_or(u8::MAX);
    let frame = Frame { at: field.at, end: field.end(), kind, field: number, ..Frame::NONE };
    let opened = c.state.open.push(frame);
    if opened {
        c.at = field.data.offset;
    }
    opened
}
