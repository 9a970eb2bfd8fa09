//! Files that are hard on a reader: memory, time and output must stay in proportion. The allocator
//! counts heap use, and the host counts reads: it has a few small windows, so a table that is
//! scanned repeatedly has to be fetched repeatedly. Nothing is timed here; `scripts/hard.sh` does
//! that.

use std::collections::BTreeMap;
use weighbridge_core::codec::WINDOW;
use weighbridge_core::{
    Audit, Cursor, File, Format, Name, NameEncoding, Opening, Rule, Scratch, Severity, Slot,
    Source, Stop, Window, limits,
};
use weighbridge_fuzz_bodies::budget::{self, no_heap};
use weighbridge_tests::hard::{self, Ranges};

#[global_allocator]
static ALLOCATOR: budget::Counting = budget::Counting;

/// A large number of tensors.
const MANY: u64 = if weighbridge_tests::DEEP { 1_000_000 } else { 100_000 };

/// Bytes per fetch unless more are needed.
const PIECE: u64 = 64 << 10;

/// The results and the cost of a complete audit.
#[derive(Debug, Default)]
struct Outcome {
    /// Number of findings per rule.
    rules: BTreeMap<&'static str, u64>,
    findings: u64,
    worst: Option<Severity>,
    /// Number of tensors and metadata entries.
    entries: u64,
    slots: u64,
    /// Number of requests for missing bytes.
    requests: u64,
}

/// A host that keeps its latest fetches.
struct Host<'a> {
    file: &'a [u8],
    windows: [Window<'a>; 4],
    requests: u64,
}

impl Host<'_> {
    fn drive<T>(
        &mut self,
        mut call: impl FnMut(&Source<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let len = self.file.len() as u64;
        loop {
            match no_heap(|| call(&Source::windows(len, &self.windows))) {
                Err(Stop::NeedBytes(absent)) => {
                    let end = (absent.offset + absent.need.max(absent.want.min(PIECE))).min(len);
                    let bytes = &self.file[absent.offset as usize..end as usize];
                    self.windows.rotate_left(1);
                    self.windows[3] = Window { offset: absent.offset, bytes };
                    self.requests += 1;
                }
                result => return result,
            }
        }
    }
}

/// Opens a file, lists its tensors and audits it completely, without using the heap. The windows
/// are the whole file, or a few of [`PIECE`].
fn check(bytes: &[u8], format: Format, whole: bool) -> Outcome {
    assert!(budget::is_counting());
    let window = Window { offset: 0, bytes: if whole { bytes } else { &[] } };
    let mut host = Host { file: bytes, windows: [window; 4], requests: 0 };
    // The sink must not use the heap either.
    let mut broken: Vec<(Rule, u64)> = Vec::with_capacity(256);
    let mut slots = vec![Slot::EMPTY; 64];
    let mut entries = 0;
    let mut work = || {
        let mut sink = |finding: weighbridge_core::Finding| {
            assert!(finding.offset + u64::from(finding.len) <= bytes.len() as u64);
            match broken.iter_mut().find(|(rule, _)| *rule == finding.rule) {
                Some((_, count)) => *count += 1,
                None => broken.push((finding.rule, 1)),
            }
        };
        let mut opening = Opening::of(Some(format));
        let Ok(file) = host.drive(|s| opening.step(s, &mut sink)) else { return };
        let mut cursor = Cursor::default();
        while let Ok(Some(_)) = host
            .drive(|s| Ok(file.next_tensor(s, &mut cursor, &mut |_| {})?.map(|entry| entry.tensor)))
        {
            entries += 1;
        }
        let mut cursor = Cursor::default();
        while let Ok(Some(_)) = host
            .drive(|s| Ok(file.next_meta(s, &mut cursor, &mut |_| {})?.map(|entry| entry.metadata)))
        {
            entries += 1;
        }
        audit(&mut host, file, &mut slots, &mut sink);
    };
    work();
    let severity = |(rule, _): &(Rule, u64)| rule.severity();
    let mut outcome = Outcome {
        findings: broken.iter().map(|(_, count)| count).sum(),
        worst: broken.iter().map(severity).max(),
        entries,
        slots: slots.len() as u64,
        requests: host.requests,
        ..Outcome::default()
    };
    outcome.rules.extend(broken.iter().map(|(rule, count)| (rule.id(), *count)));
    outcome
}

fn audit(
    host: &mut Host<'_>,
    file: File,
    slots: &mut Vec<Slot>,
    sink: &mut dyn FnMut(weighbridge_core::Finding),
) {
    let mut buffer = vec![0; WINDOW];
    let mut scratch = Scratch::new(&mut buffer);
    let mut audit = Audit::new(file).seeded(7);
    loop {
        match host.drive(|s| audit.step_with(s, slots, &mut scratch, sink)) {
            Err(Stop::NeedSlots { needed }) => slots.resize(needed as usize, Slot::EMPTY),
            Err(Stop::NeedBuffer { needed }) => {
                assert!(needed <= limits::BLOCK_BYTES);
                buffer = vec![0; needed as usize];
                scratch = Scratch::new(&mut buffer);
            }
            Err(Stop::Invalid(_)) | Ok(()) => return,
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

/// Reading in pieces gives the same findings and reads the file only a few times.
fn check_both(bytes: &[u8], format: Format) -> Outcome {
    let whole = check(bytes, format, true);
    let pieces = check(bytes, format, false);
    assert_eq!(whole.rules, pieces.rules);
    let len = bytes.len() as u64;
    assert!(whole.slots <= 64 + len, "{} slots for {len} bytes", whole.slots);
    // Names that are far apart are compared 32 bytes at a time.
    let most = 16 * pieces.entries + 64 + len / 16;
    assert!(pieces.requests <= most, "{len} bytes, at most {most} requests: {pieces:?}");
    pieces
}

/// Names of about 64 KiB, including ones that differ only in the last byte, are listed, compared
/// and found. GGUF has its own limit for names.
#[test]
fn names_of_64_kib_stay_linear() {
    for format in hard::FORMATS.into_iter().chain([Format::Shards]) {
        if format == Format::Stb {
            continue;
        }
        for len in [65_534, 65_535, 65_536, 65_537, 1 << 18] {
            let named = |last: u8| [&vec![b'n'; len - 1][..], &[last]].concat();
            // In descending order, so that sortedness cannot prove uniqueness.
            let names = [named(b'z'), named(b'y'), b"short".to_vec()];
            let bytes = hard::named(format, &names);
            let outcome = check_both(&bytes, format);
            let bounded = format == Format::Gguf;
            let expected = match bounded {
                true if len > 65_535 => ["NAME-LENGTH", "NAME-LIMIT"].as_slice(),
                true => &["NAME-LENGTH"],
                // The writer sorts names.
                false if format == Format::BinTensors => &["C1"],
                false => &[],
            };
            let broken: Vec<_> = outcome.rules.keys().copied().collect();
            assert!(broken.iter().all(|id| expected.contains(id)), "{format} {len}: {outcome:?}");
            assert_eq!(broken.is_empty(), expected.is_empty(), "{format} {len}: {outcome:?}");
            if outcome.worst < Some(Severity::Fatal) && format != Format::Shards {
                finds(&bytes, format, &names);
            }
            // A duplicate name.
            let twins = hard::named(format, &[named(b'y'), b"short".to_vec(), named(b'y')]);
            let outcome = check_both(&twins, format);
            // A data view may have columns of the same name; the last one counts.
            let allowed = format == Format::Idv;
            let worst = Some(Severity::Violation).filter(|_| !allowed);
            let fatal = broken.contains(&"NAME-LIMIT");
            let worst = if fatal { Some(Severity::Fatal) } else { worst };
            assert_eq!(outcome.worst, worst, "{format} {len}: {outcome:?}");
            assert!(outcome.findings <= 8, "{format} {len}: {outcome:?}");
        }
    }
}

/// Checks that every tensor is found by name.
fn finds(bytes: &[u8], format: Format, names: &[Vec<u8>]) {
    let source = Source::whole(bytes);
    let file = Opening::of(Some(format)).step(&source, &mut |_| {}).expect("it opens");
    for (i, name) in (0..).zip(names) {
        let wanted = Name::new(name, NameEncoding::Plain);
        let found = file.find(&source, &wanted, &mut Cursor::default()).expect("all is resident");
        assert_eq!(found.map(|tensor| tensor.index), Some(i), "{format}");
    }
}

/// As many tensors as fit, with scrambled names, are sound and need no memory but slots.
#[test]
fn many_tensors_stay_linear() {
    for format in hard::FORMATS {
        let count = hard::most(format, MANY);
        let bytes = hard::many(format, MANY, Ranges::Apart);
        let outcome = check(&bytes, format, true);
        // GGUF also has a metadata entry.
        assert!((count..=count + 1).contains(&outcome.entries), "{format}: {outcome:?}");
        assert!(outcome.slots <= 4 * count, "{format}: {} slots", outcome.slots);
        if format == Format::Stb {
            // There are 256 names, and each entry beyond them is reported once.
            assert_eq!(outcome.rules, BTreeMap::from([("T-ID-DUP", count - 256)]));
        } else if format == Format::BinTensors {
            // Its writer sorts names.
            assert_eq!(outcome.rules, BTreeMap::from([("C1", 1)]));
        } else {
            assert_eq!(outcome.rules, BTreeMap::new(), "{format}");
        }
    }
    let names: Vec<_> = (0..MANY).rev().map(|i| format!("t.{i:07}").into_bytes()).collect();
    let outcome = check(&hard::named(Format::Shards, &names), Format::Shards, true);
    assert_eq!((outcome.entries, outcome.findings), (MANY, 0));
    let outcome = check(&hard::archive(MANY), Format::Npz, true);
    assert_eq!((outcome.entries, outcome.findings), (MANY, 0));
    assert!(outcome.slots <= 4 * MANY, "{} slots", outcome.slots);
}

/// Tensors that operators write are marked, and operators are passed once: a model of many takes
/// requests and slots in proportion to its tensors.
#[test]
fn many_operators_stay_linear() {
    let bytes = hard::chain((MANY / 100) as i32);
    let [whole, pieces] = [true, false].map(|whole| check(&bytes, Format::Tflite, whole));
    assert_eq!((whole.findings, pieces.findings), (0, 0), "{pieces:?}");
    assert_eq!(whole.entries, pieces.entries);
    // In memory it is proved, and no part of it is sorted.
    assert!(whole.slots <= 2 * whole.entries, "{whole:?}");
    // An entry has parts in more places than the host has windows.
    assert!(pieces.requests <= 40 * pieces.entries, "{pieces:?}");
    assert!(pieces.slots <= 12 * pieces.entries, "{pieces:?}");
}

/// One subgraph, and one tensor in it, stand for all others: each is read once for an entry.
#[test]
fn repeated_subgraphs_stay_linear() {
    let outcome = check(&hard::repeated(300), Format::Tflite, false);
    assert_eq!((outcome.entries, outcome.findings), (90_000, 0), "{outcome:?}");
    assert!(outcome.requests <= outcome.entries, "{outcome:?}");
    assert!(outcome.slots <= 5 * outcome.entries, "{outcome:?}");
}

/// Excessive depth is one finding, wherever it occurs, and costs nothing more.
#[test]
fn deep_nesting_stays_linear() {
    for (depth, few) in [(10_000, 4), (100_000, 4)] {
        for (what, format, bytes) in hard::nested(depth) {
            let outcome = check_both(&bytes, format);
            assert!(outcome.findings <= few, "{format}, {what}: {outcome:?}");
            let worst = match what {
                // Their contents are not checked.
                "unknown codecs" => Some(Severity::Unchecked),
                // A limit of this reader; nesting itself is only a lint.
                _ if format == Format::Gguf => Some(Severity::Lint),
                // Only a limited part of compressed data is examined.
                "compressed types" if depth < 100_000 => Some(Severity::Unchecked),
                // A limit of this reader, in places where any item may occur.
                _ if format == Format::ZTensor && what != "the index" => Some(Severity::Unchecked),
                _ => Some(Severity::Fatal),
            };
            assert_eq!(outcome.worst, worst, "{format}, {what}: {outcome:?}");
        }
    }
}

/// Messages of every hard form have findings in proportion to their number, and a host that follows
/// names and calls ends as well.
#[test]
fn hard_messages_stay_linear() {
    let count = MANY as usize / 10;
    for (what, bytes, worst) in hard::messages(count) {
        let outcome = check_both(&bytes, Format::Onnx);
        assert_eq!(outcome.worst, worst, "{what}: {outcome:?}");
        assert!(outcome.findings <= 3 * count as u64 + 64, "{what}: {outcome:?}");
        let options = weighbridge::Options::new().format(Format::Onnx).seed(7);
        let report = weighbridge::check_with(&bytes, &options).unwrap();
        let is_valid = report.verdict(weighbridge::Profile::Strict).is_valid();
        assert_eq!(is_valid, worst.is_none(), "{what}: {report:?}");
    }
    let outcome = check_both(&hard::tensors(count), Format::Onnx);
    // The operator set is an entry as well.
    assert_eq!((outcome.entries, outcome.findings), (count as u64 + 1, 0), "{outcome:?}");
}

/// Many tensors that share bytes in every possible way produce one finding each, not one per pair.
#[test]
fn overlapping_regions_stay_linear() {
    for format in hard::FORMATS {
        for ranges in [Ranges::Equal, Ranges::Within, Ranges::Staggered] {
            let count = hard::most(format, MANY / 10);
            let few = check_both(&hard::many(format, count / 10, ranges), format);
            let many = check_both(&hard::many(format, count, ranges), format);
            assert!(many.entries >= count, "{format}: {many:?}");
            assert!(many.findings >= count - 1, "{format}, {ranges:?}: {many:?}");
            // One finding for the range, one for the data and one for the name.
            assert!(many.findings <= 3 * count, "{format}, {ranges:?}: {many:?}");
            assert!(many.findings <= 10 * few.findings + 3_000, "{format}, {ranges:?}: {many:?}");
        }
    }
}

/// A table or value that is expensive to check and shared by many entries is checked only a few
/// times; the rest is reported as unchecked.
#[test]
fn shared_payloads_stay_linear() {
    for (what, format, bytes) in hard::shared(20_000, 1 << 20) {
        let outcome = check_both(&bytes, format);
        let len = bytes.len();
        assert!(outcome.entries > 0, "{format}, {what}: {outcome:?}");
        assert!(outcome.rules.contains_key("SHARED-UNCHECKED"), "{format}, {what}: {outcome:?}");
        // The fields of the local header were read as often as that.
        assert!(
            outcome.rules.get("ZIP-DESCRIPTOR").is_none_or(|n| *n < 1_000),
            "{what}: {outcome:?}"
        );
        // Each row of a checked table may have a finding.
        assert!(outcome.findings <= 64 + len as u64 / 4, "{format}, {what}: {outcome:?}");
        println!("{format}, {what}: {len} bytes, {outcome:?}");
    }
}

/// Decoding stops within the work allowed for the file's length, uses memory in proportion to it,
/// and reports what was left.
#[test]
fn decoding_is_bounded() {
    for (what, format, bytes, beyond) in hard::payloads(1 << 18) {
        let source = Source::whole(&bytes);
        let file = Opening::of(Some(format)).step(&source, &mut |_| {}).expect("it opens");
        let len = bytes.len() as u64;
        let megabytes = len.div_ceil(1 << 20) as i64;
        let mut broken: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut asked = 0;
        budget::heap(megabytes * (64 << 20), || {
            let mut slots = vec![Slot::EMPTY; 1 << 12];
            let mut buffer = vec![0; WINDOW];
            let mut scratch = Scratch::new(&mut buffer);
            let mut audit = Audit::new(file).seeded(7);
            loop {
                let mut sink =
                    |f: weighbridge_core::Finding| *broken.entry(f.rule.id()).or_default() += 1;
                match audit.step_with(&source, &mut slots, &mut scratch, &mut sink) {
                    Ok(()) | Err(Stop::Invalid(_)) => break,
                    Err(Stop::NeedBuffer { needed }) => {
                        asked += 1;
                        buffer = vec![0; needed as usize];
                        scratch = Scratch::new(&mut buffer);
                    }
                    Err(stop) => panic!("{what}: {stop:?}"),
                }
            }
        });
        println!("{what}: {len} bytes, {asked} buffers, {broken:?}");
        assert!(asked <= 2, "{what}: {asked} buffers");
        assert_eq!(broken.contains_key("WORK-UNCHECKED"), beyond, "{what}: {broken:?}");
        assert!(!broken.contains_key("INTERNAL-UNCHECKED"), "{what}: {broken:?}");
        // One per tensor for its range, and one for the file.
        assert!(broken.values().sum::<u64>() <= 512, "{what}: {broken:?}");
    }
}
