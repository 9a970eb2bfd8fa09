//! `__metadata__`: an object of strings.

use super::json::{Json, Text};
use super::{Cursor, Header, far, rules, stands};
use crate::base::{Word, wide, widen, word};
use crate::input::Span;
use crate::model::{Metadata, NameAt, NameEncoding, Status};
use crate::parse::{self, Reader};
use crate::rule::{EntryKind, Halt, Rule};

/// The value of [`Metadata::tag`] if the text has escapes.
const ESCAPED: u32 = 1;

/// The location of an entry's value.
pub(in crate::format) fn text_at(meta: &Metadata) -> NameAt {
    let mut text = NameAt::plain(meta.stored.offset, meta.stored.len);
    if meta.tag == ESCAPED {
        text.encoding = NameEncoding::Json;
    }
    text
}

impl Header {
    pub(super) fn next_meta(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Metadata>, Halt> {
        if self.meta_at == 0 {
            c.finish();
            return Ok(None);
        }
        let pairs = Pairs {
            at: far(self.meta_at),
            end: far(self.data_at),
            no_map: rules::METADATA_TYPE,
            no_text: rules::METADATA_VALUE,
            truncated: rules::JSON_TRUNCATED,
            own: core::convert::identity,
        };
        pairs.next(r, c)
    }
}

/// A state with the position of a cursor over an object of strings.
pub(in crate::format) trait Stands: parse::State {
    /// One of [`stands`].
    fn stands(&mut self) -> &mut u64;
}

/// An object of strings.
pub(in crate::format) struct Pairs {
    /// Its offset.
    pub(in crate::format) at: Word,
    /// End of the JSON.
    pub(in crate::format) end: Word,
    /// Broken if it is not an object.
    pub(in crate::format) no_map: Rule,
    /// Broken if a value is not a string.
    pub(in crate::format) no_text: Rule,
    /// Broken if the JSON ends inside it.
    pub(in crate::format) truncated: Rule,
    /// Maps a safetensors rule to the format's own.
    pub(in crate::format) own: fn(Rule) -> Rule,
}

impl Pairs {
    /// Reads and validates the next entry.
    pub(in crate::format) fn next<S: Stands>(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut parse::Cursor<S>,
    ) -> Result<Option<Metadata>, Halt> {
        let start = word(c.at).max(self.at);
        r.about(EntryKind::Metadata, c.index);
        let mut json = Json::of(r, start, self.end, self.truncated);
        // An entry that is read out of order begins with its key.
        let first = *c.state.stands() == stands::FIRST && start == self.at;
        let over = self.begin(&mut json, first, *c.state.stands() == stands::AFTER);
        if over {
            // Another member, or the end of the enclosing object, must follow.
            match json.token() {
                b',' | b'}' if !json.failed => r.about(EntryKind::File, 0),
                _ => json.syntax(),
            }
        }
        let (key, value) = if over { (Text::default(), None) } else { self.pair(&mut json) };
        let fatal = json.conclude_as(r, self.own)?;
        if over || json.failed {
            c.finish();
            return Ok(None);
        }
        let name = key.name_at(&json);
        let status = match value {
            Some(_) if !fatal => Status::Sound,
            _ => Status::Broken,
        };
        let (stored, escaped) = match value {
            Some(text) => (Span::new(wide(json.place(text.at)), widen(text.len)), text.escaped),
            None => (Span::default(), false),
        };
        let meta = Metadata {
            kind: EntryKind::Metadata,
            index: c.index,
            offset: name.offset.wrapping_sub(1),
            key: name,
            tag: if escaped { ESCAPED } else { 0 },
            status,
            stored,
        };
        c.advance(wide(json.place(json.at)));
        *c.state.stands() = stands::AFTER;
        Ok(Some(meta))
    }

    /// Reads up to the next entry; returns whether the object ends.
    fn begin(&self, json: &mut Json<'_>, first: bool, after_close: bool) -> bool {
        if after_close {
            return !json.more(b'}');
        }
        if !first {
            return false;
        }
        json.token();
        let at = json.at;
        if json.eat(b'{') {
            return json.eat(b'}');
        }
        json.value(1);
        json.note(self.no_map, at, 0, 0);
        true
    }

    /// Reads a key and its value; the value is `None` if it is not a string.
    fn pair(&self, json: &mut Json<'_>) -> (Text, Option<Text>) {
        json.key();
        let key = json.text;
        json.token();
        let at = json.at;
        if json.value(2) == b'"' {
            return (key, Some(json.text));
        }
        json.note(self.no_text, at, 0, 0);
        (key, None)
    }
}
