//! Code points of text in the fields of records.

use super::points::Points;
use crate::base::widen;
use crate::model::{
    Endianness,
    texts::{Text, Texts},
};

/// Progress through records, in pieces that may divide a code point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    texts: Texts,
    /// Number of bytes before the first record that are still to come.
    lead: u64,
    /// Number of bytes passed, with those before the first record.
    passed: u64,
    /// Position in the current record.
    at: u32,
    /// Number of its texts that are complete.
    done: usize,
    points: Points,
}

impl Fields {
    /// Records with `texts` after `lead` bytes; `None` if they have no text.
    pub(super) fn new(lead: u64, texts: Texts) -> Option<Self> {
        let any = !texts.all().is_empty() && texts.width() > 0;
        let points = Points::new(0, Endianness::Little);
        any.then_some(Fields { texts, lead, passed: 0, at: 0, done: 0, points })
    }

    /// Passes the next bytes. Returns the position among all bytes passed, and the value, of the
    /// first number that is no code point, and looks at nothing after it.
    pub(super) fn feed(&mut self, piece: &[u8]) -> Option<(u64, u32)> {
        let (_, mut rest) = self.take(piece, self.lead);
        self.lead = self.lead.saturating_sub(widen(piece.len().wrapping_sub(rest.len())));
        while !rest.is_empty() {
            let width = self.texts.width();
            let Some(Text { start, len, endianness }) = self.texts.all().get(self.done).copied()
            else {
                rest = self.go(rest, width).1;
                if self.at >= width {
                    (self.at, self.done) = (0, 0);
                }
                continue;
            };
            if self.at < start {
                rest = self.go(rest, start).1;
                continue;
            }
            let (before, points) = (self.passed, self.points.passed());
            let end = start.saturating_add(len);
            let (text, after) = self.go(rest, end);
            self.points.turn(endianness);
            if let Some((number, found)) = self.points.feed(text) {
                return Some((before.wrapping_add(number).wrapping_sub(points), found));
            }
            rest = after;
            if self.at >= end {
                self.done = self.done.wrapping_add(1);
            }
            // A record may end with its text.
            if self.at >= width {
                (self.at, self.done) = (0, 0);
            }
        }
        None
    }

    /// Takes the bytes up to position `end` of the record, or all.
    fn go<'p>(&mut self, piece: &'p [u8], end: u32) -> (&'p [u8], &'p [u8]) {
        let (taken, rest) = self.take(piece, end.saturating_sub(self.at).into());
        self.at = self.at.saturating_add(u32::try_from(taken.len()).unwrap_or(u32::MAX));
        (taken, rest)
    }

    /// Takes up to `most` bytes.
    fn take<'p>(&mut self, piece: &'p [u8], most: u64) -> (&'p [u8], &'p [u8]) {
        let len = usize::try_from(most).unwrap_or(usize::MAX).min(piece.len());
        self.passed = self.passed.wrapping_add(widen(len));
        piece.split_at_checked(len).unwrap_or((piece, &[]))
    }
}
