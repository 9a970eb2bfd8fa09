//! Tensors that are made of others: quantised for each channel, and sparse.

use super::draft::NONE;
use super::known::{COMPRESSED, COORDINATES, Known, Rebuild};
use super::object::Walk;
use super::tensor::Found;
use super::values::{Id, Value};
use alloc::vec::Vec;
use weighbridge_core::Rule;
use weighbridge_core::format::pytorch::index::Item;
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::format::pytorch::storage::{type_name, type_number};

impl Walk<'_> {
    /// The extents of a tensor that is listed as a part of another.
    fn part(&mut self, id: Id, path: &mut Vec<u8>, name: &[u8], rule: Rule) -> Result<Item, Rule> {
        let base = path.len();
        let Value::Made(made) = self.values.get(id) else { return Err(rule) };
        let Known::Tensor(of @ (Rebuild::V1 | Rebuild::V2 | Rebuild::V3)) = made.of else {
            return Err(rule);
        };
        path.push(b'.');
        path.extend_from_slice(name);
        let place = self.draft.open();
        let found = self.rebuild(of, made.args, path, 1);
        let result = found.map_err(|_| rule);
        self.list(id, path, found, place);
        path.truncate(base);
        result
    }

    pub(super) fn quantiser(&mut self, id: Id, item: Item, path: &mut Vec<u8>) -> Found {
        let values = self.values;
        let no = rules::Q_ARGUMENT;
        let is_quantised =
            type_name(item.dtype).is_some_and(|name| name.contains("qu") || name.starts_with('q'));
        let parts = values.tuple(id).filter(|_| is_quantised).ok_or(no)?;
        match parts {
            [scheme, scale, zero] => {
                let (Value::Global(Known::PerTensor), Value::Float(scale), Value::Int(zero)) =
                    (values.get(*scheme), values.get(*scale), values.get(*zero))
                else {
                    return Err(no);
                };
                let quantiser = self.draft.numbers([scale.to_bits(), *zero as u64].into_iter());
                Ok(Item { quantiser, ..item.marked(Item::QUANTISED) })
            }
            [scheme, scales, zeros, axis] => {
                let (Value::Global(Known::PerChannel), Value::Int(axis)) =
                    (values.get(*scheme), values.get(*axis))
                else {
                    return Err(no);
                };
                let axis = u64::try_from(*axis).ok().filter(|axis| *axis < item.rank).ok_or(no)?;
                let extent = self.draft.number(item.dims, axis);
                for (part, name) in [(*scales, &b"#scales"[..]), (*zeros, b"#zero_points")] {
                    let part = self.part(part, path, name, no)?;
                    if part.rank != 1 || self.draft.number(part.dims, 0) != extent {
                        return Err(no);
                    }
                }
                let quantiser = self.draft.numbers([axis].into_iter());
                Ok(Item { quantiser, ..item.marked(Item::CHANNELS) })
            }
            _ => Err(no),
        }
    }

    pub(super) fn sparse(&mut self, layout: Id, parts: Id, path: &mut Vec<u8>) -> Found {
        let values = self.values;
        let no = rules::X_ARGUMENT;
        let name = match values.get(layout) {
            Value::Made(made) if made.of == Known::Layout => match values.tuple(made.args) {
                Some([name]) => self.text(*name),
                _ => None,
            },
            _ => None,
        };
        let name = name.ok_or(no)?;
        let parts = values.tuple(parts).ok_or(no)?;
        let integers = |item: &Item| {
            ["int64", "int32"].into_iter().any(|name| type_number(name) == Some(item.dtype))
        };
        match parts {
            [indices, inner, size, rest @ ..] if name == COORDINATES && rest.len() <= 1 => {
                let size = self.extents(*size)?;
                let indices = self.part(*indices, path, b"#indices", no)?;
                let inner = self.part(*inner, path, b"#values", no)?;
                let rows = self.draft.number(indices.dims, 0);
                let entries = self.draft.number(indices.dims, 1);
                let fits = integers(&indices)
                    && indices.rank == 2
                    && inner.rank > 0
                    && entries == self.draft.number(inner.dims, 0)
                    && rows.checked_add(inner.rank - 1) == Some(size.len() as u64);
                if !fits {
                    return Err(no);
                }
            }
            [compressed, plain, inner, size] if COMPRESSED.contains(&name) => {
                self.extents(*size)?;
                let compressed = self.part(*compressed, path, b"#compressed", no)?;
                let plain = self.part(*plain, path, b"#plain", no)?;
                let inner = self.part(*inner, path, b"#values", no)?;
                let entries = self.draft.number(plain.dims, plain.rank.saturating_sub(1));
                let fits = integers(&compressed)
                    && integers(&plain)
                    && plain.rank > 0
                    && compressed.rank == plain.rank
                    && inner.rank >= plain.rank
                    && self.draft.number(inner.dims, plain.rank - 1) == entries;
                if !fits {
                    return Err(no);
                }
            }
            _ => return Err(no),
        }
        let span = self.place.of(values.place(layout));
        self.draft.flaw(rules::X_UNCHECKED, span, None);
        // The parts are listed; the tensor itself has no data of its own.
        Ok(Item { storage: NONE, dtype: NONE, ..Item::default() })
    }
}
