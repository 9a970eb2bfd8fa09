//! Small sound files for documentation examples.

use crate::encode::idv::{self, Cell, Codec, Number};
use crate::encode::pickle::Pickle;
use crate::encode::pytorch::{Checkpoint, View, floats};
use crate::encode::safetensors::{File, Tensor};
use crate::encode::{gguf, npy, onnx, tflite, ztensor};

fn file(tensor: Tensor) -> Vec<u8> {
    let metadata = vec![("format".to_owned(), "pt".to_owned())];
    File { metadata: Some(metadata), tensors: vec![tensor] }.encode()
}

/// One tensor `emb` of type bf16 and shape \[2, 3\] with the elements 0 to 5.
pub fn safetensors() -> Vec<u8> {
    let mut tensor = Tensor::new("emb", "BF16", &[2, 3]);
    let upper = |value: u8| (f32::from(value).to_bits() >> 16) as u16;
    tensor.data = (0..6).flat_map(|value| upper(value).to_le_bytes()).collect();
    file(tensor)
}

/// One tensor `bias` of type f32 with the elements 0.5 and -0.5, aligned to 4 bytes.
pub fn aligned() -> Vec<u8> {
    let mut tensor = Tensor::new("bias", "F32", &[2]);
    tensor.data = [0.5_f32, -0.5].iter().flat_map(|value| value.to_le_bytes()).collect();
    file(tensor)
}

/// Three tensors with unsorted names.
pub fn unsorted() -> Vec<u8> {
    let tensors = ["c", "a", "b"].map(|name| Tensor::new(name, "U8", &[1])).into();
    File { metadata: None, tensors }.encode()
}

/// A TensorFlow Lite model of one operator, which adds a constant `w` to its input.
pub fn graph() -> Vec<u8> {
    tflite::encode(&tflite::sample()).bytes
}

/// A zTensor file with one tensor `z` of 1,000 zeros in f32, compressed with zstd.
pub fn compressed() -> Vec<u8> {
    let zeros = ztensor::Tensor::zstd("z", "float32", &[1000], &[0; 4000]);
    ztensor::File::of(vec![zeros]).encode()
}

/// A data view with one column `x` of two vectors, (1, 2, 3) and (4, 5, 6).
pub fn columns() -> Vec<u8> {
    let rows = vec![Cell::dense(&[1, 2, 3]), Cell::dense(&[4, 5, 6])];
    let codec = Codec::vector(Codec::Number(Number::Int32), &[3]);
    idv::encode(&idv::File::new(2, vec![idv::Column::new("x", codec, rows)])).bytes
}

/// A GGUF file whose metadata is a list of three words.
pub fn words() -> Vec<u8> {
    let words = gguf::Value::texts(&["a", "b", "c"]);
    let metadata = vec![(b"words".to_vec(), words)];
    gguf::File { metadata, ..gguf::File::default() }.encode().bytes
}

/// The first of three parts of a GGUF file that declare one tensor in total; it holds none.
pub fn part() -> Vec<u8> {
    let numbers = [("split.no", 2, 0), ("split.count", 2, 3), ("split.tensors.count", 5, 1)];
    let metadata = numbers.map(|(key, kind, n)| (key.into(), gguf::Value::Number(kind, n)));
    gguf::File { metadata: metadata.into(), ..gguf::File::default() }.encode().bytes
}

/// A NumPy array of two records: a name of three code points, and a number of legs.
pub fn records() -> Vec<u8> {
    let mut file = npy::Npy::new("[('name', '<U3'), ('legs', '|u1')]", 13, &[2]);
    let text = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let records: [(Vec<u8>, u8); 2] = [(text("cat"), 4), (text("emu"), 2)];
    file.data = records.into_iter().flat_map(|(name, legs)| [name, vec![legs]].concat()).collect();
    file.encode()
}

/// A checkpoint of PyTorch: in the dictionary `model`, a tensor `w` of six floats and `row`, a view of
/// the first three; beside it the number `epoch`.
pub fn checkpoint() -> Vec<u8> {
    let view = |extents: &[i64]| View { count: 6, ..View::floats("0", extents) };
    let inner = Pickle::new(2).op(b'}').text("model").op(b'}');
    let inner = inner.text("w").of(&view(&[2, 3])).op(b's').text("row").of(&view(&[3])).op(b's');
    let object = inner.op(b's').text("epoch").int(7).op(b's').stop();
    Checkpoint::new(object, &[&floats(6)]).encode()
}

/// An ONNX model with one tensor `w` of type f32 and shape \[2, 3\], whose data is all of the file
/// `weights.bin`, and that file with the elements 0 to 5.
pub fn model_and_data() -> (Vec<u8>, Vec<u8>) {
    let mut model = onnx::Model::new(&[]);
    let tensor = onnx::Tensor::new("w", &[2, 3]).head().text(8, "w").int(14, 1);
    model.graph.push((5, tensor.message(13, onnx::pair("location", "weights.bin"))));
    let data = (0_u8..6).flat_map(|value| f32::from(value).to_le_bytes());
    (model.encode(), data.collect())
}

/// A DDUF file: a pipeline with one component, `vae`, with settings and one safetensors file.
pub fn pipeline() -> Vec<u8> {
    let all = crate::fixtures::dduf::all();
    all.into_iter().find(|it| it.name == "sound").expect("a sound file").bytes
}
