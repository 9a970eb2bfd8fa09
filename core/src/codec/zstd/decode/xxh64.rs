//! XXH64 with seed 0, computed in pieces: the checksum of a frame's content (RFC 8878 §3.1.1).

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;
const STRIPE: usize = 32;

/// The hash of the bytes so far.
#[derive(Clone, Copy)]
pub(super) struct Xxh64 {
    lanes: [u64; 4],
    /// The first bytes of an incomplete stripe.
    held: [u8; STRIPE],
    count: usize,
    total: u64,
}

impl Xxh64 {
    pub(super) const fn new() -> Self {
        let lanes = [P1.wrapping_add(P2), P2, 0, P1.wrapping_neg()];
        Xxh64 { lanes, held: [0; STRIPE], count: 0, total: 0 }
    }

    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        self.total = self.total.wrapping_add(crate::base::widen(bytes.len()));
        if self.count > 0 {
            let free = self.held.get_mut(self.count..).unwrap_or_default();
            let taken = free.len().min(bytes.len());
            free.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            self.count = self.count.wrapping_add(taken);
            bytes = bytes.get(taken..).unwrap_or_default();
            if self.count < STRIPE {
                return;
            }
            stripe(&mut self.lanes, &self.held);
        }
        let (stripes, rest) = bytes.as_chunks();
        let mut lanes = self.lanes;
        stripes.iter().for_each(|bytes| stripe(&mut lanes, bytes));
        self.lanes = lanes;
        self.held.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        self.count = rest.len();
    }

    pub(super) fn finish(&self) -> u64 {
        let [a, b, c, d] = self.lanes;
        let mut hash = if self.total < 32 {
            P5
        } else {
            let sum = a.rotate_left(1).wrapping_add(b.rotate_left(7));
            let sum = sum.wrapping_add(c.rotate_left(12)).wrapping_add(d.rotate_left(18));
            let merge =
                |hash: u64, lane: u64| (hash ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4);
            self.lanes.into_iter().fold(sum, merge)
        };
        hash = hash.wrapping_add(self.total);
        let rest = self.held.get(..self.count).unwrap_or_default();
        let (words, rest) = rest.as_chunks();
        for word in words {
            hash ^= round(0, u64::from_le_bytes(*word));
            hash = hash.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
        }
        let (words, rest) = rest.as_chunks();
        for word in words {
            hash ^= u64::from(u32::from_le_bytes(*word)).wrapping_mul(P1);
            hash = hash.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
        }
        for byte in rest {
            hash ^= u64::from(*byte).wrapping_mul(P5);
            hash = hash.rotate_left(11).wrapping_mul(P1);
        }
        hash = (hash ^ (hash >> 33)).wrapping_mul(P2);
        hash = (hash ^ (hash >> 29)).wrapping_mul(P3);
        hash ^ (hash >> 32)
    }
}

fn stripe(lanes: &mut [u64; 4], bytes: &[u8; STRIPE]) {
    for (lane, word) in lanes.iter_mut().zip(bytes.as_chunks().0) {
        *lane = round(*lane, u64::from_le_bytes(*word));
    }
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(pieces: &[&[u8]]) -> u64 {
        let mut hash = Xxh64::new();
        pieces.iter().for_each(|piece| hash.update(piece));
        hash.finish()
    }

    #[test]
    fn xxh64_matches_published_values() {
        assert_eq!(hash(&[]), 0xEF46_DB37_51D8_E999);
        assert_eq!(hash(&[b"a"]), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(hash(&[b"abc"]), 0x44BC_2CF5_AD77_0999);
    }

    #[test]
    fn xxh64_does_not_depend_on_pieces() {
        let bytes: [u8; 100] = core::array::from_fn(|i| u8::try_from(i * 7 % 256).unwrap());
        // Miri is slow.
        let step = if cfg!(miri) { 33 } else { 1 };
        for len in (0..=bytes.len()).step_by(step) {
            let whole = hash(&[&bytes[..len]]);
            for cut in 0..=len {
                let (a, b) = bytes[..len].split_at(cut);
                assert_eq!(hash(&[a, b]), whole, "{cut} of {len}");
                let (b, c) = b.split_at(b.len() / 2);
                assert_eq!(hash(&[a, b, c]), whole, "{cut} of {len}");
            }
        }
    }
}
