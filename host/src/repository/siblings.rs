//! Shards that lie in a folder without their siblings.
//!
//! A shard does not say that it is one: its name does. The folder is listed once for all shards
//! in it.

use super::Repository;
use super::names::shard_of;
use crate::base::lock::Lock;
use crate::base::text::plural;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are remembered. Files of one folder are checked one after another, or a few at
/// a time.
const FOLDERS: usize = 8;
/// Missing shards that are named.
const NAMED: usize = 3;

/// The sets of the last folders.
pub(super) type Folders = Lock<Vec<(PathBuf, Arc<Sets>)>>;

/// The name before the number, the number of shards as written, and what follows it.
type Key = (String, String, String);

/// The sets of shards in one folder.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// The numbers of the shards that are there.
    sets: BTreeMap<Key, BTreeSet<u64>>,
    /// Names of indexes.
    indexes: Vec<String>,
}

impl Repository {
    /// What is missing of the set of shards that a file's name says it belongs to: `None` if the
    /// set is complete, the file is no shard, or its folder cannot be listed.
    ///
    /// If `all` files of the folder are checked, the index of the set answers for it, or else its
    /// first shard.
    ///
    /// ```
    /// use weighbridge::repository::Repository;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model-00002-of-00003.safetensors");
    /// std::fs::write(&path, "")?;
    /// let missing = Repository::default().missing_shards(&path, true).unwrap();
    /// assert_eq!(
    ///     missing,
    ///     "2 of 3 shards are missing: model-00001-of-00003.safetensors, \
    ///      model-00003-of-00003.safetensors"
    /// );
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn missing_shards(&self, path: &Path, all: bool) -> Option<String> {
        let name = path.file_name()?.to_str()?;
        let (_, no, count) = shard_of(name).filter(|(_, _, count)| *count > 1)?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let sets = self.sets_in(folder)?;
        let key = key(name)?;
        let present = sets.sets.get(&key)?;
        let missing = count.checked_sub(present.len() as u64).filter(|missing| *missing > 0)?;
        let answered = sets.is_indexed(&key) || present.first() != Some(&no);
        if all && answered {
            return None;
        }
        let (stem, digits, rest) = &key;
        let width = digits.len();
        let absent = (1..=count).filter(|no| !present.contains(no)).take(NAMED);
        let names: Vec<_> =
            absent.map(|no| format!("{stem}-{no:0width$}-of-{digits}{rest}")).collect();
        let more = missing.saturating_sub(names.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let are = if missing == 1 { "is" } else { "are" };
        let shards = plural(count, "shard");
        Some(format!("{missing} of {shards} {are} missing: {}{more}", names.join(", ")))
    }

    /// The sets in a folder, which is listed only once.
    fn sets_in(&self, folder: &Path) -> Option<Arc<Sets>> {
        self.sets.with(|known| {
            if let Some((_, sets)) = known.iter().find(|(of, _)| of == folder) {
                return Some(Arc::clone(sets));
            }
            let sets = Arc::new(Sets::read(folder)?);
            if known.len() >= FOLDERS {
                known.remove(0);
            }
            known.push((folder.to_path_buf(), Arc::clone(&sets)));
            Some(sets)
        })
    }
}

impl Sets {
    fn read(folder: &Path) -> Option<Self> {
        let mut found = Sets::default();
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if let (Some((_, no, _)), Some(key)) = (shard_of(name), key(name)) {
                found.sets.entry(key).or_default().insert(no);
            } else if name.ends_with(".json") && name.contains(".index.") {
                found.indexes.push(name.to_string());
            }
        }
        Some(found)
    }

    /// Whether an index lists the shards of this set, by its name: `model.safetensors.index.json`.
    fn is_indexed(&self, (stem, _, rest): &Key) -> bool {
        let extension = rest.rsplit('.').next().unwrap_or_default();
        let start = format!("{stem}.{extension}.index.");
        self.indexes.iter().any(|index| index.starts_with(&start))
    }
}

/// The set of a shard of this name.
fn key(name: &str) -> Option<Key> {
    let (stem, ..) = shard_of(name)?;
    let (_, after) = name.rsplit_once("-of-")?;
    let digits = after.split('.').next()?;
    let rest = after.get(digits.len()..)?;
    Some((stem.to_string(), digits.to_string(), rest.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(no: u64, count: u64) -> String {
        format!("m-{no:05}-of-{count:05}.fp16.safetensors")
    }

    #[test]
    fn a_set_without_its_index_says_once_what_is_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for no in [2, 3, 7] {
            fs::write(path(&name(no, 7)), "").expect("room");
        }
        fs::write(path("m-00001-of-00001.safetensors"), "").expect("room");
        let missing = |name: &str, all| Repository::default().missing_shards(&path(name), all);
        let expected = "4 of 7 shards are missing: m-00001-of-00007.fp16.safetensors, \
                        m-00004-of-00007.fp16.safetensors, m-00005-of-00007.fp16.safetensors and \
                        1 more";
        assert_eq!(missing(&name(2, 7), true).as_deref(), Some(expected));
        assert_eq!(missing(&name(3, 7), true), None, "the first one answers");
        assert_eq!(missing(&name(3, 7), false).as_deref(), Some(expected));
        assert_eq!(missing("m-00001-of-00001.safetensors", true), None);
        assert_eq!(missing("m.safetensors", true), None);
        // An index of another set does not answer.
        for (index, answers) in
            [("x.safetensors.index.json", false), ("m.safetensors.index.fp16.json", true)]
        {
            fs::write(path(index), "{}").expect("room");
            assert_eq!(missing(&name(2, 7), true).is_none(), answers, "{index}");
            assert_eq!(missing(&name(2, 7), false).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_huge_count_names_a_few() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("m-00001-of-18446744073709551615.safetensors");
        fs::write(&path, "").expect("room");
        let missing = Repository::default().missing_shards(&path, true).expect("most are missing");
        assert!(missing.ends_with(" and 18446744073709551611 more"), "{missing}");
    }

    #[test]
    fn a_folder_is_listed_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |no| folder.path().join(name(no, 2));
        fs::write(path(1), "").expect("room");
        let repository = Repository::default();
        assert!(repository.missing_shards(&path(1), true).is_some());
        // Seen by another listing alone.
        fs::write(path(2), "").expect("room");
        assert!(repository.missing_shards(&path(1), true).is_some());
        assert!(Repository::default().missing_shards(&path(1), true).is_none());
    }
}
