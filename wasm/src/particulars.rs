//! What only one format knows of a tensor. Everything else here works on the
//! common model.

use crate::text::decimal;
use crate::values::Numbers;
use alloc::string::String;
use weighbridge_core::{DType, Endianness, File, Source, Stop, Tensor};

/// What is shown of a tensor beside the common model.
#[derive(Debug, Default)]
pub struct Particulars {
    /// Its number, where tensors have numbers instead of names.
    pub id: Option<u64>,
    /// The type with parameters, where its name alone does not tell.
    pub dtype: Option<String>,
    /// The file's own number or spelling of a type that is unknown.
    pub dtype_raw: Option<String>,
    /// Where its shape would stand in a table outside of the file.
    pub shape_table_index: Option<u32>,
    /// The codec of a column, with its parameters.
    pub codec: Option<String>,
    /// The checksum that is stored with it.
    pub checksum: Option<String>,
    /// How its elements stand for real numbers.
    pub quantization: Option<Quantization>,
}

/// How elements stand for real numbers: `(element - zero point) × scale`.
#[derive(Debug)]
pub struct Quantization {
    /// `symmetric` or `asymmetric`.
    pub kind: &'static str,
    /// The axis along which scales differ; `None` if one holds for all.
    pub axis: Option<u64>,
    /// The scales.
    pub scales: Numbers,
    /// The zero points; none if the scheme has none.
    pub zero_points: Numbers,
}

/// Scales beyond this number are not shown.
const MOST: u64 = 64 << 10;

impl Particulars {
    /// What `file` says of `tensor`.
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Self, Stop> {
        // What is particular to a broken entry may lie outside of the file.
        let inside = tensor.extra.end().is_some_and(|end| end <= source.len());
        let mut it = Particulars::default();
        if !inside {
            return Ok(it);
        }
        let unknown = tensor.dtype == DType::Unknown;
        match file {
            File::Stb(header) => {
                it.id = Some(header.id(source, tensor)?.into());
                it.shape_table_index = header.shape_table_index(source, tensor)?;
                if unknown {
                    it.dtype_raw = Some(decimal(header.dtype_code(source, tensor)?.into()));
                }
            }
            File::Oinf(header) => {
                if unknown {
                    it.dtype_raw = Some(decimal(header.dtype_code(source, tensor)?.into()));
                }
                it.quantization = match header.quantization(source, tensor)? {
                    None => None,
                    Some(known) => Some(Quantization {
                        kind: if known.symmetric { "symmetric" } else { "asymmetric" },
                        axis: known.axis,
                        scales: list(source, known.scales, DType::F32)?,
                        zero_points: list(source, known.zero_points, DType::I32)?,
                    }),
                };
            }
            #[cfg(feature = "full")]
            File::BinTensors(header) if unknown => {
                it.dtype_raw = Some(decimal(header.dtype_code(source, tensor)?));
            }
            #[cfg(feature = "full")]
            File::Gguf(header) if unknown => {
                it.dtype_raw = Some(decimal(header.dtype_code(source, tensor)?.into()));
            }
            #[cfg(feature = "full")]
            File::Safetensors(header) if unknown => {
                let name = header.dtype_text(source, tensor)?;
                it.dtype_raw = Some(name.chars().map(|c| c.unwrap_or('\u{FFFD}')).collect());
            }
            #[cfg(feature = "full")]
            File::Idv(header) => {
                use alloc::string::ToString as _;
                use weighbridge_core::format::idv::{Item, Key};
                let spelling = header.spelling(source, tensor)?;
                it.codec = Some(spelling.to_string());
                if unknown {
                    it.dtype_raw = Some(lossy(&spelling.loadname()));
                }
                if let Item::Key(Key { stored, count: Some(count), .. }) =
                    header.codec(source, tensor)?.item
                {
                    it.dtype = Some(["key<", stored.name(), ",", &decimal(count), ">"].concat());
                }
            }
            #[cfg(feature = "full")]
            File::ZTensor(header) => {
                let text = |field| -> Result<Option<String>, Stop> {
                    let name = header.text(source, tensor, field)?;
                    Ok(name.map(|name| lossy(&name)))
                };
                it.checksum = text("checksum")?;
                if unknown {
                    it.dtype_raw = text("dtype")?;
                }
            }
            _ => {}
        }
        Ok(it)
    }
}

/// A text with replacements for what is not UTF-8.
#[cfg(feature = "full")]
fn lossy(name: &weighbridge_core::Name<'_>) -> String {
    let bytes: alloc::vec::Vec<u8> = name.bytes().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn list(source: &Source<'_>, span: weighbridge_core::Span, dtype: DType) -> Result<Numbers, Stop> {
    let len = span.len.min(MOST);
    let bytes = source.get(weighbridge_core::Span::new(span.offset, len))?;
    Ok(Numbers::of(dtype, bytes, len / 4, Endianness::Little))
}
