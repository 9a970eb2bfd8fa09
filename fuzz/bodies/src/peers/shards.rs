//! The index of a sharded checkpoint compared with `serde_json`, which validates the
//! text, and with the meaning of the members that it found.
//!
//! Accepted differences, and nothing else:
//!
//! * Numbers beyond a double: JSON has them, `serde_json` cannot represent them.
//! * If `serde_json` refuses the text, other faults are not compared.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use weighbridge_core::{File, Format};
use weighbridge_tests::survey::survey_whole;

/// A JSON value; only what matters in an index is kept.
enum Json {
    Count(u64),
    Text(String),
    /// All members, in the order of the text.
    Object(Vec<(String, Json)>),
    Other,
}

/// Compares the index with the content that `serde_json` reads.
pub fn peer(input: &[u8]) {
    compare("input", input);
}

/// Whether the index is valid, which implies that it is JSON without duplicates of
/// relevant members.
///
/// # Panics
/// If the broken rules differ from those that `serde_json` implies, or the listed
/// entries differ.
pub fn compare(name: &str, bytes: &[u8]) -> bool {
    let survey = survey_whole(bytes, Some(Format::Shards));
    let broken = survey.broken();
    let text = || String::from_utf8_lossy(bytes);
    let json = match serde_json::from_slice(bytes) {
        Ok(json) => json,
        Err(err) if err.to_string().starts_with("number out of range") => return false,
        Err(err) => {
            assert!(!survey.is_valid(), "{name}: {err}, and only {broken:?}: {}", text());
            return false;
        }
    };
    let Json::Object(members) = json else {
        assert_eq!(broken, ["INDEX-ROOT"], "{name}: {}", text());
        return false;
    };
    let said = Said::of(&members);
    let mut expected: Vec<_> = said.broken.iter().copied().collect();
    expected.sort_unstable();
    assert_eq!(broken, expected, "{name}: {}", text());
    let Some(map) = said.map else { return false };

    let keys = survey.metadata.iter().map(|fact| fact.key.as_slice());
    assert!(keys.eq(map.iter().map(|(key, _)| key.as_bytes())), "{name}: {}", text());
    let Some(File::Shards(header)) = survey.file else {
        panic!("{name}: it has a map, and did not open: {}", text());
    };
    assert_eq!(header.total_size(), said.total, "{name}: {}", text());
    survey.is_valid()
}

/// The facts stated by an index's members.
#[derive(Default)]
struct Said<'a> {
    broken: HashSet<&'static str>,
    map: Option<&'a [(String, Json)]>,
    total: Option<u64>,
}

impl<'a> Said<'a> {
    fn of(members: &'a [(String, Json)]) -> Self {
        let mut said = Said::default();
        let (mut maps, mut metadata) = (0, 0);
        for (key, value) in members {
            match (key.as_str(), value) {
                ("weight_map", value) => {
                    maps += 1;
                    said.map = match value {
                        Json::Object(map) => Some(map),
                        _ => None,
                    };
                }
                ("metadata", value) => {
                    metadata += 1;
                    said.total = None;
                    match value {
                        Json::Object(members) => said.metadata(members),
                        _ => said.breaks("METADATA-TYPE", true),
                    }
                }
                _ => {}
            }
        }
        said.breaks("INDEX-MAP-TWICE", maps > 1);
        said.breaks("METADATA-TWICE", metadata > 1);
        said.breaks("INDEX-MAP", said.map.is_none());
        said.breaks("METADATA-MISSING", metadata == 0 && maps > 0);
        let mut names = HashSet::new();
        for (name, file) in said.map.unwrap_or_default() {
            said.breaks("TENSOR-DUPLICATE", !names.insert(name));
            match file {
                Json::Text(file) => said.breaks("SHARD-PATH", !is_beside(file)),
                _ => said.breaks("SHARD-TYPE", true),
            }
        }
        said
    }

    fn metadata(&mut self, members: &[(String, Json)]) {
        let totals = members.iter().filter(|(key, _)| key == "total_size");
        self.breaks("TOTAL-TWICE", totals.clone().count() > 1);
        for (_, value) in totals {
            self.total = match value {
                Json::Count(total) => Some(*total),
                _ => None,
            };
            self.breaks("TOTAL-TYPE", self.total.is_none());
        }
    }

    fn breaks(&mut self, rule: &'static str, broken: bool) {
        if broken {
            self.broken.insert(rule);
        }
    }
}

/// Whether a name refers to a file in the same folder, on any system.
fn is_beside(name: &str) -> bool {
    let leads_out = |c: char| c < ' ' || ['/', '\\', ':'].contains(&c);
    !name.contains(leads_out) && !name.chars().all(|c| c == '.' || c == ' ')
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Members)
    }
}

/// Keeps duplicate members.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, count: u64) -> Result<Json, E> {
        Ok(Json::Count(count))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        while items.next_element::<Json>()?.is_some() {}
        Ok(Json::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}
