//! `weighbridge stats`: what the weights of a file are like, and statistics of tensors for
//! people.

mod sweep;

use crate::args::{self, StatsArgs, Sweep};
use crate::human::{self, Left, bold, dim};
use crate::json::{self, Object, SCHEMA_STATS, TOOL};
use crate::outcome::Outcome;
use crate::progress::Bars;
use crate::terminal;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use sweep::Row;
use weighbridge::text::plural;
use weighbridge::{
    Error, FileInput, Format, Goal, Health, Model, Options, Report, Sign, Summary, Text,
};

/// # Errors
/// A sentence, when the arguments make no sense.
pub(crate) fn run(args: &StatsArgs) -> Result<Outcome, String> {
    let options = args.open.options(args.lenient).goal(Goal::Structure);
    let options = Bars::new().watch(options);
    let mut out = terminal::stdout(args.output() != Sweep::Human);
    let written = match sweep(&args.file, &options) {
        Ok(swept) => swept.print(&mut *out, args).map(|()| swept.outcome(args)),
        Err(error) => {
            let file = Text::from(args.file.as_path());
            terminal::complain(&file, &error);
            let failed = match args.output() {
                Sweep::Json => {
                    let why = error.to_string();
                    json::without_tensors(&mut *out, &file, "weights", &why, SCHEMA_STATS)
                }
                _ => Ok(()),
            };
            failed.map(|()| Outcome::Failed)
        }
    };
    let outcome = *written.as_ref().unwrap_or(&Outcome::Failed);
    Ok(terminal::written(written.and_then(|_| out.flush()), outcome))
}

/// A file whose weights were read.
struct Swept {
    report: Report,
    rows: Vec<Row>,
    health: Health,
    /// Data of a tensor could not be decoded.
    broken: bool,
}

fn sweep(path: &Path, options: &Options) -> Result<Swept, Error> {
    let place = path.to_path_buf();
    let input = FileInput::open(path)?;
    let (report, model) = Model::checked_at(&input, &place, options)?;
    let mut swept = Swept { report, rows: Vec::new(), health: Health::default(), broken: false };
    if let Some(model) = &model {
        swept.rows = sweep::rows(model, swept.report.size(), &mut swept.broken)?;
        model.verify_unchanged()?;
    }
    for row in &swept.rows {
        match &row.measured {
            Ok(measured) => swept.health.add(measured.signs),
            Err(_) => swept.health.skip(),
        }
    }
    Ok(swept)
}

impl Swept {
    fn outcome(&self, args: &StatsArgs) -> Outcome {
        let mut outcome = Outcome::from(self.report.verdict(args::profile(args.lenient)));
        if self.broken || self.health.is_faulty() {
            outcome.include(Outcome::Invalid);
        }
        // An index has no tensors; those of the files that it lists were not read.
        if self.health.tensors().1 > 0 || self.report.format() == Some(Format::Shards) {
            outcome.include(Outcome::Unchecked);
        }
        outcome
    }

    fn print(&self, out: &mut dyn Write, args: &StatsArgs) -> io::Result<()> {
        match args.output() {
            Sweep::Human => self.human(out, args),
            Sweep::Json => self.json(out),
            Sweep::Csv => self.csv(out),
        }
    }

    fn human(&self, out: &mut dyn Write, args: &StatsArgs) -> io::Result<()> {
        let file = Text::from(args.file.as_path());
        human::report(out, &file, &self.report, args::profile(args.lenient), &Left::default())?;
        let cells: Vec<_> = self.rows.iter().map(Row::cells).collect();
        let heads = sweep::HEADS;
        let widths: Vec<usize> = (0..heads.len())
            .map(|i| {
                let cells = cells.iter().map(|row| row[i].chars().count());
                cells.chain([heads[i].len()]).max().unwrap_or(0).min(64)
            })
            .collect();
        let line = |cells: &[String]| {
            let pad = |(i, cell): (usize, &String)| match i {
                0 | 1 => format!("{cell:w$}", w = widths[i]),
                _ if i + 1 == heads.len() => cell.clone(),
                _ => format!("{cell:>w$}", w = widths[i]),
            };
            cells.iter().enumerate().map(pad).collect::<Vec<_>>().join("  ")
        };
        if !cells.is_empty() {
            writeln!(out, "  {}", dim(line(&heads.map(str::to_owned)).trim_end()))?;
        }
        for (row, cells) in self.rows.iter().zip(&cells) {
            match &row.measured {
                Ok(_) => writeln!(out, "  {}", line(cells).trim_end())?,
                Err(why) => {
                    let (name, kind) = (&cells[0], dim(&row.kind));
                    writeln!(
                        out,
                        "  {name:w$}  {kind}  {}",
                        Text::from(why.as_str()),
                        w = widths[0]
                    )?;
                }
            }
        }
        if self.report.file().is_some() {
            writeln!(out, "{} {}", bold("weights"), self.health)?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut object = Object::begin(out)?;
        object.report(&self.report)?;
        let (tensors, skipped) = self.health.tensors();
        let signs = Sign::ALL.into_iter().filter(|sign| self.health.count(*sign) > 0);
        let signs: serde_json::Map<_, _> =
            signs.map(|sign| (sign.name().to_owned(), self.health.count(sign).into())).collect();
        let verdict = match self.health.is_faulty() {
            true => "faulty",
            false if tensors == 0 || skipped > 0 => "unchecked",
            false => "sound",
        };
        let weights = serde_json::json!({
            "verdict": verdict,
            "sentence": self.health.to_string(),
            "tensors": tensors,
            "skipped": skipped,
            "signs": signs,
        });
        object.member("weights", &weights)?;
        let mut list = object.list("tensors")?;
        self.rows.iter().try_for_each(|row| list.item(&row.view()))?;
        list.end()?;
        object.member("schema", SCHEMA_STATS)?;
        object.member("tool", &TOOL)?;
        object.end()?;
        out.write_all(b"\n")
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", sweep::CSV)?;
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", row.csv()))
    }
}

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
