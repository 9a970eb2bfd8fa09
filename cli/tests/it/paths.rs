//! Folders, pipes, hostile names, and files that change.

use super::*;

#[test]
fn a_folder_is_walked_and_what_is_no_model_is_counted() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join("sub/deep")).expect("folders");
    folder.write("b.stb", &sound().encode());
    folder.write("sub/deep/by-magic", &with_flags());
    folder.write("sub/empty.stb", b"");
    folder.write("README.md", b"# a model");
    folder.write("sub/config.json", b"{}");
    let human = run(&folder, &["check", ".", "--skip-unknown"]);
    assert_eq!(human.code, 1);
    let summary = "3 files: 1 valid, 2 invalid; 2 findings";
    assert_eq!(human.out.lines().last(), Some(summary));

    let json = run(&folder, &["check", ".", "--json", "--skip-unknown"]);
    let files: Vec<_> = json.lines().iter().map(|line| line["file"].clone()).collect();
    assert_eq!(
        files,
        ["./README.md", "./b.stb", "./sub/config.json", "./sub/deep/by-magic", "./sub/empty.stb"]
    );
    assert_eq!(json.err, "");
}

#[test]
fn named_file_is_never_skipped() {
    let folder = Folder::new();
    folder.write("README.md", b"# a model");
    let run = run(&folder, &["check", "README.md", "--json"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.json()["findings"][0]["rule"], "UNKNOWN-FORMAT");
}

#[test]
fn magic_overrides_extension_and_option_overrides_both() {
    let folder = Folder::new();
    folder.write("model.txt", &sound().encode());
    folder.write("text.stb", b"this is a text about tensors, and not a tensor file");
    let json = |args: &[&str]| run(&folder, &[&["check", "--json"], args].concat()).json();
    assert_eq!(json(&["model.txt"])["verdict"], "valid");
    let text = json(&["text.stb"]);
    assert_eq!((&text["format"], &text["findings"][0]["rule"]), (&"stb".into(), &"H-MAGIC".into()));
    let forced = json(&["--format", "STB", "text.stb"]);
    assert_eq!(forced["findings"][0]["rule"], "H-MAGIC");
}

#[test]
fn folder_in_place_of_file_is_error() {
    let folder = Folder::new();
    for command in ["inspect", "extract"] {
        let name: &[&str] = if command == "extract" { &["x"] } else { &[] };
        let run = run(&folder, &[&[command, "."], name].concat());
        assert_eq!(run.code, 2);
        assert_eq!(run.err, "weighbridge: .: is a folder, not a file\n");
    }
    let run = run(&folder, &["check", "missing.stb", "--json"]);
    assert_eq!((run.code, &run.json()["verdict"]), (2, &Value::Null));
    assert!(run.err.starts_with("weighbridge: missing.stb: "), "{run:?}");
    assert_eq!(run.err.lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn pipe_is_refused_at_once() {
    let folder = Folder::new();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.stb")).status();
    assert!(made.expect("mkfifo runs").success());
    for args in [&["check", "pipe.stb"][..], &["check", "."], &["inspect", "pipe.stb"]] {
        let mut command = command(&folder, args);
        command.timeout(std::time::Duration::from_secs(20));
        let run = finish(command);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("pipe.stb: is a pipe or a device, not a file"), "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn hostile_file_name_is_escaped() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::new();
    let hostile = "a\u{1b}[2J\n\u{202e}bts.stb";
    folder.write(hostile, &with_flags());
    let human = run(&folder, &["check", hostile]);
    assert!(human.out.contains("a\\u{1b}[2J\\u{a}\\u{202e}bts.stb"), "{human:?}");
    let missing = run(&folder, &["check", "no\u{7}\u{202e}.stb"]);
    let json = run(&folder, &["check", hostile, "--json"]);
    for text in [&human.out, &missing.err, &json.out] {
        let unsafe_char = |c: char| weighbridge::weighbridge_core::is_hidden(c) && c != '\n';
        assert!(!text.contains(unsafe_char), "{text:?}");
        assert_eq!(text.lines().count(), text.matches('\n').count());
    }
    assert_eq!(json.json()["file"], hostile);

    let bytes = std::ffi::OsStr::from_bytes(b"not-\xff-utf8.stb");
    std::fs::write(folder.path().join(bytes), sound().encode()).expect("room for a file");
    let mut command = command(&folder, &["check", "--json"]);
    command.arg(bytes);
    let json = finish(command).json();
    assert_eq!(json["file"], "not-\u{fffd}-utf8.stb");
    assert_eq!(json["file_hex"], "6e6f742dff2d757466382e737462");
}

/// The file is truncated while its digest is computed: an error, whereas with a
/// mapped file the process would be killed by a signal.
#[cfg(target_os = "linux")]
#[test]
fn shrinking_file_is_error() {
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    let path = folder.write("shrinking.stb", &sound().encode());
    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.set_len(64 << 30).expect("a sparse file");

    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    let child = std::process::Command::new(binary)
        .args(["check", "--sha256", "--json"])
        .arg(&path)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command runs");
    // Once this much was read, the length is known and the digest has begun.
    let counters = format!("/proc/{}/io", child.id());
    let has_read = || {
        let text = std::fs::read_to_string(&counters).unwrap_or_default();
        let read = text.lines().find_map(|line| line.strip_prefix("rchar: "));
        read.and_then(|read| read.parse::<u64>().ok()).unwrap_or(0)
    };
    let start = Instant::now();
    while has_read() < 64 << 20 {
        assert!(start.elapsed() < Duration::from_secs(30), "the file was never read");
        std::thread::sleep(Duration::from_millis(1));
    }
    file.set_len(100).expect("shrinks");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(!out.contains("valid"), "no verdict on a file that is no more: {out}");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.contains("the file changed while it was read"), "{err}");
}
