//! Statistics of all weights, and signs of problems.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::safetensors;

fn file(tensors: &[(&str, &[u64], Vec<f32>)]) -> Vec<u8> {
    let tensors = tensors.iter().map(|(name, shape, data)| safetensors::Tensor {
        data: data.iter().flat_map(|value| value.to_le_bytes()).collect(),
        ..safetensors::Tensor::new(name, "F32", shape)
    });
    safetensors::File { metadata: None, tensors: tensors.collect() }.encode()
}

fn ramp(len: usize) -> Vec<f32> {
    (0..len).map(|i| i as f32 / 8.0 - 1.0).collect()
}

/// The signs of each tensor.
fn signs(line: &Value) -> Vec<(String, Value)> {
    let tensors = line["tensors"].as_array().expect("a list");
    let sign = |it: &Value| (it["name"].as_str().unwrap().to_owned(), it["signs"].clone());
    tensors.iter().map(sign).collect()
}

#[test]
fn each_sign_is_found_only_where_planted() {
    let folder = Folder::new();
    let mut nan = ramp(16);
    nan[3] = f32::NAN;
    let mut infinite = ramp(16);
    infinite[0] = f32::NEG_INFINITY;
    let mut dead = ramp(16);
    dead[4..8].fill(-0.0);
    let mut outlier: Vec<f32> = (0..4096).map(|i| (i % 7) as f32 - 3.0).collect();
    outlier[9] = 1e6;
    folder.write(
        "a.safetensors",
        &file(&[
            ("a.plain", &[4, 4], ramp(16)),
            ("b.nan", &[16], nan),
            ("c.infinite", &[16], infinite),
            ("d.zero", &[4, 4], vec![0.0; 16]),
            ("e.constant", &[16], vec![2.5; 16]),
            ("f.dead", &[4, 4], dead),
            ("g.outlier", &[4096], outlier),
            ("h.again", &[16], ramp(16)),
            ("i.scalar", &[], vec![0.0]),
            ("j.ones", &[16], vec![2.5; 16]),
        ]),
    );
    let found = run(&folder, &["stats", "a.safetensors", "--json"]);
    assert_eq!(found.code, 1, "{found:?}");
    let line = found.json();
    let expected = [
        ("a.plain", json!([])),
        ("b.nan", json!(["nan"])),
        ("c.infinite", json!(["infinite"])),
        ("d.zero", json!(["zero"])),
        ("e.constant", json!(["constant"])),
        ("f.dead", json!(["zero-rows"])),
        ("g.outlier", json!(["outlier"])),
        ("h.again", json!(["duplicate"])),
        ("i.scalar", json!([])),
        ("j.ones", json!(["constant"])),
    ];
    assert_eq!(signs(&line), expected.map(|(name, signs)| (name.to_owned(), signs)));
    assert_eq!(line["verdict"], "valid");
    assert_eq!(line["weights"]["verdict"], "faulty");
    assert_eq!(line["weights"]["tensors"], 10);
    assert_eq!(line["weights"]["signs"]["constant"], 2);
    assert_eq!(line["tensors"][7]["duplicate_of"], "a.plain");
    assert_eq!(line["tensors"][5]["zero_rows"], 1);
    assert_eq!(line["tensors"][1]["mean"].as_f64().map(f64::is_finite), Some(true));

    let human = run(&folder, &["stats", "a.safetensors"]);
    let verdict = "weights 1 tensor contains NaN, 1 tensor contains infinities, \
                   1 tensor is all zeros, 2 tensors are constant, 1 tensor has rows of zeros, \
                   1 tensor has an outlier, 1 tensor is a duplicate";
    assert_eq!(human.out.lines().last(), Some(verdict));
    let csv = run(&folder, &["stats", "a.safetensors", "--output", "csv"]);
    let lines: Vec<_> = csv.out.lines().collect();
    assert_eq!(lines.len(), 11);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns), "{csv:?}");
    assert!(lines[6].starts_with("f.dead,f32,4x4,16,-1.0,0.875,"), "{}", lines[6]);
}

#[test]
fn sign_without_fault_keeps_exit_code() {
    let folder = Folder::new();
    folder.write("a.safetensors", &file(&[("w", &[16], ramp(16)), ("z", &[4], vec![0.0; 4])]));
    let found = run(&folder, &["stats", "a.safetensors"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.ends_with("weights 1 tensor is all zeros\n"), "{found:?}");
    folder.write("b.safetensors", &file(&[("w", &[16], ramp(16))]));
    let found = run(&folder, &["stats", "b.safetensors"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.ends_with("weights nothing suspicious in 1 tensor\n"), "{found:?}");
}

#[test]
fn unmeasured_tensor_has_reason() {
    let folder = Folder::new();
    folder.write("u.stb", &with_unknown_type());
    let found = run(&folder, &["stats", "u.stb", "--json"]);
    let line = found.json();
    assert_eq!((found.code, &line["weights"]["skipped"]), (1, &json!(1)), "{line}");
    assert!(line["tensors"][1]["why"].as_str().is_some_and(|why| why.contains("not numeric")));
    // Complex numbers, in a valid file.
    let complex =
        safetensors::Tensor { data: vec![0; 16], ..safetensors::Tensor::new("c", "C64", &[2]) };
    let plain =
        safetensors::Tensor { data: vec![1, 2], ..safetensors::Tensor::new("w", "U8", &[2]) };
    let both = safetensors::File { metadata: None, tensors: vec![complex, plain] };
    folder.write("c.safetensors", &both.encode());
    let found = run(&folder, &["stats", "c.safetensors", "--json"]);
    let line = found.json();
    assert_eq!((found.code, &line["verdict"]), (3, &json!("valid")), "{line}");
    let weights = &line["weights"];
    assert_eq!((&weights["tensors"], &weights["skipped"]), (&json!(1), &json!(1)));
    assert_eq!(weights["verdict"], "unchecked");
    // A format that is not read, and a missing file.
    folder.write("text", b"no tensors");
    assert_eq!(run(&folder, &["stats", "text", "--json"]).code, 1);
    let missing = run(&folder, &["stats", "none.stb", "--json"]);
    assert_eq!(missing.code, 2);
    assert!(missing.json()["error"].is_string(), "{missing:?}");
}

#[test]
fn shard_index_has_no_weights() {
    let folder = Folder::new();
    folder.write("m.safetensors", &file(&[("w", &[16], vec![f32::NAN; 16])]));
    let index = br#"{"metadata": {}, "weight_map": {"w": "m.safetensors"}}"#;
    folder.write("m.safetensors.index.json", index);
    let found = run(&folder, &["stats", "m.safetensors.index.json", "--json"]);
    let line = found.json();
    assert_eq!((found.code, &line["verdict"]), (3, &json!("valid")), "{line}");
    assert_eq!(line["weights"]["verdict"], "unchecked");
    assert_eq!(line["weights"]["sentence"], "no weights to scan");
}

#[test]
fn csv_names_have_no_control_characters() {
    let folder = Folder::new();
    folder.write(
        "a.safetensors",
        &file(&[("a\u{1b}[2J,b", &[16], ramp(16)), ("c", &[16], ramp(16))]),
    );
    let found = run(&folder, &["stats", "a.safetensors", "--output", "csv"]);
    let lines: Vec<_> = found.out.lines().collect();
    assert!(lines[1].starts_with("\"a\\u{1b}[2J,b\",f32,16,"), "{found:?}");
    assert!(lines[2].ends_with(",duplicate,\"a\\u{1b}[2J,b\","), "{found:?}");
    assert!(!found.out.contains('\u{1b}'), "{found:?}");
}

/// Two tensors of rows of 1,200 bytes, of which the data from `zeros` on is zero, with a header that
/// is padded to `align`.
fn broken_off(zeros: impl Fn(&mut [u8]), align: usize) -> Vec<u8> {
    let tensors = vec![("a", &[20, 300][..], ramp(6000)), ("b", &[20, 300], ramp(6000))];
    let file = file(&tensors);
    let header = u64::from_le_bytes(file[..8].try_into().expect("8 bytes")) as usize;
    let padded = (8 + header).next_multiple_of(align) - 8;
    let mut bytes = (padded as u64).to_le_bytes().to_vec();
    bytes.extend(&file[8..8 + header]);
    bytes.resize(8 + padded, b' ');
    bytes.extend(&file[8 + header..]);
    zeros(&mut bytes);
    bytes
}

/// As a download leaves it that was preallocated and broke off: the right length, and zeros from
/// a page on.
#[test]
fn data_that_breaks_off_in_zeros_is_found() {
    let folder = Folder::new();
    for (page, name) in [(2, "a"), (5, "a"), (6, "b"), (10, "b")] {
        let bytes = broken_off(|bytes| bytes[page * 4096..].fill(0), 8);
        folder.write("w.safetensors", &bytes);
        let line = run(&folder, &["check", "w.safetensors", "--json"]).json();
        assert_eq!(line["findings"].as_array().map(Vec::len), Some(1), "{line}");
        let found = &line["findings"][0];
        let len = bytes.len() - page * 4096;
        let expected = json!(["DATA-ZEROS", "lint", page * 4096, len, name]);
        let fields = ["rule", "severity", "offset", "len", "entry"].map(|key| found[key].clone());
        assert_eq!(json!(fields), expected, "{line}");
        assert_eq!(run(&folder, &["check", "w.safetensors"]).code, 0);
        assert_eq!(run(&folder, &["check", "w.safetensors", "--deny", "lint"]).code, 1);
        let structure = run(&folder, &["check", "w.safetensors", "--structure", "--json"]).json();
        assert_eq!(structure["findings"], json!([]));
        let stats = run(&folder, &["stats", "w.safetensors"]);
        let words = format!("\"{name}\" breaks off in zeros at {}", page * 4096);
        assert!(stats.out.contains(&words) && !stats.out.contains("nothing"), "{stats:?}");
        let json = run(&folder, &["stats", "w.safetensors", "--json"]).json();
        let expected = json!({"name": name, "offset": page * 4096, "len": len});
        assert_eq!(json["broken_off"], expected);
        assert_eq!(json["weights"]["signs"]["cut"], 1, "{json}");
    }
}

/// What `check` finds in `w.safetensors`: rule, offset, length and tensor.
fn ranges(folder: &Folder) -> Vec<(String, u64, u64, String)> {
    let line = run(folder, &["check", "w.safetensors", "--json"]).json();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let number = |it: &Value| it.as_u64().unwrap_or(u64::MAX);
    let all = line["findings"].as_array().cloned().unwrap_or_default();
    let of = |it: &Value| {
        (text(&it["rule"]), number(&it["offset"]), number(&it["len"]), text(&it["entry"]))
    };
    all.iter().map(of).collect()
}

/// Runs of whole pages, one after another, that cut tensors or cover them: each has its range.
#[test]
fn check_finds_runs_of_pages_and_their_ranges() {
    const P: usize = 4096;
    let folder = Folder::new();
    let name = |index: usize| ["a", "b", "c"][index].to_owned();
    // Three tensors of 1.2 MB, in rows of 4,000 bytes.
    let tensors: Vec<_> = (0..3).map(|i| (["a", "b", "c"][i], ramp(300_000))).collect();
    let tensors: Vec<_> =
        tensors.iter().map(|(name, it)| (*name, &[300, 1000][..], it.clone())).collect();
    let plain = file(&tensors);
    let zeros = |runs: &[(usize, usize)]| {
        let mut bytes = plain.clone();
        runs.iter().for_each(|(from, end)| bytes[from * P..end * P].fill(0));
        bytes
    };
    for (runs, owners) in [
        (vec![], vec![]),
        (vec![(10, 40)], vec![0]),
        // All of the second tensor, and parts of the others.
        (vec![(100, 700)], vec![0]),
        (vec![(10, 40), (100, 200), (500, 640)], vec![0, 0, 1]),
        // The last one reaches the end of the file.
        (vec![(310, 400), (700, plain.len() / P)], vec![1, 2]),
    ] {
        let mut bytes = zeros(&runs);
        let mut expected: Vec<_> = runs
            .iter()
            .zip(owners)
            .map(|((from, end), owner)| {
                let (from, len) = ((from * P) as u64, ((end - from) * P) as u64);
                ("DATA-ZEROS".to_owned(), from, len, name(owner))
            })
            .collect();
        if runs.last().is_some_and(|(_, end)| *end == bytes.len() / P) {
            let (len, whole) = (bytes.len(), bytes.len() / P * P);
            bytes[whole..].fill(0);
            expected.last_mut().unwrap().2 += (len - whole) as u64;
        }
        folder.write("w.safetensors", &bytes);
        assert_eq!(ranges(&folder), expected);
        assert_eq!(run(&folder, &["check", "w.safetensors"]).code, 0);
        let denied = i32::from(!expected.is_empty());
        assert_eq!(run(&folder, &["check", "w.safetensors", "--deny", "lint"]).code, denied);
        let structure = run(&folder, &["check", "w.safetensors", "--structure", "--json"]).json();
        assert_eq!(structure["findings"], json!([]));
    }
    // Copies of one page.
    let mut bytes = plain.clone();
    let page = bytes[50 * P..51 * P].to_vec();
    (50..350).for_each(|at| bytes[at * P..(at + 1) * P].copy_from_slice(&page));
    folder.write("w.safetensors", &bytes);
    let expected = ("DATA-REPEATED".to_owned(), 50 * P as u64, 300 * P as u64, name(0));
    assert_eq!(ranges(&folder), [expected]);
    // A run with an island is two: the range of the first is what is zero.
    let bytes = zeros(&[(100, 340), (341, 700)]);
    folder.write("w.safetensors", &bytes);
    for (_, from, len, _) in ranges(&folder) {
        let (from, end) = (from as usize, (from + len) as usize);
        assert!(bytes[from..end].iter().all(|byte| *byte == 0), "{from} {end}");
    }
    // Zeros of the model: a tensor, and rows of one.
    for rows in [0..300, 20..170] {
        let mut bytes = plain.clone();
        let data = bytes.len() - 3 * 1_200_000;
        bytes[data + 1_200_000 + rows.start * 4000..][..rows.len() * 4000].fill(0);
        folder.write("w.safetensors", &bytes);
        assert_eq!(ranges(&folder), []);
    }
}

/// As a disk leaves them that lost pages, or a download in pieces.
#[test]
fn pages_of_zeros_in_the_middle_are_found_by_a_sweep() {
    let folder = Folder::new();
    let bytes = broken_off(|bytes| bytes[8192..16_384].fill(0), 8);
    folder.write("w.safetensors", &bytes);
    assert_eq!(ranges(&folder), [("DATA-ZEROS".to_owned(), 8192, 8192, "a".to_owned())]);
    let json = run(&folder, &["stats", "w.safetensors", "--json"]).json();
    assert_eq!(json["tensors"][0]["hole"], json!({"offset": 8192, "len": 8192}), "{json}");
    assert_eq!(json["tensors"][1].get("hole"), None);
    assert!(json["weights"]["sentence"].as_str().is_some_and(|it| it.contains("pages of zeros")));
    assert_eq!(json.get("broken_off"), None);
    let human = run(&folder, &["stats", "w.safetensors"]);
    let line = "  \"a\" has zeros from 8192 to 16383, whole pages of a disk";
    assert!(human.code == 0 && human.out.lines().any(|it| it == line), "{human:?}");
    // A sound file has none of both.
    folder.write("w.safetensors", &broken_off(|_| {}, 8));
    let json = run(&folder, &["stats", "w.safetensors", "--json"]).json();
    assert!(
        json["tensors"].as_array().is_some_and(|all| all.iter().all(|it| it.get("hole").is_none()))
    );
}

/// As a disk or a cache leaves them that fails: copies of one page, up to the end or in the middle.
#[test]
fn copies_of_one_page_are_found() {
    let folder = Folder::new();
    let repeated = |from: usize, end: usize| {
        broken_off(
            |bytes| {
                let page = bytes[from * 4096..][..4096].to_vec();
                let end = bytes.len().min(end.saturating_mul(4096));
                bytes[from * 4096..end].chunks_mut(4096).for_each(|to| {
                    to.copy_from_slice(&page[..to.len()]);
                });
            },
            8,
        )
    };
    let len = repeated(5, 5).len();
    for (page, name) in [(2, "a"), (5, "a"), (6, "b"), (9, "b")] {
        folder.write("w.safetensors", &repeated(page, usize::MAX));
        let line = run(&folder, &["check", "w.safetensors", "--json"]).json();
        let found = &line["findings"][0];
        let expected = json!(["DATA-REPEATED", "lint", page * 4096, len - page * 4096, name, len]);
        let fields = ["rule", "severity", "offset", "len", "entry", "found"];
        let fields = fields.map(|key| found[key].clone());
        assert_eq!(json!(fields), expected, "{line}");
        assert_eq!(run(&folder, &["check", "w.safetensors", "--deny", "lint"]).code, 1);
        let stats = run(&folder, &["stats", "w.safetensors"]);
        let words = format!("\"{name}\" breaks off in copies of one page at {}", page * 4096);
        assert!(stats.out.contains(&words) && !stats.out.contains("nothing"), "{stats:?}");
        let json = run(&folder, &["stats", "w.safetensors", "--json"]).json();
        let rest = len - page * 4096;
        let expected = json!({"name": name, "offset": page * 4096, "len": rest, "repeated": true});
        assert_eq!(json["broken_off"], expected);
    }
    folder.write("w.safetensors", &repeated(2, 4));
    assert_eq!(ranges(&folder), [("DATA-REPEATED".to_owned(), 8192, 8192, "a".to_owned())]);
    let json = run(&folder, &["stats", "w.safetensors", "--json"]).json();
    let hole = json!({"offset": 8192, "len": 8192, "repeated": true});
    assert_eq!(json["tensors"][0]["hole"], hole, "{json}");
    let human = run(&folder, &["stats", "w.safetensors"]);
    assert!(human.out.contains("\"a\" has copies of one page from 8192 to 16383"), "{human:?}");
    assert!(human.out.contains("1 tensor repeats a page"), "{human:?}");
    // One page is no copy, and equal elements that begin with a tensor may be real.
    let ones = vec![("a", &[3, 300][..], ramp(900)), ("b", &[40, 300], vec![1.0; 12_000])];
    for bytes in [repeated(2, 3), file(&ones)] {
        folder.write("w.safetensors", &bytes);
        let line = run(&folder, &["check", "w.safetensors", "--json"]).json();
        assert_eq!(line["findings"], json!([]), "{line}");
        let stats = run(&folder, &["stats", "w.safetensors"]);
        assert!(!stats.out.contains("page"), "{stats:?}");
    }
}

/// Zeros that a model has, and zeros of other kinds.
#[test]
fn real_zeros_do_not_break_off() {
    let folder = Folder::new();
    let zero = |from: usize| move |bytes: &mut [u8]| bytes[from..].fill(0);
    let nothing = |_: &mut [u8]| {};
    let data = 4096;
    for (what, bytes) in [
        ("no zeros", broken_off(nothing, 8)),
        ("the second tensor", broken_off(zero(data + 24_000), 4096)),
        ("rows of the second", broken_off(zero(data + 24_000 + 5 * 1200), 4096)),
        ("both tensors", broken_off(zero(data), 4096)),
        ("not from a page on", broken_off(zero(5 * 4096 + 20), 8)),
        (
            "less than a page",
            broken_off(
                |bytes| {
                    let len = bytes.len();
                    bytes[len - 4000..].fill(0);
                },
                8,
            ),
        ),
        (
            "not to the end",
            broken_off(
                |bytes| {
                    let len = bytes.len();
                    bytes[8192..len - 4].fill(0);
                },
                8,
            ),
        ),
    ] {
        folder.write("w.safetensors", &bytes);
        let line = run(&folder, &["check", "w.safetensors", "--json"]).json();
        assert_eq!(line["findings"], json!([]), "{what}: {line}");
        let stats = run(&folder, &["stats", "w.safetensors", "--json"]).json();
        assert_eq!(stats.get("broken_off"), None, "{what}");
        let hole = |it: &Value| it.get("hole").is_some();
        let holes = stats["tensors"].as_array().expect("a list").iter().filter(|it| hole(it));
        assert_eq!(holes.count(), usize::from(what == "not to the end"), "{what}: {stats}");
    }
    // A row that begins with a page: 1,024 numbers of 4 bytes, after a header of a page.
    let tensors = vec![("a", &[4, 1024][..], [ramp(2048), vec![0.0; 2048]].concat())];
    let plain = file(&tensors);
    let header = u64::from_le_bytes(plain[..8].try_into().expect("8 bytes")) as usize;
    let mut bytes = (4088_u64).to_le_bytes().to_vec();
    bytes.extend(&plain[8..8 + header]);
    bytes.resize(4096, b' ');
    bytes.extend(&plain[8 + header..]);
    folder.write("w.safetensors", &bytes);
    let line = run(&folder, &["check", "w.safetensors", "--json"]).json();
    assert_eq!(line["findings"], json!([]), "{line}");
}
