//! What the settings beside a module, or in a folder above it, load.

use super::code_in_settings::{self, Load};
use super::content;
use super::texts::SETTINGS;
use crate::base::lock::Lock;
use crate::base::python_json::Json;
use crate::base::text::Text;
use crate::input::place::Place;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Folders above a module whose settings are read.
const ABOVE: usize = 3;
/// Folders that are remembered.
const FOLDERS: usize = 16;

/// What the settings in one folder load.
type Found = Arc<Vec<(&'static str, Load)>>;

/// What the settings in the last folders load, with the name of a file in each.
#[derive(Debug, Default)]
pub(super) struct Loads(Lock<Vec<(Text, Found)>>);

impl Loads {
    /// The settings that load the module of this name, if any do.
    pub(super) fn of(&self, name: &str, place: &dyn Place) -> Option<String> {
        let own = self.inside(place);
        if let Some(by) = by(&own, name) {
            return Some(by.into());
        }
        (1..=ABOVE).find_map(|level| {
            let (above, path) = place.above(level, code_in_settings::NAMES[0])?;
            let by = by(&self.inside(&*above), &format!("{path}{name}"))?;
            Some(format!("{}{by}", "../".repeat(level)))
        })
    }

    /// What the settings in the folder of a file load.
    fn inside(&self, place: &dyn Place) -> Found {
        let folder = place.beside(code_in_settings::NAMES[0]).name();
        self.0.with(|known| {
            if let Some((_, found)) = known.iter().find(|(of, _)| *of == folder) {
                return Arc::clone(found);
            }
            let found = Arc::new(read(place));
            if known.len() >= FOLDERS {
                known.remove(0);
            }
            known.push((folder, Arc::clone(&found)));
            found
        })
    }
}

fn by(found: &[(&'static str, Load)], path: &str) -> Option<&'static str> {
    found.iter().find(|(_, load)| load.what == path).map(|(settings, _)| *settings)
}

/// What the settings beside a file load.
fn read(place: &dyn Place) -> Vec<(&'static str, Load)> {
    let mut found = Vec::new();
    for settings in code_in_settings::NAMES {
        let beside = place.beside(settings);
        let Ok(input) = beside.open() else { continue };
        let bytes = content::whole(&*input, SETTINGS).ok().flatten();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let json = text.and_then(|text| Json::parse(&text));
        let loads = json.map(|json| code_in_settings::loads(settings, &json)).unwrap_or_default();
        found.extend(loads.into_iter().map(|load| (*settings, load)));
    }
    found
}
