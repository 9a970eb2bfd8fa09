//! Reads from a flatbuffer in memory. Every read is checked; the pass verifies the objects later.

/// The bytes of a flatbuffer.
#[derive(Clone, Copy)]
pub(crate) struct Direct<'a>(pub(crate) &'a [u8]);

/// The items of a vector: the position of the first one, and their number.
#[derive(Clone, Copy, Default)]
pub(crate) struct Items {
    /// 0 if there is no vector.
    pub(crate) at: usize,
    pub(crate) count: usize,
}

impl<'a> Direct<'a> {
    /// The bytes from `at` on.
    #[inline]
    pub(crate) fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..)?.first_chunk().copied()
    }

    #[inline]
    pub(crate) fn u32(self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    /// A number in a field, 0 if the field is absent.
    #[inline]
    pub(crate) fn number(self, field: usize) -> Option<u32> {
        if field == 0 { Some(0) } else { self.u32(field) }
    }

    /// A byte in a field, 0 if the field is absent.
    #[inline]
    pub(crate) fn byte(self, field: usize) -> Option<u8> {
        if field == 0 { Some(0) } else { self.0.get(field).copied() }
    }

    /// A number of eight bytes in a field, 0 if the field is absent.
    pub(crate) fn long(self, field: usize) -> Option<u64> {
        if field == 0 { Some(0) } else { self.bytes(field).map(u64::from_le_bytes) }
    }

    /// The object that an offset leads to.
    #[inline]
    pub(crate) fn target(self, at: usize) -> Option<usize> {
        at.checked_add(usize::try_from(self.u32(at)?).ok()?)
    }

    /// The vector that a field refers to.
    #[inline]
    pub(crate) fn vector(self, field: usize) -> Option<Items> {
        if field == 0 {
            return Some(Items::default());
        }
        let at = self.target(field)?;
        let count = usize::try_from(self.u32(at)?).ok()?;
        Some(Items { at: at.wrapping_add(4), count })
    }

    /// The items of a vector, `N` bytes each.
    #[inline]
    pub(crate) fn items<const N: usize>(self, vector: Items) -> Option<&'a [[u8; N]]> {
        let len = vector.count.checked_mul(N)?;
        Some(self.0.get(vector.at..)?.get(..len)?.as_chunks().0)
    }

    /// The table that an item of a vector refers to.
    #[inline]
    pub(crate) fn table(self, vector: Items, index: usize) -> Option<usize> {
        self.target(vector.at.checked_add(index.checked_mul(4)?)?)
    }

    /// The table at `at`.
    #[inline]
    pub(crate) fn open(self, at: usize) -> Option<Table<'a>> {
        let distance = i64::from(self.u32(at)?.cast_signed());
        let vtable = i64::try_from(at).ok()?.checked_sub(distance)?;
        let bytes = self.0.get(usize::try_from(vtable).ok()?..)?;
        let len = usize::from(u16::from_le_bytes(*bytes.first_chunk()?));
        Some(Table { at, offsets: bytes.get(4..len)?.as_chunks().0 })
    }
}

/// A table, and the offsets of its fields.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    at: usize,
    offsets: &'a [[u8; 2]],
}

impl Table<'_> {
    /// Position of a field; 0 if it is absent.
    #[inline]
    pub(crate) fn field(self, index: usize) -> usize {
        match self.offsets.get(index) {
            None | Some([0, 0]) => 0,
            Some(offset) => self.at.wrapping_add(u16::from_le_bytes(*offset).into()),
        }
    }
}
