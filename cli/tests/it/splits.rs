//! Models in several files: the parts checked against each other.

use super::*;
use weighbridge_tests::encode::gguf::{Tensor, Value as Held};
use weighbridge_tests::fixtures::gguf::part;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn named(no: usize) -> String {
    format!("big-{no:05}-of-00003.gguf")
}

/// A folder with the three parts of a set.
fn set() -> Folder {
    let folder = Folder::new();
    for no in 0..3 {
        folder.write(&named(no + 1), &part(no as u16, &NAMES).bytes());
    }
    folder
}

/// The rules that a part breaks, with their entries.
fn broken(folder: &Folder, no: usize) -> Vec<(String, String)> {
    let run = run(folder, &["check", "--json", &named(no)]);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    let findings = line["findings"].as_array().expect("findings");
    assert_eq!(run.code, i32::from(!findings.is_empty()), "{run:?}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    findings.iter().map(|found| (text(&found["rule"]), text(&found["entry"]))).collect()
}

fn one(rule: &str, entry: &str) -> Vec<(String, String)> {
    vec![(rule.to_owned(), entry.to_owned())]
}

#[test]
fn complete_gguf_set_is_valid() {
    let folder = set();
    for no in 1..=3 {
        assert_eq!(broken(&folder, no), []);
    }
    let run = run(&folder, &["check", "."]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.starts_with("model     .  3 files: GGUF in 3 shards, complete, "), "{run:?}");
    assert!(run.out.ends_with("3 files: 3 valid; 0 findings\n"), "{run:?}");
}

#[test]
fn first_present_part_reports_the_set() {
    let folder = set();
    std::fs::remove_file(folder.path().join(named(3))).expect("the part");
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-MISSING", &named(3)));
    // Alone, another part says it as well.
    assert_eq!(broken(&folder, 2), one("KEYS-SPLIT-MISSING", &named(3)));
    let findings = |args: &[&str]| {
        let run = run(&folder, &[&["check", "--json"], args].concat());
        assert_eq!(run.code, 1, "{run:?}");
        let count = |line: &Value| line["findings"].as_array().expect("findings").len();
        run.lines().iter().map(count).collect::<Vec<_>>()
    };
    assert_eq!(findings(&["."]), [1, 0]);
    assert_eq!(findings(&[&named(1), &named(2)]), [1, 0]);
    assert_eq!(findings(&[".", "--exclude", &named(1)]), [1]);
    folder.write("list", format!("{}\n", named(2)).as_bytes());
    assert_eq!(findings(&["--files-from", "list"]), [1]);
    std::fs::remove_file(folder.path().join(named(1))).expect("the part");
    let missing = |no| ("KEYS-SPLIT-MISSING".to_owned(), named(no));
    assert_eq!(broken(&folder, 2), [missing(1), missing(3)]);
}

/// A part of another model among the others is found from each of them.
#[test]
fn part_is_not_valid_beside_a_broken_first_part() {
    let folder = set();
    let whole = part(0, &NAMES).bytes();
    folder.write(&named(1), &whole[..whole.len() - 30]);
    assert_eq!(broken(&folder, 2), one("KEYS-SPLIT-INVALID", &named(1)));
    folder.write(&named(1), &whole);
    folder.write(&named(3), &part(2, &["a", "b", "a"]).bytes());
    assert_eq!(broken(&folder, 2), one("KEYS-SPLIT-TWICE", "a"));
}

#[test]
fn part_number_must_match_file_name() {
    let folder = set();
    folder.write(&named(2), &part(2, &NAMES).tensors(vec![]).bytes());
    assert_eq!(broken(&folder, 2), one("KEYS-SPLIT-OTHER", "split.no"));
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-INVALID", &named(2)));
    folder.write(&named(2), &part(1, &NAMES).set("split.count", Held::Number(2, 4)).bytes());
    assert_eq!(broken(&folder, 2), one("KEYS-SPLIT-COUNT", "split.count"));
}

#[test]
fn broken_or_foreign_part_is_found() {
    let folder = set();
    let whole = part(1, &NAMES).bytes();
    folder.write(&named(2), &whole[..whole.len() - 30]);
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-INVALID", &named(2)));
    folder.write(&named(2), &part(1, &NAMES).without("split.no").bytes());
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-INVALID", &named(2)));
}

#[test]
fn tensor_count_covers_all_parts() {
    let folder = set();
    folder.write(&named(3), &part(2, &["a", "b", "a"]).bytes());
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-TWICE", "a"));
    let more = part(2, &NAMES).tensors(vec![]);
    folder.write(&named(3), &more.bytes());
    assert_eq!(broken(&folder, 1), one("KEYS-SPLIT-TOTAL", "split.tensors.count"));
}

#[test]
fn unchecked_part_makes_set_unchecked() {
    let folder = set();
    // A newer type than those known.
    let tensor = Tensor { name: b"b".to_vec(), dims: vec![4], ty: 200, data: vec![0; 16] };
    folder.write(&named(2), &part(1, &NAMES).tensors(vec![tensor]).bytes());
    for no in [1, 2] {
        let run = run(&folder, &["check", "--json", &named(no)]);
        assert_eq!(run.code, 3, "{run:?}");
    }
    let run = run(&folder, &["check", "--json", &named(1)]);
    assert_eq!(run.lines()[0]["unchecked"][0]["entry"], named(2).as_str(), "{run:?}");
}

#[test]
fn unreadable_first_part_passes_the_set_to_the_next() {
    let folder = set();
    std::fs::remove_file(folder.path().join(named(3))).expect("the part");
    // It claims to be complete.
    let whole = part(0, &NAMES).without("split.no").without("split.count");
    folder.write(&named(1), &whole.without("split.tensors.count").bytes());
    assert!(broken(&folder, 2).contains(&("KEYS-SPLIT-MISSING".to_owned(), named(3))));
    std::fs::remove_file(folder.path().join(named(1))).expect("the part");
    std::fs::create_dir(folder.path().join(named(1))).expect("a folder");
    assert_ne!(run(&folder, &["check", &named(2)]).code, 0);
}

/// As in caches, where files are named after their digests.
#[test]
fn renamed_part_is_found() {
    let folder = Folder::new();
    folder.write("blob.gguf", &part(0, &NAMES).bytes());
    let alone = run(&folder, &["check", "--json", "blob.gguf"]);
    assert_eq!(alone.code, 3, "{alone:?}");
    assert!(alone.out.contains("were not looked for"), "{alone:?}");
}

#[test]
fn parts_that_were_joined_with_cat_are_fatal() {
    let folder = set();
    let all: Vec<u8> = (1..=3)
        .flat_map(|no| std::fs::read(folder.path().join(named(no))).expect("a part"))
        .collect();
    let first = std::fs::read(folder.path().join(named(1))).expect("a part");
    folder.write("joined.gguf", &all);
    let joined = run(&folder, &["check", "--json", "joined.gguf"]);
    assert_eq!(joined.code, 1, "{joined:?}");
    let json = joined.json();
    let rules: Vec<_> = json["findings"].as_array().expect("a list").iter().collect();
    assert!(rules.iter().any(|it| it["rule"] == "KEYS-SPLIT-JOINED"), "{json}");
    // Under the name of the first part, too, the parts that follow are lost.
    folder.write(&named(1), &all);
    for name in ["joined.gguf", &named(1)] {
        assert_eq!(run(&folder, &["check", "--lenient", name]).code, 1, "{name}");
    }
    // Other bytes after the last tensor are no part.
    let mut more = first;
    more.extend([1; 40]);
    folder.write(&named(1), &more);
    let other = run(&folder, &["check", &named(1)]);
    assert!(other.code == 0 && other.out.contains("TRAILING"), "{other:?}");
}

/// The lenient profile reads the parts that are there, and a gate says that the set is not whole.
#[test]
fn set_that_is_not_whole_is_unchecked_leniently() {
    let cut = |no: u16| {
        let whole = part(no, &NAMES).bytes();
        whole[..whole.len() - 30].to_vec()
    };
    let count = Held::Number(2, 4);
    let cases: [(&str, usize, Option<Vec<u8>>); 7] = [
        ("missing", 3, None),
        ("broken", 2, Some(cut(1))),
        ("of another set", 2, Some(part(1, &NAMES).without("split.no").bytes())),
        ("second of three", 2, Some(part(2, &NAMES).tensors(vec![]).bytes())),
        ("one of four", 2, Some(part(1, &NAMES).set("split.count", count).bytes())),
        ("with a tensor of another", 3, Some(part(2, &["a", "b", "a"]).bytes())),
        ("without its tensor", 3, Some(part(2, &NAMES).tensors(vec![]).bytes())),
    ];
    for (what, no, bytes) in cases {
        let folder = set();
        std::fs::remove_file(folder.path().join(named(no))).expect("the part");
        if let Some(bytes) = bytes {
            folder.write(&named(no), &bytes);
        }
        for args in [&["check", &named(1)][..], &["check", "."]] {
            assert_eq!(run(&folder, args).code, 1, "{what}");
            let lenient = run(&folder, &[args, &["--lenient"]].concat());
            let said = lenient.out.contains("unchecked") && lenient.out.contains("the whole set");
            // A part that is broken itself is invalid.
            let code = if what == "broken" && args[1] == "." { 1 } else { 3 };
            assert!(lenient.code == code && said, "{what}: {lenient:?}");
        }
        assert_eq!(run(&folder, &["inspect", "--lenient", &named(1)]).code, 0, "{what}");
    }
    let folder = set();
    std::fs::remove_file(folder.path().join(named(3))).expect("the part");
    let ignored = "[[ignore]]\nrule = \"KEYS-SPLIT-MISSING\"\nreason = \"two are enough\"\n";
    folder.write("weighbridge.toml", format!("{ignored}until = 2999-01-01\n").as_bytes());
    let run = run(&folder, &["check", "--config", "weighbridge.toml", &named(1)]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// A part that contradicts itself, alone and under any name.
#[test]
fn part_that_contradicts_itself_is_unchecked_leniently() {
    let folder = Folder::new();
    folder.write("a.gguf", &part(1, &NAMES).without("split.no").bytes());
    assert_eq!(run(&folder, &["check", "a.gguf"]).code, 1);
    assert_eq!(run(&folder, &["check", "--lenient", "a.gguf"]).code, 3);
}
