//! Files with the data of a model beside them.

use crate::base::lock::Lock;
use crate::base::text::Text;
use crate::check::options::Options;
use crate::input::place::Place;
use crate::set::open_beside::paths;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::Format;

/// Ends of the names of such files, for folders that cannot be listed: writers append one to the
/// name of the model, or put it in place of the extension.
const ENDS: [&str; 3] = ["_data", ".data", ".bin"];

/// The paths that models refer to, remembered for the last folder.
#[derive(Debug, Default)]
pub(super) struct Referred(Lock<Option<(Text, Vec<Model>)>>);

/// A model near a folder.
#[derive(Debug)]
struct Model {
    name: Text,
    /// The path from the folder of the model to this one.
    below: String,
    /// What it refers to, sorted.
    paths: Vec<String>,
}

impl Model {
    fn of(place: &dyn Place, below: String) -> Self {
        let mut paths = paths(place, &Options::new());
        paths.sort_unstable();
        Model { name: place.file_name(), below, paths }
    }

    /// Whether it refers to a file of the folder.
    fn names(&self, file: &str) -> bool {
        let path = format!("{}{file}", self.below);
        self.paths.binary_search(&path).is_ok()
    }
}

impl Referred {
    /// The name of the model that refers to a file.
    pub(super) fn by(&self, place: &dyn Place) -> Option<Text> {
        let (file, folder) = (place.file_name(), place.beside("x").name());
        let file = file.as_str()?;
        self.0.with(|known| {
            if known.as_ref().is_none_or(|(of, _)| *of != folder) {
                let Some(near) = place.near(Format::Onnx.name()) else {
                    return by_name(place, file);
                };
                let models = near.into_iter().map(|(place, below)| Model::of(&*place, below));
                *known = Some((folder, models.collect()));
            }
            let (_, models) = known.as_ref()?;
            models.iter().find(|model| model.names(file)).map(|model| model.name.clone())
        })
    }
}

/// The model that refers to a file, found by its name.
fn by_name(place: &dyn Place, file: &str) -> Option<Text> {
    let stem = ENDS.iter().find_map(|end| file.strip_suffix(end))?;
    let dotted = format!(".{}", Format::Onnx.name());
    let name = if stem.ends_with(&dotted) { stem.into() } else { format!("{stem}{dotted}") };
    let model = Model::of(&*place.beside(&name), String::new());
    model.names(file).then_some(model.name)
}
