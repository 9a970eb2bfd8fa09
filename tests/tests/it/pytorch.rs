//! Checkpoints of PyTorch: every fixture breaks the rules that it was made to break, in whole files
//! and in windows, and elements are those that were written.

use std::collections::BTreeSet;
use weighbridge::{Format, Goal, Layout, Model, Options, Poll, Session, Verdict, check_with};
use weighbridge_core::{Finding, Profile};
use weighbridge_tests::encode::{pickle::Pickle, pytorch::Checkpoint};
use weighbridge_tests::fixtures::{Fixture, pytorch};

fn options() -> Options {
    Options::new().seed(1)
}

fn sound(name: &str) -> Fixture {
    pytorch::all().into_iter().find(|it| it.name == name && it.breaks.is_empty()).unwrap()
}

/// What is found in a file that is in memory.
fn whole(bytes: &[u8]) -> Vec<Finding> {
    let mut session = Session::whole(bytes, options());
    assert_eq!(session.poll(Goal::Payloads).unwrap(), Poll::Done);
    session.findings().to_vec()
}

/// What is found in a file that is given in windows of few bytes.
fn in_windows(bytes: &[u8]) -> Vec<Finding> {
    let mut session = Session::new(bytes.len() as u64, options().granule(16).kept(1 << 10));
    for _ in 0..bytes.len() + 1_000 {
        match session.poll(Goal::Payloads).unwrap() {
            Poll::Done => return session.findings().to_vec(),
            Poll::Need(ranges) => {
                for range in ranges {
                    let (from, len) = (range.offset as usize, range.len as usize);
                    session.supply(range.offset, bytes[from..from + len].to_vec());
                }
            }
        }
    }
    panic!("it never ends");
}

#[test]
fn pytorch_fixture_breaks_its_rules_and_no_other() {
    let names: BTreeSet<_> = pytorch::all().iter().map(|it| it.name).collect();
    assert_eq!(names.len(), pytorch::all().len());
    let mut wrong = Vec::new();
    for Fixture { name, bytes, breaks } in pytorch::all() {
        let found: BTreeSet<_> = whole(&bytes).iter().map(|it| it.rule.id()).collect();
        if found != breaks.iter().copied().collect() {
            wrong.push((name, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A memo makes a long key, a large shape and a long list cheap to repeat.
#[test]
fn pytorch_repeated_long_values_take_bounded_work() {
    let entries = 20_000;
    let long = "k".repeat(1 << 20);
    let start = || Pickle::new(2).text(&long).put(0).pop();
    let keys = (0..entries).fold(start().op(b'}').mark(), |pickle, number| {
        pickle.number(number).op(b'}').get(0).int(1).op(b's')
    });
    let many = (0..200_000).fold(Pickle::new(2).mark(), |pickle, _| pickle.int(1));
    let lists = many.op(b'l').put(0).pop().op(b']').mark();
    let lists = (0..entries).fold(lists, |pickle, _| {
        pickle.global("collections", "OrderedDict").get(0).op(0x85).op(b'R')
    });
    for object in [keys.op(b'u').stop(), lists.op(b'e').stop()] {
        let bytes = Checkpoint::new(object, &[]).encode();
        let found: BTreeSet<_> = whole(&bytes).iter().map(|it| it.rule.id()).collect();
        assert_eq!(found, ["P-PLACES"].into());
    }
}

/// What is said to be a checkpoint and is none has no index.
#[test]
fn pytorch_file_of_another_kind_breaks_c_none() {
    for bytes in [&b"\x89PNG"[..], b"", b"\x80\x02}."] {
        let mut session = Session::whole(bytes, options().format(Format::PyTorch));
        session.poll(Goal::Payloads).unwrap();
        let rules: Vec<_> = session.findings().iter().map(|it| it.rule.id()).collect();
        assert_eq!(rules, ["C-NONE"]);
    }
}

#[test]
fn every_rule_of_pytorch_has_a_fixture() {
    let broken: BTreeSet<_> = pytorch::all().iter().flat_map(|it| it.breaks).copied().collect();
    let untested = ["C-NONE", "P-PLACES", "T-DTYPE", "T-DEFLATED"];
    for rule in Format::PyTorch.rules() {
        let is_tested = broken.contains(rule.id) != untested.contains(&rule.id);
        assert!(is_tested, "{} has no fixture, or is said to have none", rule.id);
    }
}

#[test]
fn pytorch_findings_are_the_same_in_windows() {
    for Fixture { name, bytes, .. } in pytorch::all() {
        assert_eq!(in_windows(&bytes), whole(&bytes), "{name}");
    }
}

#[test]
fn pytorch_file_with_changed_bytes_is_the_same_in_windows() {
    let is_sound = |it: &Fixture| it.breaks.is_empty() || it.breaks == ["C-PROGRAM"];
    let sound: Vec<_> = pytorch::all().into_iter().filter(is_sound).collect();
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut invalid = 0;
    for _ in 0..3_000 {
        let mut bytes = sound[next(sound.len())].bytes.clone();
        let at = next(bytes.len());
        bytes[at] = next(256) as u8;
        let found = whole(&bytes);
        assert_eq!(in_windows(&bytes), found);
        invalid += usize::from(found.iter().any(|it| !Profile::Strict.accepts(it.rule.severity())));
        if let Ok(model) = Model::from_bytes(&bytes) {
            for tensor in model.tensors().flatten() {
                _ = tensor.to_vec::<f32>();
            }
        }
    }
    assert!(invalid > 500, "{invalid} of 3,000");
}

#[test]
fn pytorch_view_is_read_in_row_major_order() {
    let bytes = sound("views-of-one-storage").bytes;
    let model = Model::from_bytes(&bytes).unwrap();
    let read = |name: &str| model.tensor(name).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(read("w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(read("tied"), read("w"));
    assert_eq!(read("turned"), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(read("every-other"), [0.0, 2.0, 4.0]);
    assert_eq!(read("b"), [0.0, 1.0]);
    let view = model.tensor("every-other").unwrap();
    assert_eq!((view.layout(), view.canonical_span().unwrap()), (Layout::Strided, None));
    assert_eq!(view.slice::<f32>(1..3).unwrap(), [2.0, 4.0]);
    assert_eq!(view.stats().unwrap().unwrap().mean, Some(2.0));
}

#[test]
fn pytorch_numbers_of_the_object_are_metadata() {
    let bytes = sound("nested-with-numbers").bytes;
    let model = Model::from_bytes(&bytes).unwrap();
    let pairs: Vec<_> = model.metadata().map(|entry| entry.unwrap()).collect();
    let keys: Vec<_> = pairs.iter().map(|entry| entry.key().to_string()).collect();
    assert_eq!(keys, ["epoch", "lr"]);
    assert_eq!(format!("{:?}", pairs[0].value()), "Int(7)");
    let names: Vec<_> = model.tensors().map(|it| it.unwrap().name().to_string()).collect();
    assert_eq!(names, ["w", "model.layer.b"]);
}

fn fixture(name: &str) -> Vec<u8> {
    pytorch::all().into_iter().find(|it| it.name == name).unwrap().bytes
}

#[test]
fn pytorch_tensors_of_a_program_are_read() {
    let bytes = fixture("program-with-constants");
    let model = Model::from_bytes(&bytes).unwrap();
    let names: Vec<_> = model.tensors().map(|it| it.unwrap().name().to_string()).collect();
    assert_eq!(names, ["w", "named.a", "layer.b", "constants.0", "constants.1"]);
    let read = |name: &str| model.tensor(name).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(read("w"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(read("named.a"), [0.0, 1.0]);
    assert_eq!((read("constants.0"), read("constants.1")), (vec![0.0], vec![1.0]));
    let keys: Vec<_> = model.metadata().map(|entry| entry.unwrap().key().to_string()).collect();
    assert_eq!(keys, ["training", "rates.0", "rates.1"]);
    let storages: Vec<_> = model.storages().unwrap().iter().map(|it| it.key.to_string()).collect();
    assert_eq!(storages, ["0", "1", "2", "constants/0"]);
}

/// Whatever is asked for or ignored.
#[test]
fn pytorch_archive_with_a_program_is_never_valid() {
    let program = fixture("program");
    for options in [
        options(),
        options().format(Format::PyTorch),
        options().profile(Profile::Lenient),
        options().ignore("C-PROGRAM").unwrap(),
    ] {
        let report = check_with(&program, &options).unwrap();
        for profile in [Profile::Strict, Profile::Lenient] {
            assert_eq!(report.verdict(profile), Verdict::Unsupported);
        }
        assert_eq!(report.verdict_on_checked(), Verdict::Unsupported);
        assert!(report.findings().is_empty());
        let diagnosis = report.diagnosis().unwrap().to_string();
        assert!(diagnosis.starts_with("a zip archive that holds a pickle, which imports nothing"));
    }
    let verdict = |bytes: &[u8], options: &Options| {
        check_with(bytes, options).unwrap().verdict(Profile::Strict)
    };
    assert_eq!(verdict(&program, &options().deny("pickle").unwrap()), Verdict::Invalid);
    for name in ["program-without-storage", "program-without-constant", "program-sparse-outside"] {
        assert_eq!(verdict(&fixture(name), &options()), Verdict::Invalid, "{name}");
    }
    assert_eq!(verdict(&fixture("program-sparse-columns"), &options()), Verdict::Unsupported);
}

/// Keys and values of what a checkpoint says about its tensor "w".
fn said(name: &str) -> Vec<(String, String)> {
    let bytes = fixture(name);
    let model = Model::from_bytes(&bytes).unwrap();
    let tensor = model.tensor("w").unwrap();
    let said = tensor.metadata().map(|entry| {
        let entry = entry.unwrap();
        (entry.key().to_string(), entry.value().to_string())
    });
    said.collect()
}

#[test]
fn pytorch_tensor_says_what_it_shares_and_its_quantiser() {
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(said("one-tensor"), []);
    assert_eq!(said("views-of-one-storage"), [pair("shared_storage", "\"0\"")]);
    let negative = [pair("requires_grad", "true"), pair("neg", "true")];
    assert_eq!(said("negative"), negative);
    let scheme = pair("quantiser", "\"per_tensor_affine\"");
    let whole = [scheme, pair("scale", "0.5"), pair("zero_point", "0")];
    assert_eq!(said("quantised"), whole);
}
