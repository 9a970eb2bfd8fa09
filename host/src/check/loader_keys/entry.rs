//! Values of metadata entries, and the checks of each one.

use super::known::{self, Array, Known, Model, Wanted};
use super::template::Search;
use super::{List, Number, Stage, Values, finding, text};
use alloc::vec::Vec;
use weighbridge_core::format::gguf::{rules, value_type};
use weighbridge_core::{
    Absent, EntryKind, File, Finding, KeyedMetadata, Metadata, Rule, Source, Span, Stop, Value,
};

/// A value as loaders look at it.
enum Head {
    /// A number: its length in bytes, and its value if it is an integer.
    Number(u32, Option<u32>),
    /// A list: its item type, its number of items, and the width of an item in bytes, 0 if it
    /// varies.
    List { items: u32, count: u64, width: u64 },
    /// A text, or a value of no known type.
    Other,
}

/// Reads the value of an entry, without the items of a list.
fn head(source: &Source<'_>, file: &File, meta: &Metadata) -> Result<Head, Absent> {
    let (count, width) = match file.value(source, meta) {
        Ok(Some(Value::Scalar { dtype, stored })) => {
            let element = dtype.element(source.get(stored)?, 0, file.endianness());
            let integer = element.and_then(|element| known::integer(dtype, element));
            return Ok(Head::Number(u32::try_from(stored.len).unwrap_or(0), integer));
        }
        Ok(Some(Value::Array { dtype, elements, .. })) => (elements, dtype.bytes(1).unwrap_or(0)),
        Ok(Some(Value::List { count, .. })) => (count, 0),
        Err(Stop::NeedBytes(absent)) => return Err(absent),
        _ => return Ok(Head::Other),
    };
    let code = source.get(Span::new(meta.stored.offset, 4))?.first_chunk();
    let items = code.map_or(0, |code| file.endianness().u32(*code));
    Ok(Head::List { items, count, width })
}

/// The bytes of a text; `None` if the value is not a text.
pub(super) fn text_of(meta: &Metadata) -> Option<Span> {
    let Span { offset, len } = meta.stored;
    (meta.tag == value_type::STRING)
        .then(|| Span::new(offset.saturating_add(8), len.saturating_sub(8)))
}

impl Values {
    /// Checks and records an entry; returns the stage that its value needs.
    pub(super) fn enter(
        &mut self,
        source: &Source<'_>,
        file: &File,
        entry: &KeyedMetadata<'_>,
        found: &mut Vec<Finding>,
    ) -> Result<Option<Stage>, Absent> {
        let key = entry.key.as_bytes().unwrap_or_default();
        let mut report = |rule: Rule, bytes: (u64, u32), numbers: (u64, u64)| {
            found.push(finding(rule, (EntryKind::Metadata, entry.index), bytes, numbers));
        };
        match self.arch.known(key) {
            Some(Known::Model) => {
                let model = Model::new(text(entry, source)?);
                self.model.get_or_insert(model);
            }
            Some(Known::Template) => {
                let Some(span) = text_of(entry) else { return Ok(None) };
                let len = u32::try_from(span.len).unwrap_or(u32::MAX);
                report(rules::KEYS_TEMPLATE, (span.offset, len), (0, span.len));
                return Ok(Some(Stage::Template(Search::of(entry.index, span))));
            }
            Some(Known::Array(array)) => {
                let head = head(source, file, entry)?;
                self.array(array, entry, &head, &mut report);
            }
            Some(Known::Number(wanted)) => {
                let head = head(source, file, entry)?;
                let number = number(&wanted, entry, &head, &mut report);
                if let Some(slot) = self.slot(key)
                    && slot.at == 0
                {
                    *slot = number;
                }
            }
            None => {}
        }
        Ok(None)
    }

    /// Checks and records a known list.
    fn array(
        &mut self,
        array: Array,
        meta: &Metadata,
        head: &Head,
        report: &mut dyn FnMut(Rule, (u64, u32), (u64, u64)),
    ) {
        let value_at = meta.stored.offset;
        let Head::List { items, count, width } = *head else {
            let numbers = (value_type::ARRAY.into(), meta.tag.into());
            report(rules::KEYS_ARRAY, (value_at.saturating_sub(4), 4), numbers);
            return;
        };
        let wanted = array.items();
        if !wanted.contains(&items) {
            let first = wanted.first().copied().unwrap_or(0).into();
            let rule = match first {
                _ if wanted == [value_type::STRING] => rules::KEYS_TEXTS,
                _ if width < array.width() => rules::KEYS_ITEMS,
                _ => rules::KEYS_TYPE,
            };
            report(rule, (value_at, 4), (first, items.into()));
            return;
        }
        let list = List { at: value_at + 12, count, entry: meta.index };
        let slot = match array {
            Array::Tokens => &mut self.tokens,
            Array::Scores => &mut self.scores,
            Array::Types => &mut self.types,
            Array::Charsmap if (1..known::LEAST_CHARSMAP).contains(&count) => {
                report(rules::KEYS_CHARSMAP, (value_at + 4, 8), (known::LEAST_CHARSMAP, count));
                return;
            }
            _ => return,
        };
        if slot.at == 0 {
            *slot = list;
        }
    }
}

/// Reads an entry's number, and reports its type if readers do not accept it.
fn number(
    wanted: &Wanted,
    meta: &Metadata,
    head: &Head,
    report: &mut dyn FnMut(Rule, (u64, u32), (u64, u64)),
) -> Number {
    let (at, tag, entry) = (meta.stored.offset, meta.tag, meta.index);
    let (len, integer) = match *head {
        Head::List { count, width, .. } if wanted.layers && width > 0 => {
            let value = u32::try_from(count).unwrap_or(u32::MAX);
            return Number { at, entry, value, list: true, len: 4 };
        }
        Head::Number(len, integer) => (len, integer),
        _ => (0, None),
    };
    if tag != wanted.tag {
        let rule = wanted.other.filter(|_| wanted.strict || integer.is_none());
        let numbers = (wanted.tag.into(), tag.into());
        report(rule.unwrap_or(rules::KEYS_TYPE), (at.saturating_sub(4), 4), numbers);
    }
    let Some(value) = integer else {
        return Number { entry, len: len.max(1), ..Number::default() };
    };
    if wanted.divisor && value == 0 {
        report(rules::KEYS_DIVISOR, (at, len), (1, 0));
    }
    Number { at, entry, value, list: false, len }
}
