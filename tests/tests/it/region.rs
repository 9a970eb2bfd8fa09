//! A file at the start of a longer region, such as a flash partition.

use weighbridge_core::{Audit, File, Format, Severity, Slot, Source};
use weighbridge_tests::fixtures;

#[test]
fn file_with_recorded_length_ends_there() {
    let mut seen = 0;
    for (name, fixtures) in fixtures::all() {
        let format = Format::by_name(name).unwrap();
        for fixture in fixtures.iter().filter(|f| f.breaks.is_empty()) {
            let mut region = fixture.bytes.clone();
            region.resize(region.len() + 4096, 0xFF);
            let source = Source::whole(&region).as_region();
            let mut findings = Vec::new();
            // zTensor is opened from its end, and a message of ONNX ends with its file, so a longer
            // region hides them.
            let Ok(file) = File::open_as(format, &source, &mut |f| findings.push(f)) else {
                assert!(["onnx", "ztensor"].contains(&name), "{name} {}", fixture.name);
                continue;
            };
            let Some(len) = file.recorded_len() else { continue };
            assert_eq!(len, fixture.bytes.len() as u64, "{name} {}", fixture.name);
            let mut slots = vec![Slot::EMPTY; 4096];
            Audit::new(file).step(&source, &mut slots, &mut |f| findings.push(f)).unwrap();
            findings.retain(|f| f.severity() > Severity::Unchecked);
            assert_eq!(findings, [], "{name} {}", fixture.name);
            seen += 1;

            // A region shorter than the file is still reported as too short.
            let source = Source::whole(&fixture.bytes[..fixture.bytes.len() - 1]).as_region();
            let mut findings = 0;
            let opened = File::open_as(format, &source, &mut |_| findings += 1);
            assert!(opened.is_err() || findings > 0, "{name} {}", fixture.name);
        }
    }
    assert!(seen > 0);
}
