//! Names in a flatbuffer.

use super::reads::{Vector, ready, slice};
use crate::base::utf8;
use crate::input::Span;
use crate::model::NameAt;
use crate::parse::Reader;
use crate::rule::{Halt, Rule};

/// Where a name is; nowhere if it is empty, or longer than `most` bytes and so not read.
pub(crate) fn name_at(text: Vector, most: u64) -> NameAt {
    match u64::from(text.count) {
        0 => NameAt::default(),
        len if len > most => NameAt::default(),
        len => NameAt::plain(text.at.into(), len),
    }
}

/// Reads a name and checks it. One that is longer than `most` bytes breaks the rule `long` at `place`.
pub(crate) fn check(
    r: &mut Reader<'_, '_>,
    text: Vector,
    utf8: Rule,
    (most, long, place): (u64, Rule, Span),
) -> Result<(), Halt> {
    let span = text.span(1);
    if span.len > most {
        r.flag(long, place.offset, place.len, most, span.len);
    } else if span.len > 0 {
        ready(r, text, 1)?;
        r.check(utf8::is(slice(r, text, 1)), utf8, span, 0, 0);
    }
    Ok(())
}
