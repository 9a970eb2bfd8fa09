//! The catalogue, completions, and closed output streams.

use super::*;

#[test]
fn the_catalogue_lists_every_rule() {
    let folder = Folder::new();
    let json = run(&folder, &["rules", "--json"]).json();
    let rules = json.as_array().expect("an array");
    let all: usize =
        weighbridge::weighbridge_core::Format::ALL.iter().map(|format| format.rules().len()).sum();
    let without =
        weighbridge::weighbridge_core::general::RULES.len() + weighbridge::repository::RULES.len();
    assert_eq!(rules.len(), all + without);
    for rule in rules {
        for field in ["rule", "severity", "basis", "message", "spec"] {
            assert!(rule[field].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        }
    }
    let stb = run(&folder, &["rules", "stb", "--json"]).json();
    assert!(stb.as_array().is_some_and(|rules| rules.iter().all(|rule| rule["format"] == "stb")));
    for format in weighbridge::Format::ALL {
        assert_eq!(run(&folder, &["rules", format.name()]).code, 0, "{format}");
    }
    let unknown = run(&folder, &["rules", "tar"]);
    assert!(unknown.err.contains("unknown format \"tar\"; known formats: stb, "), "{unknown:?}");
    let human = run(&folder, &["rules", "--format", "stb"]).out;
    assert!(human.contains("T-OFF-ALIGN") && !human.contains("UNKNOWN-FORMAT"));
}

#[test]
fn completions_are_printed_for_every_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = run(&folder, &["completions", shell]);
        assert_eq!(run.code, 0);
        assert!(run.out.contains("weighbridge") && run.out.contains("extract"), "{shell}");
    }
    // Values are completed too: formats, rules, kinds of output.
    let bash = run(&folder, &["completions", "bash"]).out;
    for value in ["safetensors", "KEYS-TEMPLATE", "sarif"] {
        assert!(bash.contains(value), "{value}");
    }
}

#[test]
fn manual_pages_are_made_of_the_arguments() {
    let folder = Folder::new();
    let all = run(&folder, &["man"]);
    assert!(all.code == 0 && all.out.contains(".TH weighbridge 1"), "{}", all.out);
    assert!(all.out.contains("weighbridge\\-check(1)") && all.out.contains("Exit status"));
    let check = run(&folder, &["man", "check"]);
    assert!(check.out.contains(".TH weighbridge-check 1"), "{}", check.out);
    assert!(check.out.contains("\\-\\-skip\\-unknown"), "{}", check.out);
    let none = run(&folder, &["man", "weigh"]);
    assert_eq!((none.code, &*none.out), (2, ""));
}

#[test]
fn piped_output_has_no_colours_or_progress_bar() {
    let folder = Folder::new();
    folder.write("a.stb", &with_flags());
    let mut command = command(&folder, &["check", "a.stb"]);
    command.env_remove("NO_COLOR");
    let run = finish(command);
    assert!(!run.out.contains('\u{1b}'));
    assert_eq!(run.err, "");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    folder.write("a.stb", &sound().encode());
    folder.write("b.stb", &with_flags());
    for (file, code) in [("a.stb", 2), ("b.stb", 1)] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("opens");
        let output = std::process::Command::new(assert_cmd::cargo::cargo_bin("weighbridge"))
            .args(["check", "--json", file])
            .current_dir(folder.path())
            .stdout(full)
            .output()
            .expect("the command runs");
        assert_eq!(output.status.code(), Some(code));
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains("standard output: No space left"), "{err}");
    }
}
