//! Two changed bytes: one that breaks only rules of severity violation, and one that is fatal alone.
//! Both together must be fatal as well, or something must be unchecked.

use std::collections::BTreeSet;
use weighbridge::{Model, Options, check_with};
use weighbridge_core::{Finding, Format, Severity};
use weighbridge_tests::DEEP;
use weighbridge_tests::fixtures::{self, Fixture};
use weighbridge_tests::survey::survey_whole;

/// Sound files up to this length are changed.
const SMALL: usize = if DEEP { 2_048 } else { 640 };
/// Of checkpoints, which are archives, up to this one.
const SMALL_ARCHIVE: usize = 1_000;
/// Most changes of each kind that are combined.
const MOST: usize = if DEEP { 96 } else { 24 };

/// The pairs in which the first change takes the second out of the file, or makes up for it. Each
/// occurs.
const APART: &[(&str, &str, &str)] = &[
    // Without its name the key is none that says an alignment, which places all data.
    ("gguf", "KEY-ASCII", "DATA-BOUNDS"),
    ("gguf", "KEY-FORM", "DATA-BOUNDS"),
    ("gguf", "OFFSET-ALIGN", "DATA-BOUNDS"),
    ("gguf", "OFFSET-ORDER", "DATA-BOUNDS"),
    // Fewer rows, so that the bytes of the others are no content.
    ("idv", "B.stray", "B.short"),
    ("idv", "B.stray", "B.text.utf8"),
    // One number becomes two, or two become one.
    ("onnx", "T-VALUE", "T-COUNT"),
    // The backslash is gone that the escape began with.
    ("safetensors", "HEADER-UTF8", "JSON-ESCAPE"),
    ("safetensors", "JSON-CONTROL", "JSON-ESCAPE"),
    // Both bytes are of one number.
    ("stb", "H-DOFF-FILE", "H-DOFF-TABLE"),
    // The field has lost its name, and is missing.
    ("ztensor", "CBOR-UTF8", "CHECKSUM-MISMATCH"),
    ("ztensor", "CBOR-UTF8", "ENDIANNESS-VALUE"),
    ("ztensor", "CBOR-UTF8", "TYPE-ENDIANNESS"),
    // The index ends before the field.
    ("ztensor", "INDEX-TRAILING", "CBOR-TRUNCATED"),
    ("ztensor", "INDEX-TRAILING", "CHECKSUM-MISMATCH"),
];

/// Those that only more pairs have.
const APART_DEEP: &[(&str, &str, &str)] = &[
    // The jump has become another instruction.
    ("executorch", "I-FREE", "I-JUMP"),
    // A buffer so large that the tensor is inside.
    ("executorch", "M-HUGE", "T-PLANNED"),
    // As in the list above: no key says an alignment.
    ("gguf", "KEY-ASCII", "ALIGNMENT-VALUE"),
    ("gguf", "KEY-FORM", "ALIGNMENT-VALUE"),
    ("gguf", "OFFSET-ALIGN", "ALIGNMENT-VALUE"),
    ("gguf", "OFFSET-ORDER", "ALIGNMENT-VALUE"),
    // Fewer rows, as above.
    ("idv", "B.stray", "B.text.order"),
    ("idv", "B.stray", "B.text.total"),
    ("idv", "B.stray", "B.vec.indexrange"),
];

/// A changed byte, and a rule that it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at: usize,
    value: u8,
    rule: &'static str,
}

/// What is found in a file.
struct Found(Vec<Finding>);

impl Found {
    /// Hosts alone have the index of a checkpoint.
    fn of(bytes: &[u8], format: Format) -> Self {
        Found(match format {
            Format::PyTorch => {
                let report = check_with(bytes, &Options::new().seed(1)).expect("in memory");
                report.findings().iter().map(|it| *it.finding()).collect()
            }
            _ => survey_whole(bytes, Some(format)).findings,
        })
    }

    fn worst(&self) -> Severity {
        self.0.iter().map(Finding::severity).max().unwrap_or(Severity::Lint)
    }

    fn ids(&self, severity: Severity) -> BTreeSet<&'static str> {
        let all = self.0.iter().filter(|it| it.severity() == severity);
        all.map(|it| it.rule.id()).collect()
    }

    /// Whether `--lenient` would exit with 0.
    fn passes(&self) -> bool {
        let stops = |it: &Finding| matches!(it.severity(), Severity::Fatal | Severity::Unchecked);
        !self.0.iter().any(stops)
    }
}

/// What a file says about the places and the meaning of its data. A violation that changes it makes
/// another file, of which the fatal byte need not be a part.
fn meaning(bytes: &[u8], format: Format) -> String {
    if format == Format::PyTorch {
        let model = Model::from_bytes(bytes).ok();
        return format!("{:?}", model.and_then(|model| model.index().ok()));
    }
    let survey = survey_whole(bytes, Some(format));
    let tensors = survey.tensors.iter().map(|it| {
        let tensor = it.tensor;
        let kind = (tensor.dtype, tensor.layout, tensor.encoding, tensor.endianness);
        (kind, &it.shape, &it.chunks, it.attributes.len())
    });
    let tensors: Vec<_> = tensors.collect();
    format!("{tensors:?} {} {:?}", survey.metadata.len(), survey.regions)
}

/// The changes of single bytes that break only violations, and those that are fatal; of each rule
/// the first few.
fn changes(bytes: &[u8], format: Format) -> [Vec<Change>; 2] {
    let mut all = [Vec::<Change>::new(), Vec::new()];
    let sound = meaning(bytes, format);
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() {
        let original = bytes[at];
        for value in
            [0, 0xFF, original ^ 1, original ^ 0x20, original ^ 0x80, original.wrapping_add(1)]
        {
            if value == original {
                continue;
            }
            changed[at] = value;
            let found = Found::of(&changed, format);
            let worst = found.worst();
            let kind = match worst {
                Severity::Fatal => 1,
                Severity::Violation if found.passes() && meaning(&changed, format) == sound => 0,
                _ => continue,
            };
            for rule in found.ids(worst) {
                let known = all[kind].iter().filter(|it| it.rule == rule);
                let last = known.clone().map(|it| it.at).max();
                if known.count() < 6 && last != Some(at) {
                    all[kind].push(Change { at, value, rule });
                }
            }
        }
        changed[at] = original;
    }
    all.map(|mut list| {
        let step = list.len().div_ceil(MOST).max(1);
        list.sort_by_key(|it| it.at);
        list.into_iter().step_by(step).collect()
    })
}

/// Whether a violation hides every value of the other byte that breaks the same rule alone. If it
/// hides only some, the two changes are one number, or make up for each other.
fn hides(sound: &[u8], format: Format, one: Change, two: Change) -> bool {
    let (mut bytes, mut count) = (sound.to_vec(), 0);
    for value in (0..=255_u8).step_by(if DEEP { 1 } else { 3 }) {
        bytes[one.at] = sound[one.at];
        bytes[two.at] = value;
        if !Found::of(&bytes, format).ids(Severity::Fatal).contains(two.rule) {
            continue;
        }
        bytes[one.at] = one.value;
        if !Found::of(&bytes, format).passes() {
            return false;
        }
        count += 1;
    }
    count > 1
}

/// The sound files of a format that are small enough.
fn sound(format: Format) -> Vec<Fixture> {
    let (all, small) = match format {
        Format::PyTorch => (fixtures::pytorch::all(), SMALL_ARCHIVE),
        _ => {
            let mut formats = fixtures::for_hosts().into_iter().filter(|it| it.0 == format.name());
            (formats.next().expect("fixtures of the format").1, SMALL)
        }
    };
    all.into_iter().filter(|it| it.breaks.is_empty() && it.bytes.len() <= small).collect()
}

fn pairs(name: &str) {
    let format = Format::by_name(name).expect("a format");
    let (mut hidden, mut tried) = (BTreeSet::new(), 0);
    for fixture in sound(format) {
        let [violations, fatals] = changes(&fixture.bytes, format);
        let mut bytes = fixture.bytes.clone();
        for one in &violations {
            for two in fatals.iter().filter(|two| two.at != one.at) {
                tried += 1;
                bytes[one.at] = one.value;
                bytes[two.at] = two.value;
                let both = Found::of(&bytes, format);
                if both.passes()
                    && both.ids(Severity::Violation).contains(one.rule)
                    && hides(&fixture.bytes, format, *one, *two)
                {
                    hidden.insert((one.rule, two.rule));
                    println!("{name} {}: {one:?} hides {two:?}", fixture.name);
                }
                bytes[one.at] = fixture.bytes[one.at];
                bytes[two.at] = fixture.bytes[two.at];
            }
        }
    }
    let deep = if DEEP { APART_DEEP } else { &[] };
    let apart = APART.iter().chain(deep).filter(|it| it.0 == name).map(|it| (it.1, it.2));
    let apart: BTreeSet<_> = apart.collect();
    let new: Vec<_> = hidden.difference(&apart).collect();
    assert!(new.is_empty(), "a violation hides a fatal fault: {new:?}");
    let gone: Vec<_> = apart.difference(&hidden).collect();
    // More pairs are other pairs.
    assert!(DEEP || gone.is_empty(), "{gone:?} no longer occur");
    assert!(tried > 0, "nothing was planted");
}

/// A test for each format, so that they run in parallel.
macro_rules! each_format {
    ($($format:ident)*) => {$(
        #[test]
        fn $format() {
            pairs(stringify!($format));
        }
    )*};
}

each_format! {
    bintensors executorch gguf idv npy npz oinf onnx pytorch safetensors shards stb tflite ztensor
}
