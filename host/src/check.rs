//! From the first bytes of a file to all that can be found out, step by step: the one
//! place that answers what the core needs beside bytes, within the limits.

use crate::diagnosis::Diagnosis;
use crate::gate::{HEAD, recognise_as};
use crate::options::{Goal, Options};
use crate::report::{Collected, MOST_NAME, Report};
use crate::text::Text;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec::Vec;
use weighbridge_core::{
    Absent, Audit, Cursor, EntryKind, File, Finding, Format, Opening, Paused, Scratch, Slot,
    Source, Span, Stage, Stop,
};

/// The most slots for the entries of a sparse tensor, unless the file itself
/// is large: compressed entries may be many in few bytes.
const MOST_ENTRIES: u64 = 1 << 20;
/// Bytes of payloads that are decoded at a time.
const PIECE: usize = 256 << 10;

/// The check of one file: plain data between two steps.
#[derive(Debug, Default)]
pub(crate) struct Check {
    step: Step,
    pub(crate) format: Option<Format>,
    pub(crate) file: Option<File>,
    opening: Opening,
    audit: Option<Box<FileAudit>>,
    pub(crate) collected: Collected,
    naming: Naming,
    diagnosis: Option<Diagnosis>,
    /// What the file was checked for so far.
    reached: Option<Goal>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Recognise,
    Open,
    /// It cannot be opened: what is it?
    Diagnose,
    Refused,
    Opened,
}

impl Check {
    pub(crate) fn new(options: &Options) -> Self {
        Check { format: options.format, ..Check::default() }
    }

    /// Whether the file could not be opened.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.step, Step::Diagnose | Step::Refused)
    }

    /// Goes on until `goal` is reached or bytes are missing.
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
                    self.opening = Opening::of(self.format);
                    self.step = Step::Open;
                }
                Step::Open => match self.open(source) {
                    Ok(file) => {
                        self.file = Some(file);
                        self.step = Step::Opened;
                    }
                    Err(Stop::NeedBytes(absent)) => return Err(absent),
                    Err(_) => self.step = Step::Diagnose,
                },
                Step::Diagnose => {
                    self.diagnosis = Diagnosis::of(source, &self.collected.kept)?;
                    self.step = Step::Refused;
                }
                Step::Refused => return Ok(()),
                Step::Opened => return self.proceed(source, goal, options),
            }
        }
    }

    fn open(&mut self, source: &Source<'_>) -> Result<File, Stop> {
        let Check { opening, collected, .. } = self;
        opening.step(source, &mut |finding| collected.push(finding))
    }

    /// Audits an open file up to `goal`, and names what findings are about.
    fn proceed(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        options: &Options,
    ) -> Result<(), Absent> {
        let Some(file) = self.file.filter(|_| goal >= Goal::Structure) else { return Ok(()) };
        if self.reached < Some(goal) {
            let Check { audit, collected, .. } = self;
            let running = audit.get_or_insert_with(|| Box::new(FileAudit::new(file, options)));
            running.go_on(source, goal, options, &mut |finding| collected.push(finding))?;
            self.reached = Some(goal);
            if goal == Goal::Payloads {
                self.audit = None;
            }
            self.naming.begin(&self.collected.kept);
        }
        self.naming.step(&file, source)?;
        let Collected { kept, tally } = &self.collected;
        self.diagnosis = Diagnosis::cut_off(&file, source.len(), kept, tally);
        Ok(())
    }

    pub(crate) fn report(&self, len: u64, options: &Options) -> Report {
        let checked = match self.reached {
            None => &[][..],
            Some(Goal::Payloads) => &["structure", "payloads"],
            Some(_) => &["structure"],
        };
        Report::new(self, len, checked, self.diagnosis.clone(), &self.naming.names, options)
    }
}

/// An audit of a file, and the memory that it works in: for hosts that ask the core
/// themselves. Slots and buffers are given within the limits of the options.
///
/// ```
/// use weighbridge::core::{File, Source};
/// use weighbridge::{FileAudit, Goal, Options};
///
/// # let bytes = weighbridge_tests::samples::safetensors();
/// let source = Source::whole(&bytes);
/// let file = File::open(&source, &mut |_| {})?;
/// let options = Options::new();
/// let (mut audit, mut findings) = (FileAudit::new(file, &options), 0);
/// audit.go_on(&source, Goal::Payloads, &options, &mut |_| findings += 1)?;
/// assert_eq!(findings, 0);
/// # Ok::<(), weighbridge::core::Stop>(())
/// ```
#[derive(Debug)]
pub struct FileAudit {
    audit: Audit,
    slots: Vec<Slot>,
    buffer: Vec<u8>,
    paused: Option<Box<Paused>>,
    /// It cannot go on, and would say the same again.
    over: bool,
}

impl FileAudit {
    /// Of an open file, from the start.
    ///
    /// ```
    /// use weighbridge::core::{File, Source};
    /// use weighbridge::{FileAudit, Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let options = Options::new();
    /// let mut audit = FileAudit::new(file, &options);
    /// audit.go_on(&source, Goal::Structure, &options, &mut |found| println!("{found}"))?;
    /// # Ok::<(), weighbridge::core::Stop>(())
    /// ```
    pub fn new(file: File, options: &Options) -> Self {
        FileAudit::of(Audit::new(file).structure_only(), options)
    }

    /// Of the data of one tensor, and of nothing before it.
    pub(crate) fn of_payload(file: File, tensor: u32, options: &Options) -> Self {
        FileAudit::of(Audit::payload_of(file, tensor), options)
    }

    pub(crate) fn of(mut audit: Audit, options: &Options) -> Self {
        if let Some(work) = options.work {
            audit = audit.max_work(work);
        }
        let audit = audit.seeded(options.seed_or_random());
        FileAudit { audit, slots: Vec::new(), buffer: Vec::new(), paused: None, over: false }
    }

    /// How many entries of its stage are checked.
    ///
    /// ```
    /// use weighbridge::core::{File, Source};
    /// use weighbridge::{FileAudit, Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let options = Options::new();
    /// let mut audit = FileAudit::new(file, &options);
    /// audit.go_on(&source, Goal::Structure, &options, &mut |found| println!("{found}"))?;
    /// println!("{} entries", audit.position());
    /// # Ok::<(), weighbridge::core::Stop>(())
    /// ```
    pub fn position(&self) -> u32 {
        self.audit.position()
    }

    /// Runs up to `goal`, or until bytes are missing.
    ///
    /// ```
    /// use weighbridge::core::{File, Source};
    /// use weighbridge::{FileAudit, Goal, Options};
    ///
    /// # let bytes = weighbridge_tests::samples::safetensors();
    /// let source = Source::whole(&bytes);
    /// let file = File::open(&source, &mut |_| {})?;
    /// let options = Options::new();
    /// let mut audit = FileAudit::new(file, &options);
    /// let mut findings = Vec::new();
    /// audit.go_on(&source, Goal::Structure, &options, &mut |found| findings.push(found))?;
    /// assert!(findings.is_empty());
    /// // What was checked is not checked again.
    /// audit.go_on(&source, Goal::Payloads, &options, &mut |found| findings.push(found))?;
    /// assert!(findings.is_empty());
    /// # Ok::<(), weighbridge::core::Stop>(())
    /// ```
    ///
    /// # Errors
    /// The bytes that are missing; it goes on once they are there.
    pub fn go_on(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        options: &Options,
        mut sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Absent> {
        if goal == Goal::Payloads {
            self.audit = self.audit.with_payloads();
        }
        while !self.over {
            match self.step(source, goal, &mut sink) {
                Ok(()) => break,
                Err(Stop::Invalid(_)) => self.over = true,
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                Err(Stop::NeedSlots { needed }) => {
                    if !self.make_room(needed, source.len(), options) {
                        self.audit.skip(&mut sink);
                    }
                }
                // The tensor is begun anew, with a larger buffer or not at all.
                Err(Stop::NeedBuffer { needed }) => {
                    self.paused = None;
                    if !self.make_buffer(needed, options) {
                        self.audit.skip(&mut sink);
                    }
                }
            }
        }
        self.slots = Vec::new();
        Ok(())
    }

    #[cfg(any(
        feature = "bintensors",
        feature = "gguf",
        feature = "idv",
        feature = "safetensors",
        feature = "ztensor"
    ))]
    fn step(
        &mut self,
        source: &Source<'_>,
        goal: Goal,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        let FileAudit { audit, slots, buffer, paused, .. } = self;
        if goal == Goal::Payloads {
            buffer.resize(buffer.len().max(PIECE), 0);
        }
        let mut scratch = match paused.take() {
            Some(paused) => paused.resume(buffer),
            None => Scratch::new(buffer),
        };
        let result = audit.step_with(source, slots, &mut scratch, sink);
        *paused = Some(Box::new(scratch.pause()));
        result
    }

    /// OINF and STB store all data as they are: nothing is decoded.
    #[cfg(not(any(
        feature = "bintensors",
        feature = "gguf",
        feature = "idv",
        feature = "safetensors",
        feature = "ztensor"
    )))]
    fn step(
        &mut self,
        source: &Source<'_>,
        _: Goal,
        sink: &mut dyn FnMut(Finding),
    ) -> Result<(), Stop> {
        self.audit.step(source, &mut self.slots, sink)
    }

    /// Gives the audit more slots, if the limits allow.
    fn make_room(&mut self, needed: u32, len: u64, options: &Options) -> bool {
        let bomb =
            self.audit.stage() == Stage::Payloads && u64::from(needed) > MOST_ENTRIES.max(len / 8);
        let needed_len = usize::try_from(needed).unwrap_or(usize::MAX);
        let more = needed_len.saturating_sub(self.slots.len());
        let fits = u64::from(needed) <= options.slots() && more > 0 && !bomb;
        let grows = fits && self.slots.try_reserve_exact(more).is_ok();
        if grows {
            self.slots.resize(needed_len, Slot::EMPTY);
        }
        grows
    }

    /// Gives the audit a larger buffer, if the limits allow.
    fn make_buffer(&mut self, needed: u64, options: &Options) -> bool {
        let needed_len = usize::try_from(needed).unwrap_or(usize::MAX);
        let more = needed_len.saturating_sub(self.buffer.len());
        let fits = needed <= options.buffer && more > 0;
        let grows = fits && self.buffer.try_reserve_exact(more).is_ok();
        if grows {
            self.buffer.resize(needed_len, 0);
        }
        grows
    }
}

/// The names of the entries that findings are about, as they are found.
#[derive(Debug, Default)]
struct Naming {
    names: BTreeMap<(EntryKind, u32), Arc<Text>>,
    tensors: Wanted,
    others: Wanted,
}

/// Entries of one table whose names are wanted.
#[derive(Debug, Default)]
struct Wanted {
    left: BTreeSet<(EntryKind, u32)>,
    cursor: Cursor,
}

/// The entry whose name stands beside a finding.
pub(crate) fn named_entry(finding: &Finding) -> Option<(EntryKind, u32)> {
    match finding.kind {
        EntryKind::File => None,
        EntryKind::Attribute => Some((EntryKind::Tensor, finding.entry)),
        kind => Some((kind, finding.entry)),
    }
}

impl Naming {
    /// Looks for the names that are not known yet.
    fn begin(&mut self, findings: &[Finding]) {
        let unknown =
            findings.iter().filter_map(named_entry).filter(|key| !self.names.contains_key(key));
        let (tensors, others) = unknown.partition(|(kind, _)| *kind == EntryKind::Tensor);
        self.tensors = Wanted { left: tensors, cursor: Cursor::default() };
        self.others = Wanted { left: others, cursor: Cursor::default() };
    }

    /// Reads no table that no finding is about, and none further than to the last
    /// entry concerned.
    fn step(&mut self, file: &File, source: &Source<'_>) -> Result<(), Absent> {
        for is_tensor in [false, true] {
            let Naming { names, tensors, others } = self;
            let wanted = if is_tensor { tensors } else { others };
            match wanted.step(file, source, is_tensor, names) {
                Ok(()) => {}
                Err(Stop::NeedBytes(absent)) => return Err(absent),
                // Nothing more comes.
                Err(_) => wanted.left.clear(),
            }
        }
        Ok(())
    }
}

impl Wanted {
    fn step(
        &mut self,
        file: &File,
        source: &Source<'_>,
        is_tensor: bool,
        names: &mut BTreeMap<(EntryKind, u32), Arc<Text>>,
    ) -> Result<(), Stop> {
        while !self.left.is_empty() {
            let mut next = self.cursor;
            let entry = if is_tensor {
                let tensor = file.next_tensor(source, &mut next, &mut |_| {})?;
                tensor.map(|entry| ((EntryKind::Tensor, entry.index), entry.tensor.name))
            } else {
                let meta = file.next_meta(source, &mut next, &mut |_| {});
                // What was passed over of a list is kept.
                meta.inspect_err(|_| self.cursor = next)?
                    .map(|entry| ((entry.kind, entry.index), entry.metadata.key))
            };
            let Some((key, name)) = entry else {
                self.left.clear();
                break;
            };
            if self.left.contains(&key) {
                if crate::access::within(source, name.span()) {
                    let name = Text::start_of(&name.read(source)?, MOST_NAME);
                    names.insert(key, Arc::new(name));
                }
                self.left.remove(&key);
            }
            self.cursor = next;
        }
        Ok(())
    }
}
