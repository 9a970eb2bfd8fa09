//! NumPy arrays and archives of arrays, in every subcommand.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::idv::Compression;
use weighbridge_tests::encode::npy::Npy;
use weighbridge_tests::encode::npz::{Member, Npz};

fn array(descr: &str, width: usize) -> Npy {
    Npy::new(descr, width, &[2, 3])
}

fn columns() -> Npy {
    let mut npy = array("'<f4'", 4);
    let text = String::from_utf8(npy.dictionary).expect("ASCII");
    npy.dictionary = text.replace("False", "True").into_bytes();
    npy
}

/// One stored and one deflated array.
fn archive() -> Npz {
    let weight = Member::new("weight", &array("'<f4'", 4)).deflated();
    Npz::new(vec![weight, Member::new("ids", &array("'>i8'", 8))])
}

#[test]
fn array_is_extracted_unchanged() {
    let folder = Folder::new();
    for (name, npy) in
        [("a.npy", array("'<f4'", 4)), ("big.npy", array("'>i2'", 2)), ("columns.npy", columns())]
    {
        folder.write(name, &npy.encode());
        let checked = run(&folder, &["check", name, "--json"]);
        assert_eq!((checked.code, &checked.json()["format"]), (0, &json!("npy")), "{checked:?}");
        assert_eq!(run(&folder, &["extract", name, "", "-o", "out", "--force"]).code, 0, "{name}");
        let out = std::fs::read(folder.path().join("out")).expect("it was written");
        assert_eq!(out, npy.encode(), "{name}");
    }
    let tensors = run(&folder, &["inspect", "columns.npy", "--json"]).json()["tensors"].clone();
    assert_eq!(tensors[0]["layout"], "column-major");
    assert_eq!(tensors[0]["shape"], json!([2, 3]));
}

#[test]
fn stored_and_deflated_members_are_tensors() {
    let folder = Folder::new();
    folder.write("a.npz", &archive().encode());
    let checked = run(&folder, &["check", "a.npz", "--json"]);
    assert_eq!((checked.code, &checked.json()["format"]), (0, &json!("npz")), "{checked:?}");
    for (name, npy) in [("weight", array("'<f4'", 4)), ("ids", array("'>i8'", 8))] {
        assert_eq!(run(&folder, &["extract", "a.npz", name, "-o", "out"]).code, 0, "{name}");
        let out = std::fs::read(folder.path().join("out")).expect("it was written");
        assert_eq!(out, npy.encode(), "{name}");
    }
    // The shape of a deflated array is not stored in plain bytes.
    let long = Npy::new("'<f8'", 8, &[5_000, 40]);
    folder.write("long.npz", &Npz::new(vec![Member::new("a", &long).deflated()]).encode());
    let tensors = run(&folder, &["inspect", "long.npz", "--json"]).json()["tensors"].clone();
    assert_eq!(tensors[0]["shape"], json!([5_000, 40]));
    let digests = |file: &str| run(&folder, &["digest", file, "--json"]).json()["tensors"].clone();
    let mut stored = archive();
    stored.members[0].deflated = false;
    folder.write("stored.npz", &stored.encode());
    let digest = digests("a.npz")[0]["sha256"].clone();
    assert!(digest.is_string());
    assert_eq!(digests("stored.npz")[0]["sha256"], digest);
    // A stream's size is checked whatever the type of its elements.
    let mut long = archive();
    long.members[0] = Member::new("text", &array("'float32'", 4)).deflated();
    let sound = run_on(&folder, &long);
    assert_eq!(sound.code, 3, "{sound:?}");
    let size = long.members[0].content.len() as u32 - 1;
    long.members[0].said.size = Some(size);
    assert_eq!(run_on(&folder, &long).code, 1);
}

/// The CRC-32 of data that was not decoded is not compared.
#[test]
fn deflated_member_beyond_work_limit_is_unchecked() {
    let folder = Folder::new();
    let zeros = Npy::new("'|u1'", 1, &[50_000]);
    let members = ["a", "b", "c"].map(|name| Member::new(name, &zeros).deflated());
    folder.write("a.npz", &Npz::new(members.into()).encode());
    for (work, code) in [("0", 3), ("1000", 3), ("60000", 3), ("120000", 3), ("200000", 0)] {
        let checked = run(&folder, &["check", "a.npz", "--max-work", work, "--json"]);
        assert_eq!((checked.code, &checked.json()["findings"]), (code, &json!([])), "{checked:?}");
    }
}

/// The bytes of `np.array([("cat", 1)], dtype=[("n", "U3"), ("k", "i4")])`, and a broken one.
#[test]
fn text_in_record_is_checked() {
    let folder = Folder::new();
    let text: Vec<u8> = "cat".chars().flat_map(|point| u32::from(point).to_le_bytes()).collect();
    let data = [text, 1_i32.to_le_bytes().to_vec()].concat();
    let sound = Npy { data, ..Npy::new("[('n', '<U3'), ('k', '<i4')]", 0, &[1]) };
    let mut broken = sound.clone();
    broken.data[11] = 0xFF;
    for (npy, code) in [(sound, 0), (broken, 1)] {
        let (stored, deflated) = (Member::new("r", &npy), Member::new("r", &npy).deflated());
        folder.write("a.npy", &npy.encode());
        folder.write("stored.npz", &Npz::new(vec![stored]).encode());
        folder.write("deflated.npz", &Npz::new(vec![deflated]).encode());
        for (file, name) in [("a.npy", ""), ("stored.npz", "r"), ("deflated.npz", "r")] {
            let checked = run(&folder, &["check", file, "--json"]);
            assert_eq!(checked.code, code, "{file}: {checked:?}");
            let extracted = run(&folder, &["extract", file, name, "-o", "out", "--force"]);
            assert_eq!(extracted.code, 0, "{file}: {extracted:?}");
            assert_eq!(extracted.err.contains("NPY-TEXT"), code == 1, "{file}: {extracted:?}");
            let out = std::fs::read(folder.path().join("out")).expect("it was written");
            assert_eq!(out, npy.encode(), "{file}");
            if code == 1 {
                assert_eq!(checked.json()["findings"][0]["rule"], "NPY-TEXT", "{file}");
            }
        }
    }
}

fn run_on(folder: &Folder, file: &Npz) -> Run {
    folder.write("other.npz", &file.encode());
    run(folder, &["check", "other.npz", "--json"])
}

#[test]
fn damaged_array_is_invalid_and_other_archive_unsupported() {
    let folder = Folder::new();
    let cut = array("'<f4'", 4).encode();
    folder.write("cut.npy", &cut[..100]);
    folder.write("short.npy", &cut[..cut.len() - 1]);
    let whole = archive().encode();
    folder.write("cut.npz", &whole[..whole.len() - 30]);
    for name in ["cut.npy", "short.npy", "cut.npz"] {
        let checked = run(&folder, &["check", name, "--json"]);
        assert_eq!((checked.code, &checked.json()["verdict"]), (1, &json!("invalid")), "{name}");
    }
    let pickle = Member::of("archive/data.pkl", b"\x80\x02}q\0.".to_vec());
    let pytorch = Npz::new(vec![pickle.clone(), Member::of("archive/data/0", vec![0; 8])]);
    let alone = Npz::new(vec![pickle.clone()]);
    let mixed = Npz::new(vec![Member::new("a", &array("'<f4'", 4)), pickle]);
    let text = Member::of("x.txt", vec![7]);
    let late = Npz::new(vec![text.clone(), Member::new("a", &array("'<f4'", 4))]);
    for (name, file, said) in [
        ("late.zip", &late, "a zip archive"),
        ("model.pt", &alone, "a PyTorch archive (zip) of a pickle, which imports nothing"),
        ("model.npz", &pytorch, "a PyTorch archive (zip) of a pickle, which imports nothing"),
        ("mixed.npz", &mixed, "a zip archive that holds a pickle, which imports nothing"),
        ("other.zip", &Npz::new(vec![text]), "a zip archive"),
    ] {
        folder.write(name, &file.encode());
        let checked = run(&folder, &["check", name, "--json"]);
        let json = checked.json();
        assert_eq!((checked.code, &json["verdict"]), (3, &json!("unsupported")), "{name}");
        assert!(json["diagnosis"].as_str().is_some_and(|it| it.starts_with(said)), "{json}");
    }
    assert_eq!(run(&folder, &["check", "mixed.npz", "--deny", "pickle"]).code, 1);
    folder.write("empty.zip", &Npz::default().encode());
    assert_eq!(run(&folder, &["check", "empty.zip"]).code, 1);
    folder.write("empty.npz", &Npz::default().encode());
    assert_eq!(run(&folder, &["check", "empty.npz"]).code, 0);
}

#[test]
fn object_array_is_refused_and_others_are_read() {
    let folder = Folder::new();
    let weight = array("'<f4'", 4);
    let file = Npz::new(vec![
        Member::new("names", &array("'|O'", 8)),
        Member::new("weight", &weight).deflated(),
    ]);
    folder.write("a.npz", &file.encode());
    let checked = run(&folder, &["check", "a.npz", "--json"]);
    assert_eq!((checked.code, &checked.json()["verdict"]), (1, &json!("invalid")), "{checked:?}");
    assert!(checked.out.contains("the data is a pickle, which runs code"), "{checked:?}");
    assert_eq!(run(&folder, &["extract", "a.npz", "weight", "-o", "out"]).code, 0);
    assert_eq!(std::fs::read(folder.path().join("out")).expect("written"), weight.encode());
    assert_ne!(run(&folder, &["extract", "a.npz", "names", "-o", "no"]).code, 0);
    // By itself it is a pickle like any other.
    folder.write("broken.npy", &array("'|O'", 8).encode());
    assert_eq!(run(&folder, &["check", "broken.npy"]).code, 1);
    let objects = Npy { data: b"\x80\x03N.".to_vec(), ..array("'|O'", 8) };
    folder.write("o.npy", &objects.encode());
    assert_eq!(run(&folder, &["check", "o.npy"]).code, 3);
    assert_eq!(run(&folder, &["check", "o.npy", "--deny", "pickle"]).code, 1);
}

#[test]
fn objects_are_found_in_members_of_any_name() {
    let folder = Folder::new();
    let hidden = Member::of("weights", array("'|O'", 8).encode());
    for hidden in [hidden.clone(), hidden.deflated()] {
        let file = Npz::new(vec![Member::new("a", &array("'<f4'", 4)), hidden]);
        let checked = run_on(&folder, &file);
        assert_eq!(checked.code, 1, "{checked:?}");
        assert!(checked.out.contains("runs code when it is loaded"), "{checked:?}");
    }
}

#[test]
fn unexamined_member_is_unchecked() {
    let folder = Folder::new();
    let other = Member::of("weights", array("'<f4'", 4).encode());
    let file = Npz::new(vec![Member::new("a", &array("'<f4'", 4)), other]);
    let checked = run_on(&folder, &file);
    assert_eq!(checked.code, 3, "{checked:?}");
    assert!(checked.out.contains("does not end in .npy"), "{checked:?}");
}

/// Nothing shows whether the elements are objects.
#[test]
fn array_of_unread_type_is_denied_like_pickle() {
    let folder = Folder::new();
    let mut other_method = Member::new("a", &array("'|O'", 8));
    other_method.said.method = Some(12);
    let long =
        Npy { padding: Some([[b' '; 20_000].as_slice(), b"\n"].concat()), ..array("'|O'", 8) };
    let header = Member::new("a", &long).deflated();
    // As many empty blocks before the header as it takes.
    let hidden = Member::of("hidden", array("'|O'", 8).encode()).deflated();
    let blocks = [0, 0, 0, 0xFF, 0xFF].repeat(3_000);
    let stream = Compression::Deflate.apply(&hidden.content);
    let hidden = Member { data: Some([blocks, stream].concat()), ..hidden };
    let beside = vec![Member::new("a", &array("'<f4'", 4)), hidden];
    let spelled = Member::new("a", &array("'\\x4f'", 8));
    for members in [vec![other_method], vec![header], beside, vec![spelled]] {
        let checked = run_on(&folder, &Npz::new(members));
        assert_eq!(checked.code, 3, "{checked:?}");
        let denied = run(&folder, &["check", "other.npz", "--deny", "pickle"]);
        assert_eq!(denied.code, 1, "{denied:?}");
    }
    folder.write("a.npy", &array("'float32'", 4).encode());
    assert_eq!(run(&folder, &["check", "a.npy"]).code, 3);
    assert_eq!(run(&folder, &["check", "a.npy", "--deny", "pickle"]).code, 1);
}

/// `numpy.load` reads it as well.
#[test]
fn array_before_stray_bytes_of_its_stream_is_read() {
    let folder = Folder::new();
    let npy = array("'<f4'", 4);
    let mut member = Member::new("a", &npy).deflated();
    let stream = Compression::Deflate.apply(&member.content);
    member.data = Some([&stream[..], b"stray"].concat());
    let strict = run_on(&folder, &Npz::new(vec![member]));
    assert_eq!(strict.code, 1, "{strict:?}");
    assert_eq!(run(&folder, &["check", "other.npz", "--lenient"]).code, 0);
    assert_eq!(run(&folder, &["extract", "other.npz", "a", "-o", "out"]).code, 0);
    assert_eq!(std::fs::read(folder.path().join("out")).expect("written"), npy.encode());
    folder.write("a.npy", &npy.encode());
    let digest = |file: &str| {
        let digested = run(&folder, &["digest", file, "--json"]);
        (digested.code, digested.json()["tensors"][0]["sha256"].clone())
    };
    assert_eq!(digest("other.npz"), digest("a.npy"));
    let values = run(&folder, &["inspect", "other.npz", "--lenient", "--values", "2"]);
    assert_eq!(values.code, 0, "{values:?}");
}

/// As `np.savez(labels=np.array(["cat", "dog"]))` writes it, and in every other form.
#[test]
fn text_is_valid_and_shown() {
    let folder = Folder::new();
    let points = |little: bool| {
        let all = "cat\0dog\0ox\0\0eel\0".chars().map(u32::from);
        let each = |c: u32| if little { c.to_le_bytes() } else { c.to_be_bytes() };
        all.flat_map(each).collect::<Vec<u8>>()
    };
    let text = |descr: &str, fortran: &str, shape: &str| {
        let npy = Npy::of(&format!(
            "{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
        ));
        Npy { data: points(descr.starts_with("'<")), ..npy }
    };
    let rows = json!(["cat", "dog", "ox", "eel"]);
    for (npy, values) in [
        (text("'<U4'", "False", "(4,)"), &rows),
        (text("'>U4'", "False", "(2, 2)"), &rows),
        (text("'<U4'", "True", "(2, 2)"), &json!(["cat", "ox", "dog", "eel"])),
    ] {
        let stored = Member::new("labels", &npy);
        for member in [stored.clone(), stored.deflated()] {
            let checked = run_on(&folder, &Npz::new(vec![member]));
            assert_eq!((checked.code, &checked.json()["verdict"]), (0, &json!("valid")));
            let shown = run(&folder, &["inspect", "other.npz", "--values", "9", "--json"]);
            let tensor = shown.json()["tensors"][0].clone();
            assert_eq!(&tensor["values"], values, "{tensor}");
            assert_eq!((&tensor["dtype"], shown.code), (&json!("utf32<4>"), 0));
            assert_eq!(run(&folder, &["extract", "other.npz", "labels", "-o", "out"]).code, 0);
            let out = std::fs::read(folder.path().join("out")).expect("it was written");
            assert_eq!(out, npy.encode());
        }
    }
    let digest = |descr| {
        folder.write("a.npy", &text(descr, "False", "(4,)").encode());
        let digest = run(&folder, &["digest", "a.npy", "--json"]).json();
        assert!(digest["tensors"][0]["sha256"].is_string(), "{digest}");
        digest["tensors"][0]["sha256"].clone()
    };
    assert_eq!(digest("'<U4'"), digest("'>U4'"));
}

/// As `np.save` writes and reads them.
#[test]
fn field_names_before_version_3_are_latin_1() {
    let folder = Folder::new();
    let dictionary = b"{'descr': [('\xE9', '<f4')], 'fortran_order': False, 'shape': (2,), }";
    let data = [1.0_f32, 2.0].map(f32::to_le_bytes).concat();
    for version in [(1, 0), (2, 0)] {
        let npy =
            Npy { version, dictionary: dictionary.to_vec(), data: data.clone(), ..Npy::of("") };
        folder.write("a.npy", &npy.encode());
        folder.write("a.npz", &Npz::new(vec![Member::new("", &npy).deflated()]).encode());
        for file in ["a.npy", "a.npz"] {
            let checked = run(&folder, &["check", file]);
            assert!(
                checked.code == 0 && checked.out.contains("lint      NPY-ASCII"),
                "{checked:?}"
            );
            let shown = run(&folder, &["inspect", file, "--values", "9", "--json"]).json();
            assert_eq!(shown["tensors"][0]["values"], json!([{"é": 1.0}, {"é": 2.0}]), "{shown}");
            let extracted = run(&folder, &["extract", file, "", "-o", "out", "--force"]);
            assert_eq!(extracted.code, 0, "{extracted:?}");
            let out = std::fs::read(folder.path().join("out")).expect("it was written");
            let header = &out[..out.len() - data.len()];
            let has = |name: &[u8]| header.windows(name.len()).any(|it| it == name);
            let name: &[u8] = if out[6] < 3 { b"('\xE9'" } else { "('é'".as_bytes() };
            assert!(has(name) && out.ends_with(&data), "{out:?}");
        }
    }
}

#[test]
fn dates_and_records_are_valid_and_shown() {
    let folder = Folder::new();
    let days = |days: [i64; 2]| days.map(i64::to_le_bytes).concat();
    let none = i64::MIN;
    let records = [[1, 0, 0x3C, 0, b'a', 0], [2, 0, 0xBC, 0, b'b', b'c']].concat();
    for (descr, data, dtype, values) in [
        ("'<M8[D]'", days([18_321, none]), "datetime64<D>", json!(["2020-02-29", "NaT"])),
        ("'<m8[25us]'", days([2, -1]), "timedelta64<25us>", json!(["50 us", "-25 us"])),
        ("'|S2'", b"ab\0\0".to_vec(), "bytes<2>", json!(["ab", ""])),
        ("'|V1'", vec![0, 255], "void<1>", json!(["00", "ff"])),
        (
            "[('i', '|u1'), ('', '|V1'), ('x', '>f2'), ('s', '|S2')]",
            records,
            "record [('i', '|u1'), ('', '|V1'), ('x', '>f2'), ('s', '|S2')]",
            json!([{"i": 1, "x": 1.0, "s": "a"}, {"i": 2, "x": -1.0, "s": "bc"}]),
        ),
    ] {
        let npy = Npy { data, ..Npy::new(descr, 0, &[2]) };
        folder.write("a.npy", &npy.encode());
        assert_eq!(run(&folder, &["check", "a.npy"]).code, 0, "{descr}");
        let shown = run(&folder, &["inspect", "a.npy", "--values", "9", "--json"]);
        let tensor = shown.json()["tensors"][0].clone();
        assert_eq!(tensor["dtype"], dtype);
        assert_eq!(tensor["values"], values, "{descr}");
        assert_eq!(run(&folder, &["extract", "a.npy", "", "-o", "out", "--force"]).code, 0);
        let out = std::fs::read(folder.path().join("out")).expect("it was written");
        assert_eq!(out, npy.encode(), "{descr}");
    }
    // More texts than 16 are not checked, which the output says, and long floats are not shown.
    folder
        .write("a.npy", &Npy::new("[('a', [('n', '|u1'), ('t', '<U1')], 17)]", 85, &[1]).encode());
    let checked = run(&folder, &["check", "a.npy"]);
    assert_eq!(checked.code, 3, "{checked:?}");
    assert!(checked.out.contains("fields of the elements are text"), "{checked:?}");
    folder.write("a.npy", &array("'<f16'", 16).encode());
    assert_eq!(run(&folder, &["check", "a.npy"]).code, 0);
    let shown = run(&folder, &["inspect", "a.npy", "--values", "9"]);
    assert!(shown.out.contains("cannot be shown"), "{shown:?}");
}

#[test]
fn structured_types_are_listed_with_their_spelling() {
    let folder = Folder::new();
    let descr = "[('id', '<i4'), ('x', '<f8', (2,))]";
    folder.write("a.npy", &Npy::new(descr, 20, &[3]).encode());
    let inspected = run(&folder, &["inspect", "a.npy", "--json"]).json();
    let tensor = &inspected["tensors"][0];
    let dtype = format!("record {descr}");
    assert_eq!((&tensor["status"], &tensor["dtype"]), (&json!(null), &json!(dtype)));
    assert_eq!(run(&folder, &["check", "a.npy"]).code, 0);
}

/// The values that `inspect` shows of the only array in `a.npy`.
fn values_of(folder: &Folder, npy: &Npy) -> Value {
    folder.write("a.npy", &npy.encode());
    let shown = run(folder, &["inspect", "a.npy", "--values", "3", "--json"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    shown.json()["tensors"][0]["values"].clone()
}

/// As `numpy.load` and `str` show them.
#[test]
fn complex_numbers_have_values_in_both_byte_orders_and_of_both_lengths() {
    let folder = Folder::new();
    let parts = [1.0_f32, 2.0, 3.25, -4.5];
    let bytes = |of: fn(f32) -> Vec<u8>| parts.iter().flat_map(|it| of(*it)).collect::<Vec<u8>>();
    for (descr, width, data) in [
        ("'<c8'", 8, bytes(|it| it.to_le_bytes().to_vec())),
        ("'>c8'", 8, bytes(|it| it.to_be_bytes().to_vec())),
        ("'<c16'", 16, bytes(|it| f64::from(it).to_le_bytes().to_vec())),
        ("'>c16'", 16, bytes(|it| f64::from(it).to_be_bytes().to_vec())),
    ] {
        let npy = Npy { data, ..Npy::new(descr, width, &[2]) };
        assert_eq!(values_of(&folder, &npy), json!([[1.0, 2.0], [3.25, -4.5]]), "{descr}");
    }
}

/// NumPy reads a unit over a number as so many of a smaller unit.
#[test]
fn dates_in_parts_of_a_unit_are_those_of_numpy() {
    let folder = Folder::new();
    let steps = [-3_i64, 0, 3].iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
    for (unit, expected) in [
        ("D/2", json!(["1969-12-30T12", "1970-01-01T00", "1970-01-02T12"])),
        ("h/4", json!(["1969-12-31T23:15", "1970-01-01T00:00", "1970-01-01T00:45"])),
        ("D/24", json!(["1969-12-31T21", "1970-01-01T00", "1970-01-01T03"])),
    ] {
        let descr = format!("'<M8[{unit}]'");
        let npy = Npy { data: steps.clone(), ..Npy::new(&descr, 8, &[3]) };
        assert_eq!(values_of(&folder, &npy), expected, "{unit}");
    }
}

/// `numpy.load` reads such a text as a record with the fields f0 and f1.
#[test]
fn list_of_types_in_a_text_is_unchecked_and_not_refused() {
    let folder = Folder::new();
    let dictionary = b"{'descr': '<i4,<U2', 'fortran_order': False, 'shape': (3,), }".to_vec();
    let npy = Npy { dictionary, data: vec![0; 36], ..Npy::new("'<i4'", 4, &[3]) };
    folder.write("a.npy", &npy.encode());
    let checked = run(&folder, &["check", "a.npy", "--json"]);
    let line = checked.json();
    assert_eq!((checked.code, &line["findings"]), (3, &json!([])), "{line}");
    // Objects in such a list are found.
    let dictionary = b"{'descr': '<i4,O', 'fortran_order': False, 'shape': (3,), }".to_vec();
    folder.write("a.npy", &Npy { dictionary, ..npy }.encode());
    let line = run(&folder, &["check", "a.npy", "--json"]).json();
    assert_eq!(line["findings"][0]["rule"], "NPY-OBJECT", "{line}");
}
