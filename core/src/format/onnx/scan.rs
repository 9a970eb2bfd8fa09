//! What opening finds out about a model.

use crate::base::limits::ONNX_DOMAINS;
use crate::model::{Name, NameEncoding, name};

/// The newest versions that this reader knows.
pub(super) const IR: u64 = 14;
pub(super) const OPSET: u64 = 28;
/// The largest element type.
pub(super) const LAST_TYPE: u64 = 28;

/// The domains that ONNX itself defines, besides the default one.
const STANDARD: [&[u8]; 4] =
    [b"ai.onnx.ml", b"ai.onnx.training", b"ai.onnx.preview", b"ai.onnx.preview.training"];

/// A domain of operators, and who mentions it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Domain {
    hash: u64,
    /// Offset of the first node of the domain; 0 if there is none.
    pub(super) node: u64,
    pub(super) imported: bool,
    /// ONNX defines it, or the model's functions do.
    pub(super) known: bool,
    used: bool,
    /// It got its place after an import had lost one, which may have been its own.
    pub(super) late: bool,
}

impl Domain {
    const NONE: Domain =
        Domain { hash: 0, node: 0, imported: false, known: false, used: false, late: false };
}

/// The function that is being walked, and whether it calls itself. Names are hashes; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Own {
    name: u64,
    domain: u64,
    /// The domain of the node being read.
    node: u64,
    /// Domains of the nodes with its name.
    calls: [u64; 2],
}

impl Own {
    pub(super) const NONE: Own = Own { name: 0, domain: 0, node: 0, calls: [0; 2] };

    /// Notes the name of the function.
    pub(super) fn name(&mut self, text: &[u8]) {
        self.name = some_hash_of(text);
    }

    /// Notes the domain of the function.
    pub(super) fn domain(&mut self, text: &[u8]) {
        self.domain = some_hash_of(text);
    }

    /// Begins a node.
    pub(super) fn node(&mut self) {
        self.node = 0;
    }

    /// Notes the domain of the node.
    pub(super) fn node_domain(&mut self, text: &[u8]) {
        self.node = some_hash_of(text);
    }

    /// Whether an operator has the name of the function.
    pub(super) fn has_name(&self, text: &[u8]) -> bool {
        self.name == some_hash_of(text)
    }

    /// Notes that the node has the name of the function.
    pub(super) fn call(&mut self) {
        if self.node != 0
            && !self.calls.contains(&self.node)
            && let Some(free) = self.calls.iter_mut().find(|call| **call == 0)
        {
            *free = self.node;
        }
    }

    /// Whether a node calls the function.
    pub(super) fn calls_itself(&self) -> bool {
        self.domain != 0 && self.calls.contains(&self.domain)
    }
}

/// The hash of a name.
fn hash_of(text: &[u8]) -> u64 {
    name::hash(0, 0, &Name::new(text, NameEncoding::Plain))
}

/// The same, never 0.
fn some_hash_of(text: &[u8]) -> u64 {
    hash_of(text) | 1
}

/// What opening has found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scan {
    /// The IR version, and the offset of its field.
    pub(super) ir: u64,
    pub(super) ir_at: u64,
    /// There is a main graph, it is named, and its offset.
    pub(super) main: bool,
    pub(super) named: bool,
    pub(super) graph_at: u64,
    /// Operator sets imported by the model.
    pub(super) opsets: u32,
    /// The version of the current operator set, and that of the default one.
    pub(super) version: u64,
    pub(super) opset: u32,
    pub(super) tensors: u32,
    pub(super) nodes: u32,
    pub(super) graphs: u32,
    pub(super) functions: u32,
    pub(super) custom: u32,
    pub(super) unknown: u32,
    /// A node has a tensor.
    pub(super) within: bool,
    /// The function that is being walked.
    pub(super) own: Own,
    pub(super) domains: [Domain; ONNX_DOMAINS],
    /// Operators are of more domains.
    pub(super) crowded: bool,
    /// An import had no place, or lost it.
    unlisted: bool,
}

impl Scan {
    pub(super) const START: Scan = Scan {
        ir: 0,
        ir_at: 0,
        main: false,
        named: false,
        graph_at: 0,
        opsets: 0,
        version: 0,
        opset: 0,
        tensors: 0,
        nodes: 0,
        graphs: 0,
        functions: 0,
        custom: 0,
        unknown: 0,
        within: false,
        own: Own::NONE,
        domains: [Domain::NONE; ONNX_DOMAINS],
        crowded: false,
        unlisted: false,
    };

    /// Notes an import. Programs import all domains that they know; most have no operator, and leave
    /// their place to one that has.
    pub(super) fn import(&mut self, text: &[u8]) {
        match self.place(text, false) {
            Some(domain) => domain.imported = true,
            None => self.unlisted = true,
        }
    }

    /// The domain of an operator or a function, added if it is new; `None` if there are too many.
    pub(super) fn domain(&mut self, text: &[u8]) -> Option<&mut Domain> {
        let late = self.unlisted;
        if self.place(text, late).is_none() {
            let idle = |domain: &&mut Domain| domain.node == 0 && !domain.known;
            match self.domains.iter_mut().find(idle) {
                Some(idle) => (*idle, self.unlisted) = (Domain::NONE, true),
                None => self.crowded = true,
            }
        }
        self.place(text, late)
    }

    /// The place of a domain, a free one if it is new.
    fn place(&mut self, text: &[u8], late: bool) -> Option<&mut Domain> {
        let text = if text == b"ai.onnx" { b"" } else { text };
        let hash = hash_of(text);
        let known = is_standard(text);
        let mut places = self.domains.iter_mut();
        let domain = places.find(|domain| !domain.used || domain.hash == hash)?;
        if !domain.used {
            *domain = Domain { hash, known, late, used: true, ..Domain::NONE };
        }
        Some(domain)
    }
}

/// Whether ONNX itself defines a domain.
pub(super) fn is_standard(text: &[u8]) -> bool {
    text.is_empty() || text == b"ai.onnx" || STANDARD.contains(&text)
}

/// Adds one to a counter.
pub(super) fn count(counter: &mut u32) {
    *counter = counter.saturating_add(1);
}
