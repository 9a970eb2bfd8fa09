//! Numbers at the end of an input.

/// Takes numbers off the end of an input, so that the offsets of the file
/// before them do not change. Returns zeros once the input is used up.
#[derive(Clone, Copy, Debug)]
pub struct Tail<'a> {
    /// The remaining bytes: the file.
    pub rest: &'a [u8],
}

impl<'a> Tail<'a> {
    /// Starts with all of `input`.
    pub fn new(input: &'a [u8]) -> Self {
        Tail { rest: input }
    }

    /// The last byte.
    pub fn byte(&mut self) -> u8 {
        let Some((last, rest)) = self.rest.split_last() else { return 0 };
        self.rest = rest;
        *last
    }

    /// The last two bytes, little-endian.
    pub fn word(&mut self) -> u16 {
        let high = self.byte();
        u16::from_le_bytes([self.byte(), high])
    }
}
