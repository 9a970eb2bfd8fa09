//! Decodes a chunk from pushed bytes.

use super::Decoding;
use alloc::vec::Vec;
use weighbridge_core::codec::{Fault, Undecoded};
use weighbridge_core::{Chunk, Source, Window};

/// Decodes one chunk whose stored bytes are pushed in order, for hosts that have no [`Source`].
///
/// ```
/// use weighbridge::weighbridge_core::Chunk;
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
/// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
/// ```
#[derive(Debug)]
pub struct ChunkStream {
    chunk: Chunk,
    decoding: Decoding,
    /// The stored bytes not yet decoded, and their offset in the chunk.
    input: Vec<u8>,
    at: u64,
}

impl ChunkStream {
    /// Creates a stream for the stored bytes of `chunk`.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
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

    /// The chunk being decoded.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// assert_eq!(stream.chunk().decoded, Some(4));
    /// ```
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Adds the next stored bytes.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// assert_eq!(stream.take()?, b"abcd");
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
    /// ```
    pub fn give(&mut self, bytes: Vec<u8>) {
        let used = self.decoding.read().saturating_sub(self.at);
        let rest = self.input.get(used as usize..).unwrap_or_default();
        self.input = if rest.is_empty() { bytes } else { [rest, &bytes].concat() };
        self.at += used;
    }

    /// Returns the next decoded bytes; empty if more input is needed or everything is decoded.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// assert!(stream.take()?.is_empty()); // nothing was given yet
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
    /// ```
    ///
    /// # Errors
    /// The fault in the data.
    pub fn take(&mut self) -> Result<&[u8], Fault> {
        let offset = self.chunk.stored.offset.saturating_add(self.at);
        let windows = [Window { offset, bytes: &self.input }];
        match self.decoding.step(&Source::windows(u64::MAX, &windows)) {
            Ok(true) => Ok(self.decoding.piece()),
            // Decoding restarted with a larger buffer, but the first bytes are gone.
            Err(Undecoded::Absent(_)) if self.decoding.read() < self.at => Err(Fault::Window),
            Ok(false) | Err(Undecoded::Absent(_)) => Ok(&[]),
            Err(Undecoded::Fault(fault)) => Err(fault),
        }
    }

    /// The bytes decoded by the last [`take`](Self::take).
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// assert_eq!(stream.take()?.len(), 4);
    /// assert_eq!(stream.piece(), b"abcd");
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
    /// ```
    pub fn piece(&self) -> &[u8] {
        self.decoding.piece()
    }

    /// The number of bytes decoded so far.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// stream.take()?;
    /// assert_eq!(stream.written(), 4);
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
    /// ```
    pub fn written(&self) -> u64 {
        self.decoding.written()
    }

    /// Whether everything is decoded and has passed the checks of its encoding.
    ///
    /// ```
    /// use weighbridge::weighbridge_core::Chunk;
    /// use weighbridge::{ChunkStream, Span};
    ///
    /// let stored = Span::new(0, 4);
    /// let mut stream = ChunkStream::new(Chunk { stored, decoded: Some(4), ..Chunk::default() });
    /// stream.give(b"abcd".to_vec());
    /// while !stream.take()?.is_empty() {}
    /// assert!(stream.is_done());
    /// # Ok::<(), weighbridge::weighbridge_core::codec::Fault>(())
    /// ```
    pub fn is_done(&self) -> bool {
        self.decoding.is_done()
    }
}
