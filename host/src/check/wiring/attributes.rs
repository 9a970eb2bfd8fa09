//! Attributes: a node has one of each name, and refers to declared attributes of its function.

use super::{finding, place};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use weighbridge_core::Finding;
use weighbridge_core::format::onnx::{Link, Role, rules};

/// Number of attributes of a node that are compared one by one; operators have a handful.
const FEW: usize = 32;

/// The attributes of the nodes that are open, and of all functions.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    open: Vec<Open>,
    /// The names in all open nodes, those of the innermost one last.
    names: Vec<u64>,
    /// Further names in large nodes, with where their node begins.
    more: BTreeSet<(u64, u64)>,
    /// The attributes that functions declare, with the numbers of the functions.
    declared: BTreeSet<(u32, u64)>,
    referred: Vec<Referred>,
    twice: Vec<Finding>,
}

/// A node with attributes.
#[derive(Clone, Copy, Debug)]
struct Open {
    at: u64,
    end: u64,
    /// Position of its first name.
    from: usize,
}

/// A reference to an attribute of a function.
#[derive(Clone, Copy, Debug)]
struct Referred {
    function: u32,
    hash: u64,
    name: (u64, u32),
}

impl Attributes {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.names.len()
            + self.more.len() * 2
            + self.declared.len() * 2
            + self.referred.len()
            + self.twice.len() * 2
    }

    /// Adds a link of an attribute.
    pub(super) fn add(&mut self, link: &Link) {
        match link.role {
            Role::Declared => drop(self.declared.insert((link.function, link.hash))),
            Role::Referred => self.referred.push(Referred {
                function: link.function,
                hash: link.hash,
                name: place(link.name),
            }),
            _ => {
                self.enter(link);
                if !self.is_new(link) {
                    self.twice.push(finding(rules::A_TWICE, place(link.name), 0));
                }
            }
        }
    }

    /// Leaves the nodes that have ended, and enters that of an attribute.
    fn enter(&mut self, link: &Link) {
        // The node may have begun before others that have ended.
        let (here, _) = place(link.name);
        while let Some(open) = self.open.pop_if(|open| open.end <= here) {
            self.names.truncate(open.from);
        }
        if self.open.is_empty() {
            self.more.clear();
        }
        if self.open.last().is_none_or(|open| open.at != link.at) {
            self.open.push(Open { at: link.at, end: link.until, from: self.names.len() });
        }
    }

    /// Whether the innermost node had no attribute of this name; it has one now.
    fn is_new(&mut self, link: &Link) -> bool {
        let from = self.open.last().map_or(0, |open| open.from);
        let own = self.names.get(from..).unwrap_or_default();
        if own.contains(&link.hash) {
            return false;
        }
        if own.len() < FEW {
            self.names.push(link.hash);
            return true;
        }
        self.more.insert((link.at, link.hash))
    }

    /// Reports names given twice and, if the names are `complete`, references to nothing.
    pub(super) fn report(self, complete: bool, found: &mut Vec<Finding>) {
        found.extend(self.twice);
        let declared = self.declared;
        let is_lost = |it: &Referred| complete && !declared.contains(&(it.function, it.hash));
        let lost = self.referred.into_iter().filter(is_lost);
        found.extend(lost.map(|it| finding(rules::A_DECLARED, it.name, 0)));
    }
}
