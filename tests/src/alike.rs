//! The same tensors in every format, to compare their costs.

use crate::encode::{bintensors, executorch, gguf, idv, oinf, safetensors, stb, tflite, ztensor};

/// Files with `count` tensors `f32 [4, 4]` each (a column `f32 [16]` of one row in a data view; STB
/// allows at most 256), in writer order: pairs of format and file.
pub fn files(count: u8) -> Vec<(&'static str, Vec<u8>)> {
    let name = |i: u8| format!("layers.{i:03}.weight");
    let data: Vec<u8> = (0..16_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let oinf = oinf::Model {
        version: 1,
        sizevars: Vec::new(),
        metadata: Vec::new(),
        tensors: (0..count)
            .map(|i| oinf::tensor(&name(i), oinf::Type::F32, &[4, 4], &data))
            .collect(),
    };
    let tensors = (0..count).map(|i| bintensors::Tensor {
        name: name(i),
        dtype: bintensors::Dtype::F32,
        shape: vec![4, 4],
        data: data.clone(),
    });
    let bintensors = bintensors::File { metadata: None, tensors: tensors.collect() };
    let stb = stb::Stb::new(
        (0..count)
            .map(|i| stb::Tensor { payload: data.clone(), ..stb::Tensor::new(i, 0, &[4, 4]) })
            .collect(),
    );
    let ztensor = ztensor::File::of(
        (0..count).map(|i| ztensor::Tensor::raw(&name(i), "float32", &[4, 4], data.clone())),
    );
    let columns = (0..count).map(|i| {
        let values: Vec<u64> = (0..16_u8).map(|i| f32::from(i).to_bits().into()).collect();
        let codec = idv::Codec::vector(idv::Codec::Number(idv::Number::Single), &[16]);
        idv::Column::new(&name(i), codec, vec![idv::Cell::dense(&values)])
    });
    let idv = idv::File::new(1, columns.collect());
    let safetensors = safetensors::File {
        metadata: None,
        tensors: (0..count).map(|i| safetensors::Tensor::new(&name(i), "F32", &[4, 4])).collect(),
    };
    let gguf = gguf::File {
        tensors: (0..count).map(|i| gguf::Tensor::new(&name(i), 0, &[4, 4])).collect(),
        ..gguf::File::default()
    };
    vec![
        ("stb", stb.encode()),
        ("oinf", oinf.encode().bytes),
        ("bintensors", bintensors.encode()),
        ("ztensor", ztensor.encode()),
        ("idv", idv::encode(&idv).bytes),
        ("safetensors", safetensors.encode()),
        ("gguf", gguf.encode().bytes),
    ]
}

/// The same tensors as the constants of a TensorFlow Lite model.
pub fn tflite(count: u8) -> Vec<u8> {
    let data: Vec<u8> = (0..16_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let tensors: Vec<_> = (0..count)
        .map(|i| tflite::tensor(&format!("layers.{i:03}.weight"), &[4, 4], i32::from(i) + 1))
        .collect();
    let mut buffers = vec![tflite::buffer(&[])];
    buffers.extend((0..count).map(|_| tflite::buffer(&data)));
    tflite::encode(&tflite::constants(&tensors, &buffers)).bytes
}

/// The same tensors as the constants of an ExecuTorch program.
pub fn executorch(count: u8) -> Vec<u8> {
    let data: Vec<u8> = (0..16_u8).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let constants: Vec<_> =
        (0..count).map(|i| (format!("layers.{i:03}.weight"), vec![4, 4], data.clone())).collect();
    executorch::encode_program(&executorch::with_constants(
        &constants,
        &executorch::Method {
            outputs: (0..count).map(i32::from).collect(),
            ..executorch::Method::default()
        },
    ))
    .bytes
}
