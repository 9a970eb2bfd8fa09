//! Runs every fixture, and the corpus if present, through one image.

use crate::rig::{ROOM, image, record, run};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use weighbridge_core::{
    Audit, Cursor, Entry, File, Finding, Format, Index, Opening, Scratch, Severity, Slot, Source,
    Span, Stop,
};
use weighbridge_fuzz_bodies::kept;
use weighbridge_tests::facts::{IN_PART, is_left_out, is_uncertain, opens_otherwise};
use weighbridge_tests::fixtures::npy_records::is_left_to_hosts;
use weighbridge_tests::{corpus, fixtures};

/// Same number of slots as the image.
const SLOTS: usize = 70_000;

/// Same number of bytes for decoded data as the image.
const DECODED: usize = 64 << 10;

/// Formats that no image reads: docs/firmware.md says why.
pub(crate) const FOR_HOSTS: [&str; 4] = ["npz", "onnx", "pytorch", "shards"];

/// Whether a file is of a generation of its format that no image reads, or of a kind that a reader of
/// mapped flash does not: tensor data of ExecuTorch.
fn is_of_hosts(case: &Case, windows: bool) -> bool {
    case.bytes.starts_with(b"ZTEN1000")
        || case.bytes.starts_with(b"\x89ZT2\r\n\x1A\n")
        || (!windows && case.bytes.get(4..8) == Some(b"FT01"))
}

/// The image with every format and all features, like a host.
const IMAGE: &str = "WEIGHBRIDGE_CHECK";

/// The folder with one image per format, each a minimal reader of mapped flash.
pub(crate) fn readers_folder() -> Option<PathBuf> {
    std::env::var_os("WEIGHBRIDGE_READERS").map(PathBuf::from)
}

/// A file that receives a line per format and set of files with the maximum stack used.
/// scripts/firmware.sh checks it against scripts/budgets.txt.
const STACK: &str = "WEIGHBRIDGE_STACK";

/// The stack budget of a format in bytes: the last column of `scripts/budgets.txt`.
fn promised(format: &str) -> usize {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/budgets.txt");
    let budgets = std::fs::read_to_string(path).unwrap();
    let row = budgets.lines().find(|line| line.split(' ').next() == Some(format)).unwrap();
    row.split_whitespace().last().unwrap().parse().unwrap()
}

struct Case {
    name: String,
    format: &'static str,
    bytes: Vec<u8>,
}

/// Audits a data view including the contents of its blocks, with as much memory as the image has.
fn audit_blocks(
    file: File,
    source: &Source<'_>,
    slots: &mut [Slot],
    sink: &mut dyn FnMut(Finding),
) {
    let mut buffer = vec![0; DECODED];
    let mut scratch = Scratch::new(&mut buffer);
    let mut audit = Audit::new(file);
    while audit.step_with(source, slots, &mut scratch, sink).is_err() {
        audit.skip(sink);
    }
}

/// What a host finds out about a file.
struct Expected {
    findings: Vec<Finding>,
    tensors: u32,
    listed: u64,
    lookups: u32,
    /// The data of the first tensor with the last one's name.
    first: Span,
}

impl Expected {
    fn worst(&self, of: impl Fn(&&Finding) -> bool) -> Severity {
        let severities = self.findings.iter().filter(of).map(Finding::severity);
        severities.max().unwrap_or(Severity::Unchecked)
    }

    /// The output of the image without the stack. Findings of a reader without details are only
    /// counted.
    fn line(&self, details: bool) -> String {
        let worst = self.worst(|_| true);
        let digest = self.findings.iter().fold(Digest::new().0, |digest, finding| {
            let mut one = Digest::new();
            write!(one, "{finding:?}").unwrap();
            digest ^ one.0
        });
        let digest = if details { format!("{digest:016x}") } else { "-".into() };
        let count = self.findings.len();
        format!("file {} findings {count} {digest} {}", worst.name(), self.rest(worst))
    }

    /// The output after the findings.
    fn rest(&self, worst: Severity) -> String {
        // For a valid file, the smallest program returns the tensor.
        let Span { offset: at, len } =
            if worst < Severity::Violation { self.first } else { Span::default() };
        let Expected { tensors, listed, lookups, .. } = self;
        format!("tensors {tensors} {listed:016x} lookups {lookups} last {at}+{len} stack ")
    }

    /// Compares the output of a reader that leaves some rules to hosts; returns its stack.
    fn compare_in_part(&self, line: &str) -> Option<usize> {
        let words: Vec<_> = line.split(' ').collect();
        let ["file", worst, "findings", count, "-", ..] = words[..] else { return None };
        let worst = [Severity::Fatal, Severity::Violation, Severity::Lint, Severity::Unchecked]
            .into_iter()
            .find(|severity| severity.name() == worst)?;
        let least = self.worst(|finding| !is_left_out(finding) && !is_uncertain(finding));
        let most = self.worst(|finding| !is_left_out(finding));
        // What it leaves out of a file that it opens, it names.
        let named = worst == Severity::Fatal || count.parse::<usize>().ok()? >= 2;
        if worst < least || worst > most || !named {
            return None;
        }
        if self.findings.iter().any(opens_otherwise) {
            return line.rsplit_once(" last 0+0 stack ")?.1.parse().ok();
        }
        // A host shows fewer extents, and none below 0.
        let differs =
            |finding: &Finding| ["T-DIM", "T-PRODUCT", "T-RANK"].contains(&finding.rule.id());
        let rest = words[5..].join(" ");
        let expected = self.rest(worst);
        let unlisted = |text: &str| {
            let words = text.split(' ').enumerate().filter(|(place, _)| *place != 2);
            words.map(|(_, word)| word.to_owned()).collect::<Vec<_>>().join(" ")
        };
        match self.findings.iter().any(differs) {
            true => unlisted(&rest).strip_prefix(&unlisted(&expected))?.parse().ok(),
            false => rest.strip_prefix(&expected)?.parse().ok(),
        }
    }
}

/// What a host finds out about a file.
fn expected(case: &Case, details: bool) -> Expected {
    let source = Source::whole(&case.bytes);
    let format = Format::by_name(case.format);
    let mut findings: Vec<Finding> = Vec::new();
    let opened = Opening::of(format).step(&source, &mut |finding| findings.push(finding));
    let (mut tensors, mut listed, mut lookups) = (0, Digest::new(), 0);
    let mut last = None;
    if let Ok(file) = opened {
        let mut slots = vec![Slot::EMPTY; SLOTS];
        let mut sink = |finding| findings.push(finding);
        if details && file.format() == Format::Idv {
            audit_blocks(file, &source, &mut slots, &mut sink);
        } else {
            let mut audit = Audit::new(file).structure_only();
            while let Err(Stop::NeedSlots { .. }) = audit.step(&source, &mut slots, &mut sink) {
                audit.skip(&mut sink);
            }
        }
        let mut index = Index::new(&mut slots[..], 0);
        let indexed = index.step(&file, &source).is_ok();
        let mut cursor = Cursor::default();
        while let Ok(Some(tensor)) = file.next_tensor(&source, &mut cursor, &mut |_| {}) {
            tensors += 1;
            let Entry { mut tensor, name, .. } = tensor;
            // Where a shape is stored depends on the build.
            let rank = std::mem::take(&mut tensor.dims).rank();
            write!(listed, "{tensor:?} {rank}").unwrap();
            last = Some((file, name));
            let found = indexed && index.find(&file, &source, &name).is_ok_and(|t| t.is_some());
            lookups += u32::from(found);
        }
    }
    let first = last.and_then(|(file, name)| {
        file.find(&source, &name, &mut Cursor::default()).unwrap().and_then(|t| t.raw())
    });
    let first = first.unwrap_or_default();
    Expected { findings, tensors, listed: listed.0, lookups, first }
}

/// Runs all cases, as many at a time as fit, and compares the output. Returns the maximum stack
/// used per format.
fn compare(image: &Path, cases: &[&Case], details: bool) -> BTreeMap<&'static str, usize> {
    let mut deepest = BTreeMap::new();
    let is_read = |case: &&&Case| !is_of_hosts(case, details) && !is_left_to_hosts(&case.bytes);
    let cases: Vec<&Case> = cases.iter().filter(is_read).copied().collect();
    let mut rest = &cases[..];
    while !rest.is_empty() {
        let mut files = Vec::new();
        let mut taken = 0;
        for case in rest {
            let record = record(&case.bytes, case.format, false);
            if files.len() + record.len() + 64 > ROOM {
                break;
            }
            files.extend(record);
            taken += 1;
        }
        assert!(taken > 0, "{} is too large for the board", rest[0].name);
        files.extend([0; 64]);
        let run = run(image, &files, &[]);
        let mut lines = run.output.lines();
        for case in &rest[..taken] {
            let line = lines.next().unwrap_or("nothing");
            let host = expected(case, details);
            let expected = host.line(details);
            let stack = match !details && IN_PART.contains(&case.format) {
                true => host.compare_in_part(line),
                false => line.strip_prefix(&expected).map(|stack| stack.parse().unwrap()),
            };
            let Some(stack) = stack else {
                panic!("{}:\n{expected}on a host, and\n{line}", case.name);
            };
            let deepest: &mut usize = deepest.entry(case.format).or_default();
            *deepest = stack.max(*deepest);
        }
        assert_eq!(lines.next(), None);
        assert!(run.success);
        rest = &rest[taken..];
    }
    deepest
}

/// Does the same with the reader of each format, if scripts/firmware.sh built them, and records
/// their stack.
fn readers(cases: &[Case]) {
    let Some(folder) = readers_folder() else { return };
    let mut deepest = BTreeMap::new();
    for format in Format::ALL.iter().map(|format| format.name()) {
        let of_format: Vec<_> = cases.iter().filter(|case| case.format == format).collect();
        if !of_format.is_empty() && !FOR_HOSTS.contains(&format) {
            let image = folder.join(format);
            deepest.extend(compare(&image, &of_format, false));
        }
    }
    assert!(!deepest.is_empty());
    note_stack(&deepest);
}

/// Records the stack used per format and checks it against the budget.
fn note_stack(deepest: &BTreeMap<&str, usize>) {
    let mut lines = String::new();
    for (format, deepest) in deepest {
        let most = promised(format);
        assert!(*deepest <= most, "{format} takes {deepest} bytes of stack, not {most}");
        writeln!(lines, "{format} {deepest}").unwrap();
    }
    let mut notes = OpenOptions::new().append(true).create(true).open(image(STACK)).unwrap();
    notes.write_all(lines.as_bytes()).unwrap();
}

#[test]
fn board_verdicts_of_fixtures_equal_host() {
    let mut cases = Vec::new();
    for (format, fixtures) in fixtures::all().into_iter().filter(|it| !FOR_HOSTS.contains(&it.0)) {
        for fixture in fixtures {
            let name = format!("{format} {}", fixture.name);
            cases.push(Case { name, format, bytes: fixture.bytes });
        }
    }
    compare(&image(IMAGE), &cases.iter().collect::<Vec<_>>(), true);
    readers(&cases);
}

#[test]
fn board_verdicts_of_corpus_equal_host() {
    let Some(folder) = corpus::folder() else { return };
    let mut cases = Vec::new();
    for format in Format::ALL {
        // Not every format has files in this folder.
        let files = folder.join(format.name());
        if files.is_dir() && !FOR_HOSTS.contains(&format.name()) {
            walk(&files, format.name(), &mut cases);
        }
    }
    assert!(!cases.is_empty(), "nothing in {}", folder.display());
    compare(&image(IMAGE), &cases.iter().collect::<Vec<_>>(), true);
    readers(&cases);
}

#[test]
fn board_verdicts_of_fuzz_seeds_equal_host() {
    let of_formats = kept::of_formats().into_iter();
    let cases: Vec<_> = of_formats
        .filter(|(format, _)| !FOR_HOSTS.contains(&format.name()))
        .map(|(format, kept)| Case { name: kept.name, format: format.name(), bytes: kept.input })
        .collect();
    assert!(cases.len() >= 50, "{} files", cases.len());
    compare(&image(IMAGE), &cases.iter().collect::<Vec<_>>(), true);
    readers(&cases);
}

/// All files below `folder` except descriptions of other files.
fn walk(folder: &Path, format: &'static str, cases: &mut Vec<Case>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, format, cases);
        } else if !path
            .extension()
            .is_some_and(|extension| extension == "json" || extension == "md")
        {
            let bytes = std::fs::read(&path).unwrap();
            cases.push(Case { name: path.display().to_string(), format, bytes });
        }
    }
}

/// FNV-1a, like in the image.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Digest(0xCBF2_9CE4_8422_2325)
    }
}

impl std::fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        Ok(())
    }
}
