//! What it costs on a board to open a model of 25 tensors and find the last one: by this library, by a
//! reader of flatbuffers that checks nothing, and by a loader that trusts the file.

use crate::boards::{BOARDS, Board};
use crate::rig;
use std::fmt::Write as _;
use std::path::PathBuf;
use weighbridge_core::{Cursor, Name, Opening, Source, Span};
use weighbridge_tests::alike;

/// The folder with a folder for each processor, and in it the programs. A program is named after its
/// loader and the format of the model: `weighbridge-gguf`.
const FOLDER: &str = "WEIGHBRIDGE_C_COST";

/// A file that receives the figures, one line a program.
const FIGURES: &str = "WEIGHBRIDGE_C_FIGURES";

/// Number of tensors in the files.
const TENSORS: u8 = 25;

/// A processor, the machine that runs its programs, and the time that QEMU gives an instruction, as
/// `c/tests/cost/cost.c` expects it. The machine with a Cortex-M0 has no room for files, so programs
/// for it run on a Cortex-M4, which executes the same instructions.
const PROCESSORS: [(&str, &Board, &str); 3] = [
    ("m4", &BOARDS[0], "shift=7"),
    ("m0", &BOARDS[0], "shift=7"),
    ("riscv", &BOARDS[2], "shift=0"),
];

/// What a program printed.
#[derive(Debug, PartialEq)]
struct Cost {
    instructions: u64,
    stack: u64,
    found: Span,
}

impl Cost {
    fn of(output: &str) -> Cost {
        let words: Vec<_> = output.split_whitespace().collect();
        let ["instructions", instructions, "stack", stack, "at", at, "len", len] = words[..] else {
            panic!("{output}");
        };
        let [instructions, stack, at, len] =
            [instructions, stack, at, len].map(|word| word.parse().expect("a number"));
        Cost { instructions, stack, found: Span::new(at, len) }
    }
}

/// The format of each model, the model, and the name of its last tensor.
fn models() -> Vec<(&'static str, Vec<u8>, String)> {
    let flatbuffers =
        [("tflite", alike::tflite(TENSORS)), ("executorch", alike::executorch(TENSORS))];
    let files = alike::files(TENSORS).into_iter().chain(flatbuffers);
    let last = TENSORS - 1;
    let name = |format: &str| match format {
        "stb" => last.to_string(),
        _ => format!("layers.{last:03}.weight"),
    };
    files.map(|(format, bytes)| (format, bytes, name(format))).collect()
}

/// Where the core finds the tensor; nowhere if its data is not stored in one piece.
fn place(bytes: &[u8], name: &str) -> Span {
    let source = Source::whole(bytes);
    let file = Opening::detect().step(&source, &mut |_| {}).expect("the model opens");
    let found = file.find(&source, &Name::from(name), &mut Cursor::default());
    found.expect("the index is sound").expect("the tensor is there").raw().unwrap_or_default()
}

/// The programs for models of this format.
fn programs(format: &str) -> Vec<&'static str> {
    let mut programs = vec!["weighbridge", "unchecked"];
    match format {
        "stb" => programs.push("trusting"),
        "tflite" => programs.push("flatbuffer"),
        _ => {}
    }
    programs
}

/// Runs a program on a model.
fn measure(board: &Board, program: &PathBuf, model: &[u8], name: &str, shift: &str) -> Cost {
    let mut records = rig::record(model, name, false);
    records.extend([0; 64]);
    let place = std::env::temp_dir().join(format!("weighbridge-cost-{}", std::process::id()));
    std::fs::write(&place, records).unwrap();
    let (output, success) = board.run(program, Some(&place), &["-icount", shift]);
    std::fs::remove_file(place).unwrap();
    assert!(success, "{}: {output}", program.display());
    Cost::of(&output)
}

#[test]
fn cost_of_opening_and_finding_in_c() {
    let folder = rig::image(FOLDER);
    let mut lines = String::new();
    for (processor, board, shift) in PROCESSORS {
        if !folder.join(processor).is_dir() {
            continue;
        }
        for (format, bytes, name) in models() {
            for loader in programs(format) {
                let program = folder.join(processor).join(format!("{loader}-{format}"));
                let cost = measure(board, &program, &bytes, &name, shift);
                assert_eq!(cost.found, place(&bytes, &name), "{processor} {loader} {format}");
                let again = measure(board, &program, &bytes, &name, shift);
                assert!(
                    cost.stack == again.stack
                        && cost.instructions.abs_diff(again.instructions) <= 2,
                    "{processor} {loader} {format}: {cost:?} and {again:?}"
                );
                let Cost { instructions, stack, .. } = cost;
                writeln!(lines, "{processor} {loader} {format} {instructions} {stack}").unwrap();
            }
        }
    }
    assert!(!lines.is_empty(), "no programs in {}", folder.display());
    std::fs::write(rig::image(FIGURES), lines).unwrap();
}
