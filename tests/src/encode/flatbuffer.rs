//! Writes flatbuffers: each table after its vtable, and what its fields refer to after it, in the
//! order of the fields.

use std::collections::BTreeMap;

/// What a field holds, or an item of a vector of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number, little-endian, aligned to its length.
    Number(Vec<u8>),
    /// A text.
    Text(Vec<u8>),
    /// A vector of items that are no offsets.
    Vector(Vector),
    /// A table.
    Table(Table),
    /// A vector of tables.
    Tables(Vec<Table>),
    /// A vector in which the same table occurs several times.
    Shared(Table, usize),
}

/// A vector of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Number of items.
    pub count: u32,
    /// Its items.
    pub bytes: Vec<u8>,
    /// Alignment of the first item.
    pub align: usize,
    /// Number of bytes by which the first item misses that alignment.
    pub shift: usize,
}

/// A table: its fields by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The fields.
    pub fields: BTreeMap<u8, Field>,
}

impl Table {
    /// A table without fields.
    pub fn new() -> Self {
        Table::default()
    }

    /// Sets a field.
    #[must_use]
    pub fn with(mut self, number: u8, field: Field) -> Self {
        self.fields.insert(number, field);
        self
    }

    /// Sets a number of one byte.
    #[must_use]
    pub fn byte(self, number: u8, value: u8) -> Self {
        self.with(number, Field::Number(vec![value]))
    }

    /// Sets a number of four bytes.
    #[must_use]
    pub fn int(self, number: u8, value: i32) -> Self {
        self.with(number, Field::Number(value.to_le_bytes().to_vec()))
    }

    /// Sets a number of eight bytes.
    #[must_use]
    pub fn long(self, number: u8, value: u64) -> Self {
        self.with(number, Field::Number(value.to_le_bytes().to_vec()))
    }

    /// Sets a text.
    #[must_use]
    pub fn text(self, number: u8, text: impl AsRef<[u8]>) -> Self {
        self.with(number, Field::Text(text.as_ref().to_vec()))
    }

    /// Sets a vector of numbers of four bytes.
    #[must_use]
    pub fn ints(self, number: u8, values: &[i32]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let count = values.len() as u32;
        self.with(number, Field::Vector(Vector { count, bytes, align: 4, shift: 0 }))
    }

    /// Sets a vector of floats.
    #[must_use]
    pub fn floats(self, number: u8, values: &[f32]) -> Self {
        let bits: Vec<_> = values.iter().map(|value| value.to_bits() as i32).collect();
        self.ints(number, &bits)
    }

    /// Sets a vector of numbers of eight bytes.
    #[must_use]
    pub fn longs(self, number: u8, values: &[i64]) -> Self {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let count = values.len() as u32;
        self.with(number, Field::Vector(Vector { count, bytes, align: 8, shift: 0 }))
    }

    /// Sets a vector of bytes, aligned to `align`.
    #[must_use]
    pub fn bytes(self, number: u8, bytes: &[u8], align: usize) -> Self {
        let (count, bytes) = (bytes.len() as u32, bytes.to_vec());
        self.with(number, Field::Vector(Vector { count, bytes, align, shift: 0 }))
    }

    /// Sets a table.
    #[must_use]
    pub fn table(self, number: u8, table: Table) -> Self {
        self.with(number, Field::Table(table))
    }

    /// Sets a vector of tables.
    #[must_use]
    pub fn tables(self, number: u8, tables: &[Table]) -> Self {
        self.with(number, Field::Tables(tables.to_vec()))
    }

    /// Removes a field.
    pub fn remove(&mut self, number: u8) {
        self.fields.remove(&number);
    }

    /// Replaces this table by one with changed fields.
    pub fn change(&mut self, change: impl FnOnce(Table) -> Table) {
        *self = change(std::mem::take(self));
    }

    /// The tables of a field.
    ///
    /// # Panics
    /// If the field does not hold tables.
    pub fn list(&mut self, number: u8) -> &mut Vec<Table> {
        match self.fields.get_mut(&number) {
            Some(Field::Tables(tables)) => tables,
            other => panic!("field {number} is {other:?}"),
        }
    }
}

/// A flatbuffer, and where its parts are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Positions by path. `2.0.3` is field 3 of item 0 of field 2 of the root. With `@` behind it,
    /// what the field refers to; with `^`, the vtable of that table.
    pub places: BTreeMap<String, usize>,
    /// Where each vtable is, if tables share them.
    vtables: Option<BTreeMap<Vec<u8>, usize>>,
}

impl Encoded {
    /// Position of a part.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(&self, path: &str) -> usize {
        *self.places.get(path).unwrap_or_else(|| panic!("{path} is not in {:?}", self.places))
    }

    /// Replaces bytes at a part.
    pub fn put(&mut self, path: &str, after: usize, bytes: &[u8]) {
        let at = self.at(path) + after;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn pad(&mut self, align: usize, residue: usize) {
        while self.bytes.len() % align != residue % align {
            self.bytes.push(0);
        }
    }

    /// Sets the offset at `at` to the end, where an object is written next.
    fn refer(&mut self, at: usize) {
        let offset = (self.bytes.len() - at) as u32;
        self.bytes[at..at + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes a table, and returns its position.
    fn table(&mut self, path: &str, from: usize, table: &Table) {
        let slots = table.fields.keys().last().map_or(0, |last| usize::from(*last) + 1);
        // Wide fields first, so that they are aligned after the offset to the vtable.
        let mut order: Vec<(u8, usize)> = table
            .fields
            .iter()
            .map(|(number, field)| match field {
                Field::Number(bytes) => (*number, bytes.len()),
                _ => (*number, 4),
            })
            .collect();
        order.sort_by_key(|(number, width)| (std::cmp::Reverse(*width), *number));
        let wide = order.first().is_some_and(|(_, width)| *width == 8);
        let mut places = vec![0_u16; slots];
        let mut len = if wide { 8 } else { 4 };
        for (number, width) in &order {
            places[usize::from(*number)] = len as u16;
            len += width;
        }
        self.pad(4, 0);
        let vtable_len = 4 + 2 * slots;
        let numbers = [vtable_len as u16, len as u16].into_iter().chain(places.iter().copied());
        let vtable: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
        let known = self.vtables.as_ref().and_then(|known| known.get(&vtable)).copied();
        // The table comes after the vtable, aligned to its widest field.
        let align = if wide { 8 } else { 4 };
        let before = if known.is_some() { 0 } else { vtable_len };
        while !(self.bytes.len() + before).is_multiple_of(align) {
            self.bytes.extend([0; 2]);
        }
        let vtable_at = known.unwrap_or(self.bytes.len());
        self.places.insert(format!("{path}^"), vtable_at);
        if known.is_none() {
            self.bytes.extend(&vtable);
            if let Some(known) = &mut self.vtables {
                known.insert(vtable, vtable_at);
            }
        }
        self.refer(from);
        let at = self.bytes.len();
        self.places.insert(format!("{path}@"), at);
        self.bytes.extend(((at - vtable_at) as u32).to_le_bytes());
        self.bytes.resize(at + len, 0);
        let join = |number: u8| match path {
            "" => number.to_string(),
            path => format!("{path}.{number}"),
        };
        for (number, field) in &table.fields {
            let place = at + usize::from(places[usize::from(*number)]);
            self.places.insert(join(*number), place);
            if let Field::Number(bytes) = field {
                self.bytes[place..place + bytes.len()].copy_from_slice(bytes);
            }
        }
        for (number, field) in &table.fields {
            let place = at + usize::from(places[usize::from(*number)]);
            self.field(&join(*number), place, field);
        }
    }

    /// Writes what the field at `from` refers to.
    fn field(&mut self, path: &str, from: usize, field: &Field) {
        match field {
            Field::Number(_) => {}
            Field::Text(text) => {
                self.pad(4, 0);
                self.refer(from);
                self.places.insert(format!("{path}@"), self.bytes.len());
                self.bytes.extend((text.len() as u32).to_le_bytes());
                self.bytes.extend(text);
                self.bytes.push(0);
            }
            Field::Vector(vector) => {
                let align = vector.align.max(4);
                self.pad(align, align - 4 + vector.shift);
                self.refer(from);
                self.places.insert(format!("{path}@"), self.bytes.len());
                self.bytes.extend(vector.count.to_le_bytes());
                self.bytes.extend(&vector.bytes);
            }
            Field::Table(table) => self.table(path, from, table),
            Field::Tables(tables) => {
                let at = self.list(path, from, tables.len());
                for (i, table) in tables.iter().enumerate() {
                    self.table(&format!("{path}.{i}"), at + 4 * i, table);
                }
            }
            Field::Shared(table, count) => {
                let at = self.list(path, from, *count);
                self.table(path, at, table);
                let target = self.at(&format!("{path}@"));
                for i in 0..*count {
                    let offset = (target - at - 4 * i) as u32;
                    self.bytes[at + 4 * i..][..4].copy_from_slice(&offset.to_le_bytes());
                }
            }
        }
    }

    /// Begins a vector of `count` offsets, and returns the position of the first.
    fn list(&mut self, path: &str, from: usize, count: usize) -> usize {
        self.pad(4, 0);
        self.refer(from);
        self.places.insert(format!("{path}#"), self.bytes.len());
        self.bytes.extend((count as u32).to_le_bytes());
        let at = self.bytes.len();
        self.bytes.resize(at + 4 * count, 0);
        at
    }
}

/// Writes a flatbuffer.
pub fn encode(identifier: &[u8; 4], root: &Table) -> Encoded {
    encode_after(identifier, &[], root)
}

/// Writes a flatbuffer with other bytes between the identifier and the first table.
pub fn encode_after(identifier: &[u8; 4], head: &[u8], root: &Table) -> Encoded {
    let mut out = Encoded { bytes: vec![0; 4], ..Encoded::default() };
    out.bytes.extend(identifier);
    out.bytes.extend(head);
    out.table("", 0, root);
    out
}

/// Writes a flatbuffer as usual writers do: tables with equal vtables share one.
pub fn encode_shared(identifier: &[u8; 4], root: &Table) -> Encoded {
    let mut out = Encoded { bytes: vec![0; 4], ..Encoded::default() };
    out.vtables = Some(BTreeMap::new());
    out.bytes.extend(identifier);
    out.table("", 0, root);
    out
}
