//! A file, followed by the files that it refers to, as one input.

use crate::base::error::ReadError;
use crate::input::reader::Input;
use alloc::boxed::Box;
use alloc::vec::Vec;
use weighbridge_core::Span;

/// Files that are read as if they were concatenated.
pub(crate) struct Together<'a> {
    /// Each with the offset of its first byte, ascending.
    files: Vec<(u64, Box<dyn Input + 'a>)>,
    len: u64,
}

impl<'a> Together<'a> {
    /// A file, without others.
    pub(crate) fn new(own: Box<dyn Input + 'a>) -> Self {
        let len = own.len();
        Together { files: Vec::from([(0, own)]), len }
    }

    /// Appends a file and returns the offset of its first byte; `None` if the length of all
    /// exceeds 64 bits.
    pub(crate) fn add(&mut self, file: Box<dyn Input + 'a>) -> Option<u64> {
        let base = self.len;
        self.len = base.checked_add(file.len())?;
        self.files.push((base, file));
        Some(base)
    }

    /// The file that contains the byte at an offset, and the offset of its first byte.
    fn file(&self, at: u64) -> Option<&(u64, Box<dyn Input + 'a>)> {
        let after = self.files.partition_point(|(base, _)| *base <= at);
        self.files.get(after.checked_sub(1)?)
    }

    /// The file that contains all of a span.
    fn file_with(&self, span: Span) -> Option<&(u64, Box<dyn Input + 'a>)> {
        let found = self.file(span.offset)?;
        let end = found.0.checked_add(found.1.len())?;
        (span.end()? <= end).then_some(found)
    }
}

impl Input for Together<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let (mut at, mut left) = (offset, buffer);
        while !left.is_empty() {
            let Some((base, file)) = self.file(at) else { return Err(ReadError::Changed) };
            let inside = at - base;
            let room = usize::try_from(file.len().saturating_sub(inside)).unwrap_or(usize::MAX);
            let (piece, rest) = left.split_at_mut(room.min(left.len()));
            if piece.is_empty() {
                return Err(ReadError::Changed);
            }
            file.read_at(inside, piece)?;
            at += piece.len() as u64;
            left = rest;
        }
        Ok(())
    }

    fn read_together(&self, ranges: &[Span]) -> Result<Vec<(u64, Vec<u8>)>, ReadError> {
        let mut all = Vec::new();
        for same in ranges.chunk_by(|a, b| self.base(a) == self.base(b)) {
            let file = same.first().and_then(|first| self.file(first.offset));
            let Some((base, file)) = file else { return Ok(Vec::new()) };
            // A range that crosses the end of a file is read by itself.
            if same.iter().any(|range| self.file_with(*range).is_none()) {
                return Ok(Vec::new());
            }
            let inside = |range: &Span| Span::new(range.offset - base, range.len);
            let read = file.read_together(&same.iter().map(inside).collect::<Vec<_>>())?;
            if read.is_empty() {
                return Ok(Vec::new());
            }
            all.extend(read.into_iter().map(|(at, bytes)| (at + base, bytes)));
        }
        Ok(all)
    }

    fn is_near(&self) -> bool {
        self.files.iter().all(|(_, file)| file.is_near())
    }

    #[cfg(feature = "std")]
    fn copy_to(&self, offset: u64, len: u64, to: &std::fs::File) -> Option<std::io::Result<u64>> {
        let (base, file) = self.file_with(Span::new(offset, len))?;
        file.copy_to(offset - base, len, to)
    }

    fn verify_unchanged(&self) -> Result<(), ReadError> {
        self.files.iter().try_for_each(|(_, file)| file.verify_unchanged())
    }
}

impl Together<'_> {
    /// The offset of the first byte of the file that a range begins in.
    fn base(&self, range: &Span) -> Option<u64> {
        self.file(range.offset).map(|(base, _)| *base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    struct Memory(Vec<u8>);

    impl Input for Memory {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            let from = self.0.get(offset as usize..).and_then(|rest| rest.get(..buffer.len()));
            buffer.copy_from_slice(from.ok_or(ReadError::Changed)?);
            Ok(())
        }

        fn read_together(&self, ranges: &[Span]) -> Result<Vec<(u64, Vec<u8>)>, ReadError> {
            let read = |range: &Span| {
                let mut bytes = vec![0; range.len as usize];
                self.read_at(range.offset, &mut bytes).map(|()| (range.offset, bytes))
            };
            ranges.iter().map(read).collect()
        }
    }

    fn sample() -> Together<'static> {
        let mut together = Together::new(Box::new(Memory((0..5).collect())));
        assert_eq!(together.add(Box::new(Memory(Vec::new()))), Some(5));
        assert_eq!(together.add(Box::new(Memory((5..9).collect()))), Some(5));
        together
    }

    #[test]
    fn files_are_read_as_one() {
        let together = sample();
        for from in 0..9_u8 {
            for to in from..=9 {
                let mut buffer = vec![0; usize::from(to - from)];
                together.read_at(from.into(), &mut buffer).expect("inside");
                assert_eq!(buffer, (from..to).collect::<Vec<_>>());
            }
        }
        assert!(together.read_at(8, &mut [0; 2]).is_err());
    }

    #[test]
    fn ranges_of_several_files_are_read_together() {
        let together = sample();
        let ranges = [Span::new(1, 2), Span::new(4, 1), Span::new(6, 3)];
        let read = together.read_together(&ranges).expect("inside");
        assert_eq!(read, [(1, vec![1, 2]), (4, vec![4]), (6, vec![6, 7, 8])]);
        // Across an end, each is read by itself.
        assert!(together.read_together(&[Span::new(4, 2)]).expect("inside").is_empty());
    }
}
