//! A document: a file's index, findings and layout, and how complete they are.

use crate::findings::Findings;
use crate::listing::Listing;
use crate::words::Words;
use alloc::vec::Vec;
use core::ops::Range;
#[cfg(feature = "full")]
use weighbridge::SetCheck;
use weighbridge::table::{Filter, Selection, Sort};
use weighbridge::{FileMap, Goal as Depth, Index, Meta, Options, Session, Text};
#[cfg(feature = "full")]
use weighbridge_core::File;
use weighbridge_core::{
    Audit, Cursor, EntryKind, Finding, Metadata, Region, Stop, Tally, Tensor, general,
};

/// Maximum bytes of the index in memory, including names and extents.
const MOST_BYTES: usize = 1 << 30;

/// From this number of tensors on, the faster module saves more time than it takes to load.
const MANY: u64 = 10_000;

/// The findings of a document, while its other fields are borrowed.
macro_rules! all_findings {
    ($document:expr) => {{
        #[cfg(feature = "full")]
        let joint = $document.joint.as_ref().map(|joint| joint.findings());
        #[cfg(not(feature = "full"))]
        let joint: Option<&[Finding]> = None;
        joint.unwrap_or_else(|| $document.session.findings())
    }};
}

/// The layout of the file, or of all files of a model in several.
macro_rules! map {
    ($document:expr) => {{
        #[cfg(feature = "full")]
        let joint = $document.joint.as_ref().map(|joint| joint.map());
        #[cfg(not(feature = "full"))]
        let joint: Option<&weighbridge::FileMap> = None;
        joint.unwrap_or(&$document.layout)
    }};
}
pub(crate) use map;

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goal {
    /// The header and all entries.
    Index,
    /// Also everything that can be checked without payloads, and the layout.
    Structure,
    /// Also the payloads.
    Payloads,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Opening,
    Metadata,
    Tensors,
    Regions,
    Structure,
    Payloads,
    Done,
}

/// A partially resident file.
#[derive(Debug)]
pub struct Document {
    /// The file's bytes and findings.
    pub session: Session<'static>,
    /// The words that codes stand for.
    pub words: Words,
    /// The order of the findings.
    pub findings: Findings,
    /// The file's tensors.
    pub index: Index,
    /// The file's metadata entries.
    pub metadata: Vec<Metadata>,
    /// The file's parts.
    pub(crate) layout: FileMap,
    /// The regions collected so far, from which the layout is built.
    regions: Vec<Region>,
    pub(crate) selection: Selection,
    /// Whether rules apply to the data of any tensor, and how many tensors were examined.
    ruled: (bool, usize),
    step: Step,
    cursor: Cursor,
    /// Facts about other files from the metadata, and how many entries were examined.
    pub(crate) part: (weighbridge::SetPart, usize),
    /// The files that an index lists, and whether the index was read completely.
    #[cfg(feature = "full")]
    pub(crate) listed: Option<(weighbridge::ShardSet, bool)>,
    /// Findings of all files of a model in several.
    #[cfg(feature = "full")]
    pub(crate) joint: Option<SetCheck>,
    /// The files that the tensors name, and whether all tensors were looked at.
    #[cfg(feature = "full")]
    pub(crate) others: Option<(weighbridge::OtherFiles, bool)>,
    /// Some of these files are missing.
    #[cfg(feature = "full")]
    pub(crate) lacks_files: bool,
    /// Some entries did not fit into memory.
    cut: bool,
    pub(crate) listing: Listing,
    /// Data decoded for display.
    #[cfg(feature = "full")]
    pub(crate) kept: Option<crate::decode::Kept>,
    /// Rows being read, and the data decoded for them.
    #[cfg(feature = "full")]
    pub(crate) reading: crate::rows::Reading,
}

impl Document {
    /// A document for a file of `len` bytes.
    pub fn new(len: u64, options: Options) -> Self {
        Document::over(Session::new(len, options))
    }

    /// A document of the file of a session that has not begun.
    pub(crate) fn over(session: Session<'static>) -> Self {
        Document {
            session,
            words: Words::default(),
            findings: Findings::default(),
            index: Index::default(),
            metadata: Vec::new(),
            layout: FileMap::default(),
            regions: Vec::new(),
            selection: Selection::default(),
            ruled: (false, 0),
            step: Step::Opening,
            cursor: Cursor::default(),
            part: Default::default(),
            #[cfg(feature = "full")]
            listed: None,
            #[cfg(feature = "full")]
            joint: None,
            #[cfg(feature = "full")]
            others: None,
            #[cfg(feature = "full")]
            lacks_files: false,
            cut: false,
            listing: Listing::default(),
            #[cfg(feature = "full")]
            kept: None,
            #[cfg(feature = "full")]
            reading: crate::rows::Reading::default(),
        }
    }

    /// Begins again with the session. Codes of words stay valid.
    #[cfg(feature = "full")]
    pub(crate) fn restart(&mut self) {
        let session = core::mem::replace(&mut self.session, Session::new(0, Options::new()));
        let words = core::mem::take(&mut self.words);
        *self = Document { words, ..Document::over(session) };
    }

    /// Works towards `goal`; `true` once it is reached, or cannot be.
    pub fn advance(&mut self, goal: Goal) -> bool {
        let last = match goal {
            Goal::Index => Step::Tensors,
            Goal::Structure => Step::Structure,
            Goal::Payloads => Step::Payloads,
        };
        while self.step <= last {
            let Some(next) = self.next_step() else { return false };
            self.step = next;
            self.cursor = Cursor::default();
        }
        true
    }

    /// Returns the next step; `None` if bytes are missing.
    fn next_step(&mut self) -> Option<Step> {
        let listed = match self.step {
            Step::Opening => return self.open(),
            Step::Metadata => (self.list_metadata(), Step::Tensors),
            Step::Tensors => (self.list_tensors(), Step::Regions),
            Step::Regions => (self.list_regions(), Step::Structure),
            Step::Structure => {
                if !self.session.advance(Depth::Structure) {
                    return None;
                }
                (self.look_for_rules(), Step::Payloads)
            }
            Step::Payloads | Step::Done => {
                return self.session.advance(Depth::Payloads).then_some(Step::Done);
            }
        };
        match listed {
            (Err(Stop::NeedBytes(_)), _) => None,
            // A finding says why the list is cut off; the other checks go on.
            (_, next) => Some(next),
        }
    }

    fn open(&mut self) -> Option<Step> {
        if !self.session.advance(Depth::Header) {
            return None;
        }
        if !self.session.is_refused() {
            return Some(Step::Metadata);
        }
        // The first module opens what it recognises, and leaves everything else to the other.
        #[cfg(feature = "full")]
        if !self.session.diagnose() {
            return None;
        }
        Some(Step::Done)
    }

    fn list_metadata(&mut self) -> Result<Option<()>, Stop> {
        let Document { session, metadata, cursor, cut, part: (part, noted), .. } = self;
        session.ask(|file, source| {
            loop {
                while let Some(meta) = metadata.get(*noted) {
                    part.note(source, file, meta)?;
                    *noted += 1;
                }
                // The cursor also advances inside the list of an entry.
                let Some(entry) = file.next_meta(source, cursor, &mut |_| {})? else {
                    return Ok(());
                };
                if metadata.len() * size_of::<Metadata>() >= MOST_BYTES / 4 {
                    *cut = true;
                    return Ok(());
                }
                Meta::end_before(file, metadata.last_mut(), &entry.metadata);
                metadata.push(entry.metadata);
            }
        })
    }

    fn list_tensors(&mut self) -> Result<Option<()>, Stop> {
        let Document { session, index, cursor, cut, .. } = self;
        // Whatever count is declared, an entry takes at least a few bytes.
        let room = (session.resident() / 8).min((MOST_BYTES / (2 * size_of::<Tensor>())) as u64);
        session.ask(|file, source| {
            if index.is_empty() {
                index.reserve(file.tensor_count().min(room));
            }
            loop {
                let mut next = *cursor;
                let entry = file.next_tensor(source, &mut next, &mut |_| {});
                // Progress within an entry that is stored in several places is kept.
                let Some(entry) = entry.inspect_err(|_| *cursor = next)? else {
                    return Ok(());
                };
                if index.memory() >= MOST_BYTES {
                    *cut = true;
                    return Ok(());
                }
                index.push(source, entry.tensor)?;
                *cursor = next;
            }
        })
    }

    fn list_regions(&mut self) -> Result<Option<()>, Stop> {
        let Document { session, index, layout, regions, cursor, cut, .. } = self;
        session.ask(|file, source| {
            loop {
                let mut next = *cursor;
                let region = file.next_region(source, &mut next);
                let Some(region) = region.inspect_err(|_| *cursor = next)? else { break };
                index.note(&region);
                keep(regions, region);
                *cursor = next;
                // Nearly all tensors are already listed.
                let of = |tensor| file.region_of(source, tensor);
                let listed = index.tensors().get(region.entry as usize..).unwrap_or_default();
                if !*cut && listed.first().and_then(of) == Some(region) {
                    listed.iter().skip(1).filter_map(of).for_each(|it| keep(regions, it));
                    break;
                }
            }
            *layout = FileMap::of(&core::mem::take(regions), source.len());
            Ok(())
        })
    }

    fn look_for_rules(&mut self) -> Result<Option<()>, Stop> {
        let Document { session, index, ruled: (ruled, seen), .. } = self;
        session.ask(|file, source| {
            while let (false, Some(tensor)) = (*ruled, index.tensors().get(*seen)) {
                *ruled = Audit::has_rules(file, source, tensor)?;
                *seen += 1;
            }
            Ok(())
        })
    }

    /// Whether rules apply to any payload, so that checking payloads is useful. Known once the
    /// structure is checked. `true` if entries were cut off, since they may have rules.
    pub fn is_ruled(&self) -> bool {
        #[cfg(feature = "full")]
        if let Some(joint) = &self.joint {
            return joint.is_ruled();
        }
        self.ruled.0 || self.cut
    }

    /// Whether the file could not be opened.
    pub fn refused(&self) -> bool {
        self.step == Step::Done && self.session.is_refused()
    }

    /// Whether some entries did not fit into memory.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether this build is the first module, and the module of every format lists the file
    /// faster.
    pub fn needs_full(&self) -> bool {
        !cfg!(feature = "full") && self.session.file().is_some_and(|it| it.tensor_count() > MANY)
    }

    /// The current stage, and how many of its entries are done.
    pub fn progress(&self) -> (&'static str, u32) {
        let audited = self.session.position();
        match self.step {
            Step::Opening => ("opening", 0),
            Step::Metadata => ("metadata", self.cursor.index()),
            Step::Tensors => ("tensors", self.cursor.index()),
            Step::Regions => ("layout", self.cursor.index()),
            Step::Structure => ("structure", audited),
            Step::Payloads => ("payloads", audited),
            Step::Done => ("done", 0),
        }
    }

    /// A sentence: checks that were left out because they need other files.
    pub fn left_out(&self) -> Option<&'static str> {
        #[cfg(feature = "full")]
        if let Some(joint) = &self.joint {
            return (!joint.is_compared())
                .then_some("its files were not compared with one another");
        }
        match self.session.file()? {
            #[cfg(feature = "full")]
            File::Shards(_) => Some("the files it lists were not checked"),
            #[cfg(feature = "full")]
            _ if self.lacks_files => Some("some files that its tensors name were not found"),
            _ if self.part.0.is_one_of_many() => {
                Some("the other parts of its set were not looked for")
            }
            _ => None,
        }
    }

    /// Whether no format of this build recognises the file.
    pub fn is_unknown(&self) -> bool {
        self.refused() && self.session.findings().iter().any(|f| f.rule == general::UNKNOWN_FORMAT)
    }

    /// The findings; for a model in several files, those of all of them.
    pub fn all_findings(&self) -> &[Finding] {
        all_findings!(self)
    }

    /// Findings `range` by offset, with their positions among all findings.
    pub fn findings_by_offset(&mut self, range: Range<usize>) -> Vec<(usize, Finding)> {
        let all = all_findings!(self);
        let order = self.findings.sorted(all, range).iter().map(|i| *i as usize);
        order.filter_map(|i| all.get(i).map(|finding| (i, *finding))).collect()
    }

    /// The tally of the findings; for a model in several files, of all of them.
    pub fn tally(&self) -> &Tally {
        #[cfg(feature = "full")]
        if let Some(joint) = &self.joint {
            return joint.tally();
        }
        self.session.tally()
    }

    /// What was checked; for a model in several files, in all of them.
    pub fn checked(&self) -> &'static [&'static str] {
        #[cfg(feature = "full")]
        if let Some(joint) = &self.joint {
            return joint.checked();
        }
        self.session.checked()
    }

    /// Rows that pass `filter`, in the order of `sort`.
    pub fn rows(&mut self, sort: Sort, filter: Filter) -> &[u32] {
        let findings = all_findings!(self);
        self.selection.select(&self.index, sort, filter, findings)
    }

    /// Updates the number of findings per row.
    pub fn count_findings(&mut self) {
        let findings = all_findings!(self);
        self.selection.count(&self.index, findings);
    }

    /// A tensor; an empty one if there is none.
    pub fn tensor(&self, i: u32) -> Tensor {
        self.index.tensors().get(i as usize).copied().unwrap_or_default()
    }

    /// The position of entry `index` of the table of this kind in the list of metadata.
    pub fn position_of(&self, kind: EntryKind, index: u32) -> Option<usize> {
        self.metadata.iter().position(|meta| meta.kind == kind && meta.index == index)
    }

    /// The key of a metadata entry, as much as is in memory.
    pub fn key_of(&self, kind: EntryKind, index: u32) -> Text {
        self.session.key(&self.metadata, kind, index)
    }
}

/// Records a part of the file.
fn keep(regions: &mut Vec<Region>, region: Region) {
    if regions.len() < FileMap::MOST && !region.span.is_empty() {
        regions.push(region);
    }
}
