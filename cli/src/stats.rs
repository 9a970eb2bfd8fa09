//! Statistics of tensors, for people.

use std::fmt::Write as _;
use weighbridge::Summary;
use weighbridge::text::plural;

/// Statistics in a line or two.
pub(crate) fn show(stats: &Summary) -> String {
    let mut out = plural(stats.count, "element");
    let float = |value: Option<f64>| value.map(weighbridge::Value::Float);
    let numbers = [
        ("min", stats.min.clone()),
        ("max", stats.max.clone()),
        ("mean", float(stats.mean)),
        ("std", float(stats.std)),
    ];
    // Writing to a string does not fail.
    for (name, value) in numbers {
        if let Some(value) = value {
            let _ = write!(out, ", {name} {value}");
        }
    }
    let counts = [
        ("zeros", stats.zeros),
        ("subnormals", stats.subnormals),
        ("infinities", stats.infinities),
        ("NaN", stats.nan),
    ];
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(out, ", {count} {name}");
    }
    if let Some(first) = stats.first_nan {
        let _ = write!(out, " (the first at {first})");
    }
    if let Some(bins) = &stats.histogram {
        let _ = write!(out, "  {}", bars(bins));
    }
    out
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
