//! Format-specific properties of a tensor. Everything else in this crate works on the common
//! model.

use crate::base::span::{bytes, within};
use crate::base::text::Text;
use crate::base::value::Value;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::{DType, File, Source, Span, Stop, Tensor};

/// Lists are cut after this many bytes.
const MOST: u64 = 64 << 10;

/// What a format records of a tensor beyond the common model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Particulars {
    /// Its number, if tensors have numbers instead of names.
    pub id: Option<u64>,
    /// The element type with parameters, if its name alone is not enough.
    pub dtype: Option<String>,
    /// The file's own number or spelling of an unknown element type.
    pub dtype_raw: Option<Value>,
    /// The index of its shape in a table outside the file.
    pub shape_table_index: Option<u32>,
    /// The codec of a column, with its parameters.
    pub codec: Option<String>,
    /// The checksum stored with it.
    pub checksum: Option<String>,
    /// How its elements represent real numbers.
    pub quantization: Option<Quantization>,
}

/// How elements represent real numbers: `(element - zero point) * scale`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Quantization {
    /// Whether all zero points are 0.
    pub symmetric: bool,
    /// The axis along which scales differ; `None` for a single scale.
    pub axis: Option<u64>,
    /// The scales, as many as fit into 64 KiB.
    pub scales: Vec<f32>,
    /// The zero points; `None` if the scheme has none.
    pub zero_points: Option<Vec<i32>>,
    /// Whether there are more scales or zero points.
    pub truncated: bool,
}

impl Particulars {
    /// The particulars of `tensor` in `file`, for hosts that drive the core themselves.
    ///
    /// ```
    /// use weighbridge::Particulars;
    /// use weighbridge::weighbridge_core::{Cursor, File, Source};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let entry = file.next_tensor(&source, &mut Cursor::default(), &mut |_| {})?.unwrap();
    /// assert_eq!(Particulars::of(&source, &file, &entry.tensor)?.codec, None);
    /// # Ok::<(), weighbridge::weighbridge_core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::NeedBytes`], to be passed on.
    pub fn of(source: &Source<'_>, file: &File, tensor: &Tensor) -> Result<Self, Stop> {
        Particulars::read(source, file, tensor, true)
    }

    /// As [`of`](Self::of), with or without what tensors may [share](Self::shared).
    pub(crate) fn read(
        source: &Source<'_>,
        file: &File,
        tensor: &Tensor,
        shared: bool,
    ) -> Result<Self, Stop> {
        match Particulars::all(source, file, tensor, shared) {
            // The particulars of a broken entry may lie outside the file.
            Err(Stop::NeedBytes(absent))
                if !within(source, Span::new(absent.offset, absent.need)) =>
            {
                Ok(Particulars::default())
            }
            read => read,
        }
    }

    /// Number of bytes of the particulars that other tensors may share.
    pub(crate) fn shared(&self) -> u64 {
        let lists = self.quantization.as_ref().map(|it| {
            let points = it.zero_points.as_ref().map_or(0, Vec::len);
            it.scales.len().saturating_add(points).saturating_mul(4)
        });
        u64::try_from(lists.unwrap_or(0)).unwrap_or(u64::MAX)
    }

    /// The particulars, if what they consist of lies inside the file.
    fn all(source: &Source<'_>, file: &File, tensor: &Tensor, shared: bool) -> Result<Self, Stop> {
        let unknown = tensor.dtype == DType::Unknown;
        let mut it = Particulars::default();
        match file {
            #[cfg(feature = "stb")]
            File::Stb(header) => {
                it.id = Some(header.id(source, tensor)?.into());
                it.shape_table_index = header.shape_table_index(source, tensor)?;
                if unknown {
                    it.dtype_raw = Some(number(header.dtype_code(source, tensor)?));
                }
            }
            #[cfg(feature = "oinf")]
            File::Oinf(header) => {
                if unknown {
                    it.dtype_raw = Some(number(header.dtype_code(source, tensor)?));
                }
                if shared
                    && within(source, header.quantization_span(tensor))
                    && let Some(parameters) = header.quantization(source, tensor)?
                {
                    it.quantization = Some(Quantization::of(source, &parameters)?);
                }
            }
            #[cfg(feature = "bintensors")]
            File::BinTensors(header) if unknown => {
                it.dtype_raw = Some(number(header.dtype_code(source, tensor)?));
            }
            #[cfg(feature = "gguf")]
            File::Gguf(header) if unknown => {
                it.dtype_raw = Some(number(header.dtype_code(source, tensor)?));
            }
            #[cfg(feature = "safetensors")]
            File::Safetensors(header) if unknown => {
                it.dtype_raw = Some(spelling(header.dtype_text(source, tensor)?));
            }
            #[cfg(feature = "npy")]
            File::Npy(header) if unknown => {
                it.dtype_raw =
                    Some(Value::from(&*String::from_utf8_lossy(header.descr(source, tensor)?)));
            }
            #[cfg(feature = "idv")]
            File::Idv(header) => {
                use weighbridge_core::format::idv::{Item, Key};
                let codec = header.spelling(source, tensor)?;
                it.codec = Some(codec.to_string());
                if unknown {
                    it.dtype_raw = Some(spelling(codec.loadname()));
                }
                if let Item::Key(Key { stored, count: Some(count), .. }) =
                    header.codec(source, tensor)?.item
                {
                    it.dtype = Some(format!("key<{},{count}>", stored.name()));
                }
            }
            #[cfg(feature = "tflite")]
            File::Tflite(header) if shared => {
                if let Some(found) = header.quantization(source, tensor)? {
                    it.quantization = Some(Quantization::of_tflite(source, &found)?);
                }
            }
            #[cfg(feature = "ztensor")]
            File::ZTensor(header) => {
                let checksum = header.text(source, tensor, "checksum")?;
                it.checksum = checksum.map(|text| Text::from(text).lossy().into_owned());
                if unknown {
                    it.dtype_raw = header.text(source, tensor, "dtype")?.map(spelling);
                }
            }
            _ => {}
        }
        #[cfg(feature = "npy")]
        if it.dtype.is_none() {
            it.dtype = crate::read::items::spelling(source, file, tensor)?;
        }
        Ok(it)
    }
}

/// A file's number for an unknown type.
fn number(code: impl Into<u64>) -> Value {
    Value::Int(code.into().into())
}

/// A file's spelling of an unknown type.
fn spelling(name: weighbridge_core::Name<'_>) -> Value {
    Value::from(&*Text::from(name).lossy())
}

/// The items of a list, `N` bytes each, as many as fit into [`MOST`] bytes.
#[cfg(any(feature = "oinf", feature = "tflite"))]
fn items<'a, const N: usize>(source: &Source<'a>, span: Span) -> Result<&'a [[u8; N]], Stop> {
    Ok(bytes(source, span, MOST)?.as_chunks().0)
}

#[cfg(any(feature = "oinf", feature = "tflite"))]
fn floats(source: &Source<'_>, span: Span) -> Result<Vec<f32>, Stop> {
    Ok(items(source, span)?.iter().map(|scale| f32::from_le_bytes(*scale)).collect())
}

impl Quantization {
    #[cfg(feature = "oinf")]
    fn of(
        source: &Source<'_>,
        it: &weighbridge_core::format::oinf::Quantization,
    ) -> Result<Self, Stop> {
        let points = items(source, it.zero_points)?.iter().map(|point| i32::from_le_bytes(*point));
        Ok(Quantization {
            symmetric: it.symmetric,
            axis: it.axis,
            scales: floats(source, it.scales)?,
            zero_points: (!it.zero_points.is_empty()).then(|| points.collect()),
            truncated: it.scales.len.max(it.zero_points.len) > MOST,
        })
    }

    /// Zero points that do not fit into 32 bits, which break a rule, are the nearest that do.
    #[cfg(feature = "tflite")]
    fn of_tflite(
        source: &Source<'_>,
        it: &weighbridge_core::format::tflite::Quantization,
    ) -> Result<Self, Stop> {
        let points = items(source, it.zero_points)?.iter().map(|point| {
            let point = i64::from_le_bytes(*point);
            i32::try_from(point).unwrap_or(if point < 0 { i32::MIN } else { i32::MAX })
        });
        let points: Vec<i32> = points.collect();
        Ok(Quantization {
            symmetric: points.iter().all(|point| *point == 0),
            axis: it.axis.map(u64::from),
            scales: floats(source, it.scales)?,
            zero_points: (!points.is_empty()).then_some(points),
            truncated: it.scales.len.max(it.zero_points.len) > MOST,
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Quantization {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = to.serialize_struct("Quantization", 5)?;
        object
            .serialize_field("scheme", if self.symmetric { "symmetric" } else { "asymmetric" })?;
        object.serialize_field("axis", &self.axis)?;
        let scales = self.scales.iter().map(|scale| Value::Float((*scale).into()));
        object.serialize_field("scales", &scales.collect::<Value>())?;
        object.serialize_field("zero_points", &self.zero_points)?;
        if self.truncated {
            object.serialize_field("truncated", &true)?;
        }
        object.end()
    }
}
