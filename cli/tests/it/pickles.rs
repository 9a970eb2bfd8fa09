//! What the command says of pickles, and of checkpoints of PyTorch.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::Checkpoint;

/// Every form of a type that makes NumPy load a pickle.
#[test]
fn array_of_objects_names_what_it_would_run_in_every_form_of_its_type() {
    let descrs = ["'|O'", "'3O'", "'(2,)O'", "'i4,O'", "'>O'", "'object'", "'T'", "[('a', 'T')]"];
    for descr in descrs {
        let folder = Folder::new();
        let dictionary = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}\n");
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((dictionary.len() as u16).to_le_bytes());
        file.extend(dictionary.as_bytes());
        file.extend(b"cposix\nsystem\n(S'id'\ntR.");
        folder.write("a.npy", &file);
        let found = run(&folder, &["check", "a.npy"]);
        assert_eq!(found.code, 1, "{descr}: {found:?}");
        assert!(found.out.contains("would run posix.system"), "{descr}: {found:?}");
    }
}

#[test]
fn inspect_lists_what_a_pickle_imports() {
    let folder = Folder::new();
    folder.write("x.pkl", b"cposix\nsystem\n(S'id'\ntR.");
    let shown = run(&folder, &["inspect", "x.pkl"]);
    let line =
        "imports of the pickle\n  not listed  called    posix.system  at 0, the object itself\n";
    assert!(shown.out.contains(line), "{shown:?}");
    let globals = &run(&folder, &["inspect", "x.pkl", "--json"]).json()["globals"];
    assert_eq!(globals.as_array().map(Vec::len), Some(1));
    assert_eq!(globals[0]["called"], true);
    assert_eq!((&globals[0]["standing"], &globals[0]["offset"]), (&"not listed".into(), &0.into()));
    assert_eq!(globals[0]["path"], "");
}

/// The path of the only name that a pickle imports.
fn path_in(pickle: &[u8]) -> Value {
    let folder = Folder::new();
    folder.write("x.pkl", pickle);
    run(&folder, &["inspect", "x.pkl", "--json"]).json()["globals"][0]["path"].clone()
}

#[test]
fn path_of_an_import_leads_to_its_result() {
    // {'a': {'b': [1, system('id')]}}
    assert_eq!(path_in(b"(S'a'\n(S'b'\n(I1\ncposix\nsystem\n(S'id'\ntRldd."), "a.b.1");
    // {'a': system}, {system: 1}
    assert_eq!(path_in(b"(S'a'\ncposix\nsystem\nd."), "a");
    assert_eq!(path_in(b"(cposix\nsystem\nI1\nd."), "#key");
    // The result is taken off the stack.
    assert_eq!(path_in(b"cposix\nsystem\n(S'id'\ntR0N."), Value::Null);
}

#[test]
fn inspect_prints_operations_around_findings_and_offsets() {
    let folder = Folder::new();
    folder.write("x.pkl", b"\x80\x02}X\x01\0\0\0acposix\nsystem\n(X\x02\0\0\0idtRs.");
    let shown = run(&folder, &["inspect", "x.pkl", "--opcodes=1"]);
    let lines = "operations\n         3  BINUNICODE        \"a\"\n         \
                 9  GLOBAL            posix system\n        23  MARK\n";
    assert!(shown.out.contains(lines), "{shown:?}");
    let args = ["inspect", "x.pkl", "--opcodes=0", "--at", "0", "--json"];
    let found = run(&folder, &args).json();
    let operations = &found["operations"][0]["operations"];
    let names: Vec<_> = (0..2).map(|at| operations[at]["name"].clone()).collect();
    assert_eq!(names, ["PROTO", "GLOBAL"], "{found}");
    assert_eq!(operations[1]["number"], 3);
}

#[test]
fn inspect_prints_operations_of_a_fault() {
    let folder = Folder::new();
    folder.write("x.pkl", b"\x80\x02]q\0\xFF.");
    let shown = run(&folder, &["inspect", "x.pkl", "--opcodes=0"]);
    let line = "operations\n         5  (none)  no operation has the byte 0xff\n";
    assert!(shown.out.contains(line), "{shown:?}");
}

#[test]
fn inspect_prints_storages_that_tensors_share() {
    let folder = Folder::new();
    folder.write("x.pt", &weighbridge_tests::samples::checkpoint());
    let shown = run(&folder, &["inspect", "x.pt", "--tree"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("  model\n    w        f32  [2, 3]"), "{shown:?}");
    assert!(shown.out.contains("storages\n  0  24 bytes at "), "{shown:?}");
    assert!(shown.out.contains("  model.w, model.row\n"), "{shown:?}");
    let storage = &run(&folder, &["inspect", "x.pt", "--json"]).json()["storages"][0];
    assert_eq!((&storage["size"], &storage["used"]), (&24.into(), &24.into()));
    assert_eq!(storage["tensors"], serde_json::json!([0, 1]));
}

/// A dot in a key is no step of the path.
#[test]
fn path_of_a_tensor_keeps_dots_of_keys() {
    let tensor = |pickle: Pickle, key: &str| pickle.text(key).tensor("0");
    let outer = Pickle::new(2).op(b'}').text("state.dict").op(b'}');
    let object = tensor(outer, "layer.w").op(b's').op(b's');
    let object = tensor(object, "flat.w").op(b's').stop();
    let folder = Folder::new();
    folder.write("x.pt", &Checkpoint::new(object, &[&[0; 12]]).encode());
    let json = run(&folder, &["inspect", "x.pt", "--json"]).json();
    let tensors = &json["tensors"];
    assert_eq!(tensors[0]["name"], "state.dict.layer.w");
    assert_eq!(tensors[0]["path"], json!(["state.dict", "layer.w"]));
    assert_eq!((&tensors[1]["name"], &tensors[1]["path"]), (&json!("flat.w"), &Value::Null));
    let shown = run(&folder, &["inspect", "x.pt", "--tree"]).out;
    let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
    let at = lines.iter().position(|line| *line == "  state").expect("a folder");
    assert_eq!(lines[at + 1..at + 3], ["    .dict", "      layer"], "{shown}");
    assert!(lines[at + 3].starts_with("        .w "), "{shown}");
}
