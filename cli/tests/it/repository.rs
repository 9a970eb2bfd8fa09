//! Folders as repositories: what each file is, and what may pass.

use super::*;
use sha2::Digest as _;
use weighbridge_tests::encode::safetensors;

const PICKLE: &[u8] = b"\x80\x02}q\0.";
/// One that runs something.
const EVIL: &[u8] = b"\x80\x02cposix\nsystem\n(tR.";

/// A small sound model.
fn weights() -> Vec<u8> {
    let tensors = vec![safetensors::Tensor::new("w", "F32", &[2])];
    safetensors::File { metadata: None, tensors }.encode()
}

/// A folder of a sentence-transformers model.
fn sound_repository() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("model/1_Pooling")).expect("folders");
    folder.write("model/model.safetensors", &weights());
    for (name, text) in [
        ("config.json", r#"{"model_type": "bert", "time_step_limit": [0.0, Infinity]}"#),
        ("README.md", "---\nlicense: mit\n---\n# A model\n"),
        ("tokenizer.json", "{\"version\": \"1.0\"}"),
        ("vocab.txt", "[PAD]\n[UNK]\nnaïve\n"),
        ("LICENSE", "MIT"),
        (".gitattributes", "*.safetensors filter=lfs\n"),
        ("modules.json", r#"[{"idx": 0, "type": "sentence_transformers.models.Transformer"}]"#),
        ("1_Pooling/config.json", r#"{"word_embedding_dimension": 384}"#),
        ("chat_template.jinja", "{{ messages[0].content }}"),
        ("empty.txt", ""),
    ] {
        folder.write(&format!("model/{name}"), text.as_bytes());
    }
    folder.write("model/tokenizer.model", b"\x0A\x0A\x0A\x03<s>\x15\0\0\0\0\x12\x02\x08\x01");
    folder.write("model/logo.png", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0");
    folder
}

#[test]
fn a_sound_repository_is_valid_in_three_lines() {
    let folder = sound_repository();
    let run_human = run(&folder, &["check", "model"]);
    assert_eq!(run_human.code, 0, "{run_human:?}");
    let lines: Vec<_> = run_human.out.lines().collect();
    assert!(lines[0].starts_with("valid     model/model.safetensors  safetensors"), "{lines:?}");
    assert_eq!(lines[1], "model     model  11 files: 1 safetensors, 72 bytes");
    assert_eq!(lines[2], "companion 12 files: settings, texts, tokenizers, media");
    assert_eq!(lines.len(), 3, "{lines:?}");
    let verbose = run(&folder, &["check", "model", "--verbose"]);
    assert_eq!((verbose.code, verbose.out.lines().count()), (0, 14), "{verbose:?}");
    let json = run(&folder, &["check", "model", "--json"]).lines();
    assert_eq!(json.len(), 13);
    assert!(json.iter().all(|line| line["verdict"] == "valid"));
    let models = json.iter().filter(|line| line["class"] == "model");
    assert_eq!(models.count(), 1);
}

/// Each file alone, in an otherwise sound repository: its class, and the exit codes without
/// options, with `--skip-unknown`, and with `--allow-code`.
#[test]
fn each_class_decides_on_the_exit_code() {
    let zip = |name: &str, data: &[u8]| policy::zip(&[(name, data)]);
    let lambda = br#"{"config": {"layers": [{"class_name" : "Lambda"}]}}"#;
    let tar = {
        let mut tar = vec![0; 512];
        tar[..5].copy_from_slice(b"x.bin");
        tar[124..136].copy_from_slice(b"00000000006\0");
        tar[156] = b'0';
        tar[257..262].copy_from_slice(b"ustar");
        tar.extend(PICKLE);
        tar.resize(2_048, 0);
        tar
    };
    let cases: &[(&str, Vec<u8>, &str, [i32; 3])] = &[
        ("notes.txt", b"text".to_vec(), "companion", [0, 0, 0]),
        ("training_args.bin", PICKLE.to_vec(), "code", [3, 3, 0]),
        ("training_args.bin", EVIL.to_vec(), "code", [1, 1, 0]),
        ("README", EVIL.to_vec(), "code", [1, 1, 0]),
        ("model.gguf", EVIL.to_vec(), "code", [1, 1, 0]),
        ("scaler.pkl", b"of no known protocol".to_vec(), "code", [1, 1, 0]),
        ("x.pt", zip("archive/data.pkl", PICKLE), "code", [3, 3, 0]),
        ("x.pt", zip("archive/data.pkl", EVIL), "code", [1, 1, 0]),
        ("x.dat", zip("archive/other", EVIL), "code", [1, 1, 0]),
        ("x.tar", tar, "code", [3, 3, 0]),
        ("x.keras", policy::zip(&[("config.json", lambda), ("x.pkl", PICKLE)]), "code", [1, 1, 0]),
        ("x.keras", zip("config.json", lambda), "code", [1, 1, 0]),
        ("x.h5", [b"\x89HDF\r\n\x1A\n".as_slice(), lambda].concat(), "code", [1, 1, 0]),
        ("helper.py", b"import os".to_vec(), "code", [3, 3, 0]),
        ("run", b"#!/bin/sh\nexit\n".to_vec(), "code", [3, 3, 0]),
        ("run.ipynb", b"{}".to_vec(), "code", [3, 3, 0]),
        ("x.zip", zip("setup.py", b"import os"), "code", [3, 3, 0]),
        ("libx.so.1", b"\x7FELF\x02\x01\x01".to_vec(), "code", [3, 3, 0]),
        ("data", b"\x7FELF\x02\x01\x01".to_vec(), "code", [3, 3, 0]),
        ("chat.jinja", b"{{ ().__class__ }}".to_vec(), "code", [1, 1, 0]),
        ("x.yaml", b"a: !!python/object/apply:os.system [id]".to_vec(), "code", [1, 1, 0]),
        ("hyperparams.yaml", b"a: !new:speechbrain.nnet.Linear".to_vec(), "code", [3, 3, 0]),
        ("config.yml", b"a: 1".to_vec(), "companion", [0, 0, 0]),
        (
            "tokenizer_config.json",
            br#"{"chat_template": "{{ ().__class__ }}"}"#.to_vec(),
            "code",
            [1, 1, 0],
        ),
        ("config.json", br#"{"auto_map": {"AutoModel": "a--b.C"}}"#.to_vec(), "code", [1, 1, 0]),
        ("config.json", b"{\"auto_map\":".to_vec(), "unknown", [3, 3, 3]),
        ("weights.bin", b"\x01\x02\xFF".to_vec(), "unknown", [3, 3, 3]),
        ("data.gz", b"\x1F\x8B\x08\0\0".to_vec(), "unknown", [3, 3, 3]),
        ("plain.zip", zip("a.txt", b"text"), "unknown", [3, 0, 3]),
        ("x.index", b"\0\x01\x02\xFF".to_vec(), "unknown", [3, 0, 3]),
        (
            "pytorch_model.bin",
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n".to_vec(),
            "download",
            [1, 1, 1],
        ),
        ("x.h5", b"# xet version 0\n".to_vec(), "download", [1, 1, 1]),
        ("page", b"<!DOCTYPE html><html></html>".to_vec(), "download", [3, 3, 3]),
        ("data.bin.incomplete", b"\0\x01".to_vec(), "download", [3, 3, 3]),
        ("y.gguf.part1of2", b"GG\0\xFF".to_vec(), "download", [3, 3, 3]),
    ];
    for (name, bytes, class, codes) in cases {
        let folder = sound_repository();
        folder.write(&format!("model/{name}"), bytes);
        for (options, code) in [&[][..], &["--skip-unknown"], &["--allow-code"]].iter().zip(codes) {
            let found = run(&folder, &[&["check", "model"], *options].concat());
            assert_eq!(found.code, *code, "{name} {options:?}: {found:?}");
            let json = run(&folder, &[&["check", "model", "--json"], *options].concat());
            assert_eq!(json.code, *code, "{name} {options:?}: {json:?}");
        }
        let lines = run(&folder, &["check", "model", "--json"]).lines();
        let line = lines.iter().find(|it| it["file"] == format!("model/{name}")).expect("a line");
        assert_eq!(line["class"], *class, "{line}");
    }
}

/// Readers find an archive by its end: what it begins with hides nothing.
#[test]
fn skipping_unknown_files_does_not_skip_an_archive_behind_other_bytes() {
    let folder = sound_repository();
    let archive = policy::zip(&[("archive/data.pkl", EVIL)]);
    let hidden = [&[1; 400][..], &archive].concat();
    folder.write("model/x.dat", &hidden);
    let skipping = run(&folder, &["check", "model", "--skip-unknown"]);
    assert_eq!(skipping.code, 1, "{skipping:?}");
    assert!(skipping.out.contains("\"archive/data.pkl\" in it can run code"), "{skipping:?}");
    // Python's zipfile finds members whatever their number is said to be.
    let mut odd = hidden.clone();
    let end = odd.len() - 22;
    odd[end + 10] = 9;
    folder.write("model/x.dat", &odd);
    assert_eq!(run(&folder, &["check", "model", "--skip-unknown"]).code, 3);
    folder.write("model/x.dat", &hidden[..400]);
    assert_eq!(run(&folder, &["check", "model", "--skip-unknown"]).code, 0);
}

/// The option that everybody uses must not let a pickle or code pass.
#[test]
fn skipping_unknown_files_does_not_skip_code() {
    let folder = sound_repository();
    folder.write("model/training_args.bin", EVIL);
    folder.write("model/modeling_x.py", b"import os\n");
    folder.write("model/config.json", br#"{"auto_map": {"AutoModel": "modeling_x.Model"}}"#);
    let skipping = run(&folder, &["check", "model", "--skip-unknown"]);
    assert_eq!(skipping.code, 1, "{skipping:?}");
    for words in [
        "model/training_args.bin",
        "model/modeling_x.py (config.json loads it)",
        "model/config.json (auto_map loads modeling_x.py)",
    ] {
        assert!(skipping.out.contains(words), "{words}: {skipping:?}");
    }
    let denied = ["check", "model", "--allow-code", "--deny", "pickle"];
    assert_eq!(run(&folder, &denied).code, 1);
    for (output, words) in [
        ("sarif", "weighbridge/CODE-LOADED"),
        ("github", "::error file=model/config.json,title=code::settings that load code: auto_map"),
        ("junit", "<failure type=\"invalid\" message=\"settings that load code: auto_map loads"),
    ] {
        let found = run(&folder, &["check", "model", "--output", output]);
        assert!(found.code == 1 && found.out.contains(words), "{output}: {found:?}");
    }
    folder.write("weighbridge.toml", b"allow-code = true\n");
    let allowed = run(&folder, &["check", "model"]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    assert!(allowed.err.contains("accepts more than the defaults: allow-code"), "{allowed:?}");
}

#[test]
fn many_files_take_few_lines() {
    let folder = sound_repository();
    for i in 0..60 {
        folder.write(&format!("model/m{i}.py"), b"import os\n");
        folder.write(&format!("model/m{i}.so"), b"\x7FELF\x02\x01\x01");
        folder.write(&format!("model/x{i}.stb"), &sound().encode());
        folder.write(&format!("model/x{i}"), b"\0\x01\xFF");
    }
    let all = run(&folder, &["check", "model"]);
    assert_eq!(all.code, 3);
    assert!(all.out.lines().count() <= 17, "{all:?}");
    let python = "unsupported 60 files: code: Python: model/m0.py, model/m1.py, model/m10.py and 57 \
                  more";
    assert!(all.out.lines().any(|line| line == python), "{all:?}");
    assert!(all.out.contains("56 more files: 56 STB"), "{all:?}");
    let skipping = run(&folder, &["check", "model", "--skip-unknown"]);
    assert!(skipping.out.contains("skipped 60 files of no known format"), "{skipping:?}");
}

/// As in an environment of Python: files of each kind, each with many findings.
#[test]
fn findings_of_many_files_take_few_lines() {
    let folder = sound_repository();
    let zip = policy::zip(&[("archive/data.pkl", EVIL), ("archive/more.pkl", EVIL)]);
    for i in 0..40 {
        std::fs::create_dir(folder.path().join(format!("model/d{i}"))).expect("a folder");
        for (name, bytes) in [
            ("a.stb", &*with_flags()),
            ("b.stb", &*with_unknown_type()),
            ("c.stb", &sound().encode()[..190]),
            ("d.stb", &*with_lint()),
            ("e.pkl", EVIL),
            ("f.pt", &*zip),
            ("g.bin", PICKLE),
            ("h.gz", b"\x1F\x8B\x08\0\0"),
            ("i.safetensors", &weights()[..50]),
            ("j.incomplete", b"\0\x01"),
        ] {
            folder.write(&format!("model/d{i}/{name}"), bytes);
        }
        for (kind, bytes) in
            ["sh", "js", "lua", "pl", "py", "rb", "jar", "so"].iter().zip([b"x"; 8])
        {
            folder.write(&format!("model/d{i}/code.{kind}"), bytes);
        }
    }
    let all = run(&folder, &["check", "model"]);
    let lines: Vec<_> = all.out.lines().collect();
    assert!(all.code == 1 && lines.len() <= 30, "{} {all:?}", lines.len());
    // The first file that is not valid says what is wrong, and no kind of fault is left out.
    assert!(lines[0].starts_with("invalid   model/d0/a.stb  STB"), "{all:?}");
    assert!(lines[1].contains("violation H-FLAGS"), "{all:?}");
    for words in [
        "invalid   80 files: pickle, which loading the model runs: model/d0/e.pkl (a pickle, which",
        "invalid   39 files: H-FLAGS: model/d1/a.stb, model/d10/a.stb, model/d11/a.stb and 36 more",
        "invalid   78 files: H-FSIZE, HEADER-BOUNDS: model/d1/c.stb (7 bytes short: ",
        "unchecked 39 files: not fully checked: model/d1/b.stb, ",
        "unsupported 320 files: code: JavaScript, Lua, Perl and 5 more kinds: model/d0/code.js, ",
        "unchecked 40 files: download in progress: model/d0/j.incomplete (of j), ",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(words)), "{words}: {all:?}");
    }
    let counted = |word: &str| -> u64 {
        let lines = lines.iter().filter(|it| it.starts_with(word) && it.contains(" file"));
        let number = |line: &&str| line[9..].trim_start().split(' ').next().map(str::to_owned);
        lines.filter_map(number).filter_map(|it| it.replace(',', "").parse::<u64>().ok()).sum()
    };
    let listed = lines.iter().filter(|it| it.starts_with("invalid   model/")).count() as u64;
    assert_eq!(counted("invalid ") + listed, 40 * 5, "{all:?}");
    let verbose = run(&folder, &["check", "model", "--verbose"]);
    assert!(verbose.out.lines().count() > 40 * 18, "{}", verbose.out.lines().count());
    assert_eq!(verbose.out.matches("violation H-FLAGS").count(), 40);
}

#[test]
fn a_file_with_a_control_file_beside_it_is_not_plainly_valid() {
    let folder = Folder::new();
    folder.write("model.safetensors", &weights());
    assert_eq!(run(&folder, &["check", "model.safetensors"]).code, 0);
    for control in ["aria2", "incomplete", "part", "crdownload", "lock"] {
        let path = folder.write(&format!("model.safetensors.{control}"), b"\0\x01");
        for args in [&["check", "model.safetensors"][..], &["check", "."]] {
            let found = run(&folder, args);
            assert_eq!(found.code, 3, "{control}: {found:?}");
            let words = format!("download in progress: model.safetensors.{control} lies beside");
            assert!(found.out.contains(&words), "{found:?}");
        }
        // A lock may be a lock of anything, so its name alone does not say what it is.
        if control != "lock" {
            let named = run(&folder, &["check", &format!("model.safetensors.{control}")]);
            assert!(named.code == 3 && named.out.contains("download in progress"), "{named:?}");
        }
        std::fs::remove_file(path).expect("it is there");
    }
}

/// As huggingface_hub and package managers leave them.
#[test]
fn a_lock_without_its_file_is_a_companion() {
    let folder = sound_repository();
    folder.write("model/other.safetensors.lock", b"");
    folder.write("model/poetry.lock", b"[[package]]\n");
    let found = run(&folder, &["check", "model"]);
    assert_eq!(found.code, 0, "{found:?}");
}

/// A folder of shards has one line for all of them.
#[test]
fn a_sharded_model_is_one_line_that_says_whether_it_is_complete() {
    let folder = sound_repository();
    std::fs::remove_file(folder.path().join("model/model.safetensors")).expect("it is there");
    let mut entries = Vec::new();
    for no in 1..=3 {
        let (tensor, name) = (format!("w{no}"), format!("model-{no:05}-of-00003.safetensors"));
        let tensors = vec![safetensors::Tensor::new(&tensor, "F32", &[2])];
        let file = safetensors::File { metadata: None, tensors };
        folder.write(&format!("model/{name}"), &file.encode());
        entries.push((tensor, name));
    }
    let pairs: Vec<_> = entries.iter().map(|(tensor, file)| (&**tensor, &**file)).collect();
    let index = weighbridge_tests::encode::shards::Index::of(None, &pairs).encode();
    folder.write("model/model.safetensors.index.json", &index);
    let whole = run(&folder, &["check", "model"]);
    assert_eq!(whole.code, 0, "{whole:?}");
    let line =
        "model     model  14 files: safetensors in 3 shards, complete, with index, 216 bytes";
    assert!(whole.out.lines().any(|it| it == line), "{whole:?}");
    assert_eq!(whole.out.matches("-of-00003").count(), 0, "{whole:?}");
    std::fs::remove_file(folder.path().join("model/model-00002-of-00003.safetensors"))
        .expect("it is there");
    let part = run(&folder, &["check", "model"]);
    assert_eq!(part.code, 1, "{part:?}");
    assert!(part.out.contains("safetensors in 2 of 3 shards, incomplete, with index"), "{part:?}");
    folder.write("model/model-00002-of-00003.safetensors", &weights()[..50]);
    let broken = run(&folder, &["check", "model"]);
    assert!(broken.out.contains("in 3 shards, complete, 1 not valid"), "{broken:?}");
    // Without the index nothing else says that a shard is missing.
    std::fs::remove_file(folder.path().join("model/model.safetensors.index.json")).expect("there");
    std::fs::remove_file(folder.path().join("model/model-00002-of-00003.safetensors"))
        .expect("there");
    let bare = run(&folder, &["check", "model"]);
    assert_eq!(bare.code, 3, "{bare:?}");
    assert!(bare.out.contains("safetensors in 2 of 3 shards, incomplete"), "{bare:?}");
    let missing = "unchecked 1 of 3 shards is missing: model-00002-of-00003.safetensors";
    assert_eq!(bare.out.matches(missing).count(), 1, "{bare:?}");
}

/// A shard alone, or without its index: its name says that there are others.
#[test]
fn shards_of_an_incomplete_set_are_not_plainly_valid() {
    let folder = Folder::new();
    let name = |no: u64| format!("m-{no:05}-of-00005.safetensors");
    let write = |no: u64| {
        let tensors = vec![safetensors::Tensor::new(&format!("w{no}"), "F32", &[2])];
        folder.write(&name(no), &safetensors::File { metadata: None, tensors }.encode());
    };
    [2, 3, 4].into_iter().for_each(write);
    let missing = format!("2 of 5 shards are missing: {}, {}", name(1), name(5));
    let all = run(&folder, &["check", ".", "--json"]);
    let lines = all.lines();
    let left = lines.iter().filter(|line| line["unchecked"] != serde_json::json!([])).count();
    assert_eq!((all.code, left), (3, 1), "one file answers for the set: {all:?}");
    for args in [&["check", &*name(3)][..], &["check", &*name(2), &*name(3), &*name(4)]] {
        let named = run(&folder, args);
        assert_eq!((named.code, named.out.matches(&missing).count()), (3, 1), "{named:?}");
    }
    for (output, words) in [
        ("sarif", "weighbridge/NOT-CHECKED"),
        ("github", "are missing"),
        ("junit", "<failure type=\"unchecked\""),
    ] {
        let found = run(&folder, &["check", ".", "--output", output]);
        assert!(found.code == 3 && found.out.contains(words), "{output}: {found:?}");
    }
    // The answer changes with files beside it, so that a journal does not keep it.
    let resumed = ["check", ".", "--resume", "journal.jsonl", "--exclude", "*.jsonl"];
    assert_eq!(run(&folder, &resumed).code, 3);
    [1, 5].into_iter().for_each(write);
    assert_eq!(run(&folder, &resumed).code, 0);
    assert_eq!(run(&folder, &["check", &*name(3)]).code, 0);
}

#[test]
fn git_s_own_folder_is_left_out_and_that_is_said() {
    let folder = sound_repository();
    std::fs::create_dir_all(folder.path().join("model/.git/hooks")).expect("folders");
    folder.write("model/.git/hooks/pre-commit.sample", b"#!/bin/sh\n");
    let found = run(&folder, &["check", "model"]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.ends_with("; left out 1 folder (.git)\n"), "{found:?}");
}

#[cfg(unix)]
#[test]
fn links_of_the_hub_s_cache_are_followed_and_no_others() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let snapshot = "hub/models--me--x/snapshots/0123";
    std::fs::create_dir_all(folder.path().join(snapshot)).expect("folders");
    for name in ["blobs", "refs"] {
        std::fs::create_dir(folder.path().join("hub/models--me--x").join(name)).expect("a folder");
    }
    folder.write("hub/models--me--x/refs/main", b"0123");
    folder.write("outside", &weights());
    let link = |blob: &str, name: &str| {
        symlink(blob, folder.path().join(snapshot).join(name)).expect("a link");
    };
    let blob = |bytes: &[u8], name: &str| {
        let digest = weighbridge::text::hex(&sha2::Sha256::digest(bytes));
        folder.write(&format!("hub/models--me--x/blobs/{digest}"), bytes);
        link(&format!("../../blobs/{digest}"), name);
    };
    blob(&weights(), "one.safetensors");
    let index = weighbridge_tests::encode::shards::Index::of(None, &[("w", "one.safetensors")]);
    blob(&index.encode(), "m.safetensors.index.json");
    blob(b"{}", "config.json");
    let found = run(&folder, &["check", snapshot]);
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.out.contains("2 files: 2 valid"), "{found:?}");
    assert_eq!(run(&folder, &["check", "hub"]).code, 0);
    // A module has its name in the snapshot alone.
    blob(b"import os", "helper.py");
    assert_eq!(run(&folder, &["check", snapshot]).code, 3);
    std::fs::remove_file(folder.path().join(snapshot).join("helper.py")).expect("it is there");
    link("../../../../outside", "two.safetensors");
    let refused = run(&folder, &["check", snapshot]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.out.contains("two.safetensors  a link, which is not followed"), "{refused:?}");
}
