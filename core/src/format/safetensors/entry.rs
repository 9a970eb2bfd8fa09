//! The entry of a tensor: its fields in any order, with whatever white space.

use super::json::{Fault, Json, Number, Text};
use super::{field, rules};
use crate::dtype::DType;
use crate::name::Name;
use crate::rule::Rule;

/// The fields of an entry, with where they lie from where reading began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    /// `None` where the field is missing.
    dtype: Option<DType>,
    /// The spelling of the type, without quotes.
    pub(super) spelling: Text,
    /// The extents, without brackets.
    pub(super) dims_at: usize,
    pub(super) dims_len: usize,
    pub(super) rank: u32,
    shape: bool,
    /// The product of the extents, unless it overflows.
    elements: Option<u64>,
    offsets: Option<[u64; 2]>,
    offsets_at: usize,
    offsets_len: usize,
    fields: u8,
}

/// What is known of a tensor's data once its entry was judged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) dtype: DType,
    pub(super) elements: u64,
    pub(super) begin: u64,
    pub(super) end: u64,
}

impl Entry {
    /// Reads the value of a member; `None` if it is no object, which is noted.
    pub(super) fn read(json: &mut Json<'_>) -> Result<Option<Entry>, Fault> {
        let at = json.at;
        let mut entry = Entry { elements: Some(1), dims_at: at, ..Entry::default() };
        // Where fields are missing, their place does not depend on where reading began.
        entry.spelling.at = at;
        if json.token()? != b'{' {
            json.skip(1)?;
            json.note(rules::ENTRY_TYPE, at, 0, 0);
            return Ok(None);
        }
        json.bump();
        if json.token()? == b'}' {
            json.bump();
            json.note(rules::FIELD_MISSING, at, 0, 0);
            return Ok(Some(entry));
        }
        loop {
            entry.field(json)?;
            match json.token()? {
                b',' => json.bump(),
                b'}' => break,
                _ => return json.syntax(),
            }
        }
        json.bump();
        if entry.fields != 7 {
            json.note(rules::FIELD_MISSING, at, 0, 0);
        }
        Ok(Some(entry))
    }

    fn field(&mut self, json: &mut Json<'_>) -> Result<(), Fault> {
        json.token()?;
        let at = json.at;
        let key = json.key()?;
        json.token()?;
        let name = Name::new(json.inside(&key), key.encoding());
        let bit = if name == *"dtype" {
            1
        } else if name == *"shape" {
            2
        } else if name == *"data_offsets" {
            4
        } else {
            json.skip(2)?;
            json.note(rules::FIELD_UNKNOWN, at, 0, 0);
            return Ok(());
        };
        if self.fields & bit != 0 {
            json.skip(2)?;
            json.note(rules::FIELD_DUPLICATE, at, 0, 0);
            return Ok(());
        }
        self.fields |= bit;
        match bit {
            1 => self.dtype(json),
            2 => self.shape(json),
            _ => self.offsets(json),
        }
    }

    fn dtype(&mut self, json: &mut Json<'_>) -> Result<(), Fault> {
        let at = json.at;
        if json.peek()? != b'"' {
            json.skip(2)?;
            json.note(rules::DTYPE_TYPE, at, 0, 0);
            return Ok(());
        }
        self.spelling = json.text()?;
        let name = Name::new(json.inside(&self.spelling), self.spelling.encoding());
        let known = field::DTYPES.iter().find(|(spelling, _)| name == **spelling);
        let dtype = known.map_or(DType::Unknown, |(_, dtype)| *dtype);
        if dtype == DType::Unknown {
            json.note(rules::DTYPE_UNKNOWN, at, 0, 0);
        }
        self.dtype = Some(dtype);
        Ok(())
    }

    fn shape(&mut self, json: &mut Json<'_>) -> Result<(), Fault> {
        let mut zero = false;
        let span = list(json, rules::SHAPE_TYPE, |rank, extent| {
            self.rank = rank.wrapping_add(1);
            zero |= extent == 0;
            // A 0 does not hide the overflow of the others.
            self.elements = self.elements.and_then(|n| n.checked_mul(extent.max(1)));
        })?;
        if zero {
            self.elements = self.elements.map(|_| 0);
        }
        self.shape = span.is_some();
        (self.dims_at, self.dims_len) = span.unwrap_or((self.dims_at, 0));
        Ok(())
    }

    fn offsets(&mut self, json: &mut Json<'_>) -> Result<(), Fault> {
        let mut offsets = [0; 2];
        let mut count = 0;
        let at = json.at;
        let span = list(json, rules::OFFSETS_TYPE, |i, offset| {
            count = i.wrapping_add(1);
            if let Some(slot) = usize::try_from(i).ok().and_then(|i| offsets.get_mut(i)) {
                *slot = offset;
            }
        })?;
        (self.offsets_at, self.offsets_len) = (at, json.at.wrapping_sub(at));
        if span.is_some() && count == 2 {
            self.offsets = Some(offsets);
        } else if span.is_some() {
            json.note(rules::OFFSETS_TYPE, at, 2, u64::from(count));
        }
        Ok(())
    }

    /// Judges the fields against one another and against a buffer of `data_len`
    /// bytes; `None` if the data cannot be used or a field is missing.
    ///
    /// Where the type is unknown only the offsets are judged.
    pub(super) fn judge(&self, json: &mut Json<'_>, data_len: u64) -> Option<Place> {
        let [begin, end] = self.offsets?;
        let (dtype, true) = (self.dtype?, self.shape) else {
            return None;
        };
        let mut broken = |rule: Rule, expected, found| {
            json.note(rule, self.offsets_at, expected, found);
            None
        };
        if end < begin {
            return broken(rules::OFFSET_ORDER, begin, end);
        }
        if end > data_len {
            return broken(rules::OFFSET_BOUNDS, data_len, end);
        }
        let place = Place { dtype, elements: self.elements.unwrap_or(0), begin, end };
        if dtype == DType::Unknown {
            return Some(place);
        }
        let bits = self.elements.and_then(|n| n.checked_mul(u64::from(dtype.bits())));
        let Some(bits) = bits else {
            return broken(rules::SHAPE_OVERFLOW, 0, 0);
        };
        if bits & 7 != 0 {
            return broken(rules::TENSOR_BITS, 0, bits);
        }
        let (size, stored) = (bits >> 3, end.wrapping_sub(begin));
        if size != stored {
            return broken(rules::TENSOR_SIZE, size, stored);
        }
        Some(place)
    }
}

/// An array of counts, each handed to `take` with its position. Returns where
/// the inside lies; `None` if it is something else, which is noted: `rule` for
/// what is no array or no number.
fn list(
    json: &mut Json<'_>,
    rule: Rule,
    mut take: impl FnMut(u32, u64),
) -> Result<Option<(usize, usize)>, Fault> {
    let at = json.at;
    if json.peek()? != b'[' {
        json.skip(2)?;
        json.note(rule, at, 0, 0);
        return Ok(None);
    }
    json.bump();
    let inside = json.at;
    let mut sound = true;
    let mut count = 0_u32;
    if json.token()? != b']' {
        loop {
            let byte = json.token()?;
            let number_at = json.at;
            if byte == b'-' || byte.is_ascii_digit() {
                match json.number()? {
                    Number::Count(value) => take(count, value),
                    Number::Other(rule) => {
                        sound = false;
                        json.note(rule, number_at, 0, 0);
                    }
                }
            } else {
                sound = false;
                json.skip(3)?;
                json.note(rule, number_at, 0, 0);
            }
            count = count.wrapping_add(1);
            match json.token()? {
                b',' => json.bump(),
                b']' => break,
                _ => return json.syntax(),
            }
        }
    }
    let len = json.at.wrapping_sub(inside);
    json.bump();
    Ok(sound.then_some((inside, len)))
}
