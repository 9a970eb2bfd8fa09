//! Archives with a program beside their tensors: what each command makes of them.

use super::*;
use std::fs;
use weighbridge_tests::fixtures::pytorch;

fn fixture(name: &str) -> Vec<u8> {
    pytorch::all().into_iter().find(|it| it.name == name).expect("a fixture").bytes
}

#[test]
fn program_is_unsupported_for_the_gate() {
    let folder = Folder::new();
    folder.write("net.pt", &fixture("program"));
    for args in [
        &["check", "net.pt"][..],
        &["check", "net.pt", "--lenient"],
        &["check", "net.pt", "--format", "pytorch"],
        &["check", "."],
        &["inspect", "net.pt"],
    ] {
        assert_eq!(run(&folder, args).code, 3, "{args:?}");
    }
    assert_eq!(run(&folder, &["check", "net.pt", "--deny", "pickle"]).code, 1);
    assert_eq!(run(&folder, &["check", ".", "--deny", "pickle"]).code, 1);
    assert_eq!(run(&folder, &["check", ".", "--allow-code"]).code, 0);
    let found = run(&folder, &["check", "net.pt", "--json"]).json();
    assert_eq!((&found["verdict"], &found["format"]), (&"unsupported".into(), &"pytorch".into()));
    let why = found["unchecked"][0]["why"].as_str().expect("a reason");
    assert!(why.starts_with("the archive has a program beside its tensors"), "{found}");
    let found = run(&folder, &["check", ".", "--json"]);
    assert!(found.out.contains(r#""class":"code""#), "{found:?}");
}

#[test]
fn program_whose_tensors_are_broken_is_invalid_wherever_it_is() {
    let folder = Folder::new();
    folder.write("net.pt", &fixture("program-without-storage"));
    for args in [&["check", "net.pt"][..], &["check", "."], &["check", ".", "--allow-code"]] {
        let found = run(&folder, args);
        assert_eq!(found.code, 1, "{found:?}");
        assert!(found.out.contains("S-RECORD"), "{found:?}");
    }
}

#[test]
fn tensors_of_a_program_are_listed_extracted_and_summed_up() {
    let folder = Folder::new();
    folder.write("net.pt", &fixture("program-with-constants"));
    let found = run(&folder, &["inspect", "net.pt", "--json"]).json();
    let names: Vec<_> = found["tensors"].as_array().expect("a list").iter().collect();
    let names: Vec<_> = names.iter().map(|it| it["name"].as_str().unwrap_or("")).collect();
    assert_eq!(names, ["w", "named.a", "layer.b", "constants.0", "constants.1"]);
    let taken = run(&folder, &["extract", "net.pt", "layer.b", "-o", "b", "--raw"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert_eq!(fs::read(folder.path().join("b")).expect("it is there"), 0_f32.to_le_bytes());
    let summed = run(&folder, &["stats", "net.pt", "--json"]);
    assert_eq!((summed.code, summed.out.contains(r#""layer.b""#)), (3, true), "{summed:?}");
}

#[test]
fn program_is_converted_by_force_alone() {
    let folder = Folder::new();
    folder.write("net.pt", &fixture("program"));
    let refused = run(&folder, &["convert", "net.pt", "out"]);
    assert_eq!((refused.code, folder.names().len()), (3, 1), "{refused:?}");
    let forced = run(&folder, &["convert", "net.pt", "out", "--force"]);
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(forced.err.contains("its program was not checked, and is left out"), "{forced:?}");
    let found = run(&folder, &["inspect", "out", "--format", "safetensors", "--json"]).json();
    assert_eq!(found["tensors"].as_array().map(Vec::len), Some(3), "{found}");
}
