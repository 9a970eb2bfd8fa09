//! Shards that the index of their set does not list: loaders that read the index do not open them.

use super::siblings::{folder_of, key};
use super::{Repository, content};
use crate::base::lock::Lock;
use crate::base::python_json::Json;
use crate::input::reader::FileInput;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::path::{Path, PathBuf};

/// Indexes that are remembered.
const INDEXES: usize = 4;
/// Longest index that is read: it takes about 100 bytes a tensor.
const INDEX: u64 = 32 << 20;

/// The files that the last indexes list; none if one cannot be read.
pub(super) type Known = Lock<Vec<(PathBuf, Option<Arc<BTreeSet<String>>>)>>;

impl Repository {
    /// Says that the indexes of its set do not list the shard at `path`. `None` if one lists it, if
    /// there is none, and if one cannot be read: its own check says why.
    ///
    /// ```
    /// use weighbridge::repository::Repository;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = |name: &str| folder.path().join(name);
    /// let index = r#"{"weight_map": {"a": "m-00001-of-00002.safetensors"}}"#;
    /// std::fs::write(path("m.safetensors.index.json"), index)?;
    /// std::fs::write(path("m-00002-of-00002.safetensors"), "")?;
    /// let unlisted = Repository::default().unlisted_shard(&path("m-00002-of-00002.safetensors"));
    /// assert_eq!(unlisted.unwrap(), "m.safetensors.index.json does not list this shard");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn unlisted_shard(&self, path: &Path) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let (key, folder) = (key(name)?, folder_of(path));
        let sets = self.sets_in(folder)?;
        let mut last = None;
        for index in sets.indexes(&key) {
            if self.listed(&folder.join(index))?.contains(name) {
                return None;
            }
            last = Some(index);
        }
        Some(format!("{} does not list this shard", last?))
    }

    /// The files that an index lists.
    fn listed(&self, path: &Path) -> Option<Arc<BTreeSet<String>>> {
        self.listed.with(|known| {
            if let Some((_, listed)) = known.iter().find(|(of, _)| of == path) {
                return listed.clone();
            }
            let listed = read(path).map(Arc::new);
            if known.len() >= INDEXES {
                known.remove(0);
            }
            known.push((path.to_path_buf(), listed.clone()));
            listed
        })
    }
}

fn read(path: &Path) -> Option<BTreeSet<String>> {
    let bytes = content::whole(&FileInput::open(path).ok()?, INDEX).ok()??;
    let json = Json::parse(str::from_utf8(&bytes).ok()?)?;
    let files = json.get("weight_map")?.pairs().iter().filter_map(|(_, file)| file.text());
    Some(files.map(String::from).collect())
}
