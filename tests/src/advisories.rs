//! The table of advisories, `tests/data/advisories.toml`.

use crate::fixtures::Fixture;
use std::collections::HashMap;

/// A row of the table, as a map from key to text.
#[derive(Clone, Debug, Default)]
pub struct Advisory(HashMap<&'static str, &'static str>);

impl Advisory {
    /// The text of a key; empty if the row does not have it.
    pub fn get(&self, key: &str) -> &'static str {
        self.0.get(key).copied().unwrap_or_default()
    }

    /// The fixture that reproduces the advisory.
    pub fn file<'f>(&self, all: &'f [(&str, Vec<Fixture>)]) -> Option<&'f Fixture> {
        let (_, all) = all.iter().find(|(format, _)| *format == self.get("format"))?;
        all.iter().find(|fixture| fixture.name == self.get("fixture"))
    }
}

/// Returns all rows.
///
/// # Panics
/// If the table contains anything but rows of plain strings.
pub fn all() -> Vec<Advisory> {
    let mut all = Vec::new();
    let lines = include_str!("../data/advisories.toml").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line == "[[advisory]]" {
            all.push(Advisory::default());
            continue;
        }
        let (key, value) = line.split_once(" = ").expect(line);
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect(line);
        assert!(!value.contains(['"', '\\']), "{line}");
        let row = all.last_mut().expect("a row begins with [[advisory]]");
        assert!(row.0.insert(key, value).is_none(), "{line}");
    }
    all
}
