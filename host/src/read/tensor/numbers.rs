//! Reads elements as numbers of one type.

use super::Tensor;
use crate::base::error::Error;
use crate::base::span::zeros;
use crate::read::data::{self, Order};
use crate::read::element_conversion::{Conversion, Number, Run, accept};
use alloc::format;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge_core::codec;
use weighbridge_core::{Chunk, Encoding, Endianness, File, Layout, Status};

impl<'a> Tensor<'_, 'a> {
    /// Returns all elements in row-major order: decoded, in native byte order, and widened if
    /// the stored type is smaller than `T`.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let weights: Vec<f32> = model.tensor("emb")?.to_vec()?; // bf16 in the file
    /// assert_eq!(weights, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Lossy`] if `T` cannot represent every value of the stored type; also when the
    /// data is broken, cannot be decoded, or is not an array.
    pub fn to_vec<T: Number>(&self) -> Result<Vec<T>, Error> {
        self.to_vec_with(Conversion::Widen)
    }

    /// Like [`to_vec`](Self::to_vec), with a conversion that may check or round each element.
    ///
    /// ```
    /// use weighbridge::{Conversion, Error, Model};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?; // bf16
    /// assert!(matches!(emb.to_vec::<i8>(), Err(Error::Lossy { .. })));
    /// assert_eq!(emb.to_vec_with::<i8>(Conversion::Exact)?, [0, 1, 2, 3, 4, 5]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec); [`Error::Inexact`] names the first element that is
    /// not preserved.
    pub fn to_vec_with<T: Number>(&self, conversion: Conversion) -> Result<Vec<T>, Error> {
        self.slice_with(0..self.length()?, conversion)
    }

    /// Returns a range of elements, counted in row-major order. Reads nothing else of raw data;
    /// compressed data is decoded up to the end of the range.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("emb")?.slice::<f32>(2..4)?, [2.0, 3.0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec), and [`Error::Length`] beyond the last element.
    pub fn slice<T: Number>(&self, range: Range<u64>) -> Result<Vec<T>, Error> {
        self.slice_with(range, Conversion::Widen)
    }

    /// Returns a range along the first axis: row `i` contains all elements with first index
    /// `i`.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.rows::<f32>(1..2)?, [3.0, 4.0, 5.0]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`slice`](Self::slice).
    pub fn rows<T: Number>(&self, range: Range<u64>) -> Result<Vec<T>, Error> {
        let unknown = || Error::Unsupported("its extents are unknown".into());
        let shape = self.shape().known().ok_or_else(unknown)?;
        let (rows, row) = match shape.split_first() {
            Some((rows, others)) => {
                (*rows, others.iter().fold(1_u64, |n, extent| n.saturating_mul(*extent)))
            }
            None => (1, 1),
        };
        if range.end > rows {
            return Err(Error::Length { expected: rows, found: range.end });
        }
        self.slice(range.start.saturating_mul(row)..range.end.saturating_mul(row))
    }

    /// Fills `out` with all elements, converted as by [`to_vec`](Self::to_vec).
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut buffer = [0.0_f32; 6];
    /// model.tensor("emb")?.read_into(&mut buffer)?;
    /// assert_eq!(buffer[5], 5.0);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`to_vec`](Self::to_vec), and [`Error::Length`] if `out` has another length.
    pub fn read_into<T: Number>(&self, out: &mut [T]) -> Result<(), Error> {
        let expected = self.length()?;
        if out.len() as u64 != expected {
            return Err(Error::Length { expected, found: out.len() as u64 });
        }
        self.convert(0..expected, Conversion::Widen, out)
    }

    /// Borrows the elements in memory, without a copy.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::aligned();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let view: &[f32] = model.tensor("bias")?.as_slice()?;
    /// assert_eq!(view, [0.5, -0.5]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the reason: the file is not in memory, the type or the byte
    /// order differs, or the data is encoded or not aligned.
    pub fn as_slice<T: Number>(&self) -> Result<&'a [T], Error> {
        let no =
            |why: &str| Err(Error::Unsupported(format!("it cannot be borrowed as a slice: {why}")));
        self.usable()?;
        let Some(span) = self.tensor.raw() else { return no("its data is encoded") };
        if self.order()? != Order::Rows {
            return no("its elements are not in row-major order");
        }
        let Some(bytes) = self.model.access.lent(span) else {
            let kept = self.model.access.resident(span).is_some();
            return no(if kept {
                "its bytes are owned by the model"
            } else {
                "the file is not in memory"
            });
        };
        if self.dtype() != T::DTYPE {
            return no("its elements have a different type");
        }
        match self.tensor.slice_of(bytes) {
            Some(slice) => Ok(slice),
            None => no("its data is not aligned, or not in the byte order of this machine"),
        }
    }

    fn slice_with<T: Number>(
        &self,
        range: Range<u64>,
        conversion: Conversion,
    ) -> Result<Vec<T>, Error> {
        accept::<T>(self.dtype(), conversion)?;
        let len = range.end.saturating_sub(range.start);
        self.bound(len)?;
        let mut out = zeros(usize::try_from(len).unwrap_or(usize::MAX))?;
        self.convert(range, conversion, &mut out)?;
        Ok(out)
    }

    /// Converts the elements of a range.
    fn convert<T: Number>(
        &self,
        range: Range<u64>,
        conversion: Conversion,
        out: &mut [T],
    ) -> Result<(), Error> {
        accept::<T>(self.dtype(), conversion)?;
        let elements = self.length()?;
        if range.end > elements || range.start > range.end {
            return Err(Error::Length { expected: elements, found: range.end });
        }
        let (access, file) = (&self.model.access, &self.model.file);
        let all = range == (0..elements);
        if all
            && self.dtype() == T::DTYPE
            && self.is_native::<T>()
            && self.order()? == Order::Rows
            && let Some(chunk) = self.whole_chunk()?
        {
            // Decodes straight into `out`.
            return data::fill(access, &chunk, bytemuck::cast_slice_mut(out));
        }
        let (dtype, endianness) = (self.dtype(), self.tensor.endianness);
        let mut left = out;
        let mut position = range.start;
        let mut take = |bytes: &[u8], skip: u64, count: u64| {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(left.len());
            let (here, rest) = core::mem::take(&mut left).split_at_mut(count);
            left = rest;
            let run = Run { dtype, endianness, bytes, skip, position };
            position += count as u64;
            run.convert(conversion, here)
        };
        #[cfg(feature = "idv")]
        if let File::Idv(header) = file {
            let bytes = self.column(header)?;
            return take(&bytes, range.start, range.end - range.start);
        }
        if self.order()? == Order::Rows {
            return data::range(access, file, &self.tensor, range, take);
        }
        let mut at = 0;
        data::ordered(access, file, &self.tensor, range.end, |bytes, here| {
            let skip = range.start.saturating_sub(at).min(here);
            at += here;
            if skip < here { take(bytes, skip, here - skip) } else { Ok(()) }
        })
    }

    fn is_native<T>(&self) -> bool {
        let little = cfg!(target_endian = "little");
        size_of::<T>() == 1 || (self.tensor.endianness == Endianness::Little) == little
    }

    /// The only chunk of the data, if it is exactly as long as the elements.
    fn whole_chunk(&self) -> Result<Option<Chunk>, Error> {
        if self.layout() == Layout::Strided {
            return Ok(None);
        }
        let chunk = self.chunk()?;
        Ok(chunk.filter(|chunk| data::len(chunk) == self.bytes()))
    }

    fn chunk(&self) -> Result<Option<Chunk>, Error> {
        if let (Some(stored), Some(decoded)) = (self.tensor.raw(), self.bytes()) {
            let chunk = Chunk { stored, decoded: Some(stored.len), ..Chunk::default() };
            return Ok(Some(chunk).filter(|_| stored.len == decoded));
        }
        self.model.access.ask(|source| self.model.file.chunk(source, &self.tensor, 0))
    }

    /// Fails if the stored bytes cannot decode to this many elements, so that a few bytes cannot
    /// request all memory.
    fn bound(&self, elements: u64) -> Result<(), Error> {
        let bytes = self.dtype().bytes(elements).unwrap_or(u64::MAX);
        let Some(span) = self.span() else { return Ok(()) };
        let most = codec::most(self.encoding(), span.len).unwrap_or(0);
        let allowed = self.model.access.options().work_of(self.model.len_of_all());
        if self.encoding() != Encoding::Raw && bytes > most.min(allowed) {
            return Err(Error::Memory(bytes));
        }
        Ok(())
    }

    /// The number of elements, if they can be read as an array.
    fn length(&self) -> Result<u64, Error> {
        self.usable()?;
        let no = |why: &str| Err(Error::Unsupported(why.into()));
        if self.is_column() {
            let Some(shape) = self.shape().known() else {
                return no("its vectors have no fixed length, so they do not form an array");
            };
            let product = shape.iter().try_fold(1_u64, |n, extent| n.checked_mul(*extent));
            return product.ok_or(Error::Memory(u64::MAX));
        }
        if !data::is_dense(&self.tensor) {
            let layout = self.layout().name();
            return Err(Error::NoArray(format!("its layout is {layout}")));
        }
        if !self.dtype().is_numeric() {
            let dtype = self.dtype().name();
            return Err(Error::NoArray(format!("{dtype} data is not read as numbers")));
        }
        if !data::is_plain(&self.tensor) {
            return no("its data is split across several chunks, or its encoding is unknown");
        }
        if self.order()? == Order::Unknown {
            return no("its extents are not in the file, so the order of its elements is unknown");
        }
        Ok(self.elements())
    }

    fn usable(&self) -> Result<(), Error> {
        match self.status() {
            Status::Sound => Ok(()),
            Status::Broken => Err(Error::Broken(self.name().clone())),
            Status::Unsupported => {
                Err(Error::Unsupported("its type, encoding or layout is unknown".into()))
            }
        }
    }

    pub(crate) fn order(&self) -> Result<Order, Error> {
        data::order(&self.model.access, &self.tensor)
    }

    /// Returns the elements of a column, row by row, as little-endian numbers.
    #[cfg(feature = "idv")]
    fn column(&self, header: &weighbridge_core::format::idv::Header) -> Result<Vec<u8>, Error> {
        let shape = self.shape().known().unwrap_or_default();
        let length = shape.get(1..).unwrap_or_default().iter().product();
        let width = self.dtype().bits().div_ceil(8) as usize;
        let mut out = Vec::new();
        let most = self.model.access.options().work_of(self.model.len_of_all());
        let take = &mut |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            if out.len() as u64 > most { Err(Error::Memory(most)) } else { Ok(()) }
        };
        crate::read::column::write(
            &self.model.access,
            header,
            &self.tensor,
            (length, width),
            take,
        )?;
        Ok(out)
    }
}
