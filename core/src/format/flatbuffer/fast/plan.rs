//! What is left to verify of tables that share a vtable.

use super::super::{Schema, Type};

/// Most fields of a table; the largest of the formats has 17.
const FIELDS: usize = 17;
/// Number of plans that are kept, a power of two.
const PLANS: usize = 32;
/// Number of tables of a schema, at most.
const TABLES: usize = 64;
/// Number of vtables that tables of one kind may take in turns.
const TURNS: usize = 4;

/// What is left to verify of tables of one kind with one vtable.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Plan {
    /// Length of the tables.
    pub(super) len: u16,
    /// The tables' number in the schema.
    pub(super) number: u8,
    /// What remains of a table's position after division by 8, and 8 more; 0 if no field of 8 bytes
    /// asks for it.
    position: u8,
    /// Number of fields that are followed.
    pub(super) count: u8,
    /// Offset and type of each. A union's kind is one of them, at 0 if it is absent.
    pub(super) fields: [(u16, u8); FIELDS],
    /// Offsets of all fields; 0 if a field is absent.
    pub(super) offsets: [u16; FIELDS],
}

impl Plan {
    const NONE: Plan = Plan {
        len: 0,
        number: 0,
        position: 0,
        count: 0,
        fields: [(0, 0); FIELDS],
        offsets: [0; FIELDS],
    };

    /// Becomes the plan for tables of this number. Checks their vtable, and the places of all fields.
    /// Returns the length of the vtable.
    fn fill(&mut self, bytes: &[u8], vtable: u32, number: u8, schema: &Schema) -> Option<u16> {
        let bytes = bytes.get(usize::try_from(vtable).ok()?..)?;
        let vtable_len = u16::from_le_bytes(*bytes.first_chunk()?);
        if vtable & 1 != 0 || vtable_len < 4 || vtable_len & 1 != 0 {
            return None;
        }
        let [len, offsets @ ..] = bytes.get(2..usize::from(vtable_len))?.as_chunks::<2>().0 else {
            return None;
        };
        let len = u16::from_le_bytes(*len);
        let codes = schema.field_codes(number);
        if len < 4 || codes.len() > FIELDS {
            return None;
        }
        *self = Plan { len, number, ..Plan::NONE };
        let mut offsets = offsets.iter().map(|offset| u16::from_le_bytes(*offset));
        for (own, code) in codes.iter().enumerate() {
            let offset = offsets.next().unwrap_or(0);
            let (width, is_followed) = match Type::of(*code)? {
                Type::Unused => continue,
                Type::Scalar(width) => (width, false),
                // The value of a union that is absent is compared with its kind.
                Type::Kind => (1, true),
                Type::Union(_) => (4, true),
                _ => (4, offset != 0),
            };
            if offset != 0 {
                self.place(offset, width)?;
                *self.offsets.get_mut(own)? = offset;
            }
            if is_followed {
                *self.fields.get_mut(usize::from(self.count))? = (offset, *code);
                self.count = self.count.wrapping_add(1);
            }
        }
        Some(vtable_len)
    }

    /// Checks the place of a field.
    fn place(&mut self, offset: u16, width: u8) -> Option<()> {
        let end = offset.checked_add(width.into())?;
        // A table is aligned to 4 bytes.
        let is_aligned = offset & u16::from(width.min(4)).wrapping_sub(1) == 0;
        let mut agrees = true;
        if width == 8 {
            let [low, _] = offset.wrapping_neg().to_le_bytes();
            let position = (low & 7) | 8;
            agrees = self.position == 0 || self.position == position;
            self.position = position;
        }
        (offset >= 4 && end <= self.len && is_aligned && agrees).then_some(())
    }

    /// Whether fields of 8 bytes are aligned in a table at this position.
    #[inline]
    pub(super) fn stands(&self, at: usize) -> bool {
        self.position == 0 || at & 7 == usize::from(self.position & 7)
    }
}

/// The plans of a walk.
pub(super) struct Plans {
    plans: [Plan; PLANS],
    /// Number of plans made. The oldest one makes room.
    made: usize,
    /// The last vtables of tables of each number.
    recent: [Recent; TABLES],
}

/// The last vtables of tables of one number, and the places of the plans; 0 stands for none.
#[derive(Clone, Copy)]
struct Recent {
    vtables: [u32; TURNS],
    places: [u8; TURNS],
}

impl Plans {
    pub(super) const NONE: Plans = Plans {
        plans: [Plan::NONE; PLANS],
        made: 0,
        recent: [Recent { vtables: [0; TURNS], places: [0; TURNS] }; TABLES],
    };

    /// The plan at a place.
    #[inline]
    pub(super) fn get(&self, place: u8) -> Option<&Plan> {
        self.plans.get(usize::from(place))
    }

    /// Place of the plan for tables of a number with a vtable.
    #[inline]
    pub(super) fn find(&self, vtable: u32, number: u8) -> Option<u8> {
        let Recent { vtables, places } = self.recent.get(usize::from(number))?;
        let mut pairs = vtables.iter().zip(places);
        pairs.find(|(known, _)| **known == vtable).map(|(_, place)| *place)
    }

    /// Makes a plan. Returns its place, and the length of the vtable.
    #[cold]
    pub(super) fn make(
        &mut self,
        bytes: &[u8],
        vtable: u32,
        number: u8,
        schema: &Schema,
    ) -> Option<(u8, u16)> {
        let place = self.made & PLANS.wrapping_sub(1);
        let free = self.plans.get_mut(place)?;
        let old = free.number;
        let len = free.fill(bytes, vtable, number, schema)?;
        self.made = self.made.wrapping_add(1);
        let place = u8::try_from(place).ok()?;
        let before = self.recent.get_mut(usize::from(old))?;
        for (known, _) in
            before.vtables.iter_mut().zip(before.places).filter(|(_, it)| *it == place)
        {
            *known = 0;
        }
        let Recent { vtables, places } = self.recent.get_mut(usize::from(number))?;
        let ([a, b, c, _], [d, e, f, _]) = (*vtables, *places);
        (*vtables, *places) = ([vtable, a, b, c], [place, d, e, f]);
        Some((place, len))
    }
}
