//! Data view columns as arrays: numbers and Booleans, single or in vectors of a fixed length.
//! Sparse vectors are filled with zeros.

use crate::base::error::Error;
use crate::base::text;
use crate::check::access::Access;
use crate::read::data::{Trouble, decode};
use alloc::format;
use weighbridge_core::format::idv::Header;
use weighbridge_core::format::idv::block::{Row, Scalar};
use weighbridge_core::{Element, File, Tensor, limits};

/// Writes the elements of all rows in order, as little-endian numbers of `width` bytes;
/// `length` is the number of elements per row.
pub(crate) fn write<E: From<Error>>(
    access: &Access<'_>,
    header: &Header,
    tensor: &Tensor,
    (length, width): (u64, usize),
    out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let undecodable = || E::from(unsupported("one of its blocks cannot be decoded"));
    let codec = access.ask(|source| Ok(header.codec(source, tensor)?))?;
    for i in 0..tensor.chunks.count() {
        let chunk = access.ask(|source| File::Idv(*header).chunk(source, tensor, i))?;
        let chunk = chunk.ok_or_else(undecodable)?;
        let decoded = match decode(access, &chunk, limits::BLOCK_BYTES)? {
            Ok(decoded) => decoded,
            Err(Trouble::Faulty) => return Err(undecodable()),
            Err(Trouble::NoMemory(len)) => {
                let len = text::plural(len, "byte");
                return Err(unsupported(&format!("not enough memory for a block of {len}")).into());
            }
            Err(Trouble::TooLarge(len)) => {
                let (len, most) = (text::bytes(len), text::bytes(limits::BLOCK_BYTES));
                let why = format!("one of its blocks has {len}, but at most {most} are decoded");
                return Err(unsupported(&why).into());
            }
        };
        let block = header.block(&codec, chunk.elements, &decoded).map_err(|_| undecodable())?;
        for row in block.rows() {
            let mut write = |scalar: Option<Scalar<'_>>| -> Result<(), E> {
                let bytes = bytes_of(scalar).map_err(unsupported)?;
                let bytes = bytes.get(..width).unwrap_or(&bytes);
                out(bytes)
            };
            let vector = match row {
                Row::Scalar(scalar) => {
                    write(Some(scalar))?;
                    continue;
                }
                Row::Vector(vector) => vector,
            };
            if u64::from(vector.len()) != length {
                return Err(unsupported("its vectors differ in length").into());
            }
            match vector.indices() {
                None => vector.values().try_for_each(|value| write(Some(value)))?,
                Some(indices) => {
                    let mut at = 0;
                    for (index, value) in indices.zip(vector.values()) {
                        (at..u64::from(index)).try_for_each(|_| write(None))?;
                        write(Some(value))?;
                        at = u64::from(index) + 1;
                    }
                    (at..length).try_for_each(|_| write(None))?;
                }
            }
        }
    }
    Ok(())
}

fn unsupported(why: &str) -> Error {
    Error::Unsupported(why.into())
}

/// An element in little-endian order, padded to 8 bytes; 0 for `None`.
fn bytes_of(scalar: Option<Scalar<'_>>) -> Result<[u8; 8], &'static str> {
    let wide = |low: [u8; 4]| {
        let [a, b, c, d] = low;
        [a, b, c, d, 0, 0, 0, 0]
    };
    Ok(match scalar {
        None => [0; 8],
        Some(Scalar::Number(Element::Int(value))) => value.to_le_bytes(),
        Some(Scalar::Number(Element::Uint(value))) => value.to_le_bytes(),
        Some(Scalar::Number(Element::F32(value))) => wide(value.to_le_bytes()),
        Some(Scalar::Number(Element::F64(value))) => value.to_le_bytes(),
        Some(Scalar::Bool(value)) => u64::from(value).to_le_bytes(),
        Some(Scalar::Missing) => {
            return Err("it has missing values, which an array cannot represent");
        }
        Some(_) => return Err("its values are not numeric"),
    })
}
