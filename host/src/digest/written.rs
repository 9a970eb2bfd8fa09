//! Digests as serde writes them: the members of `weighbridge digest --json`.

use super::{Pair, TensorDigest};
use crate::text::hex;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

/// A tensor without its name.
#[derive(Serialize)]
struct Content<'a> {
    dtype: &'a str,
    shape: &'a [Option<u64>],
    sha256: Option<alloc::string::String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

impl<'a> Content<'a> {
    fn of(digest: &'a TensorDigest) -> Self {
        let TensorDigest { dtype, shape, sha256, .. } = digest;
        Content {
            dtype,
            shape,
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
