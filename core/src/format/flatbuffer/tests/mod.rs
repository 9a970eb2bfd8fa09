//! Flatbuffers written by an encoder of its own, each sound or with one fault.

mod encode;

use super::*;
use crate::input::{Source, Span, Window};
use crate::rule::{Finding, Severity};
use encode::{Fields, List, Node, Number, Text, To, Vector, field, file, put, set, slot, target};
use std::vec::Vec;

/// Numbers of fields in the tables of [`SCHEMA`].
mod root {
    pub(super) const NUMBER: u8 = 0;
    pub(super) const LEAVES: u8 = 1;
    pub(super) const TEXT: u8 = 2;
    pub(super) const TEXTS: u8 = 3;
    pub(super) const WORDS: u8 = 4;
    pub(super) const KIND: u8 = 5;
    pub(super) const VALUE: u8 = 6;
    pub(super) const INNER: u8 = 8;
}

const SCHEMA: Schema = Schema {
    identifier: *b"TEST",
    tables: lists!(&[
        &[
            Type::Scalar(4),
            Type::Tables(1),
            Type::String,
            Type::Strings,
            Type::Vector(8),
            Type::Kind,
            Type::Union(0),
            Type::Unused,
            Type::Tables(0),
        ],
        &[Type::String, Type::Scalar(1), Type::Scalar(8), Type::Vector(4)],
    ]),
    unions: lists!(&[&[Type::Table(1), Type::String]]),
    rules,
    counted: [1, 1, strings_of(1)],
};

fn leaf(text: &'static str) -> Node {
    Fields(std::vec![
        (0, To(Text(text))),
        (1, Number(std::vec![7])),
        (2, Number(std::vec![1; 8])),
        (3, To(Vector(4, 3))),
    ])
}

/// A file with an object of every type.
fn sound() -> Vec<u8> {
    file(&Fields(std::vec![
        (root::NUMBER, Number(std::vec![1; 4])),
        (root::LEAVES, To(List(std::vec![leaf("one"), leaf("")]))),
        (root::TEXT, To(Text("text"))),
        (root::TEXTS, To(List(std::vec![Text("a"), Text("bcd")]))),
        (root::WORDS, To(Vector(8, 2))),
        (root::KIND, Number(std::vec![1])),
        (root::VALUE, To(leaf("value"))),
        (root::INNER, To(List(std::vec![Fields(std::vec![])]))),
    ]))
}

const FAULTS: [Fault; 22] = [
    Fault::Short,
    Fault::Prefix,
    Fault::Identifier,
    Fault::Root,
    Fault::Offset,
    Fault::Unaligned,
    Fault::Vtable,
    Fault::VtableLength,
    Fault::TableLength,
    Fault::FieldHead,
    Fault::FieldBounds,
    Fault::FieldUnaligned,
    Fault::FieldTable,
    Fault::VectorBounds,
    Fault::VectorUnaligned,
    Fault::StringBounds,
    Fault::StringEnd,
    Fault::UnionKind,
    Fault::UnionValue,
    Fault::UnionUnknown,
    Fault::Depth,
    Fault::Shared,
];

fn rules(fault: Fault) -> Rule {
    let number = FAULTS.iter().position(|known| *known == fault).unwrap();
    Rule::new(31, Severity::Fatal, u16::try_from(number).unwrap())
}

#[derive(Debug, Default, PartialEq)]
struct Seen {
    faults: Vec<(Fault, u64)>,
    objects: Vec<Object>,
    /// Table, field and item of the innermost open table at each object.
    paths: Vec<(u8, u8, u32)>,
}

/// The faults and objects of a file of which only the requested bytes, or all, are resident.
fn walk(bytes: &[u8], prefix: Prefix, whole: bool) -> Seen {
    let (mut seen, mut findings) = (Seen::default(), Vec::<Finding>::new());
    let len = bytes.len() as u64;
    let mut resident = 0..if whole { bytes.len() } else { 0 };
    let (mut extent, mut state) = (None, None);
    // Every request is for other bytes than the last, and each step makes progress.
    for _ in 0..100 + 40 * bytes.len() {
        let windows = [Window { offset: resident.start as u64, bytes: &bytes[resident.clone()] }];
        let source = Source::windows(len, &windows);
        let mut sink = |finding| findings.push(finding);
        let mut r = Reader::new(&source, &mut sink);
        let extent = extent.get_or_insert_with(|| Extent::new(&r, 0, u64::MAX));
        let result = match &mut state {
            None => root(&mut r, extent, prefix, &SCHEMA).map(|at| {
                state = Some(Walk::new(*extent, at));
                true
            }),
            Some(walk) => walk.next(&mut r, &SCHEMA, &rules).map(|object| {
                seen.objects.extend(object);
                if object.is_some() {
                    let top = walk.path().last().unwrap();
                    seen.paths.push((top.number(), top.field(), top.item()));
                }
                object.is_some()
            }),
        };
        match result {
            Ok(true) => {}
            Err(halt) if halt.is_absent() => {
                let absent = r.absent();
                assert!(!whole && absent.want >= absent.need && absent.need > 0);
                let start = usize::try_from(absent.offset).unwrap();
                let next = start..start + usize::try_from(absent.need).unwrap();
                assert_ne!(next, resident);
                resident = next;
            }
            Ok(false) | Err(_) => {
                let of = |f: &Finding| FAULTS.into_iter().find(|fault| rules(*fault) == f.rule);
                seen.faults = findings.iter().map(|f| (of(f).unwrap(), f.offset)).collect();
                return seen;
            }
        }
    }
    panic!("the walk does not end");
}

/// The faults, which are the same however the bytes arrive.
fn faults(bytes: &[u8]) -> Vec<(Fault, u64)> {
    let seen = walk(bytes, Prefix::None, true);
    assert_eq!(walk(bytes, Prefix::None, false), seen);
    seen.faults
}

#[test]
fn sound_file_is_walked_to_its_end() {
    let bytes = sound();
    let seen = walk(&bytes, Prefix::None, true);
    assert_eq!(seen.faults, []);
    assert_eq!(walk(&bytes, Prefix::None, false), seen);
    let count = |is: fn(&Object) -> bool| seen.objects.iter().filter(|object| is(object)).count();
    assert_eq!(count(|object| matches!(object, Object::Table { number: 0, .. })), 2);
    assert_eq!(count(|object| matches!(object, Object::Table { number: 1, .. })), 3);
    assert_eq!(count(|object| matches!(object, Object::Vector(_))), 7);
    assert_eq!(count(|object| matches!(object, Object::String(_))), 6);
    // The objects, with their padding, are the file.
    let mut used = std::vec![false; bytes.len()];
    used[..8].fill(true);
    for object in &seen.objects {
        let (span, vtable) = match *object {
            Object::Table { place, vtable, .. } => (place.span(), vtable.span()),
            Object::Vector(place) | Object::String(place) => (place.span(), Span::default()),
        };
        for span in [span, vtable] {
            let (at, end) = (span.offset as usize, span.end().unwrap() as usize);
            assert!(!used[at..end].contains(&true), "{object:?} overlaps");
            used[at..end].fill(true);
        }
    }
    assert!(used.iter().zip(&bytes).all(|(used, byte)| *used || *byte == 0));
    // The second string of the list is the last object of its field.
    assert!(seen.paths.contains(&(0, root::TEXTS, 1)));
}

#[test]
fn changed_byte_is_one_fault_at_its_place() {
    let bytes = sound();
    let top = target(&bytes, 0);
    let at = |index| field(&bytes, top, index);
    let (leaves, texts) = (target(&bytes, at(root::LEAVES)), target(&bytes, at(root::TEXTS)));
    let first = target(&bytes, leaves + 4);
    let vtable = slot(&bytes, first, 0) - 4;
    let text = target(&bytes, at(root::TEXT));
    let words = target(&bytes, at(root::WORDS));
    let last = target(&bytes, texts + 8);
    let cases: &[(Fault, usize, usize, &[u8])] = &[
        (Fault::Identifier, 4, 4, b"TESS"),
        (Fault::Root, 0, 0, &[0, 0, 0, 0]),
        (Fault::Root, 0, 0, &[4, 0, 0, 0]),
        (Fault::Root, 0, 0, &[0xFF; 4]),
        (Fault::Root, 0, 0, &[u8::try_from(top).unwrap() + 2]),
        (Fault::Offset, at(root::LEAVES), at(root::LEAVES), &[0; 4]),
        (Fault::Offset, at(root::LEAVES), at(root::LEAVES), &[0xFF; 4]),
        (Fault::Offset, leaves + 4, leaves + 4, &[0; 4]),
        (Fault::Offset, texts + 8, texts + 8, &[0, 0, 0, 0x80]),
        (Fault::Unaligned, at(root::TEXT), at(root::TEXT), &[bytes[at(root::TEXT)] + 1]),
        (Fault::Vtable, first, first, &[0, 0, 0, 0x7F]),
        (Fault::Vtable, first, first, &[0, 0, 0, 0x80]),
        (Fault::Vtable, first, first, &[bytes[first] + 1]),
        (Fault::VtableLength, vtable, vtable, &[2]),
        (Fault::VtableLength, vtable, vtable, &[13]),
        (Fault::VtableLength, vtable, vtable, &[0xFE, 0xFF]),
        (Fault::TableLength, vtable + 2, vtable + 2, &[3]),
        (Fault::TableLength, vtable + 2, vtable + 2, &[0xFF, 0xFF]),
        (Fault::FieldHead, vtable + 6, vtable + 6, &[2]),
        (Fault::FieldBounds, vtable + 6, vtable + 6, &[0xFF, 0xFF]),
        (Fault::FieldUnaligned, vtable + 8, vtable + 8, &[bytes[vtable + 8] - 4]),
        (Fault::VectorBounds, leaves, leaves, &[0xFF; 4]),
        (Fault::VectorBounds, words, words, &[0, 0, 0, 0x20]),
        (Fault::StringBounds, text, text, &[0xFF; 4]),
        (Fault::StringEnd, text + 8, text + 8, b"x"),
        (Fault::StringEnd, last + 7, last + 7, b"x"),
        (Fault::UnionKind, at(root::VALUE), at(root::KIND), &[0]),
        (Fault::UnionUnknown, at(root::KIND), at(root::KIND), &[3]),
    ];
    for (fault, place, changed, with) in cases {
        let mut broken = bytes.clone();
        broken[*changed..changed + with.len()].copy_from_slice(with);
        assert_eq!(faults(&broken), [(*fault, *place as u64)], "{changed}: {with:?}");
    }
}

#[test]
fn field_past_its_table_is_a_fault_and_still_read() {
    let mut bytes = sound();
    let vtable = slot(&bytes, target(&bytes, 0), 0) - 4;
    let len = bytes[vtable + 2];
    let objects = walk(&bytes, Prefix::None, true).objects.len();
    bytes[vtable + 2] = len - 1;
    let place = (vtable + 4 + 2 * usize::from(root::INNER)) as u64;
    assert_eq!(faults(&bytes), [(Fault::FieldTable, place)]);
    assert_eq!(walk(&bytes, Prefix::None, true).objects.len(), objects);
}

#[test]
fn unaligned_items_are_a_fault() {
    let mut bytes = sound();
    let top = target(&bytes, 0);
    let words = field(&bytes, top, root::WORDS);
    // The first half of an item becomes the count.
    bytes[words] += 4;
    let count = target(&bytes, words);
    bytes[count] = 1;
    let items = target(&bytes, words) + 4;
    assert_eq!(faults(&bytes), [(Fault::VectorUnaligned, items as u64)]);
}

#[test]
fn union_without_value_is_a_fault() {
    let bytes = file(&Fields(std::vec![(root::KIND, Number(std::vec![1]))]));
    let place = field(&bytes, target(&bytes, 0), root::KIND) as u64;
    assert_eq!(faults(&bytes), [(Fault::UnionValue, place)]);
    let none = file(&Fields(std::vec![(root::KIND, Number(std::vec![0]))]));
    assert_eq!(faults(&none), []);
    let text = [(root::KIND, Number(std::vec![2])), (root::VALUE, To(Text("text")))];
    assert_eq!(faults(&file(&Fields(text.into()))), []);
}

#[test]
fn unreadable_kind_hides_its_value() {
    let mut bytes = sound();
    let kind = slot(&bytes, target(&bytes, 0), root::KIND);
    bytes[kind] = 1;
    assert_eq!(faults(&bytes), [(Fault::FieldHead, kind as u64)]);
}

#[test]
fn length_prefix_is_compared_with_the_file() {
    // The prefix moves the rest by four bytes, and only tables without numbers of eight stay
    // aligned.
    let rest = file(&Fields(std::vec![(root::TEXT, To(Text("text")))]));
    let prefixed = |len: u32| [&len.to_le_bytes()[..], &rest].concat();
    let len = u32::try_from(rest.len()).unwrap();
    let seen = walk(&prefixed(len), Prefix::Length, true);
    assert_eq!((seen.faults.len(), seen.objects.len()), (0, 2));
    for wrong in [0, len - 1, len + 1, u32::MAX] {
        let seen = walk(&prefixed(wrong), Prefix::Length, false);
        assert_eq!(seen.faults, [(Fault::Prefix, 0)]);
    }
    // Each form is no file of the other.
    assert_eq!(walk(&rest, Prefix::Length, true).faults, [(Fault::Identifier, 8)]);
    assert_eq!(faults(&prefixed(len)), [(Fault::Identifier, 4)]);
}

#[test]
fn short_file_is_one_fault() {
    for len in 0..8 {
        assert_eq!(faults(&sound()[..len]), [(Fault::Short, 0)]);
    }
    assert_eq!(faults(b"\x08\0\0\0TEST"), [(Fault::Root, 0)]);
}

fn nested(levels: usize) -> Node {
    let inner = (1..levels).fold(Fields(std::vec![]), |inner, _| {
        Fields(std::vec![(root::INNER, To(List(std::vec![inner])))])
    });
    Fields(std::vec![(
        root::INNER,
        To(List(std::vec![inner, Fields(std::vec![(root::TEXT, To(Text("after")))])]))
    )])
}

#[test]
fn depth_is_limited_and_the_walk_goes_on() {
    let deepest = limits::FLATBUFFER_DEPTH - 1;
    assert_eq!(faults(&file(&nested(deepest))), []);
    let deeper = walk(&file(&nested(deepest + 1)), Prefix::None, true);
    assert!(matches!(deeper.faults[..], [(Fault::Depth, _)]));
    // The item after the deep one is still visited.
    let usual = walk(&file(&nested(deepest)), Prefix::None, true);
    assert_eq!(deeper.objects.len(), usual.objects.len() + 1);
    assert_eq!(deeper.objects.last().is_some(), usual.objects.last().is_some());
}

/// A file whose every level has `width` offsets to the same table of the next level.
fn product(width: usize) -> Vec<u8> {
    let mut out = b"\0\0\0\0TEST".to_vec();
    let mut from = 0;
    for level in 0..limits::FLATBUFFER_DEPTH {
        let last = level == limits::FLATBUFFER_DEPTH - 1;
        let fields = if last {
            Fields(std::vec![])
        } else {
            Fields(std::vec![(root::INNER, To(List(std::vec![])))])
        };
        let table = put(&mut out, &fields);
        if level == 0 {
            set(&mut out, from, table);
        } else {
            for i in 0..width {
                set(&mut out, from + 4 + 4 * i, table);
            }
        }
        if !last {
            from = target(&out, field(&out, table, root::INNER));
            out[from..from + 4].copy_from_slice(&u32::try_from(width).unwrap().to_le_bytes());
            out.resize(from + 4 + 4 * width, 0);
        }
    }
    out
}

#[test]
fn shared_tables_are_charged() {
    // Two and a half thousand million paths in a few hundred bytes.
    let bytes = product(22);
    let seen = walk(&bytes, Prefix::None, true);
    assert!(matches!(seen.faults[..], [(Fault::Shared, _)]), "{:?}", seen.faults);
    let allowed = bytes.len() * 4 + (64 << 10);
    assert!(seen.objects.len() <= allowed / 4 + 1, "{}", seen.objects.len());
    assert_eq!(faults(&product(1)), []);
    // A little sharing is allowed.
    assert_eq!(walk(&product(2), Prefix::None, true).faults, []);
}

#[test]
fn many_tables_are_not_called_shared() {
    let leaves = (0..100_000).map(|_| leaf("name")).collect();
    let seen =
        walk(&file(&Fields(std::vec![(root::LEAVES, To(List(leaves)))])), Prefix::None, true);
    assert_eq!(seen.faults, []);
    assert_eq!(seen.objects.len(), 2 + 3 * 100_000);
}

#[test]
fn damage_gives_faults_inside_the_file() {
    let bytes = sound();
    let check = |bytes: &[u8]| {
        let seen = walk(bytes, Prefix::None, true);
        assert_eq!(walk(bytes, Prefix::None, false), seen);
        for (fault, at) in &seen.faults {
            assert!(*at < bytes.len().max(1) as u64, "{fault:?} at {at}");
        }
    };
    for len in 0..bytes.len() {
        check(&bytes[..len]);
    }
    for at in 0..bytes.len() {
        for change in [0x01, 0x02, 0x04, 0x40, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            check(&damaged);
        }
    }
}
