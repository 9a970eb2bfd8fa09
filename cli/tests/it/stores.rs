//! Stores of models: caches and folders of other programs.

use super::*;
use sha2::Digest as _;
use weighbridge_tests::encode::gguf;

fn sha256(bytes: &[u8]) -> String {
    weighbridge::text::hex(&sha2::Sha256::digest(bytes))
}

fn model() -> Vec<u8> {
    let metadata = vec![];
    gguf::File { version: 3, big: false, alignment: 32, metadata, tensors: vec![] }.encode().bytes
}

/// A store as Ollama keeps it; the path of the model's blob.
fn ollama() -> (Folder, String) {
    let folder = Folder::new();
    let manifest = "store/manifests/registry.ollama.ai/library/tiny";
    std::fs::create_dir_all(folder.path().join(manifest)).expect("folders");
    std::fs::create_dir_all(folder.path().join("store/blobs")).expect("folders");
    let (model, template) = (model(), b"{{ .Prompt }}");
    let blob = |bytes: &[u8]| format!("store/blobs/sha256-{}", sha256(bytes));
    folder.write(&blob(&model), &model);
    folder.write(&blob(template), template);
    let layer = |kind: &str, bytes: &[u8]| {
        serde_json::json!({
            "mediaType": format!("application/vnd.ollama.image.{kind}"),
            "digest": format!("sha256:{}", sha256(bytes)),
            "size": bytes.len(),
        })
    };
    let layers = [layer("model", &model), layer("template", template)];
    let text = serde_json::json!({"schemaVersion": 2, "layers": layers}).to_string();
    folder.write(&format!("{manifest}/latest"), text.as_bytes());
    let blob = blob(&model);
    (folder, blob)
}

#[test]
fn an_ollama_store_is_checked_and_its_digests_compared() {
    let (folder, blob) = ollama();
    let sound = run(&folder, &["check", "store"]);
    assert_eq!(sound.code, 0, "{sound:?}");
    assert!(sound.out.contains(&format!("{blob}  GGUF 3")), "{sound:?}");
    assert!(sound.out.contains("companion 2 files"), "{sound:?}");
    // A byte that is legal in GGUF, but not what was downloaded.
    let mut other = model();
    other.push(0);
    folder.write(&blob, &other);
    let damaged = run(&folder, &["check", "store", "--json"]);
    let lines = damaged.lines();
    let line = lines.iter().find(|line| line["file"] == *blob).expect("a line");
    assert_eq!((damaged.code, &line["rule"]), (1, &"BLOB-DIGEST".into()), "{line}");
    let text = run(&folder, &["check", "store"]).out;
    assert!(text.contains("\ninvalid ") || text.starts_with("invalid "), "{text}");
    let sarif = run(&folder, &["check", "store", "--output", "sarif"]);
    assert!(sarif.out.contains("weighbridge/BLOB-DIGEST"), "{sarif:?}");
    let not = run(&folder, &["check", "store", "--no-digest", "--json"]).lines();
    let line = not.iter().find(|line| line["file"] == *blob).expect("a line");
    assert!(line.get("rule").is_none(), "{line}");
}

/// The manifest says which blob is the model, and which are missing, cut off or on their way.
#[test]
fn a_manifest_of_ollama_is_compared_with_its_blobs() {
    let (folder, blob) = ollama();
    let short = |blob: &str| blob.rsplit('/').next().unwrap()[..19].to_owned();
    let sound = run(&folder, &["check", "store"]);
    let template = sha256(b"{{ .Prompt }}");
    let line = format!(
        "store     store of Ollama, 1 model: tiny:latest (model {}, template sha256-{})",
        short(&blob),
        &template[..12]
    );
    assert!(sound.code == 0 && sound.out.lines().any(|it| it == line), "{line} {sound:?}");
    let manifest = "store/manifests/registry.ollama.ai/library/tiny/latest";
    let said = |what: &str| {
        for args in [&["check", "store", "--no-digest", "--lenient"][..], &["check", manifest]] {
            // Named alone it is a file of no format of tensors.
            let found = run(&folder, args);
            assert_eq!(found.code, 1, "{found:?}");
            let words = format!("tiny:latest: its model {} {what}", short(&blob));
            assert!(found.out.contains(&words) || args[1] == manifest, "{words}: {found:?}");
        }
        let lines = run(&folder, &["check", "store/manifests", "--json"]).lines();
        assert_eq!((lines.len(), &lines[0]["rule"]), (1, &"MANIFEST-BLOB".into()), "{lines:?}");
    };
    let model = model();
    folder.write(&blob, &model[..model.len() - 1]);
    said(&format!("has {} bytes in place of {}", model.len() - 1, model.len()));
    std::fs::remove_file(folder.path().join(&blob)).expect("it is there");
    said("is missing");
    for end in ["-partial", "-partial-0"] {
        folder.write(&format!("{blob}{end}"), b"GG");
    }
    said("is being downloaded");
    let found = run(&folder, &["check", "store"]);
    assert!(found.out.contains("2 files: download in progress: store/blobs/sha256-"), "{found:?}");
    // A digest is no path.
    let text = std::fs::read_to_string(folder.path().join(manifest)).expect("a manifest");
    folder.write(manifest, text.replacen(&sha256(&model), "../../x", 1).as_bytes());
    let odd = run(&folder, &["check", "store"]);
    assert!(odd.code == 1 && odd.out.contains("its model has no digest"), "{odd:?}");
}

/// Small files are stored under Git's digest, large ones under SHA-256; refs, locks and notes of
/// missing files are no models.
#[cfg(unix)]
#[test]
fn blobs_of_the_hub_s_cache_have_the_digests_of_their_names() {
    let folder = Folder::new();
    let root = folder.path().join("hub/models--me--x");
    for name in ["blobs", "refs", "snapshots/0123", ".no_exist/0123"] {
        std::fs::create_dir_all(root.join(name)).expect("folders");
    }
    folder.write("hub/models--me--x/refs/main", b"0123");
    folder.write("hub/models--me--x/.no_exist/0123/adapter_config.json", b"");
    folder.write("hub/models--me--x/.no_exist/0123/model.safetensors", b"");
    // What `git hash-object` prints for a file of "{}".
    let git = "9e26dfeeb6e641a33dae4961196235bdb965b21b";
    folder.write(&format!("hub/models--me--x/blobs/{git}"), b"{}");
    let (model, digest) = (model(), sha256(&model()));
    folder.write(&format!("hub/models--me--x/blobs/{digest}"), &model);
    for (blob, name) in [(git, "config.json"), (&*digest, "model.gguf")] {
        let link = root.join("snapshots/0123").join(name);
        std::os::unix::fs::symlink(format!("../../blobs/{blob}"), link).expect("a link");
    }
    for path in ["hub", "hub/models--me--x/snapshots/0123"] {
        let sound = run(&folder, &["check", path]);
        assert_eq!(sound.code, 0, "{sound:?}");
        let store = "store     cache of huggingface_hub, 1 download: me/x";
        assert!(sound.out.lines().any(|it| it == store), "{sound:?}");
        assert_eq!(sound.out.matches("GGUF 3").count(), 1, "the model is listed once: {sound:?}");
    }
    let both = run(&folder, &["check", "hub"]);
    assert!(both.out.contains("checked 2 blobs by the names that snapshots give"), "{both:?}");
    // Where its link is left out, a blob is checked as itself.
    for (path, out) in [("hub", "snapshots"), ("hub", "*.gguf"), ("hub/models--me--x/blobs", "x")] {
        let only = run(&folder, &["check", path, "--exclude", out]);
        assert!(only.code == 0 && only.out.contains(&format!("blobs/{digest}  GGUF")), "{only:?}");
    }
    let following = run(&folder, &["check", "hub", "--follow-links"]);
    assert!(
        following.code == 0 && following.out.contains("0123/model.gguf  GGUF 3"),
        "{following:?}"
    );
    // So is one that a folder of Git's hides, and one that nothing leads to.
    let hidden = "hub/models--me--x/snapshots/0123/.git";
    std::fs::create_dir(folder.path().join(hidden)).expect("a folder");
    let evil = b"\x80\x02cposix\nsystem\n(tR.";
    let path = folder.write(&format!("hub/models--me--x/blobs/{}", sha256(evil)), evil);
    assert_eq!(run(&folder, &["check", "hub"]).code, 1);
    let link = folder.path().join(hidden).join("x");
    std::os::unix::fs::symlink(format!("../../../blobs/{}", sha256(evil)), link).expect("a link");
    assert_eq!(run(&folder, &["check", "hub"]).code, 1);
    std::fs::remove_file(path).expect("it is there");
    std::fs::remove_dir_all(folder.path().join(hidden)).expect("it is there");
    folder.write(&format!("hub/models--me--x/blobs/{git}"), b"[]");
    for path in ["hub", "hub/models--me--x/snapshots/0123"] {
        let damaged = run(&folder, &["check", path]);
        assert_eq!(damaged.code, 1, "{damaged:?}");
        assert!(damaged.out.contains("damaged blob"), "{damaged:?}");
        assert_eq!(run(&folder, &["check", path, "--no-digest"]).code, 0);
    }
    folder.write(&format!("hub/models--me--x/blobs/{git}"), b"{}");
    let part = format!("hub/models--me--x/blobs/{digest}.incomplete");
    folder.write(&part, b"GGUF");
    let unfinished = run(&folder, &["check", "hub"]);
    assert_eq!(unfinished.code, 3, "{unfinished:?}");
    assert!(unfinished.out.contains("download in progress"), "{unfinished:?}");
}

/// A name of digits anywhere else is only a name.
#[test]
fn names_outside_of_stores_are_no_digests() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("blobs")).expect("a folder");
    folder.write("a.gguf", &model());
    folder.write(&format!("blobs/{}", "0".repeat(64)), b"text");
    folder.write(&format!("sha256-{}", "0".repeat(64)), b"text");
    assert_eq!(run(&folder, &["check", "."]).code, 0);
}

/// A blob that was copied out of its store, or is named in it, says its own digest.
#[test]
fn the_digest_in_the_name_of_a_file_that_was_named_is_compared() {
    let folder = Folder::new();
    let model = model();
    let digest = sha256(&model);
    std::fs::create_dir(folder.path().join("blobs")).expect("a folder");
    let names = [format!("sha256-{digest}"), format!("blobs/{digest}")];
    for name in &names {
        folder.write(name, &model);
        assert_eq!(run(&folder, &["check", name]).code, 0, "{name}");
        folder.write(name, &[&model[..], b"\0"].concat());
        let damaged = run(&folder, &["check", name]);
        assert_eq!(damaged.code, 1, "{damaged:?}");
        assert!(damaged.out.contains("its name is the digest of other bytes"), "{damaged:?}");
        let json = run(&folder, &["check", name, "--json"]).json();
        assert_eq!(json["rule"], "BLOB-DIGEST");
        assert_eq!(run(&folder, &["check", name, "--no-digest"]).code, 0);
    }
    // From inside the folder, and other names of digits.
    let mut inside = command(&folder, &["check", &digest]);
    inside.current_dir(folder.path().join("blobs"));
    assert_eq!(finish(inside).code, 1);
    folder.write(&digest, &[&model[..], b"\0"].concat());
    assert_eq!(run(&folder, &["check", &digest]).code, 0);
}

#[test]
fn a_folder_of_comfyui_has_models_by_purpose() {
    let folder = Folder::new();
    for name in ["checkpoints", "vae", "embeddings", "configs"] {
        std::fs::create_dir_all(folder.path().join("models").join(name)).expect("folders");
    }
    folder.write("models/checkpoints/put_checkpoints_here", b"");
    folder.write("models/checkpoints/x.gguf", &model());
    folder.write("models/configs/v1-inference.yaml", b"model:\n  target: ldm\n");
    let sound = run(&folder, &["check", "models"]);
    assert_eq!(sound.code, 0, "{sound:?}");
    let line = "store     models of ComfyUI by purpose, 1 folder: models";
    assert!(sound.out.lines().any(|it| it == line), "{sound:?}");
    folder.write("models/embeddings/style.pt", b"\x80\x02}q\0.");
    let found = run(&folder, &["check", "models", "--skip-unknown"]);
    assert!(found.code == 3 && found.out.contains("models/embeddings/style.pt"), "{found:?}");
}

#[test]
fn a_checkout_without_its_large_files_says_what_fetches_them() {
    let folder = Folder::new();
    folder.write("config.json", b"{}");
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
    folder.write("tokenizer.model", pointer);
    let found = run(&folder, &["check", "."]);
    assert_eq!(found.code, 1, "{found:?}");
    assert!(found.out.contains("`git lfs pull` fetches the file"), "{found:?}");
    std::fs::create_dir(folder.path().join(".git")).expect("a folder");
    let checkout = run(&folder, &["check", "."]);
    let line = "store     checkout of Git: 1 pointer of Git LFS, not fetched";
    assert!(checkout.out.lines().any(|it| it == line), "{checkout:?}");
    let xet = "# xet version 0\nfilesize = 9\nhash = '00'\n";
    folder.write("x.safetensors", xet.as_bytes());
    let pointer_of_xet = run(&folder, &["check", "x.safetensors"]);
    assert!(pointer_of_xet.out.contains("a Xet pointer"), "{pointer_of_xet:?}");
    // It is the same thing in place of any file, in a folder and alone.
    for (name, bytes) in [
        ("model.safetensors", &pointer[..]),
        ("pytorch_model.bin", pointer),
        ("tokenizer.model", pointer),
        ("x.safetensors", xet.as_bytes()),
        ("x.png", xet.as_bytes()),
    ] {
        let folder = Folder::new();
        folder.write(name, bytes);
        let (alone, found) = (run(&folder, &["check", name]), run(&folder, &["check", "."]));
        assert_eq!((alone.code, found.code), (1, 1), "{name}: {alone:?} {found:?}");
        let line = &run(&folder, &["check", ".", "--json", "--skip-unknown"]).lines()[0];
        assert_eq!((&line["class"], &line["rule"]), (&"download".into(), &"POINTER".into()));
    }
}

/// Split by bytes, under each of the names in use: each piece says what it is, and all together
/// are checked as the file that they make.
#[test]
fn piece_with_a_shells_characters_in_its_name_has_no_command() {
    let folder = Folder::new();
    for name in ["x$(id).gguf.part2of2", "x y.gguf.part2of2", "-x.gguf.part2of2", "x;id.gguf.001"] {
        let path = folder.write(name, b"\xFE\xFF\0\x01 a piece");
        let alone = run(&folder, &["check", "."]);
        assert_eq!(alone.code, 3, "{alone:?}");
        assert!(alone.out.contains("join all pieces in order"), "{alone:?}");
        assert!(!alone.out.contains("cat "), "{alone:?}");
        std::fs::remove_file(path).expect("it is there");
    }
}

#[test]
fn pieces_are_checked_as_the_file_that_they_make() {
    let model = sound().encode();
    for names in [
        ["x.stb.part1of2", "x.stb.part2of2"],
        ["x.stb.part00", "x.stb.part01"],
        ["x.stb-split-a", "x.stb-split-b"],
        ["x.stb.aa", "x.stb.ab"],
        ["x.stb.part-aa", "x.stb.part-ab"],
        ["x.stb.001", "x.stb.002"],
    ] {
        let folder = Folder::new();
        for (name, bytes) in [(names[0], &model[..60]), (names[1], &model[60..])] {
            let path = folder.write(name, bytes);
            for path in [".", name] {
                let alone = run(&folder, &["check", path]);
                assert_eq!(alone.code, 3, "{alone:?}");
                let all = names[0].trim_end_matches(|c: char| c.is_ascii_digit() || c == 'a');
                let all = all.strip_suffix("1of").unwrap_or(all);
                let places = match names[0] {
                    "x.stb.aa" => "[a-z][a-z]",
                    name if name.ends_with('a') => "*",
                    _ => "[0-9]*",
                };
                let advice = format!("join all pieces in order: cat $(ls -v {all}{places}) >x.stb");
                assert!(alone.out.contains(&advice), "{advice} {alone:?}");
            }
            std::fs::remove_file(path).expect("it is there");
        }
        folder.write(names[1], &model[60..]);
        folder.write(names[0], &model[..60]);
        for args in [&["check", "."][..], &["check", names[0], names[1]], &["check", names[1]]] {
            let joined = run(&folder, args);
            assert_eq!(joined.code, 0, "{joined:?}");
            assert!(joined.out.contains("STB 1, 2 tensors, 197 bytes"), "{joined:?}");
            assert!(!joined.out.contains("companion"), "{joined:?}");
        }
        let lines = run(&folder, &["check", ".", "--json"]).lines();
        let second = lines.iter().find(|it| it["file"] == format!("./{}", names[1])).expect("it");
        let says = second["diagnosis"].as_str().expect("a text");
        let expected = "piece of a file: piece 2 of 2 of x.stb, checked with ";
        assert!(second["class"] == "piece" && says.starts_with(expected), "{second}");
        folder.write(names[1], &model[61..]);
        assert_eq!(run(&folder, &["check", "."]).code, 1);
        // So is a later piece that is one alone.
        let evil = b"\x80\x02cposix\nsystem\n(tR.";
        let bytes = [&model[..], b"0123"].concat();
        let whole = [&bytes[..60], evil].concat();
        folder.write(names[0], &whole[..60]);
        folder.write(names[1], &whole[60..]);
        let lines =
            run(&folder, &["check", ".", "--json", "--allow-code", "--deny", "pickle"]).lines();
        let second = lines.iter().find(|it| it["file"] == format!("./{}", names[1])).expect("it");
        assert_eq!((&second["verdict"], &second["class"]), (&"invalid".into(), &"code".into()));
        // A pickle in pieces is a pickle.
        folder.write(names[0], b"\x80\x02cpos");
        folder.write(names[1], b"ix\nsystem\n(tR.");
        assert_eq!(run(&folder, &["check", ".", "--skip-unknown"]).code, 1);
    }
}

/// The piece that answers for the whole may be left out, by a pattern or by a list.
#[test]
fn the_first_piece_that_is_checked_answers_for_the_whole() {
    let folder = Folder::new();
    let model = sound().encode();
    std::fs::create_dir(folder.path().join("m")).expect("a folder");
    let write = |bytes: &[u8]| {
        folder.write("m/x.stb.part1of3", &bytes[..60]);
        folder.write("m/x.stb.part2of3", &bytes[60..90]);
        folder.write("m/x.stb.part3of3", &bytes[90..]);
    };
    folder.write("list", b"m/x.stb.part2of3\nm/x.stb.part3of3\n");
    folder.write("last", b"m/x.stb.part3of3\n");
    let ways: [&[&str]; 7] = [
        &["m"],
        &["m", "--exclude", "*.part1of3"],
        &["m", "--exclude", "*.part[12]of3"],
        &["m", "--include", "*.part3of3"],
        &["--files-from", "list"],
        &["--files-from", "last"],
        &["--files-from", "list", "--exclude", "*.part2of3"],
    ];
    for (code, bytes) in [(0, &model[..]), (1, &model[..model.len() - 1])] {
        write(bytes);
        for way in ways {
            let found = run(&folder, &[&["check", "--skip-unknown", "--json"], way].concat());
            assert_eq!(found.code, code, "{way:?}: {found:?}");
            let lines = found.lines();
            let whole = lines.iter().filter(|line| line["format"] == "stb");
            assert_eq!(whole.count(), 1, "{way:?}: {found:?}");
        }
    }
}
