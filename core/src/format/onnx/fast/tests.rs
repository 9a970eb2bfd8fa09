//! The fast paths, compared with the full check: in windows that are shorter than any message, no
//! message is resident as a whole.

use super::super::links::{Link, Links};
use super::super::{Cursor, Header};
use crate::format::Container;
use crate::input::{Source, Window};
use crate::model::Tensor;
use crate::parse::{Reader, Stop};
use crate::rule::{Finding, Halt};
use std::vec::Vec;

/// Fits each name and number of the sample, and no node or tensor.
const WINDOW: usize = 21;

/// A field with bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// A tensor of a graph, with its type, shape and the number of its field with data.
fn tensor(name: &str, code: u8, dims: &[u8], number: u8, len: usize) -> Vec<u8> {
    let mut message = Vec::new();
    dims.iter().for_each(|extent| message.extend([0x08, *extent]));
    message.extend([0x10, code]);
    message.extend(field(8, name.as_bytes()));
    message.extend(field(number, &std::vec![1; len]));
    field(5, &message)
}

fn node(attribute: &[u8], more: &[u8]) -> Vec<u8> {
    let names =
        [field(1, b"x"), field(1, b"weight.1"), field(2, b"made.by.node"), field(4, b"Add")];
    field(1, &[&names.concat(), &field(5, attribute)[..], more].concat())
}

/// A model with two plain nodes, one of another domain, one with a tensor, and five tensors.
fn sample() -> Vec<u8> {
    let axis = [&field(1, b"axis")[..], &[0x18, 1, 0xA0, 1, 2]].concat();
    let scale = [&field(1, b"a")[..], &[0x15, 0, 0, 0x80, 0x3F, 0xA0, 1, 1]].concat();
    let value = [0x08, 2, 0x10, 3, 0x4A, 2, 9, 9];
    let constant = [field(1, b"v"), field(5, &value), [0xA0, 1, 4].to_vec()].concat();
    let graph = [
        node(&axis, &[]),
        tensor("weight.1.of.model", 1, &[2, 3], 9, 24),
        node(&scale, &field(9, &[field(1, b"k"), field(2, b"v")].concat())),
        node(&axis, &field(7, b"custom")),
        tensor("weight.2.of.model", 7, &[3], 7, 5),
        tensor("weight.3.of.model", 1, &[4], 4, 16),
        node(&constant, &[]),
        tensor("weight.4.of.model", 22, &[3, 3], 9, 5),
        tensor("weight.5.of.model", 27, &[4, 3], 9, 9),
        field(2, b"graph"),
    ];
    let graph = graph.concat();
    let mut file = [0x08, 8, 0x42, 2, 0x10, 17, 0x3A].to_vec();
    file.extend([graph.len() as u8 | 0x80, (graph.len() >> 7) as u8]);
    file.extend(graph);
    file
}

/// Everything that a walk over the model finds.
#[derive(Debug, Default, PartialEq)]
struct Found {
    header: Option<Header>,
    tensors: Vec<Tensor>,
    links: Vec<Link>,
    ends: Vec<Option<Stop>>,
    findings: Vec<Finding>,
}

fn walk(source: &Source<'_>) -> Found {
    let mut found = Found::default();
    let mut findings = Vec::new();
    let mut sink = |finding| findings.push(finding);
    let mut r = Reader::new(source, &mut sink);
    let header = Header::open(&mut r, &mut Cursor::default());
    if let Ok(header) = header {
        found.header = Some(header);
        let mut cursor = Cursor::START;
        let end: Result<(), Halt> = loop {
            match header.tensor(&mut r, &mut cursor) {
                Ok(Some(tensor)) => found.tensors.push(tensor),
                end => break end.map(|_| ()),
            }
        };
        found.ends.push(end.map_err(|halt| r.stop(halt)).err());
        let mut links = Links::new(3);
        let mut take = |link: &Link| {
            found.links.push(*link);
            true
        };
        found.ends.push(links.step(source, &mut take).err());
    } else {
        found.ends.push(header.map_err(|halt| r.stop(halt)).err());
    }
    found.findings = findings;
    found
}

/// Sweeps, with steps where sweeps end; returns what was named, and how many tensors were swept.
fn sweep(source: &Source<'_>, header: &Header) -> (Vec<(u32, u64, u32)>, usize) {
    let mut sink = |_| {};
    let mut r = Reader::new(source, &mut sink);
    r.mute();
    let (mut cursor, mut names, mut swept) = (Cursor::START, Vec::new(), 0);
    loop {
        let from = cursor;
        let before = names.len();
        header.sweep(&mut r, &mut cursor, &mut |glance| {
            names.push((glance.index, glance.name_at.offset, glance.name_at.len));
            true
        });
        let mut again = Vec::new();
        header.sweep_again(&mut r, &mut { from }, cursor.index, &mut |glance| {
            again.push((glance.index, glance.name_at.offset, glance.name_at.len));
            true
        });
        assert_eq!(again, names[before..]);
        swept += again.len();
        match header.tensor(&mut r, &mut cursor) {
            Ok(Some(tensor)) => names.push((tensor.index, tensor.name.offset, tensor.name.len)),
            _ => return (names, swept),
        }
    }
}

#[test]
fn onnx_fast_path_equals_careful_path() {
    let sample = sample();
    let (mut swept, mut compared) = (0, 0);
    let mut compare = |file: &[u8]| {
        let windows: Vec<_> = (0..file.len())
            .map(|at| Window { offset: at as u64, bytes: &file[at..file.len().min(at + WINDOW)] })
            .collect();
        let whole = walk(&Source::whole(file));
        let pieces = walk(&Source::windows(file.len() as u64, &windows));
        // A name that a change made longer is in no window.
        if !pieces.ends.iter().any(|end| matches!(end, Some(Stop::NeedBytes(_)))) {
            assert_eq!(whole, pieces);
            compared += whole.tensors.len();
        }
        if let Some(header) = whole.header {
            let (names, passed) = sweep(&Source::whole(file), &header);
            let listed = whole.tensors.iter().map(|it| (it.index, it.name.offset, it.name.len));
            assert!(names.into_iter().eq(listed));
            swept += passed;
        }
    };
    compare(&sample);
    for at in 0..sample.len() {
        for byte in (0..=0x18).chain([0x22, 0x2A, 0x3A, 0x42, 0x4A, 0x70, 0x7F, 0x80, 0xA0, 0xFF]) {
            let mut file = sample.clone();
            file[at] = byte;
            compare(&file);
        }
    }
    assert!(swept > 10_000 && compared > 20_000, "{swept} {compared}");
}
