//! Names in a flatbuffer.

use super::reads::{Vector, ready, slice};
use crate::base::utf8;
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Reads a name and checks it; no name if it is empty, or longer than `most` bytes, which breaks the
/// rule `long` at `place`.
pub(crate) fn name(
    r: &mut Reader<'_, '_>,
    text: Vector,
    utf8: Rule,
    (most, long, place): (u64, Rule, Span),
) -> Result<NameAt, Halt> {
    let span = text.span(1);
    if span.len > most {
        r.flag(long, place.offset, place.len, most, span.len);
        return Ok(NameAt::default());
    }
    if span.is_empty() {
        return Ok(NameAt::default());
    }
    ready(r, text, 1)?;
    r.check(utf8::is(slice(r, text, 1)), utf8, span, 0, 0);
    Ok(NameAt::plain(span.offset, span.len))
}
