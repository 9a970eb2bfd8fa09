//! Files that a gate refuses or accepts: files of unknown formats, links, pickles,
//! empty runs, and settings.

use super::*;
use serde_json::json;

const PICKLE: &[u8] = b"\x80\x02}q\0X\x01\0\0\0aq\x01K\x01s.";
const EVIL: &[u8] = b"\x80\x02cposix\nsystem\n)R.";

pub(super) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let at = out.len() as u32;
        let len = bytes.len() as u32;
        let mut common = [20_u16, 0, 0, 0, 0].map(u16::to_le_bytes).concat();
        common.extend([0_u32, len, len].map(u32::to_le_bytes).concat());
        common.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0_u16; 3].map(u16::to_le_bytes).concat());
        directory.extend([0_u32, at].map(u32::to_le_bytes).concat());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([members.len() as u16; 2].map(u16::to_le_bytes).concat());
    out.extend([directory.len() as u32, at].map(u32::to_le_bytes).concat());
    out.extend([0, 0]);
    out
}

#[test]
fn a_folder_with_only_a_pickle_does_not_pass() {
    let folder = Folder::new();
    folder.write("evil.pt", EVIL);
    let human = run(&folder, &["check", "."]);
    assert_eq!(human.code, 1, "{human:?}");
    let words = "invalid   ./evil.pt  unknown format, 19 bytes\n  \
                 diagnosis a pickle, which would run posix.system\n";
    assert!(human.out.starts_with(words), "{human:?}");
    let words = "PICKLE-GLOBAL: loading the pickle would run posix.system (at 2, 14 bytes)";
    assert!(human.out.contains(words), "{human:?}");
    let json = run(&folder, &["check", ".", "--json"]);
    folder.write("unknown", b"\0\xFF");
    let words = "a pickle, which would run posix.system";
    assert_eq!((json.code, &json.json()["verdict"]), (1, &json!("invalid")));
    assert_eq!(json.json()["diagnosis"], words);
    assert_eq!(json.json()["class"], "code");
    // One that was named is refused as well, and only allowed code in a folder is not.
    assert_eq!(run(&folder, &["check", "evil.pt"]).code, 1);
    assert_eq!(run(&folder, &["check", "evil.pt", "--allow-code"]).code, 1);
    // One that imports nothing is of a format that is not read.
    folder.write("data.pt", PICKLE);
    assert_eq!(run(&folder, &["check", "data.pt"]).code, 3);
    let found = run(&folder, &["check", ".", "--include", "data.pt"]);
    assert!(found.code == 3 && found.out.contains("code: pickle: ./data.pt"), "{found:?}");
    std::fs::remove_file(folder.path().join("data.pt")).expect("it is there");
    // Skipping the only file leaves nothing, which is not a success either.
    let skipped = run(&folder, &["check", ".", "--skip-unknown", "--exclude", "*.pt"]);
    assert_eq!((skipped.code, &*skipped.out), (2, ""), "{skipped:?}");
    let why = "weighbridge: nothing was checked: skipped 1 file of no known format, left out 1 \
               excluded path\n";
    assert_eq!(skipped.err, why);
    // Pickles are never skipped.
    for args in [&["check", ".", "--skip-unknown"][..], &["check", "evil.pt"]] {
        let denied = run(&folder, &[args, &["--deny", "pickle", "--json"]].concat());
        assert_eq!((denied.code, &denied.json()["verdict"]), (1, &json!("invalid")), "{args:?}");
    }
}

#[test]
fn pickles_are_found_wherever_they_are() {
    let folder = Folder::new();
    // Readers find the central directory despite a wrong offset.
    let mut shifted = zip(&[("readme.txt", b"hello"), ("x.pkl", PICKLE)]);
    let offset = shifted.len() - 6;
    shifted[offset..offset + 4].fill(0);
    for (name, bytes) in [
        ("proto-2.bin", PICKLE.to_vec()),
        ("proto-4.bin", b"\x80\x04\x95\x03\0\0\0\0\0\0\0}\x94.".to_vec()),
        ("none.bin", b"\x80\x03N.".to_vec()),
        ("proto-0.bin", b"cos\nsystem\n(S'id'\ntR.".to_vec()),
        ("proto-0-dict.bin", b"(cposix\nsystem\nS'id'\nR.".to_vec()),
        ("proto-0-inst.bin", b"(S'id'\nios\nsystem\n.".to_vec()),
        ("proto-0-after-integer.bin", b"I1\n0cos\nsystem\n(S'id'\ntR.".to_vec()),
        ("like-tflite.bin", b"U\x08\0\0TFL3\0\x000cos\nsystem\n(S'id'\ntR.".to_vec()),
        ("proto-1-list.bin", b"]q\0(K\x01K\x02e.".to_vec()),
        ("proto-1-dict.bin", b"}q\0.".to_vec()),
        ("proto-0-broken.bin", b"cos\nsystem\n(S'id'\ntR\xFF".to_vec()),
        (
            "objects.npy",
            b"\x93NUMPY\x01\x007\0{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n\x80\x03N."
                .to_vec(),
        ),
        ("shifted.zip", shifted),
        ("first.zip", zip(&[("archive/data.pkl", PICKLE)])),
        ("last.zip", zip(&[("readme.txt", b"hello"), ("a.npy", b"x"), ("deep/DATA.PKL", PICKLE)])),
    ] {
        folder.write(name, &bytes);
        let found = run(&folder, &["check", name, "--json"]);
        let words = found.json()["diagnosis"].as_str().unwrap_or_default().to_owned();
        let runs = bytes.windows(6).any(|here| here == b"system");
        let (code, says) = if runs { (1, "would run ") } else { (3, "imports nothing") };
        assert!(found.code == code && words.contains(says), "{name}: {found:?}");
        assert_eq!(run(&folder, &["check", name, "--deny", "pickle"]).code, 1, "{name}");
    }
    for (name, bytes) in [
        ("text.txt", b"call me\nwhen you can\n(tomorrow)".to_vec()),
        ("code.txt", b"const\nx\n".to_vec()),
        ("words.txt", b"cat\ndog\nbird\n".to_vec()),
        ("more-words.txt", b"cat\ncar\ncow\ncup\nbig\nRoad\nable\n".to_vec()),
        ("plain.zip", zip(&[("readme.txt", b"hello"), ("a.npy", b"x")])),
        (
            "numbers.npy",
            b"\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}\n".to_vec(),
        ),
        ("cut.zip", zip(&[("readme.txt", b"hello"), ("x.pkl", PICKLE)])[..60].to_vec()),
    ] {
        folder.write(name, &bytes);
        let found = run(&folder, &["check", name, "--json", "--deny", "pickle"]).json();
        assert!(name != "plain.zip" || found["verdict"] == "unsupported", "{found}");
        assert!(!found["diagnosis"].as_str().is_some_and(|it| it.contains("run code")), "{found}");
    }
}

/// Content can always be padded until it is not recognised.
#[test]
fn what_is_named_as_a_pickle_is_not_skipped() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("evil.PT", b"\0 of no known kind: cos\nsystem\n(S'id'\ntR.");
    let skips = ["check", ".", "--skip-unknown"];
    assert_eq!(run(&folder, &skips).code, 3);
    assert_eq!(run(&folder, &[&skips[..], &["--deny", "pickle"]].concat()).code, 3);
}

#[test]
fn a_pickle_of_any_first_operation_is_not_skipped_where_pickles_are_denied() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    for first in ["I1\n0", "]0", "}0", "N0", "K\x010", "Va\n0", "L1L\n0", "F1\n0", "(S'a'\nl0"] {
        folder.write("params", format!("{first}cos\nsystem\n(S'id'\ntR.").as_bytes());
        let skips = ["check", ".", "--skip-unknown", "--deny", "pickle"];
        let denied = run(&folder, &skips);
        assert!(denied.code == 1 && denied.out.contains("pickle"), "{first:?}: {denied:?}");
    }
}

#[test]
fn a_model_that_is_a_pickle_as_well_is_a_finding() {
    // The first byte of the header's length, 0x8742, is BINBYTES, and the others are its length.
    // Texts of 126 bytes then lead through the metadata and past the end of the header.
    let (len, first) = (0x8742_usize, 5 + 0x87);
    let start = "{\"__metadata__\":{\"k\":\"";
    let rest = "\"},\"a\":{\"dtype\":\"U8\",\"shape\":[200],\"data_offsets\":[0,200]}}";
    let text = "x".repeat(len - start.len() - rest.len());
    let mut bytes = [&(len as u64).to_le_bytes()[..], start.as_bytes(), text.as_bytes()].concat();
    bytes.extend(rest.as_bytes());
    let data = bytes.len();
    bytes.resize(data + 200, 0);
    let mut at = first;
    while at < data {
        bytes[at..at + 2].copy_from_slice(b"U~");
        at += 128;
    }
    let payload = b"0cos.path\njoin\n(S'ran'\nS'code'\ntR.";
    bytes[at..at + payload.len()].copy_from_slice(payload);
    let folder = Folder::new();
    folder.write("a.safetensors", &bytes);
    let found = run(&folder, &["check", "a.safetensors", "--json"]);
    assert_eq!(found.code, 1, "{found:?}");
    let json = found.json();
    for rule in ["PICKLE-POLYGLOT", "PICKLE-GLOBAL"] {
        let findings = json["findings"].as_array().expect("a list");
        let finding = findings.iter().find(|it| it["rule"] == rule).expect(rule);
        assert_eq!(finding["offset"], at as u64 + 1, "{json}");
    }
    for options in [&["--lenient"][..], &["--structure"], &["--deny", "pickle"]] {
        let found = run(&folder, &[&["check", "a.safetensors"], options].concat());
        assert_eq!(found.code, 1, "{options:?}: {found:?}");
    }
    // Without the import it is a model and nothing else.
    bytes[at..at + payload.len()].fill(0);
    folder.write("a.safetensors", &bytes);
    assert_eq!(
        run(&folder, &["check", "a.safetensors", "--deny", "pickle", "--deny", "lint"]).code,
        0
    );
}

#[test]
fn globs_are_for_what_a_listed_folder_holds() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("models")).expect("a folder");
    folder.write("a.stb", &sound().encode());
    folder.write("models/b.stb", b"no model");
    folder.write("list", b"a.stb\nmodels\n");
    let listed = ["check", "--files-from", "list"];
    let included = run(&folder, &[&listed[..], &["--include", "*.stb"]].concat());
    assert_eq!(included.code, 1, "{included:?}");
    let excluded = run(&folder, &[&listed[..], &["--exclude", "models"]].concat());
    assert_eq!(excluded.code, 0, "{excluded:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_that_never_ends_is_an_error() {
    let folder = Folder::new();
    let endless = run(&folder, &["check", "--files-from", "/dev/zero"]);
    assert_eq!((endless.code, &*endless.out), (2, ""));
    assert!(endless.err.contains("a list of more than 128 MiB"), "{endless:?}");
}

#[test]
fn patterns_are_of_paths_below_the_folder() {
    let folder = Folder::new();
    for path in ["a.stb", "b/a.stb", "b/c/a.stb", "b/c/x.md", "old/objects/1"] {
        let path = Path::new("models").join(path);
        std::fs::create_dir_all(folder.path().join(&path).parent().expect("a folder"))
            .expect("folders");
        folder.write(&path.to_string_lossy(), &sound().encode());
    }
    // Numbers of files checked, and of paths left out.
    for (options, checked, excluded) in [
        (&[][..], 5, 0),
        (&["--include", "*.stb"], 3, 2),
        (&["--include", "b/*.stb"], 1, 4),
        (&["--exclude", "*.md", "--exclude", "old/"], 3, 2),
        (&["--exclude", "b/c/**", "--exclude", "/a.stb"], 2, 3),
        (&["--include", "*.stb", "--exclude", "b"], 1, 2),
    ] {
        let run = run(&folder, &[&["check", "models", "--json"], options].concat());
        assert_eq!((run.code, run.lines().len()), (0, checked), "{run:?}");
        let says = match excluded {
            0 => String::new(),
            excluded => format!("weighbridge: left out {excluded} excluded paths\n"),
        };
        assert_eq!(run.err, says, "{options:?}");
    }
    assert_eq!(run(&folder, &["check", "models", "--include", "a["]).code, 2);
    // Named files are checked, whatever the patterns are.
    let named = ["check", "models/a.stb", "--include", "*.md", "--exclude", "*"];
    assert_eq!(run(&folder, &named).code, 0);
}

#[test]
fn what_is_not_recognised_counts_and_is_named() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("config.json", b"{}");
    folder.write("data", b"\0\x01\xFF");
    let human = run(&folder, &["check", "."]);
    assert_eq!(human.code, 3, "{human:?}");
    assert!(human.out.contains("unsupported 1 file: unknown format: ./data\n"), "{human:?}");
    assert!(human.out.contains("2 files: 1 valid, 1 in unsupported formats"), "{human:?}");
    let lines = run(&folder, &["check", ".", "--json"]).lines();
    let said =
        |i: usize| ["file", "format", "verdict", "diagnosis"].map(|key| lines[i][key].clone());
    let config = ["./config.json", "", "valid", "JSON"];
    assert_eq!(said(1), [json!(config[0]), Value::Null, json!(config[2]), json!(config[3])]);
    assert_eq!(
        (&lines[2]["file"], &lines[2]["verdict"]),
        (&json!("./data"), &json!("unsupported"))
    );
    let skipping = run(&folder, &["check", ".", "--skip-unknown"]);
    assert_eq!(skipping.code, 0);
    let summary = "1 file: 1 valid; 0 findings; skipped 1 file of no known format";
    assert_eq!(skipping.out.lines().last(), Some(summary));
    // An explicit format applies to every file.
    assert_eq!(run(&folder, &["check", ".", "--format", "stb"]).code, 1);
}

#[test]
fn nothing_to_check_is_a_failure() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    folder.write("list", b"\n");
    folder.write("a.stb", &sound().encode());
    for (args, why) in [
        (&["check", "empty"][..], "there are no files"),
        (&["check", "empty", "--json"], "there are no files"),
        (&["check", "--files-from", "list"], "there are no files"),
        (&["check", ".", "--exclude", "*"], "left out"),
        (&["check", ".", "--include", "*.gguf"], "left out"),
    ] {
        let run = run(&folder, args);
        assert_eq!((run.code, &*run.out), (2, ""), "{args:?}");
        let sentence = format!("weighbridge: nothing was checked: {why}");
        assert!(run.err.starts_with(&sentence) && run.err.lines().count() == 1, "{run:?}");
    }
}

#[test]
fn standard_input_is_a_file() {
    let folder = Folder::new();
    let with = |bytes: Vec<u8>, args: &[&str]| {
        let mut command = command(&folder, &[&["check", "-"], args].concat());
        command.write_stdin(bytes);
        finish(command)
    };
    let valid = with(sound().encode(), &["--json", "--sha256"]);
    let json = valid.json();
    assert_eq!((valid.code, &json["file"], &json["format"]), (0, &json!("-"), &json!("stb")));
    assert_eq!(json["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(with(with_flags(), &[]).code, 1);
    assert_eq!(with(with_flags(), &["--lenient"]).code, 0);
    assert_eq!(with(PICKLE.to_vec(), &[]).code, 3);
    assert_eq!(with(b"x".to_vec(), &["--format", "gguf", "--json"]).json()["format"], "gguf");
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn lists_are_read_by_line_or_by_nul() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    folder.write("sub/a b.stb", &sound().encode());
    folder.write("c\nd.stb", &sound().encode());
    folder.write("notes.md", b"# notes");
    folder.write("lines", b"sub/a b.stb\n\nsub\n");
    folder.write("nul", b"c\nd.stb\0notes.md\0");
    let files = |list: &str| -> Vec<_> {
        let lines = run(&folder, &["check", "--json", "--files-from", list]).lines();
        lines.iter().map(|line| (line["file"].clone(), line["verdict"].clone())).collect()
    };
    let valid = |file: &str| (json!(file), json!("valid"));
    assert_eq!(files("lines"), [valid("sub/a b.stb"), valid("sub/a b.stb")]);
    assert_eq!(files("nul"), [valid("c\nd.stb"), valid("notes.md")]);
    let mut command = command(&folder, &["check", "--files-from", "-", "--json"]);
    command.write_stdin("sub/a b.stb");
    assert_eq!(finish(command).lines().len(), 1);
    let missing = run(&folder, &["check", "--files-from", "none"]);
    assert_eq!((missing.code, missing.err.starts_with("weighbridge: none: ")), (2, true));
    folder.write("wrong", b"gone.stb\n");
    assert_eq!(run(&folder, &["check", "--files-from", "wrong"]).code, 2);
}

#[test]
fn quiet_prints_what_does_not_pass() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let run_quiet = || run(&folder, &["check", ".", "--quiet"]);
    assert_eq!((run_quiet().code, &*run_quiet().out), (0, ""));
    folder.write("b.stb", &with_flags());
    assert_eq!(run_quiet().code, 1);
    assert_eq!(run_quiet().out.lines().count(), 2, "{:?}", run_quiet());
}

#[cfg(unix)]
#[test]
fn links_in_folders_are_not_followed_unless_asked() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("blobs")).expect("a folder");
    std::fs::create_dir(folder.path().join("snapshot")).expect("a folder");
    folder.write("blobs/1", &sound().encode());
    folder.write("snapshot/a.stb", &sound().encode());
    symlink("../blobs/1", folder.path().join("snapshot/b.stb")).expect("a link");
    let not = run(&folder, &["check", "snapshot"]);
    assert_eq!(not.code, 3, "{not:?}");
    let line = "unsupported snapshot/b.stb  a link, which is not followed";
    assert!(not.out.contains(line), "{not:?}");
    let json = run(&folder, &["check", "snapshot", "--json"]).lines();
    assert_eq!((&json[1]["verdict"], json.len()), (&json!("unsupported"), 2));
    // A link with a model's extension counts even if unknown files are skipped.
    assert_eq!(run(&folder, &["check", "snapshot", "--skip-unknown"]).code, 3);
    let followed = run(&folder, &["check", "snapshot", "--follow-links"]);
    assert_eq!((followed.code, followed.out.matches("\nvalid").count()), (0, 1), "{followed:?}");
    assert_eq!(run(&folder, &["check", "snapshot/b.stb"]).code, 0, "it was named");
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_in_a_circle_are_errors_if_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("all/sub")).expect("folders");
    folder.write("all/blob", &sound().encode());
    folder.write("all/sub/model.stb", &sound().encode());
    for (target, link) in [("../blob", "link.stb"), ("..", "loop"), ("nowhere", "nowhere.stb")] {
        symlink(target, folder.path().join("all/sub").join(link)).expect("a link");
    }
    let seen = |options: &[&str]| {
        let lines = run(&folder, &[&["check", "all", "--json"], options].concat()).lines();
        let name = |it: &Value| it["file"].as_str().expect("a name").replace("all/", "");
        lines.iter().map(|it| (name(it), it["verdict"].clone())).collect::<Vec<_>>()
    };
    let expected = |of: [(&str, Value); 5]| of.map(|(name, it)| (name.to_owned(), it));
    let (valid, aside) = (json!("valid"), json!("unsupported"));
    let with = |link: &Value, other: &Value| {
        expected([
            ("blob", valid.clone()),
            ("sub/link.stb", link.clone()),
            ("sub/loop", other.clone()),
            ("sub/model.stb", valid.clone()),
            ("sub/nowhere.stb", other.clone()),
        ])
    };
    assert_eq!(seen(&[]), with(&aside, &aside));
    assert_eq!(seen(&["--follow-links"]), with(&valid, &Value::Null));
}

#[cfg(unix)]
#[test]
fn shards_that_are_links_stay_in_the_folder() {
    use std::os::unix::fs::symlink;
    use weighbridge_tests::encode::safetensors::{File, Tensor};
    use weighbridge_tests::encode::shards::Index;
    let folder = Folder::new();
    let tensors = vec![Tensor::new("a", "F32", &[2])];
    let shard = File { metadata: None, tensors }.encode();
    std::fs::create_dir(folder.path().join("model")).expect("a folder");
    folder.write("outside", &shard);
    folder.write("model/inside", &shard);
    let index = Index::of(None, &[("a", "one.safetensors")]).encode();
    folder.write("model/m.safetensors.index.json", &index);
    let link = folder.path().join("model/one.safetensors");
    let check = |more: &[&str]| {
        run(&folder, &[&["check", "model/m.safetensors.index.json", "--json"], more].concat())
    };
    symlink("inside", &link).expect("a link");
    assert_eq!(check(&[]).code, 0);
    std::fs::remove_file(&link).expect("the link");
    symlink("../outside", &link).expect("a link");
    let refused = check(&[]);
    let json = refused.json();
    assert_eq!((refused.code, &json["findings"][0]["rule"]), (1, &json!("SHARD-PATH")), "{json}");
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(check(&["--follow-links"]).code, 0);
    assert_eq!(run(&folder, &["inspect", "model/m.safetensors.index.json"]).code, 1);
    let inspected = run(&folder, &["inspect", "model/m.safetensors.index.json", "--follow-links"]);
    assert_eq!(inspected.code, 0);
}
