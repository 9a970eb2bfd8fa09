//! Elements stored as varints, the integers of Protocol Buffers.
//!
//! Each integer stands for one element: a two's complement number, or the bits of a float. For
//! elements of two or four bits it stands for one byte of them. Elements of six bits are decoded
//! four at a time, into three bytes.

use super::Fault;
use super::job::{End, Job, Outcome};
use crate::model::DType;

/// Whether any format of this build stores elements so.
pub(super) const IS_BUILT: bool = cfg!(any(feature = "varints", test));

/// Number of stored bytes with which a step always has an effect: four integers.
pub(super) const LONGEST: u64 = 40;

/// Most bytes of a varint.
const MOST: u32 = 10;

/// Reads an integer: the number and its length; `None` if it is cut off.
fn read(input: &[u8]) -> Result<Option<(u64, usize)>, Fault> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    for (at, byte) in input.iter().enumerate() {
        if at >= usize::try_from(MOST).unwrap_or(0) {
            return Err(Fault::Malformed);
        }
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return Err(Fault::Malformed);
        }
        value |= bits.checked_shl(shift).unwrap_or(0);
        shift = shift.saturating_add(7);
        if byte & 0x80 == 0 {
            return Ok(Some((value, at.saturating_add(1))));
        }
    }
    match shift > 63 {
        true => Err(Fault::Malformed),
        false => Ok(None),
    }
}

/// The range of integers that stand for elements of a type, and the number of bytes of each.
fn range(dtype: DType) -> Option<(i128, i128, usize)> {
    let bits = dtype.bits();
    Some(match dtype {
        DType::F6E2M3 | DType::F6E3M2 => (0, 63, 0),
        DType::Bool => (0, 1, 1),
        DType::I8 => (-128, 127, 1),
        DType::I16 => (-32_768, 32_767, 2),
        DType::I32 => (-(1 << 31), (1 << 31) - 1, 4),
        DType::I64 => (-(1 << 63), (1 << 63) - 1, 8),
        DType::U64 => (0, (1 << 64) - 1, 8),
        _ => match bits {
            2 | 4 | 8 => (0, 255, 1),
            16 => (0, 65_535, 2),
            32 => (0, (1 << 32) - 1, 4),
            _ => return None,
        },
    })
}

/// Decodes as many integers as the input and the output allow.
pub(super) fn step(job: &mut Job<'_>, dtype: DType) -> Outcome {
    let Some((least, most, width)) = range(dtype).filter(|_| IS_BUILT) else {
        return Outcome::UNSUPPORTED;
    };
    if width == 0 && !job.whole {
        // Groups of three bytes do not fill a ring.
        return Outcome { read: 0, written: 0, end: End::Fault(Fault::Buffer) };
    }
    let target = job.output.get_mut(job.at..).unwrap_or_default();
    let mut target = target.get_mut(..job.room).unwrap_or_default();
    let (mut input, mut read_in_all, mut written) = (job.input, 0_usize, 0_usize);
    let group = if width == 0 { 4 } else { 1 };
    let end = loop {
        if input.is_empty() {
            break if job.last { End::Done } else { End::NotYet };
        }
        let (mut rest, mut used, mut count) = (input, 0_usize, 0_u32);
        let (mut bits, mut fault) = (0_u64, None);
        while count < group && !rest.is_empty() {
            match read(rest) {
                Ok(Some((value, len))) => {
                    let signed = i64::from_le_bytes(value.to_le_bytes());
                    let number = if least < 0 { i128::from(signed) } else { i128::from(value) };
                    if !(least..=most).contains(&number) {
                        fault = Some(Fault::Malformed);
                        break;
                    }
                    let shift = if width == 0 { count.wrapping_mul(6) } else { 0 };
                    bits |= value.checked_shl(shift).unwrap_or(0);
                    rest = rest.get(len..).unwrap_or_default();
                    used = used.saturating_add(len);
                    count = count.wrapping_add(1);
                }
                Ok(None) if job.last => {
                    fault = Some(Fault::Truncated);
                    break;
                }
                Ok(None) => break,
                Err(broken) => {
                    fault = Some(broken);
                    break;
                }
            }
        }
        if let Some(fault) = fault {
            break End::Fault(fault);
        }
        let ends = job.last && rest.is_empty();
        if count < group && !ends {
            break End::NotYet;
        }
        let bytes = match (width, count) {
            (0, 4) => 3,
            (0, _) => usize::try_from(count).unwrap_or(0),
            _ => width,
        };
        let stored = bits.to_le_bytes();
        let (Some((place, free)), Some(stored)) =
            (core::mem::take(&mut target).split_at_mut_checked(bytes), stored.get(..bytes))
        else {
            // Elements follow for which there is no room, now or at all.
            let left = job.left.saturating_sub(u64::try_from(written).unwrap_or(0));
            let long = left < u64::try_from(bytes).unwrap_or(0);
            break if long { End::Fault(Fault::Long) } else { End::NotYet };
        };
        place.iter_mut().zip(stored).for_each(|(to, from)| *to = *from);
        target = free;
        (input, written) = (rest, written.saturating_add(bytes));
        read_in_all = read_in_all.saturating_add(used);
    };
    Outcome { read: read_in_all, written, end }
}
