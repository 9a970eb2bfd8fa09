//! Sequences of a block: their tables, and the values of their codes (RFC 8878 §3.1.1.3.2).

use super::Fault;
use super::fse::{Chances, Entry, OFFSETS as OFFSET_STATES, STATES, Values};
use super::kernel::Backwards;

/// The tables of a frame, and the repeat offsets.
pub(super) struct Tables {
    pub(super) literals: [Entry; STATES],
    pub(super) matches: [Entry; STATES],
    pub(super) offsets: [Entry; OFFSET_STATES],
    held: [Held; 3],
    pub(super) repeated: [u32; 3],
    /// The repeat offsets at the start of the block.
    kept: [u32; 3],
}

/// A table and its origin.
#[derive(Clone, Copy)]
struct Held {
    /// The width of a state.
    width: u32,
    /// A block of this frame described it, so later blocks may repeat it.
    described: bool,
    /// It is the predefined table.
    known: bool,
}

/// The repeat offsets at the start of a frame.
const REPEATED: [u32; 3] = [1, 4, 8];

/// A number of literals to copy, and a match after them.
#[derive(Clone, Copy, Default)]
pub(super) struct Sequence {
    pub(super) literals: u32,
    pub(super) len: u32,
    /// Distance of the match.
    pub(super) offset: u32,
}

/// One of the three codes of a sequence.
struct Kind {
    values: Values,
    /// The widest state.
    widest: u32,
    /// The predefined table: symbol probabilities, and the width of a state (§3.1.1.3.2.2).
    known: (&'static [i8], u32),
}

/// In the order in which their tables are described. Base values and the number of bits to add:
/// §3.1.1.3.2.1.1.
static KINDS: [Kind; 3] = [
    // Numbers of literals.
    Kind {
        values: Values {
            least: 0,
            added: &[
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8,
                9, 10, 11, 12, 13, 14, 15, 16,
            ],
        },
        widest: 9,
        known: (
            &[
                4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1,
                1, 1, 1, 1, -1, -1, -1, -1,
            ],
            6,
        ),
    },
    // Offsets.
    Kind {
        values: Values {
            least: 1,
            added: &[
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                23, 24, 25, 26, 27, 28, 29, 30, 31,
            ],
        },
        widest: 8,
        known: (
            &[
                1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1,
                -1, -1,
            ],
            5,
        ),
    },
    // Lengths of matches.
    Kind {
        values: Values {
            least: 3,
            added: &[
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
            ],
        },
        widest: 9,
        known: (
            &[
                1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
            ],
            6,
        ),
    },
];

/// The number of sequences, and the rest of the block (§3.1.1.3.2.1).
pub(super) fn count(bytes: &[u8]) -> Result<(u32, &[u8]), Fault> {
    match *bytes {
        [few @ 0..=127, ref rest @ ..] => Ok((few.into(), rest)),
        [255, low, high, ref rest @ ..] => {
            Ok((u32::from(u16::from_le_bytes([low, high])).wrapping_add(0x7F00), rest))
        }
        [high @ 128..=254, low, ref rest @ ..] => {
            Ok((u16::from_le_bytes([low, high & 0x7F]).into(), rest))
        }
        _ => Err(Fault::Malformed),
    }
}

impl Tables {
    pub(super) const fn new() -> Self {
        Tables {
            literals: [Entry::NONE; STATES],
            matches: [Entry::NONE; STATES],
            offsets: [Entry::NONE; OFFSET_STATES],
            held: [Held { width: 0, described: false, known: false }; 3],
            repeated: REPEATED,
            kept: REPEATED,
        }
    }

    /// Starts a frame: no table has been described yet.
    pub(super) fn forget(&mut self) {
        self.repeated = REPEATED;
        self.held.iter_mut().for_each(|held| held.described = false);
    }

    /// Starts a block.
    pub(super) fn keep(&mut self) {
        self.kept = self.repeated;
    }

    /// Restarts the block.
    pub(super) fn again(&mut self) {
        self.repeated = self.kept;
    }

    /// Reads the tables of a block; returns the rest.
    pub(super) fn read<'s>(&mut self, bytes: &'s [u8]) -> Result<&'s [u8], Fault> {
        let (modes, mut rest) = bytes.split_first().ok_or(Fault::Malformed)?;
        let mut modes = *modes;
        if modes & 3 != 0 {
            return Err(Fault::Malformed);
        }
        let Tables { literals, offsets, matches, held, .. } = self;
        let tables: [&mut [Entry]; 3] = [literals, offsets, matches];
        for ((kind, table), held) in KINDS.iter().zip(tables).zip(held) {
            let mode = modes >> 6;
            modes <<= 2;
            let symbols = kind.values.added.len();
            let chances = match mode {
                0 if held.known => None,
                0 => Some(Chances::known(kind.known)),
                1 => {
                    let (code, after) = rest.split_first().ok_or(Fault::Malformed)?;
                    rest = after;
                    if usize::from(*code) >= symbols {
                        return Err(Fault::Malformed);
                    }
                    if let Some(entry) = table.first_mut() {
                        *entry = kind.values.only(*code);
                    }
                    held.width = 0;
                    None
                }
                2 => {
                    let chances;
                    (chances, rest) = Chances::read(rest, symbols, kind.widest)?;
                    Some(chances)
                }
                _ if held.described => None,
                _ => return Err(Fault::Malformed),
            };
            held.described = true;
            held.known = mode == 0 || (mode == 3 && held.known);
            if let Some(chances) = chances {
                chances.fill(table, &kind.values);
                held.width = chances.width;
            }
        }
        Ok(rest)
    }

    /// The first states of the codes of a block.
    pub(super) fn states(&self, stream: &mut Backwards<'_>) -> [u32; 3] {
        self.held.map(|held| stream.take(held.width))
    }
}

/// The repeat offsets after a sequence with offset code `stored`. Small numbers repeat an offset;
/// which one depends on whether there are literals (§3.1.1.5).
#[inline(always)]
pub(super) fn repeat([one, two, three]: [u32; 3], stored: u32, literals: u32) -> [u32; 3] {
    if stored > 3 {
        return [stored.wrapping_sub(3), one, two];
    }
    match stored.wrapping_sub(u32::from(literals > 0)) {
        0 => [one, two, three],
        1 => [two, one, three],
        2 => [three, one, two],
        _ => [one.wrapping_sub(1), one, two],
    }
}
