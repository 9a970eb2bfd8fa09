//! One pass over a file, for its own digest and those of ranges in it.

use super::Sha256 as Sha;
use crate::base::error::{Error, ReadError};
use crate::check::options::Options;
use crate::input::reader::Input;
use crate::read::tensor::Tensor;
use alloc::vec;
use alloc::vec::Vec;
use sha2::{Digest as _, Sha256};
use weighbridge_core::Span;

/// Bytes read at a time, and from a server, where each read is a round trip.
const PIECE: usize = 1 << 20;
const REMOTE: usize = 8 << 20;
/// Inputs whose reads begin at multiples of this are servers.
const GRANULE: u64 = 64 << 10;
/// Bytes of ranges digested per byte of the file: entries may share data, and a few bytes of
/// index may refer to all of it many times over.
const SHARED: u64 = 4;

/// The ranges of a file to digest.
#[derive(Debug)]
pub(super) struct Pass {
    len: u64,
    /// Bytes read at a time.
    piece: usize,
    /// Bytes of ranges that may still be added.
    left: u64,
    ranges: Vec<(Span, usize)>,
}

/// A range that the pass has reached.
struct Begun {
    span: Span,
    hasher: Sha256,
    /// The numbers under which it was added.
    takers: Vec<usize>,
}

impl Pass {
    /// Creates a pass over a file of `len` bytes.
    pub(super) fn new(len: u64) -> Self {
        let left = len.saturating_mul(SHARED).saturating_add(PIECE as u64);
        Pass { len, piece: PIECE, left, ranges: Vec::new() }
    }

    /// Reads more at a time if each read takes long, as these options say.
    pub(super) fn with(mut self, options: &Options) -> Self {
        self.piece = if options.windows.granule >= GRANULE { REMOTE } else { PIECE };
        self
    }

    /// Adds a range under number `i`, or returns `false` if too many ranges overlap.
    pub(super) fn take(&mut self, i: usize, span: Span) -> bool {
        match self.left.checked_sub(span.len) {
            Some(left) => {
                self.left = left;
                self.ranges.push((span, i));
                true
            }
            None => false,
        }
    }

    /// Reads the file and calls `give` with the digest of each range.
    ///
    /// # Errors
    /// When the file cannot be read, or its length has changed.
    pub(super) fn run(
        self,
        input: &dyn Input,
        mut give: impl FnMut(usize, Sha),
    ) -> Result<Sha, Error> {
        let Pass { len, piece: most, mut ranges, .. } = self;
        ranges.sort_by_key(|(span, i)| (span.offset, span.len, *i));
        let mut ranges = ranges.into_iter().peekable();
        let (mut whole, mut begun) = (Sha256::new(), Vec::<Begun>::new());
        let most = usize::try_from(len).map_or(most, |len| len.clamp(1, most));
        let (mut buffer, mut at) = (vec![0; most], 0_u64);
        loop {
            let left = input.len().saturating_sub(at);
            let read = usize::try_from(left).map_or(most, |left| left.min(most));
            input.read_at(at, &mut buffer[..read])?;
            let piece = &buffer[..read];
            let end = at + read as u64;
            whole.update(piece);
            // Empty ranges at the end of the file start in the last round.
            while let Some((span, i)) = ranges.next_if(|(span, _)| span.offset < end || read == 0) {
                match begun.last_mut() {
                    Some(last) if last.span == span => last.takers.push(i),
                    _ => begun.push(Begun { span, hasher: Sha256::new(), takers: vec![i] }),
                }
            }
            begun.retain_mut(|range| {
                let (from, until) = (range.span.offset, range.span.offset + range.span.len);
                let inside = |offset: u64| (offset.clamp(at, end) - at) as usize;
                range.hasher.update(&piece[inside(from)..inside(until)]);
                let done = until <= end;
                if done {
                    let digest = range.hasher.clone().finalize().into();
                    range.takers.iter().for_each(|i| give(*i, digest));
                }
                !done
            });
            if read == 0 {
                break;
            }
            at = end;
        }
        if at != len || !begun.is_empty() {
            return Err(ReadError::Changed.into());
        }
        Ok(whole.finalize().into())
    }
}

/// The digest of a tensor whose stored bytes are not its canonical elements.
///
/// # Errors
/// When its data cannot be read or decoded.
pub(super) fn of_decoded(tensor: &Tensor<'_, '_>) -> Result<Sha, Error> {
    let mut hasher = Sha256::new();
    tensor.canonical(|piece| {
        hasher.update(piece);
        Ok::<(), Error>(())
    })?;
    Ok(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::reader::FileInput;
    use alloc::vec;
    use alloc::vec::Vec;
    use std::io::Write as _;

    #[test]
    fn digest_covers_ranges_at_any_offset() {
        let bytes: Vec<u8> = (0..2 * PIECE + 77).map(|i| ((i * i) >> 3) as u8).collect();
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(&bytes).expect("room for it");
        let len = bytes.len() as u64;
        let edge = PIECE as u64;
        let spans = [
            (0, 0),
            (0, 1),
            (edge - 1, 2),
            (edge, edge),
            (5, 2 * edge),
            (5, 2 * edge),
            (len, 0),
            (len - 9, 9),
        ];
        let mut pass = Pass::new(len);
        for (i, (offset, len)) in spans.iter().enumerate() {
            assert!(pass.take(i, Span::new(*offset, *len)));
        }
        let mut shared = Pass::new(len);
        let taken = (0..99).take_while(|i| shared.take(*i, Span::new(0, len))).count();
        assert_eq!(taken, 4, "more lies upon one another");
        let mut found = vec![None; spans.len()];
        let input = FileInput::open(file.path()).expect("it is there");
        let whole = pass.run(&input, |i, digest| found[i] = Some(digest)).expect("it is read");
        assert_eq!(whole, Sha::from(Sha256::digest(&bytes)));
        for ((offset, len), found) in spans.iter().zip(found) {
            let expected = Sha256::digest(&bytes[*offset as usize..][..*len as usize]);
            assert_eq!(found, Some(expected.into()), "{offset} {len}");
        }
        // Another file under its name is not the one that was opened.
        let other = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::rename(other.path(), file.path()).expect("it is replaced");
        let again = Pass::new(len).run(&input, |_, _| ()).expect("it is read");
        assert_eq!(again, whole);
        let changed = Pass::new(len + 1).run(&input, |_, _| ());
        assert!(matches!(changed, Err(Error::Read(ReadError::Changed))));
    }
}
