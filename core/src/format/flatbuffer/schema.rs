//! Descriptions of tables, as constants: one byte a field.

use super::Fault;
use crate::rule::Rule;

/// The type of a field.
///
/// Widths are in bytes: 1, 2, 4 or 8. Tables and unions are numbers in their [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// A field that no reader uses: it is not verified.
    Unused,
    /// A number of this width.
    Scalar(u8),
    /// A vector of numbers of this width.
    Vector(u8),
    /// A string.
    String,
    /// A vector of strings.
    Strings,
    /// A table.
    Table(u8),
    /// A vector of tables.
    Tables(u8),
    /// The kind of the union in the next field.
    Kind,
    /// The value of a union.
    Union(u8),
}

/// Types in one byte, as they are stored: a flag, and a width or the number of a table or a union.
pub(super) mod code {
    pub(crate) const TABLE: u8 = 0x00;
    pub(crate) const TABLES: u8 = 0x40;
    pub(crate) const SCALAR: u8 = 0x80;
    pub(crate) const VECTOR: u8 = 0x90;
    pub(crate) const UNION: u8 = 0xA0;
    pub(crate) const STRING: u8 = 0xB0;
    pub(crate) const STRINGS: u8 = 0xC0;
    pub(crate) const KIND: u8 = 0xD1;
    pub(crate) const UNUSED: u8 = 0xE0;
    /// After the last type of a list.
    pub(crate) const END: u8 = 0xFF;
}
use code::{END, KIND, SCALAR, STRING, STRINGS, TABLE, TABLES, UNION, UNUSED, VECTOR};

impl Type {
    /// The type in one byte.
    #[allow(clippy::disallowed_macros, reason = "evaluated while compiling")]
    const fn code(self) -> u8 {
        let (flags, number, most) = match self {
            Type::Unused => (UNUSED, 0, 0),
            Type::Scalar(width) => (SCALAR, width, 8),
            Type::Vector(width) => (VECTOR, width, 8),
            Type::String => (STRING, 0, 0),
            Type::Strings => (STRINGS, 0, 0),
            Type::Table(number) => (TABLE, number, 0x3F),
            Type::Tables(number) => (TABLES, number, 0x3F),
            Type::Kind => (KIND, 0, 0),
            Type::Union(number) => (UNION, number, 0x0F),
        };
        assert!(number <= most, "the number of a table or a union does not fit");
        flags | number
    }

    /// The type with this code; `None` at the end of a list.
    pub(super) fn of(code: u8) -> Option<Self> {
        Some(match code {
            END => return None,
            STRING => Type::String,
            STRINGS => Type::Strings,
            KIND => Type::Kind,
            UNUSED => Type::Unused,
            0..TABLES => Type::Table(code),
            TABLES..SCALAR => Type::Tables(code & 0x3F),
            SCALAR..VECTOR => Type::Scalar(code & 0x0F),
            VECTOR..UNION => Type::Vector(code & 0x0F),
            _ => Type::Union(code & 0x0F),
        })
    }
}

/// Lists of types, one after the other.
#[derive(Debug)]
pub(crate) struct Lists {
    /// Where each list starts, and where the last one ends.
    starts: &'static [u16],
    codes: &'static [u8],
}

impl Lists {
    /// The codes of a list.
    #[cfg(feature = "sweep")]
    fn all(&self, list: u8) -> &'static [u8] {
        let bounds = self.starts.get(usize::from(list)..);
        let Some([start, end, ..]) = bounds else { return &[] };
        self.codes.get(usize::from(*start)..usize::from(*end)).unwrap_or_default()
    }

    /// Code of item `index` of a list.
    fn get(&self, list: u8, index: u8) -> u8 {
        let bounds = self.starts.get(usize::from(list)..);
        let Some([start, end, ..]) = bounds else { return END };
        let place = start.wrapping_add(index.into());
        let code = self.codes.get(usize::from(place)).filter(|_| place < *end);
        code.copied().unwrap_or(END)
    }
}

/// Lists of types, packed: `N` starts, the end of the last list included, and `F` types.
pub(crate) struct Packed<const N: usize, const F: usize> {
    starts: [u16; N],
    codes: [u8; F],
}

/// Number of types in all lists.
pub(crate) const fn count(lists: &[&[Type]]) -> usize {
    let (mut rest, mut count) = (lists, 0_usize);
    while let [first, after @ ..] = rest {
        (rest, count) = (after, count.saturating_add(first.len()));
    }
    count
}

impl<const N: usize, const F: usize> Packed<N, F> {
    /// Packs lists while the program is compiled.
    pub(crate) const fn of(lists: &[&[Type]]) -> Self {
        let mut packed = Packed { starts: [0; N], codes: [0; F] };
        let mut starts: &mut [u16] = &mut packed.starts;
        let mut codes: &mut [u8] = &mut packed.codes;
        let (mut rest, mut at) = (lists, 0_u16);
        while let [list, after @ ..] = rest {
            let mut types = *list;
            while let [first, left @ ..] = types {
                let [code, free @ ..] = codes else { return packed };
                *code = first.code();
                (types, codes) = (left, free);
                at = at.saturating_add(1);
            }
            rest = after;
            // The first start is 0.
            let [_, free @ ..] = starts else { return packed };
            if let [end, ..] = free {
                *end = at;
            }
            starts = free;
        }
        packed
    }

    /// The lists.
    pub(crate) const fn lists(&'static self) -> Lists {
        Lists { starts: &self.starts, codes: &self.codes }
    }
}

/// Stands for the strings in tables of this number, among what is counted.
pub(crate) const fn strings_of(table: u8) -> u8 {
    table | 0x80
}

/// Packs a constant list of lists of types into [`Lists`].
macro_rules! lists {
    ($lists:expr) => {{
        use $crate::format::flatbuffer::{Packed, Type, count};
        const LISTS: &[&[Type]] = $lists;
        const PACKED: Packed<{ LISTS.len() + 1 }, { count(LISTS) }> = Packed::of(LISTS);
        const { &PACKED }.lists()
    }};
}
pub(crate) use lists;

/// The tables of a flatbuffer, written from its published schema.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The identifier after the root offset.
    pub(crate) identifier: [u8; 4],
    /// The fields of each table, by number. A file may have more; these are not verified. The
    /// first table is the root.
    pub(crate) tables: Lists,
    /// The values of each union, by kind from 1 on: tables or strings.
    pub(crate) unions: Lists,
    /// The format's rule for each fault.
    pub(crate) rules: fn(Fault) -> Rule,
    /// What is counted: tables, by their numbers, and [`strings_of`] tables.
    pub(crate) counted: [u8; 3],
}

impl Schema {
    /// Whether a file that begins with these bytes has the identifier.
    pub(crate) fn identifies(&self, head: &[u8]) -> bool {
        head.get(4..8).is_some_and(|found| *found == self.identifier)
    }

    /// Codes of the fields of a table.
    #[cfg(feature = "sweep")]
    pub(super) fn field_codes(&self, table: u8) -> &'static [u8] {
        self.tables.all(table)
    }

    /// Code of the field of a table.
    pub(super) fn field_code(&self, table: u8, field: u8) -> u8 {
        self.tables.get(table, field)
    }

    /// Code of a union's value of this kind; [`END`] if the kind is unknown.
    pub(super) fn value_code(&self, union: u8, kind: u8) -> u8 {
        self.unions.get(union, kind.wrapping_sub(1))
    }

    /// Type of the field of a table; `None` after the last.
    pub(super) fn field(&self, table: u8, field: u8) -> Option<Type> {
        Type::of(self.field_code(table, field))
    }

    /// Type of a union's value of this kind; `None` if the kind is unknown.
    pub(super) fn value(&self, union: u8, kind: u8) -> Option<Type> {
        Type::of(self.value_code(union, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_types_are_read_back() {
        const SOURCE: &[&[Type]] = &[
            &[Type::Scalar(1), Type::Scalar(8), Type::Vector(2), Type::String, Type::Strings],
            &[],
            &[Type::Table(0), Type::Table(63), Type::Tables(0), Type::Tables(63)],
            &[Type::Kind, Type::Union(0), Type::Union(15), Type::Unused],
        ];
        let lists = lists!(SOURCE);
        for (number, list) in SOURCE.iter().enumerate() {
            let number = number as u8;
            for (index, kind) in list.iter().enumerate() {
                assert_eq!(
                    Type::of(lists.get(number, index as u8)),
                    Some(*kind),
                    "{number} {index}"
                );
            }
            assert_eq!(lists.get(number, list.len() as u8), END, "{number}");
        }
        assert_eq!(lists.get(4, 0), END);
    }
}
