//! Converts the files of a model.

use super::atomic_file::{Draft, is_same, shard_name};
use super::outcome::{Converted, Saved};
use super::parts::Opened;
use super::plan::Plan;
use super::{Float, Layout, elements};
use crate::base::error::{Error, ReadError};
use crate::base::text::{Text, plural, quote};
use crate::check::options::Options;
use crate::check::report::Verdict;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How a model is converted to safetensors.
///
/// ```
/// use weighbridge::save::Convert;
///
/// # let folder = tempfile::tempdir()?;
/// # let (from, to) = (folder.path().join("model.gguf"), folder.path().join("model.safetensors"));
/// # std::fs::write(&from, weighbridge_tests::samples::words())?;
/// let done = Convert::new().run(&from, &to)?;
/// assert!(done.is_written());
/// assert_eq!(done.files()[0].path, to);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Convert {
    options: Options,
    to: Option<Float>,
    most: Option<u64>,
    force: bool,
    overwrite: bool,
}

impl Convert {
    /// Checks the input strictly, and writes one file, unless something would be lost.
    ///
    /// ```
    /// use weighbridge::save::Convert;
    ///
    /// let error = Convert::new().run("no such file", "model.safetensors").unwrap_err();
    /// assert!(error.to_string().contains("No such file"));
    /// ```
    pub fn new() -> Self {
        Convert::default()
    }

    /// Opens and checks the input in this way.
    ///
    /// ```
    /// use weighbridge::{Options, Profile, save::Convert};
    ///
    /// let lenient = Convert::new().options(Options::new().profile(Profile::Lenient));
    /// # let _ = lenient;
    /// ```
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Writes elements that are quantised in blocks as numbers of this type. Without it a model
    /// with such tensors is refused.
    ///
    /// ```
    /// use weighbridge::save::{Convert, Float};
    ///
    /// let convert = Convert::new().dequantise(Float::Bf16);
    /// # let _ = convert;
    /// ```
    #[must_use]
    pub fn dequantise(mut self, to: Float) -> Self {
        self.to = Some(to);
        self
    }

    /// Writes several files with at most this many bytes of data each, named like
    /// `model-00001-of-00002.safetensors`, and an index. A tensor that is larger has a file of
    /// its own. If one file is enough, there is no index.
    ///
    /// ```
    /// use weighbridge::save::Convert;
    ///
    /// let convert = Convert::new().max_shard_size(5_000_000_000);
    /// # let _ = convert;
    /// ```
    #[must_use]
    pub fn max_shard_size(mut self, bytes: u64) -> Self {
        self.most = Some(bytes);
        self
    }

    /// Converts an invalid model too, and leaves out what cannot be written;
    /// [`Converted::left_out`] names it.
    ///
    /// ```
    /// let convert = weighbridge::save::Convert::new().force();
    /// # let _ = convert;
    /// ```
    #[must_use]
    pub fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Replaces files that exist.
    ///
    /// ```
    /// let convert = weighbridge::save::Convert::new().overwrite();
    /// # let _ = convert;
    /// ```
    #[must_use]
    pub fn overwrite(mut self) -> Self {
        self.overwrite = true;
        self
    }

    /// Converts the model at `from`: a file, an index of shards, or the first part of a split
    /// model. The files at `to` appear only when all of them are complete.
    ///
    /// Nothing is written if the input is invalid or not supported, or if a tensor cannot be
    /// written; [`Converted::is_written`] says so.
    ///
    /// ```
    /// use weighbridge::{Profile, Verdict, save::Convert};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let (from, to) = (folder.path().join("broken.gguf"), folder.path().join("out"));
    /// # std::fs::write(&from, &weighbridge_tests::samples::words()[..20])?;
    /// let done = Convert::new().run(&from, &to)?;
    /// assert!(!done.is_written() && !to.exists());
    /// assert_eq!(done.verdict(), Verdict::Invalid);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a file cannot be read, when it changes meanwhile, and [`Error::Write`] when a file
    /// cannot be written or is in the way.
    pub fn run(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Converted, Error> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let profile = self.options.criteria.profile;
        let mut opened = Opened::at(from, &self.options)?;
        let verdict = opened.verdict(profile);
        let mut done = Converted {
            report: opened.deciding(verdict, profile).clone(),
            verdict,
            files: Vec::new(),
            left_out: Vec::new(),
            metadata_left_out: Vec::new(),
            tied: Vec::new(),
            notes: Vec::new(),
        };
        let refused = matches!(verdict, Verdict::Invalid | Verdict::Unsupported);
        if opened.parts.is_empty() || refused && !self.force {
            return Ok(done);
        }
        let mut plan = opened.plan(self.to, self.force, profile)?;
        done.left_out = core::mem::take(&mut plan.left_out);
        done.metadata_left_out = core::mem::take(&mut plan.metadata_left_out);
        done.tied.clone_from(&plan.tied);
        done.notes = core::mem::take(&mut plan.notes);
        done.notes.extend(opened.parts.iter().filter_map(|part| {
            let pickles = part.report.pickles().filter(|pickles| pickles.are_unsafe())?;
            let would = pickles.sentence();
            let would = would.strip_prefix("which ").unwrap_or(&would);
            Some(format!("its pickle {would}: nothing was run, and what that makes is left out"))
        }));
        let programs = opened.parts.iter().filter(|part| part.report.has_program());
        done.notes.extend(programs.map(|_| "its program was not checked, and is left out".into()));
        if !done.left_out.is_empty() && !self.force {
            done.verdict = Verdict::Unchecked;
            return Ok(done);
        }
        self.write(&opened, &plan, to, &mut done)?;
        done.verdict = match verdict {
            Verdict::Unchecked => Verdict::Unchecked,
            _ => Verdict::Valid,
        };
        Ok(done)
    }

    fn write(
        &self,
        opened: &Opened,
        plan: &Plan,
        to: &Path,
        done: &mut Converted,
    ) -> Result<(), Error> {
        let shards = self.shards(plan);
        let stem = to.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
        let paths: Vec<PathBuf> = match shards.len() {
            1 => vec![to.to_owned()],
            count => {
                (1..=count).map(|no| to.with_file_name(shard_name(&stem, no, count))).collect()
            }
        };
        let index = to.with_file_name(format!("{stem}.safetensors.index.json"));
        let is_index = shards.len() > 1;
        for path in paths.iter().chain(is_index.then_some(&index)) {
            self.may_write(path, opened).map_err(|error| failed(path, error))?;
        }
        let mut drafts = Vec::new();
        for (shard, path) in shards.iter().zip(&paths) {
            let (draft, len) = self.write_shard(opened, plan, (shard, path), done)?;
            drafts.push(draft);
            let tensors = shard.len() as u64;
            done.files.push(Saved { path: path.clone(), len, tensors });
        }
        if is_index {
            let mut draft = Draft::beside(&index).map_err(|error| failed(&index, error))?;
            let json = index_of(plan, &shards, &paths);
            let written = draft.write(json.as_bytes()).and_then(|()| draft.complete());
            written.map_err(|error| failed(&index, error))?;
            drafts.push(draft);
            let len = json.len() as u64;
            done.files.push(Saved { path: index, len, tensors: 0 });
        }
        opened.verify_unchanged()?;
        // The last moment to end without files: putting them on disk took its time.
        self.options.check_cancelled()?;
        self.place(drafts).inspect_err(|_| done.files.clear())
    }

    /// Moves all files to their places, or none.
    fn place(&self, mut drafts: Vec<Draft>) -> Result<(), Error> {
        let mut new = Vec::new();
        for draft in &mut drafts {
            let target = draft.target().to_owned();
            let fresh = fs::symlink_metadata(&target).is_err();
            if let Err(error) = draft.place(self.overwrite) {
                for path in &new {
                    let _ = fs::remove_file(path);
                }
                return Err(failed(&target, error));
            }
            if fresh {
                new.push(target);
            }
        }
        Ok(())
    }

    fn write_shard(
        &self,
        opened: &Opened,
        plan: &Plan,
        (shard, path): (&[usize], &Path),
        done: &mut Converted,
    ) -> Result<(Draft, u64), Error> {
        let items: Vec<_> = shard.iter().map(|i| plan.tensors[*i].item.clone()).collect();
        let layout = Layout::new(&items, &plan.metadata_of(&items))?;
        let failed = |error| failed(path, error);
        let mut draft = Draft::beside(path).map_err(failed)?;
        draft.write(layout.header()).map_err(failed)?;
        for i in layout.order() {
            let planned = &plan.tensors[shard[*i]];
            let (tensor, mut len) = (opened.tensor(planned.place), 0_u64);
            if let Some(span) = elements::as_it_lies(&tensor, planned.form)? {
                let file = draft.file().map_err(failed)?;
                if tensor.model.access.copy_to(span, file)?.map_err(failed)? {
                    draft.wrote(span.len).map_err(failed)?;
                    continue;
                }
            }
            let infinite = elements::write(&tensor, planned.form, |piece| {
                self.options.check_cancelled()?;
                len += piece.len() as u64;
                draft.write(piece).map_err(failed)
            })?;
            if Some(len) != planned.item.len() {
                return Err(ReadError::Changed.into());
            }
            if infinite > 0 {
                let (name, numbers) = (&planned.item.name, plural(infinite, "number"));
                done.notes.push(format!("\"{name}\": {numbers} became infinite"));
            }
        }
        draft.complete().map_err(failed)?;
        Ok((draft, layout.len()))
    }

    /// Which tensors are in which file.
    fn shards(&self, plan: &Plan) -> Vec<Vec<usize>> {
        let Some(most) = self.most else { return vec![(0..plan.tensors.len()).collect()] };
        let (mut shards, mut shard, mut size) = (Vec::new(), Vec::new(), 0_u64);
        for (i, planned) in plan.tensors.iter().enumerate() {
            let len = planned.item.len().unwrap_or(0);
            if len > most {
                shards.push(vec![i]);
                continue;
            }
            if !shard.is_empty() && size.saturating_add(len) > most {
                shards.push(core::mem::take(&mut shard));
                size = 0;
            }
            shard.push(i);
            size = size.saturating_add(len);
        }
        if !shard.is_empty() || shards.is_empty() {
            shards.push(shard);
        }
        shards
    }

    /// Refuses places where something else is.
    fn may_write(&self, path: &Path, opened: &Opened) -> io::Result<()> {
        let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
        let name = opened.report.name().and_then(Text::as_str).map(PathBuf::from);
        let mut inputs = opened.parts.iter().map(|part| &part.path).chain(&name);
        if inputs.any(|input| is_same(input, path)) {
            return Err(io::Error::other("is an input file"));
        }
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
        }
        if !metadata.is_file() {
            return Err(io::Error::other("is a pipe or a device, not a file"));
        }
        if !self.overwrite {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "exists already"));
        }
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::Write(Text::from(path), error)
}

/// The index of several files, as `transformers` writes it.
fn index_of(plan: &Plan, shards: &[Vec<usize>], paths: &[PathBuf]) -> String {
    let mut map = BTreeMap::new();
    let mut total = 0;
    for (shard, path) in shards.iter().zip(paths) {
        let file = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        for item in shard.iter().map(|i| &plan.tensors[*i].item) {
            total += item.len().unwrap_or(0);
            map.insert(&*item.name, file.clone());
        }
    }
    let mut json = format!("{{\n  \"metadata\": {{\n    \"total_size\": {total}\n  }},\n");
    json.push_str("  \"weight_map\": {");
    for (i, (name, file)) in map.iter().enumerate() {
        json.push_str(if i == 0 { "\n    " } else { ",\n    " });
        quote(name, &mut json);
        json.push_str(": ");
        quote(file, &mut json);
    }
    json.push_str("\n  }\n}\n");
    json
}
