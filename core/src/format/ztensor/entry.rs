//! One tensor's map, read completely before any of it is validated.

use super::cbor::{OPEN, Pull, odd};
use super::nest::Levels;
use crate::base::Word;
use crate::base::cbor::major;
use crate::base::features::SWEEP;
use crate::model::Name;
use core::cmp::Ordering;

/// A field of the specification, numbered in the order of real writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u8);

impl Key {
    pub(super) const NAME: Key = Key(0);
    pub(super) const OFFSET: Key = Key(1);
    pub(super) const SIZE: Key = Key(2);
    pub(super) const DTYPE: Key = Key(3);
    pub(super) const LAYOUT: Key = Key(4);
    pub(super) const SHAPE: Key = Key(5);
    pub(super) const ENCODING: Key = Key(6);
    pub(super) const ENDIANNESS: Key = Key(7);
    pub(super) const CHECKSUM: Key = Key(8);
    pub(super) const SPARSE_FORMAT: Key = Key(9);

    /// Number of fields.
    pub(super) const COUNT: usize = 10;

    /// The names of the fields.
    const NAMES: &[u8] = b"name offset size dtype layout shape encoding data_endianness checksum \
        sparse_format ";

    #[inline(always)]
    pub(super) fn of(name: &Name<'_>) -> Option<Key> {
        match name.as_bytes() {
            Some(bytes) if SWEEP => Key::of_bytes(bytes),
            _ => match name.word_of(Key::NAMES) {
                Some((number, true)) => Some(Key(number)),
                _ => None,
            },
        }
    }

    /// A decision tree, which is faster and larger than a search of the list.
    #[inline]
    fn of_bytes(bytes: &[u8]) -> Option<Key> {
        match bytes {
            b"name" => Some(Key::NAME),
            b"size" => Some(Key::SIZE),
            b"dtype" => Some(Key::DTYPE),
            b"shape" => Some(Key::SHAPE),
            b"offset" => Some(Key::OFFSET),
            b"layout" => Some(Key::LAYOUT),
            b"encoding" => Some(Key::ENCODING),
            b"checksum" => Some(Key::CHECKSUM),
            b"sparse_format" => Some(Key::SPARSE_FORMAT),
            b"data_endianness" => Some(Key::ENDIANNESS),
            _ => None,
        }
    }

    /// The field's position in a table of all fields.
    #[inline(always)]
    pub(super) fn position(self) -> usize {
        usize::from(self.0)
    }
}

/// Offsets of the parts of one tensor's map. Values are read again for validation, because
/// offsets take less memory than values.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// Start of the map.
    pub(super) at: Word,
    /// End of the map.
    pub(super) end: Word,
    /// Offset of each field's value; 0 if the field is missing.
    pub(super) places: [Word; Key::COUNT],
    /// Whether the element is a map.
    pub(super) map: bool,
    /// Whether a fatal fault was reported.
    pub(super) fatal: bool,
}

impl Entry {
    /// Offset of a field's value; 0 if it is missing.
    #[inline]
    pub(super) fn place(&self, key: Key) -> Word {
        self.places.get(key.position()).copied().unwrap_or(0)
    }

    /// Reads the rest of the current index element. All of its bytes are resident afterwards.
    #[inline(never)]
    pub(super) fn read(&mut self, pull: &mut Pull<'_, '_, '_>) {
        self.map = pull.head.major == major::MAP;
        // The keys of an entry that is listed again were compared the first time.
        let mut levels = Levels::new(pull.at(), pull.r.resident(), !pull.r.is_muted());
        if self.map {
            self.pairs(pull, &mut levels);
        } else {
            pull.skip_with(2, &mut levels);
        }
        self.end = pull.at();
    }

    #[inline]
    fn pairs<'a>(&mut self, pull: &mut Pull<'_, '_, 'a>, levels: &mut Levels<'a>) {
        let at = pull.head_at;
        let mut left = pull.count_resident();
        if left != OPEN {
            pull.note(odd::DEFINITE, at);
        }
        let mut order = Order::default();
        loop {
            pull.key(&mut left);
            if pull.head.is_break() {
                break;
            }
            let (start, at) = (pull.start, pull.head_at);
            let text = pull.head.major == major::TEXT;
            pull.custom = !text;
            pull.skip_with(3, levels);
            let known = match text {
                true => Key::of(&pull.text),
                false => None,
            };
            pull.custom = known.is_none();
            // Duplicate fields of the specification have their own rule.
            if known.is_none() {
                levels.start_key(start, &mut pull.seen);
                levels.end_key(&mut pull.seen);
            }
            if !text {
                pull.note(odd::KEY, at);
            } else if !order.validate(known, &pull.text) {
                pull.note(odd::ORDER, at);
            }
            pull.item(3, false);
            if let Some(known) = known
                && let Some(place) = self.places.get_mut(known.position())
            {
                if *place == 0 {
                    *place = pull.start;
                } else {
                    pull.note(odd::FIELD_TWICE, at);
                }
            }
            pull.skip_with(3, levels);
            pull.custom = false;
        }
    }
}

/// The order of keys: those of the specification as in [`Key`], then custom ones by their
/// bytes. Some writers let users give a custom field the name of an optional one, which is
/// then sorted among the custom ones.
#[derive(Default)]
struct Order<'a> {
    /// The first field of the specification that may follow; the highest number after a custom one.
    least: u8,
    /// The last custom key.
    last: Name<'a>,
}

impl<'a> Order<'a> {
    /// Whether the key `name` is in order.
    #[inline]
    fn validate(&mut self, known: Option<Key>, name: &Name<'a>) -> bool {
        let Key(number) = known.unwrap_or(Key::SPARSE_FORMAT);
        let custom = self.least > Key::SPARSE_FORMAT.0;
        if number < Key::SPARSE_FORMAT.0 && !custom {
            let in_order = number >= self.least;
            self.least = number.wrapping_add(1);
            return in_order;
        }
        if number < Key::ENDIANNESS.0 {
            return false;
        }
        let order = self.last.cmp(name);
        (self.least, self.last) = (u8::MAX, *name);
        order != Ordering::Greater
    }
}
