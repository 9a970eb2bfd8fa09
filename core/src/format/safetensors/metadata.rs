//! `__metadata__`: an object of strings.

use super::json::{self, Json, Text};
use super::{Header, rules, stands};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::name::{NameAt, NameEncoding};
use crate::read::{Halt, Reader};
use crate::rule::Rule;
use crate::source::{Span, widen};
use crate::tensor::{Meta, Status};

/// The value of [`Meta::tag`] where the text has escapes.
const ESCAPED: u32 = 1;

/// The text of an entry.
pub(in crate::format) fn text_at(meta: &Meta) -> NameAt {
    let mut text = NameAt::plain(meta.stored.at, meta.stored.len);
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
    ) -> Result<Option<Meta>, Halt> {
        if u64::from(self.meta_at) == 0 {
            c.finish();
            return Ok(None);
        }
        let pairs = Pairs {
            at: u64::from(self.meta_at),
            end: u64::from(self.data_at),
            no_map: rules::METADATA_TYPE,
            no_text: rules::METADATA_VALUE,
            truncated: rules::JSON_TRUNCATED,
            own: core::convert::identity,
        };
        pairs.next(r, c)
    }
}

/// An object of strings.
pub(in crate::format) struct Pairs {
    /// Where it begins.
    pub(in crate::format) at: u64,
    /// Where the JSON ends.
    pub(in crate::format) end: u64,
    /// It is no object.
    pub(in crate::format) no_map: Rule,
    /// A value is no text.
    pub(in crate::format) no_text: Rule,
    /// The JSON ends within it.
    pub(in crate::format) truncated: Rule,
    /// The format's own rule for one of safetensors.
    pub(in crate::format) own: fn(Rule) -> Rule,
}

impl Pairs {
    /// The next entry, judged.
    pub(in crate::format) fn next(
        &self,
        r: &mut Reader<'_, '_>,
        c: &mut Cursor,
    ) -> Result<Option<Meta>, Halt> {
        let start = c.at.max(self.at);
        r.region(start, self.end, self.truncated);
        r.about(Kind::Metadata, c.index);
        let mut json = Json::new(r.resident());
        // Out of order an entry begins with its key.
        let first = c.extra == stands::FIRST && start == self.at;
        let pair = match self.pair(&mut json, first, c.extra == stands::BEHIND) {
            Ok(pair) => pair,
            Err(json::Fault) => {
                return match json::halt_as(r, &json, self.own) {
                    halt if halt.is_absent() => Err(halt),
                    _ => {
                        c.finish();
                        Ok(None)
                    }
                };
            }
        };
        let Some((key, value)) = pair else {
            r.about(Kind::File, 0);
            json.report_as(r, start, self.own);
            c.finish();
            return Ok(None);
        };
        let fatal = json.report_as(r, start, self.own);
        let from = |at: usize| start.wrapping_add(widen(at));
        let mut name = NameAt::plain(from(key.at), widen(key.len));
        name.encoding = key.encoding();
        let status = match value {
            Some(_) if !fatal => Status::Sound,
            _ => Status::Broken,
        };
        let value = value.unwrap_or_default();
        let meta = Meta {
            kind: Kind::Metadata,
            index: c.index,
            at: name.at.wrapping_sub(1),
            key: name,
            tag: if value.escaped { ESCAPED } else { 0 },
            status,
            stored: Span::new(from(value.at), widen(value.len)),
        };
        c.advance(from(json.at));
        c.extra = stands::BEHIND;
        Ok(Some(meta))
    }

    /// The next key and its value, which is `None` if it is no text; `None` behind
    /// the last.
    fn pair(
        &self,
        json: &mut Json<'_>,
        first: bool,
        behind: bool,
    ) -> Result<Option<(Text, Option<Text>)>, json::Fault> {
        let byte = json.token()?;
        if first {
            if byte != b'{' {
                let at = json.at;
                json.skip(1)?;
                json.note(self.no_map, at, 0, 0);
                return end(json);
            }
            json.bump();
            if json.token()? == b'}' {
                json.bump();
                return end(json);
            }
        } else if behind {
            match byte {
                b',' => json.bump(),
                b'}' => {
                    json.bump();
                    return end(json);
                }
                _ => return json.syntax(),
            }
            json.token()?;
        }
        let key = json.key()?;
        json.token()?;
        let at = json.at;
        if json.peek()? == b'"' {
            return Ok(Some((key, Some(json.text()?))));
        }
        json.skip(2)?;
        json.note(self.no_text, at, 0, 0);
        Ok(Some((key, None)))
    }
}

/// Another member, or the end of the object around it, must follow.
fn end<T>(json: &mut Json<'_>) -> Result<Option<T>, json::Fault> {
    match json.token()? {
        b',' | b'}' => Ok(None),
        _ => json.syntax(),
    }
}
