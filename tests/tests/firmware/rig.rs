//! Runs an image in QEMU.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory available for files.
pub(crate) const ROOM: usize = 16 << 20;
const FILES_AT: &str = "0x21000000";

/// The path in a variable that scripts/firmware.sh sets.
pub(crate) fn image(variable: &str) -> PathBuf {
    let path = std::env::var_os(variable);
    PathBuf::from(path.unwrap_or_else(|| panic!("{variable} is not set: run `make firmware`")))
}

/// The output of an image, and whether it succeeded.
pub(crate) struct Run {
    pub(crate) output: String,
    pub(crate) success: bool,
}

/// Runs `image` with `files` in memory, if any.
pub(crate) fn run(image: &Path, files: &[u8], options: &[&str]) -> Run {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    assert!(files.len() <= ROOM, "{} bytes of files", files.len());
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("weighbridge-{}-{number}", std::process::id());
    let place = std::env::temp_dir().join(name);
    std::fs::write(&place, files).unwrap();
    let mut qemu = Command::new(std::env::var_os("QEMU").unwrap_or("qemu-system-arm".into()));
    qemu.args(["-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none"]);
    qemu.args(["-semihosting-config", "enable=on,target=native"]).args(options);
    if !files.is_empty() {
        // A comma ends a path unless it is doubled.
        let place = place.display().to_string().replace(',', ",,");
        qemu.args(["-device", &format!("loader,file={place},addr={FILES_AT},force-raw=on")]);
    }
    let output = qemu.arg("-kernel").arg(image).output().expect("QEMU runs");
    std::fs::remove_file(place).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
    Run { output: text + &complaints, success: output.status.success() }
}

/// A record as in `firmware/src/input.rs`.
pub(crate) fn record(bytes: &[u8], format: &str, measure: bool) -> Vec<u8> {
    let mut record = b"FILE".to_vec();
    record.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    record.push(u8::from(measure));
    record.resize(16, 0);
    record.extend(format.as_bytes());
    record.resize(64, 0);
    record.extend(bytes);
    record.resize(record.len().next_multiple_of(64), 0);
    record
}
