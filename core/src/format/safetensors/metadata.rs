//! `__metadata__`: an object of strings.

use super::json::{self, Json, Text};
use super::{Header, rules, stands};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::name::NameAt;
use crate::read::{Halt, Reader};
use crate::source::{Span, widen};
use crate::tensor::{Meta, Status};

/// The value of [`Meta::tag`] where the text has escapes.
pub(super) const ESCAPED: u32 = 1;

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
        let start = c.at.max(u64::from(self.meta_at));
        r.region(start, u64::from(self.data_at), rules::JSON_TRUNCATED);
        r.about(Kind::Metadata, c.index);
        let mut json = Json::new(r.resident());
        // Out of order an entry begins with its key.
        let first = c.extra == stands::FIRST && start == u64::from(self.meta_at);
        let pair = match pair(&mut json, first, c.extra == stands::BEHIND) {
            Ok(pair) => pair,
            Err(fault) => {
                return match json::halt(r, &json, fault) {
                    Halt::ABSENT => Err(Halt::ABSENT),
                    _ => {
                        c.finish();
                        Ok(None)
                    }
                };
            }
        };
        let Some((key, value)) = pair else {
            r.about(Kind::File, 0);
            json.report(r, start);
            c.finish();
            return Ok(None);
        };
        let fatal = json.report(r, start);
        let from = |at: usize| start.saturating_add(widen(at));
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
            at: name.at.saturating_sub(1),
            key: name,
            tag: if value.escaped { ESCAPED } else { 0 },
            status,
            stored: Span::new(from(value.at), widen(value.len)),
        };
        c.advance(from(json.at));
        c.extra = stands::BEHIND;
        Ok(Some(meta))
    }
}

/// Another member, or the end of the header, must follow.
fn end<T>(json: &mut Json<'_>) -> Result<Option<T>, json::Fault> {
    match json.token()? {
        b',' | b'}' => Ok(None),
        _ => json.syntax(),
    }
}

/// The next key and its value, which is `None` if it is no text; `None` behind
/// the last.
fn pair(
    json: &mut Json<'_>,
    first: bool,
    behind: bool,
) -> Result<Option<(Text, Option<Text>)>, json::Fault> {
    let byte = json.token()?;
    if first {
        if byte != b'{' {
            let at = json.at;
            json.skip(1)?;
            json.note(rules::METADATA_TYPE, at, 0, 0);
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
    json.note(rules::METADATA_VALUE, at, 0, 0);
    Ok(Some((key, None)))
}
