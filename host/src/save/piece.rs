//! The bytes of one tensor as a safetensors file has them, as a session gets them.

use crate::base::error::{Error, ReadError};
use crate::check::access::Access;
use crate::check::options::Options;
use crate::check::session::Session;
use crate::list::entry::Entry;
use crate::read::data::{Decoding, Order, answered, strided};
use crate::read::model::Model;
use crate::read::tensor::Tensor;
use alloc::vec::Vec;
use weighbridge_core::{Chunk, Chunks, Encoding, Layout, Span, Stop};

/// Stored bytes that are taken at a time.
const PIECE: u64 = 256 << 10;
/// Most bytes that are kept to put them in another order.
const KEPT: u64 = 256 << 20;

/// Runs `ask` on the model that a session has open; `None` if bytes are missing, which the session
/// then asks for.
pub(super) fn with_model<'a, T>(
    session: &mut Session<'a>,
    ask: impl FnOnce(&Model<'a>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let Some(file) = session.file().copied() else { return Ok(None) };
    let taken = core::mem::replace(session, Session::new(0, Options::new()));
    let model = Model { access: Access::around(taken), file };
    let answer = ask(&model);
    *session = model.access.give_back();
    match answer {
        Err(Error::Read(ReadError::Absent(_))) => Ok(None),
        answer => answer.map(Some),
    }
}

/// How far a step went.
pub(super) enum Got {
    /// There may be more.
    More,
    /// Bytes are missing.
    Need,
    /// That was all.
    End,
}

/// A tensor that is read.
#[derive(Debug)]
pub(super) struct Reading {
    /// Where the bytes lie as they are written.
    as_it_lies: Option<Span>,
    from: From,
    /// Bytes to reverse at a time.
    swapped: usize,
    /// Bytes that do not fill an element yet; or all bytes, if they are put in another order.
    held: Vec<u8>,
    /// The other order: extents, strides in elements, bytes per element, and elements given.
    order: Option<(Vec<u64>, Vec<u64>, usize, u64)>,
    given: u64,
}

/// Where the bytes come from.
#[derive(Debug)]
enum From {
    Raw(Span),
    Encoded { decoding: Decoding, left: u64 },
}

impl Reading {
    /// Why a column is not written here.
    pub(super) const ROWS: &'static str = "its rows are not read piece by piece";

    /// Why a tensor that safetensors could have is not written here.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn refused(tensor: &Tensor<'_, '_>) -> Result<Option<&'static str>, Error> {
        if tensor.is_column() {
            return Ok(Some(Self::ROWS));
        }
        // Without an order it is refused for another reason.
        let order = match tensor.form() {
            Ok((_, order)) => order,
            Err(error @ Error::Read(_)) => return Err(error),
            Err(_) => return Ok(None),
        };
        let (Ok(len), access) = (tensor.decoded_len(), &tensor.model.access) else {
            return Ok(None);
        };
        let kept = match (&tensor.entry.tensor.chunks, tensor.layout()) {
            (Chunks::One(range), Layout::Strided) => range.len,
            _ if order != Order::Rows => len,
            _ => 0,
        };
        if kept > KEPT {
            return Ok(Some("its elements lie too far apart"));
        }
        // One stored element may stand for any number of them.
        let is_too_long = len > access.options().work_of(access.len());
        Ok(is_too_long.then_some("its elements are many more than the file has"))
    }

    /// Begins to read a tensor that is planned.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn of(entry: &Entry, model: &Model<'_>) -> Result<Self, Error> {
        let tensor = model.tensor_of(entry);
        let (swapped, order) = tensor.form()?;
        let as_it_lies = tensor.canonical_span()?;
        let (_, width) = tensor.entry.tensor.unit().unwrap_or((1, 1));
        let shape = || tensor.shape().known().unwrap_or_default();
        let strides = tensor.entry.tensor.strides().filter(|_| tensor.layout() == Layout::Strided);
        let order = match (strides, order) {
            (Some(at), _) => {
                let strides = model.access.ask(|source| {
                    let (words, _) = source.get(at).map_err(Stop::NeedBytes)?.as_chunks::<8>();
                    Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
                })?;
                Some((shape(), strides, width as usize, 0))
            }
            (None, Order::Columns(extents)) => {
                let strides = extents.iter().scan(1_u64, |stride, extent| {
                    let this = *stride;
                    *stride = stride.saturating_mul(*extent);
                    Some(this)
                });
                let strides = strides.collect();
                Some((extents, strides, width as usize, 0))
            }
            _ => None,
        };
        let len = tensor.decoded_len()?;
        let range = match (&tensor.entry.tensor.chunks, tensor.layout()) {
            (Chunks::One(range), Layout::Strided) => Some(*range),
            _ => tensor.entry.tensor.raw(),
        };
        let chunk = || -> Result<Option<Chunk>, Error> {
            model.access.ask(|source| model.file.chunk(source, &tensor.entry.tensor, 0))
        };
        let from = match (range, len) {
            (Some(range), _) if order.is_some() => From::Raw(range),
            (Some(range), len) => From::Raw(Span::new(range.offset, range.len.min(len))),
            (None, 0) => From::Raw(Span::default()),
            (None, len) => match chunk()? {
                Some(it) if it.encoding == Encoding::Raw => {
                    From::Raw(Span::new(it.stored.offset, it.stored.len.min(len)))
                }
                Some(it) => {
                    let work = model.access.options().work_of(model.access.len());
                    From::Encoded { decoding: Decoding::within(it, len, work), left: len }
                }
                None => From::Raw(Span::default()),
            },
        };
        Ok(Reading { as_it_lies, from, swapped, held: Vec::new(), order, given: 0 })
    }

    /// Where the bytes lie as they are written.
    pub(super) fn as_it_lies(&self) -> Option<Span> {
        self.as_it_lies
    }

    /// Bytes given so far.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Appends the next bytes to `out`.
    ///
    /// # Errors
    /// When the data cannot be decoded.
    pub(super) fn step(
        &mut self,
        session: &mut Session<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Got, Error> {
        let before = out.len();
        let got = match self.more(session)? {
            Got::End => self.arrange(out)?,
            got => {
                if self.order.is_none() {
                    self.turn(out);
                }
                got
            }
        };
        self.given += (out.len() - before) as u64;
        Ok(got)
    }

    /// Gets the next stored bytes.
    fn more(&mut self, session: &mut Session<'_>) -> Result<Got, Error> {
        let held = &mut self.held;
        match &mut self.from {
            From::Raw(span) if span.len == 0 => Ok(Got::End),
            From::Raw(span) => {
                let here = span.len.min(PIECE);
                let next = [(Span::new(span.offset, here), ())];
                if session.read(next, |(), bytes| held.extend_from_slice(bytes)).is_err() {
                    return Ok(Got::Need);
                }
                *span = Span::new(span.offset.saturating_add(here), span.len - here);
                Ok(Got::More)
            }
            From::Encoded { decoding, left } => {
                let next = session.ask(|_, source| answered(decoding.step(source)));
                match next {
                    Err(Stop::NeedBytes(_)) => return Ok(Got::Need),
                    Err(Stop::Invalid(rule)) => return Err(Error::Invalid(rule)),
                    Err(_) | Ok(None) => return Err(Error::Memory(*left)),
                    Ok(Some(more)) if !more.map_err(Error::Undecodable)? => return Ok(Got::End),
                    Ok(Some(_)) => {}
                }
                let piece = decoding.piece();
                let here = usize::try_from(*left).map_or(piece.len(), |it| it.min(piece.len()));
                held.extend_from_slice(piece.get(..here).unwrap_or_default());
                *left -= here as u64;
                Ok(Got::More)
            }
        }
    }

    /// Gives the held bytes of whole elements, little-endian.
    fn turn(&mut self, out: &mut Vec<u8>) {
        let whole = self.held.len() / self.swapped * self.swapped;
        let from = out.len();
        out.extend(self.held.drain(..whole));
        self.swap(out, from);
    }

    fn swap(&self, out: &mut [u8], from: usize) {
        if self.swapped > 1 {
            let new = out.get_mut(from..).unwrap_or_default();
            new.chunks_exact_mut(self.swapped).for_each(<[u8]>::reverse);
        }
    }

    /// Gives the next elements of a piece in another order.
    fn arrange(&mut self, out: &mut Vec<u8>) -> Result<Got, Error> {
        let Reading { order: Some((extents, strides, width, given)), held, .. } = self else {
            return Ok(Got::End);
        };
        let elements: u64 = extents.iter().product();
        let (at, width) = (*given, (*width).max(1));
        let count = (elements - at).min(PIECE / width as u64);
        if count == 0 {
            return Ok(Got::End);
        }
        let from = out.len();
        for (place, run) in strided(&[(at, count)], extents, strides) {
            let bounds = |place: u64| usize::try_from(place).ok()?.checked_mul(width);
            let bytes =
                bounds(place).zip(bounds(run)).and_then(|(at, len)| held.get(at..)?.get(..len));
            out.extend_from_slice(bytes.ok_or(ReadError::Changed)?);
        }
        *given += count;
        self.swap(out, from);
        Ok(Got::More)
    }
}
