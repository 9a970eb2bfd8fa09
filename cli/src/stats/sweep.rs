//! One pass over the weights of a file.

use serde::Serialize;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use weighbridge::text::thousands;
use weighbridge::{Element, Error, Model, Sign, Signs, Tensor, Text, Value, Weights};

/// Decoded bytes that are read of any file, and for each of its bytes: a small file may
/// decode to a large one, and entries may share data.
const WORK: (u64, u64) = (2 << 30, 2048);

/// The heads of the columns for people.
pub(super) const HEADS: [&str; 9] =
    ["NAME", "TYPE", "MIN", "MAX", "MEAN", "STD", "ZEROS", "NAN", "SIGNS"];

/// The head of a CSV file.
pub(super) const CSV: &str = "name,dtype,shape,elements,min,max,mean,std,zeros,nan,infinities,\
                              rows,zero_rows,outlier,signs,duplicate_of,why";

/// A tensor, with what was measured or why it was not.
pub(super) struct Row {
    name: Text,
    dtype: &'static str,
    shape: Vec<Option<u64>>,
    /// Type and shape, as people read them.
    pub(super) kind: String,
    pub(super) measured: Result<Measured, String>,
}

/// What the weights of a tensor are like.
pub(super) struct Measured {
    weights: Weights,
    pub(super) signs: Signs,
    /// The name of the first tensor with the same elements.
    duplicate_of: Option<Text>,
}

/// Measures all tensors.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn rows(model: &Model<'_>, size: u64, broken: &mut bool) -> Result<Vec<Row>, Error> {
    let mut left = WORK.0.saturating_add(size.saturating_mul(WORK.1));
    let seed = RandomState::new().hash_one(size);
    let mut seen: HashMap<[u64; 2], Text> = HashMap::new();
    let mut rows = Vec::new();
    for tensor in model.tensors() {
        let tensor = tensor?;
        let measured = match measure(&tensor, seed, &mut left) {
            Ok(weights) => {
                let mut signs = weights.signs();
                let known = weights.digest().and_then(|digest| match seen.get(&digest) {
                    Some(first) => Some(first.clone()),
                    None => {
                        seen.insert(digest, tensor.name().clone());
                        None
                    }
                });
                if known.is_some() {
                    signs.add(Sign::Duplicate);
                }
                Ok(Measured { weights, signs, duplicate_of: known })
            }
            Err(error @ Error::Undecodable(_)) => {
                *broken = true;
                Err(error.to_string())
            }
            Err(Error::Unsupported(why)) => Err(why),
            Err(error) => return Err(error),
        };
        let dtype = tensor.dtype().name();
        rows.push(Row {
            name: tensor.name().clone(),
            dtype,
            shape: tensor.shape().extents().to_vec(),
            kind: format!("{dtype} {}", tensor.shape()),
            measured,
        });
    }
    Ok(rows)
}

fn measure(tensor: &Tensor<'_, '_>, seed: u64, left: &mut u64) -> Result<Weights, Error> {
    let work = tensor.bytes().or(tensor.span().map(|span| span.len)).unwrap_or(0);
    *left = left
        .checked_sub(work)
        .ok_or_else(|| Error::Unsupported("reading all data takes too long".to_owned()))?;
    let none = || {
        Error::Unsupported(
            "its elements are not numbers, or are not stored one after the other".to_owned(),
        )
    };
    tensor.weights(seed)?.ok_or_else(none)
}

/// A row as JSON has it.
#[derive(Serialize)]
pub(super) struct View<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_hex: Option<String>,
    dtype: &'a str,
    shape: &'a [Option<u64>],
    #[serde(flatten)]
    numbers: Option<Numbers<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

#[derive(Serialize)]
struct Numbers<'a> {
    elements: u64,
    min: Option<Value>,
    max: Option<Value>,
    mean: Option<Value>,
    std: Option<Value>,
    zeros: u64,
    nan: u64,
    infinities: u64,
    rows: u64,
    zero_rows: u64,
    outlier: Option<Value>,
    signs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate_of: Option<std::borrow::Cow<'a, str>>,
}

impl Measured {
    fn numbers(&self) -> Numbers<'_> {
        let stats = self.weights.stats();
        let (rows, zero_rows) = self.weights.rows();
        Numbers {
            elements: stats.count(),
            min: stats.min().map(Value::from),
            max: stats.max().map(Value::from),
            mean: stats.mean().map(Value::Float),
            std: stats.deviation().map(Value::Float),
            zeros: stats.zeros(),
            nan: stats.nans(),
            infinities: stats.infinities(),
            rows,
            zero_rows,
            outlier: self.weights.outlier().map(Value::Float),
            signs: self.signs.iter().map(Sign::name).collect(),
            duplicate_of: self.duplicate_of.as_ref().map(Text::lossy),
        }
    }
}

impl Row {
    pub(super) fn view(&self) -> View<'_> {
        View {
            name: self.name.lossy(),
            name_hex: self.name.hex(),
            dtype: self.dtype,
            shape: &self.shape,
            numbers: self.measured.as_ref().ok().map(Measured::numbers),
            why: self.measured.as_ref().err().map(String::as_str),
        }
    }

    /// What people see of it, by column.
    pub(super) fn cells(&self) -> [String; HEADS.len()] {
        let name = self.name.to_string();
        let Ok(measured) = &self.measured else {
            let mut cells: [String; HEADS.len()] = Default::default();
            cells[0] = name;
            return cells;
        };
        let stats = measured.weights.stats();
        let end = |end: Option<Element>| end.map(Element::to_f64);
        let count = |count: u64| if count == 0 { String::new() } else { thousands(count) };
        let signs: Vec<_> = measured.signs.iter().map(Sign::name).collect();
        [
            name,
            self.kind.clone(),
            short(end(stats.min())),
            short(end(stats.max())),
            short(stats.mean()),
            short(stats.deviation()),
            count(stats.zeros()),
            count(stats.nans()),
            signs.join(" "),
        ]
    }

    /// A line of CSV.
    pub(super) fn csv(&self) -> String {
        let shape: Vec<_> =
            self.shape.iter().map(|n| n.map_or("?".to_owned(), |n| n.to_string())).collect();
        let mut cells = vec![cell(&self.name.to_string()), self.dtype.to_owned(), shape.join("x")];
        match &self.measured {
            Ok(measured) => {
                let it = measured.numbers();
                let number = |value: &Option<Value>| {
                    value.as_ref().map_or(String::new(), |value| value.to_string().replace('"', ""))
                };
                cells.push(it.elements.to_string());
                cells.extend([&it.min, &it.max, &it.mean, &it.std].map(number));
                let counts = [it.zeros, it.nan, it.infinities, it.rows, it.zero_rows];
                cells.extend(counts.map(|count| count.to_string()));
                cells.push(number(&it.outlier));
                cells.push(it.signs.join(" "));
                let twin = measured.duplicate_of.as_ref();
                cells.push(twin.map_or(String::new(), |name| cell(&name.to_string())));
                cells.push(String::new());
            }
            Err(why) => {
                cells.resize(CSV.split(',').count() - 1, String::new());
                cells.push(cell(&Text::from(why.as_str()).to_string()));
            }
        }
        cells.join(",")
    }
}

/// A text as a cell of CSV; one that a spreadsheet would take for a formula is marked.
fn cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    match text.contains(['"', ',', '\r', '\n']) {
        true => format!("\"{mark}{}\"", text.replace('"', "\"\"")),
        false => format!("{mark}{text}"),
    }
}

/// A number in six digits.
fn short(number: Option<f64>) -> String {
    let Some(number) = number else { return String::new() };
    let size = number.abs();
    if number == 0.0 || (1e-3..1e6).contains(&size) {
        // Digits after the point, so that there are six in all.
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

    #[test]
    fn cells_are_no_formulas() {
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("=1"), "'=1");
        assert_eq!(cell("say \"x\""), "\"say \"\"x\"\"\"");
    }
}
