//! Reads a file completely through the public interface, whole or in windows, into plain facts for
//! comparison.

use std::ops::Range;
use weighbridge_core::{
    Absent, Audit, Chunk, Chunks, Cursor, File, Finding, Format, Opening, Region, Scratch,
    Severity, Slot, Source, Status, Stop, Tensor, Value, Window,
};

/// How a file's bytes reach the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The whole file at once.
    Whole,
    /// On request, each request rounded outwards to multiples of this many bytes; fetched bytes
    /// stay resident.
    Rounded(u64),
    /// As much as the parser recommends; fetched bytes stay resident.
    Ahead,
    /// Through a single buffer of this many bytes, replaced by each request.
    Single(u64),
    /// Only the bytes needed now, which the next request replaces.
    Least,
}

/// A host that serves requests from a file in memory and records them.
#[derive(Debug)]
pub struct Host<'a> {
    file: &'a [u8],
    access: Access,
    held: Vec<Range<u64>>,
    /// The requested ranges, in order.
    pub asked: Vec<Absent>,
}

/// The single buffer is too small for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// Number of bytes needed.
    pub needed: u64,
}

impl<'a> Host<'a> {
    /// Creates a host for `file`.
    pub fn new(file: &'a [u8], access: Access) -> Self {
        let len = file.len() as u64;
        let held = (access == Access::Whole).then_some(0..len).into_iter().collect();
        Host { file, access, held, asked: Vec::new() }
    }

    /// Calls `call` until it needs no more bytes.
    ///
    /// # Panics
    /// If the parser requests bytes outside the file, or the same bytes again, which would never
    /// end.
    pub fn drive<T>(
        &mut self,
        mut call: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<Result<T, Stop>, TooSmall> {
        // Duplicate names are compared in pieces of 32 bytes, with two requests each.
        let patience = 64 + 64 * self.file.len();
        for _ in 0..patience {
            let windows: Vec<Window<'_>> = self
                .held
                .iter()
                .map(|held| Window {
                    offset: held.start,
                    bytes: &self.file[held.start as usize..held.end as usize],
                })
                .collect();
            match call(&Source::windows(self.file.len() as u64, &windows)) {
                Err(Stop::NeedBytes(absent)) => self.fetch(absent)?,
                result => return Ok(result),
            }
        }
        panic!("no end after {patience} requests; the last was {:?}", self.asked.last());
    }

    fn fetch(&mut self, absent: Absent) -> Result<(), TooSmall> {
        let len = self.file.len() as u64;
        let Absent { offset: at, need, want } = absent;
        assert!(need > 0 && need <= want, "{absent:?} makes no sense");
        assert!(at + need <= len && at + want <= len, "{absent:?} in a file of {len} bytes");
        let covered = |held: &Range<u64>| held.start <= at && at + need <= held.end;
        assert!(!self.held.iter().any(covered), "{absent:?} is resident");
        self.asked.push(absent);
        match self.access {
            Access::Whole => panic!("{absent:?} although all is resident"),
            Access::Single(size) => {
                if need > size {
                    return Err(TooSmall { needed: need });
                }
                self.held.clear();
                self.held.push(at..len.min(at + size));
            }
            Access::Rounded(unit) => {
                let end = (at + need).next_multiple_of(unit).min(len);
                self.hold(at / unit * unit..end);
            }
            Access::Ahead => self.hold(at..at + want),
            Access::Least => {
                self.held.clear();
                self.held.push(at..at + need);
            }
        }
        Ok(())
    }

    /// Adds a range and merges adjacent ones.
    fn hold(&mut self, range: Range<u64>) {
        self.held.push(range);
        self.held.sort_by_key(|held| held.start);
        let mut joined: Vec<Range<u64>> = Vec::new();
        for next in self.held.drain(..) {
            match joined.last_mut() {
                Some(last) if next.start <= last.end => last.end = last.end.max(next.end),
                _ => joined.push(next),
            }
        }
        self.held = joined;
    }

    /// The resident ranges.
    pub fn held(&self) -> &[Range<u64>] {
        &self.held
    }
}

/// A tensor, as the tests compare it.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorFact {
    /// The tensor as returned.
    pub tensor: Tensor,
    /// Its decoded name.
    pub name: Vec<u8>,
    /// Its extents.
    pub shape: Vec<u64>,
    /// Its chunks.
    pub chunks: Vec<Chunk>,
    /// Its own metadata.
    pub attributes: Vec<MetaFact>,
}

/// A metadata entry, as the tests compare it.
#[derive(Clone, Debug, PartialEq)]
pub struct MetaFact {
    /// The entry as returned.
    pub meta: weighbridge_core::Metadata,
    /// Its decoded key.
    pub key: Vec<u8>,
    /// Its value.
    pub value: Option<Value>,
}

/// All facts about a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// The header's facts, if the file opened.
    pub file: Option<File>,
    /// Its metadata.
    pub metadata: Vec<MetaFact>,
    /// Its tensors.
    pub tensors: Vec<TensorFact>,
    /// Its regions, in index order.
    pub regions: Vec<Region>,
    /// Its distinct findings by offset, including those of severity "unchecked".
    pub findings: Vec<Finding>,
}

impl Survey {
    /// The sorted, distinct ids of broken rules.
    pub fn broken(&self) -> Vec<&'static str> {
        let broken = self.findings.iter().filter(|f| f.severity() > Severity::Unchecked);
        let mut ids: Vec<_> = broken.map(|f| f.rule.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The worst severity.
    pub fn worst(&self) -> Severity {
        self.findings.iter().map(Finding::severity).max().unwrap_or(Severity::Unchecked)
    }

    /// Whether the file is valid under the strict profile.
    pub fn is_valid(&self) -> bool {
        self.worst() < Severity::Violation
    }
}

/// Opens a file and lists its entries, without values, payloads or an audit.
pub fn index(host: &mut Host<'_>, format: Option<Format>) -> Result<Survey, TooSmall> {
    let mut survey = Survey::default();
    let mut opening = Opening::of(format);
    let mut findings = Vec::new();
    let opened = host.drive(|s| opening.step(s, &mut |f| findings.push(f)))?;
    survey.findings = findings;
    let Ok(file) = opened else { return Ok(survey) };
    survey.file = Some(file);

    let mut cursor = Cursor::default();
    loop {
        // The cursor also advances within an entry's list.
        let step = host.drive(|s| {
            let next = file.next_meta(s, &mut cursor, &mut |_| {})?;
            Ok(next.map(|entry| (entry.metadata, entry.key.bytes().collect())))
        })?;
        let Ok(Some((meta, key))) = step else { break };
        survey.metadata.push(MetaFact { meta, key, value: None });
    }
    let mut cursor = Cursor::default();
    loop {
        let step = host.drive(|s| {
            let mut next = cursor;
            // If an entry is spread over several places, progress within it is kept.
            let tensor =
                file.next_tensor(s, &mut next, &mut |_| {}).inspect_err(|_| cursor = next)?;
            Ok((next, tensor.map(|e| (e.tensor, e.name.bytes().collect(), e.dims.collect()))))
        })?;
        let Ok((next, Some((tensor, name, shape)))) = step else { break };
        cursor = next;
        let (chunks, attributes) = (Vec::new(), Vec::new());
        survey.tensors.push(TensorFact { tensor, name, shape, chunks, attributes });
    }
    Ok(survey)
}

/// Surveys everything: index, values, chunks, regions, and the audit.
pub fn survey(host: &mut Host<'_>, format: Option<Format>) -> Result<Survey, TooSmall> {
    let mut survey = index(host, format)?;
    let Some(file) = survey.file else { return Ok(survey) };
    for fact in &mut survey.metadata {
        fact.value = host.drive(|s| file.value(s, &fact.meta))?.unwrap_or_default();
    }
    for fact in &mut survey.tensors {
        for i in 0..fact.tensor.chunks.count() {
            let chunk = host.drive(|s| file.chunk(s, &fact.tensor, i))?;
            match chunk {
                Ok(Some(chunk)) => fact.chunks.push(chunk),
                // A chunk table is validated only when it is read.
                _ => assert!(
                    fact.tensor.status != Status::Sound
                        || matches!(fact.tensor.chunks, Chunks::Table { .. }),
                    "{fact:?} has no chunk {i}"
                ),
            }
        }
        let mut cursor = Cursor::default();
        loop {
            let step = host.drive(|s| {
                let next = file.next_attribute(s, &fact.tensor, &mut cursor)?;
                Ok(next.map(|entry| (entry.metadata, entry.key.bytes().collect())))
            })?;
            let Ok(Some((meta, key))) = step else { break };
            let value = host.drive(|s| file.value(s, &meta))?.unwrap_or_default();
            fact.attributes.push(MetaFact { meta, key, value });
        }
    }
    let mut cursor = Cursor::default();
    loop {
        // The cursor also advances over entries without a region.
        let step = host.drive(|s| file.next_region(s, &mut cursor))?;
        let Ok(Some(region)) = step else { break };
        survey.regions.push(region);
    }
    survey.findings.extend(audit(host, file)?);
    survey.findings.sort_by_key(|f| (f.offset, f.rule, f.kind, f.entry, f.part, f.len));
    Ok(survey)
}

/// The findings of a complete audit with all the slots and buffer space it asks for.
pub fn audit(host: &mut Host<'_>, file: File) -> Result<Vec<Finding>, TooSmall> {
    let mut findings = Vec::new();
    let mut slots = Vec::new();
    let mut audit = Audit::new(file);
    let mut size = weighbridge_core::codec::WINDOW as u64;
    let mut buffer = vec![0; size as usize];
    let mut scratch = Scratch::new(&mut buffer);
    loop {
        let step = |s: &Source<'_>| {
            audit.step_with(s, &mut slots, &mut scratch, &mut |f| findings.push(f))
        };
        match host.drive(step)? {
            Err(Stop::NeedBuffer { needed }) => {
                assert!(needed > size, "{needed} bytes are there");
                size = needed;
                buffer = vec![0; size as usize];
                scratch = Scratch::new(&mut buffer);
            }
            Err(Stop::NeedSlots { needed }) => {
                assert!(needed as usize > slots.len(), "{needed} slots are there");
                slots.resize(needed as usize, Slot::EMPTY);
            }
            _ => {
                let stuck = |f: &Finding| f.rule == weighbridge_core::general::INTERNAL;
                assert!(!findings.iter().any(stuck), "a standstill: {findings:?}");
                return Ok(findings);
            }
        }
    }
}

/// Surveys a file in memory.
pub fn survey_whole(bytes: &[u8], format: Option<Format>) -> Survey {
    survey(&mut Host::new(bytes, Access::Whole), format).expect("no buffer is involved")
}
