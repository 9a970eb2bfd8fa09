//! Verifies a flatbuffer that is in one piece of memory, and in which nothing is wrong.
//!
//! Tables of one kind mostly share a few vtables. The first table with a vtable is checked field by
//! field, and what is left to follow becomes a plan: the fields that refer to other objects. A
//! later table with the same vtable needs its own place checked, and the plan. If anything is wrong,
//! the walk begins anew and says what.

mod counting;
mod direct;
mod plan;

use super::schema::code;
use super::walk::Place;
use super::{Schema, Walk};
use crate::base::{limits, wide, widen, word};
use crate::parse::Reader;
pub(crate) use direct::{Direct, Items};
use plan::{Plan, Plans};

/// What is done with each object on the way. `None` ends the walk.
///
/// Offsets are verified when they are followed: what a table refers to has not been verified when
/// the table is visited, and its fields have been, apart from the objects behind them.
pub(crate) trait Visit {
    /// A table.
    fn table(&mut self, table: &Found<'_>) -> Option<()>;

    /// A vtable, before the first table that has it. It may come again.
    fn vtable(&mut self, _: Place) -> Option<()> {
        Some(())
    }

    /// A vector in a table of this number, its count included.
    fn vector(&mut self, _: Place, _by: u8) -> Option<()> {
        Some(())
    }

    /// A string in a table of this number, its length and its zero byte included.
    fn string(&mut self, _: Place, _by: u8) -> Option<()> {
        Some(())
    }
}

/// A table that is visited.
pub(crate) struct Found<'p> {
    pub(crate) at: usize,
    plan: &'p Plan,
}

impl Found<'_> {
    /// Its number in the schema.
    pub(crate) fn number(&self) -> u8 {
        self.plan.number
    }

    /// Its bytes.
    pub(crate) fn place(&self) -> Place {
        place(self.at, self.plan.len.into())
    }

    /// Position of a field; 0 if it is absent.
    #[inline]
    pub(crate) fn field(&self, index: u8) -> usize {
        match self.plan.offsets.get(usize::from(index)) {
            None | Some(0) => 0,
            Some(offset) => self.at.wrapping_add(usize::from(*offset)),
        }
    }
}

/// A flatbuffer in memory.
struct Sound<'a, 's, V> {
    bytes: &'a [u8],
    schema: &'s Schema,
    visit: &'s mut V,
    plans: Plans,
    /// Bytes of offsets that may still be followed.
    left: u64,
    /// Number of tables that may still be open at the same time.
    depth: usize,
}

impl Walk {
    /// Whether this walk has not begun, and all of the flatbuffer is in memory and without a fault,
    /// also for `visit`.
    pub(crate) fn is_sound(
        &self,
        r: &Reader<'_, '_>,
        schema: &Schema,
        visit: &mut impl Visit,
    ) -> bool {
        let Some((extent, root)) = self.start() else { return false };
        let len = usize::try_from(wide(extent.end)).unwrap_or(usize::MAX);
        // Inner flatbuffers are left to the walk.
        let bytes = r.source().piece(0, len).filter(|_| extent.start == 0);
        let (Some(bytes), Ok(root)) = (bytes, usize::try_from(wide(root))) else { return false };
        let (left, depth) = (r.allowance(), limits::FLATBUFFER_DEPTH);
        let mut sound = Sound { bytes, schema, visit, plans: Plans::NONE, left, depth };
        sound.table(root, 0).is_some()
    }
}

impl<V: Visit> Sound<'_, '_, V> {
    /// Verifies a table of this number, and all that it refers to.
    #[inline(never)]
    fn table(&mut self, at: usize, number: u8) -> Option<()> {
        let distance = self.u32(at)?.cast_signed();
        let vtable = i64::try_from(at).ok()?.checked_sub(distance.into())?;
        // The start of the file is no vtable, and plans have it if there is none.
        let vtable = u32::try_from(vtable).ok().filter(|vtable| *vtable != 0)?;
        // Deeper tables are left to the walk.
        let depth = self.depth.checked_sub(1)?;
        let place = self.plan(vtable, number)?;
        let plan = self.plans.get(place)?;
        let end = at.checked_add(plan.len.into())?;
        if end > self.bytes.len() || !plan.stands(at) {
            return None;
        }
        self.visit.table(&Found { at, plan })?;
        self.depth = depth;
        // Plans for inner tables may take its place.
        let (fields, count) = (plan.fields, usize::from(plan.count));
        let mut union = 0;
        for (offset, kind) in fields.get(..count)? {
            let field = at.wrapping_add(usize::from(*offset));
            match *kind {
                code::KIND => union = if *offset == 0 { 0 } else { *self.bytes.get(field)? },
                code::UNION..code::STRING => match (offset, union) {
                    (0, 0) => {}
                    (0, _) | (_, 0) => return None,
                    // The value of a union that is unknown ends the walk.
                    _ => match self.schema.value_code(kind & 0x0F, union) {
                        code::STRING => self.string(field, number)?,
                        value @ code::TABLE..code::TABLES => {
                            let target = self.follow(field)?;
                            self.table(target, value)?;
                        }
                        _ => return None,
                    },
                },
                kind => self.value(field, kind, number)?,
            }
        }
        self.depth = depth.wrapping_add(1);
        Some(())
    }

    /// Place of the plan for tables with this vtable.
    #[inline]
    fn plan(&mut self, vtable: u32, number: u8) -> Option<u8> {
        if let Some(place) = self.plans.find(vtable, number) {
            return Some(place);
        }
        let (made, len) = self.plans.make(self.bytes, vtable, number, self.schema)?;
        self.visit.vtable(place(usize::try_from(vtable).ok()?, len.into()))?;
        Some(made)
    }

    /// Verifies what the field of a table refers to.
    #[inline(always)]
    fn value(&mut self, field: usize, kind: u8, by: u8) -> Option<()> {
        match kind {
            code::STRING => self.string(field, by)?,
            code::VECTOR..code::UNION => _ = self.vector(field, kind & 0x0F, by)?,
            code::TABLES..code::SCALAR => {
                let (vector, count) = self.vector(field, 4, by)?;
                for index in 0..count {
                    let table = self.follow(item(vector, index))?;
                    self.table(table, kind & 0x3F)?;
                }
            }
            code::TABLE..code::TABLES => {
                let target = self.follow(field)?;
                self.table(target, kind)?;
            }
            code::STRINGS => {
                let (vector, count) = self.vector(field, 4, by)?;
                for index in 0..count {
                    self.string(item(vector, index), by)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Verifies the vector behind a field. Returns its position, and the number of its items.
    #[inline]
    fn vector(&mut self, field: usize, width: u8, by: u8) -> Option<(usize, usize)> {
        let at = self.follow(field)?;
        let count = usize::try_from(self.u32(at)?).ok()?;
        let len = count.checked_mul(width.into())?.checked_add(4)?;
        let end = at.checked_add(len)?;
        let stands = width < 8 || count == 0 || at & 7 == 4;
        if end > self.bytes.len() || !stands {
            return None;
        }
        self.visit.vector(place(at, len), by)?;
        Some((at, count))
    }

    /// Verifies the string behind a field.
    #[inline]
    fn string(&mut self, field: usize, by: u8) -> Option<()> {
        let at = self.follow(field)?;
        let len = usize::try_from(self.u32(at)?).ok()?.checked_add(4)?;
        if *self.bytes.get(at.checked_add(len)?)? != 0 {
            return None;
        }
        self.visit.string(place(at, len.wrapping_add(1)), by)
    }

    /// The object that the offset at `at` leads to. Whoever reads it finds out whether it is inside.
    #[inline(always)]
    fn follow(&mut self, at: usize) -> Option<usize> {
        self.left = self.left.checked_sub(4)?;
        let offset = usize::try_from(self.u32(at)?).ok()?;
        let target = at.checked_add(offset)?;
        (offset != 0 && target & 3 == 0).then_some(target)
    }

    #[inline]
    fn u32(&self, at: usize) -> Option<u32> {
        self.bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }
}

/// Position of an item of a vector of offsets, which is inside.
fn item(vector: usize, index: usize) -> usize {
    vector.wrapping_add(4).wrapping_add(index.wrapping_mul(4))
}

fn place(at: usize, len: usize) -> Place {
    Place { at: word(widen(at)), len: word(widen(len)) }
}
