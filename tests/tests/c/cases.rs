//! The files that are tried.

use std::path::Path;
use weighbridge_core::Format;
use weighbridge_fuzz_bodies::kept;
use weighbridge_tests::fixtures::npy_records::is_left_to_hosts;
use weighbridge_tests::{corpus, fixtures};

/// The formats of the library. Those of other builds are for hosts.
const FORMATS: [&str; 10] = [
    "bintensors",
    "executorch",
    "gguf",
    "idv",
    "npy",
    "oinf",
    "safetensors",
    "stb",
    "tflite",
    "ztensor",
];

/// A file and the format that it is opened as.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) format: Format,
    pub(crate) region: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Case {
    fn new(name: String, format: Format, bytes: Vec<u8>) -> Self {
        Case { name, format, region: false, bytes }
    }

    /// The file in a region that goes on after it.
    pub(crate) fn as_region(mut self) -> Self {
        self.region = true;
        self.bytes.extend([0xFF; 100]);
        self
    }

    /// The record of the file, with the mode of `wb_open` where firmware ignores it.
    pub(crate) fn record(&self) -> Vec<u8> {
        let mut record = crate::rig::record(&self.bytes, "", false);
        record[9] = self.format as u8;
        record[10] = self.region.into();
        record
    }
}

fn is_read(format: &str) -> bool {
    FORMATS.contains(&format)
}

/// Whether a file is of a generation of its format that the library does not read, or of a kind:
/// tensor data of ExecuTorch.
fn is_of_hosts(case: &Case) -> bool {
    case.bytes.starts_with(b"ZTEN1000")
        || case.bytes.starts_with(b"\x89ZT2\r\n\x1A\n")
        || (case.format == Format::ExecuTorch && case.bytes.get(4..8) == Some(b"FT01"))
}

/// Every fixture.
pub(crate) fn fixtures() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, fixtures) in fixtures::all().into_iter().filter(|(name, _)| is_read(name)) {
        let format = Format::by_name(name).unwrap();
        for fixture in fixtures {
            cases.push(Case::new(format!("{name} {}", fixture.name), format, fixture.bytes));
        }
    }
    on_boards(cases)
}

/// Fixtures with changed bytes, and cut off; the same ones each time.
pub(crate) fn damaged() -> Vec<Case> {
    let mut cases = Vec::new();
    // xorshift64
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    // Readers without windows count keys of zTensor in 16 bits, and report more as unchecked.
    let sizes = 1..1 << 16;
    for case in fixtures().into_iter().filter(|case| sizes.contains(&case.bytes.len())) {
        for n in 0..8 {
            let mut bytes = case.bytes.clone();
            let len = bytes.len();
            match n {
                0 => bytes.truncate(random(len)),
                // The index is near the start.
                1..=4 => bytes[random(len.min(200))] = [0, 1, 0x7F, 0x80, 0xFF][random(5)],
                _ => bytes[random(len)] ^= 1 << random(8),
            }
            cases.push(Case::new(format!("{} damaged {n}", case.name), case.format, bytes));
        }
    }
    on_boards(cases)
}

/// The cases about which boards and hosts agree.
fn on_boards(mut cases: Vec<Case>) -> Vec<Case> {
    cases.retain(|case| !is_of_hosts(case) && !is_left_to_hosts(&case.bytes));
    cases
}

/// The kept inputs of fuzzing.
pub(crate) fn seeds() -> Vec<Case> {
    let seeds = kept::of_formats().into_iter().filter(|(format, _)| is_read(format.name()));
    let cases: Vec<Case> =
        seeds.map(|(format, kept)| Case::new(kept.name, format, kept.input)).collect();
    assert!(cases.len() >= 50, "{} files", cases.len());
    on_boards(cases)
}

/// Every file of the corpus, if there is one.
pub(crate) fn corpus() -> Vec<Case> {
    let Some(folder) = corpus::folder() else { return Vec::new() };
    let mut cases = Vec::new();
    for name in FORMATS {
        let folder = folder.join(name);
        if folder.is_dir() {
            walk(&folder, Format::by_name(name).unwrap(), &mut cases);
        }
    }
    assert!(!cases.is_empty(), "nothing in {}", folder.display());
    on_boards(cases)
}

/// All files below `folder` except descriptions of other files.
fn walk(folder: &Path, format: Format, cases: &mut Vec<Case>) {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let described = path.extension().is_some_and(|ending| ending == "json" || ending == "md");
        if path.is_dir() {
            walk(&path, format, cases);
        } else if !described {
            let bytes = std::fs::read(&path).unwrap();
            cases.push(Case::new(path.display().to_string(), format, bytes));
        }
    }
}
