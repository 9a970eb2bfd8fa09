//! The index of a checkpoint: what a host found when it followed the pickle.
//!
//! A pickle is a program, so its tensors cannot be read in place. A host follows it once, with the
//! memory that this takes, and writes down what it would build. The result is a table, and the host
//! keeps it resident in a window at [`BASE`], far behind the end of every file. From there it is
//! read like the index of any other format, and checked like one.
//!
//! | at | what |
//! |---|---|
//! | [`BASE`] | [`Summary`] |
//! | then | one [`Storage`], [`Item`], [`Pair`], [`Flaw`] and [`Indices`] each |
//! | then | [`WORDS`], names, texts, and extents followed by strides |
//!
//! All numbers are little-endian and take 8 bytes.

use crate::base::widen;
use crate::input::{Source, Span};

/// Where the index lies, as an offset.
pub use crate::base::limits::INDEX as BASE;

/// Declares a record of 64-bit numbers.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$field_doc])* pub $field: u64,)* }

        impl $name {
            /// Length of the record in bytes.
            pub const LEN: u64 = 8 * widen([$(stringify!($field)),*].len());

            /// Calls `put` with the bytes of each number in turn.
            pub fn write(&self, mut put: impl FnMut([u8; 8])) {
                $(put(self.$field.to_le_bytes());)*
            }

            /// The record with these bytes.
            fn read(bytes: &[u8]) -> Self {
                let (words, _) = bytes.as_chunks::<8>();
                let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
                $name { $($field: words.next().unwrap_or(0),)* }
            }
        }
    };
}

record! {
    /// How many records there are, and what the file is.
    Summary {
        /// The constant [`Summary::MAGIC`].
        magic,
        /// 0 for an archive, 1 for the older form of pickles and storages one after the other.
        kind,
        /// 1 if numbers in storages are big-endian.
        is_big,
        /// Number of storages.
        storages,
        /// Number of tensors.
        tensors,
        /// Number of entries of metadata.
        pairs,
        /// Number of faults.
        flaws,
        /// Number of tensors of indices whose values are to be checked.
        indices,
        /// Where the pickles of the older form end.
        pickles_end,
        /// Length of the index in bytes.
        len,
    }
}

record! {
    /// A storage: the elements that tensors are views of.
    Storage {
        /// Offset of its first byte.
        offset,
        /// Number of bytes stored.
        stored,
        /// Number of bytes after decoding.
        size,
        /// Number of bytes that the pickle says it has.
        stated,
        /// 1 if it is a deflate stream.
        is_deflated,
        /// CRC-32 of its bytes; 0 if it was not computed.
        crc,
        /// Where its key is, counted from [`BASE`].
        key,
        /// Length of its key in bytes.
        key_len,
        /// Offset of the bytes that belong to it in the file: a header or a count before the data.
        start,
        /// Offset of the operation that names it.
        at,
    }
}

record! {
    /// A tensor: a view of a storage.
    Item {
        /// Where its name is, counted from [`BASE`]. A bit for each byte of the name follows, the lowest
        /// first: 1 for a dot between two keys of its path.
        name,
        /// Length of its name in bytes.
        name_len,
        /// Where its extents are, counted from [`BASE`]; the strides follow.
        dims,
        /// Number of extents.
        rank,
        /// The number of its type, of [`dtype`](super::storage::dtype).
        dtype,
        /// The number of its storage; `u64::MAX` if it has none.
        storage,
        /// Position of its first element in the storage.
        first,
        /// Offset of the operation that makes it.
        at,
        /// Length of this operation in bytes.
        at_len,
        /// 1 if a fault was found in what it is made of.
        is_flawed,
        /// What is said about it: [`Item::GRADIENT`] and others, added.
        marks,
        /// Where its scale and zero point are, or the axis of its channels, counted from
        /// [`BASE`].
        quantiser,
    }
}

impl Item {
    /// Other tensors are views of its storage too.
    pub const SHARED: u64 = 32;
    /// Gradients are computed for it.
    pub const GRADIENT: u64 = 1;
    /// torch conjugates the stored elements.
    pub const CONJUGATE: u64 = 2;
    /// torch negates the stored elements.
    pub const NEGATIVE: u64 = 4;
    /// It is quantised with one scale.
    pub const QUANTISED: u64 = 8;
    /// It is quantised with a scale for each channel.
    pub const CHANNELS: u64 = 16;

    /// The same with more marks.
    pub fn marked(self, marks: u64) -> Self {
        Item { marks: self.marks | marks, ..self }
    }
}

record! {
    /// An entry of metadata: a number or a text of the object.
    Pair {
        /// Where its key is, counted from [`BASE`].
        key,
        /// Length of its key in bytes.
        key_len,
        /// [`Pair::TEXT`] or another.
        kind,
        /// Where its value is, counted from [`BASE`].
        value,
        /// Length of its value in bytes.
        value_len,
        /// Offset of the operation that makes it.
        at,
    }
}

record! {
    /// A fault that was found while the pickle was followed.
    Flaw {
        /// The number of its rule among [`FLAWS`](super::FLAWS).
        rule,
        /// Offset in the file.
        at,
        /// Length in bytes.
        len,
        /// What the rule expects.
        expected,
        /// What was found.
        found,
        /// The tensor that it is about; `u64::MAX` if it is about the file.
        tensor,
    }
}

record! {
    /// Indices of a sparse tensor, whose values a host checks when it reads data: entries in rows,
    /// each below a bound.
    Indices {
        /// The number of the tensor that has them.
        tensor,
        /// The number of their storage.
        storage,
        /// Position of the first in the storage.
        first,
        /// Bytes of an index: 4 or 8.
        width,
        /// Number of rows, and of indices in each.
        rows,
        /// See `rows`.
        count,
        /// Strides of rows and of indices in a row.
        row_stride,
        /// See `row_stride`.
        stride,
        /// [`Indices::BELOW`] or another.
        rule,
        /// What the rule needs: for [`Indices::BELOW`] where the bound of each row is, counted from
        /// [`BASE`]; otherwise a bound.
        bound,
        /// For [`Indices::SORTED`], the number of the record of the pointers that divide each row. For
        /// [`Indices::POINTERS`], the most by which neighbours differ.
        pointers,
    }
}

impl Indices {
    /// Each index of a row is below the bound of that row: coordinates.
    pub const BELOW: u64 = 0;
    /// A row begins with 0, does not descend, and ends with the bound.
    pub const POINTERS: u64 = 1;
    /// Between two pointers, indices ascend, and are below the bound.
    pub const SORTED: u64 = 2;
    /// Coordinates, one of each row, ascend.
    pub const ASCENDING: u64 = 3;
}

impl Pair {
    /// The kind of a text.
    pub const TEXT: u64 = 0;
    /// The kind of an `i64`.
    pub const INTEGER: u64 = 1;
    /// The kind of an `f64`.
    pub const FLOAT: u64 = 2;
    /// The kind of a Boolean.
    pub const BOOL: u64 = 3;
}

/// Texts that many tensors share, in the order of [`Word`]. They follow the tables.
pub const WORDS: [&str; 11] = [
    "\u{1}",
    "shared_storage",
    "requires_grad",
    "conj",
    "neg",
    "quantiser",
    "scale",
    "zero_point",
    "axis",
    "per_tensor_affine",
    "per_channel_affine",
];

/// One of [`WORDS`], by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(usize);

impl Word {
    pub(super) const TRUE: Word = Word(0);
    pub(super) const STORAGE: Word = Word(1);
    pub(super) const REQUIRES_GRAD: Word = Word(2);
    pub(super) const CONJUGATE: Word = Word(3);
    pub(super) const NEGATIVE: Word = Word(4);
    pub(super) const QUANTISER: Word = Word(5);
    pub(super) const SCALE: Word = Word(6);
    pub(super) const ZERO_POINT: Word = Word(7);
    pub(super) const AXIS: Word = Word(8);
    pub(super) const PER_TENSOR: Word = Word(9);
    pub(super) const PER_CHANNEL: Word = Word(10);

    /// Where it begins among the words, and its length in bytes.
    pub(super) fn place(self) -> (u64, u64) {
        let before =
            WORDS.iter().take(self.0).fold(0, |all, word| widen(word.len()).wrapping_add(all));
        (before, WORDS.get(self.0).map_or(0, |word| widen(word.len())))
    }
}

impl Summary {
    /// The first number of an index.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"wb-index");
}

/// Where the tables of an index lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Index {
    pub(super) summary: Summary,
}

impl Index {
    /// The index in the window at [`BASE`]; `None` if there is none.
    pub(super) fn of(source: &Source<'_>) -> Option<Index> {
        let summary = Summary::read(source.all(Span::new(BASE, Summary::LEN))?);
        let index = Index { summary };
        let fits = source.run(BASE).len() >= usize::try_from(summary.len).ok()?;
        let (words, _) = Word(WORDS.len()).place();
        let end = index.words()?.checked_add(words)?;
        (summary.magic == Summary::MAGIC && fits && end <= summary.len).then_some(index)
    }

    /// Where the tables begin, counted from [`BASE`], and where the last ends.
    fn tables(&self) -> Option<[u64; 6]> {
        let Summary { storages, tensors, pairs, flaws, indices, .. } = self.summary;
        let storages_end = storages.checked_mul(Storage::LEN)?.checked_add(Summary::LEN)?;
        let tensors_end = tensors.checked_mul(Item::LEN)?.checked_add(storages_end)?;
        let pairs_end = pairs.checked_mul(Pair::LEN)?.checked_add(tensors_end)?;
        let flaws_end = flaws.checked_mul(Flaw::LEN)?.checked_add(pairs_end)?;
        let indices_end = indices.checked_mul(Indices::LEN)?.checked_add(flaws_end)?;
        Some([Summary::LEN, storages_end, tensors_end, pairs_end, flaws_end, indices_end])
    }

    /// Where [`WORDS`] are, counted from [`BASE`].
    pub(super) fn words(&self) -> Option<u64> {
        self.tables().map(|[.., end]| end)
    }

    /// Record number `number` of a table of `count` records of `len` bytes.
    fn record<'a>(
        &self,
        source: &Source<'a>,
        table: usize,
        count: u64,
        len: u64,
        number: u64,
    ) -> Option<&'a [u8]> {
        let from = self.tables()?.get(table).copied().filter(|_| number < count)?;
        let at = number.checked_mul(len)?.checked_add(from)?.checked_add(BASE)?;
        source.all(Span::new(at, len))
    }

    pub(super) fn storage(&self, source: &Source<'_>, number: u64) -> Option<Storage> {
        let count = self.summary.storages;
        self.record(source, 0, count, Storage::LEN, number).map(Storage::read)
    }

    pub(super) fn item(&self, source: &Source<'_>, number: u64) -> Option<Item> {
        let count = self.summary.tensors;
        self.record(source, 1, count, Item::LEN, number).map(Item::read)
    }

    pub(super) fn pair(&self, source: &Source<'_>, number: u64) -> Option<Pair> {
        let count = self.summary.pairs;
        self.record(source, 2, count, Pair::LEN, number).map(Pair::read)
    }

    pub(super) fn flaw(&self, source: &Source<'_>, number: u64) -> Option<Flaw> {
        let count = self.summary.flaws;
        self.record(source, 3, count, Flaw::LEN, number).map(Flaw::read)
    }

    pub(super) fn indices(&self, source: &Source<'_>, number: u64) -> Option<Indices> {
        let count = self.summary.indices;
        self.record(source, 4, count, Indices::LEN, number).map(Indices::read)
    }

    /// The numbers at `at`, counted from [`BASE`]: extents or strides.
    pub(super) fn numbers<'a>(
        source: &Source<'a>,
        at: u64,
        count: u64,
    ) -> Option<impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + Clone + 'a> {
        let len = count.checked_mul(8)?;
        let bytes = source.all(Span::new(BASE.checked_add(at)?, len))?;
        let (words, _) = bytes.as_chunks::<8>();
        (widen(words.len()) == count).then(|| words.iter().map(|word| u64::from_le_bytes(*word)))
    }
}
