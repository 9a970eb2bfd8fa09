//! An upload gate: `cargo run --example gate FILE`.

use weighbridge::{Profile, check};

/// The answer to an upload: accepted, or the reasons for refusing it.
fn gate(upload: &[u8]) -> Result<(), String> {
    let report = check(upload).map_err(|error| error.to_string())?;
    let reasons = report.findings().iter().map(|found| found.message()).collect::<Vec<_>>();
    let valid = report.verdict(Profile::Strict).is_valid();
    if valid { Ok(()) } else { Err(reasons.join("\n")) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    match gate(&std::fs::read(path)?) {
        Ok(()) => println!("accepted"),
        Err(why) => println!("refused:\n{why}"),
    }
    Ok(())
}

#[test]
fn sound_files_pass_and_others_do_not() {
    let mut bytes = weighbridge_tests::samples::safetensors();
    assert_eq!(gate(&bytes), Ok(()));
    bytes.pop();
    assert!(gate(&bytes).is_err_and(|why| why.contains("beyond the buffer's 11 bytes")));
}
