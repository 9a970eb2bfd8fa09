//! A human-readable table of a file's weights.

use crate::human::dim;
use std::io::{self, Write};
use weighbridge::text::thousands;
use weighbridge::{Element, Sign, TensorWeights, Text};

/// Column heads; all but two columns are right-aligned.
const HEADS: [&str; 9] = ["NAME", "TYPE", "MIN", "MAX", "MEAN", "STD", "ZEROS", "NAN", "SIGNS"];

type Cells = [String; HEADS.len()];

/// Writes a header line and a line per tensor.
pub(super) fn write(out: &mut dyn Write, tensors: &[TensorWeights]) -> io::Result<()> {
    let rows: Vec<_> = tensors.iter().map(cells).collect();
    let widths: [usize; HEADS.len()] = std::array::from_fn(|i| {
        let cells = rows.iter().map(|row| row[i].chars().count());
        cells.chain([HEADS[i].len()]).max().unwrap_or(0).min(64)
    });
    let line = |cells: &Cells| {
        let pad = |(i, cell): (usize, &String)| match i {
            0 | 1 => format!("{cell:w$}", w = widths[i]),
            _ if i + 1 == HEADS.len() => cell.clone(),
            _ => format!("{cell:>w$}", w = widths[i]),
        };
        cells.iter().enumerate().map(pad).collect::<Vec<_>>().join("  ")
    };
    if !rows.is_empty() {
        writeln!(out, "  {}", dim(line(&HEADS.map(str::to_owned)).trim_end()))?;
    }
    for (tensor, cells) in tensors.iter().zip(&rows) {
        match &tensor.measured {
            Ok(_) => writeln!(out, "  {}", line(cells).trim_end())?,
            Err(why) => {
                let (name, kind, why) = (&cells[0], dim(kind(tensor)), Text::from(why));
                writeln!(out, "  {name:w$}  {kind}  {why}", w = widths[0])?;
            }
        }
    }
    Ok(())
}

fn kind(tensor: &TensorWeights) -> String {
    format!("{} {}", tensor.dtype.name(), tensor.shape)
}

/// The cells of a tensor's row; only the name if it was not measured.
fn cells(tensor: &TensorWeights) -> Cells {
    let name = tensor.name.to_string();
    let Ok(measured) = &tensor.measured else {
        let mut cells = Cells::default();
        cells[0] = name;
        return cells;
    };
    let stats = measured.weights.stats();
    let count = |count: u64| if count == 0 { String::new() } else { thousands(count) };
    let signs: Vec<_> = measured.signs.iter().map(Sign::name).collect();
    [
        name,
        kind(tensor),
        short(stats.min().map(Element::to_f64)),
        short(stats.max().map(Element::to_f64)),
        short(stats.mean()),
        short(stats.deviation()),
        count(stats.zeros()),
        count(stats.nans()),
        signs.join(" "),
    ]
}

/// A number with six digits.
fn short(number: Option<f64>) -> String {
    let Some(number) = number else { return String::new() };
    let size = number.abs();
    if number == 0.0 || (1e-3..1e6).contains(&size) {
        // Digits after the point, for six digits in total.
        let whole = if size < 1.0 { 0 } else { size.log10() as usize };
        let text = format!("{number:.digits$}", digits = 5_usize.saturating_sub(whole));
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{number:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits_at_most() {
        let shown = |number| short(Some(number));
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(-1.5), "-1.5");
        assert_eq!(shown(123_456.7), "123457");
        assert_eq!(shown(0.012_345_67), "0.01235");
        assert_eq!(shown(1.0e-7), "1.000e-7");
        assert_eq!(shown(3.4e38), "3.400e38");
        assert_eq!(short(None), "");
    }
}
