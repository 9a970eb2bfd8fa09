//! The models of a folder, a line each: how many files, and whether its shards are complete.

use super::Seen;
use std::collections::{BTreeMap, BTreeSet};
use weighbridge::repository::shard_of;
use weighbridge::text::{bytes, plural, thousands};
use weighbridge::{Format, Profile, Text, Verdict};

/// Folders with a line each; the others are counted.
const MOST: usize = 3;
/// Sets of shards that are followed in one folder.
const SETS: usize = 16;

/// The folders with models, in the order of their files.
#[derive(Debug, Default)]
pub(super) struct Models {
    folders: Vec<Folder>,
    /// The folder of the last file.
    current: Folder,
    /// Folders with models, and their files, beyond the ones with a line.
    beyond: (u64, u64),
}

#[derive(Debug, Default)]
struct Folder {
    name: String,
    /// Files that are no weights.
    others: u64,
    /// Files with weights that are no shards, by format.
    formats: BTreeMap<&'static str, u64>,
    bytes: u64,
    /// Shards, by the name before their number and by their count.
    sets: BTreeMap<(String, u64), Set>,
    /// Whether an index lists shards.
    indexed: bool,
}

#[derive(Debug, Default)]
struct Set {
    format: &'static str,
    present: BTreeSet<u64>,
    valid: u64,
}

impl Models {
    /// Adds a file of a folder. Returns whether the line of its folder says all about it: it is a
    /// valid shard.
    pub(super) fn add(&mut self, file: &Text, seen: &Seen, profile: Profile) -> bool {
        let path = file.lossy();
        let cut = path.rfind(['/', std::path::MAIN_SEPARATOR]);
        let (folder, name) = cut.map_or(("", &*path), |at| (&path[..at], &path[at + 1..]));
        if self.current.name != folder {
            self.leave();
            // Files of folders in it may come between two files of a folder.
            let at = self.folders.iter().position(|it| it.name == folder);
            self.current = match at {
                Some(at) => self.folders.remove(at),
                None => Folder { name: folder.to_owned(), ..Folder::default() },
            };
        }
        let current = &mut self.current;
        let Seen::Checked(checked) = seen else {
            current.others += u64::from(matches!(seen, Seen::Sorted(_)));
            return false;
        };
        // A file that was named says nothing about its folder.
        if checked.class != Some("model") {
            current.others += u64::from(checked.class.is_some());
            return false;
        }
        let report = &checked.report;
        let is_valid = report.verdict(profile) == Verdict::Valid;
        let format = report.format().map(|format| format.title());
        let format = format.or(report.archive()).unwrap_or("unknown format");
        if report.format() == Some(Format::Shards) {
            current.others += 1;
            current.indexed = true;
            return false;
        }
        current.bytes = current.bytes.saturating_add(report.size());
        let room = current.sets.len() < SETS;
        let Some((stem, no, count)) = shard_of(name).filter(|_| room) else {
            *current.formats.entry(format).or_default() += 1;
            return false;
        };
        let set = current.sets.entry((stem.to_owned(), count)).or_default();
        set.format = format;
        set.present.insert(no);
        set.valid += u64::from(is_valid);
        is_valid
    }

    /// Keeps what is known of the current folder, if it has a model.
    fn leave(&mut self) {
        let folder = std::mem::take(&mut self.current);
        if !folder.has_weights() {
            return;
        }
        if self.folders.len() < MOST {
            self.folders.push(folder);
        } else {
            self.beyond = (self.beyond.0 + 1, self.beyond.1 + folder.files());
        }
    }

    /// The text of each line, with whether all shards are there and valid.
    pub(super) fn lines(&mut self) -> Vec<(bool, String)> {
        self.leave();
        // One file alone has its own line.
        let told = |folder: &&Folder| folder.files() > 1 || !folder.sets.is_empty();
        let several = self.folders.iter().filter(told);
        let mut lines: Vec<_> = several.map(Folder::line).collect();
        let (folders, files) = self.beyond;
        if folders > 0 {
            let more = format!("{} with models", plural(folders, "more folder"));
            lines.push((true, format!("{more}: {}", plural(files, "file"))));
        }
        lines
    }
}

impl Folder {
    fn weights(&self) -> u64 {
        let shards = self.sets.values().map(|set| set.present.len() as u64);
        self.formats.values().sum::<u64>() + shards.sum::<u64>()
    }

    fn has_weights(&self) -> bool {
        self.weights() > 0
    }

    fn files(&self) -> u64 {
        self.weights() + self.others
    }

    fn line(&self) -> (bool, String) {
        let mut whole = true;
        let mut parts = Vec::new();
        for ((stem, count), set) in &self.sets {
            let (present, format) = (set.present.len() as u64, set.format);
            let complete = present == *count;
            let invalid = present.saturating_sub(set.valid);
            whole &= complete && invalid == 0;
            let state = match (complete, invalid) {
                (false, _) => format!("{} of {} shards, incomplete", present, thousands(*count)),
                (true, 0) => format!("{}, complete", plural(*count, "shard")),
                (true, _) => {
                    format!("{}, complete, {invalid} not valid", plural(*count, "shard"))
                }
            };
            // The name tells sets of one folder apart.
            let of = if self.sets.len() > 1 { format!(" of {stem}") } else { String::new() };
            parts.push(format!("{format} in {state}{of}"));
        }
        for (format, count) in &self.formats {
            parts.push(format!("{} {format}", thousands(*count)));
        }
        let name = if self.name.is_empty() { "." } else { &self.name };
        let (files, size) = (plural(self.files(), "file"), bytes(self.bytes));
        let index = if self.indexed { ", with index" } else { "" };
        (whole, format!("{}  {files}: {}{index}, {size}", Text::from(name), parts.join("; ")))
    }
}
