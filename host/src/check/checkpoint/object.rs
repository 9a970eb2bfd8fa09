//! Walks the object of a checkpoint: tensors with their paths, numbers and texts.
//!
//! Each container is walked once, however often it is referred to, so the walk ends after as many
//! steps as the pickle has operations.

use super::draft::Draft;
use super::torch_names::Known;
use super::values::{Id, Made, Value, Values};
use crate::base::hash::hash;
use alloc::collections::BTreeSet;
use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::Pair;
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::pickle::Spelling;
use weighbridge_core::{Span, limits};

/// Where operations of the pickle lie in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The offset of the pickle's first byte.
    pub(super) at: u64,
    /// It is compressed: all operations are where its stream begins.
    pub(super) is_deflated: bool,
}

impl Place {
    pub(super) fn of(self, operation: u64) -> Span {
        match self.is_deflated {
            true => Span::new(self.at, 1),
            false => Span::new(self.at + operation, 1),
        }
    }
}

/// What a pickle is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An archive of `torch.save`.
    Saved,
    /// An archive with a program: its objects, and the tensors that its code names.
    Program,
    Constants,
    /// A file before torch 1.6, whose persistent ids have another form.
    Older,
}

/// Bytes and entries that are looked at for each byte of the pickle, and in addition.
const SPENT: u64 = 16;
const SPENT_LEAST: u64 = 16 << 20;
/// Most items of a tuple that is a key, or a shape.
const ITEMS: usize = 16;

/// The walk over one object.
pub(super) struct Walk<'a> {
    pub(super) values: &'a Values,
    pub(super) bytes: &'a [u8],
    pub(super) place: Place,
    pub(super) form: Form,
    pub(super) draft: Draft,
    /// Where dots lie between two keys of the path at hand; those past its end are out of date.
    pub(super) dots: Vec<usize>,
    /// Extents and strides of the tensor at hand.
    pub(super) numbers: Vec<u64>,
    seen: Vec<bool>,
    is_too_deep: bool,
    /// Bytes and entries that may still be looked at: the memo makes it cheap to refer to a long text
    /// or a large dictionary from many places.
    left: u64,
}

/// A container that is being walked.
struct Frame {
    children: Vec<(Key, Id)>,
    next: usize,
    /// Length of the path to it.
    path: usize,
}

/// A key that can be compared.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Plain<'a> {
    Text(&'a [u8]),
    Number(i64),
    None,
}

/// What leads to a value.
#[derive(Clone, Copy)]
enum Key {
    Of(Id),
    Index(usize),
    Same,
}

impl<'a> Walk<'a> {
    pub(super) fn new(values: &'a Values, bytes: &'a [u8], place: Place, form: Form) -> Self {
        let seen = vec![false; values.len()];
        let draft = Draft::default();
        let left = (bytes.len() as u64).saturating_mul(SPENT).saturating_add(SPENT_LEAST);
        let (dots, numbers, is_too_deep) = (Vec::new(), Vec::new(), false);
        Walk { values, bytes, place, form, draft, dots, numbers, seen, is_too_deep, left }
    }

    /// Whether this many bytes or entries may be looked at.
    pub(super) fn spend(&mut self, count: usize) -> bool {
        let left = self.left.checked_sub(count as u64);
        self.left = left.unwrap_or(0);
        if left.is_none() {
            self.draft.fill();
        }
        left.is_some()
    }

    /// Adds to what another walk found.
    pub(super) fn after(self, draft: Draft) -> Self {
        Walk { draft, ..self }
    }

    /// Lists what the object holds.
    pub(super) fn run(mut self) -> Draft {
        let Some(root) = self.values.root() else { return self.draft };
        let mut path = Vec::new();
        if self.form == Form::Constants {
            path.extend_from_slice(b"constants");
        }
        let mut open = Vec::new();
        self.enter(root, &mut path, &mut open);
        while let Some(frame) = open.last_mut() {
            path.truncate(frame.path);
            let Some((key, child)) = frame.children.get(frame.next) else {
                open.pop();
                continue;
            };
            frame.next += 1;
            let (key, child) = (*key, *child);
            self.push(key, &mut path);
            if self.draft.is_full() {
                break;
            }
            self.enter(child, &mut path, &mut open);
        }
        if self.is_too_deep {
            let flaw = self.draft.flaw(rules::P_DEPTH, self.place.of(0), None);
            flaw.expected = limits::PICKLE_DEPTH as u64;
        }
        if self.draft.is_full() || self.values.is_full {
            let flaw = self.draft.flaw(rules::P_PLACES, self.place.of(0), None);
            flaw.expected = limits::CHECKPOINT_ENTRIES as u64;
        }
        self.draft
    }

    fn push(&mut self, key: Key, path: &mut Vec<u8>) {
        match key {
            Key::Same => {}
            Key::Index(index) => self.join(path, index.to_string().as_bytes()),
            Key::Of(id) => match self.values.get(id) {
                Value::Text(..) => {
                    let text = self.text(id).unwrap_or_default();
                    if self.spend(text.len() + path.len()) {
                        self.join(path, text);
                    }
                }
                Value::Int(number) => self.join(path, number.to_string().as_bytes()),
                Value::Float(number) => self.join(path, number.to_string().as_bytes()),
                Value::Bool(true) => self.join(path, b"True"),
                Value::Bool(false) => self.join(path, b"False"),
                Value::None => self.join(path, b"None"),
                _ => self.join(path, b"#key"),
            },
        }
    }

    /// Appends a key to a path.
    pub(super) fn join(&mut self, path: &mut Vec<u8>, key: &[u8]) {
        // The path was longer before.
        while self.dots.pop_if(|dot| *dot >= path.len()).is_some() {}
        if !path.is_empty() {
            self.dots.push(path.len());
            path.push(b'.');
        }
        path.extend_from_slice(key);
    }

    /// Lists a value, or opens it if it holds others.
    fn enter(&mut self, id: Id, path: &mut Vec<u8>, open: &mut Vec<Frame>) {
        let values = self.values;
        let children = match values.get(id) {
            Value::Made(made) if matches!(made.of, Known::Tensor(_) | Known::TensorClass) => {
                self.target(id, made);
                if self.draft.has_room() {
                    self.tensor(id, path);
                }
                return;
            }
            Value::Persistent(_) => {
                if self.draft.has_room() {
                    self.bare_storage(id, path);
                }
                return;
            }
            Value::Int(number) => return self.pair(id, path, Pair::INTEGER, &number.to_le_bytes()),
            Value::Float(number) => return self.pair(id, path, Pair::FLOAT, &number.to_le_bytes()),
            Value::Bool(value) => return self.pair(id, path, Pair::BOOL, &[u8::from(*value)]),
            Value::Text(..) => {
                let text = self.text(id).unwrap_or_default();
                return self.pair(id, path, Pair::TEXT, text);
            }
            _ if core::mem::replace(&mut self.seen[id as usize], true) => return,
            Value::Tuple(items) => listed(values.items(*items)),
            Value::List(items) | Value::Set(items) => listed(items),
            Value::Dict(pairs) => {
                self.keys(pairs);
                pairs.iter().map(|(key, value)| (Key::Of(*key), *value)).collect()
            }
            Value::Made(made) => {
                self.call(id, made);
                self.target(id, made);
                self.keys(&made.pairs);
                let mut children: Vec<(Key, Id)> =
                    made.pairs.iter().map(|(key, value)| (Key::Of(*key), *value)).collect();
                children.extend(listed(&made.items));
                match made.of {
                    // Its items may be an argument; its state holds versions of modules.
                    Known::OrderedDict | Known::Counter | Known::Set => {
                        children.extend(self.given(made.args));
                    }
                    // The other argument is the name of a type.
                    Known::Typed => match self.values.tuple(made.args) {
                        Some([of, ..]) => children.push((Key::Same, *of)),
                        _ => children.push((Key::Same, made.args)),
                    },
                    Known::Other | Known::Parameter => {
                        children.push((Key::Same, made.args));
                        children.extend(made.state.map(|state| (Key::Same, state)));
                    }
                    _ => {}
                }
                children
            }
            _ => return,
        };
        if open.len() >= limits::PICKLE_DEPTH {
            self.is_too_deep = true;
            return;
        }
        if !children.is_empty() {
            open.push(Frame { children, next: 0, path: path.len() });
        }
    }

    /// The items of an `OrderedDict` that are given as a list of pairs, as Python 2 writes them.
    fn given(&mut self, args: Id) -> Vec<(Key, Id)> {
        let values = self.values;
        let Some([items]) = values.tuple(args) else { return Vec::new() };
        let (Value::List(items) | Value::Set(items)) = values.get(*items) else {
            return match values.get(*items) {
                Value::Dict(pairs) if self.spend(pairs.len()) => {
                    self.keys(pairs);
                    pairs.iter().map(|(key, value)| (Key::Of(*key), *value)).collect()
                }
                _ => Vec::new(),
            };
        };
        // The same list may be given to many.
        if !self.spend(items.len()) {
            return Vec::new();
        }
        let pairs: Vec<(Id, Id)> = items.iter().filter_map(|item| self.two(*item)).collect();
        if pairs.len() != items.len() {
            return listed(items);
        }
        self.keys(&pairs);
        pairs.into_iter().map(|(key, value)| (Key::Of(key), value)).collect()
    }

    fn two(&self, id: Id) -> Option<(Id, Id)> {
        let items: &[Id] = match self.values.get(id) {
            Value::List(items) => items,
            Value::Tuple(items) => self.values.items(*items),
            _ => return None,
        };
        match items {
            [key, value] => Some((*key, *value)),
            _ => None,
        }
    }

    fn pair(&mut self, id: Id, path: &[u8], kind: u64, value: &[u8]) {
        let is_wanted = !path.is_empty() && self.draft.has_room();
        if !is_wanted || !self.spend(path.len() + value.len()) {
            return;
        }
        let (key, key_len) = (self.draft.keep(path), path.len() as u64);
        let (place, value_len) = (self.draft.keep(value), value.len() as u64);
        let at = self.place.of(self.values.place(id)).offset;
        self.draft.pairs.push(Pair { key, key_len, kind, value: place, value_len, at });
    }

    /// The bytes of a text; `None` for other values.
    pub(super) fn text(&self, id: Id) -> Option<&'a [u8]> {
        let Value::Text(span, spelling) = self.values.get(id) else { return None };
        let from = usize::try_from(span.offset).ok()?;
        let to = from.checked_add(usize::try_from(span.len).ok()?)?;
        let bytes = self.bytes.get(from..to)?;
        Some(match (spelling, bytes.trim_ascii()) {
            (Spelling::Quoted, [_, inner @ .., _]) => inner,
            _ => bytes,
        })
    }

    /// Checks that items and keys are added to what takes them.
    pub(super) fn target(&mut self, id: Id, made: &Made) {
        let (pairs, items) = match made.of {
            Known::OrderedDict | Known::Counter => (true, false),
            Known::Set => (false, true),
            Known::Other => (true, true),
            _ => (false, false),
        };
        if !pairs && !made.pairs.is_empty() || !items && !made.items.is_empty() {
            let span = self.place.of(self.values.place(id));
            self.draft.flaw(rules::P_TARGET, span, None);
        }
    }

    pub(super) fn str(&self, id: Id) -> Option<&'a str> {
        self.text(id).and_then(|text| core::str::from_utf8(text).ok())
    }

    /// Checks the keys of a dictionary.
    fn keys(&mut self, pairs: &[(Id, Id)]) {
        let mut seen = BTreeSet::new();
        for (key, _) in pairs {
            let span = self.place.of(self.values.place(*key));
            let len = self.text(*key).map_or(1, <[u8]>::len);
            if !self.spend(len) {
                return;
            }
            if !self.is_hashable(*key, 0) {
                self.draft.flaw(rules::P_KEY_TYPE, span, None);
                continue;
            }
            // A number and a Boolean may be equal.
            let plain = match self.values.get(*key) {
                Value::Text(..) => self.text(*key).map(|text| (hash(text), Plain::Text(text))),
                Value::Bool(value) => Some((0, Plain::Number((*value).into()))),
                Value::Int(number) => Some((0, Plain::Number(*number))),
                #[allow(clippy::cast_possible_truncation, reason = "compared with the original")]
                Value::Float(number) if (*number as i64) as f64 == *number => {
                    Some((0, Plain::Number(*number as i64)))
                }
                Value::None => Some((0, Plain::None)),
                _ => None,
            };
            if plain.is_some_and(|plain| !seen.insert(plain)) {
                self.draft.flaw(rules::P_KEY, span, None);
            }
        }
    }

    /// Whether a value may be a key: its hash takes few steps.
    fn is_hashable(&self, id: Id, depth: usize) -> bool {
        match self.values.get(id) {
            Value::List(_) | Value::Dict(_) | Value::Set(_) => false,
            Value::Tuple(items) => {
                let items = self.values.items(*items);
                items.len() <= ITEMS
                    && depth <= 1
                    && items.iter().all(|item| self.is_hashable(*item, depth + 1))
            }
            _ => true,
        }
    }
}

fn listed(items: &[Id]) -> Vec<(Key, Id)> {
    items.iter().enumerate().map(|(index, id)| (Key::Index(index), *id)).collect()
}
