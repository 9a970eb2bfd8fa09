//! Tensors that are made of others: quantised for each channel.

use super::object::Walk;
use super::tensor::Found;
use super::torch_names::{Known, Rebuild};
use super::values::{Id, Value};
use alloc::vec::Vec;
use weighbridge_core::Rule;
use weighbridge_core::format::pytorch::index::Item;
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::format::pytorch::storage::type_name;

impl Walk<'_> {
    /// The extents of a tensor that is listed as a part of another.
    pub(super) fn part(
        &mut self,
        id: Id,
        path: &mut Vec<u8>,
        name: &[u8],
        rule: Rule,
    ) -> Result<Item, Rule> {
        let base = path.len();
        let Value::Made(made) = self.values.get(id) else { return Err(rule) };
        let Known::Tensor(of @ (Rebuild::V1 | Rebuild::V2 | Rebuild::V3)) = made.of else {
            return Err(rule);
        };
        self.join(path, name);
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
}
