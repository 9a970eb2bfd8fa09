//! `weighbridge stats`: statistics of a file's weights, and human-readable statistics of
//! tensors.

mod table;

use crate::args::{StatsArgs, StatsOutput};
use crate::human::{self, Left, bold};
use crate::json::{self, SCHEMA_STATS};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use weighbridge::text::plural;
use weighbridge::{Error, FileInput, Goal, Options, Summary, Sweep, Text};

/// # Errors
/// A sentence, if the arguments make no sense.
pub(crate) fn run(args: &StatsArgs) -> Result<Outcome, String> {
    let options = args.verdict.options().goal(Goal::Structure);
    let options = Bars::new().watch(options);
    let mut out = terminal::stdout(args.output() != StatsOutput::Human);
    let (written, outcome) = match sweep(&args.file, &options) {
        Ok(sweep) => {
            let written = match args.output() {
                StatsOutput::Human => human(&mut *out, args, &sweep),
                StatsOutput::Json => json::line(&mut *out, &sweep),
                StatsOutput::Csv => sweep.csv(&mut *out),
            };
            (written, sweep.verdict(args.verdict.profile()).into())
        }
        Err(error) => {
            let file = Text::from(args.file.as_path());
            terminal::complain(&file, &error);
            let written = match args.output() {
                StatsOutput::Json => {
                    let why = error.to_string();
                    json::without_tensors(&mut *out, &file, "weights", &why, SCHEMA_STATS)
                }
                _ => Ok(()),
            };
            (written, Outcome::Failed)
        }
    };
    Ok(terminal::written(written.and_then(|()| out.flush()), outcome))
}

fn sweep(path: &PathBuf, options: &Options) -> Result<Sweep, Error> {
    Sweep::of(&FileInput::open(path)?, path, options)
}

fn human(out: &mut dyn Write, args: &StatsArgs, sweep: &Sweep) -> io::Result<()> {
    let file = Text::from(args.file.as_path());
    let report = &sweep.report;
    human::report(out, &file, report, args.verdict.profile(), &Left::default())?;
    table::write(out, &sweep.tensors)?;
    if report.file().is_some() {
        writeln!(out, "{} {}", bold("weights"), sweep.health)?;
        let holes = sweep.tensors.iter().filter_map(|it| {
            let hole = it.measured.as_ref().ok()?.weights.hole()?;
            let broken = sweep.broken_off.as_ref().map(|it| it.offset);
            (broken != Some(hole.offset)).then_some((&it.name, hole))
        });
        for (name, hole) in holes {
            let (from, last) = (hole.offset, hole.offset.saturating_add(hole.len) - 1);
            let what = if hole.zeros { "zeros" } else { "copies of one page" };
            writeln!(out, "  \"{name}\" has {what} from {from} to {last}, whole pages of a disk")?;
        }
        if let Some(broken) = &sweep.broken_off {
            let who = if broken.zeros { "a broken download" } else { "a disk that fails" };
            writeln!(out, "  {broken}, as the data of {who} does")?;
        }
    }
    Ok(())
}

/// Statistics in one or two lines.
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
        // Bins that are not empty stay visible.
        BARS[usize::try_from(height).unwrap_or(8).max(usize::from(*bin > 0))]
    };
    bins.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_bars_match_counts() {
        assert_eq!(bars(&[0, 1, 50, 100]), " ▁▄█");
        assert_eq!(bars(&[0, 0]), "  ");
        assert_eq!(bars(&[u64::MAX, 1]), "█▁");
    }
}
