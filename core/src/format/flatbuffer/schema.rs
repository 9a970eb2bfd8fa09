//! Descriptions of tables, as constants.

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
    #[cfg_attr(not(test), expect(dead_code, reason = "no format has one yet"))]
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

/// The tables of a flatbuffer, written from its published schema.
#[derive(Debug)]
pub(crate) struct Schema {
    /// The identifier after the root offset.
    pub(crate) identifier: [u8; 4],
    /// The fields of each table, by number. A file may have more; these are not verified. The
    /// first table is the root.
    pub(crate) tables: &'static [&'static [Type]],
    /// The values of each union, by kind from 1 on: tables or strings.
    pub(crate) unions: &'static [&'static [Type]],
}

impl Schema {
    /// Type of the field of a table; `None` after the last.
    pub(super) fn field(&self, table: u8, field: u8) -> Option<Type> {
        self.tables.get(usize::from(table))?.get(usize::from(field)).copied()
    }

    /// Type of a union's value of this kind; `None` if the kind is unknown.
    pub(super) fn value(&self, union: u8, kind: u8) -> Option<Type> {
        let kind = usize::from(kind).checked_sub(1)?;
        self.unions.get(usize::from(union))?.get(kind).copied()
    }
}
