//! A chunk decoded from bytes that are pushed.

use super::Decoding;
use alloc::vec::Vec;
use weighbridge_core::codec::{Fault, Undecoded};
use weighbridge_core::{Chunk, Source, Window};

/// Decodes one chunk, whose stored bytes are given in order: for hosts that have no
/// [`Source`].
///
/// ```
/// use weighbridge::core::Chunk;
/// use weighbridge::{ChunkStream, Span};
///
/// let stored = Span::new(0, 4);
/// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
/// let mut decoded = Vec::new();
/// for bytes in [b"ab", b"cd"] {
///     stream.give(bytes.to_vec());
///     decoded.extend_from_slice(stream.take()?);
/// }
/// assert_eq!(decoded, b"abcd");
/// # Ok::<(), weighbridge::core::codec::Fault>(())
/// ```
#[derive(Debug)]
pub struct ChunkStream {
    chunk: Chunk,
    decoding: Decoding,
    /// The stored bytes that are not decoded yet, and where in the chunk they begin.
    input: Vec<u8>,
    at: u64,
}

impl ChunkStream {
    /// A stream of the bytes of `chunk`.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// assert_eq!(stream.chunk().stored, stored);
    /// # stream.give(Vec::new());
    /// ```
    pub fn new(chunk: Chunk) -> Self {
        ChunkStream { chunk, decoding: Decoding::new(chunk), input: Vec::new(), at: 0 }
    }

    /// What is decoded.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// assert_eq!(stream.chunk().decoded, Some(4));
    /// ```
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Gives the next stored bytes.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// assert_eq!(stream.take()?, b"abcd");
    /// # Ok::<(), weighbridge::core::codec::Fault>(())
    /// ```
    pub fn give(&mut self, bytes: Vec<u8>) {
        let used = self.decoding.read().saturating_sub(self.at);
        let rest = self.input.get(used as usize..).unwrap_or_default();
        self.input = if rest.is_empty() { bytes } else { [rest, &bytes].concat() };
        self.at += used;
    }

    /// The next decoded bytes; none when more must be given first, or all is decoded.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// assert!(stream.take()?.is_empty()); // nothing was given yet
    /// # Ok::<(), weighbridge::core::codec::Fault>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the data.
    pub fn take(&mut self) -> Result<&[u8], Fault> {
        let offset = self.chunk.stored.offset.saturating_add(self.at);
        let windows = [Window { offset, bytes: &self.input }];
        match self.decoding.step(&Source::windows(u64::MAX, &windows)) {
            Ok(true) => Ok(self.decoding.piece()),
            // Begun anew in a larger buffer, but its first bytes are gone.
            Err(Undecoded::Absent(_)) if self.decoding.read() < self.at => Err(Fault::Window),
            Ok(false) | Err(Undecoded::Absent(_)) => Ok(&[]),
            Err(Undecoded::Fault(fault)) => Err(fault),
        }
    }

    /// The bytes that [`take`](Self::take) decoded last.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// assert_eq!(stream.take()?.len(), 4);
    /// assert_eq!(stream.piece(), b"abcd");
    /// # Ok::<(), weighbridge::core::codec::Fault>(())
    /// ```
    pub fn piece(&self) -> &[u8] {
        self.decoding.piece()
    }

    /// Decoded bytes so far.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// stream.take()?;
    /// assert_eq!(stream.written(), 4);
    /// # Ok::<(), weighbridge::core::codec::Fault>(())
    /// ```
    pub fn written(&self) -> u64 {
        self.decoding.written()
    }

    /// Whether all is decoded, and passed the checks of its encoding.
    ///
    /// ```
    /// use weighbridge::core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// while !stream.take()?.is_empty() {}
    /// assert!(stream.is_done());
    /// # Ok::<(), weighbridge::core::codec::Fault>(())
    /// ```
    pub fn is_done(&self) -> bool {
        self.decoding.is_done()
    }
}
