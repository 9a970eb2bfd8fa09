//! What it costs to use a model in unmapped flash one tensor at a time.

use crate::rig::{image, record, run};
use weighbridge_tests::encode::gguf;

/// As in `firmware/src/bin/partial.rs`.
const TENSORS: u64 = 25;
const UNIT: u64 = 32;
const BUFFER: u64 = 512;

/// QEMU counts 2^6 ns per instruction, and SysTick ticks every 40 ns.
const SHIFT: &str = "shift=6";
const TICKS: f64 = 64.0 / 40.0;

/// 2,000 bytes.
const EXTENTS: [u64; 2] = [20, 25];
const BYTES: u64 = 4 * EXTENTS[0] * EXTENTS[1];

/// A line of the image.
struct Cost {
    ticks: f64,
    stack: u64,
    calls: u64,
    bytes: u64,
    jumps: u64,
    sum: Option<u32>,
}

impl Cost {
    fn of(line: &str, title: &str) -> Cost {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[0], title, "{line}");
        let number = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            Some(words[at + 1])
        };
        let whole = |name| number(name).unwrap().parse().unwrap();
        Cost {
            ticks: number("ticks").unwrap().parse().unwrap(),
            stack: whole("stack"),
            calls: whole("calls"),
            bytes: whole("bytes"),
            jumps: whole("jumps"),
            sum: number("sum").map(|sum| u32::from_str_radix(sum, 16).unwrap()),
        }
    }
}

/// A model whose tensors differ.
fn model() -> gguf::File {
    let tensor = |i: u64| {
        let mut tensor = gguf::Tensor::new(&format!("layers.{i:03}.weight"), 0, &EXTENTS);
        tensor.data.iter_mut().for_each(|byte| *byte = byte.wrapping_mul(i as u8 + 1));
        tensor
    };
    gguf::File { tensors: (0..TENSORS).map(tensor).collect(), ..gguf::File::default() }
}

/// What the image computes.
fn sum(model: &gguf::File) -> u32 {
    let fold = |bytes: &Vec<u8>| {
        let next = |sum: u32, byte: &u8| sum.wrapping_mul(31).wrapping_add((*byte).into());
        bytes.iter().fold(0, next)
    };
    model.tensors.iter().map(|tensor| fold(&tensor.data)).fold(0, u32::wrapping_add)
}

#[test]
fn cost_of_using_one_tensor_at_a_time() {
    let model = model();
    let mut records = record(&model.encode().bytes, "", false);
    records.extend([0; 64]);
    let run = run(&image("WEIGHBRIDGE_PARTIAL"), &records, &["-icount", SHIFT]);
    assert!(run.success, "{}", run.output);
    let mut output = String::new();
    let titles = ["check", "copied", "pieces", "ordered"];
    let lines: Vec<_> = run.output.lines().collect();
    assert_eq!(lines.len(), titles.len(), "{}", run.output);
    let costs: Vec<_> =
        lines.iter().zip(titles).map(|(line, title)| Cost::of(line, title)).collect();
    for (cost, title) in costs.iter().zip(titles) {
        assert!(cost.ticks > 0.0, "{title} ran longer than can be counted");
        let instructions = cost.ticks / TICKS;
        let Cost { stack, calls, bytes, jumps, .. } = cost;
        output +=
            &format!("{title} {instructions:.0} {} {calls} {bytes} {jumps}\n", stack + BUFFER);
    }
    println!("step, instructions, RAM, driver calls, bytes, jumps\n{output}");
    let [_, copied, pieces, ordered] = &costs[..] else { unreachable!() };
    for cost in [copied, pieces, ordered] {
        assert_eq!(cost.sum, Some(sum(&model)));
        // Whole units, but no byte twice, and a little of the index.
        assert!(cost.bytes >= TENSORS * BYTES.next_multiple_of(UNIT));
    }
    // A copy needs memory for the largest tensor, and reading in order jumps less.
    assert!(copied.stack >= pieces.stack + BYTES, "{} and {}", copied.stack, pieces.stack);
    assert!(ordered.jumps < pieces.jumps, "{} and {}", ordered.jumps, pieces.jumps);
    if let Some(path) = std::env::var_os("WEIGHBRIDGE_PARTIAL_COST") {
        std::fs::write(path, output).unwrap();
    }
}
