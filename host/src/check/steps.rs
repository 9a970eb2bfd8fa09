//! Checks a file step by step, from its first bytes to the end of the audit.

#[cfg(feature = "pytorch")]
use crate::check::checkpoint::{Checkpoint, indices::IndexCheck, sums::SumCheck};
use crate::check::diagnosis::Diagnosis;
use crate::check::diagnosis::archive::Members;
use crate::check::entry_names::Naming;
use crate::check::file_audit::FileAudit;
use crate::check::finding::on_file;
use crate::check::hidden::Hidden;
#[cfg(feature = "gguf")]
use crate::check::loader_keys::LoaderKeys;
use crate::check::options::{Goal, Options};
#[cfg(feature = "std")]
use crate::check::page_runs::Pierced;
use crate::check::page_tail::Tail;
use crate::check::pickles::Pickles;
use crate::check::recognise::{HEAD, recognise_as};
use crate::check::report::{Collected, Outcome, Report};
use crate::check::scan::{OBJECTS, Scan};
#[cfg(feature = "onnx")]
use crate::check::wiring::{Wiring, digests::DigestCheck};
#[cfg(feature = "gguf")]
use crate::list::part::SetPart;
use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(feature = "gguf")]
use weighbridge_core::format::gguf::rules as gguf;
use weighbridge_core::format::{PickleWalk, Pickled};
use weighbridge_core::{Absent, File, Format, Opening, Source, Span, Stop, general};

/// The check of one file. Between steps it is plain data.
#[derive(Debug, Default)]
pub(crate) struct Check {
    step: Step,
    /// The search for the index of a checkpoint, and the index once it is made.
    #[cfg(feature = "pytorch")]
    checkpoint: Option<Checkpoint>,
    index: Option<Vec<u8>>,
    /// An index was made, so the file is of its format, whatever is wrong with it.
    is_indexed: bool,
    /// What it is if it has a program beside its tensors, which is not read.
    program: Option<Diagnosis>,
    pub(crate) format: Option<Format>,
    pub(crate) file: Option<File>,
    opening: Opening,
    audit: Option<Box<FileAudit>>,
    pub(crate) collected: Collected,
    /// The walk over the file as a pickle, and whether an open file has been walked.
    pickle: Box<PickleWalk>,
    walked: bool,
    /// An open file is a pickle that imports something.
    is_polyglot: bool,
    /// The count of the members of an archive that was cut off.
    members: Members,
    /// What is after the last tensor of a file that may have other parts joined to it.
    #[cfg(feature = "gguf")]
    behind: Behind,
    /// The diagnosis of a file that could not be opened, once it has been made.
    other: Option<Option<Diagnosis>>,
    /// The scan of its pickles, while it runs, and whether it has ended.
    scan: Option<Box<Scan>>,
    scanned: bool,
    /// Whether an open file may hide pickles, once that is known.
    hides: Option<bool>,
    /// The pickles of a file that was opened.
    pickles: Option<Pickles>,
    naming: Naming,
    /// The check of what loaders of models rely on.
    #[cfg(feature = "gguf")]
    keys: LoaderKeys,
    /// The check of indices of sparse tensors.
    #[cfg(feature = "pytorch")]
    indices: IndexCheck,
    /// The check of storages of which tensors use only parts.
    #[cfg(feature = "pytorch")]
    sums: SumCheck,
    /// The check of what reads and makes the values of a graph.
    #[cfg(feature = "onnx")]
    wiring: Wiring,
    /// The check of other files, whose digests a model states.
    #[cfg(feature = "onnx")]
    digests: DigestCheck,
    tail: Tail,
    #[cfg(feature = "std")]
    pierced: Pierced,
    /// The goal reached so far, and the goal up to which names were looked for.
    reached: Option<Goal>,
    named: Option<Goal>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Recognise,
    #[cfg(feature = "pytorch")]
    Index,
    Open,
    Refused,
    Opened,
}

/// What is after the last tensor.
#[cfg(feature = "gguf")]
#[derive(Debug, Default)]
enum Behind {
    #[default]
    Unknown,
    /// Another GGUF file from this offset on; what this one states about its set is being read.
    Another(u64, Box<SetPart>),
    Known,
}

impl Check {
    pub(crate) fn new(options: &Options) -> Self {
        Check { format: options.format, ..Check::default() }
    }

    /// Whether the file could not be opened.
    pub(crate) fn is_refused(&self) -> bool {
        self.step == Step::Refused
    }

    /// Advances until `goal` is reached or bytes are missing.
    pub(crate) fn step(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        options: &Options,
    ) -> Result<(), Absent> {
        loop {
            match self.step {
                Step::Recognise => {
                    if self.format.is_none() {
                        let head = source.get(Span::new(0, source.len().min(HEAD as u64)))?;
                        self.format = recognise_as(head, source.len(), options.named);
                    }
                    // Bytes may be missing: the step changes after that.
                    #[cfg(feature = "pytorch")]
                    if self.may_be_checkpoint(source, options)? {
                        self.step = Step::Index;
                        continue;
                    }
                    self.step = Step::Open;
                    self.opening = Opening::of(self.format);
                }
                #[cfg(feature = "pytorch")]
                Step::Index => {
                    let index = match &mut self.checkpoint {
                        Some(checkpoint) => checkpoint.step(source, &options.criteria)?,
                        None => None,
                    };
                    let checkpoint = self.checkpoint.take();
                    if index.is_some() {
                        self.program = checkpoint.as_ref().and_then(Checkpoint::program);
                        let prior = checkpoint.map(Checkpoint::into_prior).unwrap_or_default();
                        self.scan = Some(Box::new(Scan::after(prior)));
                        self.format = Some(Format::PyTorch);
                        self.is_indexed = true;
                    }
                    self.opening = Opening::of(self.format);
                    (self.index, self.step) = (index, Step::Open);
                    if self.index.is_some() {
                        // The session adds it to what is in memory, and goes on.
                        return Ok(());
                    }
                }
                Step::Open => match self.open(source) {
                    Ok(file) => {
                        self.file = Some(file);
                        self.step = Step::Opened;
                    }
                    Err(Stop::NeedBytes(absent)) => return Err(absent),
                    Err(_) => self.step = Step::Refused,
                },
                Step::Refused => return Ok(()),
                Step::Opened => return self.step_audit(source, goal, options),
            }
        }
    }

    /// The index that was made for the file. It is to be in memory from now on.
    pub(crate) fn take_index(&mut self) -> Option<Vec<u8>> {
        self.index.take()
    }

    /// Whether a file without another format begins like a checkpoint. The name alone says nothing:
    /// many things are called `.pt`.
    #[cfg(feature = "pytorch")]
    fn may_be_checkpoint(
        &mut self,
        source: &Source<'_>,
        options: &Options,
    ) -> Result<bool, Absent> {
        if !matches!(self.format, None | Some(Format::PyTorch)) {
            return Ok(false);
        }
        let head = source.get(Span::new(0, source.len().min(HEAD as u64)))?;
        self.checkpoint = Checkpoint::of(head);
        self.format = options.format;
        Ok(self.checkpoint.is_some())
    }

    fn open(&mut self, source: &Source<'_>) -> Result<File, Stop> {
        let Check { opening, collected, .. } = self;
        opening.step(source, &mut |finding| collected.take(source, finding))
    }

    /// Audits an open file up to `goal`.
    fn step_audit(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        options: &Options,
    ) -> Result<(), Absent> {
        let Some(file) = self.file.filter(|_| goal >= Goal::Structure) else { return Ok(()) };
        // What an index was made of is a pickle, or has one.
        if !self.walked && !self.is_indexed {
            let pickled = self.pickle.step(source)?;
            if let Pickled::Imports(at) | Pickled::Unfinished(at) = pickled {
                self.collected.push(on_file(general::PICKLE_POLYGLOT, (at, 1), (0, 0)));
                self.is_polyglot = true;
            }
            self.walked = true;
        }
        if self.reached < Some(goal) {
            let Check { audit, collected, .. } = self;
            let running = audit.get_or_insert_with(|| Box::new(FileAudit::new(file, options)));
            running.step(source, goal, options, &mut |finding| collected.take(source, finding))?;
            #[cfg(feature = "gguf")]
            {
                let Check { keys, collected, .. } = self;
                keys.step(source, &file, &mut |finding| collected.push(finding))?;
                self.look_behind(source, &file)?;
            }
            #[cfg(feature = "onnx")]
            self.wiring.enter(source, &file, options, &mut self.collected)?;
            self.scan_open(source, options)?;
            if goal == Goal::Payloads {
                #[cfg(feature = "pytorch")]
                {
                    self.indices.enter(source, &file, &mut self.collected)?;
                    self.sums.enter(source, &file, &mut self.collected)?;
                }
                #[cfg(feature = "onnx")]
                self.digests.enter(source, &file, options, &mut self.collected)?;
                self.tail.enter(source, &file, &mut self.collected)?;
                // Without the standard library there are no files on this machine.
                #[cfg(feature = "std")]
                if options.near {
                    self.pierced.enter(source, &file, &mut self.collected)?;
                }
                self.audit = None;
            }
            self.reached = Some(goal);
        }
        Ok(())
    }

    /// Follows the pickles of an open file: those of a checkpoint, of arrays, and hidden ones.
    fn scan_open(&mut self, source: &Source<'_>, options: &Options) -> Result<(), Absent> {
        // Asked first: a build without the feature links no texts of rules.
        if !cfg!(feature = "pickles") || self.scanned {
            return Ok(());
        }
        let objects = || self.collected.kept.iter().any(|it| it.rule.id() == OBJECTS);
        let has_pickles = self.is_indexed || objects();
        if self.hides.is_none() {
            let hidden = self.hidden(source, has_pickles, options)?;
            self.hides = Some(!hidden.is_empty());
            match (hidden.is_empty(), has_pickles) {
                (true, _) => {}
                (false, true) => self.scan.get_or_insert_default().add(hidden),
                (false, false) => self.scan = Some(Box::new(Scan::of_hidden(hidden))),
            }
        }
        match has_pickles || self.hides == Some(true) {
            true => self.scan(source, options),
            false => Ok(()),
        }
    }

    /// Where an open file may hide pickles.
    fn hidden(
        &self,
        source: &Source<'_>,
        has_pickles: bool,
        options: &Options,
    ) -> Result<Hidden, Absent> {
        let mut hidden = Hidden::of(&self.collected);
        hidden.whole = self.is_polyglot;
        // The members of an archive that is read as one are checked already, and on a server the
        // end of a file would be one request more.
        if options.near && !has_pickles {
            let head = source.get(Span::new(0, source.len().min(4)))?;
            hidden.archive |= head != b"PK\x03\x04";
        }
        Ok(hidden)
    }

    /// Finds parts of a split model that were joined to this one.
    #[cfg(feature = "gguf")]
    fn look_behind(&mut self, source: &Source<'_>, file: &File) -> Result<(), Absent> {
        if let Behind::Unknown = &self.behind {
            let kept = &self.collected.kept;
            let trailing = kept.iter().find(|it| it.rule == gguf::TRAILING).map(|it| it.offset);
            let magic = |at| Span::new(at, source.len().saturating_sub(at).min(4));
            self.behind = match trailing {
                Some(at) if source.get(magic(at))? == b"GGUF" => {
                    Behind::Another(at, Box::default())
                }
                _ => Behind::Known,
            };
        }
        if let Behind::Another(at, stated) = &mut self.behind {
            if let Err(Stop::NeedBytes(absent)) = stated.read(source, file) {
                return Err(absent);
            }
            if stated.is_one_of_many() {
                self.collected.push(on_file(gguf::SPLIT_JOINED, (*at, 4), (0, 0)));
            }
            self.behind = Behind::Known;
        }
        Ok(())
    }

    /// Diagnoses a file that could not be opened, and follows its pickles.
    pub(crate) fn diagnose(
        &mut self,
        source: &Source<'_>,
        options: &Options,
    ) -> Result<(), Absent> {
        if self.is_refused() && self.is_indexed {
            // Its own rules say what is wrong with it, unless the download broke off.
            self.other = Some(Diagnosis::without_directory(
                source,
                &self.collected.kept,
                &mut self.members,
            )?);
            return self.scan(source, options);
        }
        if self.is_refused() && self.other.is_none() {
            let found = Diagnosis::walking(
                source,
                &self.collected.kept,
                &mut self.pickle,
                &mut self.members,
            )?;
            self.other = Some(found);
        }
        let other = self.other.as_ref().and_then(Option::as_ref);
        if other.is_some_and(Diagnosis::may_have_pickles) {
            self.scan(source, options)?;
        }
        Ok(())
    }

    /// Follows the pickles of a file. Without the feature, they stay diagnosed as such.
    fn scan(&mut self, source: &Source<'_>, options: &Options) -> Result<(), Absent> {
        if self.scanned || !cfg!(feature = "pickles") {
            return Ok(());
        }
        self.scan.get_or_insert_default().step(source, &options.criteria)?;
        let results = self.scan.take().map(|scan| scan.into_results()).unwrap_or_default();
        self.scanned = true;
        let instead = self.file.is_none() && options.format.is_none() && !self.is_indexed;
        let pickles = results.enter(&mut self.collected, instead);
        let is_hidden = self.hides == Some(true) && pickles.count() > 0;
        if self.is_indexed || is_hidden {
            self.pickles = Some(pickles);
        } else if pickles.count() > 0
            && let Some(Some(other)) = self.other.take_if(|it| it.is_some())
        {
            self.other = Some(Some(other.with(pickles)));
        }
        Ok(())
    }

    /// Reads the names of the entries that findings are about.
    pub(crate) fn name(&mut self, source: &Source<'_>) -> Result<(), Absent> {
        let Some(file) = self.file else { return Ok(()) };
        if self.named < self.reached {
            self.naming.begin(&self.collected.kept);
            self.named = self.reached;
        }
        self.naming.step(&file, source)
    }

    /// The diagnosis, if the file was cut off or could not be opened.
    pub(crate) fn diagnosis(&self, len: u64) -> Option<Diagnosis> {
        let Collected { kept, tally, .. } = &self.collected;
        match &self.file {
            Some(file) => Diagnosis::cut_off(file, len, kept, tally).or_else(|| {
                let pickles = self.pickles.as_ref().filter(|_| self.is_indexed)?;
                if let Some(program) = self.program.clone() {
                    return Some(program.with(pickles.clone()));
                }
                let pickles = Some(pickles).filter(|it| it.can_run_code())?;
                Some(Diagnosis::of_checkpoint(pickles.clone()))
            }),
            None => self.other.clone().flatten(),
        }
    }

    /// The pickles that were followed.
    pub(crate) fn pickles(&self) -> Option<&Pickles> {
        let other = || self.other.as_ref()?.as_ref()?.pickles();
        self.pickles.as_ref().or_else(other)
    }

    /// Whether the file is open, and has a program that is not read.
    pub(crate) fn has_program(&self) -> bool {
        self.program.is_some() && self.file.is_some()
    }

    /// Whether the file could not be opened because this build does not read its format or
    /// generation.
    pub(crate) fn is_unsupported(&self) -> bool {
        self.is_refused() && matches!(&self.other, Some(Some(other)) if other.is_unsupported())
    }

    /// Number of entries that the current stage has passed.
    pub(crate) fn position(&self) -> u32 {
        self.audit.as_ref().map_or(0, |running| running.position())
    }

    /// The checks that were completed.
    pub(crate) fn checked(&self) -> &'static [&'static str] {
        match self.reached {
            None => &[],
            Some(Goal::Payloads) => &["structure", "payloads"],
            Some(_) => &["structure"],
        }
    }

    pub(crate) fn report(&self, len: u64, options: &Options) -> Report {
        let outcome = Outcome {
            size: len,
            format: self.format,
            file: self.file,
            refused: self.is_refused(),
            has_program: self.has_program(),
            checked: self.checked(),
            diagnosis: self.diagnosis(len),
            pickles: self.pickles.as_ref(),
            collected: &self.collected,
        };
        Report::new(outcome, &self.naming, options)
    }
}
