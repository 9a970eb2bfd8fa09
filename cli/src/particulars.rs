//! What only one format knows of a tensor. Everything else in this program
//! works on the common model.

use crate::report::within;
use crate::text::Text;
use crate::values;
use serde_json::{Map, Value};
use weighbridge_core::format::idv::{Item, Key};
use weighbridge_core::format::oinf::Quantization;
use weighbridge_core::{DType, Endianness, File, Source, Span, Stop, Tensor};

/// Lists are cut here, in bytes.
const MOST: u64 = 64 << 10;

/// What is shown of a tensor beside the common model.
#[derive(Debug, Default)]
pub(crate) struct Particulars {
    /// Its number, where tensors have numbers instead of names.
    pub(crate) id: Option<u64>,
    /// The element type with parameters, where its name alone does not tell.
    pub(crate) dtype: Option<String>,
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
    /// [`Stop::NeedBytes`], to be passed on.
    pub(crate) fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Self, Stop> {
        // What is particular to a broken entry may lie outside of the file.
        if !within(source, tensor.extra) {
            return Ok(Particulars::default());
        }
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
            File::Oinf(header) => {
                if unknown {
                    it.dtype_raw = Some(header.dtype_code(source, tensor)?.into());
                }
                if let Some(parameters) = header.quantization(source, tensor)? {
                    it.quantization = Some(quantization(source, &parameters)?);
                }
            }
            File::BinTensors(header) if unknown => {
                it.dtype_raw = Some(header.dtype_code(source, tensor)?.into());
            }
            File::Gguf(header) if unknown => {
                it.dtype_raw = Some(header.dtype_code(source, tensor)?.into());
            }
            File::Safetensors(header) if unknown => {
                it.dtype_raw = Some(Text::from(header.dtype_text(source, tensor)?).lossy().into());
            }
            File::Idv(header) => {
                let spelling = header.spelling(source, tensor)?;
                it.codec = Some(spelling.to_string());
                if unknown {
                    it.dtype_raw = Some(Text::from(spelling.loadname()).lossy().into());
                }
                if let Item::Key(Key { stored, count: Some(count), .. }) =
                    header.codec(source, tensor)?.item
                {
                    it.dtype = Some(format!("key<{},{count}>", stored.name()));
                }
            }
            File::ZTensor(header) => {
                let text = |field| {
                    let text = header.text(source, tensor, field)?;
                    Ok::<_, Stop>(text.map(|text| Text::from(text).lossy()))
                };
                it.checksum = text("checksum")?;
                if unknown {
                    it.dtype_raw = text("dtype")?.map(Value::from);
                }
            }
            _ => {}
        }
        Ok(it)
    }
}

/// The quantisation of OINF.
fn quantization(source: &Source<'_>, it: &Quantization) -> Result<Value, Stop> {
    let list = |dtype: DType, span: Span| -> Result<Value, Stop> {
        let bytes = values::bytes(source, span, MOST)?;
        Ok(values::values(dtype, bytes, u64::MAX, Endianness::Little).collect())
    };
    let mut object = Map::new();
    let scheme = if it.symmetric { "symmetric" } else { "asymmetric" };
    object.insert("scheme".to_owned(), scheme.into());
    object.insert("axis".to_owned(), it.axis.into());
    object.insert("scales".to_owned(), list(DType::F32, it.scales)?);
    let zero_points = match it.zero_points.is_empty() {
        true => Value::Null,
        false => list(DType::I32, it.zero_points)?,
    };
    object.insert("zero_points".to_owned(), zero_points);
    if it.scales.len.max(it.zero_points.len) > MOST {
        object.insert("truncated".to_owned(), true.into());
    }
    Ok(object.into())
}
