//! Failures of the environment: unreadable files, closed streams, shrinking
//! files, full or read-only folders. The exit code tells, one line on standard
//! error says why, and no file is left half-written.

use super::*;
use std::fs;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

/// Runs the command with a time limit, so that it cannot block.
fn bounded(folder: &Folder, args: &[&str]) -> Run {
    let mut command = command(folder, args);
    command.timeout(Duration::from_secs(60));
    finish(command)
}

/// Checks what every failure has in common.
fn reports(run: &Run, what: &str) {
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains(what), "{run:?}");
    assert!(run.err.lines().all(|line| line.starts_with("weighbridge: ")), "{run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
}

/// Runs a copy of the command in `folder` as an unprivileged user, so that
/// permissions apply.
#[cfg(unix)]
fn unprivileged(folder: &Folder, args: &[&str]) -> Run {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::CommandExt as _;
    let copy = folder.path().join("weighbridge-copy");
    fs::copy(assert_cmd::cargo::cargo_bin("weighbridge"), &copy).expect("room for a copy");
    for path in [folder.path(), &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }
    let mut process = Process::new(&copy);
    if fs::metadata(&copy).expect("the copy").uid() == 0 {
        process.uid(65_534).gid(65_534);
    }
    process.current_dir(folder.path()).args(args);
    let output = loop {
        match process.output() {
            // Another test started a process while the copy was being written;
            // that process holds the file open until it executes.
            Err(err) if err.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(5));
            }
            output => break output.expect("it runs"),
        }
    };
    fs::remove_file(&copy).expect("the copy");
    Run::of(&output)
}

#[cfg(unix)]
#[test]
fn unreadable_file_is_reported_and_others_are_checked() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let secret = folder.write("secret.stb", &sound().encode());
    folder.write("z.stb", &sound().encode());
    fs::create_dir(folder.path().join("closed")).expect("a folder");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("permissions");
    let run = unprivileged(&folder, &["check", "--json", "secret.stb", "z.stb"]);
    reports(&run, "secret.stb: Permission denied");
    let [secret, sound] = &run.lines()[..] else { panic!("two lines: {run:?}") };
    assert_eq!((&secret["verdict"], &sound["verdict"]), (&Value::Null, &"valid".into()));
    assert!(secret["error"].as_str().is_some_and(|why| why.contains("Permission denied")));
    reports(&unprivileged(&folder, &["inspect", "secret.stb"]), "Permission denied");
    reports(&unprivileged(&folder, &["extract", "secret.stb", "0"]), "Permission denied");

    // Also in a walk, including folders.
    let closed = folder.path().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("permissions");
    let run = unprivileged(&folder, &["check", "--json", ".", "--skip-unknown"]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("permissions");
    reports(&run, "secret.stb: Permission denied");
    assert!(run.err.contains("closed: Permission denied"), "{run:?}");
    // The copy of the command is native code; the folder has a line too.
    assert_eq!(run.lines().len(), 4, "{run:?}");
}

#[cfg(unix)]
#[test]
fn read_only_folder_is_reported() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("out.npy", b"precious");
    for args in [&["extract", "a.stb", "0"][..], &["extract", "a.stb", "0", "-o", "out.npy"]] {
        reports(&unprivileged(&folder, args), "Permission denied");
    }
    assert_eq!(fs::read(folder.path().join("out.npy")).expect("reads"), b"precious");
    assert_eq!(folder.names(), ["a.stb", "out.npy"]);
}

/// Kernel files claim a length that they do not have.
#[cfg(target_os = "linux")]
#[test]
fn file_shorter_than_its_length_is_error() {
    let candidates = ["/sys/kernel/uevent_seqnum", "/sys/devices/system/cpu/online"];
    let shorter = |path: &&&str| match (fs::metadata(path), fs::read(path)) {
        (Ok(metadata), Ok(bytes)) => metadata.len() > bytes.len() as u64,
        _ => false,
    };
    let Some(claims) = candidates.iter().find(shorter) else {
        return weighbridge_tests::left_out("no file of the kernel claims to be longer than it is");
    };
    let folder = Folder::new();
    for format in weighbridge::weighbridge_core::Format::ALL {
        let run = bounded(&folder, &["check", "--format", format.name(), claims]);
        reports(&run, "the file changed while it was read");
    }
    // Process memory: it has no length, and its start cannot be read.
    let run = bounded(&folder, &["check", "/proc/self/mem"]);
    assert!(matches!(run.code, 1 | 2), "{run:?}");
}

#[cfg(unix)]
#[test]
fn standard_input_is_read() {
    let folder = Folder::new();
    let path = folder.write("a.stb", &sound().encode());
    // Standard input is empty here.
    let standard = bounded(&folder, &["check", "-"]);
    assert!(standard.code == 1 && standard.out.contains("an empty file"), "{standard:?}");

    let mut piped = command(&folder, &["check", "/dev/stdin"]);
    piped.write_stdin(sound().encode()).timeout(Duration::from_secs(60));
    reports(&finish(piped), "/dev/stdin: is a pipe or a device, not a file");

    let output = Process::new(assert_cmd::cargo::cargo_bin("weighbridge"))
        .args(["check", "--json", "/dev/stdin"])
        .stdin(fs::File::open(path).expect("opens"))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");

    for device in ["/dev/null", "/dev/zero", "/dev/full"] {
        reports(&bounded(&folder, &["inspect", device]), "is a pipe or a device, not a file");
    }
}

/// The reader of the output goes away: the command ends silently.
#[cfg(unix)]
#[test]
fn closed_output_pipe_is_no_crash() {
    let folder = Folder::new();
    let mut many = Vec::new();
    for i in 0..200 {
        let name = format!("{i}.stb");
        folder.write(&name, &if i == 0 { with_flags() } else { sound().encode() });
        many.push(name);
    }
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let sound = [&["check", "--json"], &many[1..]].concat();
    let broken = [&["check", "--json"], &many[..]].concat();
    let human = [&["check"], &many[1..]].concat();
    let inspect = ["inspect", "1.stb", "--json"];
    let extract = ["extract", "1.stb", "0", "-o", "/dev/stdout"];
    let cases: [(&[&str], i32); 6] = [
        (&sound, 2),
        // The finding takes precedence.
        (&broken, 1),
        (&human, 2),
        (&inspect, 2),
        (&["rules", "--json"], 2),
        (&["completions", "bash"], 2),
    ];
    for (args, code) in cases {
        let output = closed(&folder, args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    // A file was requested, so it is reported.
    let output = closed(&folder, &extract);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// A run whose standard output is a closed pipe.
#[cfg(unix)]
fn closed(folder: &Folder, args: &[&str]) -> std::process::Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    Process::new(assert_cmd::cargo::cargo_bin("weighbridge"))
        .args(args)
        .current_dir(folder.path())
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .expect("it runs")
}

#[cfg(target_os = "linux")]
#[test]
fn full_output_gives_exit_code() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").expect("opens");
    let cases: [&[&str]; 6] = [
        &["check", "a.stb"],
        &["inspect", "a.stb"],
        &["inspect", "a.stb", "--json"],
        &["rules"],
        &["rules", "--json"],
        &["completions", "zsh"],
    ];
    for args in cases {
        let output = Process::new(assert_cmd::cargo::cargo_bin("weighbridge"))
            .args(args)
            .current_dir(folder.path())
            .stdout(full())
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {output:?}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("standard output: No space left"), "{args:?}: {err}");
    }
    // Nothing can be written to the missing stream, but the code reports it.
    let status = Process::new(assert_cmd::cargo::cargo_bin("weighbridge"))
        .args(["check", "missing.stb"])
        .current_dir(folder.path())
        .stderr(full())
        .status()
        .expect("it runs");
    assert_eq!(status.code(), Some(2));
}

/// A thread truncates and restores a file again and again: every run ends with a
/// documented exit code, and extracted files are complete or absent.
#[cfg(unix)]
#[test]
fn changing_file_gives_verdict_or_error() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1] = Tensor::new(1, 2, &[3_000_000]);
    let bytes = stb.encode();
    let path = folder.write("a.stb", &bytes);
    let file = fs::OpenOptions::new().write(true).open(&path).expect("opens");
    let over = AtomicBool::new(false);
    let mut codes = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for len in [1_000_000, 40, bytes.len() as u64] {
                    file.set_len(len).expect("cut");
                    std::thread::sleep(Duration::from_micros(300));
                }
            }
        });
        for i in 0..30 {
            let args: &[&str] = match i % 3 {
                0 => &["check", "--json", "--sha256", "a.stb"],
                1 => &["inspect", "--json", "--values", "3", "a.stb"],
                _ => &["extract", "a.stb", "1", "--raw", "-o", "out.bin"],
            };
            let run = bounded(&folder, args);
            assert!(matches!(run.code, 0..=2), "{run:?}");
            assert!(!run.err.contains("panicked"), "{run:?}");
            if let Ok(written) = fs::metadata(folder.path().join("out.bin")) {
                assert_eq!(written.len(), 3_000_000, "{run:?}");
                fs::remove_file(folder.path().join("out.bin")).expect("it is there");
            }
            assert_eq!(folder.names(), ["a.stb"]);
            codes.push(run.code);
        }
        over.store(true, Ordering::Relaxed);
    });
    assert!(codes.iter().any(|code| *code != 0), "it was never cut: {codes:?}");
}

/// Thousands of columns share one table: work and output are proportional to the
/// file, and omissions are reported.
#[test]
fn shared_content_is_shown_within_bound() {
    for (what, format, bytes) in weighbridge_tests::hard::shared(2_000, 1 << 16) {
        let folder = Folder::new();
        folder.write("a", &bytes);
        let name = format.name();
        let check = bounded(&folder, &["check", "a", "--json", "--format", name]);
        assert!(matches!(check.code, 1 | 3), "{what}: {}", check.code);
        let report = check.json();
        let unchecked = report["unchecked"].to_string();
        assert!(unchecked.contains("entries share tables or payloads"), "{what}: {unchecked}");
        let shown = bounded(&folder, &["inspect", "a", "--json", "--format", name]);
        assert!(matches!(shown.code, 0 | 1 | 3), "{what}: {}", shown.code);
        let most = 16 * bytes.len() + (32 << 20);
        assert!(shown.out.len() < most, "{what}: {} bytes", shown.out.len());
    }
}

/// Each finding about an entry includes only the start of a long name.
#[test]
fn findings_do_not_repeat_long_names() {
    use weighbridge_tests::encode::idv::{self, Block, Codec, Column, Content, Number};
    let blocks = vec![Block { stored: vec![0; 4], decoded: 4 }; 1_000];
    let mut column = Column::new("", Codec::Number(Number::Int64), vec![]).rows_per_block(1);
    column.name = vec![b'n'; 100_000];
    column.content = Content::Blocks(blocks);
    let bytes = idv::encode(&idv::File::new(1_000, vec![column])).bytes;
    let folder = Folder::new();
    folder.write("a.idv", &bytes);
    let run = bounded(&folder, &["check", "a.idv", "--json"]);
    assert_eq!(run.code, 1);
    assert_eq!(run.json()["findings"].as_array().map(Vec::len), Some(1_000));
    assert!(run.out.len() < 1_000_000, "{} bytes", run.out.len());
}

/// The input file is never overwritten, whatever its name.
#[test]
fn extract_never_overwrites_its_input() {
    let folder = Folder::new();
    let bytes = sound().encode();
    let path = folder.write("a.stb", &bytes);
    fs::create_dir(folder.path().join("sub")).expect("a folder");
    let mut names = vec!["a.stb".to_owned(), "./a.stb".into(), "sub/../a.stb".into()];
    names.push(path.to_str().expect("a plain path").to_owned());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.stb", folder.path().join("soft.stb")).expect("a link");
        fs::hard_link(&path, folder.path().join("hard.stb")).expect("a link");
        names.extend(["soft.stb".into(), "hard.stb".into()]);
    }
    for name in &names {
        for raw in [true, false] {
            let mut args = vec!["extract", "a.stb", "0", "-o", name];
            args.extend(raw.then_some("--raw"));
            reports(&run(&folder, &args), "is the input file");
        }
        assert_eq!(fs::read(folder.path().join(name)).expect("reads"), bytes, "{name}");
    }
    assert_eq!(fs::read(&path).expect("reads"), bytes);
}

/// A full disk interrupts after any number of bytes: no partial file is left, and
/// the existing file is unchanged.
#[cfg(unix)]
#[test]
fn full_disk_keeps_existing_file() {
    let folder = Folder::new();
    let mut stb = sound();
    stb.tensors[1] = Tensor::new(1, 2, &[300_000]);
    folder.write("a.stb", &stb.encode());
    folder.write("out.npy", b"precious");
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    // In units of 512 or 1024 bytes, depending on the shell.
    for limit in [0, 1, 64, 200] {
        for rest in ["-o out.npy", "-o new.npy", "--raw", ""] {
            let script =
                format!("ulimit -f {limit}; '{}' extract a.stb 1 {rest}", binary.display());
            let mut shell = Command::new("sh");
            shell.current_dir(folder.path()).args(["-c", &script]);
            reports(&finish(shell), "File too large");
            assert_eq!(folder.names(), ["a.stb", "out.npy"]);
            assert_eq!(fs::read(folder.path().join("out.npy")).expect("reads"), b"precious");
        }
    }
}
