//! The same programs on boards in QEMU: a model in flash, a list in C++, and every file.

use crate::cases::{self, Case};
use crate::rig::{self, ROOM};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use weighbridge_tests::mlp::{Mlp, POINTS, class};

/// The folder with a folder for each board, and in it the programs.
const FOLDER: &str = "WEIGHBRIDGE_C_BOARDS";

/// A machine of QEMU.
pub(crate) struct Board {
    pub(crate) name: &'static str,
    qemu: &'static str,
    machine: &'static [&'static str],
    /// Where the loader puts files, if there is room.
    files_at: Option<&'static str>,
}

pub(crate) const BOARDS: [Board; 3] = [
    Board {
        name: "m4",
        qemu: "qemu-system-arm",
        machine: &["-M", "mps2-an386"],
        files_at: Some("0x21000000"),
    },
    Board { name: "m0", qemu: "qemu-system-arm", machine: &["-M", "microbit"], files_at: None },
    Board {
        name: "riscv",
        qemu: "qemu-system-riscv32",
        machine: &["-M", "virt", "-bios", "none"],
        files_at: Some("0x84000000"),
    },
];

impl Board {
    fn folder(&self) -> PathBuf {
        rig::image(FOLDER).join(self.name)
    }

    /// Runs a program; returns its output and whether it succeeded.
    pub(crate) fn run(
        &self,
        program: &Path,
        records: Option<&Path>,
        options: &[&str],
    ) -> (String, bool) {
        let mut qemu = Command::new(self.qemu);
        qemu.args(self.machine).args(options);
        qemu.args(["-nographic", "-monitor", "none", "-serial", "none"]);
        qemu.args(["-semihosting-config", "enable=on,target=native"]);
        if let (Some(records), Some(at)) = (records, self.files_at) {
            // A comma ends a path unless it is doubled.
            let place = records.display().to_string().replace(',', ",,");
            qemu.args(["-device", &format!("loader,file={place},addr={at},force-raw=on")]);
        }
        let output = qemu.arg("-kernel").arg(program).output().expect("QEMU runs");
        // Semihosting writes to the error output.
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8(text).unwrap(), output.status.success())
    }
}

/// The boards that the script has built.
fn boards() -> Vec<&'static Board> {
    let built: Vec<_> = BOARDS.iter().filter(|board| board.folder().is_dir()).collect();
    assert!(!built.is_empty(), "no board in {}", rig::image(FOLDER).display());
    built
}

#[test]
fn model_in_c_equals_host_bit_for_bit() {
    let model = Mlp::trained();
    let mut expected = String::new();
    for point in POINTS {
        let [a, b] = model.run(point).map(f32::to_bits);
        writeln!(expected, "c: {a:08x} {b:08x} class {}", class(point)).unwrap();
    }
    for board in boards() {
        for (name, _) in model.files() {
            let run = board.run(&board.folder().join(format!("model-{name}")), None, &[]);
            assert_eq!(run, (expected.clone(), true), "{} {name}", board.name);
        }
    }
}

#[test]
fn truncated_model_is_refused_in_c() {
    for board in boards() {
        let (output, success) = board.run(&board.folder().join("model-cut"), None, &[]);
        assert_eq!(output, "refused: H-FSIZE at offset 0x00000018\n", "{}", board.name);
        assert!(!success, "{}", board.name);
    }
}

#[test]
fn list_in_cpp_has_every_tensor() {
    let names = ["hidden.bias", "hidden.weight", "output.bias", "output.weight"];
    for board in boards() {
        let (output, success) = board.run(&board.folder().join("list"), None, &[]);
        let mut lines: Vec<_> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, names.map(|name| format!("{name} f32 in place")), "{}", board.name);
        assert!(success, "{}", board.name);
    }
}

/// Runs all cases on every board with room for them, as many at a time as fit.
fn on_boards(cases: &[Case]) {
    for board in boards().into_iter().filter(|board| board.files_at.is_some()) {
        let mut rest = cases;
        while !rest.is_empty() {
            let mut records = Vec::new();
            let mut taken = 0;
            for case in rest {
                let record = case.record();
                if records.len() + record.len() + 64 > ROOM {
                    break;
                }
                records.extend(record);
                taken += 1;
            }
            assert!(taken > 0, "{} is too large for the board", rest[0].name);
            records.extend([0; 64]);
            let name = format!("weighbridge-c-{}-{}", std::process::id(), board.name);
            let place = std::env::temp_dir().join(format!("{name}-{:p}", &records));
            std::fs::write(&place, records).unwrap();
            let (output, success) = board.run(&board.folder().join("survey"), Some(&place), &[]);
            std::fs::remove_file(place).unwrap();
            crate::compare(&rest[..taken], &output);
            assert!(success, "{}", board.name);
            rest = &rest[taken..];
        }
    }
}

#[test]
fn board_verdicts_of_fixtures_in_c_equal_core() {
    on_boards(&cases::fixtures());
}

#[cfg(feature = "deep")]
#[test]
fn board_verdicts_of_all_files_in_c_equal_core() {
    on_boards(&cases::damaged());
    on_boards(&cases::seeds());
    on_boards(&cases::corpus());
}
