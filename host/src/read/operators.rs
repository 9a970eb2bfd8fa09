//! The operators of a model, counted.

use crate::base::error::Error;
use crate::base::span::bytes;
use crate::read::model::Model;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use weighbridge_core::format::tflite::{Header, OperatorCode, OperatorCursor};
use weighbridge_core::{File, Source, Stop};

/// Longest name of a custom operator that is shown, in bytes.
const NAME: u64 = 256;

/// An operator of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Operator {
    /// Its name in the format, e.g. `CONV_2D`, or the name of a custom one. A number that the format
    /// has not given out is `operator 300`.
    pub name: String,
    /// Whether the program that runs the model has to bring it.
    pub custom: bool,
    /// The version of its definition.
    pub version: i32,
    /// How often it occurs, in all subgraphs.
    pub count: u64,
}

impl Model<'_> {
    /// The operators of the model by name, each with its count; none for formats without operators,
    /// or with operators as metadata.
    ///
    /// ```
    /// # let bytes = weighbridge_tests::samples::graph();
    /// let model = weighbridge::Model::from_bytes(&bytes)?;
    /// let operators = model.operators()?;
    /// assert_eq!((operators[0].name.as_str(), operators[0].count), ("ADD", 1));
    /// # Ok::<(), weighbridge::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn operators(&self) -> Result<Vec<Operator>, Error> {
        let File::Tflite(header) = self.file() else { return Ok(Vec::new()) };
        let (mut counts, mut cursor) = (BTreeMap::new(), OperatorCursor::default());
        self.access.ask_or_end(|source| {
            while let Some(code) = header.next_operator(source, &mut cursor)? {
                *counts.entry(code).or_insert(0_u64) += 1;
            }
            Ok(())
        })?;
        let mut operators = BTreeMap::new();
        for (index, count) in counts {
            let found = self.access.ask_or_end(|source| named(header, source, index))?;
            if let Some((name, code)) = found {
                // Two codes may stand for the same operator.
                let key = (name, code.is_custom(), code.version);
                *operators.entry(key).or_insert(0_u64) += count;
            }
        }
        let all = operators.into_iter().map(|((name, custom, version), count)| Operator {
            name,
            custom,
            version,
            count,
        });
        Ok(all.collect())
    }
}

/// An operator code with its name.
fn named(
    header: &Header,
    source: &Source<'_>,
    index: u32,
) -> Result<Option<(String, OperatorCode)>, Stop> {
    let Some(code) = header.operator_code(source, index)? else { return Ok(None) };
    let name = match code.builtin() {
        Some(name) => name.to_string(),
        None if code.is_custom() => {
            String::from_utf8_lossy(bytes(source, code.name, NAME)?).into_owned()
        }
        None => format!("operator {}", code.number),
    };
    Ok(Some((name, code)))
}
