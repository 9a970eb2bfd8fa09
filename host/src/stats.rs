//! Statistics of tensors.

use crate::access::Access;
use crate::data;
use crate::error::Error;
use crate::value::Value;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{Element, Encoding, File, Histogram, Stats, Tensor};

/// Bins of the histogram, from the least to the greatest element.
const BINS: usize = 16;

/// What the elements of a tensor are like. Extremes, mean and deviation are those of the
/// finite elements.
///
/// ```
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let model = weighbridge::Model::from_bytes(&bytes)?;
/// let stats = model.tensor("emb")?.stats()?.unwrap();
/// assert_eq!((stats.count, stats.mean), (6, Some(2.5)));
/// assert_eq!(stats.max.unwrap().as_f64(), Some(5.0));
/// # Ok::<(), weighbridge::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// How many elements there are.
    pub count: u64,
    /// The least.
    pub min: Option<Value>,
    /// The greatest.
    pub max: Option<Value>,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation.
    pub std: Option<f64>,
    /// How many are zero, of either sign.
    pub zeros: u64,
    /// How many are so small that they lose digits.
    pub subnormals: u64,
    /// How many are infinite.
    pub infinities: u64,
    /// How many are not a number.
    pub nan: u64,
    /// The position of the first that is not.
    pub first_nan: Option<u64>,
    /// How many elements are in each of the bins of equal width between `min` and `max`, as
    /// far as their leading digits tell; `None` where these are equal or infinitely far apart.
    pub histogram: Option<Vec<u64>>,
}

#[cfg(feature = "serde")]
impl serde::Serialize for Summary {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut object = to.serialize_struct("Summary", 11)?;
        object.serialize_field("count", &self.count)?;
        object.serialize_field("min", &self.min)?;
        object.serialize_field("max", &self.max)?;
        object.serialize_field("mean", &self.mean.map(Value::Float))?;
        object.serialize_field("std", &self.std.map(Value::Float))?;
        object.serialize_field("zeros", &self.zeros)?;
        object.serialize_field("subnormals", &self.subnormals)?;
        object.serialize_field("infinities", &self.infinities)?;
        object.serialize_field("nan", &self.nan)?;
        object.serialize_field("first_nan", &self.first_nan)?;
        object.serialize_field("histogram", &self.histogram)?;
        object.end()
    }
}

/// Whether there are statistics of a tensor. What is stored encoded is decoded for
/// that.
pub(crate) fn can_show(access: &Access<'_>, file: &File, tensor: &Tensor) -> Result<bool, Error> {
    if !data::is_plain(tensor)
        || Stats::new(tensor.dtype, tensor.endianness, 0, tensor.elements).is_none()
    {
        return Ok(false);
    }
    if tensor.encoding == Encoding::Raw {
        return Ok(true);
    }
    let take = |_: &[u8], _| Ok::<(), Error>(());
    match data::elements(access, file, tensor, tensor.elements, take) {
        Err(Error::Undecodable(_)) => Ok(false),
        read => read.map(|()| true),
    }
}

/// The statistics of a tensor; `None` if it has no elements that are numbers.
pub(crate) fn of(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<Summary>, Error> {
    let new = Stats::new(tensor.dtype, tensor.endianness, 0, tensor.elements);
    let (Some(mut stats), true) = (new, data::is_plain(tensor)) else { return Ok(None) };
    let mut words = vec![0; Histogram::WORDS];
    let Some(mut histogram) = Histogram::new(tensor.dtype, &mut words) else { return Ok(None) };
    data::elements(access, file, tensor, tensor.elements, |bytes, _| {
        stats.add(bytes, Some(&mut histogram));
        Ok::<(), Error>(())
    })?;
    let stats = stats.summary();
    let ends = stats.min().map(Element::to_f64).zip(stats.max().map(Element::to_f64));
    let ends = ends.filter(|(min, max)| min < max && (max - min).is_finite());
    let bins = ends.map(|(min, max)| {
        let mut bins = vec![0; BINS];
        histogram.steps(min, max, &mut bins);
        bins
    });
    Ok(Some(Summary {
        count: stats.count(),
        min: stats.min().map(Value::from),
        max: stats.max().map(Value::from),
        mean: stats.mean(),
        std: stats.deviation(),
        zeros: stats.zeros(),
        subnormals: stats.subnormals(),
        infinities: stats.infinities(),
        nan: stats.nans(),
        first_nan: stats.first_nan(),
        histogram: bins,
    }))
}
