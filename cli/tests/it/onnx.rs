//! ONNX models with data in other files.

use super::*;
use weighbridge_tests::corpus;
use weighbridge_tests::encode::onnx::{Message, Model, Tensor, pair};

const MODEL: &str = "model.onnx";

/// A tensor of six floats whose data is in another file.
fn external(name: &str, entries: &[(&str, &str)]) -> (u64, Message) {
    let tensor = Tensor::new(name, &[2, 3]).head().text(8, name);
    let tensor = entries.iter().fold(tensor, |m, (key, value)| m.message(13, pair(key, value)));
    (5, tensor.int(14, 1))
}

/// A folder with a model of these tensors.
fn folder(tensors: &[(u64, Message)]) -> Folder {
    let mut model = Model::new(&[]);
    model.graph.extend_from_slice(tensors);
    let folder = Folder::new();
    folder.write(MODEL, &model.encode());
    folder
}

/// Floats from 0.
fn floats(count: u8) -> Vec<u8> {
    (0..count).flat_map(|i| f32::from(i).to_le_bytes()).collect()
}

/// The exit code, the broken rules, and what was not checked.
fn checked(folder: &Folder) -> (i32, Vec<String>, Vec<String>) {
    let run = run(folder, &["check", "--json", MODEL]);
    let [line] = &run.lines()[..] else { panic!("one line: {run:?}") };
    let all = |list: &str, member: &str| {
        let items = line[list].as_array().into_iter().flatten();
        items.map(|it| it[member].as_str().unwrap_or_default().to_owned()).collect()
    };
    (run.code, all("findings", "rule"), all("unchecked", "why"))
}

/// The sample: two tensors in a file below the model's folder, one after the other.
fn sample() -> Folder {
    let second = [("location", "data/w.bin"), ("offset", "24"), ("length", "24")];
    let folder = folder(&[
        external("a", &[("location", "data/w.bin"), ("length", "24")]),
        external("b", &second),
    ]);
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder.write("data/w.bin", &floats(12));
    folder
}

#[test]
fn external_data_is_valid_and_read() {
    let folder = sample();
    assert_eq!(checked(&folder), (0, vec![], vec![]));
    let shown = run(&folder, &["inspect", "--json", "--values", "6", MODEL]);
    let json = shown.json();
    let b = &json["tensors"][1];
    assert_eq!((shown.code, &b["file"]), (0, &"data/w.bin".into()), "{shown:?}");
    assert_eq!((&b["chunks"][0]["offset"], &b["values"][0]), (&24.into(), &6.0.into()), "{b}");
    let raw = run(&folder, &["extract", MODEL, "b", "--raw", "--output", "b.bin"]);
    let raw = (raw.code, std::fs::read(folder.path().join("b.bin")).unwrap());
    assert_eq!(raw, (0, floats(12)[24..].to_vec()));
    let stats = run(&folder, &["stats", "--json", MODEL]);
    assert!(stats.code == 0 && stats.out.contains("11"), "{stats:?}");
    let converted = run(&folder, &["convert", "--force", MODEL, "out.safetensors"]);
    assert_eq!(converted.code, 0, "{converted:?}");
    let values = run(&folder, &["inspect", "--json", "--values", "6", "out.safetensors"]).json();
    assert_eq!(values["tensors"][1]["values"], b["values"]);
    let digests = |file| {
        let run = run(&folder, &["digest", "--json", file]);
        run.json()["tensors"].as_array().unwrap().iter().map(|it| it["sha256"].clone()).collect()
    };
    let (of_model, of_converted): (Vec<_>, Vec<_>) = (digests(MODEL), digests("out.safetensors"));
    assert_eq!(of_model, of_converted);
    assert!(of_model.iter().all(Value::is_string), "{of_model:?}");
}

#[test]
fn data_without_length_runs_to_end_of_file() {
    let folder = folder(&[external("a", &[("location", "w.bin"), ("offset", "4")])]);
    folder.write("w.bin", &floats(7));
    assert_eq!(checked(&folder), (0, vec![], vec![]));
    folder.write("w.bin", &floats(8));
    assert_eq!(checked(&folder), (1, vec!["E-LENGTH".into()], vec![]));
    folder.write("w.bin", &floats(6));
    assert_eq!(checked(&folder), (1, vec!["E-PAST".into()], vec![]));
}

#[test]
fn data_past_end_of_file_is_refused() {
    let folder = sample();
    folder.write("data/w.bin", &floats(11));
    assert_eq!(checked(&folder), (1, vec!["E-PAST".into()], vec![]));
    let extract = run(&folder, &["extract", MODEL, "b"]);
    assert_eq!(extract.code, 1, "{extract:?}");
}

#[test]
fn missing_file_is_unchecked() {
    let folder = sample();
    std::fs::remove_file(folder.path().join("data/w.bin")).unwrap();
    let (code, found, unchecked) = checked(&folder);
    assert_eq!((code, found), (3, vec![]));
    assert!(unchecked.contains(&"the file of data is missing".to_owned()), "{unchecked:?}");
    // A folder is no file, and no file either.
    std::fs::create_dir(folder.path().join("data/w.bin")).unwrap();
    assert_eq!(checked(&folder).0, 3);
}

#[cfg(unix)]
#[test]
fn link_out_of_folder_is_refused() {
    let outside = Folder::new();
    outside.write("w.bin", &floats(12));
    let folder = sample();
    let data = folder.path().join("data/w.bin");
    std::fs::remove_file(&data).unwrap();
    std::os::unix::fs::symlink(outside.path().join("w.bin"), &data).unwrap();
    assert_eq!(checked(&folder).1, ["E-LINK"]);
    // The same through a linked folder.
    std::fs::remove_file(&data).unwrap();
    std::fs::remove_dir(folder.path().join("data")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("data")).unwrap();
    let (code, found, _) = checked(&folder);
    assert_eq!((code, found), (1, vec!["E-LINK".to_owned()]));
    let run = run(&folder, &["check", "--follow-links", MODEL]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn overlap_is_lint_and_alias_is_sound() {
    let entries = |offset| [("location", "w.bin"), ("offset", offset), ("length", "24")];
    let with = |offset| {
        let folder = folder(&[external("a", &entries("0")), external("b", &entries(offset))]);
        folder.write("w.bin", &floats(12));
        folder
    };
    assert_eq!(checked(&with("0")), (0, vec![], vec![]));
    assert_eq!(checked(&with("24")), (0, vec![], vec![]));
    let folder = with("4");
    assert_eq!(checked(&folder), (0, vec!["E-OVERLAP".into()], vec![]));
    // The finding is where the model says so.
    let line = &run(&folder, &["check", "--json", MODEL]).lines()[0];
    let found = &line["findings"][0];
    assert!(found["offset"].as_u64().unwrap() < line["size"].as_u64().unwrap(), "{found}");
    assert_eq!(found["entry"], "b");
}

#[test]
fn data_in_folder_is_companion() {
    let folder = sample();
    folder.write("other.bin", &[0xFF; 24]);
    let run = run(&folder, &["check", "--json", "."]);
    let class = |name: &str| {
        let lines = run.lines();
        let line = lines.iter().find(|it| it["file"].as_str().is_some_and(|it| it.ends_with(name)));
        line.map(|line| line["class"].clone()).unwrap_or_default()
    };
    assert_eq!((class("w.bin"), class("other.bin")), ("companion".into(), "unknown".into()));
    assert_eq!(class(MODEL), "model");
}

/// A checksum, which no reader looks at, is not checked.
const UNLOOKED: &str = "ext_checksum.onnx";

#[test]
fn corpus_models_with_other_files_get_their_verdicts() {
    let Some(path) = corpus::folder() else { return };
    let path = path.join("onnx");
    let manifest = corpus::json(&path.join("manifest.json"));
    let rows = ["valid", "invalid"].map(|kind| manifest[kind].as_array().unwrap().iter());
    let mut count = 0;
    for row in rows.into_iter().flatten() {
        let file = row["file"].as_str().unwrap();
        let has_files = row["files"].is_array() || file.contains("external_");
        if !has_files || file.ends_with(UNLOOKED) {
            continue;
        }
        let path = path.join(file);
        let run = run(&Folder::new(), &["check", "--json", path.to_str().unwrap()]);
        let line = run.json();
        let lints = line["findings"].as_array().is_some_and(|found| !found.is_empty());
        let verdict = match run.code {
            0 if lints => "lint",
            0 => "valid",
            1 => "invalid",
            _ => "unchecked",
        };
        let or = row["or"].as_array().into_iter().flatten();
        assert!(or.chain([&row["verdict"]]).any(|right| right == verdict), "{file}: {line}");
        count += 1;
    }
    assert!(count > 25, "only {count}");
}
