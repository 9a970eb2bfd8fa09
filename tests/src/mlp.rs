//! A small model for the firmware: whether a point lies in a ring.
//!
//! Two inputs, 16 hidden units with ReLU, two outputs; the greater output wins. Training is plain
//! gradient descent from a fixed seed and uses only additions and multiplications, so every machine
//! produces the same bits.

use crate::encode::flatbuffer::Table;
use crate::encode::{bintensors, executorch, oinf, stb, tflite, ztensor};

/// Number of inputs.
pub const INPUTS: usize = 2;
/// Number of hidden units.
pub const HIDDEN: usize = 16;
/// Number of outputs.
pub const OUTPUTS: usize = 2;

/// Points that the firmware classifies and a host checks.
pub const POINTS: [[f32; INPUTS]; 8] = [
    [0.0, 0.0],
    [0.7, 0.0],
    [0.0, -0.7],
    [-0.5, 0.5],
    [0.95, 0.95],
    [-1.0, 0.1],
    [0.1, -0.2],
    [0.5, 0.5],
];

/// The weights, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlp {
    /// `[HIDDEN, INPUTS]`.
    pub hidden_weight: Vec<f32>,
    /// `[HIDDEN]`.
    pub hidden_bias: Vec<f32>,
    /// `[OUTPUTS, HIDDEN]`.
    pub output_weight: Vec<f32>,
    /// `[OUTPUTS]`.
    pub output_bias: Vec<f32>,
}

/// The expected class of a point.
pub fn class([x, y]: [f32; INPUTS]) -> usize {
    let square = x * x + y * y;
    usize::from(square > 0.2 && square < 0.8)
}

/// Reproducible numbers in -1..1.
struct Random(u32);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

impl Mlp {
    /// The trained model.
    pub fn trained() -> Self {
        let mut random = Random(7);
        let mut draw = |count: usize| (0..count).map(|_| random.next()).collect::<Vec<_>>();
        let mut model = Mlp {
            hidden_weight: draw(HIDDEN * INPUTS),
            hidden_bias: draw(HIDDEN),
            output_weight: draw(OUTPUTS * HIDDEN),
            output_bias: draw(OUTPUTS),
        };
        for step in 0..200_000 {
            let rate = if step < 100_000 { 0.02 } else { 0.005 };
            let point = [random.next(), random.next()];
            model.learn(point, rate);
        }
        model
    }

    fn hidden(&self, point: [f32; INPUTS]) -> [f32; HIDDEN] {
        let mut hidden = [0.0; HIDDEN];
        layer(&self.hidden_weight, &self.hidden_bias, &point, &mut hidden);
        hidden.map(|value| if value > 0.0 { value } else { 0.0 })
    }

    /// The outputs for a point.
    pub fn run(&self, point: [f32; INPUTS]) -> [f32; OUTPUTS] {
        let mut output = [0.0; OUTPUTS];
        layer(&self.output_weight, &self.output_bias, &self.hidden(point), &mut output);
        output
    }

    /// One step that moves the right output towards 1 and the other towards 0.
    fn learn(&mut self, point: [f32; INPUTS], rate: f32) {
        let hidden = self.hidden(point);
        let output = self.run(point);
        let wanted = class(point);
        let mut back = [0.0; HIDDEN];
        for (o, value) in output.into_iter().enumerate() {
            let error = value - if o == wanted { 1.0 } else { 0.0 };
            for h in 0..HIDDEN {
                back[h] += error * self.output_weight[o * HIDDEN + h];
                self.output_weight[o * HIDDEN + h] -= rate * error * hidden[h];
            }
            self.output_bias[o] -= rate * error;
        }
        for h in (0..HIDDEN).filter(|h| hidden[*h] > 0.0) {
            let weights = &mut self.hidden_weight[h * INPUTS..][..INPUTS];
            for (weight, input) in weights.iter_mut().zip(point) {
                *weight -= rate * back[h] * input;
            }
            self.hidden_bias[h] -= rate * back[h];
        }
    }

    /// The tensors: name, shape, little-endian bytes.
    fn tensors(&self) -> [(&'static str, Vec<u64>, Vec<u8>); 4] {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let (inputs, hidden, outputs) = (INPUTS as u64, HIDDEN as u64, OUTPUTS as u64);
        [
            ("hidden.bias", vec![hidden], bytes(&self.hidden_bias)),
            ("hidden.weight", vec![hidden, inputs], bytes(&self.hidden_weight)),
            ("output.bias", vec![outputs], bytes(&self.output_bias)),
            ("output.weight", vec![outputs, hidden], bytes(&self.output_weight)),
        ]
    }

    /// The model as files: names and bytes. In STB, numbers replace the names, in the same order.
    pub fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut stb_tensors = Vec::new();
        let mut oinf_tensors = Vec::new();
        let mut bin_tensors = Vec::new();
        let mut z_tensors = Vec::new();
        for (id, (name, shape, data)) in (0..).zip(self.tensors()) {
            let dims: Vec<u32> = shape.iter().map(|extent| *extent as u32).collect();
            stb_tensors
                .push(stb::Tensor { payload: data.clone(), ..stb::Tensor::new(id, 0, &dims) });
            oinf_tensors.push(oinf::tensor(name, oinf::Type::F32, &shape, &data));
            bin_tensors.push(bintensors::Tensor {
                name: name.to_owned(),
                dtype: bintensors::Dtype::F32,
                shape: shape.clone(),
                data: data.clone(),
            });
            z_tensors.push(ztensor::Tensor::raw(name, "float32", &shape, data));
        }
        let model = oinf::Model {
            version: 1,
            sizevars: Vec::new(),
            metadata: Vec::new(),
            tensors: oinf_tensors,
        };
        vec![
            ("mlp.bt", bintensors::File { metadata: None, tensors: bin_tensors }.encode()),
            ("mlp.oinf", model.encode().bytes),
            ("mlp.pte", self.executorch()),
            ("mlp.stb", stb::Stb::new(stb_tensors).encode()),
            ("mlp.tflite", self.tflite()),
            ("mlp.zt", ztensor::File::of(z_tensors).encode()),
        ]
    }
}

impl Mlp {
    /// The model with its three calls, as ExecuTorch runs it.
    fn executorch(&self) -> Vec<u8> {
        let (inputs, hidden, outputs) = (INPUTS as i32, HIDDEN as i32, OUTPUTS as i32);
        let constants = self.tensors().map(|(name, shape, data)| {
            (name.to_owned(), shape.iter().map(|extent| *extent as i32).collect(), data)
        });
        let planned =
            |sizes: &[i32], offset| executorch::of_tensor(executorch::planned(sizes, 1, offset));
        // After the constants: input, sums, their ReLU, output.
        let method = executorch::Method {
            values: vec![
                planned(&[1, inputs], 0),
                planned(&[1, hidden], 16),
                planned(&[1, hidden], 80),
                planned(&[1, outputs], 144),
            ],
            inputs: vec![4],
            outputs: vec![7],
            operators: vec![
                executorch::operator("aten::linear", "out"),
                executorch::operator("aten::relu", "out"),
            ],
            // Input, weight and bias, then the output, once as what is returned.
            instructions: vec![
                executorch::call(1, 0, &[4, 1, 0, 5, 5]),
                executorch::call(1, 1, &[5, 6, 6]),
                executorch::call(1, 0, &[6, 3, 2, 7, 7]),
            ],
            memory: 160,
        };
        executorch::encode_program(&executorch::with_constants(&constants, &method)).bytes
    }

    /// The model with its two operators, as TensorFlow Lite runs it.
    fn tflite(&self) -> Vec<u8> {
        let (inputs, hidden, outputs) = (INPUTS as i32, HIDDEN as i32, OUTPUTS as i32);
        let mut tensors = vec![tflite::tensor("input", &[1, inputs], 0)];
        let mut buffers = vec![tflite::buffer(&[])];
        for (number, (name, shape, data)) in (1..).zip(self.tensors()) {
            let shape: Vec<i32> = shape.iter().map(|extent| *extent as i32).collect();
            tensors.push(tflite::tensor(name, &shape, number));
            buffers.push(tflite::buffer(&data));
        }
        tensors.push(tflite::tensor("hidden", &[1, hidden], 0));
        tensors.push(tflite::tensor("output", &[1, outputs], 0));
        // FULLY_CONNECTED, with `FullyConnectedOptions`: input, weight, bias. The first has ReLU.
        let layer = |lists: [&[i32]; 2], activation| {
            let options = Table::new().byte(0, activation);
            tflite::operator(0, lists[0], lists[1]).byte(3, 8).table(4, options)
        };
        let main = Table::new()
            .tables(0, &tensors)
            .ints(1, &[0])
            .ints(2, &[6])
            .tables(3, &[layer([&[0, 2, 1], &[5]], 1), layer([&[5, 4, 3], &[6]], 0)]);
        let model = Table::new()
            .int(0, 3)
            .tables(tflite::model::CODES, &[tflite::code(9, 1)])
            .tables(tflite::model::SUBGRAPHS, &[main])
            .tables(tflite::model::BUFFERS, &buffers);
        tflite::encode(&model).bytes
    }
}

/// One layer: each output is its bias plus the products in order.
fn layer(weight: &[f32], bias: &[f32], input: &[f32], output: &mut [f32]) {
    for ((row, bias), output) in weight.chunks(input.len()).zip(bias).zip(output) {
        *output = row.iter().zip(input).fold(*bias, |sum, (w, x)| sum + w * x);
    }
}
