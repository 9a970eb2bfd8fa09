//! Sequences of a block: their tables, and the values of their codes (RFC 8878 §3.1.1.3.2).

use super::Fault;
use super::bits::{Backwards, part, top, wide};
use super::fse::{Chances, Entry, OFFSETS as OFFSET_STATES, STATES};

/// The tables of a frame, and the repeat offsets.
pub(super) struct Tables {
    literals: [Entry; STATES],
    matches: [Entry; STATES],
    offsets: [Entry; OFFSET_STATES],
    held: [Held; 3],
    repeated: [u32; 3],
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
    /// It is the predefined one.
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

/// The three codes of a sequence, in the order in which their tables are described.
#[derive(Clone, Copy)]
enum Kind {
    Literals,
    Offsets,
    Matches,
}

/// A predefined table: symbol probabilities, and the width of a state (§3.1.1.3.2.2).
const LITERALS: ([i8; 36], u32) = (
    [
        4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1,
        1, 1, -1, -1, -1, -1,
    ],
    6,
);
const OFFSETS: ([i8; 29], u32) = (
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1],
    5,
);
const MATCHES: ([i8; 53], u32) = (
    [
        1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
    ],
    6,
);

/// Base values of length codes, and the number of bits to add (§3.1.1.3.2.1.1).
const LITERALS_OF: [(u32, u8); 36] = values(
    0,
    [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10,
        11, 12, 13, 14, 15, 16,
    ],
);
const MATCHES_OF: [(u32, u8); 53] = values(
    3,
    [
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    ],
);

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "the compiler evaluates it, on constants"
)]
const fn values<const N: usize>(mut least: u32, added: [u8; N]) -> [(u32, u8); N] {
    let mut values = [(0, 0); N];
    let mut code = 0;
    while code < N {
        values[code] = (least, added[code]);
        least += 1 << added[code];
        code += 1;
    }
    values
}

impl Kind {
    const ALL: [Kind; 3] = [Kind::Literals, Kind::Offsets, Kind::Matches];

    /// Number of codes, and the widest state.
    fn limits(self) -> (usize, u32) {
        match self {
            Kind::Literals => (36, 9),
            Kind::Offsets => (32, 8),
            Kind::Matches => (53, 9),
        }
    }

    fn known(self) -> Chances {
        match self {
            Kind::Literals => Chances::known(&LITERALS.0, LITERALS.1),
            Kind::Offsets => Chances::known(&OFFSETS.0, OFFSETS.1),
            Kind::Matches => Chances::known(&MATCHES.0, MATCHES.1),
        }
    }

    /// The base value of a code, and the number of bits to add.
    fn value(self) -> fn(u8) -> (u32, u8) {
        match self {
            Kind::Literals => {
                |code| LITERALS_OF.get(usize::from(code)).copied().unwrap_or_default()
            }
            Kind::Offsets => |code| (1_u32.wrapping_shl(code.into()), code),
            Kind::Matches => |code| MATCHES_OF.get(usize::from(code)).copied().unwrap_or_default(),
        }
    }
}

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

    /// Begins a frame: no table was described yet.
    pub(super) fn forget(&mut self) {
        self.repeated = REPEATED;
        self.held.iter_mut().for_each(|held| held.described = false);
    }

    /// Begins a block.
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
        if modes & 3 != 0 {
            return Err(Fault::Malformed);
        }
        let modes = [modes >> 6, (modes >> 4) & 3, (modes >> 2) & 3];
        for ((kind, mode), held) in Kind::ALL.into_iter().zip(modes).zip(&mut self.held) {
            let (symbols, widest) = kind.limits();
            let table: &mut [Entry] = match kind {
                Kind::Literals => &mut self.literals,
                Kind::Offsets => &mut self.offsets,
                Kind::Matches => &mut self.matches,
            };
            let chances = match mode {
                0 if held.known => None,
                0 => Some(kind.known()),
                1 => {
                    let (code, after) = rest.split_first().ok_or(Fault::Malformed)?;
                    rest = after;
                    if usize::from(*code) >= symbols {
                        return Err(Fault::Malformed);
                    }
                    let (value, extra) = kind.value()(*code);
                    if let Some(entry) = table.first_mut() {
                        *entry = Entry::new(value, extra, 0, 0);
                    }
                    held.width = 0;
                    None
                }
                2 => {
                    let (chances, used) = Chances::read(rest, symbols, widest)?;
                    rest = rest.get(used..).unwrap_or_default();
                    Some(chances)
                }
                _ if held.described => None,
                _ => return Err(Fault::Malformed),
            };
            held.described = true;
            held.known = mode == 0 || (mode == 3 && held.known);
            if let Some(chances) = chances {
                chances.fill(table, kind.value());
                held.width = chances.width;
            }
        }
        Ok(rest)
    }

    /// The first states of the codes of a block.
    pub(super) fn states(&self, stream: &mut Backwards<'_>) -> [u32; 3] {
        self.held.map(|held| stream.take(held.width))
    }

    /// Decodes the next sequences to `batch`; `last` says that they are the last of the block.
    #[inline(never)]
    pub(super) fn decode(
        &mut self,
        from: &mut Backwards<'_>,
        states: &mut [u32; 3],
        batch: &mut [Sequence],
        last: bool,
    ) -> Result<(), Fault> {
        let mut stream = *from;
        let [mut literals_state, mut offset_state, mut match_state] = *states;
        let [mut one, mut two, mut three] = self.repeated;
        let mut width = 0;
        for sequence in batch {
            let l =
                self.literals.get(wide(literals_state) & (STATES - 1)).copied().unwrap_or_default();
            let o = self
                .offsets
                .get(wide(offset_state) & (OFFSET_STATES - 1))
                .copied()
                .unwrap_or_default();
            let m = self.matches.get(wide(match_state) & (STATES - 1)).copied().unwrap_or_default();
            let mut word = stream.peek();
            let (mut literals, mut len, mut offset) = (l.value(), m.value(), o.value());
            let mut extra = o.extra();
            offset = offset.wrapping_add(top(&mut word, extra));
            // A word is sure to have 30 bits of an offset and 26 of states, or 31 bits of an
            // offset and 16 of a match. Lengths seldom have bits of their own.
            if !l.are_plain(m) || extra > 30 {
                len = len.wrapping_add(part(word, 0, m.extra()));
                stream.pass(extra.wrapping_add(m.extra()));
                word = stream.peek();
                extra = l.extra();
                literals = literals.wrapping_add(top(&mut word, extra));
            }
            let both = l.width().wrapping_add(m.width());
            literals_state = l.next().wrapping_add(part(word, 0, l.width()));
            match_state = m.next().wrapping_add(part(word, l.width(), m.width()));
            offset_state = o.next().wrapping_add(part(word, both, o.width()));
            width = l.widths(o, m);
            stream.pass(extra.wrapping_add(width));
            // Small numbers repeat an offset; which one depends on whether there are
            // literals (§3.1.1.5).
            if offset > 3 {
                (one, two, three) = (offset.wrapping_sub(3), one, two);
            } else {
                match offset.wrapping_sub(u32::from(literals > 0)) {
                    0 => {}
                    1 => (one, two) = (two, one),
                    2 => (one, two, three) = (three, one, two),
                    _ => (one, two, three) = (one.wrapping_sub(1), one, two),
                }
            }
            *sequence = Sequence { literals, len, offset: one };
        }
        // No state follows the last sequence.
        if last {
            stream.unpass(width);
        }
        if stream.is_over() {
            return Err(Fault::Malformed);
        }
        self.repeated = [one, two, three];
        *states = [literals_state, offset_state, match_state];
        *from = stream;
        Ok(())
    }
}
