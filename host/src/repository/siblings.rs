//! Shards that lie in a folder without their siblings.
//!
//! A shard does not say that it is one: its name does. The folder is listed once for all shards
//! in it. Where folders cannot be listed, as on web servers, the names of the others are tried once.

use super::Repository;
use super::file_names::{controlled, controls, locked, shard_of};
use crate::base::lock::Lock;
use crate::base::text::{Text, plural, thousands};
use crate::input::place::Place;
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
/// Most missing shards that are looked for one after another.
const TRIED: usize = 1_000;
/// Missing shards that are named.
const NAMED: usize = 3;

/// The sets of the last folders.
pub(super) type Folders = Lock<Vec<(PathBuf, Arc<Sets>)>>;

/// The sets that were looked for one name after another, with their folders.
pub(super) type Tried = Lock<Vec<(Text, Key, Arc<Set>)>>;

/// A set in a folder that cannot be listed.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// The numbers of the shards that are there.
    present: BTreeSet<u64>,
    is_indexed: bool,
    /// Whether the search ended before the last number.
    is_cut: bool,
}

/// The name before the number, the number of shards as written, and what follows it.
pub(super) type Key = (String, String, String);

/// The sets of shards in one folder.
#[derive(Debug, Default)]
pub(super) struct Sets {
    /// The numbers of the shards that are there.
    sets: BTreeMap<Key, BTreeSet<u64>>,
    /// Names of indexes.
    indexes: Vec<String>,
    /// Names of the files that downloaders keep beside others.
    controls: BTreeSet<String>,
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
        let sets = self.sets_in(folder_of(path))?;
        let key = key(name)?;
        let present = sets.sets.get(&key)?;
        let missing = count.checked_sub(present.len() as u64).filter(|missing| *missing > 0)?;
        let answered = sets.is_indexed(&key) || present.first() != Some(&no);
        if all && answered {
            return None;
        }
        let are = if missing == 1 { "is" } else { "are" };
        let (shards, names) = (plural(count, "shard"), absent(&key, count, present));
        Some(format!("{missing} of {shards} {are} missing: {names}"))
    }

    /// As [`missing_shards`](Self::missing_shards) where folders cannot be listed: the names of all
    /// shards are tried, once for each set, until 1,000 are missing, or as many as the place allows.
    ///
    /// ```
    /// use weighbridge::repository::Repository;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model-00002-of-00003.safetensors");
    /// std::fs::write(&path, "")?;
    /// let missing = Repository::default().missing_shards_at(&path, true).unwrap();
    /// assert!(missing.starts_with("2 of 3 shards were not found: model-00001-of-00003"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn missing_shards_at(&self, place: &dyn Place, all: bool) -> Option<String> {
        let name = place.file_name();
        let (_, no, count) = shard_of(name.as_str()?)?;
        let (key, set) = self.tried_for(place, name.as_str()?)?;
        let missing = count.checked_sub(set.present.len() as u64).filter(|missing| *missing > 0)?;
        let answered = set.is_indexed || set.present.first() != Some(&no);
        if all && answered {
            return None;
        }
        let were = if missing == 1 { "was" } else { "were" };
        let (shards, names) = (plural(count, "shard"), absent(&key, count, &set.present));
        let most = thousands(TRIED.min(place.most_missing()) as u64);
        let cut = if set.is_cut { format!("; {most} were looked for") } else { String::new() };
        Some(format!("{missing} of {shards} {were} not found: {names}{cut}"))
    }

    /// The set of a shard that is there.
    /// The set of the shard of this name, unless it is alone in it.
    pub(super) fn tried_for(&self, place: &dyn Place, name: &str) -> Option<(Key, Arc<Set>)> {
        let (_, no, count) = shard_of(name).filter(|(_, _, count)| *count > 1)?;
        let key = key(name)?;
        let set = self.tried(place, &key, no, count);
        Some((key, set))
    }

    fn tried(&self, place: &dyn Place, key: &Key, own: u64, count: u64) -> Arc<Set> {
        let folder = place.beside("x").name();
        self.tried.with(|known| {
            let same = known.iter().find(|(of, named, _)| *of == folder && named == key);
            if let Some((.., set)) = same {
                return Arc::clone(set);
            }
            let is_there = |name: &str| place.beside(name).open().is_ok();
            let mut set = Set { is_indexed: is_there(&index(key)), ..Set::default() };
            let mut left = TRIED.min(place.most_missing());
            for no in 1..=count {
                if no == own || is_there(&shard(key, no)) {
                    set.present.insert(no);
                } else if left == 0 {
                    set.is_cut = true;
                    set.present.insert(own);
                    break;
                } else {
                    left -= 1;
                }
            }
            let set = Arc::new(set);
            if known.len() >= FOLDERS {
                known.remove(0);
            }
            known.push((folder, key.clone(), Arc::clone(&set)));
            set
        })
    }

    /// As [`in_progress`](super::in_progress), for many files of a folder: it is listed only once.
    ///
    /// ```
    /// use weighbridge::repository::Repository;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.gguf");
    /// std::fs::write(folder.path().join("model.gguf.aria2"), "")?;
    /// let control = Repository::default().in_progress(&path);
    /// assert_eq!(control.as_deref(), Some("model.gguf.aria2"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn in_progress(&self, path: &Path) -> Option<String> {
        let Some(sets) = self.sets_in(folder_of(path)) else { return super::in_progress(path) };
        if sets.controls.is_empty() {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        controls(name).find(|control| sets.controls.contains(control))
    }

    /// The sets in a folder, which is listed only once.
    pub(super) fn sets_in(&self, folder: &Path) -> Option<Arc<Sets>> {
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

impl Set {
    /// The shards that were found, if no index lists them.
    pub(super) fn unindexed(&self) -> Option<&BTreeSet<u64>> {
        (!self.is_indexed).then_some(&self.present)
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
            } else if controlled(name).or_else(|| locked(name)).is_some() {
                found.controls.insert(name.to_string());
            }
        }
        Some(found)
    }

    /// The shards of this set, if no index lists them.
    pub(super) fn unindexed(&self, key: &Key) -> Option<&BTreeSet<u64>> {
        self.sets.get(key).filter(|_| !self.is_indexed(key))
    }

    /// The indexes of this set, by their names.
    pub(super) fn indexes(&self, key: &Key) -> impl Iterator<Item = &str> {
        let index = index(key);
        let start = index.strip_suffix("json").unwrap_or_default().to_string();
        self.indexes.iter().filter(move |index| index.starts_with(&start)).map(String::as_str)
    }

    /// Whether an index lists the shards of this set, by its name: `model.safetensors.index.json`.
    fn is_indexed(&self, key: &Key) -> bool {
        self.indexes(key).next().is_some()
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The name of a shard of this set.
pub(super) fn shard((stem, digits, rest): &Key, no: u64) -> String {
    let width = digits.len();
    format!("{stem}-{no:0width$}-of-{digits}{rest}")
}

/// The name of the set's index.
fn index((stem, _, rest): &Key) -> String {
    let extension = rest.rsplit('.').next().unwrap_or_default();
    format!("{stem}.{extension}.index.json")
}

/// The names of the shards that are not `present`, a few of them.
fn absent(key: &Key, count: u64, present: &BTreeSet<u64>) -> String {
    let absent = (1..=count).filter(|no| !present.contains(no)).take(NAMED);
    let names: Vec<_> = absent.map(|no| shard(key, no)).collect();
    let missing = count.saturating_sub(present.len() as u64);
    match missing.saturating_sub(names.len() as u64) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The set of a shard of this name.
pub(super) fn key(name: &str) -> Option<Key> {
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

    #[test]
    fn a_set_in_a_folder_that_cannot_be_listed_is_tried_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for no in [2, 3] {
            fs::write(path(&name(no, 4)), "").expect("room");
        }
        let repository = Repository::default();
        let missing = |no, all| repository.missing_shards_at(&path(&name(no, 4)), all);
        let expected = "2 of 4 shards were not found: m-00001-of-00004.fp16.safetensors, \
                        m-00004-of-00004.fp16.safetensors";
        assert_eq!(missing(2, true).as_deref(), Some(expected));
        assert_eq!(missing(3, true), None, "the first one answers");
        fs::write(path("m.safetensors.index.json"), "{}").expect("room");
        assert!(missing(2, true).is_some(), "it is not tried again");
        assert_eq!(Repository::default().missing_shards_at(&path(&name(2, 4)), true), None);
        // The author of a name also decides the number of other files.
        let huge = path("m-07000-of-18446744073709551615.safetensors");
        let missing = Repository::default().missing_shards_at(&huge, false).expect("most are");
        assert!(missing.ends_with(" more; 1,000 were looked for"), "{missing}");
    }
}
