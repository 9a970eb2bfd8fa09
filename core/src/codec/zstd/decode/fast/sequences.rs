//! Sequences from 64-bit words.

use super::super::Fault;
use super::super::bits::wide;
use super::super::fse::{Entry, OFFSETS, STATES};
use super::super::sequences::{Sequence, Tables, repeat};
use super::bits::{Backwards, RESTS, top};

impl Entry {
    /// 63 less the width of the next state in the lowest six bits, for [`top`].
    #[inline(always)]
    pub(super) fn rest(self) -> u32 {
        self.state
    }

    /// Whether both entries add no bits to the value.
    #[inline(always)]
    pub(super) fn are_plain(self, other: Entry) -> bool {
        (self.state | other.state) & 0xFF00 == 0
    }

    /// The sum of three rests.
    #[inline(always)]
    pub(super) fn rests(self, second: Entry, third: Entry) -> u32 {
        self.state.wrapping_add(second.state).wrapping_add(third.state) & 0xFF
    }
}

impl Tables {
    /// Decodes the next sequences into `batch`; `last` means that they are the last of the block.
    #[inline(never)]
    pub(in super::super) fn decode(
        &mut self,
        from: &mut Backwards<'_>,
        states: &mut [u32; 3],
        batch: &mut [Sequence],
        last: bool,
    ) -> Result<(), Fault> {
        let mut stream = *from;
        let [mut literals_state, mut offset_state, mut match_state] = *states;
        let [mut one, mut two, mut three] = self.repeated;
        let mut rests = RESTS;
        for sequence in batch {
            let l =
                self.literals.get(wide(literals_state) & (STATES - 1)).copied().unwrap_or_default();
            let o =
                self.offsets.get(wide(offset_state) & (OFFSETS - 1)).copied().unwrap_or_default();
            let m = self.matches.get(wide(match_state) & (STATES - 1)).copied().unwrap_or_default();
            let mut word = stream.peek();
            let (mut literals, mut len) = (l.value(), m.value());
            let mut extra = o.extra();
            let offset = o.value().wrapping_add(top(&mut word, !extra));
            // A word is certain to have 31 bits of an offset and 26 of states, or 31 bits of an
            // offset and 16 of a match. Lengths seldom have bits of their own.
            if !l.are_plain(m) {
                len = len.wrapping_add(top(&mut word, !m.extra()));
                stream.pass(extra.wrapping_add(m.extra()));
                word = stream.peek();
                extra = l.extra();
                literals = literals.wrapping_add(top(&mut word, !extra));
            }
            literals_state = l.next().wrapping_add(top(&mut word, l.rest()));
            match_state = m.next().wrapping_add(top(&mut word, m.rest()));
            offset_state = o.next().wrapping_add(top(&mut word, o.rest()));
            rests = l.rests(m, o);
            stream.pass(extra);
            stream.pass_three(rests);
            [one, two, three] = repeat([one, two, three], offset, literals);
            *sequence = Sequence { literals, len, offset: one };
        }
        // No state follows the last sequence.
        if last {
            stream.unpass_three(rests);
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
