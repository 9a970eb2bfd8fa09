//! Statistics of tensors, as `inspect --stats` shows them.

use crate::data;
use crate::human;
use crate::session::{Halt, Session};
use crate::values;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use weighbridge_core::{Element, Encoding, File, Histogram, Stats, Tensor};

/// Bins of the histogram, from the least to the greatest element.
const BINS: usize = 16;

/// What the elements of a tensor are like. Extremes, mean and deviation are
/// those of the finite elements.
#[derive(Debug, Serialize)]
pub(crate) struct StatsView {
    count: u64,
    min: Option<Value>,
    max: Option<Value>,
    mean: Option<Value>,
    std: Option<Value>,
    zeros: u64,
    subnormals: u64,
    infinities: u64,
    nan: u64,
    first_nan: Option<u64>,
    /// How many elements are in each of the bins of equal width between `min`
    /// and `max`, as far as their leading digits tell.
    histogram: Option<Vec<u64>>,
}

/// Whether there are statistics of a tensor. What is stored encoded is decoded for
/// that.
pub(crate) fn can_show(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<bool, Halt> {
    if !data::is_plain(tensor)
        || Stats::new(tensor.dtype, tensor.endianness, 0, tensor.elements).is_none()
    {
        return Ok(false);
    }
    if tensor.encoding == Encoding::Raw {
        return Ok(true);
    }
    let take = |_: &[u8], _| Ok::<(), Halt>(());
    match data::elements(session, file, tensor, tensor.elements, take) {
        Err(Halt::Fault(_)) => Ok(false),
        read => read.map(|()| true),
    }
}

/// The statistics of a tensor; `None` if it has no elements that are numbers,
/// or they cannot be read.
pub(crate) fn of(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<StatsView>, Halt> {
    match read(session, file, tensor) {
        // The audit names the rule.
        Err(Halt::Fault(_)) => Ok(None),
        read => read,
    }
}

fn read(
    session: &mut Session<'_>,
    file: &File,
    tensor: &Tensor,
) -> Result<Option<StatsView>, Halt> {
    let new = Stats::new(tensor.dtype, tensor.endianness, 0, tensor.elements);
    let (Some(mut stats), true) = (new, data::is_plain(tensor)) else { return Ok(None) };
    let mut words = vec![0; Histogram::WORDS];
    let Some(mut histogram) = Histogram::new(tensor.dtype, &mut words) else { return Ok(None) };
    data::elements(session, file, tensor, tensor.elements, |bytes, _| {
        stats.add(bytes, Some(&mut histogram));
        Ok::<(), Halt>(())
    })?;
    let stats = stats.summary();
    let ends = stats.min().map(Element::to_f64).zip(stats.max().map(Element::to_f64));
    let ends = ends.filter(|(min, max)| min < max && (max - min).is_finite());
    let bins = ends.map(|(min, max)| {
        let mut bins = vec![0; BINS];
        histogram.steps(min, max, &mut bins);
        bins
    });
    Ok(Some(StatsView {
        count: stats.count(),
        min: stats.min().map(values::value),
        max: stats.max().map(values::value),
        mean: stats.mean().map(values::float),
        std: stats.deviation().map(values::float),
        zeros: stats.zeros(),
        subnormals: stats.subnormals(),
        infinities: stats.infinities(),
        nan: stats.nans(),
        first_nan: stats.first_nan(),
        histogram: bins,
    }))
}

impl StatsView {
    /// For people, in a line or two.
    pub(crate) fn show(&self) -> String {
        let mut out = human::plural(self.count, "element");
        let numbers =
            [("min", &self.min), ("max", &self.max), ("mean", &self.mean), ("std", &self.std)];
        // Writing to a string does not fail.
        for (name, value) in numbers {
            if let Some(value) = value {
                let _ = write!(out, ", {name} {value}");
            }
        }
        let counts = [
            ("zeros", self.zeros),
            ("subnormals", self.subnormals),
            ("infinities", self.infinities),
            ("NaN", self.nan),
        ];
        for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
            let _ = write!(out, ", {count} {name}");
        }
        if let Some(first) = self.first_nan {
            let _ = write!(out, " (the first at {first})");
        }
        if let Some(bins) = &self.histogram {
            let _ = write!(out, "  {}", bars(bins));
        }
        out
    }
}

/// A histogram as a row of bars.
fn bars(bins: &[u64]) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = bins.iter().copied().max().unwrap_or(0).max(1);
    let bar = |bin: &u64| {
        let height = u128::from(*bin) * 8 / u128::from(most);
        // What is there is seen.
        BARS[usize::try_from(height).unwrap_or(8).max(usize::from(*bin > 0))]
    };
    bins.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_what_is_there() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(bars(&[0, 0]), "  ");
        assert_eq!(bars(&[u64::MAX, 1]), "█▁");
    }
}
