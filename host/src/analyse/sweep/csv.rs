//! Writes sweeps as CSV.

use super::{Measured, Sweep, TensorWeights};
use crate::analyse::health::Sign;
use crate::base::text::Text;
use crate::base::value::Value;
use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use std::io::{self, Write};

/// The column names.
const COLUMNS: [&str; 17] = [
    "name",
    "dtype",
    "shape",
    "elements",
    "min",
    "max",
    "mean",
    "std",
    "zeros",
    "nan",
    "infinities",
    "rows",
    "zero_rows",
    "outlier",
    "signs",
    "duplicate_of",
    "why",
];

impl Sweep {
    /// Writes a CSV header with the column names, then a line per tensor. No cell contains
    /// control characters, or is a formula for a spreadsheet.
    ///
    /// ```
    /// use weighbridge::{FileInput, Options, Sweep};
    ///
    /// # let file = tempfile::NamedTempFile::new().unwrap();
    /// # std::fs::write(&file, weighbridge_tests::samples::safetensors()).unwrap();
    /// # let path = file.path().to_path_buf();
    /// let sweep = Sweep::of(&FileInput::open(&path)?, &path, &Options::new())?;
    /// let mut csv = Vec::new();
    /// sweep.csv(&mut csv)?;
    /// assert!(csv.starts_with(b"name,dtype,shape,elements,min,max,"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors from `out`.
    pub fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", COLUMNS.join(","))?;
        self.tensors.iter().try_for_each(|it| writeln!(out, "{}", line(it)))
    }
}

fn line(tensor: &TensorWeights) -> String {
    let extents = tensor.shape.extents().iter();
    let shape: Vec<_> = extents.map(|n| n.map_or("?".to_owned(), |n| n.to_string())).collect();
    let mut cells = Vec::from([
        cell(&tensor.name.to_string()),
        tensor.dtype.name().to_owned(),
        shape.join("x"),
    ]);
    match &tensor.measured {
        Ok(measured) => cells.extend(numbers(measured)),
        Err(why) => {
            cells.resize(COLUMNS.len() - 1, String::new());
            cells.push(cell(&Text::from(why).to_string()));
        }
    }
    cells.join(",")
}

/// The cells after the shape.
fn numbers(Measured { weights, signs, duplicate_of }: &Measured) -> [String; 14] {
    let stats = weights.stats();
    let (rows, zero_rows) = weights.rows();
    let number = |value: Option<Value>| {
        value.map_or(String::new(), |value| value.to_string().replace('"', ""))
    };
    let signs: Vec<_> = signs.iter().map(Sign::name).collect();
    [
        stats.count().to_string(),
        number(stats.min().map(Value::from)),
        number(stats.max().map(Value::from)),
        number(stats.mean().map(Value::Float)),
        number(stats.deviation().map(Value::Float)),
        stats.zeros().to_string(),
        stats.nans().to_string(),
        stats.infinities().to_string(),
        rows.to_string(),
        zero_rows.to_string(),
        number(weights.outlier().map(Value::Float)),
        signs.join(" "),
        duplicate_of.as_ref().map_or(String::new(), |name| cell(&name.to_string())),
        String::new(),
    ]
}

/// Formats a text as a cell; one that a spreadsheet would take for a formula is marked.
fn cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{mark}{}\"", text.replace('"', "\"\"")),
        false => format!("{mark}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cell_is_no_formula() {
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("=1"), "'=1");
        assert_eq!(cell("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
