//! Packed tables: findings, rows, groups, totals, layout.

use super::RawDocument;
use crate::document::map;
use crate::pack::within;
use crate::pack::{NONE, Pack};
use crate::text::{SHOWN, Texts};
use crate::words::{kind_word, part_word};
use alloc::vec::Vec;
use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;
use weighbridge::Text;
use weighbridge::table::{Filter, Key, Sort};
use weighbridge_core::{DType, Endianness, EntryKind, Quoted};

/// The column to sort by with this number; bit 4 set means descending.
fn sort_of(code: u32) -> Sort {
    let key = match code & 15 {
        1 => Key::Name,
        2 => Key::DType,
        3 => Key::Elements,
        4 => Key::Stored,
        5 => Key::Offset,
        6 => Key::Rank,
        7 => Key::Findings,
        8 => Key::Given,
        _ => Key::Index,
    };
    Sort { key, descending: code & 16 != 0 }
}

#[wasm_bindgen]
impl RawDocument {
    /// Chooses rows and their order; gives how many there are. `dtypes` are
    /// codes; `flags` has bit 0 for "any type" and bit 1 for "with findings
    /// only".
    #[allow(clippy::too_many_arguments, reason = "the fields of a filter")]
    pub fn select(
        &mut self,
        sort: u32,
        text: &str,
        prefix: &str,
        dtypes: Vec<u16>,
        least: u64,
        most: u64,
        flags: u32,
    ) -> u32 {
        let words = &self.inner.words;
        let mut typed = Vec::new();
        for code in dtypes {
            if let Some(dtype) = DType::by_name(words.word(code)) {
                typed.push(dtype);
            }
        }
        let filter = Filter {
            text: text.to_ascii_lowercase().into(),
            prefix: prefix.into(),
            dtypes: (flags & 1 == 0).then_some(typed),
            stored: Some((least, most)),
            faulty: flags & 2 != 0,
        };
        self.inner.rows(sort_of(sort), filter).len() as u32
    }

    /// Takes a number for each tensor to sort by; NaN stands for none.
    pub fn give(&mut self, numbers: Vec<f64>) {
        self.inner.selection.give(&numbers);
    }

    /// Shows only these tensors from now on; all if there is no list.
    pub fn allow(&mut self, rows: Option<Vec<u32>>) {
        let len = self.inner.index.len();
        self.inner.selection.allow(rows.as_deref(), len);
    }

    /// Names, types, shapes and sizes, to compare.
    pub fn digest(&self) -> Vec<u8> {
        self.inner.index.outline()
    }

    /// Code of a word, to choose by.
    pub fn code(&mut self, word: &str) -> u16 {
        self.inner.words.code(word)
    }

    /// Rows of the table that was selected.
    pub fn rows(&mut self, from: u32, to: u32) -> Uint8Array {
        let all = self.inner.selection.rows();
        let total = all.len();
        let rows = all.get(within(from, to, total)).unwrap_or_default().to_vec();
        self.table_of(total, &rows)
    }

    /// Rows in the order of the file, whatever was selected.
    #[wasm_bindgen(js_name = plainRows)]
    pub fn plain_rows(&mut self, from: u32, to: u32) -> Uint8Array {
        let total = self.inner.index.len();
        let rows: Vec<u32> = within(from, to, total).map(|row| row as u32).collect();
        self.inner.count_findings();
        self.table_of(total, &rows)
    }

    #[inline(never)]
    fn table_of(&mut self, total: usize, rows: &[u32]) -> Uint8Array {
        let inner = &mut self.inner;
        let mut codes = Vec::new();
        for row in rows {
            let tensor = inner.tensor(*row);
            codes.push([
                inner.words.code(tensor.dtype.name()),
                inner.words.code(tensor.status.name()),
                inner.words.code(tensor.layout.name()),
                inner.words.code(tensor.encoding.name()),
            ]);
        }
        let table = &inner.index;
        let mut pack = Pack::default();
        pack.u32(total as u32);
        pack.items(4, rows, |row| (*row).into());
        pack.labels(rows.iter().map(|row| table.name(*row as usize)));
        for k in 0..4 {
            pack.items(2, &codes, |code| code[k].into());
        }
        pack.items(8, rows, |row| inner.tensor(*row).elements);
        pack.items(8, rows, |row| table.stored(*row as usize));
        pack.items(8, rows, |row| table.offset(*row as usize).unwrap_or(NONE));
        let (mut dims, mut ends) = (Vec::new(), Vec::new());
        for row in rows {
            dims.extend_from_slice(table.shape(*row as usize));
            ends.push(dims.len());
        }
        pack.items(8, &dims, |n| n.unwrap_or(NONE));
        pack.items(4, &ends, |end| *end as u64);
        pack.items(8, rows, |row| inner.tensor(*row).chunks.count());
        pack.items(4, rows, |row| inner.selection.findings(*row).into());
        pack.items(1, rows, |row| (inner.tensor(*row).endianness == Endianness::Big).into());
        pack.done()
    }

    /// The rank of a tensor among the rows that were selected; -1 when it is
    /// not among them.
    pub fn rank(&mut self, tensor: u32) -> i32 {
        let rank = self.inner.selection.rows().iter().position(|row| *row == tensor);
        rank.map_or(-1, |rank| rank as i32)
    }

    /// The rows that were selected, grouped by what follows the first `prefix`
    /// bytes of their names; of names with a path, those whose keys there are those of tensor `like`.
    pub fn groups(&mut self, prefix: u32, like: u32) -> Uint8Array {
        let inner = &mut self.inner;
        let groups = inner.selection.groups(&inner.index, prefix as usize, like);
        let (mut names, mut keys) = (Texts::default(), Texts::default());
        for group in &groups {
            let name = inner.index.name_bytes(group.first as usize);
            let segment = name.get(group.segment.clone()).unwrap_or_default();
            names.push_safe(segment, SHOWN);
            keys.push_lossy(segment);
        }
        let mut pack = Pack::default();
        pack.texts(&names);
        pack.texts(&keys);
        pack.items(4, &groups, |group| group.count.into());
        pack.items(8, &groups, |group| group.stored);
        pack.items(4, &groups, |group| if group.leaf { group.first.into() } else { u64::MAX });
        pack.items(4, &groups, |group| group.findings.into());
        pack.items(8, &groups, |group| group.elements);
        let words = &mut inner.words;
        let mut code = |dtype: DType| words.code(dtype.name());
        pack.items(2, &groups, |group| group.dtype.map_or(u16::MAX, &mut code).into());
        pack.items(4, &groups, |group| group.first.into());
        pack.items(1, &groups, |group| group.in_key.into());
        pack.done()
    }

    /// The rows that were selected by type, the largest total first.
    pub fn totals(&mut self) -> Uint8Array {
        let inner = &mut self.inner;
        let totals = inner.selection.totals(&inner.index);
        let mut pack = Pack::default();
        pack.items(2, &totals, |it| inner.words.code(it.dtype.name()).into());
        pack.items(4, &totals, |it| it.count);
        pack.items(8, &totals, |it| it.elements);
        pack.items(8, &totals, |it| it.stored);
        pack.items(4, &totals, |it| it.without_data);
        pack.done()
    }

    /// Findings in file order.
    pub fn findings(&mut self, from: u32, to: u32) -> Uint8Array {
        let inner = &mut self.inner;
        let total = inner.all_findings().len();
        let some = inner.findings_by_offset(within(from, to, total));
        let (mut names, mut quoted) = (Texts::default(), Texts::default());
        let mut codes = Vec::new();
        for (_at, finding) in &some {
            let text = finding.quoted();
            quoted.push_safe(text.as_ref().map_or(&[], Quoted::as_bytes), SHOWN);
            #[cfg(feature = "full")]
            let known = inner.joint.as_ref().map(|joint| joint.name(*_at));
            #[cfg(not(feature = "full"))]
            let known: Option<&[u8]> = None;
            match finding.kind {
                _ if let Some(name) = known => names.push_safe(name, SHOWN),
                EntryKind::Tensor | EntryKind::Attribute => {
                    names.push_name(&inner.index.name(finding.entry as usize), SHOWN);
                }
                EntryKind::File => names.end(),
                kind => {
                    let key = inner.key_of(kind, finding.entry);
                    names.push_safe(key.as_bytes(), SHOWN);
                }
            }
            let severity = inner.words.code(finding.severity().name());
            codes.push([severity, kind_word(finding.kind, &mut inner.words)]);
        }
        let mut pack = Pack::default();
        pack.u32(total as u32);
        pack.items(2, &some, |(_, finding)| finding.rule.code().into());
        pack.items(4, &some, |(_, finding)| finding.entry.into());
        pack.items(4, &some, |(_, finding)| finding.part.into());
        pack.items(8, &some, |(_, finding)| finding.offset);
        pack.items(4, &some, |(_, finding)| finding.len.into());
        pack.items(8, &some, |(_, finding)| finding.expected);
        pack.items(8, &some, |(_, finding)| finding.found);
        for k in 0..2 {
            pack.items(2, &codes, |code| code[k].into());
        }
        pack.texts(&names);
        pack.texts(&quoted);
        pack.done()
    }

    /// The first tensor with this name; -1 when there is none.
    pub fn find(&self, name: &str) -> i32 {
        let table = &self.inner.index;
        let found = (0..table.len()).find(|i| table.name_bytes(*i) == name.as_bytes());
        found.map_or(-1, |i| i as i32)
    }

    /// Parts of the file, with the gaps between them.
    pub fn layout(&mut self, from: u32, to: u32) -> Uint8Array {
        let inner = &mut self.inner;
        let map = map!(inner);
        let areas = map.areas();
        let total = areas.len();
        let range = within(from, to, total);
        let partners: Vec<_> = range.clone().map(|i| map.partner(i)).collect();
        let areas = areas.get(range).unwrap_or_default();
        let words = &mut inner.words;
        let mut pack = Pack::default();
        pack.u32(total as u32);
        pack.items(2, areas, |it| part_word(it.part, words).into());
        pack.items(8, areas, |it| it.at);
        pack.items(8, areas, |it| it.len);
        pack.items(2, areas, |it| kind_word(it.kind, words).into());
        pack.items(4, areas, |it| it.entry.into());
        pack.items(8, areas, |it| it.overlap);
        pack.items(2, &partners, |it| it.map_or(0, |it| part_word(it.part, words).into()));
        pack.items(2, &partners, |it| it.map_or(0, |it| kind_word(it.kind, words).into()));
        pack.items(4, &partners, |it| it.map_or(u32::MAX, |it| it.entry).into());
        pack.done()
    }

    /// The part that holds the byte at `at`; -1 when none does.
    pub fn locate(&self, at: u64) -> i32 {
        map!(self.inner).locate(at).map_or(-1, |area| area as i32)
    }

    /// Which parts touch each of `columns` columns, as bits.
    pub fn strip(&self, at: u64, len: u64, columns: u32) -> Vec<u16> {
        let columns = (columns as usize).min(1 << 16);
        map!(self.inner).strip(at, len, columns, self.inner.all_findings())
    }

    /// Where an entry that `entryName` names is in the list of its kind; -1 when
    /// it is not listed.
    #[wasm_bindgen(js_name = positionOf)]
    pub fn position_of(&self, kind: u32, entry: u32) -> i32 {
        let kind = match kind {
            1 if (entry as usize) < self.inner.index.len() => return entry as i32,
            1 => return -1,
            2 => EntryKind::Metadata,
            _ => EntryKind::SizeVar,
        };
        self.inner.position_of(kind, entry).map_or(-1, |position| position as i32)
    }

    /// The name of an entry, safe to show; empty where it has none. `kind` is
    /// 1 for tensors, 2 for metadata, 3 for size variables.
    #[wasm_bindgen(js_name = entryName)]
    pub fn entry_name(&mut self, kind: u32, entry: u32) -> Uint8Array {
        let inner = &self.inner;
        let name = match kind {
            1 => Text::from(inner.index.name(entry as usize)),
            2 => inner.key_of(EntryKind::Metadata, entry),
            _ => inner.key_of(EntryKind::SizeVar, entry),
        };
        let mut pack = Pack::default();
        pack.label(&crate::text::plain(name.as_bytes()));
        pack.done()
    }
}
