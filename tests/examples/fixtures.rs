//! Writes every fixture to a folder, for tests that are not in Rust: `fixtures FOLDER` creates
//! `FOLDER/FORMAT/NAME.EXTENSION`. With `--list`, prints format, path, and whether the file is
//! sound, broken, breaks lints only, or has parts that this build cannot check.

use std::path::PathBuf;
use weighbridge::{Options, check_with};
use weighbridge_core::{Finding, Format, Severity, general};
use weighbridge_tests::{fixtures, survey::survey_whole};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("a folder"));
    let list = std::env::args_os().nth(2).is_some_and(|argument| argument == "--list");
    let checkpoints = [("pytorch", fixtures::pytorch::all())];
    for (name, all) in fixtures::for_hosts().into_iter().chain(checkpoints) {
        let format = Format::by_name(name).expect("fixtures have the names of formats");
        let extension = format.extensions().first().expect("every format has an extension");
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)?;
        for fixture in all {
            let path = folder.join(format!("{}.{extension}", fixture.name));
            std::fs::write(&path, &fixture.bytes)?;
            if list {
                let survey = survey_whole(&fixture.bytes, Some(format));
                let broken = |f: &&Finding| fixture.breaks.contains(&f.rule.id());
                let worst = survey.findings.iter().filter(broken).map(Finding::severity).max();
                // What only hosts check, the core does not find.
                let rules = format.rules().iter().chain(general::RULES).chain(Format::Npz.rules());
                let broken = rules.filter(|rule| fixture.breaks.contains(&rule.id));
                let worst = worst.max(broken.map(|rule| rule.severity).max());
                let unchecked = |f: &Finding| f.severity() == Severity::Unchecked;
                let kind = match worst {
                    Some(Severity::Unchecked) => "unchecked",
                    // Only hosts follow checkpoints, and calls of functions.
                    None if format != Format::PyTorch
                        && (survey.findings.iter().any(unchecked)
                            || is_partly_checked(&fixture.bytes, format)) =>
                    {
                        "unchecked"
                    }
                    None => "sound",
                    Some(Severity::Lint) => "lint",
                    Some(_) => "broken",
                };
                println!("{name}\t{}\t{kind}", path.display());
            }
        }
    }
    Ok(())
}

/// Whether a host leaves a part of the file unchecked.
fn is_partly_checked(bytes: &[u8], format: Format) -> bool {
    let report = check_with(bytes, &Options::new().format(format)).expect("bytes in memory");
    !report.unchecked().is_empty()
}
