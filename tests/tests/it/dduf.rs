//! DDUF files, and models behind programs: members are checked where they are.

use weighbridge::{
    FileInput, Format, Goal, Options, Profile, Report, Severity, Verdict, check, check_at,
};
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::fixtures::{self, dduf};
use weighbridge_tests::samples;

/// The rules that a report finds broken, each once.
fn broken(report: &Report) -> Vec<&str> {
    let found = report.findings().iter().filter(|it| it.severity() > Severity::Unchecked);
    let mut rules: Vec<_> = found.map(|found| found.rule()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn named(name: &str) -> Vec<u8> {
    dduf::all().into_iter().find(|it| it.name == name).unwrap().bytes
}

/// The report on a file that is named as DDUF.
fn report_on(bytes: &[u8], options: &Options) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.dduf");
    std::fs::write(&path, bytes).unwrap();
    weighbridge::check_path(&path, options).unwrap()
}

#[test]
fn dduf_fixture_breaks_its_rule() {
    for fixture in dduf::all() {
        let mut expected = fixture.breaks.to_vec();
        expected.sort_unstable();
        let report = report_on(&fixture.bytes, &Options::new());
        assert_eq!(broken(&report), expected, "{}", fixture.name);
        let verdict = if expected.is_empty() { Verdict::Unchecked } else { Verdict::Invalid };
        assert_eq!(report.verdict(Profile::Strict), verdict, "{}: {report:?}", fixture.name);
        assert_eq!((report.archive(), report.format()), (Some("DDUF"), None), "{}", fixture.name);
        let len = fixture.bytes.len() as u64;
        for found in report.findings() {
            let end = found.offset() + u64::from(found.len());
            assert!(end <= len, "{}: {found:?}", fixture.name);
        }
    }
}

#[test]
fn archive_with_another_name_is_not_dduf() {
    let report = check(&named("sound")).unwrap();
    assert_eq!(report.verdict(Profile::Strict), Verdict::Unsupported);
    assert_eq!(report.archive(), None);
    // An archive of other things stays what it is.
    let other = fixtures::all().into_iter().find(|(format, _)| *format == "npz").unwrap().1;
    let report = check(&other[0].bytes).unwrap();
    assert_eq!(report.format(), Some(Format::Npz));
}

#[test]
fn dduf_finding_in_member_has_its_name_and_absolute_offset() {
    let bytes = named("weights-broken");
    let report = report_on(&bytes, &Options::new());
    let found = report.findings().iter().find(|it| it.rule() == "OFFSET-BOUNDS").unwrap();
    let entry = found.entry().unwrap().to_string();
    assert_eq!(entry, "vae/diffusion_pytorch_model.safetensors: emb");
    // The finding is within the safetensors header, which the member begins with.
    let start = bytes.windows(8).position(|eight| eight == &samples::safetensors()[..8]).unwrap();
    let header = &bytes[start + 8..][..samples::safetensors()[0] as usize];
    let at = found.offset() as usize - start - 8;
    assert!(at < header.len(), "{at}");
}

#[test]
fn dduf_without_payloads_is_no_verdict_on_checksums() {
    let options = Options::new().goal(Goal::Structure);
    let report = report_on(&named("wrong-crc"), &options);
    assert_eq!(broken(&report), [""; 0]);
    assert!(report.unchecked().iter().any(|it| it.why().contains("payloads not asked for")));
}

#[test]
fn dduf_cut_at_any_byte_is_not_valid() {
    let bytes = named("sound");
    for len in 0..bytes.len() {
        let report = report_on(&bytes[..len], &Options::new());
        assert!(
            !report.verdict(Profile::Strict).is_valid(),
            "{len} of {}: {report:?}",
            bytes.len()
        );
    }
}

#[test]
fn model_behind_program_is_checked_in_place() {
    let part = samples::part();
    let report = check(&dduf::program(part.clone())).unwrap();
    assert_eq!(report.verdict(Profile::Strict), Verdict::Unsupported);
    let all: Vec<_> = report.unchecked().iter().map(|it| it.why().to_owned()).collect();
    assert!(
        all.iter().any(|why| why.contains("GGUF model behind a program, at offset 4")),
        "{all:?}"
    );
    assert_eq!(broken(&report), ["UNKNOWN-FORMAT"], "{all:?}");
    let mut cut = part;
    cut.truncate(cut.len() / 2);
    let report = check(&dduf::program(cut)).unwrap();
    assert!(broken(&report).len() > 1, "{:?}", broken(&report));
    assert_eq!(report.verdict(Profile::Strict), Verdict::Unsupported);
}

#[test]
fn dduf_settings_that_load_code_are_a_fatal_finding_once_searched() {
    let index = br#"{"_class_name": "P", "vae": ["diffusers", "AutoencoderKL"]}"#;
    for (settings, expected) in [
        (&br#"{"_class_name": "AutoencoderKL"}"#[..], Verdict::Valid),
        (br#"{"auto_map": {"AutoModel": "modeling_x.M"}}"#, Verdict::Invalid),
    ] {
        let members = vec![
            Member::of("model_index.json", index.to_vec()),
            Member::of("vae/config.json", settings.to_vec()),
        ];
        let bytes = Npz::new(members).encode();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.dduf");
        std::fs::write(&path, &bytes).unwrap();
        let file = FileInput::open(&path).unwrap();
        let mut report = check_at(&file, &path, &Options::new()).unwrap();
        assert_eq!(report.verdict(Profile::Strict), Verdict::Unchecked);
        report.search_settings(&file, "model.dduf").unwrap();
        assert_eq!(report.verdict(Profile::Strict), expected);
        assert_eq!(report.verdict(Profile::Lenient), expected);
        let rules: &[&str] = if expected.is_valid() { &[] } else { &["ARCHIVE-CODE"] };
        assert_eq!(broken(&report), rules);
        assert!(!report.leaves_settings());
    }
}
