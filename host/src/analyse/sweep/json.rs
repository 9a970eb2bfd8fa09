//! Serialises sweeps: the object of `weighbridge stats --json`. The names and order of its
//! members are part of the interface.

use super::{BrokenOff, Measured, Sweep, TensorWeights};
use crate::analyse::health::{Health, Hole, Sign};
use crate::base::program::TOOL;
use crate::base::text::Text;
use crate::base::value::Value;
use crate::list::entry::Shape;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// The schema of a sweep, `docs/schema/stats-1.json` in the repository. Members may be added;
/// existing ones keep their meaning.
pub const SCHEMA_STATS: &str = "weighbridge/stats-1";

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.report.write_head(&mut map)?;
        map.serialize_entry("weights", &self.health)?;
        if let Some(BrokenOff { name, offset, len, zeros }) = &self.broken_off {
            let (name, offset, len, repeated) = (&*name.lossy(), *offset, *len, !zeros);
            map.serialize_entry("broken_off", &Broken { name, offset, len, repeated })?;
        }
        map.serialize_entry("tensors", &self.tensors)?;
        map.serialize_entry("schema", SCHEMA_STATS)?;
        map.serialize_entry("tool", &TOOL)?;
        map.end()
    }
}

/// Zeros, or copies of one page, that cut a tensor.
#[derive(serde::Serialize)]
struct Cut {
    offset: u64,
    len: u64,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    repeated: bool,
}

/// A tensor that breaks off.
#[derive(serde::Serialize)]
struct Broken<'a> {
    name: &'a str,
    offset: u64,
    len: u64,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    repeated: bool,
}

impl Serialize for Health {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (tensors, skipped) = self.tensors();
        let verdict = match self.is_faulty() {
            true => "faulty",
            false if tensors == 0 || skipped > 0 => "unchecked",
            false => "sound",
        };
        let signs: BTreeMap<_, _> = Sign::ALL
            .into_iter()
            .map(|sign| (sign.name(), self.count(sign)))
            .filter(|(_, count)| *count > 0)
            .collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("sentence", &self.to_string())?;
        map.serialize_entry("signs", &signs)?;
        map.serialize_entry("skipped", &skipped)?;
        map.serialize_entry("tensors", &tensors)?;
        map.serialize_entry("verdict", verdict)?;
        map.end()
    }
}

impl Serialize for TensorWeights {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Row<'a> {
            name: Cow<'a, str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            name_hex: Option<String>,
            dtype: &'a str,
            shape: &'a Shape,
            #[serde(flatten)]
            measured: Option<&'a Measured>,
            #[serde(skip_serializing_if = "Option::is_none")]
            why: Option<&'a str>,
        }
        let row = Row {
            name: self.name.lossy(),
            name_hex: self.name.hex(),
            dtype: self.dtype.name(),
            shape: &self.shape,
            measured: self.measured.as_ref().ok(),
            why: self.measured.as_ref().err().map(String::as_str),
        };
        row.serialize(to)
    }
}

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let stats = self.weights.stats();
        let (rows, zero_rows) = self.weights.rows();
        let signs: Vec<_> = self.signs.iter().map(Sign::name).collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("elements", &stats.count())?;
        map.serialize_entry("min", &stats.min().map(Value::from))?;
        map.serialize_entry("max", &stats.max().map(Value::from))?;
        map.serialize_entry("mean", &stats.mean().map(Value::Float))?;
        map.serialize_entry("std", &stats.deviation().map(Value::Float))?;
        map.serialize_entry("zeros", &stats.zeros())?;
        map.serialize_entry("nan", &stats.nans())?;
        map.serialize_entry("infinities", &stats.infinities())?;
        map.serialize_entry("rows", &rows)?;
        map.serialize_entry("zero_rows", &zero_rows)?;
        map.serialize_entry("outlier", &self.weights.outlier().map(Value::Float))?;
        map.serialize_entry("signs", &signs)?;
        if let Some(Hole { offset, len, zeros }) = self.weights.hole() {
            map.serialize_entry("hole", &Cut { offset, len, repeated: !zeros })?;
        }
        if let Some(first) = self.duplicate_of.as_ref().map(Text::lossy) {
            map.serialize_entry("duplicate_of", &first)?;
        }
        map.end()
    }
}
