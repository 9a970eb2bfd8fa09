//! Columns of a data view as arrays: numbers and truth values, alone or in
//! vectors of a fixed length, sparse ones filled with zeros.

use crate::blocks::{Trouble, decode};
use crate::human;
use crate::session::{Halt, Session};
use std::io;
use weighbridge_core::format::idv::Header;
use weighbridge_core::format::idv::block::{Row, Scalar};
use weighbridge_core::{Element, File, Tensor, limits};

/// Most bytes that a column is written to, unless the file is large itself: eight
/// stored bytes may be a sparse row of 2^31 elements, which become as many zeros.
pub(crate) const MOST: u64 = 16 << 30;

/// Most times the length of the file that a column is written to, where that is
/// more. Text and numbers compress to a tenth.
pub(crate) const TIMES: u64 = 64;

/// Why a column cannot be written as an array.
pub(crate) enum Fault<E> {
    /// The file, or what it is written to.
    Other(E),
    /// In words.
    Unsupported(String),
}

impl<E: From<Halt>> From<Halt> for Fault<E> {
    fn from(halt: Halt) -> Self {
        Fault::Other(halt.into())
    }
}

/// Writes the elements of all rows, row by row, as little-endian numbers of
/// `width` bytes; `length` is how many a row has.
pub(crate) fn write<E: From<Halt> + From<io::Error>>(
    session: &mut Session<'_>,
    header: &Header,
    tensor: &Tensor,
    (length, width): (u64, usize),
    out: &mut impl io::Write,
) -> Result<(), Fault<E>> {
    let undecodable = || Fault::Unsupported("a block of it cannot be decoded".to_owned());
    let codec = session.ask(|source| Ok(header.codec(source, tensor)?))?;
    for i in 0..tensor.chunks.count() {
        let chunk = session.ask(|source| File::Idv(*header).chunk(source, tensor, i))?;
        let chunk = chunk.ok_or_else(undecodable)?;
        let decoded = match decode(session, &chunk, limits::BLOCK_BYTES)? {
            Ok(decoded) => decoded,
            Err(Trouble::Faulty) => return Err(undecodable()),
            Err(Trouble::NoMemory(len)) => {
                let len = human::plural(len, "byte");
                return Err(Fault::Unsupported(format!("there is no memory for a block of {len}")));
            }
            Err(Trouble::TooLarge(len)) => {
                let (len, most) = (human::bytes(len), human::bytes(limits::BLOCK_BYTES));
                let why = format!("a block of it has {len}, and at most {most} are decoded");
                return Err(Fault::Unsupported(why));
            }
        };
        let block = header.block(&codec, chunk.elements, &decoded).map_err(|_| undecodable())?;
        for row in block.rows() {
            let mut write = |scalar: Option<Scalar<'_>>| -> Result<(), Fault<E>> {
                let bytes = bytes_of(scalar).map_err(|why| Fault::Unsupported(why.to_owned()))?;
                let bytes = bytes.get(..width).unwrap_or(&bytes);
                out.write_all(bytes).map_err(|error| Fault::Other(error.into()))
            };
            let vector = match row {
                Row::Scalar(scalar) => {
                    write(Some(scalar))?;
                    continue;
                }
                Row::Vector(vector) => vector,
            };
            if u64::from(vector.len()) != length {
                return Err(Fault::Unsupported("its vectors differ in length".to_owned()));
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

/// An element in little-endian order, with bytes to spare; 0 for none.
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
        Some(Scalar::Missing) => return Err("it has missing values, which NumPy cannot say"),
        Some(_) => return Err("its values are no numbers"),
    })
}
