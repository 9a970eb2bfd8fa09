//! Serialises digests: the objects of `weighbridge digest --json`. The names and order of their
//! members are part of the interface.

use super::{Change, Comparison, Digests, Pair, TensorDigest};
use crate::base::program::TOOL;
use crate::base::text::{Text, hex};
use alloc::collections::BTreeMap;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

/// The schema of digests, `docs/schema/digest-1.json` in the repository. Members may be added;
/// existing ones keep their meaning.
pub const SCHEMA_DIGEST: &str = "weighbridge/digest-1";

/// The schema of a comparison, `docs/schema/compare-1.json` in the repository, with the same
/// guarantee.
pub const SCHEMA_COMPARE: &str = "weighbridge/compare-1";

impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.report.write_head(&mut map)?;
        map.serialize_entry("sha256", &hex(&self.sha256))?;
        map.serialize_entry("tensors", &self.tensors)?;
        map.serialize_entry("schema", SCHEMA_DIGEST)?;
        map.serialize_entry("tool", &TOOL)?;
        map.end()
    }
}

/// A file of a comparison.
struct Side<'a>(&'a Digests);

impl Serialize for Side<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Digests { report, sha256, .. } = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("file", &report.name.as_ref().map(Text::lossy))?;
        if let Some(hex) = report.name.as_ref().and_then(Text::hex) {
            map.serialize_entry("file_hex", &hex)?;
        }
        map.serialize_entry("format", &report.format().map(|format| format.name()))?;
        map.serialize_entry("sha256", &hex(sha256))?;
        map.end()
    }
}

impl Serialize for Comparison<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let counts: BTreeMap<_, _> =
            Change::ALL.into_iter().map(|it| (it.name(), self.count(it))).collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("a", &Side(self.a))?;
        map.serialize_entry("b", &Side(self.b))?;
        map.serialize_entry("counts", &counts)?;
        map.serialize_entry("tensors", &self.pairs)?;
        map.serialize_entry("schema", SCHEMA_COMPARE)?;
        map.serialize_entry("tool", &TOOL)?;
        map.end()
    }
}

/// Where a tensor lies.
#[derive(Serialize)]
struct Bytes {
    offset: u64,
    len: u64,
}

/// A tensor without its name.
#[derive(Serialize)]
struct Content<'a> {
    dtype: &'a str,
    shape: &'a [Option<u64>],
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Bytes>,
    sha256: Option<alloc::string::String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> Content<'a> {
    fn of(digest: &'a TensorDigest) -> Self {
        let TensorDigest { dtype, shape, span, sha256, .. } = digest;
        Content {
            dtype,
            shape,
            bytes: span.map(|span| Bytes { offset: span.offset, len: span.len }),
            sha256: sha256.as_ref().ok().map(|sha256| hex(sha256)),
            why: sha256.as_ref().err().map(|why| why.as_str()),
        }
    }
}

impl Serialize for TensorDigest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Row<'a> {
            name: alloc::borrow::Cow<'a, str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            name_hex: Option<alloc::string::String>,
            #[serde(flatten)]
            content: Content<'a>,
        }
        let (name, name_hex) = (self.name.lossy(), self.name.hex());
        Row { name, name_hex, content: Content::of(self) }.serialize(to)
    }
}

impl Serialize for Pair<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name.lossy())?;
        if let Some(hex) = self.name.hex() {
            map.serialize_entry("name_hex", &hex)?;
        }
        map.serialize_entry("state", self.change.name())?;
        map.serialize_entry("a", &self.a.map(Content::of))?;
        map.serialize_entry("b", &self.b.map(Content::of))?;
        map.end()
    }
}
