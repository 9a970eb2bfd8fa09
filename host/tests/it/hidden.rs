//! Pickles behind a model, in its gaps, and in archives that end with it, in every format.

use std::collections::BTreeSet;
use weighbridge::weighbridge_core::Profile;
use weighbridge::{Options, Verdict, check_with};
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::fixtures::{self, Fixture, pytorch};

/// The verdict on a file under the lenient profile, and the rules that it breaks.
fn lenient(name: &str, bytes: &[u8]) -> (Verdict, Vec<&'static str>) {
    let options = Options::new().profile(Profile::Lenient).file_name(name);
    let report = check_with(bytes, &options).expect("the bytes are in memory");
    let rules = report.tally().rules().map(|it| it.rule.id()).collect();
    (report.verdict(Profile::Lenient), rules)
}

/// What may be appended to a file.
fn dangers() -> Vec<(&'static str, Vec<u8>)> {
    let pickle = |protocol| Pickle::new(protocol).global("posix", "system").call("true").stop();
    let zip = |bytes: Vec<u8>| Npz::new(vec![Member::of("data", bytes)]).encode();
    vec![
        ("a pickle of protocol 0", b"cposix\nsystem\n(S'true'\ntR.".to_vec()),
        ("a pickle of protocol 2", pickle(2)),
        ("a pickle of protocol 4", pickle(4)),
        ("an archive of a pickle", zip(pickle(2))),
        ("an archive of an archive of a pickle", zip(zip(pickle(2)))),
        ("an archive behind other bytes", [vec![1; 5_000], zip(pickle(2))].concat()),
    ]
}

/// Sound files of every format.
fn sound() -> Vec<(&'static str, Fixture)> {
    let mut all = fixtures::for_hosts();
    all.push(("pytorch", pytorch::all()));
    let each =
        all.into_iter().flat_map(|(format, files)| files.into_iter().map(move |it| (format, it)));
    each.filter(|(_, file)| file.breaks.is_empty()).collect()
}

/// A flatbuffer that states no length has no end: what follows it is part of it.
const ENDLESS: (&str, &str) = ("executorch", "constants-in-flatbuffer");

#[test]
fn appended_pickles_never_pass_the_lenient_profile() {
    let (mut formats, mut passed) = (BTreeSet::new(), Vec::new());
    for (format, file) in sound() {
        let name = format!("x.{format}");
        if lenient(&name, &file.bytes).0 != Verdict::Valid {
            continue;
        }
        formats.insert(format);
        for (what, danger) in dangers() {
            let found = lenient(&name, &[&file.bytes[..], &danger].concat());
            let is_known = (format, file.name) == ENDLESS && what.starts_with("a pickle");
            if found.0 == Verdict::Valid && !is_known {
                passed.push(format!("{format} {}, {what}: {found:?}", file.name));
            }
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
    // An index without its shards is not valid either way.
    assert_eq!(formats.len(), 13, "{formats:?}");
}

#[test]
fn appended_bytes_of_data_are_no_broken_pickle() {
    let models: Vec<_> = sound().into_iter().filter(|(_, file)| file.name == "sound").collect();
    assert!(models.len() >= 5, "{}", models.len());
    let mut state = 1_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    let ascending = (0x80..=0xFF).collect();
    let mut tails: Vec<Vec<u8>> = vec![ascending, [0x80, 2, 0].repeat(50), vec![0x80; 300]];
    tails.extend((0..200).map(|_| (0..256).map(|_| random()).collect()));
    // Behind the first bytes of a pickle of protocols 2 and 4, and of one that imports by number.
    tails.extend([&b"\x80\x02"[..], b"\x80\x04", b"\x82\x01"].iter().flat_map(|head| {
        let data: Vec<u8> = (0..254).map(|_| random()).collect();
        [[head, &data[..]].concat()]
    }));
    for (format, file) in models {
        for tail in &tails {
            let bytes = [&file.bytes[..], tail].concat();
            let (_, rules) = lenient(&format!("x.{format}"), &bytes);
            let said = rules.iter().find(|rule| rule.starts_with("PICKLE"));
            assert_eq!(said, None, "{format}: {:02x?}", &tail[..8]);
        }
    }
}
