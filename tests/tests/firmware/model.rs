//! The demonstrations: a model that runs from mapped flash, and one copied from unmapped flash.

use crate::rig::{Run, image, record, run};
use std::fmt::Write as _;
use weighbridge_tests::encode::stb::{Stb, Tensor};
use weighbridge_tests::mlp::{Mlp, POINTS, class};

fn expected(title: &str, model: &Mlp) -> String {
    let mut lines = String::new();
    for point in POINTS {
        let [a, b] = model.run(point).map(f32::to_bits);
        writeln!(lines, "{title}: {a:08x} {b:08x} class {}", class(point)).unwrap();
    }
    lines
}

fn placed(file: &[u8]) -> Run {
    given("WEIGHBRIDGE_MODEL", file)
}

fn given(program: &str, file: &[u8]) -> Run {
    let mut files = record(file, "", false);
    files.extend([0; 64]);
    run(&image(program), &files, &[])
}

#[test]
fn outputs_equal_host_bit_for_bit() {
    let model = Mlp::trained();
    let run = run(&image("WEIGHBRIDGE_MODEL"), &[], &[]);
    let formats = ["bintensors", "executorch", "oinf", "stb", "tflite", "ztensor"];
    let expected: String = formats.iter().map(|format| expected(format, &model)).collect();
    assert_eq!(run.output, expected);
    assert!(run.success);
}

#[test]
fn image_holds_models_of_the_script() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../firmware/models");
    for (name, bytes) in Mlp::trained().files() {
        let stored = std::fs::read(folder.join(name)).unwrap();
        assert!(stored == bytes, "{name}: run `cargo run -p weighbridge-tests --example mlp`");
    }
}

#[test]
fn model_is_replaced_without_program() {
    let model = Mlp::trained();
    for (name, bytes) in model.files() {
        let run = placed(&bytes);
        assert_eq!(run.output, expected("placed", &model), "{name}");
        assert!(run.success);
    }
}

#[test]
fn corrupt_model_is_refused_with_rule_and_offset() {
    let files = Mlp::trained().files();
    let file = |name| files.iter().find(|(file, _)| *file == name).unwrap().1.clone();

    let mut stb = file("mlp.stb");
    let size = Stb::entry(2) + 12;
    stb[size] += 4;
    let run = placed(&stb);
    assert!(!run.success);
    assert_eq!(
        run.output,
        format!("placed: T-SIZE at offset {size}: size_bytes is 12; shape and type take 8\n")
    );

    // Truncated files of each format.
    for (name, bytes) in &files {
        let run = placed(&bytes[..bytes.len() - 8]);
        assert!(!run.success, "{name}");
        assert!(run.output.starts_with("placed: ") && run.output.contains(" at offset "), "{name}");
    }
    // Not a model at all.
    let run = placed(b"something else");
    assert_eq!(run.output.split(':').nth(1), Some(" UNKNOWN-FORMAT at offset 0"));
    assert!(!run.success);
}

#[test]
fn other_model_is_refused() {
    let tensors = vec![Tensor::new(0, 0, &[16]), Tensor::new(1, 0, &[32])];
    let run = placed(&Stb::new(tensors).encode());
    assert_eq!(run.output, "placed: not the model that this program runs\n");
    assert!(!run.success);
}

#[test]
fn model_in_unmapped_flash_is_checked_and_copied() {
    let model = Mlp::trained();
    // A flatbuffer needs a slot for each of its objects, more than this board has room for.
    let is_flatbuffer = |name: &str| ["mlp.pte", "mlp.tflite"].contains(&name);
    for (name, bytes) in model.files().into_iter().filter(|(name, _)| !is_flatbuffer(name)) {
        let run = given("WEIGHBRIDGE_SPI", &bytes);
        assert_eq!(run.output, expected("copied", &model), "{name}");
        assert!(run.success, "{name}");
        let run = given("WEIGHBRIDGE_SPI", &bytes[..bytes.len() - 8]);
        assert!(!run.success, "{name}");
        assert!(run.output.contains(" at offset "), "{name}: {}", run.output);
    }
    let run = given("WEIGHBRIDGE_SPI", b"something else");
    assert!(run.output.starts_with("UNKNOWN-FORMAT at offset 0"), "{}", run.output);
}
