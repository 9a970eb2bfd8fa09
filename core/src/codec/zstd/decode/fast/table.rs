//! The table of Huffman codes, built from symbols that are sorted by weight.

use super::super::Fault;
use super::super::huffman::{LONGEST, Table, WEIGHTS, Weights};

/// Fills the table of codes; the longest has `longest` bits.
pub(in super::super) fn fill(
    table: &mut Table,
    weights: &Weights,
    longest: u32,
) -> Result<(), Fault> {
    // Codes ascend with the weight, then with the symbol.
    let mut places = [0_u8; WEIGHTS + 1];
    let mut all = 0_u16;
    for (place, count) in places.iter_mut().zip(weights.counts).skip(1) {
        // There is no symbol after the 256th.
        *place = u8::try_from(all).unwrap_or(u8::MAX);
        all = all.wrapping_add(count);
    }
    let mut sorted = [0_u8; 256];
    for (symbol, weight) in (0_u8..=255).zip(&weights.of) {
        let place = places.get_mut(usize::from(*weight)).filter(|_| *weight > 0);
        let Some(place) = place else { continue };
        if let Some(to) = sorted.get_mut(usize::from(*place)) {
            *to = symbol;
        }
        *place = place.wrapping_add(1);
    }
    let (mut symbols, mut table) = (sorted.as_slice(), table.as_mut_slice());
    for (weight, count) in (0_u32..).zip(weights.counts).skip(1) {
        let length = longest.wrapping_add(1).wrapping_sub(weight);
        let codes;
        (codes, symbols) = symbols.split_at_checked(count.into()).ok_or(Fault::Malformed)?;
        // A code shorter than the maximum fills several entries.
        let places = 1_usize.wrapping_shl(LONGEST.wrapping_sub(length));
        let len = codes.len().wrapping_mul(places);
        let part;
        (part, table) = table.split_at_mut_checked(len).ok_or(Fault::Malformed)?;
        let entry = |symbol: &u8| (u16::from(*symbol) << 8) | u16::try_from(length).unwrap_or(0);
        match places {
            1 => rows::<1>(part, codes, entry),
            2 => rows::<2>(part, codes, entry),
            4 => rows::<4>(part, codes, entry),
            8 => rows::<8>(part, codes, entry),
            _ => {
                let mut part = part;
                for symbol in codes {
                    let row;
                    let split = part.split_at_mut_checked(places);
                    (row, part) = split.ok_or(Fault::Malformed)?;
                    row.fill(entry(symbol));
                }
            }
        }
    }
    if table.is_empty() { Ok(()) } else { Err(Fault::Malformed) }
}

fn rows<const N: usize>(table: &mut [u16], symbols: &[u8], entry: impl Fn(&u8) -> u16) {
    for (row, symbol) in table.as_chunks_mut::<N>().0.iter_mut().zip(symbols) {
        *row = [entry(symbol); N];
    }
}
