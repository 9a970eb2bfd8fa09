//! Checks the values of indices of sparse tensors.
//!
//! Indices are read in pieces, one after another, and each is looked at once. Many tensors may share
//! the same bytes, so that their number has a bound: the length of the file.

use crate::check::report::Collected;
use alloc::vec::Vec;
use core::cmp::Ordering;
use weighbridge_core::format::pytorch::index::{Indices, Storage};
use weighbridge_core::format::pytorch::{Header, rules};
use weighbridge_core::{Absent, EntryKind, File, Finding, Rule, Source, Span, Subject, limits};

/// Bytes that are read at a time.
const PIECE: u64 = 64 << 10;

/// Progress of the check. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct IndexCheck {
    /// The record of indices.
    number: u64,
    at: Position,
    own: Piece,
    pointers: Piece,
    /// Of each row of coordinates that are said to ascend.
    columns: Vec<Piece>,
    /// Number of indices read.
    spent: u64,
}

/// A position in the indices of a tensor.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    row: u64,
    /// Which two pointers the index lies between.
    line: u64,
    index: u64,
    /// The index before.
    before: Option<i64>,
}

/// Some indices of a row, as they were read.
#[derive(Debug, Default)]
struct Piece {
    of: Option<(u64, u64)>,
    from: u64,
    values: Vec<i64>,
}

/// What is checked.
#[derive(Clone, Copy)]
struct Checked<'s, 'a> {
    source: &'s Source<'a>,
    header: &'s Header,
    indices: Indices,
    storage: Storage,
}

impl IndexCheck {
    /// Checks all indices, and reports broken rules.
    ///
    /// # Errors
    /// The bytes that are missing; call again when they are available.
    pub(crate) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        collected: &mut Collected,
    ) -> Result<(), Absent> {
        let File::PyTorch(header) = file else { return Ok(()) };
        while let Some(indices) = header.indices(source, self.number) {
            if let Some(storage) = header.storage(source, indices.storage) {
                let checked = Checked { source, header, indices, storage };
                let is_plain = storage.is_deflated == 0;
                match indices.rule {
                    _ if !is_plain => {}
                    Indices::SORTED => self.sorted(checked, collected)?,
                    Indices::ASCENDING => self.ascending(checked, collected)?,
                    _ => self.rows(checked, collected)?,
                }
                if !is_plain || self.spent > source.len() {
                    collected.push(checked.finding(rules::X_UNCHECKED, storage.offset, 0, 0));
                }
            }
            self.number += 1;
            self.at = Position::default();
            (self.own, self.pointers) = (Piece::default(), Piece::default());
            self.columns.clear();
        }
        Ok(())
    }

    /// Checks coordinates, or pointers.
    fn rows(&mut self, of: Checked<'_, '_>, collected: &mut Collected) -> Result<(), Absent> {
        let Indices { rows, count, rule, .. } = of.indices;
        while self.at.row < rows && self.spent <= of.source.len() {
            let bound = match rule {
                Indices::BELOW => of.header.bound(of.source, &of.indices, self.at.row),
                _ => Some(of.indices.bound),
            };
            let Some(bound) = bound else { return Ok(()) };
            while self.at.index < count && self.spent <= of.source.len() {
                let Position { row, index, before, .. } = self.at;
                // Ranges past the end are reported where the tensor is read.
                let Some(value) = self.own.get(&of, row, index)? else { return Ok(()) };
                let broken = match rule {
                    Indices::BELOW => is_outside(value, bound).then_some((rules::X_BOUND, bound)),
                    _ => pointer(&of.indices, index, before, value),
                };
                if let Some((rule, expected)) = broken {
                    collected.push(of.finding_at(rule, row, index, expected, value));
                }
                (self.at.index, self.at.before) = (index + 1, Some(value));
                self.spent += 1;
            }
            self.spent += 1;
            self.at = Position { row: self.at.row + 1, ..Position::default() };
        }
        Ok(())
    }

    /// Checks that coordinates ascend.
    fn ascending(&mut self, of: Checked<'_, '_>, collected: &mut Collected) -> Result<(), Absent> {
        let Indices { rows, count, .. } = of.indices;
        let Some(axes) = usize::try_from(rows).ok().filter(|_| rows <= limits::CHECKPOINT_RANK)
        else {
            return Ok(());
        };
        self.columns.resize_with(axes, Piece::default);
        self.at.index = self.at.index.max(1);
        while self.at.index < count && self.spent <= of.source.len() {
            let index = self.at.index;
            let mut order = Ordering::Equal;
            let mut found = None;
            for (row, piece) in (0..rows).zip(&mut self.columns) {
                let Some(before) = piece.get(&of, row, index - 1)? else { return Ok(()) };
                let Some(here) = piece.get(&of, row, index)? else { return Ok(()) };
                if order == Ordering::Equal {
                    order = before.cmp(&here);
                    found = Some((row, before, here));
                }
            }
            if let Some((row, before, here)) = found.filter(|_| order != Ordering::Less) {
                collected.push(of.finding_at(rules::X_ORDER, row, index, before as u64, here));
            }
            self.at.index += 1;
            self.spent += rows;
        }
        Ok(())
    }

    /// Checks the positions of entries between pointers.
    fn sorted(&mut self, of: Checked<'_, '_>, collected: &mut Collected) -> Result<(), Absent> {
        let Indices { rows, count, bound, pointers, .. } = of.indices;
        let (source, header) = (of.source, of.header);
        let Some(indices) = header.indices(source, pointers) else { return Ok(()) };
        let Some(storage) = header.storage(source, indices.storage) else { return Ok(()) };
        let dividers = Checked { source, header, indices, storage };
        let lines = indices.count.saturating_sub(1);
        while self.at.row < rows && self.spent <= of.source.len() {
            while self.at.line < lines && self.spent <= source.len() {
                let Position { row, line, .. } = self.at;
                let Some(start) = self.pointers.get(&dividers, row, line)? else { return Ok(()) };
                let Some(end) = self.pointers.get(&dividers, row, line + 1)? else { return Ok(()) };
                let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(end)) else {
                    break;
                };
                // Wrong pointers have been reported.
                if end > count {
                    break;
                }
                self.at.index = self.at.index.max(start);
                while self.at.index < end && self.spent <= source.len() {
                    let Position { index, before, .. } = self.at;
                    let Some(value) = self.own.get(&of, row, index)? else { return Ok(()) };
                    if is_outside(value, bound) {
                        collected.push(of.finding_at(rules::X_BOUND, row, index, bound, value));
                    } else if let Some(before) = before.filter(|before| *before >= value) {
                        let before = before as u64;
                        collected.push(of.finding_at(rules::X_ORDER, row, index, before, value));
                    }
                    (self.at.index, self.at.before) = (index + 1, Some(value));
                    self.spent += 1;
                }
                (self.at.line, self.at.before) = (line + 1, None);
                self.spent += 1;
            }
            self.spent += 1;
            self.at = Position { row: self.at.row + 1, ..Position::default() };
        }
        Ok(())
    }
}

/// Whether a value is no index below this bound.
fn is_outside(value: i64, bound: u64) -> bool {
    u64::try_from(value).map_or(true, |value| value >= bound)
}

/// What a pointer breaks, and the most that may stand in its place.
fn pointer(of: &Indices, index: u64, before: Option<i64>, value: i64) -> Option<(Rule, u64)> {
    let found = u64::try_from(value).ok();
    let before = before.and_then(|before| u64::try_from(before).ok()).unwrap_or(0);
    let (least, most) = match index {
        0 => (0, 0),
        _ if index + 1 == of.count => (of.bound, of.bound),
        _ => (before, before.saturating_add(of.pointers).min(of.bound)),
    };
    let step = before.saturating_add(of.pointers);
    let is = found.is_some_and(|it| it >= least && it <= most && it >= before && it <= step);
    (!is).then_some((rules::X_POINTER, most))
}

impl Checked<'_, '_> {
    /// The offset of an index; `None` if it is not in the storage.
    fn place(&self, row: u64, index: u64) -> Option<u64> {
        let Indices { first, width, row_stride, stride, .. } = self.indices;
        let element = row.checked_mul(row_stride)?.checked_add(index.checked_mul(stride)?)?;
        let from = element.checked_add(first)?.checked_mul(width)?;
        let Storage { offset, stored, size, stated, .. } = self.storage;
        let fits = size == stated && from.checked_add(width)? <= stored;
        offset.checked_add(from).filter(|_| fits)
    }

    fn finding_at(&self, rule: Rule, row: u64, index: u64, expected: u64, found: i64) -> Finding {
        let at = self.place(row, index).unwrap_or(self.storage.offset);
        self.finding(rule, at, expected, found as u64)
    }

    fn finding(&self, rule: Rule, offset: u64, expected: u64, found: u64) -> Finding {
        Finding {
            offset,
            expected,
            found,
            len: self.indices.width as u32,
            entry: u32::try_from(self.indices.tensor).unwrap_or(u32::MAX),
            part: Subject::NO_PART,
            rule,
            kind: EntryKind::Tensor,
        }
    }
}

impl Piece {
    /// The index at a position; `None` if it is not in the file.
    fn get(&mut self, of: &Checked<'_, '_>, row: u64, index: u64) -> Result<Option<i64>, Absent> {
        let key = (of.indices.tensor, row);
        let known = |piece: &Piece| {
            let into = index.checked_sub(piece.from).filter(|_| piece.of == Some(key))?;
            piece.values.get(usize::try_from(into).ok()?).copied()
        };
        if let Some(value) = known(self) {
            return Ok(Some(value));
        }
        let Indices { width, stride, count, .. } = of.indices;
        let step = stride.saturating_mul(width);
        let most = (PIECE.saturating_sub(width)).checked_div(step).unwrap_or(0).saturating_add(1);
        let most = most.min(count.saturating_sub(index)).max(1);
        let last = (0..most).rev().find_map(|more| of.place(row, index.checked_add(more)?));
        let (Some(from), Some(last)) = (of.place(row, index), last) else { return Ok(None) };
        let Some(end) = last.checked_add(width).filter(|end| *end <= of.source.len()) else {
            return Ok(None);
        };
        let bytes = of.source.get(Span::between(from, end))?;
        let is_big = of.header.summary().is_big != 0;
        let step = usize::try_from(step.max(width)).unwrap_or(usize::MAX);
        let width = usize::try_from(width).unwrap_or(usize::MAX);
        self.values.clear();
        let indices = bytes.chunks(step).filter_map(|chunk| chunk.get(..width));
        self.values.extend(indices.map(|bytes| number(bytes, is_big)));
        (self.of, self.from) = (Some(key), index);
        Ok(known(self))
    }
}

/// A signed number of 4 or 8 bytes.
fn number(bytes: &[u8], is_big: bool) -> i64 {
    let add = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
    let all = match is_big {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    };
    if bytes.len() == 4 { i64::from(all as u32 as i32) } else { all as i64 }
}
