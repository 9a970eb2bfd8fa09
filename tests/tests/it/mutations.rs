//! Every prefix and every changed byte of every small file: no panic, no finding outside the file,
//! no endless loop, and nothing unreadable passes. With the feature `deep`, which `make test-deep`
//! enables, bytes take more values, and no length or position is skipped in larger files.

use weighbridge_core::{Format, Severity, Status};
use weighbridge_tests::DEEP;
use weighbridge_tests::fixtures::{self, Fixture};
use weighbridge_tests::survey::{Access, Host, Survey, TensorFact, survey, survey_whole};

/// Sound files up to this length have every byte changed in every way.
const TINY: usize = 256;
/// Files up to this length have every byte changed in some ways.
const SMALL: usize = 4096;

fn check(name: &str, bytes: &[u8], survey: &Survey) {
    for finding in &survey.findings {
        let end = finding.offset.checked_add(u64::from(finding.len));
        assert!(end.is_some_and(|end| end <= bytes.len() as u64), "{name}: {finding:?}");
    }
    for region in &survey.regions {
        let end = region.span.end();
        assert!(end.is_some_and(|end| end <= bytes.len() as u64), "{name}: {region:?}");
    }
    // The reason a tensor cannot be read is always reported, however much else is wrong.
    if survey.worst() < Severity::Fatal {
        for TensorFact { tensor, chunks, .. } in &survey.tensors {
            assert!(tensor.status != Status::Broken, "{name}: {tensor:?}, {:?}", survey.broken());
            // The location of an empty chunk does not matter to readers.
            for chunk in chunks.iter().filter(|chunk| !chunk.stored.is_empty()) {
                let end = chunk.stored.end();
                assert!(end.is_some_and(|end| end <= bytes.len() as u64), "{name}: {chunk:?}");
            }
        }
    }
}

fn each_small(format: &str, mut test: impl FnMut(&str, &Fixture, Option<Format>)) {
    for (name, fixtures) in fixtures::all().into_iter().filter(|(name, _)| *name == format) {
        // A large broken file is a sound one with a few bytes changed.
        let most = |breaks: &[&str]| if breaks.is_empty() { SMALL } else { TINY };
        for fixture in fixtures.iter().filter(|f| f.bytes.len() <= most(f.breaks)) {
            test(&format!("{name} {}", fixture.name), fixture, Format::by_name(name));
        }
    }
}

fn every_prefix(format: &str) {
    each_small(format, |name, Fixture { bytes, .. }, format| {
        let step = if DEEP || bytes.len() <= TINY { 1 } else { 1 + bytes.len() / TINY };
        for len in (0..bytes.len()).step_by(step) {
            let prefix = &bytes[..len];
            let found = survey_whole(prefix, format);
            check(&format!("{name}, the first {len} bytes"), prefix, &found);
        }
    });
}

fn every_changed_byte(format: &str) {
    each_small(format, |name, fixture, format| {
        let mut bytes = fixture.bytes.clone();
        let tiny = DEEP && bytes.len() <= TINY && fixture.breaks.is_empty();
        for at in 0..bytes.len() {
            let original = bytes[at];
            let some =
                [0, 1, 0x7F, 0x80, 0xFF, original ^ 1, original ^ 0x80, original.wrapping_add(1)];
            let few = [0, 0xFF, original ^ 1];
            let all: Vec<u8> = (0..=255).collect();
            let values: &[u8] = match (tiny, DEEP) {
                (true, _) => &all,
                (_, true) => &some,
                _ => &few,
            };
            for &value in values {
                if value != original {
                    bytes[at] = value;
                    let found = survey_whole(&bytes, format);
                    check(&format!("{name}, byte {at} = {value:#x}"), &bytes, &found);
                }
            }
            bytes[at] = original;
        }
    });
}

/// Reads a changed file in parts as well: the changed bytes then influence which bytes are
/// requested.
fn changed_bytes_in_windows(format: &str) {
    each_small(format, |name, Fixture { bytes, .. }, format| {
        let mut bytes = bytes.clone();
        let places = if DEEP { 64 } else { 16 };
        for at in (0..bytes.len()).step_by(1 + bytes.len() / places) {
            let original = bytes[at];
            for value in [0, original ^ 0x80, 0xFF] {
                bytes[at] = value;
                let whole = survey_whole(&bytes, format);
                let parts = survey(&mut Host::new(&bytes, Access::Rounded(16)), format).unwrap();
                assert_eq!(parts, whole, "{name}, byte {at} = {value:#x}");
            }
            bytes[at] = original;
        }
    });
}

/// Creates a separate test per format and kind, so that they run in parallel.
macro_rules! each_format {
    ($($format:ident)*) => {$(
        mod $format {
            #[test]
            fn prefix_gives_no_panic() {
                super::every_prefix(stringify!($format));
            }

            #[test]
            fn changed_byte_gives_no_panic() {
                super::every_changed_byte(stringify!($format));
            }

            #[test]
            fn changed_bytes_give_same_findings_in_windows() {
                super::changed_bytes_in_windows(stringify!($format));
            }
        }
    )*};
}

each_format!(bintensors executorch gguf idv npy npz oinf onnx safetensors shards stb tflite ztensor);

#[test]
fn mutations_cover_every_format() {
    let tested = [
        "bintensors",
        "executorch",
        "gguf",
        "idv",
        "npy",
        "npz",
        "oinf",
        "onnx",
        "safetensors",
        "shards",
        "stb",
        "tflite",
        "ztensor",
    ];
    let names: Vec<_> = fixtures::all().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, tested);
}
