//! SipHash-1-3, a seeded hash.
//!
//! SipHash-1-3 (Aumasson and Bernstein): without the seed, an attacker who chooses a file's names
//! cannot make them collide. Even with a known seed, finding many names with the same hash is
//! infeasible. Names with equal hashes are always compared.

/// SipHash-1-3 over words of eight bytes.
pub(crate) struct Sip {
    v: [u64; 4],
}

impl Sip {
    pub(crate) fn new(k0: u64, k1: u64) -> Self {
        Sip {
            v: [
                k0 ^ 0x736f_6d65_7073_6575,
                k1 ^ 0x646f_7261_6e64_6f6d,
                k0 ^ 0x6c79_6765_6e65_7261,
                k1 ^ 0x7465_6462_7974_6573,
            ],
        }
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.v;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32).wrapping_add(d);
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.v = [a, b, c, d];
    }

    pub(crate) fn word(&mut self, word: u64) {
        let [_, _, _, d] = &mut self.v;
        *d ^= word;
        self.round();
        let [a, ..] = &mut self.v;
        *a ^= word;
    }

    /// Returns the hash. The last word holds at most seven bytes and the length modulo 256.
    pub(crate) fn finish(mut self, tail: u64, len: usize) -> u64 {
        self.word(tail | (crate::base::widen(len) << 56));
        let [_, _, c, _] = &mut self.v;
        *c ^= 0xFF;
        for _ in 0..3 {
            self.round();
        }
        let [a, b, c, d] = self.v;
        a ^ b ^ c ^ d
    }
}
