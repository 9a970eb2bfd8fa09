//! What becomes of one tensor: its type and shape in a safetensors file, and its bytes.

use super::layout::Item;
use super::{Float, types};
use crate::base::error::Error;
use crate::read::data::{self, Order};
use crate::read::tensor::Tensor;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;
use half::{bf16, f16};
use weighbridge_core::{File, Span, Status};

/// Elements that are dequantised at a time; a multiple of the length of every block.
const BATCH: usize = 1 << 14;

/// Shorter tensors are collected in memory.
pub(super) const WORTH: u64 = 256 << 10;

/// How the elements of a tensor are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As they are, in row-major order and little-endian.
    Same,
    /// As numbers of another type.
    Numbers(Float),
    /// The rows of a column: values in a row, and bytes in a value.
    Rows(u64, usize),
}

/// A tensor that can be written.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) item: Item,
    pub(super) form: Form,
    /// What a reader should know.
    pub(super) note: Option<&'static str>,
}

/// Decides how a tensor is written. `number` says as what elements in blocks are, and `rows` what
/// becomes of a column: a program links what it passes.
///
/// # Errors
/// [`Error::Unsupported`] with the reason why it cannot be, and errors of reading.
pub(super) fn fit(
    tensor: &Tensor<'_, '_>,
    number: impl FnOnce(&Tensor<'_, '_>) -> Result<Float, Error>,
    rows: impl FnOnce(&Tensor<'_, '_>) -> Result<Form, Error>,
) -> Result<Fit, Error> {
    let name = tensor.name().as_str().ok_or_else(|| no("its name is not UTF-8"))?.to_owned();
    if name == "__metadata__" {
        return Err(no("safetensors has metadata under this name"));
    }
    match tensor.status() {
        Status::Sound => {}
        Status::Broken => return Err(no("it is broken")),
        Status::Unsupported => return Err(no("its type, encoding or layout is unknown")),
    }
    let (mut dtype, mut form) = (tensor.dtype(), Form::Same);
    if dtype.block().is_some() {
        let to = number(tensor)?;
        (dtype, form) = (to.dtype(), Form::Numbers(to));
    }
    if types::name(dtype).is_none() {
        return Err(no(&format!("safetensors has no type for {}", dtype.name())));
    }
    if tensor.is_column() {
        form = rows(tensor)?;
    } else if form == Form::Same {
        tensor.canonical_span()?;
        if tensor.bytes() != Some(tensor.decoded_len()?) {
            return Err(no("its data does not have the length of its shape"));
        }
    }
    let (shape, note) = match tensor.shape().known() {
        Some(shape) => (shape, None),
        None => (
            vec![tensor.elements()],
            Some("its extents are not in the file: it is written as a vector"),
        ),
    };
    let item = Item { name, dtype, shape };
    if item.len().is_none() {
        return Err(no("its elements do not fill whole bytes"));
    }
    Ok(Fit { item, form, note })
}

pub(super) fn no(why: &str) -> Error {
    Error::Unsupported(why.to_string())
}

/// Why elements in blocks are not written as they are.
pub(super) fn quantised(tensor: &Tensor<'_, '_>) -> Error {
    let dtype = tensor.dtype().name();
    let why = "its elements are quantised, and have to be dequantised";
    no(&format!("safetensors has no type for {dtype}: {why}"))
}

/// The type that blocks are decoded to.
///
/// # Errors
/// [`Error::Unsupported`] without a type, and if they cannot be decoded in order.
pub(super) fn number(tensor: &Tensor<'_, '_>, to: Option<Float>) -> Result<Float, Error> {
    let to = to.ok_or_else(|| quantised(tensor))?;
    dequantisable(tensor).map(|()| to)
}

/// Checks that blocks can be decoded in order.
fn dequantisable(tensor: &Tensor<'_, '_>) -> Result<(), Error> {
    let dtype = tensor.dtype();
    if dtype.decode_f32(tensor.endianness(), &[], &mut []).is_none() {
        return Err(no(&format!("{} data is not dequantised", dtype.name())));
    }
    let order = data::order(&tensor.model.access, &tensor.tensor)?;
    if !data::is_plain(&tensor.tensor) || order != Order::Rows {
        return Err(no("its blocks are not stored in row-major order"));
    }
    Ok(())
}

/// Reads a column once, because only its values say whether it is an array.
#[cfg(feature = "idv")]
pub(super) fn rows(tensor: &Tensor<'_, '_>) -> Result<Form, Error> {
    let (length, width) = crate::read::npy::row(tensor)?;
    let form = Form::Rows(length, width);
    write(tensor, form, |_| Ok::<(), Error>(()))?;
    Ok(form)
}

#[cfg(not(feature = "idv"))]
pub(super) fn rows(_: &Tensor<'_, '_>) -> Result<Form, Error> {
    Err(no("its elements are not an array"))
}

/// Where the bytes of a tensor lie as they are written, if they are worth copying in one go.
pub(super) fn as_it_lies(tensor: &Tensor<'_, '_>, form: Form) -> Result<Option<Span>, Error> {
    if form != Form::Same || tensor.bytes().is_none_or(|len| len < WORTH) {
        return Ok(None);
    }
    Ok(tensor.canonical_span()?.filter(|span| Some(span.len) == tensor.bytes()))
}

/// Passes the bytes of a tensor to `take`, in order. Returns how many of its numbers became
/// infinite, because the type they were dequantised to is too narrow.
///
/// # Errors
/// When the data cannot be read or decoded, and any error of `take`.
pub(super) fn write<E: From<Error>>(
    tensor: &Tensor<'_, '_>,
    form: Form,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let model = tensor.model;
    match (form, &model.file) {
        (Form::Same, _) => tensor.canonical(take).map(|()| 0),
        (Form::Numbers(to), file) => {
            let (mut numbers, mut out) = (vec![0.0; BATCH], Vec::new());
            let (mut infinite, dtype) = (0, tensor.dtype());
            let (unit, width) = dtype.unit().unwrap_or((1, 1));
            let batch = BATCH / unit as usize * width as usize;
            let count = tensor.elements();
            data::elements(&model.access, file, &tensor.tensor, count, |bytes, count| {
                let mut left = count as usize;
                for blocks in bytes.chunks(batch) {
                    let most = left.min(BATCH);
                    let room = &mut numbers[..most];
                    let endianness = tensor.endianness();
                    let decoded = dtype.decode_f32(endianness, blocks, room).unwrap_or(0);
                    out.clear();
                    infinite += to.write(&room[..decoded.min(most)], &mut out);
                    left -= decoded.min(most);
                    take(&out)?;
                }
                Ok::<(), E>(())
            })?;
            Ok(infinite)
        }
        #[cfg(feature = "idv")]
        (Form::Rows(length, width), File::Idv(header)) => {
            let row = (length, width);
            crate::read::column::write(&model.access, header, &tensor.tensor, row, &mut take)?;
            Ok(0)
        }
        (Form::Rows(..), _) => Err(no("its elements are not an array").into()),
    }
}

impl Float {
    /// Appends numbers in this type, and returns how many finite ones became infinite.
    fn write(self, numbers: &[f32], out: &mut Vec<u8>) -> u64 {
        let mut infinite = 0;
        for number in numbers {
            let lost = match self {
                Float::F32 => {
                    out.extend_from_slice(&number.to_le_bytes());
                    false
                }
                Float::F16 => {
                    let narrow = f16::from_f32(*number);
                    out.extend_from_slice(&narrow.to_le_bytes());
                    narrow.is_infinite()
                }
                Float::Bf16 => {
                    let narrow = bf16::from_f32(*number);
                    out.extend_from_slice(&narrow.to_le_bytes());
                    narrow.is_infinite()
                }
            };
            infinite += u64::from(lost && number.is_finite());
        }
        infinite
    }
}
