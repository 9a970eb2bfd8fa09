//! The extents of a tensor.

use super::reads::{Vector, slice, some};
use crate::base::features::WINDOWS;
use crate::input::Span;
use crate::model::dims::{Packed, scaled};
use crate::model::{DimEncoding, DimsAt};
use crate::parse::Reader;
use crate::rule::Halt;

/// Extents, as far as they have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// Number of extents read.
    pub(crate) rank: u32,
    /// The product of all extents above 0; 0 before the first, so that a new shape is all zeros.
    product: u64,
    zero: bool,
    pub(crate) overflows: bool,
    /// The first extent below the least one allowed, and its offset.
    pub(crate) negative: Option<(i32, u32)>,
    /// The extents, as a tensor keeps them; only in files in windows.
    packed: Packed,
    /// The extent asked for; only in files in windows.
    pub(crate) chosen: u32,
}

impl Shape {
    pub(crate) const START: Shape = Shape {
        rank: 0,
        product: 0,
        zero: false,
        overflows: false,
        negative: None,
        packed: Packed::NONE,
        chosen: 0,
    };

    /// Reads the extents that are left in `vector`, each at least `least`, and notes extent
    /// `choice`.
    pub(crate) fn read(
        &mut self,
        r: &mut Reader<'_, '_>,
        vector: Vector,
        least: i32,
        choice: u32,
    ) -> Result<(), Halt> {
        if !WINDOWS {
            for number in slice(r, vector, 4).as_chunks::<4>().0 {
                self.push(i32::from_le_bytes(*number), vector, least, choice);
            }
            return Ok(());
        }
        while self.rank < vector.count {
            let left = vector.count.saturating_sub(self.rank);
            let at = vector.place(self.rank, 4);
            let span = Span::new(at, u64::from(left).wrapping_mul(4));
            let (numbers, _) = some(r, span, 4)?.as_chunks::<4>();
            for number in numbers {
                self.push(i32::from_le_bytes(*number), vector, least, choice);
            }
        }
        Ok(())
    }

    fn push(&mut self, extent: i32, vector: Vector, least: i32, choice: u32) {
        if extent < least && self.negative.is_none() {
            let at = u32::try_from(vector.place(self.rank, 4)).unwrap_or(0);
            self.negative = Some((extent, at));
        }
        let size = u32::try_from(extent).unwrap_or(0);
        if WINDOWS && self.rank == choice {
            self.chosen = size;
        }
        self.rank = self.rank.wrapping_add(1);
        if WINDOWS {
            self.packed.push(size.into());
        }
        self.zero |= size == 0;
        match scaled(self.product(), size.max(1)) {
            Some(product) => self.product = product,
            None => self.overflows = true,
        }
    }

    /// Where the extents are: with the tensor, because a host cannot keep the window with the
    /// vector; or in `vector` itself, if the file is wholly in memory.
    pub(crate) fn dims(&self, vector: Vector) -> DimsAt {
        if WINDOWS {
            return self.packed.dims();
        }
        DimsAt {
            offset: vector.at.into(),
            len: vector.count.wrapping_mul(4),
            rank: vector.count,
            lead: None,
            encoding: DimEncoding::U32,
        }
    }

    /// Whether the extents take more digits than a tensor has.
    pub(crate) fn is_cut(&self) -> bool {
        WINDOWS && self.packed.is_cut()
    }

    /// Number of elements.
    pub(crate) fn elements(&self) -> u64 {
        if self.zero { 0 } else { self.product() }
    }

    /// The product of all extents above 0.
    fn product(&self) -> u64 {
        self.product | u64::from(self.product == 0)
    }
}
