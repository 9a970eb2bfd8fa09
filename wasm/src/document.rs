//! A document: a file's index, its findings, its layout, and how far they are.

use crate::findings::Findings;
use crate::layout::Layout;
use crate::listing::Listing;
use crate::order::{Filter, Order, Sort};
use crate::store::Store;
use crate::table::{self, Table};
use crate::text;
use crate::words::Words;
use alloc::vec::Vec;
use core::ops::Range;
use weighbridge::{Diagnosis, FileAudit, Goal as Depth, Meta, Options as Limits};
use weighbridge_core::{
    Absent, Cursor, EntryKind, File, Format, Metadata, Opening, Source, Span, Stop, general,
};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The header and all entries.
    Index,
    /// Also what can be proved without payloads, and the layout.
    Structure,
    /// Also the payloads.
    Payloads,
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Opening,
    /// It cannot be opened: what is it?
    Diagnosis,
    Metadata,
    Tensors,
    Regions,
    Structure,
    Payloads,
    Done,
}

/// How a document is opened.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// As this format, whatever it looks like.
    pub format: Option<Format>,
    /// The format that the file's name promises.
    pub named: Option<Format>,
    /// Makes hashes of names unforeseeable.
    pub seed: u64,
    /// Bytes of the file to keep.
    pub budget: u64,
    /// Requests are rounded to multiples of this.
    pub granule: u64,
}

/// A file of which only parts are in memory.
#[derive(Debug)]
pub struct Document {
    /// Its bytes.
    pub store: Store,
    /// Words for codes.
    pub words: Words,
    /// What was found.
    pub findings: Findings,
    /// Its tensors.
    pub table: Table,
    /// Its metadata entries.
    pub metadata: Vec<Metadata>,
    /// Its parts.
    pub layout: Layout,
    order: Order,
    pub(crate) step: Step,
    named: Option<Format>,
    opening: Option<Opening>,
    format: Option<Format>,
    /// The format was chosen, not recognised.
    chosen: bool,
    diagnosis: Option<Diagnosis>,
    pub(crate) file: Option<File>,
    cursor: Cursor,
    audit: Option<FileAudit>,
    limits: Limits,
    /// What the first so many entries of the metadata say of other files.
    #[cfg(feature = "full")]
    part: (weighbridge::SetPart, usize),
    /// Not all entries fit into memory.
    cut: bool,
    pub(crate) listing: Listing,
    /// Data that was decoded to be shown.
    #[cfg(feature = "full")]
    pub(crate) kept: Option<crate::decode::Kept>,
    /// Rows that are being read, and what was decoded for them.
    #[cfg(feature = "full")]
    pub(crate) reading: crate::rows::Reading,
}

impl Document {
    /// A document of a file of `len` bytes.
    pub fn new(len: u64, options: &Options) -> Self {
        Document {
            store: Store::new(len, options.budget, options.granule),
            words: Words::default(),
            findings: Findings::default(),
            table: Table::default(),
            metadata: Vec::new(),
            layout: Layout::default(),
            order: Order::default(),
            step: Step::Opening,
            named: options.named,
            opening: options.format.map(|format| Opening::of(Some(format))),
            format: options.format,
            chosen: options.format.is_some(),
            diagnosis: None,
            file: None,
            cursor: Cursor::default(),
            audit: None,
            limits: Limits::new().seed(options.seed),
            #[cfg(feature = "full")]
            part: Default::default(),
            cut: false,
            listing: Listing::default(),
            #[cfg(feature = "full")]
            kept: None,
            #[cfg(feature = "full")]
            reading: crate::rows::Reading::default(),
        }
    }

    /// Works towards `goal`; `true` once it is reached, or cannot be.
    pub fn advance(&mut self, goal: Goal) -> bool {
        self.store.content();
        loop {
            let reached = match goal {
                Goal::Index => self.step > Step::Tensors,
                Goal::Structure => self.step > Step::Structure,
                Goal::Payloads => self.step > Step::Payloads,
            };
            if reached || self.refused() {
                return true;
            }
            match self.work() {
                Ok(next) => {
                    self.step = next;
                    self.cursor = Cursor::default();
                }
                Err(Stop::NeedBytes(absent)) => {
                    self.lack(absent);
                    return false;
                }
                // A finding says why; what else can be checked is.
                Err(_) => {
                    self.step = match self.step {
                        Step::Opening => Step::Diagnosis,
                        Step::Diagnosis => Step::Done,
                        Step::Metadata => Step::Tensors,
                        Step::Tensors => Step::Regions,
                        Step::Regions => Step::Structure,
                        Step::Structure | Step::Payloads | Step::Done => Step::Done,
                    };
                    self.cursor = Cursor::default();
                }
            }
        }
    }

    fn work(&mut self) -> Result<Step, Stop> {
        match self.step {
            Step::Opening => self.open(),
            Step::Diagnosis => self.diagnose(),
            Step::Metadata => self.list_metadata(),
            Step::Tensors => self.list_tensors(),
            Step::Regions => self.list_regions(),
            Step::Structure => self.audit(Depth::Structure, Step::Payloads),
            Step::Payloads => self.audit(Depth::Payloads, Step::Done),
            Step::Done => Ok(Step::Done),
        }
    }

    /// Recognises the format: by its magic, else by the name, else by
    /// what the content could be.
    fn open(&mut self) -> Result<Step, Stop> {
        let Document { store, findings, .. } = self;
        let opening = match &mut self.opening {
            Some(opening) => opening,
            None => {
                let head = store.len().min(HEAD);
                let guess = store.ask(|source| {
                    Ok::<_, Stop>(Format::of_head(source.get(Span::new(0, head))?, source.len()))
                })?;
                let format = match guess {
                    Some(format) if format.has_magic() => Some(format),
                    guess => self.named.or(guess),
                };
                self.format = format;
                self.opening.insert(Opening::of(format))
            }
        };
        let file =
            store.ask(|source| opening.step(source, &mut |finding| findings.push(finding)))?;
        self.format = Some(file.format());
        self.file = Some(file);
        Ok(Step::Metadata)
    }

    /// The small module opens what it recognises, and leaves all else to the other.
    fn diagnose(&mut self) -> Result<Step, Stop> {
        #[cfg(feature = "full")]
        {
            let Document { store, findings, diagnosis, .. } = self;
            *diagnosis = store.ask(|source| Diagnosis::of(source, findings.all()))?;
        }
        Ok(Step::Done)
    }

    fn list_metadata(&mut self) -> Result<Step, Stop> {
        let Document { store, metadata, cursor, cut, .. } = self;
        #[cfg(feature = "full")]
        let (part, noted) = &mut self.part;
        let Some(file) = self.file else { return Ok(Step::Done) };
        store.ask(|source| {
            loop {
                #[cfg(feature = "full")]
                while let Some(meta) = metadata.get(*noted) {
                    part.note(source, &file, meta)?;
                    *noted += 1;
                }
                // It also advances inside the list of an entry.
                let Some(entry) = file.next_meta(source, cursor, &mut |_| {})? else {
                    return Ok(Step::Tensors);
                };
                if metadata.len() * size_of::<Metadata>() >= table::MOST_BYTES / 4 {
                    *cut = true;
                    return Ok(Step::Tensors);
                }
                Meta::end_before(&file, metadata.last_mut(), &entry.metadata);
                metadata.push(entry.metadata);
            }
        })
    }

    fn list_tensors(&mut self) -> Result<Step, Stop> {
        let Document { store, table, words, cursor, cut, .. } = self;
        let Some(file) = self.file else { return Ok(Step::Done) };
        if table.is_empty() {
            // Whatever is declared, an entry takes bytes, a few at least.
            let room = file.tensor_count().min(store.resident() / 8);
            table.reserve(usize::try_from(room).unwrap_or(0));
        }
        store.ask(|source| {
            loop {
                let mut next = *cursor;
                let Some(entry) = file.next_tensor(source, &mut next, &mut |_| {})? else {
                    return Ok(Step::Regions);
                };
                if table.memory() >= table::MOST_BYTES {
                    *cut = true;
                    return Ok(Step::Regions);
                }
                table.push(entry.tensor, source, words)?;
                *cursor = next;
            }
        })
    }

    fn list_regions(&mut self) -> Result<Step, Stop> {
        let Document { store, table, layout, cursor, cut, .. } = self;
        let Some(file) = self.file else { return Ok(Step::Done) };
        store.ask(|source| {
            loop {
                let mut next = *cursor;
                let Some(region) = file.next_region(source, &mut next)? else { break };
                table.locate(&region);
                layout.push(region);
                *cursor = next;
                // Nearly all tensors were listed before.
                let of = |tensor| file.region_of(source, tensor);
                let listed = table.tensors.get(region.entry as usize..).unwrap_or_default();
                if !*cut && listed.first().and_then(of) == Some(region) {
                    listed.iter().skip(1).filter_map(of).for_each(|region| layout.push(region));
                    break;
                }
            }
            layout.settle(source.len());
            Ok(Step::Structure)
        })
    }

    fn audit(&mut self, depth: Depth, next: Step) -> Result<Step, Stop> {
        let Document { store, findings, audit, limits, .. } = self;
        let Some(file) = self.file else { return Ok(Step::Done) };
        let running = audit.get_or_insert_with(|| FileAudit::new(file, limits));
        store.ask(|source| running.go_on(source, depth, limits, &mut |it| findings.push(it)))?;
        if next == Step::Done {
            *audit = None;
        }
        Ok(next)
    }

    /// Takes note of what is missing, with all else that the index lacks.
    pub fn lack(&mut self, absent: Absent) {
        let mut more = Vec::new();
        // Tables are wanted together; data is not.
        if let Some(file) = self.file
            && self.step < Step::Payloads
        {
            self.store.ask(|source| file.missing(source, &mut |absent| more.push(absent)));
        }
        self.store.lack(absent, more);
    }

    /// Asks the parser; what is missing is noted.
    ///
    /// # Errors
    /// As the parser's.
    pub fn ask<T>(
        &mut self,
        ask: impl FnOnce(&File, &Source<'_>) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        self.store.content();
        let Some(file) = self.file else { return Ok(None) };
        match self.store.ask(|source| ask(&file, source)) {
            Ok(answer) => Ok(Some(answer)),
            Err(Stop::NeedBytes(absent)) => {
                self.lack(absent);
                Err(Stop::NeedBytes(absent))
            }
            Err(stop) => Err(stop),
        }
    }

    /// The file, once it is open.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The format, once it is known.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// Whether the file could not be opened.
    pub fn refused(&self) -> bool {
        self.step == Step::Done && self.file.is_none()
    }

    /// Whether not all entries fit into memory.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The goals that were reached and prove something.
    pub fn checked(&self) -> &'static [&'static str] {
        match self.step {
            _ if self.file.is_none() => &[],
            Step::Payloads => &["structure"],
            Step::Done => &["structure", "payloads"],
            _ => &[],
        }
    }

    /// What is being done, and how many entries of it are done.
    pub fn progress(&self) -> (&'static str, u32) {
        let audited = self.audit.as_ref().map_or(0, FileAudit::position);
        match self.step {
            Step::Opening | Step::Diagnosis => ("opening", 0),
            Step::Metadata => ("metadata", self.cursor.index()),
            Step::Tensors => ("tensors", self.cursor.index()),
            Step::Regions => ("layout", self.cursor.index()),
            Step::Structure => ("structure", audited),
            Step::Payloads => ("payloads", audited),
            Step::Done => ("done", 0),
        }
    }

    /// What the file is, where it is not what it should be.
    pub fn diagnosis(&self) -> Option<Diagnosis> {
        let Some(file) = &self.file else { return self.diagnosis.clone() };
        Diagnosis::cut_off(file, self.store.len(), self.findings.all(), self.findings.tally())
    }

    /// Whether the file is of a format or a generation that this build does not read.
    pub fn is_unsupported(&self) -> bool {
        let other = self.diagnosis.as_ref().is_some_and(Diagnosis::is_unsupported);
        self.file.is_none() && other && !self.chosen
    }

    /// What only other files can tell, and was not looked at: a sentence.
    #[cfg(feature = "full")]
    pub fn left_out(&self) -> Option<&'static str> {
        match self.file? {
            File::Shards(_) => Some("the files that it lists were not looked at"),
            _ if self.part.0.is_one_of_many() => {
                Some("the other parts of its set were not looked for")
            }
            _ => None,
        }
    }

    /// Files of the small module stand alone.
    #[cfg(not(feature = "full"))]
    pub fn left_out(&self) -> Option<&'static str> {
        None
    }

    /// Whether no format of this build recognises the file.
    pub fn is_unknown(&self) -> bool {
        self.refused() && self.findings.all().iter().any(|f| f.rule == general::UNKNOWN_FORMAT)
    }

    /// Rows that pass `filter`, in the order of `sort`.
    pub fn rows(&mut self, sort: Sort, filter: Filter) -> &[u32] {
        let Document { order, table, findings, .. } = self;
        let stamp = findings.all().len() as u64;
        order.select(table, sort, filter, stamp, || findings.by_tensor(table.len()))
    }

    /// Brings the numbers of findings up to date.
    pub fn count_findings(&mut self) {
        let Document { order, table, findings, .. } = self;
        let stamp = findings.all().len() as u64;
        order.count(table, stamp, || findings.by_tensor(table.len()));
    }

    /// The rows that were chosen last.
    pub fn selected(&self) -> &[u32] {
        self.order.rows()
    }

    /// Where entry `index` of the table of this kind is in the list of metadata.
    pub fn position_of(&self, kind: EntryKind, index: u32) -> Option<usize> {
        self.metadata.iter().position(|meta| meta.kind == kind && meta.index == index)
    }

    /// The key of a metadata entry, as far as it is in memory.
    pub fn key_of(&self, kind: EntryKind, index: u32) -> Vec<u8> {
        let mut key = Vec::new();
        if let Some(meta) = self.position_of(kind, index).and_then(|i| self.metadata.get(i)) {
            self.store.ask(|source| {
                if let Ok(name) = meta.key.read(source) {
                    text::push_bytes(&name, &mut key);
                }
            });
        }
        key
    }

    /// How many findings are about a tensor, as of the last [`rows`](Self::rows).
    pub fn findings_of(&self, tensor: u32) -> u32 {
        self.order.findings(tensor)
    }
}

/// Positions that a caller asks for, as far as they exist.
pub fn within(from: u32, to: u32, len: usize) -> Range<usize> {
    let to = (to as usize).min(len);
    (from as usize).min(to)..to
}

/// How many bytes decide: more than any magic takes.
const HEAD: u64 = 64;
