//! Verifies a flatbuffer that is in one piece of memory, and in which nothing is wrong.
//!
//! Tables of one kind mostly share a vtable. The first one is checked field by field, and what is left
//! to follow becomes a [`Plan`]: the fields that refer to other objects. A later table with the same
//! vtable needs its own place checked, and the plan. If anything is wrong, the walk begins anew and
//! says what.

use super::schema::code;
use super::walk::Place;
use super::{Object, Schema, Type, Walk};
use crate::base::{Word, limits, wide, word};
use crate::parse::Reader;

/// Most fields of a table; the largest of the formats has 17.
const FIELDS: usize = 17;
/// Most tables of a schema that have a plan; others are left to the walk.
const PLANS: usize = 64;

/// What is left to verify of tables with one vtable.
#[derive(Clone, Copy)]
struct Plan {
    /// Position of the vtable; 0 before there is a plan.
    vtable: Word,
    /// Length of the vtable, and of the tables.
    vtable_len: u16,
    len: u16,
    /// What remains of a table's position after division by 8, if a field of 8 bytes asks for it.
    position: Option<u8>,
    /// Number of fields that are followed.
    count: u8,
    /// Offset and type of each. A union's kind is one of them, at 0 if it is absent.
    fields: [(u16, u8); FIELDS],
}

impl Plan {
    const NONE: Plan = Plan {
        vtable: 0,
        vtable_len: 0,
        len: 0,
        position: None,
        count: 0,
        fields: [(0, 0); FIELDS],
    };
}

/// An open table.
#[derive(Clone, Copy)]
struct Step {
    at: Word,
    /// Its number in the schema, which is that of its plan.
    number: u8,
    /// The next field of the plan.
    next: u8,
    /// The kind of the current union.
    kind: u8,
    /// The number of the tables in the current vector, the next item of it, and how many are left.
    inner: u8,
    item: Word,
    left: u32,
}

impl Step {
    const NONE: Step = Step { at: 0, number: 0, next: 0, kind: 0, inner: 0, item: 0, left: 0 };
}

/// A flatbuffer in memory.
struct Sound<'a, 's> {
    bytes: &'a [u8],
    schema: &'s Schema,
    plans: [Plan; PLANS],
    /// Bytes of offsets that may still be followed.
    left: u64,
}

impl Walk {
    /// Whether this walk has not begun, and all of the flatbuffer is in memory and without a fault.
    /// `visit` is called with each object, and the number of the table that refers to it.
    pub(crate) fn is_sound(
        &self,
        r: &Reader<'_, '_>,
        schema: &Schema,
        visit: &mut impl FnMut(Object, u8),
    ) -> bool {
        let Some((extent, root)) = self.start() else { return false };
        let len = usize::try_from(wide(extent.end)).unwrap_or(usize::MAX);
        // Inner flatbuffers are left to the walk.
        let bytes = r.source().piece(0, len).filter(|_| extent.start == 0);
        let Some(bytes) = bytes else { return false };
        let mut sound = Sound { bytes, schema, plans: [Plan::NONE; PLANS], left: r.allowance() };
        sound.walk(root, visit).is_some()
    }
}

impl Sound<'_, '_> {
    fn walk(&mut self, root: Word, visit: &mut impl FnMut(Object, u8)) -> Option<()> {
        let mut open = [Step::NONE; limits::FLATBUFFER_DEPTH];
        let mut depth = 0_usize;
        if let Some(step) = self.enter(root, 0, 0, visit)? {
            *open.first_mut()? = step;
            depth = 1;
        }
        while let Some(place) = depth.checked_sub(1) {
            let top = open.get_mut(place)?;
            let inner = match top.left.checked_sub(1) {
                Some(rest) => {
                    let item = top.item;
                    (top.left, top.item) = (rest, item.wrapping_add(4));
                    Some((self.follow(item)?, top.inner))
                }
                None => self.field(top, visit)?,
            };
            let number = top.number;
            match inner {
                Some((target, inner)) => {
                    // Deeper tables are left to the walk.
                    let free = open.get_mut(depth)?;
                    if let Some(step) = self.enter(target, inner, number, visit)? {
                        (*free, depth) = (step, depth.wrapping_add(1));
                    }
                }
                None if top.left == 0 && self.is_over(top) => depth = place,
                None => {}
            }
        }
        Some(())
    }

    fn is_over(&self, top: &Step) -> bool {
        self.plans.get(usize::from(top.number)).is_none_or(|plan| top.next >= plan.count)
    }

    /// Verifies the next field of a table. Returns the table that it refers to; the tables of a vector
    /// are noted in `top`.
    #[inline]
    fn field(
        &mut self,
        top: &mut Step,
        visit: &mut impl FnMut(Object, u8),
    ) -> Option<Option<(Word, u8)>> {
        let plan = self.plans.get(usize::from(top.number))?;
        let (offset, mut kind) = match plan.fields.get(usize::from(top.next)) {
            Some(field) if top.next < plan.count => *field,
            _ => return Some(None),
        };
        top.next = top.next.wrapping_add(1);
        let at = top.at.wrapping_add(Word::from(offset));
        if kind == code::KIND {
            top.kind = if offset == 0 { 0 } else { *self.from(at)?.first()? };
            return Some(None);
        }
        if kind & 0xF0 == code::UNION {
            match (offset, top.kind) {
                (0, 0) => return Some(None),
                (0, _) | (_, 0) => return None,
                (_, value) => kind = self.schema.value_code(kind & 0x0F, value),
            }
        }
        let target = self.follow(at)?;
        match kind {
            code::TABLE..code::TABLES => return Some(Some((target, kind))),
            code::STRING => self.string(target, top.number, visit)?,
            code::STRINGS => {
                let count = self.vector(target, 4, top.number, visit)?;
                for i in 0..count {
                    let item = target.wrapping_add(4).wrapping_add(word(u64::from(i) << 2));
                    let string = self.follow(item)?;
                    self.string(string, top.number, visit)?;
                }
            }
            code::TABLES..code::SCALAR => {
                top.left = self.vector(target, 4, top.number, visit)?;
                (top.item, top.inner) = (target.wrapping_add(4), kind & 0x3F);
            }
            code::VECTOR..code::UNION => {
                self.vector(target, kind & 0x0F, top.number, visit)?;
            }
            // The value of a union that is unknown.
            _ => return None,
        }
        Some(None)
    }

    /// Verifies the place of a table. Returns it if it has fields to follow.
    #[inline]
    fn enter(
        &mut self,
        at: Word,
        number: u8,
        by: u8,
        visit: &mut impl FnMut(Object, u8),
    ) -> Option<Option<Step>> {
        let distance = self.u32(at)?.cast_signed();
        let vtable = i64::try_from(wide(at)).ok()?.checked_sub(distance.into())?;
        // One at 0 would be the identifier, and says that there is no plan.
        let vtable = word(u64::try_from(vtable).ok().filter(|vtable| *vtable != 0)?);
        let plan = self.plans.get(usize::from(number))?;
        if plan.vtable != vtable {
            let made = self.plan(vtable, number)?;
            *self.plans.get_mut(usize::from(number))? = made;
        }
        let plan = self.plans.get(usize::from(number))?;
        let end = wide(at).wrapping_add(plan.len.into());
        let stands = plan.position.is_none_or(|position| at & 7 == position.into());
        if end > self.len() || !stands {
            return None;
        }
        let place = Place { at, len: plan.len.into() };
        let vtable = Place { at: vtable, len: plan.vtable_len.into() };
        visit(Object::Table { number, place, vtable }, by);
        Some((plan.count > 0).then_some(Step { at, number, ..Step::NONE }))
    }

    /// Checks the vtable at a position, and the places of all fields of table `number`.
    #[cold]
    fn plan(&self, vtable: Word, number: u8) -> Option<Plan> {
        let bytes = self.from(vtable)?;
        let vtable_len = u16::from_le_bytes(*bytes.first_chunk()?);
        if vtable & 1 != 0 || vtable_len < 4 || vtable_len & 1 != 0 {
            return None;
        }
        let (pairs, _) = bytes.get(2..usize::from(vtable_len))?.as_chunks::<2>();
        let mut pairs = pairs.iter().map(|pair| u16::from_le_bytes(*pair));
        let len = pairs.next()?;
        if len < 4 {
            return None;
        }
        let mut plan = Plan { vtable, vtable_len, len, ..Plan::NONE };
        for index in 0..=u8::MAX {
            let code = self.schema.field_code(number, index);
            if code == code::END {
                break;
            }
            let offset = pairs.next().unwrap_or(0);
            let (kind, is_union) = (Type::of(code)?, code & 0xF0 == code::UNION);
            let (width, is_followed) = match kind {
                Type::Unused => continue,
                Type::Scalar(width) => (width, false),
                Type::Kind => (1, true),
                _ => (4, offset != 0 || is_union),
            };
            if offset != 0 {
                let end = offset.checked_add(width.into())?;
                let rest = offset.checked_rem(width.into())?;
                let position = (width == 8).then_some(offset.wrapping_neg().to_le_bytes()[0] & 7);
                // A table is aligned to 4 bytes.
                let is_aligned = if width == 8 { offset & 3 == 0 } else { rest == 0 };
                let agrees =
                    position.is_none() || plan.position.is_none_or(|it| Some(it) == position);
                if offset < 4 || end > len || !is_aligned || !agrees {
                    return None;
                }
                plan.position = plan.position.or(position);
            }
            if is_followed {
                *plan.fields.get_mut(usize::from(plan.count))? = (offset, code);
                plan.count = plan.count.wrapping_add(1);
            }
        }
        Some(plan)
    }

    /// Verifies a vector, and returns the number of its items.
    #[inline]
    fn vector(
        &self,
        at: Word,
        width: u8,
        by: u8,
        visit: &mut impl FnMut(Object, u8),
    ) -> Option<u32> {
        let count = self.u32(at)?;
        // 32 bits times 8 do not wrap in 64.
        let len = u64::from(count).wrapping_mul(width.into()).wrapping_add(4);
        let stands = width < 8 || count == 0 || at & 7 == 4;
        if wide(at).wrapping_add(len) > self.len() || !stands {
            return None;
        }
        visit(Object::Vector(Place { at, len: word(len) }), by);
        Some(count)
    }

    #[inline]
    fn string(&self, at: Word, by: u8, visit: &mut impl FnMut(Object, u8)) -> Option<()> {
        let len = u64::from(self.u32(at)?);
        let end = wide(at).wrapping_add(len).wrapping_add(4);
        if *self.from(word(end))?.first()? != 0 || end >= self.len() {
            return None;
        }
        visit(Object::String(Place { at, len: word(len.wrapping_add(5)) }), by);
        Some(())
    }

    /// The object that the offset at `at` leads to.
    #[inline]
    fn follow(&mut self, at: Word) -> Option<Word> {
        self.left = self.left.checked_sub(4)?;
        let offset = self.u32(at)?;
        let target = wide(at).wrapping_add(offset.into());
        let inside = target.wrapping_add(4) <= self.len();
        (offset != 0 && inside && target & 3 == 0).then_some(word(target))
    }

    fn len(&self) -> u64 {
        crate::base::widen(self.bytes.len())
    }

    #[inline]
    fn from(&self, at: Word) -> Option<&[u8]> {
        self.bytes.get(usize::try_from(wide(at)).ok()?..)
    }

    #[inline]
    fn u32(&self, at: Word) -> Option<u32> {
        self.from(at)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }
}
