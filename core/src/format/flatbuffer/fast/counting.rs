//! Counts the objects of a flatbuffer in which nothing is wrong.

use super::{Found, Visit};
use crate::format::flatbuffer::{Counts, Place, Schema, Walk, strings_of};
use crate::parse::Reader;

struct Counting<'s> {
    counts: Counts,
    schema: &'s Schema,
}

impl Counting<'_> {
    #[inline]
    fn count(&mut self, kind: u8) {
        for (count, counted) in self.counts.counted.iter_mut().zip(&self.schema.counted) {
            *count = count.saturating_add(u32::from(kind == *counted));
        }
    }
}

impl Visit for Counting<'_> {
    #[inline]
    fn table(&mut self, table: &Found<'_>) -> Option<()> {
        match table.number() {
            0 => self.counts.root = table.place().span().offset,
            number => self.count(number),
        }
        Some(())
    }

    #[inline]
    fn string(&mut self, _: Place, by: u8) -> Option<()> {
        self.count(strings_of(by));
        Some(())
    }
}

impl Walk {
    /// Counts all objects. False if something may be wrong; then nothing was counted.
    pub(crate) fn is_counted(
        &self,
        r: &Reader<'_, '_>,
        schema: &Schema,
        counts: &mut Counts,
    ) -> bool {
        let mut counting = Counting { counts: *counts, schema };
        let is_sound = self.is_sound(r, schema, &mut counting);
        if is_sound {
            *counts = counting.counts;
        }
        is_sound
    }
}
