//! Samples of checkpoints and of models with operators.

use weighbridge_tests::encode::executorch::{self, Method};
use weighbridge_tests::encode::flatbuffer::Table;
use weighbridge_tests::encode::onnx;
use weighbridge_tests::encode::pickle::Pickle;
use weighbridge_tests::encode::pytorch::{Checkpoint, View};
use weighbridge_tests::encode::tflite::{self, model};

use crate::Sample;
use crate::data::{f32_bytes, weights};
use crate::other::sample;

/// Rows and columns of the layers of a classifier of digits.
const LAYERS: [(&str, i64, i64); 2] = [("fc1", 64, 196), ("fc2", 10, 64)];

pub(crate) fn pytorch() -> Vec<Sample> {
    let make = sample("pytorch", "PyTorch");
    let mut storages = Vec::new();
    let mut object = Pickle::new(2).op(b'}').mark().text("epoch").number(12).text("model");
    object = object.op(b'}').mark();
    for (i, (layer, rows, columns)) in LAYERS.into_iter().enumerate() {
        for (part, size) in [("weight", vec![rows, columns]), ("bias", vec![rows])] {
            let key = ["0", "1", "2", "3"][storages.len()];
            let view = View::floats(key, &size);
            let (height, width) = (rows as usize, size.get(1).map_or(1, |it| *it as usize));
            storages.push(f32_bytes(&weights(300 + i as u64, height, width)));
            object = object.text(&format!("{layer}.{part}")).of(&view);
            if key == "0" {
                let turned = View::floats(key, &[columns, rows]).strides(&[1, columns]);
                object = object.text("fc1.weight_transposed").of(&turned);
            }
        }
    }
    let sound = object.op(b'u').op(b'u').stop();
    let storages: Vec<&[u8]> = storages.iter().map(Vec::as_slice).collect();
    let runs = Pickle::new(2).op(b'}').text("fc2.bias").of(&View::floats("3", &[10])).op(b's');
    let runs = runs.text("callback").global("posix", "system").mark().text("id").op(b't').op(b'R');
    vec![
        make(
            "pytorch",
            "digits.pt",
            true,
            "A checkpoint with an epoch, and two views of one storage",
            Checkpoint::new(sound, &storages).encode(),
        ),
        make(
            "pytorch-broken",
            "digits-broken.pt",
            false,
            "A pickle that would run a command when it is loaded",
            Checkpoint::new(runs.op(b's').stop(), &storages).encode(),
        ),
    ]
}

pub(crate) fn onnx() -> Vec<Sample> {
    let make = sample("onnx", "ONNX");
    let tensor = |name: &str, dims: &[i64], seed| {
        let (rows, columns) = (dims[0] as usize, dims.get(1).map_or(1, |it| *it as usize));
        onnx::Tensor {
            data: f32_bytes(&weights(seed, rows, columns)),
            ..onnx::Tensor::new(name, dims)
        }
    };
    let file = |change: fn(&mut Vec<onnx::Tensor>)| {
        let mut tensors = vec![
            tensor("fc1.weight", &[64, 196], 310),
            tensor("fc1.bias", &[64], 311),
            tensor("fc2.weight", &[10, 64], 312),
            tensor("fc2.bias", &[10], 313),
        ];
        change(&mut tensors);
        let mut graph = vec![
            (1, onnx::node("Gemm", &["image", "fc1.weight", "fc1.bias"], &["hidden"])),
            (1, onnx::node("Relu", &["hidden"], &["active"])),
            (1, onnx::node("Gemm", &["active", "fc2.weight", "fc2.bias"], &["digit"])),
        ];
        graph.extend(tensors.iter().map(|tensor| (5, tensor.encode())));
        graph.push((11, onnx::value("image", &[1, 196])));
        graph.push((12, onnx::value("digit", &[1, 10])));
        onnx::Model { graph, ..onnx::Model::new(&[]) }.encode()
    };
    let broken = |tensors: &mut Vec<onnx::Tensor>| {
        tensors[1].name = "fc1.weight".into();
        tensors[2].dims = vec![10, 65];
        tensors[3].dtype = 99;
    };
    vec![
        make(
            "onnx",
            "digits.onnx",
            true,
            "A classifier of digits in three operators",
            file(|_| ()),
        ),
        make(
            "onnx-broken",
            "digits-broken.onnx",
            false,
            "A duplicate name, a shape that does not fit, an unknown type",
            file(broken),
        ),
    ]
}

pub(crate) fn tflite() -> Vec<Sample> {
    let make = sample("tflite", "TensorFlow Lite");
    let file = |lost: usize, input: i32| {
        let mut second = f32_bytes(&weights(321, 10, 64));
        second.truncate(second.len() - lost);
        let buffers = [f32_bytes(&weights(320, 64, 196)), second];
        let tensors = [
            tflite::tensor("image", &[1, 196], 0),
            tflite::tensor("fc1.weight", &[64, 196], 1),
            tflite::tensor("hidden", &[1, 64], 0),
            tflite::tensor("fc2.weight", &[10, 64], 2),
            tflite::tensor("digit", &[1, 10], 0),
        ];
        // FULLY_CONNECTED, with `FullyConnectedOptions`; it has no bias.
        let connected = |inputs: &[i32], output| {
            tflite::operator(0, inputs, &[output]).byte(3, 8).table(4, Table::new().byte(0, 0))
        };
        let main = Table::new()
            .tables(0, &tensors)
            .ints(1, &[0])
            .ints(2, &[4])
            .tables(3, &[connected(&[input, 1, -1], 2), connected(&[2, 3, -1], 4)])
            .text(4, "main");
        let whole = Table::new()
            .int(0, 3)
            .tables(model::CODES, &[tflite::code(9, 1)])
            .tables(model::SUBGRAPHS, &[main])
            .text(3, "A classifier of digits")
            .tables(
                model::BUFFERS,
                &[Table::new(), tflite::buffer(&buffers[0]), tflite::buffer(&buffers[1])],
            );
        tflite::encode(&whole).bytes
    };
    vec![
        make("tflite", "digits.tflite", true, "A classifier for a microcontroller", file(0, 0)),
        make(
            "tflite-broken",
            "digits-broken.tflite",
            false,
            "An operator reads a tensor that is not there, and a buffer is too short",
            file(8, 9),
        ),
    ]
}

pub(crate) fn executorch() -> Vec<Sample> {
    let make = sample("executorch", "ExecuTorch");
    let file = |lost: usize, read: i32| {
        let constants = [
            ("fc1.weight", 330, 64, 196),
            ("fc1.bias", 331, 1, 64),
            ("fc2.weight", 332, 10, 64),
            ("fc2.bias", 333, 1, 10),
        ]
        .map(|(name, seed, rows, columns)| {
            let sizes = if rows == 1 { vec![columns] } else { vec![rows, columns] };
            let data = f32_bytes(&weights(seed, rows as usize, columns as usize));
            (name.to_owned(), sizes, data)
        });
        // Values 4 to 7: the image, what lies between the layers, the digit, and a number.
        let values = [(&[1, 196], 0), (&[1, 64], 784), (&[1, 10], 1040)]
            .map(|(sizes, at)| executorch::of_tensor(executorch::planned(sizes, 1, at)));
        let sum = |bias, input, weight, out| {
            executorch::call(1, 0, &[bias, input, weight, 7, 7, out, out])
        };
        let method = Method {
            values: values.into_iter().chain([executorch::of_int(1)]).collect(),
            inputs: vec![4],
            outputs: vec![6],
            operators: vec![executorch::operator("aten::addmm", "out")],
            instructions: vec![sum(1, read, 0, 5), sum(3, 5, 2, 6)],
            memory: 1088,
        };
        let mut parts = executorch::with_constants(&constants, &method);
        if let Some(data) = parts.segments.first_mut() {
            data.truncate(data.len() - lost);
        }
        executorch::encode_program(&parts).bytes
    };
    vec![
        make(
            "executorch",
            "digits.pte",
            true,
            "A program for a board, with its weights",
            file(0, 4),
        ),
        make(
            "executorch-broken",
            "digits-broken.pte",
            false,
            "An instruction reads a value that is not there, and a constant is cut",
            file(8, 40),
        ),
    ]
}
