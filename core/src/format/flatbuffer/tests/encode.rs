//! An encoder of flatbuffers for tests, and the places of fields in what it wrote.

use std::vec::Vec;

pub(super) enum Node {
    Table(Vec<(u8, Value)>),
    /// Width and number of items, all zero.
    Vector(usize, u32),
    Text(&'static str),
    List(Vec<Node>),
}

pub(super) enum Value {
    Number(Vec<u8>),
    To(Node),
}

pub(super) use Node::{List, Table as Fields, Text, Vector};
pub(super) use Value::{Number, To};

pub(super) fn pad(out: &mut Vec<u8>, width: usize) {
    while !out.len().is_multiple_of(width) {
        out.push(0);
    }
}

pub(super) fn set(out: &mut [u8], at: usize, offset_to: usize) {
    let offset = u32::try_from(offset_to - at).unwrap();
    out[at..at + 4].copy_from_slice(&offset.to_le_bytes());
}

/// Appends an object and everything it refers to, and returns its position.
pub(super) fn put(out: &mut Vec<u8>, node: &Node) -> usize {
    match node {
        Text(text) => {
            pad(out, 4);
            let at = out.len();
            out.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            out.extend(text.as_bytes());
            out.push(0);
            at
        }
        Vector(width, count) => {
            pad(out, 4);
            while !(out.len() + 4).is_multiple_of(*width) {
                out.push(0);
            }
            let at = out.len();
            out.extend(count.to_le_bytes());
            out.resize(out.len() + width * usize::try_from(*count).unwrap(), 0);
            at
        }
        List(nodes) => {
            pad(out, 4);
            let at = out.len();
            out.extend(u32::try_from(nodes.len()).unwrap().to_le_bytes());
            out.resize(out.len() + 4 * nodes.len(), 0);
            for (i, node) in nodes.iter().enumerate() {
                let target = put(out, node);
                set(out, at + 4 + 4 * i, target);
            }
            at
        }
        Fields(fields) => {
            let count = fields.iter().map(|(index, _)| usize::from(*index) + 1).max().unwrap_or(0);
            let (mut slots, mut body) = (std::vec![0_u16; count], std::vec![0; 4]);
            for (index, value) in fields {
                let (bytes, width) = match value {
                    Number(bytes) => (bytes.clone(), bytes.len()),
                    To(_) => (std::vec![0; 4], 4),
                };
                pad(&mut body, width);
                slots[usize::from(*index)] = u16::try_from(body.len()).unwrap();
                body.extend(bytes);
            }
            pad(out, 2);
            let vtable = out.len();
            out.extend(u16::try_from(4 + 2 * count).unwrap().to_le_bytes());
            out.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
            slots.iter().for_each(|slot| out.extend(slot.to_le_bytes()));
            pad(out, 8);
            let at = out.len();
            out.extend(body);
            let back = u32::try_from(at - vtable).unwrap();
            out[at..at + 4].copy_from_slice(&back.to_le_bytes());
            for (index, value) in fields {
                if let To(node) = value {
                    let target = put(out, node);
                    set(out, at + usize::from(slots[usize::from(*index)]), target);
                }
            }
            at
        }
    }
}

pub(super) fn file(root: &Node) -> Vec<u8> {
    let mut out = b"\0\0\0\0TEST".to_vec();
    let at = put(&mut out, root);
    set(&mut out, 0, at);
    out
}

pub(super) fn number(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u32::from_le_bytes(*bytes[at..].first_chunk().unwrap())).unwrap()
}

pub(super) fn target(bytes: &[u8], at: usize) -> usize {
    at + number(bytes, at)
}

/// Position of a field's slot in the vtable of the table at `at`.
pub(super) fn slot(bytes: &[u8], at: usize, index: u8) -> usize {
    at - number(bytes, at) + 4 + 2 * usize::from(index)
}

/// Position of a field of the table at `at`.
pub(super) fn field(bytes: &[u8], at: usize, index: u8) -> usize {
    at + usize::from(bytes[slot(bytes, at, index)])
}
