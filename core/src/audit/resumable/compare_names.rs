//! Comparing two names that need not be resident together.

use crate::input::{Absent, Source};
use crate::model::NameAt;

/// Two names of a file, compared piece by piece: only one of them needs to be resident at a time.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub(crate) struct NamePair {
    first: NameAt,
    second: NameAt,
    /// Number of decoded bytes found equal so far.
    equal: u32,
    /// The next `copied` bytes of the first name, starting at byte `equal`.
    piece: [u8; 32],
    copied: u8,
    loaded: bool,
}

impl NamePair {
    /// Two names that may be equal.
    pub(crate) fn new(first: NameAt, second: NameAt) -> Self {
        NamePair { first, second, ..NamePair::default() }
    }

    /// Whether the two names are equal.
    ///
    /// # Errors
    /// [`Absent`] when the next piece is not resident; call again.
    pub(crate) fn equal(&mut self, source: &Source<'_>) -> Result<bool, Absent> {
        if let (Ok(a), Ok(b)) = (self.first.read(source), self.second.read(source)) {
            return Ok(a == b);
        }
        loop {
            let skip = usize::try_from(self.equal).unwrap_or(usize::MAX);
            if !self.loaded {
                let mut bytes = self.first.read(source)?.bytes().skip(skip);
                self.copied = 0;
                for slot in &mut self.piece {
                    let Some(byte) = bytes.next() else { break };
                    *slot = byte;
                    self.copied = self.copied.saturating_add(1);
                }
                self.loaded = true;
            }
            let mut bytes = self.second.read(source)?.bytes().skip(skip);
            let piece = self.piece.get(..usize::from(self.copied)).unwrap_or_default();
            if !piece.iter().all(|byte| bytes.next() == Some(*byte)) {
                return Ok(false);
            }
            if piece.len() < self.piece.len() {
                return Ok(bytes.next().is_none());
            }
            self.equal = self.equal.saturating_add(u32::from(self.copied));
            self.loaded = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::widen;
    use crate::input::Window;

    #[test]
    fn names_compare_across_windows() {
        let mut file = [b'x'; 300];
        *file.get_mut(150).unwrap() = b'y';
        let window =
            |at: usize, len: usize| [Window { offset: widen(at), bytes: &file[at..at + len] }];
        for (a, b, len, same) in [(0, 160, 100, true), (0, 100, 100, false), (0, 160, 96, true)] {
            let mut pair = NamePair::new(NameAt::plain(a, len), NameAt::plain(b, len));
            let mut windows = window(0, 0);
            let verdict = loop {
                match pair.equal(&Source::windows(300, &windows)) {
                    Ok(verdict) => break verdict,
                    Err(lack) => windows = window(lack.offset as usize, lack.need as usize),
                }
            };
            assert_eq!(verdict, same);
        }
    }
}
