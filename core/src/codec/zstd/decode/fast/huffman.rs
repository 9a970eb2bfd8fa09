//! Streams of Huffman codes (RFC 8878 §3.1.1.3.1.6), which take most of the time of decoding
//! weights.
//!
//! A word holds the next bits at the top and a single one bit after them: the number of zeros
//! below it is the number of used bits, so no other counter is needed. At least five codes of
//! 11 bits fit in a word, so five literals of each stream are decoded between two loads.

use super::super::Fault;
use super::super::bits::{narrow, wide};
use super::super::codes::FEWEST;
use super::super::huffman::{Huffman, LONGEST, Table};

/// Number of codes that a word always holds: up to 8 of its 64 bits may be used up.
const RUN: usize = 5;

/// One stream, `start..end` of some bytes, without the bytes whose bits are all used.
#[derive(Clone, Copy)]
struct Stream {
    start: usize,
    end: usize,
    /// Number of used bits at the end.
    used: u32,
}

impl Stream {
    fn new(bytes: &[u8], start: usize, end: usize) -> Result<Self, Fault> {
        let last = bytes.get(start..end).and_then(<[u8]>::last).ok_or(Fault::Malformed)?;
        let zeros = last.leading_zeros();
        if zeros == 8 {
            return Err(Fault::Malformed);
        }
        // The leading zeros and the one bit above the first code.
        Ok(Stream { start, end, used: zeros.wrapping_add(1) })
    }

    /// A word with the next bits; `None` near the start of `bytes`.
    #[inline(always)]
    fn word(&self, bytes: &[u8]) -> Option<u64> {
        let word: &[u8; 8] = bytes.get(self.end.wrapping_sub(8)..self.end)?.first_chunk()?;
        Some((u64::from_le_bytes(*word) | 1).wrapping_shl(self.used))
    }

    /// Passes the bits that were taken off a word.
    #[inline(always)]
    fn pass(&mut self, word: u64) {
        let used = word.trailing_zeros();
        self.end = self.end.wrapping_sub(wide(used >> 3));
        self.used = used & 7;
    }

    /// Fills `out`, with care near the start of the stream, where the last literal must end.
    fn finish(mut self, bytes: &[u8], table: &Table, out: &mut [u8]) -> Result<(), Fault> {
        let mut done = 0_usize;
        for row in out.as_chunks_mut::<RUN>().0 {
            let Some(mut word) = self.word(bytes) else { break };
            row.iter_mut().for_each(|to| *to = take(&mut word, table));
            self.pass(word);
            done = done.wrapping_add(RUN);
        }
        let bytes = bytes.get(self.start..self.end).ok_or(Fault::Malformed)?;
        let left = bytes.len().wrapping_mul(8).checked_sub(wide(self.used));
        let mut left = left.ok_or(Fault::Malformed)?;
        for to in out.get_mut(done..).unwrap_or_default() {
            *to = careful(bytes, table, &mut left)?;
        }
        if left == 0 { Ok(()) } else { Err(Fault::Malformed) }
    }
}

/// The next literal of a stream with `left` bits left, read byte by byte.
fn careful(bytes: &[u8], table: &Table, left: &mut usize) -> Result<u8, Fault> {
    let end = left.wrapping_add(7) >> 3;
    let spare = narrow(left.wrapping_neg() & 7);
    // 11 bits and 7 used ones lie in three bytes.
    let word = bytes.get(..end).unwrap_or_default().iter().rev().take(3);
    let word = word.fold((0_u64, 64_u32), |(word, at), byte| {
        let at = at.wrapping_sub(8);
        (word | u64::from(*byte).wrapping_shl(at), at)
    });
    let [length, symbol] = code(table, word.0.wrapping_shl(spare)).to_le_bytes();
    *left = left.checked_sub(usize::from(length)).ok_or(Fault::Malformed)?;
    Ok(symbol)
}

/// The code at the top of a word.
#[inline(always)]
fn code(table: &Table, word: u64) -> u16 {
    let place = usize::try_from(word >> (u64::BITS - LONGEST)).unwrap_or(0);
    table.get(place).copied().unwrap_or(0)
}

/// Takes the next literal off a word.
#[inline(always)]
fn take(word: &mut u64, table: &Table) -> u8 {
    let [length, symbol] = code(table, *word).to_le_bytes();
    *word = word.wrapping_shl(u32::from(length));
    symbol
}

impl Huffman {
    /// Decodes literals in one stream or four.
    pub(super) fn decode(&self, bytes: &[u8], four: bool, out: &mut [u8]) -> Result<(), Fault> {
        match (self.known, four) {
            (true, false) => one(&self.table, bytes, out),
            (true, true) => self::four(&self.table, bytes, out),
            (false, _) => Err(Fault::Malformed),
        }
    }
}

/// Fills `out` with one stream.
fn one(table: &Table, bytes: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    Stream::new(bytes, 0, bytes.len())?.finish(bytes, table, out)
}

/// Fills `out` with four streams. The first three hold a quarter each, rounded up, and their
/// lengths come first.
fn four(table: &Table, bytes: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    let (bytes, [a, b, c]) = ends(bytes)?;
    let mut streams = [
        Stream::new(bytes, 0, a)?,
        Stream::new(bytes, a, b)?,
        Stream::new(bytes, b, c)?,
        Stream::new(bytes, c, bytes.len())?,
    ];
    if out.len() < wide(FEWEST) {
        return Err(Fault::Malformed);
    }
    let quarter = out.len().wrapping_add(3) >> 2;
    let (out1, rest) = out.split_at_mut_checked(quarter).ok_or(Fault::Malformed)?;
    let (out2, rest) = rest.split_at_mut_checked(quarter).ok_or(Fault::Malformed)?;
    let (out3, out4) = rest.split_at_mut_checked(quarter).ok_or(Fault::Malformed)?;
    let mut outs = [out1, out2, out3, out4];
    let done = abreast(table, bytes, &mut streams, &mut outs);
    for (stream, out) in streams.into_iter().zip(outs) {
        stream.finish(bytes, table, out.get_mut(done..).unwrap_or_default())?;
    }
    Ok(())
}

/// Decodes four streams in parallel, a literal of each in turn, until one of them nears the start
/// of `bytes`; returns the number of literals of each.
// A separate function: the loop needs every register.
#[inline(never)]
fn abreast(
    table: &Table,
    bytes: &[u8],
    streams: &mut [Stream; 4],
    outs: &mut [&mut [u8]; 4],
) -> usize {
    let [mut first, mut second, mut third, mut fourth] = *streams;
    let [out1, out2, out3, out4] = outs;
    let rows = out1.as_chunks_mut::<RUN>().0.iter_mut();
    let rows = rows.zip(out2.as_chunks_mut::<RUN>().0).zip(out3.as_chunks_mut::<RUN>().0);
    let rows = rows.zip(out4.as_chunks_mut::<RUN>().0);
    let mut done = 0_usize;
    for (((row1, row2), row3), row4) in rows {
        let Some(mut word1) = first.word(bytes) else { break };
        let Some(mut word2) = second.word(bytes) else { break };
        let Some(mut word3) = third.word(bytes) else { break };
        let Some(mut word4) = fourth.word(bytes) else { break };
        let cells = row1.iter_mut().zip(row2).zip(row3).zip(row4);
        for (((one, two), three), four) in cells {
            *one = take(&mut word1, table);
            *two = take(&mut word2, table);
            *three = take(&mut word3, table);
            *four = take(&mut word4, table);
        }
        first.pass(word1);
        second.pass(word2);
        third.pass(word3);
        fourth.pass(word4);
        done = done.wrapping_add(RUN);
    }
    *streams = [first, second, third, fourth];
    done
}

/// Four streams, and the ends of the first three.
fn ends(bytes: &[u8]) -> Result<(&[u8], [usize; 3]), Fault> {
    let (lengths, bytes) = bytes.split_first_chunk::<6>().ok_or(Fault::Malformed)?;
    let mut end = 0_usize;
    let [a, b, c] = *lengths.as_chunks().0 else { return Err(Fault::Malformed) };
    let ends = [a, b, c].map(|len| {
        end = end.wrapping_add(usize::from(u16::from_le_bytes(len)));
        end
    });
    Ok((bytes, ends))
}
