//! Sparse tensors: their parts, and what their indices have to fulfil.

use super::draft::NONE;
use super::object::Walk;
use super::tensor::Found;
use super::torch_names::{COMPRESSED, COORDINATES, Known};
use super::values::{Id, Value};
use alloc::vec::Vec;
use weighbridge_core::Rule;
use weighbridge_core::format::pytorch::index::{Indices, Item};
use weighbridge_core::format::pytorch::rules;
use weighbridge_core::format::pytorch::storage::type_number;

/// The rule that is broken if parts do not fit each other.
const NO: Rule = rules::X_ARGUMENT;

/// The numbers of layouts in TorchScript.
const LAYOUT_COORDINATES: usize = 1;
const LAYOUT_ROWS: usize = 2;

impl Walk<'_> {
    pub(super) fn sparse(&mut self, layout: Id, parts: Id, path: &mut Vec<u8>) -> Found {
        let values = self.values;
        let name = match values.get(layout) {
            Value::Made(made) if made.of == Known::Layout => match values.tuple(made.args) {
                Some([name]) => self.text(*name),
                _ => None,
            },
            _ => None,
        };
        let name = name.ok_or(NO)?;
        match values.tuple(parts).ok_or(NO)? {
            [indices, inner, size, rest @ ..] if name == COORDINATES && rest.len() <= 1 => {
                self.coordinates(*indices, *inner, *size, path)?;
                let is_coalesced = rest.first().map(|it| values.get(*it));
                match (is_coalesced, self.draft.indices.last().copied()) {
                    (Some(Value::Bool(true)), Some(last)) => {
                        let ascending = Indices { rule: Indices::ASCENDING, bound: 0, ..last };
                        self.draft.indices.push(ascending);
                    }
                    (None | Some(Value::Bool(false) | Value::None), _) => {}
                    _ => return Err(NO),
                }
            }
            [compressed, plain, inner, size] if COMPRESSED.contains(&name) => {
                self.compressed(name, [*compressed, *plain, *inner, *size], path)?;
            }
            _ => return Err(NO),
        }
        // The parts are listed; the tensor itself has no data of its own.
        Ok(Item { storage: NONE, dtype: NONE, ..Item::default() })
    }

    /// The same as a program has it: the number of the layout, and other parts after the size.
    pub(super) fn sparse_of_program(
        &mut self,
        layout: Id,
        size: Id,
        parts: &[Id],
        path: &mut Vec<u8>,
    ) -> Found {
        let layout = match self.values.get(layout) {
            Value::Int(layout) => usize::try_from(*layout).unwrap_or(usize::MAX),
            _ => return Err(NO),
        };
        match (layout, parts) {
            (LAYOUT_COORDINATES, [indices, inner]) => {
                self.coordinates(*indices, *inner, size, path)?;
            }
            (LAYOUT_ROWS, [compressed, plain, inner]) => {
                let name = COMPRESSED.first().ok_or(NO)?;
                self.compressed(name, [*compressed, *plain, *inner, size], path)?;
            }
            _ => return Err(rules::W_UNCHECKED),
        }
        Ok(Item { storage: NONE, dtype: NONE, ..Item::default() })
    }

    /// Coordinates in one matrix, a row for each axis.
    fn coordinates(
        &mut self,
        indices: Id,
        inner: Id,
        size: Id,
        path: &mut Vec<u8>,
    ) -> Result<(), Rule> {
        let size = self.extents(size)?;
        let number = self.next();
        let indices = self.part(indices, path, b"#indices", NO)?;
        let inner = self.part(inner, path, b"#values", NO)?;
        let [rows, entries] = [0, 1].map(|axis| self.draft.number(indices.dims, axis));
        let width = width(&indices).filter(|_| indices.rank == 2 && inner.rank > 0).ok_or(NO)?;
        let fits = entries == self.draft.number(inner.dims, 0)
            && rows.checked_add(inner.rank - 1) == Some(size.len() as u64);
        if !fits {
            return Err(NO);
        }
        let bound = self.draft.numbers(size.into_iter());
        let [row_stride, stride] = [2, 3].map(|at| self.draft.number(indices.dims, at));
        self.draft.indices.push(Indices {
            tensor: number,
            storage: indices.storage,
            first: indices.first,
            width,
            rows,
            count: entries,
            row_stride,
            stride,
            rule: Indices::BELOW,
            bound,
            pointers: 0,
        });
        Ok(())
    }

    /// Pointers to the entries of each row, or column, and the position of each entry in it.
    fn compressed(&mut self, name: &[u8], parts: [Id; 4], path: &mut Vec<u8>) -> Result<(), Rule> {
        let [compressed, plain, inner, size] = parts;
        let size = self.extents(size)?;
        let first = self.next();
        let compressed = self.part(compressed, path, b"#compressed", NO)?;
        let second = self.next();
        let plain = self.part(plain, path, b"#plain", NO)?;
        let inner = self.part(inner, path, b"#values", NO)?;
        let is_blocked = name.ends_with(b"bsr") || name.ends_with(b"bsc");
        let batches = plain.rank.checked_sub(1).ok_or(NO)?;
        let least = plain.rank + if is_blocked { 2 } else { 0 };
        let dense = inner.rank.checked_sub(least).ok_or(NO)?;
        let (from, to) = (width(&compressed).ok_or(NO)?, width(&plain).ok_or(NO)?);
        let is_one = compressed.rank == plain.rank
            && from == to
            && batches.checked_add(2).and_then(|rank| rank.checked_add(dense))
                == Some(size.len() as u64);
        if !is_one {
            return Err(NO);
        }
        let extent = |walk: &Self, item: &Item, axis: u64| walk.draft.number(item.dims, axis);
        let entries = extent(self, &plain, batches);
        let mut all = 1_u64;
        for axis in 0..batches {
            let batch = extent(self, &plain, axis);
            let whole = usize::try_from(axis).ok().and_then(|axis| size.get(axis)).copied();
            if extent(self, &compressed, axis) != batch
                || extent(self, &inner, axis) != batch
                || whole != Some(batch)
            {
                return Err(NO);
            }
            all = all.checked_mul(batch).ok_or(NO)?;
        }
        let shape = |axis: u64| {
            usize::try_from(batches + axis).ok().and_then(|at| size.get(at)).copied().unwrap_or(0)
        };
        let block = |walk: &Self, axis: u64| {
            if is_blocked { extent(walk, &inner, plain.rank + axis) } else { 1 }
        };
        let grid = [0, 1].map(|axis| {
            let (whole, block) = (shape(axis), block(self, axis));
            whole.checked_div(block).filter(|_| whole % block == 0)
        });
        let [Some(rows), Some(columns)] = grid else { return Err(NO) };
        let (lines, across) = if name.ends_with(b"sr") { (rows, columns) } else { (columns, rows) };
        let fits = extent(self, &inner, batches) == entries
            && lines.checked_add(1) == Some(extent(self, &compressed, batches));
        if !fits {
            return Err(NO);
        }
        let is_plain = self.is_row_major(&compressed) && self.is_row_major(&plain);
        if !is_plain {
            let span = self.place.of(self.values.place(parts[0]));
            self.draft.flaw(rules::X_UNCHECKED, span, None);
            return Ok(());
        }
        let pointers = self.draft.indices.len() as u64;
        let record = |tensor, item: &Item, count, rule, bound, pointers| Indices {
            tensor,
            storage: item.storage,
            first: item.first,
            width: from,
            rows: all,
            count,
            row_stride: count,
            stride: 1,
            rule,
            bound,
            pointers,
        };
        let of_pointers = record(first, &compressed, lines + 1, Indices::POINTERS, entries, across);
        let of_plain = record(second, &plain, entries, Indices::SORTED, across, pointers);
        self.draft.indices.extend([of_pointers, of_plain]);
        Ok(())
    }

    /// The number of the tensor that is listed next.
    fn next(&self) -> u64 {
        self.draft.items.len() as u64
    }

    fn is_row_major(&self, item: &Item) -> bool {
        let mut expected = 1_u64;
        (0..item.rank).rev().all(|axis| {
            let extent = self.draft.number(item.dims, axis);
            let stride = self.draft.number(item.dims, item.rank + axis);
            let is = extent == 1 || stride == expected;
            expected = expected.saturating_mul(extent);
            is
        })
    }
}

/// Bytes of an index of this tensor; `None` if it has no indices.
fn width(item: &Item) -> Option<u64> {
    [("int64", 8), ("int32", 4)]
        .into_iter()
        .find(|(name, _)| type_number(name) == Some(item.dtype))
        .map(|(_, width)| width)
}
