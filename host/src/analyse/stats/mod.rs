//! Statistics of tensors.

#[cfg(feature = "std")]
mod threads;

use crate::base::error::Error;
use crate::base::value::Value;
use crate::check::access::Access;
use crate::read::data;
use alloc::vec;
use alloc::vec::Vec;
use weighbridge_core::{DType, Element, Encoding, File, Histogram, Stats, Tensor};

/// Elements per part. Parts are merged in order, so that the result does not depend on the
/// number of threads. A multiple of every block size, and of what the core sums up at once.
const PART: u64 = 1 << 18;
/// Elements per part of types that take less than a byte.
const PACKED: u64 = PART << 3;
/// Tensors with fewer parts are summed up on one thread.
#[cfg(feature = "std")]
const MANY: u64 = 8;

/// Bins of the histogram, from the least to the greatest element.
const BINS: usize = 16;

/// Statistics of a tensor's elements. Extremes, mean and deviation cover the finite elements.
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
    /// Number of elements.
    pub count: u64,
    /// The least element.
    pub min: Option<Value>,
    /// The greatest element.
    pub max: Option<Value>,
    /// The mean.
    pub mean: Option<f64>,
    /// The standard deviation.
    pub std: Option<f64>,
    /// Number of zeros of either sign.
    pub zeros: u64,
    /// Number of subnormal elements, which are so small that they lose digits.
    pub subnormals: u64,
    /// Number of infinite elements.
    pub infinities: u64,
    /// Number of NaN elements.
    pub nan: u64,
    /// Position of the first NaN.
    pub first_nan: Option<u64>,
    /// Number of elements in each bin of equal width between `min` and `max`, by their leading
    /// digits; `None` if `min` and `max` are equal or infinitely far apart.
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

impl crate::read::tensor::Tensor<'_, '_> {
    /// Statistics of the elements; `None` if they are not numbers.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let emb = model.tensor("emb")?;
    /// let stats = emb.stats()?.unwrap();
    /// assert_eq!((stats.mean, stats.nan, stats.zeros), (Some(2.5), 0, 1));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the data cannot be read or decoded.
    pub fn stats(&self) -> Result<Option<Summary>, Error> {
        of(&self.model.access, &self.model.file, &self.tensor)
    }
}

/// Whether a tensor has statistics. Encoded data is decoded to find out.
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

/// The statistics of a tensor; `None` if its elements are not numbers.
pub(crate) fn of(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<Summary>, Error> {
    if !data::is_plain(tensor) {
        return Ok(None);
    }
    let Some(Sums { summary: stats, mut words }) = sum_up(access, file, tensor)? else {
        return Ok(None);
    };
    let Some(histogram) = Histogram::new(tensor.dtype, &mut words) else { return Ok(None) };
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

/// The summary of all elements, and the words of their histogram.
#[derive(Debug, PartialEq)]
struct Sums {
    summary: weighbridge_core::Summary,
    words: Vec<u64>,
}

/// Number of elements per part.
fn part_len(dtype: DType) -> u64 {
    if dtype.block().is_none() && dtype.bits() < 8 { PACKED } else { PART }
}

/// The statistics of the part that starts at element `first`.
fn part(tensor: &Tensor, first: u64) -> Option<Stats> {
    let count = tensor.elements.saturating_sub(first).min(part_len(tensor.dtype));
    Stats::new(tensor.dtype, tensor.endianness, first, count)
}

fn sum_up(access: &Access<'_>, file: &File, tensor: &Tensor) -> Result<Option<Sums>, Error> {
    #[cfg(feature = "std")]
    if tensor.elements >= MANY * part_len(tensor.dtype) && threads::count() > 1 {
        return threads::sum_up(access, file, tensor, threads::count());
    }
    in_turn(access, file, tensor)
}

/// Sums up the parts in order.
fn in_turn(access: &Access<'_>, file: &File, tensor: &Tensor) -> Result<Option<Sums>, Error> {
    let mut words = vec![0; Histogram::WORDS];
    let Some(mut histogram) = Histogram::new(tensor.dtype, &mut words) else { return Ok(None) };
    let Some(mut stats) = part(tensor, 0) else { return Ok(None) };
    let (mut first, mut before) = (0, None);
    pieces(access, file, tensor, |bytes, ends| {
        stats.add(bytes, Some(&mut histogram));
        first += if ends { part_len(tensor.dtype) } else { 0 };
        if ends
            && first < tensor.elements
            && let Some(next) = part(tensor, first)
        {
            let part = core::mem::replace(&mut stats, next).summary();
            before = Some(after(before, part));
        }
    })?;
    Ok(Some(Sums { summary: after(before, stats.summary()), words }))
}

/// Merges the summary of a part into that of the parts before it.
fn after(
    before: Option<weighbridge_core::Summary>,
    part: weighbridge_core::Summary,
) -> weighbridge_core::Summary {
    let Some(mut all) = before else { return part };
    all.merge(&part);
    all
}

/// Calls `take` with the bytes of all elements, split where a part ends, and whether one ends.
fn pieces(
    access: &Access<'_>,
    file: &File,
    tensor: &Tensor,
    mut take: impl FnMut(&[u8], bool),
) -> Result<(), Error> {
    let len = tensor.dtype.bytes(part_len(tensor.dtype)).and_then(|len| usize::try_from(len).ok());
    let len = len.unwrap_or(usize::MAX);
    let mut room = len;
    data::elements(access, file, tensor, tensor.elements, |mut bytes, _| {
        while let Some((head, rest)) = bytes.split_at_checked(room) {
            take(head, true);
            (bytes, room) = (rest, len);
        }
        take(bytes, false);
        room -= bytes.len();
        Ok(())
    })
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::Model;
    use weighbridge_tests::codec::{samples, weights_f32};
    use weighbridge_tests::encode::oinf::{self, Type};
    use weighbridge_tests::encode::safetensors;

    /// Sums up the only tensor of a file in order, and on different numbers of threads.
    fn on_threads(bytes: &[u8]) -> Sums {
        let model = Model::from_bytes(bytes).unwrap();
        let tensor = model.tensor("x").unwrap().tensor;
        let one = in_turn(&model.access, &model.file, &tensor).unwrap().unwrap();
        assert_eq!(one.summary.count(), tensor.elements);
        for threads in [0, 1, 2, 3] {
            let all = threads::sum_up(&model.access, &model.file, &tensor, threads).unwrap();
            // Nothing is sent for an empty tensor.
            let any = tensor.elements > 0 || threads == 0;
            assert_eq!(all.as_ref(), any.then_some(&one), "{threads}");
        }
        one
    }

    /// More parts than threads, with a part that ends within the tensor's last piece.
    #[test]
    fn statistics_do_not_depend_on_threads() {
        let mut values = weights_f32(5 * PART as usize + 777, 3);
        values[PART as usize + 5] = f32::NAN;
        values[4 * PART as usize] = f32::INFINITY;
        for count in [5 * PART + 777, 5 * PART, 100, 0] {
            let data = values[..count as usize].iter().flat_map(|value| value.to_le_bytes());
            let shape = vec![count];
            let tensor =
                safetensors::Tensor { name: "x".into(), dtype: "F32", shape, data: data.collect() };
            let bytes = safetensors::File { metadata: None, tensors: vec![tensor] }.encode();
            let first = (count > PART + 5).then_some(PART + 5);
            assert_eq!(on_threads(&bytes).summary.first_nan(), first);
        }
    }

    /// Integers that doubles cannot represent, and two elements per byte, whose parts are
    /// larger.
    #[test]
    fn integer_statistics_do_not_depend_on_threads() {
        for (ty, bits, count) in [(Type::I64, 64, 3 * PART + 77), (Type::U4, 4, 2 * PACKED + 778)] {
            let len = count as usize * bits / 8;
            let noise = samples(len).swap_remove(3).1;
            let model = oinf::Model {
                version: 1,
                sizevars: Vec::new(),
                metadata: Vec::new(),
                tensors: vec![oinf::tensor("x", ty, &[count], &noise)],
            };
            let sums = on_threads(&model.encode().bytes);
            let all = noise.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
            let max = match ty {
                Type::I64 => Element::Int(all.max().unwrap()),
                _ => Element::Uint(15),
            };
            assert_eq!(sums.summary.max(), Some(max));
        }
    }
}
