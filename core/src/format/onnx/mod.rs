//! ONNX (`.onnx`): one Protocol Buffers message, `ModelProto` of `onnx.proto`.
//!
//! | message | contains |
//! |---|---|
//! | model | IR version, producer, graph, operator sets, functions, properties |
//! | graph | nodes, initialisers, sparse initialisers, inputs, outputs, values |
//! | node | operator, names of inputs and outputs, attributes |
//! | attribute | a number, text, tensor, graph, or several of them |
//! | tensor | extents, element type, name, and the elements in one of seven fields |
//!
//! There is no magic and no checksum. Fields may come in any order, and the elements lie between
//! them. So the model is walked field by field, and elements are passed over by their length.
//!
//! Opening walks everything except the fields of tensors; it counts tensors and validates graphs,
//! nodes, attributes and functions. Listing walks again and validates tensors. A name is compared
//! with others of the same graph or function. The tensor of a `Constant` node has the name of the
//! node's output. A tensor in another attribute has no name here: writers give all of them the same
//! one.
//!
//! Order of suppression. A broken field (`W-END`, `W-VARINT`, `W-NUMBER`, `W-WIRE`, `W-GROUP`,
//! `W-FIELD`) ends validation, or that of its tensor. Of a tensor, only the first of `T-TYPE`,
//! `T-DIM`, `T-PRODUCT`, `T-SEGMENT`, `E-FLAG`, `T-KINDS`, `T-FIELD`, `T-NONE` and the rules on
//! its length is reported. `M-OPSET` suppresses `N-DOMAIN`, which suppresses `N-CUSTOM`;
//! both are reported for the first node of a domain.

pub mod rules;

mod beside;
mod external;
#[cfg_attr(not(feature = "sweep"), path = "no_fast.rs")]
mod fast;
mod links;
mod list;
mod node;
mod open;
mod pair;
mod scan;
mod schema;
mod sparse;
mod tensor;
mod walk;

pub use crate::format::path::is_inside;
pub use beside::{Location, Locations};
pub use links::{Link, Links, Role};

use crate::base::widen;
use crate::format::{Container, Glance};
use crate::input::{Source, Span};
use crate::model::{
    Chunk, Chunks, DType, Encoding, Metadata, Part, Region, Tensor, Value, Version,
};
use crate::parse::{self, Reader};
use crate::protobuf::varint::varint;
use crate::rule::{EntryKind, Halt};
use list::Found;
use scan::Scan;
use tensor::Fields;
use walk::{Frame, Stack};

/// The validated model, as plain numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    ir: u16,
    opset: u32,
    tensors: u32,
    nodes: u32,
    graphs: u32,
    functions: u32,
    custom: u32,
    unknown: u32,
    /// No node has a tensor or graph, and there are no functions: a listing passes over nodes.
    bare: bool,
}

/// State kept between calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct State {
    /// The open messages.
    open: Stack,
    /// The tensor at the cursor is read by itself.
    alone: bool,
    /// The walk has begun.
    begun: bool,
    /// The tensor being read.
    fields: Fields,
    /// The sparse tensor around it.
    sparse: sparse::Parts,
    /// The node entered last.
    node: node::Node,
    /// Number of graphs and functions entered.
    graphs: u32,
    /// The data of some tensor is in another file.
    beside: bool,
    /// There are indices or padding bits that [`Container::audit`] checks.
    audited: bool,
    /// As in [`Header`].
    bare: bool,
    /// While opening: what was found.
    scan: Scan,
    /// While the data is audited: the indices, and the byte with padding bits.
    indices: sparse::Indices,
    padding: Padding,
    /// While parts are listed: the end of the last one, and one to be returned next.
    listed: u64,
    pending: Option<Region>,
}

impl parse::State for State {
    const START: State = State {
        open: Stack::EMPTY,
        alone: false,
        begun: false,
        fields: Fields::START,
        sparse: sparse::Parts::NONE,
        node: node::Node::NONE,
        graphs: 0,
        beside: false,
        audited: false,
        bare: false,
        scan: Scan::START,
        indices: sparse::Indices::NONE,
        padding: Padding { at: 0, used: 0, owner: 0 },
        listed: 0,
        pending: None,
    };
    const ALONE: State = State { alone: true, ..State::START };
}

/// The last byte of 6-bit elements, if not all its bits are used: its offset, how many are, and
/// its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Padding {
    at: u64,
    used: u32,
    owner: u32,
}

/// Position of an iteration.
type Cursor = parse::Cursor<State>;

/// What the number in [`Metadata::tag`] means.
mod tag {
    pub(super) const TEXT: u32 = 0;
    pub(super) const OPSET: u32 = 1;
}

impl Container for Header {
    type State = State;

    const NAMED_AROUND: bool = true;

    /// There is no magic. A model is recognised by a plausible IR version, followed by one of the
    /// fields that writers store next, with content that fits.
    fn detect(head: &[u8], len: u64) -> bool {
        let [0x08, 3..=99, key, rest @ ..] = head else { return false };
        let Some((text, after)) = rest.split_first() else { return false };
        match key {
            // The producer, version, domain or documentation: a short text.
            0x12 | 0x1A | 0x22 | 0x32 => {
                let text_len = usize::from(*text);
                let shown = after.get(..text_len).unwrap_or(after);
                *text > 0
                    && *text < 0x80
                    && u64::from(*text).saturating_add(4) <= len
                    && shown.iter().all(|byte| (b' '..=b'~').contains(byte))
            }
            // The graph or an operator set; the length need not be in one byte.
            0x3A | 0x42 => {
                let graph = varint(rest, rules::W_VARINT);
                graph.is_ok_and(|(inside, found)| {
                    let start = 3_u64.saturating_add(found.len.into());
                    let keys: &[u8] = match key {
                        0x3A => &[0x0A, 0x12, 0x2A, 0x5A, 0x62, 0x6A],
                        _ => &[0x0A, 0x10],
                    };
                    found.value > 1
                        && start.saturating_add(found.value) <= len
                        && inside.first().is_some_and(|first| keys.contains(first))
                })
            }
            _ => false,
        }
    }

    fn open(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Header, Halt> {
        open::open(r, c)
    }

    fn version(&self) -> Option<Version> {
        Some(Version::major(self.ir))
    }

    fn tensor_count(&self) -> u64 {
        self.tensors.into()
    }

    /// The properties, then the operator sets, each with its domain as the key.
    fn meta(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Metadata>, Halt> {
        pair::next(r, c)
    }

    fn value(&self, r: &mut Reader<'_, '_>, meta: &Metadata) -> Result<Option<Value>, Halt> {
        if meta.tag == tag::TEXT {
            return Ok(Some(Value::Text(crate::model::NameAt::plain(
                meta.stored.offset,
                meta.stored.len,
            ))));
        }
        let stored = r.get(meta.stored)?;
        let version = varint(stored, rules::W_VARINT).map_or(0, |(_, found)| found.value);
        Ok(Some(Value::Size(version)))
    }

    fn tensor(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Tensor>, Halt> {
        c.state.bare = self.bare;
        loop {
            match list::next(r, c)? {
                Found::Tensor(tensor) => return Ok(Some(tensor)),
                Found::Sparse => {}
                Found::Over => {
                    c.finish();
                    return Ok(None);
                }
            }
        }
    }

    fn chunk(
        &self,
        _: &mut Reader<'_, '_>,
        tensor: &Tensor,
        _: u64,
    ) -> Result<Option<Chunk>, Halt> {
        let Some(mut chunk) = Chunk::raw(tensor) else { return Ok(None) };
        chunk.encoding = tensor.encoding;
        if tensor.encoding != Encoding::Raw {
            chunk.decoded = tensor.bytes();
        }
        Ok(Some(chunk))
    }

    /// The elements in file order, and what lies between them.
    fn region(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<Option<Region>, Halt> {
        if let Some(region) = c.state.pending.take() {
            c.state.listed = region.span.end().unwrap_or(u64::MAX);
            return Ok(Some(region));
        }
        let table = |at, end| Region {
            part: Part::Table,
            span: Span::between(at, end),
            kind: EntryKind::File,
            entry: 0,
        };
        while let Some(tensor) = r.quietly(|r| self.tensor(r, c))? {
            let Chunks::One(span) = tensor.chunks else { continue };
            if span.offset >= r.source().own_len() {
                // In another file, after this one.
                return Ok(Some(crate::format::data_of(tensor.index, span)));
            }
            if !span.is_empty() && span.offset >= c.state.listed {
                let before = table(c.state.listed, span.offset);
                c.state.pending = Some(crate::format::data_of(tensor.index, span));
                return Ok(Some(before));
            }
        }
        let last = table(c.state.listed, r.source().own_len());
        Ok((!last.span.is_empty()).then_some(last))
    }

    fn sweep<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        fast::sweep(r, c, goes_on);
    }

    fn sweep_again<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        until: u32,
        goes_on: &mut dyn FnMut(&Glance<'a>) -> bool,
    ) {
        fast::sweep_names(r, c, until, goes_on);
    }

    /// Few models have anything left to check.
    fn start_audit(&self, c: &mut Cursor) {
        let is_due = c.state.audited;
        *c = Cursor::START;
        c.done = !is_due;
    }

    /// Nothing of the file itself overlaps.
    fn is_covered(&self, listed: &Cursor) -> bool {
        !listed.state.beside
    }

    /// Checks the indices of sparse tensors, and padding bits.
    fn audit(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        if c.state.padding.at > 0 {
            return check_padding(r, c);
        }
        if c.state.indices.is_due() {
            return sparse::check(r, c);
        }
        // A step at a time: the audit keeps the cursor only after a step.
        match r.quietly(|r| list::step(r, c))? {
            None => {}
            Some(Found::Tensor(tensor)) => {
                // One element uses six bits of the last byte, two use four, three use two.
                let used = match tensor.elements & 3 {
                    1 => 6,
                    2 => 4,
                    3 => 2,
                    _ => 8,
                };
                if let (Some(span), 0..8) = (tensor.raw(), used)
                    && matches!(tensor.dtype, DType::F6E2M3 | DType::F6E3M2)
                {
                    let at = span.end().unwrap_or(0).saturating_sub(1);
                    c.state.padding = Padding { at, used, owner: tensor.index };
                }
            }
            Some(Found::Sparse) => c.state.indices = sparse::Indices::of(&c.state.sparse),
            Some(Found::Over) => c.finish(),
        }
        Ok(())
    }
}

impl Header {
    /// The version of the default operator set, `ai.onnx`; 0 if it is not imported.
    pub const fn opset(&self) -> u32 {
        self.opset
    }

    /// Number of nodes, in all graphs and functions.
    pub const fn nodes(&self) -> u32 {
        self.nodes
    }

    /// Number of graphs: the model's own, and those in attributes and training information.
    pub const fn graphs(&self) -> u32 {
        self.graphs
    }

    /// Number of functions.
    pub const fn functions(&self) -> u32 {
        self.functions
    }

    /// Number of nodes whose operator is of a domain outside `ai.onnx`.
    pub const fn custom(&self) -> u32 {
        self.custom
    }

    /// Number of fields that `onnx.proto` does not declare.
    pub const fn unknown_fields(&self) -> u32 {
        self.unknown
    }
}

/// The message that is the file.
fn root(source: &Source<'_>) -> Frame {
    Frame { end: source.own_len(), ..Frame::NONE }
}

/// Checks the unused bits of the last byte of 6-bit elements.
fn check_padding(r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
    let Padding { at, used, owner } = c.state.padding;
    let span = Span::new(at, 1);
    let byte = r.get(span)?.first().copied().unwrap_or(0);
    r.about(EntryKind::Tensor, owner);
    let unused = byte.checked_shr(used).unwrap_or(0);
    r.check(unused == 0, rules::T_PADDING, span, 0, byte.into());
    c.state.padding.at = 0;
    Ok(())
}

/// Number of bytes of a text.
fn len(text: &[u8]) -> u64 {
    widen(text.len())
}
