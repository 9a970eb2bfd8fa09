//! Requirements of model loaders beyond the container: keys of the expected types, lists of
//! matching lengths, ids within the vocabulary.
//!
//! A missing key is not a fault: adapters, projectors, matrices and vocabularies have few
//! keys. An architecture's keys begin with its name, so the name is looked up first. Then
//! all metadata is walked once, and faults within a single entry are reported. Entries are
//! compared with one another at the end; after that the token types, the byte tokens they
//! point to, and the embedding's shape are read.
//!
//! Order of suppression. A list of the wrong type is not compared with anything. If two
//! entries have the same key, the first counts, as in ggml. In each entry, only the first
//! wrong item is reported.

mod compare;
mod known;
mod template;
mod tokens;

use super::head::{self, Entry};
use super::{Cursor, Header, field, rules};
use crate::base::{division::div_rem, wide};
use crate::input::Span;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt};
use known::{Architecture, Array, Known, Model, Wanted};

/// Phases of the cursor.
mod phase {
    /// Looking for the architecture.
    pub(super) const FIND: u8 = 0;
    /// Walking over the metadata.
    pub(super) const WALK: u8 = 1;
    /// In a template, which has been searched up to `at`.
    pub(super) const TEMPLATE: u8 = 2;
    pub(super) const COMPARE: u8 = 3;
    /// In the token types; see `tokens`.
    pub(super) const TYPES: u8 = 4;
    /// In the tokens that belong to the last batch of types.
    pub(super) const BYTES: u8 = 5;
    /// Looking for the embedding among the tensors.
    pub(super) const TENSORS: u8 = 6;
}

/// A number from the metadata.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct Number {
    /// Offset of its value; 0 if the metadata has none.
    at: u64,
    /// Position of its entry.
    entry: u32,
    /// The number, or [`Number::NONE`] if it is negative or exceeds 32 bits; for a list, the
    /// number of items.
    value: u32,
    /// Whether it is a list with one number per layer.
    list: bool,
    /// Number of bytes covered by a finding about it; 0 if there is no such entry.
    len: u8,
}

impl Number {
    /// Stored by some writers for an id that does not exist: -1 in 32 bits.
    const NONE: u32 = u32::MAX;

    /// The value, if it was found and is not a list.
    fn get(&self) -> Option<u32> {
        (self.at != 0 && !self.list).then_some(self.value)
    }

    /// Whether the metadata has no such entry, of any type.
    fn is_absent(&self) -> bool {
        self.at == 0 && self.len == 0
    }
}

/// A list from the metadata whose items have a type that readers accept.
#[derive(Clone, Copy, Debug, Default, Hash)]
struct List {
    /// Offset of its first item; 0 if there is none.
    at: u64,
    count: u64,
    entry: u32,
}

impl List {
    /// Offset of the item count.
    fn count_at(&self) -> u64 {
        self.at.wrapping_sub(8)
    }
}

/// The relevant values found in the metadata.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct Keys {
    arch: Architecture,
    model: Option<Model>,
    tokens: List,
    scores: List,
    types: List,
    /// In the order of [`known::IDS`].
    ids: [Number; known::IDS.len()],
    blocks: Number,
    context: Number,
    embedding: Number,
    feed_forward: Number,
    heads: Number,
    heads_kv: Number,
    key_length: Number,
    experts: Number,
    experts_used: Number,
    split_no: Number,
    split_count: Number,
    split_tensors: Number,
    template: template::Search,
    place: tokens::Place,
}

impl Header {
    /// Checks the requirements of model loaders, as far as bytes are resident.
    pub(super) fn audit_keys(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        keys: &mut Keys,
    ) -> Result<(), Halt> {
        if self.tensors_at == 0 {
            // The end of the metadata is unknown, so its lists may have no end either.
            c.finish();
        }
        while !c.done {
            match c.phase {
                phase::FIND => self.find(r, c, keys)?,
                phase::WALK => self.walk(r, c, keys)?,
                phase::TEMPLATE => template::search(r, c, &mut keys.template)?,
                phase::COMPARE => {
                    keys.compare(r, self.count);
                    *c = Cursor { phase: phase::TYPES, at: keys.types.at, ..Cursor::START };
                    keys.place.token = keys.tokens.at;
                }
                phase::TYPES => self.token_types(r, c, keys)?,
                phase::BYTES => self.byte_tokens(r, c, keys)?,
                _ => self.embedding(r, c, keys)?,
            }
        }
        Ok(())
    }

    /// Looks for the architecture, which writers put first.
    fn find(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, keys: &mut Keys) -> Result<(), Halt> {
        let mut entry = Entry::default();
        match self.next_key(r, c, &mut entry)? {
            Some(_) if entry.key != known::ARCHITECTURE => return Ok(()),
            Some(name) => keys.arch = Architecture::new(name),
            None => {}
        }
        *c = Cursor { phase: phase::WALK, ..Cursor::START };
        Ok(())
    }

    fn walk(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, keys: &mut Keys) -> Result<(), Halt> {
        let mut entry = Entry::default();
        let Some(value) = self.next_key(r, c, &mut entry)? else {
            *c = Cursor { phase: phase::COMPARE, ..Cursor::START };
            return Ok(());
        };
        let index = c.index.wrapping_sub(1);
        r.about(EntryKind::Metadata, index);
        let is = keys.arch.known(entry.key);
        match is {
            Some(Known::Model) => keys.model = keys.model.or(Some(Model::new(value))),
            Some(Known::Template) if entry.tag == field::STRING => {
                let len = wide(entry.content.len);
                keys.template = template::Search::default();
                c.state.end = c.at;
                c.at = c.at.wrapping_sub(len);
                c.phase = phase::TEMPLATE;
                r.flag(rules::KEYS_TEMPLATE, c.at, len, 0, len);
            }
            Some(Known::Array(array)) => self.array(r, c, keys, array, &entry),
            Some(Known::Number(wanted)) => {
                let number = self.number(r, c, &wanted, &entry, value);
                if let Some(slot) = keys.slot(entry.key)
                    && slot.at == 0
                {
                    *slot = Number { entry: index, ..number };
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the next entry and the bytes of its value, if that is a number or the short
    /// text of a known key; `None` after the last entry.
    fn next_key<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        entry: &mut Entry<'a>,
    ) -> Result<Option<&'a [u8]>, Halt> {
        // Faults were reported when the entry was listed.
        r.mute();
        let taken = self.take_key(r, c, entry);
        r.unmute();
        match taken {
            Err(halt) if !halt.is_absent() => Ok(None),
            taken => taken,
        }
    }

    fn take_key<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        entry: &mut Entry<'a>,
    ) -> Result<Option<&'a [u8]>, Halt> {
        self.leap(c);
        head::pass(r, c, self.big)?;
        if c.index >= self.metas {
            return Ok(None);
        }
        c.step(|c| {
            c.at = c.at.max(field::HEADER);
            head::entry(r, c, self.big, entry)?;
            c.index = c.index.wrapping_add(1);
            let len = entry.content.len;
            let value = match entry.tag {
                field::ARRAY => &[],
                field::STRING if wide(len) > known::LONGEST || !known::is_text(entry.key) => &[],
                // The reader is before the text.
                field::STRING => r.bytes(len),
                tag => r.get(Span::new(wide(entry.value_at), field::width(tag)))?,
            };
            r.settle()?;
            Ok(Some(value))
        })
    }

    /// Checks and records a known list, after its head.
    fn array(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        keys: &mut Keys,
        array: Array,
        entry: &Entry<'_>,
    ) {
        let value_at = wide(entry.value_at);
        if entry.tag != field::ARRAY {
            let (at, is) = (value_at.wrapping_sub(4), entry.tag.into());
            r.flag(rules::KEYS_ARRAY, at, 4, field::ARRAY.into(), is);
            return;
        }
        let items = items_of(c, entry);
        let width = field::width(items);
        let count = match items {
            field::STRING => *head::left(c),
            _ => div_rem(wide(entry.content.len), width).map_or(0, |(count, _)| count),
        };
        let wanted = array.items();
        if !wanted.contains(&items) {
            let first = wanted.first().copied().unwrap_or(0).into();
            let rule = match first {
                _ if wanted == [field::STRING] => rules::KEYS_TEXTS,
                _ if width < array.width() => rules::KEYS_ITEMS,
                _ => rules::KEYS_TYPE,
            };
            r.flag(rule, value_at, 4, first, items.into());
            return;
        }
        let index = c.index.wrapping_sub(1);
        let list = List { at: value_at.wrapping_add(12), count, entry: index };
        let slot = match array {
            Array::Tokens => &mut keys.tokens,
            Array::Scores => &mut keys.scores,
            Array::Types => &mut keys.types,
            Array::Charsmap if (1..known::LEAST_CHARSMAP).contains(&count) => {
                let at = value_at.wrapping_add(4);
                r.flag(rules::KEYS_CHARSMAP, at, 8, known::LEAST_CHARSMAP, count);
                return;
            }
            _ => return,
        };
        if slot.at == 0 {
            *slot = list;
        }
    }

    /// Reads an entry's number, and reports its type if readers do not accept it.
    fn number(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
        wanted: &Wanted,
        entry: &Entry<'_>,
        value: &[u8],
    ) -> Number {
        let (at, expected, tag) = (wide(entry.value_at), wanted.tag.into(), entry.tag);
        let len = u8::try_from(field::width(tag)).unwrap_or(0);
        let mut number = Number { at, len, ..Number::default() };
        if tag == field::ARRAY && wanted.layers && c.state.within == 0 {
            let width = field::width(items_of(c, entry));
            let count = div_rem(wide(entry.content.len), width);
            (number.list, number.len) = (true, 4);
            number.value = u32::try_from(count.map_or(0, |(n, _)| n)).unwrap_or(u32::MAX);
            return number;
        }
        let integer = known::integer(tag, value, self.big);
        if tag != wanted.tag {
            let rule = wanted.other.filter(|_| wanted.strict || integer.is_none());
            r.flag(rule.unwrap_or(rules::KEYS_TYPE), at.wrapping_sub(4), 4, expected, tag.into());
        }
        match integer {
            Some(value) => number.value = value,
            None => (number.at, number.len) = (0, len.max(1)),
        }
        if wanted.divisor && number.get() == Some(0) {
            r.flag(rules::KEYS_DIVISOR, at, field::width(tag), 1, 0);
        }
        number
    }

    /// Compares the embedding's shape with the metadata.
    fn embedding(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, keys: &Keys) -> Result<(), Halt> {
        let rows = (keys.tokens.at != 0).then_some(keys.tokens.count);
        let columns = keys.embedding.get().map(u64::from);
        if !keys.arch.is_transformer() || (rows.is_none() && columns.is_none()) {
            c.finish();
            return Ok(());
        }
        let mut next = *c;
        r.mute();
        let tensor = self.next_tensor(r, &mut next);
        r.unmute();
        if let Some(tensor) = tensor?
            && r.name(&tensor.name)?.as_bytes() == Some(known::EMBEDDING)
        {
            r.about(EntryKind::Tensor, tensor.index);
            let span = tensor.dims;
            let mut dims = span.read(r.source()).map_err(|absent| r.lack(absent))?;
            if let (Some(outer), Some(inner), None) = (dims.next(), dims.next(), dims.next()) {
                let mut compare = |rule, at, stated: Option<u64>, is| match stated {
                    Some(stated) if stated != is => r.flag(rule, at, 8, stated, is),
                    _ => {}
                };
                // Stored innermost first.
                compare(rules::KEYS_COLUMNS, span.offset, columns, inner);
                compare(rules::KEYS_ROWS, span.offset.wrapping_add(8), rows, outer);
            }
            next.finish();
        }
        *c = next;
        Ok(())
    }
}

/// The item type of an array. The cursor must be after the array's head.
fn items_of(c: &Cursor, entry: &Entry<'_>) -> u32 {
    match c.state.within {
        0 => entry.content.holds,
        within if within & head::TEXTS != 0 => field::STRING,
        _ => field::ARRAY,
    }
}
