//! Scans of pickles: every fixture breaks one rule, or none.

use std::collections::BTreeSet;
use weighbridge::{Goal, Options, Poll, Profile, Report, Session, Verdict, check, check_with};
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::fixtures::pickles::{Suspect, all};

/// The rules about pickles that a file breaks, with what their findings say, and what was left.
fn said(report: &Report) -> Vec<(String, String)> {
    let findings = report.findings().iter().filter(|it| it.rule().starts_with("PICKLE-"));
    let mut said: Vec<_> = findings.map(|it| (it.rule().to_owned(), it.message())).collect();
    let left = report.unchecked().iter().filter(|it| it.why().starts_with("not all pickles"));
    said.extend(left.map(|it| ("PICKLE-UNCHECKED".to_owned(), it.why().to_owned())));
    said
}

#[test]
fn pickle_fixture_breaks_its_rule_alone() {
    let all = all();
    assert!(all.len() >= 80, "{}", all.len());
    let names: BTreeSet<_> = all.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), all.len());
    for Suspect { name, bytes, breaks, says } in all {
        let report = check(&bytes).unwrap();
        let said = said(&report);
        // What comes before a fault stays, and joblib's arrays end what can be read.
        let also = match name {
            "before-a-fault" => Some("PICKLE-FAULT"),
            "joblib-array" => Some("PICKLE-UNCHECKED"),
            _ => None,
        };
        let rules: BTreeSet<_> = said.iter().map(|(rule, _)| &**rule).collect();
        assert_eq!(rules, breaks.into_iter().chain(also).collect(), "{name}: {said:?}");
        assert!(
            said.iter().any(|(_, it)| it.contains(says)) || breaks.is_none(),
            "{name}: {said:?}"
        );
        let is_unsafe = !matches!(breaks, None | Some("PICKLE-UNCHECKED"));
        let verdict = report.verdict(Profile::Strict);
        match (is_unsafe, report.file()) {
            (true, _) => assert_eq!(verdict, Verdict::Invalid, "{name}"),
            // A checkpoint, whose tensors are read.
            (_, Some(_)) => assert_ne!(verdict, Verdict::Unsupported, "{name}"),
            (_, None) => assert_eq!(verdict, Verdict::Unsupported, "{name}"),
        }
        for found in report.findings() {
            let end = found.offset() + u64::from(found.len());
            assert!(end <= bytes.len() as u64, "{name}: {found:?}");
        }
    }
}

#[test]
fn pickles_in_pieces_have_the_findings_of_the_whole() {
    for Suspect { name, bytes, .. } in all().into_iter().filter(|it| it.bytes.len() < 1 << 16) {
        let whole = said(&check(&bytes).unwrap());
        for granule in [1, 16, 512] {
            let options = Options::new().granule(granule).kept(1 << 10);
            let mut session = Session::new(bytes.len() as u64, options);
            let mut requests = 0;
            while let Poll::Need(ranges) = session.poll(Goal::Payloads).unwrap() {
                requests += 1;
                assert!(requests < 20 * bytes.len() + 200, "{name}: no progress");
                for range in ranges {
                    let from = range.offset as usize;
                    session.supply(range.offset, &bytes[from..from + range.len as usize]);
                }
            }
            assert_eq!(said(&session.report()), whole, "{name}, in units of {granule}");
        }
    }
}

/// No prefix and no changed byte of a file makes a scan panic or report a place outside of it.
#[test]
fn damaged_pickles_give_findings_inside_the_file() {
    for Suspect { name, bytes, .. } in all().into_iter().filter(|it| it.bytes.len() < 2 << 10) {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] = changed[at].wrapping_mul(31).wrapping_add(at as u8 | 1);
            for file in [&bytes[..at], &changed] {
                let report = check(file).unwrap();
                for found in report.findings() {
                    let end = found.offset() + u64::from(found.len());
                    assert!(end <= file.len() as u64, "{name}, {at}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn allowed_names_are_no_findings() {
    let pickle = Pickle::new(2).global("argparse", "Namespace").op(b')').op(0x81);
    let pickle = pickle.global("a.b", "C").pop().stop();
    let verdict = |names: &[&str]| {
        let allow = |options: Options, name: &&str| options.allow_global(name).unwrap();
        let options = names.iter().fold(Options::new(), allow);
        check_with(&pickle, &options).unwrap().verdict(Profile::Strict)
    };
    assert_eq!(verdict(&[]), Verdict::Invalid);
    assert_eq!(verdict(&["argparse.Namespace"]), Verdict::Invalid);
    assert_eq!(verdict(&["argparse.Namespace", "a.b.C"]), Verdict::Unsupported);
    for wrong in ["", "Namespace", "a..b", ".b", "a b.c", "os.system", "posix.x", "sys.modules.x"] {
        assert!(Options::new().allow_global(wrong).is_err(), "{wrong}");
    }
}

/// One sentence says what loading the file would do.
#[test]
fn diagnosis_says_what_would_run() {
    for (name, words) in [
        ("called", "a pickle, which would run posix.system"),
        ("in-checkpoint", "a PyTorch checkpoint of a pickle, which would run posix.system"),
        ("in-tar", "a tar archive that holds a pickle, which would run posix.system"),
        ("in-array", "a NumPy array (.npy) of objects, a pickle, which would run posix.system"),
        ("no-stop", "a pickle, which is broken"),
        ("namespace", "a pickle, which would make argparse.Namespace, known to be plain data"),
        (
            "torchscript",
            "a PyTorch archive (zip) of a pickle, which imports nothing off the list of torch.load \
             (torch 2.15)",
        ),
    ] {
        let suspect = all().into_iter().find(|it| it.name == name).unwrap();
        let report = check(&suspect.bytes).unwrap();
        assert_eq!(report.diagnosis().unwrap().to_string(), words, "{name}");
    }
}
