//! Files with the data of a model beside them.

use crate::base::lock::Lock;
use crate::base::text::Text;
use crate::check::options::Options;
use crate::input::place::Place;
use crate::set::open_beside::paths;
use alloc::string::String;
use alloc::vec::Vec;
use weighbridge_core::Format;

/// Most models of which the paths are remembered.
const MOST: usize = 64;

/// The paths that models refer to, remembered while the files of their folder are examined.
#[derive(Debug, Default)]
pub(super) struct Referred(Lock<Vec<(Text, Vec<String>)>>);

impl Referred {
    /// The name of the model that refers to a file.
    pub(super) fn by(&self, place: &dyn Place) -> Option<Text> {
        place.near(Format::Onnx.name()).into_iter().find_map(|(model, path)| {
            self.0.with(|known| {
                let name = model.name();
                if !known.iter().any(|(of, _)| *of == name) {
                    known.truncate(MOST - 1);
                    let mut all = paths(&*model, &Options::new());
                    all.sort_unstable();
                    known.insert(0, (name.clone(), all));
                }
                let (_, all) = known.iter().find(|(of, _)| *of == name)?;
                all.binary_search(&path).ok().map(|_| model.file_name())
            })
        })
    }
}
