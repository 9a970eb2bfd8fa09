//! Runs a small model from flash: checks the file, finds its tensors by name,
//! and multiplies with the weights where they lie.
//!
//! The models are in the image, one for each format. If QEMU's loader puts a
//! file into memory, that is taken instead.

#![no_std]
#![no_main]

use core::fmt::Write;
use cortex_m_rt::{entry, exception};
use weighbridge_core::{
    Audit, File, Finding, Index, Name, Severity, Slot, Source, Tensor, include_aligned,
};
use weighbridge_firmware::board::{Console, leave};
use weighbridge_firmware::input::records;

const INPUTS: usize = 2;
const HIDDEN: usize = 16;
const OUTPUTS: usize = 2;

const POINTS: [[f32; INPUTS]; 8] = [
    [0.0, 0.0],
    [0.7, 0.0],
    [0.0, -0.7],
    [-0.5, 0.5],
    [0.95, 0.95],
    [-1.0, 0.1],
    [0.1, -0.2],
    [0.5, 0.5],
];

/// Constants, so they are in flash; aligned as the formats ask.
const MODELS: &[(&str, &[u8])] = &[
    #[cfg(feature = "bintensors")]
    ("bintensors", include_aligned!(8, "../../models/mlp.bt")),
    #[cfg(feature = "oinf")]
    ("oinf", include_aligned!(8, "../../models/mlp.oinf")),
    #[cfg(feature = "stb")]
    ("stb", include_aligned!(64, "../../models/mlp.stb")),
    #[cfg(feature = "ztensor")]
    ("ztensor", include_aligned!(64, "../../models/mlp.zt")),
];

/// Working storage of the audit and of the index: the models have four tensors
/// and fewer than 16 parts.
static mut SLOTS: [Slot; 16] = [Slot::EMPTY; 16];

#[entry]
fn main() -> ! {
    // SAFETY: taken once.
    let slots = unsafe { &mut *(&raw mut SLOTS) };
    let mut console = Console::open();
    let mut placed = false;
    let mut sound = true;
    for record in records() {
        placed = true;
        sound &= run(&mut console, "placed", record.bytes, slots).is_some();
    }
    if !placed {
        for (format, bytes) in MODELS {
            sound &= run(&mut console, format, bytes, slots).is_some();
        }
    }
    console.exit(sound)
}

#[exception]
unsafe fn HardFault(_: &cortex_m_rt::ExceptionFrame) -> ! {
    leave(false)
}

/// Checks a file and classifies the points with it; `None` if that is not
/// possible, which was printed.
fn run(console: &mut Console, title: &str, bytes: &[u8], slots: &mut [Slot]) -> Option<()> {
    let source = Source::whole(bytes);
    let mut valid = true;
    let mut sink = |finding: Finding| {
        valid &= finding.severity() < Severity::Violation;
        let rule = finding.rule.id();
        let _ = writeln!(console, "{title}: {rule} at offset {}: {finding}", finding.offset);
    };
    let file = File::open(&source, &mut sink).ok()?;
    let audited = Audit::new(file).structure_only().step(&source, slots, &mut sink);
    if audited.is_err() || !valid {
        return None;
    }
    let Some(model) = Mlp::find(&file, &source, slots) else {
        let _ = writeln!(console, "{title}: not the model that this program runs");
        return None;
    };
    for point in POINTS {
        let output = model.run(point);
        let class = usize::from(output[1] > output[0]);
        let [a, b] = output.map(f32::to_bits);
        let _ = writeln!(console, "{title}: {a:08x} {b:08x} class {class}");
    }
    Some(())
}

/// The weights, where they lie in the file.
struct Mlp<'a> {
    hidden_weight: &'a [f32],
    hidden_bias: &'a [f32],
    output_weight: &'a [f32],
    output_bias: &'a [f32],
}

impl<'a> Mlp<'a> {
    fn find(file: &File, source: &Source<'a>, slots: &mut [Slot]) -> Option<Self> {
        let mut index = Index::new(slots, 0);
        index.step(file, source).ok()?;
        // STB has numbers for names.
        let find = |name: &str, id: &str, shape: &[u64]| {
            let named = |name: &str| index.find(file, source, &Name::from(name)).ok()?;
            weights(source, &named(name).or_else(|| named(id))?, shape)
        };
        let (inputs, hidden, outputs) = (INPUTS as u64, HIDDEN as u64, OUTPUTS as u64);
        Some(Mlp {
            hidden_bias: find("hidden.bias", "0", &[hidden])?,
            hidden_weight: find("hidden.weight", "1", &[hidden, inputs])?,
            output_bias: find("output.bias", "2", &[outputs])?,
            output_weight: find("output.weight", "3", &[outputs, hidden])?,
        })
    }

    fn run(&self, point: [f32; INPUTS]) -> [f32; OUTPUTS] {
        let mut hidden = [0.0; HIDDEN];
        layer(self.hidden_weight, self.hidden_bias, &point, &mut hidden);
        let mut output = [0.0; OUTPUTS];
        let hidden = hidden.map(|value| if value > 0.0 { value } else { 0.0 });
        layer(self.output_weight, self.output_bias, &hidden, &mut output);
        output
    }
}

/// A tensor of this shape as numbers, if it is one and is aligned.
fn weights<'a>(source: &Source<'a>, tensor: &Tensor, shape: &[u64]) -> Option<&'a [f32]> {
    if !tensor.dims(source).ok()?.eq(shape.iter().copied()) {
        return None;
    }
    tensor.slice_of(source.get(tensor.raw()?).ok()?)
}

/// One layer: each output is its bias, then the products in order.
fn layer(weight: &[f32], bias: &[f32], input: &[f32], output: &mut [f32]) {
    for ((row, bias), output) in weight.chunks(input.len()).zip(bias).zip(output) {
        *output = row.iter().zip(input).fold(*bias, |sum, (w, x)| sum + w * x);
    }
}
