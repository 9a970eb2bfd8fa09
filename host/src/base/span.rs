//! Spans of a file, and memory for their bytes.

use crate::base::error::Error;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Source, Span, Stop};

/// Whether a span lies inside the file, or inside an index that was made for it.
pub(crate) fn within(source: &Source<'_>, span: Span) -> bool {
    let is_in_index = || span.offset >= source.len() && source.get(span).is_ok();
    span.end().is_some_and(|end| end <= source.len() || is_in_index())
}

/// The bytes of a span, at most `limit` of them; empty if it does not lie inside the file.
///
/// # Errors
/// [`Stop::NeedBytes`], to be passed on.
pub(crate) fn bytes<'s>(source: &Source<'s>, span: Span, limit: u64) -> Result<&'s [u8], Stop> {
    if !within(source, span) {
        return Ok(&[]);
    }
    Ok(source.get(Span::new(span.offset, span.len.min(limit)))?)
}

/// A vector of `len` zeros, if there is enough memory.
pub(crate) fn zeros<T: Clone + Default>(len: usize) -> Result<Vec<T>, Error> {
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    // Zeros cost nothing until they are written to, but a failed allocation would abort the
    // process, so it is tried first.
    let mut probe = Vec::<T>::new();
    probe.try_reserve_exact(len).map_err(|_| Error::Memory(bytes))?;
    drop(probe);
    Ok(vec![T::default(); len])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_beyond_the_file_is_empty() {
        let source = Source::whole(b"abc");
        assert_eq!(bytes(&source, Span::new(1, 2), 9), Ok(&b"bc"[..]));
        assert_eq!(bytes(&source, Span::new(1, 3), 9), Ok(&b""[..]));
        assert_eq!(bytes(&source, Span::new(u64::MAX, 3), 9), Ok(&b""[..]));
    }
}
