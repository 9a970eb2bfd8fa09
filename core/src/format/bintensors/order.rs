//! The order of the lists, and the padding behind them.

use super::fields;
use super::{Header, field, rules};
use crate::cursor::Cursor;
use crate::finding::Kind;
use crate::read::{BYTES_CHANGED, Halt, Reader};
use crate::rule::Rule;
use crate::source::widen;

/// What the cursor's phase means here.
mod phase {
    pub(super) const METADATA: u8 = 0;
    pub(super) const TENSORS: u8 = 1;
    /// The list is known to be out of order, and only its end is looked for.
    pub(super) const REST: u8 = 2;
    pub(super) const PADDING: u8 = 3;
}

/// What an entry is ordered by: descending element type, then ascending name.
struct Place<'a> {
    dtype: u64,
    name: &'a [u8],
    name_at: usize,
}

impl Place<'_> {
    fn comes_before(&self, other: &Place<'_>) -> bool {
        self.dtype > other.dtype || (self.dtype == other.dtype && self.name < other.name)
    }
}

impl Header {
    /// As many steps as the resident bytes allow.
    pub(super) fn audit_order(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        match c.phase {
            phase::METADATA => {
                let start = self.meta_at;
                self.ascends(r, c, start, self.meta_count, rules::M5, Kind::Metadata, |r| {
                    let pair = fields::pair(r)?;
                    Ok(Place { dtype: 0, name: pair.key, name_at: pair.key_at })
                })?;
            }
            phase::TENSORS | phase::REST => {
                let start = self.list_at;
                self.ascends(r, c, start, self.count, rules::C1, Kind::Tensor, |r| {
                    let entry = fields::entry(r)?;
                    Ok(Place { dtype: entry.dtype, name: entry.name, name_at: entry.name_at })
                })?;
            }
            _ => self.padding(r, c)?,
        }
        Ok(())
    }

    /// Looks at entries until the table ends, bytes are absent, or one is out
    /// of order. `extra` is where the entry before begins.
    #[allow(clippy::too_many_arguments, reason = "two tables, told apart by what is passed")]
    fn ascends<'a>(
        &self,
        r: &mut Reader<'_, 'a>,
        c: &mut Cursor,
        start: u64,
        count: u32,
        rule: Rule,
        kind: Kind,
        read: impl Fn(&mut Reader<'_, 'a>) -> Result<Place<'a>, Halt>,
    ) -> Result<(), Halt> {
        let mut last: Option<Place<'a>> = None;
        loop {
            let at = c.at.max(start);
            if c.index >= count {
                self.next_list(r, c, at);
                return Ok(());
            }
            let compares = c.phase != phase::REST;
            let began = last.is_some();
            // Without the entry before at hand, both must be resident together.
            let again = compares && !began && c.index > 0;
            r.region(if again { c.extra } else { at }, self.data_at, BYTES_CHANGED);
            r.mute();
            let before = if again { read(r).map(Some) } else { Ok(last.take()) };
            let place = before.and_then(|before| read(r).map(|place| (before, place)));
            r.unmute();
            let (before, place) = match place {
                Ok(both) => both,
                // What was passed so far must not be looked at twice.
                Err(Halt::Absent) if began => return Ok(()),
                Err(Halt::Absent) => return Err(Halt::Absent),
                Err(_) => {
                    c.finish();
                    return Ok(());
                }
            };
            let index = c.index;
            c.advance(r.at());
            c.extra = at;
            if compares && before.is_some_and(|before| place.comes_before(&before)) {
                let name = fields::span(at, place.name_at, place.name.len());
                r.about(kind, index);
                r.flag(rule, name.at, name.len, 0, 0);
                if kind == Kind::Metadata {
                    self.next_list(r, c, at);
                    return Ok(());
                }
                c.phase = phase::REST;
            }
            last = Some(place);
        }
    }

    /// Goes on with the list behind the one that was looked at; behind the
    /// tensors, at `end`, is the padding.
    fn next_list(&self, r: &mut Reader<'_, '_>, c: &mut Cursor, end: u64) {
        if c.phase == phase::METADATA {
            c.next_phase();
            return;
        }
        *c = Cursor { at: end, phase: phase::PADDING, ..Cursor::START };
        r.about(Kind::File, 0);
        let length = self.data_at.saturating_sub(field::LENGTH);
        if length & field::ALIGN.wrapping_sub(1) != 0 {
            r.flag(rules::P1, 0, field::LENGTH, field::ALIGN, length);
        }
        let padding = self.data_at.saturating_sub(end);
        if padding >= field::ALIGN {
            r.flag(rules::P3, end, padding, field::ALIGN.wrapping_sub(1), padding);
        }
    }

    /// Looks at resident padding.
    fn padding(&self, r: &mut Reader<'_, '_>, c: &mut Cursor) -> Result<(), Halt> {
        r.region(c.at, self.data_at, BYTES_CHANGED);
        r.about(Kind::File, 0);
        if r.left() == 0 {
            c.finish();
            return Ok(());
        }
        let bytes = r.some()?;
        if let Some((skip, byte)) = (0..).zip(bytes).find(|(_, byte)| **byte != field::PADDING) {
            let at = c.at.saturating_add(skip);
            let len = self.data_at.saturating_sub(at);
            r.flag(rules::P2, at, len, u64::from(field::PADDING), u64::from(*byte));
            c.finish();
        }
        c.at = c.at.saturating_add(widen(bytes.len()));
        Ok(())
    }
}
