//! Tensors of the object: what the functions of `torch._utils` are given.

use super::draft::{NONE, Named, Open};
use super::object::{Form, Walk};
use super::torch_names::{Counts, Known, Rebuild, is_reserved};
use super::values::{Id, Value};
use alloc::vec::Vec;
use weighbridge_core::format::pytorch::index::Item;
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::format::pytorch::storage::{dtype, type_number};
use weighbridge_core::{Rule, limits};

/// Most entries of the metadata of a tensor, which has two.
const METADATA: usize = 8;
/// Longest key of a storage: a number or an address.
const KEY: usize = 1 << 12;
/// The folder of the storages that code names.
const CONSTANTS: &[u8] = b"constants/";
/// Functions within one another around a tensor: a parameter of a subclass of a tensor.
const WRAPPED: usize = 8;

/// The arguments of a dense tensor.
#[derive(Clone, Copy)]
struct Dense {
    storage: Option<Id>,
    first: Option<Id>,
    size: Id,
    stride: Id,
    dtype: Option<u64>,
}

/// A storage that a persistent id names.
#[derive(Clone, Copy)]
struct Stored {
    number: u64,
    /// The number of its type.
    kind: Option<u64>,
    elements: u64,
    /// Where a view of it begins.
    first: u64,
}

/// A tensor, or the rule that its description breaks.
pub(super) type Found = Result<Item, Rule>;

impl Walk<'_> {
    /// Lists the tensor `id`.
    pub(super) fn tensor(&mut self, id: Id, path: &mut Vec<u8>) {
        let Value::Made(made) = self.values.get(id) else { return };
        let (place, base) = (self.draft.open(), path.len());
        let found = match made.of {
            Known::Tensor(rebuild) => self.rebuild(rebuild, made.args, path, 0),
            _ if made.state.is_some() => Err(rules::W_UNCHECKED),
            _ => Err(rules::P_NEW),
        };
        path.truncate(base);
        if let Some(state) = made.state.filter(|_| matches!(made.of, Known::Tensor(_))) {
            self.state(state);
        }
        self.list(id, path, found, place);
    }

    /// Adds a tensor at a place before its parts.
    pub(super) fn list(&mut self, id: Id, path: &[u8], found: Found, place: Open) {
        let span = self.place.of(self.values.place(id));
        let mut item = match found {
            Ok(item) => item,
            Err(rule) => {
                let flaw = self.draft.flaw(rule, span, Some(place.number));
                if rule == rules::T_RANK_LIMIT {
                    flaw.expected = limits::CHECKPOINT_RANK;
                }
                Item { storage: NONE, dtype: NONE, is_flawed: 1, ..Item::default() }
            }
        };
        item.name = self.draft.path(path, &self.dots);
        item.name_len = path.len() as u64;
        (item.at, item.at_len) = (span.offset, span.len);
        // Parts of a sparse tensor stand for it.
        let is_listed = item.storage != NONE || item.dtype != NONE || item.is_flawed != 0;
        self.draft.close(place, is_listed.then_some(item));
    }

    /// Lists a storage that is no part of a tensor, as all of its elements.
    pub(super) fn bare_storage(&mut self, id: Id, path: &[u8]) {
        let place = self.draft.open();
        let found = self.storage(id).map(|Stored { number, kind, elements, .. }| {
            let dims = self.draft.numbers([elements, 1].into_iter());
            let dtype = kind.unwrap_or(NONE);
            Item { dims, rank: 1, dtype, storage: number, ..Item::default() }
        });
        self.list(id, path, found, place);
    }

    pub(super) fn rebuild(
        &mut self,
        of: Rebuild,
        args: Id,
        path: &mut Vec<u8>,
        depth: usize,
    ) -> Found {
        let Some(args) = self.values.tuple(args).filter(|_| depth < WRAPPED) else {
            return Err(rules::P_CALL);
        };
        match (of, args) {
            (Rebuild::V1, [storage, first, size, stride]) => {
                self.dense(Dense::of(*storage, *first, *size, *stride))
            }
            (Rebuild::V2, [storage, first, size, stride, grad, hooks, rest @ ..])
                if rest.len() <= 1 =>
            {
                let marks = self.extras(*grad, *hooks, rest.first().copied())?;
                let mut item = self.dense(Dense::of(*storage, *first, *size, *stride))?;
                item.marks |= marks;
                self.metadata(rest.first().copied(), &mut item)?;
                Ok(item)
            }
            (Rebuild::V3, [storage, first, size, stride, grad, hooks, kind, rest @ ..])
                if rest.len() <= 1 =>
            {
                let marks = self.extras(*grad, *hooks, rest.first().copied())?;
                let Value::Global(Known::Dtype(kind)) = self.values.get(*kind) else {
                    return Err(rules::P_CALL);
                };
                let dense = Dense::of(*storage, *first, *size, *stride);
                let mut item = self.dense(Dense { dtype: Some(*kind), ..dense })?;
                item.marks |= marks;
                self.metadata(rest.first().copied(), &mut item)?;
                Ok(item)
            }
            (Rebuild::Parameter, [tensor, grad, hooks]) => {
                let marks = self.extras(*grad, *hooks, None)?;
                self.inner(*tensor, path, depth).map(|item| item.marked(marks))
            }
            (Rebuild::ParameterWithState, [tensor, grad, hooks, state]) => {
                let marks = self.extras(*grad, *hooks, None)?;
                self.state(*state);
                self.inner(*tensor, path, depth).map(|item| item.marked(marks))
            }
            (Rebuild::Meta, [kind, size, stride, grad]) => {
                let (Value::Global(Known::Dtype(kind)), Value::Bool(_)) =
                    (self.values.get(*kind), self.values.get(*grad))
                else {
                    return Err(rules::P_CALL);
                };
                let dense = Dense {
                    storage: None,
                    first: None,
                    size: *size,
                    stride: *stride,
                    dtype: Some(*kind),
                };
                self.dense(dense)
            }
            (Rebuild::FromType, [function, class, args, _state]) => {
                let is_class = matches!(
                    self.values.get(*class),
                    Value::Global(Known::TensorClass | Known::Parameter | Known::Other)
                );
                match self.values.get(*function) {
                    Value::Global(Known::Tensor(of)) if is_class => {
                        let of = *of;
                        self.rebuild(of, *args, path, depth + 1)
                    }
                    _ => Err(rules::P_CALL),
                }
            }
            (Rebuild::Quantised, [storage, first, size, stride, quantiser, grad, hooks]) => {
                let marks = self.extras(*grad, *hooks, None)?;
                let item = self.dense(Dense::of(*storage, *first, *size, *stride))?;
                let item = self.quantiser(*quantiser, item, path)?;
                Ok(item.marked(marks))
            }
            (Rebuild::Sparse, [layout, size, grad, parts @ .., hooks])
                if matches!(self.form, Form::Program | Form::Constants) =>
            {
                let marks = self.extras(*grad, *hooks, None)?;
                let found = self.sparse_of_program(*layout, *size, parts, path)?;
                Ok(found.marked(marks))
            }
            (Rebuild::Sparse, [layout, parts]) => self.sparse(*layout, *parts, path),
            (Rebuild::Elsewhere, _) => Err(rules::W_UNCHECKED),
            _ => Err(rules::P_CALL),
        }
    }

    /// The tensor inside a parameter.
    fn inner(&mut self, id: Id, path: &mut Vec<u8>, depth: usize) -> Found {
        match self.values.get(id) {
            Value::Made(made) => match made.of {
                Known::Tensor(of) => self.rebuild(of, made.args, path, depth + 1),
                _ => Err(rules::P_CALL),
            },
            _ => Err(rules::P_CALL),
        }
    }

    /// Checks what comes after the strides. Returns the mark of gradients.
    fn extras(&self, grad: Id, hooks: Id, metadata: Option<Id>) -> Result<u64, Rule> {
        let values = self.values;
        let Value::Bool(is_trained) = values.get(grad) else { return Err(rules::P_CALL) };
        let marks = if *is_trained { Item::GRADIENT } else { 0 };
        let is_dict =
            metadata.is_none_or(|it| matches!(values.get(it), Value::Dict(_) | Value::None));
        match values.get(hooks) {
            Value::Made(made) if made.of == Known::OrderedDict => {
                let given = values.tuple(made.args).is_some_and(|args| {
                    let mut given = args.iter().take(2);
                    given.any(|arg| !matches!(values.get(*arg), Value::List(it) if it.is_empty()))
                });
                let is_empty = made.pairs.is_empty() && made.items.is_empty() && !given;
                if is_empty {
                    if is_dict { Ok(marks) } else { Err(rules::P_CALL) }
                } else {
                    Err(rules::P_HOOKS)
                }
            }
            Value::None if is_dict => Ok(marks),
            _ => Err(rules::P_HOOKS),
        }
    }

    /// Checks the bits of a tensor that is conjugated or negated when it is read.
    fn metadata(&self, id: Option<Id>, item: &mut Item) -> Result<(), Rule> {
        let Some(Value::Dict(pairs)) = id.map(|id| self.values.get(id)) else { return Ok(()) };
        let is_complex = dtype(item.dtype).is_some_and(|it| {
            use weighbridge_core::DType::{C64, C128, Void};
            matches!(it.dtype, C64 | C128 | Void)
        });
        if pairs.len() > METADATA {
            return Err(rules::P_CALL);
        }
        for (key, value) in pairs {
            match (self.str(*key), self.values.get(*value)) {
                (_, Value::Bool(false)) if matches!(self.str(*key), Some("neg" | "conj")) => {}
                (Some("neg"), Value::Bool(_)) => item.marks |= Item::NEGATIVE,
                (Some("conj"), Value::Bool(_)) if is_complex => item.marks |= Item::CONJUGATE,
                _ => return Err(rules::P_CALL),
            }
        }
        Ok(())
    }

    /// The storage of a persistent id.
    fn storage(&mut self, id: Id) -> Result<Stored, Rule> {
        let values = self.values;
        let Value::Persistent(pid) = values.get(id) else { return Err(rules::P_CALL) };
        let items = values.tuple(*pid).ok_or(rules::S_ID)?;
        let (kind, class, key, location, count, view) = match (items, self.form == Form::Older) {
            ([kind, class, key, location, count], false) => {
                (kind, class, key, location, count, None)
            }
            ([kind, class, key, location, count, view], true) => {
                let view = Some(*view).filter(|view| !matches!(values.get(*view), Value::None));
                (kind, class, key, location, count, view)
            }
            _ => return Err(rules::S_ID),
        };
        let is_text = |id: Id| matches!(values.get(id), Value::Text(..));
        let count = match values.get(*count) {
            Value::Int(count) => u64::try_from(*count).map_err(|_| rules::S_ID)?,
            _ => return Err(rules::S_ID),
        };
        let Value::Global(class) = values.get(*class) else { return Err(rules::S_ID) };
        if self.str(*kind) != Some("storage") || !is_text(*key) || !is_text(*location) {
            return Err(rules::S_ID);
        }
        let Known::Storage(number, counts) = *class else { return Err(rules::S_ID) };
        let width = dtype(number).map_or(1, |it| u64::from(it.width));
        let size = count.checked_mul(width).ok_or(rules::S_ID)?;
        let kind = (counts != Counts::Bytes).then_some(number);
        let at = self.place.of(values.place(id));
        let key = self.text(*key).filter(|key| key.len() <= KEY).ok_or(rules::S_ID)?;
        let is_constant = self.form == Form::Constants;
        let key = if is_constant { [CONSTANTS, key].concat().into() } else { key.into() };
        let named = Named { key, is_constant, class: kind, count, size, at: at.offset };
        let (storage, fits) = self.draft.storage(named);
        if !fits {
            self.draft.flaw(rules::S_CLASS, at, None);
        }
        let first = view.map_or(Ok(0), |view| self.view(view, count))?;
        let elements = match counts {
            Counts::Groups => count.saturating_mul(dtype(number).map_or(1, |it| it.packed.into())),
            _ => count,
        };
        let kind = kind.or_else(|| type_number("uint8"));
        Ok(Stored { number: storage as u64, kind, elements, first })
    }

    /// Where a view of a storage of `count` elements begins, as torch before 0.4 wrote them.
    fn view(&self, view: Id, count: u64) -> Result<u64, Rule> {
        let [_key, first, len] = self.values.tuple(view).ok_or(rules::L_VIEW)? else {
            return Err(rules::L_VIEW);
        };
        let number = |id: Id| match self.values.get(id) {
            Value::Int(number) => u64::try_from(*number).map_err(|_| rules::L_VIEW),
            _ => Err(rules::L_VIEW),
        };
        let (first, len) = (number(*first)?, number(*len)?);
        let end = first.checked_add(len).filter(|end| *end <= count);
        end.map(|_| first).ok_or(rules::L_VIEW)
    }

    fn dense(&mut self, of: Dense) -> Found {
        let (storage, kind, shift) = match of.storage {
            Some(storage) => {
                let Stored { number, kind, first, .. } = self.storage(storage)?;
                (number, of.dtype.or(kind), first)
            }
            None => (NONE, of.dtype, 0),
        };
        self.numbers.clear();
        self.extend(of.size)?;
        let rank = self.numbers.len();
        self.extend(of.stride)?;
        if self.numbers.len() != rank * 2 {
            return Err(rules::T_RANK);
        }
        let first = match of.first.map(|first| self.values.get(first)) {
            Some(Value::Int(first)) => u64::try_from(*first).map_err(|_| rules::T_ARGUMENT)?,
            None => 0,
            _ => return Err(rules::T_ARGUMENT),
        };
        let first = first.checked_add(shift).ok_or(rules::T_ARGUMENT)?;
        let rank = rank as u64;
        let dims = self.draft.numbers(self.numbers.iter().copied());
        let dtype = kind.unwrap_or(NONE);
        Ok(Item { dims, rank, dtype, storage, first, ..Item::default() })
    }

    /// A tuple of numbers from 0 on, or a `torch.Size` of one.
    pub(super) fn extents(&mut self, id: Id) -> Result<Vec<u64>, Rule> {
        self.numbers.clear();
        self.extend(id)?;
        Ok(self.numbers.clone())
    }

    /// Adds such a tuple to the numbers of the tensor at hand.
    fn extend(&mut self, id: Id) -> Result<(), Rule> {
        let values = self.values;
        let items = match values.get(id) {
            Value::Tuple(items) => values.items(*items),
            Value::List(items) => items.as_slice(),
            Value::Made(made) if made.of == Known::Size => match values.tuple(made.args) {
                Some([inner]) => values.tuple(*inner).ok_or(rules::T_ARGUMENT)?,
                _ => return Err(rules::T_ARGUMENT),
            },
            _ => return Err(rules::T_ARGUMENT),
        };
        // The same tuple may be the shape of many tensors.
        if items.len() as u64 > limits::CHECKPOINT_RANK * 2 {
            return Err(rules::T_RANK_LIMIT);
        }
        for id in items {
            let Value::Int(number) = values.get(*id) else { return Err(rules::T_ARGUMENT) };
            self.numbers.push(u64::try_from(*number).map_err(|_| rules::T_ARGUMENT)?);
        }
        Ok(())
    }

    /// Checks the state that is set on a tensor or a dictionary.
    pub(super) fn state(&mut self, state: Id) {
        let values = self.values;
        let dicts: Vec<Id> = match values.get(state) {
            // The dictionary of the object, and that of its slots.
            Value::Tuple(parts) => values.items(*parts).iter().take(2).copied().collect(),
            _ => [state].into(),
        };
        for dict in dicts {
            let Value::Dict(pairs) = values.get(dict) else { continue };
            if !self.spend(pairs.len()) {
                return;
            }
            for (key, _) in pairs {
                if self.str(*key).is_some_and(is_reserved) {
                    let span = self.place.of(values.place(*key));
                    self.draft.flaw(rules::P_STATE, span, None);
                }
            }
        }
    }
}

impl Dense {
    fn of(storage: Id, first: Id, size: Id, stride: Id) -> Self {
        Dense { storage: Some(storage), first: Some(first), size, stride, dtype: None }
    }
}
