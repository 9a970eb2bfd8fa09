//! Every fixture breaks exactly the rules that it was made to break.

use weighbridge_core::{Cursor, DimEncoding, File, Format, Severity, Source, Status, Stop, Tensor};
use weighbridge_tests::fixtures;
use weighbridge_tests::survey::survey_whole;

#[test]
fn fixture_breaks_its_rule() {
    for (name, fixtures) in fixtures::all() {
        let format = Format::by_name(name).expect("a format of this build");
        for fixture in fixtures {
            let survey = survey_whole(&fixture.bytes, Some(format));
            let mut expected = fixture.breaks.to_vec();
            expected.sort_unstable();
            assert_eq!(
                survey.broken(),
                expected,
                "{name} {}: {:#?}",
                fixture.name,
                survey.findings.iter().map(|f| format!("{f:?} {f}")).collect::<Vec<_>>()
            );
        }
    }
}

/// Iterates to the end, or to a permanent stop.
fn ends<T>(mut next: impl FnMut() -> Result<Option<T>, Stop>) -> Result<(), Stop> {
    while next()?.is_some() {}
    Ok(())
}

#[test]
fn cursor_ends_with_table() {
    let mut sink = |_| {};
    for (name, fixtures) in fixtures::all() {
        for fixture in fixtures {
            let source = Source::whole(&fixture.bytes);
            let Ok(file) = File::open_as(Format::by_name(name).unwrap(), &source, &mut sink) else {
                continue;
            };
            let [mut meta, mut tensor, mut region] = [Cursor::default(); 3];
            assert!(
                ends(|| file.next_meta(&source, &mut meta, &mut |_| {})).is_err() || meta.is_done(),
                "metadata of {name} {}",
                fixture.name
            );
            assert!(
                ends(|| file.next_tensor(&source, &mut tensor, &mut |_| {})).is_err()
                    || tensor.is_done(),
                "tensors of {name} {}",
                fixture.name
            );
            assert!(
                ends(|| file.next_region(&source, &mut region)).is_err() || region.is_done(),
                "regions of {name} {}",
                fixture.name
            );
        }
    }
}

#[test]
fn sound_fixture_is_usable() {
    for (name, fixtures) in fixtures::all() {
        for fixture in fixtures.iter().filter(|f| f.breaks.is_empty()) {
            // Archives of arrays are not detected by content.
            let format = Format::by_name(name).filter(|format| *format == Format::Npz);
            let survey = survey_whole(&fixture.bytes, format);
            let file = survey.file.unwrap_or_else(|| panic!("{name} {}", fixture.name));
            assert_eq!(file.format().name(), name, "{}", fixture.name);
            // If a limit ends the index, nothing more is listed.
            if survey.findings.iter().any(|finding| finding.rule.id() == "CBOR-DEPTH") {
                continue;
            }
            assert_eq!(file.tensor_count(), survey.tensors.len() as u64, "{}", fixture.name);
            let checked = survey.findings.is_empty();
            let broken = |tensor: &Tensor| match tensor.status {
                Status::Sound => false,
                // Only decoding tells the length of a compressed part, which is checked with its owner.
                Status::Unsupported => checked && tensor.dims.encoding != DimEncoding::External,
                _ => true,
            };
            assert!(!survey.tensors.iter().any(|t| broken(&t.tensor)), "{}", fixture.name);
        }
    }
}

#[test]
fn finding_lies_inside_the_file() {
    for (name, fixtures) in fixtures::all() {
        let format = Format::by_name(name);
        for fixture in fixtures {
            for finding in survey_whole(&fixture.bytes, format).findings {
                let end = finding.offset + u64::from(finding.len);
                assert!(end <= fixture.bytes.len() as u64, "{name} {}: {finding:?}", fixture.name);
                let text = finding.to_string();
                assert!(!text.contains(['{', '}']), "{name} {}: {text}", fixture.name);
                if finding.severity() > Severity::Unchecked {
                    // An archive of arrays can also break the rules of arrays.
                    let found = finding.rule.format();
                    let inner = (found, format) == (Some(Format::Npy), Some(Format::Npz));
                    assert!(found == format || inner, "{finding:?}");
                }
            }
        }
    }
}

#[test]
fn fixture_names_are_unique() {
    for (format, fixtures) in fixtures::all() {
        let mut names: Vec<_> = fixtures.iter().map(|f| f.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{format}: {names:?}");
    }
}
