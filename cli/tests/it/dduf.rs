//! DDUF files: settings of their members, and members opened by name.

use super::*;
use serde_json::json;
use weighbridge_tests::encode::npz::{Member, Npz};
use weighbridge_tests::samples;

const WEIGHTS: &str = "vae/model.safetensors";

/// A folder with `m.dduf`, a pipeline whose component has these settings, and this text.
fn pipeline(settings: &str, text: &[u8]) -> Folder {
    let index = br#"{"_class_name": "Pipeline", "vae": ["diffusers", "AutoencoderKL"]}"#;
    let members = vec![
        Member::of("model_index.json", index.to_vec()),
        Member::of("vae/config.json", settings.as_bytes().to_vec()),
        Member::of(WEIGHTS, samples::safetensors()),
        Member::of("vae/notes.txt", text.to_vec()),
    ];
    let folder = Folder::new();
    folder.write("m.dduf", &Npz::new(members).encode());
    folder
}

fn sound() -> Folder {
    pipeline(r#"{"_class_name": "AutoencoderKL"}"#, b"notes\n")
}

#[test]
fn dduf_with_harmless_settings_is_valid() {
    let folder = sound();
    let run = run(&folder, &["check", "--json", "m.dduf"]);
    let json = run.json();
    assert_eq!((run.code, &json["verdict"]), (0, &json!("valid")), "{run:?}");
    assert_eq!(json["unchecked"], json!([]), "{run:?}");
}

#[test]
fn dduf_with_settings_that_load_code_is_invalid() {
    let settings = r#"{"auto_map": {"AutoModel": "modeling_x.M"}}"#;
    let folder = pipeline(settings, b"notes\n");
    for args in [&["check", "m.dduf"][..], &["check", "."]] {
        let run = run(&folder, args);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.out.contains("\"vae/config.json\" in it loads code"), "{run:?}");
    }
}

#[test]
fn dduf_with_pickle_named_as_text_is_invalid() {
    let pickle = b"\x80\x04\x95\x15\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x8c\x06system\x93.";
    let folder = pipeline("{}", pickle);
    let run = run(&folder, &["check", "m.dduf"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("vae/notes.txt"), "{run:?}");
}

#[test]
fn dduf_member_is_listed_and_opened() {
    let folder = sound();
    let json = run(&folder, &["inspect", "--json", "m.dduf"]).json();
    let names: Vec<_> = json["members"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["model_index.json", "vae/config.json", WEIGHTS, "vae/notes.txt"]);
    let bytes = std::fs::read(folder.path().join("m.dduf")).unwrap();
    let place = &json["members"][2];
    let (at, len) = (place["offset"].as_u64().unwrap(), place["size"].as_u64().unwrap());
    assert_eq!(&bytes[at as usize..][..len as usize], samples::safetensors());
    let shown = run(&folder, &["inspect", "m.dduf"]);
    assert!(shown.out.contains(&format!("{WEIGHTS}  {len} bytes at {at}")), "{shown:?}");

    let args = ["inspect", "--json", "--values", "6", "--member", WEIGHTS, "m.dduf"];
    let opened = run(&folder, &args);
    let json = opened.json();
    assert_eq!((opened.code, &json["verdict"]), (0, &json!("valid")), "{opened:?}");
    assert_eq!(json["tensors"][0]["name"], "emb");
    assert_eq!(json["tensors"][0]["values"], json!([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
}

#[test]
fn dduf_member_that_is_missing_is_an_error() {
    let folder = sound();
    let missing = run(&folder, &["inspect", "--member", "vae/none.json", "m.dduf"]);
    assert_eq!(missing.code, 2, "{missing:?}");
    folder.write("x.safetensors", &samples::safetensors());
    let other = run(&folder, &["inspect", "--member", "x", "x.safetensors"]);
    assert_eq!(other.code, 2, "{other:?}");
    assert!(other.err.contains("is no archive of models"), "{other:?}");
}
