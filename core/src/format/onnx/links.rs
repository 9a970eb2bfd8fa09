//! How a model is wired: what makes each value and what reads it, and which function calls which.
//!
//! A value can be read from where it is made to the end of its graph, in graphs within that graph
//! too. Inputs and initialisers are there from the start of their graph, outputs of a node from its
//! end. All of these are offsets in the file, because nodes run in the order in which they are
//! stored. So a read is sound if a value of its name is made before it, and the graph of that value
//! ends after it. A host sorts the links by name and offset and needs no other knowledge.

use super::pair::Pair;
use super::scan::is_standard;
use super::schema::{Holds, Kind, field};
use super::tensor::{self, Shape};
use super::walk::{self, Frame, Next};
use super::{Cursor, fast};
use crate::base::limits::ONNX_TEXT;
use crate::input::{Source, Span};
use crate::model::{DimsAt, Name, NameAt, NameEncoding, name};
use crate::parse::{Reader, Stop};
use crate::protobuf::Field;
use crate::rule::Halt;

/// What a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An input of a graph or function.
    Input,
    /// A constant of a graph.
    Initializer,
    /// An output of a node.
    Made,
    /// An input of a node.
    Read,
    /// An output of a graph or function.
    Result,
    /// A value that a quantisation annotation names.
    Annotated,
    /// A tensor that a quantisation annotation names as its scale or zero point.
    Scale,
    /// A value whose type is stated.
    Stated,
    /// A function of the model.
    Function,
    /// A node in a function, or of a domain outside ONNX, which may call a function.
    Call,
    /// An attribute of a node, which `at` and `until` say.
    Attribute,
    /// An attribute that a function declares.
    Declared,
    /// A reference to an attribute that the function around it declares.
    Referred,
}

/// Something that makes or reads a value, or defines or calls a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it is.
    pub role: Role,
    /// Hash of the name. Names of the main graph and of each function are different values, so
    /// their hashes differ; those of attributes do not.
    pub hash: u64,
    /// Hash of the domain of a function or call; 0 for other links.
    pub domain: u64,
    /// Where the name is.
    pub name: NameAt,
    /// From this offset on, the value can be read; or at this offset, it is read.
    pub at: u64,
    /// Where its graph ends; `u64::MAX` for the main graph and functions.
    pub until: u64,
    /// Number of its graph; 0 for the main graph, which may be stored in several pieces.
    pub graph: u32,
    /// How deep it is nested.
    pub depth: u8,
    /// Number of the function that it is in; 0 for none.
    pub function: u32,
    /// The element type that is stated; 0 if none is.
    pub elem: u32,
    /// The shape that is stated, if all of it is.
    pub dims: Option<DimsAt>,
}

/// The links of a model, in file order.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    pub(super) seed: u64,
    pub(super) cursor: Cursor,
    graphs: u32,
    functions: u32,
    /// Number of the current function; 0 outside.
    pub(super) function: u32,
    /// The operator of the current node, and the id of the current function.
    node: Id,
    own: Id,
    /// The value, tensor or sparse tensor that is being read.
    value: Typed,
    /// The first text that is too long to be read.
    unread: Option<Span>,
    /// A message is too deep to be read, or a tensor is broken.
    is_cut: bool,
}

/// Domain, name and overload of a function, hashed.
#[derive(Clone, Copy, Debug)]
struct Id {
    domain: u64,
    /// The domain is one of ONNX itself.
    is_standard: bool,
    name: u64,
    overload: u64,
    at: Span,
}

impl Id {
    const NONE: Id = Id { domain: 0, is_standard: true, name: 0, overload: 0, at: Span::new(0, 0) };
}

/// A name with a type.
#[derive(Clone, Copy, Debug)]
struct Typed {
    hash: u64,
    name: Span,
    elem: u32,
    shape: Shape,
    /// There is a shape, and an extent of it is no number.
    is_shaped: bool,
    is_open: bool,
    /// The extent that is being read.
    extent: Option<u64>,
}

impl Typed {
    const NONE: Typed = Typed {
        hash: 0,
        name: Span::new(0, 0),
        elem: 0,
        shape: Shape::START,
        is_shaped: false,
        is_open: false,
        extent: None,
    };
}

/// A factor that spreads small numbers over 64 bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Links {
    /// The links of an open model, with names hashed by `seed`.
    pub const fn new(seed: u64) -> Self {
        Links {
            seed,
            cursor: Cursor::START,
            graphs: 0,
            functions: 0,
            function: 0,
            node: Id::NONE,
            own: Id::NONE,
            value: Typed::NONE,
            unread: None,
            is_cut: false,
        }
    }

    /// Whether some names were not read: they are too long, too deep, or of a broken tensor.
    pub const fn is_partial(&self) -> bool {
        self.is_cut || self.unread.is_some()
    }

    /// The first name that was too long to be read.
    pub const fn unread(&self) -> Option<Span> {
        self.unread
    }

    /// Calls `take` with each further link, in file order. Returns true at the end, and false if
    /// `take` did: some links are lost then.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`]: make the bytes resident and call again.
    pub fn step(
        &mut self,
        source: &Source<'_>,
        take: &mut dyn FnMut(&Link) -> bool,
    ) -> Result<bool, Stop> {
        let mut sink = |_| {};
        let mut r = Reader::new(source, &mut sink);
        r.mute();
        let c = &mut self.cursor;
        if !c.state.begun {
            c.state.open.push(super::root(source));
            c.state.begun = true;
        }
        loop {
            if !fast::sweep_links(self, &mut r, take) {
                return Ok(false);
            }
            let found = match walk::next(&mut r, &mut self.cursor) {
                Ok(Next::Field(found, holds)) => self.field(&mut r, &found, holds),
                Ok(Next::End(frame)) => Ok(self.end(&frame)),
                Ok(Next::Over) => return Ok(true),
                Err(halt) => Err(halt),
            };
            match found {
                Ok(None) => {}
                Ok(Some(found)) if take(&found) => {}
                Ok(Some(_)) => return Ok(false),
                Err(halt) if halt.is_absent() => return Err(r.stop(halt)),
                Err(_) if !self.leave_tensor() => return Ok(true),
                Err(_) => {}
            }
        }
    }

    /// Leaves a tensor that cannot be read on; false if it is no tensor.
    fn leave_tensor(&mut self) -> bool {
        self.is_cut = true;
        let open = &mut self.cursor.state.open;
        let Some(frame) = open.top().copied().filter(|top| top.kind == Kind::Tensor) else {
            return false;
        };
        open.pop();
        self.cursor.at = frame.end;
        true
    }

    /// The hash of the text at `span`, never 0; 0 if it is empty or not read.
    fn hash(&mut self, r: &mut Reader<'_, '_>, span: Span, among: u64) -> Result<u64, Halt> {
        if span.len > ONNX_TEXT {
            self.unread = self.unread.or(Some(span));
            return Ok(0);
        }
        if span.is_empty() {
            return Ok(0);
        }
        let text = r.get(span)?;
        let seed = self.seed ^ among.wrapping_mul(SPREAD);
        Ok(name::hash(seed, 0, &Name::new(text, NameEncoding::Plain)) | 1)
    }

    /// The innermost open graph or function.
    fn scope(&self) -> Frame {
        self.cursor.state.open.innermost().copied().unwrap_or_default()
    }

    /// A link of the innermost graph, at its start or end or within.
    fn link(&self, role: Role, (hash, name): (u64, Span), at: u64) -> Option<Link> {
        let scope = self.scope();
        // The main graph, in pieces or not, and functions are in nothing that goes on after them.
        let is_whole = scope.note == 0 || scope.kind == Kind::Function;
        let (from, until) = if is_whole { (0, u64::MAX) } else { (scope.at, scope.end) };
        (hash != 0).then_some(Link {
            role,
            hash,
            domain: 0,
            name: NameAt::plain(name.offset, name.len),
            at: match role {
                Role::Input | Role::Initializer => from,
                Role::Result | Role::Annotated | Role::Scale | Role::Stated => until,
                _ => at,
            },
            until,
            graph: scope.note,
            depth: self.cursor.state.open.depth(),
            function: self.function,
            elem: 0,
            dims: None,
        })
    }

    /// A link with the type that was read.
    fn typed(&self, role: Role) -> Option<Link> {
        let Typed { hash, name, elem, shape, is_shaped, is_open, .. } = self.value;
        let is_known = is_shaped && !is_open && !shape.packed.is_cut();
        let dims = is_known.then(|| shape.packed.dims());
        Some(Link { elem, dims, ..self.link(role, (hash, name), 0)? })
    }

    /// Reads a field, and enters messages that have links.
    fn field(
        &mut self,
        r: &mut Reader<'_, '_>,
        found: &Field,
        holds: Option<Holds>,
    ) -> Result<Option<Link>, Halt> {
        let top = self.cursor.state.open.top().copied().unwrap_or_default();
        let among = self.function.into();
        let mut link = None;
        // Its values name a sparse tensor, not its indices.
        let is_indices = top.kind == Kind::Tensor && top.field == 2;
        match (top.kind, found.number) {
            (_, _) if holds.is_none() || is_indices => {}
            (Kind::Node, field::NODE_INPUT) => {
                let hash = self.hash(r, found.data, among)?;
                link = self.link(Role::Read, (hash, found.data), found.at);
            }
            (Kind::Node, field::NODE_OUTPUT) => {
                let hash = self.hash(r, found.data, among)?;
                link = self.link(Role::Made, (hash, found.data), top.end);
            }
            (Kind::Node, field::NODE_OP) => {
                (self.node.name, self.node.at) = (self.hash(r, found.data, 0)?, found.data);
            }
            (Kind::Node, field::NODE_DOMAIN) => {
                (self.node.domain, self.node.is_standard) = self.domain(r, found.data)?;
            }
            (Kind::Node, field::NODE_OVERLOAD) => {
                self.node.overload = self.hash(r, found.data, 0)?;
            }
            (Kind::Function, field::FUNCTION_NAME) => {
                (self.own.name, self.own.at) = (self.hash(r, found.data, 0)?, found.data);
            }
            (Kind::Function, field::FUNCTION_DOMAIN) => {
                (self.own.domain, self.own.is_standard) = self.domain(r, found.data)?;
            }
            (Kind::Function, field::FUNCTION_OVERLOAD) => {
                self.own.overload = self.hash(r, found.data, 0)?;
            }
            (Kind::Function, 6) => {
                let hash = self.hash(r, found.data, 0)?;
                link = self.link(Role::Declared, (hash, found.data), found.at);
            }
            (Kind::Attribute, field::ATTRIBUTE_NAME) if !top.has(found.number) => {
                let hash = self.hash(r, found.data, 0)?;
                link = self.attribute(hash, found.data);
            }
            (Kind::Attribute, field::ATTRIBUTE_REF) if self.function > 0 => {
                let hash = self.hash(r, found.data, 0)?;
                link = self.link(Role::Referred, (hash, found.data), found.at);
            }
            (Kind::Function, 4) => {
                let hash = self.hash(r, found.data, among)?;
                link = self.link(Role::Input, (hash, found.data), 0);
            }
            (Kind::Function, 5) => {
                let hash = self.hash(r, found.data, among)?;
                link = self.link(Role::Result, (hash, found.data), 0);
            }
            (Kind::Annotation, 1) => {
                let hash = self.hash(r, found.data, among)?;
                link = self.link(Role::Annotated, (hash, found.data), 0);
            }
            (Kind::Annotation, 2) => {
                let name = Pair::read(r, found, false)?.value;
                let hash = self.hash(r, name, among)?;
                link = self.link(Role::Scale, (hash, name), 0);
            }
            (Kind::Value, 1) | (Kind::Tensor, field::NAME) => {
                (self.value.hash, self.value.name) = (self.hash(r, found.data, among)?, found.data);
            }
            (Kind::Tensor, field::DIMS) => tensor::dims(r, &mut self.value.shape, found)?,
            (Kind::Tensor, field::DATA_TYPE) | (Kind::TypeTensor, 1) => {
                self.value.elem = u32::try_from(found.value).unwrap_or(0);
            }
            (Kind::Dim, 1) => self.value.extent = Some(found.value),
            _ => {}
        }
        match holds {
            Some(Holds::One(kind) | Holds::Many(kind))
                if self.follows(&top, kind, found.number) =>
            {
                self.enter(found, kind);
            }
            _ => walk::pass(&mut self.cursor, found),
        }
        Ok(link)
    }

    /// The hash of a domain, 0 for the default one, and whether ONNX itself defines it.
    fn domain(&mut self, r: &mut Reader<'_, '_>, span: Span) -> Result<(u64, bool), Halt> {
        let hash = self.hash(r, span, 0)?;
        if hash == 0 {
            return Ok((0, span.is_empty()));
        }
        let text = r.get(span)?;
        Ok((if text == b"ai.onnx" { 0 } else { hash }, is_standard(text)))
    }

    /// A link of the attribute whose name was read.
    fn attribute(&self, hash: u64, name: Span) -> Option<Link> {
        let holder = self.cursor.state.open.parent()?;
        match holder.kind {
            Kind::Node => {
                let link = self.link(Role::Attribute, (hash, name), holder.at)?;
                Some(Link { until: holder.end, ..link })
            }
            Kind::Function => self.link(Role::Declared, (hash, name), holder.at),
            _ => None,
        }
    }

    /// Whether a message is entered.
    fn follows(&self, top: &Frame, kind: Kind, number: u32) -> bool {
        match kind {
            // What they are made of is a part of the type only in a tensor.
            Kind::Type => top.kind == Kind::Value,
            Kind::TypeTensor => number == 1,
            Kind::Value | Kind::Annotation => top.kind == Kind::Graph,
            Kind::Shape | Kind::Dim => true,
            // What is trained may read the values of any graph.
            Kind::Training => false,
            Kind::Tensor => matches!(top.kind, Kind::Graph | Kind::Sparse),
            Kind::Sparse => top.kind == Kind::Graph,
            kind => kind.has_tensors(),
        }
    }

    fn enter(&mut self, found: &Field, kind: Kind) {
        let is_main = kind == Kind::Graph && self.cursor.state.open.depth() == 1;
        let opened = walk::enter(&mut self.cursor, found, kind);
        self.is_cut |= !opened;
        match kind {
            Kind::Value | Kind::Sparse => self.value = Typed::NONE,
            // The values of a sparse tensor are read first, and name it.
            Kind::Tensor if found.number != 2 => {
                self.value = Typed { is_shaped: true, ..Typed::NONE };
            }
            Kind::Shape => self.value.is_shaped = true,
            Kind::Dim => self.value.extent = None,
            Kind::Node => self.node = Id::NONE,
            Kind::Function if opened => {
                self.functions = self.functions.saturating_add(1);
                self.function = self.functions;
                self.own = Id::NONE;
            }
            _ => {}
        }
        if matches!(kind, Kind::Graph | Kind::Function) && opened && !is_main {
            self.graphs = self.graphs.saturating_add(1);
            if let Some(top) = self.cursor.state.open.top_mut() {
                top.note = self.graphs;
            }
        }
    }

    /// Leaves a message.
    fn end(&mut self, frame: &Frame) -> Option<Link> {
        let outer = self.cursor.state.open.parent().map(|outer| outer.kind);
        let link = match frame.kind {
            Kind::Value if frame.field == 11 => self.typed(Role::Input),
            Kind::Value if frame.field == 12 => self.typed(Role::Result),
            Kind::Value => self.typed(Role::Stated),
            Kind::Tensor if outer == Some(Kind::Graph) => self.typed(Role::Initializer),
            Kind::Sparse => {
                self.value.is_shaped = false;
                self.typed(Role::Initializer)
            }
            Kind::Dim => {
                match self.value.extent {
                    Some(extent) => self.value.shape.push(extent),
                    None => self.value.is_open = true,
                }
                None
            }
            Kind::Node if self.function > 0 || !self.node.is_standard => {
                self.call(Role::Call, self.node, frame.at)
            }
            Kind::Function => self.call(Role::Function, self.own, frame.at),
            _ => None,
        };
        self.cursor.state.open.pop();
        if frame.kind == Kind::Function {
            self.function = 0;
        }
        link
    }

    /// A link of a function.
    fn call(&self, role: Role, id: Id, at: u64) -> Option<Link> {
        let Id { domain, name, overload, at: text, .. } = id;
        let mix = |all: u64, one: u64| (all ^ one).wrapping_mul(SPREAD).rotate_left(29);
        let hash = mix(mix(mix(self.seed, domain), name), overload) | 1;
        // Functions are of a domain of their own.
        let hash = if domain == 0 || name == 0 { 0 } else { hash };
        Some(Link { domain, ..self.link(role, (hash, text), at)? })
    }
}
