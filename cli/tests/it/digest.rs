//! Digests of tensors, and comparisons of files.

use super::*;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use weighbridge::text::hex;
use weighbridge_tests::corpus;
use weighbridge_tests::encode::{gguf, safetensors, ztensor};
use weighbridge_tests::fixtures;

/// A tensor "w" of f32 \[2, 3\].
fn elements() -> Vec<u8> {
    [0.0_f32, 1.5, -2.0, f32::NAN, f32::INFINITY, 6.25]
        .iter()
        .flat_map(|it| it.to_le_bytes())
        .collect()
}

fn sha(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn of_safetensors(tensors: &[(&str, &'static str, &[u64], Vec<u8>)]) -> Vec<u8> {
    let tensors = tensors.iter().map(|(name, dtype, shape, data)| safetensors::Tensor {
        data: data.clone(),
        ..safetensors::Tensor::new(name, dtype, shape)
    });
    safetensors::File { metadata: None, tensors: tensors.collect() }.encode()
}

fn of_gguf(big: bool, data: Vec<u8>) -> Vec<u8> {
    let tensor = gguf::Tensor { data, ..gguf::Tensor::new("w", 0, &[3, 2]) };
    let (metadata, tensors) = (vec![], vec![tensor]);
    gguf::File { version: 3, big, alignment: 32, metadata, tensors }.encode().bytes
}

/// The lines of `digest` on one file.
fn digest(folder: &Folder, file: &str) -> Value {
    let run = run(folder, &["digest", file, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    run.json()
}

/// Equal elements have equal digests, however they are stored.
#[test]
fn digest_covers_elements_not_storage() {
    let folder = Folder::new();
    let data = elements();
    let turned: Vec<u8> = data.chunks(4).flat_map(|it| it.iter().rev().copied()).collect();
    let by_columns: Vec<u8> =
        [0, 3, 1, 4, 2, 5].iter().flat_map(|i| data[i * 4..][..4].to_vec()).collect();
    let zt = |tensor: ztensor::Tensor| ztensor::File::of([tensor]).encode();
    let f32 = |blob: Vec<u8>| ztensor::Tensor::raw("w", "float32", &[2, 3], blob);
    let mut column = Tensor::new(0, 0, &[2, 3]);
    (column.layout, column.payload) = (1, by_columns);
    for (name, bytes) in [
        ("a.safetensors", of_safetensors(&[("w", "F32", &[2, 3], data.clone())])),
        ("b.gguf", of_gguf(false, data.clone())),
        ("big.gguf", of_gguf(true, turned)),
        ("c.zt", zt(f32(data.clone()))),
        ("zstd.zt", zt(ztensor::Tensor::zstd("w", "float32", &[2, 3], &data))),
        ("big.zt", zt(f32(data.clone()).big_endian())),
        ("column.stb", Stb::new(vec![column]).encode()),
    ] {
        folder.write(name, &bytes);
        let line = digest(&folder, name);
        assert_eq!(line["sha256"], sha(&bytes), "{name}");
        let tensor = &line["tensors"][0];
        let expected = json!(["f32", [2, 3], sha(&data)]);
        let found = json!([tensor["dtype"], tensor["shape"], tensor["sha256"]]);
        assert_eq!(found, expected, "{name}");
        if !name.ends_with(".stb") {
            let compared = run(&folder, &["digest", "--compare", "a.safetensors", name]);
            assert_eq!((compared.code, &*compared.out), (0, "1 tensor: 1 equal\n"), "{name}");
        }
    }
    let human = run(&folder, &["digest", "a.safetensors"]);
    let first = human.out.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        format!("{}  a.safetensors", digest(&folder, "a.safetensors")["sha256"].as_str().unwrap())
    );
    assert!(human.out.contains(&format!("{}    w  f32 [2, 3]", sha(&data))), "{human:?}");
}

#[test]
fn comparison_names_differing_tensors() {
    let folder = Folder::new();
    let (data, other) = (elements(), vec![7; 24]);
    let a = of_safetensors(&[
        ("same", "F32", &[2, 3], data.clone()),
        ("bytes", "F32", &[2, 3], data.clone()),
        ("shape", "F32", &[2, 3], data.clone()),
        ("type", "F32", &[6], data.clone()),
        ("gone", "U8", &[24], data.clone()),
    ]);
    let b = of_safetensors(&[
        ("type", "I32", &[6], data.clone()),
        ("new", "U8", &[24], data.clone()),
        ("same", "F32", &[2, 3], data.clone()),
        ("bytes", "F32", &[2, 3], other),
        ("shape", "F32", &[3, 2], data),
    ]);
    folder.write("a.safetensors", &a);
    folder.write("b.safetensors", &b);
    let run_with = |more: &[&str]| {
        run(&folder, &[&["digest", "--compare", "a.safetensors", "b.safetensors"], more].concat())
    };
    let compared = run_with(&["--json"]);
    assert_eq!(compared.code, 1, "{compared:?}");
    let json = compared.json();
    let states: Vec<_> = json["tensors"].as_array().into_iter().flatten().collect();
    let states: Vec<_> =
        states.iter().map(|it| (it["name"].as_str(), it["state"].as_str())).collect();
    let of = |name, state| (Some(name), Some(state));
    let expected = [
        of("same", "equal"),
        of("bytes", "changed"),
        of("shape", "changed"),
        of("type", "changed"),
        of("gone", "missing"),
        of("new", "added"),
    ];
    assert_eq!(states, expected);
    assert_eq!(
        json["counts"],
        json!({"added": 1, "changed": 3, "equal": 1, "missing": 1, "unknown": 0})
    );
    let human = run_with(&[]).out;
    assert!(human.contains("changed  shape  f32 [2, 3] -> f32 [3, 2]"), "{human}");
    // The ranges are those of the data, in the file as it lies there.
    let mut wanted = Vec::new();
    for tensor in json["tensors"].as_array().into_iter().flatten() {
        for (side, file) in [("a", &a), ("b", &b)] {
            let bytes = &tensor[side]["bytes"];
            if tensor[side].is_null() {
                continue;
            }
            let at = |key: &str| bytes[key].as_u64().expect("a number") as usize;
            let stored = &file[at("offset")..][..at("len")];
            assert_eq!(tensor[side]["sha256"], sha(stored), "{tensor}");
            if side == "b" && tensor["state"] != "equal" {
                wanted.push((at("offset"), at("offset") + at("len")));
            }
        }
    }
    // All but one tensor of B differ, so that the ranges are those before and after it.
    wanted.sort_unstable();
    wanted.dedup_by(|next, last| {
        next.0 == last.1 && {
            last.1 = next.1;
            true
        }
    });
    let ranges: Vec<_> = wanted.iter().map(|(from, end)| format!("{from}-{}", end - 1)).collect();
    let line = format!("bytes of b.safetensors that differ: {}", ranges.join(","));
    assert!(ranges.len() < 4 && human.lines().any(|it| it == line), "{line}: {human}");
    assert!(human.contains("missing  gone") && human.contains("added    new"), "{human}");
    assert!(!human.contains("same  "), "{human}");
    assert_eq!(human.lines().last(), Some("6 tensors: 1 equal, 3 changed, 1 missing, 1 added"));
    let itself = run(&folder, &["digest", "--compare", "a.safetensors", "a.safetensors"]);
    assert_eq!((itself.code, &*itself.out), (0, "5 tensors: 5 equal\n"));
}

#[test]
fn tensor_without_digest_has_reason() {
    let folder = Folder::new();
    folder.write("u.stb", &with_unknown_type());
    folder.write("cut.stb", &sound().encode()[..190]);
    folder.write("text", b"no tensors at all");
    let unknown = run(&folder, &["digest", "u.stb", "--json"]);
    let json = unknown.json();
    assert_eq!((unknown.code, &json["tensors"][1]["sha256"]), (3, &Value::Null), "{json}");
    assert!(
        json["tensors"][1]["why"].as_str().is_some_and(|why| why.contains("unknown")),
        "{json}"
    );
    assert!(json["tensors"][0]["sha256"].is_string());
    let compared = run(&folder, &["digest", "--compare", "u.stb", "u.stb", "--json"]);
    assert_eq!((compared.code, &compared.json()["counts"]["unknown"]), (3, &1.into()));
    let cut = run(&folder, &["digest", "cut.stb", "--json"]);
    assert_eq!((cut.code, &cut.json()["verdict"]), (1, &"invalid".into()), "{cut:?}");
    let text = run(&folder, &["digest", "text", "--json"]);
    assert_eq!((text.code, &text.json()["tensors"]), (1, &json!([])));
    let missing = run(&folder, &["digest", "none.stb", "u.stb", "--json"]);
    assert_eq!((missing.code, missing.lines().len()), (2, 2));
    assert!(missing.err.starts_with("weighbridge: none.stb: No such file"), "{missing:?}");
    assert_eq!(run(&folder, &["digest", "--compare", "none.stb", "u.stb"]).code, 2);
    for wrong in [
        &["digest"][..],
        &["digest", "--compare", "u.stb"],
        &["digest", "a", "--compare", "u.stb", "u.stb"],
    ] {
        assert_eq!(run(&folder, wrong).code, 2, "{wrong:?}");
    }
}

/// Every file gets a line, and `extract --raw` agrees unless elements are reordered.
#[test]
fn fixture_digest_agrees_with_extract() {
    let folder = Folder::new();
    let mut compared = 0;
    for (format, fixtures) in fixtures::for_hosts() {
        for (i, fixture) in fixtures
            .iter()
            .enumerate()
            .filter(|(i, it)| i % 9 == 0 || it.breaks.is_empty() && i % 3 == 0)
        {
            let name = format!("{format}-{i}");
            folder.write(&name, &fixture.bytes);
            let run = run(&folder, &["digest", &name, "--format", format, "--json"]);
            assert!([0, 1, 3].contains(&run.code), "{run:?}");
            let json = run.json();
            assert_eq!(json["sha256"], sha(&fixture.bytes));
            let tensors = json["tensors"].as_array().expect("an array");
            // Tensors of different graphs may have one name, and `extract` asks which is meant.
            let is_alone = |name| tensors.iter().filter(|it| it["name"] == name).count() == 1;
            let plain = tensors.iter().find(|it| {
                let is_text = it["sha256"].is_string() && it.get("name_hex").is_none();
                is_text && is_alone(it["name"].clone())
            });
            let turned = fixture.name.contains("big") || fixture.name.contains("column");
            if let (Some(tensor), true, 0, false) =
                (plain, fixture.breaks.is_empty(), run.code, turned)
            {
                let tensor_name = tensor["name"].as_str().expect("a name");
                let mut extract =
                    command(&folder, &["extract", "--raw", "-o", "out", "--format", format]);
                extract.args(["--", &name, tensor_name]);
                let extracted = finish(extract);
                assert_eq!(extracted.code, 0, "{extracted:?}");
                let bytes = std::fs::read(folder.path().join("out")).expect("it was written");
                let inspected =
                    super::run(&folder, &["inspect", &name, "--format", format, "--json"]).json();
                let at = inspected["tensors"].as_array().into_iter().flatten();
                let shown =
                    at.clone().find(|it| it["name"] == tensor["name"]).expect("it is shown");
                if shown["endianness"] == "little" && shown["layout"] != "column-major" {
                    assert_eq!(tensor["sha256"], sha(&bytes), "{format} {}", fixture.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn corpus_file_has_digest_line() {
    let Some(path) = corpus::folder() else { return };
    let folder = Folder::new();
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(path)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|it| it.file_type().is_file())
    {
        files.push(entry.path().to_str().expect("a plain path").to_owned());
    }
    for files in files.chunks(200) {
        let args: Vec<_> =
            ["digest", "--json"].into_iter().chain(files.iter().map(String::as_str)).collect();
        let run = run(&folder, &args);
        assert_eq!(run.lines().len(), files.len(), "{}", run.err);
        assert!([0, 1, 3].contains(&run.code), "{}", run.err);
    }
}

#[test]
fn shard_index_has_no_digests() {
    let folder = Folder::new();
    let index = br#"{"metadata": {}, "weight_map": {"w": "m.safetensors"}}"#;
    for name in ["a", "b"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        let data = elements();
        folder.write(
            &format!("{name}/m.safetensors"),
            &of_safetensors(&[("w", "F32", &[2, 3], data)]),
        );
        folder.write(&format!("{name}/m.safetensors.index.json"), index);
    }
    let [a, b] = ["a/m.safetensors.index.json", "b/m.safetensors.index.json"];
    assert_eq!(run(&folder, &["digest", a]).code, 3);
    assert_eq!(run(&folder, &["digest", "--compare", a, b]).code, 3);
}

/// Nothing says which axis holds the channels in channels-last order.
#[test]
fn channels_last_tensor_has_no_digest() {
    let folder = Folder::new();
    for (name, layout) in [("a.stb", 0), ("b.stb", 2)] {
        let mut tensor = Tensor::new(0, 0, &[2, 3, 4]);
        tensor.layout = layout;
        folder.write(name, &Stb::new(vec![tensor]).encode());
    }
    assert_eq!(run(&folder, &["digest", "a.stb"]).code, 0);
    assert_eq!(run(&folder, &["digest", "b.stb"]).code, 3);
    assert_eq!(run(&folder, &["digest", "--compare", "a.stb", "b.stb"]).code, 3);
}
