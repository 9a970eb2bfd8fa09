//! The small network whose weights the images read: two inputs, one hidden layer, two
//! outputs.

use core::fmt::Write;

/// Number of inputs.
pub const INPUTS: usize = 2;
/// Number of values in the hidden layer.
pub const HIDDEN: usize = 16;
/// Number of outputs, one per class.
pub const OUTPUTS: usize = 2;

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

/// The names of the four tensors, their ids in STB, which uses numbers instead of names,
/// and their shapes, outermost first.
pub const TENSORS: [(&str, &str, &[u64]); 4] = [
    ("hidden.bias", "0", &[HIDDEN as u64]),
    ("hidden.weight", "1", &[HIDDEN as u64, INPUTS as u64]),
    ("output.bias", "2", &[OUTPUTS as u64]),
    ("output.weight", "3", &[OUTPUTS as u64, HIDDEN as u64]),
];

/// The weights, in the order of [`TENSORS`].
pub struct Mlp<'a>(pub [&'a [f32]; 4]);

impl Mlp<'_> {
    /// Classifies the points, one line each.
    pub fn print(&self, console: &mut impl Write, title: &str) {
        for point in POINTS {
            let output = self.run(point);
            let class = usize::from(output[1] > output[0]);
            let [a, b] = output.map(f32::to_bits);
            let _ = writeln!(console, "{title}: {a:08x} {b:08x} class {class}");
        }
    }

    fn run(&self, point: [f32; INPUTS]) -> [f32; OUTPUTS] {
        let [hidden_bias, hidden_weight, output_bias, output_weight] = self.0;
        let mut hidden = [0.0; HIDDEN];
        layer(hidden_weight, hidden_bias, &point, &mut hidden);
        let mut output = [0.0; OUTPUTS];
        let hidden = hidden.map(|value| if value > 0.0 { value } else { 0.0 });
        layer(output_weight, output_bias, &hidden, &mut output);
        output
    }
}

/// Computes one layer: each output is its bias plus the products, in order.
fn layer(weight: &[f32], bias: &[f32], input: &[f32], output: &mut [f32]) {
    for ((row, bias), output) in weight.chunks(input.len()).zip(bias).zip(output) {
        *output = row.iter().zip(input).fold(*bias, |sum, (w, x)| sum + w * x);
    }
}
