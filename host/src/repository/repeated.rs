//! Tensors that several shards of a set have, where no index says which of them counts.
//!
//! Loaders of such sets read one shard after another, in an order of their own, and the last one wins.

use super::Repository;
use super::siblings::{Key, folder_of, key, shard};
use crate::base::lock::Lock;
use crate::base::text::Text;
use crate::check::options::Options;
use crate::input::place::Place;
use crate::read::model::Model;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::collections::HashMap;
use std::path::Path;

/// Sets that are remembered.
const SETS: usize = 4;
/// Most shards of a set that are compared.
const SHARDS: usize = 1_000;
/// Memory for the tensors of one shard.
const MEMORY: u64 = 256 << 20;

/// For each shard with a tensor of an earlier one: the tensor, and the number of that shard.
type Repeats = BTreeMap<u64, (Text, u64)>;

/// The repeats of the last sets, by their folders.
pub(super) type Known = Lock<Vec<(Text, Key, Arc<Repeats>)>>;

impl Repository {
    /// Says that the shard at `path` has a tensor that an earlier shard of its set has as well.
    /// `None` if it has none, and if an index of the set lists the tensors.
    ///
    /// ```
    /// use weighbridge::repository::Repository;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let bytes = weighbridge_tests::samples::safetensors(); // with the tensor "emb"
    /// let path = |no| folder.path().join(format!("m-0000{no}-of-00002.safetensors"));
    /// std::fs::write(path(1), &bytes)?;
    /// std::fs::write(path(2), &bytes)?;
    /// let repository = Repository::default();
    /// assert_eq!(repository.repeated_tensor(&path(1)), None);
    /// assert!(repository.repeated_tensor(&path(2)).unwrap().starts_with("tensor \"emb\""));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn repeated_tensor(&self, path: &Path) -> Option<String> {
        let key = key(path.file_name()?.to_str()?)?;
        let sets = self.sets_in(folder_of(path))?;
        let present = sets.unindexed(&key)?;
        self.repeated(&path.to_path_buf(), &key, present)
    }

    /// The same for a shard on a server, whose folder cannot be listed.
    ///
    /// ```
    /// # use weighbridge::repository::Repository;
    /// # let folder = tempfile::tempdir()?;
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// # let path = |no| folder.path().join(format!("m-0000{no}-of-00002.safetensors"));
    /// # std::fs::write(path(1), &bytes)?;
    /// # std::fs::write(path(2), &bytes)?;
    /// let repeated = Repository::default().repeated_tensor_at(&path(2));
    /// assert!(repeated.unwrap().contains("is also in m-00001-of-00002.safetensors"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn repeated_tensor_at(&self, place: &dyn Place) -> Option<String> {
        let name = place.file_name();
        let (key, set) = self.tried_for(place, name.as_str()?)?;
        self.repeated(place, &key, set.unindexed()?)
    }

    fn repeated(&self, place: &dyn Place, key: &Key, present: &BTreeSet<u64>) -> Option<String> {
        let name = place.file_name();
        let folder = place.beside("x").name();
        let repeats = self.repeats.with(|known| {
            let same = known.iter().find(|(of, named, _)| *of == folder && named == key);
            if let Some((.., repeats)) = same {
                return Arc::clone(repeats);
            }
            let repeats = Arc::new(compare(place, key, present));
            if known.len() >= SETS {
                known.remove(0);
            }
            known.push((folder, key.clone(), Arc::clone(&repeats)));
            repeats
        });
        let own = present.iter().position(|no| name.as_str() == Some(&*shard(key, *no)))?;
        if own >= SHARDS {
            return Some("its tensors were not compared with those of other shards".into());
        }
        let (tensor, earlier) = repeats.get(present.iter().nth(own)?)?;
        let earlier = shard(key, *earlier);
        Some(format!(
            "tensor \"{tensor}\" is also in {earlier}, and no index says which one counts"
        ))
    }
}

/// Finds the first tensor of each shard that an earlier one has as well.
fn compare(place: &dyn Place, key: &Key, present: &BTreeSet<u64>) -> Repeats {
    let (mut first, mut repeats) = (HashMap::new(), Repeats::new());
    for no in present.iter().copied().take(SHARDS) {
        let index = || {
            let options = Options::new().memory(MEMORY);
            let shard = place.beside(&shard(key, no));
            let index = Model::from_input_with(shard.open().ok()?, &options).ok()?.index().ok()?;
            Some((0..index.len()).map(|at| index.name_bytes(at).to_vec()).collect::<Vec<_>>())
        };
        // One that does not open is invalid by itself.
        for name in index().unwrap_or_default() {
            let shown = Text::from(&*String::from_utf8_lossy(&name));
            let earlier = *first.entry(name).or_insert(no);
            if earlier != no {
                repeats.entry(no).or_insert((shown, earlier));
            }
        }
    }
    repeats
}
