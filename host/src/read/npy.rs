//! Tensors as NumPy files (.npy, version 1.0).

use crate::base::error::Error;
use crate::base::text;
use crate::read::data::{self, Order};
use crate::read::form::{Form, How};
#[cfg(feature = "npy")]
use crate::read::items;
use crate::read::tensor::Tensor;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{DType, DimEncoding, File, Layout, Status};

/// A tensor as a NumPy file: the header is ready, and the data can be written.
#[derive(Debug)]
pub struct Npy<'m, 'a> {
    tensor: Tensor<'m, 'a>,
    form: Form,
    header: Vec<u8>,
    notes: Vec<String>,
    /// For a column: elements per row, and bytes per element.
    row: Option<(u64, usize)>,
}

/// Most bytes to write for a column, unless the file itself is large: eight stored bytes may be
/// a sparse row of 2^31 elements, which becomes as many zeros.
const MOST: u64 = 16 << 30;
/// Most bytes to write for a column as a multiple of the file's length, if that is more. Text
/// and numbers compress to a tenth.
const TIMES: u64 = 64;

impl<'m, 'a> Tensor<'m, 'a> {
    /// The tensor as a NumPy file.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let mut file = Vec::new();
    /// let npy = model.tensor("emb")?.npy()?;
    /// npy.write(|bytes| Ok::<(), weighbridge::Error>(file.extend_from_slice(bytes)))?;
    /// assert!(file.starts_with(b"\x93NUMPY\x01\0"));
    /// assert_eq!(npy.notes(), ["bf16 elements are written as <f4"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] if NumPy has no such array.
    pub fn npy(&self) -> Result<Npy<'m, 'a>, Error> {
        Npy::of(self)
    }

    /// The type of the elements as the header of a NumPy array spells it, if that is the only place
    /// that says it: text, bytes, dates, time spans, records and long floats.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// assert_eq!(model.tensor("emb")?.descr()?, None); // numbers
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the header cannot be read.
    pub fn descr(&self) -> Result<Option<String>, Error> {
        #[cfg(feature = "npy")]
        if items::is_item(self.dtype()) && self.status() == Status::Sound {
            let Tensor { model, entry } = self;
            return model.access.ask(|source| items::descr(source, &model.file, &entry.tensor));
        }
        Ok(None)
    }
}

impl<'m, 'a> Npy<'m, 'a> {
    pub(crate) fn of(tensor: &Tensor<'m, 'a>) -> Result<Self, Error> {
        let (model, unsupported) = (tensor.model, |why| Err(Error::NoArray(why)));
        let dtype = tensor.dtype();
        let form = match tensor.descr()? {
            Some(descr) => Some(Form::copied(dtype, tensor.endianness(), descr)),
            None => Form::of(dtype, tensor.endianness()),
        };
        let Some(form) = form else {
            let dtype = dtype.name();
            return unsupported(format!("NumPy has no type for {dtype} data"));
        };
        if tensor.is_column() {
            return Npy::column(tensor, form);
        }
        if !data::is_dense(&tensor.tensor) {
            return unsupported(format!("its layout is {}", tensor.layout().name()));
        }
        let len = tensor.decoded_len()?;
        if tensor.bytes().is_none_or(|bytes| bytes > len) {
            return Err(Error::Unsupported("its data is too short for its shape".into()));
        }
        // If the extents are not in the file, the elements are written as a row.
        let shape = tensor.shape().known().unwrap_or_else(|| [tensor.elements()].into());
        let order = data::order(&model.access, &tensor.tensor)?;
        let header = array(&form, &shape, matches!(order, Order::Columns(_)))?;
        let notes = notes(tensor, &form, &order);
        Ok(Npy { tensor: tensor.clone(), form, header, notes, row: None })
    }

    /// A column of a data view.
    fn column(tensor: &Tensor<'m, 'a>, form: Form) -> Result<Self, Error> {
        let row = row(tensor)?;
        let header = array(&form, &tensor.shape().known().unwrap_or_default(), false)?;
        Ok(Npy { tensor: tensor.clone(), form, header, notes: Vec::new(), row: Some(row) })
    }

    /// How the array differs from the tensor, in sentences.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// assert_eq!(emb.npy()?.notes(), ["bf16 elements are written as <f4"]);
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Calls `take` with the bytes of the file, piece by piece.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("emb.npy");
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// use std::io::Write as _;
    ///
    /// let mut file = std::fs::File::create(&path)?;
    /// emb.npy()?.write(|bytes| file.write_all(bytes).map_err(Box::<dyn std::error::Error>::from))?;
    /// # assert_eq!(std::fs::metadata(&path)?.len(), 128 + 6 * 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `take`, and when the data cannot be read or decoded.
    pub fn write<E: From<Error>>(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        take(&self.header)?;
        let (tensor, model) = (&self.tensor.tensor, self.tensor.model);
        #[cfg(feature = "idv")]
        if let (Some(row), File::Idv(header)) = (self.row, &model.file) {
            return crate::read::column::write(&model.access, header, tensor, row, &mut take);
        }
        let mut out = Vec::new();
        let count = tensor.elements;
        data::elements(&model.access, &model.file, tensor, count, |bytes, count| {
            if matches!(self.form.how, How::Copy) {
                return take(bytes);
            }
            out.clear();
            self.form.write(bytes, count, &mut out);
            take(&out)
        })
    }
}

/// The values in a row of a column, and the bytes in a value.
///
/// # Errors
/// If rows differ in length, or all rows take more than a file of this length may decode to.
pub(crate) fn row(tensor: &Tensor<'_, '_>) -> Result<(u64, usize), Error> {
    let Some(shape) = tensor.shape().known() else {
        let why = "its vectors have no fixed length, so they do not form an array";
        return Err(Error::Unsupported(why.into()));
    };
    let product = |extents: &[u64]| extents.iter().try_fold(1_u64, |n, it| n.checked_mul(*it));
    let width = tensor.dtype().bits().div_ceil(8) as usize;
    let most = MOST.max(tensor.model.len_of_all().saturating_mul(TIMES));
    let bytes = product(&shape).and_then(|elements| elements.checked_mul(width as u64));
    let length = product(shape.get(1..).unwrap_or_default());
    let Some((length, _)) = length.zip(bytes.filter(|bytes| *bytes <= most)) else {
        let bytes = match bytes {
            Some(bytes) => text::plural(bytes, "byte"),
            None => "2^64 bytes or more".into(),
        };
        let most = text::thousands(most);
        let why = format!("its rows would take {bytes}, but at most {most} are written");
        return Err(Error::Unsupported(why));
    };
    Ok((length, width))
}

/// The header of an array, if NumPy supports this many axes.
fn array(form: &Form, shape: &[u64], fortran: bool) -> Result<Vec<u8>, Error> {
    if shape.len() > MOST_AXES {
        let axes = text::thousands(shape.len() as u64);
        let why = format!("it has {axes} dimensions, but NumPy arrays have at most {MOST_AXES}");
        return Err(Error::NoArray(why));
    }
    Ok(header(&form.descr, shape, fortran))
}

/// How the array differs from the tensor.
fn notes(tensor: &Tensor<'_, '_>, form: &Form, order: &Order) -> Vec<String> {
    let mut notes = Vec::new();
    let dtype = tensor.dtype();
    if !matches!(form.how, How::Copy) && dtype != DType::Bool {
        notes.push(format!(
            "{} elements are written as {}",
            dtype.name(),
            form.descr.trim_matches('\'')
        ));
    }
    let ordered = matches!(order, Order::Columns(_));
    if !ordered && (tensor.layout() == Layout::ChannelsLast || *order == Order::Unknown) {
        let layout = tensor.layout().name();
        notes.push(format!("its layout is {layout}; elements are in file order"));
    }
    if tensor.tensor.dims.encoding == DimEncoding::External {
        notes.push("its extents are not in the file; elements are written as a row".to_string());
    }
    notes
}

/// Most axes of a NumPy array: `NPY_MAXDIMS` since version 2.0, and 32 before.
const MOST_AXES: usize = 64;

/// The whole header, up to the first byte of data, for an array of at most [`MOST_AXES`] axes.
/// `descr` is NumPy's type as a literal, such as `'<f4'`; `fortran` says whether the first axis varies
/// fastest, not the last.
fn header(descr: &str, shape: &[u64], fortran: bool) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut dict = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': (");
    for (i, dim) in shape.iter().enumerate() {
        if i > 0 {
            dict.push_str(", ");
        }
        dict.push_str(&dim.to_string());
    }
    // A single dimension needs the comma that makes it a tuple.
    dict.push_str(if shape.len() == 1 { ",), }" } else { "), }" });

    // Magic, version, and a length of two bytes, which is enough for so few axes but not for any
    // number of fields. Names of fields need not be ASCII in version 3.
    let total = |prefix: usize| (prefix + dict.len() + 1).next_multiple_of(64);
    let short = u16::try_from(total(PREFIX) - PREFIX).ok().filter(|_| dict.is_ascii());
    let mut out = Vec::with_capacity(total(PREFIX + 2));
    out.extend_from_slice(b"\x93NUMPY");
    let total = match short {
        Some(len) => {
            out.extend_from_slice(&[1, 0]);
            out.extend_from_slice(&len.to_le_bytes());
            total(PREFIX)
        }
        None => {
            let total = total(PREFIX + 2);
            out.extend_from_slice(&[if dict.is_ascii() { 2 } else { 3 }, 0]);
            out.extend_from_slice(&((total - PREFIX - 2) as u32).to_le_bytes());
            total
        }
    };
    out.extend_from_slice(dict.as_bytes());
    // The padding aligns the data to 64 bytes.
    out.resize(total - 1, b' ');
    out.push(b'\n');
    out
}

/// Bytes before the text.
const PREFIX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npy_header_matches_numpy() {
        let matrix = header("'<f4'", &[2, 3], false);
        assert_eq!(matrix.len(), 128);
        assert_eq!(&matrix[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ";
        assert_eq!(&matrix[10..10 + text.len()], text);
        assert_eq!(matrix.last(), Some(&b'\n'));
        let columns = String::from_utf8(header("'<f4'", &[2, 3], true).split_off(10));
        assert!(columns.is_ok_and(|text| text.contains("'fortran_order': True, 'shape': (2, 3)")));
    }

    #[test]
    fn scalars_and_vectors_are_tuples() {
        let text = |shape: &[u64]| {
            String::from_utf8_lossy(&header("'|u1'", shape, false)[10..]).into_owned()
        };
        assert!(text(&[]).contains("'shape': (), }"));
        assert!(text(&[7]).contains("'shape': (7,), }"));
    }

    #[test]
    fn npy_header_of_64_axes_fits_version_1() {
        let most = header("'<f8'", &[u64::MAX; MOST_AXES], false);
        assert_eq!(&most[..8], b"\x93NUMPY\x01\x00");
        assert_eq!(most.len() % 64, 0);
        assert_eq!(usize::from(u16::from_le_bytes([most[8], most[9]])) + 10, most.len());
    }
}
