//! `weighbridge.toml`.

use super::*;
use serde_json::json;

/// An ignored rule.
fn ignore(rule: &str, until: &str) -> String {
    format!("[[ignore]]\nrule = \"{rule}\"\nreason = \"an old writer\"\nuntil = {until}\n")
}

/// A folder with one file that breaks a rule, and these settings.
fn with(settings: &str) -> Folder {
    let folder = Folder::new();
    folder.write("a.stb", &with_flags());
    folder.write("weighbridge.toml", settings.as_bytes());
    folder
}

#[test]
fn ignored_findings_are_listed() {
    let folder = with(&ignore("H-FLAGS", "2999-12-31"));
    let human = run(&folder, &["check", "a.stb"]);
    assert_eq!(human.code, 0, "{human:?}");
    let words = "ignored   H-FLAGS: 1 finding until 2999-12-31: an old writer";
    assert!(human.out.contains(words), "{human:?}");
    assert!(human.out.contains("; ignored 1 finding"), "{human:?}");
    let json = run(&folder, &["check", "a.stb", "--json"]).json();
    let ignored =
        json!([{"rule": "H-FLAGS", "count": 1, "reason": "an old writer", "until": "2999-12-31"}]);
    assert_eq!((&json["verdict"], &json["ignored"]), (&json!("valid"), &ignored), "{json}");
    assert_eq!(json["findings"][0]["rule"], "H-FLAGS", "it is listed all the same");
    assert_eq!(json["config"], "weighbridge.toml");
    // Rules denied on the command line take precedence.
    assert_eq!(run(&folder, &["check", "a.stb", "--deny", "H-FLAGS"]).code, 1);
    assert_eq!(run(&folder, &["check", "a.stb", "--no-config"]).code, 1);
}

#[test]
fn ignored_findings_of_shards_are_listed() {
    use weighbridge_tests::encode::safetensors::{File, Tensor};
    use weighbridge_tests::encode::shards::Index;
    let folder = with(&ignore("TRAILING", "2999-12-31"));
    let tensors = vec![Tensor::new("x", "F32", &[2])];
    let shard = [File { metadata: None, tensors }.encode(), vec![0; 8]].concat();
    folder.write("one.safetensors", &shard);
    let index = Index::of(None, &[("x", "one.safetensors")]);
    folder.write("m.safetensors.index.json", &index.encode());
    let args = ["check", "m.safetensors.index.json"];
    let human = run(&folder, &args);
    let note = "weighbridge: weighbridge.toml accepts more than the defaults: ignore\n";
    assert_eq!(human.err, note);
    assert_eq!(human.code, 0, "{human:?}");
    assert!(human.out.contains("  ignored   \"one.safetensors\": 1 finding\n"), "{human:?}");
    assert_eq!(run(&folder, &[&args[..], &["--no-config"]].concat()).code, 1);
}

#[test]
fn expired_exception_counts_again() {
    let folder = with(&ignore("H-FLAGS", "2020-02-29"));
    let run = run(&folder, &["check", "a.stb", "--json"]);
    assert_eq!((run.code, run.json().get("ignored")), (1, None));
    let note =
        "weighbridge: weighbridge.toml: H-FLAGS was ignored until 2020-02-29, and counts again\n";
    assert_eq!(run.err, note);
}

#[test]
fn unchecked_rule_may_be_ignored_by_name() {
    let settings =
        [ignore("T-DTYPE", "2999-01-01"), ignore("DATA-UNCHECKED", "2999-01-01")].concat();
    let folder = with(&settings);
    folder.write("u.stb", &with_unknown_type());
    assert_eq!(run(&folder, &["check", "u.stb", "--no-config"]).code, 3);
    let json = run(&folder, &["check", "u.stb", "--json"]);
    assert_eq!(
        (json.code, json.json()["ignored"].as_array().map(Vec::len)),
        (0, Some(2)),
        "{json:?}"
    );
}

#[test]
fn select_keeps_fatal_rules() {
    let folder = with("select = [\"T-*\"]\n");
    let json = run(&folder, &["check", "a.stb", "--json"]);
    let ignored = json!([{"rule": "H-FLAGS", "count": 1, "reason": "not selected"}]);
    assert_eq!((json.code, &json.json()["ignored"]), (0, &ignored));
    let mut bytes = sound().encode();
    bytes.truncate(bytes.len() - 1);
    folder.write("cut.stb", &bytes);
    assert_eq!(run(&folder, &["check", "cut.stb"]).code, 1);
    folder.write("u.stb", &with_unknown_type());
    assert_eq!(
        run(&folder, &["check", "u.stb"]).code,
        3,
        "that it was not checked is no rule of choice"
    );
}

#[test]
fn settings_apply_profile_depth_deny_limits_and_paths() {
    assert_eq!(run(&with("profile = \"lenient\""), &["check", "a.stb"]).code, 0);
    let structure = run(&with("depth = \"structure\""), &["check", "a.stb", "--json"]);
    assert_eq!(structure.json()["checked"], json!(["structure"]));
    let args = ["check", "a.stb", "--json", "--payloads"];
    let payloads = run(&with("depth = \"structure\""), &args);
    assert_eq!(payloads.json()["checked"], json!(["structure", "payloads"]));
    let folder = with("deny = [\"lint\", \"pickle\"]");
    folder.write("l.stb", &with_lint());
    folder.write("p.bin", b"\x80\x02}q\0.");
    assert_eq!(run(&folder, &["check", "l.stb"]).code, 1);
    assert_eq!(run(&folder, &["check", "p.bin"]).code, 1);
    let folder = with("exclude = [\"a.stb\", \"weighbridge.toml\"]\n[limits]\nwork = 1\n");
    folder.write("b.stb", &sound().encode());
    let walked = run(&folder, &["check", "."]);
    assert_eq!(walked.code, 0, "{walked:?}");
    assert!(walked.out.contains("; left out 2 excluded paths"), "{walked:?}");
    let json = run(&folder, &["check", ".", "--json"]);
    assert_eq!((json.lines().len(), &*json.err), (1, "weighbridge: left out 2 excluded paths\n"));
    // A named file is checked.
    assert_eq!(run(&folder, &["check", "a.stb"]).code, 1);
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    for (settings, code) in [("", 0), ("include = [\"*.toml\"]\n", 2)] {
        folder.write("weighbridge.toml", settings.as_bytes());
        assert_eq!(run(&folder, &["check", "."]).code, code, "{settings}");
    }
}

#[test]
fn wrong_setting_is_named() {
    for (settings, words) in [
        ("profil = \"strict\"\n", "line 1: unknown key profil; the keys are profile, depth, "),
        ("# x\n[limits]\nworks = 1\n", "line 3: unknown key works in limits; the keys are work, "),
        ("[limits]\nwork = \"1\"\n", "line 2: limits.work must be a whole number from 0 to "),
        ("deny = [\"NONE\"]\n", "no rule has the id \"NONE\""),
        ("exclude = [\"a[\"]\n", "the pattern \"a[\""),
        ("profile = \n", "line 1"),
        (&ignore("SHARD-PATH", "2999-01-01"), "is fatal and cannot be ignored"),
    ] {
        let run = run(&with(settings), &["check", "a.stb"]);
        assert_eq!((run.code, &*run.out), (2, ""), "{run:?}");
        assert!(run.err.contains(words) && run.err.lines().count() == 1, "{run:?}");
    }
}

/// Opening a pipe would wait for a writer, and a device may have no end.
#[cfg(unix)]
#[test]
fn settings_that_are_no_file_are_refused() {
    let folder = Folder::new();
    let name = folder.write("a.stb", &sound().encode()).with_file_name("weighbridge.toml");
    let refused = |args: &[&str], why: &str| {
        let mut command = command(&folder, args);
        command.timeout(std::time::Duration::from_secs(20));
        let run = finish(command);
        assert_eq!((run.code, &*run.out), (2, ""), "{run:?}");
        assert_eq!(run.err, format!("weighbridge: {why}, not a file\n"));
    };
    let made = std::process::Command::new("mkfifo").arg(&name).status();
    assert!(made.expect("mkfifo runs").success());
    let pipe = "weighbridge.toml: is a pipe or a device";
    refused(&["check", "a.stb"], pipe);
    refused(&["check", "a.stb", "--config", "weighbridge.toml"], pipe);
    assert_eq!(run(&folder, &["check", "a.stb", "--no-config"]).code, 0);
    std::fs::remove_file(&name).expect("it exists");
    std::os::unix::fs::symlink("/dev/zero", &name).expect("a link");
    refused(&["check", "a.stb"], pipe);
    std::fs::remove_file(&name).expect("it exists");
    std::fs::create_dir(&name).expect("a folder");
    refused(&["check", "a.stb"], "weighbridge.toml: is a folder");
}

/// The author of the checked files has no say: settings come from the current folder, from a
/// folder above it, or from the file named on the command line.
#[test]
fn settings_in_checked_folder_are_ignored() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("upload/deep")).expect("folders");
    folder.write("upload/a.stb", &with_flags());
    folder.write("upload/deep/b.stb", &with_flags());
    folder.write("upload/weighbridge.toml", b"profile = \"lenient\"\nskip-unknown = true\n");
    let above = run(&folder, &["check", "upload", "--json"]);
    assert_eq!(above.code, 1, "{above:?}");
    assert!(above.lines().iter().all(|line| line.get("config").is_none()), "{above:?}");
    let named = run(&folder, &["check", "upload/a.stb", "--config", "upload/weighbridge.toml"]);
    assert_eq!(named.code, 0, "{named:?}");
    // For a run in a subfolder, the nearest settings above it apply.
    let mut below = command(&folder, &["check", "b.stb", "--json"]);
    below.current_dir(folder.path().join("upload/deep"));
    let below = finish(below);
    assert_eq!(below.code, 0, "{below:?}");
    assert!(
        below.json()["config"]
            .as_str()
            .is_some_and(|path| path.ends_with("upload/weighbridge.toml"))
    );
    assert_eq!(run(&folder, &["check", "upload", "--config", "none.toml"]).code, 2);
}

/// Rules about files of folders are denied by the file as by the command line.
#[test]
fn settings_deny_rules_of_folders() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("run.py", b"import os\n");
    let all = ["check", ".", "--exclude", "*.toml"];
    assert_eq!(run(&folder, &all).code, 3);
    for (text, code) in [
        ("deny = [\"CODE\"]\n", 1),
        ("deny = [\"code\"]\n", 1),
        ("deny = [\"CODE-LOADED\"]\n", 3),
        ("[[ignore]]\nrule = \"CODE\"\nreason = \"ours\"\nuntil = 2999-12-31\n", 0),
        ("[[ignore]]\nrule = \"CODE-LOADED\"\nreason = \"ours\"\nuntil = 2999-12-31\n", 2),
    ] {
        folder.write("weighbridge.toml", text.as_bytes());
        let found = run(&folder, &all);
        assert_eq!(found.code, code, "{text}: {found:?}");
    }
}
