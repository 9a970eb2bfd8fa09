//! Values, and block payloads made of them.

use super::{Codec, string};

/// One value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Bits of a number, tick count or rank; only the low bytes are stored.
    Bits(u64),
    /// Low and high half of a row id.
    RowId(u64, u64),
    /// Offset in minutes and ticks of local time.
    Offset(i16, i64),
    /// A truth value; only `DvBool` can store `None`.
    Bool(Option<bool>),
    /// UTF-16 units, so that a row can end inside a surrogate pair; `None` is a missing text.
    Text(Option<Vec<u16>>),
    /// A vector with every value stored.
    Dense(Vec<Self>),
    /// A vector with the values at `indices` stored.
    Sparse {
        /// Logical length.
        len: i32,
        /// Strictly increasing, below `len`.
        indices: Vec<i32>,
        /// One per index.
        values: Vec<Self>,
    },
}

impl Cell {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(Some(text.encode_utf16().collect()))
    }

    /// A single-precision number.
    pub fn single(value: f32) -> Self {
        Self::Bits(u64::from(value.to_bits()))
    }

    /// Numbers as a dense vector.
    pub fn dense(values: &[u64]) -> Self {
        Self::Dense(values.iter().map(|&v| Self::Bits(v)).collect())
    }

    /// Numbers as a sparse vector.
    pub fn sparse(len: i32, stored: &[(i32, u64)]) -> Self {
        Self::Sparse {
            len,
            indices: stored.iter().map(|p| p.0).collect(),
            values: stored.iter().map(|p| Self::Bits(p.1)).collect(),
        }
    }
}

/// The uncompressed payload of `cells` under `codec`.
///
/// # Panics
/// If a cell does not match the codec's type, which is a fault of the test.
pub fn payload(codec: &Codec, cells: &[Cell]) -> Vec<u8> {
    match codec {
        Codec::Number(number) => bits(cells, number.width()),
        Codec::TimeSpan(_) | Codec::DateTime(_) => bits(cells, 8),
        Codec::Key2(inner, _) | Codec::Key { inner, .. } => payload(inner, cells),
        Codec::Boolean => booleans(cells),
        Codec::DvBool => two_bit_booleans(cells),
        Codec::DateTimeOffset(_) => offsets(cells),
        Codec::RowId(_) => row_ids(cells),
        Codec::Text => texts(cells),
        Codec::Vector(inner, _) => vectors(inner, codec.vector_size().unwrap_or(0), cells),
        Codec::Other { .. } => bits(cells, 8),
    }
}

fn bits(cells: &[Cell], width: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for cell in cells {
        match cell {
            Cell::Bits(value) => out.extend_from_slice(&value.to_le_bytes()[..width]),
            other => panic!("not a number: {other:?}"),
        }
    }
    out
}

fn row_ids(cells: &[Cell]) -> Vec<u8> {
    let mut out = Vec::new();
    for cell in cells {
        match cell {
            Cell::RowId(low, high) => {
                out.extend_from_slice(&low.to_le_bytes());
                out.extend_from_slice(&high.to_le_bytes());
            }
            other => panic!("not a row id: {other:?}"),
        }
    }
    out
}

fn booleans(cells: &[Cell]) -> Vec<u8> {
    let mut out = vec![0; cells.len().div_ceil(8)];
    for (i, cell) in cells.iter().enumerate() {
        match cell {
            Cell::Bool(Some(value)) => out[i / 8] |= u8::from(*value) << (i % 8),
            other => panic!("not a boolean: {other:?}"),
        }
    }
    out
}

/// Sixteen values per little-endian u32 word.
fn two_bit_booleans(cells: &[Cell]) -> Vec<u8> {
    let mut words = vec![0_u32; cells.len().div_ceil(16)];
    for (i, cell) in cells.iter().enumerate() {
        let code = match cell {
            Cell::Bool(Some(value)) => u32::from(*value),
            Cell::Bool(None) => 2,
            other => panic!("not a boolean: {other:?}"),
        };
        words[i / 16] |= code << (2 * (i % 16));
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// All offsets, then all ticks.
fn offsets(cells: &[Cell]) -> Vec<u8> {
    let mut minutes = Vec::new();
    let mut ticks = Vec::new();
    for cell in cells {
        match cell {
            Cell::Offset(m, t) => {
                minutes.extend_from_slice(&m.to_le_bytes());
                ticks.extend_from_slice(&t.to_le_bytes());
            }
            other => panic!("not a date-time with offset: {other:?}"),
        }
    }
    minutes.extend(ticks);
    minutes
}

/// Count, end positions in UTF-16 units, then all texts concatenated into one string.
fn texts(cells: &[Cell]) -> Vec<u8> {
    let mut out = (cells.len() as i32).to_le_bytes().to_vec();
    let mut joined: Vec<u16> = Vec::new();
    for cell in cells {
        let missing = match cell {
            Cell::Text(Some(units)) => {
                joined.extend_from_slice(units);
                0
            }
            Cell::Text(None) => i32::MIN,
            other => panic!("not a text: {other:?}"),
        };
        out.extend_from_slice(&(joined.len() as i32 | missing).to_le_bytes());
    }
    out.extend(string(String::from_utf16_lossy(&joined).as_bytes()));
    out
}

fn vectors(inner: &Codec, size: i32, cells: &[Cell]) -> Vec<u8> {
    let mut lengths: Vec<i32> = Vec::new();
    let mut counts: Vec<i32> = Vec::new();
    let mut all_indices: Vec<i32> = Vec::new();
    let mut all_values: Vec<Cell> = Vec::new();
    for cell in cells {
        match cell {
            Cell::Dense(values) => {
                lengths.push(values.len() as i32);
                counts.push(-1);
                all_values.extend_from_slice(values);
            }
            Cell::Sparse { len, indices, values } => {
                lengths.push(*len);
                counts.push(indices.len() as i32);
                all_indices.extend_from_slice(indices);
                all_values.extend_from_slice(values);
            }
            other => panic!("not a vector: {other:?}"),
        }
    }
    // A fixed size is repeated; a variable size is hoisted if all rows share it.
    let uniform = lengths.first().is_some_and(|first| lengths.iter().all(|l| l == first));
    let word = if size > 0 {
        size
    } else if uniform {
        lengths[0]
    } else {
        0
    };
    let mut words = vec![cells.len() as i32, word];
    if word == 0 {
        words.extend(&lengths);
    }
    words.extend(&counts);
    words.push(all_indices.len() as i32);
    words.extend(&all_indices);
    let mut out: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    out.extend(payload(inner, &all_values));
    out
}
