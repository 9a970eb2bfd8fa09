//! Queries everything that the core reports about a file, without the heap.

use crate::budget::{no_heap, within};
use crate::facts;
use std::fmt::Write as _;
use weighbridge_core::codec::{Decoder, WINDOW, most};
use weighbridge_core::format::onnx::Links;
use weighbridge_core::format::{gguf, ztensor};
use weighbridge_core::{
    Audit, Chunk, Chunks, Cursor, DimEncoding, Entry, File, Finding, Format, KeyedMetadata, Layout,
    Opening, Scratch, Severity, Slot, Source, Stats, Status, Stop, Tensor, Value, limits,
};

/// Steps allowed for a file of any length.
const BASE: u64 = 10_000;
/// Steps per byte of a file: its structure is read a few times, byte by byte where
/// names and text are compared.
const PER_BYTE: u64 = 400;
/// The same for zTensor, where unordered keys of a map are looked up among up to
/// [`limits::CBOR_KEYS`] others.
const PER_BYTE_OF_CBOR: u64 = 12_000;
/// The same for TensorFlow Lite and ExecuTorch, where an offset of four bytes refers to a table that may be shared,
/// and operators are followed to their tensors.
const PER_BYTE_OF_FLATBUFFER: u64 = 3_000;
/// Steps per decoded byte.
const PER_DECODED: u64 = 100;
/// No more decoded bytes than this are requested, so that many files can be tried.
const ENOUGH: u64 = 4 << 20;

/// Validates findings as they arrive, without keeping them.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    len: u64,
    /// Number of findings.
    pub count: u64,
    /// The highest severity.
    pub worst: Severity,
}

impl Tally {
    /// For a file of `len` bytes.
    pub fn new(len: usize) -> Self {
        Tally { len: len as u64, count: 0, worst: Severity::Unchecked }
    }

    /// Counts a finding.
    ///
    /// # Panics
    /// If it lies outside the file or cannot be printed.
    pub fn note(&mut self, finding: &Finding) {
        let end = finding.offset.checked_add(u64::from(finding.len));
        assert!(end.is_some_and(|end| end <= self.len), "outside {}: {finding:?}", self.len);
        let mut letters = Letters(0);
        write!(letters, "{finding}").expect("counting letters cannot fail");
        assert!(letters.0 > 0, "{finding:?} says nothing");
        assert_ne!(finding.rule, weighbridge_core::general::INTERNAL, "a standstill");
        facts::note(finding);
        self.count += 1;
        self.worst = self.worst.max(finding.severity());
        // A rule may be broken once per entry and per part of it, and an entry
        // takes at least one byte.
        assert!(self.count <= 64 + 8 * self.len, "findings without end");
    }
}

/// Counts the bytes written.
struct Letters(usize);

impl std::fmt::Write for Letters {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Queries everything about a file in memory: entries, names, values, elements,
/// structure and payloads, within a budget of heap and steps. Returns the highest
/// severity; `None` if the file cannot be opened.
///
/// # Panics
/// If a promise is broken.
pub fn walk(bytes: &[u8], format: Option<Format>) -> Option<Severity> {
    let per_byte = match format {
        None | Some(Format::ZTensor) => PER_BYTE_OF_CBOR,
        Some(Format::ExecuTorch | Format::Tflite) => PER_BYTE_OF_FLATBUFFER,
        Some(_) => PER_BYTE,
    };
    let budget = BASE + per_byte * bytes.len() as u64;
    let mut tally = Tally::new(bytes.len());
    let source = Source::whole(bytes);
    let mut slots = vec![Slot::EMPTY; 64];
    let opened = within(
        "structure",
        || {
            let opened = no_heap(|| Opening::of(format).step(&source, &mut |f| tally.note(&f)));
            let Ok(file) = opened else {
                assert!(tally.count > 0, "refused without a word");
                return None;
            };
            no_heap(|| list(&file, &source));
            structure(file, &source, &mut slots, &mut tally);
            Some(file)
        },
        |_| budget,
    );
    let file = opened?;
    if let File::Onnx(_) = file {
        no_heap(|| links(&source));
    }
    within(
        "payloads",
        || payloads(file, &source, &mut slots, &mut tally),
        |decoded| budget + PER_DECODED * decoded,
    );
    Some(tally.worst)
}

/// Follows what makes and reads the values of a model. Each takes a name.
fn links(source: &Source<'_>) {
    let mut count = 0;
    _ = Links::new(7).step(source, &mut |link| {
        count += 1;
        let end = link.name.offset + u64::from(link.name.len);
        assert!(link.name.len > 0 && end <= source.len(), "{link:?}");
        assert!(link.at <= source.len() || link.at == u64::MAX, "{link:?}");
        assert!(link.until <= source.len() || link.until == u64::MAX, "{link:?}");
        true
    });
    assert!(count <= source.len(), "{count} links");
}

/// Lists every entry with its details, but not its data.
fn list(file: &File, source: &Source<'_>) {
    let mut letters = Letters(0);
    let mut cursor = Cursor::default();
    while let Some(meta) = resident(file.next_meta(source, &mut cursor, &mut |_| {})) {
        let KeyedMetadata { metadata: meta, key } = meta;
        write!(letters, "{key}").expect("counting letters cannot fail");
        facts::note(&(meta, key));
        look_at(file, source, resident(file.value(source, &meta)));
    }
    let mut cursor = Cursor::default();
    let mut count = 0;
    while let Some(entry) = resident(file.next_tensor(source, &mut cursor, &mut |_| {})) {
        count += 1;
        let Entry { tensor, name, dims } = entry;
        write!(letters, "{name}").expect("counting letters cannot fail");
        facts::note(&(tensor, name, dims.clone().product()));
        let count = dims.count() as u64;
        // STB refers to shapes that lie outside the file.
        let stated = tensor.dims.encoding != DimEncoding::External;
        let sound = tensor.status == Status::Sound && stated;
        assert!(!sound || count == tensor.dims.rank(), "{tensor:?}");
        let mut own = Cursor::default();
        while let Some(meta) = resident(file.next_attribute(source, &tensor, &mut own)) {
            look_at(file, source, resident(file.value(source, &meta)));
        }
        // Tables of chunks may be shared, so only both ends are read.
        let chunks = tensor.chunks.count();
        for chunk in (0..chunks.min(4)).chain(chunks.saturating_sub(2)..chunks) {
            if let Some(chunk) = resident(file.chunk(source, &tensor, chunk)) {
                inside(source, &chunk);
            } else {
                let table = matches!(tensor.chunks, Chunks::Table { .. });
                assert!(table || tensor.status != Status::Sound, "{tensor:?} has no chunk");
            }
        }
        assert_eq!(resident(file.chunk(source, &tensor, chunks)), None);
    }
    assert!(count <= source.len(), "{count} tensors");
    let mut cursor = Cursor::default();
    while let Some(region) = resident(file.next_region(source, &mut cursor)) {
        facts::note(&region);
        let end = region.span.end();
        assert!(end.is_some_and(|end| end <= source.len()), "{region:?}");
    }
}

fn look_at(file: &File, source: &Source<'_>, value: Option<Value>) {
    facts::note(&value);
    let bytes = |span| source.get(span).expect("all is resident");
    match value {
        Some(Value::Text(at)) => {
            let text = at.read(source).expect("all is resident");
            std::hint::black_box(text.chars().count());
        }
        Some(Value::Array { dims, .. } | Value::Encoded { dims, .. }) => {
            std::hint::black_box(dims.read(source).expect("all is resident").product());
        }
        Some(Value::Scalar { dtype, stored }) => {
            facts::note(&dtype.element(bytes(stored), 0, file.endianness()));
        }
        Some(Value::List { stored, .. }) => {
            items(gguf::Items::new(bytes(stored), file.endianness()));
        }
        Some(Value::Cbor(stored)) => {
            ztensor::Items::new(bytes(stored)).for_each(|item| facts::note(&item));
        }
        _ => {}
    }
}

/// Reads every item of a list and of nested lists, whose depth is limited.
fn items(list: gguf::Items<'_>) {
    for item in list {
        match item {
            gguf::Item::Text(text) => facts::note(&text.chars().count()),
            gguf::Item::Number(number) => facts::note(&number),
            gguf::Item::List(list) => items(list),
        }
    }
}

fn inside(source: &Source<'_>, chunk: &Chunk) {
    facts::note(chunk);
    let end = chunk.stored.end();
    // Nothing is read if nothing is stored.
    assert!(chunk.stored.is_empty() || end.is_some_and(|end| end <= source.len()), "{chunk:?}");
}

/// The result of a call on a file that is completely resident.
fn resident<T>(result: Result<Option<T>, Stop>) -> Option<T> {
    match result {
        Ok(value) => value,
        Err(Stop::NeedBytes(absent)) => panic!("{absent:?} although all is resident"),
        Err(_) => None,
    }
}

fn structure(file: File, source: &Source<'_>, slots: &mut Vec<Slot>, tally: &mut Tally) {
    let mut audit = Audit::new(file).structure_only().seeded(7);
    loop {
        match no_heap(|| audit.step(source, slots, &mut |f| tally.note(&f))) {
            Ok(()) => return,
            Err(Stop::NeedSlots { needed }) => grow(slots, needed, source),
            Err(Stop::Invalid(_)) => return,
            Err(stop) => panic!("{stop:?}"),
        }
    }
}

/// Adds the requested slots.
///
/// # Panics
/// If there are already enough, or no file of this length needs so many.
pub fn grow(slots: &mut Vec<Slot>, needed: u32, source: &Source<'_>) {
    let needed = needed as usize;
    assert!(needed > slots.len(), "{needed} slots are there");
    assert!(needed as u64 <= 64 + 4 * source.len(), "{needed} slots for {}", source.len());
    slots.resize(needed, Slot::EMPTY);
}

/// Audits payloads and reads elements; returns the maximum number of decoded
/// bytes.
fn payloads(file: File, source: &Source<'_>, slots: &mut Vec<Slot>, tally: &mut Tally) -> u64 {
    let mut decoded = 0;
    let mut cursor = Cursor::default();
    while let Some(tensor) = resident(file.next_tensor(source, &mut cursor, &mut |_| {})) {
        decoded += size_of(&file, source, &tensor);
    }
    if decoded > ENOUGH {
        return 0;
    }
    let mut buffer = vec![0; WINDOW];
    let mut scratch = Scratch::new(&mut buffer);
    let mut audit = Audit::new(file);
    loop {
        let step =
            no_heap(|| audit.step_with(source, slots, &mut scratch, &mut |f| tally.note(&f)));
        match step {
            Ok(()) | Err(Stop::Invalid(_)) => break,
            Err(Stop::NeedSlots { needed }) => grow(slots, needed, source),
            Err(Stop::NeedBuffer { needed }) => {
                assert!(needed <= limits::BLOCK_BYTES, "a buffer of {needed} bytes");
                if needed > ENOUGH {
                    audit.skip(&mut |f| tally.note(&f));
                } else {
                    buffer = vec![0; larger(needed as usize, source.len())];
                    scratch = Scratch::new(&mut buffer);
                }
            }
            Err(stop) => panic!("{stop:?}"),
        }
    }
    drop(scratch);
    let mut cursor = Cursor::default();
    while let Some(tensor) = resident(file.next_tensor(source, &mut cursor, &mut |_| {})) {
        elements(&file, source, &tensor);
    }
    decoded
}

/// A size that meets the need: exactly, a little more, or rounded up differently.
fn larger(needed: usize, how: u64) -> usize {
    match how % 4 {
        0 => needed,
        1 => needed + 1,
        2 => needed.next_power_of_two(),
        _ => needed + needed / 3,
    }
}

/// Maximum number of bytes that a tensor's data decodes to, including annotations.
fn size_of(file: &File, source: &Source<'_>, tensor: &Tensor) -> u64 {
    let mut sum = 0_u64;
    for i in 0..tensor.chunks.count() {
        let Some(chunk) = resident(file.chunk(source, tensor, i)) else { continue };
        let most = most(chunk.encoding, chunk.stored.len).unwrap_or(0);
        sum = sum.saturating_add(most.min(chunk.decoded.unwrap_or(most)).max(chunk.stored.len));
        if sum > ENOUGH {
            break;
        }
    }
    let mut own = Cursor::default();
    while let Some(meta) = resident(file.next_attribute(source, tensor, &mut own)) {
        if let Some(Value::Encoded { encoding, stored, .. }) = resident(file.value(source, &meta)) {
            sum = sum.saturating_add(most(encoding, stored.len).unwrap_or(0));
        }
    }
    sum
}

/// Decodes small tensors and reads their elements.
fn elements(file: &File, source: &Source<'_>, tensor: &Tensor) {
    if tensor.status != Status::Sound || tensor.layout == Layout::Blocks {
        return;
    }
    let Some(chunk) = resident(file.chunk(source, tensor, 0)) else { return };
    let size = chunk.decoded.unwrap_or(0);
    if size > 64 << 10 {
        return;
    }
    let mut buffer = vec![0; (size + chunk.lead) as usize];
    let mut decoder = Decoder::new();
    if decoder.start_chunk(&chunk).is_err() {
        return;
    }
    let Ok(bytes) = decoder.fill(source, &mut buffer) else { return };
    let dims = tensor.dims(source).expect("all is resident");
    if let Some(sparse) = weighbridge_core::Sparse::new(tensor, dims, bytes) {
        for i in 0..sparse.len().min(256) {
            facts::note(&(sparse.value(i), sparse.coordinate(i, 0), sparse.column(i)));
        }
        facts::note(&sparse.pointer(sparse.rows()));
        return;
    }
    let count = tensor.elements.min(1 << 16);
    for i in [0, 1, count / 2, count, u64::MAX] {
        facts::note(&tensor.dtype.element(bytes, i, tensor.endianness));
    }
    if let Some(mut stats) = Stats::new(tensor.dtype, tensor.endianness, 0, count) {
        stats.add(bytes, None);
        let stats = stats.summary();
        facts::note(&(stats.count(), stats.min(), stats.max(), stats.nans()));
        assert!(stats.count() <= count, "{stats:?}");
    }
}
