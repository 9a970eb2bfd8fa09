//! Elements as bytes that do not depend on the format of the file.

use super::Tensor;
use crate::base::error::Error;
use crate::read::data::{self, Order};
use alloc::vec::Vec;
use weighbridge_core::{DType, Encoding, Endianness, Layout, Span, Status};

impl Tensor<'_, '_> {
    /// Calls `take` with the bytes of all elements: decoded, in row-major order and
    /// little-endian. They are the same in every format that stores the tensor, and its digest
    /// is computed from them. Packed elements and blocks are passed as stored.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut all = Vec::new();
    /// model.tensor("emb")?.canonical(|piece| {
    ///     all.extend_from_slice(piece);
    ///     Ok::<(), weighbridge::Error>(())
    /// })?;
    /// assert_eq!(all[..4], [0x00, 0x00, 0x80, 0x3F]); // 0 and 1 as bf16
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `take`; [`Error::Unsupported`] with the reason if there are no such bytes;
    /// and when the data cannot be read.
    pub fn canonical<E: From<Error>>(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (swapped, order) = self.form()?;
        let (access, file) = (&self.model.access, &self.model.file);
        if swapped == 1 && order == Order::Rows {
            return self.stream(take);
        }
        let mut turned = Vec::new();
        data::ordered(access, file, &self.tensor, self.tensor.elements, |piece, _| {
            turned.clear();
            turned.extend_from_slice(piece);
            turned.chunks_mut(swapped).for_each(<[u8]>::reverse);
            take(&turned)
        })
    }

    /// The range of the file that contains the bytes of [`canonical`](Self::canonical), if they
    /// are stored in that form.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.canonical_span()?, emb.span());
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`canonical`](Self::canonical).
    pub fn canonical_span(&self) -> Result<Option<Span>, Error> {
        let (swapped, order) = self.form()?;
        if swapped != 1 || order != Order::Rows || self.layout() == Layout::Strided {
            return Ok(None);
        }
        if self.file().is_some() {
            return Ok(None);
        }
        if let Some(span) = self.tensor.raw() {
            return Ok(Some(span));
        }
        let Some(piece) = self.pieces().next().transpose()? else {
            return Ok(Some(Span::default()));
        };
        let raw = self.encoding() == Encoding::Raw;
        Ok(raw.then_some(Span::new(piece.offset, piece.stored)))
    }

    /// The number of bytes to reverse at a time, and the order of the elements.
    pub(crate) fn form(&self) -> Result<(usize, Order), Error> {
        let no = |why: &str| Err(Error::Unsupported(why.into()));
        match self.status() {
            Status::Sound => {}
            Status::Broken => return no("it is broken"),
            Status::Unsupported => return no("its type, encoding or layout is unknown"),
        }
        if self.is_column() || !data::is_dense(&self.tensor) {
            return no("its elements are not an array");
        }
        if self.layout() == Layout::ChannelsLast && self.elements() > 1 {
            return no("its channel axis is not specified");
        }
        self.decoded_len()?;
        let order = self.order()?;
        if order == Order::Unknown {
            return no("the order of its elements is unknown");
        }
        let swapped = match (self.endianness(), self.dtype(), self.tensor.unit()) {
            (Endianness::Little, ..) => 1,
            (_, DType::C64, _) => 4,
            (_, DType::C128, _) => 8,
            (_, DType::Utf32, _) => 4,
            (_, DType::Bytes | DType::Void, _) => 1,
            (_, DType::LongComplex, Some((1, width))) => (width as usize / 2).max(1),
            (_, DType::Record, _) => return no("its fields are big-endian"),
            (_, _, Some((1, width))) => width.max(1) as usize,
            (_, _, Some((_, 1))) => 1,
            _ => return no("its blocks are big-endian"),
        };
        let turned = swapped > 1 || order != Order::Rows;
        if turned && !data::is_sequential(&self.tensor) {
            return no("its data is split across several chunks, or its encoding is unknown");
        }
        Ok((swapped, order))
    }
}
