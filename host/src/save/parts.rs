//! The files of a model that is converted: one, the shards of an index, or the parts of a split.

use super::plan::{ALTERED, FAULTY, Place, Plan, Planner, altered, faulty};
use super::{Float, elements};
use crate::base::error::Error;
use crate::base::text::Text;
use crate::check::access::Access;
use crate::check::options::{Goal, Options};
use crate::check::report::{Report, Verdict};
use crate::input::place::Place as _;
use crate::input::reader::FileInput;
use crate::list::index::Index;
use crate::read::model::Model;
use crate::read::parts::Parts;
use crate::read::tensor::Tensor;
use crate::set::gate::report_on;
use alloc::boxed::Box;
use alloc::string::ToString as _;
use alloc::vec;
use alloc::vec::Vec;
use std::path::{Path, PathBuf};
use weighbridge_core::{Encoding, Format, Profile};

/// A file with tensors, and its report.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) model: Model<'static>,
    pub(super) report: Report,
}

/// All files of a model.
#[derive(Debug)]
pub(super) struct Opened {
    /// The report on the file that was named.
    pub(super) report: Report,
    pub(super) parts: Vec<Part>,
    /// What an index says about its files.
    pub(super) set: Option<Parts>,
    /// The tensors of each file, once they are listed.
    indexes: Vec<Index>,
}

impl Opened {
    /// Opens and checks the files of the model at `path`.
    pub(super) fn at(path: &Path, options: &Options) -> Result<Self, Error> {
        let place = path.to_path_buf();
        let structure = options.clone().goal(Goal::Structure);
        #[cfg_attr(not(feature = "onnx"), allow(unused_mut, reason = "only ONNX has others"))]
        let mut access = Access::at(Box::new(FileInput::open(path)?), &place, &structure);
        #[cfg(feature = "onnx")]
        let others = crate::set::open_beside::attach(&mut access, &place, true)?;
        let mut report = report_on(&access, Some(&place), Goal::Structure)?;
        report.name = access.name().cloned();
        let Some(file) = access.file() else {
            return Ok(Opened { report, parts: Vec::new(), set: None, indexes: Vec::new() });
        };
        let model = Model { access, file };
        let Some(set) = Parts::of(&model, &place.file_name().lossy())? else {
            let name = report.name.take();
            report = report_on(&model.access, Some(&place), Goal::Payloads)?;
            #[cfg(feature = "onnx")]
            others.finish(model.len(), &mut report)?;
            report.name = name;
            let parts = vec![Part { path: place, model, report: report.clone() }];
            return Ok(Opened { report, parts, set: None, indexes: Vec::new() });
        };
        let format = model.format();
        let mut parts = Vec::new();
        for file in set.files() {
            let options = match format {
                #[cfg(feature = "shards")]
                Format::Shards => crate::set::open_shards::of_shard(options, file),
                format => options.clone().format(format),
            };
            parts.push(Part::beside(path, file, &options)?);
        }
        Ok(Opened { report, parts, set: Some(set), indexes: Vec::new() })
    }

    /// The worst verdict on any of the files.
    pub(super) fn verdict(&self, profile: Profile) -> Verdict {
        // The index was not asked about payloads, because each part was.
        let whole = match (self.report.verdict(profile), &self.set) {
            (Verdict::Unchecked, Some(_)) => self.report.verdict_on_checked(),
            (verdict, _) => verdict,
        };
        let parts = self.parts.iter().map(|part| part.report.verdict(profile));
        let rank = |verdict: &Verdict| match verdict {
            Verdict::Invalid => 3,
            Verdict::Unsupported => 2,
            Verdict::Unchecked => 1,
            Verdict::Valid => 0,
        };
        parts.chain([whole]).max_by_key(rank).unwrap_or(whole)
    }

    /// The report on the first file with this verdict.
    pub(super) fn deciding(&self, verdict: Verdict, profile: Profile) -> &Report {
        let parts = self.parts.iter().map(|part| &part.report);
        let all = [&self.report].into_iter().chain(parts);
        let mut refused = all.filter(|_| verdict != Verdict::Valid);
        refused.find(|report| report.verdict(profile) == verdict).unwrap_or(&self.report)
    }

    /// Which tensors are written, and how.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn plan(
        &mut self,
        to: Option<Float>,
        force: bool,
        profile: Profile,
    ) -> Result<Plan, Error> {
        let indexes = self.parts.iter().map(|part| part.model.index());
        self.indexes = indexes.collect::<Result<_, _>>()?;
        let faulty: Vec<Vec<u32>> = match force {
            true => self.parts.iter().map(Part::faulty).collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let altered: Vec<Vec<u32>> =
            self.parts.iter().map(Part::altered).collect::<Result<_, _>>()?;
        let is_among = |all: &[Vec<u32>], part: usize, tensor: u32| {
            all.get(part).is_some_and(|all| all.binary_search(&tensor).is_ok())
        };
        let mut planner = Planner::default();
        for part in &self.parts {
            planner.read_metadata(&part.model)?;
        }
        let doubtful = |part: &Part| part.report.verdict(profile) != Verdict::Valid;
        let doubtful: Vec<bool> = self.parts.iter().map(doubtful).collect();
        let places: Vec<Place> = match &self.set {
            Some(set) => set.merge(&self.indexes).iter().map(|it| (it.part, it.at)).collect(),
            None => (0..self.indexes.first().map_or(0, Index::len)).map(|at| (0, at)).collect(),
        };
        for place in places {
            let tensor = self.tensor(place);
            let is_among = |all: &[Vec<u32>]| is_among(all, place.0, tensor.index());
            let refused = match (is_among(&faulty), is_among(&altered)) {
                (true, _) => Some(FAULTY),
                (_, true) => Some(ALTERED),
                _ => None,
            };
            let fit = match refused {
                Some(why) => Err(elements::no(why)),
                None => elements::fit(&tensor, |it| elements::number(it, to), elements::rows)
                    .and_then(|fit| {
                        // Data that may not decode is decoded before anything is written.
                        if doubtful[place.0] && tensor.encoding() != Encoding::Raw {
                            elements::write(&tensor, fit.form, |_| Ok::<(), Error>(()))?;
                        }
                        Ok(fit)
                    }),
            };
            planner.add(&tensor, place, fit)?;
        }
        Ok(planner.finish())
    }

    /// The tensor at a place.
    pub(super) fn tensor(&self, (part, at): Place) -> Tensor<'_, 'static> {
        self.parts[part].model.tensor_of(&self.indexes[part].entry(at))
    }

    /// That no file changed while it was read.
    pub(super) fn verify_unchanged(&self) -> Result<(), Error> {
        self.parts.iter().try_for_each(|part| part.model.verify_unchanged())
    }
}

impl Part {
    fn beside(path: &Path, file: &str, options: &Options) -> Result<Self, Error> {
        let path = path.with_file_name(file);
        let failed = |error: Error| Error::Shard(Text::from(file), Box::new(error));
        if !options.follow_links && path.leaves() {
            return Err(failed(Error::Unsupported("is a link that leaves the folder".to_string())));
        }
        let open = || -> Result<Part, Error> {
            let input = Box::new(FileInput::open(&path)?);
            let access = Access::new(input, Some(Text::from(path.as_path())), options);
            let mut report = access.report(Goal::Payloads)?;
            report.name = access.name().cloned();
            let why = "it cannot be opened".to_string();
            let file = access.file().ok_or(Error::NotOpened { why, unsupported: false })?;
            Ok(Part { path: path.clone(), model: Model { access, file }, report })
        };
        open().map_err(failed)
    }

    /// The tensors with data that cannot be read, or would be read wrongly, by their position in
    /// the index, in order.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are more findings than the report lists.
    fn faulty(&self) -> Result<Vec<u32>, Error> {
        let findings = self.report.findings().iter().map(|found| found.finding());
        faulty(findings, &self.report.tally)
    }

    /// The tensors with elements other than the stored ones, by their position in the index.
    ///
    /// # Errors
    /// As for [`faulty`](Self::faulty).
    fn altered(&self) -> Result<Vec<u32>, Error> {
        let findings = self.report.findings().iter().map(|found| found.finding());
        altered(findings, &self.report.tally)
    }
}
