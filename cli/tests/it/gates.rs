//! Integrations: the action, the hook, the image and the example in the documentation.

use super::*;
use std::process::Command as Process;
use weighbridge::Format;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(path).expect("a file of the repository")
}

/// Runs the action's script in `folder`.
#[cfg(unix)]
fn action(folder: &Folder, variables: &[(&str, &str)]) -> Run {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/action.sh");
    let mut process = Process::new("bash");
    process.arg(script).current_dir(folder.path());
    process.env("WEIGHBRIDGE_COMMAND", assert_cmd::cargo::cargo_bin("weighbridge"));
    process.env("GITHUB_OUTPUT", folder.path().join("output"));
    process.envs(variables.iter().copied());
    let output = process.output().expect("bash runs");
    Run::of(&output)
}

#[cfg(unix)]
#[test]
fn action_fails_unless_all_files_are_valid() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("models")).expect("a folder");
    folder.write("models/a.stb", &sound().encode());
    let valid = action(&folder, &[("INPUT_PATHS", "models\n")]);
    assert_eq!((valid.code, &*valid.out), (0, ""), "{valid:?}");
    folder.write("models/b c.stb", &with_flags());
    folder.write("-x.stb", &sound().encode());
    let sarif = ("INPUT_SARIF", "log.sarif");
    let invalid = action(&folder, &[("INPUT_PATHS", "models/b c.stb\n\n-x.stb"), sarif]);
    assert_eq!(invalid.code, 1, "{invalid:?}");
    assert!(invalid.out.starts_with("::error file=models/b c.stb,title=H-FLAGS::"), "{invalid:?}");
    let log = std::fs::read(folder.path().join("log.sarif")).expect("a log");
    let log: Value = serde_json::from_slice(&log).expect("it is JSON");
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "stb/H-FLAGS");
    let lenient = [("INPUT_PATHS", "models"), ("INPUT_ARGS", " --lenient  --jobs 2\n")];
    assert_eq!(action(&folder, &lenient).code, 0);
    assert_eq!(action(&folder, &[("INPUT_PATHS", "none")]).code, 2);
    folder.write("models/x.pt", b"\x80\x02}q\0.");
    assert_eq!(action(&folder, &[("INPUT_PATHS", "models/x.pt"), sarif]).code, 3);
    // Inputs are not executed as commands.
    let hostile = action(
        &folder,
        &[("INPUT_PATHS", "$(touch gone); `touch gone`"), ("INPUT_ARGS", "--jobs $(touch gone)")],
    );
    assert_eq!(hostile.code, 2);
    assert!(!folder.names().contains(&"gone".to_owned()));
    let codes = std::fs::read_to_string(folder.path().join("output")).expect("outputs");
    let expected = [0, 1, 0, 2, 3, 2].map(|code| format!("exit-code={code}\n")).concat();
    assert_eq!(codes, expected);
}

/// The release is an archive with its digest, as the release workflow builds it.
#[cfg(target_os = "linux")]
#[test]
fn action_downloads_release() {
    let tools = ["curl", "xz", "sha256sum"];
    if tools.iter().any(|tool| Process::new(tool).arg("--version").output().is_err()) {
        return weighbridge_tests::left_out("curl, xz and sha256sum for the action");
    }
    let folder = Folder::new();
    let name = format!("weighbridge-cli-{}-unknown-linux-gnu", std::env::consts::ARCH);
    let release = folder.path().join("releases/v1");
    std::fs::create_dir_all(release.join(&name)).expect("a folder");
    let binary = assert_cmd::cargo::cargo_bin("weighbridge");
    std::fs::copy(binary, release.join(&name).join("weighbridge")).expect("room for a copy");
    let pack = format!(
        "XZ_OPT=-0 tar -cJf {name}.tar.xz {name} && sha256sum {name}.tar.xz >{name}.tar.xz.sha256"
    );
    let packed = Process::new("bash").args(["-c", &pack]).current_dir(&release).status();
    assert!(packed.expect("bash runs").success());
    folder.write("a.stb", &with_flags());
    let releases = format!("file://{}", folder.path().join("releases").display());
    let temporary = folder.path().to_str().expect("a plain path").to_owned();
    let variables = [
        ("WEIGHBRIDGE_COMMAND", ""),
        ("WEIGHBRIDGE_RELEASES", &releases),
        ("INPUT_VERSION", "v1"),
        ("INPUT_PATHS", "a.stb"),
        ("RUNNER_TEMP", &temporary),
    ];
    let taken = action(&folder, &variables);
    assert!(taken.code == 1 && taken.out.contains("H-FLAGS"), "{taken:?}");
    // An archive that does not match its digest is not run.
    let archive = release.join(format!("{name}.tar.xz"));
    let mut bytes = std::fs::read(&archive).expect("the archive");
    bytes.push(0);
    std::fs::write(&archive, bytes).expect("room for it");
    let refused = action(&folder, &variables);
    assert!(refused.code == 2 && refused.out.is_empty(), "{refused:?}");
    assert!(refused.err.contains("did NOT match"), "{refused:?}");
}

#[test]
fn action_passes_inputs_to_script() {
    let action = read("action.yml");
    for input in ["paths", "args", "sarif", "version"] {
        assert!(action.contains(&format!("\n  {input}:\n")), "{input}");
        let variable = format!("INPUT_{}: ${{{{ inputs.{input}", input.to_uppercase());
        assert!(action.contains(&variable), "{input}");
        assert!(read("scripts/action.sh").contains(&format!("INPUT_{}", input.to_uppercase())));
    }
    let run = action.lines().find(|line| line.trim_start().starts_with("run:")).expect("a step");
    assert!(!run.contains("${{"), "an input in a script is a command: {run}");
}

#[test]
fn hook_matches_extensions_of_formats() {
    let hook = read(".pre-commit-hooks.yaml");
    let files = hook.lines().find_map(|line| line.trim().strip_prefix("files: ")).expect("files");
    let names =
        files.trim_matches('\'').strip_prefix("(?i)\\.(").and_then(|it| it.strip_suffix(")$"));
    let mut names: Vec<_> =
        names.expect("a list").split('|').map(|it| it.replace('\\', "")).collect();
    let mut known: Vec<_> =
        Format::ALL.iter().flat_map(|it| it.extensions()).map(|it| (*it).to_owned()).collect();
    names.sort();
    known.sort();
    assert_eq!(names, known);
    let entry = hook
        .lines()
        .find_map(|line| line.trim().strip_prefix("entry: weighbridge "))
        .expect("a command");
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("b.stb", &with_flags());
    let with = |file: &str| {
        let args: Vec<_> = entry.split(' ').chain([file]).collect();
        run(&folder, &args)
    };
    assert_eq!((with("a.stb").code, &*with("a.stb").out), (0, ""));
    assert_eq!(with("b.stb").code, 1);
}

#[test]
fn image_runs_command_without_root() {
    let recipe = read("Containerfile");
    let (_, image) = recipe.split_once("\nFROM scratch\n").expect("the last stage");
    assert!(!image.contains("\nFROM ") && !image.contains("RUN "), "{image}");
    let value = |key: &str| image.lines().find_map(|line| line.strip_prefix(key)).expect("a line");
    assert_ne!(value("USER ").split(':').next(), Some("0"));
    assert_eq!(value("ENTRYPOINT "), "[\"/weighbridge\"]");
    let minimum = env!("CARGO_PKG_RUST_VERSION");
    assert!(recipe.contains(&format!("rust:{minimum}-alpine")), "{recipe}");
}

#[test]
fn documented_init_container_is_gate() {
    let docs = read("docs/gates.md");
    let args =
        docs.lines().find_map(|line| line.trim().strip_prefix("args: [\"check\"")).expect("args");
    let args: Vec<String> = serde_json::from_str(&format!("[\"check\"{args}")).expect("a list");
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("config.json", b"{}");
    let with = || {
        let at_models = |arg: &String| if arg == "/models" { ".".to_owned() } else { arg.clone() };
        let args: Vec<_> = args.iter().map(at_models).collect();
        run(&folder, &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(with().code, 0);
    folder.write("weights.bin", b"\x80\x02}q\0.");
    assert_eq!(with().code, 1, "pickles are not skipped");
    std::fs::remove_file(folder.path().join("weights.bin")).expect("the pickle");
    folder.write("b.stb", &with_flags());
    assert_eq!(with().code, 1);
}
