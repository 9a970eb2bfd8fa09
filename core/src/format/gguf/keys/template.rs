//! Chat templates: code that runs in the reader's template engine.

use super::{Cursor, phase, rules};
use crate::base::widen;
use crate::parse::Reader;
use crate::rule::{EntryKind, Halt, general::BYTES_CHANGED};

/// Attributes through which a template can escape a Python engine without a sandbox. No
/// template needs them, since its inputs are messages, tools and texts.
static ESCAPES: [&[u8]; 7] = [
    b"__globals__",
    b"__subclasses__",
    b"__builtins__",
    b"__import__",
    b"__class__",
    b"__bases__",
    b"__mro__",
];

/// Length of the longest attribute.
const LONGEST: u64 = 14;

/// Searches the resident part of the cursor's template, up to its `end`.
pub(super) fn search(r: &mut Reader<'_, '_>, c: &mut Cursor, end: u64) -> Result<(), Halt> {
    let left = end.wrapping_sub(c.at);
    r.region(c.at, end, BYTES_CHANGED);
    r.require(left.min(LONGEST))?;
    let run = r.resident();
    if let Some((at, name)) = escape(run) {
        r.about(EntryKind::Metadata, c.index.wrapping_sub(1));
        let at = c.at.wrapping_add(widen(at));
        r.flag(rules::KEYS_TEMPLATE_ESCAPE, at, widen(name.len()), 0, 0);
        c.at = end;
    } else if widen(run.len()) >= left {
        c.at = end;
    } else {
        // An attribute may begin in the last bytes.
        c.at = c.at.wrapping_add(widen(run.len()).saturating_sub(LONGEST.wrapping_sub(1)));
        return Ok(());
    }
    c.phase = phase::WALK;
    Ok(())
}

/// The first of these attributes in `text`, and its position.
fn escape(text: &[u8]) -> Option<(usize, &'static [u8])> {
    let mut at = 0_usize;
    while let Some(rest) = text.get(at..) {
        let next = rest.iter().position(|byte| *byte == b'_')?;
        at = at.saturating_add(next);
        let rest = text.get(at..).unwrap_or_default();
        if let Some(name) = ESCAPES.iter().find(|name| rest.starts_with(name)) {
            return Some((at, name));
        }
        at = at.saturating_add(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_is_the_longest() {
        assert_eq!(ESCAPES.iter().map(|name| widen(name.len())).max(), Some(LONGEST));
    }

    #[test]
    fn the_first_is_found() {
        assert_eq!(escape(b"{{ x.__class__.__mro__ }}"), Some((5, &b"__class__"[..])));
        assert_eq!(escape(b"___class__"), Some((1, &b"__class__"[..])));
        assert_eq!(escape(b"{{ __class }} __init__ _"), None);
    }
}
