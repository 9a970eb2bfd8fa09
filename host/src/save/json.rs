//! Serialises conversions: the object of `weighbridge convert --json`. The names and order of
//! its members are part of the interface.

use super::{Converted, LeftOut, Saved, Tied};
use crate::base::program::TOOL;
use crate::base::text::Text;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

/// The schema of a conversion, `docs/schema/convert-1.json` in the repository. Members may be
/// added; existing ones keep their meaning.
pub const SCHEMA_CONVERT: &str = "weighbridge/convert-1";

impl Serialize for Converted {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        self.report.write_head(&mut map)?;
        map.serialize_entry("findings", self.report.findings())?;
        map.serialize_entry("written", &self.is_written())?;
        map.serialize_entry("files", &self.files)?;
        map.serialize_entry("left_out", &self.left_out)?;
        map.serialize_entry("metadata_left_out", &self.metadata_left_out)?;
        map.serialize_entry("tied", &self.tied)?;
        map.serialize_entry("notes", &self.notes)?;
        map.serialize_entry("schema", SCHEMA_CONVERT)?;
        map.serialize_entry("tool", &TOOL)?;
        map.end()
    }
}

impl Serialize for Saved {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let path = Text::from(self.path.as_path());
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("file", &path.lossy())?;
        if let Some(hex) = path.hex() {
            map.serialize_entry("file_hex", &hex)?;
        }
        map.serialize_entry("size", &self.len)?;
        map.serialize_entry("tensors", &self.tensors)?;
        map.end()
    }
}

impl Serialize for LeftOut {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name.lossy())?;
        if let Some(hex) = self.name.hex() {
            map.serialize_entry("name_hex", &hex)?;
        }
        map.serialize_entry("why", &self.why)?;
        map.end()
    }
}

impl Serialize for Tied {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("kept", &self.kept)?;
        map.end()
    }
}
