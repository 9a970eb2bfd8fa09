//! What only one format knows of a tensor. Everything else in this program
//! works on the common model.

use serde_json::Value;
use weighbridge::{DType, File, Source, Stop, Tensor};

/// What is shown of a tensor beside the common model.
#[derive(Debug, Default)]
pub(crate) struct Particulars {
    /// Its number, where tensors have numbers instead of names.
    pub(crate) id: Option<u64>,
    /// The file's own number or spelling of an element type that is unknown.
    pub(crate) dtype_raw: Option<Value>,
    /// Where its shape would stand in a table outside of the file.
    pub(crate) shape_table_index: Option<u32>,
    /// The codec of a column, with its parameters.
    pub(crate) codec: Option<String>,
    /// The checksum that is stored with it.
    pub(crate) checksum: Option<String>,
    /// How its elements stand for real numbers.
    pub(crate) quantization: Option<Value>,
}

impl Particulars {
    /// # Errors
    /// [`Stop::Absent`], to be passed on.
    pub(crate) fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Self, Stop> {
        let unknown = tensor.dtype == DType::Unknown;
        let mut it = Particulars::default();
        match file {
            File::Stb(header) => {
                it.id = Some(header.id(source, tensor)?.into());
                it.shape_table_index = header.shape_table_index(source, tensor)?;
                if unknown {
                    it.dtype_raw = Some(header.dtype_code(source, tensor)?.into());
                }
            }
            _ => {}
        }
        Ok(it)
    }
}
